//! Graphs that show each edge, with inputs and what they must give; `build.rs` generates their
//! code. Expected values follow from what the operators mean.

use aot_build::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use aot_build::ops::{
    Add, Binary, BinaryFunction, Cast, Compare, Concatenation, Dequantize, If, Op, Relation, Relu, Reshape,
    Slice, Split, Transpose,
};
use aot_rt::DType;

/// A graph, and a run of it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) graph: Graph,
    /// Little-endian elements of each input.
    pub(crate) inputs: Vec<Vec<u8>>,
    /// Of each output, for each run with these inputs.
    pub(crate) outputs: Vec<Vec<Vec<u8>>>,
    /// Steps that are left, where the case is about that.
    pub(crate) steps: Option<usize>,
}

/// A graph that grows, and the bytes of its inputs.
struct Sketch {
    builder: GraphBuilder,
    inputs: Vec<Vec<u8>>,
}

fn ty<const RANK: usize>(dtype: DType, shape: [usize; RANK]) -> TensorType {
    TensorType::new(dtype, Shape::new(shape).expect("the shape is small"))
}

fn quantized<const RANK: usize>(
    dtype: DType,
    shape: [usize; RANK],
    scale: f32,
    zero_point: i32,
) -> TensorType {
    let quantization = Quantization::per_tensor(scale, zero_point).expect("scale and zero point are valid");
    TensorType { quantization: Some(quantization), ..ty(dtype, shape) }
}

/// Little-endian bytes.
fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn i32s(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn f16s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| aot_rt::f16::from_f32(*value).to_le_bytes()).collect()
}

impl Sketch {
    fn new() -> Self {
        Self { builder: GraphBuilder::new("edge"), inputs: Vec::new() }
    }

    fn input(&mut self, name: &str, ty: TensorType, bytes: Vec<u8>) -> TensorId {
        self.inputs.push(bytes);
        self.builder.input(name, ty)
    }

    fn constant(&mut self, name: &str, ty: TensorType, bytes: Vec<u8>) -> TensorId {
        self.builder.constant(name, ty, Data::from_bytes(bytes))
    }

    /// A node with one result, which keeps the quantization of its first operand.
    fn node<const N: usize>(&mut self, name: &str, op: impl Into<Op>, inputs: [TensorId; N]) -> TensorId {
        let [result] = self.nodes([name], op, inputs);
        result
    }

    fn nodes<const N: usize, const M: usize>(
        &mut self,
        names: [&str; M],
        op: impl Into<Op>,
        inputs: [TensorId; N],
    ) -> [TensorId; M] {
        let op = op.into();
        let operands: Vec<_> = inputs.iter().map(|id| Some(self.builder.tensor(*id))).collect();
        let types = op.infer(&operands).expect("the operands fit");
        let quantization = operands[0].and_then(|x| x.ty.quantization.clone());
        let outputs = names.iter().zip(types).map(|(name, ty)| {
            let quantization =
                quantization.clone().filter(|_| operands[0].is_some_and(|x| x.ty.dtype == ty.dtype));
            OutputDeclaration {
                name: (*name).into(),
                ty: Some(TensorType { quantization, ..ty }),
                open: Vec::new(),
            }
        });
        let outputs = outputs.collect();
        let inputs = inputs.map(Some).to_vec();
        let node = NodeDeclaration { name: format!("node of {}", names[0]), index: 0, op, inputs, outputs };
        let ids: Option<Vec<_>> = self.builder.node(node).into_iter().collect();
        ids.expect("the results have types").try_into().expect("as many as were declared")
    }

    /// A case of one run.
    fn case<const N: usize>(self, name: &'static str, outputs: [(TensorId, Vec<u8>); N]) -> Case {
        let (ids, bytes): (Vec<_>, Vec<_>) = outputs.into_iter().unzip();
        self.runs(name, ids, vec![bytes])
    }

    fn runs(self, name: &'static str, outputs: Vec<TensorId>, expected: Vec<Vec<Vec<u8>>>) -> Case {
        let graph = self.builder.finish(outputs).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        Case { name, graph, inputs: self.inputs, outputs: expected, steps: None }
    }
}

