//! `cast`: elements that stand for themselves, as another type.
//!
//! Floats are cut off at the point and limited to what the type holds; integers lose the
//! bits that there is no room for.

use super::elementwise::map;
use super::kernel_params;
use crate::Params;

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

#[cfg(test)]
mod tests {
    use super::*;

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
