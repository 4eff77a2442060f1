//! Which kernels are compiled for the extents of each layer.

use aot_rt::kernels::Kernel;

/// Whether a kernel is compiled for the extents of each layer under `optimize =
/// "speed"`: where a measurement on x86-64 says that it pays.
///
/// Known extents make pools 2 to 17 times as fast, means 2, float depthwise
/// convolutions 1.4, sums 1.4 to 2, whole int8 networks of convolutions 1.03 to 1.3.
/// Matrix products, tables and conversions gain nothing: they share one instance.
pub(super) fn specialises(kernel: &Kernel) -> bool {
    matches!(
        kernel,
        Kernel::AddF32(_)
            | Kernel::AddI8(_)
            | Kernel::AddI16(_)
            | Kernel::SubI16(_)
            | Kernel::MaximumF32(_)
            | Kernel::MaximumI8(_)
            | Kernel::MinimumF32(_)
            | Kernel::MinimumI8(_)
            | Kernel::MulF32(_)
            | Kernel::MulI16(_)
            | Kernel::MulI8(_)
            | Kernel::SquaredDifferenceF32(_)
            | Kernel::SquaredDifferenceI8(_)
            | Kernel::SubF32(_)
            | Kernel::SubI8(_)
            | Kernel::AveragePool2dF32(_)
            | Kernel::AveragePool2dI16(_)
            | Kernel::AveragePool2dI8(_)
            | Kernel::ClampF32(_)
            | Kernel::Conv2dAddF16(_)
            | Kernel::Conv2dAddF32(_)
            | Kernel::Conv2dAddI8(_)
            | Kernel::Conv2dDynamicI8(_)
            | Kernel::Conv2dF16(_)
            | Kernel::Conv2dF32(_)
            | Kernel::Conv2dI8(_)
            | Kernel::Conv2dI16(_)
            | Kernel::DepthwiseConv2dAsymmetricI8(_)
            | Kernel::DepthwiseConv2dDynamicI8(_)
            | Kernel::DepthwiseConv2dF16(_)
            | Kernel::DepthwiseConv2dF32(_)
            | Kernel::DepthwiseConv2dI8(_)
            | Kernel::DepthwiseConv2dI16(_)
            | Kernel::L2Pool2dF32(_)
            | Kernel::MaxPool2dF32(_)
            | Kernel::MaxPool2dI16(_)
            | Kernel::MaxPool2dI8(_)
            | Kernel::MeanF32(_)
            | Kernel::MeanI16(_)
            | Kernel::MeanI8(_)
            | Kernel::ReduceMaximumF32(_)
            | Kernel::ReduceMaximumI8(_)
            | Kernel::ReduceMinimumF32(_)
            | Kernel::ReduceMinimumI8(_)
            | Kernel::ReduceSumF32(_)
            | Kernel::ReduceSumI32(_)
    )
}