impl Case {
    fn of_steps(self, steps: usize) -> Self {
        Self { steps: Some(steps), ..self }
    }
}

/// All cases.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = passed_on();
    cases.extend(unused());
    cases.extend(twice());
    cases.extend(scalars());
    cases.extend(without_elements());
    cases.extend(types());
    cases.extend(casts());
    cases.extend(states());
    cases.push(branches());
    cases
}

const X: [f32; 6] = [1.0, -2.0, 3.5, -4.0, f32::INFINITY, -6.0];
const RELU_X: [f32; 6] = [1.0, 0.0, 3.5, 0.0, f32::INFINITY, 0.0];

fn x(sketch: &mut Sketch) -> TensorId {
    sketch.input("x", ty(DType::F32, [2, 3]), f32s(&X))
}

fn reshape<const RANK: usize>(shape: [usize; RANK]) -> Reshape {
    Reshape { shape: ty(DType::I8, shape).shape }
}

/// Inputs, constants and values as outputs, alone and several times.
fn passed_on() -> Vec<Case> {
    let mut cases = Vec::new();

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    cases.push(sketch.case("input_as_output", [(input, f32s(&X))]).of_steps(1));

    let mut sketch = Sketch::new();
    let constant = sketch.constant("c", ty(DType::I32, [2]), i32s(&[7, -7]));
    cases.push(sketch.case("constant_as_output", [(constant, i32s(&[7, -7]))]).of_steps(1));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let y = sketch.node("y", Relu::default(), [input]);
    cases.push(sketch.case("value_twice", [(y, f32s(&RELU_X)), (y, f32s(&RELU_X))]));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    cases.push(sketch.case("input_twice", [(input, f32s(&X)), (input, f32s(&X))]));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let constant = sketch.constant("c", ty(DType::I32, [2]), i32s(&[7, -7]));
    let both =
        [constant, input, constant].map(|id| if id == input { (id, f32s(&X)) } else { (id, i32s(&[7, -7])) });
    cases.push(sketch.case("constant_twice", both));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let y = sketch.node("y", Relu::default(), [input]);
    let flat = sketch.node("flat", reshape([6]), [y]);
    cases.push(sketch.case("value_and_reshape", [(y, f32s(&RELU_X)), (flat, f32s(&RELU_X))]));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let y = sketch.node("y", Relu::default(), [input]);
    let flat = sketch.node("flat", reshape([6]), [y]);
    let all = [(flat, f32s(&RELU_X)), (y, f32s(&RELU_X)), (flat, f32s(&RELU_X)), (input, f32s(&X))];
    cases.push(sketch.case("reshape_and_value", all));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let flat = sketch.node("flat", reshape([3, 1, 2]), [input]);
    cases.push(sketch.case("input_and_reshape", [(input, f32s(&X)), (flat, f32s(&X))]));

    let mut sketch = Sketch::new();
    let constant = sketch.constant("c", ty(DType::F32, [2, 3]), f32s(&X));
    let flat = sketch.node("flat", reshape([6]), [constant]);
    cases.push(sketch.case("constant_and_reshape", [(constant, f32s(&X)), (flat, f32s(&X))]));

    // An operator that could work in place must not: the operand is asked for, too.
    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let y = sketch.node("y", Relu::default(), [input]);
    let sum = sketch.node("sum", Add::default(), [y, y]);
    let doubled = RELU_X.map(|x| 2.0 * x);
    cases.push(
        sketch.case("value_and_what_follows", [(sum, f32s(&doubled)), (y, f32s(&RELU_X)), (input, f32s(&X))]),
    );

    // uint8 becomes int8 within a model, and is itself at its edge.
    let mut sketch = Sketch::new();
    let input = sketch.input("x", quantized(DType::U8, [4], 0.5, 100), vec![0, 99, 101, 255]);
    let y = sketch.node("y", Relu::default(), [input]);
    let constant = sketch.constant("c", quantized(DType::U8, [2], 0.5, 100), vec![1, 254]);
    let all = [(input, vec![0, 99, 101, 255]), (y, vec![100, 100, 101, 255]), (constant, vec![1, 254])];
    cases.push(sketch.case("uint8_as_output", all));
    cases
}

