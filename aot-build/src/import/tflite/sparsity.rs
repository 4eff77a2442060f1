//! Constants of which the file holds only some elements; the others are 0.
//!
//! The elements are the leaves of a tree. Its levels are the axes in the order in which they
//! are traversed, and behind them the axes of blocks, into which some axes are parted. On a
//! dense level, each node has a child for every index; on a compressed one, `segments` say
//! for each node which of the `indices` are those of its children.

use super::flatbuffer::{Fault, File, Scalar, Table};
use super::operators::{Known, Meaning, new};
use super::types::{F, F16, I};
use crate::error::OpError;

pub(super) const OPERATORS: &[Known] =
    &[new("DENSIFY", 1, [1, 1], &[&[F, F], &[I, I], &[F16, F16]], Meaning::Dense)];

mod parameters {
    pub(super) const TRAVERSAL_ORDER: usize = 0;
    pub(super) const BLOCK_MAP: usize = 1;
    pub(super) const DIM_METADATA: usize = 2;
}

mod dimension {
    pub(super) const FORMAT: usize = 0;
    pub(super) const DENSE_SIZE: usize = 1;
    pub(super) const SEGMENTS_TYPE: usize = 2;
    pub(super) const SEGMENTS: usize = 3;
    pub(super) const INDICES_TYPE: usize = 4;
    pub(super) const INDICES: usize = 5;
}

/// Most levels: an axis each, and one for the blocks of each.
const MAX_LEVELS: usize = 16;
/// Dense bytes for each byte that may be read, see [`File::charge`]: more than sparse models
/// have, few enough that a small file cannot ask for all memory.
const EXPANSION: usize = 4;

/// The elements of a tensor of extents `shape`, of which `bytes` holds those that `table`
/// lists, each of `size` bytes.
///
/// # Errors
///
/// When the parameters do not fit the shape or the bytes, or the tensor is too large for the
/// file.
pub(super) fn dense(
    file: &File<'_>,
    table: &Table<'_>,
    shape: &[usize],
    size: usize,
    bytes: &[u8],
) -> Result<Vec<u8>, OpError> {
    let levels = levels(table, shape)?;
    let leaves = count(&levels)?;
    if leaves.checked_mul(size) != Some(bytes.len()) {
        return Err(format!("has {leaves} elements of {size} bytes, its data {} bytes", bytes.len()).into());
    }
    let elements = shape.iter().try_fold(size, |product, extent| product.checked_mul(*extent));
    let elements = elements.ok_or_else(|| format!("shape {shape:?} is too large"))?;
    let too_large = |_| format!("is sparse and of {elements} bytes, too many for a file of {}", file.len());
    file.charge(table.position(), elements / EXPANSION).map_err(too_large)?;
    let mut dense = vec![0; elements];
    let mut set = |leaf: usize, element: usize| {
        let from = bytes.get(leaf * size..).and_then(|bytes| bytes.get(..size));
        let to = dense.get_mut(element * size..).and_then(|dense| dense.get_mut(..size));
        if let (Some(from), Some(to)) = (from, to) {
            to.copy_from_slice(from);
        }
    };
    visit(&levels, 0, 0, &mut set);
    Ok(dense)
}

/// A level of the tree.
#[derive(Debug)]
struct Level {
    /// Indices that there are.
    extent: usize,
    /// Elements from one index to the next.
    stride: usize,
    /// Which indices the nodes have; all, where the level is dense.
    compressed: Option<Compressed>,
}

#[derive(Debug)]
struct Compressed {
    segments: Vec<usize>,
    indices: Vec<usize>,
}

/// Calls `set` with the leaves under node `node` of the first of `levels`, and the elements
/// that they are.
fn visit(levels: &[Level], node: usize, element: usize, set: &mut impl FnMut(usize, usize)) {
    let Some((level, below)) = levels.split_first() else { return set(node, element) };
    let mut child = |node, index| visit(below, node, element + index * level.stride, set);
    match &level.compressed {
        None => (0..level.extent).for_each(|index| child(node * level.extent + index, index)),
        Some(Compressed { segments, indices }) => {
            let range = segments.get(node).zip(segments.get(node + 1));
            let (first, end) = range.map_or((0, 0), |(first, end)| (*first, *end));
            let children = indices.get(first..end).unwrap_or_default();
            children.iter().enumerate().for_each(|(i, index)| child(first + i, *index));
        }
    }
}

/// Checks that each level has what the nodes of the one above need; gives the leaves.
fn count(levels: &[Level]) -> Result<usize, OpError> {
    let mut nodes = 1_usize;
    for (i, level) in levels.iter().enumerate() {
        let Some(Compressed { segments, indices }) = &level.compressed else {
            nodes = nodes.checked_mul(level.extent).ok_or("there are too many elements")?;
            continue;
        };
        let refuse = |what: &str| Err(OpError::from(format!("level {i} of its sparse elements {what}")));
        if segments.len() != nodes.saturating_add(1) {
            let found = segments.len();
            return refuse(&format!("has {found} bounds of segments, {nodes} nodes above need one more"));
        }
        if segments.first() != Some(&0) || segments.last() != Some(&indices.len()) || !segments.is_sorted() {
            return refuse("has segments that do not follow each other");
        }
        for bounds in segments.windows(2) {
            let children = bounds.first().zip(bounds.last());
            let children = children.and_then(|(first, end)| indices.get(*first..*end)).unwrap_or_default();
            let increasing = children.windows(2).all(|pair| pair.first() < pair.last());
            if !increasing || children.last().is_some_and(|index| *index >= level.extent) {
                return refuse(&format!(
                    "has indices that do not increase, or one that is not below {}",
                    level.extent
                ));
            }
        }
        nodes = indices.len();
    }
    Ok(nodes)
}

