//! The configuration: of `aot.toml`, where the macro names it, then what is inline.

use std::path::{Path, PathBuf};

use aot_build::Config;
use aot_build::config::Value;
use aot_build::error::{Location, Problem};
use proc_macro2::Span;
use syn::{Error, Ident};

use crate::arguments::{Arguments, Setting};
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
            arguments.settings.iter().partition(|setting| setting.name() == CONFIG);
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
        self.once(setting)?;
        let at_value = |message: String| Error::new(setting.value_span, message);
        let Value::String(name) = &setting.value else {
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
        let (name, value_span) = (setting.name(), setting.value_span);
        let error = |span: Span, problem: Problem| Error::new(span, problem.to_string());
        self.once(setting)?;
        for i in 1..setting.keys.len() {
            let table: Vec<_> = setting.keys[..i].iter().map(ToString::to_string).collect();
            let (table, span) = (table.join("."), setting.keys[i - 1].span());
            if self.spans.iter().all(|(name, _)| *name != table) {
                self.spans.push((table, span));
            }
        }
        if let Some(group) = table_of(&setting.keys) {
            return self.set_table(group, setting);
        }
        Config::check_key(&name, &[CONFIG]).map_err(|problem| error(key_span(setting), problem))?;
        self.spans.push((name.clone(), value_span));
        self.config.set(&name, setting.value.clone()).map_err(|problem| error(value_span, problem))
    }

    /// Sets what is to be a table, and has no keys.
    fn set_table(&mut self, group: &str, setting: &Setting) -> Result<(), Error> {
        match (&setting.value, &setting.keys[..]) {
            (Value::Table(_), [_, pool]) if group == "pools" => {
                // A table without keys makes a pool, too.
                self.spans.push((setting.name(), pool.span()));
                self.config.pools.entry(pool.to_string()).or_default();
                Ok(())
            }
            (Value::Table(_), _) => Ok(()),
            _ => {
                let name = setting.name();
                let message =
                    format!("`{name}` is no table\n  = help: write `{group} = {{ name = {{ .. }} }}`");
                Err(Error::new(setting.value_span, message))
            }
        }
    }

    fn once(&self, setting: &Setting) -> Result<(), Error> {
        let name = setting.name();
        let named = self.arguments.declaration.is_some() && name == "name";
        let first = self.arguments.settings.iter().find(|known| known.name() == name);
        if named || first.is_some_and(|first| !std::ptr::eq(first, setting)) {
            let key = setting.key().map(ToString::to_string).unwrap_or_default();
            return Err(Error::new(key_span(setting), format!("`{key}` is set twice")));
        }
        Ok(())
    }
}

/// `pools` or `devices`, where these keys name that or a table in it.
fn table_of(keys: &[Ident]) -> Option<&'static str> {
    let ([first] | [first, _]) = keys else { return None };
    ["devices", "pools"].into_iter().find(|group| first == group)
}

fn key_span(setting: &Setting) -> Span {
    setting.key().map_or(setting.value_span, Ident::span)
}
