//! From the arguments to the tokens: the compiler is called, its problems get places.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use aot_build::codegen::{self, Generated};
use aot_build::error::Error as ModelError;
use aot_build::{Config, compile_file};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Error, LitStr};

use crate::arguments::Arguments;
use crate::errors::Errors;
use crate::manifest::Manifest;
use crate::settings::Settings;
use crate::tokens::tokens;

pub(crate) fn expand(arguments: &Arguments) -> Result<TokenStream, Errors> {
    let manifest = Manifest::of(&arguments.path)?;
    let path = manifest.file(&arguments.path.value());
    check_file(&arguments.path, &path)?;
    let settings = Settings::new(arguments, &manifest, &path)?;
    if settings.config.name.is_none() {
        check_file_name(&arguments.path, &path)?;
    }
    let attributes = arguments.declaration.iter().flat_map(|declaration| &declaration.attributes);
    let attributes: Vec<_> = attributes.map(|attribute| attribute.to_token_stream().to_string()).collect();

    // A fault of the compiler must not look like one of rustc or of the model.
    let compiled = catch_unwind(AssertUnwindSafe(|| compile(&path, &settings.config, &attributes)));
    let (generated, mut files) = match compiled {
        Ok(Ok(compiled)) => compiled,
        Ok(Err(error)) => return Err(place(error, &arguments.path, &settings, &manifest)),
        Err(panic) => return Err(fault(&*panic, &arguments.path).into()),
    };
    files.extend(settings.file);
    Ok(tokens(arguments, &generated, &files)?)
}

fn compile(
    path: &Path,
    config: &Config,
    attributes: &[String],
) -> Result<(Generated, Vec<PathBuf>), ModelError> {
    let model = compile_file(path, config)?;
    let generated = codegen::generate(&model, attributes);
    Ok((generated, model.source.files))
}

/// The one problem whose remedy depends on the macro: where it looks for files.
fn check_file(literal: &LitStr, path: &Path) -> Result<(), Error> {
    if path.exists() {
        return Ok(());
    }
    let name = literal.value();
    let message = format!(
        "{name}: there is no such file\n  = help: the path is relative to the folder of this crate's Cargo.toml"
    );
    Err(Error::new(literal.span(), message))
}

/// Refuses to guess a type's name from a file's that is far from one.
fn check_file_name(literal: &LitStr, path: &Path) -> Result<(), Error> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut letters = stem.chars();
    let is_name = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "_-. ".contains(letter));
    if is_name {
        return Ok(());
    }
    let example = codegen::type_name(None, &stem).unwrap_or_default();
    let message = format!(
        "`{stem}` cannot be made the name of a type\n  \
         = help: give the type a name, for example `aot_model!(struct {example} = {});`",
        literal.token()
    );
    Err(Error::new(literal.span(), message))
}

/// The problems of a model at the literals that caused them: at the inline key that
/// cannot be met, or else at the model's path.
fn place(error: ModelError, path: &LitStr, settings: &Settings<'_>, manifest: &Manifest) -> Errors {
    let mut errors = Errors::default();
    let mut at = |span, problems| {
        let message = ModelError::new(&error.file, problems).to_string();
        errors.extend([Error::new(span, manifest.shorten(&message))]);
    };
    let mut of_model = Vec::new();
    for problem in error.problems {
        match settings.span(&problem.location) {
            Some(span) => at(span, vec![problem]),
            None => of_model.push(problem),
        }
    }
    if !of_model.is_empty() {
        at(path.span(), of_model);
    }
    errors
}

/// A panic of the compiler.
fn fault(panic: &(dyn Any + Send), path: &LitStr) -> Error {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
    let message = format!(
        "{}: the compiler failed: {message}\n  \
         = help: this is a fault of `aot-build`, not of your model; please report it at {}/issues",
        path.value(),
        env!("CARGO_PKG_REPOSITORY")
    );
    Error::new(path.span(), message)
}
