//! Nodes: what the operators of the file become in the graph.

use aot_rt::DType;

use super::node::{Node, kind};
use super::operators::{Compute, InGraph, Known, Map};
use super::schema::Operator;
use super::variables::zeros;
use super::{Importer, Value, open};
use crate::error::OpError;
use crate::graph::{NodeDeclaration, OutputDeclaration, TensorId, TensorType};
use crate::ops::Op;
use crate::passes::evaluate;

impl<'m> Importer<'m> {
    /// The operands that the graph has; `None` where one has been refused.
    pub(super) fn operands(
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

    pub(super) fn map(
        &mut self,
        index: usize,
        operator: &'m Operator<'m>,
        (known, map): (&'static Known, Map),
        mut inputs: Vec<Option<TensorId>>,
    ) -> Result<(), OpError> {
        let outputs: Vec<_> =
            operator.outputs.iter().map(|index| usize::try_from(*index).unwrap_or_default()).collect();
        let Some(types) = self.types(&outputs) else { return Ok(()) };
        let Some(result) = types.first() else { return Ok(()) };
        if result.dtype == DType::I4 {
            inputs.iter_mut().flatten().for_each(|id| *id = self.four_bits(*id));
        }
        let operands = self.types_of(&inputs);
        types.iter().try_for_each(|result| check_types(known, &operands, result.dtype))?;
        operands.iter().flatten().chain(&types).try_for_each(|ty| check_elements(known, ty))?;
        if !self.model.is_main && (known.keeps || !known.states.is_empty()) {
            return Err(
                "what is kept from run to run is not supported in subgraphs that control flow runs".into()
            );
        }
        let op = map(&self.view(operator, operands, result))?;
        let kept = outputs.last().zip(types.last()).filter(|_| known.keeps);
        let before = kept.map(|(output, ty)| self.before(&self.name(*output), ty)).transpose()?;
        inputs.extend(before.map(Some));
        let states = self.states_after(operator, known);
        let ids = self.declare(index, op, inputs, (&outputs, types), states)?;
        let (results, states) = ids.split_at(outputs.len());
        if let (Some(before), Some(Some(after))) = (before, results.last()) {
            self.graph.keep(before, *after);
        }
        self.keep_states(operator, known, states);
        Ok(())
    }

    /// Types of tensors; `None` where one has a problem, which is reported.
    pub(super) fn types(&mut self, tensors: &[usize]) -> Option<Vec<TensorType>> {
        // All are looked at, so that all problems are found.
        let types: Vec<_> = tensors.iter().map(|tensor| self.ty(*tensor)).collect();
        types.into_iter().collect()
    }

    /// Adds a node that makes these tensors of the file, which has these types for them, and
    /// `more` results.
    pub(super) fn declare(
        &mut self,
        index: usize,
        op: Op,
        inputs: Vec<Option<TensorId>>,
        (outputs, types): (&[usize], Vec<TensorType>),
        more: Vec<OutputDeclaration>,
    ) -> Result<Vec<Option<TensorId>>, OpError> {
        let names: Vec<_> = outputs.iter().map(|output| self.name(*output)).collect();
        let name = names.first().cloned().unwrap_or_default();
        let open = outputs.iter().map(|output| self.open_axes(*output)).collect::<Result<Vec<_>, _>>()?;
        let declarations = names.into_iter().zip(types).zip(open);
        let declarations =
            declarations.map(|((name, ty), open)| OutputDeclaration { name, ty: Some(ty), open });
        let outputs_of_node = declarations.chain(more).collect();
        let ids = self.graph.node(NodeDeclaration { name, index, op, inputs, outputs: outputs_of_node });
        // Shapes of later tensors may depend on it.
        let is_integer = |ty: &TensorType| matches!(ty.dtype, DType::I32 | DType::I64);
        let (config, folding) = (self.config, &mut self.subgraphs.folding);
        self.graph.fold_last(|graph, node| {
            let integers = node.outputs.iter().all(|id| is_integer(&graph.tensor(*id).ty));
            if integers { evaluate(graph, node, config, folding) } else { None }
        });
        for (output, id) in outputs.iter().zip(&ids) {
            self.set(*output, id.map_or(Value::Refused, Value::Ready));
        }
        Ok(ids)
    }

    /// An operator whose result follows from shapes and constants.
    pub(super) fn computed(
        &mut self,
        operator: &'m Operator<'m>,
        (known, compute): (&'static Known, Compute),
        inputs: &[Option<TensorId>],
    ) -> Result<(), OpError> {
        let output = operator.outputs.first().and_then(|index| usize::try_from(*index).ok());
        let output = output.ok_or("the result is left out")?;
        let Some(result) = self.ty(output) else { return Ok(()) };
        let operands = self.types_of(inputs);
        check_types(known, &operands, result.dtype)?;
        let (shape, data) = compute(&self.view(operator, operands, &result))?;
        self.subgraphs.folding.spend(data.bytes().len())?;
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
    pub(super) fn dense(
        &mut self,
        operator: &'m Operator<'m>,
        known: &'static Known,
        operands: &[Option<TensorId>],
    ) -> Result<(), OpError> {
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
        node.optional_options(kind(99, "DensifyOptions", 0))?;
        self.set(output, Value::Ready(id));
        Ok(())
    }

    /// The types of operands.
    fn types_of(&self, operands: &[Option<TensorId>]) -> Vec<Option<TensorType>> {
        operands.iter().map(|id| id.map(|id| self.graph.tensor(id).ty.clone())).collect()
    }

    /// What the mapping of an operator looks at.
    pub(super) fn view<'a>(
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
    fn before(&mut self, result: &str, ty: &TensorType) -> Result<TensorId, OpError> {
        let initial = self.graph.constant(format!("{result} at first"), ty.clone(), zeros(ty)?);
        Ok(self.graph.state(format!("{result} before"), initial))
    }
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

/// Operators that tensors without elements may be operands or results of. Of all others, what
/// maps them to the graph may rely on there being elements.
const WITHOUT_ELEMENTS: &[&str] = &[
    "ABS",
    "ADD",
    "BROADCAST_TO",
    "CAST",
    "CONCATENATION",
    "DEQUANTIZE",
    "EQUAL",
    "EXPAND_DIMS",
    "GREATER",
    "GREATER_EQUAL",
    "LESS",
    "LESS_EQUAL",
    "LOGICAL_AND",
    "LOGICAL_NOT",
    "LOGICAL_OR",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "NEG",
    "NOT_EQUAL",
    "QUANTIZE",
    "RELU",
    "RELU6",
    "RESHAPE",
    "SELECT_V2",
    "SLICE",
    "SPLIT",
    "SPLIT_V",
    "SQUEEZE",
    "SUB",
    "TRANSPOSE",
];

/// Checks that a tensor has elements where an operator needs them.
fn check_elements(known: &Known, ty: &TensorType) -> Result<(), OpError> {
    if ty.is_empty() && !WITHOUT_ELEMENTS.contains(&known.name) {
        return Err(format!("{ty} has no element, which is not supported here").into());
    }
    Ok(())
}
