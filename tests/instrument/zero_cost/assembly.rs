//! Assembly, compared without regard to the names of symbols.

use std::collections::{HashMap, HashSet};

/// What a compiler wrote: for each label, the lines up to the next one.
pub(super) struct Assembly {
    blocks: HashMap<String, Vec<String>>,
}

/// Directives that say nothing about the code.
const IGNORED: [&str; 12] = [
    ".cfi_", ".p2align", ".section", ".type", ".size", ".globl", ".hidden", ".text", ".file", ".loc",
    ".ident", ".addrsig",
];

impl Assembly {
    pub(super) fn read(text: &str) -> Self {
        let mut blocks: HashMap<String, Vec<String>> = HashMap::new();
        let mut label = String::new();
        for line in text.lines() {
            let code = line.split('#').next().unwrap_or_default().trim_end();
            // Labels within a function belong to it.
            let within = code.starts_with(".LBB") || code.starts_with(".Ltmp");
            match code.strip_suffix(':').filter(|_| !within && !code.starts_with(char::is_whitespace)) {
                Some(name) => label = name.trim_matches('"').to_owned(),
                None if code.is_empty() || IGNORED.iter().any(|start| code.trim().starts_with(start)) => {}
                None => blocks.entry(label.clone()).or_default().push(code.trim().to_owned()),
            }
        }
        Self { blocks }
    }

    /// The symbol of the function `main` of the crate `hooks`.
    pub(super) fn main(&self) -> &str {
        let found: Vec<_> = self.blocks.keys().filter(|symbol| symbol.contains("5hooks4main")).collect();
        assert_eq!(found.len(), 1, "symbols of `main`: {found:?}");
        found[0]
    }

    /// Compares two symbols and all that they reach; gives how many are equal.
    pub(super) fn compare(&self, a: &str, other: &Self, b: &str) -> usize {
        let mut open = vec![(a.to_owned(), b.to_owned())];
        let mut equal: HashSet<(String, String)> = HashSet::new();
        while let Some((a, b)) = open.pop() {
            if equal.contains(&(a.clone(), b.clone())) {
                continue;
            }
            match (self.blocks.get(&a), other.blocks.get(&b)) {
                (Some(mine), Some(others)) => {
                    open.extend(same_lines([&a, &b], mine, others));
                    equal.insert((a, b));
                }
                // Of another crate, the same in both; or a place within a function.
                (None, None) => assert!(a == b || a.starts_with(".L"), "{a} is not {b}"),
                _ => panic!("only one of these is here: {a}, {b}"),
            }
        }
        equal.len()
    }
}

/// Checks that lines are equal but for symbols; gives the pairs of these.
fn same_lines(labels: [&str; 2], a: &[String], b: &[String]) -> Vec<(String, String)> {
    let mut pairs: HashMap<String, String> = HashMap::new();
    for (i, (line, other)) in a.iter().zip(b).enumerate() {
        let [line, other] = [line, other].map(|line| words(line));
        let differs = || format!("{labels:?}, line {i}: {line:?}, without hooks {other:?}");
        assert_eq!(line.len(), other.len(), "{}", differs());
        for (word, other) in line.iter().zip(&other) {
            if is_symbol(word) && is_symbol(other) {
                let known = pairs.entry((*word).to_owned()).or_insert_with(|| (*other).to_owned());
                assert_eq!(known, other, "{}", differs());
            } else {
                assert_eq!(word, other, "{}", differs());
            }
        }
    }
    assert_eq!(a.len(), b.len(), "{labels:?} have other numbers of lines");
    pairs.into_iter().collect()
}

/// Symbols, and what is between them.
fn words(line: &str) -> Vec<&str> {
    let in_word = |c: char| c.is_ascii_alphanumeric() || "_.$".contains(c);
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| in_word(c) != in_word(first)).unwrap_or(rest.len());
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

fn is_symbol(word: &str) -> bool {
    ["_ZN", "_R", ".L", "anon.", "__unnamed"].iter().any(|start| word.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function that calls another.
    fn program(names: [&str; 2], instruction: &str) -> Assembly {
        let [main, other] = names;
        Assembly::read(&format!(
            "{main}:\n\t.cfi_startproc\n.LBB7_1:\n\tcallq\t{other}\n\tjne\t.LBB7_1\n\tretq\n\n{other}:\n\t{instruction}\n"
        ))
    }

    #[test]
    fn names_do_not_matter_and_instructions_do() {
        let a = program(["_ZN5hooks4main17h1E", "_ZN1a17h2E"], "movl\t$1, %eax");
        let b = program(["_ZN5hooks4main17h3E", "_ZN1b17h4E"], "movl\t$1, %eax");
        assert_eq!(a.compare(a.main(), &b, b.main()), 2);
    }

    #[test]
    #[should_panic(expected = "line 0")]
    fn another_instruction() {
        let a = program(["_ZN5hooks4main17h1E", "_ZN1a17h2E"], "movl\t$1, %eax");
        let b = program(["_ZN5hooks4main17h3E", "_ZN1b17h4E"], "movl\t$2, %eax");
        a.compare(a.main(), &b, b.main());
    }
}
