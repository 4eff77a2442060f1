//! Results at an end of what integers can hold.

use aot_rt::{Saturated, Saturation};

use crate::models::{Digits, DoubleI8, DoubleI16};

/// `y = 2 x` of all int8.
#[test]
fn int8() {
    let all: Vec<i8> = (i8::MIN..=i8::MAX).collect();
    let all = all.try_into().expect("there are 256");
    let mut saturation = Saturation::new(DoubleI8::STEPS);
    DoubleI8::new().run_with(&mut saturation, &all);
    // Everything from -64 down, and from 64 up.
    let expect = Saturated { results: 256, least: 65, greatest: 64 };
    assert_eq!(saturation.steps().map(|(_, found)| found).collect::<Vec<_>>(), [expect]);
    saturation.reset();
    assert_eq!(saturation.steps().map(|(_, found)| found.results).sum::<u64>(), 0);
}

#[test]
fn int16() {
    let mut saturation = Saturation::new(DoubleI16::STEPS);
    DoubleI16::new().run_with(&mut saturation, &[-32768, -16384, 16383, 16384, 100]);
    let expect = Saturated { results: 5, least: 2, greatest: 1 };
    assert_eq!(saturation.steps().map(|(_, found)| found).collect::<Vec<_>>(), [expect]);
}

/// Steps of another model are not counted as one's own.
#[test]
fn another_model() {
    let mut saturation = Saturation::new(DoubleI8::STEPS);
    Digits::new().run_with(&mut saturation, &[127; 64]);
    assert!(saturation.steps().all(|(_, found)| found == Saturated::default()));
}
