//! Tables of int16 functions, between whose entries the kernels interpolate, made as the
//! reference computes them.

use aot_rt::kernels::LogisticI16;
use aot_rt::{DType, Quantization};

use super::quantized;
use crate::error::OpError;
use crate::program::{NodeLowering, Operand};

/// Entries of a table: one for each 128th number, and the end.
const ENTRIES: usize = 513;

/// The table of a function of real numbers, and the end of it.
///
/// Entries are moved so that between two of them the function is met as well as at them.
/// All steps are in single precision, as in LiteRT; the function itself is exact before its
/// result is rounded to that.
pub(super) fn interpolation(
    x: Quantization,
    y: Quantization,
    function: impl Fn(f64) -> f64,
) -> [i16; ENTRIES] {
    /// Far out of range, where sums and differences are still numbers.
    const FAR: f32 = 1e37;
    let limits = |q: Quantization| [-32_768, 32_767].map(|end: i32| q.scale * (end - q.zero_point) as f32);
    let ([first, last], [least, greatest]) = (limits(x), limits(y));
    let step = (last - first) / (ENTRIES - 1) as f32;
    let inverse = 65_536.0 / (greatest - least);
    let result = |real: f32| {
        let result = function(real.into()) as f32 * inverse;
        // What is not a number is no more than what is the least.
        if result.is_nan() { -FAR } else { result.clamp(-FAR, FAR) }
    };
    std::array::from_fn(|i| {
        if i == ENTRIES - 1 {
            return result(last).round() as i16;
        }
        let at = first + i as f32 * step;
        let (here, next) = (result(at).round(), result(first + (i + 1) as f32 * step));
        let middle = result(at + step / 2.0).round();
        let off = ((next + here) / 2.0).round() - middle;
        (here - (off / 2.0).round()) as i16
    })
}

/// A table as a constant of the program.
pub(super) fn constant(node: &mut NodeLowering<'_, '_>, table: &[i16]) -> Operand {
    let bytes: Vec<u8> = table.iter().flat_map(|entry| entry.to_le_bytes()).collect();
    node.constant(DType::I16, &bytes)
}

/// The tables of int16 softmax: the exponential from -10 to 0, and `1 / (1 + x)` from 0 to 1.
pub(super) fn softmax(node: &mut NodeLowering<'_, '_>) -> [Operand; 2] {
    let y = Quantization { scale: 2.0 / 65_535.0, zero_point: 0 };
    let exponent = Quantization { scale: 10.0 / 65_535.0, zero_point: 32_767 };
    let part = Quantization { scale: 1.0 / 65_535.0, zero_point: -32_768 };
    let exp = interpolation(exponent, y, f64::exp);
    let reciprocal = interpolation(part, y, |x| 1.0 / (1.0 + x));
    [constant(node, &exp), constant(node, &reciprocal)]
}

/// Powers of two that the scale of `x` may be, in steps of 1/4096, to be multiplied exactly.
pub(super) const LOGISTIC: &[i32] = &[0];
/// Likewise for the hyperbolic tangent.
pub(super) const TANH: &[i32] = &[0, 1];

/// How the kernels of the logistic function and of the hyperbolic tangent scale `x`.
///
/// # Errors
///
/// When a zero point is not 0, the result's scale is not 1/32768, or that of `x` is too large.
pub(super) fn logistic_factor(node: &NodeLowering<'_, '_>, powers: &[i32]) -> Result<LogisticI16, OpError> {
    let (x, y) = (node.input(0)?, node.output(0));
    quantized::check_fixed(y, 1.0 / 32_768.0, 0)?;
    let (scale, len) = (quantized::symmetric(x)?.scale, x.ty.shape.elements());
    // The reference takes for a power what its logarithm is within 1/1000 of.
    let logarithm = scale.log2();
    let power = logarithm.round();
    let steps = power as i32 + 12;
    if (logarithm - power).abs() < 1e-3 && powers.contains(&steps) {
        return Ok(LogisticI16 { len, multiplier: 3 << steps, shift: 0 });
    }
    let (mut factor, mut shift) = (f64::from(scale) * 12_288.0, 0);
    while factor <= 32_767.0 / 2.0 && shift <= 30 {
        (factor, shift) = (factor * 2.0, shift + 1);
    }
    if factor >= 65_536.0 {
        return Err(format!("scale {scale} of `{}` is too large", x.name).into());
    }
    Ok(LogisticI16 { len, multiplier: factor as i32, shift })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_near_the_real_results() {
        let (x, y) =
            (Quantization { scale: 1e-4, zero_point: 0 }, Quantization { scale: 1e-3, zero_point: 0 });
        let table = interpolation(x, y, f64::exp);
        for (i, entry) in table.into_iter().enumerate() {
            let real = ((i as f64 * 128.0 - 32_768.0) * 1e-4).exp() * 1e3;
            assert!((f64::from(entry) - real).abs() <= 2.0 + real * 1e-4, "{i}: {entry}, {real}");
        }
    }

    #[test]
    fn what_is_beyond_all_numbers_is_the_end() {
        let (x, y) = (Quantization { scale: 0.1, zero_point: 0 }, Quantization { scale: 1.0, zero_point: 0 });
        assert_eq!(interpolation(x, y, f64::exp)[512], 32_767);
        assert_eq!(interpolation(x, y, f64::ln)[0], -32_768);
    }
}
