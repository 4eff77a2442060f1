//! The program that compares kernels with their definitions, of all lengths: what is in assembly
//! for a processor runs nowhere else. It ends with a success where they agree.
#![no_std]
#![no_main]

use aot_rt::Constants;
use aot_rt::kernels::{
    Accumulating, Apart, Conv2dAddI8, Conv2dI8, DepthwiseConv2dI8, Filters, FullyConnectedI8, OutputI8, Row,
    SumI8, Window2d, conv2d_add_blocked_i8, conv2d_add_i8, conv2d_blocked_i8, conv2d_i8, depthwise_conv2d_i8,
    fully_connected_blocked_i8, fully_connected_i8,
};

/// Layers of each kind.
const LAYERS: usize = 400;

/// Most cells of an image, of a result, and of the rows under a window; most channels.
const CELLS: usize = 16;
const RESULTS: usize = 36;
const RING: usize = 20;
const CHANNELS: usize = 40;

/// Most weights of a layer.
const WEIGHTS: usize = 50 * CHANNELS;

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

    fn multiplier(&mut self) -> i32 {
        (1 << 30 | self.bits() >> 2).cast_signed()
    }

    /// Any bytes, or small ones, or only the least and the greatest.
    fn fill(&mut self, bytes: &mut [i8], is_small: bool) {
        let is_extreme = self.below(4) == 0;
        for byte in bytes {
            *byte = self.bits() as i8;
            if is_small {
                *byte >>= 6;
            } else if is_extreme {
                *byte = if *byte < 50 { i8::MIN } else { i8::MAX };
            }
        }
    }
}

/// What a layer has beside its shape, and more of it than some need.
struct Layer {
    x: [i8; CELLS * CHANNELS],
    weights: [i8; WEIGHTS],
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
        // Such that results have eight bits even where nothing is shifted.
        let is_small = random.below(4) == 0;
        let (mut x, mut weights) = ([0; CELLS * CHANNELS], [0; WEIGHTS]);
        random.fill(&mut x, is_small);
        random.fill(&mut weights, is_small);
        let shift = [4, 20][random.below(2)];
        let limits = [random.bits() as i8, random.bits() as i8];
        let is_limited = random.below(2) == 0;
        Self {
            x,
            weights,
            bias: core::array::from_fn(|_| random.bits().cast_signed() >> if is_small { 28 } else { shift }),
            multipliers: core::array::from_fn(|_| random.multiplier()),
            shifts: core::array::from_fn(|_| match random.below(8) {
                0 => random.below(62) as i8 - 31,
                _ if is_small => random.below(6) as i8 - 3,
                _ => -(random.below(6) as i8) - 5,
            }),
            factors: if random.below(3) == 0 { 1 } else { channels },
            zero: match random.below(7) {
                _ if is_small => random.below(3) as i32 - 1,
                any @ 0..6 => [-128, -127, -1, 0, 1, 127][any],
                _ => (random.bits() as i8).into(),
            },
            output: OutputI8 {
                zero_point: (random.bits() as i8).into(),
                min: if is_limited { limits[0].min(limits[1]) } else { i8::MIN }.into(),
                max: if is_limited { limits[0].max(limits[1]) } else { i8::MAX }.into(),
                single_rounding: random.below(8) == 0,
            },
        }
    }

    /// Bias, multipliers and shifts of so many channels.
    fn factors(&self, channels: usize) -> (&[i32], &[i32], &[i8]) {
        (&self.bias[..channels], &self.multipliers[..self.factors], &self.shifts[..self.factors])
    }

    /// The weights with these filters as the processor's kernels read them.
    #[inline(never)]
    fn in_blocks(&self, filters: Filters) -> Constants<WEIGHTS> {
        Constants::new(self.weights.map(i8::cast_unsigned)).with_blocks(&[filters])
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
    let [a_multiplier, b_multiplier, output_multiplier] = [(); 3].map(|()| random.multiplier());
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
    aot_firmware::exit((0..LAYERS).all(|_| fully_connected(&mut random) && convolution(&mut random)))
}

