//! `pad`: zeros around a tensor.
//!
//! Operand: `x`. Result: `x` with `padding` more elements on each axis.
//! Sources: TFLite PAD; ONNX Pad (constant 0).
//! int8: the zero point is added, which stands for 0.

use aot_rt::DType;
use aot_rt::kernels::{Kernel, PadF32, PadI8, Padding};
use serde::{Deserialize, Serialize};

use super::{Operands, Operator, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};
use crate::program::NodeLowering;

/// Attributes of `pad`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pad {
    /// For each axis, elements before and after.
    pub padding: Vec<[usize; 2]>,
}

impl Pad {
    /// The kernel's axes: one that is not padded is a part of the one before it.
    fn loops(&self, x: &Shape) -> Result<Padding, OpError> {
        let mut loops: Vec<[usize; 3]> = Vec::new();
        for (&extent, &[before, after]) in x.iter().zip(&self.padding) {
            match loops.last_mut() {
                Some(outer) if [before, after] == [0, 0] => outer.iter_mut().for_each(|n| *n *= extent),
                _ => loops.push([extent, before, after]),
            }
        }
        let mut padding = Padding { extents: [1; 6], before: [0; 6], after: [0; 6] };
        let first = padding.extents.len().checked_sub(loops.len());
        let first = first.ok_or("padding of more than six axes is not supported")?;
        for (i, [extent, before, after]) in loops.into_iter().enumerate() {
            (padding.extents[first + i], padding.before[first + i], padding.after[first + i]) =
                (extent, before, after);
        }
        Ok(padding)
    }
}

impl Operator for Pad {
    const NAME: &'static str = "pad";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(1..=1)?;
        let x = operands.get(0)?;
        if self.padding.len() != x.ty.shape.len() {
            return Err(format!("padding for {} axes, {} has another rank", self.padding.len(), x.ty).into());
        }
        let sum = |(extent, [before, after]): (&usize, &[usize; 2])| {
            extent.checked_add(*before).and_then(|sum| sum.checked_add(*after))
        };
        let extents = x.ty.shape.iter().zip(&self.padding).map(sum).collect::<Option<Vec<_>>>();
        one(x.ty.dtype, extents.ok_or_else(|| OpError::from("padding is too large"))?)
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, y) = (node.input(0)?, node.output(0));
        let padding = self.loops(&x.ty.shape)?;
        let kernel = match (x.ty.dtype, y.ty.dtype) {
            (DType::F32, DType::F32) => Kernel::PadF32(PadF32 { padding, value: 0.0 }),
            (DType::I8, DType::I8) => {
                let value = quantized::shared(x, y)?.zero_point;
                Kernel::PadI8(PadI8 { padding, value })
            }
            (x, y) => return Err(no_kernel(&[x, y])),
        };
        let operands = vec![node.read(0)?, node.write(0)];
        node.step(kernel, operands, 0, format!("{} → {}", x.ty.shape, y.ty.shape));
        Ok(())
    }
}
