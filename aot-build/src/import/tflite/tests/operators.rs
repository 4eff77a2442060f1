//! What each operator becomes, and which attributes are refused.

use aot_rt::DType;

use super::files::*;
use super::writer::{Field, Table};
use crate::ops::{
    Activation, Add, AveragePool2d, Conv2d, DepthwiseConv2d, Dequantize, FullyConnected, Logistic, MaxPool2d,
    Mean, Op, Pad, Padding2d, Quantize, Relu, Reshape, SignalWindow, Softmax,
};

fn shape(extents: &[usize]) -> Op {
    Reshape { shape: crate::graph::Shape::new(extents).unwrap() }.into()
}

fn unary(code: i32, ty: i8) -> File {
    one(code, ty, [&[1, 4], &[1, 4]], None, None)
}

/// An operator between other types than its operand's.
fn convert(code: i32, from: i8, to: i8) -> File {
    let mut file = unary(code, from);
    let mut y = Table::default().with(NAME, "y").with(TYPE, to).with(SHAPE, vec![1, 4]);
    if to == I8 {
        y.set(QUANTIZATION, quantization(&[0.25], &[0]));
    }
    file.tensors[1] = y;
    file
}

#[test]
fn operators_are_mapped() {
    let pool = |code| one(code, I8, [&[1, 4, 4, 2], &[1, 2, 2, 2]], None, Some((5, pool())));
    let squeeze =
        |axes: Vec<i32>, y| one(43, F32, [&[1, 2, 1], y], None, Some((30, Table::default().with(0, axes))));
    let mut keep = fully_connected();
    keep.operators[0].table(OPTIONS).set(2, 1_u8);
    let mut asymmetric = fully_connected();
    asymmetric.operators[0].table(OPTIONS).set(3, 1_u8);
    let mut keep_axes = mean(&[1], &[2, 1, 4]);
    keep_axes.operators[0].table(OPTIONS).set(0, 1_u8);
    let mut from_options = one(22, F32, [&[2, 3], &[6]], None, None);
    from_options.operators[0].set(OPTIONS_TYPE, 17_u8);
    from_options.operators[0].set(OPTIONS, Table::default().with(0, vec![-1]));
    let relu = |activation| Relu { activation }.into();
    let mean_of = |axes: &[usize], keep_dimensions| Mean { axes: axes.to_vec(), keep_dimensions }.into();
    let valid_pool = ([2; 2], [2; 2], Padding2d::Valid, Activation::None);
    let (window, stride, padding, activation) = valid_pool;
    let conv =
        Conv2d { stride: [2, 1], dilation: [1; 2], padding: Padding2d::Same, activation: Activation::Relu6 };
    let depthwise = DepthwiseConv2d { stride: [1; 2], dilation: [2; 2], padding, activation };
    let dense = FullyConnected { activation: Activation::Relu, ..FullyConnected::default() };
    let cases: Vec<(&str, File, Op)> = vec![
        ("ADD", add(), Add { activation: Activation::ReluN1To1 }.into()),
        ("AVERAGE_POOL_2D", pool(1), AveragePool2d { window, stride, padding, activation }.into()),
        ("CONV_2D", conv_2d(), conv.into()),
        ("DEPTHWISE_CONV_2D", depthwise_conv_2d(), depthwise.into()),
        ("DEQUANTIZE", convert(6, I8, F32), Dequantize {}.into()),
        ("EXPAND_DIMS", one(70, F32, [&[2, 3], &[2, 3, 1]], Some((&[], &[-1])), None), shape(&[2, 3, 1])),
        ("FULLY_CONNECTED", fully_connected(), dense.clone().into()),
        (
            "FULLY_CONNECTED, asymmetric",
            asymmetric,
            FullyConnected { asymmetric_quantize_inputs: true, ..dense.clone() }.into(),
        ),
        ("FULLY_CONNECTED, kept", keep, FullyConnected { keep_dimensions: true, ..dense }.into()),
        ("LOGISTIC", unary(14, I8), Logistic {}.into()),
        ("MAX_POOL_2D", pool(17), MaxPool2d { window, stride, padding, activation }.into()),
        ("MEAN, axes negative and twice", mean(&[-1, 0, 2], &[3]), mean_of(&[0, 2], false)),
        ("MEAN, kept", keep_axes, mean_of(&[1], true)),
        ("PAD", pad(), Pad { padding: vec![[0, 1], [2, 1]], value: None }.into()),
        ("QUANTIZE", convert(114, F32, I8), Quantize { dtype: DType::I8 }.into()),
        ("QUANTIZE, again", convert(114, I8, I8), Quantize { dtype: DType::I8 }.into()),
        ("RELU", unary(19, I8), relu(Activation::Relu)),
        ("RELU6", unary(21, F32), relu(Activation::Relu6)),
        ("RELU_N1_TO_1", unary(20, F32), relu(Activation::ReluN1To1)),
        ("RESHAPE", reshape(&[3, -1], &[3, 4]), shape(&[3, 4])),
        ("RESHAPE by options", from_options, shape(&[6])),
        ("RESHAPE to a scalar", one(22, F32, [&[1], &[]], Some((&[0], &[])), None), shape(&[])),
        ("SOFTMAX", softmax(), Softmax::default().into()),
        ("SQUEEZE", squeeze(vec![-1], &[1, 2]), shape(&[1, 2])),
        ("SQUEEZE of all", squeeze(vec![], &[2]), shape(&[2])),
    ];
    for (name, file, expect) in cases {
        let graph = file.read().unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        assert_eq!(graph.nodes[0].op, expect, "{name}");
        assert_eq!(graph.tensor(graph.outputs[0]).name, "y", "{name}");
    }
}

