//! Lines of Rust source, indented, broken as rustfmt breaks them.

/// rustfmt's `max_width`.
pub(super) const MAX_WIDTH: usize = 100;
/// rustfmt's `fn_call_width`.
pub(super) const CALL_WIDTH: usize = 60;
/// rustfmt's `struct_lit_width`.
pub(super) const STRUCT_WIDTH: usize = 18;

/// Source that grows line by line.
#[derive(Debug, Default)]
pub(super) struct Code {
    text: String,
    indent: usize,
}

impl Code {
    /// Starts at an indentation of `indent` levels.
    pub(super) fn new(indent: usize) -> Self {
        Self { text: String::new(), indent }
    }

    /// The current indentation.
    pub(super) fn indent(&self) -> usize {
        self.indent
    }

    /// Adds source that was written at its own indentation.
    pub(super) fn append(&mut self, code: Self) {
        self.text.push_str(&code.text);
    }

    /// The source.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.indent));
            self.text.push_str(line);
        }
        self.text.push('\n');
    }

    /// An empty line.
    pub(super) fn blank(&mut self) {
        self.line("");
    }

    /// Lines of documentation.
    pub(super) fn doc(&mut self, text: impl AsRef<str>) {
        for line in text.as_ref().lines() {
            self.line(if line.is_empty() { "///".to_owned() } else { format!("/// {line}") });
        }
    }

    /// What `inside` writes, one level deeper.
    pub(super) fn indented(&mut self, inside: impl FnOnce(&mut Self)) {
        self.indent += 1;
        inside(self);
        self.indent -= 1;
    }

    /// `open`, what `inside` writes one level deeper, `close`.
    pub(super) fn block(&mut self, open: impl AsRef<str>, close: &str, inside: impl FnOnce(&mut Self)) {
        self.line(open);
        self.indented(inside);
        self.line(close);
    }

    /// `open`, `items` separated by commas, `close`: on one line where the items are
    /// at most `width` long together and the line is not too long, else a line each.
    pub(super) fn list(&mut self, open: &str, items: &[String], close: &str, width: usize) {
        let joined = items.join(", ");
        let len = |text: &str| text.chars().count();
        let line_len = self.indent * 4 + len(open) + len(&joined) + len(close);
        if len(&joined) <= width && line_len <= MAX_WIDTH {
            self.line(format!("{open}{joined}{close}"));
        } else {
            self.block(open.trim_end(), close.trim_start(), |code| {
                for item in items {
                    code.line(format!("{item},"));
                }
            });
        }
    }

    /// `open = value;`, the value on a line of its own where both are too long.
    pub(super) fn assign(&mut self, open: &str, value: &str) {
        if self.indent * 4 + open.chars().count() + value.chars().count() + 4 <= MAX_WIDTH {
            self.line(format!("{open} = {value};"));
        } else {
            self.line(format!("{open} ="));
            self.indented(|code| code.line(format!("{value};")));
        }
    }

    /// `list` with no limit but that of the line.
    pub(super) fn wide_list(&mut self, open: &str, items: &[String], close: &str) {
        self.list(open, items, close, MAX_WIDTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_broken() {
        let mut code = Code::new(1);
        let items = |len: usize| vec!["x".repeat(len); 2];
        code.list("f(", &items(29), ");", CALL_WIDTH);
        code.list("f(", &items(30), ");", CALL_WIDTH);
        code.doc("a\n\nb");
        let (short, long) = ("x".repeat(29), "x".repeat(30));
        assert_eq!(
            code.into_text(),
            format!(
                "    f({short}, {short});\n    f(\n        {long},\n        {long},\n    );\n    /// a\n    ///\n    /// b\n"
            )
        );
    }
}
