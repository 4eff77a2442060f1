//! Kernels: the arithmetic of the operators, each written once.
//!
//! A kernel takes its parameters through [`Params`](crate::Params), so that
//! generated code can specialise it for constant extents while the evaluator, the
//! VM and `optimize = "size"` share one instance. Activations are NHWC.
//!
//! What specialising buys in run time (x86-64, measured): pools and means are 2 to 10
//! times as fast, depthwise convolutions up to 1.7 times, and elementwise kernels of
//! floats up to 2 times. Convolutions and matrix products gain less than a fifth: their loops
//! over filters are compiled once for all callers.
//!
//! Kernels are total: they neither panic nor allocate. Slices whose length is not
//! what the parameters say leave the output unwritten from there on; the compiler
//! proves the lengths, and debug builds assert them.

use crate::params::kernel_params;
use crate::{Access, DType, Fields, Operand, OperandError};

mod add;
mod conv2d;
mod depthwise_conv2d;
mod dot;
mod elementwise;
mod filters;
mod fully_connected;
mod gather;
mod lookup;
mod loops;
mod mean;
mod pad;
mod pool2d;
mod quantize;
mod requantize;
mod softmax;
mod strided_copy;
mod window;

pub use add::{AddF32, AddI8, Broadcast, add_f32, add_i8};
pub use conv2d::{Conv2dF32, Conv2dI8, conv2d_f32, conv2d_i8};
pub use depthwise_conv2d::{
    DepthwiseConv2dF32, DepthwiseConv2dI8, depthwise_conv2d_f32, depthwise_conv2d_i8,
};
pub use elementwise::{ClampF32, CopyI8, LogisticF32, clamp_f32, copy_i8, logistic_f32};
pub use filters::packed_filters;
pub use fully_connected::{FullyConnectedF32, FullyConnectedI8, fully_connected_f32, fully_connected_i8};
pub use gather::{GatherI8, gather_i8};
pub use lookup::{LookupI8, logistic_table, lookup_i8, rescale_table, tanh_table};
pub use mean::{MeanF32, MeanI8, Reduction, mean_f32, mean_i8};
pub use pad::{PadF32, PadI8, Padding, pad_f32, pad_i8};
pub use pool2d::{
    AveragePool2dF32, AveragePool2dI8, MaxPool2dF32, MaxPool2dI8, average_pool2d_f32, average_pool2d_i8,
    max_pool2d_f32, max_pool2d_i8,
};
pub use quantize::{DequantizeI8F32, QuantizeF32I8, dequantize_i8_f32, quantize_f32_i8};
pub use softmax::{SoftmaxF32, SoftmaxI8, softmax_f32, softmax_i8};
pub use strided_copy::{StridedCopyI8, strided_copy_i8};
pub use window::Window2d;

/// Name, type and access of a kernel's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperandInfo {
    /// Name of the kernel's argument.
    pub name: &'static str,
    /// Type of the elements.
    pub dtype: DType,
    /// Read, or written (and perhaps read).
    pub access: Access,
}

macro_rules! dtype {
    (i8) => {
        DType::I8
    };
    (u8) => {
        DType::U8
    };
    (i16) => {
        DType::I16
    };
    (i32) => {
        DType::I32
    };
    (i64) => {
        DType::I64
    };
    (f32) => {
        DType::F32
    };
}

macro_rules! access {
    (read) => {
        Access::Read
    };
    (write) => {
        Access::Write
    };
}

/// The table of kernels: a variant for each, holding its parameters, and how to
/// call it with operands whose types are checked at run time.
macro_rules! kernels {
    ($($variant:ident => $function:ident($($operand:ident: $access:ident $ty:ident),*);)*) => {
        /// A kernel with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Kernel {
            $(
                #[doc = concat!("[`", stringify!($function), "`]")]
                $variant($variant),
            )*
        }

        impl Kernel {
            /// Name of the kernel's function in this module.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($function),)*
                }
            }

            /// The parameters, for the code generator.
            #[must_use]
            pub fn params(&self) -> &dyn Fields {
                match self {
                    $(Self::$variant(params) => params,)*
                }
            }

            /// The operands, in the order of the function's arguments.
            #[must_use]
            pub const fn operands(&self) -> &'static [OperandInfo] {
                match self {
                    $(Self::$variant(_) => &[$(OperandInfo {
                        name: stringify!($operand),
                        dtype: dtype!($ty),
                        access: access!($access),
                    }),*],)*
                }
            }

            /// Runs the kernel on `operands`.
            ///
            /// # Errors
            ///
            /// When number, type or access of the operands is not that of
            /// [`Kernel::operands`].
            pub fn run(&self, operands: &mut [Operand<'_>]) -> Result<(), OperandError> {
                match self {
                    $(Self::$variant(params) => {
                        let [$($operand),*] = operands else { return Err(OperandError::Count) };
                        $function(params, $($operand.$access::<$ty>()?),*);
                    })*
                }
                Ok(())
            }
        }
    };
}

