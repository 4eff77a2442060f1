//! The tokens: the generated text, parsed, with the constants and the files it came from.

use std::path::{Path, PathBuf};

use aot_build::codegen::Generated;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Error, Ident};

use crate::arguments::Arguments;

pub(crate) fn tokens(
    arguments: &Arguments,
    generated: &Generated,
    files: &[PathBuf],
) -> Result<TokenStream, Error> {
    let fault = |error| {
        let message = format!("the generated code is no Rust: {error}; please report it");
        Error::new(arguments.path.span(), message)
    };
    let parse = |text: &str| text.parse::<TokenStream>().map_err(fault);
    let module_attributes = parse(generated.module_attributes)?;
    let export_attributes = parse(generated.export_attributes)?;
    let body = parse(&generated.body)?;
    let module = format_ident!("{}", generated.module_name);
    let exports = generated.exports.iter().map(|name| Ident::new(name, Span::call_site()));
    let visibility = arguments.declaration.as_ref().map(|declaration| &declaration.visibility);
    let constants = constants(&generated.constants);
    let files = files.iter().map(|file| tracked(arguments, file)).collect::<Result<Vec<_>, _>>()?;
    Ok(quote! {
        #module_attributes
        mod #module {
            // The crate is compiled again when one of these changes.
            #(const _: &[u8] = ::core::include_bytes!(#files);)*
            #constants
            #body
        }
        #export_attributes
        #visibility use #module::{#(#exports),*};
    })
}

/// The path of a file as rustc is told it.
fn tracked<'p>(arguments: &Arguments, file: &'p Path) -> Result<&'p str, Error> {
    let message = || format!("the path `{}` is not UTF-8, as rustc needs it to be", file.display());
    file.to_str().ok_or_else(|| Error::new(arguments.path.span(), message()))
}

/// One byte string: a token for each byte would cost rustc ten times as much.
fn constants(bytes: &[u8]) -> TokenStream {
    let len = bytes.len();
    if len == 0 {
        return TokenStream::new();
    }
    // An editor needs the types, not megabytes of weights at every key press.
    let value = if in_editor() {
        quote!(&[0; #len])
    } else {
        let bytes = Literal::byte_string(bytes);
        quote!(#bytes)
    };
    quote!(const CONSTANT_DATA: &[u8; #len] = #value;)
}

/// Whether rust-analyzer expands the macro, not rustc.
///
/// Its server for procedural macros is a program of its own,
/// `rust-analyzer-proc-macro-srv`, or the `rust-analyzer` program itself. The variable
/// is what the server asks for before it starts; it also covers servers that were
/// renamed.
fn in_editor() -> bool {
    let program = std::env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    program.starts_with("rust-analyzer") || std::env::var_os("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_some()
}

#[cfg(all(test, unix))]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    #[test]
    fn a_path_that_rustc_cannot_be_told_is_refused() {
        let arguments: Arguments = syn::parse_str("\"net.json\"").unwrap();
        let path = Path::new(OsStr::from_bytes(b"/home/\xff/net.json"));
        let error = tracked(&arguments, path).unwrap_err().to_string();
        assert_eq!(error, "the path `/home/\u{fffd}/net.json` is not UTF-8, as rustc needs it to be");
    }
}
