//! Images that get other extents.

use super::node::{Node, kind};
use super::operators::{Known, known};
use super::types::{ONE_F_I_U_W, ONE_F_I_W};
use crate::error::OpError;
use crate::ops::{Alignment, Op, ResizeBilinear, ResizeNearest};

pub(super) const OPERATORS: &[Known] = &[
    known("RESIZE_BILINEAR", 4, [2, 2], ONE_F_I_W, resize_bilinear),
    known("RESIZE_NEAREST_NEIGHBOR", 4, [2, 2], ONE_F_I_U_W, resize_nearest_neighbor),
];

fn resize_bilinear(node: &Node<'_>) -> Result<Op, OpError> {
    const OLD_EXTENTS: [usize; 2] = [0, 1];
    const ALIGN_CORNERS: usize = 2;
    const HALF_PIXEL_CENTERS: usize = 3;
    let options = node.optional_options(kind(15, "ResizeBilinearOptions", 4))?;
    for slot in OLD_EXTENTS {
        if options.i32(slot)? != 0 {
            return Err(format!("field {slot} of ResizeBilinearOptions is not known").into());
        }
    }
    let alignment = alignment(options.flag(ALIGN_CORNERS)?, options.flag(HALF_PIXEL_CENTERS)?)?;
    Ok(ResizeBilinear { size: size(node)?, alignment }.into())
}

fn resize_nearest_neighbor(node: &Node<'_>) -> Result<Op, OpError> {
    const ALIGN_CORNERS: usize = 0;
    const HALF_PIXEL_CENTERS: usize = 1;
    let options = node.optional_options(kind(74, "ResizeNearestNeighborOptions", 2))?;
    let alignment = alignment(options.flag(ALIGN_CORNERS)?, options.flag(HALF_PIXEL_CENTERS)?)?;
    Ok(ResizeNearest { size: size(node)?, alignment }.into())
}

fn alignment(corners: bool, half_pixel: bool) -> Result<Alignment, OpError> {
    match (corners, half_pixel) {
        (false, false) => Ok(Alignment::TopLeft),
        (true, false) => Ok(Alignment::Corners),
        (false, true) => Ok(Alignment::HalfPixel),
        (true, true) => Err("align_corners and half_pixel_centers exclude each other".into()),
    }
}

/// Height and width of the result: the second operand.
fn size(node: &Node<'_>) -> Result<[usize; 2], OpError> {
    let values = node.integers(1)?.ok_or("the size is left out")?.values;
    let extents: Option<Vec<_>> =
        values.iter().map(|value| usize::try_from(*value).ok().filter(|extent| *extent > 0)).collect();
    match extents.as_deref() {
        Some(&[height, width]) => Ok([height, width]),
        _ if values.len() == 2 => Err(format!("the size is {values:?}").into()),
        _ => Err(format!("the size has {} elements, expected 2", values.len()).into()),
    }
}
