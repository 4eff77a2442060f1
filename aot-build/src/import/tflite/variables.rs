//! Variables: tensors that a model keeps from run to run.
//!
//! Some tensors are variables, which operators bring up to date: they start as zeros.
//! Otherwise, a file has handles to them, reads and assigns in the order of its operators, and
//! perhaps a subgraph that assigns what they are at first, which runs once. In the graph,
//! a variable is a state: what it is at the start of a run, and what it is at the end;
//! between them, an assignment gives the tensor that later reads are.

use std::collections::HashMap;

use aot_rt::DType;

use super::node::{Kind, Options, kind};
use super::operators::{Known, variable};
use super::schema::{Model, Operator, Tensor};
use super::{Importer, Value, names, tensor_type};
use crate::error::{Location, OpError, Problem};
use crate::graph::{Data, OutputDeclaration, TensorId, TensorType};
use crate::report::label;

pub(super) const OPERATORS: &[Known] = &[
    variable("ASSIGN_VARIABLE", Access::Assign),
    variable("CALL_ONCE", Access::CallOnce),
    variable("READ_VARIABLE", Access::Read),
    variable("VAR_HANDLE", Access::Handle),
];

/// What an operator does with variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Runs a subgraph once, before all runs.
    CallOnce,
    /// Gives a handle.
    Handle,
    Read,
    Assign,
}

/// What a variable is called: container and name.
type Name = (Vec<u8>, Vec<u8>);

/// The variables of a model.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// Tensors that are handles, and what to.
    handles: HashMap<usize, Name>,
    /// What variables are at first.
    initial: HashMap<Name, (TensorType, Data)>,
    /// Positions in `states`.
    known: HashMap<Name, usize>,
    /// Positions in `states` of tensors that are variables.
    tensors: HashMap<usize, usize>,
    states: Vec<State>,
}

#[derive(Debug)]
struct State {
    before: TensorId,
    /// What it is now.
    current: TensorId,
}

/// Most bytes of a tensor that is a variable: they are in no proportion to the file's.
const MAX_VARIABLE: usize = 1 << 28;

mod call_once {
    pub(super) const OPTIONS: super::Kind = super::kind(103, "CallOnceOptions", 1);
    pub(super) const SUBGRAPH: usize = 0;
}

mod var_handle {
    pub(super) const OPTIONS: super::Kind = super::kind(111, "VarHandleOptions", 2);
    pub(super) const CONTAINER: usize = 0;
    pub(super) const SHARED_NAME: usize = 1;
}

/// Those of READ_VARIABLE and ASSIGN_VARIABLE have no fields.
const READ_OPTIONS: Kind = kind(112, "ReadVariableOptions", 0);
const ASSIGN_OPTIONS: Kind = kind(113, "AssignVariableOptions", 0);