/// An operand of 64 bits says the same.
#[test]
fn paddings_of_64_bits() {
    let mut file = pad();
    file.tensors[1].set(TYPE, I64);
    file.buffers[1]
        .set(0, [0_i64, 1, 2, 1].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    assert_eq!(file.read().unwrap().nodes[0].op, Pad { padding: vec![[0, 1], [2, 1]], value: None }.into());
}

#[test]
fn attributes_are_refused() {
    type Spoil = fn(&mut Table);
    let cases: Vec<(File, Spoil, &str)> = vec![
        (conv_2d(), |o| o.remove(1), "node #0 CONV_2D `y`: stride_w is 0, expected at least 1"),
        (conv_2d(), |o| o.set(2, -1_i32), "stride_h is -1, expected at least 1"),
        (conv_2d(), |o| o.set(4, 0_i32), "dilation_w_factor is 0, expected at least 1"),
        (conv_2d(), |o| o.set(0, 7_i8), "padding is 7, expected 0 (SAME) or 1 (VALID)"),
        (conv_2d(), |o| o.set(3, 4_i8), "fused activation TANH is not supported"),
        (conv_2d(), |o| o.set(3, 5_i8), "fused activation SIGN_BIT is not supported"),
        (conv_2d(), |o| o.set(3, 99_i8), "fused activation 99 is not supported"),
        (conv_2d(), |o| o.set(6, 4_i8), "quantized_bias_type 4 is not supported"),
        (conv_2d(), |o| o.set(7, 1_i8), "field 7 of Conv2DOptions is not known"),
        (depthwise_conv_2d(), |o| o.set(3, 3_i32), "depth_multiplier is 3, 2 channels become 4"),
        (depthwise_conv_2d(), |o| o.set(3, -1_i32), "depth_multiplier is -1, 2 channels become 4"),
        (fully_connected(), |o| o.set(1, 1_i8), "weights_format 1 is not supported"),
        (softmax(), |o| o.set(0, f32::NAN), "beta NaN is not a positive normal number"),
        (softmax(), |o| o.remove(0), "beta 0 is not a positive normal number"),
    ];
    for (mut file, spoil, expect) in cases {
        spoil(file.operators[0].table(OPTIONS));
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn options_are_refused() {
    let mut missing = conv_2d();
    missing.operators[0].remove(OPTIONS);
    let mut other = conv_2d();
    other.operators[0].set(OPTIONS_TYPE, 5_u8);
    let mut second = conv_2d();
    second.operators[0].set(11, 3_u8);
    for (file, expect) in [
        (missing, "Conv2DOptions are missing"),
        (other, "options are of type 5, expected Conv2DOptions (1)"),
        (second, "options of the second kind, type 3, are not known"),
    ] {
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn constant_operands_are_refused() {
    let mut absent = reshape(&[12], &[12]);
    absent.tensors[1].set(BUFFER, 0_u32);
    absent.inputs.push(1);
    let mut floats = reshape(&[12], &[12]);
    floats.tensors[1].set(TYPE, F32);
    let mut short = reshape(&[12], &[12]);
    short.tensors[1].set(SHAPE, vec![2]);
    let mut huge = reshape(&[12], &[12]);
    huge.tensors[1].set(SHAPE, vec![i32::MAX; 3]);
    let left_out = |mut file: File| {
        file.operators[0].set(INPUTS, vec![0, -1]);
        file
    };
    let expand = |axes: &[i32]| {
        one(70, F32, [&[2], &[2, 1]], Some((&[i32::try_from(axes.len()).unwrap()], axes)), None)
    };
    for (file, expect) in [
        (absent, "operand 1, `operand` (tensor #1), is not constant\n  = help: all shapes must be known"),
        (floats, "operand 1, `operand` (tensor #1), is float32, expected int32 or int64"),
        (short, "has 2 elements of 4 bytes, its data 4 bytes"),
        (huge, "elements of 4 bytes, its data 4 bytes"),
        (left_out(reshape(&[12], &[12])), "the new shape is missing"),
        (left_out(pad()), "the paddings are left out"),
        (left_out(mean(&[1], &[2, 4])), "the axes are left out"),
        (reshape(&[-1, -1], &[12]), "[-1, -1] for [1, 2, 6] leaves more than one extent open"),
        (reshape(&[5, -1], &[12]), "leaves more than one extent open, or one without a solution"),
        (reshape(&[0, -1], &[12]), "leaves more than one extent open, or one without a solution"),
        (reshape(&[0, 12], &[12]), "f32 [1, 2, 6] has another number of elements than [0, 12]"),
        (reshape(&[-2, 6], &[12]), "has an extent that is neither at least 0 nor -1"),
        (reshape(&[i32::MAX; 4], &[12]), "or is too large"),
        (reshape(&[1; 9], &[12]), "the new shape has rank 9, the limit is 8"),
        (reshape(&[13], &[13]), "f32 [1, 2, 6] has another number of elements than [13]"),
        (one(22, F32, [&[2], &[2]], Some((&[1, 1], &[2])), None), "the new shape has rank 2, expected 1"),
        (one(34, I8, [&[1, 2], &[1, 2]], Some((&[4], &[0; 4])), None), "4 paddings, expected [2, 2]"),
        (one(34, I8, [&[1, 2], &[1, 2]], Some((&[1, 2], &[0; 2])), None), "2 paddings, expected [2, 2]"),
        (one(34, I8, [&[2], &[2]], Some((&[1, 2], &[0, -1])), None), "padding is -1, expected 0 to"),
        (one(34, I8, [&[2], &[2]], Some((&[1, 2], &[i32::MAX; 2])), None), "more than 2147483647 elements"),
        (mean(&[3], &[2, 3]), "axis 3 is outside -3..3"),
        (mean(&[-4], &[2, 3]), "axis -4 is outside -3..3"),
        (expand(&[3]), "axis 3 is outside -2..2"),
        (expand(&[0, 1]), "2 axes, expected 1"),
    ] {
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn custom_options() {
    let file = signal_window();
    assert_eq!(file.read().unwrap().nodes[0].op, SignalWindow { shift: 12 }.into());
    for (slot, field, expect) in [
        (CUSTOM_OPTIONS, Field::from(Vec::<u8>::new()), "no flexbuffer with a map"),
        (CUSTOM_OPTIONS + 1, Field::from(1_u8), "custom options of another format than flexbuffers"),
        (9, Field::from(4096_u64), "outside of the flatbuffer"),
    ] {
        let mut file = signal_window();
        file.operators[0].set(slot, field);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// What a result was in the last run starts as zeros, as many as the file says.
#[test]
fn a_kept_result_is_limited() {
    const UINT32: i8 = 15;
    let mut file = File::new();
    let x = file.tensor("x", UINT32, &[4]);
    let (y, noise) = (file.tensor("y", UINT32, &[4]), file.tensor("noise", UINT32, &[1 << 28]));
    file.operator(32, &[x], y, None).operators[0].set(OUTPUTS, vec![y, noise]);
    file.codes[0].set(1, "SignalFilterBankSpectralSubtraction");
    // `flatbuffers.flexbuffers.Dumps`, of 1 but for `clamping`, 0, and `num_channels`, 4.
    let mut options = [
        "smoothing",
        "one_minus_smoothing",
        "alternate_smoothing",
        "alternate_one_minus_smoothing",
        "min_signal_remaining",
        "smoothing_bits",
        "spectral_subtraction_bits",
        "clamping",
        "num_channels",
    ]
    .join("\0")
    .into_bytes();
    options.extend([
        0, 9, 115, 136, 25, 88, 18, 160, 171, 71, 57, 9, 1, 9, 1, 1, 0, 1, 4, 1, 1, 1, 1, 4, 4, 4, 4, 4, 4,
        4, 4, 4, 18, 36, 1,
    ]);
    file.operators[0].set(CUSTOM_OPTIONS, options);
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    let found = file.problems();
    assert!(found.contains("a variable of 1073741824 bytes, the limit is 67108864"), "{found}");
}

#[test]
fn axes_that_cannot_be_squeezed() {
    let options = Table::default().with(0, vec![1]);
    let file = one(43, F32, [&[1, 2, 1], &[1, 1]], None, Some((30, options)));
    assert!(file.problems().contains("axis 1 of [1, 2, 1] has no extent of 1"));
}

/// Each node is looked at, though it reads what another does not compute.
#[test]
fn all_nodes_that_cannot_be_lowered() {
    let mut file = unary(14, I8);
    let z = file.tensor("z", I8, &[1, 4]);
    file.operator(14, &[1], z, None);
    file.outputs = vec![z];
    let problems = crate::compile(file.read().unwrap(), &crate::Config::default()).unwrap_err();
    let shown: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    assert!(shown[1].starts_with("node #1 logistic `z`: "), "{shown:?}");
}
