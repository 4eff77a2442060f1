//! Prints a compiled model as Rust.
//!
//! The output is text: the macro parses it into tokens, the build script writes
//! it to a file, and a person debugs it. It holds no `unsafe`; what it calls is in
//! `::aot_rt`.

mod blocked;
mod calls;
mod constructors;
mod control;
mod conventions;
mod device_memory;
mod devices;
mod docs;
mod environment;
mod hooks;
mod literal;
mod memories;
mod metadata;
mod names;
mod ports;
mod positions;
mod pushing;
mod reference;
mod rows;
mod runner;
mod shared;
mod sites;
mod specialise;
mod state;
mod stepping;
mod steps;
mod untyped;
mod writer;

pub(crate) use docs::{plain, real_value};
pub(crate) use names::is_snake_case;
pub use names::{check_types, snake_case, type_name};
pub use reference::{ReferenceDevices, reference_devices};
pub(crate) use shared::generate_shared;

use devices::Devices;
use literal::integer;
use memories::Owner;
use ports::Ports;
use runner::Runner;
use steps::Steps;
use writer::Code;

use crate::error::Problem;
use crate::{Model, limits};

/// Lints that the module cannot meet, whoever uses it.
const MODULE_ATTRIBUTES: &str = r#"#[allow(
    dead_code,
    long_running_const_eval,
    non_snake_case,
    unreachable_pub,
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    clippy::similar_names,
    clippy::struct_field_names,
    clippy::too_many_arguments,
    clippy::too_many_lines,
    clippy::trivially_copy_pass_by_ref,
    clippy::type_complexity,
    clippy::unused_self,
    reason = "the user takes what it needs; names and lengths are the model's"
)]"#;

/// Lints that the `use` cannot meet.
const EXPORT_ATTRIBUTES: &str = r#"#[allow(
    unused_imports,
    unreachable_pub,
    reason = "the structs of inputs, outputs and runs need not be named"
)]"#;

/// Rust source for a model. The macro and the build script put it together with the
/// constants, each in its own way:
///
/// ```text
/// <module_attributes>
/// mod <module_name> {
///     const CONSTANT_DATA: &[u8; <constants.len()>] = <the constants>;   // unless there are none
///     <body>
/// }
/// <export_attributes>
/// <visibility> use <module_name>::{<exports>};
/// ```
#[derive(Clone, Debug)]
pub struct Generated {
    /// Name of the runner type: `Kws`.
    pub type_name: String,
    /// Name of the module that holds everything: `aot_kws`.
    pub module_name: String,
    /// Attributes of the module.
    pub module_attributes: &'static str,
    /// Attributes of the `use` that exports the names.
    pub export_attributes: &'static str,
    /// Names that the module exports: the runner, its input and output structs where there
    /// are several inputs or outputs, the struct of kernels where they are bound by name, the
    /// struct of a run that goes step by step, and what belongs to its devices.
    pub exports: Vec<String>,
    /// Items of the module. They use `CONSTANT_DATA: &[u8; N]`, which the caller
    /// defines in the module, unless `constants` is empty.
    pub body: String,
    /// The constants.
    pub constants: Vec<u8>,
}

/// Generates the source of `model`.
///
/// `attributes` are put before the runner's struct as they are:
/// `#[repr(align(32))]`, `/// Finds keywords.`
///
/// # Errors
///
/// When it has more bytes than `source_limit`, or a device's name cannot be one in it.
pub fn generate(model: &Model, attributes: &[String]) -> Result<Generated, Problem> {
    let ports = Ports::new(&model.compiled, &model.config, Owner::runner(model));
    let devices = Devices::new(model)?;
    let steps = Steps::new(model, &ports, &devices);
    let runner = Runner { model, ports: &ports, devices: &devices };
    let mut code = Code::new(1);
    runner.print(&mut code, attributes, steps);
    let body = code.into_text();
    limits::check_source(body.len(), &model.config)?;
    let type_name = model.type_name.clone();
    let mut exports: Vec<_> = runner.exports().into_iter().chain(ports.memories.exports()).collect();
    exports.sort();
    Ok(Generated {
        module_name: names::module_name(&type_name),
        type_name,
        module_attributes: MODULE_ATTRIBUTES,
        export_attributes: EXPORT_ATTRIBUTES,
        exports,
        body,
        constants: model.compiled.program.constants.bytes().to_vec(),
    })
}

/// How `run` of the runner for `model` is declared:
/// `pub fn run(&mut self, x: &[i8; 3]) -> &[i8; 2]`.
///
/// # Errors
///
/// When a device's name cannot be one in it.
pub fn declaration_of_run(model: &Model) -> Result<String, Problem> {
    let ports = Ports::new(&model.compiled, &model.config, Owner::runner(model));
    let devices = Devices::new(model)?;
    Ok(Runner { model, ports: &ports, devices: &devices }.declaration_of_run())
}

impl Generated {
    /// The source as a file of its own; `constants` is an expression for them, such
    /// as `include_bytes!("kws.bin")`.
    #[must_use]
    pub fn file(&self, visibility: &str, constants: &str) -> String {
        let mut text = format!(
            "// Generated by aot-build {}; changes are lost.\n\n{}\nmod {} {{\n",
            env!("CARGO_PKG_VERSION"),
            self.module_attributes,
            self.module_name,
        );
        if !self.constants.is_empty() {
            let len = integer(self.constants.len());
            text.push_str(&format!("    const CONSTANT_DATA: &[u8; {len}] = {constants};\n\n"));
        }
        let exports = match self.exports.as_slice() {
            [export] => export.clone(),
            exports => format!("{{{}}}", exports.join(", ")),
        };
        let space = if visibility.is_empty() { "" } else { " " };
        text.push_str(&self.body);
        text.push_str(&format!(
            "}}\n\n{}\n{visibility}{space}use {}::{exports};\n",
            self.export_attributes, self.module_name
        ));
        text
    }
}

#[cfg(test)]
mod tests;
