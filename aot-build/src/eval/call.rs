//! What devices are called for, computed by our own kernels.

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{Access, Block, DType, Tensor, block_bytes, block_bytes_mut};

use super::{Evaluator, blocks, constant};
use crate::program::{Call, Operand, Step};

/// An operand's bytes, aligned.
struct Memory {
    dtype: DType,
    blocks: Vec<Block>,
    bytes: usize,
}

impl Memory {
    fn new(dtype: DType, bytes: usize) -> Self {
        Self { dtype, blocks: blocks(bytes), bytes }
    }

    fn of(dtype: DType, bytes: &[u8]) -> Self {
        let mut memory = Self::new(dtype, bytes.len());
        memory.bytes_mut().copy_from_slice(bytes);
        memory
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut block_bytes_mut(&mut self.blocks)[..self.bytes]
    }
}

impl Evaluator<'_> {
    /// Runs the kernels of a call on copies of its operands, since the memory between them is
    /// none of the plan's.
    pub(super) fn device_call(&mut self, step: &Step, call: &Call) -> Result<(), String> {
        let operands = step.operands.iter().enumerate();
        let mut memories: Vec<_> = operands.map(|(i, operand)| self.operand(call, i, *operand)).collect();
        let mut rest = 0;
        let mut between: Option<Memory> = None;
        for (i, kernel) in call.kernels.iter().enumerate() {
            let more = kernel.operands().len() - 2;
            let (ends, others) = memories.split_at_mut(2);
            let [x, y] = ends else { return Err("a call has no result".into()) };
            let x = between.as_mut().unwrap_or(x);
            let mut result = call.between.get(i).map(|len| {
                let dtype = kernel.operands()[1].dtype;
                Memory::new(dtype, len * dtype.size())
            });
            let others = &mut others[rest..rest + more];
            run(kernel, [x, result.as_mut().unwrap_or(y)], others)?;
            between = result;
            rest += more;
        }
        for ((operand, memory), info) in step.operands.iter().zip(&memories).zip(&call.operands) {
            if let (Operand::Buffer(view), Access::Write) = (operand, info.access) {
                self.write(self.start(*view), &block_bytes(&memory.blocks)[..memory.bytes]);
            }
        }
        Ok(())
    }

    fn operand(&self, call: &Call, i: usize, operand: Operand) -> Memory {
        let packed = call.packed.iter().find(|(position, _)| *position == i);
        let bytes = match (operand, packed) {
            (_, Some((_, bytes))) => bytes,
            (Operand::Buffer(view), None) => self.read(view),
            (Operand::Constant(view), None) => constant(block_bytes(&self.constants), view),
        };
        Memory::of(operand.dtype(), bytes)
    }
}

fn run(kernel: &Kernel, [x, y]: [&mut Memory; 2], others: &mut [Memory]) -> Result<(), String> {
    let memories = [x, y].into_iter().chain(others);
    let mut tensors: Vec<_> = memories
        .zip(kernel.operands())
        .map(|(memory, info)| match info.access {
            Access::Read => Tensor::read_bytes(memory.dtype, memory.bytes_mut()),
            Access::Write => Tensor::write_bytes(memory.dtype, memory.bytes_mut()),
        })
        .collect();
    kernel.run(Mode::Apart, &mut tensors).map_err(|error| format!("{error:?}"))
}
