//! Checks how tensors, operators, inputs and outputs refer to each other, before any
//! of them is looked at closely.

use std::collections::BTreeMap;

use super::operators::{Known, find};
use super::schema::Model;
use crate::error::{Location, Problem};
use crate::graph::GraphBuilder;
use crate::report::label;

/// Who gives a tensor its elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// Nobody, so far.
    None,
    Constant,
    /// It is kept from run to run.
    Variable,
    Input,
    /// The operator at this position.
    Operator(usize),
}

/// What each operator is; `None` where it is not known.
pub(super) type Operators = Vec<Option<&'static Known>>;

/// What the check of a model's structure gives.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) operators: Operators,
    /// The operators that are not known: the others can still be looked at.
    pub(super) unsupported: Option<Problem>,
    /// References that are wrong: no operator can be looked at.
    pub(super) problems: Vec<Problem>,
}

/// Finds the operators and checks all references.
pub(super) fn check(model: &Model<'_>) -> Checked {
    let mut check = Check { model, origins: origins(model), problems: Vec::new() };
    let (operators, unsupported) = check.operators();
    check.inputs();
    check.references(&operators);
    check.outputs();
    Checked { operators, unsupported, problems: check.problems }
}

fn origins(model: &Model<'_>) -> Vec<Origin> {
    let origin = |tensor: &super::schema::Tensor<'_>| match model.buffer(tensor.buffer) {
        // A buffer that cannot be read is reported when the tensor is.
        Ok(Some(_)) | Err(_) => Origin::Constant,
        Ok(None) if tensor.is_variable => Origin::Variable,
        Ok(None) => Origin::None,
    };
    model.tensors.iter().map(origin).collect()
}

struct Check<'m> {
    model: &'m Model<'m>,
    origins: Vec<Origin>,
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn problem(&mut self, operator: usize, message: String) {
        self.problems.push(Problem::new(message).at(location(self.model, operator)));
    }

    /// The tensor that `index` refers to, when there is one.
    fn tensor(&self, index: i32) -> Result<usize, String> {
        let count = self.model.tensors.len();
        let position = usize::try_from(index).ok().filter(|position| *position < count);
        position.ok_or_else(|| format!("tensor {index} does not exist, there are {count}"))
    }

    /// Whether a tensor has no elements: as a constant, such as the shape of a scalar,
    /// it has no bytes.
    fn is_empty(&self, tensor: usize) -> bool {
        self.model.tensors.get(tensor).is_some_and(|tensor| tensor.shape.contains(&0))
    }

    fn operators(&mut self) -> (Operators, Option<Problem>) {
        // Those in use: a file may have many more, and many subgraphs.
        let used = self.model.operators.iter().filter_map(|operator| usize::try_from(operator.code).ok());
        let codes = used.filter_map(|code| Some((code, find(self.model.operator_codes.get(code)?))));
        let codes: BTreeMap<usize, _> = codes.collect();
        let mut unknown: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut operators = Vec::new();
        for (i, operator) in self.model.operators.iter().enumerate() {
            let code = usize::try_from(operator.code).ok().and_then(|code| codes.get(&code));
            operators.push(code.and_then(|code| code.as_ref().ok().copied()));
            match code {
                Some(Ok(_)) => {}
                Some(Err(name)) => unknown.entry(name).or_default().push(i),
                None => {
                    let (code, count) = (operator.code, self.model.operator_codes.len());
                    self.problem(i, format!("operator code {code} does not exist, there are {count}"));
                }
            }
        }
        let unsupported = (!unknown.is_empty()).then(|| unsupported(self.model, unknown));
        (operators, unsupported)
    }

    /// Checks the number of inputs or outputs.
    fn count(&mut self, count: usize, what: &str) {
        if count > GraphBuilder::MAX_PORTS {
            let limit = GraphBuilder::MAX_PORTS;
            let message = format!("the model has {count} {what}s, the limit is {limit}");
            self.problems.push(Problem::new(message));
        }
    }

    fn inputs(&mut self) {
        self.count(self.model.inputs.len(), "input");
        for (i, index) in self.model.inputs.iter().enumerate() {
            let problem = match self.tensor(*index) {
                Err(problem) => problem,
                Ok(tensor) => match self.origins[tensor] {
                    Origin::None => {
                        self.origins[tensor] = Origin::Input;
                        continue;
                    }
                    Origin::Input => format!("{} is named twice", self.model.describe(tensor)),
                    Origin::Variable => format!("{} is a variable", self.model.describe(tensor)),
                    Origin::Constant | Origin::Operator(_) => {
                        format!("{} is a constant", self.model.describe(tensor))
                    }
                },
            };
            self.problems.push(Problem::new(format!("input {i} of the model: {problem}")));
        }
    }

    fn references(&mut self, operators: &Operators) {
        let writers = self.writers();
        for (i, operator) in self.model.operators.iter().enumerate() {
            // What an unknown operator reads, say a variable, may follow other rules.
            let known = operators.get(i).copied().flatten().is_some();
            for index in operator.inputs.iter().filter(|index| **index != -1) {
                let tensor = match self.tensor(*index) {
                    Ok(tensor) => tensor,
                    Err(problem) => {
                        self.problem(i, problem);
                        continue;
                    }
                };
                if !known || self.origins[tensor] != Origin::None || self.is_empty(tensor) {
                    continue;
                }
                let name = self.model.describe(tensor);
                let message = match writers[tensor] {
                    Some(writer) if writer == i => format!("reads and writes {name}"),
                    Some(writer) => format!("reads {name} before node #{writer} writes it"),
                    None => format!("reads {name}, which is no input, has no data, and nothing writes it"),
                };
                self.problem(i, message);
            }
            for index in &operator.outputs {
                self.write(i, *index);
            }
        }
    }

    fn write(&mut self, operator: usize, index: i32) {
        let tensor = match self.tensor(index) {
            Ok(tensor) => tensor,
            Err(problem) => return self.problem(operator, problem),
        };
        let taken = match self.origins[tensor] {
            Origin::None => {
                self.origins[tensor] = Origin::Operator(operator);
                return;
            }
            Origin::Constant => "is a constant".to_owned(),
            Origin::Variable => "is a variable".to_owned(),
            Origin::Input => "is an input of the model".to_owned(),
            Origin::Operator(other) => format!("has been written by node #{other}"),
        };
        let name = self.model.describe(tensor);
        self.problem(operator, format!("writes {name}, which {taken}"));
    }

    /// The first operator that writes each tensor.
    fn writers(&self) -> Vec<Option<usize>> {
        let mut writers = vec![None; self.model.tensors.len()];
        for (i, operator) in self.model.operators.iter().enumerate() {
            for index in &operator.outputs {
                if let Ok(tensor) = self.tensor(*index) {
                    writers[tensor].get_or_insert(i);
                }
            }
        }
        writers
    }

    fn outputs(&mut self) {
        self.count(self.model.outputs.len(), "output");
        for (i, index) in self.model.outputs.iter().enumerate() {
            let problem = match self.tensor(*index) {
                Err(problem) => problem,
                Ok(tensor) if self.origins[tensor] == Origin::None && !self.is_empty(tensor) => {
                    format!("nothing writes {}", self.model.describe(tensor))
                }
                Ok(_) => continue,
            };
            self.problems.push(Problem::new(format!("output {i} of the model: {problem}")));
        }
    }
}

