//! Variables: tensors that a model keeps from run to run.
//!
//! A file has handles to them, reads and assigns in the order of its operators, and
//! perhaps a subgraph that assigns what they are at first, which runs once. In the graph,
//! a variable is a state: what it is at the start of a run, and what it is at the end;
//! between them, an assignment gives the tensor that later reads are.

use std::collections::HashMap;

use super::operators::{Known, variable};
use super::schema::{Model, Operator};
use super::{Importer, Value, tensor_type};
use crate::error::OpError;
use crate::graph::{Data, TensorId};

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
    initial: HashMap<Name, Data>,
    /// Positions in `states`.
    known: HashMap<Name, usize>,
    states: Vec<State>,
}

#[derive(Debug)]
struct State {
    before: TensorId,
    /// What it is now.
    current: TensorId,
}

mod call_once {
    pub(super) const CODE: u8 = 103;
    pub(super) const SUBGRAPH: usize = 0;
}

mod var_handle {
    pub(super) const CODE: u8 = 111;
    pub(super) const CONTAINER: usize = 0;
    pub(super) const SHARED_NAME: usize = 1;
}

impl Importer<'_> {
    /// Does what operator `operator` says.
    pub(super) fn variable(&mut self, operator: &Operator<'_>, access: Access) -> Result<(), OpError> {
        if self.subgraphs.within() {
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

    /// The variable that a handle stands for; it has the type of tensor `like`.
    fn state(&mut self, handle: i32, like: usize) -> Result<usize, OpError> {
        let handle = position(handle)?;
        let name = self.variables.handles.get(&handle).cloned();
        let name = name.ok_or("the first operand is no handle of a variable")?;
        if let Some(known) = self.variables.known.get(&name) {
            return Ok(*known);
        }
        let tensor = self.model.tensors.get(like).ok_or("there is no such tensor")?;
        let dtype = super::dtype(tensor.ty).ok_or("the variable is of a type that is not supported")?;
        let ty = tensor_type(tensor, dtype)?;
        let text = String::from_utf8_lossy(&name.1).into_owned();
        let initial = self.variables.initial.get(&name);
        // One that is never initialised is zero.
        let data = initial.map_or_else(|| Data::from_bytes(vec![0; ty.bytes()]), Data::clone);
        let initial = self.graph.constant(format!("{text} at first"), ty, data);
        let before = self.graph.state(text, initial);
        let position = self.variables.states.len();
        self.variables.states.push(State { before, current: before });
        self.variables.known.insert(name, position);
        Ok(position)
    }

    /// Reads the subgraph that assigns what variables are at first.
    fn call_once(&mut self, operator: &Operator<'_>) -> Result<(), OpError> {
        let subgraph = match operator.options()? {
            (call_once::CODE, Some(table)) => table.scalar(call_once::SUBGRAPH, 0_i32)?,
            _ => return Err("CallOnceOptions are missing".into()),
        };
        let subgraph = usize::try_from(subgraph).ok().filter(|index| *index != 0);
        let subgraph = subgraph.ok_or("calls the subgraph that it is in")?;
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
                    self.variables.initial.insert(name.clone(), Data::from_bytes(bytes));
                }
                _ => {
                    return Err("runs more than assignments of constants once, which is not supported".into());
                }
            }
        }
        Ok(())
    }
}

/// What an operator does with variables, if that is what it does.
fn access(model: &Model<'_>, operator: &Operator<'_>) -> Option<Access> {
    let code = usize::try_from(operator.code).ok().and_then(|code| model.operator_codes.get(code))?;
    super::operators::find(code).ok()?.access()
}

fn handle_name(operator: &Operator<'_>) -> Result<Name, OpError> {
    let (var_handle::CODE, Some(table)) = operator.options()? else {
        return Err("VarHandleOptions are missing".into());
    };
    let text = |slot| Ok::<_, OpError>(table.bytes(slot)?.unwrap_or_default().to_vec());
    Ok((text(var_handle::CONTAINER)?, text(var_handle::SHARED_NAME)?))
}

fn position(index: i32) -> Result<usize, OpError> {
    usize::try_from(index).map_err(|_| "an operand is left out".into())
}

fn counts(operator: &Operator<'_>, expected: &str) -> OpError {
    let (operands, results) = (operator.inputs.len(), operator.outputs.len());
    format!("{operands} operands and {results} results, expected {expected}").into()
}
