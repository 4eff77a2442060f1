//! Folders of a model with sets of inputs and expected outputs:
//!
//! ```text
//! meta.json               "file": the model file, relative to the folder
//! s0/in0.npy, in1.npy …   the inputs, in the model's order
//! s0/out0.npy …           what is expected
//! s1/ …
//! ```
//!
//! Arrays with one axis more in front are steps of a sequence, see [`crate::sets`].

use std::path::{Path, PathBuf};

use aot_build::{Error, Problem};
use serde::Deserialize;

use crate::console::problem;

/// A model with sets of inputs.
pub(crate) struct Case {
    pub(crate) model: PathBuf,
    /// At least one.
    pub(crate) sets: Vec<Set>,
}

/// Inputs, and what is expected.
pub(crate) struct Set {
    /// Name of its folder: `s0`.
    pub(crate) name: String,
    pub(crate) inputs: Vec<PathBuf>,
    pub(crate) expected: Vec<PathBuf>,
}

/// What is read of `meta.json`, which says more.
#[derive(Deserialize)]
struct Meta {
    file: String,
}

/// The cases that `path` stands for: the folders in it that hold a `meta.json`, by name;
/// `path` itself where it holds one, or where there are none, which [`Case::find`] reports.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let is_case = |folder: &PathBuf| folder.join("meta.json").is_file();
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(is_case).collect();
    folders.sort();
    if folders.is_empty() || is_case(&path.to_owned()) { vec![path.to_owned()] } else { folders }
}

impl Case {
    /// Finds the files of a case.
    pub(crate) fn find(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("meta.json");
        let text = std::fs::read(&path);
        let text = text.map_err(|error| problem(&path, format!("the file cannot be read: {error}")))?;
        let meta: Meta = serde_json::from_slice(&text).map_err(|error| problem(&path, error.to_string()))?;
        // Sets are numbered without a gap.
        let sets: Vec<_> =
            (0..).map(|i| format!("s{i}")).take_while(|name| folder.join(name).is_dir()).collect();
        if sets.is_empty() {
            let help = "sets of inputs are folders `s0`, `s1`, … with `in0.npy`, … and `out0.npy`, …";
            return Err(Error::new(folder, vec![Problem::new("holds no set of inputs").help(help)]));
        }
        let sets = sets.into_iter().map(|name| {
            let files = |role| arrays(&folder.join(&name), role);
            Set { inputs: files("in"), expected: files("out"), name }
        });
        Ok(Self { model: folder.join(meta.file), sets: sets.collect() })
    }
}

/// `in0.npy`, `in1.npy`, … as far as they go.
fn arrays(folder: &Path, role: &str) -> Vec<PathBuf> {
    (0..).map(|i| folder.join(format!("{role}{i}.npy"))).take_while(|path| path.is_file()).collect()
}
