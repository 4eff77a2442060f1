//! Small models, one for each operator, to be read or to be spoiled.

use super::writer::{Field, Table};
use crate::error::Problem;
use crate::graph::Graph;

pub(super) const F32: i8 = 0;
pub(super) const I32: i8 = 2;
pub(super) const BOOL: i8 = 6;
pub(super) const U8: i8 = 3;
pub(super) const I64: i8 = 4;
pub(super) const I16: i8 = 7;
pub(super) const I8: i8 = 9;

/// Fields of `Tensor`.
pub(super) const SHAPE: usize = 0;
pub(super) const TYPE: usize = 1;
pub(super) const BUFFER: usize = 2;
pub(super) const NAME: usize = 3;
pub(super) const QUANTIZATION: usize = 4;
/// Fields of `QuantizationParameters`.
pub(super) const SCALE: usize = 2;
pub(super) const ZERO_POINT: usize = 3;
pub(super) const DIMENSION: usize = 6;
/// Fields of `Operator`.
pub(super) const CODE: usize = 0;
pub(super) const INPUTS: usize = 1;
pub(super) const OUTPUTS: usize = 2;
pub(super) const OPTIONS_TYPE: usize = 3;
pub(super) const OPTIONS: usize = 4;
pub(super) const CUSTOM_OPTIONS: usize = 5;

/// A model file in the making.
#[derive(Clone)]
pub(super) struct File {
    pub(super) model: Table,
    pub(super) graph: Table,
    pub(super) codes: Vec<Table>,
    pub(super) buffers: Vec<Table>,
    pub(super) tensors: Vec<Table>,
    pub(super) operators: Vec<Table>,
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
    /// Subgraphs beside the main one.
    pub(super) more: Vec<Table>,
    /// Those behind the main one.
    pub(super) subgraphs: Vec<Subgraph>,
}

/// A subgraph in the making.
#[derive(Clone, Default)]
pub(super) struct Subgraph {
    pub(super) tensors: Vec<Table>,
    pub(super) operators: Vec<Table>,
    pub(super) inputs: Vec<i32>,
    pub(super) outputs: Vec<i32>,
}

impl Subgraph {
    fn table(&self, graph: &Table) -> Table {
        let mut graph = graph.clone();
        for (slot, field) in [
            (0, Field::from(self.tensors.clone())),
            (1, self.inputs.clone().into()),
            (2, self.outputs.clone().into()),
            (3, self.operators.clone().into()),
        ] {
            graph.set(slot, field);
        }
        graph
    }
}

impl File {
    pub(super) fn new() -> Self {
        Self {
            model: Table::default().with(0, 3_u32),
            graph: Table::default(),
            codes: Vec::new(),
            buffers: vec![Table::default()],
            tensors: Vec::new(),
            operators: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            more: Vec::new(),
            subgraphs: Vec::new(),
        }
    }

    /// The main subgraph, which is taken out.
    fn take(&mut self) -> Subgraph {
        Subgraph {
            tensors: std::mem::take(&mut self.tensors),
            operators: std::mem::take(&mut self.operators),
            inputs: std::mem::take(&mut self.inputs),
            outputs: std::mem::take(&mut self.outputs),
        }
    }

    /// Adds a subgraph, which `build` makes as if it were the main one.
    pub(super) fn subgraph(&mut self, build: impl FnOnce(&mut Self)) {
        let main = self.take();
        build(self);
        let subgraph = self.take();
        self.subgraphs.push(subgraph);
        Subgraph {
            tensors: self.tensors,
            operators: self.operators,
            inputs: self.inputs,
            outputs: self.outputs,
        } = main;
    }

    pub(super) fn tensor(&mut self, name: &str, ty: i8, shape: &[i32]) -> i32 {
        let mut tensor = Table::default().with(NAME, name).with(TYPE, ty).with(SHAPE, shape.to_vec());
        if ty == I8 {
            tensor.set(QUANTIZATION, quantization(&[0.5], &[3]));
        }
        self.tensors.push(tensor);
        i32::try_from(self.tensors.len() - 1).unwrap()
    }

    pub(super) fn constant(&mut self, name: &str, ty: i8, shape: &[i32], data: Vec<u8>) -> i32 {
        let id = self.tensor(name, ty, shape);
        self.buffers.push(Table::default().with(0, data));
        let buffer = u32::try_from(self.buffers.len() - 1).unwrap();
        self.tensors.last_mut().unwrap().set(BUFFER, buffer);
        id
    }

    pub(super) fn integers(&mut self, name: &str, shape: &[i32], values: &[i32]) -> i32 {
        self.constant(name, I32, shape, values.iter().flat_map(|value| value.to_le_bytes()).collect())
    }

