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

#[test]
fn the_page_on_devices_lists_every_key() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/devices.md");
    let table = aot_build::config::Device::keys_markdown();
    assert!(
        fs::read_to_string(page).unwrap().contains(&table),
        "the table of keys is not this one:\n{table}"
    );
}

#[test]
fn the_page_on_memory_lists_every_key_of_pools() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/memory.md");
    let table = Config::pool_keys_markdown();
    assert!(
        fs::read_to_string(page).unwrap().contains(&table),
        "the table of keys is not this one:\n{table}"
    );
}

/// Blocks after a comment that names a file are taken from it.
#[test]
fn quoted_code_is_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (page, least) in [("docs/adding-an-operator.md", 6), ("docs/calls.md", 1)] {
        let page = fs::read_to_string(root.join(page)).unwrap();
        let mut quotes = 0;
        for part in page.split("<!-- ").skip(1) {
            let (file, rest) = part.split_once(" -->\n").unwrap();
            let (_, rest) = rest.split_once('\n').unwrap();
            let (quote, _) = rest.split_once("```").unwrap();
            let text = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(text.contains(quote), "{file} no longer holds what the page quotes:\n{quote}");
            quotes += 1;
        }
        assert!(quotes >= least, "only {quotes} quotes were found");
    }
}

/// Every test that `docs/hostile-files.md` names is there.
#[test]
fn hostile_files_are_tested() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("docs/hostile-files.md")).unwrap();
    let table = text.split("\n| class |").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    let mut sources = String::new();
    read_sources(&root.join("aot-build/src"), &mut sources);
    let refused = root.join("tests/conformance/refused");
    for row in table.lines().skip(2) {
        let columns: Vec<_> = row.split('|').collect();
        for name in columns[3..].iter().flat_map(|column| column.split('`').skip(1).step_by(2)) {
            let is_test = sources.contains(&format!("    #[test]\n    fn {name}()"))
                || sources.contains(&format!("\n#[test]\nfn {name}()"))
                || refused.join(name).with_extension("tflite").exists();
            assert!(is_test, "there is no test `{name}`: {row}");
        }
    }
}

fn read_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, text);
        } else {
            text.push_str(&fs::read_to_string(path).unwrap_or_default());
        }
    }
}
