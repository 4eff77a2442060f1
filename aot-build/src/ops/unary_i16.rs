//! Functions of one int16; zero points are 0.
//!
//! Those with an arithmetic of their own in the reference follow it, the others are
//! interpolated between the entries of a table.

use aot_rt::DType;
use aot_rt::fixed_point::Multiplier;
use aot_rt::kernels::{InterpolateI16, Kernel, RsqrtI16, SqrtI16};

use super::{Activation, UnaryFunction, no_kernel, quantize, quantized, tables, tables_i16};
use crate::error::OpError;
use crate::program::{NodeLowering, Operand};

/// Appends the step that computes `function`.
///
/// # Errors
///
/// When a zero point is not 0, scales are too far apart, or no reference has the function.
pub(super) fn lower(node: &mut NodeLowering<'_, '_>, function: UnaryFunction) -> Result<(), OpError> {
    let len = node.output(0).ty.shape.elements();
    let (kernel, table) = kernel(node, function, len)?;
    let mut operands = vec![node.read(0)?, node.write(0)];
    operands.extend(table);
    node.step(kernel, operands, 0, format!("{len} elements"));
    Ok(())
}

/// The kernel, and its table where it has one.
fn kernel(
    node: &mut NodeLowering<'_, '_>,
    function: UnaryFunction,
    len: usize,
) -> Result<(Kernel, Option<Operand>), OpError> {
    let (x, y) = (quantized::symmetric(node.input(0)?)?, quantized::symmetric(node.output(0))?);
    let interpolation: &dyn Fn(f64) -> f64 = match function {
        UnaryFunction::Abs => return Ok((Kernel::AbsI16(quantize::scaling(node, Activation::None)?), None)),
        UnaryFunction::Neg => return Ok((Kernel::NegI16(quantize::scaling(node, Activation::None)?), None)),
        UnaryFunction::Sqrt => {
            return Ok((Kernel::SqrtI16(SqrtI16 { len, scale: x.scale, output_scale: y.scale }), None));
        }
        UnaryFunction::Rsqrt => return Ok((Kernel::RsqrtI16(rsqrt(node, len)?), None)),
        UnaryFunction::Tanh => {
            let params = tables_i16::logistic_factor(node, tables_i16::TANH)?;
            return Ok((Kernel::TanhI16(params), None));
        }
        UnaryFunction::Exp => &f64::exp,
        UnaryFunction::Gelu => &gelu,
        UnaryFunction::GeluTanh => &gelu_tanh,
        // What has no logarithm has the least result.
        UnaryFunction::Log => &|x| if x > 0.0 { x.ln() } else { f64::from(y.scale * -32_768.0) },
        UnaryFunction::Ceil
        | UnaryFunction::Cos
        | UnaryFunction::Elu
        | UnaryFunction::Floor
        | UnaryFunction::HardSwish
        | UnaryFunction::LogicalNot
        | UnaryFunction::Round
        | UnaryFunction::Sin
        | UnaryFunction::Square => return Err(no_kernel(&[DType::I16; 2])),
    };
    let table = tables_i16::interpolation(x, y, interpolation);
    Ok((Kernel::InterpolateI16(InterpolateI16 { len }), Some(tables_i16::constant(node, &table))))
}

/// How the reciprocal square root of an integer is scaled.
fn rsqrt(node: &NodeLowering<'_, '_>, len: usize) -> Result<RsqrtI16, OpError> {
    let (x, y) = (quantized::symmetric(node.input(0)?)?, quantized::symmetric(node.output(0))?);
    let factor = 1.0 / (f64::from(x.scale).sqrt() * f64::from(y.scale));
    let Multiplier { multiplier, shift } = tables::over_root(factor, x, y)?;
    Ok(RsqrtI16 { len, multiplier, shift, single_rounding: node.single_rounding() })
}

/// `x` times the part of a normal distribution that is below it; in single precision.
fn gelu(x: f64) -> f64 {
    let x = x as f32;
    (x * 0.5 * libm::erfcf(x * -std::f32::consts::FRAC_1_SQRT_2)).into()
}

/// The same, approximated with a hyperbolic tangent.
pub(super) fn gelu_tanh(x: f64) -> f64 {
    let root = (2.0 / std::f64::consts::PI).sqrt();
    0.5 * x * (1.0 + (root * (x + 0.044_715 * x.powi(3))).tanh())
}
