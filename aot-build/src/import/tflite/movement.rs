//! Operators that only move elements: their masks, ends and sizes become plain indices.

use super::node::{Integers, Node, kind};
use super::operators::{Known, MANY, checked_axis, known};
use super::types::{GATHER, ONE_OF_ANY};
use crate::error::OpError;
use crate::graph::{Shape, check_count};
use crate::ops::{
    Activation, BatchToSpace, BroadcastTo, Concatenation, DepthToSpace, Gather, Mirror, MirrorPad, Op, Pack,
    Pad, Reverse, Slice, SpaceToBatch, SpaceToDepth, Split, Tile, Transpose, Unpack,
};

pub(super) const OPERATORS: &[Known] = &[
    known("BATCH_TO_SPACE_ND", 4, [3, 3], ONE_OF_ANY, batch_to_space),
    known("BROADCAST_TO", 4, [2, 2], ONE_OF_ANY, broadcast_to),
    known("CONCATENATION", 7, [1, MANY], ONE_OF_ANY, concatenation).of_all(),
    known("DEPTH_TO_SPACE", 1, [1, 1], ONE_OF_ANY, depth_to_space),
    known("FILL", 5, [2, 2], ONE_OF_ANY, fill).of_operand(1),
    known("GATHER", 8, [2, 2], GATHER, gather),
    known("MIRROR_PAD", 3, [2, 2], ONE_OF_ANY, mirror_pad),
    known("PACK", 5, [1, MANY], ONE_OF_ANY, pack).of_all(),
    known("PAD", 6, [2, 2], ONE_OF_ANY, pad),
    known("PADV2", 6, [3, 3], ONE_OF_ANY, pad_v2),
    known("REVERSE_V2", 4, [2, 2], ONE_OF_ANY, reverse),
    known("SLICE", 8, [3, 3], ONE_OF_ANY, slice),
    known("SPACE_TO_BATCH_ND", 4, [3, 3], ONE_OF_ANY, space_to_batch),
    known("SPACE_TO_DEPTH", 2, [1, 1], ONE_OF_ANY, space_to_depth),
    known("SPLIT", 5, [2, 2], ONE_OF_ANY, split).of_operand(1).with_results(),
    known("SPLIT_V", 3, [3, 3], ONE_OF_ANY, split_v).with_results(),
    known("STRIDED_SLICE", 8, [4, 4], ONE_OF_ANY, strided_slice),
    known("TILE", 3, [2, 2], ONE_OF_ANY, tile),
    known("TRANSPOSE", 8, [2, 2], ONE_OF_ANY, transpose),
    known("UNPACK", 6, [1, 1], ONE_OF_ANY, unpack).with_results(),
];

fn concatenation(node: &Node<'_>) -> Result<Op, OpError> {
    const AXIS: usize = 0;
    const ACTIVATION: usize = 1;
    let options = node.options(kind(10, "ConcatenationOptions", 2))?;
    let activation = options.activation(ACTIVATION)?;
    if activation != Activation::None {
        return Err(format!("fused activation{activation} is not supported, only NONE").into());
    }
    let rank = node.shape(0)?.len();
    Ok(Concatenation { axis: checked_axis(options.i32(AXIS)?.into(), rank)? }.into())
}

fn split(node: &Node<'_>) -> Result<Op, OpError> {
    const NUM_SPLITS: usize = 0;
    let options = node.options(kind(35, "SplitOptions", 1))?;
    let x = node.shape(0)?;
    let axis = checked_axis(one(node, 0, "axis")?, x.len())?;
    let (extent, pieces) = (x[axis], options.count(NUM_SPLITS, 0, "num_splits")?);
    if !extent.is_multiple_of(pieces) {
        return Err(format!("axis {axis} of {x} cannot be cut into {pieces} equal pieces").into());
    }
    check_count(pieces, "results")?;
    Ok(Split { axis, sizes: vec![extent / pieces; pieces] }.into())
}

fn split_v(node: &Node<'_>) -> Result<Op, OpError> {
    const NUM_SPLITS: usize = 0;
    let options = node.options(kind(79, "SplitVOptions", 1))?;
    let x = node.shape(0)?;
    let axis = checked_axis(one(node, 2, "axis")?, x.len())?;
    let sizes = required(node, 1, "the sizes")?.values;
    let pieces = options.count(NUM_SPLITS, 0, "num_splits")?;
    if sizes.len() != pieces {
        return Err(format!("{} sizes for {pieces} pieces", sizes.len()).into());
    }
    // One of them may be left to the others.
    let stated = sizes.iter().filter(|size| **size != -1);
    let sum = stated.clone().try_fold(0_i64, |sum, size| sum.checked_add(*size).filter(|_| *size >= 0));
    let rest = sum.and_then(|sum| (x[axis] as i64).checked_sub(sum));
    let open = sizes.len() - stated.count();
    let rest = rest.filter(|rest| open <= 1 && *rest >= 0);
    let rest = rest.ok_or_else(|| format!("sizes {sizes:?} do not fit axis {axis} of {x}"))?;
    let sizes = sizes.iter().map(|size| if *size == -1 { rest } else { *size } as usize);
    Ok(Split { axis, sizes: sizes.collect() }.into())
}

