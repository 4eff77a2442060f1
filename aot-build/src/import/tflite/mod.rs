//! TensorFlow Lite (LiteRT) files: `.tflite`.
//!
//! The file is untrusted: it is read through [`flatbuffer`], which checks every
//! access; [`structure`] checks how its parts refer to each other; and the graph's
//! builder computes every shape again.

mod arithmetic;
mod control;
mod flatbuffer;
mod layers;
mod movement;
mod names;
mod node;
mod operators;
mod reductions;
mod schema;
mod shapes;
mod structure;
#[cfg(test)]
mod tests;
mod types;
mod variables;

use std::collections::BTreeMap;

use aot_rt::DType;

use crate::error::{Location, OpError, Problem};
use crate::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use crate::ops::Op;
use control::Subgraphs;
use flatbuffer::File;
use node::Node;
use operators::{InGraph, Known, Map, Meaning};
use schema::{Model, Operator, Tensor};
use structure::{Checked, counted, listed, location};
use variables::Variables;

/// Most problems that are reported; a damaged file can have any number.
const MAX_PROBLEMS: usize = 64;

/// Reads a file into a graph called `name`.
///
/// # Errors
///
/// All problems of the file.
pub(super) fn read(bytes: &[u8], name: String) -> Result<Graph, Vec<Problem>> {
    let file = File::new(bytes);
    let model = Model::read(&file).map_err(|problem| vec![problem])?;
    let mut importer = Importer::new(&model, name, Subgraphs::new(model.buffers.len()));
    importer.read().and_then(|outputs| importer.finish(outputs)).map_err(limited)
}

fn limited(mut problems: Vec<Problem>) -> Vec<Problem> {
    if problems.len() > MAX_PROBLEMS {
        let more = problems.len() - MAX_PROBLEMS;
        problems.truncate(MAX_PROBLEMS);
        problems.push(Problem::new(format!("and {more} more problems")));
    }
    problems
}

/// What has become of a tensor of the file.
#[derive(Clone, Copy, Debug)]
enum Value {
    Unread,
    Ready(TensorId),
    /// Its problem has been reported.
    Refused,
}

struct Importer<'m> {
    model: &'m Model<'m>,
    graph: GraphBuilder,
    /// For each tensor of the file.
    values: Vec<Value>,
    subgraphs: Subgraphs,
    /// Tensors of each type that is not supported.
    unsupported_types: BTreeMap<String, Vec<usize>>,
    variables: Variables,
}

impl<'m> Importer<'m> {
    fn new(model: &'m Model<'m>, name: String, subgraphs: Subgraphs) -> Self {
        Self {
            model,
            graph: GraphBuilder::new(name),
            values: vec![Value::Unread; model.tensors.len()],
            subgraphs,
            unsupported_types: BTreeMap::new(),
            variables: Variables::default(),
        }
    }

    /// Reads a subgraph up to its outputs.
    ///
    /// # Errors
    ///
    /// When its parts refer to each other wrongly, or an output has been refused; other
    /// problems are in the graph.
    fn read(&mut self) -> Result<Vec<TensorId>, Vec<Problem>> {
        let Checked { operators, unsupported, problems } = structure::check(self.model);
        if !problems.is_empty() {
            return Err(unsupported.into_iter().chain(problems).collect());
        }
        if let Some(problem) = unsupported {
            self.graph.problem(problem);
        }
        self.inputs();
        for (index, known) in operators.into_iter().enumerate() {
            if let (Some(known), Some(operator)) = (known, self.model.operators.get(index)) {
                self.node(index, operator, known);
            }
        }
        self.keep_variables();
        Ok(self.outputs())
    }

    fn inputs(&mut self) {
        for index in self.model.inputs.iter().filter_map(|index| usize::try_from(*index).ok()) {
            let Some(tensor) = self.model.tensors.get(index) else { continue };
            let Some(ty) = self.ty(index) else { continue };
            if let Err(error) = closed(tensor) {
                self.graph.problem(Problem::from(error).at(self.tensor_location(index)));
            }
            let id = self.graph.input(self.name(index), ty);
            self.set(index, Value::Ready(id));
        }
    }

