//! `mean`: mean over axes.
//!
//! Operand: `x`. Result: `x` without the axes, or with extents of 1.
//! Sources: TFLite MEAN; ONNX ReduceMean, GlobalAveragePool.
//! int8: the sum is rescaled with the number of elements folded into the multiplier
//! (tflite numerics, section 3).

use std::num::NonZeroU32;

use aot_rt::DType;
use aot_rt::kernels::{Kernel, MeanF32, MeanI8, Reduction};
use serde::{Deserialize, Serialize};

use super::{Activation, Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `mean`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Mean {
    /// Axes that are reduced, each once, ascending.
    pub axes: Vec<usize>,
    /// Keep the reduced axes with an extent of 1.
    #[serde(default)]
    pub keep_dimensions: bool,
}

impl Mean {
    /// The kernel's loops: neighbouring axes that are both kept or both reduced are one.
    fn loops(&self, x: &Shape) -> Result<Reduction, OpError> {
        struct Loop {
            reduced: bool,
            extent: usize,
            stride: usize,
        }
        // From the innermost axis on.
        let mut loops: Vec<Loop> = Vec::new();
        let mut stride = 1;
        for (axis, &extent) in x.iter().enumerate().rev().filter(|(_, extent)| **extent > 1) {
            let reduced = self.axes.contains(&axis);
            match loops.last_mut() {
                Some(inner) if inner.reduced == reduced => inner.extent *= extent,
                _ => loops.push(Loop { reduced, extent, stride }),
            }
            stride *= extent;
        }
        let side = |reduced: bool| -> Result<([usize; 3], [usize; 3]), OpError> {
            let (mut extents, mut strides) = ([1; 3], [0; 3]);
            let mut places = (0..extents.len()).rev();
            for side in loops.iter().filter(|side| side.reduced == reduced) {
                let place = places.next();
                let place =
                    place.ok_or_else(|| format!("axes {:?} of {x} alternate too often", self.axes))?;
                (extents[place], strides[place]) = (side.extent, side.stride);
            }
            Ok((extents, strides))
        };
        let ((kept, kept_strides), (reduced, reduced_strides)) = (side(false)?, side(true)?);
        Ok(Reduction { kept, kept_strides, reduced, reduced_strides })
    }
}

impl Operator for Mean {
    const NAME: &'static str = "mean";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        let rank = x.ty.shape.len();
        if !self.axes.is_sorted_by(|a, b| a < b) || self.axes.last().is_some_and(|axis| *axis >= rank) {
            return Err(format!("axes {:?} are not ascending axes of {}", self.axes, x.ty).into());
        }
        let extents = x.ty.shape.iter().enumerate().filter_map(|(axis, &extent)| {
            match (self.axes.contains(&axis), self.keep_dimensions) {
                (false, _) => Some(extent),
                (true, true) => Some(1),
                (true, false) => None,
            }
        });
        one(x.ty.dtype, extents.collect::<Vec<_>>())
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let reduction = self.loops(&x.ty.shape)?;
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::MeanF32(MeanF32 { reduction }),
            (DType::I8, DType::I8) => {
                let (input, output) = (quantized::tensor_wide(x)?, quantized::tensor_wide(y)?);
                let count = self.axes.iter().map(|&axis| x.ty.shape[axis] as u32).product();
                let count = NonZeroU32::new(count).ok_or("no element to take the mean of")?;
                let factor =
                    quantized::multiplier(f64::from(input.scale) / f64::from(output.scale))?.of_mean(count);
                quantized::check_sum(count.get().into(), 255, factor.shift)?;
                Kernel::MeanI8(MeanI8 {
                    reduction,
                    input_zero_point: input.zero_point,
                    multiplier: factor.multiplier,
                    shift: factor.shift,
                    output: Activation::None.output_i8(output, node.single_rounding()),
                })
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{} over axes {:?}", x.ty.shape, self.axes));
        Ok(())
    }
}
