//! What a build script says of a model, or of several that share a workspace: how they are
//! configured, and where their code is written.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Config;
use crate::codegen::Generated;
use crate::error::{Error, Problem};

type Change = Box<dyn Fn(&mut Config)>;

pub(crate) struct Settings {
    /// Instead of `aot.toml`.
    pub(crate) config_file: Option<PathBuf>,
    /// Instead of `OUT_DIR`.
    pub(crate) out_dir: Option<PathBuf>,
    pub(crate) visibility: String,
    /// What is changed in the configuration read.
    changes: Vec<Change>,
}

/// The files that were written.
pub(crate) struct Written {
    pub(crate) rust: PathBuf,
    pub(crate) constants: Option<PathBuf>,
}

impl Settings {
    pub(crate) fn new() -> Self {
        Self { config_file: None, out_dir: None, visibility: "pub".into(), changes: Vec::new() }
    }

    pub(crate) fn change(&mut self, change: impl Fn(&mut Config) + 'static) {
        self.changes.push(Box::new(change));
    }

    /// The configuration for what is called `name` in its file, with the changes.
    pub(crate) fn load(&self, name: &str) -> Result<Config, Error> {
        let mut config = load(self.config_file.as_deref(), name)?;
        self.changes.iter().for_each(|change| change(&mut config));
        Ok(config)
    }

    /// The folder to write to.
    pub(crate) fn folder(&self) -> Result<PathBuf, Problem> {
        let folder = self.out_dir.clone().or_else(|| env::var_os("OUT_DIR").map(PathBuf::from));
        folder.ok_or_else(|| {
            Problem::new("OUT_DIR is not set: where to write is not known")
                .help("call this in a build script, or name a folder with `out_dir`")
        })
    }

    /// Writes the code of `what` as `name.rs`, and its constants beside it.
    pub(crate) fn write(
        &self,
        generated: &Generated,
        folder: &Path,
        name: &str,
        what: &str,
    ) -> Result<Written, Problem> {
        let [rust, constants] = ["rs", "bin"].map(|extension| folder.join(format!("{name}.{extension}")));
        claim(&rust, &generated.type_name, what)?;
        let include = format!("include_bytes!({:?})", format!("{name}.bin"));
        write(&rust, generated.file(&self.visibility, &include).as_bytes())?;
        let constants = (!generated.constants.is_empty()).then_some(constants);
        if let Some(file) = &constants {
            write(file, &generated.constants)?;
        }
        Ok(Written { rust, constants })
    }
}

/// The configuration in `aot.toml`, or another file.
fn load(file: Option<&Path>, name: &str) -> Result<Config, Error> {
    let path = root().join(file.unwrap_or(Path::new("aot.toml")));
    // Cargo would run the script every time if it watched a file that is not there.
    if file.is_none() && !path.exists() {
        return Ok(Config::default());
    }
    watch(&path);
    Config::load(&path, name)
}

/// The folder of `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default()
}

/// Has cargo run the build script again when `path` changes.
pub(crate) fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

/// The files of code that this process has written, in lower case as some file systems see
/// them: of which type, and of what.
static WRITTEN: Mutex<BTreeMap<String, (String, String)>> = Mutex::new(BTreeMap::new());

/// Notes that `file` is for the type of `what`, so that nothing else is written there.
fn claim(file: &Path, type_name: &str, what: &str) -> Result<(), Problem> {
    let owner = || (type_name.to_owned(), what.to_owned());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = written.entry(file.to_string_lossy().to_lowercase()).or_insert_with(owner);
    if *first == owner() {
        return Ok(());
    }
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    let message = format!("`{type_name}` and `{}` of {} are both written to `{file}`", first.0, first.1);
    Err(Problem::new(message).help("give one of them another `name`: in `snake_case`, it is the file's"))
}

/// Writes a file, unless it has these contents: rustc need not run again for it.
pub(crate) fn write(path: &Path, contents: &[u8]) -> Result<(), Problem> {
    if fs::read(path).is_ok_and(|found| found == contents) {
        return Ok(());
    }
    fs::write(path, contents)
        .map_err(|error| Problem::new(format!("cannot write `{}`: {error}", path.display())))
}
