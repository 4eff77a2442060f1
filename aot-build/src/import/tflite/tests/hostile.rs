//! What the other tests of this folder leave out of the twelve classes of bad files;
//! `docs/hostile-files.md` says which test has what.

use super::files::*;
use super::writer::Table;
use crate::Config;
use crate::error::spaced;
use crate::graph::GraphBuilder;
use crate::import::import;

type Spoil = fn(&mut File);

/// Each spoilt copy of `file` is refused for the stated reason, at the latest when it is
/// compiled.
#[track_caller]
fn refused(file: &File, cases: &[(Spoil, &str)]) {
    for (spoil, expect) in cases {
        let mut file = file.clone();
        spoil(&mut file);
        let found = file.refusal();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// An offset is written as the number that it is.
#[test]
fn damage_is_found_where_it_is() {
    refused(
        &conv_2d(),
        &[
            (|f| f.tensors[0].set(SHAPE, 6_u32), "damaged at `subgraphs[0].tensors[0].shape`: a u32 at byte"),
            (
                |f| f.tensors[1].set(SHAPE, 0x7fff_fff0_u32),
                "damaged at `subgraphs[0].tensors[1].shape`: bytes 214748",
            ),
            (
                |f| f.tensors[1].set(QUANTIZATION, 0x10_0000_u32),
                "damaged at `subgraphs[0].tensors[1].quantization`: bytes 10",
            ),
            (
                |f| f.tensors[2].table(QUANTIZATION).set(ZERO_POINT, 8_u32),
                "damaged at `subgraphs[0].tensors[2].quantization.zero_point`: ",
            ),
            (
                |f| f.operators[0].set(OPTIONS, 0x7fff_fff0_u32),
                "damaged at `subgraphs[0].operators[0].builtin_options`: bytes 214748",
            ),
            (
                |f| f.operators[0].set(INPUTS, 0x100_0000_u32),
                "damaged at `subgraphs[0].operators[0].inputs`: ",
            ),
            (|f| f.buffers[1].set(0, 0x7fff_0000_u32), "damaged at `buffers[1].data`: bytes 2147"),
            (|f| f.codes[0].set(1, 0x100_0000_u32), "damaged at `operator_codes[0].custom_code`: bytes"),
            (|f| f.model.set(6, 0x100_0000_u32), "damaged at `metadata`: bytes"),
        ],
    );
}

#[test]
fn operands_that_may_not_be_left_out() {
    refused(
        &conv_2d(),
        &[
            (|f| f.operators[0].set(INPUTS, vec![-1, 1, 2]), "node #0 CONV_2D `y`: operand 0 is left out"),
            (|f| f.operators[0].set(INPUTS, vec![0, -1, 2]), "node #0 CONV_2D `y`: operand 1 is left out"),
            (|f| f.operators[0].set(OUTPUTS, vec![-1]), "tensor -1 does not exist, there are 4"),
            (|f| f.operators[0].set(INPUTS, vec![0]), "node #0 CONV_2D `y`: 1 operands, expected 2 to 3"),
            (|f| f.operators[0].set(INPUTS, vec![0, 1, 2, 2]), "4 operands, expected 2 to 3"),
        ],
    );
    let mut file = conv_2d();
    file.operators[0].set(INPUTS, vec![0, 1, -1]);
    assert!(file.read().is_ok(), "the bias may be left out");
}

/// What a target of 32 bits cannot address.
#[test]
fn sizes_beyond_32_bits() {
    let relu = |ty, shape: &[i32]| one(19, ty, [shape, shape], None, None);
    let found = relu(F32, &[1 << 15, 1 << 14]).problems();
    let expect = "tensor `x`: f32 [32768, 16384] has 2147483648 bytes, the limit is 2147483647";
    assert!(found.contains(expect), "{found}");
    let found = relu(F32, &[i32::MAX]).problems();
    assert!(found.contains("has 8589934588 bytes, the limit is 2147483647"), "{found}");
    let found = relu(F32, &[i32::MAX, 2]).problems();
    assert!(found.contains("shape [2147483647, 2] has more than 2147483647 elements"), "{found}");

    // Each fits, both together do not.
    let mut file = relu(F32, &[1 << 14, 1 << 14]);
    let (b, sum) = (file.tensor("b", F32, &[1 << 14, 1 << 14]), file.tensor("sum", F32, &[1 << 14, 1 << 14]));
    file.operator(0, &[0, b], sum, Some((11, Table::default())));
    file.inputs.push(b);
    file.outputs.push(sum);
    let found = file.refusal();
    assert!(
        found.starts_with("key `ram_limit`: needs 3 221 225 472 bytes of RAM, the limit is 2 147"),
        "{found}"
    );
}

#[test]
fn operators_beyond_the_limit() {
    let mut file = softmax();
    file.tensors[0].set(SHAPE, vec![4]);
    file.tensors[1].set(SHAPE, vec![4]);
    let operator = file.operators[0].clone();
    for i in 1..=i32::try_from(GraphBuilder::MAX_NODES).unwrap() {
        let y = file.tensor("y", F32, &[4]);
        file.operators.push(operator.clone().with(INPUTS, vec![i]).with(OUTPUTS, vec![y]));
    }
    assert_eq!(file.problems(), "the model has 65537 operators, the limit is 65536");
}

/// A few bytes ask for a tensor of any size: it is not made while the model is compiled.
#[test]
fn constants_that_would_be_large() {
    let filled = |extent: i32| {
        let mut file = File::new();
        let x = file.tensor("x", I32, &[1]);
        let (dims, value) = (file.integers("dims", &[1], &[extent]), file.integers("value", &[], &[7]));
        let (fill, y) = (file.tensor("fill", I32, &[extent]), file.tensor("y", I32, &[extent]));
        file.operator(94, &[dims, value], fill, None);
        file.operator(0, &[x, fill], y, Some((11, Table::default())));
        (file.inputs, file.outputs) = (vec![x], vec![y]);
        file
    };
    let compiled = crate::compile(filled(1 << 26).read().unwrap(), &crate::Config::default()).unwrap();
    assert!(compiled.program.constants.bytes().len() < 5_000);
    let found = filled(i32::MAX).refusal();
    assert!(found.contains("i32 [2147483647] has 8589934588 bytes, the limit is 2147483647"), "{found}");
    let mut file = filled(4);
    file.buffers[1].set(0, (-1_i32).to_le_bytes().to_vec());
    assert!(file.problems().contains("node #0 FILL `fill`: an extent is -1, expected 0 to 2147483647"));
}

#[test]
fn layers_whose_parts_do_not_fit() {
    refused(
        &conv_2d(),
        &[
            (
                |f| {
                    f.tensors[2].set(SHAPE, vec![2]);
                    f.tensors[2].remove(QUANTIZATION);
                    f.buffers[2].set(0, vec![0_u8; 8]);
                },
                "node #0 conv2d `y`: bias `bias` is i32 [2], expected 3 of i32",
            ),
            (
                |f| {
                    f.tensors[0].set(SHAPE, vec![1, 4, 4, 3]);
                },
                "node #0 conv2d `y`: ",
            ),
            (
                |f| {
                    f.operators[0].table(OPTIONS).set(0, 1_i8);
                    f.tensors[0].set(SHAPE, vec![1, 2, 4, 2]);
                },
                "the window of [3, 3] is larger than the padded image",
            ),
            (
                |f| {
                    f.operators[0].table(OPTIONS).set(4, i32::MAX);
                    f.operators[0].table(OPTIONS).set(0, 1_i8);
                },
                "is larger than the padded image",
            ),
            (
                |f| f.operators[0].table(OPTIONS).set(5, -3_i32),
                "dilation_h_factor is -3, expected at least 1",
            ),
        ],
    );
    let pool = |slot: usize, value: i32| {
        one(17, I8, [&[1, 4, 4, 2], &[1, 2, 2, 2]], None, Some((5, pool().with(slot, value)))).refusal()
    };
    for (slot, value, expect) in [
        (1, 0, "stride_w is 0, expected at least 1"),
        (2, -2, "stride_h is -2, expected at least 1"),
        (3, 0, "filter_width is 0, expected at least 1"),
        (4, i32::MIN, "filter_height is -2147483648, expected at least 1"),
        (4, 5, "the window of [5, 2] is larger than the padded image"),
    ] {
        let found = pool(slot, value);
        assert!(
            found.contains(&format!("node #0 MAX_POOL_2D `y`: {expect}")) || found.contains(expect),
            "{found}"
        );
    }
    let leaky = one(98, F32, [&[1, 4]; 2], None, Some((75, Table::default().with(0, f32::NAN))));
    assert!(leaky.refusal().contains("alpha NaN is not a finite number"));
}

#[test]
fn scales_that_cannot_be_computed_with() {
    let tensor_scale = |scale: f32| Table::default().with(SCALE, vec![scale]).with(ZERO_POINT, vec![0_i64]);
    let with_scales = |x: f32, weights: f32, y: f32| {
        let mut file = fully_connected();
        file.tensors[2].remove(QUANTIZATION);
        for (tensor, scale) in [(0, x), (1, weights), (3, y)] {
            file.tensors[tensor].set(QUANTIZATION, tensor_scale(scale));
        }
        file
    };
    assert!(with_scales(0.5, 0.1, 1.0).read().is_ok());
    for (file, expect) in [
        (with_scales(1e30, 1e30, 1e-30), "node #0 fully_connected `y`: the scales' ratio inf is too large"),
        (with_scales(1.0, 1.0, 1e-8), "which overflows 32 bits when shifted by"),
        (with_scales(1e-40, 1.0, 1.0), "tensor `x`: scale 0.0000000000000000000000000000000000000001 is not"),
        (with_scales(f32::INFINITY, 1.0, 1.0), "tensor `x`: scale inf is not a positive normal number"),
    ] {
        let found = file.refusal();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
    refused(
        &with_scales(0.5, 0.1, 1.0),
        &[
            (|f| f.tensors[0].remove(QUANTIZATION), "`x` is i8 [1, 4] without scale and zero point"),
            (|f| f.tensors[1].remove(QUANTIZATION), "weights `weights` have no scale"),
            (|f| f.tensors[3].remove(QUANTIZATION), "`y` is i8 [1, 2] without scale and zero point"),
            (
                |f| f.tensors[2].set(QUANTIZATION, quantization(&[0.5], &[0])),
                "bias `bias` has scale 0.5 for channel 0, expected 0.05",
            ),
            (
                |f| f.tensors[2].set(QUANTIZATION, quantization(&[0.05], &[1])),
                "bias `bias` has a zero point other than 0",
            ),
            (
                |f| f.tensors[1].set(QUANTIZATION, quantization(&[0.1, 0.2], &[0, 3])),
                "weights `weights` have a zero point other than 0",
            ),
            (|f| f.buffers[2].set(0, [i32::MAX.to_le_bytes(); 2].concat()), "channel 0: a sum can reach "),
        ],
    );
}

/// Operators that only move or compare integers.
#[test]
fn scales_that_must_be_equal() {
    let other = || quantization(&[0.25], &[3]);
    let transpose = one(39, I8, [&[1, 2], &[2, 1]], Some((&[2], &[1, 0])), None);
    let maximum = one(17, I8, [&[1, 4, 4, 2], &[1, 2, 2, 2]], None, Some((5, pool())));
    for mut file in [transpose, maximum, pad()] {
        let y = file.tensors.len() - 1;
        file.tensors[y].set(QUANTIZATION, other());
        let found = file.refusal();
        let expect =
            "`x` has scale 0.5 and zero point 3, `y` has scale 0.25 and zero point 3: they must be equal";
        assert!(found.contains(expect), "{found}");
    }
    let mut fixed = one(25, I8, [&[1, 4]; 2], None, Some((9, Table::default().with(0, 1_f32))));
    let expect =
        "node #0 softmax `y`: `y` has scale 0.5 and zero point 3, the result has 0.00390625 and -128";
    assert!(fixed.refusal().contains(expect), "{}", fixed.refusal());
    fixed.tensors[1].set(QUANTIZATION, quantization(&[1.0 / 256.0], &[-128]));
    assert!(fixed.read().is_ok());
}

/// Indices and extents of 64 bits that no `i32` holds.
#[test]
fn integers_of_64_bits() {
    const BIG: i64 = 1 << 40;
    let widen = |mut file: File, values: &[i64]| {
        file.tensors[1].set(TYPE, I64);
        file.buffers[1].set(0, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
        file
    };
    let gather = one(36, F32, [&[4], &[1]], Some((&[1], &[0])), Some((23, Table::default())));
    for (file, expect) in [
        (
            widen(pad(), &[0, BIG, 2, 1]),
            "node #0 PAD `y`: padding is 1099511627776, expected 0 to 2147483647",
        ),
        (
            widen(reshape(&[12], &[12]), &[BIG]),
            "node #0 RESHAPE `y`: shape [1099511627776] has more than 2147483647 elements",
        ),
        (widen(mean(&[1], &[2, 4]), &[BIG]), "node #0 MEAN `y`: axis 1099511627776 is outside -3..3"),
        (widen(gather, &[BIG]), "index 1099511627776 is outside of axis 0 of f32 [4]"),
    ] {
        let found = file.refusal();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// Every element type that the schema has, and codes that it has not.
#[test]
fn element_types() {
    for (code, name) in [
        (5, "string"),
        (8, "complex64"),
        (10, "float64"),
        (11, "complex128"),
        (13, "resource"),
        (14, "variant"),
        (16, "uint16"),
        (19, "int2"),
        (20, "uint4"),
        (99, "type 99"),
        (-1, "type -1"),
    ] {
        let found = one(19, code, [&[4]; 2], None, None).problems();
        let expect = format!("{name} (2 tensors: `x` (tensor #0), `y` (tensor #1))");
        assert!(found.contains(&expect), "expected {expect}, found {found}");
    }
    for ty in [1, I32, I64, BOOL, 17, 18] {
        let found = one(19, ty, [&[4]; 2], None, None).problems();
        assert!(found.contains("node #0 RELU `y`: types are "), "{ty}: {found}");
    }
}

/// What nothing needs is looked at, too.
#[test]
fn operators_that_nothing_needs() {
    let mut file = softmax();
    let unused = file.tensor("unused", F32, &[1, 4]);
    let operator = file.operators[0].clone().with(OUTPUTS, vec![unused]);
    file.operators.push(operator);
    let compiled = crate::compile(file.read().unwrap(), &crate::Config::default()).unwrap();
    assert_eq!(compiled.program.steps.len(), 1);
    file.operators[1].table(OPTIONS).set(0, f32::NAN);
    assert!(file.problems().contains("node #1 softmax `unused`: beta NaN"), "{}", file.problems());
}

#[test]
fn files_beyond_the_limit() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/model/digits.tflite");
    let bytes = std::fs::metadata(path).unwrap().len();
    let read = |model_limit| import(path.as_ref(), &Config { model_limit, ..Config::default() });
    assert!(read(bytes).is_ok());
    let error = read(100).unwrap_err();
    let expect = format!("the file has {} bytes, `model_limit` is 100", spaced(bytes));
    assert_eq!(error.problems[0].message, expect);
}
