//! Cases for all element types, and random ones against the definition.

use super::*;
use crate::fixed_point::Multiplier;
use crate::kernels::tests::{Random, floats, for_each_tap};
use crate::kernels::{Apart, packed_filters};

const ALL: RangeF32 = RangeF32 { min: f32::NEG_INFINITY, max: f32::INFINITY };

struct Case {
    name: &'static str,
    window: Window2d,
    /// Input channels, output channels, groups.
    channels: [usize; 3],
    x: &'static [i8],
    weights: &'static [i8],
    bias: &'static [i8],
    expect: &'static [i8],
}

const ONE: Window2d = Window2d {
    batch: 1,
    input: [1, 1],
    output: [1, 1],
    kernel: [1, 1],
    stride: [1, 1],
    dilation: [1, 1],
    padding: [0, 0],
};

/// Small integers, computed by hand; the same in floats and in int8.
const CASES: &[Case] = &[
    Case {
        name: "1x1, five channels out: a block of four and one",
        window: Window2d { input: [1, 2], output: [1, 2], ..ONE },
        channels: [2, 5, 1],
        x: &[1, 2, 3, 4],
        weights: &[1, 0, 0, 1, 1, 1, 1, -1, 2, 3],
        bias: &[0, 0, 0, 0, 10],
        expect: &[1, 2, 3, -1, 18, 3, 4, 7, -1, 28],
    },
    Case {
        name: "3x3 same padding",
        window: Window2d { input: [3, 3], output: [3, 3], kernel: [3, 3], padding: [1, 1], ..ONE },
        channels: [1, 1, 1],
        x: &[1, 2, 3, 4, 5, 6, 7, 8, 9],
        weights: &[1, 1, 1, 1, 1, 1, 1, 1, 1],
        bias: &[],
        expect: &[12, 21, 16, 27, 45, 33, 24, 39, 28],
    },
    Case {
        name: "stride, uneven padding, batch",
        window: Window2d {
            batch: 2,
            input: [2, 3],
            output: [1, 2],
            kernel: [2, 2],
            stride: [2, 2],
            padding: [0, 1],
            ..ONE
        },
        channels: [1, 1, 1],
        x: &[1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60],
        weights: &[1, 2, 3, 4],
        bias: &[-1],
        // 2*1 + 4*4 - 1; 2 + 2*3 + 3*5 + 4*6 - 1
        expect: &[17, 46, 127, 127],
    },
    Case {
        // known-faults.md O13: dilation 2, pads [3, 0], x 1..4, w [1, 10, 100], a tenth of it.
        name: "dilation and padding before",
        window: Window2d {
            input: [1, 4],
            output: [1, 3],
            kernel: [1, 3],
            dilation: [1, 2],
            padding: [0, 3],
            ..ONE
        },
        channels: [1, 1, 1],
        x: &[1, 2, 3, 4],
        weights: &[0, 1, 10],
        bias: &[],
        expect: &[20, 31, 42],
    },
    Case {
        name: "1x1 in the padding",
        window: Window2d { input: [1, 1], output: [3, 3], padding: [1, 1], ..ONE },
        channels: [1, 1, 1],
        x: &[3],
        weights: &[2],
        bias: &[1],
        expect: &[1, 1, 1, 1, 7, 1, 1, 1, 1],
    },
    Case {
        name: "two groups",
        window: Window2d { input: [1, 2], output: [1, 1], kernel: [1, 2], ..ONE },
        channels: [4, 2, 2],
        x: &[1, 2, 3, 4, 5, 6, 7, 8],
        weights: &[1, 1, 1, 1, 1, 2, 3, 4],
        bias: &[0, 1],
        // 1 + 2 + 5 + 6; 3 + 2*4 + 3*7 + 4*8 + 1
        expect: &[14, 65],
    },
];

/// Packs the filters of each group.
fn pack(weights: &[f32], [_, out_channels, groups]: [usize; 3], packed: &mut [f32]) {
    let order = packed_filters(out_channels / groups, weights.len() / out_channels);
    let group = weights.len() / groups;
    for (to, from) in order.enumerate() {
        for start in (0..weights.len()).step_by(group) {
            packed[start + to] = weights[start + from];
        }
    }
}

