//! Operators that reduce, search, look up and normalize: what they become, and what is
//! refused.

use aot_rt::DType;

use super::files::*;
use super::writer::Table;
use crate::ops::{
    Activation, Arg, ArgFunction, CumulativeSum, EmbeddingLookup, GatherNd, L2Normalization, L2Pool2d,
    LocalResponseNormalization, LogSoftmax, OneHot, Op, Padding2d, Reduce, ReduceFunction, TopK,
};

const EMBEDDING_LOOKUP: i32 = 7;
const L2_NORMALIZATION: i32 = 11;
const L2_POOL_2D: i32 = 12;
const LOCAL_RESPONSE_NORMALIZATION: i32 = 13;
const TOPK_V2: i32 = 48;
const LOG_SOFTMAX: i32 = 50;
const ARG_MAX: i32 = 56;
const SUM: i32 = 74;
const REDUCE_MAX: i32 = 82;
const ONE_HOT: i32 = 85;
const GATHER_ND: i32 = 107;
const CUMSUM: i32 = 128;

/// An operator on `x` and one list of integers, with results of these types and shapes.
fn listed(code: i32, values: &[i32], options: Option<(u8, Table)>, results: &[(i8, &[i32])]) -> File {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[2, 3]);
    file.inputs.push(x);
    let count = i32::try_from(values.len()).unwrap();
    let integers = file.integers("integers", &[count], values);
    let results: Vec<_> = results.iter().map(|(ty, shape)| file.tensor("y", *ty, shape)).collect();
    file.operator(code, &[x, integers], results[0], options);
    file.operators[0].set(OUTPUTS, results.clone());
    file.outputs = results;
    file
}

fn reduce(code: i32, axes: &[i32], keep: bool, y: &[i32]) -> File {
    listed(code, axes, Some((27, Table::default().with(0, u8::from(keep)))), &[(F32, y)])
}

fn arg_max(axis: &[i32], output_type: i8) -> File {
    listed(ARG_MAX, axis, Some((40, Table::default().with(0, output_type))), &[(I32, &[2])])
}

fn cumsum(axis: &[i32], exclusive: u8) -> File {
    listed(CUMSUM, axis, Some((102, Table::default().with(0, exclusive))), &[(F32, &[2, 3])])
}

fn top_k(k: &[i32], y: &[i32]) -> File {
    listed(TOPK_V2, k, None, &[(F32, y), (I32, y)])
}

fn gather_nd(indices: &[i32], y: &[i32]) -> File {
    listed(GATHER_ND, indices, None, &[(F32, y)])
}

fn one_hot(axis: i32, depth: &[i32], on: &[i32], y: &[i32]) -> File {
    let mut file = File::new();
    let x = file.tensor("x", I32, &[2]);
    file.inputs.push(x);
    let depth = file.integers("depth", &[i32::try_from(depth.len()).unwrap()], depth);
    let on = file.tensor("on", F32, on);
    let off = file.tensor("off", F32, &[]);
    file.inputs.extend([on, off]);
    let y = file.tensor("y", F32, y);
    file.operator(ONE_HOT, &[x, depth, on, off], y, Some((61, Table::default().with(0, axis))));
    file.outputs = vec![y];
    file
}

fn embedding_lookup(indices: &[i32], table: &[i32]) -> File {
    let mut file = File::new();
    let x = file.tensor("x", I32, indices);
    let table = file.tensor("table", F32, table);
    file.inputs.extend([x, table]);
    let y = file.tensor("y", F32, &[2, 3]);
    file.operator(EMBEDDING_LOOKUP, &[x, table], y, None);
    file.outputs = vec![y];
    file
}

fn normalization(code: i32, options: Option<(u8, Table)>) -> File {
    one(code, F32, [&[1, 2, 2, 3], &[1, 2, 2, 3]], None, options)
}

fn response(radius: i32, beta: f32) -> File {
    let options = Table::default().with(0, radius).with(1, 1.0_f32).with(2, 0.5_f32).with(3, beta);
    normalization(LOCAL_RESPONSE_NORMALIZATION, Some((13, options)))
}

