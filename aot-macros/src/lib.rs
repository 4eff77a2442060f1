//! The macro [`aot_model!`], which compiles a neural network into a crate.
//!
//! It parses its arguments, calls `aot-build` and returns the tokens; nothing else is here.

mod arguments;
mod errors;
mod expand;
mod manifest;
mod settings;
mod tokens;

use proc_macro::TokenStream;

use arguments::Arguments;

#[doc = include_str!("aot_model.md")]
#[proc_macro]
pub fn aot_model(input: TokenStream) -> TokenStream {
    let arguments = syn::parse_macro_input!(input as Arguments);
    expand::expand(&arguments).unwrap_or_else(|errors| errors.tokens()).into()
}
