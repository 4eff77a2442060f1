//! What results are limited to.

use super::kernel_params;
use crate::fixed_point::Rounding;

/// An integer type of quantized results.
pub trait Quantized: Copy + Into<i32> {
    /// `q`, which is within the type's range.
    #[doc(hidden)]
    fn narrow(q: i32) -> Self;

    /// The number of the type that is nearest to `q`.
    #[doc(hidden)]
    fn saturate(q: i32) -> Self;
}

macro_rules! quantized {
    ($($ty:ty),*) => {$(
        impl Quantized for $ty {
            #[inline(always)]
            fn narrow(q: i32) -> Self {
                q as Self
            }

            #[inline(always)]
            fn saturate(q: i32) -> Self {
                q.clamp(Self::MIN.into(), Self::MAX.into()) as Self
            }
        }
    )*};
}

quantized!(i8, i16);

kernel_params! {
    /// Range that a float result is limited to: a fused activation.
    pub struct RangeF32 {
        /// Lower limit, or minus infinity.
        pub min: f32,
        /// Upper limit, or infinity.
        pub max: f32,
    }

    /// Range that an int8 or int16 result is limited to.
    pub struct RangeI8 {
        /// Lower limit: that of the type, or that of a fused activation.
        pub min: i32,
        /// Upper limit: that of the type, or that of a fused activation.
        pub max: i32,
    }

    /// Range that an int16 result is limited to.
    pub struct RangeI16 {
        /// Lower limit: -32768, or that of a fused activation.
        pub min: i32,
        /// Upper limit: 32767, or that of a fused activation.
        pub max: i32,
    }

    /// Zero point of an int8 or int16 result, and the range that it is limited to.
    pub struct OutputI8 {
        /// Integer that stands for 0.
        pub zero_point: i32,
        /// Lower limit: that of the type, or that of a fused activation.
        pub min: i32,
        /// Upper limit: that of the type, or that of a fused activation.
        pub max: i32,
        /// Round once instead of twice, see [`Rounding`].
        pub single_rounding: bool,
    }
}

impl RangeF32 {
    /// No limit.
    pub const ALL: Self = Self { min: f32::NEG_INFINITY, max: f32::INFINITY };

    /// `x` within the range; NaN stays NaN.
    #[inline(always)]
    #[must_use]
    pub const fn limit(self, x: f32) -> f32 {
        if x < self.min {
            self.min
        } else if x > self.max {
            self.max
        } else {
            x
        }
    }
}

impl RangeI8 {
    /// `q` within the range.
    #[inline(always)]
    #[must_use]
    pub fn limit<T: Quantized>(self, q: i32) -> T {
        T::narrow(q.max(self.min).min(self.max))
    }
}

impl RangeI16 {
    /// `q` within the range.
    #[inline(always)]
    #[must_use]
    pub fn limit(self, q: i64) -> i16 {
        q.max(self.min.into()).min(self.max.into()) as i16
    }
}

impl OutputI8 {
    /// The stated rounding.
    #[inline(always)]
    #[must_use]
    pub const fn rounding(self) -> Rounding {
        Rounding::of(self.single_rounding)
    }

    /// `steps` from the zero point, within the range.
    #[inline(always)]
    #[must_use]
    pub fn limit<T: Quantized>(self, steps: i32) -> T {
        RangeI8 { min: self.min, max: self.max }.limit(steps.wrapping_add(self.zero_point))
    }
}
