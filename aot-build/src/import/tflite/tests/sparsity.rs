//! Sparse constants: what they stand for, and what is refused.

use super::files::*;
use super::writer::Table;

const DENSIFY: i32 = 124;
const FULLY_CONNECTED: i32 = 9;
/// Fields of `Tensor` and of what its sparsity consists of.
const SPARSITY: usize = 6;
const ORDER: usize = 0;
const BLOCK_MAP: usize = 1;
const LEVELS: usize = 2;
const FORMAT: usize = 0;
const DENSE_SIZE: usize = 1;
const SEGMENTS: usize = 3;
const INDICES_TYPE: usize = 4;
const INDICES: usize = 5;

fn dense(extent: i32) -> Table {
    Table::default().with(FORMAT, 0_i8).with(DENSE_SIZE, extent)
}

fn compressed(segments: Vec<i32>, indices: Vec<i32>) -> Table {
    let vector = |values: Vec<i32>| Table::default().with(0, values);
    let table = Table::default().with(FORMAT, 1_i8).with(2, 1_u8).with(SEGMENTS, vector(segments));
    table.with(INDICES_TYPE, 1_u8).with(INDICES, vector(indices))
}

fn sparsity(order: Vec<i32>, blocks: Vec<i32>, levels: Vec<Table>) -> Table {
    Table::default().with(ORDER, order).with(BLOCK_MAP, blocks).with(LEVELS, levels)
}

