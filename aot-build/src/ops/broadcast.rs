//! Shapes of operators that work element by element.

use crate::error::OpError;

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

#[cfg(test)]
mod tests {
    use super::*;

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
