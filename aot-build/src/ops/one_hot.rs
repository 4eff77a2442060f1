//! `one_hot`: rows that are one value where an index says, and another elsewhere.
//!
//! Operands: indices, the value where they say, the value elsewhere. Result: the indices'
//! shape with a new axis; an index that it does not have says nothing.
//! Sources: TFLite ONE_HOT; ONNX OneHot.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, OneHot as OneHotParams};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `one_hot`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OneHot {
    /// Where the new axis is.
    pub axis: usize,
    /// Its extent.
    pub depth: usize,
}

impl Operator for OneHot {
    const NAME: &'static str = "one_hot";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(3..=3)?;
        let (indices, on, off) = (&operands.get(0)?.ty, &operands.get(1)?.ty, &operands.get(2)?.ty);
        for (what, value) in [("on", on), ("off", off)] {
            if value.shape.elements() != 1 {
                return Err(format!("the value {what} is {value}, expected one element").into());
            }
        }
        if on.dtype != off.dtype {
            return Err(format!("the values are {on} and {off}, expected one type").into());
        }
        let mut extents = indices.shape.to_vec();
        if self.axis > extents.len() {
            return Err(format!("the new axis {} is outside of 0..={}", self.axis, extents.len()).into());
        }
        extents.insert(self.axis, self.depth);
        one(on.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (indices, y) = (node.input(0)?, node.output(0));
        for operand in [1, 2] {
            quantized::unchanged(node.input(operand)?, y)?;
        }
        let (outer, inner) = indices.ty.shape.split_at(self.axis);
        let params = OneHotParams {
            outer: outer.iter().product(),
            depth: self.depth,
            inner: inner.iter().product(),
            block: y.ty.dtype.size(),
        };
        let kernel = match indices.ty.dtype {
            DType::I32 => Kernel::OneHotI32(params),
            DType::I64 => Kernel::OneHotI64(params),
            dtype => return Err(no_kernel(&[dtype, y.ty.dtype])),
        };
        let [on, off] = [node.read(1)?.as_bytes(), node.read(2)?.as_bytes()];
        let operands = vec![node.read(0)?, node.write(0).as_bytes(), on, off];
        node.step(kernel, operands, 0, format!("{} of {}", indices.ty.shape, self.depth));
        Ok(())
    }
}
