//! The known name that a misspelt one is closest to.

/// The candidate that takes the fewest edits to become `name`, when it takes few
/// enough to be meant.
pub(crate) fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The work grows with the square of the length; very long names are not typed by hand.
    let limit = if name.len() > 200 { 0 } else { name.chars().count().min(12) / 3 };
    if limit == 0 {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * limit)
        .map(|candidate| (distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Number of characters to insert, remove or replace between `a` and `b` (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // `row[j]`: distance between the part of `a` so far and the first `j` characters of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, in_a) in a.chars().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, in_b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(in_a != *in_b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        for (name, expect) in [
            ("strid", Some("stride")),
            ("paddings", Some("padding")),
            ("Padding", Some("padding")),
            ("atributes", Some("attributes")),
            ("x", None),
            ("", None),
            ("colour", None),
        ] {
            assert_eq!(nearest(name, ["attributes", "padding", "stride"]), expect, "{name}");
        }
    }

    #[test]
    fn distances() {
        for (a, b, expect) in [("", "", 0), ("kitten", "sitting", 3), ("", "abc", 3), ("flaw", "lawn", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (expect, expect), "{a} {b}");
        }
    }
}
