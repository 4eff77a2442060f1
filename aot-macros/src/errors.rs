//! Errors, each at its own place, that are reported together.

use proc_macro2::TokenStream;
use syn::Error;

/// All errors of one call of the macro.
#[derive(Debug, Default)]
pub(crate) struct Errors(Vec<Error>);

impl Errors {
    /// `Ok` when there is none.
    pub(crate) fn check(self) -> Result<(), Self> {
        if self.0.is_empty() { Ok(()) } else { Err(self) }
    }

    /// One `compile_error!` for each.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.0.iter().map(Error::to_compile_error).collect()
    }
}

impl Extend<Error> for Errors {
    fn extend<I: IntoIterator<Item = Error>>(&mut self, errors: I) {
        self.0.extend(errors);
    }
}

impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}
