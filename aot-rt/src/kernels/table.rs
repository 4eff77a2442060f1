//! The table of kernels, and what follows from it.

use half::{bf16, f16};

use super::call::{AllModes, CELL, Modes, call, elements, has_room, packed, packed_for_all};
use super::*;
use crate::{Access, DType, Fields, KernelError, PackedKernel, Tensor};

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
    (u32) => {
        DType::U32
    };
    (i64) => {
        DType::I64
    };
    (u64) => {
        DType::U64
    };
    (f16) => {
        DType::F16
    };
    (bf16) => {
        DType::BF16
    };
    (f32) => {
        DType::F32
    };
}

macro_rules! kind {
    (plain) => {
        Kind::Plain
    };
    (elementwise) => {
        Kind::Elementwise
    };
    (accumulating) => {
        Kind::Accumulating
    };
    (widening) => {
        Kind::Widening
    };
    (window) => {
        Kind::Window
    };
    (reducing) => {
        Kind::Reducing
    };
}

/// How a kernel uses an operand beside `x` and `y`.
macro_rules! access {
    () => {
        Access::Read
    };
    (mut) => {
        Access::Write
    };
}

/// Type of a kernel's parameters: the variant's name, if no other is given.
macro_rules! params_type {
    ($variant:ident) => {
        $variant
    };
    ($variant:ident $params:ident) => {
        $params
    };
}

/// The table of kernels: a variant for each, holding its parameters, and how to
/// call it with operands whose types are checked at run time.
///
/// The first word is the [`Kind`]; in parentheses stands the type of the parameters, where
/// it is not called like the variant. All have an operand `x` and a result `y`; the others
/// are read, or, with `&mut`, written: further results, states that are brought up to date,
/// and memory to work in.
macro_rules! kernels {
    ($($kind:ident $variant:ident $(($params:ident))? => $function:ident(
        x: $x:ident, y: $y:ident $(, $rest:ident: $(&$mut:ident)? $ty:ident)*
    );)*) => {
        /// A kernel with its parameters.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Kernel {
            $(
                #[doc = concat!("[`", stringify!($function), "`]")]
                $variant(params_type!($variant $($params)?)),
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

            /// Name of the variant, for the code generator.
            #[must_use]
            pub const fn variant(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => stringify!($variant),)*
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
                    $(Self::$variant(_) => &[
                        OperandInfo { name: "x", dtype: dtype!($x), access: Access::Read },
                        OperandInfo { name: "y", dtype: dtype!($y), access: Access::Write },
                        $(OperandInfo {
                            name: stringify!($rest),
                            dtype: dtype!($ty),
                            access: access!($($mut)?),
                        },)*
                    ],)*
                }
            }

            /// What the kernel can do beside [`Mode::Apart`].
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self {
                    $(Self::$variant(_) => kind!($kind),)*
                }
            }

            /// The kernel as a function of the signature that all have, for every mode.
            #[must_use]
            pub const fn packed(&self) -> PackedKernel {
                match self {
                    $(Self::$variant(_) => packed_for_all!($kind $function),)*
                }
            }
        }

        /// The kernels as functions of one signature, [`PackedKernel`].
        pub mod packed {
            use super::*;

            $(packed!($kind $variant $function($x, $y; $($rest: $(&$mut)? $ty),*));)*
        }
    };
}