fn fully_connected(random: &mut Random) -> bool {
    let (inputs, outputs) = (1 + random.below(WEIGHTS / CHANNELS), 1 + random.below(CHANNELS));
    let layer = Layer::new(random, outputs);
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
    let (y, weights) = (&mut y[..outputs], &layer.weights[..inputs * outputs]);
    let (bias, multipliers, shifts) = layer.factors(outputs);
    let x = &layer.x[..inputs];
    if random.below(2) == 0 {
        let blocks = layer.in_blocks(Filters::new(0, 1, outputs, inputs));
        let weights = &blocks.get::<i8, 0, WEIGHTS>()[..weights.len()];
        fully_connected_blocked_i8(&params, x, y, weights, bias, multipliers, shifts);
    } else {
        fully_connected_i8(&params, x, y, weights, bias, multipliers, shifts);
    }
    y.iter().zip(weights.chunks(inputs)).enumerate().all(|(channel, (y, weights))| {
        let products = layer.x.iter().zip(weights);
        let sum = products.map(|(x, w)| (i32::from(*x) - layer.zero) * (i32::from(*w) - weights_zero)).sum();
        *y == layer.result(channel, sum)
    })
}

/// A convolution of all channels, if there is no depth multiplier, or of each by itself.
struct Convolution {
    window: Window2d,
    in_channels: usize,
    out_channels: usize,
    depth_multiplier: Option<usize>,
    /// Groups of channels that are convolved apart, unless each is.
    groups: usize,
    layer: Layer,
    /// Its filters in blocks, if it reads them so.
    blocks: Option<Constants<WEIGHTS>>,
    /// How its result is added to what is there, if it is.
    sum: Option<SumI8>,
}

fn convolution(random: &mut Random) -> bool {
    let Some(convolution) = Convolution::new(random) else { return true };
    let Convolution { window, in_channels, out_channels, layer, .. } = &convolution;
    let [height, width] = window.input;
    let mut there = [0; RESULTS * CHANNELS];
    random.fill(&mut there, false);
    let there = &there[..window.output[0] * window.output[1] * out_channels];
    let mut y = [0; RESULTS * CHANNELS];
    let y = &mut y[..there.len()];

    y.copy_from_slice(there);
    let x = &layer.x[..height * width * in_channels];
    convolution.run(Apart { x, y });
    if !convolution.is(there, y) {
        return false;
    }

    // Row by row, with as many rows in a ring as a window has.
    y.copy_from_slice(there);
    let (row_len, rows) = (width * in_channels, (window.kernel[0] - 1) * window.dilation[0] + 1);
    let mut ring = [0; RING * CHANNELS];
    for row in 0..window.output[0] {
        let start = (row * window.stride[0]).saturating_sub(window.padding[0]);
        for (i, x) in x.chunks(row_len).enumerate().skip(start).take(rows) {
            ring[i % rows * row_len..][..row_len].copy_from_slice(x);
        }
        let rings = [rows, window.output[0]];
        convolution.run(Row { x: &ring[..rows * row_len], y, rings, row });
    }
    convolution.is(there, y)
}

