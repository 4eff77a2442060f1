//! TensorFlow Lite (LiteRT) files: `.tflite`.
//!
//! The file is untrusted: [`verify`] checks it as a flatbuffer; it is read through
//! [`flatbuffer`], which checks every access, too; [`structure`] checks how its parts refer to each other; and the graph's
//! builder computes every shape again.

mod arithmetic;
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

use aot_rt::DType;

use crate::Config;
use crate::error::{Location, OpError, Problem};
use crate::graph::{
    Data, Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, Quantization, Shape, TensorId, TensorType,
};
use crate::passes::{Budget, evaluate};
use entry::Entry;
use flatbuffer::File;
use node::Node;
use operators::{Compute, InGraph, Map, Meaning};
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
    let Checked { operators, unsupported, problems } = structure::check(&model);
    if !problems.is_empty() {
        return Err(limited(unsupported.into_iter().chain(problems).collect()));
    }
    let mut importer = Importer {
        model: &model,
        config,
        names: entry.names,
        graph: GraphBuilder::new(name),
        values: vec![Value::Unread; model.tensors.len()],
        data: vec![None; model.buffers.len()],
        unsupported_types: BTreeMap::new(),
        variables: Variables::default(),
        folding: Budget::default(),
    };
    if let Some(problem) = unsupported {
        importer.graph.problem(problem);
    }
    importer.inputs();
    for (index, known) in operators.into_iter().enumerate() {
        if let (Some(known), Some(operator)) = (known, model.operators.get(index)) {
            importer.node(index, operator, known);
        }
    }
    importer.finish().map_err(limited)
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
    /// For each buffer, its bytes once they are used: tensors may share them.
    data: Vec<Option<Data>>,
    /// Tensors of each type that is not supported.
    unsupported_types: BTreeMap<String, Vec<usize>>,
    variables: Variables,
    /// What may be computed already, since the shapes of later tensors depend on it.
    folding: Budget,
}

