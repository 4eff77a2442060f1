//! Reads model files into graphs.
//!
//! An importer takes bytes and a [`Source`], through which it reads further files
//! and which remembers them, and gives a graph or all problems of the file.

#[cfg(feature = "json")]
pub(crate) mod json;
mod source;
#[cfg(feature = "tflite")]
pub(crate) mod tflite;

pub use source::Source;

use std::path::{Path, PathBuf};

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
    let mut source = Source::new(path);
    let (graph, bytes) = read(&mut source).map_err(|problems| Error::new(path, problems))?;
    Ok(Imported { graph, files: source.into_files(), bytes: bytes.len(), sha256: sha256(&bytes) })
}

type Importer = fn(&mut Source, &[u8]) -> Result<Graph, Vec<Problem>>;

/// The formats by the extension of their files.
const FORMATS: &[(&str, Importer)] = &[
    #[cfg(feature = "json")]
    ("json", json::import),
    #[cfg(feature = "tflite")]
    ("tflite", |source, bytes| tflite::read(bytes, source.name())),
];

fn read(source: &mut Source) -> Result<(Graph, Vec<u8>), Vec<Problem>> {
    let bytes = source.model().map_err(|problem| vec![problem])?;
    let extension = source.path().extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let format = FORMATS.iter().find(|(name, _)| *name == extension);
    let Some((_, importer)) = format else { return Err(vec![unknown_format(extension)]) };
    Ok((importer(source, &bytes)?, bytes))
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