/// The levels that the file states for a tensor of extents `shape`.
fn levels(table: &Table<'_>, shape: &[usize]) -> Result<Vec<Level>, OpError> {
    let order = positions(&table.scalars::<i32>(parameters::TRAVERSAL_ORDER)?)?;
    let blocks = positions(&table.scalars::<i32>(parameters::BLOCK_MAP)?)?;
    let tables = table.tables(parameters::DIM_METADATA, MAX_LEVELS)?;
    let rank = shape.len();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank + blocks.len()) || tables.len() != order.len() {
        let (axes, count) = (blocks.len(), tables.len());
        return Err(format!(
            "the traversal of rank {rank} and {axes} blocks is {order:?}, of {count} levels"
        )
        .into());
    }
    // Extents of the blocks, by the axis that is parted into them.
    let mut block_extents = vec![None; rank];
    for (axis, table) in order.iter().zip(&tables) {
        let Some(block) = axis.checked_sub(rank) else { continue };
        let extent = block_extent(table)?;
        let slot = blocks.get(block).and_then(|axis| block_extents.get_mut(*axis));
        match slot {
            Some(slot @ None) => *slot = Some(extent),
            Some(Some(_)) => return Err("an axis is parted into blocks twice".into()),
            None => return Err(format!("blocks {blocks:?} are of axes that are not there").into()),
        }
    }
    let mut levels = Vec::new();
    for (axis, table) in order.iter().zip(&tables) {
        let (of, is_block) = match axis.checked_sub(rank) {
            None => (*axis, false),
            Some(block) => (blocks.get(block).copied().unwrap_or_default(), true),
        };
        let whole = shape.get(of).copied().unwrap_or_default();
        let block = block_extents.get(of).copied().flatten().unwrap_or(1);
        if block == 0 || !whole.is_multiple_of(block) {
            return Err(format!("axis {of} of {whole} is no multiple of blocks of {block}").into());
        }
        let inner = shape.get(of + 1..).unwrap_or_default().iter().product::<usize>();
        let (extent, stride) = if is_block { (block, inner) } else { (whole / block, inner * block) };
        levels.push(level(table, extent, stride)?);
    }
    Ok(levels)
}

fn positions(values: &[i32]) -> Result<Vec<usize>, OpError> {
    let values: Result<Vec<_>, _> = values.iter().map(|value| usize::try_from(*value)).collect();
    values.map_err(|_| "the traversal of its sparse elements has a negative axis".into())
}

const DENSE: i8 = 0;
const COMPRESSED: i8 = 1;

/// The extent of the blocks along an axis, which are dense.
fn block_extent(table: &Table<'_>) -> Result<usize, OpError> {
    let format = table.scalar(dimension::FORMAT, DENSE)?;
    let extent = table.scalar(dimension::DENSE_SIZE, 0_i32)?;
    match usize::try_from(extent) {
        Ok(extent) if format == DENSE => Ok(extent),
        _ => Err(format!("blocks have format {format} and extent {extent}, expected dense ones").into()),
    }
}

fn level(table: &Table<'_>, extent: usize, stride: usize) -> Result<Level, OpError> {
    let compressed = match table.scalar(dimension::FORMAT, DENSE)? {
        DENSE => {
            let found = table.scalar(dimension::DENSE_SIZE, 0_i32)?;
            if usize::try_from(found) != Ok(extent) {
                return Err(format!("a dense level has {found} indices, the axis {extent}").into());
            }
            None
        }
        COMPRESSED => Some(Compressed {
            segments: vector(table, dimension::SEGMENTS_TYPE, dimension::SEGMENTS)?,
            indices: vector(table, dimension::INDICES_TYPE, dimension::INDICES)?,
        }),
        format => return Err(format!("its sparse elements have format {format}, which is not known").into()),
    };
    Ok(Level { extent, stride, compressed })
}

/// A vector of indices, of 32, 16 or 8 bits.
fn vector(table: &Table<'_>, kind: usize, slot: usize) -> Result<Vec<usize>, OpError> {
    const VALUES: usize = 0;
    fn values<T: Scalar + TryInto<usize>>(table: &Table<'_>) -> Result<Vec<usize>, OpError> {
        let values: Vec<T> = table.scalars(VALUES)?;
        let values: Result<Vec<_>, _> = values.into_iter().map(TryInto::try_into).collect();
        values.map_err(|_| "an index of its sparse elements is negative".into())
    }
    let missing = || Fault::new(table.position(), "indices of sparse elements are missing");
    let kind = table.scalar(kind, 0_u8)?;
    let table = table.table(slot)?.ok_or_else(missing)?;
    match kind {
        1 => values::<i32>(&table),
        2 => values::<u16>(&table),
        3 => values::<u8>(&table),
        _ => Err(format!("indices of sparse elements are of type {kind}, which is not known").into()),
    }
}
