//! The nodes of a file, in an order in which they can run, and the graph of them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use aot_rt::DType;
use serde_json::value::RawValue;

use super::format::{Document, Name, NodeEntry, NodeResults, RegionEntry, StateEntry, Unread};
use super::order::order;
use super::tensors::{self, Declaration, Declarations, Role};
use super::text::{Findings, message};
use crate::error::{Location, Problem};
use crate::graph::{Graph, GraphBuilder, NodeDeclaration, OutputDeclaration, TensorId};
use crate::import::Source;
use crate::ops::Op;

/// Most nodes of a cycle that are named.
const MAX_NAMES: usize = 10;

/// Builds the graph of a document.
pub(super) fn read<'a>(
    document: Document<'a>,
    source: &mut Source,
    mut findings: Findings<'a>,
) -> Result<Graph, Vec<Problem>> {
    let name = document.name.unwrap_or_else(|| source.name());
    let Document { tensors, inputs, outputs, states, nodes, .. } = document;
    let main = RegionEntry { tensors, inputs, outputs, nodes };
    let graph = graph(name, main, states, 0, source, &mut findings);
    graph.ok_or_else(|| findings.into_problems())
}

/// Builds a graph, the model's or a region's; `None` where it has a problem.
pub(super) fn graph<'a>(
    name: String,
    entry: RegionEntry<'a>,
    states: Option<Unread<'a, Vec<StateEntry<'a>>>>,
    depth: usize,
    source: &mut Source,
    findings: &mut Findings<'a>,
) -> Option<Graph> {
    let before = findings.len();
    let (declared, names) = tensors::read(entry.tensors, source, findings);
    let mut reader = Reader {
        source,
        findings,
        before,
        depth,
        builder: GraphBuilder::new(name),
        declared,
        known: HashMap::new(),
        inputs_known: false,
        computed: HashMap::new(),
        places: Vec::new(),
    };
    reader.inputs(entry.inputs);
    reader.constants(&names);
    let states = reader.states(states);
    reader.nodes(&entry.nodes);
    let outputs = reader.outputs(entry.outputs);
    reader.keep(&states);
    reader.unused(&names);
    reader.finish(outputs)
}

/// A node as far as it can be read.
struct Draft<'a> {
    index: usize,
    /// Its JSON text.
    place: &'a str,
    entry: Option<NodeEntry<'a>>,
    outputs: Vec<Name<'a>>,
}

impl Draft<'_> {
    /// Name of the node; of its first output where it has none.
    fn name(&self) -> &str {
        let name = self.entry.as_ref().and_then(|entry| entry.name.as_deref());
        name.or_else(|| self.outputs.first().map(|output| output.value.as_str())).unwrap_or_default()
    }

    fn location(&self) -> Location {
        let operator = self.entry.as_ref().map(|entry| entry.op.value.clone());
        let (name, operator) = (self.name().to_owned(), operator.unwrap_or_default());
        Location::Node { index: self.index, name, operator }
    }
}

pub(super) struct Reader<'r, 'a> {
    pub(super) source: &'r mut Source,
    pub(super) findings: &'r mut Findings<'a>,
    /// Problems that were found before this graph was read.
    before: usize,
    /// Graphs around this one.
    pub(super) depth: usize,
    pub(super) builder: GraphBuilder,
    pub(super) declared: Declarations<'a>,
    /// The tensors so far; `None` for those whose type is not known because of a
    /// problem that is reported.
    pub(super) known: HashMap<String, Option<TensorId>>,
    /// Whether the list of inputs could be read.
    inputs_known: bool,
    /// The node that computes a tensor.
    computed: HashMap<String, usize>,
    /// Where the nodes are.
    places: Vec<&'a str>,
}