impl Importer<'_> {
    /// Does what operator `operator` says.
    pub(super) fn variable(&mut self, operator: &Operator<'_>, access: Access) -> Result<(), OpError> {
        if !self.model.is_main {
            return Err("variables in subgraphs that control flow runs are not supported".into());
        }
        match access {
            Access::CallOnce => self.call_once(operator),
            Access::Handle => {
                let ([], &[handle]) = (&operator.inputs[..], &operator.outputs[..]) else {
                    return Err(counts(operator, "no operand and 1 result"));
                };
                self.variables.handles.insert(position(handle)?, handle_name(operator)?);
                Ok(())
            }
            Access::Read => {
                Options::of(operator, READ_OPTIONS)?;
                let (&[handle], &[result]) = (&operator.inputs[..], &operator.outputs[..]) else {
                    return Err(counts(operator, "1 operand and 1 result"));
                };
                let result = position(result)?;
                let Some(ty) = self.ty(result) else { return Ok(()) };
                let state = self.state(handle, result)?;
                let current = self.variables.states[state].current;
                let found = &self.graph.tensor(current).ty;
                if *found != ty {
                    return Err(format!("reads {ty} from a variable that is {found}").into());
                }
                self.set(result, Value::Ready(current));
                Ok(())
            }
            Access::Assign => {
                Options::of(operator, ASSIGN_OPTIONS)?;
                let (&[handle, value], []) = (&operator.inputs[..], &operator.outputs[..]) else {
                    return Err(counts(operator, "2 operands and no result"));
                };
                let value = position(value)?;
                // Its problem has been reported.
                let Some(id) = self.value(value) else { return Ok(()) };
                let state = self.state(handle, value)?;
                let (before, ty) = (self.variables.states[state].before, self.graph.tensor(id).ty.clone());
                let expected = &self.graph.tensor(before).ty;
                if ty != *expected {
                    return Err(format!("assigns {ty} to a variable that is {expected}").into());
                }
                self.variables.states[state].current = id;
                Ok(())
            }
        }
    }

    /// Says what the variables are at the end of a run.
    pub(super) fn keep_variables(&mut self) {
        for State { before, current, .. } in &self.variables.states {
            self.graph.keep(*before, *current);
        }
    }

    /// What a tensor that is a variable is at the start of a run; `None` where it is refused.
    pub(super) fn variable_tensor(&mut self, index: usize, ty: TensorType) -> Option<TensorId> {
        let name = self.name(index);
        let buffer = self.model.tensors.get(index).map(|tensor| self.model.buffer(tensor.buffer));
        let problem = if !matches!(buffer, Some(Ok(None))) {
            Some("is a variable that has data, which is not supported".to_owned())
        } else if ty.bytes() > MAX_VARIABLE {
            Some(format!("is a variable of {} bytes, the limit is {MAX_VARIABLE}", ty.bytes()))
        } else {
            None
        };
        if let Some(problem) = problem {
            self.graph.problem(Problem::new(problem).at(Location::Tensor(name)));
            self.set(index, Value::Refused);
            return None;
        }
        // The integer that stands for zero.
        let zero = ty.quantization.as_ref().and_then(|quantization| quantization.zero_points().first());
        let byte =
            if ty.dtype == DType::I8 { zero.map_or(0, |zero| (*zero as i8).cast_unsigned()) } else { 0 };
        let data = Data::from_bytes(vec![byte; ty.bytes()]);
        let initial = self.graph.constant(format!("{name} at first"), ty, data);
        let before = self.graph.state(name, initial);
        self.variables.tensors.insert(index, self.variables.states.len());
        self.variables.states.push(State { before, current: before });
        self.set(index, Value::Ready(before));
        Some(before)
    }

    /// Checks that the operands that `known` brings up to date are variables, each another.
    pub(super) fn check_states(&self, operator: &Operator<'_>, known: &Known) -> Result<(), OpError> {
        for &i in known.states {
            let index = operator.inputs.get(i).copied().unwrap_or(-1);
            let Ok(position) = usize::try_from(index) else {
                return Err(format!("operand {i}, which is its state, is left out").into());
            };
            let name = self.model.describe(position);
            if !self.model.tensors.get(position).is_some_and(|tensor| tensor.is_variable) {
                return Err(format!("operand {i}, {name}, is its state, and no variable").into());
            }
            if operator.inputs.iter().filter(|other| **other == index).count() > 1 {
                return Err(format!("operand {i}, {name}, is its state, and another operand").into());
            }
        }
        Ok(())
    }

    /// The results that the states of an operator become.
    pub(super) fn states_after(&mut self, operator: &Operator<'_>, known: &Known) -> Vec<OutputDeclaration> {
        let states = known.states.iter().filter_map(|i| operator.inputs.get(*i));
        let states: Vec<_> = states.filter_map(|index| usize::try_from(*index).ok()).collect();
        let after = |index| OutputDeclaration {
            name: format!("{} after", self.name(index)),
            ty: self.ty(index),
            open: Vec::new(),
        };
        states.into_iter().map(after).collect()
    }

    /// Says what the states of an operator have become.
    pub(super) fn keep_states(&mut self, operator: &Operator<'_>, known: &Known, after: &[Option<TensorId>]) {
        for (i, id) in known.states.iter().zip(after) {
            let index = operator.inputs.get(*i).and_then(|index| usize::try_from(*index).ok());
            let Some((index, id)) = index.zip(*id) else { continue };
            if let Some(state) = self.variables.tensors.get(&index) {
                self.variables.states[*state].current = id;
                self.set(index, Value::Ready(id));
            }
        }
    }

    /// The variable that a handle stands for; it has the type of tensor `like`.
    fn state(&mut self, handle: i32, like: usize) -> Result<usize, OpError> {
        let handle = position(handle)?;
        let name = self.variables.handles.get(&handle).cloned();
        let name = name.ok_or("the first operand is no handle of a variable")?;
        if let Some(known) = self.variables.known.get(&name) {
            return Ok(*known);
        }
        let tensor = self.model.tensors.get(like).ok_or("there is no such tensor")?;
        let ty = variable_type(tensor)?;
        let text = String::from_utf8_lossy(&name.1).into_owned();
        let data = match self.variables.initial.get(&name) {
            Some((initial, data)) if *initial == ty => data.clone(),
            Some((initial, _)) => {
                let text = label(&text);
                let message = format!("the variable `{text}` is {ty}, and {initial} at first");
                return Err(format!("{message}, or with another quantization").into());
            }
            // One that is never initialised is zero.
            None => zeros(&ty)?,
        };
        let initial = self.graph.constant(format!("{text} at first"), ty, data);
        let before = self.graph.state(text, initial);
        let position = self.variables.states.len();
        self.variables.states.push(State { before, current: before });
        self.variables.known.insert(name, position);
        Ok(position)
    }

    /// Reads the subgraph that assigns what variables are at first.
    fn call_once(&mut self, operator: &Operator<'_>) -> Result<(), OpError> {
        let subgraph = Options::required_of(operator, call_once::OPTIONS)?.i32(call_once::SUBGRAPH)?;
        if subgraph == 0 {
            return Err("calls the subgraph 0, which it is in".into());
        }
        let outside = || format!("calls the subgraph {subgraph}, which does not exist");
        let subgraph = usize::try_from(subgraph).map_err(|_| outside())?;
        let model = self.model.subgraph(subgraph).map_err(|problem| problem.message)?;
        let mut handles: HashMap<i32, Name> = HashMap::new();
        for operator in &model.operators {
            match (access(&model, operator), &operator.inputs[..], &operator.outputs[..]) {
                (Some(Access::Handle), [], &[handle]) => {
                    handles.insert(handle, handle_name(operator)?);
                }
                (Some(Access::Assign), &[handle, value], []) => {
                    let name = handles.get(&handle).ok_or("assigns to what is no handle of a variable")?;
                    let tensor = position(value).ok().and_then(|value| model.tensors.get(value));
                    let tensor = tensor.ok_or("assigns a tensor that does not exist")?;
                    let bytes = model.buffer(tensor.buffer).map_err(|problem| problem.message)?;
                    let bytes =
                        bytes.ok_or("starts a variable with what is no constant, which is not supported")?;
                    self.model.file.charge(0, bytes.len())?;
                    let ty = variable_type(tensor)?;
                    self.variables.initial.insert(name.clone(), (ty, Data::from_bytes(bytes)));
                }
                _ => {
                    return Err("runs more than assignments of constants once, which is not supported".into());
                }
            }
        }
        Ok(())
    }
}

