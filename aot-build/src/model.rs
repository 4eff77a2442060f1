//! From a model's file to everything that back ends need: what the macro, the
//! build script and the tool share.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::Error;
use crate::graph::Graph;
use crate::import::SourceFile;
use crate::{Compiled, Config, codegen, compile, import};

/// A compiled model, and what it was made from.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name of the generated type: `Kws`.
    pub type_name: String,
    /// The model's file.
    pub source: SourceInfo,
    /// Program and memory plan.
    pub compiled: Compiled,
    /// The configuration that it was compiled with.
    pub config: Config,
}

/// A model's file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceInfo {
    /// Name of the file, without its folder.
    pub file: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// Its SHA-256 in hexadecimal.
    pub sha256: String,
    /// How often it uses each operator, by our name of it, before any pass.
    pub operators: BTreeMap<String, usize>,
    /// Every file that was read, this one first: the model is compiled again when
    /// one changes.
    pub files: Vec<SourceFile>,
}

/// Reads and compiles the model file at `path`.
///
/// # Errors
///
/// All problems of the model and of the configuration.
pub fn compile_file(path: &Path, config: &Config) -> Result<Model, Error> {
    let imported = import::import(path, config)?;
    let operators = count_operators(&imported.graph);
    let type_name = codegen::type_name(config.name.as_deref(), &stem(path));
    let (type_name, compiled) = match (type_name, compile(imported.graph, config)) {
        (Ok(type_name), Ok(compiled)) => (type_name, compiled),
        (type_name, compiled) => {
            let problems = type_name.err().into_iter().chain(compiled.err().into_iter().flatten());
            return Err(Error::new(path, problems.collect()));
        }
    };
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let import::Imported { bytes, sha256, files, .. } = imported;
    let source = SourceInfo { file, bytes, sha256, operators, files };
    Ok(Model { type_name, source, compiled, config: config.clone() })
}

fn count_operators(graph: &Graph) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    add_operators(graph, &mut counts);
    counts
}

fn add_operators(graph: &Graph, counts: &mut BTreeMap<String, usize>) {
    for node in &graph.nodes {
        *counts.entry(node.op.label().to_owned()).or_default() += 1;
        node.op.regions().iter().for_each(|region| add_operators(region, counts));
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
