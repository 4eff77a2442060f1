//! `embedding_lookup`: rows of a table, by their indices.
//!
//! Operands: int32 indices, the table. Result: a row for each index, in the table's type;
//! or in f32 of an int8 table, whose rows have one scale, or one each.
//! Sources: TFLite EMBEDDING_LOOKUP; ONNX Gather along the first axis.
//! Indices that the table does not have are refused where they are constant, and give
//! zeros where they are read when the model runs.

use aot_rt::DType;
use aot_rt::kernels::{BinaryF32, Broadcast, DequantizeI8F32, GatherI8, Kernel};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `embedding_lookup`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EmbeddingLookup {
    /// Type of the result: that of the table, or `f32`.
    #[serde(with = "super::dtype_name")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    pub dtype: DType,
}

/// Appends the steps that look int8 rows up and give them their real values.
fn dequantized(node: &mut NodeLowering<'_, '_>, rows: GatherI8) -> Result<(), OpError> {
    let table = node.input(1)?;
    let scales = quantized::weight_scales(table, 0)?;
    let (indices, rows_of_bytes, len) = (node.read(0)?, node.read(1)?, rows.indices * rows.block);
    let description = format!("{} of {} rows", rows.indices, rows.extent);
    let bytes = node.scratch("rows", DType::I8, len);
    node.step(Kernel::GatherI8(rows), vec![rows_of_bytes, bytes, indices], 0, description.clone());
    let scale = if let &[scale] = scales { scale } else { 1.0 };
    let dequantize = Kernel::DequantizeI8F32(DequantizeI8F32 { len, scale, zero_point: 0 });
    let y = node.write(0);
    if scales.len() == 1 {
        node.step(dequantize, vec![bytes, y], 0, format!("{len} elements"));
        return Ok(());
    }
    let all: Vec<u8> = scales.iter().flat_map(|scale| scale.to_le_bytes()).collect();
    let all = node.constant(DType::F32, &all);
    let looked_up = node.scratch("scales", DType::F32, rows.indices);
    let gather = Kernel::GatherI8(GatherI8 { block: DType::F32.size(), ..rows });
    node.step(gather, vec![all.as_bytes(), looked_up.as_bytes(), indices], 0, description);
    let reals = node.scratch("integers", DType::F32, len);
    node.step(dequantize, vec![bytes, reals], 0, format!("{len} elements"));
    let broadcast = Broadcast {
        extents: [1, 1, 1, 1, rows.indices, rows.block],
        a_strides: [0, 0, 0, 0, rows.block, 1],
        b_strides: [0, 0, 0, 0, 1, 0],
    };
    let scale = Kernel::MulF32(BinaryF32 { broadcast, range: Activation::None.range_f32() });
    node.step(scale, vec![reals, y, looked_up], 0, format!("{len} elements"));
    Ok(())
}

impl Operator for EmbeddingLookup {
    const NAME: &'static str = "embedding_lookup";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (indices, table) = (operands.get(0)?, &operands.get(1)?.ty);
        if indices.ty.dtype != DType::I32 || indices.ty.shape.len() != 1 {
            return Err(format!("indices are {}, expected a vector of i32", indices.ty).into());
        }
        let Some((rows, row)) = table.shape.split_first() else {
            return Err("the table is a scalar, which has no rows".into());
        };
        if let Some(data) = &indices.data {
            let outside = |index: &i64| usize::try_from(*index).ok().is_none_or(|index| index >= *rows);
            if let Some(index) = data.integers(DType::I32)?.into_iter().find(outside) {
                return Err(format!("index {index} is outside of the {rows} rows of the table").into());
            }
        }
        one(self.dtype, [&indices.ty.shape[..], row].concat())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (indices, table, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let extent = table.ty.shape.first().copied().unwrap_or(1);
        let kernel = GatherI8 {
            batch: 1,
            outer: 1,
            extent,
            indices: indices.ty.shape.elements(),
            block: table.ty.bytes() / extent,
        };
        match (table.ty.dtype, y.ty.dtype) {
            (from, to) if from == to => {
                quantized::unchanged(table, y)?;
                let operands = vec![node.read(1)?.as_bytes(), node.write(0).as_bytes(), node.read(0)?];
                let description = format!("{} of {extent} rows", kernel.indices);
                node.step(Kernel::GatherI8(kernel), operands, 0, description);
                Ok(())
            }
            (DType::I8, DType::F32) => dequantized(node, kernel),
            (from, to) => Err(no_kernel(&[from, to])),
        }
    }
}
