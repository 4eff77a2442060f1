//! `cumulative_sum`: sums of all elements up to each one along an axis.
//!
//! Operand: `x`. Result: the same shape.
//! Sources: TFLite CUMSUM; ONNX CumSum.
//! int8: elements are brought to `2^20` steps of twice the larger scale, and sums to the
//! scale of the result, as TensorFlow Lite Micro does it. (Its sum starts at minus the
//! zero point, which is wrong: here it starts at 0.)

use aot_rt::DType;
use aot_rt::kernels::{CumulativeSum as Sum, CumulativeSumI8, Kernel};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, axis, no_kernel, quantized, same};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `cumulative_sum`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CumulativeSum {
    /// The axis.
    pub axis: usize,
    /// Leave the element itself out of its sum.
    #[serde(default)]
    pub exclusive: bool,
    /// Begin at the end of the axis.
    #[serde(default)]
    pub reverse: bool,
}

fn sum_i8(node: &NodeLowering<'_, '_>, sum: Sum) -> Result<Kernel, OpError> {
    let (x, y) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.output(0))?);
    let (x_scale, y_scale) = (f64::from(x.scale), f64::from(y.scale));
    let twice = 2.0 * x_scale.max(y_scale);
    let input = quantized::multiplier(x_scale / twice)?;
    let output = quantized::multiplier(twice / (f64::from(1 << 20) * y_scale))?;
    // A sum of 32 bits is scaled without a shift to the left.
    if output.shift > 0 {
        return Err(format!("scales {} and {} are too far apart", x.scale, y.scale).into());
    }
    Ok(Kernel::CumulativeSumI8(CumulativeSumI8 {
        sum,
        input_zero_point: x.zero_point,
        input_multiplier: input.multiplier,
        input_shift: input.shift,
        output_multiplier: output.multiplier,
        output_shift: output.shift,
        output: Activation::None.output_i8(y, node.single_rounding()),
    }))
}

impl Operator for CumulativeSum {
    const NAME: &'static str = "cumulative_sum";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        axis::around(operands.get(0)?, self.axis)?;
        same(operands)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let x = node.input(0)?;
        let [outer, extent, inner] = axis::around(x, self.axis)?;
        let sum = Sum { outer, extent, inner, exclusive: self.exclusive, reverse: self.reverse };
        let kernel = match x.ty.dtype {
            DType::F32 => Kernel::CumulativeSumF32(sum),
            DType::I32 => Kernel::CumulativeSumI32(sum),
            DType::I8 => sum_i8(node, sum)?,
            dtype => return Err(no_kernel(&[dtype; 2])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{} along axis {}", x.ty.shape, self.axis));
        Ok(())
    }
}
