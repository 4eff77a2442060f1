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

#![expect(clippy::too_many_arguments, reason = "a kernel has an argument for each operand")]

use crate::params::kernel_params;

mod add;
mod arg;
mod batch_matmul;
mod binary;
mod call;
mod cast;
mod compare;
mod conv2d;
mod conv2d_add;
mod conv3d;
mod cumulative_sum;
mod depthwise_conv2d;
#[cfg_attr(aot_helium, expect(dead_code, reason = "those of int8 are in the microkernel"))]
mod dot;
mod dynamic;
mod elements;
mod elementwise;
mod filters;
mod fully_connected;
mod gather;
mod gather_nd;
mod images;
mod interpolate;
mod l2_normalization;
mod l2_pool2d;
mod leaky_relu;
mod local_response_normalization;
mod log_softmax;
mod lookup;
mod loops;
mod lstm;
mod mean;
mod microkernel;
mod mode;
mod nibbles;
mod one_hot;
mod output;
mod overlap;
mod pad;
mod pool2d;
mod product;
mod quantize;
mod real;
mod recurrent;
mod reduce;
mod reduction;
mod requantize;
mod resize;
mod rnn;
mod root_i16;
mod rows;
mod select;
mod signal;
mod softmax;
mod softmax_i16;
mod strided_copy;
mod sum_rows;
mod svdf;
mod table;
#[cfg(test)]
mod tests;
mod top_k;
mod transpose_conv2d;
mod unary;
mod window;

