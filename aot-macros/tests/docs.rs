//! The documents list the keys as the compiler knows them.

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
