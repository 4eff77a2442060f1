//! `find`: the indices of what is true.
//!
//! Operand: a constant condition, for how many are true is the shape. Result: an int64 row
//! of indices for each, in the order of the elements.
//! Sources: TFLite WHERE; ONNX NonZero.

use aot_rt::DType;
use aot_rt::kernels::{CopyI8, Kernel};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, one};
use crate::error::OpError;
use crate::graph::{Tensor, TensorType};
use crate::program::NodeLowering;

/// Attributes of `find`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Find {}

impl Find {
    /// The indices, one after the other.
    fn indices(condition: &Tensor) -> Result<Vec<i64>, OpError> {
        let Some(data) = &condition.data else {
            return Err(OpError::from(format!("the condition `{}` is not constant", condition.name))
                .help("how many elements are true must be known when the model is compiled"));
        };
        if condition.ty.dtype != DType::Bool {
            return Err(format!("the condition is {}, expected bool", condition.ty.dtype.name()).into());
        }
        let shape = &condition.ty.shape;
        let mut indices = Vec::new();
        for (element, _) in data.bytes().iter().enumerate().filter(|(_, byte)| **byte != 0) {
            let mut stride = shape.elements();
            for extent in shape.iter() {
                stride /= extent;
                indices.push((element / stride % extent) as i64);
            }
        }
        Ok(indices)
    }
}

impl Operator for Find {
    const NAME: &'static str = "find";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let condition = operands.get(0)?;
        let rank = condition.ty.shape.len();
        if rank == 0 {
            return Err("the condition is a scalar, which has no index".into());
        }
        let indices = Self::indices(condition)?;
        if indices.is_empty() {
            return Err(format!("no element of the condition `{}` is true", condition.name).into());
        }
        one(DType::I64, [indices.len() / rank, rank])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let bytes: Vec<u8> = Self::indices(node.input(0)?)?.iter().flat_map(|i| i.to_le_bytes()).collect();
        let constant = node.constant(DType::I64, &bytes);
        let operands = vec![constant.as_bytes(), node.write(0).as_bytes()];
        node.step(Kernel::CopyI8(CopyI8 { len: bytes.len() }), operands, 0, format!("{} bytes", bytes.len()));
        Ok(())
    }
}
