#![doc = include_str!("aot_model.md")]

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