/// What is there and not needed.
fn unused() -> Vec<Case> {
    let mut cases = Vec::new();

    let mut sketch = Sketch::new();
    sketch.input("unused", ty(DType::I64, [3]), vec![9; 24]);
    let input = x(&mut sketch);
    sketch.input("last", ty(DType::Bool, []), vec![1]);
    let y = sketch.node("y", Relu::default(), [input]);
    cases.push(sketch.case("unused_input", [(y, f32s(&RELU_X))]).of_steps(1));

    let mut sketch = Sketch::new();
    sketch.input("unused", ty(DType::F32, [3]), vec![9; 12]);
    let constant = sketch.constant("c", ty(DType::I32, [1]), i32s(&[3]));
    cases.push(sketch.case("only_input_unused", [(constant, i32s(&[3]))]));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let y = sketch.node("y", Relu::default(), [input]);
    let weights = sketch.constant("weights", ty(DType::F32, [3]), f32s(&[1.0, 2.0, 3.0]));
    let dead = sketch.node("dead", Add::default(), [y, weights]);
    sketch.node("dead, too", Relu::default(), [dead]);
    cases.push(sketch.case("dead_nodes", [(y, f32s(&RELU_X))]).of_steps(1));

    for (name, axis, sizes, expected) in [
        ("split_with_unused_outputs", 0, [1, 1, 1], vec![4, 5, 6]),
        ("split_of_columns_with_unused_outputs", 1, [1, 1, 1], vec![2, 5, 8]),
    ] {
        let mut sketch = Sketch::new();
        let input = sketch.input("x", ty(DType::I8, [3, 3]), (1..10).collect());
        let [_, middle, _] = sketch.nodes(["a", "b", "c"], Split { axis, sizes: sizes.to_vec() }, [input]);
        cases.push(sketch.case(name, [(middle, expected)]).of_steps(1));
    }

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    sketch.node("dead", Relu::default(), [input]);
    cases.push(sketch.case("no_outputs", []).of_steps(0));

    cases.push(Sketch::new().case("no_inputs_and_no_outputs", []).of_steps(0));
    cases
}

/// One tensor as two operands of an operator.
fn twice() -> Vec<Case> {
    let mut cases = Vec::new();
    let x: [f32; 2] = [3.0, -4.0];
    type Make = fn() -> Op;
    let operators: [(&str, Make, Vec<u8>); 4] = [
        ("twice_into_add", || Add::default().into(), f32s(&[6.0, -8.0])),
        ("twice_into_mul", || binary(BinaryFunction::Mul), f32s(&[9.0, 16.0])),
        ("twice_into_sub", || binary(BinaryFunction::Sub), f32s(&[0.0, 0.0])),
        ("twice_into_concatenation", || Concatenation { axis: 0 }.into(), f32s(&[3.0, -4.0, 3.0, -4.0])),
    ];
    for (name, op, expected) in operators {
        let mut sketch = Sketch::new();
        let input = sketch.input("x", ty(DType::F32, [2]), f32s(&x));
        let y = sketch.node("y", op(), [input, input]);
        cases.push(sketch.case(name, [(y, expected)]));
    }

    let mut sketch = Sketch::new();
    let input = sketch.input("x", ty(DType::F32, [2]), f32s(&x));
    let less = sketch.node("less", Compare { relation: Relation::LessEqual }, [input, input]);
    cases.push(sketch.case("twice_into_comparison", [(less, vec![1, 1]), (input, f32s(&x))]));
    cases
}

fn binary(function: BinaryFunction) -> Op {
    Binary { function, activation: aot_build::ops::Activation::None }.into()
}

