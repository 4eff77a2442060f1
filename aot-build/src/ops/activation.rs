//! Activations that are fused into the operator before them.

use aot_rt::Quantization;
use aot_rt::kernels::{OutputI8, RangeF32, RangeI8, RangeI16};
use serde::{Deserialize, Serialize};

/// A fused activation: the result is limited to a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// No limit.
    #[default]
    None,
    /// 0 and above.
    Relu,
    /// 0 to 6.
    Relu6,
    /// -1 to 1.
    #[serde(rename = "relu_n1_to_1")]
    ReluN1To1,
    /// 0 to 1.
    #[serde(rename = "relu_0_to_1")]
    Relu0To1,
}

impl Activation {
    /// Lower and upper limit in real numbers.
    #[must_use]
    pub const fn limits(self) -> (f32, f32) {
        match self {
            Self::None => (f32::NEG_INFINITY, f32::INFINITY),
            Self::Relu => (0.0, f32::INFINITY),
            Self::Relu6 => (0.0, 6.0),
            Self::ReluN1To1 => (-1.0, 1.0),
            Self::Relu0To1 => (0.0, 1.0),
        }
    }

    /// The activation that does the same as `self` and then `next`.
    #[must_use]
    pub const fn then(self, next: Self) -> Self {
        match (self, next) {
            (Self::None, other) | (other, Self::None) => other,
            (Self::Relu, Self::Relu) => Self::Relu,
            (Self::Relu6, Self::Relu | Self::Relu6) | (Self::Relu, Self::Relu6) => Self::Relu6,
            (Self::ReluN1To1, Self::ReluN1To1) => Self::ReluN1To1,
            (Self::ReluN1To1, Self::Relu | Self::Relu6)
            | (Self::Relu | Self::Relu6, Self::ReluN1To1)
            | (Self::Relu0To1, _)
            | (_, Self::Relu0To1) => Self::Relu0To1,
        }
    }

    /// The range of a float result.
    #[must_use]
    pub const fn range_f32(self) -> RangeF32 {
        let (min, max) = self.limits();
        RangeF32 { min, max }
    }

    /// The range of an int8 result.
    #[must_use]
    pub fn range_i8(self, quantization: Quantization) -> RangeI8 {
        let (min, max) = self.limits();
        // Infinite limits become those of the type.
        let limit = |real: f32| quantization.quantize(real, -128, 127);
        RangeI8 { min: limit(min), max: limit(max) }
    }

    /// The range of an int16 result.
    #[must_use]
    pub fn range_i16(self, quantization: Quantization) -> RangeI16 {
        let (min, max) = self.limits();
        let limit = |real: f32| quantization.quantize(real, -32_768, 32_767);
        RangeI16 { min: limit(min), max: limit(max) }
    }

    /// Zero point and range of an int16 result.
    #[must_use]
    pub fn output_i16(self, quantization: Quantization, single_rounding: bool) -> OutputI8 {
        let RangeI16 { min, max } = self.range_i16(quantization);
        OutputI8 { zero_point: quantization.zero_point, min, max, single_rounding }
    }

    /// Zero point and range of an int8 result.
    #[must_use]
    pub fn output_i8(self, quantization: Quantization, single_rounding: bool) -> OutputI8 {
        let RangeI8 { min, max } = self.range_i8(quantization);
        OutputI8 { zero_point: quantization.zero_point, min, max, single_rounding }
    }
}

/// `, relu`, or nothing: the end of a step's description.
impl std::fmt::Display for Activation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::None => "",
            Self::Relu => ", relu",
            Self::Relu6 => ", relu6",
            Self::ReluN1To1 => ", relu_n1_to_1",
            Self::Relu0To1 => ", relu_0_to_1",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tflite-numerics.md`, section 2.
    #[test]
    fn ranges_of_int8_results() {
        let quantization = Quantization { scale: 0.05, zero_point: -3 };
        for (activation, min, max) in [
            (Activation::None, -128, 127),
            (Activation::Relu, -3, 127),
            (Activation::Relu6, -3, 117),
            (Activation::ReluN1To1, -23, 17),
            (Activation::Relu0To1, -3, 17),
        ] {
            let output = activation.output_i8(quantization, false);
            assert_eq!((output.min, output.max), (min, max), "{activation:?}");
        }
    }
}
