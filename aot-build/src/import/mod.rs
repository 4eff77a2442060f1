//! Reads model files into graphs.
//!
//! An importer takes bytes and a [`Source`], through which it reads further files
//! and which remembers them, and gives a graph or all problems of the file.

#[cfg(feature = "json")]
pub(crate) mod json;
mod source;
#[cfg(feature = "tflite")]
mod tflite;

pub use source::Source;

use std::path::{Path, PathBuf};

use crate::Config;
use crate::error::{Error, Problem};
use crate::graph::Graph;
use crate::sha256::sha256;

/// A model as read from its file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model.
    pub graph: Graph,
    /// Every file that was read: the crate is rebuilt when one changes.
    pub files: Vec<PathBuf>,
    /// Bytes of the model file.
    pub bytes: usize,
    /// SHA-256 of the model file, in hexadecimal.
    pub sha256: String,
}

/// Reads the model file at `path`; the format follows from the file's extension.
///
/// # Errors
///
/// All problems of the file.
pub fn import(path: &Path) -> Result<Imported, Error> {
    import_within(path, Config::default().model_limit)
}

/// As [`import()`], of at most `limit` bytes: those of the file and of the files that it names.
///
/// # Errors
///
/// All problems of the file.
pub fn import_within(path: &Path, limit: u64) -> Result<Imported, Error> {
    let mut source = Source::new(path, limit);
    let bytes = source.model().map_err(|problem| Error::new(path, vec![problem]))?;
    read(source, &bytes)
}

/// Reads a model whose bytes are at hand, as though they were those of the file at `path`.
///
/// # Errors
///
/// All problems of the model.
pub fn import_bytes(path: &Path, bytes: &[u8]) -> Result<Imported, Error> {
    read(Source::new(path, Config::default().model_limit), bytes)
}

type Importer = fn(&mut Source, &[u8]) -> Result<Graph, Vec<Problem>>;

/// The formats by the extension of their files.
const FORMATS: &[(&str, Importer)] = &[
    #[cfg(feature = "json")]
    ("json", json::import),
    #[cfg(feature = "tflite")]
    ("tflite", |source, bytes| tflite::read(bytes, source.name())),
];

fn read(mut source: Source, bytes: &[u8]) -> Result<Imported, Error> {
    let graph = graph(&mut source, bytes).map_err(|problems| Error::new(source.path(), problems))?;
    Ok(Imported { graph, files: source.into_files(), bytes: bytes.len(), sha256: sha256(bytes) })
}

fn graph(source: &mut Source, bytes: &[u8]) -> Result<Graph, Vec<Problem>> {
    let extension = source.path().extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match FORMATS.iter().find(|(name, _)| *name == extension) {
        Some((_, importer)) => importer(source, bytes),
        None => Err(vec![unknown_format(extension)]),
    }
}

fn unknown_format(extension: &str) -> Problem {
    let problem = Problem::new(format!("files that end in `{extension}` are not read"));
    match extension {
        "json" | "tflite" => {
            problem.help(format!("switch the feature `{extension}` of `aot-build` or `aot-macros` on"))
        }
        _ => problem.help("the formats are `.json` (net.json) and `.tflite`"),
    }
}
