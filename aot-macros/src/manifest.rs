//! The crate's folder, which paths are relative to.

use std::env;
use std::path::{Path, PathBuf};

use syn::{Error, LitStr, Result};

/// Folder of the crate's `Cargo.toml`.
pub(crate) struct Manifest(PathBuf);

impl Manifest {
    /// Cargo says where it is. Other build systems may not: then it is the next
    /// `Cargo.toml` above the source file that `literal` stands in. The working
    /// directory is not asked, as it differs between a package and a workspace.
    pub(crate) fn of(literal: &LitStr) -> Result<Self> {
        // `Span::unwrap` gives the compiler's span and only panics outside a macro.
        let folder = match env::var_os("CARGO_MANIFEST_DIR") {
            Some(folder) => Some(PathBuf::from(folder)),
            None => literal.span().unwrap().local_file().and_then(|file| above(&file)),
        };
        let message = "the crate's folder is not known: neither is CARGO_MANIFEST_DIR set, \
                       nor is there a Cargo.toml above this file";
        folder
            .and_then(|folder| std::path::absolute(folder).ok())
            .map(Self)
            .ok_or_else(|| Error::new(literal.span(), message))
    }

    /// The file that `literal` names.
    pub(crate) fn file(&self, literal: &str) -> PathBuf {
        self.0.join(literal)
    }

    /// `message` with the paths in it as the user wrote them: relative to the crate.
    pub(crate) fn shorten(&self, message: &str) -> String {
        let mut folder = self.0.display().to_string();
        folder.push(std::path::MAIN_SEPARATOR);
        message.replace(&folder, "")
    }
}

/// The next folder above `file` that holds a `Cargo.toml`.
fn above(file: &Path) -> Option<PathBuf> {
    let file = std::path::absolute(file).ok()?;
    file.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_is_found_above_a_source_file() {
        let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(above(&crate_folder.join("src/deep/er/lib.rs")).as_deref(), Some(crate_folder));
        assert_eq!(above(Path::new("/nowhere/lib.rs")), None);
    }

    #[test]
    fn paths_in_messages_are_short() {
        let manifest = Manifest("/home/me/crate".into());
        assert_eq!(manifest.shorten("/home/me/crate/net.json: bad"), "net.json: bad");
        assert_eq!(manifest.shorten("/home/me/crates/net.json: bad"), "/home/me/crates/net.json: bad");
        assert_eq!(manifest.shorten("/home/me/crate/../net.json: bad"), "../net.json: bad");
    }
}
