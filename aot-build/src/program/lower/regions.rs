//! Lowers regions: each becomes a program that is planned by itself, and then steps that
//! one step of the program around it holds.

use aot_rt::kernels::{CopyI8, Kernel};

use super::{NodeLowering, lower_with};
use crate::compile::{self, Compiled};
use crate::config::{Config, InputPlacement, Memory, Placement};
use crate::error::{OpError, Problem};
use crate::graph::Graph;
use crate::program::control::Places;
use crate::program::{Buffer, BufferId, Control, Flow, Operand, Step, Storage, View, Work};
use crate::workspace;

/// Memory that several regions use, one at a time.
pub(crate) struct Scratch {
    view: Option<View>,
    /// Bytes that no plan can do without.
    least: usize,
}

impl Scratch {
    /// A region's steps, on these operands and results of the node, and in this memory.
    pub(crate) fn steps(&self, region: &Compiled, inputs: &[Operand], outputs: &[Operand]) -> Vec<Step> {
        Places { region, inputs, outputs, scratch: self.view }.steps()
    }

    /// Where the outputs are of a region that has them in its workspace.
    pub(crate) fn results(&self, region: &Compiled) -> Vec<View> {
        let places = Places { region, inputs: &[], outputs: &[], scratch: self.view };
        region.program.outputs.iter().map(|port| places.memory(port.view)).collect()
    }
}

impl NodeLowering<'_, '_> {
    /// Lowers and plans a region, whose inputs stay where they are; `outputs` says whether
    /// its outputs are made where the node's are, or in its own workspace. Its constants are
    /// the program's.
    ///
    /// # Errors
    ///
    /// What is wrong with its nodes.
    pub(crate) fn region(&mut self, graph: &Graph, outputs: Placement) -> Result<Compiled, OpError> {
        let config = Config {
            inputs: InputPlacement::Caller,
            outputs,
            memory: Memory::Auto,
            ram_limit: None,
            pools: self.lowering.config.pools_within(),
            ..self.lowering.config.clone()
        };
        let constants = std::mem::take(&mut self.lowering.program.constants);
        let mut program = lower_with(graph, &config, constants).map_err(in_region)?;
        self.lowering.program.constants = std::mem::take(&mut program.constants);
        compile::arrange(program, &config).map_err(in_region)
    }

    /// Memory for regions, of which one runs at a time.
    pub(crate) fn region_scratch(&mut self, regions: &[Compiled]) -> Scratch {
        let largest = |bytes: fn(&Compiled) -> usize| regions.iter().map(bytes).max().unwrap_or(0);
        let bytes = largest(|region| region.arena_bytes);
        let buffers = regions.iter().flat_map(|region| &region.program.buffers);
        let pools = regions.iter().flat_map(|region| &region.workspaces);
        let alignments = pools.filter_map(|pool| pool.pool.alignment);
        let alignment = buffers.map(|buffer| buffer.alignment).chain(alignments).max().unwrap_or(1);
        let buffers = &mut self.lowering.program.buffers;
        let view = (bytes > 0).then(|| {
            let name = format!("memory within {}", self.node.name);
            buffers.push(Buffer { name, ty: None, bytes, alignment, storage: Storage::Workspace });
            let dtype = aot_rt::DType::I8;
            View { buffer: BufferId(buffers.len() - 1), offset: 0, dtype, len: bytes }
        });
        Scratch { view, least: largest(|region| workspace::least_bytes(&region.program)) }
    }

    /// Appends a step that holds steps.
    pub(crate) fn control(
        &mut self,
        flow: Flow,
        reads: Vec<Operand>,
        writes: Vec<Operand>,
        scratch: &Scratch,
    ) {
        let [first, second] = flow.blocks();
        let count = |(name, steps): (&str, &[Step])| match steps.len() {
            1 => format!("{name} 1 step"),
            count => format!("{name} {count} steps"),
        };
        let description = format!("{}, {}", count(first), count(second));
        let [a, b]: [u64; 2] = [first, second].map(|(_, steps)| steps.iter().map(|step| step.macs).sum());
        let macs = match flow {
            Flow::If { .. } => a.max(b),
            Flow::While { .. } => a.saturating_add(b),
        };
        let control =
            Control { reads: reads.len(), least_scratch: scratch.view.map(|_| scratch.least), flow };
        let scratch = scratch.view.map(Operand::Buffer);
        let operands = reads.into_iter().chain(writes).chain(scratch).collect();
        let operator = self.node.op.label();
        let name = format!("{operator}_{}", self.lowering.program.steps.len());
        let (node, work) = (self.node.name.clone(), Work::Control(control));
        self.lowering.program.steps.push(Step { name, operator, node, description, work, operands, macs });
    }

    /// Appends a step that copies.
    pub(crate) fn copy(&mut self, x: Operand, y: Operand) {
        if y.len() == 0 {
            return;
        }
        let step = self.copy_within(self.lowering.program.steps.len(), x, y);
        self.lowering.program.steps.push(step);
    }

    /// A step that copies, to be the one at `position`.
    pub(crate) fn copy_within(&self, position: usize, x: Operand, y: Operand) -> Step {
        let (x, y) = (x.as_bytes(), y.as_bytes());
        let len = y.len();
        Step {
            name: format!("copy_{position}"),
            operator: "copy",
            node: self.node.name.clone(),
            description: format!("{len} bytes"),
            work: Work::Kernel(Kernel::CopyI8(CopyI8 { len })),
            operands: vec![x, y],
            macs: 0,
        }
    }
}

/// The problems of a region as one of its node.
fn in_region(problems: Vec<Problem>) -> OpError {
    let messages: Vec<_> =
        problems.iter().map(|problem| format!("{}{}", problem.location, problem.message)).collect();
    OpError { message: messages.join("; "), help: problems.into_iter().find_map(|problem| problem.help) }
}
