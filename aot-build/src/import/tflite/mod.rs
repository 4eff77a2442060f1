//! TensorFlow Lite (LiteRT) files: `.tflite`.
//!
//! The file is untrusted: [`verify`] checks it as a flatbuffer; it is read through
//! [`flatbuffer`], which checks every access, too; [`structure`] checks how its parts refer to each other; and the graph's
//! builder computes every shape again.

mod arithmetic;
mod control;
mod entry;
mod flatbuffer;
mod flexbuffer;
mod images;
mod layers;
mod lookups;
mod matrices;
mod movement;
mod names;
mod node;
mod nodes;
mod normalizations;
mod open;
mod operators;
mod recurrent;
mod reductions;
mod schema;
mod shapes;
mod signal;
mod sparsity;
mod stored;
mod structure;
#[cfg(test)]
mod tests;
mod types;
mod variables;
mod verify;

use std::collections::BTreeMap;

use aot_rt::{DType, pack_i4};

use crate::Config;
use crate::error::{Location, OpError, Problem};
use crate::graph::{self, Data, Graph, GraphBuilder, Quantization, Shape, TensorId, TensorType};
use control::Subgraphs;
use entry::Entry;
use flatbuffer::File;
use operators::Meaning;
pub(crate) use operators::{Known, operators};
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
pub(super) fn read(bytes: &[u8], name: String, config: &Config) -> Result<Graph, Vec<Problem>> {
    verify::verify(bytes).map_err(|problem| vec![problem])?;
    let file = File::new(bytes);
    let entry = Entry::find(&file, config).map_err(|problem| vec![problem])?;
    let mut model = Model::read(&file, entry.subgraph).map_err(|problem| vec![problem])?;
    model.outputs.retain(|output| entry.wants(*output));
    let mut importer =
        Importer::new(&model, config, name, Subgraphs::new(model.buffers.len(), entry.subgraph));
    importer.names = entry.names;
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
    config: &'m Config,
    /// Names of inputs and outputs that are better than their tensors'.
    names: BTreeMap<usize, String>,
    graph: GraphBuilder,
    /// For each tensor of the file.
    values: Vec<Value>,
    subgraphs: Subgraphs,
    /// Tensors of each type that is not supported.
    unsupported_types: BTreeMap<String, Vec<usize>>,
    variables: Variables,
}

