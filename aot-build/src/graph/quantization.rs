//! How the integers of a tensor stand for real numbers.

use aot_rt::DType;

/// `real = scale * (q - zero_point)`, with one scale for the tensor or one for
/// each slice along `axis`.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantization {
    scales: Vec<f32>,
    zero_points: Vec<i32>,
    axis: usize,
    legacy: bool,
    four_bits: bool,
}

impl Quantization {
    /// One scale and zero point for the whole tensor.
    ///
    /// # Errors
    ///
    /// See [`Quantization::per_axis`].
    pub fn per_tensor(scale: f32, zero_point: i32) -> Result<Self, String> {
        Self::per_axis(vec![scale], vec![zero_point], 0)
    }

    /// A scale and a zero point for each slice along `axis`.
    ///
    /// # Errors
    ///
    /// When there is no scale, their numbers differ, or a scale is not a positive
    /// normal number.
    pub fn per_axis(scales: Vec<f32>, zero_points: Vec<i32>, axis: usize) -> Result<Self, String> {
        if scales.is_empty() || scales.len() != zero_points.len() {
            return Err(format!("{} scales and {} zero points", scales.len(), zero_points.len()));
        }
        match scales.iter().find(|scale| !(scale.is_normal() && **scale > 0.0)) {
            Some(scale) => Err(format!("scale {scale} is not a positive normal number")),
            None => Ok(Self { scales, zero_points, axis, legacy: false, four_bits: false }),
        }
    }

    /// For the int8 that stand for the same real numbers as these uint8: the zero points
    /// less 128. It is [legacy](Self::legacy).
    #[must_use]
    pub(crate) fn of_signed(&self) -> Self {
        let zero_points = self.zero_points.iter().map(|zero_point| zero_point.saturating_sub(128)).collect();
        Self { zero_points, legacy: true, ..self.clone() }
    }

    /// For the int8 that a file's int4 have become.
    #[must_use]
    pub(crate) fn of_four_bits(self) -> Self {
        Self { four_bits: true, ..self }
    }

    /// For the int4 themselves, two in a byte.
    #[cfg(feature = "tflite")]
    pub(crate) fn of_packed(self) -> Self {
        Self { four_bits: false, ..self }
    }

    /// Whether these int8 are a file's int4, so that two of them fit a byte.
    #[must_use]
    pub const fn four_bits(&self) -> bool {
        self.four_bits
    }

    /// Whether these int8 are a file's uint8, whose arithmetic rounds otherwise in places.
    #[must_use]
    pub const fn legacy(&self) -> bool {
        self.legacy
    }

    /// Checks that the parameters fit a tensor of this type and shape.
    ///
    /// # Errors
    ///
    /// When the number of scales is neither 1 nor the extent of the axis, or a zero
    /// point is no value of the element type.
    pub fn check(&self, dtype: DType, shape: &[usize]) -> Result<(), String> {
        let channels = self.scales.len();
        if channels > 1 && shape.get(self.axis) != Some(&channels) {
            return Err(format!("{channels} scales for axis {} of shape {shape:?}", self.axis));
        }
        let (min, max) = match dtype {
            DType::I4 => (-8, 7),
            DType::I8 => (-128, 127),
            DType::U8 => (0, 255),
            DType::I16 => (-32_768, 32_767),
            DType::I32 | DType::I64 => (i32::MIN, i32::MAX),
            DType::F16 | DType::BF16 | DType::F32 => {
                return Err("floating-point tensors have no quantization".into());
            }
            DType::Bool => return Err("truth values have no quantization".into()),
            DType::U32 | DType::U64 => return Err(format!("{} tensors have no quantization", dtype.name())),
        };
        match self.zero_points.iter().find(|z| !(min..=max).contains(*z)) {
            Some(z) => Err(format!("zero point {z} is outside {min}..={max}")),
            None => Ok(()),
        }
    }

    /// The scales: one, or one for each slice along [`Quantization::axis`].
    #[must_use]
    pub fn scales(&self) -> &[f32] {
        &self.scales
    }

    /// The zero points, as many as scales.
    #[must_use]
    pub fn zero_points(&self) -> &[i32] {
        &self.zero_points
    }

    /// The axis that the scales belong to, when there are several.
    #[must_use]
    pub const fn axis(&self) -> usize {
        self.axis
    }

    /// Scale and zero point of the whole tensor, when there is one of each.
    #[must_use]
    pub fn tensor_wide(&self) -> Option<aot_rt::Quantization> {
        match (self.scales.as_slice(), self.zero_points.as_slice()) {
            (&[scale], &[zero_point]) => Some(aot_rt::Quantization { scale, zero_point }),
            _ => None,
        }
    }
}