impl<'a> Reader<'_, 'a> {
    fn inputs(&mut self, inputs: Unread<'a, Vec<Name<'a>>>) {
        let names: Option<Vec<Name<'a>>> = self.findings.read(inputs.json, "");
        self.inputs_known = names.is_some();
        let names = names.unwrap_or_default();
        for Name { place, value: name } in &names {
            let message = match self.declared.get_mut(name) {
                None => format!("input `{name}` is not declared in `tensors`"),
                Some(_) if self.known.contains_key(name) => format!("input `{name}` is listed twice"),
                Some(declaration) => {
                    declaration.used = true;
                    let id = declaration.ty.clone().map(|ty| self.builder.input(name, ty));
                    self.known.insert(name.clone(), id);
                    match declaration.role {
                        Role::Constant(_) => format!("input `{name}` has `data`: it is a constant"),
                        Role::Activation | Role::Unknown => continue,
                    }
                }
            };
            self.known.entry(name.clone()).or_insert(None);
            self.findings.add(place, Problem::new(message));
        }
    }

    fn constants(&mut self, names: &[String]) {
        for name in names {
            let Some(Declaration { ty, role: Role::Constant(data), .. }) = self.declared.get_mut(name) else {
                continue;
            };
            if let Entry::Vacant(entry) = self.known.entry(name.clone()) {
                // Where only the elements are wrong, the nodes that read them are still checked.
                entry.insert(ty.clone().map(|ty| match data.take() {
                    Some(data) => self.builder.constant(name, ty, data),
                    None => self.builder.stand_in(name, ty),
                }));
            }
        }
    }

    fn nodes(&mut self, nodes: &[Unread<'a, NodeEntry<'a>>]) {
        let drafts: Vec<_> = nodes.iter().enumerate().map(|(i, node)| self.draft(i, node.json)).collect();
        self.places = nodes.iter().map(|node| node.json).collect();
        for draft in &drafts {
            self.claim(draft);
        }
        let dependencies: Vec<Vec<usize>> = drafts.iter().map(|draft| self.dependencies(draft)).collect();
        match order(&dependencies) {
            Ok(order) => {
                let mut drafts: Vec<_> = drafts.into_iter().map(Some).collect();
                order.into_iter().filter_map(|i| drafts[i].take()).for_each(|draft| self.node(draft));
            }
            Err(cycle) => {
                let first = &drafts[cycle[0]];
                let more = match cycle.len().saturating_sub(MAX_NAMES) {
                    0 => String::new(),
                    more => format!("{more} more → "),
                };
                let names = cycle.iter().take(MAX_NAMES);
                let names: String = names.map(|i| format!("`{}` → ", drafts[*i].name())).collect();
                let message = format!("nodes wait for each other: {names}{more}`{}`", first.name());
                self.findings.add(first.place, Problem::new(message));
                // Nothing can be said about the types of what they compute.
                for Name { value, .. } in drafts.into_iter().flat_map(|draft| draft.outputs) {
                    self.known.entry(value).or_insert(None);
                }
            }
        }
    }

    fn draft(&mut self, index: usize, place: &'a str) -> Draft<'a> {
        match self.findings.object::<NodeEntry<'a>>(place, format!("node #{index}: ")) {
            Some(mut entry) => {
                let outputs = std::mem::take(&mut entry.outputs);
                Draft { index, place, entry: Some(entry), outputs }
            }
            None => {
                let results: NodeResults<'a> = serde_json::from_str(place).unwrap_or_default();
                Draft { index, place, entry: None, outputs: results.outputs }
            }
        }
    }

    /// Notes which tensors a node reads and computes.
    fn claim(&mut self, draft: &Draft<'a>) {
        let inputs = draft.entry.iter().flat_map(|entry| entry.inputs.iter().flatten());
        for name in inputs.chain(&draft.outputs) {
            if let Some(declaration) = self.declared.get_mut(&name.value) {
                declaration.used = true;
            }
        }
        for Name { place, value: name } in &draft.outputs {
            let role = self.declared.get(name).map(|declaration| &declaration.role);
            let message = match self.computed.entry(name.clone()) {
                _ if matches!(role, Some(Role::Constant(_))) => {
                    format!("computes `{name}`, which is a constant")
                }
                _ if self.known.contains_key(name) => {
                    format!("computes `{name}`, which is an input")
                }
                Entry::Occupied(other) if *other.get() == draft.index => format!("computes `{name}` twice"),
                Entry::Occupied(other) => format!("computes `{name}`, as node #{} does", other.get()),
                Entry::Vacant(entry) => {
                    entry.insert(draft.index);
                    continue;
                }
            };
            self.findings.add(place, Problem::new(format!("{}{message}", draft.location())));
        }
    }

    fn dependencies(&self, draft: &Draft<'a>) -> Vec<usize> {
        let inputs = draft.entry.iter().flat_map(|entry| entry.inputs.iter().flatten());
        inputs.filter_map(|name| self.computed.get(&name.value).copied()).collect()
    }

    /// Adds a node; those that it depends on have been added before.
    fn node(&mut self, draft: Draft<'a>) {
        let location = draft.location();
        let name = draft.name().to_owned();
        let Draft { index, place, entry, outputs } = draft;
        let results = entry.and_then(|entry| {
            // Both are looked at before giving up on either.
            let (op, inputs) = (self.op(&entry, place, &location), self.operands(&entry, &location));
            let op = self.regions(op, &entry, &location);
            let outputs = outputs.iter().map(|Name { value: name, .. }| OutputDeclaration {
                name: name.clone(),
                ty: self.declaration(index, name).and_then(|declaration| declaration.ty.clone()),
                open: Vec::new(),
            });
            let outputs = outputs.collect();
            Some(self.builder.node(NodeDeclaration { name, index, op: op?, inputs: inputs?, outputs }))
        });
        let understood = results.is_some();
        let results = results.into_iter().flatten().chain(std::iter::repeat(None));
        for (Name { place, value: name }, id) in outputs.into_iter().zip(results) {
            if self.computed.get(&name) != Some(&index) {
                continue;
            }
            let ty = self.declared.get(&name).map(|declaration| declaration.ty.clone());
            let id = match (id, ty) {
                (None, Some(Some(ty))) if !understood => Some(self.builder.stand_in(&name, ty)),
                (Some(id), None) => {
                    let dtype = self.builder.tensor(id).ty.dtype;
                    if dtype != DType::F32 {
                        let dtype = dtype.name();
                        let message = format!("{location}`{name}` is {dtype} and not declared in `tensors`");
                        let help = "declare its type, and its quantization if it has one";
                        self.findings.add(place, Problem::new(message).help(help));
                    }
                    Some(id)
                }
                (id, _) => id,
            };
            self.known.entry(name).or_insert(id);
        }
    }

    /// The declaration of a tensor, when it is node `index` that computes it.
    fn declaration(&self, index: usize, name: &str) -> Option<&Declaration<'a>> {
        self.declared.get(name).filter(|_| self.computed.get(name) == Some(&index))
    }

    fn op(&mut self, entry: &NodeEntry<'a>, place: &'a str, location: &Location) -> Option<Op> {
        let name = &entry.op.value;
        let json = entry.attributes.map_or("{}", RawValue::get);
        if !json.starts_with('{') {
            self.findings.add(json, Problem::new(format!("{location}expected an object of attributes")));
            return None;
        }
        let error = match Op::deserialize(name, &mut serde_json::Deserializer::from_str(json)) {
            Some(Ok(op)) => return Some(op),
            Some(Err(error)) => error,
            None => {
                let message = format!("{location}there is no operator `{name}`");
                let names = Op::NAMES.iter().copied();
                self.findings.add_near(entry.op.place, Problem::new(message), name, names);
                return None;
            }
        };
        if entry.attributes.is_some() {
            self.findings.add_json(json, location, &error);
        } else {
            // What is missing where there are no attributes is missing in the node.
            self.findings.add(place, Problem::new(format!("{location}{}", message(&error))));
        }
        None
    }

    fn operands(&mut self, entry: &NodeEntry<'a>, location: &Location) -> Option<Vec<Option<TensorId>>> {
        let mut operands = Vec::new();
        let mut complete = true;
        for name in &entry.inputs {
            let id = name.as_ref().and_then(|name| self.find(name, location));
            complete &= name.is_none() || id.is_some();
            operands.push(id);
        }
        complete.then_some(operands)
    }

    /// The tensor with this name; a problem of `owner` when there is none.
    pub(super) fn find(&mut self, name: &Name<'a>, owner: &Location) -> Option<TensorId> {
        let Name { place, value: name } = name;
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        self.known.insert(name.clone(), None);
        let problem = match self.declared.get(name) {
            Some(Declaration { role: Role::Unknown, .. }) => return None,
            Some(_) if !self.inputs_known => return None,
            Some(_) => Problem::new(format!("{owner}`{name}` is never computed"))
                .help("give it `data`, name it in `inputs`, or add the node that computes it"),
            None => {
                let names = self.declared.keys().chain(self.computed.keys()).map(String::as_str);
                let problem = Problem::new(format!("{owner}there is no tensor `{name}`"));
                self.findings.add_near(place, problem, name, names);
                return None;
            }
        };
        self.findings.add(place, problem);
        None
    }

    fn outputs(&mut self, outputs: Unread<'a, Vec<Name<'a>>>) -> Option<Vec<TensorId>> {
        let names: Vec<Name<'a>> = self.findings.read(outputs.json, "")?;
        for name in &names {
            if let Some(declaration) = self.declared.get_mut(&name.value) {
                declaration.used = true;
            }
        }
        let ids: Vec<_> = names.iter().map(|name| self.find(name, &Location::Model)).collect();
        ids.into_iter().collect()
    }

    /// What nothing names is a misspelling or a leftover. Where there are other
    /// problems, it may follow from them.
    fn unused(&mut self, names: &[String]) {
        if self.findings.len() > self.before {
            return;
        }
        for name in names {
            if let Some(Declaration { place, used: false, .. }) = self.declared.get(name) {
                let problem = Problem::new(format!("tensor `{name}` is declared and not used"));
                self.findings.add(place, problem.help("remove it, or name it where it belongs"));
            }
        }
    }

    fn finish(self, outputs: Option<Vec<TensorId>>) -> Option<Graph> {
        let problems = match outputs {
            Some(outputs) if self.findings.len() == self.before => match self.builder.finish(outputs) {
                Ok(graph) => return Some(graph),
                Err(problems) => problems,
            },
            _ => self.builder.into_problems(),
        };
        for problem in problems {
            let place = match &problem.location {
                Location::Node { index, .. } => self.places.get(*index).copied(),
                Location::Tensor(name) => self.declared.get(name).map(|declaration| declaration.place),
                Location::Model | Location::Text { .. } | Location::Key(_) => None,
            };
            let message = format!("{}{}", problem.location, problem.message);
            self.findings.add(place.unwrap_or_default(), Problem { message, ..problem });
        }
        None
    }
}
