//! The configuration: of `aot.toml`, where the macro names it, then what is inline.

use std::path::{Path, PathBuf};

use aot_build::Config;
use aot_build::config::Value;
use aot_build::error::{Location, Problem};
use proc_macro2::Span;
use syn::Error;

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
        // A problem with a table is shown at its first key.
        let is_in = |name: &str| name.strip_prefix(key.as_str()).is_some_and(|rest| rest.starts_with('.'));
        let exact = self.spans.iter().find(|(name, _)| name == key);
        exact.or_else(|| self.spans.iter().find(|(name, _)| is_in(name))).map(|&(_, span)| span)
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
        Config::check_key(&name, &[CONFIG]).map_err(|problem| error(key_span(setting), problem))?;
        self.once(setting)?;
        self.spans.push((name.clone(), value_span));
        self.config.set(&name, setting.value.clone()).map_err(|problem| error(value_span, problem))
    }

    fn once(&self, setting: &Setting) -> Result<(), Error> {
        let name = setting.name();
        let named = self.arguments.declaration.is_some() && name == "name";
        let first = self.arguments.settings.iter().find(|known| known.name() == name);
        if named || first.is_some_and(|first| !std::ptr::eq(first, setting)) {
            return Err(Error::new(key_span(setting), format!("`{name}` is set twice")));
        }
        Ok(())
    }
}

fn key_span(setting: &Setting) -> Span {
    setting.key().map_or(setting.value_span, syn::Ident::span)
}