/// Tensors without axes.
fn scalars() -> Vec<Case> {
    let mut cases = Vec::new();

    let mut sketch = Sketch::new();
    let input = sketch.input("x", ty(DType::F32, []), f32s(&[2.5]));
    let constant = sketch.constant("c", ty(DType::F32, []), f32s(&[0.25]));
    let y = sketch.node("y", Add::default(), [input, constant]);
    let all = [(y, f32s(&[2.75])), (input, f32s(&[2.5])), (constant, f32s(&[0.25]))];
    cases.push(sketch.case("scalars", all));

    let mut sketch = Sketch::new();
    let input = sketch.input("x", ty(DType::I8, []), vec![0xfb]);
    let vector = sketch.node("vector", reshape([1]), [input]);
    let scalar = sketch.node("scalar", reshape([]), [vector]);
    cases.push(sketch.case("scalar_and_vector", [(scalar, vec![0xfb]), (vector, vec![0xfb])]));
    cases
}

/// Tensors with an extent of 0.
fn without_elements() -> Vec<Case> {
    let mut cases = Vec::new();
    let empty = |sketch: &mut Sketch| sketch.input("x", ty(DType::F32, [0, 3]), Vec::new());

    let mut sketch = Sketch::new();
    let input = empty(&mut sketch);
    let constant = sketch.constant("c", ty(DType::I64, [2, 0]), Vec::new());
    let all = [(input, vec![]), (constant, vec![]), (input, vec![])];
    cases.push(sketch.case("no_elements", all).of_steps(0));

    let mut sketch = Sketch::new();
    let input = empty(&mut sketch);
    let full = sketch.input("full", ty(DType::F32, [1, 3]), f32s(&[1.0, -1.0, 2.0]));
    let y = sketch.node("y", Relu::default(), [input]);
    let sum = sketch.node("sum", Add::default(), [y, full]);
    let turned = sketch.node("turned", Transpose { permutation: vec![1, 0] }, [sum]);
    let flat = sketch.node("flat", reshape([3, 0, 5]), [turned]);
    let integers = sketch.node("integers", Cast { dtype: DType::I32 }, [flat]);
    let z = sketch.node("z", Relu::default(), [full]);
    let all = [(integers, vec![]), (z, f32s(&[1.0, 0.0, 2.0])), (turned, vec![])];
    cases.push(sketch.case("computed_without_elements", all).of_steps(1));

    let mut sketch = Sketch::new();
    let input = empty(&mut sketch);
    let full = sketch.input("full", ty(DType::F32, [1, 3]), f32s(&[1.0, -1.0, 2.0]));
    let none = sketch.constant("none", ty(DType::F32, [0, 3]), Vec::new());
    let joined = sketch.node("joined", Concatenation { axis: 0 }, [input, full, none, full]);
    let only = sketch.node("only", Concatenation { axis: 0 }, [none, full, input]);
    let all = [(joined, f32s(&[1.0, -1.0, 2.0, 1.0, -1.0, 2.0])), (only, f32s(&[1.0, -1.0, 2.0]))];
    cases.push(sketch.case("joined_with_no_elements", all));

    let mut sketch = Sketch::new();
    let input = x(&mut sketch);
    let [a, b, c] = sketch.nodes(["a", "b", "c"], Split { axis: 0, sizes: vec![0, 2, 0] }, [input]);
    let slice = Slice { begin: vec![2, 1], size: vec![0, 2], stride: Vec::new(), shape: None };
    let slice = sketch.node("slice", slice, [input]);
    let columns = Split { axis: 1, sizes: vec![1, 0, 2] };
    let [left, none, right] = sketch.nodes(["left", "none", "right"], columns, [input]);
    let all = [
        (a, vec![]),
        (b, f32s(&X)),
        (c, vec![]),
        (slice, vec![]),
        (left, f32s(&[X[0], X[3]])),
        (none, vec![]),
        (right, f32s(&[X[1], X[2], X[4], X[5]])),
    ];
    cases.push(sketch.case("cut_to_no_elements", all));
    cases
}

/// Five elements of each type, and their bytes.
fn elements(dtype: DType) -> Vec<u8> {
    match dtype {
        // -8, 7, 0, -1, 3.
        DType::I4 => vec![0x78, 0xf0, 0x03],
        DType::Bool => vec![0, 1, 1, 0, 1],
        dtype => (0..dtype.bytes(5)).map(|i| (37 * i + 11) as u8).collect(),
    }
}

