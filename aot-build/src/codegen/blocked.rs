//! Which filters among the constants stand in blocks, where the processor that the code is
//! compiled for reads them so: in the generated code only, since nothing before it knows which.

use std::collections::BTreeMap;
use std::ops::Range;

use aot_rt::kernels::{Conv2dI8, Filters, Kernel};

use crate::Model;
use crate::config::Calls;
use crate::program::{ConstantView, Operand, Step};

/// Filters that nothing but kernels of blocked filters reads, by their offsets in the blob.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocked(BTreeMap<usize, Filters>);

impl Blocked {
    /// Those of models that have one blob.
    pub(super) fn of(models: &[&Model]) -> Self {
        // For each range that is read: as which filters, if all that read it agree.
        let mut ranges: BTreeMap<(usize, usize), Option<Filters>> = BTreeMap::new();
        for model in models {
            let is_direct = model.config.calls == Calls::Direct;
            for (view, step) in model.compiled.program.constant_reads() {
                let read = step.filter(|_| is_direct).and_then(filters).filter(|read| read.0 == view);
                let read = read.map(|(_, filters)| filters);
                let range = (view.offset, view.offset + view.len * view.dtype.size());
                let known = ranges.entry(range).or_insert(read);
                if *known != read {
                    *known = None;
                }
            }
        }
        let ranges: Vec<_> = ranges.into_iter().collect();
        let mut end = 0;
        let mut blocked = BTreeMap::new();
        for (i, ((first, behind), filters)) in ranges.iter().enumerate() {
            let is_apart = end <= *first && ranges.get(i + 1).is_none_or(|((next, _), _)| behind <= next);
            if let Some(filters) = filters.filter(|_| is_apart) {
                blocked.insert(*first, filters);
            }
            end = end.max(*behind);
        }
        Self(blocked)
    }

    /// Those in a part of the blob, with their offsets in it.
    pub(super) fn within(&self, part: Range<usize>) -> Vec<Filters> {
        let moved = |filters: &Filters| Filters { at: filters.at - part.start, ..*filters };
        self.0.range(part.clone()).map(|(_, filters)| moved(filters)).collect()
    }

    /// Name of the function of a step's kernel, which is another where its filters stand in blocks.
    pub(super) fn function(&self, step: &Step, kernel: &Kernel) -> &'static str {
        if filters(step).is_none_or(|(view, _)| !self.0.contains_key(&view.offset)) {
            return kernel.name();
        }
        match kernel {
            Kernel::Conv2dI8(_) => "conv2d_blocked_i8",
            Kernel::Conv2dAddI8(_) => "conv2d_add_blocked_i8",
            Kernel::FullyConnectedI8(_) => "fully_connected_blocked_i8",
            kernel => kernel.name(),
        }
    }
}

/// The filters that a step on the CPU reads, if there is a kernel that reads them in blocks.
fn filters(step: &Step) -> Option<(ConstantView, Filters)> {
    let (groups, filters, len) = match step.kernel()? {
        Kernel::Conv2dI8(params) => of_conv2d(params),
        Kernel::Conv2dAddI8(params) => of_conv2d(&params.conv2d),
        Kernel::FullyConnectedI8(params) => (1, params.outputs, params.inputs),
        _ => return None,
    };
    let weights = step.operand_infos().iter().position(|(name, _)| *name == "weights")?;
    let Operand::Constant(view) = *step.operands.get(weights)? else { return None };
    // Kernels read words of them.
    let is_aligned = |at: usize| at.is_multiple_of(4);
    let fits = view.len > 0 && is_aligned(view.offset) && (groups == 1 || is_aligned(filters * len));
    fits.then_some((view, Filters { at: view.offset, groups, filters, len }))
}

fn of_conv2d(params: &Conv2dI8) -> (usize, usize, usize) {
    let groups = params.groups.max(1);
    let [height, width] = params.window.kernel;
    (groups, params.out_channels / groups, height * width * (params.in_channels / groups))
}
