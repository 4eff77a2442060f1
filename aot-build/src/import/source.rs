//! The files of a model: read within limits, inside its folder, and remembered.

use std::path::{Component, Path, PathBuf};

use crate::error::{Problem, spaced};
use crate::hash::sha256;

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its name: the model file's own, that of others as the model file gives it.
    pub name: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
}

/// A model file, and the files beside it that it names.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    files: Vec<SourceFile>,
    limit: u64,
    /// Bytes that may still be read.
    left: u64,
}

impl Source {
    /// The model file at `path`; `limit` is the most bytes that are read, files that are named
    /// twice counted twice.
    #[must_use]
    pub fn new(path: &Path, limit: u64) -> Self {
        Self { path: path.to_owned(), files: Vec::new(), limit, left: limit }
    }

    /// Most bytes that are read together.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }

    /// Path of the model file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Name of the model: the file's, without its extension.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Every file that was read.
    #[must_use]
    pub fn into_files(self) -> Vec<SourceFile> {
        self.files
    }

    /// Reads the model file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is too large.
    pub fn model(&mut self) -> Result<Vec<u8>, Problem> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.read(self.path.clone(), name).map_err(|message| Problem::new(format!("the file {message}")))
    }

    /// Reads a file that the model names, relative to the model's folder.
    ///
    /// # Errors
    ///
    /// When the path is absolute, leaves the folder (through a link, too) or holds control
    /// characters, or the file cannot be read or is too large.
    pub fn beside(&mut self, name: &str) -> Result<Vec<u8>, Problem> {
        let outside = || {
            Problem::new(format!("`{name}` is not a file in the model's folder"))
                .help("name the file by a path relative to the model file, without `..`")
        };
        if name.chars().any(char::is_control) {
            // Build scripts print the name, and cargo takes lines for instructions.
            return Err(Problem::new(format!("the file name {name:?} holds control characters")));
        }
        let relative = Path::new(name);
        if !relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(outside());
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let path = folder.join(relative);
        let unreadable = |error| Problem::new(format!("cannot read `{name}`: {error}"));
        let (real, root) =
            (path.canonicalize().map_err(unreadable)?, folder.canonicalize().map_err(unreadable)?);
        if !real.starts_with(root) {
            return Err(outside());
        }
        self.read(path, name.to_owned()).map_err(|message| Problem::new(format!("`{name}` {message}")))
    }

    /// What is wrong with a file of so many bytes, to be read after its name.
    fn exceeded(&self, bytes: u64) -> String {
        let (bytes, before, limit) = (spaced(bytes), self.limit - self.left, spaced(self.limit));
        match before {
            0 => format!("has {bytes} bytes, `model_limit` is {limit}"),
            before => {
                format!("has {bytes} bytes, those before it {}, `model_limit` is {limit}", spaced(before))
            }
        }
    }

    /// The bytes of a file, or what is wrong with it, to be read after its name.
    fn read(&mut self, path: PathBuf, name: String) -> Result<Vec<u8>, String> {
        let unreadable = |error| format!("cannot be read: {error}");
        let metadata = std::fs::metadata(&path).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err("is no file".into());
        }
        self.left = self.left.checked_sub(metadata.len()).ok_or_else(|| self.exceeded(metadata.len()))?;
        let bytes = std::fs::read(&path).map_err(unreadable)?;
        if bytes.starts_with(b"version https://git-lfs.github.com/") {
            return Err("is a pointer of Git LFS; `git lfs pull` fetches the file".into());
        }
        if self.files.iter().all(|file| file.path != path) {
            self.files.push(SourceFile { path, name, bytes: bytes.len(), sha256: sha256(&bytes) });
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_files() {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        for (left, name, expect) in [
            (1, "no/such.npy", "cannot read `no/such.npy`"),
            (1, "src/lib.rs", "`src/lib.rs` has "),
            (1, "a\ncargo::rustc-env=A=B", "the file name \"a\\ncargo::rustc-env=A=B\" holds control"),
        ] {
            let mut source = Source { left, ..Source::new(&model, 2_000) };
            let problem = source.beside(name).unwrap_err();
            assert!(problem.message.starts_with(expect), "{problem}");
            if name == "src/lib.rs" {
                let expect = " bytes, those before it 1 999, `model_limit` is 2 000";
                assert!(problem.message.ends_with(expect), "{problem}");
            }
            assert!(source.into_files().is_empty());
        }
    }

    #[test]
    fn a_pointer_of_git_lfs_is_no_model() {
        let path = std::env::temp_dir().join(format!("aot-build-{}-lfs.tflite", std::process::id()));
        std::fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n").unwrap();
        let problem = Source::new(&path, 1 << 20).model().unwrap_err();
        assert_eq!(problem.message, "the file is a pointer of Git LFS; `git lfs pull` fetches the file");
        std::fs::remove_file(path).unwrap();
    }
}