fn pack(node: &Node<'_>) -> Result<Op, OpError> {
    const VALUES_COUNT: usize = 0;
    const AXIS: usize = 1;
    let options = node.options(kind(59, "PackOptions", 2))?;
    let (count, operands) = (options.i32(VALUES_COUNT)?, node.operands.len());
    if usize::try_from(count) != Ok(operands) {
        return Err(format!("values_count is {count}, there are {operands} operands").into());
    }
    let rank = node.shape(0)?.len();
    Ok(Pack { axis: checked_axis(options.i32(AXIS)?.into(), rank + 1)? }.into())
}

fn unpack(node: &Node<'_>) -> Result<Op, OpError> {
    const NUM: usize = 0;
    const AXIS: usize = 1;
    let options = node.options(kind(64, "UnpackOptions", 2))?;
    let x = node.shape(0)?;
    let axis = checked_axis(options.i32(AXIS)?.into(), x.len())?;
    let num = options.i32(NUM)?;
    if usize::try_from(num) != Ok(x[axis]) {
        return Err(format!("num is {num}, axis {axis} of {x} has {}", x[axis]).into());
    }
    Ok(Unpack { axis }.into())
}

fn slice(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(48, "SliceOptions", 0))?;
    let x = node.shape(0)?;
    let begin = required(node, 1, "the first indices")?.values;
    let size = required(node, 2, "the sizes")?.values;
    if [begin.len(), size.len()] != [x.len(); 2] {
        let (begins, sizes) = (begin.len(), size.len());
        return Err(format!("{begins} first indices and {sizes} sizes for the axes of {x}").into());
    }
    let mut slice = Slice { begin: Vec::new(), size: Vec::new(), stride: Vec::new(), shape: None };
    for ((&extent, begin), size) in x.iter().zip(begin).zip(size) {
        let refuse = || format!("elements {begin} to {begin} + {size} are outside of {x}");
        let first = usize::try_from(begin).ok().filter(|begin| *begin <= extent).ok_or_else(refuse)?;
        // -1 takes what is left.
        let size = if size == -1 { Ok(extent - first) } else { usize::try_from(size) };
        slice.begin.push(first);
        slice.size.push(size.map_err(|_| refuse())?);
    }
    Ok(slice.into())
}

fn strided_slice(node: &Node<'_>) -> Result<Op, OpError> {
    const BEGIN_MASK: usize = 0;
    const END_MASK: usize = 1;
    const ELLIPSIS_MASK: usize = 2;
    const NEW_AXIS_MASK: usize = 3;
    const SHRINK_AXIS_MASK: usize = 4;
    const OFFSET: usize = 5;
    let options = node.options(kind(32, "StridedSliceOptions", 6))?;
    let mask = |slot| options.i32(slot);
    let (begin_mask, end_mask) = (mask(BEGIN_MASK)?, mask(END_MASK)?);
    let (ellipsis, new_axis, shrink) = (mask(ELLIPSIS_MASK)?, mask(NEW_AXIS_MASK)?, mask(SHRINK_AXIS_MASK)?);
    let is_offset = options.flag(OFFSET)?;
    let x = node.shape(0)?;
    let [begins, ends, strides] = [(1, "the first indices"), (2, "the ends"), (3, "the strides")]
        .map(|(i, what)| required(node, i, what));
    let (begins, ends, strides) = (begins?.values, ends?.values, strides?.values);
    let count = begins.len();
    // Every mask has 32 bits.
    if [ends.len(), strides.len()] != [count; 2] || count > 32 {
        let (ends, strides) = (ends.len(), strides.len());
        return Err(format!("{count} first indices, {ends} ends and {strides} strides").into());
    }
    let has = |mask: i32, i: usize| mask >> i & 1 == 1;
    let indices = (0..count).filter(|i| !has(new_axis, *i) && !has(ellipsis, *i)).count();
    let mut open = x.len().checked_sub(indices).ok_or_else(|| format!("{indices} indices for {x}"))?;
    let mut slice = Slice { begin: Vec::new(), size: Vec::new(), stride: Vec::new(), shape: None };
    let mut shape = Vec::new();
    let whole = |slice: &mut Slice, shape: &mut Vec<usize>, axes: usize| {
        for &extent in x.iter().skip(slice.begin.len()).take(axes) {
            slice.begin.push(0);
            slice.size.push(extent);
            slice.stride.push(1);
            shape.push(extent);
        }
    };
    for i in 0..count {
        if has(ellipsis, i) {
            whole(&mut slice, &mut shape, std::mem::take(&mut open));
            continue;
        }
        if has(new_axis, i) {
            shape.push(1);
            continue;
        }
        let axis = slice.begin.len();
        let extent = x[axis];
        let index = Index {
            begin: (!has(begin_mask, i)).then_some(begins[i]),
            end: (!has(end_mask, i))
                .then(|| if is_offset { ends[i].saturating_add(begins[i]) } else { ends[i] }),
            stride: strides[i],
        };
        let (begin, size) = if has(shrink, i) { index.one(extent) } else { index.range(extent) }
            .ok_or_else(|| format!("{index:?} selects nothing of axis {axis} of {x}"))?;
        slice.begin.push(begin);
        slice.size.push(size);
        slice.stride.push(if has(shrink, i) { 1 } else { strides[i] });
        if !has(shrink, i) {
            shape.push(size);
        }
    }
    whole(&mut slice, &mut shape, open);
    if slice.stride.iter().all(|stride| *stride == 1) {
        slice.stride.clear();
    }
    slice.shape = (shape != slice.size).then(|| Shape::new(shape)).transpose()?;
    Ok(slice.into())
}