kernels! {
    AddF32 => add_f32(a: read f32, b: read f32, y: write f32);
    AddI8 => add_i8(a: read i8, b: read i8, y: write i8);
    AveragePool2dF32 => average_pool2d_f32(x: read f32, y: write f32);
    AveragePool2dI8 => average_pool2d_i8(x: read i8, y: write i8);
    ClampF32 => clamp_f32(x: read f32, y: write f32);
    Conv2dF32 => conv2d_f32(x: read f32, weights: read f32, bias: read f32, y: write f32);
    Conv2dI8 => conv2d_i8(
        x: read i8, weights: read i8, bias: read i32, multipliers: read i32, shifts: read i8, y: write i8
    );
    CopyI8 => copy_i8(x: read i8, y: write i8);
    DepthwiseConv2dF32 => depthwise_conv2d_f32(x: read f32, weights: read f32, bias: read f32, y: write f32);
    DepthwiseConv2dI8 => depthwise_conv2d_i8(
        x: read i8, weights: read i8, bias: read i32, multipliers: read i32, shifts: read i8, y: write i8
    );
    DequantizeI8F32 => dequantize_i8_f32(x: read i8, y: write f32);
    FullyConnectedF32 => fully_connected_f32(x: read f32, weights: read f32, bias: read f32, y: write f32);
    FullyConnectedI8 => fully_connected_i8(
        x: read i8, weights: read i8, bias: read i32, multipliers: read i32, shifts: read i8, y: write i8
    );
    GatherI8 => gather_i8(x: read i8, indices: read i32, y: write i8);
    LogisticF32 => logistic_f32(x: read f32, y: write f32);
    LookupI8 => lookup_i8(x: read i8, table: read i8, y: write i8);
    MaxPool2dF32 => max_pool2d_f32(x: read f32, y: write f32);
    MaxPool2dI8 => max_pool2d_i8(x: read i8, y: write i8);
    MeanF32 => mean_f32(x: read f32, y: write f32);
    MeanI8 => mean_i8(x: read i8, y: write i8);
    PadF32 => pad_f32(x: read f32, y: write f32);
    PadI8 => pad_i8(x: read i8, y: write i8);
    QuantizeF32I8 => quantize_f32_i8(x: read f32, y: write i8);
    SoftmaxF32 => softmax_f32(x: read f32, y: write f32);
    SoftmaxI8 => softmax_i8(x: read i8, y: write i8);
    StridedCopyI8 => strided_copy_i8(x: read i8, y: write i8);
}

kernel_params! {
    /// Range that a float result is limited to: a fused activation.
    pub struct RangeF32 {
        /// Lower limit, or minus infinity.
        pub min: f32,
        /// Upper limit, or infinity.
        pub max: f32,
    }

    /// Range that an int8 result is limited to.
    pub struct RangeI8 {
        /// Lower limit: -128, or that of a fused activation.
        pub min: i32,
        /// Upper limit: 127, or that of a fused activation.
        pub max: i32,
    }

    /// Zero point of a quantized result, and the range that it is limited to.
    pub struct OutputI8 {
        /// Integer that stands for 0.
        pub zero_point: i32,
        /// Lower limit: -128, or that of a fused activation.
        pub min: i32,
        /// Upper limit: 127, or that of a fused activation.
        pub max: i32,
        /// Round once instead of twice, see [`Rounding`](crate::fixed_point::Rounding).
        pub single_rounding: bool,
    }
}

impl RangeF32 {
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
    pub fn limit(self, q: i32) -> i8 {
        q.max(self.min).min(self.max) as i8
    }
}

impl OutputI8 {
    /// The stated rounding.
    #[inline(always)]
    #[must_use]
    pub const fn rounding(self) -> crate::fixed_point::Rounding {
        if self.single_rounding {
            crate::fixed_point::Rounding::Single
        } else {
            crate::fixed_point::Rounding::Double
        }
    }

    /// `steps` from the zero point, within the range.
    #[inline(always)]
    #[must_use]
    pub fn limit(self, steps: i32) -> i8 {
        RangeI8 { min: self.min, max: self.max }.limit(steps.wrapping_add(self.zero_point))
    }
}

#[cfg(test)]
mod tests {
    use super::Window2d;

    /// Small integers as floats, for cases that hold for both types.
    pub(super) fn floats(integers: &[i8]) -> [f32; 32] {
        core::array::from_fn(|i| integers.get(i).copied().unwrap_or(0).into())
    }

    /// A generator of test data: the same in every run.
    pub(super) struct Random(pub(super) u64);

    impl Random {
        /// A number below `end`.
        pub(super) fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % end
        }

        /// Any bytes.
        pub(super) fn array<const N: usize>(&mut self) -> [i8; N] {
            core::array::from_fn(|_| self.below(256) as u8 as i8)
        }

        /// Any window over an image of up to 7x7; some lie outside it.
        pub(super) fn window(&mut self) -> Window2d {
            let mut pair =
                |from: usize, to: usize| [from + self.below(to - from), from + self.below(to - from)];
            Window2d {
                batch: pair(1, 3)[0],
                input: pair(1, 8),
                output: pair(1, 6),
                kernel: pair(1, 5),
                stride: pair(1, 4),
                dilation: pair(1, 4),
                padding: pair(0, 4),
            }
        }
    }

    /// Calls `tap` with the cells of the window and the pixels of `x` under one
    /// cell of `y`, from the definition.
    pub(super) fn for_each_tap(
        window: &Window2d,
        [image, row, column]: [usize; 3],
        mut tap: impl FnMut(usize, usize),
    ) {
        let [height, width] = window.input;
        for kernel_row in 0..window.kernel[0] {
            for kernel_column in 0..window.kernel[1] {
                let row = row * window.stride[0] + kernel_row * window.dilation[0];
                let column = column * window.stride[1] + kernel_column * window.dilation[1];
                let place = (row.checked_sub(window.padding[0]), column.checked_sub(window.padding[1]));
                if let (Some(row), Some(column)) = place
                    && row < height
                    && column < width
                {
                    let pixel = (image * height + row) * width + column;
                    tap(kernel_row * window.kernel[1] + kernel_column, pixel);
                }
            }
        }
    }
}