impl<'m> Importer<'m> {
    fn inputs(&mut self) {
        let model = self.model;
        let bindings = match open::bind(model, self.config) {
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
            Meaning::Constant(compute) => self.computed(operator, known, compute),
            Meaning::Dense => self.dense(operator, known),
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
        let in_graph: Vec<_> = match known.in_graph {
            InGraph::First => (0..known.types.first().map_or(0, |row| row.len() - 1)).collect(),
            InGraph::All => (0..found).collect(),
            InGraph::UpTo(operands) => (0..operands.min(found)).collect(),
            InGraph::AllBut(operand) => (0..found).filter(|i| *i != operand).collect(),
            InGraph::Only(operand) => vec![operand],
            InGraph::These(operands) => operands.to_vec(),
        };
        self.check_states(operator, known)?;
        let may_be_left_out = matches!(known.in_graph, InGraph::UpTo(_));
        let in_graph = in_graph.into_iter().filter_map(|i| Some((i, *operator.inputs.get(i)?)));
        let operands: Vec<_> = in_graph.collect();
        let left_out = operands.iter().find(|(i, index)| *index == -1 && *i < least);
        if let Some((i, _)) = left_out.filter(|_| !may_be_left_out) {
            return Err(format!("operand {i} is left out").into());
        }
        // All are looked at, so that all problems are found.
        let values: Vec<_> = operands
            .iter()
            .map(|(_, index)| usize::try_from(*index).map_or(Some(None), |index| self.value(index).map(Some)))
            .collect();
        Ok(values.into_iter().collect())
    }

    fn map(
        &mut self,
        index: usize,
        operator: &'m Operator<'m>,
        (known, map): (&'static Known, Map),
        mut inputs: Vec<Option<TensorId>>,
    ) -> Result<(), OpError> {
        let outputs: Vec<_> =
            operator.outputs.iter().map(|index| usize::try_from(*index).unwrap_or_default()).collect();
        // All are looked at, so that all problems are found.
        let types: Vec<_> = outputs.iter().map(|output| self.ty(*output)).collect();
        let Some(types) = types.into_iter().collect::<Option<Vec<_>>>() else { return Ok(()) };
        let Some(result) = types.first() else { return Ok(()) };
        let operands: Vec<_> =
            inputs.iter().map(|id| id.map(|id| self.graph.tensor(id).ty.clone())).collect();
        types.iter().try_for_each(|result| check_types(known, &operands, result.dtype))?;
        let op = map(&self.view(operator, operands, result))?;
        let names: Vec<_> = outputs.iter().map(|output| self.name(*output)).collect();
        let name = names.first().cloned().unwrap_or_default();
        let kept = names.last().zip(types.last()).filter(|_| known.keeps);
        let before = kept.map(|(name, ty)| self.zeros(name, ty));
        inputs.extend(before.map(Some));
        let open = outputs.iter().map(|output| self.open_axes(*output)).collect::<Result<Vec<_>, _>>()?;
        let declarations = names.into_iter().zip(types).zip(open);
        let declarations =
            declarations.map(|((name, ty), open)| OutputDeclaration { name, ty: Some(ty), open });
        let declarations = declarations.chain(self.states_after(operator, known)).collect();
        let ids = self.graph.node(NodeDeclaration { name, index, op, inputs, outputs: declarations });
        // Shapes of later tensors may depend on it.
        let is_integer = |ty: &TensorType| matches!(ty.dtype, DType::I32 | DType::I64);
        self.graph.fold_last(|graph, node| {
            let integers = node.outputs.iter().all(|id| is_integer(&graph.tensor(*id).ty));
            if integers { evaluate(graph, node, self.config, &mut self.folding) } else { None }
        });
        if let (Some(before), Some(Some(after))) = (before, ids.last()) {
            self.graph.keep(before, *after);
        }
        let (results, states) = ids.split_at(outputs.len());
        for (output, id) in outputs.into_iter().zip(results) {
            self.set(output, id.map_or(Value::Refused, Value::Ready));
        }
        self.keep_states(operator, known, states);
        Ok(())
    }

    /// An operator whose result follows from shapes and constants.
    fn computed(
        &mut self,
        operator: &'m Operator<'m>,
        known: &'static Known,
        compute: Compute,
    ) -> Result<(), OpError> {
        // An operand's problem has been reported.
        let Some(inputs) = self.operands(operator, known)? else { return Ok(()) };
        let output = operator.outputs.first().and_then(|index| usize::try_from(*index).ok());
        let output = output.ok_or("the result is left out")?;
        let Some(result) = self.ty(output) else { return Ok(()) };
        let operands: Vec<_> =
            inputs.iter().map(|id| id.map(|id| self.graph.tensor(id).ty.clone())).collect();
        check_types(known, &operands, result.dtype)?;
        let (shape, data) = compute(&self.view(operator, operands, &result))?;
        self.folding.spend(data.bytes().len())?;
        let open = self.open_axes(output)?;
        if !shape.agrees(&result.shape, &open) {
            return Err(format!(
                "`{}` is declared as {}, computed is {shape}",
                self.name(output),
                result.shape
            )
            .into());
        }
        let id = self.graph.constant(self.name(output), TensorType { shape, ..result }, data);
        self.set(output, Value::Ready(id));
        Ok(())
    }

    /// A tensor that is sparse in the file has become dense where it was read.
    fn dense(&mut self, operator: &'m Operator<'m>, known: &'static Known) -> Result<(), OpError> {
        let Some(operands) = self.operands(operator, known)? else { return Ok(()) };
        let output = operator.outputs.first().and_then(|output| usize::try_from(*output).ok());
        let (Some(Some(id)), Some(output)) = (operands.first().copied(), output) else { return Ok(()) };
        let Some(result) = self.ty(output) else { return Ok(()) };
        let operand = self.graph.tensor(id);
        let operands = vec![Some(operand.ty.clone())];
        check_types(known, &operands, result.dtype)?;
        if operand.data.is_none() {
            return Err(format!("`{}` is not constant", operand.name).into());
        }
        if operand.ty != result {
            return Err(format!("makes {result} of {}, or of another quantization", operand.ty).into());
        }
        let node = self.view(operator, operands, &result);
        node.optional_options(node::kind(99, "DensifyOptions", 0))?;
        self.set(output, Value::Ready(id));
        Ok(())
    }

    /// What the mapping of an operator looks at.
    fn view<'a>(
        &'a self,
        operator: &'a Operator<'a>,
        operands: Vec<Option<TensorType>>,
        result: &'a TensorType,
    ) -> Node<'a> {
        Node { model: self.model, graph: &self.graph, values: &self.values, operator, operands, result }
    }

