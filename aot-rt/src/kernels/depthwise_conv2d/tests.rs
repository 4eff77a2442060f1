//! Cases for both element types, and random ones against the definition.

use super::*;
use crate::fixed_point::Multiplier;
use crate::kernels::Apart;
use crate::kernels::tests::{Random, floats, for_each_tap};

struct Case {
    name: &'static str,
    window: Window2d,
    in_channels: usize,
    depth_multiplier: usize,
    x: &'static [i8],
    weights: &'static [i8],
    bias: &'static [i8],
    expect: &'static [i8],
}

const WINDOW: Window2d = Window2d {
    batch: 1,
    input: [1, 2],
    output: [1, 1],
    kernel: [1, 2],
    stride: [1, 1],
    dilation: [1, 1],
    padding: [0, 0],
};

/// Small integers, computed by hand; the same in floats and in int8.
const CASES: &[Case] = &[
    Case {
        name: "nine channels: a block and one",
        window: WINDOW,
        in_channels: 9,
        depth_multiplier: 1,
        x: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        weights: &[1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        bias: &[0, 0, 0, 0, 0, 0, 0, 0, 1],
        expect: &[2, 4, 6, 8, 10, 12, 14, 16, 28],
    },
    Case {
        name: "multiplier two",
        window: WINDOW,
        in_channels: 2,
        depth_multiplier: 2,
        x: &[1, 2, 3, 4],
        weights: &[1, 10, 1, 10, 2, 1, 0, -1],
        bias: &[],
        // 1 + 3*2, 10 + 3, 2, 20 - 4
        expect: &[7, 13, 2, 16],
    },
    Case {
        name: "multiplier nine of one channel: a block and one",
        window: WINDOW,
        in_channels: 1,
        depth_multiplier: 9,
        x: &[1, 2],
        weights: &[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 1, 1, 1, 1, 1, 1, 1],
        bias: &[],
        expect: &[3, 4, 5, 6, 7, 8, 9, 10, 11],
    },
    Case {
        name: "padding, stride, batch",
        window: Window2d {
            batch: 2,
            input: [3, 1],
            output: [2, 1],
            kernel: [3, 1],
            stride: [2, 1],
            padding: [1, 0],
            ..WINDOW
        },
        in_channels: 1,
        depth_multiplier: 1,
        x: &[1, 2, 3, 4, 5, 6],
        weights: &[1, 2, 3],
        bias: &[],
        // 2 + 3*2, 2 + 2*3; 8 + 15, 5 + 12
        expect: &[8, 8, 23, 17],
    },
    Case {
        name: "dilation",
        window: Window2d { input: [1, 4], output: [1, 2], dilation: [1, 2], ..WINDOW },
        in_channels: 1,
        depth_multiplier: 1,
        x: &[1, 2, 3, 4],
        weights: &[10, 1],
        bias: &[],
        expect: &[13, 24],
    },
];

#[test]
fn depthwise_conv2d_f32_cases() {
    for case in CASES {
        let params = DepthwiseConv2dF32 {
            window: case.window,
            in_channels: case.in_channels,
            depth_multiplier: case.depth_multiplier,
            range: RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY },
        };
        let [x, weights, bias, expect] = [case.x, case.weights, case.bias, case.expect].map(floats);
        let mut y = [f32::NAN; 32];
        let y = &mut y[..case.expect.len()];
        let images = Apart { x: &x[..case.x.len()], y };
        let (weights, bias) = (&weights[..case.weights.len()], &bias[..case.bias.len()]);
        depthwise_conv2d_f32(&params, images, weights, bias);
        assert_eq!(y, &expect[..y.len()], "{}", case.name);
    }
}

#[test]
fn depthwise_conv2d_i8_cases() {
    for case in CASES {
        for zero in [0_i8, -100, 90] {
            let params = DepthwiseConv2dI8 {
                window: case.window,
                in_channels: case.in_channels,
                depth_multiplier: case.depth_multiplier,
                input_zero_point: zero.into(),
                output: OutputI8 { zero_point: -1, min: -128, max: 127, single_rounding: false },
            };
            let one = Multiplier::from_real(1.0).unwrap();
            let mut x = [0; 32];
            for (x, case_x) in x.iter_mut().zip(case.x) {
                *x = case_x + zero;
            }
            let mut bias = [0; 16];
            for (bias, &case_bias) in bias.iter_mut().zip(case.bias) {
                *bias = case_bias.into();
            }
            let mut y = [0; 32];
            let y = &mut y[..case.expect.len()];
            depthwise_conv2d_i8(
                &params,
                Apart { x: &x[..case.x.len()], y },
                case.weights,
                &bias[..case.bias.len()],
                &[one.multiplier],
                &[one.shift as i8],
            );
            for (y, expect) in y.iter().zip(case.expect) {
                assert_eq!(*y, expect - 1, "{}", case.name);
            }
        }
    }
}

#[test]
fn depthwise_conv2d_equals_the_definition() {
    let mut random = Random(3);
    for _ in 0..300 {
        let window = random.window();
        let depth_multiplier = 1 + random.below(2) * random.below(20);
        let in_channels = 1 + random.below(if depth_multiplier == 1 { 40 } else { 3 });
        let out_channels = in_channels * depth_multiplier;
        let zero = random.below(256) as i32 - 128;
        let (x, weights) = (random.array::<3920>(), random.array::<1024>());
        let x = &x[..window.batch * window.input_cells() * in_channels];
        let weights = &weights[..window.kernel_cells() * out_channels];
        let bias: [i32; 64] = core::array::from_fn(|i| i as i32 * 128);
        let params = DepthwiseConv2dI8 {
            window,
            in_channels,
            depth_multiplier,
            input_zero_point: zero,
            output: OutputI8 { zero_point: 0, min: -128, max: 127, single_rounding: true },
        };
        let asymmetric = DepthwiseConv2dAsymmetricI8 {
            window,
            in_channels,
            depth_multiplier,
            input_zero_point: zero,
            weights_zero_point: random.below(256) as i32 - 128,
            output: params.output,
        };
        let factor = Multiplier::from_real(1.0 / 1024.0).unwrap();
        let (multipliers, shifts) = ([factor.multiplier; 64], [factor.shift as i8; 64]);
        let (bias, multipliers, shifts) =
            (&bias[..out_channels], &multipliers[..out_channels], &shifts[..out_channels]);
        let mut results = [[0; 2000]; 2];
        let [symmetric_y, asymmetric_y] =
            results.each_mut().map(|y| &mut y[..window.batch * window.output_cells() * out_channels]);
        depthwise_conv2d_i8(&params, Apart { x, y: symmetric_y }, weights, bias, multipliers, shifts);
        let images = Apart { x, y: asymmetric_y };
        depthwise_conv2d_asymmetric_i8(&asymmetric, images, weights, bias, multipliers, shifts);
        let [height, width] = window.output;
        for (y, weights_zero) in [(symmetric_y, 0), (asymmetric_y, asymmetric.weights_zero_point)] {
            for (index, &y) in y.iter().enumerate() {
                let (cell, channel) = (index / out_channels, index % out_channels);
                let place = [cell / (height * width), cell / width % height, cell % width];
                let mut sum = bias[channel];
                for_each_tap(&window, place, |tap, pixel| {
                    let x = i32::from(x[pixel * in_channels + channel / depth_multiplier]) - zero;
                    sum += x * (i32::from(weights[tap * out_channels + channel]) - weights_zero);
                });
                assert_eq!(i32::from(y), ((sum + 512) >> 10).clamp(-128, 127), "{params:?}");
            }
        }
    }
}
