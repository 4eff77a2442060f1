//! The program that compares kernels with their definitions, of all lengths: what is in assembly
//! for a processor runs nowhere else. It ends with a success where they agree.
#![no_std]
#![no_main]

use aot_rt::kernels::{
    Apart, Conv2dI8, DepthwiseConv2dI8, FullyConnectedI8, OutputI8, Window2d, conv2d_i8, depthwise_conv2d_i8,
    fully_connected_i8,
};

/// Layers of each kind.
const LAYERS: usize = 400;

/// Most cells of an image, and most channels.
const CELLS: usize = 36;
const CHANNELS: usize = 40;

/// Random numbers, the same each time.
struct Random(u32);

impl Random {
    fn bits(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        self.bits() as usize % end
    }

    /// Any bytes, or only the least and the greatest.
    fn fill(&mut self, bytes: &mut [i8]) {
        let is_extreme = self.below(4) == 0;
        for byte in bytes {
            *byte = self.bits() as i8;
            if is_extreme {
                *byte = if *byte < 50 { i8::MIN } else { i8::MAX };
            }
        }
    }
}

/// A layer without its weights, some parts of which may be too large for it.
struct Layer {
    x: [i8; CELLS * CHANNELS],
    bias: [i32; CHANNELS],
    multipliers: [i32; CHANNELS],
    shifts: [i8; CHANNELS],
    /// How many multipliers and shifts there are.
    factors: usize,
    zero: i32,
    output: OutputI8,
}

impl Layer {
    fn new(random: &mut Random, channels: usize) -> Self {
        let mut x = [0; CELLS * CHANNELS];
        random.fill(&mut x);
        let small = random.below(2) as u32 * 16;
        let limits = [random.bits() as i8, random.bits() as i8];
        let is_limited = random.below(2) == 0;
        Self {
            x,
            bias: core::array::from_fn(|_| random.bits().cast_signed() >> small >> 4),
            multipliers: core::array::from_fn(|_| (1 << 30 | random.bits() >> 2).cast_signed()),
            // Mostly such that results are of eight bits.
            shifts: core::array::from_fn(|_| match random.below(8) {
                0 => (random.below(63) as i8) - 31,
                _ => -(random.below(6) as i8) - 5,
            }),
            factors: if random.below(3) == 0 { 1 } else { channels },
            zero: [-128, -127, -1, 0, 1, 127, (random.bits() as i8).into()][random.below(7)],
            output: OutputI8 {
                zero_point: (random.bits() as i8).into(),
                min: if is_limited { limits[0].min(limits[1]) } else { i8::MIN }.into(),
                max: if is_limited { limits[0].max(limits[1]) } else { i8::MAX }.into(),
                single_rounding: random.below(8) == 0,
            },
        }
    }

    /// The result of a channel's sum of products.
    fn result(&self, channel: usize, sum: i32) -> i8 {
        let factor = if self.factors == 1 { 0 } else { channel };
        let (multiplier, shift) = (i64::from(self.multipliers[factor]), i32::from(self.shifts[factor]));
        let sum = sum.wrapping_add(self.bias[channel]);
        let scaled = if self.output.single_rounding {
            (i64::from(sum) * multiplier + (1 << (30 - shift))) >> (31 - shift)
        } else {
            let high = (i64::from(sum << shift.max(0)) * multiplier + (1 << 30)) >> 31;
            let right = (-shift).max(0);
            let magnitude = (high.abs() + (1 << right >> 1)) >> right;
            if high < 0 { -magnitude } else { magnitude }
        };
        let OutputI8 { zero_point, min, max, .. } = self.output;
        (scaled as i32).wrapping_add(zero_point).max(min).min(max) as i8
    }
}

#[aot_firmware::entry]
fn main() -> ! {
    let mut random = Random(1);
    aot_firmware::exit((0..LAYERS).all(|_| fully_connected(&mut random) && windows(&mut random)))
}