#[test]
fn conv2d_f32_cases() {
    for case in CASES {
        let [in_channels, out_channels, groups] = case.channels;
        let params = Conv2dF32 {
            window: case.window,
            in_channels,
            out_channels,
            groups,
            range: RangeF32 { max: 127.0, ..ALL },
        };
        let [x, weights, bias, expect] = [case.x, case.weights, case.bias, case.expect].map(floats);
        let mut packed = [0.0; 32];
        pack(&weights[..case.weights.len()], case.channels, &mut packed);
        let mut y = [f32::NAN; 16];
        let y = &mut y[..case.expect.len()];
        let images = Apart { x: &x[..case.x.len()], y };
        conv2d_f32(&params, images, &packed[..case.weights.len()], &bias[..case.bias.len()]);
        assert_eq!(y, &expect[..y.len()], "{}", case.name);
    }
}

#[test]
fn conv2d_i8_cases() {
    for case in CASES {
        let [in_channels, out_channels, groups] = case.channels;
        for zero in [0_i8, -7, 5] {
            let params = Conv2dI8 {
                window: case.window,
                in_channels,
                out_channels,
                groups,
                input_zero_point: zero.into(),
                weights_zero_point: 0,
                output: OutputI8 { zero_point: 3, min: -128, max: 127, single_rounding: false },
            };
            let one = Multiplier::from_real(1.0).unwrap();
            let mut x = [0; 16];
            for (x, case_x) in x.iter_mut().zip(case.x) {
                *x = case_x + zero;
            }
            let mut bias = [0; 8];
            for (bias, &case_bias) in bias.iter_mut().zip(case.bias) {
                *bias = case_bias.into();
            }
            let mut y = [0; 16];
            let y = &mut y[..case.expect.len()];
            conv2d_i8(
                &params,
                Apart { x: &x[..case.x.len()], y },
                case.weights,
                &bias[..case.bias.len()],
                &[one.multiplier],
                &[one.shift as i8],
            );
            for (y, expect) in y.iter().zip(case.expect) {
                assert_eq!(*y, expect.saturating_add(if *expect == 127 { 0 } else { 3 }), "{}", case.name);
            }
        }
    }
}

#[test]
fn conv2d_i8_requantizes_by_channel() {
    // known-faults.md L5 (a): accumulators -1896 and -1711.
    let m = Multiplier::from_real(0.4 / 37.0).unwrap();
    let params = Conv2dI8 {
        window: ONE,
        in_channels: 1,
        out_channels: 3,
        groups: 1,
        input_zero_point: 0,
        weights_zero_point: 0,
        output: OutputI8 { zero_point: 0, min: -128, max: 127, single_rounding: false },
    };
    let mut y = [0; 3];
    let multipliers = [m.multiplier, m.multiplier, 1 << 30];
    let images = Apart { x: &[-79], y: &mut y };
    conv2d_i8(&params, images, &[24, 24, 1], &[0, 185, 0], &multipliers, &[-6, -6, 1]);
    assert_eq!(y, [-21, -19, -79]);
}

/// Sums of every cell of `y`, from the definition.
fn sums(
    window: &Window2d,
    [in_channels, out_channels, groups]: [usize; 3],
    x: impl Fn(usize) -> i32,
    weights: impl Fn(usize) -> i32,
    mut check: impl FnMut(usize, i32),
) {
    let (in_group, out_group) = (in_channels / groups, out_channels / groups);
    let [height, width] = window.output;
    for index in 0..window.batch * height * width * out_channels {
        let (cell, channel) = (index / out_channels, index % out_channels);
        let place = [cell / (height * width), cell / width % height, cell % width];
        let mut sum = 0;
        for_each_tap(window, place, |tap, pixel| {
            for i in 0..in_group {
                let weight = (channel * window.kernel_cells() + tap) * in_group + i;
                sum += x(pixel * in_channels + channel / out_group * in_group + i) * weights(weight);
            }
        });
        check(index, sum);
    }
}