impl<'m> Importer<'m> {
    fn new(model: &'m Model<'m>, config: &'m Config, name: String, subgraphs: Subgraphs) -> Self {
        Self {
            model,
            config,
            names: BTreeMap::new(),
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
        let model = self.model;
        // Inputs of other subgraphs are what they are run with.
        let bound = if model.is_main { self.config } else { &Config::default() };
        let bindings = match open::bind(model, bound) {
            Ok(bindings) => bindings,
            Err(problem) => return self.graph.problem(problem),
        };
        for (position, index) in model.inputs.iter().enumerate() {
            let Ok(index) = usize::try_from(*index) else { continue };
            let Some(tensor) = model.tensors.get(index) else { continue };
            let Some(mut ty) = self.ty(index) else { continue };
            match bindings.of(position, tensor, &ty.shape) {
                Ok(shape) => ty.shape = shape,
                Err(error) => self.graph.problem(Problem::from(error).at(self.tensor_location(index))),
            }
            let id = self.graph.input(self.name(index), ty);
            self.set(index, Value::Ready(id));
        }
    }

    fn node(&mut self, index: usize, operator: &'m Operator<'m>, known: &'static Known) {
        let mapped = match known.meaning {
            Meaning::Variable(access) => self.variable(operator, access),
            meaning => self.operands(operator, known).and_then(|operands| match (meaning, operands) {
                // An operand's problem has been reported. The first case has been dealt with.
                (_, None) | (Meaning::Variable(_), _) => Ok(()),
                (Meaning::Constant(compute), Some(operands)) => {
                    self.computed(operator, (known, compute), &operands)
                }
                (Meaning::Control(runs), Some(operands)) => self.control(index, operator, runs, operands),
                (Meaning::Dense, Some(operands)) => self.dense(operator, known, &operands),
                (Meaning::Op(map), Some(operands)) => self.map(index, operator, (known, map), operands),
            }),
        };
        if let Err(error) = mapped {
            self.graph.problem(Problem::from(error).at(location(self.model, index)));
        }
    }

    /// The outputs that have not been refused: those left a problem behind.
    fn outputs(&mut self) -> Vec<TensorId> {
        let indices = self.model.outputs.iter().filter_map(|index| usize::try_from(*index).ok());
        indices.filter_map(|index| self.value(index).map(|id| self.four_bits(id))).collect()
    }

    /// Constants of int4 are int8, for operators that compute with them. This one is what it is
    /// in the file.
    fn four_bits(&mut self, id: TensorId) -> TensorId {
        let graph::Tensor { name, ty, data } = self.graph.tensor(id);
        let has_four_bits = ty.quantization.as_ref().is_some_and(Quantization::four_bits);
        let Some(data) = data.as_ref().filter(|_| has_four_bits) else { return id };
        // Two that do not fit a byte have been refused.
        let elements: Vec<i8> = data.bytes().iter().map(|byte| byte.cast_signed()).collect();
        let mut bytes = vec![0; DType::I4.bytes(elements.len())];
        pack_i4(&elements, &mut bytes);
        let quantization = ty.quantization.clone().map(Quantization::of_packed);
        let (name, ty) = (name.clone(), TensorType { dtype: DType::I4, quantization, ..ty.clone() });
        self.graph.constant(name, ty, Data::from_bytes(bytes))
    }

    fn finish(self, outputs: Vec<TensorId>) -> Result<Graph, Vec<Problem>> {
        if let Some(problem) = self.unsupported_types() {
            // First, since it is often why others follow.
            let mut problems = self.graph.into_problems();
            problems.insert(0, problem);
            return Err(problems);
        }
        self.graph.finish(outputs)
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
        if self.model.tensors.get(index).is_some_and(|tensor| tensor.is_variable) {
            return self.variable_tensor(index, ty);
        }
        let id = match self.constant(self.model.tensors.get(index)?) {
            Ok(Some(data)) => self.graph.constant(self.name(index), ty, data),
            Ok(None) if ty.is_empty() => self.graph.constant(self.name(index), ty, Data::from_bytes([])),
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
        if let Some(decoded) = stored::decoded(self.model.file, tensor, bytes).map_err(Problem::from)? {
            return Ok(Some(Data::from_bytes(decoded)));
        }
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
        let is_constant = matches!(self.model.buffer(tensor.buffer), Ok(Some(_)));
        let is_int4 = is_constant && tensor.ty == names::INT4;
        let Some(dtype) = dtype(tensor.ty).map(|dtype| if is_int4 { DType::I8 } else { dtype }) else {
            self.unsupported_types.entry(names::type_name(tensor.ty)).or_default().push(index);
            self.set(index, Value::Refused);
            return None;
        };
        let ty = tensor_type(tensor, dtype).and_then(|ty| match tensor.sparsity()? {
            Some(_) if !is_constant => Err("is sparse and not constant".into()),
            _ => Ok(ty),
        });
        match ty {
            Ok(ty) if is_int4 => {
                let quantization = ty.quantization.map(Quantization::of_four_bits);
                Some(TensorType { quantization, ..ty })
            }
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
        let name = self.names.get(&index).or_else(|| self.model.tensors.get(index)?.name.as_ref());
        name.cloned().unwrap_or_else(|| format!("tensor_{index}"))
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
        names::BFLOAT16 => Some(DType::BF16),
        names::INT4 => Some(DType::I4),
        names::INT8 => Some(DType::I8),
        names::UINT8 => Some(DType::U8),
        names::INT16 => Some(DType::I16),
        names::INT32 => Some(DType::I32),
        names::UINT32 => Some(DType::U32),
        names::INT64 => Some(DType::I64),
        names::UINT64 => Some(DType::U64),
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
        DType::F16 | DType::BF16 | DType::F32 | DType::Bool | DType::U32 | DType::U64 => None,
        DType::I4 | DType::I8 | DType::U8 | DType::I16 | DType::I32 | DType::I64 => {
            quantization(tensor, &shape)?
        }
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
