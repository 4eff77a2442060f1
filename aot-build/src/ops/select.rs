//! `select`: elements of one tensor where a condition is true, of another elsewhere; extents
//! of 1 are repeated.
//!
//! Operands: condition, `a`, `b`. Result: the shape that the three are broadcast to.
//! Sources: TFLite SELECT, SELECT_V2; ONNX Where.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SelectI8};
use serde::{Deserialize, Serialize};

use super::broadcast::{self, Loops};
use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `select`.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Select {
    /// The condition is a vector that counts along the first axis, not the last.
    pub first_axis: bool,
}

impl Select {
    /// The condition's shape, as it is broadcast.
    fn condition(&self, condition: &Shape, a: &Shape) -> Result<Vec<usize>, OpError> {
        if !self.first_axis {
            return Ok(condition.to_vec());
        }
        let ([rows], [first, rest @ ..]) = (&**condition, &**a) else {
            return Err(format!("the condition {condition} is no vector along the first axis of {a}").into());
        };
        if rows != first {
            return Err(format!("{rows} conditions for the rows of {a}").into());
        }
        Ok([vec![*rows], vec![1; rest.len()]].concat())
    }
}

impl Operator for Select {
    const NAME: &'static str = "select";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(3..=3)?;
        let (condition, a, b) = (&operands.get(0)?.ty, &operands.get(1)?.ty, &operands.get(2)?.ty);
        if condition.dtype != DType::Bool {
            return Err(format!("the condition is {}, expected bool", condition.dtype.name()).into());
        }
        let values = broadcast::shape(&a.shape, &b.shape)?;
        one(a.dtype, broadcast::shape(&self.condition(&condition.shape, &a.shape)?, &values)?)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (condition, a, b, y) = (node.input(0)?, node.input(1)?, node.input(2)?, node.output(0));
        if [a.ty.dtype, b.ty.dtype] != [y.ty.dtype; 2] {
            return Err(no_kernel(&[a.ty.dtype, b.ty.dtype, y.ty.dtype]));
        }
        quantized::unchanged(a, y)?;
        quantized::unchanged(b, y)?;
        let condition = self.condition(&condition.ty.shape, &a.ty.shape)?;
        let mut loops = Loops::new(&y.ty.shape, [&condition, &a.ty.shape, &b.ty.shape]);
        // What stands together in both, and has one condition, is copied together.
        let block = loops.pop([true, false, false]).unwrap_or(1) * y.ty.dtype.size();
        let (extents, [condition_strides, a_strides, b_strides]) = loops.strides([1, block, block])?;
        let kernel = Kernel::SelectI8(SelectI8 { extents, condition_strides, a_strides, b_strides, block });
        let operands = vec![
            node.read(0)?.as_bytes(),
            node.write(0).as_bytes(),
            node.read(1)?.as_bytes(),
            node.read(2)?.as_bytes(),
        ];
        let description = broadcast::description(&a.ty.shape, "or", &b.ty.shape);
        node.step(kernel, operands, 0, description);
        Ok(())
    }
}