/// Which indices of an axis STRIDED_SLICE selects.
#[derive(Debug)]
struct Index {
    /// The first one; that at the end where the walk starts by default.
    begin: Option<i64>,
    /// The one behind the last; beyond the end of the axis by default.
    end: Option<i64>,
    stride: i64,
}

impl Index {
    /// One index: the first, however far it is to the end.
    fn one(&self, extent: usize) -> Option<(usize, usize)> {
        let begin = self.begin.unwrap_or(0);
        let begin = if begin < 0 { begin.saturating_add(extent as i64) } else { begin };
        let begin = usize::try_from(begin).ok().filter(|begin| *begin < extent)?;
        Some((begin, 1))
    }

    /// The first index, and how many there are.
    fn range(&self, extent: usize) -> Option<(usize, usize)> {
        let extent = extent as i64;
        let forwards = self.stride > 0;
        // Both may lie beyond the ends of the axis, by any number.
        let (least, most) = if forwards { (0, extent) } else { (-1, extent - 1) };
        let place = |index: i64| {
            let index = if index < 0 { index.saturating_add(extent) } else { index };
            index.clamp(least, most)
        };
        let (from, to) = if forwards { (least, most) } else { (most, least) };
        let (begin, end) = (self.begin.map_or(from, place), self.end.map_or(to, place));
        let distance = if forwards { end - begin } else { begin - end };
        let count = (distance as u64).div_ceil(self.stride.unsigned_abs().max(1));
        let count = usize::try_from(count).ok().filter(|_| distance > 0 && self.stride != 0)?;
        Some((usize::try_from(begin).ok()?, count))
    }
}

fn transpose(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(26, "TransposeOptions", 0))?;
    let rank = node.shape(0)?.len();
    let permutation = required(node, 1, "the permutation")?.values;
    if permutation.len() != rank {
        return Err(format!("a permutation of {} axes, expected {rank}", permutation.len()).into());
    }
    let permutation = permutation.iter().map(|axis| checked_axis(*axis, rank)).collect::<Result<_, _>>()?;
    Ok(Transpose { permutation }.into())
}

fn pad(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(22, "PadOptions", 0))?;
    Ok(Pad { padding: paddings(node)?, value: None }.into())
}

fn pad_v2(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(43, "PadV2Options", 0))?;
    let value = node.number(2)?.ok_or("the value is left out")?;
    Ok(Pad { padding: paddings(node)?, value: Some(value) }.into())
}

fn mirror_pad(node: &Node<'_>) -> Result<Op, OpError> {
    const MODE: usize = 0;
    let options = node.options(kind(77, "MirrorPadOptions", 1))?;
    options.only(MODE, &[0, 1], "mode")?;
    let mode = if options.flag(MODE)? { Mirror::Symmetric } else { Mirror::Reflect };
    Ok(MirrorPad { padding: paddings(node)?, mode }.into())
}

/// For each axis, elements before and after.
fn paddings(node: &Node<'_>) -> Result<Vec<[usize; 2]>, OpError> {
    let padding = required(node, 1, "the paddings")?;
    let rank = node.shape(0)?.len();
    if padding.rank != 2 || padding.values.len() != 2 * rank {
        let (found, shape) = (padding.values.len(), node.shape(0)?);
        return Err(format!("{found} paddings, expected [{rank}, 2] for shape {shape}").into());
    }
    pairs(&padding.values, "padding")
}

/// Numbers of elements before and after.
fn pairs(values: &[i64], what: &str) -> Result<Vec<[usize; 2]>, OpError> {
    let pair = |[before, after]: &[i64; 2]| Ok([count(*before, what)?, count(*after, what)?]);
    values.as_chunks().0.iter().map(pair).collect()
}

