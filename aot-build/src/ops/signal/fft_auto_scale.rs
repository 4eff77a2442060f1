//! `signal_fft_auto_scale`: samples, scaled up as far as 16 bits hold them, so that a
//! Fourier transform in fixed point loses little.
//!
//! Operand: `x`, int16, one axis. Results: the samples times a power of two; its exponent,
//! an int32 scalar.
//! As in the reference, -32768 counts for nothing, and neither does what comes before it:
//! what that leaves out wraps.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalFftAutoScaleI16};
use serde::{Deserialize, Serialize};

use super::vector;
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::ops::{Operands, Operator};
use crate::program::NodeLowering;

/// Attributes of `signal_fft_auto_scale`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalFftAutoScale {}

impl Operator for SignalFftAutoScale {
    const NAME: &'static str = "signal_fft_auto_scale";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = vector(operands, 0, DType::I16)?;
        let scaled = TensorType::new(DType::I16, x.ty.shape.clone());
        Ok(vec![scaled, TensorType::new(DType::I32, Shape::new([])?)])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let len = node.input(0)?.ty.shape.elements();
        let kernel = Kernel::SignalFftAutoScaleI16(SignalFftAutoScaleI16 { len });
        let operands = vec![node.read(0)?, node.write(0), node.write(1)];
        node.step(kernel, operands, 0, format!("{len} elements"));
        Ok(())
    }
}
