//! Random networks give the same bits however their memory is planned.

use std::collections::BTreeMap;

use crate::Config;
use crate::compile::{compile_as_is, plan};
use crate::config::{InputPlacement, Memory, Pool};
use crate::eval::Evaluator;
use crate::graph::sketch::{Sketch, f32_type, i8_type};
use crate::graph::{Data, Graph, TensorId, TensorType};
use crate::ops::{
    Activation, Add, AveragePool2d, Conv2d, DepthwiseConv2d, MaxPool2d, Op, Padding2d, Relu, Softmax,
};
use crate::plan::Planner;
use crate::program::lower;

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.below(256) as u8).collect()
    }

    /// Eighths from -2 to 2: sums of them are exact whatever their order.
    fn floats(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.below(33) as f32 / 8.0 - 2.0).collect()
    }
}

/// A network in the making: a chain with connections that skip some of it.
struct Net<'r> {
    random: &'r mut Random,
    sketch: Sketch,
    float: bool,
    /// Tensors with their extents: rows, columns, channels.
    tensors: Vec<(TensorId, [usize; 3])>,
    count: usize,
}

impl Net<'_> {
    fn ty(&self, [height, width, channels]: [usize; 3]) -> TensorType {
        let shape = [1, height, width, channels];
        if self.float { f32_type(shape) } else { i8_type(shape, 0.1, -5) }
    }

    fn name(&mut self, what: &str) -> String {
        self.count += 1;
        format!("{what}{}", self.count)
    }

    fn node(&mut self, op: impl Into<Op>, inputs: &[TensorId], extents: [usize; 3]) {
        let op = op.into();
        let name = self.name(op.name());
        let id = self.sketch.typed(&name, op, inputs, self.ty(extents));
        self.tensors.push((id, extents));
    }

    fn weights(&mut self, shape: [usize; 4]) -> TensorId {
        let name = self.name("weights");
        let len = shape.iter().product();
        if self.float {
            let floats = self.random.floats(len);
            return self.sketch.constant(&name, f32_type(shape), Data::from_f32s(&floats));
        }
        let integers: Vec<i8> = self.random.bytes(len).into_iter().map(|byte| byte as i8 / 8).collect();
        self.sketch.constant(&name, i8_type(shape, 0.02, 0), Data::from_i8s(&integers))
    }

    /// Appends a random operator to the last tensor, or a sum of two.
    fn grow(&mut self) {
        let (x, [height, width, channels]) = self.tensors[self.tensors.len() - 1];
        let extents = [height, width, channels];
        let kernel = [1 + self.random.below(3), 1 + self.random.below(3)];
        let stride = [1 + self.random.below(2), 1 + self.random.below(2)];
        let out = [height.div_ceil(stride[0]), width.div_ceil(stride[1])];
        let padding = Padding2d::Same;
        match self.random.below(9) {
            8 if self.float => {
                // Any tensor with these channels serves as weights, `x` too.
                let fit = self.tensors.iter().filter(|(_, other)| other[2] == channels);
                let fit: Vec<_> = fit.map(|(id, _)| *id).collect();
                let weights = fit[self.random.below(fit.len())];
                self.node(DepthwiseConv2d { padding, ..DepthwiseConv2d::default() }, &[x, weights], extents);
            }
            7 => {
                // As a constant: it is not divided into rows.
                let constant = self.weights([1, height, width, channels]);
                self.node(Add::default(), &[x, constant], extents);
            }
            0 | 1 => {
                let out_channels = 1 + self.random.below(6);
                let weights = self.weights([out_channels, kernel[0], kernel[1], channels]);
                let op = Conv2d { stride, padding, ..Conv2d::default() };
                self.node(op, &[x, weights], [out[0], out[1], out_channels]);
            }
            2 => {
                let weights = self.weights([1, kernel[0], kernel[1], channels]);
                let op = DepthwiseConv2d { stride, padding, ..DepthwiseConv2d::default() };
                self.node(op, &[x, weights], [out[0], out[1], channels]);
            }
            3 => {
                let op = MaxPool2d { window: kernel, stride, padding, activation: Activation::None };
                self.node(op, &[x], [out[0], out[1], channels]);
            }
            4 => {
                let op = AveragePool2d { window: kernel, stride, padding, activation: Activation::None };
                self.node(op, &[x], [out[0], out[1], channels]);
            }
            5 => self.node(Relu::default(), &[x], extents),
            _ => {
                // A block of two convolutions, which are added to what they start from.
                let mut last = x;
                for _ in 0..2 {
                    let weights = self.weights([channels, kernel[0], kernel[1], channels]);
                    self.node(Conv2d { padding, ..Conv2d::default() }, &[last, weights], extents);
                    last = self.tensors[self.tensors.len() - 1].0;
                }
                let operands = if self.random.below(2) == 0 { [x, last] } else { [last, x] };
                self.node(Add::default(), &operands, extents);
            }
        }
    }

    /// Often, the mean of the image.
    fn head(&mut self) {
        let (x, [height, width, channels]) = self.tensors[self.tensors.len() - 1];
        if self.random.below(2) == 0 {
            let kernel = [height, width];
            let op = AveragePool2d {
                window: kernel,
                stride: kernel,
                padding: Padding2d::Valid,
                activation: Activation::None,
            };
            self.node(op, &[x], [1, 1, channels]);
            if self.float {
                let (mean, extents) = self.tensors[self.tensors.len() - 1];
                self.node(Softmax::default(), &[mean], extents);
            }
        }
    }
}

