//! The configuration: of `aot.toml`, where the macro names it, then what is inline.

use std::path::{Path, PathBuf};

use aot_build::Config;
use aot_build::config::Value;
use aot_build::error::{Location, Problem};
use proc_macro2::Span;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, Token};

use crate::arguments::{Arguments, Setting, SettingValue};
use crate::errors::Errors;
use crate::manifest::Manifest;

/// Names the `aot.toml`; the one key that only the macro has.
const CONFIG: &str = "config";

/// How to compile the model, and what the user said so in.
pub(crate) struct Settings<'a> {
    pub(crate) config: Config,
    /// The `aot.toml`.
    pub(crate) file: Option<PathBuf>,
    /// Where each inline key is set.
    spans: Vec<(String, Span)>,
    arguments: &'a Arguments,
}

impl<'a> Settings<'a> {
    /// Reads the settings for the model at `path`.
    pub(crate) fn new(arguments: &'a Arguments, manifest: &Manifest, path: &Path) -> Result<Self, Errors> {
        let mut settings = Self { config: Config::default(), file: None, spans: Vec::new(), arguments };
        let mut errors = Errors::default();
        // The file comes first, wherever the key stands: what is inline overrides it.
        let (files, inline): (Vec<_>, Vec<_>) =
            arguments.settings.iter().partition(|setting| setting.key == CONFIG);
        for setting in files {
            errors.extend(settings.load(setting, manifest, path).err());
        }
        if let Some(declaration) = &arguments.declaration {
            settings.config.name = Some(declaration.name.to_string());
            settings.spans.push(("name".into(), declaration.name.span()));
        }
        for setting in inline {
            errors.extend(settings.set(setting).err());
        }
        errors.check().map(|()| settings)
    }

    /// Where the key that a problem is about is set, if it is set inline.
    pub(crate) fn span(&self, location: &Location) -> Option<Span> {
        let Location::Key(key) = location else { return None };
        let mut key = key.as_str();
        loop {
            if let Some((_, span)) = self.spans.iter().find(|(name, _)| name == key) {
                return Some(*span);
            }
            // The table that it would stand in.
            key = key.rsplit_once('.')?.0;
        }
    }

    fn load(&mut self, setting: &Setting, manifest: &Manifest, path: &Path) -> Result<(), Error> {
        once(&self.arguments.settings, &setting.key)?;
        let at_value = |message: String| Error::new(setting.value_span, message);
        let SettingValue::Plain(Value::String(name)) = &setting.value else {
            return Err(at_value("`config` is the path of an `aot.toml`".into()));
        };
        let file = manifest.file(name);
        let model = path.file_stem().unwrap_or_default().to_string_lossy();
        self.config =
            Config::load(&file, &model).map_err(|error| at_value(manifest.shorten(&error.to_string())))?;
        self.file = Some(file);
        Ok(())
    }

    fn set(&mut self, setting: &Setting) -> Result<(), Error> {
        self.set_in("", &self.arguments.settings, setting)
    }

    /// Sets a key of the table `table`, which has the entries `entries`.
    fn set_in(
        &mut self,
        table: &str,
        entries: &Punctuated<Setting, Token![,]>,
        Setting { key, value, value_span }: &Setting,
    ) -> Result<(), Error> {
        let name = format!("{table}{key}");
        let error = |span: Span, problem: Problem| Error::new(span, problem.to_string());
        let is_pool = table == "pools.";
        let value = match value {
            SettingValue::Table(inner) if is_pool || (name == "pools") => {
                once(entries, key)?;
                self.spans.push((name.clone(), key.span()));
                if is_pool {
                    // A table without keys makes a pool, too.
                    self.config.pools.entry(key.to_string()).or_default();
                }
                return inner.iter().try_for_each(|entry| self.set_in(&format!("{name}."), inner, entry));
            }
            SettingValue::Plain(_) if is_pool || name == "pools" => {
                let message =
                    format!("`{name}` is no table\n  = help: write `pools = {{ name = {{ .. }} }}`");
                return Err(Error::new(*value_span, message));
            }
            SettingValue::Plain(value) => value.clone(),
            SettingValue::Table(_) => Value::Table(Default::default()),
        };
        Config::check_key(&name, &[CONFIG]).map_err(|problem| error(key.span(), problem))?;
        self.once(key)?;
        once(entries, key)?;
        self.spans.push((name.clone(), *value_span));
        self.config.set(&name, value).map_err(|problem| error(*value_span, problem))
    }

    fn once(&self, key: &Ident) -> Result<(), Error> {
        let named = self.arguments.declaration.is_some() && key == "name";
        if named { Err(twice(key)) } else { Ok(()) }
    }
}

/// Refuses a key that stands in a table before.
fn once(entries: &Punctuated<Setting, Token![,]>, key: &Ident) -> Result<(), Error> {
    let first = entries.iter().find(|setting| setting.key == *key);
    if first.is_some_and(|first| !std::ptr::eq(&first.key, key)) { Err(twice(key)) } else { Ok(()) }
}

fn twice(key: &Ident) -> Error {
    Error::new(key.span(), format!("`{key}` is set twice"))
}