#[test]
fn operators_are_mapped() {
    let reduced = |function, axes: &[usize], keep_dimensions| {
        Reduce { function, axes: axes.to_vec(), keep_dimensions }.into()
    };
    let window = one(L2_POOL_2D, F32, [&[1, 4, 4, 2], &[1, 2, 2, 2]], None, Some((5, pool())));
    let (padding, activation) = (Padding2d::Valid, Activation::None);
    let cases: Vec<(&str, File, Op)> = vec![
        ("SUM", reduce(SUM, &[-1, 1], false, &[2]), reduced(ReduceFunction::Sum, &[1], false)),
        ("SUM of nothing", reduce(SUM, &[], false, &[2, 3]), reduced(ReduceFunction::Sum, &[], false)),
        (
            "REDUCE_MAX",
            reduce(REDUCE_MAX, &[1, 0], true, &[1, 1]),
            reduced(ReduceFunction::Maximum, &[0, 1], true),
        ),
        (
            "ARG_MAX",
            arg_max(&[-1], I32),
            Arg { function: ArgFunction::Max, axis: 1, dtype: DType::I32 }.into(),
        ),
        ("CUMSUM", cumsum(&[-2], 1), CumulativeSum { axis: 0, exclusive: true, reverse: false }.into()),
        ("TOPK_V2", top_k(&[2], &[2, 2]), TopK { k: 2 }.into()),
        ("GATHER_ND", gather_nd(&[1, 2], &[]), GatherNd {}.into()),
        ("ONE_HOT", one_hot(-1, &[4], &[], &[2, 4]), OneHot { axis: 1, depth: 4 }.into()),
        ("ONE_HOT first", one_hot(0, &[4], &[], &[4, 2]), OneHot { axis: 0, depth: 4 }.into()),
        ("EMBEDDING_LOOKUP", embedding_lookup(&[2], &[5, 3]), EmbeddingLookup { dtype: DType::F32 }.into()),
        ("L2_NORMALIZATION", normalization(L2_NORMALIZATION, None), L2Normalization {}.into()),
        ("LOG_SOFTMAX", normalization(LOG_SOFTMAX, None), LogSoftmax {}.into()),
        ("L2_POOL_2D", window, L2Pool2d { window: [2; 2], stride: [2; 2], padding, activation }.into()),
        (
            "LOCAL_RESPONSE_NORMALIZATION",
            response(2, 0.75),
            LocalResponseNormalization { radius: 2, bias: 1.0, alpha: 0.5, beta: 0.75 }.into(),
        ),
    ];
    for (name, file, expect) in cases {
        let graph = file.read().unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        assert_eq!(graph.nodes[0].op, expect, "{name}");
    }
}

/// The depth of ONE_HOT is an attribute, and no operand.
#[test]
fn operands_of_one_hot() {
    let graph = one_hot(-1, &[4], &[], &[2, 4]).read().unwrap();
    let names: Vec<_> = graph.nodes[0].inputs.iter().flatten().map(|id| &*graph.tensor(*id).name).collect();
    assert_eq!(names, ["x", "on", "off"]);
}

#[test]
fn attributes_are_refused() {
    let active = Table::default().with(0, 1_i8);
    for (file, expect) in [
        (reduce(SUM, &[2], false, &[2]), "axis 2 is outside -2..2"),
        (reduce(SUM, &[i32::MIN], false, &[2]), "axis -2147483648 is outside -2..2"),
        (reduce(SUM, &[0], false, &[2]), "`y` is declared as f32 [2], computed is f32 [3]"),
        (arg_max(&[2], I32), "axis 2 is outside -2..2"),
        (arg_max(&[0, 1], I32), "2 elements for the axis, expected 1"),
        (arg_max(&[1], I64), "output_type 4 is not supported, only [2]"),
        (cumsum(&[3], 0), "axis 3 is outside -2..2"),
        (top_k(&[0], &[2, 1]), "k is 0, rows have 3 elements"),
        (top_k(&[4], &[2, 4]), "k is 4, rows have 3 elements"),
        (top_k(&[-1], &[2, 1]), "k is -1, expected at least 1"),
        (gather_nd(&[1, 3], &[]), "index 3 is outside of an axis of 3 elements"),
        (gather_nd(&[-1], &[3]), "index -1 is outside of an axis of 2 elements"),
        (gather_nd(&[1, 1, 1], &[]), "indices [3] are for 3 axes, `x` is f32 [2, 3]"),
        (one_hot(2, &[4], &[], &[2, 4]), "axis 2 is outside -2..2"),
        (one_hot(0, &[-4], &[], &[4, 2]), "the depth is -4, expected at least 1"),
        (
            one_hot(0, &[0], &[], &[4, 2]),
            "the result is f32 [0, 2]: it has no element, which is not supported here",
        ),
        (one_hot(0, &[i32::MAX], &[], &[4, 2]), "has more than 2147483647 elements"),
        (one_hot(0, &[4], &[2], &[4, 2]), "the value on is f32 [2], expected one element"),
        (embedding_lookup(&[2, 1], &[5, 3]), "indices are i32 [2, 1], expected a vector of i32"),
        (embedding_lookup(&[2], &[]), "the table is a scalar, which has no rows"),
        (
            normalization(L2_NORMALIZATION, Some((12, active))),
            "fused activation, relu is not supported, only NONE",
        ),
        (response(-1, 0.5), "radius is -1, expected at least 0"),
        (response(1, f32::NAN), "beta is NaN, expected a finite number"),
    ] {
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}
