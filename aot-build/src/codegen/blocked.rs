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
    let is_all = view.len > 0 && view.len == groups * filters * len;
    let filters = Filters::new(view.offset, groups, filters, len);
    (is_all && filters.are_aligned()).then_some((view, filters))
}

fn of_conv2d(params: &Conv2dI8) -> (usize, usize, usize) {
    let groups = params.groups.max(1);
    let [height, width] = params.window.kernel;
    (groups, params.out_channels / groups, height * width * (params.in_channels / groups))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Data;
    use crate::graph::sketch::{Sketch, i8_type};
    use crate::ops::FullyConnected;
    use crate::{Config, SourceInfo, compile};

    /// A layer for each `[outputs, inputs]`, with weights that count from `first` on.
    fn layers(layers: &[([usize; 2], i8)], config: Config) -> Model {
        let mut sketch = Sketch::new();
        let mut results = Vec::new();
        for (i, &([outputs, inputs], first)) in layers.iter().enumerate() {
            let x = sketch.input(&format!("x{i}"), i8_type([1, inputs], 0.5, 0));
            let weights: Vec<i8> = (first..).take(outputs * inputs).collect();
            let weights = Data::from_i8s(&weights);
            let weights = sketch.constant(&format!("w{i}"), i8_type([outputs, inputs], 0.5, 0), weights);
            let y = i8_type([1, outputs], 1.0, 0);
            results.push(sketch.typed(&format!("y{i}"), FullyConnected::default(), &[x, weights], y));
        }
        let compiled = compile(sketch.finish(&results), &config).unwrap();
        Model { type_name: "Net".into(), source: SourceInfo::default(), compiled, config }
    }

    /// What the filters of the model are, without where they start.
    fn found(model: &Model) -> Vec<[usize; 3]> {
        let filters = Blocked::of(&[model]).0.into_values();
        filters.map(|Filters { groups, filters, len, .. }| [groups, filters, len]).collect()
    }

    #[test]
    fn filters_stand_in_blocks_where_all_readers_agree() {
        let direct = |list| layers(list, Config::default());
        assert_eq!(found(&direct(&[([8, 6], 1), ([8, 6], 1), ([5, 3], 50)])), [[1, 8, 6], [1, 5, 3]]);
        // The same bytes as other filters.
        assert_eq!(found(&direct(&[([8, 6], 1), ([4, 12], 1), ([5, 3], 50)])), [[1, 5, 3]]);
        // Kernels that are given descriptions read rows.
        for calls in [Calls::Packed, Calls::Registry] {
            assert_eq!(found(&layers(&[([8, 6], 1)], Config { calls, ..Config::default() })), [[0; 3]; 0]);
        }
    }

    #[test]
    fn models_that_share_constants_agree() {
        let model = |shape| layers(&[(shape, 1)], Config::default());
        let both = |other| Blocked::of(&[&model([8, 6]), &model(other)]).0.len();
        assert_eq!((both([8, 6]), both([4, 12])), (1, 0));
    }

    #[test]
    fn offsets_are_those_in_a_part() {
        let filters = Filters::new(48, 1, 4, 2);
        let blocked = Blocked([(48, filters)].into());
        assert_eq!(blocked.within(32..64), [Filters { at: 16, ..filters }]);
        assert_eq!(blocked.within(0..48), []);
    }
}