pub use add::{
    AddI8, SumI8, add_i8, add_i16, squared_difference_i8, squared_difference_i16, sub_i8, sub_i16,
};
pub use arg::{Arg, arg_max_f32, arg_max_i8, arg_max_i32, arg_min_f32, arg_min_i8, arg_min_i32};
pub use batch_matmul::{
    BatchMatmul, BatchMatmulI8, BatchMatmulI16, batch_matmul_f32, batch_matmul_i8, batch_matmul_i16,
};
pub use binary::{
    BinaryExact, BinaryF32, add_f32, add_i32, add_i64, div_f32, div_i32, floor_div_f32, floor_div_i32,
    floor_mod_f32, floor_mod_i32, floor_mod_i64, maximum_f32, maximum_i8, maximum_i16, maximum_i32,
    maximum_i64, minimum_f32, minimum_i8, minimum_i16, minimum_i32, minimum_i64, mul_f32, mul_i32, mul_i64,
    pow_f32, squared_difference_f32, squared_difference_i32, sub_f32, sub_i32, sub_i64,
};
pub use call::{AllModes, Modes};
pub use cast::{
    Cast, cast_bf16_f32, cast_f32_bf16, cast_f32_f16, cast_f32_i8, cast_f32_i16, cast_f32_i32, cast_f32_i64,
    cast_f32_u32, cast_i4_i8, cast_i8_i4, cast_i8_i16, cast_i8_i32, cast_i8_i64, cast_i16_f32, cast_i16_i8,
    cast_i16_i32, cast_i16_i64, cast_i32_f32, cast_i32_i8, cast_i32_i16, cast_i32_i64, cast_i64_f32,
    cast_i64_i8, cast_i64_i16, cast_i64_i32, cast_u32_f32, cast_u32_i64,
};
pub use compare::{
    Compare, CompareI8, Orders, compare_f32, compare_i8, compare_i16, compare_i32, compare_i64,
};
pub use conv2d::{
    Conv2dDynamicI8, Conv2dF32, Conv2dI8, Conv2dI16, conv2d_blocked_i8, conv2d_dynamic_i8, conv2d_f16,
    conv2d_f32, conv2d_i4, conv2d_i8, conv2d_i16,
};
pub use conv2d_add::{
    Accumulating, Conv2dAddF32, Conv2dAddI8, conv2d_add_blocked_i8, conv2d_add_f16, conv2d_add_f32,
    conv2d_add_i8,
};
pub use conv3d::{Conv3dF32, conv3d_f32};
pub use cumulative_sum::{
    CumulativeSum, CumulativeSumI8, cumulative_sum_f32, cumulative_sum_i8, cumulative_sum_i32,
};
pub use depthwise_conv2d::{
    DepthwiseConv2dAsymmetricI8, DepthwiseConv2dDynamicI8, DepthwiseConv2dF32, DepthwiseConv2dI8,
    DepthwiseConv2dI16, depthwise_conv2d_asymmetric_i8, depthwise_conv2d_dynamic_i8, depthwise_conv2d_f16,
    depthwise_conv2d_f32, depthwise_conv2d_i8, depthwise_conv2d_i16,
};
pub use dynamic::{DynamicRows, dynamic_quantization_f32, quantize_dynamic_i8};
pub use elements::{Broadcast, Elements, InPlace};
pub use elementwise::{ClampF32, CopyI8, LogisticF32, clamp_f32, copy_i8, logistic_f32};
pub use filters::{filter_blocks, packed_filters};
pub use fully_connected::{
    FullyConnectedF32, FullyConnectedI8, FullyConnectedI16, fully_connected_blocked_i8,
    fully_connected_dynamic_i8, fully_connected_f16, fully_connected_f32, fully_connected_i4,
    fully_connected_i8, fully_connected_i16,
};
pub use gather::{GatherI8, gather_i8};
pub use gather_nd::{GatherNdI8, gather_nd_i8};
pub use images::{Apart, Images, Overlapping, Row};
pub use interpolate::{InterpolateI16, LogisticI16, interpolate_i16, logistic_i16, tanh_i16};
pub use l2_normalization::{
    L2NormalizationF32, L2NormalizationI8, l2_normalization_f32, l2_normalization_i8,
};
pub use l2_pool2d::{L2Pool2dF32, l2_pool2d_f32};
pub use leaky_relu::{
    LeakyReluF32, LeakyReluI16, PreluI8, leaky_relu_f32, leaky_relu_i16, prelu_f32, prelu_i8, prelu_i16,
};
pub use local_response_normalization::{LocalResponseNormalizationF32, local_response_normalization_f32};
pub use log_softmax::{LogSoftmaxF32, LogSoftmaxI8, log_softmax_f32, log_softmax_i8};
pub use lookup::{LookupI8, logistic_table, lookup_i8, rescale_table, table_i8, tanh_table};
pub use lstm::{LstmF32, LstmI8, lstm_f32, lstm_i8, lstm_i16};
pub use mean::{MeanF32, MeanI8, MeanI16, mean_f32, mean_i8, mean_i16};
pub use microkernel::blocks::Filters;
pub(crate) use microkernel::blocks::{CELLS, IN_BLOCKS};
pub use mode::{Kind, Mode, OperandInfo};
pub use one_hot::{OneHot, one_hot_i32, one_hot_i64};
pub use output::{OutputI8, RangeF32, RangeI8, RangeI16};
pub use overlap::{Distances, Overlap};
pub use pad::{PadF32, PadI8, Padding, pad_f32, pad_i8};
pub use pool2d::{
    AveragePool2dF32, AveragePool2dI8, MaxPool2dF32, MaxPool2dI8, average_pool2d_f32, average_pool2d_i8,
    average_pool2d_i16, max_pool2d_f32, max_pool2d_i8, max_pool2d_i16,
};
pub use product::{ProductI8, div_i8, mul_i8, mul_i16};
pub use quantize::{
    DequantizeF16F32, DequantizeI8F32, DequantizeI16F32, FlipSignBitI8, QuantizeF32I8, QuantizeF32I16,
    Rescale, abs_i16, dequantize_f16_f32, dequantize_i8_f32, dequantize_i16_f32, flip_sign_bit_i8, neg_i16,
    quantize_f32_i8, quantize_f32_i16, rescale_i8_i16, rescale_i8_i32, rescale_i16_i8, rescale_i16_i16,
    rescale_i16_i32, rescale_i32_i8, rescale_i32_i16,
};
pub use recurrent::Sequence;
pub use reduce::{
    Reduce, ReduceProductI8, reduce_maximum_f32, reduce_maximum_i8, reduce_maximum_i32, reduce_minimum_f32,
    reduce_minimum_i8, reduce_minimum_i32, reduce_product_f32, reduce_product_i8, reduce_product_i32,
    reduce_sum_f32, reduce_sum_i32,
};
pub use reduction::Reduction;
pub use resize::{
    Resize, ResizeBilinearF32, ResizeBilinearI8, ResizeNearestI8, resize_bilinear_f32, resize_bilinear_i8,
    resize_bilinear_i16, resize_nearest_i8,
};
pub use rnn::{RnnF32, rnn_f32};
pub use root_i16::{RsqrtI16, SqrtI16, rsqrt_i16, sqrt_i16};
pub use rows::{RowLayer, RowOrigin, RowSource, Rows, next as next_row, next_layer, ring_row, ring_row_mut};
pub use select::{SelectI8, select_i8};
pub use signal::{
    SignalEnergyI16, SignalFftAutoScaleI16, SignalFilterBankLogU32, SignalFilterBankSpectralSubtractionU32,
    SignalFilterBankSquareRootU64, SignalFilterBankU32, SignalPcanU32, SignalRfft, SignalWindowI16,
    signal_energy_i16, signal_fft_auto_scale_i16, signal_filter_bank_log_u32,
    signal_filter_bank_spectral_subtraction_u32, signal_filter_bank_square_root_u64, signal_filter_bank_u32,
    signal_pcan_u32, signal_rfft_f32, signal_rfft_i16, signal_rfft_i32, signal_window_i16,
};
pub use softmax::{SoftmaxF32, SoftmaxI8, softmax_f32, softmax_i8, softmax_i8_i16};
pub use softmax_i16::{SoftmaxI16, softmax_i16};
pub use strided_copy::{StridedCopyI8, strided_copy_i8};
pub use sum_rows::{
    AverageF32, AverageI8, MeanOfSumsI8, SumRowsF32, SumRowsI8, average_f32, average_i8, mean_of_sums_i8,
    sum_rows_f32, sum_rows_i8,
};
pub use svdf::{SvdfF32, SvdfI8, svdf_f32, svdf_i8, svdf_memory_i8};
pub use table::{Kernel, packed};
pub use top_k::{TopK, top_k_f32, top_k_i8, top_k_i32};
pub use transpose_conv2d::{
    TransposeConv2dF32, TransposeConv2dI8, TransposeConv2dI16, transpose_conv2d_f32, transpose_conv2d_i8,
    transpose_conv2d_i16, transposed_filters,
};
pub use unary::{
    UnaryF32, abs_f32, abs_i32, ceil_f32, cos_f32, elu_f32, exp_f32, floor_f32, gelu_f32, gelu_tanh_f32,
    hard_swish_f32, log_f32, neg_f32, neg_i32, neg_i64, round_f32, rsqrt_f32, sin_f32, sqrt_f32, square_f32,
    tanh_f32,
};
pub use window::Window2d;
