//! `signal_filter_bank_square_root`: magnitudes of channels from their energies.
//!
//! Operands: `x`, uint64; an int32 scalar, the exponent of `signal_fft_auto_scale`. Result:
//! uint32, the square roots, rounded to the nearest, without as many bits.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalFilterBankSquareRootU64};
use serde::{Deserialize, Serialize};

use super::typed;
use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Attributes of `signal_filter_bank_square_root`: none.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalFilterBankSquareRoot {}

impl Operator for SignalFilterBankSquareRoot {
    const NAME: &'static str = "signal_filter_bank_square_root";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (x, shift) = (typed(operands, 0, DType::U64)?, typed(operands, 1, DType::I32)?);
        if shift.ty.shape.elements() != 1 {
            return Err(format!("operand 1 is {}, expected one element", shift.ty).into());
        }
        one(DType::U32, x.ty.shape.clone())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let len = node.input(0)?.ty.shape.elements();
        let kernel = Kernel::SignalFilterBankSquareRootU64(SignalFilterBankSquareRootU64 { len });
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?];
        node.step(kernel, operands, 0, format!("{len} elements"));
        Ok(())
    }
}
