//! The documents say what is in the code.

use std::fs;
use std::path::Path;

use aot_build::Config;

#[test]
fn the_documents_list_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = Config::keys_markdown();
    for (path, required) in [("src/aot_model.md", true), ("../README.md", false)] {
        let text = fs::read_to_string(root.join(path)).unwrap_or_default();
        // The README may leave the keys to the documentation, but not list others.
        if required || text.contains("| key |") {
            assert!(text.contains(&table), "{path}: the table of keys is not this one:\n{table}");
        }
    }
}

/// Blocks after a comment that names a file are taken from it.
#[test]
fn quoted_code_is_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/adding-an-operator.md")).unwrap();
    let mut quotes = 0;
    for part in page.split("<!-- ").skip(1) {
        let (file, rest) = part.split_once(" -->\n").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        let (quote, _) = rest.split_once("```").unwrap();
        let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(quote), "{file} no longer holds what the page quotes:\n{quote}");
        quotes += 1;
    }
    assert!(quotes > 5, "only {quotes} quotes were found");
}
