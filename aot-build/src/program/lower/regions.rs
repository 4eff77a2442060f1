//! Lowers regions: each becomes a program that is planned by itself, and then steps that
//! one step of the program around it holds.

use aot_rt::kernels::{CopyI8, Kernel};

use super::{NodeLowering, lower_with};
use crate::compile::{self, Compiled};
use crate::config::{Config, InputPlacement, Memory, Placement};
use crate::error::{OpError, Problem};
use crate::graph::Graph;
use crate::program::control::Places;
use crate::program::crossings::{copy_between_pools, free_names};
use crate::program::{Around, Buffer, BufferId, Control, Flow, Operand, Program, Step, Storage, View, Work};

/// Memory that several regions use, one at a time: of each of their pools that has bytes.
pub(crate) struct Scratch {
    views: Vec<Option<View>>,
    /// Bytes of RAM that no plan can do without.
    least: usize,
}

impl Scratch {
    /// A region's steps, on these operands and results of the node, and in this memory.
    pub(crate) fn steps(&self, region: &Compiled, inputs: &[Operand], outputs: &[Operand]) -> Vec<Step> {
        Places { region, inputs, outputs, scratch: &self.views }.steps()
    }

    /// Where the outputs are of a region that has them in its workspace.
    pub(crate) fn results(&self, region: &Compiled) -> Vec<View> {
        let places = Places { region, inputs: &[], outputs: &[], scratch: &self.views };
        region.program.outputs.iter().map(|port| places.memory(port.view)).collect()
    }
}

impl NodeLowering<'_, '_> {
    /// Lowers and plans regions, whose inputs stay where they are; `outputs` says whether
    /// their outputs are made where the node's are, or in their own workspace. Their constants are
    /// the program's.
    ///
    /// # Errors
    ///
    /// What is wrong with their nodes.
    pub(crate) fn regions(
        &mut self,
        graphs: [&Graph; 2],
        outputs: Placement,
        around: &Around<'_>,
    ) -> Result<Vec<Compiled>, OpError> {
        let config = Config {
            inputs: InputPlacement::Caller,
            outputs,
            memory: Memory::Auto,
            ram_limit: None,
            pools: self.lowering.config.pools_within(),
            ..self.lowering.config.clone()
        };
        let mut programs = Vec::new();
        for graph in graphs {
            let constants = std::mem::take(&mut self.lowering.program.constants);
            let mut program = lower_with(graph, &config, constants).map_err(in_region)?;
            self.lowering.program.constants = std::mem::take(&mut program.constants);
            programs.push(Program { is_region: true, ..program });
        }
        let pools = config.workspaces();
        let apart = around.apart(&programs, &pools);
        let arranged = |mut program: Program| {
            let arrays = program.ids().filter(|id| apart.contains(&program.buffer(*id).storage));
            let arrays: Vec<BufferId> = arrays.collect();
            copy_between_pools(&mut program, &pools, &arrays);
            compile::arrange(program, &config).map_err(in_region)
        };
        programs.into_iter().map(arranged).collect()
    }

    /// Memory for regions, of which one runs at a time.
    pub(crate) fn region_scratch(&mut self, regions: &[Compiled]) -> Scratch {
        let buffers = regions.iter().flat_map(|region| &region.program.buffers);
        let pools = regions.iter().flat_map(|region| &region.workspaces);
        let alignments = pools.filter_map(|pool| pool.pool.alignment);
        let alignment = buffers.map(|buffer| buffer.alignment).chain(alignments).max().unwrap_or(1);
        let pools = regions.first().map_or(0, |region| region.workspaces.len());
        let bytes = |pool: usize| regions.iter().map(|region| region.workspaces[pool].bytes).max();
        let mut view = |pool: usize| {
            let bytes = bytes(pool).filter(|bytes| *bytes > 0)?;
            let name = format!("memory within {}", self.node.name);
            let buffers = &mut self.lowering.program.buffers;
            buffers.push(Buffer { name, ty: None, bytes, alignment, storage: Storage::Workspace });
            let dtype = aot_rt::DType::I8;
            Some(View { buffer: BufferId(buffers.len() - 1), offset: 0, dtype, len: bytes })
        };
        let views = (0..pools).map(&mut view).collect();
        let least = regions.iter().map(|region| region.lower_bound).max();
        Scratch { views, least: least.unwrap_or(0) }
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
        // The bound is one for all RAM: the first one stands for that.
        let mut least = vec![0; scratch.views.iter().flatten().count()];
        if let Some(first) = least.first_mut() {
            *first = scratch.least;
        }
        let control = Control { reads: reads.len(), scratch: least, flow };
        let scratch = scratch.views.iter().flatten().copied().map(Operand::Buffer);
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
        let name = format!("copy_{}", self.lowering.program.steps.len());
        let step = self.copy_step(name, x, y);
        self.lowering.program.steps.push(step);
    }

    /// Appends steps to `steps`, which another one holds, that copy.
    pub(crate) fn copy_within(&self, steps: &mut Vec<Step>, copies: impl Iterator<Item = [Operand; 2]>) {
        for [x, y] in copies.filter(|[_, y]| y.len() > 0) {
            let name = free_names(steps).swap_remove(0);
            steps.push(self.copy_step(name, x, y));
        }
    }

    fn copy_step(&self, name: String, x: Operand, y: Operand) -> Step {
        let (x, y) = (x.as_bytes(), y.as_bytes());
        let len = y.len();
        Step {
            name,
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
