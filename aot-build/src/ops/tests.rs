//! What the lowerings refuse, and how they describe their steps. That the steps compute
//! the right results is for the conformance tests.

use super::*;
use crate::config::Rounding;
use crate::eval::Evaluator;
use crate::graph::sketch::{Sketch, f32_type, i8_type};
use crate::graph::{Data, Quantization, TensorId};
use crate::program::{Program, lower};
use crate::{Config, compile};

/// Lowers one operator on an input and constants of these types; float constants count
/// from 0, all elements of int8 ones are 127, of others 0.
fn lowered(op: impl Into<Op>, operands: &[TensorType], y: TensorType) -> Result<Program, String> {
    let mut sketch = Sketch::new();
    let mut ids: Vec<TensorId> = Vec::new();
    for (i, ty) in operands.iter().enumerate() {
        let elements = ty.shape.elements();
        let data = match ty.dtype {
            DType::F32 => Data::from_f32s(&(0..elements).map(|i| i as f32).collect::<Vec<_>>()),
            DType::I8 => Data::from_i8s(&vec![127; elements]),
            _ => Data::from_bytes(vec![0; ty.bytes()]),
        };
        ids.push(match i {
            0 => sketch.input("x", ty.clone()),
            _ => sketch.constant(&format!("c{i}"), ty.clone(), data),
        });
    }
    let y = sketch.typed("y", op, &ids, y);
    lower(&sketch.finish(&[y]), &Config::default()).map_err(|problems| problems[0].message.clone())
}

/// int8 weights with a scale for each slice along `axis`.
fn per_axis<const N: usize>(shape: [usize; N], axis: usize, zero_point: i32) -> TensorType {
    let channels = shape[axis];
    let quantization = Quantization::per_axis(vec![0.02; channels], vec![zero_point; channels], axis);
    TensorType { quantization: Some(quantization.unwrap()), ..i8_type(shape, 0.02, 0) }
}

/// A bias with one scale.
fn bias(channels: usize, scale: f32) -> TensorType {
    TensorType { dtype: DType::I32, ..i8_type([channels], scale, 0) }
}

fn conv(stride: usize, activation: Activation) -> Conv2d {
    Conv2d { stride: [stride; 2], activation, ..Conv2d::default() }
}

#[test]
fn descriptions_and_macs() {
    let f = f32_type::<4>;
    let window = DepthwiseConv2d { dilation: [2, 1], padding: Padding2d::Same, ..DepthwiseConv2d::default() };
    let pool = MaxPool2d {
        window: [2, 3],
        stride: [2, 2],
        padding: Padding2d::Valid,
        activation: Activation::Relu6,
    };
    for (op, operands, y, description, macs) in [
        (
            Op::from(conv(2, Activation::Relu)),
            vec![f([1, 5, 4, 3]), f([8, 3, 2, 3])],
            f([1, 2, 2, 8]),
            "3×2, stride 2×2, 3 → 8, relu",
            2 * 2 * 8 * 3 * 2 * 3,
        ),
        (
            conv(1, Activation::None).into(),
            vec![f([1, 3, 3, 4]), f([6, 1, 1, 2])],
            f([1, 3, 3, 6]),
            "1×1, 4 → 6 in 2 groups",
            9 * 6 * 2,
        ),
        (
            window.clone().into(),
            vec![f([1, 3, 3, 4]), f([1, 2, 2, 4])],
            f([1, 3, 3, 4]),
            "2×2, dilation 2×1, 4 channels",
            9 * 4 * 4,
        ),
        (
            window.into(),
            vec![f([1, 3, 3, 4]), f([1, 2, 2, 8])],
            f([1, 3, 3, 8]),
            "2×2, dilation 2×1, 4 → 8",
            9 * 8 * 4,
        ),
        (pool.into(), vec![f([1, 4, 3, 4])], f([1, 2, 1, 4]), "2×3, stride 2×2, 4 channels, relu6", 0),
        (
            Add { activation: Activation::Relu }.into(),
            vec![f([1, 2, 2, 3]), f([1, 1, 1, 3])],
            f([1, 2, 2, 3]),
            "[1, 2, 2, 3] + [1, 1, 1, 3], relu",
            0,
        ),
        (
            Mean { axes: vec![1, 2], keep_dimensions: true }.into(),
            vec![f([1, 2, 2, 3])],
            f([1, 1, 1, 3]),
            "[1, 2, 2, 3] over axes [1, 2]",
            0,
        ),
        (Softmax::default().into(), vec![f([1, 2, 2, 3])], f([1, 2, 2, 3]), "4×3", 0),
        (
            Relu::default().into(),
            vec![i8_type([1, 2, 2, 3], 0.1, 0)],
            i8_type([1, 2, 2, 3], 0.2, 0),
            "12 elements, table",
            0,
        ),
    ] {
        let program = lowered(op, &operands, y).unwrap();
        let [step] = &*program.steps else { panic!("{description}: {} steps", program.steps.len()) };
        assert_eq!((&*step.description, step.macs), (description, macs));
    }
}

