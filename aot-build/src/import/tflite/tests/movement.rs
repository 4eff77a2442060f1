//! Operators that only move elements: which indices their masks, ends and sizes stand for,
//! and what is refused.

use super::files::*;
use super::writer::Table;
use crate::graph::Shape;
use crate::ops::{
    BatchToSpace, BroadcastTo, Concatenation, DepthToSpace, Gather, Mirror, MirrorPad, Op, Pack, Pad,
    Reverse, Slice, SpaceToBatch, SpaceToDepth, Split, Tile, Transpose, Unpack,
};

const CONCATENATION: i32 = 2;
const DEPTH_TO_SPACE: i32 = 5;
const SPACE_TO_DEPTH: i32 = 26;
const GATHER: i32 = 36;
const BATCH_TO_SPACE_ND: i32 = 37;
const SPACE_TO_BATCH_ND: i32 = 38;
const TRANSPOSE: i32 = 39;
const STRIDED_SLICE: i32 = 45;
const SPLIT: i32 = 49;
const PADV2: i32 = 60;
const SLICE: i32 = 65;
const TILE: i32 = 69;
const PACK: i32 = 83;
const UNPACK: i32 = 88;
const FILL: i32 = 94;
const MIRROR_PAD: i32 = 100;
const SPLIT_V: i32 = 102;
const REVERSE_V2: i32 = 105;
const BROADCAST_TO: i32 = 130;

/// An operator on `x`, lists of integers and further activations, whose results have
/// the given shapes.
struct Sample {
    file: File,
    operands: Vec<i32>,
}

impl Sample {
    fn new() -> Self {
        Self { file: File::new(), operands: Vec::new() }
    }

    fn x(mut self, shape: &[i32]) -> Self {
        let x = self.file.tensor("x", F32, shape);
        self.file.inputs.push(x);
        self.operands.push(x);
        self
    }

    fn integers(mut self, values: &[i32]) -> Self {
        let count = i32::try_from(values.len()).unwrap();
        self.operands.push(self.file.integers("integers", &[count], values));
        self
    }

    fn operator(mut self, code: i32, options: Option<(u8, Table)>, results: &[&[i32]]) -> File {
        let results: Vec<_> = results.iter().map(|shape| self.file.tensor("y", F32, shape)).collect();
        self.file.operator(code, &self.operands, results[0], options);
        self.file.operators[0].set(OUTPUTS, results.clone());
        self.file.outputs = results;
        self.file
    }
}

fn concatenation(axis: i32, activation: i8, y: &[i32]) -> File {
    let options = Table::default().with(0, axis).with(1, activation);
    Sample::new().x(&[2, 3]).x(&[1, 3]).operator(CONCATENATION, Some((10, options)), &[y])
}

fn pack(axis: i32, count: i32, y: &[i32]) -> File {
    let options = Table::default().with(0, count).with(1, axis);
    Sample::new().x(&[2, 3]).x(&[2, 3]).operator(PACK, Some((59, options)), &[y])
}

fn unpack(axis: i32, num: i32, results: &[&[i32]]) -> File {
    let options = Table::default().with(0, num).with(1, axis);
    Sample::new().x(&[2, 3]).operator(UNPACK, Some((64, options)), results)
}

fn split(axis: &[i32], pieces: i32, results: &[&[i32]]) -> File {
    let options = Table::default().with(0, pieces);
    Sample::new().integers(axis).x(&[2, 6]).operator(SPLIT, Some((35, options)), results)
}

/// SPLIT of one axis.
fn listed_split(extent: i32, pieces: i32) -> File {
    let options = Table::default().with(0, pieces);
    Sample::new().integers(&[0]).x(&[extent]).operator(SPLIT, Some((35, options)), &[&[1]])
}

fn split_v(axis: i32, sizes: &[i32], results: &[&[i32]]) -> File {
    let options = Table::default().with(0, i32::try_from(sizes.len()).unwrap());
    let sample = Sample::new().x(&[2, 6]).integers(sizes).integers(&[axis]);
    sample.operator(SPLIT_V, Some((79, options)), results)
}

fn slice(begin: &[i32], size: &[i32], y: &[i32]) -> File {
    Sample::new().x(&[2, 6]).integers(begin).integers(size).operator(SLICE, None, &[y])
}

