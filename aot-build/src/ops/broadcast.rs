//! Shapes of operators that work element by element.

use aot_rt::kernels::Broadcast;

use super::Operands;
use crate::error::OpError;
use crate::graph::Shape;

/// The shape that `a` and `b` are repeated to: aligned at the last extent, an
/// extent of 1 takes the other's.
///
/// # Errors
///
/// When two extents differ and neither is 1.
pub(super) fn shape(a: &[usize], b: &[usize]) -> Result<Vec<usize>, OpError> {
    let rank = a.len().max(b.len());
    let extent = |shape: &[usize], i: usize| (i + shape.len()).checked_sub(rank).map_or(1, |i| shape[i]);
    (0..rank)
        .map(|i| match (extent(a, i), extent(b, i)) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            _ => Err(format!("shapes {a:?} and {b:?} cannot be broadcast together").into()),
        })
        .collect()
}

/// The shape that the only two operands are repeated to.
///
/// # Errors
///
/// See [`shape`]; when there are more or less.
pub(super) fn shape_of_two(operands: &Operands<'_>) -> Result<Vec<usize>, OpError> {
    operands.count(2..=2)?;
    shape(&operands.get(0)?.ty.shape, &operands.get(1)?.ty.shape)
}

/// Loops over the elements of a result of `N` operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loops<const N: usize>(Vec<Loop<N>>);

/// A loop, over axes along which the same operands are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Loop<const N: usize> {
    extent: usize,
    repeats: [bool; N],
}

impl<const N: usize> Loops<N> {
    /// The loops over `y`, to which operands of these shapes are broadcast.
    pub(super) fn new(y: &[usize], operands: [&[usize]; N]) -> Self {
        let mut loops: Vec<Loop<N>> = Vec::new();
        for (i, &extent) in y.iter().enumerate().filter(|(_, extent)| **extent > 1) {
            let repeats =
                operands.map(|shape| (i + shape.len()).checked_sub(y.len()).is_none_or(|i| shape[i] == 1));
            match loops.last_mut() {
                Some(outer) if outer.repeats == repeats => outer.extent *= extent,
                _ => loops.push(Loop { extent, repeats }),
            }
        }
        Self(loops)
    }

    /// Takes the innermost loop away, where these are the operands that it repeats; gives
    /// its rounds.
    pub(super) fn pop(&mut self, repeats: [bool; N]) -> Option<usize> {
        self.0.pop_if(|inner| inner.repeats == repeats).map(|inner| inner.extent)
    }

    /// The rounds, and the distance from one round to the next in each operand, of whose
    /// elements `units` are so far apart. Loops that are not needed come first.
    ///
    /// # Errors
    ///
    /// When there are more than six.
    pub(super) fn strides(&self, mut units: [usize; N]) -> Result<([usize; 6], [[usize; 6]; N]), OpError> {
        let (mut extents, mut strides) = ([1; 6], [[0; 6]; N]);
        if self.0.len() > extents.len() {
            return Err("the shapes alternate too often to be broadcast".into());
        }
        for (i, Loop { extent, repeats }) in (0..extents.len()).rev().zip(self.0.iter().rev()) {
            extents[i] = *extent;
            for ((unit, repeated), strides) in units.iter_mut().zip(repeats).zip(&mut strides) {
                if !repeated {
                    strides[i] = *unit;
                    *unit *= extent;
                }
            }
        }
        Ok((extents, strides))
    }
}

/// The loops in which a kernel visits the elements of two operands.
///
/// # Errors
///
/// When the shapes cannot be broadcast together, or need too many loops.
pub(super) fn loops(a: &[usize], b: &[usize]) -> Result<Broadcast, OpError> {
    let (extents, [a_strides, b_strides]) = Loops::new(&shape(a, b)?, [a, b]).strides([1; 2])?;
    Ok(Broadcast { extents, a_strides, b_strides })
}

/// The shapes of two operands with the function's sign between them, or one where they
/// are equal.
pub(super) fn description(a: &Shape, sign: &str, b: &Shape) -> String {
    if a == b { a.to_string() } else { format!("{a} {sign} {b}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_merge_axes() {
        for (a, b, extents, a_strides, b_strides) in [
            (&[2, 3, 4][..], &[2, 3, 4][..], [1, 1, 24], [0, 0, 1], [0, 0, 1]),
            (&[2, 3, 4], &[4], [1, 6, 4], [0, 4, 1], [0, 0, 1]),
            (&[1, 2, 3, 4], &[1, 1, 1, 1], [1, 1, 24], [0, 0, 1], [0, 0, 0]),
            (&[2, 1, 4], &[3, 1], [2, 3, 4], [4, 0, 1], [0, 1, 0]),
            (&[], &[1], [1, 1, 1], [0; 3], [0; 3]),
        ] {
            let broadcast = loops(a, b).unwrap();
            assert_eq!(broadcast.extents[3..], extents, "{a:?} {b:?}");
            assert_eq!(
                (&broadcast.a_strides[3..], &broadcast.b_strides[3..]),
                (&a_strides[..], &b_strides[..])
            );
        }
        assert!(loops(&[2, 1, 2, 1, 2, 1, 2, 1], &[1, 2, 1, 2, 1, 2, 1, 2]).is_err());
    }

    #[test]
    fn shapes() {
        for (a, b, expect) in [
            (&[2, 3][..], &[2, 3][..], Some(vec![2, 3])),
            (&[2, 3], &[3], Some(vec![2, 3])),
            (&[2, 1], &[1, 3], Some(vec![2, 3])),
            (&[], &[4], Some(vec![4])),
            (&[2, 3], &[2], None),
        ] {
            assert_eq!(shape(a, b).ok(), expect, "{a:?} {b:?}");
            assert_eq!(shape(b, a).ok(), expect, "{b:?} {a:?}");
        }
    }
}