#[test]
fn refusals_of_layers_with_weights() {
    let x = || i8_type([1, 4, 4, 2], 0.1, 3);
    let y = || i8_type([1, 4, 4, 2], 0.5, 0);
    let weights = || i8_type([2, 1, 1, 2], 0.02, 0);
    for (operands, y, expect) in [
        (
            vec![f32_type([2, 4, 4, 2]), weights()],
            f32_type([2, 4, 4, 2]),
            "is a batch of 2, and weights are i8",
        ),
        (vec![x(), f32_type([2, 1, 1, 2])], y(), "no kernel for the types i8, f32, i8"),
        (vec![x(), i8_type([2, 1, 1, 2], 0.02, 1)], y(), "weights `c1` have a zero point other than 0"),
        (vec![x(), per_axis([2, 1, 1, 2], 0, 1)], y(), "weights `c1` have a zero point other than 0"),
        (vec![x(), per_axis([2, 1, 1, 2], 3, 0)], y(), "weights `c1` have scales along axis 3, expected 0"),
        (vec![x(), TensorType { quantization: None, ..weights() }], y(), "weights `c1` have no scale"),
        (vec![x(), weights()], TensorType { quantization: None, ..y() }, "without scale and zero point"),
        (vec![x(), weights(), bias(3, 0.002)], y(), "bias `c2` is i32 [3], expected 2 of i32"),
        (vec![x(), weights(), f32_type([2])], y(), "bias `c2` is f32 [2], expected 2 of i32"),
        (vec![x(), weights(), bias(2, 0.02)], y(), "bias `c2` has scale 0.02 for channel 0, expected 0.002"),
        (vec![x(), weights()], i8_type([1, 4, 4, 2], 1e-20, 0), "the scales' ratio"),
        (
            vec![x(), i8_type([2, 1, 1, 2], 0.02, 0)],
            i8_type([1, 4, 4, 2], 1e-9, 0),
            "channel 0: a sum can reach 33274, which overflows 32 bits when shifted by 21",
        ),
    ] {
        let error = lowered(conv(1, Activation::None), &operands, y).unwrap_err();
        assert!(error.contains(expect), "{error} -- expected {expect}");
    }
    let image = [f32_type([1, 4, 4, 2]), i8_type([1, 1, 1, 2], 0.02, 0)];
    let error = lowered(DepthwiseConv2d::default(), &image, f32_type([1, 4, 4, 2])).unwrap_err();
    assert_eq!(error, "weights `c1` have 1 scale for 2 channels");
    // A bias that is off by less than 2 % of a step of y.
    lowered(conv(1, Activation::None), &[x(), weights(), bias(2, 0.0021)], y()).unwrap();
}

#[test]
fn an_accumulator_that_can_overflow() {
    let rows = |inputs| {
        let operands = [i8_type([1, inputs], 0.1, 127), i8_type([1, inputs], 0.1, 0)];
        lowered(FullyConnected::default(), &operands, i8_type([1, 1], 1e9, 0)).map(|_| ())
    };
    assert_eq!(rows(66_000), Ok(()));
    let error = rows(67_000).unwrap_err();
    assert_eq!(error, "channel 0: a sum can reach 2169795000, which overflows 32 bits");
}

