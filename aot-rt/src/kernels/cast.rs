//! `cast`: elements that stand for themselves, as another type.
//!
//! Floats are cut off at the point and limited to what the type holds; integers lose the
//! bits that there is no room for. From single to half precision and bfloat16, to the
//! nearest, ties to even.

use half::{bf16, f16};

use super::elementwise::map;
use super::kernel_params;
use crate::Params;
use crate::nibbles::{lower, upper};

kernel_params! {
    /// Parameters of the casts.
    pub struct Cast {
        /// Elements of `x` and `y`.
        pub len: usize,
    }
}

/// From f32 to int8.
pub fn cast_f32_i8(params: &impl Params<Cast>, x: &[f32], y: &mut [i8]) {
    map(params.get().len, x, y, |x| x as i8);
}

/// From f32 to int16.
pub fn cast_f32_i16(params: &impl Params<Cast>, x: &[f32], y: &mut [i16]) {
    map(params.get().len, x, y, |x| x as i16);
}

/// From f32 to int32.
pub fn cast_f32_i32(params: &impl Params<Cast>, x: &[f32], y: &mut [i32]) {
    map(params.get().len, x, y, |x| x as i32);
}

/// From f32 to int64.
pub fn cast_f32_i64(params: &impl Params<Cast>, x: &[f32], y: &mut [i64]) {
    map(params.get().len, x, y, |x| x as i64);
}

/// From int8 to int16.
pub fn cast_i8_i16(params: &impl Params<Cast>, x: &[i8], y: &mut [i16]) {
    map(params.get().len, x, y, i16::from);
}

/// From int8 to int32.
pub fn cast_i8_i32(params: &impl Params<Cast>, x: &[i8], y: &mut [i32]) {
    map(params.get().len, x, y, i32::from);
}

/// From int8 to int64.
pub fn cast_i8_i64(params: &impl Params<Cast>, x: &[i8], y: &mut [i64]) {
    map(params.get().len, x, y, i64::from);
}

/// From int16 to f32.
pub fn cast_i16_f32(params: &impl Params<Cast>, x: &[i16], y: &mut [f32]) {
    map(params.get().len, x, y, f32::from);
}

/// From int16 to int8.
pub fn cast_i16_i8(params: &impl Params<Cast>, x: &[i16], y: &mut [i8]) {
    map(params.get().len, x, y, |x| x as i8);
}

/// From int16 to int32.
pub fn cast_i16_i32(params: &impl Params<Cast>, x: &[i16], y: &mut [i32]) {
    map(params.get().len, x, y, i32::from);
}

/// From int16 to int64.
pub fn cast_i16_i64(params: &impl Params<Cast>, x: &[i16], y: &mut [i64]) {
    map(params.get().len, x, y, i64::from);
}

/// From int32 to f32.
pub fn cast_i32_f32(params: &impl Params<Cast>, x: &[i32], y: &mut [f32]) {
    map(params.get().len, x, y, |x| x as f32);
}

/// From int32 to int8.
pub fn cast_i32_i8(params: &impl Params<Cast>, x: &[i32], y: &mut [i8]) {
    map(params.get().len, x, y, |x| x as i8);
}

/// From int32 to int16.
pub fn cast_i32_i16(params: &impl Params<Cast>, x: &[i32], y: &mut [i16]) {
    map(params.get().len, x, y, |x| x as i16);
}

/// From int32 to int64.
pub fn cast_i32_i64(params: &impl Params<Cast>, x: &[i32], y: &mut [i64]) {
    map(params.get().len, x, y, i64::from);
}

/// From int64 to f32.
pub fn cast_i64_f32(params: &impl Params<Cast>, x: &[i64], y: &mut [f32]) {
    map(params.get().len, x, y, |x| x as f32);
}

/// From int64 to int8.
pub fn cast_i64_i8(params: &impl Params<Cast>, x: &[i64], y: &mut [i8]) {
    map(params.get().len, x, y, |x| x as i8);
}

/// From int64 to int16.
pub fn cast_i64_i16(params: &impl Params<Cast>, x: &[i64], y: &mut [i16]) {
    map(params.get().len, x, y, |x| x as i16);
}

/// From int64 to int32.
pub fn cast_i64_i32(params: &impl Params<Cast>, x: &[i64], y: &mut [i32]) {
    map(params.get().len, x, y, |x| x as i32);
}

/// From f32 to uint32.
pub fn cast_f32_u32(params: &impl Params<Cast>, x: &[f32], y: &mut [u32]) {
    map(params.get().len, x, y, |x| x as u32);
}

/// From uint32 to f32.
pub fn cast_u32_f32(params: &impl Params<Cast>, x: &[u32], y: &mut [f32]) {
    map(params.get().len, x, y, |x| x as f32);
}