/// `masks`: begin, end, ellipsis, new axis, shrink axis, and whether ends are distances.
fn strided_slice(indices: [&[i32]; 3], masks: [i32; 6], y: &[i32]) -> File {
    let [begin, end, stride] = indices;
    let [a, b, c, d, e, offset] = masks;
    let options = Table::default().with(0, a).with(1, b).with(2, c).with(3, d).with(4, e);
    let options = options.with(5, u8::from(offset != 0));
    let sample = Sample::new().x(&[4, 5, 6]).integers(begin).integers(end).integers(stride);
    sample.operator(STRIDED_SLICE, Some((32, options)), &[y])
}

fn transpose(permutation: &[i32], y: &[i32]) -> File {
    Sample::new().x(&[2, 3, 4]).integers(permutation).operator(TRANSPOSE, None, &[y])
}

fn pad_v2(value: Vec<u8>, shape: &[i32]) -> File {
    let mut sample = Sample::new().x(&[2]);
    let paddings = sample.file.integers("paddings", &[1, 2], &[1, 0]);
    let value = sample.file.constant("value", F32, shape, value);
    sample.operands.extend([paddings, value]);
    sample.operator(PADV2, None, &[&[3]])
}

fn sliced(begin: [usize; 3], size: [usize; 3], stride: &[i64], shape: Option<&[usize]>) -> Op {
    let shape = shape.map(|shape| Shape::new(shape).unwrap());
    Slice { begin: begin.into(), size: size.into(), stride: stride.into(), shape }.into()
}

/// An operator on `x` and one list of integers.
fn listed(code: i32, x: &[i32], values: &[i32], options: Option<(u8, Table)>, y: &[i32]) -> File {
    Sample::new().x(x).integers(values).operator(code, options, &[y])
}

fn depth(code: i32, options: u8, x: &[i32], block: i32, y: &[i32]) -> File {
    Sample::new().x(x).operator(code, Some((options, Table::default().with(0, block))), &[y])
}

/// SPACE_TO_BATCH_ND or BATCH_TO_SPACE_ND.
fn batches(code: i32, x: &[i32], block: &[i32], margin: &[i32], y: &[i32]) -> File {
    Sample::new().x(x).integers(block).integers(margin).operator(code, None, &[y])
}

fn mirror_pad(mode: i8, paddings: &[i32], y: &[i32]) -> File {
    let mut sample = Sample::new().x(&[4]);
    let rows = i32::try_from(paddings.len() / 2).unwrap();
    let paddings = sample.file.integers("paddings", &[rows, 2], paddings);
    sample.operands.push(paddings);
    sample.operator(MIRROR_PAD, Some((77, Table::default().with(0, mode))), &[y])
}

fn fill(value: &[i32], dims: &[i32], y: &[i32]) -> File {
    Sample::new().integers(dims).x(value).operator(FILL, None, &[y])
}

fn gather(axis: i32, batch: i32, indices: &[i32], y: &[i32]) -> File {
    let options = Table::default().with(0, axis).with(1, batch);
    listed(GATHER, &[2, 3], indices, Some((23, options)), y)
}