/// A number of elements that an `i32` can hold.
fn count(value: i64, what: &str) -> Result<usize, OpError> {
    let count = i32::try_from(value).ok().and_then(|value| usize::try_from(value).ok());
    count.ok_or_else(|| format!("{what} is {value}, expected 0 to {}", i32::MAX).into())
}

fn tile(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(51, "TileOptions", 0))?;
    let multiples = required(node, 1, "the multiples")?.values;
    let multiples =
        multiples.into_iter().map(|value| count(value, "a multiple")).collect::<Result<_, _>>()?;
    Ok(Tile { multiples }.into())
}

fn broadcast_to(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(104, "BroadcastToOptions", 0))?;
    Ok(BroadcastTo { shape: extents(node, 1)? }.into())
}

fn fill(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(68, "FillOptions", 0))?;
    let value = node.shape(0)?;
    if !value.is_empty() {
        return Err(format!("the value has shape {value}, expected a scalar").into());
    }
    Ok(BroadcastTo { shape: extents(node, 0)? }.into())
}

/// A shape that is a constant operand.
fn extents(node: &Node<'_>, operand: usize) -> Result<Shape, OpError> {
    let values = required(node, operand, "the shape")?.values;
    let extents = values.into_iter().map(|value| count(value, "an extent")).collect::<Result<Vec<_>, _>>();
    Ok(Shape::new(extents?)?)
}

fn reverse(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(81, "ReverseV2Options", 0))?;
    let rank = node.shape(0)?.len();
    let axes = required(node, 1, "the axes")?.values;
    let mut axes = axes.iter().map(|axis| checked_axis(*axis, rank)).collect::<Result<Vec<_>, _>>()?;
    axes.sort_unstable();
    Ok(Reverse { axes }.into())
}

fn gather(node: &Node<'_>) -> Result<Op, OpError> {
    const AXIS: usize = 0;
    const BATCH_DIMS: usize = 1;
    let options = node.optional_options(kind(23, "GatherOptions", 2))?;
    let batch = options.i32(BATCH_DIMS)?;
    if batch != 0 {
        return Err(format!("batch_dims {batch} is not supported, only 0").into());
    }
    Ok(Gather { axis: checked_axis(options.i32(AXIS)?.into(), node.shape(0)?.len())? }.into())
}

fn space_to_depth(node: &Node<'_>) -> Result<Op, OpError> {
    const BLOCK_SIZE: usize = 0;
    let options = node.options(kind(19, "SpaceToDepthOptions", 1))?;
    Ok(SpaceToDepth { block: options.count(BLOCK_SIZE, 0, "block_size")? }.into())
}

fn depth_to_space(node: &Node<'_>) -> Result<Op, OpError> {
    const BLOCK_SIZE: usize = 0;
    let options = node.options(kind(94, "DepthToSpaceOptions", 1))?;
    Ok(DepthToSpace { block: options.count(BLOCK_SIZE, 0, "block_size")? }.into())
}

fn space_to_batch(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(25, "SpaceToBatchNDOptions", 0))?;
    let (block, padding) = blocks(node, "padding")?;
    Ok(SpaceToBatch { block, padding }.into())
}

fn batch_to_space(node: &Node<'_>) -> Result<Op, OpError> {
    node.optional_options(kind(24, "BatchToSpaceNDOptions", 0))?;
    let (block, crop) = blocks(node, "crop")?;
    Ok(BatchToSpace { block, crop }.into())
}

/// The extents of a block, and elements before and after.
fn blocks(node: &Node<'_>, what: &str) -> Result<(Vec<usize>, Vec<[usize; 2]>), OpError> {
    let block = required(node, 1, "the block")?.values;
    let margins = required(node, 2, &format!("the {what}"))?.values;
    if margins.len() != 2 * block.len() {
        return Err(format!("{} numbers of {what} for a block of {block:?}", margins.len()).into());
    }
    let block = block.into_iter().map(|value| count(value, "an extent of the block"));
    Ok((block.collect::<Result<_, _>>()?, pairs(&margins, what)?))
}

/// A constant operand that must be there.
fn required(node: &Node<'_>, operand: usize, what: &str) -> Result<Integers, OpError> {
    node.integers(operand)?.ok_or_else(|| {
        let verb = if what.ends_with('s') { "are" } else { "is" };
        format!("{what} {verb} left out").into()
    })
}

/// The only element of a constant operand.
pub(super) fn one(node: &Node<'_>, operand: usize, what: &str) -> Result<i64, OpError> {
    let values = required(node, operand, &format!("the {what}"))?.values;
    let &[value] = values.as_slice() else {
        return Err(format!("{} elements for the {what}, expected 1", values.len()).into());
    };
    Ok(value)
}