    fn node(&mut self, index: usize, operator: &'m Operator<'m>, known: &'static Known) {
        let mapped = match known.meaning {
            Meaning::Variable(access) => self.variable(operator, access),
            Meaning::Control(runs) => self.operands(operator, known).and_then(|operands| match operands {
                Some(operands) => self.control(index, operator, runs, operands),
                None => Ok(()),
            }),
            Meaning::Op(map) => self.operands(operator, known).and_then(|operands| match operands {
                Some(operands) => self.map(index, operator, (known, map), operands),
                // An operand's problem has been reported.
                None => Ok(()),
            }),
        };
        if let Err(error) = mapped {
            self.graph.problem(Problem::from(error).at(location(self.model, index)));
        }
    }

    /// The operands that the graph has; `None` where one has been refused.
    fn operands(
        &mut self,
        operator: &Operator<'_>,
        known: &Known,
    ) -> Result<Option<Vec<Option<TensorId>>>, OpError> {
        let ([least, most], found) = (known.operands, operator.inputs.len());
        if found < least || found > most {
            let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(format!("{found} operands, expected {expected}").into());
        }
        let results = operator.outputs.len();
        if results == 0 || results > known.results {
            let expected = if known.results == 1 { "1".into() } else { format!("1 to {}", known.results) };
            return Err(format!("{results} results, expected {expected}").into());
        }
        let in_graph = match known.in_graph {
            InGraph::First => 0..known.types.first().map_or(0, |row| row.len() - 1),
            InGraph::All => 0..found,
            InGraph::Only(operand) => operand..operand + 1,
        };
        let operands = operator.inputs.get(in_graph).unwrap_or(&operator.inputs);
        if let Some(i) = operands.iter().position(|index| *index == -1).filter(|i| *i < least) {
            return Err(format!("operand {i} is left out").into());
        }
        // All are looked at, so that all problems are found.
        let values: Vec<_> = operands
            .iter()
            .map(|index| usize::try_from(*index).map_or(Some(None), |index| self.value(index).map(Some)))
            .collect();
        Ok(values.into_iter().collect())
    }