#[test]
fn operators_are_mapped() {
    let all: [&[i32]; 3] = [&[0, 0, 0], &[0, 0, 0], &[1, 1, 1]];
    let cases: Vec<(&str, File, Op)> = vec![
        ("CONCATENATION", concatenation(-2, 0, &[3, 3]), Concatenation { axis: 0 }.into()),
        ("PACK", pack(-1, 2, &[2, 3, 2]), Pack { axis: 2 }.into()),
        ("UNPACK", unpack(-2, 2, &[&[3], &[3]]), Unpack { axis: 0 }.into()),
        ("SPLIT", split(&[1], 2, &[&[2, 3], &[2, 3]]), Split { axis: 1, sizes: vec![3, 3] }.into()),
        (
            "SPLIT_V with a rest",
            split_v(-1, &[1, -1, 2], &[&[2, 1], &[2, 3], &[2, 2]]),
            Split { axis: 1, sizes: vec![1, 3, 2] }.into(),
        ),
        (
            "SLICE with a rest",
            slice(&[1, 2], &[1, -1], &[1, 4]),
            Slice { begin: vec![1, 2], size: vec![1, 4], stride: vec![], shape: None }.into(),
        ),
        ("TRANSPOSE", transpose(&[2, 0, -2], &[4, 2, 3]), Transpose { permutation: vec![2, 0, 1] }.into()),
        (
            "PADV2",
            pad_v2(2.5_f32.to_le_bytes().into(), &[]),
            Pad { padding: vec![[1, 0]], value: Some(2.5) }.into(),
        ),
        (
            "STRIDED_SLICE",
            strided_slice([&[1, -4, 0], &[-1, 9, 6], &[1, 2, 5]], [0; 6], &[2, 2, 2]),
            sliced([1, 1, 0], [2, 2, 2], &[1, 2, 5], None),
        ),
        (
            "STRIDED_SLICE by masks",
            strided_slice(all, [7, 7, 0, 0, 0, 0], &[4, 5, 6]),
            sliced([0; 3], [4, 5, 6], &[], None),
        ),
        (
            "STRIDED_SLICE backwards",
            strided_slice([&[9, 3, 0], &[-9, 0, 0], &[-1, -2, -4]], [4, 4, 0, 0, 0, 0], &[4, 2, 2]),
            sliced([3, 3, 5], [4, 2, 2], &[-1, -2, -4], None),
        ),
        (
            "STRIDED_SLICE of one index",
            strided_slice([&[-1, 0], &[0, 0], &[1, 1]], [0, 2, 0, 0, 1, 0], &[5, 6]),
            sliced([3, 0, 0], [1, 5, 6], &[], Some(&[5, 6])),
        ),
        (
            "STRIDED_SLICE, ellipsis and new axis",
            strided_slice([&[0, 0, 1], &[0, 0, 3], &[1, 1, 1]], [0, 0, 1, 2, 0, 0], &[4, 5, 1, 2]),
            sliced([0, 0, 1], [4, 5, 2], &[], Some(&[4, 5, 1, 2])),
        ),
        (
            "STRIDED_SLICE by distances",
            strided_slice([&[1, 1, 1], &[2, 3, 9], &[1, 1, 1]], [0, 0, 0, 0, 0, 1], &[2, 3, 5]),
            sliced([1, 1, 1], [2, 3, 5], &[], None),
        ),
    ];
    let more: Vec<(&str, File, Op)> = vec![
        ("TILE", listed(TILE, &[2, 3], &[2, 1], None, &[4, 3]), Tile { multiples: vec![2, 1] }.into()),
        (
            "BROADCAST_TO",
            listed(BROADCAST_TO, &[1, 3], &[2, 2, 3], None, &[2, 2, 3]),
            BroadcastTo { shape: Shape::new([2, 2, 3]).unwrap() }.into(),
        ),
        ("FILL", fill(&[], &[3], &[3]), BroadcastTo { shape: Shape::new([3]).unwrap() }.into()),
        (
            "REVERSE_V2",
            listed(REVERSE_V2, &[2, 3], &[-1, 0], None, &[2, 3]),
            Reverse { axes: vec![0, 1] }.into(),
        ),
        ("GATHER", gather(-1, 0, &[2, 0], &[2, 2]), Gather { axis: 1 }.into()),
        (
            "DEPTH_TO_SPACE",
            depth(DEPTH_TO_SPACE, 94, &[1, 1, 1, 4], 2, &[1, 2, 2, 1]),
            DepthToSpace { block: 2 }.into(),
        ),
        (
            "SPACE_TO_DEPTH",
            depth(SPACE_TO_DEPTH, 19, &[1, 2, 4, 1], 2, &[1, 1, 2, 4]),
            SpaceToDepth { block: 2 }.into(),
        ),
        (
            "SPACE_TO_BATCH_ND",
            batches(SPACE_TO_BATCH_ND, &[1, 5, 2], &[3], &[0, 1], &[3, 2, 2]),
            SpaceToBatch { block: vec![3], padding: vec![[0, 1]] }.into(),
        ),
        (
            "BATCH_TO_SPACE_ND",
            batches(BATCH_TO_SPACE_ND, &[3, 2, 2], &[3], &[0, 1], &[1, 5, 2]),
            BatchToSpace { block: vec![3], crop: vec![[0, 1]] }.into(),
        ),
        (
            "MIRROR_PAD",
            mirror_pad(1, &[4, 0], &[8]),
            MirrorPad { padding: vec![[4, 0]], mode: Mirror::Symmetric }.into(),
        ),
    ];
    for (name, file, expect) in cases.into_iter().chain(more) {
        let graph = file.read().unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        assert_eq!(graph.nodes[0].op, expect, "{name}");
        assert_eq!(graph.nodes[0].outputs, graph.outputs, "{name}");
    }
}