/// One problem for all operators that are not known, in the order of their first nodes.
fn unsupported(model: &Model<'_>, operators: BTreeMap<&str, Vec<usize>>) -> Problem {
    let mut operators: Vec<_> = operators.into_iter().collect();
    operators.sort_by_key(|(_, nodes)| nodes.first().copied());
    let item = |(name, nodes): &(&str, Vec<usize>)| {
        let listed = listed(nodes, |node| match output_name(model, node) {
            Some(name) => format!("#{node} `{}`", label(name)),
            None => format!("#{node}"),
        });
        format!("{name} ({}: {listed})", counted(nodes.len(), "node"))
    };
    let count = counted(operators.len(), "operator");
    let verb = if operators.len() == 1 { "is" } else { "are" };
    let problem =
        Problem::new(format!("{count} {verb} not supported")).items(operators.iter().map(item).collect());
    match operators.first().and_then(|(_, nodes)| nodes.first()) {
        None | Some(0) => problem,
        Some(first) => {
            problem.help(format!("cut the model before node #{first} and compute the rest in Rust"))
        }
    }
}

/// `1 node`, `2 nodes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The first few, and how many more there are.
pub(super) fn listed(positions: &[usize], name: impl Fn(usize) -> String) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<_> = positions.iter().take(SHOWN).map(|position| name(*position)).collect();
    if positions.len() > SHOWN {
        names.push(format!("and {} more", positions.len() - SHOWN));
    }
    names.join(", ")
}

/// Where an operator is: it is named by its first result.
pub(super) fn location(model: &Model<'_>, index: usize) -> Location {
    let operator = model.operators.get(index).and_then(|operator| {
        let code = model.operator_codes.get(usize::try_from(operator.code).ok()?)?;
        Some(super::names::operator_name(code.builtin))
    });
    let name = output_name(model, index).unwrap_or_default().to_owned();
    Location::Node { index, name, operator: operator.unwrap_or_default() }
}

fn output_name<'m>(model: &'m Model<'_>, operator: usize) -> Option<&'m str> {
    let output = *model.operators.get(operator)?.outputs.first()?;
    model.tensors.get(usize::try_from(output).ok()?)?.name.as_deref()
}
