//! `mean`: mean over axes.
//!
//! Operand: `x`. Result: `x` without the axes, or with extents of 1.
//! Sources: TFLite MEAN; ONNX ReduceMean, GlobalAveragePool.
//! int8 and int16: the sum is rescaled with the number of elements folded into the
//! multiplier (tflite numerics, section 3).

use std::num::NonZeroU32;

use aot_rt::DType;
use aot_rt::fixed_point::Multiplier;
use aot_rt::kernels::{Kernel, MeanF32, MeanI8, MeanI16, Reduction};
use serde::{Deserialize, Serialize};

use super::quantized::{check_sum, multiplier, symmetric, tensor_wide};
use super::{Activation, Operands, Operator, no_kernel, reduced};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `mean`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Axes that are reduced, each once, ascending.
    pub axes: Vec<usize>,
    /// Keep the reduced axes with an extent of 1.
    #[serde(default)]
    pub keep_dimensions: bool,
}

impl Operator for Mean {
    const NAME: &'static str = "mean";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        reduced::infer(operands, &self.axes, self.keep_dimensions)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let reduction = reduced::loops(&x.ty.shape, &self.axes);
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::MeanF32(MeanF32 { reduction }),
            (DType::I8 | DType::I16, dtype) if dtype == x.ty.dtype => {
                let count = self.axes.iter().map(|&axis| x.ty.shape[axis] as u32).product();
                let count = NonZeroU32::new(count).ok_or("no element to take the mean of")?;
                quantized(node, reduction, |factor| factor.of_mean(count))?
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, reduced::description(&x.ty.shape, &self.axes));
        Ok(())
    }
}

/// The kernel for quantized elements, whose sum is scaled by what `factor` makes of the
/// ratio of the scales.
///
/// # Errors
///
/// When scales are missing or too far apart, or the sum does not fit 32 bits.
pub(super) fn quantized(
    node: &NodeLowering<'_, '_>,
    reduction: Reduction,
    factor: impl Fn(Multiplier) -> Multiplier,
) -> Result<Kernel, OpError> {
    let (x, y) = (node.input(0)?, node.output(0));
    let (input, output) = (tensor_wide(x)?, tensor_wide(y)?);
    let Multiplier { multiplier, shift } =
        factor(multiplier(f64::from(input.scale) / f64::from(output.scale))?);
    let count = reduction.reduced.iter().map(|extent| *extent as u64).product();
    if x.ty.dtype == DType::I16 {
        symmetric(x)?;
        symmetric(y)?;
        check_sum(count, 1 << 15, shift)?;
        let single_rounding = node.single_rounding();
        return Ok(Kernel::MeanI16(MeanI16 { reduction, multiplier, shift, single_rounding }));
    }
    check_sum(count, 255, shift)?;
    Ok(Kernel::MeanI8(MeanI8 {
        reduction,
        input_zero_point: input.zero_point,
        multiplier,
        shift,
        output: Activation::None.output_i8(output, node.single_rounding()),
    }))
}
