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

    /// Name of the element type.
    pub(super) fn element(&self) -> &'static str {
        self.ty().dtype.rust_type()
    }

    /// The array type: `[i8; 490]`.
    pub(super) fn array(&self) -> String {
        format!("[{}; {}]", self.element(), integer(self.ty().shape.elements()))
    }

    /// Scale and zero point, when integers stand for real numbers.
    pub(super) fn quantization(&self) -> Option<Quantization> {
        self.ty().quantization.as_ref().and_then(crate::graph::Quantization::tensor_wide)
    }

    pub(super) fn is_float(&self) -> bool {
        self.ty().dtype == DType::F32
    }
}

/// Inputs and outputs of a model.
#[derive(Debug)]
pub(super) struct Ports<'m> {
    pub(super) inputs: Vec<Port<'m>>,
    pub(super) outputs: Vec<Port<'m>>,
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
        let mut names = Names::reserving(memories.memories.iter().map(|memory| memory.name.clone()));
        let mut ports = |role, ports: &'m [program::Port]| -> Vec<Port<'m>> {
            let mut port = |port: &'m program::Port| {
                let ident = names.port(role, &port.name);
                let upper = ident.to_ascii_uppercase();
                let address = compiled.offsets[port.view.buffer.index()] + port.view.offset;
                let place = memories.region(address, port.ty.dtype, port.ty.shape.elements());
                Port { ident, upper, place, port }
            };
            ports.iter().map(&mut port).collect()
        };
        Self {
            inputs: ports("input", &compiled.program.inputs),
            outputs: ports("output", &compiled.program.outputs),
            input_place: config.inputs,
            output_place: config.outputs,
            memories,
        }
    }
}
