//! The module `metadata`: what the compiler knows of the model, as constants.
//!
//! It prints a [`Summary`], a line for each thing, so that it stays short for large models.

use aot_rt::{Access, DType, Quantization};

use super::hooks::variant;
use super::literal::{array, float, integer};
use super::writer::Code;
use crate::Model;
use crate::config::PoolKind;
use crate::report::{OperandReport, PoolReport, PortReport, StepReport, Summary, TensorReport};

/// The constant of the runner.
pub(super) fn constant(code: &mut Code) {
    code.doc("What the compiler knows of the model. A program that does not name it holds nothing of it.");
    code.line("pub const METADATA: &'static ::aot_rt::metadata::Metadata = &metadata::METADATA;");
}

/// The module.
pub(super) fn module(code: &mut Code, model: &Model) {
    let summary = Summary::new(model);
    code.doc("What the compiler knows of the model.");
    code.line("#[rustfmt::skip]");
    code.line(r#"#[allow(unused_imports, reason = "not every model needs all of it")]"#);
    code.block("mod metadata {", "}", |code| {
        code.line("use ::aot_rt::{Access, DType, Quantization, TensorInfo};");
        code.line("use ::aot_rt::metadata::{");
        code.line(
            "    Configuration, File, Metadata, Operand, Operator, Pool, PoolKind, Sizes, Step, Tensor,",
        );
        code.line("};");
        code.blank();
        code.block("pub const METADATA: Metadata = Metadata {", "};", |code| fields(code, &summary));
    });
}

fn fields(code: &mut Code, summary: &Summary) {
    code.line(format!("format: {},", summary.format));
    code.line(format!("aot_build: {:?},", summary.aot_build));
    code.line(format!("name: {:?},", summary.name));
    code.line(format!("file: {},", file(&summary.file, summary.bytes, &summary.sha256)));
    list(code, "files", summary.files.iter().map(|other| file(&other.file, other.bytes, &other.sha256)));
    let configuration = &summary.configuration;
    let (toml, sha256) = (&configuration.toml, &configuration.sha256);
    code.line(format!("configuration: Configuration {{ toml: {toml:?}, sha256: {sha256:?} }},"));
    let operator = |(name, uses)| format!("Operator {{ name: {name:?}, uses: {} }}", integer(uses));
    list(code, "operators", summary.operators.iter().map(operator));
    list(code, "inputs", summary.inputs.iter().map(port));
    list(code, "outputs", summary.outputs.iter().map(port));
    list(code, "pools", summary.pools.iter().map(pool));
    tensors(code, summary);
    code.block("steps: &[", "],", |code| {
        for (i, step) in summary.schedule.iter().enumerate() {
            self::step(code, i, step, &summary.pools);
        }
    });
    list(code, "devices", summary.devices.iter().map(|device| format!("{device:?}")));
    code.block("sizes: Sizes {", "},", |code| {
        code.line(format!("arena_bytes: {},", integer(summary.arena_bytes)));
        code.line(format!("lower_bound: {},", integer(summary.lower_bound)));
        code.line(format!("proved: {},", summary.proved));
        code.line(format!("constant_bytes: {},", integer(summary.constant_bytes)));
        code.line(format!("state_bytes: {},", integer(summary.state_bytes)));
        code.line(format!("macs: {},", integer(summary.macs)));
        code.line(format!("control_flow: {},", summary.control_flow));
    });
}

/// A field that is a slice, a line for each element.
fn list(code: &mut Code, field: &str, rows: impl Iterator<Item = String>) {
    let mut rows = rows.peekable();
    if rows.peek().is_none() {
        return code.line(format!("{field}: &[],"));
    }
    code.block(format!("{field}: &["), "],", |code| rows.for_each(|row| code.line(row + ",")));
}

fn file(name: &str, bytes: usize, sha256: &str) -> String {
    format!("File {{ name: {name:?}, bytes: {}, sha256: {sha256:?} }}", integer(bytes))
}

fn port(port: &PortReport) -> String {
    let quantization = port.quantization();
    format!(
        "TensorInfo {{ name: {:?}, dtype: {}, shape: &{}, quantization: {} }}",
        port.name,
        dtype(port.dtype),
        array(&port.shape),
        option(quantization.map(self::quantization)),
    )
}

fn pool(pool: &PoolReport) -> String {
    let kind = match pool.kind {
        PoolKind::Workspace => "Workspace",
        PoolKind::Constants => "Constants",
    };
    format!(
        "Pool {{ name: {:?}, kind: PoolKind::{kind}, bytes: {}, limit: {}, section: {:?}, copy: {} }}",
        pool.name,
        integer(pool.bytes),
        option(pool.limit.map(integer)),
        pool.section,
        pool.copy,
    )
}

fn tensors(code: &mut Code, summary: &Summary) {
    let mut owner = 0;
    let rows = summary.tensors.iter().enumerate().map(|(i, tensor)| {
        if tensor.alias_of.is_none() {
            owner = i;
        }
        self::tensor(tensor, tensor.alias_of.as_ref().map(|_| owner), &summary.pools)
    });
    list(code, "tensors", rows);
}

/// A tensor; `owner` is the position of the one before it whose bytes it shares.
fn tensor(tensor: &TensorReport, owner: Option<usize>, pools: &[PoolReport]) -> String {
    format!(
        "Tensor {{ name: {:?}, dtype: {}, shape: &{}, quantization: {}, bytes: {}, pool: {}, offset: {}, \
         steps: {}, alias_of: {} }}",
        tensor.name,
        option(tensor.dtype.map(dtype)),
        array(tensor.shape.as_deref().unwrap_or_default()),
        option(tensor.quantization().map(quantization)),
        integer(tensor.bytes),
        position(pools, &tensor.pool),
        option(tensor.offset.map(integer)),
        array(&[tensor.first_step, tensor.last_step]),
        option(owner.map(integer)),
    )
}

fn step(code: &mut Code, i: usize, step: &StepReport, pools: &[PoolReport]) {
    let open = format!("Step {{ info: &super::steps::STEPS[{}], operands: &[", integer(i));
    code.block(open, "] },", |code| {
        for operand in &step.operands {
            code.line(self::operand(operand, pools) + ",");
        }
    });
}

fn operand(operand: &OperandReport, pools: &[PoolReport]) -> String {
    let access = match operand.access {
        Access::Read => "Access::Read",
        Access::Write => "Access::Write",
    };
    format!(
        "Operand {{ name: {:?}, access: {access}, dtype: {}, len: {}, tensor: {}, pool: {}, offset: {} }}",
        operand.name,
        dtype(operand.dtype),
        integer(operand.elements),
        option(operand.tensor.map(integer)),
        position(pools, &operand.pool),
        option(operand.offset.map(integer)),
    )
}

/// Position of the pool of this name; the caller's arrays are in none.
fn position(pools: &[PoolReport], name: &str) -> String {
    option(pools.iter().position(|pool| pool.name == name).map(integer))
}

fn dtype(dtype: DType) -> String {
    format!("DType::{}", variant(dtype))
}

fn quantization(Quantization { scale, zero_point }: Quantization) -> String {
    format!("Quantization {{ scale: {}, zero_point: {} }}", float(scale), integer(zero_point))
}

fn option(value: Option<String>) -> String {
    value.map_or("None".into(), |value| format!("Some({value})"))
}
