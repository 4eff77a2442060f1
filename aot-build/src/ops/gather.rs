//! `gather`: slices of a tensor, by their indices.
//!
//! Operands: `x`, indices. Result: `x` with the indices' axes in place of `axis`.
//! Sources: TFLite GATHER; ONNX Gather.
//! Indices that are constant and few become copies, or a view; others are read when the
//! model runs. One that `x` does not have then gives zeros.

use aot_rt::DType;
use aot_rt::kernels::{GatherI8, Kernel};
use serde::{Deserialize, Serialize};

use super::strided::{Loop, Strided};
use super::{Operands, Operator, View, axis, no_kernel, one, quantized};
use crate::error::OpError;
use crate::graph::{Shape, Tensor, TensorType};
use crate::program::NodeLowering;

/// Most copies that constant indices become.
const MAX_COPIES: usize = 4;

/// Attributes of `gather`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Gather {
    /// The axis that the indices count along.
    #[serde(default)]
    pub axis: usize,
}

impl Gather {
    /// The copies that constant indices become: one for each run at equal distances.
    fn copies(&self, x: &Shape, indices: &[usize]) -> Vec<Strided> {
        let (outer, inner) = (&x[..self.axis], x[self.axis + 1..].iter().product::<usize>());
        let outer: usize = outer.iter().product();
        let mut copies = Vec::new();
        let mut rest = indices;
        while let [first, ..] = rest {
            let step = rest.get(1).map_or(0, |second| *second as i64 - *first as i64);
            let run = rest.windows(2).take_while(|pair| pair[1] as i64 - pair[0] as i64 == step).count() + 1;
            let y = (indices.len() - rest.len()) * inner;
            let loops = [
                Loop { extent: outer, x: (x[self.axis] * inner) as i64, y: indices.len() * inner },
                Loop { extent: run, x: step * inner as i64, y: inner },
                Loop { extent: inner, x: 1, y: 1 },
            ];
            copies.push(Strided::new(first * inner, y, &loops));
            rest = &rest[run..];
        }
        copies
    }

    /// Indices that are constant, and all within `x`.
    fn constant(&self, x: &TensorType, indices: &Tensor) -> Result<Option<Vec<usize>>, OpError> {
        let Some(data) = &indices.data else { return Ok(None) };
        let extent = x.shape[self.axis];
        let index = |value: i64| {
            let index = usize::try_from(value).ok().filter(|index| *index < extent);
            index.ok_or_else(|| format!("index {value} is outside of axis {} of {x}", self.axis).into())
        };
        data.integers(indices.ty.dtype)?.into_iter().map(index).collect::<Result<_, _>>().map(Some)
    }
}

impl Operator for Gather {
    const NAME: &'static str = "gather";

    fn infer(&self, operands: &Operands<'_>) -> Result<Vec<TensorType>, OpError> {
        operands.count(2..=2)?;
        let (x, indices) = (&operands.get(0)?.ty, operands.get(1)?);
        axis::extent(x, self.axis)?;
        if !matches!(indices.ty.dtype, DType::I32 | DType::I64) {
            return Err(format!("indices are {}, expected i32 or i64", indices.ty.dtype.name()).into());
        }
        self.constant(x, indices)?;
        let mut extents = x.shape.to_vec();
        extents.splice(self.axis..=self.axis, indices.ty.shape.iter().copied());
        one(x.dtype, extents)
    }

    fn view(&self, _: usize, operands: &Operands<'_>) -> Option<View> {
        let (x, indices) = (&operands.get(0).ok()?.ty, operands.get(1).ok()?);
        let indices = self.constant(x, indices).ok()??;
        let copies = self.copies(&x.shape, &indices);
        let [copy] = copies.as_slice() else { return None };
        copy.contiguous().map(|first| View { operand: 0, first })
    }

    fn lower(&self, node: &mut NodeLowering<'_, '_>) -> Result<(), OpError> {
        let (x, indices, y) = (node.input(0)?, node.input(1)?, node.output(0));
        quantized::unchanged(x, y)?;
        if node.view(0)? {
            return Ok(());
        }
        let description = format!("{} by {}", x.ty.shape, indices.ty.shape);
        let constant = self.constant(&x.ty, indices)?;
        if let Some(indices) = &constant {
            let copies = self.copies(&x.ty.shape, indices);
            if copies.len() <= MAX_COPIES {
                let (x, result) = (node.read(0)?, node.write(0));
                return copies.iter().try_for_each(|copy| copy.steps(node, x, result, &description));
            }
        }
        let (outer, inner) = (&x.ty.shape[..self.axis], &x.ty.shape[self.axis + 1..]);
        let kernel = GatherI8 {
            batch: 1,
            outer: outer.iter().product(),
            extent: x.ty.shape[self.axis],
            indices: indices.ty.shape.elements(),
            block: inner.iter().product::<usize>() * x.ty.dtype.size(),
        };
        let indices = match constant {
            // Each is less than an extent, which has 31 bits.
            Some(indices) => {
                let bytes: Vec<u8> = indices.iter().flat_map(|index| (*index as i32).to_le_bytes()).collect();
                node.constant(DType::I32, &bytes)
            }
            None if indices.ty.dtype == DType::I32 => node.read(1)?,
            None => return Err(no_kernel(&[x.ty.dtype, indices.ty.dtype, y.ty.dtype])),
        };
        let operands = vec![node.read(0)?.as_bytes(), node.write(0).as_bytes(), indices];
        node.step(Kernel::GatherI8(kernel), operands, 0, description);
        Ok(())
    }
}