/// Most bytes of a variable that the file does not give: a few of its bytes could ask for
/// any number.
const MAX_ZEROS: usize = 1 << 26;

/// The elements of a variable that is never initialised.
pub(super) fn zeros(ty: &TensorType) -> Result<Data, OpError> {
    let bytes = ty.bytes();
    if bytes > MAX_ZEROS {
        return Err(format!("a variable of {bytes} bytes, the limit is {MAX_ZEROS}").into());
    }
    Ok(Data::from_bytes(vec![0; bytes]))
}

/// The type of a variable that a tensor is read from or assigned to.
fn variable_type(tensor: &Tensor<'_>) -> Result<TensorType, OpError> {
    let unsupported = || format!("a variable of {} is not supported", names::type_name(tensor.ty));
    tensor_type(tensor, super::dtype(tensor.ty).ok_or_else(unsupported)?)
}

/// What an operator does with variables, if that is what it does.
fn access(model: &Model<'_>, operator: &Operator<'_>) -> Option<Access> {
    let code = usize::try_from(operator.code).ok().and_then(|code| model.operator_codes.get(code))?;
    super::operators::find(code).ok()?.access()
}

fn handle_name(operator: &Operator<'_>) -> Result<Name, OpError> {
    let options = Options::required_of(operator, var_handle::OPTIONS)?;
    Ok((options.text(var_handle::CONTAINER)?, options.text(var_handle::SHARED_NAME)?))
}

fn position(index: i32) -> Result<usize, OpError> {
    usize::try_from(index).map_err(|_| "an operand is left out".into())
}

fn counts(operator: &Operator<'_>, expected: &str) -> OpError {
    let (operands, results) = (operator.inputs.len(), operator.outputs.len());
    format!("{operands} operands and {results} results, expected {expected}").into()
}
