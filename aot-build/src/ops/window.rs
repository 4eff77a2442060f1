//! Windows that slide over an image: kernels of convolutions, windows of pools.

use aot_rt::kernels::Window2d;
use serde::{Deserialize, Serialize};

use super::{Operands, one};
use crate::error::OpError;
use crate::graph::{Shape, TensorType};

/// Cells added around an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Padding2d {
    /// None: the window stays inside the image.
    #[default]
    Valid,
    /// So many that the result has `ceil(input / stride)` cells; the odd one goes
    /// to the end.
    Same,
    /// Stated: top, bottom, left, right.
    Explicit([usize; 4]),
}

impl Padding2d {
    /// With `more` cells: top, bottom, left, right. `None` where the number of cells is
    /// not stated, or too large.
    pub(crate) fn grown(self, more: [usize; 4]) -> Option<Self> {
        let own = match self {
            Self::Valid => [0; 4],
            Self::Explicit(own) => own,
            Self::Same => return None,
        };
        let mut sum = own;
        for (sum, more) in sum.iter_mut().zip(more) {
            *sum = sum.checked_add(more)?;
        }
        Some(Self::Explicit(sum))
    }
}

/// Where a window stands for each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placement2d {
    /// Height and width of the result.
    output: [usize; 2],
    /// Cells added on top and on the left.
    before: [usize; 2],
}

/// The window of `kernel` cells over images `x`, `[batch, height, width, channels]`.
///
/// # Errors
///
/// When an extent, stride or dilation is 0 or too large, or the window is larger than
/// the padded image.
pub(super) fn window(
    x: &Shape,
    kernel: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding2d,
) -> Result<Window2d, OpError> {
    let [batch, height, width, _] = x.array()?;
    let input = [height, width];
    let Placement2d { output, before } = place(input, kernel, stride, dilation, padding)?;
    Ok(Window2d { batch, input, output, kernel, stride, dilation, padding: before })
}

/// `3×3, stride 2×2`: how a step's description begins.
pub(super) fn describe(window: &Window2d) -> String {
    let pair = |[rows, columns]: [usize; 2]| format!("{rows}×{columns}");
    let mut text = pair(window.kernel);
    for (name, cells) in [("stride", window.stride), ("dilation", window.dilation)] {
        if cells != [1; 2] {
            text += &format!(", {name} {}", pair(cells));
        }
    }
    text
}

/// Most cells that a stride, a dilation or a window's reach may have: every target can
/// count them.
const MAX_CELLS: usize = i32::MAX as usize;

/// Places a window of `size` over an image of `input` height and width.
///
/// # Errors
///
/// When an extent, stride or dilation is 0 or too large, or the window is larger than
/// the padded image.
fn place(
    input: [usize; 2],
    size: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
    padding: Padding2d,
) -> Result<Placement2d, OpError> {
    let explicit = match padding {
        Padding2d::Explicit([top, bottom, left, right]) => [[top, bottom], [left, right]],
        Padding2d::Valid | Padding2d::Same => [[0, 0], [0, 0]],
    };
    let mut placement = Placement2d { output: [0; 2], before: [0; 2] };
    for axis in 0..2 {
        let (stride, dilation) = (stride[axis], dilation[axis]);
        if stride == 0 || dilation == 0 || size[axis] == 0 {
            return Err("window, stride and dilation must be at least 1".into());
        }
        if stride.max(dilation) > MAX_CELLS {
            return Err(format!("stride and dilation must be at most {MAX_CELLS}").into());
        }
        let too_large = || OpError::from(format!("the window of {size:?} is larger than the padded image"));
        let reach = (size[axis] - 1).checked_mul(dilation).filter(|reach| *reach < MAX_CELLS);
        let reach = reach.ok_or_else(too_large)? + 1;
        let (output, before) = if padding == Padding2d::Same {
            let output = input[axis].div_ceil(stride);
            let padded = (output - 1).saturating_mul(stride).saturating_add(reach);
            (output, padded.saturating_sub(input[axis]) / 2)
        } else {
            let [before, after] = explicit[axis];
            if before >= reach || after >= reach {
                return Err(
                    format!("padding {before}, {after} is not smaller than the window of {reach}").into()
                );
            }
            let room = (input[axis] + before + after).checked_sub(reach).ok_or_else(too_large)?;
            (room / stride + 1, before)
        };
        (placement.output[axis], placement.before[axis]) = (output, before);
    }
    Ok(placement)
}

/// The result of a pool over `windows` of its operand.
///
/// # Errors
///
/// When there is another number of operands, or no window.
pub(super) fn pooled(
    operands: &Operands<'_>,
    windows: impl Fn(&Shape) -> Result<Window2d, OpError>,
) -> Result<Vec<TensorType>, OpError> {
    operands.count(1..=1)?;
    let x = &operands.get(0)?.ty;
    let [batch, _, _, channels] = x.shape.array()?;
    let [height, width] = windows(&x.shape)?.output;
    one(x.dtype, [batch, height, width, channels])
}

/// Cells of a window.
pub(super) const fn cells([height, width]: [usize; 2]) -> u64 {
    (height as u64).saturating_mul(width as u64)
}

/// The stride of a pool that states none.
pub(super) const fn one_cell() -> [usize; 2] {
    [1; 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tflite-numerics.md`, section 2.
    #[test]
    fn placements() {
        for (input, size, stride, dilation, padding, output, before) in [
            (10, 3, 1, 1, Padding2d::Valid, 8, 0),
            (10, 3, 2, 1, Padding2d::Valid, 4, 0),
            (10, 3, 1, 1, Padding2d::Same, 10, 1),
            (10, 3, 2, 1, Padding2d::Same, 5, 0),
            (49, 10, 2, 1, Padding2d::Same, 25, 4),
            (10, 3, 1, 3, Padding2d::Same, 10, 3),
            (2, 1, 3, 1, Padding2d::Same, 1, 0),
            (4, 3, 1, 1, Padding2d::Explicit([1, 2, 1, 2]), 5, 1),
        ] {
            let placement = place([input; 2], [size; 2], [stride; 2], [dilation; 2], padding).unwrap();
            assert_eq!(placement, Placement2d { output: [output; 2], before: [before; 2] });
        }
        assert!(place([2; 2], [3; 2], [1; 2], [1; 2], Padding2d::Valid).is_err());
        assert!(place([2; 2], [3; 2], [0; 2], [1; 2], Padding2d::Same).is_err());
        assert!(place([2; 2], [3; 2], [1; 2], [1; 2], Padding2d::Explicit([3, 0, 0, 0])).is_err());
        let huge = [usize::MAX; 2];
        assert!(place([2; 2], [1; 2], huge, [1; 2], Padding2d::Same).is_err());
        assert!(place([2; 2], [3; 2], [1; 2], huge, Padding2d::Same).is_err());
        assert!(place([2; 2], huge, [1; 2], [1; 2], Padding2d::Explicit([usize::MAX - 1; 4])).is_err());
    }
}
