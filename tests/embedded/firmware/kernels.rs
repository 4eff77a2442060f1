//! The program that compares kernels with their definitions, of all lengths: what is in assembly
//! for a processor runs nowhere else. It ends with a success where they agree.
#![no_std]
#![no_main]

use aot_rt::kernels::{
    Apart, Conv2dAddI8, Conv2dI8, DepthwiseConv2dI8, FullyConnectedI8, OutputI8, SumI8, Window2d,
    conv2d_add_i8, conv2d_i8, depthwise_conv2d_i8, fully_connected_i8,
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
        let (multiplier, shift) = (self.multipliers[factor], self.shifts[factor].into());
        limited(self.output, scaled(sum.wrapping_add(self.bias[channel]), multiplier, shift, self.output))
    }
}

/// `x * multiplier * 2^(shift - 31)`, rounded as `output` says.
fn scaled(x: i32, multiplier: i32, shift: i32, output: OutputI8) -> i32 {
    if output.single_rounding {
        return ((i64::from(x) * i64::from(multiplier) + (1 << (30 - shift))) >> (31 - shift)) as i32;
    }
    let high = (i64::from(x << shift.max(0)) * i64::from(multiplier) + (1 << 30)) >> 31;
    let right = (-shift).max(0);
    let magnitude = (high.abs() + (1 << right >> 1)) >> right;
    (if high < 0 { -magnitude } else { magnitude }) as i32
}

fn limited(output: OutputI8, steps: i32) -> i8 {
    steps.wrapping_add(output.zero_point).max(output.min).min(output.max) as i8
}

/// A sum whose operands have any scales.
fn sum(random: &mut Random, output: OutputI8) -> SumI8 {
    let mut multiplier = || (1 << 30 | random.bits() >> 2).cast_signed();
    let [a_multiplier, b_multiplier, output_multiplier] = [multiplier(), multiplier(), multiplier()];
    let mut shift = |from: i32| from - random.below(4) as i32;
    let (a_shift, b_shift, output_shift) = (shift(1), shift(0), shift(-17));
    let (a_zero_point, b_zero_point) = ((random.bits() as i8).into(), (random.bits() as i8).into());
    SumI8 {
        a_zero_point,
        a_multiplier,
        a_shift,
        b_zero_point,
        b_multiplier,
        b_shift,
        output_multiplier,
        output_shift,
        output,
    }
}

/// The sum of `a` and `b`.
fn added(sum: &SumI8, a: i8, b: i8) -> i8 {
    let a = scaled((i32::from(a) - sum.a_zero_point) << 20, sum.a_multiplier, sum.a_shift, sum.output);
    let b = scaled((i32::from(b) - sum.b_zero_point) << 20, sum.b_multiplier, sum.b_shift, sum.output);
    let total = scaled(a.wrapping_add(b), sum.output_multiplier, sum.output_shift, sum.output);
    limited(sum.output, total)
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

/// A convolution: of each channel by itself, of all, or of all and added to what is there.
fn windows(random: &mut Random) -> bool {
    let mut pair = |end| [1 + random.below(end), 1 + random.below(end)];
    let (input, kernel, stride, dilation) = (pair(6), pair(3), pair(2), pair(2));
    let padding = [random.below(2), random.below(2)];
    let extent = |i: usize| (input[i] + 2 * padding[i]).checked_sub((kernel[i] - 1) * dilation[i] + 1);
    let (Some(height), Some(width)) = (extent(0), extent(1)) else { return true };
    let output = [height / stride[0] + 1, width / stride[1] + 1];
    let window = Window2d { batch: 1, input, output, kernel, stride, dilation, padding };

    let is_depthwise = random.below(2) == 0;
    let depth_multiplier = 1 + random.below(4) / 3 * random.below(12);
    let in_channels = 1 + random.below(if is_depthwise { CHANNELS / depth_multiplier } else { 24 });
    let out_channels = if is_depthwise { in_channels * depth_multiplier } else { 1 + random.below(9) };
    let layer = Layer::new(random, out_channels);
    let mut weights = [0; 9 * 24 * 9];
    random.fill(&mut weights);
    let filters = if is_depthwise { 1 } else { in_channels };
    let weights = &weights[..kernel[0] * kernel[1] * filters * out_channels];
    let mut there = [0; 64 * CHANNELS];
    random.fill(&mut there);
    let mut y = there;
    let y = &mut y[..output[0] * output[1] * out_channels];
    let images = Apart { x: &layer.x[..input[0] * input[1] * in_channels], y };
    let factors = (&layer.multipliers[..layer.factors], &layer.shifts[..layer.factors]);
    let (bias, (multipliers, shifts)) = (&layer.bias[..out_channels], factors);
    let (input_zero_point, output) = (layer.zero, layer.output);
    let (groups, weights_zero_point) = (1, 0);
    let conv2d =
        Conv2dI8 { window, in_channels, out_channels, groups, input_zero_point, weights_zero_point, output };
    let sum = (!is_depthwise && random.below(3) == 0).then(|| sum(random, output));
    if is_depthwise {
        let params = DepthwiseConv2dI8 { window, in_channels, depth_multiplier, input_zero_point, output };
        depthwise_conv2d_i8(&params, images, weights, bias, multipliers, shifts);
    } else if let Some(sum) = sum {
        let params = Conv2dAddI8 { conv2d, sum };
        conv2d_add_i8(&params, images, weights, bias, multipliers, shifts);
    } else {
        conv2d_i8(&conv2d, images, weights, bias, multipliers, shifts);
    }

    y.iter().zip(there).enumerate().all(|(i, (y, there))| {
        let (cell, channel) = (i / out_channels, i % out_channels);
        let from = if is_depthwise { channel / depth_multiplier } else { 0 };
        let mut products = 0;
        for (tap, pixel) in taps(&window, cell) {
            for i in 0..filters {
                let weight = if is_depthwise {
                    tap * out_channels + channel
                } else {
                    (channel * kernel[0] * kernel[1] + tap) * in_channels + i
                };
                let x = i32::from(layer.x[pixel * in_channels + from + i]) - layer.zero;
                products += x * i32::from(weights[weight]);
            }
        }
        let own = layer.result(channel, products);
        *y == sum.map_or(own, |sum| added(&sum, own, there))
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