impl Convolution {
    fn new(random: &mut Random) -> Option<Self> {
        let mut pair = |end| [1 + random.below(end), 1 + random.below(end)];
        let (input, kernel, stride, dilation) = (pair(4), pair(3), pair(2), pair(2));
        let padding = [random.below(2), random.below(2)];
        let extent = |i: usize| (input[i] + 2 * padding[i]).checked_sub((kernel[i] - 1) * dilation[i] + 1);
        let output = [extent(0)? / stride[0] + 1, extent(1)? / stride[1] + 1];
        let window = Window2d { batch: 1, input, output, kernel, stride, dilation, padding };
        let multiplier = 1 + random.below(4) / 3 * random.below(12);
        let depth_multiplier = (random.below(2) == 0).then_some(multiplier);
        let groups = if depth_multiplier.is_none() { 1 + random.below(3) } else { 1 };
        let most = depth_multiplier.map_or(24 / groups, |multiplier| CHANNELS / multiplier);
        let in_channels = groups * (1 + random.below(most));
        let out_channels =
            depth_multiplier.map_or(groups * (1 + random.below(9)), |multiplier| in_channels * multiplier);
        let layer = Layer::new(random, out_channels);
        let is_added = depth_multiplier.is_none() && random.below(3) == 0;
        let sum = is_added.then(|| sum(random, layer.output));
        let filter = kernel[0] * kernel[1] * (in_channels / groups);
        let filters = Filters::new(0, groups, out_channels / groups, filter);
        let is_blocked = depth_multiplier.is_none() && filters.are_aligned() && random.below(2) == 0;
        let blocks = is_blocked.then(|| layer.in_blocks(filters));
        Some(Self { window, in_channels, out_channels, depth_multiplier, groups, layer, blocks, sum })
    }

    fn run(&self, images: impl Accumulating<i8>) {
        let Self { window, in_channels, out_channels, layer, .. } = self;
        let (window, in_channels, out_channels) = (*window, *in_channels, *out_channels);
        let (input_zero_point, output) = (layer.zero, layer.output);
        let (bias, multipliers, shifts) = layer.factors(out_channels);
        let filters = if self.depth_multiplier.is_some() { 1 } else { in_channels / self.groups };
        let weights = &layer.weights[..window.kernel[0] * window.kernel[1] * filters * out_channels];
        if let Some(depth_multiplier) = self.depth_multiplier {
            let params =
                DepthwiseConv2dI8 { window, in_channels, depth_multiplier, input_zero_point, output };
            return depthwise_conv2d_i8(&params, images, weights, bias, multipliers, shifts);
        }
        let (groups, weights_zero_point) = (self.groups, 0);
        let conv2d = Conv2dI8 {
            window,
            in_channels,
            out_channels,
            groups,
            input_zero_point,
            weights_zero_point,
            output,
        };
        let blocks = self.blocks.as_ref().map(|blocks| &blocks.get::<i8, 0, WEIGHTS>()[..weights.len()]);
        let sum = self.sum.map(|sum| Conv2dAddI8 { conv2d, sum });
        match (sum, blocks) {
            (None, None) => conv2d_i8(&conv2d, images, weights, bias, multipliers, shifts),
            (None, Some(weights)) => conv2d_blocked_i8(&conv2d, images, weights, bias, multipliers, shifts),
            (Some(sum), None) => conv2d_add_i8(&sum, images, weights, bias, multipliers, shifts),
            (Some(sum), Some(weights)) => {
                conv2d_add_blocked_i8(&sum, images, weights, bias, multipliers, shifts);
            }
        }
    }

    /// Whether `y` is the result, where these numbers were `there`.
    fn is(&self, there: &[i8], y: &[i8]) -> bool {
        let Self { window, in_channels, out_channels, layer, .. } = self;
        let cells = window.kernel[0] * window.kernel[1];
        let [in_group, out_group] = [in_channels, out_channels].map(|channels| channels / self.groups);
        y.iter().zip(there).enumerate().all(|(i, (y, there))| {
            let (cell, channel) = (i / out_channels, i % out_channels);
            let mut products = 0;
            let mut add = |pixel: usize, from: usize, weight: usize| {
                let x = i32::from(layer.x[pixel * in_channels + from]) - layer.zero;
                products += x * i32::from(layer.weights[weight]);
            };
            for (tap, pixel) in taps(window, cell) {
                match self.depth_multiplier {
                    Some(multiplier) => add(pixel, channel / multiplier, tap * out_channels + channel),
                    None => {
                        let (first, weights) = (channel / out_group * in_group, channel * cells + tap);
                        (0..in_group).for_each(|from| add(pixel, first + from, weights * in_group + from));
                    }
                }
            }
            let own = layer.result(channel, products);
            *y == self.sum.map_or(own, |sum| added(&sum, own, *there))
        })
    }
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
