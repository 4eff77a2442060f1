//! Real numbers as they are stored: weights in half precision take half the flash.

use half::f16;

/// A real number of some precision.
pub(crate) trait Real: Copy {
    /// The same number in single precision.
    #[doc(hidden)]
    fn widen(self) -> f32;
}

impl Real for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

impl Real for f16 {
    /// As [`f16::to_f32`], but without branches, so that loops become vector instructions.
    #[inline(always)]
    fn widen(self) -> f32 {
        /// By how much the exponents of the two formats differ, in its place.
        const EXPONENT: u32 = 112 << 23;
        const HALF: f32 = 0.5;
        let bits = u32::from(self.to_bits());
        let magnitude = bits & 0x7fff;
        let normal = (magnitude << 13) + EXPONENT;
        // 0.5 and the subnormal number, which is in steps of the last place of 0.5.
        let subnormal = (f32::from_bits(HALF.to_bits() + magnitude) - HALF).to_bits();
        let special = normal + EXPONENT;
        let widened = if magnitude < 0x0400 {
            subnormal
        } else if magnitude < 0x7c00 {
            normal
        } else {
            special
        };
        f32::from_bits(widened | ((bits & 0x8000) << 16))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_half_precision_numbers() {
        for bits in 0..=u16::MAX {
            let number = f16::from_bits(bits);
            let (widened, expect) = (number.widen(), number.to_f32());
            assert!(
                widened.to_bits() == expect.to_bits() || expect.is_nan() && widened.is_nan(),
                "{bits:#x}"
            );
        }
    }
}
