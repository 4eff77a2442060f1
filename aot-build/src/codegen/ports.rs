//! Inputs and outputs of a runner: names and types in generated code.

use aot_rt::{DType, Quantization};

use super::literal::integer;
use super::memories::{Memories, Memory, Owner, Region};
use super::names::Names;
use crate::config::{InputPlacement, Placement};
use crate::graph::TensorType;
use crate::{Compiled, program};

/// An input or output.
#[derive(Debug)]
pub(super) struct Port<'m> {
    /// Name of the field or parameter: `input_1`.
    pub(super) ident: String,
    /// First part of its constants' names: `INPUT_1`.
    pub(super) upper: String,
    /// Where it is, unless it is the caller's.
    pub(super) place: Region,
    /// What it is in the program.
    pub(super) port: &'m program::Port,
}

impl<'m> Port<'m> {
    /// Element type and extents.
    pub(super) fn ty(&self) -> &'m TensorType {
        &self.port.ty
    }

    /// The Rust type of what the array holds: elements, or bytes that hold two.
    pub(super) fn element(&self) -> &'static str {
        self.ty().dtype.rust_type()
    }

    /// The Rust type of one element, where they are integers: of four bits that is one of eight.
    pub(super) fn number(&self) -> &'static str {
        if self.ty().dtype == DType::I4 { "i8" } else { self.element() }
    }

    /// Length of its array: the number of elements, or of bytes that hold two.
    pub(super) fn units(&self) -> usize {
        self.ty().dtype.units(self.ty().shape.elements())
    }

    /// The array type: `[i8; 490]`.
    pub(super) fn array(&self) -> String {
        format!("[{}; {}]", self.element(), integer(self.units()))
    }

    /// Scale and zero point, when integers stand for real numbers.
    pub(super) fn quantization(&self) -> Option<Quantization> {
        self.ty().quantization.as_ref().and_then(crate::graph::Quantization::tensor_wide)
    }

    pub(super) fn is_float(&self) -> bool {
        self.ty().dtype == DType::F32
    }
}

/// What the names of tensors that are kept start with.
const KEPT: &str = "kept";

/// Inputs and outputs of a model.
#[derive(Debug)]
pub(super) struct Ports<'m> {
    pub(super) inputs: Vec<Port<'m>>,
    pub(super) outputs: Vec<Port<'m>>,
    /// What can be read after a run besides: `kept_relu_3`.
    pub(super) kept: Vec<Port<'m>>,
    /// Where the inputs are.
    pub(super) input_place: InputPlacement,
    /// Where the outputs are.
    pub(super) output_place: Placement,
    /// The memories of the runner.
    pub(super) memories: Memories,
}

impl<'m> Ports<'m> {
    /// The memory that an input or output is in.
    pub(super) fn memory(&self, port: &Port<'_>) -> &Memory {
        &self.memories.memories[port.place.memory]
    }

    pub(super) fn new(compiled: &'m Compiled, config: &crate::Config, owner: Owner) -> Self {
        let memories = Memories::new(compiled, owner);
        // Steps within others are called by their names alone, where arrays have names, too.
        let steps = compiled.program.steps.iter().flat_map(|step| step.with_nested().into_iter().skip(1));
        let taken = memories.memories.iter().map(|memory| memory.name.clone());
        let mut names = Names::new(taken.chain(steps.map(|step| step.name.clone())));
        let mut ports = |role, ports: &'m [program::Port]| -> Vec<Port<'m>> {
            let mut port = |port: &'m program::Port| {
                let prefix = if role == KEPT { "kept " } else { "" };
                let ident = names.port(role, &format!("{prefix}{}", port.name));
                let upper = ident.to_ascii_uppercase();
                let address = compiled.offsets[port.view.buffer.index()] + port.view.offset;
                let units = port.ty.dtype.units(port.ty.shape.elements());
                let place = memories.region(address, port.ty.dtype, units);
                Port { ident, upper, place, port }
            };
            ports.iter().map(&mut port).collect()
        };
        Self {
            inputs: ports("input", &compiled.program.inputs),
            outputs: ports("output", &compiled.program.outputs),
            kept: ports(KEPT, &compiled.program.kept),
            input_place: config.inputs,
            output_place: config.outputs,
            memories,
        }
    }
}