/// `[[0, 1, 0, 2], [0, 0, 3, 0]]` as the weights of a layer.
fn sparse() -> File {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[1, 4]);
    let values = [1.0_f32, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let stored = file.constant("stored", F32, &[2, 4], values);
    let weights = file.tensor("weights", F32, &[2, 4]);
    let y = file.tensor("y", F32, &[1, 2]);
    let levels = vec![dense(2), compressed(vec![0, 2, 3], vec![1, 3, 2])];
    file.tensors[1].set(SPARSITY, sparsity(vec![0, 1], vec![], levels));
    file.operator(DENSIFY, &[stored], weights, None);
    file.operator(FULLY_CONNECTED, &[x, weights, -1], y, Some((8, Table::default())));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

fn weights(file: &File) -> Vec<f32> {
    let graph = file.read().unwrap();
    let stored = graph.tensors.iter().find(|tensor| tensor.name == "stored").unwrap();
    assert_eq!(graph.nodes.len(), 1, "only the layer is left");
    let bytes = stored.data.as_ref().unwrap().bytes();
    bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

#[test]
fn elements_that_are_not_stored_are_0() {
    assert_eq!(weights(&sparse()), [0.0, 1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0]);
    // Columns first.
    let mut columns = sparse();
    let levels = vec![compressed(vec![0, 2], vec![0, 3]), compressed(vec![0, 2, 3], vec![0, 1, 1])];
    columns.tensors[1].set(SPARSITY, sparsity(vec![1, 0], vec![], levels));
    assert_eq!(weights(&columns), [1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
    // A block of one row and three columns, of three in a row.
    let mut blocks = sparse();
    for tensor in [1, 2] {
        blocks.tensors[tensor].set(SHAPE, vec![2, 9]);
    }
    blocks.tensors[0].set(SHAPE, vec![1, 9]);
    let levels = vec![dense(2), compressed(vec![0, 0, 1], vec![1]), dense(3)];
    blocks.tensors[1].set(SPARSITY, sparsity(vec![0, 1, 2], vec![1], levels));
    let mut expect = [0.0; 18];
    expect[12..15].copy_from_slice(&[1.0, 2.0, 3.0]);
    assert_eq!(weights(&blocks), expect);
}

#[test]
fn sparse_elements_are_refused() {
    let levels = |levels: Vec<Table>| sparsity(vec![0, 1], vec![], levels);
    let of_columns = |segments, indices| levels(vec![dense(2), compressed(segments, indices)]);
    let mut no_vector = compressed(vec![0, 2, 3], vec![1, 3, 2]);
    no_vector.remove(INDICES);
    let of_type = |ty: u8| compressed(vec![0, 2, 3], vec![1, 3, 2]).with(INDICES_TYPE, ty);
    for (table, expect) in [
        (of_columns(vec![0, 3], vec![1, 3, 2]), "has 2 bounds of segments, 2 nodes above need one more"),
        (of_columns(vec![0, 2, 2], vec![1, 3, 2]), "has segments that do not follow each other"),
        (of_columns(vec![1, 2, 3], vec![1, 3, 2]), "has segments that do not follow each other"),
        (of_columns(vec![0, 4, 3], vec![1, 3, 2]), "has segments that do not follow each other"),
        (of_columns(vec![0, -2, 3], vec![1, 3, 2]), "is negative"),
        (of_columns(vec![0, 2, 3], vec![3, 1, 2]), "has indices that do not increase"),
        (of_columns(vec![0, 2, 3], vec![1, 1, 2]), "has indices that do not increase"),
        (of_columns(vec![0, 2, 3], vec![1, 4, 2]), "or one that is not below 4"),
        (of_columns(vec![0, 1, 2], vec![1, 2]), "has 2 elements of 4 bytes, its data 12 bytes"),
        (levels(vec![dense(2)]), "the traversal of rank 2 and 0 blocks is [0, 1], of 1 levels"),
        (levels(vec![dense(3), dense(4)]), "a dense level has 3 indices, the axis 2"),
        (levels(vec![dense(2), Table::default().with(FORMAT, 2_i8)]), "have format 2, which is not known"),
        (levels(vec![dense(2), no_vector]), "indices of sparse elements are missing"),
        (levels(vec![dense(2), of_type(4)]), "are of type 4, which is not known"),
        (levels(vec![dense(2); 17]), "17"),
        (sparsity(vec![0, 0], vec![], vec![dense(2); 2]), "is [0, 0]"),
        (sparsity(vec![0, -1], vec![], vec![dense(2); 2]), "has a negative axis"),
        (sparsity(vec![0, 1, 2], vec![2], vec![dense(2); 3]), "blocks [2] are of axes that are not there"),
        (sparsity(vec![0, 1, 2], vec![1], vec![dense(2), dense(1), dense(3)]), "no multiple of blocks of 3"),
        (sparsity(vec![0, 1, 2], vec![1], vec![dense(2), dense(1), dense(0)]), "no multiple of blocks of 0"),
        (
            sparsity(vec![0, 1, 2], vec![1], vec![dense(2), dense(1), dense(-1)]),
            "extent -1, expected dense ones",
        ),
        (
            sparsity(vec![0, 1, 2, 3], vec![1, 1], vec![dense(2), dense(1), dense(2), dense(2)]),
            "an axis is parted into blocks twice",
        ),
    ] {
        let mut file = sparse();
        file.tensors[1].set(SPARSITY, table);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn sparse_tensors_are_refused() {
    type Spoil = fn(&mut File);
    let cases: [(Spoil, &str); 6] = [
        (
            |f| {
                // A few bytes that ask for gigabytes.
                let levels = vec![compressed(vec![0, 1], vec![0]), compressed(vec![0, 3], vec![0, 1, 2])];
                f.tensors[1].set(SPARSITY, sparsity(vec![0, 1], vec![], levels));
                f.tensors[1].set(SHAPE, vec![1 << 15; 2]);
            },
            "is sparse and of 4294967296 bytes, too many for a file of",
        ),
        (|f| f.tensors[0].set(SPARSITY, Table::default()), "tensor `x`: is sparse and not constant"),
        (|f| f.tensors[1].set(TYPE, 17_i8), "is sparse and int4, which is not supported"),
        (|f| f.tensors[2].set(SHAPE, vec![4, 2]), "makes f32 [4, 2] of f32 [2, 4]"),
        (|f| f.tensors[2].set(TYPE, I8), "types are f32 → i8"),
        (|f| f.operators[0].set(INPUTS, vec![0]), "`x` is not constant"),
    ];
    for (spoil, expect) in cases {
        let mut file = sparse();
        spoil(&mut file);
        let found = file.problems();
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// The importer reads some constants as they are stored.
#[test]
fn what_an_operator_is_told_is_not_sparse() {
    let mut file = pad();
    file.tensors[1].set(SPARSITY, sparsity(vec![1, 0], vec![], vec![dense(2); 2]));
    assert!(file.problems().contains("operand 1, `operand` (tensor #1), is sparse"));
}

/// Levels that share everything: the file is small, what it stands for is not.
#[test]
fn many_tensors_of_one_buffer() {
    let mut file = sparse();
    let levels = vec![dense(1), compressed(vec![0, 3], vec![0, 1, 2])];
    file.tensors[1].set(SPARSITY, sparsity(vec![0, 1], vec![], levels));
    file.tensors[1].set(SHAPE, vec![1, 50_000]);
    let tensor = file.tensors[1].clone();
    for _ in 0..100 {
        file.tensors.push(tensor.clone());
        let stored = i32::try_from(file.tensors.len() - 1).unwrap();
        let weights = file.tensor("weights", F32, &[1, 50_000]);
        file.operator(DENSIFY, &[stored], weights, None);
    }
    assert!(file.problems().contains("too many for a file of"));
}