/// Every type of elements: an input, a constant, and their reshapes as outputs.
fn types() -> Vec<Case> {
    const NAMES: [(DType, &str); 12] = [
        (DType::I4, "type_i4"),
        (DType::I8, "type_i8"),
        (DType::U8, "type_u8"),
        (DType::I16, "type_i16"),
        (DType::I32, "type_i32"),
        (DType::U32, "type_u32"),
        (DType::I64, "type_i64"),
        (DType::U64, "type_u64"),
        (DType::F16, "type_f16"),
        (DType::BF16, "type_bf16"),
        (DType::F32, "type_f32"),
        (DType::Bool, "type_bool"),
    ];
    let case = |(dtype, name)| {
        let bytes = elements(dtype);
        let mut sketch = Sketch::new();
        let input = sketch.input("x", ty(dtype, [5]), bytes.clone());
        let constant = sketch.constant("c", ty(dtype, [1, 5]), bytes.clone());
        let column = sketch.node("column", reshape([5, 1]), [input]);
        let row = sketch.node("row", reshape([5]), [constant]);
        let mut all = vec![input, constant, column, row, input];
        let mut expected = vec![bytes.clone(); all.len()];
        // Elements of four bits are not moved one by one.
        if dtype != DType::I4 {
            all.push(sketch.node("joined", Concatenation { axis: 0 }, [input, row]));
            expected.push([bytes.clone(), bytes].concat());
        }
        sketch.runs(name, all, vec![expected])
    };
    NAMES.map(case).into()
}

/// Casts to and from the types that no other operator has.
fn casts() -> Vec<Case> {
    let mut cases = Vec::new();

    let numbers = [1.0, -2.5, 3.0, 1000.0, -0.0];
    let mut sketch = Sketch::new();
    let half = sketch.input("half", ty(DType::F16, [5]), f16s(&numbers));
    let single = sketch.node("single", Cast { dtype: DType::F32 }, [half]);
    let again = sketch.node("again", Cast { dtype: DType::F16 }, [single]);
    let integers = sketch.node("integers", Cast { dtype: DType::I32 }, [half]);
    let truth = sketch.node("truth", Cast { dtype: DType::Bool }, [half]);
    let brain = sketch.node("brain", Cast { dtype: DType::BF16 }, [half]);
    let all = [
        (single, f32s(&numbers)),
        (again, f16s(&numbers)),
        (integers, i32s(&[1, -2, 3, 1000, 0])),
        (truth, vec![1, 1, 1, 1, 0]),
        (brain, numbers.iter().flat_map(|x| [0, 1].map(|i| x.to_le_bytes()[2 + i])).collect()),
    ];
    cases.push(sketch.case("cast_f16", all));

    let mut sketch = Sketch::new();
    // The upper halves of 1.0, -2.5, 1e38 or so, infinity.
    let words: [u16; 4] = [0x3f80, 0xc020, 0x7e96, 0x7f80];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let brain = sketch.input("brain", ty(DType::BF16, [2, 2]), bytes.clone());
    let single = sketch.node("single", Cast { dtype: DType::F32 }, [brain]);
    let again = sketch.node("again", Cast { dtype: DType::BF16 }, [single]);
    let half = sketch.node("half", Cast { dtype: DType::F16 }, [brain]);
    let numbers = words.map(|word| f32::from_bits(u32::from(word) << 16));
    let limited = [1.0, -2.5, f32::INFINITY, f32::INFINITY];
    cases.push(sketch.case("cast_bf16", [(single, f32s(&numbers)), (again, bytes), (half, f16s(&limited))]));

    let mut sketch = Sketch::new();
    let input = sketch.input("x", quantized(DType::I4, [5], 0.5, -1), elements(DType::I4));
    let wide = sketch.node("wide", Cast { dtype: DType::I8 }, [input]);
    let narrow = sketch.node("narrow", Cast { dtype: DType::I4 }, [wide]);
    let integers = sketch.node("integers", Cast { dtype: DType::I32 }, [input]);
    let floats = sketch.node("floats", Cast { dtype: DType::F32 }, [input]);
    let real = sketch.node("real", Dequantize {}, [input]);
    let all = [
        (wide, vec![0xf8, 7, 0, 0xff, 3]),
        (narrow, elements(DType::I4)),
        (integers, i32s(&[-8, 7, 0, -1, 3])),
        (floats, f32s(&[-8.0, 7.0, 0.0, -1.0, 3.0])),
        (real, f32s(&[-3.5, 4.0, 0.5, 0.0, 2.0])),
    ];
    cases.push(sketch.case("cast_i4", all));

    let mut sketch = Sketch::new();
    let input = sketch.input("x", ty(DType::I32, [3]), i32s(&[-9, 8, 0x75]));
    let narrow = sketch.node("narrow", Cast { dtype: DType::I4 }, [input]);
    cases.push(sketch.case("cast_to_i4", [(narrow, vec![0x87, 0x05])]));
    cases
}