#[test]
fn conv2d_equals_the_definition() {
    let mut random = Random(1);
    for round in 0..300 {
        let window = random.window();
        // With one group, filters of all sizes up to 16 * 33.
        let groups = 1 + random.below(3);
        let in_channels = groups * (1 + random.below(if groups == 1 { 33 } else { 5 }));
        let out_channels = groups * (1 + random.below(6));
        let channels = [in_channels, out_channels, groups];
        let zero = random.below(256) as i32 - 128;
        let weights_zero = random.below(2) as i32 * (random.below(256) as i32 - 128);
        let (x, weights) = (random.array::<3234>(), random.array::<9504>());
        let x = &x[..window.batch * window.input_cells() * in_channels];
        let weights = &weights[..window.kernel_cells() * in_channels / groups * out_channels];

        let params = Conv2dI8 {
            window,
            in_channels,
            out_channels,
            groups,
            input_zero_point: zero,
            weights_zero_point: weights_zero,
            output: OutputI8 { zero_point: 1, min: -128, max: 127, single_rounding: round % 2 == 0 },
        };
        // Multiples of 2^-14 without a remainder are rounded alike.
        let factor = Multiplier::from_real(1.0 / 16384.0).unwrap();
        let (multipliers, shifts) = ([factor.multiplier; 18], [factor.shift as i8; 18]);
        let count = if round % 3 == 0 { 1 } else { out_channels };
        let mut y = [0; 900];
        let y = &mut y[..window.batch * window.output_cells() * out_channels];
        conv2d_i8(&params, Apart { x, y }, weights, &[], &multipliers[..count], &shifts[..count]);
        sums(
            &window,
            channels,
            |i| i32::from(x[i]) - zero,
            |i| i32::from(weights[i]) - weights_zero,
            |index, sum| {
                let exact = f64::from(sum) / 16384.0;
                let expect = libm::floor(exact + 0.5) + 1.0;
                // Double rounding goes away from zero, single rounding up.
                let tie = exact - libm::floor(exact) == 0.5 && exact < 0.0 && round % 2 == 1;
                assert_eq!(f64::from(y[index]), expect.clamp(-128.0, 127.0) - f64::from(tie), "{params:?}");
            },
        );

        // Small whole numbers: floats add them without rounding.
        let mut floats = ([0.0; 3234], [0.0; 9504]);
        let mut packed = [0.0; 9504];
        for (float, &x) in floats.0.iter_mut().zip(x) {
            *float = f32::from(x);
        }
        for (float, &weight) in floats.1.iter_mut().zip(weights) {
            *float = f32::from(weight);
        }
        pack(&floats.1[..weights.len()], channels, &mut packed);
        let params = Conv2dF32 { window, in_channels, out_channels, groups, range: ALL };
        let mut y = [f32::NAN; 900];
        let y = &mut y[..window.batch * window.output_cells() * out_channels];
        let images = Apart { x: &floats.0[..x.len()], y };
        conv2d_f32(&params, images, &packed[..weights.len()], &[]);
        sums(
            &window,
            channels,
            |i| x[i].into(),
            |i| weights[i].into(),
            |index, sum| {
                assert_eq!(y[index], sum as f32, "{params:?}");
            },
        );
    }
}

#[test]
fn specialised_and_shared_floats_have_equal_bits() {
    const PARAMS: Conv2dF32 = Conv2dF32 {
        window: Window2d { input: [5, 4], output: [5, 4], kernel: [3, 3], padding: [1, 1], ..ONE },
        in_channels: 11,
        out_channels: 6,
        groups: 1,
        range: ALL,
    };
    crate::specialise!(Special: Conv2dF32 = PARAMS);
    let mut random = Random(2);
    let x: [f32; 220] = core::array::from_fn(|_| random.below(1 << 24) as f32 / 3.0);
    let weights: [f32; 594] = core::array::from_fn(|_| random.below(1 << 24) as f32 / -7e3);
    let (mut shared, mut special) = ([0.0; 120], [0.0; 120]);
    conv2d_f32(core::hint::black_box(&PARAMS), Apart { x: &x, y: &mut shared }, &weights, &[]);
    conv2d_f32(&Special, Apart { x: &x, y: &mut special }, &weights, &[]);
    assert_eq!(shared.map(f32::to_bits), special.map(f32::to_bits));
}

#[test]
fn conv2d_i16_equals_the_definition() {
    let mut random = Random(8);
    for _ in 0..100 {
        let window = random.window();
        let groups = 1 + random.below(2);
        let (in_channels, out_channels) = (groups * (1 + random.below(9)), groups * (1 + random.below(6)));
        let channels = [in_channels, out_channels, groups];
        let (x, weights) = (random.array::<3234>(), random.array::<9504>());
        let x: [i16; 3234] = core::array::from_fn(|i| i16::from(x[i]) * 256);
        let x = &x[..window.batch * window.input_cells() * in_channels];
        let weights = &weights[..window.kernel_cells() * in_channels / groups * out_channels];
        let range = RangeI16 { min: -32768, max: 32767 };
        let params = Conv2dI16 { window, in_channels, out_channels, groups, range };
        let mut y = [0; 900];
        let y = &mut y[..window.batch * window.output_cells() * out_channels];
        // 3 / 2^10, rounded up at ties.
        conv2d_i16(&params, Apart { x, y }, weights, &[], &[3 << 12], &[22]);
        sums(
            &window,
            channels,
            |i| x[i].into(),
            |i| weights[i].into(),
            |index, sum| {
                let expect = (i64::from(sum) * 3 + 512) >> 10;
                assert_eq!(i64::from(y[index]), expect.clamp(-32768, 32767), "{params:?}");
            },
        );
    }
}
