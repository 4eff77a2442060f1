//! `signal_rfft`: spectra of real samples.
//!
//! Operand: `x`, int16, int32 or float32, frames along the last axis. Result: for each
//! frame, real and imaginary parts of the bins from 0 to half of the length, one after the
//! other along the last axis.
//! Frames are filled up with zeros. In integers, the result is divided by the length.

use std::f64::consts::PI;

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalRfft as Params};
use serde::{Deserialize, Serialize};

use crate::error::OpError;
use crate::graph::TensorType;
use crate::ops::{Operands, Operator, no_kernel, one};
use crate::program::NodeLowering;

/// Attributes of `signal_rfft`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalRfft {
    /// Length of the transform: a power of two from 4 to 65536, and at least that of a frame.
    pub fft_length: usize,
}

/// The longest transform.
const MAX_LENGTH: usize = 1 << 16;

impl SignalRfft {
    /// What the parts of a transform of pairs of samples are turned by when they meet, and
    /// then what separates the spectra of the pairs: cosine and sine.
    fn turns(&self) -> Vec<[f64; 2]> {
        let half = self.fft_length / 2;
        // Three of four parts are turned, each by a power less than a quarter.
        let powers = (0..half - half / 4).map(|power| 2.0 * power as f64 / half as f64);
        let separating = (1..=half / 2).map(|bin| bin as f64 / half as f64 + 0.5);
        powers.chain(separating).map(|angle| [(-PI * angle).cos(), (-PI * angle).sin()]).collect()
    }

    /// The kernel for a type, and its constant.
    fn kernel(&self, dtype: DType, frame: usize) -> Result<(Kernel, Vec<u8>), OpError> {
        let params = Params { frame, length: self.fft_length };
        let turns = self.turns();
        let numbers = turns.as_flattened().iter();
        let fixed = |number: &f64, one: f64| (0.5 + one * number).floor();
        Ok(match dtype {
            DType::I16 => {
                let bytes = |number| (fixed(number, f64::from(i16::MAX)) as i16).to_le_bytes();
                (Kernel::SignalRfftI16(params), numbers.flat_map(bytes).collect())
            }
            DType::I32 => {
                let bytes = |number| (fixed(number, f64::from(i32::MAX)) as i32).to_le_bytes();
                (Kernel::SignalRfftI32(params), numbers.flat_map(bytes).collect())
            }
            DType::F32 => {
                let bytes = |number: &f64| (*number as f32).to_le_bytes();
                (Kernel::SignalRfftF32(params), numbers.flat_map(bytes).collect())
            }
            _ => return Err(no_kernel(&[dtype])),
        })
    }
}

impl Operator for SignalRfft {
    const NAME: &'static str = "signal_rfft";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let (x, length) = (&operands.get(0)?.ty, self.fft_length);
        if !length.is_power_of_two() || !(4..=MAX_LENGTH).contains(&length) {
            let message = format!("fft_length is {length}, expected a power of two from 4 to {MAX_LENGTH}");
            return Err(message.into());
        }
        let mut extents = x.shape.to_vec();
        match extents.last_mut() {
            Some(frame) if *frame <= length => *frame = length + 2,
            Some(frame) => {
                return Err(format!("frames of {frame} are longer than fft_length {length}").into());
            }
            None => return Err(format!("operand 0 is {x}, expected frames").into()),
        }
        one(x.dtype, extents)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let x = &node.input(0)?.ty;
        let frame = x.shape.last().copied().unwrap_or(1);
        let (kernel, turns) = self.kernel(x.dtype, frame)?;
        let turns = node.constant(x.dtype, &turns);
        let operands = vec![node.read(0)?, node.write(0), turns];
        node.step(kernel, operands, 0, format!("frames of {frame}, length {}", self.fft_length));
        Ok(())
    }
}