    /// Adds an operator; `options` are its number in the union and its table.
    pub(super) fn operator(
        &mut self,
        code: i32,
        inputs: &[i32],
        output: i32,
        options: Option<(u8, Table)>,
    ) -> &mut Self {
        let deprecated = i8::try_from(code).unwrap_or(127);
        self.codes.push(Table::default().with(0, deprecated).with(3, code));
        let index = u32::try_from(self.codes.len() - 1).unwrap();
        let mut operator =
            Table::default().with(CODE, index).with(INPUTS, inputs.to_vec()).with(OUTPUTS, vec![output]);
        if let Some((ty, options)) = options {
            operator.set(OPTIONS_TYPE, ty);
            operator.set(OPTIONS, options);
        }
        self.operators.push(operator);
        self
    }

    /// The main subgraph.
    pub(super) fn main_subgraph(&self) -> Table {
        self.clone().take().table(&self.graph)
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let others = self.subgraphs.iter().map(|subgraph| subgraph.table(&Table::default()));
        self.bytes_of([self.main_subgraph()].into_iter().chain(others).collect())
    }

    /// A file of these subgraphs.
    pub(super) fn bytes_of(&self, subgraphs: Vec<Table>) -> Vec<u8> {
        let model =
            self.model.clone().with(1, self.codes.clone()).with(2, [subgraphs, self.more.clone()].concat());
        model.with(4, self.buffers.clone()).file(b"TFL3")
    }

    pub(super) fn read(&self) -> Result<Graph, Vec<Problem>> {
        super::super::read(&self.bytes(), "model".into(), &crate::Config::default())
    }

    /// All problems of the file, as they are shown.
    pub(super) fn problems(&self) -> String {
        shown(&self.read().expect_err("the file is refused"))
    }

    /// Why the file, or what is read from it, does not compile.
    pub(super) fn refusal(&self) -> String {
        let graph = match self.read() {
            Ok(graph) => graph,
            Err(problems) => return shown(&problems),
        };
        shown(&crate::compile(graph, &crate::Config::default()).expect_err("the model is refused"))
    }
}

