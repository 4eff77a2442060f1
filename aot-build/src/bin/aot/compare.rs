//! How far results are from what is expected.

use serde::Serialize;

use crate::array::{Array, Elements};

/// Largest difference of floating-point results that is accepted without `--tolerance`,
/// relative to the largest expected magnitude: what another order of summation makes.
const FLOAT_TOLERANCE: f64 = 1e-5;

/// Differences between the elements of an output and the expected ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// Number of elements.
    pub(crate) elements: usize,
    /// Number of elements that are not equal.
    pub(crate) differing: usize,
    /// The largest difference; infinite where one is not a number.
    pub(crate) largest: f64,
    /// The largest difference that is accepted.
    pub(crate) allowed: f64,
}

impl Difference {
    /// Compares two arrays of one type and shape.
    pub(crate) fn between(found: &Array, expected: &Array, allowed: f64) -> Self {
        let mut difference = Self { elements: found.shape.elements(), differing: 0, largest: 0.0, allowed };
        let distances: Box<dyn Iterator<Item = f64>> = match (found.elements(), expected.elements()) {
            (Elements::Integers(found), Elements::Integers(expected)) => {
                // A distance that is not 0 stays so.
                Box::new(found.zip(expected).map(|(a, b)| (a - b).unsigned_abs() as f64))
            }
            (Elements::Floats(found), Elements::Floats(expected)) => {
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
    pub(crate) fn is_accepted(&self) -> bool {
        self.largest <= self.allowed
    }
}

/// The largest difference that is accepted for an output whose expected values are
/// `expected`, one array for each set.
///
/// `tolerance` is a number of units for integers. For floating-point numbers it is a
/// fraction of the largest finite magnitude among all expected ones: an output that is
/// near 0 in one set is as wrong there as elsewhere.
pub(crate) fn allowed<'a>(tolerance: Option<f64>, expected: impl IntoIterator<Item = &'a Array>) -> f64 {
    let magnitude = expected.into_iter().filter_map(largest_magnitude).reduce(f64::max);
    match magnitude {
        Some(magnitude) => tolerance.unwrap_or(FLOAT_TOLERANCE) * magnitude,
        None => tolerance.unwrap_or(0.0),
    }
}

/// `None` for integers.
fn largest_magnitude(array: &Array) -> Option<f64> {
    match array.elements() {
        Elements::Integers(_) => None,
        Elements::Floats(values) => Some(
            values.map(|value| f64::from(value.abs())).filter(|value| value.is_finite()).fold(0.0, f64::max),
        ),
    }
}

/// `2 of 12 differ, the largest difference is 3, 0 is allowed`.
impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { elements, differing, largest, allowed } = self;
        write!(f, "{differing} of {elements} differ")?;
        if *differing == 0 {
            return Ok(());
        }
        // Integers' differences are whole; three digits of the others say enough.
        let show = |value: f64| if value.fract() == 0.0 { value.to_string() } else { format!("{value:.3e}") };
        write!(f, ", the largest difference is {}, {} is allowed", show(*largest), show(*allowed))
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

#[cfg(test)]
mod tests {
    use aot_build::graph::Shape;
    use aot_rt::DType;

    use super::*;

    fn array<const N: usize>(dtype: DType, elements: &[[u8; N]]) -> Array {
        Array { dtype, shape: Shape::new([elements.len()]).unwrap(), bytes: elements.concat() }
    }

    fn floats(values: &[f32]) -> Array {
        array(DType::F32, &values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    fn bytes(values: &[i8]) -> Array {
        array(DType::I8, &values.iter().map(|value| value.to_le_bytes()).collect::<Vec<_>>())
    }

    fn between(found: &Array, expected: &Array, tolerance: Option<f64>) -> Difference {
        Difference::between(found, expected, allowed(tolerance, [expected]))
    }

    #[test]
    fn tolerance_counts_units_of_integers() {
        let (found, expected) = (bytes(&[1, -128, 5]), bytes(&[1, 127, 6]));
        for (tolerance, allowed, accepted) in
            [(None, 0.0, false), (Some(254.0), 254.0, false), (Some(255.0), 255.0, true)]
        {
            let difference = between(&found, &expected, tolerance);
            assert_eq!(difference, Difference { elements: 3, differing: 2, largest: 255.0, allowed });
            assert_eq!(difference.is_accepted(), accepted);
        }
    }

    #[test]
    fn large_integers_that_differ_do_not_round_to_equal() {
        let values = |values: [i64; 2]| array(DType::I64, &values.map(i64::to_le_bytes));
        let difference = between(&values([i64::MAX, i64::MIN]), &values([i64::MAX - 1, i64::MAX]), None);
        assert_eq!((difference.differing, difference.largest), (2, u64::MAX as f64));
        assert!(!difference.is_accepted());
    }

    #[test]
    fn tolerance_is_a_fraction_of_the_largest_expected_float() {
        let (found, expected) = (floats(&[100.5, 1.0, f32::INFINITY]), floats(&[100.0, 1.0, f32::INFINITY]));
        for (tolerance, accepted) in [(None, false), (Some(0.004), false), (Some(0.005), true)] {
            let difference = between(&found, &expected, tolerance);
            assert_eq!((difference.differing, difference.largest), (1, 0.5));
            assert_eq!(difference.is_accepted(), accepted, "{tolerance:?}");
        }
        assert!(between(&floats(&[1.000_001]), &floats(&[1.0]), None).is_accepted());
    }

    #[test]
    fn the_largest_float_of_all_sets_counts() {
        let sets = [floats(&[0.001]), floats(&[-2.0, f32::NEG_INFINITY]), floats(&[f32::NAN])];
        assert_eq!(allowed(None, &sets), 2e-5);
        assert_eq!(allowed(Some(0.5), &sets), 1.0);
    }

    #[test]
    fn what_is_no_number_equals_only_itself() {
        for (found, expected, differing) in [
            (f32::NAN, f32::NAN, 0),
            (f32::NAN, 1.0, 1),
            (1.0, f32::NAN, 1),
            (f32::INFINITY, f32::NEG_INFINITY, 1),
            (1.0, f32::INFINITY, 1),
            (-0.0, 0.0, 0),
        ] {
            let difference = between(&floats(&[found]), &floats(&[expected]), Some(1e9));
            assert_eq!(difference.differing, differing, "{found} for {expected}");
            assert_eq!(difference.is_accepted(), differing == 0, "{found} for {expected}");
        }
    }
}
