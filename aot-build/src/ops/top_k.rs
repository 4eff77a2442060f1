//! `top_k`: each row's greatest elements, in descending order.
//!
//! Operand: `x`. Results: the elements, and their int32 indices; of equal ones the first
//! comes first.
//! Sources: TFLite TOPK_V2; ONNX TopK of the largest along the last axis.

use aot_rt::DType;
use aot_rt::kernels::{GatherI8, Kernel, TopK as TopKParams};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, axis, no_kernel, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `top_k`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TopK {
    /// Elements of each row.
    pub k: usize,
}

impl Operator for TopK {
    const NAME: &'static str = "top_k";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        let [_, columns] = axis::rows(x)?;
        if !(1..=columns).contains(&self.k) {
            return Err(format!("k is {}, rows have {columns} elements", self.k).into());
        }
        let mut extents = x.ty.shape.to_vec();
        if let Some(last) = extents.last_mut() {
            *last = self.k;
        }
        let shape = Shape::new(extents)?;
        Ok(vec![TensorType::new(x.ty.dtype, shape.clone()), TensorType::new(DType::I32, shape)])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, values) = (node.input(0)?, node.output(0));
        quantized::unchanged(x, values)?;
        let [rows, columns] = axis::rows(x)?;
        let params = TopKParams { rows, columns, k: self.k };
        let kernel = match x.ty.dtype {
            DType::F32 => Kernel::TopKF32(params),
            DType::I8 => Kernel::TopKI8(params),
            DType::I32 => Kernel::TopKI32(params),
            dtype => return Err(no_kernel(&[dtype; 2])),
        };
        let description = format!("{} of {rows}×{columns}", self.k);
        let gather =
            GatherI8 { batch: rows, outer: 1, extent: columns, indices: self.k, block: x.ty.dtype.size() };
        let (x, values, indices) = (node.read(0)?, node.write(0), node.write(1));
        node.step(kernel, vec![x, indices], 0, description.clone());
        let operands = vec![x.as_bytes(), values.as_bytes(), indices];
        node.step(Kernel::GatherI8(gather), operands, 0, description);
        Ok(())
    }
}