    /// The axes whose extents the file leaves open.
    fn open_axes(&self, index: usize) -> Result<Vec<usize>, OpError> {
        self.model.tensors.get(index).map_or(Ok(Vec::new()), open::axes)
    }

    /// What a result was in the last run: zeros, in the first.
    fn zeros(&mut self, result: &str, ty: &TensorType) -> TensorId {
        let data = Data::from_bytes(vec![0; ty.bytes()]);
        let initial = self.graph.constant(format!("{result} at first"), ty.clone(), data);
        self.graph.state(format!("{result} before"), initial)
    }

    fn finish(mut self) -> Result<Graph, Vec<Problem>> {
        self.keep_variables();
        let indices = self.model.outputs.iter().filter_map(|index| usize::try_from(*index).ok());
        // An output that has been refused left a problem behind.
        let outputs: Vec<_> = indices.filter_map(|index| self.value(index)).collect();
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
        if self.model.tensors.get(index).is_some_and(|tensor| tensor.is_variable) {
            return self.variable_tensor(index, ty);
        }
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
        if let Some(decoded) = stored::decoded(self.model.file, tensor, bytes).map_err(Problem::from)? {
            return Ok(Some(Data::from_bytes(decoded)));
        }
        let slot = usize::try_from(tensor.buffer).ok().and_then(|buffer| self.data.get_mut(buffer));
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
        let Some(dtype) = dtype(tensor.ty).or_else(|| is_int4.then_some(DType::I8)) else {
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
        DType::F16 | DType::F32 | DType::Bool | DType::U32 | DType::U64 => None,
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

/// Checks that the types are among those that the operator takes.
fn check_types(known: &Known, operands: &[Option<TensorType>], result: DType) -> Result<(), OpError> {
    let fits = |row: &&[DType]| {
        let fits = |(i, operand): (usize, &Option<TensorType>)| {
            let expected = match known.in_graph {
                InGraph::First | InGraph::These(_) | InGraph::AllBut(_) => row.get(i),
                InGraph::UpTo(_) if i + 1 >= row.len() => return true,
                InGraph::UpTo(_) => row.get(i),
                InGraph::All | InGraph::Only(_) => row.first(),
            };
            operand.as_ref().is_none_or(|ty| Some(&ty.dtype) == expected)
        };
        operands.iter().enumerate().all(fits) && row.last() == Some(&result)
    };
    if known.types.iter().any(fits) {
        return Ok(());
    }
    let listed = match (known.in_graph, known.types.first()) {
        (InGraph::UpTo(_), Some(row)) => row.len() - 1,
        _ => operands.len(),
    };
    let found = operands.iter().take(listed).flatten().map(|ty| ty.dtype.name());
    let found = found.collect::<Vec<_>>().join(", ");
    let row = |row: &&[DType]| {
        let names: Vec<_> = row.iter().map(|dtype| dtype.name()).collect();
        names.split_last().map(|(result, operands)| format!("{} → {result}", operands.join(", ")))
    };
    let rows = known.types.iter().filter_map(row).collect::<Vec<_>>().join(" or ");
    Err(OpError::from(format!("types are {found} → {}, expected {rows}", result.name()))
        .help("convert the model in float32, or with full integer quantization"))
}
