//! Steps that hold steps: one of two lists runs, or lists run again and again.
//!
//! To all that orders steps and shares memory, such a step is opaque: it reads some of
//! its operands and writes the others, the last of which is the memory that its own steps
//! work in. Those steps name the buffers of the program itself, so that the back ends run
//! them like any other. What is in that memory was planned before, for each list by itself
//! ([`NodeLowering::region`](super::NodeLowering)): only one of them runs at a time.

use aot_rt::kernels::{Kernel, Kind, Window2d};

use super::{Call, ConstantView, Operand, Step, Storage, View};
use crate::Compiled;

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Calls a kernel.
    Kernel(Kernel),
    /// Has a device run one or several kernels.
    Call(Call),
    /// Runs steps of its own.
    Control(Control),
}

/// Which steps run, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Control {
    /// How many of the operands are read; those behind them are written.
    pub reads: usize,
    /// Where the last operand is memory for its own steps: bytes of that which no plan can do
    /// without.
    pub least_scratch: Option<usize>,
    /// What decides.
    pub flow: Flow,
}

/// What decides which steps run.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Operand 0: a truth value.
    If {
        /// Run where it is true.
        then: Vec<Step>,
        /// Run where it is false.
        otherwise: Vec<Step>,
    },
    /// Steps that compute a truth value.
    While {
        /// They run before each iteration, and once more.
        condition: Vec<Step>,
        /// What they compute.
        test: View,
        /// Run as long as it is true.
        body: Vec<Step>,
    },
}

impl Flow {
    /// The lists of steps, and what they are called.
    #[must_use]
    pub fn blocks(&self) -> [(&'static str, &[Step]); 2] {
        match self {
            Self::If { then, otherwise } => [("then", then), ("else", otherwise)],
            Self::While { condition, body, .. } => [("condition", condition), ("body", body)],
        }
    }

    fn blocks_mut(&mut self) -> [(&'static str, &mut Vec<Step>); 2] {
        match self {
            Self::If { then, otherwise } => [("then", then), ("else", otherwise)],
            Self::While { condition, body, .. } => [("condition", condition), ("body", body)],
        }
    }
}

impl Step {
    /// The kernel that it calls on the CPU, if that is what it does.
    #[must_use]
    pub const fn kernel(&self) -> Option<&Kernel> {
        match &self.work {
            Work::Kernel(kernel) => Some(kernel),
            Work::Call(_) | Work::Control(_) => None,
        }
    }

    /// The call of a device, if that is what it does.
    #[must_use]
    pub const fn call(&self) -> Option<&Call> {
        match &self.work {
            Work::Call(call) => Some(call),
            Work::Kernel(_) | Work::Control(_) => None,
        }
    }

    /// The steps that it holds, if it holds any.
    #[must_use]
    pub const fn control(&self) -> Option<&Control> {
        match &self.work {
            Work::Kernel(_) | Work::Call(_) => None,
            Work::Control(control) => Some(control),
        }
    }

    /// In which ways it can be called.
    pub(crate) fn kind(&self) -> Kind {
        self.kernel().map_or(Kind::Plain, Kernel::kind)
    }

    /// The window of its kernel, see [`Kernel::window`].
    pub(crate) fn window(&self) -> Option<(Window2d, [usize; 2])> {
        self.kernel().and_then(Kernel::window)
    }

    /// It and the steps that it holds, each before those.
    pub(crate) fn with_nested(&self) -> Vec<&Self> {
        let mut all = vec![self];
        for (_, steps) in self.control().iter().flat_map(|control| control.flow.blocks()) {
            all.extend(steps.iter().flat_map(Self::with_nested));
        }
        all
    }

    /// All views, of the steps that it holds, too.
    pub(super) fn views_mut(&mut self) -> Vec<&mut View> {
        let mut views: Vec<&mut View> = Vec::new();
        for operand in &mut self.operands {
            if let Operand::Buffer(view) = operand {
                views.push(view);
            }
        }
        if let Work::Control(control) = &mut self.work {
            match &mut control.flow {
                Flow::If { then, otherwise } => {
                    views.extend(then.iter_mut().chain(otherwise).flat_map(Self::views_mut));
                }
                Flow::While { condition, test, body } => {
                    views.push(test);
                    views.extend(condition.iter_mut().chain(body).flat_map(Self::views_mut));
                }
            }
        }
        views
    }

    /// The constants that it and the steps that it holds work on.
    pub(super) fn constant_views_mut(&mut self) -> Vec<&mut ConstantView> {
        let mut views: Vec<&mut ConstantView> = Vec::new();
        for operand in &mut self.operands {
            if let Operand::Constant(view) = operand {
                views.push(view);
            }
        }
        if let Work::Control(control) = &mut self.work {
            let blocks = control.flow.blocks_mut().into_iter();
            views.extend(blocks.flat_map(|(_, steps)| steps).flat_map(Self::constant_views_mut));
        }
        views
    }

    /// Names the steps that it holds after it, so that no two steps of a program have one
    /// name.
    pub(crate) fn name_nested(&mut self) {
        let Work::Control(control) = &mut self.work else { return };
        for (block, steps) in control.flow.blocks_mut() {
            for step in steps {
                step.name = format!("{}_{block}_{}", self.name, step.name);
                step.name_nested();
            }
        }
    }
}

/// Where a region's inputs, outputs and memory are in the program around it.
pub(super) struct Places<'a> {
    pub(super) region: &'a Compiled,
    pub(super) inputs: &'a [Operand],
    pub(super) outputs: &'a [Operand],
    /// What its workspace is: bytes of a buffer.
    pub(super) scratch: Option<View>,
}

impl Places<'_> {
    /// The region's steps, on the buffers of the program around it.
    pub(super) fn steps(&self) -> Vec<Step> {
        self.region.program.steps.iter().map(|step| self.step(step)).collect()
    }

