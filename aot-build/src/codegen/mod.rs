//! Prints a compiled model as Rust.
//!
//! The output is text: the macro parses it into tokens, the build script writes
//! it to a file, and a person debugs it. It holds no `unsafe`; what it calls is in
//! `::aot_rt`.

mod names;

pub use names::type_name;

use crate::Model;

/// Rust source for a model. The macro and the build script put it together with the
/// constants, each in its own way:
///
/// ```text
/// mod <module_name> {
///     const CONSTANT_DATA: &[u8; <constants.len()>] = <the constants>;   // unless there are none
///     <body>
/// }
/// <exports_attribute>
/// <visibility> use <module_name>::{<exports>};
/// ```
#[derive(Clone, Debug)]
pub struct Generated {
    /// Name of the runner type: `Kws`.
    pub type_name: String,
    /// Name of the module that holds everything: `aot_kws`.
    pub module_name: String,
    /// Attributes of the module: the lints that it cannot meet, with reasons.
    pub module_attributes: String,
    /// Attributes of the `use` that exports the names.
    pub export_attributes: String,
    /// Names that the module exports: the runner, and its input and output structs
    /// where there are several inputs or outputs.
    pub exports: Vec<String>,
    /// Items of the module. They use `CONSTANT_DATA: &[u8; N]`, which the caller
    /// defines in the module, unless `constants` is empty.
    pub body: String,
    /// The constants.
    pub constants: Vec<u8>,
}

/// Generates the source of `model`.
///
/// `attributes` are put before the runner's struct as they are, a line each:
/// `#[repr(align(32))]`, `/// Finds keywords.`
#[must_use]
pub fn generate(model: &Model, attributes: &[String]) -> Generated {
    let _ = (model, attributes);
    todo!("written next")
}