fn fully_connected(random: &mut Random) -> bool {
    let (inputs, outputs) = (1 + random.below(70), 1 + random.below(CHANNELS));
    let layer = Layer::new(random, outputs);
    let mut weights = [0; 70 * CHANNELS];
    random.fill(&mut weights);
    let weights_zero = if random.below(4) == 0 { i32::from(random.bits() as i8) } else { 0 };
    let params = FullyConnectedI8 {
        batch: 1,
        inputs,
        outputs,
        input_zero_point: layer.zero,
        weights_zero_point: weights_zero,
        output: layer.output,
    };
    let mut y = [0; CHANNELS];
    let (y, weights) = (&mut y[..outputs], &weights[..inputs * outputs]);
    let (multipliers, shifts) = (&layer.multipliers[..layer.factors], &layer.shifts[..layer.factors]);
    fully_connected_i8(&params, &layer.x[..inputs], y, weights, &layer.bias[..outputs], multipliers, shifts);
    y.iter().zip(weights.chunks(inputs)).enumerate().all(|(channel, (y, weights))| {
        let products = layer.x.iter().zip(weights);
        let sum = products.map(|(x, w)| (i32::from(*x) - layer.zero) * (i32::from(*w) - weights_zero)).sum();
        *y == layer.result(channel, sum)
    })
}

/// A convolution, of all channels or of each by itself.
fn windows(random: &mut Random) -> bool {
    let mut pair = |end| [1 + random.below(end), 1 + random.below(end)];
    let (input, kernel, stride, dilation) = (pair(6), pair(3), pair(2), pair(2));
    let padding = [random.below(2), random.below(2)];
    let extent = |i: usize| (input[i] + 2 * padding[i]).checked_sub((kernel[i] - 1) * dilation[i] + 1);
    let (Some(height), Some(width)) = (extent(0), extent(1)) else { return true };
    let output = [height / stride[0] + 1, width / stride[1] + 1];
    let window = Window2d { batch: 1, input, output, kernel, stride, dilation, padding };
    let is_depthwise = random.below(2) == 0;
    let in_channels = 1 + random.below(if is_depthwise { CHANNELS } else { 24 });
    let out_channels = if is_depthwise { in_channels } else { 1 + random.below(9) };
    let layer = Layer::new(random, out_channels);
    let mut weights = [0; 9 * 24 * 9];
    random.fill(&mut weights);
    let weights = &weights
        [..kernel[0] * kernel[1] * if is_depthwise { in_channels } else { in_channels * out_channels }];
    let mut y = [0; 64 * CHANNELS];
    let y = &mut y[..output[0] * output[1] * out_channels];
    let images = Apart { x: &layer.x[..input[0] * input[1] * in_channels], y };
    let (bias, multipliers, shifts) =
        (&layer.bias[..out_channels], &layer.multipliers[..layer.factors], &layer.shifts[..layer.factors]);
    let (input_zero_point, output) = (layer.zero, layer.output);
    if is_depthwise {
        let depth_multiplier = 1;
        let params = DepthwiseConv2dI8 { window, in_channels, depth_multiplier, input_zero_point, output };
        depthwise_conv2d_i8(&params, images, weights, bias, multipliers, shifts);
    } else {
        let (groups, weights_zero_point) = (1, 0);
        let params = Conv2dI8 {
            window,
            in_channels,
            out_channels,
            groups,
            input_zero_point,
            weights_zero_point,
            output,
        };
        conv2d_i8(&params, images, weights, bias, multipliers, shifts);
    }
    y.iter().enumerate().all(|(i, y)| {
        let (cell, channel) = (i / out_channels, i % out_channels);
        let channels = if is_depthwise { channel..channel + 1 } else { 0..in_channels };
        let mut sum = 0;
        for (tap, pixel) in taps(&window, cell) {
            for from in channels.clone() {
                let w = if is_depthwise { tap } else { channel * kernel[0] * kernel[1] + tap } * in_channels
                    + from;
                sum += (i32::from(layer.x[pixel * in_channels + from]) - layer.zero) * i32::from(weights[w]);
            }
        }
        *y == layer.result(channel, sum)
    })
}

/// The cells of the window that are in the image, and the pixels under them, for a cell of the
/// result.
fn taps(window: &Window2d, cell: usize) -> impl Iterator<Item = (usize, usize)> {
    let [columns, height, width] = [window.kernel[1], window.input[0], window.input[1]];
    let [row, column] = [cell / window.output[1], cell % window.output[1]];
    (0..window.kernel[0] * columns).filter_map(move |tap| {
        let at = |place: usize, tap: usize, i: usize| {
            (place * window.stride[i] + tap * window.dilation[i]).checked_sub(window.padding[i])
        };
        let (row, column) = (at(row, tap / columns, 0)?, at(column, tap % columns, 1)?);
        (row < height && column < width).then_some((tap, row * width + column))
    })
}