#[test]
fn refusals_of_other_operators() {
    let fine = || i8_type([1, 2, 2, 1], 0.1, -3);
    let coarse = |shape| i8_type::<4>(shape, 0.2, 4);
    let equal = "`x` has scale 0.1 and zero point -3, `y` has scale 0.2 and zero point 4: they must be equal";
    let window = [2; 2];
    let (stride, padding, activation) = ([1; 2], Padding2d::Valid, Activation::None);
    let fixed = "`y` has scale 0.2 and zero point 4, the result has 0.00390625 and -128";
    for (op, y, expect) in [
        (Op::from(AveragePool2d { window, stride, padding, activation }), coarse([1; 4]), equal),
        (MaxPool2d { window, stride, padding, activation }.into(), coarse([1; 4]), equal),
        (
            Pad { padding: vec![[0, 0], [0, 0], [1, 0], [0, 0]], value: None }.into(),
            coarse([1, 2, 3, 1]),
            equal,
        ),
        (Reshape { shape: Shape::new([4, 1, 1, 1]).unwrap() }.into(), coarse([4, 1, 1, 1]), equal),
        (Softmax::default().into(), coarse([1, 2, 2, 1]), fixed),
        (Logistic {}.into(), coarse([1, 2, 2, 1]), fixed),
        (
            Quantize { dtype: DType::I64 }.into(),
            TensorType { dtype: DType::I64, ..coarse([1, 2, 2, 1]) },
            "no kernel for the types i8, i64",
        ),
        (Relu::default().into(), i8_type([1, 2, 2, 1], 1e-9, 0), "a sum can reach 255, which overflows"),
    ] {
        let error = lowered(op, &[fine()], y).unwrap_err();
        assert!(error.contains(expect), "{error} -- expected {expect}");
    }
    let error = lowered(Dequantize {}, &[per_axis([1, 2], 1, 0)], f32_type([1, 2])).unwrap_err();
    assert_eq!(error, "`x` has a scale for each channel, one is needed");
    let long = lowered(Softmax::default(), &[i8_type([5000], 0.1, 0)], i8_type([5000], 1.0 / 256.0, -128));
    assert_eq!(long.unwrap_err(), "rows of 5000 are too long for int8, the limit is 4095");
}

/// Weights that a kernel reads in another order are stored in that order only.
#[test]
fn weights_are_stored_once() {
    let operands = [f32_type([1, 4]), f32_type([9, 4]), f32_type([9])];
    let program = lowered(FullyConnected::default(), &operands, f32_type([1, 9])).unwrap();
    assert_eq!(program.constants.bytes().len(), (9 * 4 + 9) * 4);
    let operands = [f32_type([1, 3, 3, 2]), f32_type([9, 2, 2, 2])];
    let program = lowered(conv(1, Activation::None), &operands, f32_type([1, 2, 2, 9])).unwrap();
    assert_eq!(program.constants.bytes().len(), 9 * 8 * 4);
}

/// `known-faults.md` L5 (a): an accumulator that rounds to -21 twice, and to -20 once.
#[test]
fn the_configuration_says_how_often_to_round() {
    for (rounding, expect) in [(Rounding::Double, -21), (Rounding::Single, -20)] {
        let mut sketch = Sketch::new();
        let x = sketch.input("x", i8_type([1, 1], 0.4, 0));
        let w = sketch.constant("w", i8_type([1, 1], 1.0 / 37.0, 0), Data::from_i8s(&[24]));
        let y = sketch.typed("y", FullyConnected::default(), &[x, w], i8_type([1, 1], 1.0, 0));
        let config = Config { rounding, ..Config::default() };
        let compiled = compile(sketch.finish(&[y]), &config).unwrap();
        let result = Evaluator::new(&compiled).run(&[&[(-79_i8).cast_unsigned()]]).unwrap();
        assert_eq!(result, [[i8::cast_unsigned(expect)]], "{rounding:?}");
    }
}

/// Lowers an operator on one activation.
fn moved(op: impl Into<Op>, x: TensorType, y: TensorType) -> Program {
    lowered(op, &[x], y).unwrap()
}

