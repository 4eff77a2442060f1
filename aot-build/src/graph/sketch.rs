//! Small graphs for tests.

use aot_rt::DType;

use super::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, Tensor, TensorId,
    TensorType,
};
use crate::ops::Op;

/// A graph in the making; names are those of tensors and of the nodes that make them.
pub(crate) struct Sketch {
    builder: GraphBuilder,
    nodes: usize,
}

impl Sketch {
    pub(crate) fn new() -> Self {
        Self { builder: GraphBuilder::new("sketch"), nodes: 0 }
    }

    pub(crate) fn input(&mut self, name: &str, ty: TensorType) -> TensorId {
        self.builder.input(name, ty)
    }

    pub(crate) fn constant(&mut self, name: &str, ty: TensorType, data: Data) -> TensorId {
        self.builder.constant(name, ty, data)
    }

    pub(crate) fn tensor(&self, id: TensorId) -> &Tensor {
        self.builder.tensor(id)
    }

    pub(crate) fn state(&mut self, name: &str, initial: TensorId) -> TensorId {
        self.builder.state(name, initial)
    }

    pub(crate) fn keep(&mut self, before: TensorId, after: TensorId) {
        self.builder.keep(before, after);
    }

    /// A float result.
    pub(crate) fn node(&mut self, name: &str, op: impl Into<Op>, inputs: &[TensorId]) -> TensorId {
        self.add(name, op.into(), inputs, None)
    }

    /// A result of the stated type.
    pub(crate) fn typed(
        &mut self,
        name: &str,
        op: impl Into<Op>,
        inputs: &[TensorId],
        ty: TensorType,
    ) -> TensorId {
        self.add(name, op.into(), inputs, Some(ty))
    }

    /// Several float results.
    pub(crate) fn nodes(&mut self, names: &[&str], op: impl Into<Op>, inputs: &[TensorId]) -> Vec<TensorId> {
        self.nodes += 1;
        let ids = self.builder.node(NodeDeclaration {
            name: names[0].into(),
            index: self.nodes - 1,
            op: op.into(),
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: names
                .iter()
                .map(|&name| OutputDeclaration { name: name.into(), ty: None, open: Vec::new() })
                .collect(),
        });
        ids.into_iter().map(|id| id.expect("the sketch is right")).collect()
    }

    fn add(&mut self, name: &str, op: Op, inputs: &[TensorId], ty: Option<TensorType>) -> TensorId {
        self.nodes += 1;
        let ids = self.builder.node(NodeDeclaration {
            name: name.into(),
            index: self.nodes - 1,
            op,
            inputs: inputs.iter().copied().map(Some).collect(),
            outputs: vec![OutputDeclaration { name: name.into(), ty, open: Vec::new() }],
        });
        ids[0].expect("the sketch is right")
    }

    pub(crate) fn finish(self, outputs: &[TensorId]) -> Graph {
        self.builder.finish(outputs.to_vec()).expect("the sketch is right")
    }
}

/// A float tensor.
pub(crate) fn f32_type<const N: usize>(shape: [usize; N]) -> TensorType {
    TensorType::new(DType::F32, Shape::new(shape).expect("the sketch is right"))
}

/// A uint8 tensor with one scale.
pub(crate) fn u8_type<const N: usize>(shape: [usize; N], scale: f32, zero_point: i32) -> TensorType {
    TensorType { dtype: DType::U8, ..i8_type(shape, scale, zero_point) }
}

/// A tensor in half precision.
pub(crate) fn f16_type<const N: usize>(shape: [usize; N]) -> TensorType {
    TensorType { dtype: DType::F16, ..f32_type(shape) }
}

/// An int8 tensor with one scale.
pub(crate) fn i8_type<const N: usize>(shape: [usize; N], scale: f32, zero_point: i32) -> TensorType {
    let quantization = Quantization::per_tensor(scale, zero_point).expect("the sketch is right");
    TensorType {
        quantization: Some(quantization),
        ..TensorType::new(DType::I8, Shape::new(shape).expect("the sketch is right"))
    }
}
