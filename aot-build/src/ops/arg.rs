//! `arg`: where the greatest or the least element along an axis is.
//!
//! Operand: `x`. Result: `x` without the axis; the first index where several are equal.
//! Sources: TFLite ARG_MAX, ARG_MIN; ONNX ArgMax, ArgMin.

use aot_rt::DType;
use aot_rt::kernels::{Arg as ArgParams, Cast, Kernel};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, axis, no_kernel, one};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `arg`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Arg {
    /// What is searched for.
    pub function: ArgFunction,
    /// The axis.
    pub axis: usize,
    /// Type of the result, `i32` or `i64`.
    #[serde(with = "super::dtype_name")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    pub dtype: DType,
}

/// The element that is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArgFunction {
    /// The greatest one.
    Max,
    /// The least one.
    Min,
}

impl Operator for Arg {
    const NAME: &'static str = "arg";

    fn label(&self) -> &'static str {
        match self.function {
            ArgFunction::Max => "arg_max",
            ArgFunction::Min => "arg_min",
        }
    }

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        axis::around(x, self.axis)?;
        if !matches!(self.dtype, DType::I32 | DType::I64) {
            return Err(format!("indices are {}, expected i32 or i64", self.dtype.name()).into());
        }
        let mut extents = x.ty.shape.to_vec();
        extents.remove(self.axis);
        one(self.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let x = node.input(0)?;
        let [outer, extent, inner] = axis::around(x, self.axis)?;
        let params = ArgParams { outer, extent, inner };
        let kernel = match (self.function, x.ty.dtype) {
            (ArgFunction::Max, DType::F32) => Kernel::ArgMaxF32(params),
            (ArgFunction::Max, DType::I8) => Kernel::ArgMaxI8(params),
            (ArgFunction::Max, DType::I32) => Kernel::ArgMaxI32(params),
            (ArgFunction::Min, DType::F32) => Kernel::ArgMinF32(params),
            (ArgFunction::Min, DType::I8) => Kernel::ArgMinI8(params),
            (ArgFunction::Min, DType::I32) => Kernel::ArgMinI32(params),
            (_, dtype) => return Err(no_kernel(&[dtype, self.dtype])),
        };
        let description = format!("{} along axis {}", x.ty.shape, self.axis);
        let (x, y) = (node.read(0)?, node.write(0));
        if self.dtype == DType::I32 {
            node.step(kernel, vec![x, y], 0, description);
            return Ok(());
        }
        let len = outer * inner;
        let indices = node.scratch("indices", DType::I32, len);
        node.step(kernel, vec![x, indices], 0, description);
        node.step(Kernel::CastI32I64(Cast { len }), vec![indices, y], 0, format!("{len} indices"));
        Ok(())
    }
}
