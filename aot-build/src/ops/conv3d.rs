//! `conv3d`: three-dimensional convolution (cross-correlation), NDHWC.
//!
//! Operands: `x` `[batch, depth, height, width, in]`, weights
//! `[kernel depth, kernel height, kernel width, in, out]`, bias `[out]` (optional).
//! Result: `[batch, out depth, out height, out width, out]`.
//! Sources: TFLite CONV_3D; ONNX Conv.

use aot_rt::DType;
use aot_rt::kernels::{Conv3dF32, Kernel, Window2d, packed_filters};
use serde::{Deserialize, Serialize};

use super::window::{describe, window};
use super::{Activation, Operands, Operator, Padding2d, no_kernel, one, weighted};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Cells added around a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Padding3d {
    /// None: the window stays inside the volume.
    #[default]
    Valid,
    /// So many that the result has `ceil(input / stride)` cells; the odd one goes to the end.
    Same,
}

/// Attributes of `conv3d`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Conv3d {
    /// Cells from one window to the next: deeper, down, right.
    pub stride: [usize; 3],
    /// Cells from one element of the kernel to the next: deeper, down, right.
    pub dilation: [usize; 3],
    /// Cells added around the volume.
    pub padding: Padding3d,
    /// Fused activation.
    pub activation: Activation,
}

impl Default for Conv3d {
    fn default() -> Self {
        Self { stride: [1; 3], dilation: [1; 3], padding: Padding3d::Valid, activation: Activation::None }
    }
}

impl Conv3d {
    /// The window over the images of a volume, and the one along the depth, which has one
    /// column.
    fn windows(&self, x: &Shape, weights: &Shape) -> Result<[Window2d; 2], OpError> {
        let [batch, depth, height, width, channels] = x.array()?;
        let [kernel_depth, kernel_height, kernel_width, ..] = weights.array::<5>()?;
        let padding = match self.padding {
            Padding3d::Valid => Padding2d::Valid,
            Padding3d::Same => Padding2d::Same,
        };
        let images = Shape::new([batch, height, width, channels])?;
        let stack = Shape::new([batch, depth, 1, channels])?;
        let ([_, stride @ ..], [_, dilation @ ..]) = (self.stride, self.dilation);
        let (stride_depth, dilation_depth) = ([self.stride[0], 1], [self.dilation[0], 1]);
        Ok([
            window(&images, [kernel_height, kernel_width], stride, dilation, padding)?,
            window(&stack, [kernel_depth, 1], stride_depth, dilation_depth, padding)?,
        ])
    }
}

impl Operator for Conv3d {
    const NAME: &'static str = "conv3d";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=3)?;
        let (x, weights) = (operands.get(0)?, operands.get(1)?);
        let ([batch, .., channels], [.., depth, out]) =
            (x.ty.shape.array::<5>()?, weights.ty.shape.array::<5>()?);
        if channels != depth {
            return Err(format!("`{}` has {channels} channels, weights are {}", x.name, weights.ty).into());
        }
        let [images, stack] = self.windows(&x.ty.shape, &weights.ty.shape)?;
        one(x.ty.dtype, [batch, stack.output[0], images.output[0], images.output[1], out])
    }

    fn activation_mut(&mut self) -> Option<&mut Activation> {
        Some(&mut self.activation)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, weights, y) = (node.input(0)?, node.input(1)?, node.output(0));
        let dtypes = [x.ty.dtype, weights.ty.dtype, y.ty.dtype];
        if dtypes != [DType::F32; 3] {
            return Err(no_kernel(&dtypes));
        }
        let [window, stack] = self.windows(&x.ty.shape, &weights.ty.shape)?;
        let [kernel_depth, .., in_channels, out_channels] = weights.ty.shape.array::<5>()?;
        let Some(data) = &weights.data else {
            return Err(format!("weights `{}` are not constant", weights.name).into());
        };
        // The last axis of the weights is that of the filters.
        let filter = weights.ty.shape.elements() / out_channels;
        let elements = data.bytes().as_chunks::<4>().0;
        let order = packed_filters(out_channels, filter).map(|i| i % filter * out_channels + i / filter);
        let packed = order.map(|i| elements[i]).collect::<Vec<_>>().into_flattened();
        let packed = node.packed(DType::F32, data.bytes(), packed);
        let params = Conv3dF32 {
            window,
            input_depth: stack.input[0],
            output_depth: stack.output[0],
            kernel_depth,
            stride_depth: stack.stride[0],
            dilation_depth: stack.dilation[0],
            padding_depth: stack.padding[0],
            in_channels,
            out_channels,
            range: self.activation.range_f32(),
        };
        let operands = weighted::operands_f32_with(node, out_channels, packed)?;
        let macs = y.ty.shape.elements() as u64 * filter as u64;
        let activation = self.activation;
        let images = describe(&window);
        let description =
            format!("{kernel_depth} images × {images}, {in_channels} → {out_channels}{activation}");
        node.step(Kernel::Conv3dF32(params), operands, macs, description);
        Ok(())
    }
}
