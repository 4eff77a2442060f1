//! Extents of a tensor.

use serde::{Deserialize, Serialize};

/// Extents of a tensor, outermost first. The number of elements fits 31 bits, and so does
/// the product of the extents that are not 0: it can be counted on every target.
///
/// Where an extent is 0, there is no element. Few operators take such tensors, see
/// `ops/edges.rs`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<usize>", into = "Vec<usize>")]
pub struct Shape(Vec<usize>);

impl Shape {
    /// Most extents that a tensor may have.
    pub const MAX_RANK: usize = 8;
    /// Most elements that a tensor may have.
    pub const MAX_ELEMENTS: usize = i32::MAX as usize;

    /// Checks the extents.
    ///
    /// # Errors
    ///
    /// When there are more than [`Shape::MAX_RANK`], or the product of those that are not 0
    /// is more than [`Shape::MAX_ELEMENTS`].
    pub fn new(extents: impl Into<Vec<usize>>) -> Result<Self, String> {
        let extents = extents.into();
        if extents.len() > Self::MAX_RANK {
            return Err(format!("rank {} is more than {}", extents.len(), Self::MAX_RANK));
        }
        let counted = extents.iter().filter(|extent| **extent != 0);
        let elements = counted.copied().try_fold(1_usize, usize::checked_mul);
        if elements.is_none_or(|elements| elements > Self::MAX_ELEMENTS) {
            return Err(format!("shape {extents:?} has more than {} elements", Self::MAX_ELEMENTS));
        }
        Ok(Self(extents))
    }

    /// The shape of a single number.
    #[must_use]
    pub const fn scalar() -> Self {
        Self(Vec::new())
    }

    /// Number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.0.iter().product()
    }

    /// For each axis, elements from one index to the next.
    #[must_use]
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.0.len()];
        for axis in (1..self.0.len()).rev() {
            strides[axis - 1] = strides[axis] * self.0[axis];
        }
        strides
    }

    /// Whether the extents are those of `declared`, but along the axes in `open`.
    pub(crate) fn agrees(&self, declared: &Self, open: &[usize]) -> bool {
        let equal = |(axis, (a, b)): (usize, (&usize, &usize))| a == b || open.contains(&axis);
        self.len() == declared.len() && self.iter().zip(declared.iter()).enumerate().all(equal)
    }

    /// The extents, when there are `N`.
    ///
    /// # Errors
    ///
    /// When there are not.
    pub fn array<const N: usize>(&self) -> Result<[usize; N], String> {
        self.0
            .as_slice()
            .try_into()
            .map_err(|_| format!("shape {self} has rank {}, expected {N}", self.0.len()))
    }
}

impl std::ops::Deref for Shape {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl TryFrom<Vec<usize>> for Shape {
    type Error = String;
    fn try_from(extents: Vec<usize>) -> Result<Self, String> {
        Self::new(extents)
    }
}

impl From<Shape> for Vec<usize> {
    fn from(shape: Shape) -> Self {
        shape.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_shapes() {
        for (extents, expect) in [
            (vec![1; 9], "rank 9 is more than 8"),
            (vec![0, 1 << 16, 1 << 15], "shape [0, 65536, 32768] has more than 2147483647 elements"),
            (vec![1 << 16, 1 << 15], "shape [65536, 32768] has more than 2147483647 elements"),
            (vec![usize::MAX, 2], "shape [18446744073709551615, 2] has more than 2147483647 elements"),
        ] {
            assert_eq!(Shape::new(extents).unwrap_err(), expect);
        }
    }

    #[test]
    fn strides_are_row_major() {
        assert_eq!(Shape::new([2, 3, 1, 4]).unwrap().strides(), [12, 4, 4, 1]);
        assert_eq!(Shape::scalar().strides(), [0; 0]);
    }

    #[test]
    fn a_scalar_has_one_element_others_may_have_none() {
        assert_eq!(Shape::scalar().elements(), 1);
        assert_eq!(Shape::new([2, 0, 3]).unwrap().elements(), 0);
    }
}