#[test]
fn parameters_are_refused() {
    let y: &[i32] = &[1];
    let none = [0; 6];
    let begins = |begin: i32, end: i32, stride: i32| strided_slice([&[begin], &[end], &[stride]], none, y);
    let left_out = |mut file: File, operand: usize| {
        let mut operands = vec![0, 1, 2];
        operands[operand] = -1;
        file.operators[0].set(INPUTS, operands);
        file
    };
    for (file, expect) in [
        (concatenation(2, 0, y), "axis 2 is outside -2..2"),
        (concatenation(1, 0, y), "f32 [1, 3] does not fit f32 [2, 3] along axis 1"),
        (concatenation(0, 1, y), "fused activation, relu is not supported, only NONE"),
        (pack(3, 2, y), "axis 3 is outside -3..3"),
        (pack(0, 3, y), "values_count is 3, there are 2 operands"),
        (unpack(2, 2, &[y]), "axis 2 is outside -2..2"),
        (unpack(0, 3, &[y]), "num is 3, axis 0 of [2, 3] has 2"),
        (unpack(0, 2, &[&[3]]), "1 results are declared, there are 2"),
        (split(&[2], 2, &[y]), "axis 2 is outside -2..2"),
        (split(&[0, 1], 2, &[y]), "2 elements for the axis, expected 1"),
        (split(&[1], 4, &[y]), "axis 1 of [2, 6] cannot be cut into 4 equal pieces"),
        (split(&[1], 0, &[y]), "num_splits is 0, expected at least 1"),
        (listed_split(1 << 20, 1 << 20), "1048576 results, the limit is 1024"),
        (split_v(1, &[1, 2], &[y, y]), "sizes [1, 2] do not add up to axis 1 of f32 [2, 6]"),
        (split_v(1, &[-1, -1], &[y, y]), "sizes [-1, -1] do not fit axis 1 of [2, 6]"),
        (split_v(1, &[-2, 8], &[y, y]), "sizes [-2, 8] do not fit axis 1 of [2, 6]"),
        (split_v(1, &[7, -1], &[y, y]), "sizes [7, -1] do not fit axis 1 of [2, 6]"),
        (split_v(1, &[6, 0], &[y, y]), "`y` is declared as f32 [1], computed is f32 [2, 0]"),
        (slice(&[0], &[1], y), "1 first indices and 1 sizes for the axes of [2, 6]"),
        (slice(&[0, -1], &[1, 1], y), "elements -1 to -1 + 1 are outside of [2, 6]"),
        (slice(&[0, 7], &[1, -1], y), "elements 7 to 7 + -1 are outside of [2, 6]"),
        (slice(&[0, 6], &[1, -1], y), "`y` is declared as f32 [1], computed is f32 [1, 0]"),
        (slice(&[0, 3], &[2, 4], y), "axis 1 of [2, 6] does not have 4 elements from 3 on in steps of 1"),
        (slice(&[0, 0], &[2, -2], y), "elements 0 to 0 + -2 are outside of [2, 6]"),
        (left_out(slice(&[0, 0], &[2, 2], y), 1), "the first indices are left out"),
        (transpose(&[0, 1], y), "a permutation of 2 axes, expected 3"),
        (transpose(&[0, 1, 3], y), "axis 3 is outside -3..3"),
        (transpose(&[0, 1, 1], y), "[0, 1, 1] is no permutation of the axes of f32 [2, 3, 4]"),
        (pad_v2(vec![0; 8], &[2]), "operand 2 has not one element"),
        (begins(0, 4, 0), "selects nothing of axis 0 of [4, 5, 6]"),
        (begins(2, 2, 1), "selects nothing of axis 0 of [4, 5, 6]"),
        (begins(0, 4, -1), "selects nothing of axis 0 of [4, 5, 6]"),
        (begins(0, i32::MIN, i32::MIN), "`y` is declared as f32 [1], computed is f32 [1, 5, 6]"),
        (strided_slice([&[4], &[0], &[1]], [0, 0, 0, 0, 1, 0], y), "selects nothing of axis 0 of [4, 5, 6]"),
        (strided_slice([&[0], &[4, 5], &[1]], none, y), "1 first indices, 2 ends and 1 strides"),
        (strided_slice([&[0; 4], &[1; 4], &[1; 4]], none, y), "4 indices for [4, 5, 6]"),
        (strided_slice([&[0; 33], &[1; 33], &[1; 33]], none, y), "33 first indices, 33 ends and 33 strides"),
        (strided_slice([&[0; 9], &[1; 9], &[1; 9]], [0, 0, 0, i32::MAX, 0, 0], y), "rank 12 is more than 8"),
        (listed(TILE, &[2], &[-1], None, y), "a multiple is -1, expected 0 to 2147483647"),
        (
            listed(TILE, &[2], &[0], None, y),
            "the result is f32 [0]: it has no element, which is not supported here",
        ),
        (listed(TILE, &[2], &[1, 1], None, y), "multiples [1, 1] are not one for each axis of f32 [2]"),
        (listed(TILE, &[2], &[i32::MAX], None, y), "has more than 2147483647 elements"),
        (listed(BROADCAST_TO, &[2], &[3], None, y), "f32 [2] cannot be repeated to [3]"),
        (listed(BROADCAST_TO, &[2], &[1], None, y), "f32 [2] cannot be repeated to [1]"),
        (listed(BROADCAST_TO, &[2], &[-2], None, y), "an extent is -2, expected 0 to"),
        (fill(&[1], &[3], y), "the value has shape [1], expected a scalar"),
        (listed(REVERSE_V2, &[2], &[1], None, y), "axis 1 is outside -1..1"),
        (listed(REVERSE_V2, &[2], &[0, -1], None, y), "axes [0, 0] are not ascending axes of f32 [2]"),
        (gather(2, 0, &[0], y), "axis 2 is outside -2..2"),
        (gather(0, 1, &[0], y), "batch_dims 1 is not supported, only 0"),
        (gather(0, 0, &[2], y), "index 2 is outside of axis 0 of f32 [2, 3]"),
        (gather(0, 0, &[-1], y), "index -1 is outside of axis 0 of f32 [2, 3]"),
        (depth(DEPTH_TO_SPACE, 94, &[1, 1, 1, 4], 0, y), "block_size is 0, expected at least 1"),
        (depth(DEPTH_TO_SPACE, 94, &[1, 1, 1, 4], 3, y), "make no squares of 3×3 pixels"),
        (depth(DEPTH_TO_SPACE, 94, &[1, 1, 1, 4], i32::MAX, y), "make no squares of 2147483647×"),
        (depth(DEPTH_TO_SPACE, 94, &[4], 1, y), "shape [4] has rank 1, expected 4"),
        (depth(SPACE_TO_DEPTH, 19, &[1, 2, 3, 1], 2, y), "is not made of squares of 2×2 pixels"),
        (batches(SPACE_TO_BATCH_ND, &[1, 5, 2], &[2], &[0, 0], y), "extent 0 is not made of blocks"),
        (batches(SPACE_TO_BATCH_ND, &[1, 5, 2], &[2], &[0], y), "1 numbers of padding for a block of [2]"),
        (batches(SPACE_TO_BATCH_ND, &[1, 5], &[0], &[0, 0], y), "does not have 1 to 64 cells"),
        (
            batches(SPACE_TO_BATCH_ND, &[1, 5], &[1, 1], &[0; 4], y),
            "2 extents of a block and 2 margins for rank 2",
        ),
        (batches(SPACE_TO_BATCH_ND, &[1, 5], &[1], &[0, -1], y), "padding is -1, expected 0 to"),
        (
            batches(BATCH_TO_SPACE_ND, &[3, 2], &[2], &[0, 0], y),
            "the batch of f32 [3, 2] is not one for each of 2 cells",
        ),
        (
            batches(BATCH_TO_SPACE_ND, &[2, 2], &[2], &[3, 1], y),
            "the result is f32 [1, 0]: it has no element, which is not supported here",
        ),
        (batches(BATCH_TO_SPACE_ND, &[2, 2], &[2], &[3, 2], y), "crop 3, 2 leaves nothing of f32 [2, 2]"),
        (mirror_pad(0, &[4, 0], y), "padding 4, 0 is larger than the axis of f32 [4]"),
        (mirror_pad(1, &[0, 5], y), "padding 0, 5 is larger than the axis of f32 [4]"),
        (mirror_pad(2, &[0, 0], y), "mode 2 is not supported, only [0, 1]"),
        (mirror_pad(0, &[0; 4], y), "4 paddings, expected [1, 2] for shape [4]"),
    ] {
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}