    fn map(
        &mut self,
        index: usize,
        operator: &'m Operator<'m>,
        (known, map): (&'static Known, Map),
        inputs: Vec<Option<TensorId>>,
    ) -> Result<(), OpError> {
        let outputs: Vec<_> =
            operator.outputs.iter().map(|index| usize::try_from(*index).unwrap_or_default()).collect();
        let Some(types) = self.types(&outputs) else { return Ok(()) };
        let Some(result) = types.first() else { return Ok(()) };
        let operands: Vec<_> =
            inputs.iter().map(|id| id.map(|id| self.graph.tensor(id).ty.clone())).collect();
        types.iter().try_for_each(|result| check_types(known, &operands, result.dtype))?;
        let op = map(&Node { model: self.model, operator, operands, result })?;
        self.declare(index, op, inputs, &outputs, types);
        Ok(())
    }

    /// Types of tensors; `None` where one has a problem, which is reported.
    fn types(&mut self, tensors: &[usize]) -> Option<Vec<TensorType>> {
        // All are looked at, so that all problems are found.
        let types: Vec<_> = tensors.iter().map(|tensor| self.ty(*tensor)).collect();
        types.into_iter().collect()
    }

    /// Adds a node that makes tensors of the file.
    fn declare(
        &mut self,
        index: usize,
        op: Op,
        inputs: Vec<Option<TensorId>>,
        outputs: &[usize],
        types: Vec<TensorType>,
    ) {
        let names: Vec<_> = outputs.iter().map(|output| self.name(*output)).collect();
        let name = names.first().cloned().unwrap_or_default();
        let declarations = names.into_iter().zip(types);
        let declarations = declarations.map(|(name, ty)| OutputDeclaration { name, ty: Some(ty) }).collect();
        let ids = self.graph.node(NodeDeclaration { name, index, op, inputs, outputs: declarations });
        for (output, id) in outputs.iter().zip(ids) {
            self.set(*output, id.map_or(Value::Refused, Value::Ready));
        }
    }

    /// The outputs that have not been refused: those left a problem behind.
    fn outputs(&mut self) -> Vec<TensorId> {
        let indices = self.model.outputs.iter().filter_map(|index| usize::try_from(*index).ok());
        indices.filter_map(|index| self.value(index)).collect()
    }

    fn finish(self, outputs: Vec<TensorId>) -> Result<Graph, Vec<Problem>> {
        if let Some(problem) = self.unsupported_types() {
            // First, since it is often why others follow.
            let mut problems = self.graph.into_problems();
            problems.insert(0, problem);
            return Err(problems);
        }
        if outputs.is_empty() { Err(self.graph.into_problems()) } else { self.graph.finish(outputs) }
    }

    /// One problem for all element types that are not supported.
    fn unsupported_types(&self) -> Option<Problem> {
        let item = |(ty, tensors): (&String, &Vec<usize>)| {
            let count = counted(tensors.len(), "tensor");
            format!("{ty} ({count}: {})", listed(tensors, |tensor| self.model.describe(tensor)))
        };
        let items: Vec<_> = self.unsupported_types.iter().map(item).collect();
        let verb = if items.len() == 1 { "is" } else { "are" };
        let message = format!("{} {verb} not supported", counted(items.len(), "element type"));
        let help = "convert the model with float32 or int8 activations and weights";
        (!items.is_empty()).then(|| Problem::new(message).items(items).help(help))
    }

    /// The graph's tensor for one of the file, constants being added when they are
    /// first used; `None` where it has been refused.
    fn value(&mut self, index: usize) -> Option<TensorId> {
        match self.values.get(index)? {
            Value::Ready(id) => return Some(*id),
            Value::Refused => return None,
            Value::Unread => {}
        }
        let ty = self.ty(index)?;
        let id = match self.constant(self.model.tensors.get(index)?) {
            Ok(Some(data)) => self.graph.constant(self.name(index), ty, data),
            // The operator that writes it has been refused: its declared type lets the
            // rest of the model be looked at.
            Ok(None) => self.graph.stand_in(self.name(index), ty),
            Err(problem) => {
                self.graph.problem(problem.at(self.tensor_location(index)));
                self.set(index, Value::Refused);
                return None;
            }
        };
        self.set(index, Value::Ready(id));
        Some(id)
    }

    fn constant(&mut self, tensor: &Tensor<'_>) -> Result<Option<Data>, Problem> {
        let Some(bytes) = self.model.buffer(tensor.buffer)? else { return Ok(None) };
        let slot = usize::try_from(tensor.buffer).ok().and_then(|buffer| self.subgraphs.data.get_mut(buffer));
        if let Some(Some(data)) = &slot {
            return Ok(Some(data.clone()));
        }
        self.model.file.charge(0, bytes.len())?;
        let data = Data::from_bytes(bytes);
        if let Some(slot) = slot {
            *slot = Some(data.clone());
        }
        Ok(Some(data))
    }

    /// The type of a tensor; `None` where it has a problem, which is reported.
    fn ty(&mut self, index: usize) -> Option<TensorType> {
        let tensor = self.model.tensors.get(index)?;
        let Some(dtype) = dtype(tensor.ty) else {
            self.unsupported_types.entry(names::type_name(tensor.ty)).or_default().push(index);
            self.set(index, Value::Refused);
            return None;
        };
        match tensor_type(tensor, dtype) {
            Ok(ty) => Some(ty),
            Err(error) => {
                self.graph.problem(Problem::from(error).at(self.tensor_location(index)));
                self.set(index, Value::Refused);
                None
            }
        }
    }

    fn set(&mut self, index: usize, value: Value) {
        if let Some(slot) = self.values.get_mut(index) {
            *slot = value;
        }
    }

    /// Name of a tensor in the graph.
    fn name(&self, index: usize) -> String {
        let name = self.model.tensors.get(index).and_then(|tensor| tensor.name.clone());
        name.unwrap_or_else(|| format!("tensor_{index}"))
    }

    fn tensor_location(&self, index: usize) -> Location {
        Location::Tensor(self.name(index))
    }
}

/// The element types that are supported.
fn dtype(code: i8) -> Option<DType> {
    match code {
        names::FLOAT32 => Some(DType::F32),
        names::FLOAT16 => Some(DType::F16),
        names::INT8 => Some(DType::I8),
        names::UINT8 => Some(DType::U8),
        names::INT16 => Some(DType::I16),
        names::INT32 => Some(DType::I32),
        names::INT64 => Some(DType::I64),
        names::BOOL => Some(DType::Bool),
        _ => None,
    }
}

fn tensor_type(tensor: &Tensor<'_>, dtype: DType) -> Result<TensorType, OpError> {
    if let Some(peculiarity) = tensor.peculiarity()? {
        return Err(format!("{peculiarity}, which is not supported").into());
    }
    let shape = shape(&tensor.shape)?;
    let quantization = match dtype {
        DType::F16 | DType::F32 | DType::Bool => None,
        DType::I8 | DType::U8 | DType::I16 | DType::I32 | DType::I64 => quantization(tensor, &shape)?,
    };
    Ok(TensorType { dtype, shape, quantization })
}

fn shape(extents: &[i32]) -> Result<Shape, OpError> {
    // Also keeps the message below short.
    if extents.len() > Shape::MAX_RANK {
        return Err(format!("rank {} is more than {}", extents.len(), Shape::MAX_RANK).into());
    }
    let checked = extents.iter().map(|extent| usize::try_from(*extent)).collect::<Result<Vec<_>, _>>();
    Ok(Shape::new(checked.map_err(|_| format!("shape {extents:?} has a negative extent"))?)?)
}

fn quantization(tensor: &Tensor<'_>, shape: &Shape) -> Result<Option<Quantization>, OpError> {
    let Some(parameters) = tensor.quantization()? else { return Ok(None) };
    if parameters.details {
        return Err("is quantized by another scheme than scales and zero points".into());
    }
    if parameters.scales.is_empty() {
        return Ok(None);
    }
    let zero_points = if parameters.zero_points.is_empty() {
        vec![0; parameters.scales.len()]
    } else {
        let zero_points = parameters.zero_points.iter().map(|zero_point| {
            let out_of_range = || OpError::from(format!("zero point {zero_point} is outside 32 bits"));
            i32::try_from(*zero_point).map_err(|_| out_of_range())
        });
        zero_points.collect::<Result<_, _>>()?
    };
    // A bias has one axis, but some converters name that of the weights.
    let axis = if shape.len() == 1 { Ok(0) } else { usize::try_from(parameters.dimension) };
    let axis = axis.map_err(|_| format!("quantized_dimension is {}", parameters.dimension))?;
    Ok(Some(Quantization::per_axis(parameters.scales, zero_points, axis)?))
}

/// Checks that an input leaves no extent open but the first, the batch, which is 1.
fn closed(tensor: &Tensor<'_>) -> Result<(), OpError> {
    let signature = tensor.shape_signature()?;
    let (rank, shape) = (signature.len(), &tensor.shape);
    if rank != 0 && rank != shape.len() {
        return Err(format!("shape_signature has rank {rank}, the shape is {shape:?}").into());
    }
    if signature.iter().skip(1).any(|extent| *extent < 0) {
        return Err(OpError::from(format!("shape {signature:?} is open"))
            .help("convert the model with fixed input shapes"));
    }
    Ok(())
}

/// Checks that the types are among those that the operator takes.
fn check_types(known: &Known, operands: &[Option<TensorType>], result: DType) -> Result<(), OpError> {
    let fits = |row: &&[DType]| {
        let fits = |(i, operand): (usize, &Option<TensorType>)| {
            let expected = if known.in_graph == InGraph::First { row.get(i) } else { row.first() };
            operand.as_ref().is_none_or(|ty| Some(&ty.dtype) == expected)
        };
        operands.iter().enumerate().all(fits) && row.last() == Some(&result)
    };
    if known.types.iter().any(fits) {
        return Ok(());
    }
    let found = operands.iter().flatten().map(|ty| ty.dtype.name()).collect::<Vec<_>>().join(", ");
    let row = |row: &&[DType]| {
        let names: Vec<_> = row.iter().map(|dtype| dtype.name()).collect();
        names.split_last().map(|(result, operands)| format!("{} → {result}", operands.join(", ")))
    };
    let rows = known.types.iter().filter_map(row).collect::<Vec<_>>().join(" or ");
    Err(OpError::from(format!("types are {found} → {}, expected {rows}", result.name()))
        .help("convert the model in float32, or with full integer quantization"))
}
