//! Prints a compiled model as Rust.

use crate::{Compiled, Config};

/// Rust source for a model. The macro and the build script put it together with the
/// constants in their own way.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Name of the runner type: `Kws`.
    pub type_name: String,
    /// Name of the module that holds everything: `aot_kws`.
    pub module_name: String,
    /// Names that the module exports: the runner, and its input and output structs
    /// where there are several inputs or outputs.
    pub exports: Vec<String>,
    /// Items of the module. They use `CONSTANT_BYTES: &[u8; N]`, which the caller
    /// defines in the module.
    pub body: String,
    /// The constants.
    pub constants: Vec<u8>,
}

/// Generates the source of `compiled`.
#[must_use]
pub fn generate(_compiled: &Compiled, _config: &Config) -> Generated {
    todo!("written next")
}
