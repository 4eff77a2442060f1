//! From the arguments to the tokens: the compiler is called, its problems get places.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use aot_build::codegen::{self, Generated};
use aot_build::error::{Error as ModelError, Location};
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

    let compiled = guarded(&arguments.path, || compile(&path, &settings.config, &attributes))?;
    let (generated, mut files) =
        compiled.map_err(|error| place(error, &arguments.path, &settings, &manifest))?;
    files.extend(settings.file);
    Ok(tokens(arguments, &generated, &files)?)
}

fn compile(
    path: &Path,
    config: &Config,
    attributes: &[String],
) -> Result<(Generated, Vec<PathBuf>), ModelError> {
    let model = compile_file(path, config)?;
    let generated =
        codegen::generate(&model, attributes).map_err(|problem| ModelError::new(path, vec![problem]))?;
    Ok((generated, model.source.files.into_iter().map(|file| file.path).collect()))
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
            // The span says which key.
            Some(span) => at(span, vec![problem.at(Location::Model)]),
            None => of_model.push(problem),
        }
    }
    if !of_model.is_empty() {
        at(path.span(), of_model);
    }
    errors
}

/// What `compile` gives. When it panics, the fault is the compiler's and must not look
/// like one of rustc or of the model.
fn guarded<T>(path: &LitStr, compile: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(compile)).map_err(|panic| {
        let message = panic.downcast_ref::<&str>().copied();
        let message =
            message.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or_default();
        let message = format!(
            "{}: the compiler failed: {message}\n  \
             = help: this is a fault of `aot-build`, not of your model; please report it at {}/issues",
            path.value(),
            env!("CARGO_PKG_REPOSITORY")
        );
        Error::new(path.span(), message)
    })
}

#[cfg(test)]
mod tests {
    use proc_macro2::{Span, TokenTree};

    use super::*;

    fn expanded(text: &str) -> TokenStream {
        expand(&syn::parse_str(text).unwrap()).unwrap()
    }

    fn count(tokens: TokenStream, wanted: &dyn Fn(&TokenTree) -> bool) -> usize {
        let inside = |tree: &TokenTree| match tree {
            TokenTree::Group(group) => count(group.stream(), wanted),
            _ => 0,
        };
        tokens.into_iter().map(|tree| usize::from(wanted(&tree)) + inside(&tree)).sum()
    }

    #[test]
    fn every_file_read_is_tracked() {
        let tokens = expanded(r#""models/xor.json", config = "tests/aot.toml""#).to_string();
        for file in ["models/xor.json", "models/bias.npy", "tests/aot.toml"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            let include = format!("include_bytes ! ({:?})", path.to_str().unwrap());
            assert!(tokens.contains(&include), "{include} is not in {tokens}");
        }
    }

    #[test]
    fn the_constants_are_one_literal_and_nothing_is_unsafe() {
        let tokens = expanded(r#""models/xor.json""#);
        let literal =
            |tree: &TokenTree| matches!(tree, TokenTree::Literal(l) if l.to_string().starts_with("b\""));
        assert_eq!(count(tokens.clone(), &literal), 1);
        assert_eq!(count(tokens, &|tree| tree.to_string() == "unsafe"), 0);
    }

    #[test]
    fn a_panic_of_the_compiler_is_an_error_that_asks_for_a_report() {
        let path = LitStr::new("net.json", Span::call_site());
        let result: Result<(), _> = guarded(&path, || panic!("index {} of 3", 7));
        let error = result.unwrap_err().to_string();
        assert!(error.starts_with("net.json: the compiler failed: index 7 of 3\n"), "{error}");
        assert!(error.contains("please report it at https://"), "{error}");
    }
}
