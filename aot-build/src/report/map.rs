//! The workspace as a picture in plain text: time across, addresses up.

use std::fmt::Write as _;

use super::MemoryReport;
use super::memory::TensorReport;
use super::{label, spaced};

/// Lines that the workspace is divided into.
const LINES: usize = 24;

/// Letters for tensors, in the order of the report; those beyond get `#`.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Draws who occupies which bytes at which step: a column for each step and one for
/// the time after the last, a letter for each tensor, and a legend.
#[must_use]
pub fn memory_map(report: &MemoryReport) -> String {
    let tensors =
        || report.tensors.iter().filter(|tensor| tensor.alias_of.is_none() && tensor.address.is_some());
    let lettered: Vec<(char, &TensorReport)> =
        LETTERS.chars().chain(std::iter::repeat('#')).zip(tensors()).collect();
    let band = report.span.div_ceil(LINES).max(1);
    let mut map = String::new();
    for line in (0..report.span.div_ceil(band)).rev() {
        let start = line * band;
        let cells: String = (0..=report.steps.len())
            .map(|step| {
                let share = |(_, tensor): &&(char, &TensorReport)| covered(tensor, start..start + band);
                let alive = lettered.iter().filter(|(_, tensor)| tensor.occupies(step));
                alive.filter(|cell| share(cell) > 0).max_by_key(share).map_or('.', |(letter, _)| *letter)
            })
            .collect();
        // Writing to a string cannot fail.
        let _ = writeln!(map, "{:>12} {cells}", spaced(start));
    }
    for (letter, tensor) in &lettered {
        let _ = writeln!(map, "{letter:>12} {}", label(&tensor.name));
    }
    map
}

/// Bytes of `range` that the tensor covers.
fn covered(tensor: &TensorReport, range: std::ops::Range<usize>) -> usize {
    let start = tensor.address.unwrap_or(0);
    (start + tensor.bytes).min(range.end).saturating_sub(start.max(range.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Peak;

    #[test]
    fn time_goes_across_and_addresses_up() {
        let tensor = |name: &str, bytes, (first_step, last_step), offset| TensorReport {
            first_step,
            last_step,
            pool: "workspace".into(),
            offset: Some(offset),
            address: Some(offset),
            ..TensorReport::new(name, None, bytes)
        };
        let report = MemoryReport {
            arena_bytes: 3,
            pools: Vec::new(),
            span: 3,
            lower_bound: 3,
            proved: true,
            steps: vec!["pad_0".into(), "conv2d_1".into()],
            tensors: vec![
                tensor("x", 1, (0, 0), 0),
                tensor("padded", 2, (0, 1), 1),
                tensor("y", 1, (1, 2), 0),
            ],
            peak: Peak { step: 0, bytes: 3, tensors: Vec::new() },
            runs: Vec::new(),
            figures: Vec::new(),
        };
        let expect = "
           2 bb.
           1 bb.
           0 acc
           a x
           b padded
           c y
";
        assert_eq!(memory_map(&report), expect[1..]);
    }
}
