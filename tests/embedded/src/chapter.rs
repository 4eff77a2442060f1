//! Makes the crate of `docs/board.md` out of its text, and runs it: what is written there works.

use std::fs;

use crate::images::{Folders, command, make_folder, write};

/// The programs of the crate, and a line that each prints.
const PROGRAMS: [(&str, &str); 2] = [("firmware", "it is 0, score "), ("profile", "operator ")];

/// The files of the page: each a paragraph that begins with `name`: or `name`, and ends in a colon, and
/// the block of code under it.
fn files(page: &str) -> Vec<(&str, &str)> {
    let mut files = Vec::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("\n```") {
        let Some((block, after)) = after.split_once("\n```\n") else { break };
        let title = before.trim().rsplit("\n\n").next().unwrap_or_default();
        if let Some((name, rest)) = title.strip_prefix('`').and_then(|title| title.split_once('`'))
            && rest.starts_with([':', ','])
            && rest.ends_with(':')
        {
            files.push((name, block.split_once('\n').map_or("", |(_, text)| text)));
        }
        rest = after;
    }
    files
}

/// Builds and runs the crate's programs.
pub(crate) fn check(folders: &Folders) -> Result<(), String> {
    let read = |name: &str| {
        let file = folders.workspace.join(name);
        fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))
    };
    let page =
        String::from_utf8(read("docs/board.md")?).map_err(|error| format!("docs/board.md: {error}"))?;
    let folder = folders.output.join("chapter");
    for (name, text) in files(&page) {
        let mut text = format!("{text}\n");
        if name == "Cargo.toml" {
            text = text.replace("../aot/", &format!("{}/", folders.workspace.display()));
            // Not one of the workspace that it lies in.
            text.push_str("\n[workspace]\n");
        }
        make_folder(folder.join(name).parent().unwrap_or(&folder))?;
        write(&folder.join(name), text)?;
    }
    make_folder(&folder.join("models"))?;
    write(&folder.join("models/digits.tflite"), read("examples/digits/model/digits.tflite")?)?;
    write(&folder.join("Cargo.lock"), read("examples/firmware/Cargo.lock")?)?;
    for (name, expected) in PROGRAMS {
        let mut cargo = command(folders, &folder);
        let output = cargo.args(["run", "--quiet", "--release", "--bin", name]).output();
        let output = output.map_err(|error| format!("cargo: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !printed.lines().any(|line| line.starts_with(expected)) {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("docs/board.md: `{name}` ends with {}:\n{printed}{errors}", output.status));
        }
        println!("docs/board.md: `{name}` runs");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn files_are_blocks_under_their_names() {
        let page = "# Page\n\n```sh\nls\n```\n\n`a/b.rs`, the code:\n\n```rust\nfn a() {}\n\nfn b() {}\n```\n\n\
            `not` a file:\n\n```sh\nls\n```\n";
        assert_eq!(super::files(page), [("a/b.rs", "fn a() {}\n\nfn b() {}")]);
    }
}
