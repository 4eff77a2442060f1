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
        .map(|candidate| (strsim::osa_distance(name, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
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
}
