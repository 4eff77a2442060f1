//! `reduce`: a function of all elements along some axes.
//!
//! Operand: `x`. Result: `x` without the axes, or with extents of 1.
//! Sources: TFLite SUM, REDUCE_PROD, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL; ONNX
//! ReduceSum, ReduceProd, ReduceMax, ReduceMin. Means are `mean`.
//! int8: sums as those of means (tflite numerics, section 3); products scaled before each
//! next element, as LiteRT computes them; the greatest and the least only of equal scales.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, Reduce as ReduceExact, ReduceProductI8, Reduction};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, mean, no_kernel, quantized, reduced};
use crate::error::OpError;
use crate::graph::TensorType;
use crate::program::NodeLowering;

/// Attributes of `reduce`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Reduce {
    /// The function.
    pub function: ReduceFunction,
    /// Axes that are reduced, each once, ascending.
    pub axes: Vec<usize>,
    /// Keep the reduced axes with an extent of 1.
    #[serde(default)]
    pub keep_dimensions: bool,
}

/// A function of any number of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReduceFunction {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The greatest one.
    Maximum,
    /// The least one.
    Minimum,
    /// Whether one of them is true.
    Any,
    /// Whether all of them are true.
    All,
}

impl ReduceFunction {
    /// The kernel for elements of a type that stand for themselves, if there is one.
    const fn exact(self, dtype: DType, params: ReduceExact) -> Option<Kernel> {
        Some(match (self, dtype) {
            (Self::Sum, DType::F32) => Kernel::ReduceSumF32(params),
            (Self::Sum, DType::I32) => Kernel::ReduceSumI32(params),
            (Self::Product, DType::F32) => Kernel::ReduceProductF32(params),
            (Self::Product, DType::I32) => Kernel::ReduceProductI32(params),
            (Self::Maximum, DType::F32) => Kernel::ReduceMaximumF32(params),
            (Self::Maximum, DType::I32) => Kernel::ReduceMaximumI32(params),
            // Truth values are 0 and 1.
            (Self::Maximum, DType::I8) | (Self::Any, DType::Bool) => Kernel::ReduceMaximumI8(params),
            (Self::Minimum, DType::F32) => Kernel::ReduceMinimumF32(params),
            (Self::Minimum, DType::I32) => Kernel::ReduceMinimumI32(params),
            (Self::Minimum, DType::I8) | (Self::All, DType::Bool) => Kernel::ReduceMinimumI8(params),
            _ => return None,
        })
    }
}

/// Most int8 elements of a product, of which the range is followed step by step.
const MAX_FACTORS: usize = 1 << 16;

/// The kernel for products of int8.
fn product_i8(node: &NodeLowering<'_, '_>, reduction: Reduction) -> Result<Kernel, OpError> {
    let (x, y) = (quantized::tensor_wide(node.input(0)?)?, quantized::tensor_wide(node.output(0))?);
    let count: usize = reduction.reduced.iter().product();
    // Each element's share of the scale of `y`.
    let share = f64::from(x.scale) / f64::from(y.scale).powf(1.0 / count as f64);
    let (multiplier, shift) = quantized::short_factor(share)?;
    let largest = i64::from((127 - x.zero_point).max(x.zero_point + 128));
    check_product(count, largest, i64::from(multiplier), shift)?;
    Ok(Kernel::ReduceProductI8(ReduceProductI8 {
        reduction,
        input_zero_point: x.zero_point,
        multiplier: multiplier.into(),
        shift: shift.into(),
        output: Activation::None.output_i8(y, node.single_rounding()),
    }))
}

/// Refuses a product of `count` differences up to `largest` that could leave 32 bits when
/// it is scaled at every step.
fn check_product(count: usize, largest: i64, multiplier: i64, shift: u8) -> Result<(), OpError> {
    let mut product = largest;
    for _ in 0..count {
        let scaled = ((product * multiplier) >> shift) + 1;
        if scaled > i64::from(i32::MAX) || count > MAX_FACTORS {
            let message = format!("a product of {count} elements can overflow 32 bits");
            return Err(OpError::from(message).help("its range needs a larger scale"));
        }
        // It grows no more.
        if scaled * largest <= product {
            return Ok(());
        }
        product = scaled * largest;
    }
    Ok(())
}

impl Operator for Reduce {
    const NAME: &'static str = "reduce";

    fn label(&self) -> &'static str {
        match self.function {
            ReduceFunction::Sum => "reduce_sum",
            ReduceFunction::Product => "reduce_product",
            ReduceFunction::Maximum => "reduce_maximum",
            ReduceFunction::Minimum => "reduce_minimum",
            ReduceFunction::Any => "reduce_any",
            ReduceFunction::All => "reduce_all",
        }
    }

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        reduced::infer(operands, &self.axes, self.keep_dimensions)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let reduction = reduced::loops(&x.ty.shape, &self.axes);
        let dtype = x.ty.dtype;
        let kernel = match (self.function, dtype) {
            (ReduceFunction::Sum, DType::I8 | DType::I16) => {
                Some(mean::quantized(node, reduction, |factor| factor)?)
            }
            (ReduceFunction::Product, DType::I8) => Some(product_i8(node, reduction)?),
            _ => self.function.exact(dtype, ReduceExact { reduction }),
        };
        let kernel = kernel.ok_or_else(|| no_kernel(&[dtype, y.ty.dtype]))?;
        if let ReduceFunction::Maximum | ReduceFunction::Minimum = self.function {
            quantized::unchanged(x, y)?;
        }
        let (mut x_operand, mut y_operand) = (node.read(0)?, node.write(0));
        if dtype == DType::Bool {
            (x_operand, y_operand) = (x_operand.as_bytes(), y_operand.as_bytes());
        }
        let description = reduced::description(&x.ty.shape, &self.axes);
        node.step(kernel, vec![x_operand, y_operand], 0, description);
        Ok(())
    }
}
