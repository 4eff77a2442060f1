//! `signal_filter_bank`: the energy of each channel of overlapping triangles.
//!
//! Operands: `x`, uint32, the energy of each bin; weights and unweights, int16; and three
//! int16 constants with an element for each band, one more than there are channels: its
//! first bin, its first weight and unweight, and how many there are. Result: uint64, an
//! element for each channel.
//! A channel is the weighted sum of a band, and the unweighted of the band before.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, SignalFilterBankU32};
use serde::{Deserialize, Serialize};

use super::{vector, vector_of};
use crate::error::OpError;
use crate::graph::{Tensor, TensorType};
use crate::ops::{Operands, Operator, one};
use crate::program::NodeLowering;

/// Attributes of `signal_filter_bank`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignalFilterBank {
    /// Number of channels.
    pub num_channels: usize,
}

/// The elements of a constant operand.
fn constant(operand: &Tensor, what: &str) -> Result<Vec<i64>, OpError> {
    let data = operand.data.as_ref();
    let data =
        data.ok_or_else(|| OpError::from(format!("the {what} `{}` are not constant", operand.name)))?;
    Ok(data.integers(operand.ty.dtype)?)
}

/// Checks that bands lie within `count` elements.
fn within(starts: &[i64], widths: &[i64], count: usize, what: &str) -> Result<(), OpError> {
    let bands = starts.iter().zip(widths).enumerate();
    for (i, (start, width)) in bands.filter(|(_, (_, width))| **width != 0) {
        // Both have 16 bits.
        if *start < 0 || *width < 0 || start + width > count as i64 {
            let message = format!("band {i} has {width} {what} from {start} on, there are {count}");
            return Err(message.into());
        }
    }
    Ok(())
}

/// First bin, first weight and width of each band in turn, little-endian.
fn bands(operands: [&Tensor; 3]) -> Result<Vec<u8>, OpError> {
    let [bins, weights, widths] = operands;
    let (bins, weights) = (constant(bins, "first bins")?, constant(weights, "first weights")?);
    let bands = bins.into_iter().zip(weights).zip(constant(widths, "widths")?);
    let bands = bands.flat_map(|((bin, weight), width)| [bin, weight, width]);
    // All have 16 bits.
    Ok(bands.flat_map(|value| (value as i16).to_le_bytes()).collect())
}

impl Operator for SignalFilterBank {
    const NAME: &'static str = "signal_filter_bank";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(6..=6)?;
        let bins = vector(operands, 0, DType::U32)?.ty.shape.elements();
        let weights = vector(operands, 1, DType::I16)?.ty.shape.elements();
        vector_of(operands, 2, DType::I16, weights)?;
        let bands = self.num_channels.saturating_add(1);
        let band = |i, what| constant(vector_of(operands, i, DType::I16, bands)?, what);
        let widths = band(5, "widths")?;
        within(&band(3, "first bins")?, &widths, bins, "bins")?;
        within(&band(4, "first weights")?, &widths, weights, "weights")?;
        one(DType::U64, [self.num_channels])
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let channels = self.num_channels;
        let weights = node.input(1)?.ty.shape.elements();
        let bands = bands([node.input(3)?, node.input(4)?, node.input(5)?])?;
        let bands = node.constant(DType::I16, &bands);
        let operands = vec![node.read(0)?, node.write(0), node.read(1)?, node.read(2)?, bands];
        let kernel = Kernel::SignalFilterBankU32(SignalFilterBankU32 { channels });
        node.step(kernel, operands, 0, format!("{channels} channels, {weights} weights"));
        Ok(())
    }
}