/// Tensors of all these types that are kept from run to run: an output shows the last input.
fn states() -> Vec<Case> {
    let state = |dtype: DType, name, initial: Vec<u8>| {
        let mut sketch = Sketch::new();
        let bytes = elements(dtype);
        let input = sketch.input("x", ty(dtype, [5]), bytes.clone());
        let first = sketch.constant("at first", ty(dtype, [5]), initial.clone());
        let last = sketch.builder.state("last", first);
        sketch.builder.keep(last, input);
        sketch.runs(name, vec![last], vec![vec![initial], vec![bytes.clone()], vec![bytes]])
    };
    let mut cases = vec![
        state(DType::Bool, "state_bool", vec![1, 0, 1, 0, 0]),
        state(DType::I4, "state_i4", vec![0x12, 0x34, 0x05]),
        state(DType::F16, "state_f16", f16s(&[1.0, 2.0, 3.0, 4.0, 5.0])),
        state(DType::I64, "state_i64", vec![0; 40]),
    ];

    // Nothing is given out, yet something happens.
    let mut sketch = Sketch::new();
    let input = sketch.input("x", ty(DType::F32, [1]), f32s(&[1.5]));
    let first = sketch.constant("at first", ty(DType::F32, [1]), f32s(&[0.0]));
    let sum = sketch.builder.state("sum", first);
    let next = sketch.node("next", Add::default(), [sum, input]);
    sketch.builder.keep(sum, next);
    cases.push(sketch.runs("state_without_outputs", Vec::new(), vec![Vec::new(), Vec::new()]));
    cases
}

/// Branches that give on what they are given, of types that nothing computes with.
fn branches() -> Case {
    let branch = |swap: bool| {
        let mut builder = GraphBuilder::new("branch");
        let a = builder.input("a", ty(DType::I4, [3]));
        let b = builder.input("b", ty(DType::I4, [3]));
        let none = builder.input("none", ty(DType::F16, [0]));
        let outputs = if swap { vec![b, a, a, none] } else { vec![a, b, b, none] };
        builder.finish(outputs).expect("the graph is valid")
    };
    let mut sketch = Sketch::new();
    let condition = sketch.input("condition", ty(DType::Bool, []), vec![0]);
    let a = sketch.input("a", ty(DType::I4, [3]), vec![0x21, 0x03]);
    let b = sketch.input("b", ty(DType::I4, [3]), vec![0xcb, 0x0d]);
    let none = sketch.input("none", ty(DType::F16, [0]), Vec::new());
    let regions = [branch(false).into(), branch(true).into()];
    let names = ["first", "second", "third", "nothing"];
    let [first, second, third, nothing] = sketch.nodes(names, If { regions }, [condition, a, b, none]);
    let all =
        [(first, vec![0xcb, 0x0d]), (second, vec![0x21, 0x03]), (third, vec![0x21, 0x03]), (nothing, vec![])];
    sketch.case("branches_pass_on", all)
}
