//! What the unit does: it keeps convolutions in its memory, and applies them to images.
//!
//! A convolution is a product of matrices: a row for each place of the window, with the cells
//! that it sees there, times a column for each filter. The matrices are those of the crate
//! `ndarray`, in double precision, in which sums of products of 8-bit integers are exact. What is
//! left is to bring the sums to the result's scale as the network's fixed-point arithmetic does.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use aot_rt::fixed_point::{Multiplier, Rounding};
use aot_rt::kernels::Conv2dI8;
use ndarray::Array2;

use crate::wire::{self, DONE, LOAD, Message, REFUSED, RUN, i32s};

/// Runs until there are no more messages.
///
/// # Errors
///
/// When the other side cannot be read from or written to.
pub fn serve(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let mut memory: HashMap<Vec<u8>, Convolution> = HashMap::new();
    while let Some(message) = wire::receive(&mut from)? {
        match answer(&mut memory, message) {
            Ok(result) => wire::send(&mut to, DONE, &[&result])?,
            Err(why) => wire::send(&mut to, REFUSED, &[why.as_bytes()])?,
        }
    }
    Ok(())
}

fn answer(memory: &mut HashMap<Vec<u8>, Convolution>, message: Message) -> Result<Vec<u8>, String> {
    match (message.kind, &message.pieces[..]) {
        (LOAD, [number, shape, constants @ ..]) => {
            memory.insert(number.clone(), Convolution::new(shape, constants)?);
            Ok(Vec::new())
        }
        (RUN, [number, image]) => {
            let convolution = memory.get(number).ok_or("the convolution has not been loaded")?;
            convolution.apply(image)
        }
        (kind, pieces) => Err(format!("a message of kind {kind} with {} pieces", pieces.len())),
    }
}

/// The numbers of a convolution's parameters, for the wire.
pub(crate) fn shape(params: &Conv2dI8) -> Vec<i32> {
    let window = &params.window;
    let pairs =
        [window.input, window.output, window.kernel, window.stride, window.dilation, window.padding].concat();
    let counts = [window.batch, params.in_channels, params.out_channels, params.groups];
    // Extents of a network are far below.
    let counts = pairs.into_iter().chain(counts).map(|count| i32::try_from(count).unwrap_or(i32::MAX));
    let output = params.output;
    let numbers = [
        params.input_zero_point,
        params.weights_zero_point,
        output.zero_point,
        output.min,
        output.max,
        i32::from(output.single_rounding),
    ];
    counts.chain(numbers).collect()
}

/// A convolution in the unit's memory.
struct Convolution {
    input: [usize; 2],
    output: [usize; 2],
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: [usize; 2],
    channels: usize,
    input_zero_point: i32,
    output_zero_point: i32,
    range: [i32; 2],
    rounding: Rounding,
    /// A column for each filter.
    filters: Array2<f64>,
    bias: Vec<i32>,
    multipliers: Vec<Multiplier>,
}

impl Convolution {
    fn new(shape: &[u8], constants: &[Vec<u8>]) -> Result<Self, String> {
        let numbers: Vec<i32> = i32s(shape).collect();
        let ([weights, bias, multipliers, shifts], Some((counts, rest))) =
            (constants, numbers.split_first_chunk::<16>())
        else {
            return Err("the convolution is not complete".into());
        };
        let &[input_zero_point, weights_zero_point, output_zero_point, min, max, single] = rest else {
            return Err("the convolution is not complete".into());
        };
        let counts = counts.map(|count| usize::try_from(count).unwrap_or(0));
        let [batch, channels, out_channels, groups] = [counts[12], counts[13], counts[14], counts[15]];
        if (batch, groups) != (1, 1) {
            return Err(format!("{batch} images in {groups} groups: the unit knows one of each"));
        }
        let pair = |i: usize| [counts[2 * i], counts[2 * i + 1]];
        let [rows, columns] = pair(2);
        let weights =
            weights.iter().map(|byte| f64::from(i32::from(byte.cast_signed()) - weights_zero_point));
        let filters = Array2::from_shape_vec((out_channels, rows * columns * channels), weights.collect());
        let shifts = shifts.iter().map(|byte| i32::from(byte.cast_signed()));
        Ok(Self {
            input: pair(0),
            output: pair(1),
            kernel: pair(2),
            stride: pair(3),
            dilation: pair(4),
            padding: pair(5),
            channels,
            input_zero_point,
            output_zero_point,
            range: [min, max],
            rounding: Rounding::of(single != 0),
            filters: filters.map_err(|error| error.to_string())?.reversed_axes(),
            bias: i32s(bias).collect(),
            multipliers: i32s(multipliers)
                .zip(shifts)
                .map(|(multiplier, shift)| Multiplier { multiplier, shift })
                .collect(),
        })
    }

    fn apply(&self, image: &[u8]) -> Result<Vec<u8>, String> {
        if image.len() != self.input[0] * self.input[1] * self.channels {
            return Err(format!("an image of {} bytes", image.len()));
        }
        let sums = self.places(image).dot(&self.filters);
        let finish = |((_, channel), sum): ((usize, usize), &f64)| {
            // Sums fit 32 bits: the network's compiler has checked it.
            let sum = *sum as i32 + self.bias.get(channel).unwrap_or(&0);
            let multiplier = self.multipliers.get(channel).or(self.multipliers.first());
            let multiplier = multiplier.copied().unwrap_or(Multiplier::ZERO);
            let y = multiplier.apply(sum, self.rounding) + self.output_zero_point;
            // The range is one of 8 bits.
            (y.clamp(self.range[0], self.range[1]) as i8).cast_unsigned()
        };
        Ok(sums.indexed_iter().map(finish).collect())
    }

    /// A row for each place of the window: the cells that it sees, without the zero point.
    fn places(&self, image: &[u8]) -> Array2<f64> {
        let cells = self.kernel[0] * self.kernel[1] * self.channels;
        Array2::from_shape_fn((self.output[0] * self.output[1], cells), |(place, cell)| {
            let [down, right] = [place / self.output[1], place % self.output[1]];
            let (cell, channel) = (cell / self.channels, cell % self.channels);
            let row = self.at(0, down, cell / self.kernel[1]);
            let column = self.at(1, right, cell % self.kernel[1]);
            row.zip(column).map_or(0.0, |(row, column)| {
                let x = image[(row * self.input[1] + column) * self.channels + channel].cast_signed();
                f64::from(i32::from(x) - self.input_zero_point)
            })
        })
    }

    /// Where a cell of the window is on an axis of the image, if it is inside.
    fn at(&self, axis: usize, place: usize, cell: usize) -> Option<usize> {
        let at = (place * self.stride[axis] + cell * self.dilation[axis]).checked_sub(self.padding[axis])?;
        (at < self.input[axis]).then_some(at)
    }
}
