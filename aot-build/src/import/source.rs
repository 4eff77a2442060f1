//! The files of a model: read within limits, inside its folder, and remembered.

use std::path::{Component, Path, PathBuf};

use crate::error::Problem;

/// A model file, and the files beside it that it names.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    files: Vec<PathBuf>,
    /// Bytes that may still be read.
    left: u64,
}

impl Source {
    /// Most bytes that one file may have.
    pub const MAX_BYTES: u64 = 1 << 30;
    /// Most bytes that are read together: a model may name one large file a thousand times.
    pub const MAX_TOTAL_BYTES: u64 = 2 * Self::MAX_BYTES;

    /// The model file at `path`.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), files: Vec::new(), left: Self::MAX_TOTAL_BYTES }
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
    pub fn into_files(self) -> Vec<PathBuf> {
        self.files
    }

    /// Reads the model file.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is too large.
    pub fn model(&mut self) -> Result<Vec<u8>, Problem> {
        self.read(self.path.clone()).map_err(|message| Problem::new(format!("the file {message}")))
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
        self.read(path).map_err(|message| Problem::new(format!("`{name}` {message}")))
    }

    /// The bytes of a file, or what is wrong with it, to be read after its name.
    fn read(&mut self, path: PathBuf) -> Result<Vec<u8>, String> {
        let unreadable = |error| format!("cannot be read: {error}");
        let metadata = std::fs::metadata(&path).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err("is no file".into());
        }
        if metadata.len() > Self::MAX_BYTES {
            return Err(format!("has {} bytes, the limit is {}", metadata.len(), Self::MAX_BYTES));
        }
        let Some(left) = self.left.checked_sub(metadata.len()) else {
            return Err(format!("is one too many: {} bytes are the limit together", Self::MAX_TOTAL_BYTES));
        };
        self.left = left;
        let bytes = std::fs::read(&path).map_err(unreadable)?;
        if bytes.starts_with(b"version https://git-lfs.github.com/") {
            return Err("is a pointer of Git LFS; `git lfs pull` fetches the file".into());
        }
        if !self.files.contains(&path) {
            self.files.push(path);
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
            (1, "src/lib.rs", "`src/lib.rs` is one too many: 2147483648 bytes are the limit together"),
            (1, "a\ncargo::rustc-env=A=B", "the file name \"a\\ncargo::rustc-env=A=B\" holds control"),
        ] {
            let mut source = Source { left, ..Source::new(&model) };
            let problem = source.beside(name).unwrap_err();
            assert!(problem.message.starts_with(expect), "{problem}");
            assert!(source.into_files().is_empty());
        }
    }

    #[test]
    fn a_pointer_of_git_lfs_is_no_model() {
        let path = std::env::temp_dir().join(format!("aot-build-{}-lfs.tflite", std::process::id()));
        std::fs::write(&path, "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n").unwrap();
        let problem = Source::new(&path).model().unwrap_err();
        assert_eq!(problem.message, "the file is a pointer of Git LFS; `git lfs pull` fetches the file");
        std::fs::remove_file(path).unwrap();
    }
}
