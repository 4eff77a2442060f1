//! Runs a program on the host, in the arena that the generated code would use.
//!
//! The kernels are the generated code's own, so results are equal bit for bit. What a device
//! runs there, they compute here.

mod call;

mod observe;

pub use observe::Observer;

use aot_rt::kernels::{Kernel, Kind, Mode, next_row};
use aot_rt::{Access, Arena, Block, Span, Tensor, block_bytes, block_bytes_mut};

use crate::Compiled;
use crate::program::{
    ConstantView, Flow, Initial, Layer, Operand, Pushed, Run, Step, Storage, View, Work, overlapped,
};

/// A program with memory to run in.
pub struct Evaluator<'p> {
    compiled: &'p Compiled,
    constants: Vec<Block>,
    arena: Vec<Block>,
    /// Where each buffer is in `arena`: the caller's follow the workspace.
    offsets: Vec<usize>,
}

impl<'p> Evaluator<'p> {
    /// Takes memory for `compiled`.
    #[must_use]
    pub fn new(compiled: &'p Compiled) -> Self {
        let mut size = compiled.span();
        let offsets = compiled
            .program
            .buffers
            .iter()
            .zip(&compiled.offsets)
            .map(|(buffer, &offset)| {
                if buffer.storage == Storage::Workspace {
                    return offset;
                }
                let offset = size.next_multiple_of(size_of::<Block>());
                size = offset + buffer.bytes;
                offset
            })
            .collect();
        let mut constants = blocks(compiled.program.constants.bytes().len());
        block_bytes_mut(&mut constants)[..compiled.program.constants.bytes().len()]
            .copy_from_slice(compiled.program.constants.bytes());
        let mut evaluator = Self { compiled, constants, arena: blocks(size), offsets };
        evaluator.reset();
        evaluator
    }

    /// Sets the state as the model file says.
    pub fn reset(&mut self) {
        for state in &self.compiled.program.states {
            let (start, bytes) = (self.start(state.view), state.view.bytes());
            let initial = match state.initial {
                Initial::Fill(byte) => vec![byte; bytes],
                Initial::Constant(view) => constant(block_bytes(&self.constants), view).to_vec(),
            };
            self.write(start, &initial);
        }
    }

    /// Runs all steps on little-endian inputs; gives little-endian outputs. States are kept.
    ///
    /// # Errors
    ///
    /// When number or length of the inputs is not the model's.
    pub fn run(&mut self, inputs: &[&[u8]]) -> Result<Vec<Vec<u8>>, String> {
        self.run_with(inputs, &mut |_, _| ())
    }

