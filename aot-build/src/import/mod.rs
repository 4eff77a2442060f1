//! Reads model files into graphs.
//!
//! An importer takes bytes and a [`Source`], through which it reads further files
//! and which remembers them, and gives a graph or all problems of the file.

#[cfg(feature = "json")]
pub(crate) mod json;
mod source;
#[cfg(feature = "tflite")]
pub(crate) mod tflite;

pub use source::{Source, SourceFile};

use std::path::Path;

use crate::Config;
use crate::error::{Error, Problem};
use crate::graph::Graph;
use crate::hash::sha256;

/// A model as read from its file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The model.
    pub graph: Graph,
    /// Every file that was read: the crate is rebuilt when one changes.
    pub files: Vec<SourceFile>,
    /// Bytes of the model file.
    pub bytes: usize,
    /// SHA-256 of the model file, in hexadecimal.
    pub sha256: String,
}

/// Reads the model file at `path`; the format follows from the file's extension. `config`
/// binds what the file leaves open.
///
/// # Errors
///
/// All problems of the file.
pub fn import(path: &Path, config: &Config) -> Result<Imported, Error> {
    let mut source = Source::new(path, config.model_limit);
    let bytes = source.model().map_err(|problem| Error::new(path, vec![problem]))?;
    read(source, &bytes, config)
}

/// Reads a model whose bytes are at hand, as though they were those of the file at `path`.
///
/// # Errors
///
/// All problems of the model.
pub fn import_bytes(path: &Path, bytes: &[u8], config: &Config) -> Result<Imported, Error> {
    read(Source::new(path, config.model_limit), bytes, config)
}

type Importer = fn(&mut Source, &[u8], &Config) -> Result<Graph, Vec<Problem>>;

/// The formats by the extension of their files.
const FORMATS: &[(&str, Importer)] = &[
    #[cfg(feature = "json")]
    ("json", |source, bytes, config| {
        all_is_fixed(config)?;
        json::import(source, bytes)
    }),
    #[cfg(feature = "tflite")]
    ("tflite", |source, bytes, config| tflite::read(bytes, source.name(), config)),
];

fn read(mut source: Source, bytes: &[u8], config: &Config) -> Result<Imported, Error> {
    let graph = graph(&mut source, bytes, config).map_err(|problems| Error::new(source.path(), problems))?;
    Ok(Imported { graph, files: source.into_files(), bytes: bytes.len(), sha256: sha256(bytes) })
}

fn graph(source: &mut Source, bytes: &[u8], config: &Config) -> Result<Graph, Vec<Problem>> {
    let extension = source.path().extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match FORMATS.iter().find(|(name, _)| *name == extension) {
        Some((_, importer)) => importer(source, bytes, config),
        None => Err(vec![unknown_format(extension)]),
    }
}

/// Checks that `config` asks for nothing that only files of other formats leave open.
#[cfg(feature = "json")]
fn all_is_fixed(config: &Config) -> Result<(), Vec<Problem>> {
    let keys = [
        ("batch", config.batch.is_some()),
        ("shapes", !config.shapes.is_empty()),
        ("signature", config.signature.is_some()),
        ("subgraph", config.subgraph.is_some()),
    ];
    let set = keys.into_iter().filter(|(_, set)| *set);
    let problems: Vec<_> = set
        .map(|(key, _)| {
            let message =
                format!("`{key}` is for TFLite files: net.json states one graph and all its shapes");
            Problem::new(message).at(crate::error::Location::Key(key.into()))
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
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
