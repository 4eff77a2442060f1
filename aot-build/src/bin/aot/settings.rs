//! The model and its configuration, as every command takes them.

use std::path::{Path, PathBuf};

use aot_build::config::Value;
use aot_build::{Config, Error, Model, compile_file};

use crate::console::problem;

/// Where the configuration comes from.
#[derive(clap::Args)]
pub(crate) struct Settings {
    /// Configuration to read; the table `[models.NAME]` of a model overrides the keys
    /// for all
    #[arg(long, value_name = "aot.toml")]
    config: Option<PathBuf>,
    /// Sets a key of the configuration, after the file: `--set optimize=size`
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    set: Vec<(String, Value)>,
}

/// What every command takes that makes something of a model.
#[derive(clap::Args)]
pub(crate) struct Subject {
    /// Model file: .tflite or .json
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) settings: Settings,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Subject {
    /// Reads and compiles the model.
    pub(crate) fn compile(&self) -> Result<Model, Error> {
        self.settings.compile(&self.model)
    }
}

impl Settings {
    /// The configuration for the model file at `path`.
    pub(crate) fn load(&self, path: &Path) -> Result<Config, Error> {
        let mut config = match &self.config {
            Some(file) => Config::load(file, &path.file_stem().unwrap_or_default().to_string_lossy())?,
            None => Config::default(),
        };
        let set = self.set.iter().map(|(key, value)| config.set(key, value.clone()));
        let problems: Vec<_> = set.filter_map(Result::err).collect();
        if problems.is_empty() { Ok(config) } else { Err(Error::new("--set", problems)) }
    }

    /// Reads and compiles the model file at `path`.
    pub(crate) fn compile(&self, path: &Path) -> Result<Model, Error> {
        compile_file(path, &self.load(path)?)
    }
}

/// `ram_limit=32768`: the value as TOML writes it, or else as a string.
fn key_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let value = value.parse().unwrap_or_else(|_| value.into());
    Ok((key.trim().to_owned(), value))
}

/// Writes a file, and its folder where that is missing.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|error| problem(path, format!("the file cannot be written: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_value_cases() {
        for (text, expect) in [
            ("optimize=size", Ok(("optimize", Value::from("size")))),
            ("ram_limit=32_768", Ok(("ram_limit", Value::from(32_768)))),
            ("flag=true", Ok(("flag", Value::from(true)))),
            ("list=[1, 2]", Ok(("list", Value::from(vec![1, 2])))),
            ("name=A=B", Ok(("name", Value::from("A=B")))),
            ("name", Err("expected KEY=VALUE".to_owned())),
        ] {
            assert_eq!(key_value(text), expect.map(|(key, value)| (key.to_owned(), value)), "{text}");
        }
    }
}