fn random_net(random: &mut Random) -> (Graph, Vec<u8>) {
    let float = random.below(2) == 0;
    let extents = [2 + random.below(14), 1 + random.below(7), 1 + random.below(4)];
    let mut net = Net { random, sketch: Sketch::new(), float, tensors: Vec::new(), count: 0 };
    let ty = net.ty(extents);
    let x = net.sketch.input("x", ty);
    net.tensors.push((x, extents));
    for _ in 0..2 + net.random.below(8) {
        net.grow();
    }
    net.head();
    let mut outputs = vec![net.tensors[net.tensors.len() - 1].0];
    // At times, a tensor on the way is an output, too.
    let other = net.tensors[net.random.below(net.tensors.len())].0;
    if net.random.below(4) == 0 && other != outputs[0] {
        outputs.push(other);
    }
    let len: usize = extents.iter().product();
    let bytes = if float {
        net.random.floats(len).into_iter().flat_map(f32::to_le_bytes).collect()
    } else {
        net.random.bytes(len)
    };
    (net.sketch.finish(&outputs), bytes)
}

/// How often something was seen that the test is about.
#[derive(Default, Debug)]
struct Seen {
    runs: usize,
    sums: usize,
    overlaps: usize,
    smaller: usize,
    pushed: usize,
}

#[test]
fn plans_do_not_change_a_bit() {
    let mut random = Random(3);
    let mut seen = Seen::default();
    let rows = Config { inputs: InputPlacement::Rows, ..Config::default() };
    let min = Config { memory: Memory::Min, ..Config::default() };
    let min_rows = Config { inputs: InputPlacement::Rows, ..min.clone() };
    let fast = Pool { limit: Some(200), alignment: Some(32), ..Pool::default() };
    let pools = BTreeMap::from([("fast".into(), fast), ("slow".into(), Pool { cost: 1, ..Pool::default() })]);
    let pools = Config { pools, search_limit: 60_000, ..Config::default() };
    for _ in 0..400 {
        let (graph, x) = random_net(&mut random);
        let apart = {
            let config = Config::default();
            let program = lower(&graph, &config).unwrap();
            plan(program, &config.workspaces(), Planner::None, &crate::plan::Limits::default())
        }
        .unwrap();
        let expect = Evaluator::new(&apart).run(&[&x]).unwrap();
        let tensors = compile_as_is(&graph, &Config::default()).unwrap();
        for config in [&Config::default(), &min, &rows, &min_rows, &pools] {
            let Ok(compiled) = compile_as_is(&graph, config) else {
                assert_eq!(config.inputs, InputPlacement::Rows);
                continue;
            };
            let found = Evaluator::new(&compiled).run(&[&x]).unwrap();
            assert_eq!(found, expect, "{config:?}\n{graph}\n{:#?}", compiled.program.runs);
            if config.memory == Memory::Min && config.inputs == InputPlacement::Workspace {
                assert!(compiled.lower_bound <= tensors.lower_bound, "{graph}");
                seen.smaller += usize::from(compiled.arena_bytes < tensors.arena_bytes);
            }
            seen.runs += compiled.program.runs.iter().filter(|run| run.layers.len() > 1).count();
            seen.pushed += usize::from(compiled.program.pushed.is_some());
        }
        let names = tensors.program.steps.iter().filter_map(|step| Some(step.kernel()?.name()));
        seen.sums += names.filter(|name| name.starts_with("conv2d_add")).count();
        let overlapping = tensors.program.steps.iter().filter(|step| {
            let start = |view: crate::program::View| Some(tensors.offsets[view.buffer.index()] + view.offset);
            matches!(step.mode(start), aot_rt::kernels::Mode::Overlapping(_))
        });
        seen.overlaps += overlapping.count();
    }
    let Seen { runs, sums, overlaps, smaller, pushed } = seen;
    assert!(runs > 100 && sums > 10 && overlaps > 100 && smaller > 100 && pushed > 100, "{seen:?}");
}
