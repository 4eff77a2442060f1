//! How far results are from what is expected.

use aot_rt::DType;
use serde::Serialize;

use crate::array::{Array, Elements};

/// Largest difference of floating-point results that is accepted without `--tolerance`,
/// relative to the largest expected one: what another order of summation makes.
const FLOAT_TOLERANCE: f64 = 1e-5;

/// Differences between the elements of an output and the expected ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Number of elements.
    pub elements: usize,
    /// Number of elements that are not equal.
    pub differing: usize,
    /// The largest difference; infinite where one is not a number.
    pub largest: f64,
    /// The largest difference that is accepted.
    pub allowed: f64,
}

impl Difference {
    /// Compares two arrays of one type and shape.
    ///
    /// `tolerance` is a number of units for integers. For floating-point numbers it is a
    /// fraction of the largest finite magnitude among the expected ones.
    pub fn between(found: &Array, expected: &Array, tolerance: Option<f64>) -> Self {
        let mut difference = Self { elements: found.shape.elements(), differing: 0, largest: 0.0, allowed: 0.0 };
        let distances: Box<dyn Iterator<Item = f64>> = match (found.elements(), expected.elements()) {
            (Elements::Integers(found), Elements::Integers(expected)) => {
                difference.allowed = tolerance.unwrap_or(0.0);
                // The distance of two 64-bit numbers takes 65 bits; one that is not 0 stays so.
                Box::new(found.zip(expected).map(|(a, b)| (i128::from(a) - i128::from(b)).unsigned_abs() as f64))
            }
            (Elements::Floats(found), Elements::Floats(expected)) => {
                let expected: Vec<_> = expected.collect();
                let magnitudes = expected.iter().map(|value| value.abs()).filter(|value| value.is_finite());
                let largest = f64::from(magnitudes.fold(0.0, f32::max));
                difference.allowed = tolerance.unwrap_or(FLOAT_TOLERANCE) * largest;
                Box::new(found.zip(expected).map(|(a, b)| distance(a, b)))
            }
            // Types are compared before.
            _ => Box::new(std::iter::repeat_n(f64::INFINITY, difference.elements)),
        };
        for distance in distances {
            difference.differing += usize::from(distance != 0.0);
            difference.largest = difference.largest.max(distance);
        }
        difference
    }

    /// Whether no element is beyond the tolerance.
    pub fn is_accepted(&self) -> bool {
        self.largest <= self.allowed
    }
}

/// 0 for equal numbers, two infinities of one sign, and two that are not numbers.
fn distance(found: f32, expected: f32) -> f64 {
    if found == expected || (found.is_nan() && expected.is_nan()) {
        return 0.0;
    }
    let distance = (f64::from(found) - f64::from(expected)).abs();
    if distance.is_nan() { f64::INFINITY } else { distance }
}
