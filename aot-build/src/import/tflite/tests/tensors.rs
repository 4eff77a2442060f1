//! Shapes, types, data and quantization of tensors.

use aot_rt::DType;

use super::files::*;
use super::writer::Table;
use crate::graph::Quantization;

#[test]
fn a_bias_has_scales_along_its_only_axis() {
    // Some converters name the axis of the weights.
    for dimension in [0, 3, -1] {
        let mut file = conv_2d();
        file.tensors[2].table(QUANTIZATION).set(DIMENSION, dimension);
        let graph = file.read().unwrap();
        let bias = &graph.tensors.iter().find(|tensor| tensor.name == "bias").unwrap().ty;
        assert_eq!(bias.dtype, DType::I32);
        let expect = Quantization::per_axis(vec![0.05, 0.1, 0.15], vec![0; 3], 0).unwrap();
        assert_eq!(bias.quantization.as_ref(), Some(&expect));
    }
}

#[test]
fn constants_share_their_buffer() {
    let mut file = conv_2d();
    // The same weights twice: two tensors, one copy of the bytes.
    let again = file.tensor("again", I8, &[3, 3, 3, 2]);
    let y = file.tensor("z", I8, &[1, 2, 4, 3]);
    file.tensors[4].set(BUFFER, 1_u32);
    let mut operator = file.operators[0].clone();
    operator.set(INPUTS, vec![0, again, 2]);
    operator.set(OUTPUTS, vec![y]);
    file.operators.push(operator);
    let graph = file.read().unwrap();
    let data: Vec<_> = graph.tensors.iter().filter_map(|tensor| tensor.data.as_ref()).collect();
    assert_eq!(data.len(), 3);
    assert!(std::ptr::eq(data[0].bytes(), data[2].bytes()));
}

#[test]
fn data_behind_the_flatbuffer() {
    let mut file = conv_2d();
    file.buffers[1] = Table::default().with(1, 1_u64).with(2, 54_u64);
    let offset = file.bytes().len();
    file.buffers[1].set(1, offset as u64);
    let mut bytes = file.bytes();
    bytes.extend([7; 54]);
    let graph = super::super::read(&bytes, "model".into(), &crate::Config::default()).unwrap();
    let weights = graph.tensors.iter().find(|tensor| tensor.name == "weights").unwrap();
    assert_eq!(weights.data.as_ref().unwrap().bytes(), [7; 54]);
    bytes.pop();
    let problems = super::super::read(&bytes, "model".into(), &crate::Config::default()).unwrap_err();
    assert!(problems[0].message.contains("54 bytes are expected, the file ends at"), "{problems:?}");
}

#[test]
fn names_are_fit_to_be_shown() {
    for (name, expect) in [
        (&b"plain"[..], "plain".to_owned()),
        (b"", "tensor_0".to_owned()),
        (b"a\nb", "a\u{fffd}b".to_owned()),
        (b"a\xffb", "a\u{fffd}b".to_owned()),
        (&[b'n'; 2000], format!("{}…", "n".repeat(1024))),
    ] {
        let mut file = softmax();
        file.tensors[0].set(NAME, name.to_vec());
        let graph = file.read().unwrap();
        assert_eq!(graph.tensor(graph.inputs[0]).name, expect);
    }
    let mut same = softmax();
    same.tensors[0].set(NAME, "y");
    assert!(same.read().is_ok());
}

