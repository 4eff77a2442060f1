use super::*;
use crate::compile::compile_as_is;
use crate::eval::Evaluator;
use crate::graph::sketch::{Sketch, i8_type};
use crate::graph::{Data, TensorId};
use crate::ops::{
    Activation, AveragePool2d, Conv2d, DepthwiseConv2d, FullyConnected, MaxPool2d, Op, Padding2d, Relu,
    Reshape,
};

/// The same numbers in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn int8(&mut self) -> i8 {
        (self.below(256) as u8).cast_signed()
    }
}

/// A chain of layers, many of whose channels have no weights.
struct Chain<'r> {
    random: &'r mut Random,
    sketch: Sketch,
    x: TensorId,
    extents: [usize; 3],
    layers: usize,
}

impl Chain<'_> {
    /// The scale and zero point of all activations.
    fn append(&mut self, op: impl Into<Op>, inputs: &[TensorId], extents: [usize; 3]) {
        let [height, width, channels] = extents;
        let ty = i8_type([1, height, width, channels], 0.1, -128 + 100 * self.random.below(2) as i32);
        self.x = self.sketch.typed(&format!("t{}", self.layers), op, inputs, ty);
        self.extents = extents;
        self.layers += 1;
    }

    /// Weights of which whole channels, of the result or of the operand, are 0.
    fn weights<const N: usize>(&mut self, shape: [usize; N], axes: [usize; 2]) -> TensorId {
        let dead: Vec<Vec<bool>> =
            axes.map(|axis| (0..shape[axis]).map(|_| self.random.below(3) == 0).collect()).into();
        let mut elements = Vec::new();
        for index in 0..shape.iter().product() {
            let place = |axis: usize| index / shape[axis + 1..].iter().product::<usize>() % shape[axis];
            let is_dead = dead.iter().zip(axes).any(|(dead, axis)| dead[place(axis)]);
            elements.push(if is_dead { 0 } else { self.random.int8() / 4 });
        }
        let name = format!("w{}", self.layers);
        self.sketch.constant(&name, i8_type(shape, 0.01, 0), Data::from_i8s(&elements))
    }

    fn bias(&mut self, channels: usize) -> TensorId {
        let elements: Vec<i32> = (0..channels).map(|_| i32::from(self.random.int8()) * 20).collect();
        let ty =
            crate::graph::TensorType::new(aot_rt::DType::I32, crate::graph::Shape::new([channels]).unwrap());
        self.sketch.constant(&format!("b{}", self.layers), ty, Data::from_i32s(&elements))
    }

    fn layer(&mut self) {
        let [height, width, channels] = self.extents;
        let padding = [Padding2d::Same, Padding2d::Valid][self.random.below(2)];
        let size = 1 + self.random.below(height.min(width).min(3));
        let out = |extent: usize| if padding == Padding2d::Same { extent } else { extent - size + 1 };
        let activation = [Activation::None, Activation::Relu][self.random.below(2)];
        match self.random.below(6) {
            0..=2 => {
                let out_channels = 1 + self.random.below(6);
                let weights = self.weights([out_channels, size, size, channels], [0, 3]);
                let bias = self.bias(out_channels);
                let inputs = [self.x, weights, bias];
                // At times there is no bias.
                let inputs = &inputs[..2 + self.random.below(2)];
                let op = Conv2d { padding, activation, ..Conv2d::default() };
                self.append(op, inputs, [out(height), out(width), out_channels]);
            }
            3 => {
                let weights = self.weights([1, size, size, channels], [3, 3]);
                let bias = self.bias(channels);
                let op = DepthwiseConv2d { padding, activation, ..DepthwiseConv2d::default() };
                self.append(op, &[self.x, weights, bias], [out(height), out(width), channels]);
            }
            4 => {
                let (window, stride) = ([size; 2], [1; 2]);
                let extents = [out(height), out(width), channels];
                let ty = i8_type([1, extents[0], extents[1], channels], 0.1, self.zero_point());
                let op: Op = if self.random.below(2) == 0 {
                    AveragePool2d { window, stride, padding, activation }.into()
                } else {
                    MaxPool2d { window, stride, padding, activation }.into()
                };
                self.x = self.sketch.typed(&format!("t{}", self.layers), op, &[self.x], ty);
                self.extents = extents;
                self.layers += 1;
            }
            _ => self.append(Relu::default(), &[self.x], [height, width, channels]),
        }
    }

    /// Pools keep the quantization of their operand.
    fn zero_point(&self) -> i32 {
        let ty = &self.sketch.tensor(self.x).ty;
        ty.quantization.as_ref().and_then(|q| q.tensor_wide()).map_or(0, |q| q.zero_point)
    }

    /// A matrix product on one cell.
    fn head(&mut self) {
        let [height, width, channels] = self.extents;
        let ty = i8_type([1, 1, 1, channels], 0.1, self.zero_point());
        let pool = AveragePool2d {
            window: [height, width],
            stride: [1; 2],
            padding: Padding2d::Valid,
            activation: Activation::None,
        };
        let mean = self.sketch.typed("mean", pool, &[self.x], ty);
        let shape = crate::graph::Shape::new([1, channels]).unwrap();
        let flat = self.sketch.typed(
            "flat",
            Reshape { shape },
            &[mean],
            i8_type([1, channels], 0.1, self.zero_point()),
        );
        let weights = self.weights([4, channels], [0, 1]);
        let bias = self.bias(4);
        let op = FullyConnected::default();
        self.x = self.sketch.typed("scores", op, &[flat, weights, bias], i8_type([1, 4], 0.2, 3));
    }
}