/// From uint32 to int64.
pub fn cast_u32_i64(params: &impl Params<Cast>, x: &[u32], y: &mut [i64]) {
    map(params.get().len, x, y, i64::from);
}

/// From f32 to half precision.
pub fn cast_f32_f16(params: &impl Params<Cast>, x: &[f32], y: &mut [f16]) {
    map(params.get().len, x, y, f16::from_f32);
}

/// From f32 to bfloat16.
pub fn cast_f32_bf16(params: &impl Params<Cast>, x: &[f32], y: &mut [bf16]) {
    map(params.get().len, x, y, bf16::from_f32);
}

/// From bfloat16 to f32.
pub fn cast_bf16_f32(params: &impl Params<Cast>, x: &[bf16], y: &mut [f32]) {
    map(params.get().len, x, y, bf16::to_f32);
}

/// From int4, two in a byte, to int8.
pub fn cast_i4_i8(params: &impl Params<Cast>, x: &[i8], y: &mut [i8]) {
    let len = params.get().len;
    debug_assert_eq!((x.len(), y.len()), (len.div_ceil(2), len));
    let (pairs, last) = y.as_chunks_mut::<2>();
    for ([low, high], &byte) in pairs.iter_mut().zip(x) {
        (*low, *high) = (lower(byte), upper(byte));
    }
    if let ([y], Some(&byte)) = (last, x.last()) {
        *y = lower(byte);
    }
}

/// From int8 to int4, two in a byte.
pub fn cast_i8_i4(params: &impl Params<Cast>, x: &[i8], y: &mut [i8]) {
    let len = params.get().len;
    debug_assert_eq!((x.len(), y.len()), (len, len.div_ceil(2)));
    let (pairs, last) = x.as_chunks::<2>();
    let last = last.first().map(|&low| [low, 0]);
    for (y, [low, high]) in y.iter_mut().zip(pairs.iter().copied().chain(last)) {
        *y = low & 15 | high << 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_types() {
        let x = [1.0, 1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, -65_536.0];
        let four = Cast { len: 4 };
        let (mut half, mut brain, mut floats) = ([f16::ZERO; 4], [bf16::ZERO; 4], [0.0; 4]);
        cast_f32_f16(&four, &x, &mut half);
        assert_eq!(half.map(f16::to_bits), [0x3c00, 0x3c04, 0x3c0c, 0xfc00]);
        cast_f32_bf16(&four, &x, &mut brain);
        assert_eq!(brain.map(bf16::to_bits), [0x3f80, 0x3f80, 0x3f82, 0xc780]);
        cast_bf16_f32(&four, &brain, &mut floats);
        assert_eq!(floats, [1.0, 1.0, 1.0 + 4.0 / 256.0, -65_536.0]);
        let three = Cast { len: 3 };
        let (mut packed, mut bytes) = ([0; 2], [0; 3]);
        cast_i8_i4(&three, &[1, -8, 7], &mut packed);
        assert_eq!(packed, [0x81_u8.cast_signed(), 7]);
        cast_i4_i8(&three, &packed, &mut bytes);
        assert_eq!(bytes, [1, -8, 7]);
    }

    #[test]
    fn casts() {
        let three = Cast { len: 3 };
        let mut bytes = [0; 3];
        cast_f32_i8(&three, &[-1.9, 1.9, 1e9], &mut bytes);
        assert_eq!(bytes, [-1, 1, 127]);
        cast_i32_i8(&three, &[-1, 128, 257], &mut bytes);
        assert_eq!(bytes, [-1, -128, 1]);
        let mut integers = [0; 3];
        cast_f32_i32(&three, &[f32::NAN, -0.5, 7.0], &mut integers);
        assert_eq!(integers, [0, 0, 7]);
        let mut long = [0; 3];
        cast_i32_i64(&three, &[-1, 0, i32::MAX], &mut long);
        assert_eq!(long, [-1, 0, 2_147_483_647]);
        let mut naturals = [0; 3];
        cast_f32_u32(&three, &[-1.5, 1.5, 1e10], &mut naturals);
        assert_eq!(naturals, [0, 1, u32::MAX]);
        cast_u32_i64(&three, &naturals, &mut long);
        assert_eq!(long, [0, 1, 4_294_967_295]);
        let mut floats = [0.0; 3];
        cast_u32_f32(&three, &naturals, &mut floats);
        assert_eq!(floats, [0.0, 1.0, 4_294_967_296.0]);
        cast_i64_f32(&three, &[-1, 1 << 40, 3], &mut floats);
        assert_eq!(floats, [-1.0, 1_099_511_627_776.0, 3.0]);
    }
}
