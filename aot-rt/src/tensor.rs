//! Descriptions of tensors at a model's edge.

use crate::DType;

/// How integers stand for real numbers: `real = scale * (q - zero_point)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantization {
    /// Real value of one step; finite and positive.
    pub scale: f32,
    /// Integer that stands for 0.
    pub zero_point: i32,
}

impl Quantization {
    /// Nearest integer to `real` (ties away from zero), limited to `min..=max`.
    ///
    /// ```
    /// # use aot_rt::Quantization;
    /// let q = Quantization { scale: 0.5, zero_point: 3 };
    /// assert_eq!(q.quantize(1.25, -128, 127), 6);
    /// assert_eq!(q.quantize(1e9, -128, 127), 127);
    /// ```
    #[must_use]
    pub fn quantize(self, real: f32, min: i32, max: i32) -> i32 {
        // `as` limits to i32; a NaN becomes the zero point.
        let steps = libm::roundf(real / self.scale) as i32;
        let q = steps.saturating_add(self.zero_point);
        if q < min {
            min
        } else if q > max {
            max
        } else {
            q
        }
    }

    /// Nearest integer of four bits to `real`.
    #[must_use]
    pub fn quantize_i4(self, real: f32) -> i8 {
        self.quantize(real, -8, 7) as i8
    }

    /// Nearest `i8` to `real`.
    #[must_use]
    pub fn quantize_i8(self, real: f32) -> i8 {
        self.quantize(real, i8::MIN.into(), i8::MAX.into()) as i8
    }

    /// Nearest `u8` to `real`.
    #[must_use]
    pub fn quantize_u8(self, real: f32) -> u8 {
        self.quantize(real, u8::MIN.into(), u8::MAX.into()) as u8
    }

    /// Nearest `i16` to `real`.
    #[must_use]
    pub fn quantize_i16(self, real: f32) -> i16 {
        self.quantize(real, i16::MIN.into(), i16::MAX.into()) as i16
    }

    /// Nearest `i32` to `real`.
    #[must_use]
    pub fn quantize_i32(self, real: f32) -> i32 {
        self.quantize(real, i32::MIN, i32::MAX)
    }

    /// Real value of `q`.
    #[must_use]
    pub fn dequantize(self, q: i32) -> f32 {
        self.scale * q.wrapping_sub(self.zero_point) as f32
    }
}

/// An input or output of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TensorInfo {
    /// Name in the model file.
    pub name: &'static str,
    /// Type of the elements.
    pub dtype: DType,
    /// Extents, outermost first; channels are last.
    pub shape: &'static [usize],
    /// Meaning of the integers, for quantized tensors.
    pub quantization: Option<Quantization>,
}

impl TensorInfo {
    /// Number of elements.
    #[must_use]
    pub const fn len(&self) -> usize {
        let mut len = 1;
        let mut axis = 0;
        while axis < self.shape.len() {
            len *= self.shape[axis];
            axis += 1;
        }
        len
    }

    /// Whether there is no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of bytes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.dtype.bytes(self.len())
    }
}