#[test]
fn outputs_are_equal_in_every_bit() {
    let mut random = Random(1);
    let config = Config::default();
    let mut total = DeadChannels::default();
    for _ in 0..300 {
        let extents = [3 + random.below(4), 3 + random.below(4), 1 + random.below(5)];
        let mut sketch = Sketch::new();
        let [height, width, channels] = extents;
        let x = sketch.input("x", i8_type([1, height, width, channels], 0.1, -28));
        let mut chain = Chain { random: &mut random, sketch, x, extents, layers: 0 };
        for _ in 0..2 + chain.random.below(5) {
            chain.layer();
        }
        if chain.random.below(2) == 0 {
            chain.head();
        }
        let graph = chain.sketch.finish(&[chain.x]);
        let mut smaller = graph.clone();
        let dead = dead_channels(&mut smaller, &config);
        total.channels += dead.channels;
        total.macs += dead.macs;
        let [before, after] = [&graph, &smaller]
            .map(|graph| compile_as_is(graph, &config).unwrap_or_else(|e| panic!("{e:?}\n{graph}")));
        for _ in 0..4 {
            let x: Vec<u8> =
                (0..extents.iter().product::<usize>()).map(|_| random.below(256) as u8).collect();
            let outputs = [&before, &after].map(|compiled| Evaluator::new(compiled).run(&[&x]).unwrap());
            assert_eq!(outputs[0], outputs[1], "{graph}\n{smaller}");
        }
    }
    assert!(total.channels > 500 && total.macs > 10_000, "{total:?}");
}

/// `conv(x)` with one dead channel whose bias becomes `bias`, and a padded one over it.
fn border(bias: i32) -> DeadChannels {
    let mut sketch = Sketch::new();
    let x = sketch.input("x", i8_type([1, 3, 3, 1], 0.1, 0));
    let w = sketch.constant("w", i8_type([2, 1, 1, 1], 0.1, 0), Data::from_i8s(&[1, 0]));
    let ty = crate::graph::TensorType::new(aot_rt::DType::I32, crate::graph::Shape::new([2]).unwrap());
    let b = sketch.constant("b", ty, Data::from_i32s(&[0, bias]));
    let t = sketch.typed("t", Conv2d::default(), &[x, w, b], i8_type([1, 3, 3, 2], 0.1, 0));
    let v = sketch.constant("v", i8_type([1, 3, 3, 2], 0.1, 0), Data::from_i8s(&[1; 18]));
    let op = Conv2d { padding: Padding2d::Same, ..Conv2d::default() };
    let y = sketch.typed("y", op, &[t, v], i8_type([1, 3, 3, 1], 0.1, 0));
    dead_channels(&mut sketch.finish(&[y]), &Config::default())
}

#[test]
fn a_constant_channel_counts_at_a_padded_border() {
    // Where the channel stands for 0, the border is like the rest.
    assert_eq!(border(0), DeadChannels { channels: 1, macs: 9 + 81, weight_bytes: 1 + 9 });
    assert_eq!(border(1000), DeadChannels::default());
}