kernels! {
    elementwise AbsF32(UnaryF32) => abs_f32(x: f32, y: f32);
    elementwise AbsI16(Rescale) => abs_i16(x: i16, y: i16);
    elementwise AbsI32(UnaryF32) => abs_i32(x: i32, y: i32);
    elementwise AddF32(BinaryF32) => add_f32(x: f32, y: f32, b: f32);
    elementwise AddI16(AddI8) => add_i16(x: i16, y: i16, b: i16);
    elementwise AddI32(BinaryExact) => add_i32(x: i32, y: i32, b: i32);
    elementwise AddI64(BinaryExact) => add_i64(x: i64, y: i64, b: i64);
    elementwise AddI8 => add_i8(x: i8, y: i8, b: i8);
    plain ArgMaxF32(Arg) => arg_max_f32(x: f32, y: i32);
    plain ArgMaxI32(Arg) => arg_max_i32(x: i32, y: i32);
    plain ArgMaxI8(Arg) => arg_max_i8(x: i8, y: i32);
    plain ArgMinF32(Arg) => arg_min_f32(x: f32, y: i32);
    plain ArgMinI32(Arg) => arg_min_i32(x: i32, y: i32);
    plain ArgMinI8(Arg) => arg_min_i8(x: i8, y: i32);
    plain AverageF32 => average_f32(x: f32, y: f32);
    plain AverageI8 => average_i8(x: i32, y: i8);
    window AveragePool2dF32 => average_pool2d_f32(x: f32, y: f32);
    window AveragePool2dI16(AveragePool2dI8) => average_pool2d_i16(x: i16, y: i16);
    window AveragePool2dI8 => average_pool2d_i8(x: i8, y: i8);
    plain BatchMatmulF32(BatchMatmul) => batch_matmul_f32(x: f32, y: f32, b: f32);
    plain BatchMatmulI16 => batch_matmul_i16(x: i16, y: i16, b: i16);
    plain BatchMatmulI8 => batch_matmul_i8(x: i8, y: i8, b: i8);
    plain CastBf16F32(Cast) => cast_bf16_f32(x: bf16, y: f32);
    plain CastF32Bf16(Cast) => cast_f32_bf16(x: f32, y: bf16);
    plain CastF32F16(Cast) => cast_f32_f16(x: f32, y: f16);
    plain CastF32I16(Cast) => cast_f32_i16(x: f32, y: i16);
    plain CastF32I32(Cast) => cast_f32_i32(x: f32, y: i32);
    plain CastF32I64(Cast) => cast_f32_i64(x: f32, y: i64);
    plain CastF32I8(Cast) => cast_f32_i8(x: f32, y: i8);
    plain CastF32U32(Cast) => cast_f32_u32(x: f32, y: u32);
    plain CastI16F32(Cast) => cast_i16_f32(x: i16, y: f32);
    plain CastI16I32(Cast) => cast_i16_i32(x: i16, y: i32);
    plain CastI16I64(Cast) => cast_i16_i64(x: i16, y: i64);
    plain CastI16I8(Cast) => cast_i16_i8(x: i16, y: i8);
    plain CastI32F32(Cast) => cast_i32_f32(x: i32, y: f32);
    plain CastI32I16(Cast) => cast_i32_i16(x: i32, y: i16);
    plain CastI32I64(Cast) => cast_i32_i64(x: i32, y: i64);
    plain CastI32I8(Cast) => cast_i32_i8(x: i32, y: i8);
    plain CastI4I8(Cast) => cast_i4_i8(x: i8, y: i8);
    plain CastI64F32(Cast) => cast_i64_f32(x: i64, y: f32);
    plain CastI64I16(Cast) => cast_i64_i16(x: i64, y: i16);
    plain CastI64I32(Cast) => cast_i64_i32(x: i64, y: i32);
    plain CastI64I8(Cast) => cast_i64_i8(x: i64, y: i8);
    plain CastI8I16(Cast) => cast_i8_i16(x: i8, y: i16);
    plain CastI8I32(Cast) => cast_i8_i32(x: i8, y: i32);
    plain CastI8I4(Cast) => cast_i8_i4(x: i8, y: i8);
    plain CastI8I64(Cast) => cast_i8_i64(x: i8, y: i64);
    plain CastU32F32(Cast) => cast_u32_f32(x: u32, y: f32);
    plain CastU32I64(Cast) => cast_u32_i64(x: u32, y: i64);
    elementwise CeilF32(UnaryF32) => ceil_f32(x: f32, y: f32);
    elementwise ClampF32 => clamp_f32(x: f32, y: f32);
    plain CompareF32(Compare) => compare_f32(x: f32, y: i8, b: f32);
    plain CompareI16(Compare) => compare_i16(x: i16, y: i8, b: i16);
    plain CompareI32(Compare) => compare_i32(x: i32, y: i8, b: i32);
    plain CompareI64(Compare) => compare_i64(x: i64, y: i8, b: i64);
    plain CompareI8 => compare_i8(x: i8, y: i8, b: i8);
    accumulating Conv2dAddF16(Conv2dAddF32) => conv2d_add_f16(x: f32, y: f32, weights: f16, bias: f32);
    accumulating Conv2dAddF32 => conv2d_add_f32(x: f32, y: f32, weights: f32, bias: f32);
    accumulating Conv2dAddI8 => conv2d_add_i8(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    widening Conv2dDynamicI8 => conv2d_dynamic_i8(
        x: i8, y: f32, weights: i8, bias: f32, scales: f32, quantization: f32
    );
    window Conv2dF16(Conv2dF32) => conv2d_f16(x: f32, y: f32, weights: f16, bias: f32);
    window Conv2dF32 => conv2d_f32(x: f32, y: f32, weights: f32, bias: f32);
    window Conv2dI16 => conv2d_i16(x: i16, y: i16, weights: i8, bias: i64, multipliers: i16, shifts: i8);
    window Conv2dI4(Conv2dI8) => conv2d_i4(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    window Conv2dI8 => conv2d_i8(x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8);
    plain Conv3dF32 => conv3d_f32(x: f32, y: f32, weights: f32, bias: f32);
    plain CopyI8 => copy_i8(x: i8, y: i8);
    elementwise CosF32(UnaryF32) => cos_f32(x: f32, y: f32);
    elementwise CumulativeSumF32(CumulativeSum) => cumulative_sum_f32(x: f32, y: f32);
    elementwise CumulativeSumI32(CumulativeSum) => cumulative_sum_i32(x: i32, y: i32);
    elementwise CumulativeSumI8 => cumulative_sum_i8(x: i8, y: i8);
    window DepthwiseConv2dAsymmetricI8 => depthwise_conv2d_asymmetric_i8(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    widening DepthwiseConv2dDynamicI8 => depthwise_conv2d_dynamic_i8(
        x: i8, y: f32, weights: i8, bias: f32, scales: f32, quantization: f32
    );
    window DepthwiseConv2dF16(DepthwiseConv2dF32) => depthwise_conv2d_f16(
        x: f32, y: f32, weights: f16, bias: f32
    );
    window DepthwiseConv2dF32 => depthwise_conv2d_f32(x: f32, y: f32, weights: f32, bias: f32);
    window DepthwiseConv2dI16 => depthwise_conv2d_i16(
        x: i16, y: i16, weights: i8, bias: i64, multipliers: i16, shifts: i8
    );
    window DepthwiseConv2dI8 => depthwise_conv2d_i8(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    plain DequantizeF16F32 => dequantize_f16_f32(x: f16, y: f32);
    plain DequantizeI16F32 => dequantize_i16_f32(x: i16, y: f32);
    plain DequantizeI8F32 => dequantize_i8_f32(x: i8, y: f32);
    elementwise DivF32(BinaryF32) => div_f32(x: f32, y: f32, b: f32);
    elementwise DivI32(BinaryExact) => div_i32(x: i32, y: i32, b: i32);
    elementwise DivI8(ProductI8) => div_i8(x: i8, y: i8, b: i8);
    plain DynamicQuantizationF32(DynamicRows) => dynamic_quantization_f32(x: f32, y: f32);
    elementwise EluF32(UnaryF32) => elu_f32(x: f32, y: f32);
    elementwise ExpF32(UnaryF32) => exp_f32(x: f32, y: f32);
    elementwise FlipSignBitI8 => flip_sign_bit_i8(x: i8, y: i8);
    elementwise FloorDivF32(BinaryF32) => floor_div_f32(x: f32, y: f32, b: f32);
    elementwise FloorDivI32(BinaryExact) => floor_div_i32(x: i32, y: i32, b: i32);
    elementwise FloorF32(UnaryF32) => floor_f32(x: f32, y: f32);
    elementwise FloorModF32(BinaryF32) => floor_mod_f32(x: f32, y: f32, b: f32);
    elementwise FloorModI32(BinaryExact) => floor_mod_i32(x: i32, y: i32, b: i32);
    elementwise FloorModI64(BinaryExact) => floor_mod_i64(x: i64, y: i64, b: i64);
    plain FullyConnectedDynamicI8(FullyConnectedF32) => fully_connected_dynamic_i8(
        x: i8, y: f32, weights: i8, bias: f32, scales: f32, quantization: f32
    );
    plain FullyConnectedF16(FullyConnectedF32) => fully_connected_f16(x: f32, y: f32, weights: f16, bias: f32);
    plain FullyConnectedF32 => fully_connected_f32(x: f32, y: f32, weights: f32, bias: f32);
    plain FullyConnectedI16 => fully_connected_i16(
        x: i16, y: i16, weights: i8, bias: i64, multipliers: i16, shifts: i8
    );
    plain FullyConnectedI4(FullyConnectedI8) => fully_connected_i4(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    plain FullyConnectedI8 => fully_connected_i8(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
    plain GatherI8 => gather_i8(x: i8, y: i8, indices: i32);
    plain GatherNdI8 => gather_nd_i8(x: i8, y: i8, indices: i32);
    elementwise GeluF32(UnaryF32) => gelu_f32(x: f32, y: f32);
    elementwise GeluTanhF32(UnaryF32) => gelu_tanh_f32(x: f32, y: f32);
    elementwise HardSwishF32(UnaryF32) => hard_swish_f32(x: f32, y: f32);
    elementwise InterpolateI16 => interpolate_i16(x: i16, y: i16, table: i16);
    elementwise L2NormalizationF32 => l2_normalization_f32(x: f32, y: f32);
    elementwise L2NormalizationI8 => l2_normalization_i8(x: i8, y: i8);
    window L2Pool2dF32 => l2_pool2d_f32(x: f32, y: f32);
    elementwise LeakyReluF32 => leaky_relu_f32(x: f32, y: f32);
    elementwise LeakyReluI16 => leaky_relu_i16(x: i16, y: i16);
    plain LocalResponseNormalizationF32 => local_response_normalization_f32(x: f32, y: f32);
    elementwise LogF32(UnaryF32) => log_f32(x: f32, y: f32);
    elementwise LogSoftmaxF32 => log_softmax_f32(x: f32, y: f32);
    elementwise LogSoftmaxI8 => log_softmax_i8(x: i8, y: i8);
    elementwise LogisticF32 => logistic_f32(x: f32, y: f32);
    elementwise LogisticI16 => logistic_i16(x: i16, y: i16);
    elementwise LookupI8 => lookup_i8(x: i8, y: i8, table: i8);
    plain LstmF32 => lstm_f32(
        x: f32, y: f32, hidden: &mut f32, cell: &mut f32, gates: &mut f32, weights: f32, recurrent: f32,
        bias: f32, peephole: f32, norm: f32, projection: f32, projection_bias: f32
    );
    plain LstmI16(LstmI8) => lstm_i16(
        x: i16, y: i16, hidden: &mut i16, cell: &mut i16, gates: &mut i16, weights: i8, recurrent: i8,
        bias: i64, multipliers: i16, shifts: i8
    );
    plain LstmI8 => lstm_i8(
        x: i8, y: i8, hidden: &mut i8, cell: &mut i16, gates: &mut i16, weights: i8, recurrent: i8, bias: i32,
        multipliers: i32, shifts: i8
    );
    window MaxPool2dF32 => max_pool2d_f32(x: f32, y: f32);
    window MaxPool2dI16(MaxPool2dI8) => max_pool2d_i16(x: i16, y: i16);
    window MaxPool2dI8 => max_pool2d_i8(x: i8, y: i8);
    elementwise MaximumF32(BinaryF32) => maximum_f32(x: f32, y: f32, b: f32);
    elementwise MaximumI16(BinaryExact) => maximum_i16(x: i16, y: i16, b: i16);
    elementwise MaximumI32(BinaryExact) => maximum_i32(x: i32, y: i32, b: i32);
    elementwise MaximumI64(BinaryExact) => maximum_i64(x: i64, y: i64, b: i64);
    elementwise MaximumI8(BinaryExact) => maximum_i8(x: i8, y: i8, b: i8);
    plain MeanF32 => mean_f32(x: f32, y: f32);
    plain MeanI16 => mean_i16(x: i16, y: i16);
    plain MeanI8 => mean_i8(x: i8, y: i8);
    plain MeanOfSumsI8 => mean_of_sums_i8(x: i32, y: i8);
    elementwise MinimumF32(BinaryF32) => minimum_f32(x: f32, y: f32, b: f32);
    elementwise MinimumI16(BinaryExact) => minimum_i16(x: i16, y: i16, b: i16);
    elementwise MinimumI32(BinaryExact) => minimum_i32(x: i32, y: i32, b: i32);
    elementwise MinimumI64(BinaryExact) => minimum_i64(x: i64, y: i64, b: i64);
    elementwise MinimumI8(BinaryExact) => minimum_i8(x: i8, y: i8, b: i8);
    elementwise MulF32(BinaryF32) => mul_f32(x: f32, y: f32, b: f32);
    elementwise MulI16(ProductI8) => mul_i16(x: i16, y: i16, b: i16);
    elementwise MulI32(BinaryExact) => mul_i32(x: i32, y: i32, b: i32);
    elementwise MulI64(BinaryExact) => mul_i64(x: i64, y: i64, b: i64);
    elementwise MulI8(ProductI8) => mul_i8(x: i8, y: i8, b: i8);
    elementwise NegF32(UnaryF32) => neg_f32(x: f32, y: f32);
    elementwise NegI16(Rescale) => neg_i16(x: i16, y: i16);
    elementwise NegI32(UnaryF32) => neg_i32(x: i32, y: i32);
    elementwise NegI64(UnaryF32) => neg_i64(x: i64, y: i64);
    plain OneHotI32(OneHot) => one_hot_i32(x: i32, y: i8, on: i8, off: i8);
    plain OneHotI64(OneHot) => one_hot_i64(x: i64, y: i8, on: i8, off: i8);
    plain PadF32 => pad_f32(x: f32, y: f32);
    plain PadI8 => pad_i8(x: i8, y: i8);
    elementwise PowF32(BinaryF32) => pow_f32(x: f32, y: f32, b: f32);
    elementwise PreluF32(BinaryF32) => prelu_f32(x: f32, y: f32, alpha: f32);
    elementwise PreluI16(PreluI8) => prelu_i16(x: i16, y: i16, alpha: i16);
    elementwise PreluI8 => prelu_i8(x: i8, y: i8, alpha: i8);
    plain QuantizeDynamicI8(DynamicRows) => quantize_dynamic_i8(x: f32, y: i8, quantization: f32);
    plain QuantizeF32I16 => quantize_f32_i16(x: f32, y: i16);
    plain QuantizeF32I8 => quantize_f32_i8(x: f32, y: i8);
    plain ReduceMaximumF32(Reduce) => reduce_maximum_f32(x: f32, y: f32);
    plain ReduceMaximumI32(Reduce) => reduce_maximum_i32(x: i32, y: i32);
    plain ReduceMaximumI8(Reduce) => reduce_maximum_i8(x: i8, y: i8);
    plain ReduceMinimumF32(Reduce) => reduce_minimum_f32(x: f32, y: f32);
    plain ReduceMinimumI32(Reduce) => reduce_minimum_i32(x: i32, y: i32);
    plain ReduceMinimumI8(Reduce) => reduce_minimum_i8(x: i8, y: i8);
    plain ReduceProductF32(Reduce) => reduce_product_f32(x: f32, y: f32);
    plain ReduceProductI32(Reduce) => reduce_product_i32(x: i32, y: i32);
    plain ReduceProductI8 => reduce_product_i8(x: i8, y: i8);
    plain ReduceSumF32(Reduce) => reduce_sum_f32(x: f32, y: f32);
    plain ReduceSumI32(Reduce) => reduce_sum_i32(x: i32, y: i32);
    plain RescaleI16I16(Rescale) => rescale_i16_i16(x: i16, y: i16);
    plain RescaleI16I32(Rescale) => rescale_i16_i32(x: i16, y: i32);
    plain RescaleI16I8(Rescale) => rescale_i16_i8(x: i16, y: i8);
    plain RescaleI32I16(Rescale) => rescale_i32_i16(x: i32, y: i16);
    plain RescaleI32I8(Rescale) => rescale_i32_i8(x: i32, y: i8);
    plain RescaleI8I16(Rescale) => rescale_i8_i16(x: i8, y: i16);
    plain RescaleI8I32(Rescale) => rescale_i8_i32(x: i8, y: i32);
    plain ResizeBilinearF32 => resize_bilinear_f32(x: f32, y: f32);
    plain ResizeBilinearI16(ResizeBilinearI8) => resize_bilinear_i16(x: i16, y: i16);
    plain ResizeBilinearI8 => resize_bilinear_i8(x: i8, y: i8);
    plain ResizeNearestI8 => resize_nearest_i8(x: i8, y: i8, rows: i32, columns: i32);
    plain RnnF32 => rnn_f32(
        x: f32, y: f32, hidden: &mut f32, sums: &mut f32, weights: f32, recurrent: f32, bias: f32
    );
    elementwise RoundF32(UnaryF32) => round_f32(x: f32, y: f32);
    elementwise RsqrtF32(UnaryF32) => rsqrt_f32(x: f32, y: f32);
    elementwise RsqrtI16 => rsqrt_i16(x: i16, y: i16);
    plain SelectI8 => select_i8(x: i8, y: i8, a: i8, b: i8);
    plain SignalEnergyI16 => signal_energy_i16(x: i16, y: u32);
    elementwise SignalFftAutoScaleI16 => signal_fft_auto_scale_i16(x: i16, y: i16, shift: &mut i32);
    plain SignalFilterBankLogU32 => signal_filter_bank_log_u32(x: u32, y: i16, table: i16);
    elementwise SignalFilterBankSpectralSubtractionU32 => signal_filter_bank_spectral_subtraction_u32(
        x: u32, y: u32, noise: &mut u32
    );
    plain SignalFilterBankSquareRootU64 => signal_filter_bank_square_root_u64(x: u64, y: u32, shift: i32);
    plain SignalFilterBankU32 => signal_filter_bank_u32(
        x: u32, y: u64, weights: i16, unweights: i16, bands: i16
    );
    elementwise SignalPcanU32 => signal_pcan_u32(x: u32, y: u32, noise: u32, gains: i16);
    plain SignalRfftF32(SignalRfft) => signal_rfft_f32(x: f32, y: f32, turns: f32);
    plain SignalRfftI16(SignalRfft) => signal_rfft_i16(x: i16, y: i16, turns: i16);
    plain SignalRfftI32(SignalRfft) => signal_rfft_i32(x: i32, y: i32, turns: i32);
    elementwise SignalWindowI16 => signal_window_i16(x: i16, y: i16, weights: i16);
    elementwise SinF32(UnaryF32) => sin_f32(x: f32, y: f32);
    elementwise SoftmaxF32 => softmax_f32(x: f32, y: f32);
    elementwise SoftmaxI16 => softmax_i16(x: i16, y: i16, exp: i16, reciprocal: i16);
    elementwise SoftmaxI8 => softmax_i8(x: i8, y: i8);
    plain SoftmaxI8I16(SoftmaxI8) => softmax_i8_i16(x: i8, y: i16);
    elementwise SqrtF32(UnaryF32) => sqrt_f32(x: f32, y: f32);
    elementwise SqrtI16 => sqrt_i16(x: i16, y: i16);
    elementwise SquareF32(UnaryF32) => square_f32(x: f32, y: f32);
    elementwise SquaredDifferenceF32(BinaryF32) => squared_difference_f32(x: f32, y: f32, b: f32);
    elementwise SquaredDifferenceI16(AddI8) => squared_difference_i16(x: i16, y: i16, b: i16);
    elementwise SquaredDifferenceI32(BinaryExact) => squared_difference_i32(x: i32, y: i32, b: i32);
    elementwise SquaredDifferenceI8(AddI8) => squared_difference_i8(x: i8, y: i8, b: i8);
    plain StridedCopyI8 => strided_copy_i8(x: i8, y: i8);
    elementwise SubF32(BinaryF32) => sub_f32(x: f32, y: f32, b: f32);
    elementwise SubI16(AddI8) => sub_i16(x: i16, y: i16, b: i16);
    elementwise SubI32(BinaryExact) => sub_i32(x: i32, y: i32, b: i32);
    elementwise SubI64(BinaryExact) => sub_i64(x: i64, y: i64, b: i64);
    elementwise SubI8(AddI8) => sub_i8(x: i8, y: i8, b: i8);
    reducing SumRowsF32 => sum_rows_f32(x: f32, y: f32);
    reducing SumRowsI8 => sum_rows_i8(x: i8, y: i32);
    plain SvdfF32 => svdf_f32(
        x: f32, y: f32, state: &mut f32, features: &mut f32, weights: f32, time: f32, bias: f32
    );
    plain SvdfI8 => svdf_i8(
        x: i8, y: i8, state: &mut i16, features: &mut i16, weights: i8, time: i16, bias: i32
    );
    plain SvdfMemoryI8(SvdfI8) => svdf_memory_i8(
        x: i8, y: i8, state: &mut i8, features: &mut i16, weights: i8, time: i8, bias: i32
    );
    elementwise TanhF32(UnaryF32) => tanh_f32(x: f32, y: f32);
    elementwise TanhI16(LogisticI16) => tanh_i16(x: i16, y: i16);
    plain TopKF32(TopK) => top_k_f32(x: f32, y: i32);
    plain TopKI32(TopK) => top_k_i32(x: i32, y: i32);
    plain TopKI8(TopK) => top_k_i8(x: i8, y: i32);
    plain TransposeConv2dF32 => transpose_conv2d_f32(x: f32, y: f32, weights: f32, bias: f32);
    plain TransposeConv2dI16 => transpose_conv2d_i16(
        x: i16, y: i16, weights: i8, bias: i64, multipliers: i16, shifts: i8
    );
    plain TransposeConv2dI8 => transpose_conv2d_i8(
        x: i8, y: i8, weights: i8, bias: i32, multipliers: i32, shifts: i8
    );
}
