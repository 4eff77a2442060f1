//! Parts of fully connected layers and of products of matrices: some rows of the result, or some
//! columns of one.

use aot_rt::kernels::{BatchMatmul, Broadcast, Kernel, filter_blocks};

use super::{Block, Part, Piece, Whole, cut};

/// The parts of a product.
pub(super) fn parts(whole: Whole<'_>) -> Option<Vec<Part>> {
    match whole.kernel {
        Kernel::FullyConnectedF32(p) | Kernel::FullyConnectedF16(p) => {
            let block = |len: usize| Block { len, macs: (len * p.inputs) as u64 };
            let blocks = filter_blocks(p.outputs).map(|outputs| block(outputs.len())).collect();
            let layer = Dense { blocks, ..Dense::new([p.batch, p.inputs, p.outputs]) };
            Some(layer.parts(whole))
        }
        Kernel::FullyConnectedDynamicI8(p) => Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(whole)),
        Kernel::FullyConnectedI16(p) => Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(whole)),
        Kernel::FullyConnectedI8(p) => Some(Dense::new([p.batch, p.inputs, p.outputs]).parts(whole)),
        Kernel::FullyConnectedI4(p) => {
            let layer = Dense { filter: p.inputs.div_ceil(2), ..Dense::new([p.batch, p.inputs, p.outputs]) };
            Some(layer.parts(whole))
        }
        Kernel::BatchMatmulF32(p) => Some(matrices(p, whole)),
        Kernel::BatchMatmulI8(p) => Some(matrices(&p.matrices, whole)),
        Kernel::BatchMatmulI16(p) => Some(matrices(&p.matrices, whole)),
        _ => None,
    }
}

/// A fully connected layer.
struct Dense {
    batch: usize,
    inputs: usize,
    outputs: usize,
    /// Outputs whose weights stand together.
    blocks: Vec<Block>,
    /// Elements of the weights for an output.
    filter: usize,
}

impl Dense {
    fn new([batch, inputs, outputs]: [usize; 3]) -> Self {
        Self { batch, inputs, outputs, blocks: Block::singles(outputs, inputs as u64), filter: inputs }
    }

    fn parts(&self, whole: Whole<'_>) -> Vec<Part> {
        let cut = cut(self.batch, &self.blocks, whole.limit);
        cut.into_iter().map(|piece| self.part(whole, piece)).collect()
    }

    fn part(&self, whole: Whole<'_>, Piece { rows, within: columns, macs }: Piece) -> Part {
        let (batch, outputs) = (rows.len(), columns.len());
        let mut kernel = *whole.kernel;
        match &mut kernel {
            Kernel::FullyConnectedF32(p)
            | Kernel::FullyConnectedF16(p)
            | Kernel::FullyConnectedDynamicI8(p) => (p.batch, p.outputs) = (batch, outputs),
            Kernel::FullyConnectedI16(p) => (p.batch, p.outputs) = (batch, outputs),
            Kernel::FullyConnectedI8(p) | Kernel::FullyConnectedI4(p) => {
                (p.batch, p.outputs) = (batch, outputs);
            }
            _ => unreachable!("`{}` is no fully connected layer", kernel.name()),
        }
        let operands = whole.operands(|name, operand| match name {
            "x" => operand.part(rows.start * self.inputs, batch * self.inputs),
            "y" => operand.part(rows.start * self.outputs + columns.start, batch * outputs),
            "weights" => operand.part(columns.start * self.filter, outputs * self.filter),
            "quantization" => operand.part(rows.start * 3, batch * 3),
            // One for each output; or one for all, or none.
            _ if operand.len() == self.outputs => operand.part(columns.start, outputs),
            _ => operand,
        });
        Part { kernel, operands, macs }
    }
}

/// The parts of products of matrices: a part belongs to one of them.
fn matrices(p: &BatchMatmul, whole: Whole<'_>) -> Vec<Part> {
    let [[a_row, a_column], [b_row, b_column]] = [p.a_strides, p.b_strides];
    // From the first element of a matrix to the one behind its last.
    let span = |extents: [usize; 2], strides: [usize; 2]| {
        (extents[0] - 1) * strides[0] + (extents[1] - 1) * strides[1] + 1
    };
    let mut parts = Vec::new();
    for (i, [a, b]) in offsets(&p.batch).into_iter().enumerate() {
        let columns = Block::singles(p.columns, p.depth as u64);
        for Piece { rows, within: columns, macs } in cut(p.rows, &columns, whole.limit) {
            let one = Broadcast { extents: [1; 6], a_strides: [0; 6], b_strides: [0; 6] };
            let matrices = BatchMatmul { batch: one, rows: rows.len(), columns: columns.len(), ..*p };
            let mut kernel = *whole.kernel;
            match &mut kernel {
                Kernel::BatchMatmulF32(p) => *p = matrices,
                Kernel::BatchMatmulI8(p) => p.matrices = matrices,
                Kernel::BatchMatmulI16(p) => p.matrices = matrices,
                _ => unreachable!("`{}` multiplies no matrices", kernel.name()),
            }
            let operands = whole.operands(|name, operand| match name {
                "x" => operand.part(a + rows.start * a_row, span([rows.len(), p.depth], [a_row, a_column])),
                "y" => operand
                    .part((i * p.rows + rows.start) * p.columns + columns.start, rows.len() * columns.len()),
                _ => operand
                    .part(b + columns.start * b_column, span([p.depth, columns.len()], [b_row, b_column])),
            });
            parts.push(Part { kernel, operands, macs });
        }
    }
    parts
}

/// Where the matrices of a batch start, in order.
fn offsets(batch: &Broadcast) -> Vec<[usize; 2]> {
    let mut offsets = vec![[0, 0]];
    for ((extent, a), b) in batch.extents.iter().zip(batch.a_strides).zip(batch.b_strides) {
        let within = |[at_a, at_b]: [usize; 2]| (0..*extent).map(move |i| [at_a + i * a, at_b + i * b]);
        offsets = offsets.into_iter().flat_map(within).collect();
    }
    offsets
}
