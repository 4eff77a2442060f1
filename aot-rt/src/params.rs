//! Parameters of kernels: constants that rustc specialises for, or fields.

/// Gives a kernel its parameters `T`.
///
/// A parameter struct gives itself: all callers share one instance of the
/// kernel. A type made by [`specialise!`](crate::specialise) is zero-sized and
/// gives a constant: rustc compiles an instance for it and folds every extent.
pub trait Params<T> {
    /// Whether they are constants, and the kernel is compiled for them.
    const CONSTANT: bool;

    /// The parameters.
    fn get(&self) -> T;
}

impl<T: Copy> Params<T> for T {
    const CONSTANT: bool = false;

    #[inline(always)]
    fn get(&self) -> T {
        *self
    }
}

/// Makes a zero-sized type that stands for constant parameters.
///
/// ```
/// use aot_rt::{Params, specialise};
/// specialise!(Answer: i32 = 42);
/// assert_eq!(Answer.get(), 42);
/// assert_eq!(size_of::<Answer>(), 0);
/// ```
#[macro_export]
macro_rules! specialise {
    ($(#[$meta:meta])* $name:ident: $ty:ty = $value:expr) => {
        $(#[$meta])*
        struct $name;
        impl $name {
            #[allow(dead_code, reason = "for checks of plans, which not every kernel needs")]
            const PARAMS: $ty = $value;
        }
        impl $crate::Params<$ty> for $name {
            const CONSTANT: bool = true;

            #[inline(always)]
            fn get(&self) -> $ty {
                Self::PARAMS
            }
        }
    };
}

/// A value of a parameter struct's field.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// An extent or count.
    Usize(usize),
    /// A zero point, a bound, a multiplier.
    I32(i32),
    /// A real number.
    F32(f32),
    /// A switch.
    Bool(bool),
    /// Extents.
    Usizes(&'a [usize]),
    /// Strides that may lead backwards.
    I32s(&'a [i32]),
    /// A nested parameter struct.
    Struct(&'a dyn Fields),
}

/// A parameter struct whose fields can be listed: the code generator prints it.
pub trait Fields {
    /// Name of the struct, found in [`kernels`](crate::kernels).
    fn name(&self) -> &'static str;
    /// Calls `visit` for every field, in order.
    fn fields(&self, visit: &mut dyn FnMut(&'static str, Value<'_>));
}

/// A type that a field of a parameter struct may have.
pub(crate) trait Field {
    fn value(&self) -> Value<'_>;
}

macro_rules! field {
    ($($ty:ty => $variant:ident),*) => {$(
        impl Field for $ty {
            fn value(&self) -> Value<'_> {
                Value::$variant(*self)
            }
        }
    )*};
}

field!(usize => Usize, i32 => I32, f32 => F32, bool => Bool);

impl<const N: usize> Field for [usize; N] {
    fn value(&self) -> Value<'_> {
        Value::Usizes(self)
    }
}

impl<const N: usize> Field for [i32; N] {
    fn value(&self) -> Value<'_> {
        Value::I32s(self)
    }
}

impl<T: Fields> Field for T {
    fn value(&self) -> Value<'_> {
        Value::Struct(self)
    }
}

/// Declares a parameter struct and lists its fields.
macro_rules! kernel_params {
    ($(
        $(#[$meta:meta])*
        pub struct $name:ident { $($(#[$field_meta:meta])* pub $field:ident: $ty:ty),* $(,)? }
    )*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct $name { $($(#[$field_meta])* pub $field: $ty),* }

        impl $crate::Fields for $name {
            fn name(&self) -> &'static str {
                stringify!($name)
            }
            fn fields(&self, visit: &mut dyn FnMut(&'static str, $crate::Value<'_>)) {
                $(visit(stringify!($field), $crate::params::Field::value(&self.$field));)*
            }
        }
    )*};
}
pub(crate) use kernel_params;