    fn step(&self, step: &Step) -> Step {
        let work = match &step.work {
            work @ (Work::Kernel(_) | Work::Call(_)) => work.clone(),
            Work::Control(control) => {
                Work::Control(Control { flow: self.flow(&control.flow), ..control.clone() })
            }
        };
        let operands = step.operands.iter().map(|operand| self.operand(*operand)).collect();
        Step { work, operands, ..step.clone() }
    }

    fn flow(&self, flow: &Flow) -> Flow {
        let steps = |steps: &[Step]| steps.iter().map(|step| self.step(step)).collect();
        match flow {
            Flow::If { then, otherwise } => Flow::If { then: steps(then), otherwise: steps(otherwise) },
            Flow::While { condition, test, body } => {
                Flow::While { condition: steps(condition), test: self.memory(*test), body: steps(body) }
            }
        }
    }

    fn operand(&self, operand: Operand) -> Operand {
        let Operand::Buffer(view) = operand else { return operand };
        match self.region.program.buffer(view.buffer).storage {
            Storage::Workspace => Operand::Buffer(self.memory(view)),
            Storage::Input(i) => within(self.inputs[i], view),
            Storage::Output(i) => within(self.outputs[i], view),
        }
    }

    /// A view of the region's workspace.
    pub(super) fn memory(&self, view: View) -> View {
        let start = self.region.offsets[view.buffer.0] + view.offset;
        match self.scratch {
            Some(scratch) => View { buffer: scratch.buffer, offset: scratch.offset + start, ..view },
            None => unreachable!("a region whose workspace has no bytes has no view of it"),
        }
    }
}

/// The view of an operand that is the whole of a region's buffer.
fn within(operand: Operand, view: View) -> Operand {
    let View { offset, dtype, len, .. } = view;
    match operand {
        Operand::Buffer(outer) => {
            Operand::Buffer(View { buffer: outer.buffer, offset: outer.offset + offset, dtype, len })
        }
        Operand::Constant(outer) => {
            Operand::Constant(ConstantView { offset: outer.offset + offset, dtype, len })
        }
    }
}