    /// The same; `observer` is shown what each step wrote, as instruments of generated code
    /// are.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_with(
        &mut self,
        inputs: &[&[u8]],
        observer: &mut Observer<'_>,
    ) -> Result<Vec<Vec<u8>>, String> {
        let program = &self.compiled.program;
        if inputs.len() != program.inputs.len() {
            return Err(format!("{} inputs, the model has {}", inputs.len(), program.inputs.len()));
        }
        for (port, input) in program.inputs.iter().zip(inputs) {
            if input.len() != port.ty.bytes() {
                return Err(format!("input `{}` has {} bytes, is {}", port.name, input.len(), port.ty));
            }
            // Pushed rows come one by one.
            if program.pushed.is_none() {
                self.write(self.start(port.view), input);
            }
        }
        let mut steps = 0..program.steps.len();
        while let Some(step) = steps.next() {
            if let Some((run, _)) = program.layer(step) {
                self.rows(run, inputs, observer)?;
                steps.start = run.steps().end;
            } else {
                self.step(&program.steps[step], observer)?;
            }
        }
        let output = |view: View| {
            let start = self.start(view);
            block_bytes(&self.arena)[start..start + view.len * view.dtype.size()].to_vec()
        };
        Ok(program.outputs.iter().map(|port| output(port.view)).collect())
    }

    /// The elements of `view`, little-endian, as the last step left them.
    #[must_use]
    pub fn read(&self, view: View) -> &[u8] {
        let start = self.start(view);
        &block_bytes(&self.arena)[start..start + view.len * view.dtype.size()]
    }

    fn start(&self, view: View) -> usize {
        self.offsets[view.buffer.index()] + view.offset
    }

    fn write(&mut self, start: usize, bytes: &[u8]) {
        block_bytes_mut(&mut self.arena)[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Runs steps row by row; where rows are pushed, they are those of the one input.
    fn rows(&mut self, run: &Run, inputs: &[&[u8]], observer: &mut Observer<'_>) -> Result<(), String> {
        let program = &self.compiled.program;
        let layers: Vec<_> = run.layers.iter().map(|layer| layer.rows).collect();
        let mut done = vec![0; layers.len()];
        let pushed = program.pushed.filter(|_| run.first == 0);
        let Pushed { rows, ring } = pushed.unwrap_or(Pushed { rows: 0, ring: 0 });
        for pushed in 0..=rows {
            while let Some((layer, row)) = next_row(&mut done, &layers, pushed) {
                let step = &program.steps[run.first + layer];
                if let Work::Kernel(kernel) = &step.work {
                    let row = Some((&run.layers[layer], row));
                    self.kernel(step, kernel, row)?;
                    self.show(step, row, observer);
                }
            }
            if pushed < rows {
                let bytes = inputs[0].len() / rows;
                let start = self.start(program.inputs[0].view) + pushed % ring * bytes;
                self.write(start, &inputs[0][pushed * bytes..][..bytes]);
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step, observer: &mut Observer<'_>) -> Result<(), String> {
        match &step.work {
            Work::Kernel(kernel) => self.kernel(step, kernel, None)?,
            Work::Call(call) => {
                self.device_call(step, call).map_err(|error| format!("step `{}`: {error}", step.name))?;
            }
            Work::Control(control) => self.control(step, &control.flow, observer)?,
        }
        self.show(step, None, observer);
        Ok(())
    }

    fn control(&mut self, step: &Step, flow: &Flow, observer: &mut Observer<'_>) -> Result<(), String> {
        match flow {
            Flow::If { then, otherwise } => {
                let chosen = if self.is_true(step.operands[0]) { then } else { otherwise };
                chosen.iter().try_for_each(|step| self.step(step, observer))
            }
            Flow::While { condition, test, body } => loop {
                condition.iter().try_for_each(|step| self.step(step, observer))?;
                if !self.is_true(Operand::Buffer(*test)) {
                    return Ok(());
                }
                body.iter().try_for_each(|step| self.step(step, observer))?;
            },
        }
    }

    fn is_true(&self, operand: Operand) -> bool {
        let bytes = match operand {
            Operand::Buffer(view) => self.read(view),
            Operand::Constant(view) => constant(block_bytes(&self.constants), view),
        };
        bytes != [0]
    }

    /// Calls a step's kernel, or computes one row of it.
    fn kernel(&mut self, step: &Step, kernel: &Kernel, row: Option<(&Layer, usize)>) -> Result<(), String> {
        let mode = match (row, kernel.kind()) {
            (Some((layer, row)), Kind::Window | Kind::Widening | Kind::Accumulating | Kind::Reducing) => {
                Mode::Row { rings: [layer.rings[0], layer.rings[1]], row }
            }
            _ => step.mode(|view| Some(self.start(view))),
        };
        // One operand is both `x` and `y` where the mode says so.
        let first = usize::from(matches!(mode, Mode::InPlace | Mode::Overlapping(_)));
        let operands = || step.operands.iter().zip(kernel.operands()).enumerate().skip(first);
        let mut spans = Vec::new();
        for (i, (operand, info)) in operands() {
            if let Operand::Buffer(view) = operand {
                let mut span = Span {
                    offset: self.start(*view),
                    bytes: view.bytes(),
                    dtype: view.dtype,
                    access: info.access,
                };
                // Elementwise kernels are given the row alone.
                if let (Some((layer, row)), Kind::Elementwise) = (row, kernel.kind()) {
                    span.bytes /= layer.rings[i];
                    span.offset += row % layer.rings[i] * span.bytes;
                }
                spans.push(span);
            }
        }
        if let (Mode::Overlapping(_), [Operand::Buffer(x), Operand::Buffer(y), ..]) =
            (mode, &step.operands[..])
        {
            let [offset, bytes] = overlapped([*x, *y], |view| self.start(view));
            spans[0] = Span { offset, bytes, dtype: y.dtype, access: Access::Write };
        }
        self.call(kernel, mode, &spans, operands().map(|(_, (operand, _))| operand))
            .map_err(|error| format!("step `{}`: {error}", step.name))
    }

    fn call<'o>(
        &mut self,
        kernel: &Kernel,
        mode: Mode,
        spans: &[Span],
        operands: impl Iterator<Item = &'o Operand>,
    ) -> Result<(), String> {
        let mut arena = Arena::new(&mut self.arena);
        let mut regions = arena.borrow(spans).map_err(|error| format!("{error:?}"))?;
        let constants = block_bytes(&self.constants);
        let mut tensors: Vec<_> = operands
            .filter_map(|operand| match operand {
                Operand::Buffer(_) => regions.next(),
                Operand::Constant(view) => Some(Tensor::read_bytes(view.dtype, constant(constants, *view))),
            })
            .collect();
        kernel.run(mode, &mut tensors).map_err(|error| format!("{error:?}"))
    }
}

fn constant(constants: &[u8], view: ConstantView) -> &[u8] {
    &constants[view.offset..view.offset + view.len * view.dtype.size()]
}

fn blocks(bytes: usize) -> Vec<Block> {
    vec![Block::default(); bytes.div_ceil(size_of::<Block>())]
}

#[cfg(test)]
mod tests {
    use aot_rt::DType;

    use super::*;
    use crate::graph::{
        Data, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorType,
    };
    use crate::ops::FullyConnected;
    use crate::{Config, compile};

    fn quantized(shape: [usize; 2], scale: f32, zero_point: i32) -> TensorType {
        let quantization = Some(Quantization::per_tensor(scale, zero_point).unwrap());
        TensorType { quantization, ..TensorType::new(DType::I8, Shape::new(shape).unwrap()) }
    }

    /// `known-faults.md` L14: the zero point of the weights counts.
    #[test]
    fn a_graph_runs_from_builder_to_result() {
        let mut builder = GraphBuilder::new("l14");
        let x = builder.input("x", quantized([1, 3], 0.1, 0));
        let w = builder.constant("w", quantized([1, 3], 0.1, 5), Data::from_i8s(&[10, 20, 30]));
        let y = builder.node(NodeDeclaration {
            name: "fc".into(),
            index: 0,
            op: FullyConnected::default().into(),
            inputs: vec![Some(x), Some(w), None],
            outputs: vec![OutputDeclaration {
                name: "y".into(),
                ty: Some(quantized([1, 1], 0.5, 0)),
                open: Vec::new(),
            }],
        });
        let graph = builder.finish(vec![y[0].unwrap()]).unwrap();
        let compiled = compile(graph, &Config::default()).unwrap();
        assert_eq!(Evaluator::new(&compiled).run(&[&[10, 10, 10]]).unwrap(), [[9]]);
    }
}