#[test]
fn views_take_no_step() {
    let f = f32_type::<3>;
    let slice = |begin: [usize; 3], size: [usize; 3]| Slice {
        begin: begin.into(),
        size: size.into(),
        stride: vec![],
        shape: None,
    };
    let transpose = |permutation: [usize; 3]| Transpose { permutation: permutation.into() };
    for (name, op, x, y, steps) in [
        ("rows", Op::from(slice([1, 0, 0], [2, 3, 4])), f([4, 3, 4]), f([2, 3, 4]), 0),
        ("a part of a row", slice([2, 1, 1], [1, 1, 2]).into(), f([4, 3, 4]), f([1, 1, 2]), 0),
        ("columns", slice([0, 0, 1], [4, 3, 2]).into(), f([4, 3, 4]), f([4, 3, 2]), 1),
        ("an axis of 1 moves", transpose([1, 0, 2]).into(), f([1, 3, 4]), f([3, 1, 4]), 0),
        ("axes change places", transpose([0, 2, 1]).into(), f([1, 3, 4]), f([1, 4, 3]), 1),
        ("one operand", Concatenation { axis: 1 }.into(), f([2, 3, 4]), f([2, 3, 4]), 0),
        (
            "nothing is added",
            Pad { padding: vec![[0, 0]; 3], value: None }.into(),
            f([1, 2, 3]),
            f([1, 2, 3]),
            0,
        ),
    ] {
        // The output is a copy of the view, since that is an input.
        let program = moved(op, x, y);
        let kernels: Vec<_> = program.steps.iter().filter_map(|step| Some(step.kernel()?.name())).collect();
        let expect: &[&str] = if steps == 0 { &["copy_i8"] } else { &["strided_copy_i8"] };
        assert_eq!((kernels.as_slice(), program.aliases.len()), (expect, 1 - steps), "{name}");
    }
}

#[test]
fn elements_that_no_integer_type_has() {
    let pad = |value| Pad { padding: vec![[1, 0]], value: Some(value) };
    for (value, dtype) in [(128.0, DType::I8), (0.5, DType::I32), (-1.0, DType::U8), (f64::NAN, DType::I64)] {
        let x = TensorType { dtype, ..f32_type([1]) };
        let x = Tensor { name: "x".into(), ty: x, data: None };
        let error = Op::from(pad(value)).infer(&[Some(&x)]).unwrap_err();
        assert_eq!(error.message, format!("the value {value} is no {}", dtype.name()));
    }
}

/// Added elements of more than one byte: f32, bytes that are equal, and others.
#[test]
fn padding_of_every_type() {
    for (dtype, value, expect) in [
        (DType::F32, 1.5, 1.5_f32.to_le_bytes().to_vec()),
        (DType::I16, -1.0, vec![255; 2]),
        (DType::I16, 258.0, vec![2, 1]),
        (DType::I64, -2.0, (-2_i64).to_le_bytes().to_vec()),
    ] {
        let ty = |extent| TensorType { dtype, ..f32_type([1, extent]) };
        let mut sketch = Sketch::new();
        let x = sketch.input("x", ty(1));
        let op = Pad { padding: vec![[0, 0], [1, 2]], value: Some(value) };
        let y = sketch.typed("y", op, &[x], ty(4));
        let compiled = compile(sketch.finish(&[y]), &Config::default()).unwrap();
        let x = vec![7; dtype.size()];
        let results = Evaluator::new(&compiled).run(&[&x]).unwrap();
        assert_eq!(results, [[expect.clone(), x, expect.clone(), expect].concat()]);
    }
}

