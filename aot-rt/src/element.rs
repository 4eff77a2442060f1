//! Element types of tensors.

/// Type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// Signed 4-bit integer: two are in a byte, the first in its lower half.
    I4,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 64-bit integer.
    I64,
    /// Unsigned 64-bit integer.
    U64,
    /// IEEE 754 half precision.
    F16,
    /// bfloat16: the upper half of IEEE 754 single precision.
    BF16,
    /// IEEE 754 single precision.
    F32,
    /// A truth value: a byte that is 0 or 1.
    Bool,
}

impl DType {
    /// Bytes of one element, which is also its alignment; of `i4`, those of two.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::I4 | Self::I8 | Self::U8 | Self::Bool => 1,
            Self::I16 | Self::F16 | Self::BF16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    /// Units of [`size`](Self::size) bytes that so many elements take: as many, or half of
    /// them.
    #[must_use]
    pub const fn units(self, elements: usize) -> usize {
        match self {
            Self::I4 => elements.div_ceil(2),
            _ => elements,
        }
    }

    /// Bytes of so many elements.
    #[must_use]
    pub const fn bytes(self, elements: usize) -> usize {
        self.units(elements) * self.size()
    }

    /// All types.
    pub const ALL: [Self; 12] = [
        Self::I4,
        Self::I8,
        Self::U8,
        Self::I16,
        Self::I32,
        Self::U32,
        Self::I64,
        Self::U64,
        Self::F16,
        Self::BF16,
        Self::F32,
        Self::Bool,
    ];

    /// The type with this [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dtype| dtype.name() == name)
    }

    /// Name: `"i8"`, `"f32"`, `"bool"`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::I4 => "i4",
            Self::I8 => "i8",
            Self::U8 => "u8",
            Self::I16 => "i16",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::F32 => "f32",
            Self::Bool => "bool",
        }
    }

    /// The Rust type that holds a unit of [`size`](Self::size) bytes: a `bool` is a `u8`,
    /// since not every byte is a `bool` in Rust, and so are two `i4`.
    #[must_use]
    pub const fn rust_type(self) -> &'static str {
        match self {
            Self::I4 | Self::Bool => "u8",
            Self::F16 => "::aot_rt::f16",
            Self::BF16 => "::aot_rt::bf16",
            Self::I8 | Self::U8 | Self::I16 | Self::I32 | Self::U32 | Self::I64 | Self::U64 | Self::F32 => {
                self.name()
            }
        }
    }
}

/// A Rust type that can be an element of a tensor.
///
/// # Safety
///
/// Every bit pattern is a value, there is no padding, the size is `DTYPE.size()`, and
/// the alignment is that or less.
#[expect(unsafe_code, reason = "regions are cast to slices of this type")]
pub unsafe trait Element: Copy + 'static {
    /// The type's tag.
    const DTYPE: DType;
}

macro_rules! element {
    ($($ty:ty => $dtype:ident),*) => {$(
        // SAFETY: a primitive number of that size; all bit patterns are values.
        #[expect(unsafe_code, reason = "primitive numbers meet the contract")]
        unsafe impl Element for $ty {
            const DTYPE: DType = DType::$dtype;
        }
    )*};
}

element!(
    i8 => I8, u8 => U8, i16 => I16, i32 => I32, u32 => U32, i64 => I64, u64 => U64, half::f16 => F16,
    half::bf16 => BF16, f32 => F32
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_elements() {
        for (dtype, elements, expect) in [
            (DType::I4, 0, 0),
            (DType::I4, 1, 1),
            (DType::I4, 5, 3),
            (DType::BF16, 5, 10),
            (DType::Bool, 5, 5),
        ] {
            assert_eq!(dtype.bytes(elements), expect, "{elements} {}", dtype.name());
        }
        assert!(DType::ALL.iter().all(|dtype| DType::from_name(dtype.name()) == Some(*dtype)));
    }
}