#[test]
fn tensors_are_refused() {
    type Spoil = fn(&mut File);
    let cases: Vec<(Spoil, &str)> = vec![
        // Shapes.
        (
            |f| f.tensors[0].set(SHAPE, vec![1, -1, 4, 2]),
            "tensor `x`: shape [1, -1, 4, 2] has a negative extent",
        ),
        (
            |f| f.tensors[0].set(SHAPE, vec![1, 0, 4, 2]),
            "node #0 CONV_2D `y`: i8 [1, 0, 4, 2] has no element, which is not supported here",
        ),
        (|f| f.tensors[0].set(SHAPE, vec![1; 9]), "tensor `x`: rank 9 is more than 8"),
        (|f| f.tensors[0].set(SHAPE, vec![1 << 16; 4]), "has more than 2147483647 elements"),
        (|f| f.tensors[0].set(SHAPE, vec![4, 2]), "shape [4, 2] has rank 2, expected 4"),
        (
            |f| f.tensors[3].set(SHAPE, vec![1, 2, 4, 9]),
            "`y` is declared as i8 [1, 2, 4, 9], computed is i8 [1, 2, 4, 3]",
        ),
        (|f| f.tensors[0].set(7, vec![1, -1, -1, 2]), "tensor `x`: shape [1, -1, -1, 2] is open"),
        (|f| f.tensors[0].set(7, vec![-1, 2]), "shape_signature has rank 2, the shape is [1, 4, 4, 2]"),
        // Data.
        (
            |f| f.buffers[1].set(0, vec![1_u8; 53]),
            "tensor `weights`: i8 [3, 3, 3, 2] has 54 bytes, the data 53",
        ),
        (
            |f| f.buffers[1].remove(0),
            "reads `weights` (tensor #1), which is no input, has no data, and nothing writes it",
        ),
        (|f| f.tensors[1].set(BUFFER, 9_u32), "tensor `weights`: refers to buffer 9 of 3"),
        (|f| f.buffers[0].set(0, vec![1_u8; 54]), "buffer 0 stands for no data and has some"),
        (
            |f| f.buffers[1].set(1, 8_u64),
            "buffer 1 has data both inside and outside of the flatbuffer (offset 8, size 0)",
        ),
        (|f| f.buffers[1] = Table::default().with(2, 8_u64), "buffer 1 has a size and no offset"),
        (
            |f| f.buffers[1] = Table::default().with(1, u64::MAX).with(2, u64::MAX),
            "bytes are expected, the file ends",
        ),
        // Peculiarities.
        (|f| f.tensors[0].set(5, 1_u8), "input 0 of the model: `x` (tensor #0) is a variable"),
        (|f| f.tensors[1].set(9, vec![Table::default()]), "tensor `weights`: holds other tensors"),
        (|f| f.tensors[1].set(10, 1_u32), "tensor `weights`: has its data in another file"),
        // Types.
        (|f| f.tensors[0].set(TYPE, U8), "types are u8, i8, i32 → i8"),
        (
            |f| f.tensors[0].set(TYPE, 19_i8),
            "1 element type is not supported\n  - int2 (1 tensor: `x` (tensor #0))",
        ),
        (|f| f.tensors[0].set(TYPE, 17_i8), "node #0 CONV_2D `y`: types are i4, i8, i32 → i8"),
        (|f| f.tensors[1].set(TYPE, 17_i8), "tensor `weights`: has 54 elements of 4 bits, its data 54 bytes"),
        (|f| f.tensors[3].set(TYPE, 77_i8), "type 77 (1 tensor: `y` (tensor #3))"),
        (|f| f.tensors[0].set(TYPE, -1_i8), "type -1 (1 tensor: `x` (tensor #0))"),
        (|f| f.tensors[0].set(TYPE, F32), "node #0 CONV_2D `y`: types are f32, i8, i32 → i8"),
        (
            |f| f.tensors[1].set(TYPE, F32),
            "CONV_2D `y`: types are i8, f32, i32 → i8, expected f32, f32, f32 → f32 or",
        ),
        (|f| f.tensors[2].set(TYPE, I64), "types are i8, i8, i64 → i8"),
        (|f| f.tensors[3].set(TYPE, I32), "types are i8, i8, i32 → i32"),
        // Quantization.
        (
            |f| f.tensors[0].set(QUANTIZATION, quantization(&[0.0], &[0])),
            "scale 0 is not a positive normal number",
        ),
        (|f| f.tensors[0].set(QUANTIZATION, quantization(&[-1.0], &[0])), "scale -1 is not"),
        (|f| f.tensors[0].set(QUANTIZATION, quantization(&[f32::NAN], &[0])), "scale NaN is not"),
        (|f| f.tensors[0].set(QUANTIZATION, quantization(&[f32::INFINITY], &[0])), "scale inf is not"),
        (|f| f.tensors[0].set(QUANTIZATION, quantization(&[1e-40], &[0])), "is not a positive normal number"),
        (
            |f| f.tensors[0].set(QUANTIZATION, quantization(&[1.0], &[128])),
            "zero point 128 is outside -128..=127",
        ),
        (
            |f| f.tensors[0].set(QUANTIZATION, quantization(&[1.0], &[1 << 40])),
            "zero point 1099511627776 is outside 32 bits",
        ),
        (|f| f.tensors[0].set(QUANTIZATION, quantization(&[1.0], &[0, 0])), "1 scales and 2 zero points"),
        (
            |f| f.tensors[1].set(QUANTIZATION, quantization(&[1.0; 2], &[])),
            "2 scales for axis 0 of shape [3, 3, 3, 2]",
        ),
        (
            |f| f.tensors[2].set(QUANTIZATION, quantization(&[1.0; 2], &[])),
            "2 scales for axis 0 of shape [3]",
        ),
        (|f| f.tensors[1].table(QUANTIZATION).set(DIMENSION, 4_i32), "3 scales for axis 4 of shape"),
        (|f| f.tensors[1].table(QUANTIZATION).set(DIMENSION, -1_i32), "quantized_dimension is -1"),
        (|f| f.tensors[1].table(QUANTIZATION).set(4, 1_u8), "is quantized by another scheme"),
    ];
    for (spoil, expect) in cases {
        let mut file = conv_2d();
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// Float tensors of models trained for quantization carry the parameters still.
#[test]
fn float_tensors_have_no_quantization() {
    let mut file = softmax();
    file.tensors[0].set(QUANTIZATION, quantization(&[0.0], &[7]));
    let graph = file.read().unwrap();
    assert_eq!(graph.tensor(graph.inputs[0]).ty.quantization, None);
}