fn shown(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A custom operator, with the attribute `shift`, 12.
pub(super) fn signal_window() -> File {
    let mut file = File::new();
    let x = file.tensor("x", I16, &[1, 4]);
    let weights = file.constant("weights", I16, &[4], vec![0, 16, 0, 8, 0, 8, 0, 16]);
    let y = file.tensor("y", I16, &[1, 4]);
    file.operator(32, &[x, weights], y, None);
    file.codes[0].set(1, "SignalWindow");
    // `flatbuffers.flexbuffers.Dumps({"shift": 12})`.
    file.operators[0].set(CUSTOM_OPTIONS, b"shift\0\x01\x07\x01\x01\x01\x0c\x04\x02\x24\x01".to_vec());
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

pub(super) fn quantization(scales: &[f32], zero_points: &[i64]) -> Table {
    Table::default().with(SCALE, scales.to_vec()).with(ZERO_POINT, zero_points.to_vec())
}

/// One operator from `x` to `y`; further operands are constants of `i32`: shape, values.
pub(super) fn one(
    code: i32,
    ty: i8,
    [x, y]: [&[i32]; 2],
    operand: Option<(&[i32], &[i32])>,
    options: Option<(u8, Table)>,
) -> File {
    let mut file = File::new();
    let mut inputs = vec![file.tensor("x", ty, x)];
    if let Some((shape, values)) = operand {
        inputs.push(file.integers("operand", shape, values));
    }
    let y = file.tensor("y", ty, y);
    file.operator(code, &inputs, y, options);
    (file.inputs, file.outputs) = (vec![0], vec![y]);
    file
}

/// A convolution of int8, quantized per channel: 3 × 3 over 4 × 4 cells, 2 to 3 channels.
pub(super) fn conv_2d() -> File {
    let mut file = File::new();
    let x = file.tensor("x", I8, &[1, 4, 4, 2]);
    let weights = file.constant("weights", I8, &[3, 3, 3, 2], vec![1; 54]);
    let bias = file.integers("bias", &[3], &[10, 20, 30]);
    let y = file.tensor("y", I8, &[1, 2, 4, 3]);
    file.tensors[1].set(QUANTIZATION, quantization(&[0.1, 0.2, 0.3], &[0, 0, 0]));
    file.tensors[2].set(QUANTIZATION, quantization(&[0.05, 0.1, 0.15], &[]));
    let options = Table::default().with(1, 1_i32).with(2, 2_i32).with(3, 3_i8);
    file.operator(3, &[x, weights, bias], y, Some((1, options)));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

/// As [`conv_2d`], each channel giving two.
pub(super) fn depthwise_conv_2d() -> File {
    let mut file = File::new();
    let x = file.tensor("x", F32, &[1, 4, 4, 2]);
    let weights = file.constant("weights", F32, &[1, 2, 2, 4], vec![0; 64]);
    let y = file.tensor("y", F32, &[1, 2, 2, 4]);
    let options = Table::default().with(0, 1_i8).with(1, 1_i32).with(2, 1_i32).with(3, 2_i32);
    let options = options.with(5, 2_i32).with(6, 2_i32);
    file.operator(4, &[x, weights, -1], y, Some((2, options)));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

pub(super) fn fully_connected() -> File {
    let mut file = File::new();
    let x = file.tensor("x", I8, &[1, 4]);
    let weights = file.constant("weights", I8, &[2, 4], vec![1; 8]);
    let bias = file.integers("bias", &[2], &[1, 2]);
    let y = file.tensor("y", I8, &[1, 2]);
    file.operator(9, &[x, weights, bias], y, Some((8, Table::default().with(0, 1_i8))));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

pub(super) fn add() -> File {
    let mut file = File::new();
    let x = file.tensor("x", I8, &[1, 4]);
    let y = file.tensor("y", I8, &[1, 4]);
    file.operator(0, &[x, x], y, Some((11, Table::default().with(0, 2_i8))));
    (file.inputs, file.outputs) = (vec![x], vec![y]);
    file
}

/// Options of a pool of 2 × 2 cells in steps of 2.
pub(super) fn pool() -> Table {
    Table::default().with(0, 1_i8).with(1, 2_i32).with(2, 2_i32).with(3, 2_i32).with(4, 2_i32)
}

/// `x + x`, or the largest of `x` and 0, as `c` says.
pub(super) fn branches() -> File {
    let mut file = File::new();
    let (c, x, y) = (file.tensor("c", BOOL, &[1]), file.tensor("x", F32, &[2]), file.tensor("y", F32, &[2]));
    let options = Table::default().with(0, 1_i32).with(1, 2_i32);
    file.operator(118, &[c, x], y, Some((92, options)));
    (file.inputs, file.outputs) = (vec![c, x], vec![y]);
    for code in [0, 19] {
        file.subgraph(|file| {
            let (a, b) = (file.tensor("a", F32, &[2]), file.tensor("b", F32, &[2]));
            match code {
                0 => file.operator(0, &[a, a], b, Some((11, Table::default()))),
                _ => file.operator(code, &[a], b, None),
            };
            (file.inputs, file.outputs) = (vec![a], vec![b]);
        });
    }
    file
}

/// `x` doubled, and `i` counted, until `i` is 5.
pub(super) fn repeated() -> File {
    let mut file = File::new();
    let ids = [("i", I32), ("x", F32), ("n", I32), ("y", F32)].map(|(name, ty)| file.tensor(name, ty, &[1]));
    let options = Table::default().with(0, 1_i32).with(1, 2_i32);
    file.operator(119, &ids[..2], 0, Some((93, options)));
    file.operators[0].set(OUTPUTS, ids[2..].to_vec());
    (file.inputs, file.outputs) = (ids[..2].to_vec(), ids[2..].to_vec());
    file.subgraph(|file| {
        let (i, x) = (file.tensor("i", I32, &[1]), file.tensor("x", F32, &[1]));
        let (limit, again) = (file.integers("limit", &[], &[5]), file.tensor("again", BOOL, &[1]));
        file.operator(58, &[i, limit], again, Some((41, Table::default())));
        (file.inputs, file.outputs) = (vec![i, x], vec![again]);
    });
    file.subgraph(|file| {
        let (i, x) = (file.tensor("i", I32, &[1]), file.tensor("x", F32, &[1]));
        let (n, y, one) =
            (file.tensor("n", I32, &[1]), file.tensor("y", F32, &[1]), file.integers("one", &[], &[1]));
        file.operator(0, &[i, one], n, Some((11, Table::default())));
        file.operator(0, &[x, x], y, Some((11, Table::default())));
        (file.inputs, file.outputs) = (vec![i, x], vec![n, y]);
    });
    file
}

pub(super) fn softmax() -> File {
    one(25, F32, [&[1, 4], &[1, 4]], None, Some((9, Table::default().with(0, 1.0_f32))))
}

pub(super) fn reshape(target: &[i32], y: &[i32]) -> File {
    let rank = i32::try_from(target.len()).unwrap();
    one(22, F32, [&[1, 2, 6], y], Some((&[rank], target)), None)
}

pub(super) fn pad() -> File {
    one(34, I8, [&[1, 2], &[2, 5]], Some((&[2, 2], &[0, 1, 2, 1])), Some((22, Table::default())))
}

pub(super) fn mean(axes: &[i32], y: &[i32]) -> File {
    let rank = i32::try_from(axes.len()).unwrap();
    one(40, F32, [&[2, 3, 4], y], Some((&[rank], axes)), Some((27, Table::default())))
}
