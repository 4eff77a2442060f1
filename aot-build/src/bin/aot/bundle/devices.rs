//! The network with the runtime's own kernels in place of its devices.
#![allow(clippy::too_many_arguments, reason = "they are those of the kernels")]

use aot_rt::kernels::{Kernel, Mode};
use aot_rt::{Device, KernelError, PackedDevice, StepInfo, Tensor, block_bytes};

use super::Aligned;

/// A device that computes what it is called for as the CPU would.
#[derive(Debug)]
pub struct Reference;

impl Device for Reference {
    type Error = KernelError;
}

impl PackedDevice for Reference {
    fn call(
        &mut self,
        step: &'static StepInfo,
        kernels: &[&'static Kernel],
        tensors: &mut [Tensor<'_>],
    ) -> Result<(), KernelError> {
        compute(step, kernels, tensors)
    }
}

/// A step of a device.
struct Call {
    step: &'static str,
    /// Bytes between its kernels.
    between: &'static [usize],
    /// Constants that the CPU's kernels read in another order: their positions among the operands.
    packed: &'static [(usize, &'static [u8])],
}

/// Runs kernels, each on the result of the one before.
fn compute(step: &StepInfo, kernels: &[&Kernel], tensors: &mut [Tensor<'_>]) -> Result<(), KernelError> {
    let call = CALLS.iter().find(|call| call.step == step.name).expect("the step is one of a device");
    let packed: Vec<_> = call.packed.iter().map(|(i, bytes)| (*i, Aligned::new(bytes))).collect();
    let operand = |(i, tensor): (usize, &mut _)| {
        let given = std::mem::replace(tensor, Tensor::read::<u8>(&[]));
        match packed.iter().find(|(position, _)| *position == i) {
            Some((_, constant)) => Tensor::read_bytes(given.dtype(), elements(constant)),
            None => given,
        }
    };
    let operands: Vec<_> = tensors.iter_mut().enumerate().map(operand).collect();
    let mut operands = operands.into_iter();
    let (mut x, mut y) = (operands.next(), operands.next());
    let mut between: Option<Aligned> = None;
    for (i, kernel) in kernels.iter().enumerate() {
        let infos = kernel.operands();
        let mut result = call.between.get(i).map(|bytes| Aligned::new(&vec![0; *bytes]));
        let mut tensors = Vec::new();
        tensors.extend(match &between {
            Some(between) => Some(Tensor::read_bytes(infos[0].dtype, elements(between))),
            None => x.take(),
        });
        tensors.extend(match &mut result {
            Some(result) => Some(Tensor::write_bytes(infos[1].dtype, result.bytes())),
            None => y.take(),
        });
        for operand in operands.by_ref().take(infos.len() - 2) {
            tensors.push(operand);
        }
        kernel.run(Mode::Apart, &mut tensors)?;
        drop(tensors);
        between = result;
    }
    Ok(())
}

fn elements(memory: &Aligned) -> &[u8] {
    &block_bytes(&memory.blocks)[..memory.len]
}