/// Indices that are not known when the model is compiled, and constant ones in no order.
#[test]
fn gather_by_any_indices() {
    let x = [[1_u8, 2], [3, 4], [5, 6], [7, 8], [9, 10]];
    let indices = [3, 0, 4, 4, 1, 2, 0, 4, 3];
    let i32s = |shape| TensorType { dtype: DType::I32, ..f32_type([shape]) };
    let rows = |rows| TensorType { dtype: DType::U8, ..f32_type([rows, 2]) };
    for constant in [false, true] {
        let mut sketch = Sketch::new();
        let operand = sketch.input("x", rows(5));
        let by = match constant {
            false => sketch.input("by", i32s(9)),
            true => sketch.constant("by", i32s(9), Data::from_i32s(&indices)),
        };
        let y = sketch.typed("y", Gather { axis: 0 }, &[operand, by], rows(9));
        let compiled = compile(sketch.finish(&[y]), &Config::default()).unwrap();
        assert_eq!(compiled.program.steps.len(), 1);
        let (x, by) = (x.concat(), indices.map(i32::to_le_bytes).concat());
        let inputs: &[&[u8]] = if constant { &[&x] } else { &[&x, &by] };
        let expect: Vec<u8> = indices.iter().flat_map(|&i| [2 * i as u8 + 1, 2 * i as u8 + 2]).collect();
        assert_eq!(Evaluator::new(&compiled).run(inputs).unwrap(), [expect]);
    }
}

#[test]
fn refusals_of_functions_of_two_elements() {
    let binary = |function| Binary { function, activation: Activation::None };
    let (fine, coarse) = (|| i8_type([2], 0.1, -3), || i8_type([2], 0.2, 4));
    let integers = || TensorType::new(DType::I32, Shape::new([2]).unwrap());
    let short = |scale, zero_point| TensorType { dtype: DType::I16, ..i8_type([2], scale, zero_point) };
    for (op, operands, y, expect) in [
        (
            binary(BinaryFunction::Maximum),
            [fine(), fine()],
            coarse(),
            "`x` has scale 0.1 and zero point -3, `y` has scale 0.2 and zero point 4: they must be equal",
        ),
        (binary(BinaryFunction::Minimum), [fine(), coarse()], fine(), "`c1` has scale 0.2 and zero point 4"),
        (binary(BinaryFunction::Mul), [fine(), coarse()], i8_type([2], 1e-9, 0), "a sum can reach 65025"),
        (binary(BinaryFunction::Div), [fine(), coarse()], i8_type([2], 1e-9, 0), "a sum can reach 255"),
        (binary(BinaryFunction::Sub), [fine(), f32_type([2])], fine(), "no kernel for the types i8, f32, i8"),
        (binary(BinaryFunction::Pow), [fine(), coarse()], fine(), "no kernel for the types i8, i8, i8"),
        (binary(BinaryFunction::Pow), [integers(), integers()], integers(), "no kernel for the types i32"),
        (
            binary(BinaryFunction::Div),
            [short(0.1, 0), short(0.1, 0)],
            short(0.1, 0),
            "no kernel for the types i16",
        ),
        (
            binary(BinaryFunction::Mul),
            [short(0.1, 1), short(0.1, 0)],
            short(0.1, 0),
            "`x` is i16 with a zero",
        ),
        (
            binary(BinaryFunction::Mul),
            [short(0.1, 0), short(0.1, 0)],
            short(1e-9, 0),
            "a sum can reach 1073741824",
        ),
        (
            binary(BinaryFunction::SquaredDifference),
            [short(0.1, 0), short(0.1, 1)],
            short(0.1, 0),
            "`c1` is i16 with a zero point",
        ),
        (
            Binary { function: BinaryFunction::Minimum, activation: Activation::Relu },
            [fine(), fine()],
            fine(),
            "minimum of integers with a fused activation is not supported",
        ),
        (
            Binary { function: BinaryFunction::Mul, activation: Activation::Relu },
            [integers(), integers()],
            integers(),
            "no kernel for the types i32",
        ),
    ] {
        let error = lowered(op, &operands, y).unwrap_err();
        assert!(error.contains(expect), "{error} -- expected {expect}");
    }
}

#[test]
fn steps_are_named_after_their_function() {
    let op = Binary { function: BinaryFunction::Mul, activation: Activation::Relu };
    let program = lowered(op, &[f32_type([2, 3]), f32_type([3])], f32_type([2, 3])).unwrap();
    assert_eq!((&*program.steps[0].name, &*program.steps[0].description), ("mul_0", "[2, 3] * [3], relu"));
}

#[test]
fn refusals_of_functions_of_one_element() {
    let unary = |function| Op::from(Unary { function });
    let fine = || i8_type([2], 0.1, -3);
    let short = |zero_point| TensorType { dtype: DType::I16, ..i8_type([2], 0.1, zero_point) };
    let wide = |scale| TensorType { dtype: DType::I16, ..i8_type([2], scale, 0) };
    for (op, operands, y, expect) in [
        (unary(UnaryFunction::Tanh), vec![fine()], fine(), "`y` has scale 0.1 and zero point -3, the result"),
        (unary(UnaryFunction::Abs), vec![fine()], i8_type([2], 1e-9, 0), "a sum can reach 255"),
        (unary(UnaryFunction::HardSwish), vec![fine()], i8_type([2], 1e-4, 0), "are too far apart"),
        (unary(UnaryFunction::Sin), vec![short(0)], short(0), "no kernel for the types i16, i16"),
        (unary(UnaryFunction::Exp), vec![short(0)], short(1), "`y` is i16 with a zero point other than 0"),
        (unary(UnaryFunction::Tanh), vec![short(0)], short(0), "the result has 0.000030517578 and 0"),
        (unary(UnaryFunction::Rsqrt), vec![wide(1e6)], wide(1e6), "are too far apart"),
        (Logistic {}.into(), vec![wide(6.0)], wide(1.0 / 32_768.0), "scale 6 of `x` is too large"),
        (LeakyRelu { alpha: 0.5 }.into(), vec![short(0)], short(1), "`y` is i16 with a zero point"),
        (LeakyRelu { alpha: 1e9 }.into(), vec![fine()], fine(), "a sum can reach 255"),
        (Prelu {}.into(), vec![fine(), fine()], i8_type([2], 1e-9, 0), "a sum can reach"),
    ] {
        let error = lowered(op, &operands, y).unwrap_err();
        assert!(error.contains(expect), "{error} -- expected {expect}");
    }
    let x = &Tensor { name: "x".into(), ty: f32_type([2]), data: None };
    let error = Op::from(LeakyRelu { alpha: f32::NAN }).infer(&[Some(x)]).unwrap_err();
    assert!(error.message.contains("alpha NaN is not a finite number"));
    let wide = &Tensor { name: "alpha".into(), ty: f32_type([2, 2]), data: None };
    let error = Op::from(Prelu {}).infer(&[Some(x), Some(wide)]).unwrap_err();
    assert!(error.message.contains("alpha [2, 2] is larger than [2]"));
}

#[test]
fn refusals_of_truth_values() {
    let truth = || TensorType::new(DType::Bool, Shape::new([2]).unwrap());
    let integers = || TensorType::new(DType::U8, Shape::new([2]).unwrap());
    let fine = || i8_type([2], 0.1, -3);
    let less = Compare { relation: Relation::Less };
    let and = Binary { function: BinaryFunction::LogicalAnd, activation: Activation::None };
    for (op, operands, y, expect) in [
        (Op::from(less.clone()), vec![fine(), f32_type([2])], truth(), "no kernel for the types i8, f32"),
        (less.into(), vec![i8_type([2], 1e6, 0), fine()], truth(), "a sum can reach 65280"),
        (and.clone().into(), vec![fine(), fine()], fine(), "no kernel for the types i8, i8, i8"),
        (and.into(), vec![f32_type([2]), f32_type([2])], f32_type([2]), "no kernel for the types f32"),
        (Select::default().into(), vec![truth(), fine(), fine()], i8_type([2], 0.2, 4), "they must be equal"),
        (
            Select::default().into(),
            vec![truth(), fine(), f32_type([2])],
            fine(),
            "no kernel for the types i8, f32",
        ),
        (
            Cast { dtype: DType::U8 }.into(),
            vec![f32_type([2])],
            integers(),
            "no kernel for the types f32, u8",
        ),
    ] {
        let error = lowered(op, &operands, y).unwrap_err();
        assert!(error.contains(expect), "{error} -- expected {expect}");
    }
    let [condition, a] =
        [("c", fine()), ("a", fine())].map(|(name, ty)| Tensor { name: name.into(), ty, data: None });
    let error = Op::from(Select::default()).infer(&[Some(&condition), Some(&a), Some(&a)]).unwrap_err();
    assert_eq!(error.message, "the condition is i8, expected bool");
}
