//! Builds a graph and checks every node as it comes.

use super::{Data, Graph, Node, Quantization, State, Tensor, TensorId, TensorType};
use crate::error::{Location, OpError, Problem};
use crate::ops::{Op, edges};

/// A node as a model file states it.
#[derive(Clone, Debug)]
pub struct NodeDeclaration {
    /// Name in the file; the name of the first output where it has none.
    pub name: String,
    /// Position in the file.
    pub index: usize,
    /// The operator and its attributes.
    pub op: Op,
    /// Operands; `None` where an optional one is left out.
    pub inputs: Vec<Option<TensorId>>,
    /// Results.
    pub outputs: Vec<OutputDeclaration>,
}

/// A node's result as a model file states it.
#[derive(Clone, Debug)]
pub struct OutputDeclaration {
    /// Name of the tensor.
    pub name: String,
    /// Its type, where the file states one. Element type and extents are computed
    /// again and must agree; quantization is taken from here.
    pub ty: Option<TensorType>,
    /// Axes along which the file does not know the extent: what it states there does not
    /// count.
    pub open: Vec<usize>,
}

/// Collects tensors and nodes, and every problem with them.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    graph: Graph,
    problems: Vec<Problem>,
    /// Graphs that nodes run, and their parts.
    within: Size,
}

impl GraphBuilder {
    /// Most inputs, and most outputs: each becomes a parameter or field of the runner.
    pub const MAX_PORTS: usize = 1024;
    /// Most nodes: far more than any model has, few enough that all that is done with each
    /// takes seconds.
    pub const MAX_NODES: usize = 1 << 16;
    /// Most operands, and most results, of a node.
    pub const MAX_OPERANDS: usize = 1024;
    /// Most bytes of a tensor: what a target of 32 bits can address in one piece.
    pub const MAX_TENSOR_BYTES: usize = i32::MAX as usize;

    /// Most graphs within graphs.
    pub const MAX_DEPTH: usize = 16;
    /// Most graphs that run in one, counted as often as they are there: each is planned.
    pub const MAX_REGIONS: usize = 256;
    /// Most tensors, operators, operands and results of all these.
    pub const MAX_PARTS: usize = 1 << 20;

    /// Starts a graph.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { graph: Graph { name: name.into(), ..Graph::default() }, ..Self::default() }
    }

    /// Adds a problem that the importer found.
    pub fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The tensor with this id.
    #[must_use]
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        self.graph.tensor(id)
    }

    /// Adds an input of the graph.
    pub fn input(&mut self, name: impl Into<String>, ty: TensorType) -> TensorId {
        let id = self.add(Tensor { name: name.into(), ty, data: None });
        self.graph.inputs.push(id);
        id
    }

    /// Adds a constant. Its bytes must be as many as its type says.
    pub fn constant(&mut self, name: impl Into<String>, ty: TensorType, data: Data) -> TensorId {
        let name = name.into();
        if data.bytes().len() != ty.bytes() {
            let message = format!("{ty} has {} bytes, the data {}", ty.bytes(), data.bytes().len());
            self.problems.push(Problem::new(message).at(Location::Tensor(name.clone())));
        }
        let has_four_bits = ty.quantization.as_ref().is_some_and(Quantization::four_bits);
        let fits = |byte: &u8| (-8..8).contains(&byte.cast_signed());
        if let Some(byte) = data.bytes().iter().find(|byte| has_four_bits && !fits(byte)) {
            let message = format!("element {} does not fit 4 bits", byte.cast_signed());
            self.problems.push(Problem::new(message).at(Location::Tensor(name.clone())));
        }
        self.add(Tensor { name, ty, data: Some(data) })
    }

    /// Adds a node and infers the types of its results.
    ///
    /// Where inference fails, the results take their declared types so that the
    /// rest of the model is still looked at; `None` where there is none.
    ///
    /// A node whose results have no elements is none: they are constants.
    pub fn node(&mut self, declaration: NodeDeclaration) -> Vec<Option<TensorId>> {
        let NodeDeclaration { name, index, op, mut inputs, outputs } = declaration;
        let operands: Vec<_> = inputs.iter().map(|id| id.map(|id| self.graph.tensor(id))).collect();
        let location = Location::Node { index, name: name.clone(), operator: op.label().into() };
        let limited = check_count(inputs.len(), "operands").and_then(|()| self.within.add(&op));
        let limited = limited.and_then(|()| edges::check_operands(&op, &operands));
        let types = limited.and_then(|()| op.infer(&operands)).and_then(|inferred| {
            if inferred.len() == outputs.len() {
                edges::check_results(&op, &inferred).map(|()| inferred)
            } else {
                Err(format!("{} results are declared, there are {}", outputs.len(), inferred.len()).into())
            }
        });
        let types = match types {
            Ok(types) => types.into_iter().map(Some).collect(),
            Err(error) => {
                self.problems.push(Problem::from(error).at(location.clone()));
                vec![None; outputs.len()]
            }
        };
        let mut ids = Vec::new();
        for (inferred, OutputDeclaration { name, ty: declared, open }) in types.into_iter().zip(outputs) {
            if let (Some(inferred), Some(declared)) = (&inferred, &declared)
                && (inferred.dtype != declared.dtype || !inferred.shape.agrees(&declared.shape, &open))
            {
                let message = format!("`{name}` is declared as {declared}, computed is {inferred}");
                self.problems.push(Problem::new(message).at(location.clone()));
            }
            let ty = match (inferred, declared) {
                (Some(inferred), Some(declared)) => {
                    Some(TensorType { quantization: declared.quantization, ..inferred })
                }
                (inferred, declared) => inferred.or(declared),
            };
            ids.push(ty.map(|ty| self.add(Tensor { name, ty, data: None })));
        }
        if let Some(outputs) = ids.iter().copied().collect::<Option<Vec<_>>>() {
            if outputs.iter().all(|id| self.tensor(*id).ty.is_empty()) {
                for id in outputs {
                    self.graph.tensors[id.0].data = Some(Data::from_bytes([]));
                }
            } else {
                edges::leave_out(&op, &mut inputs, |id| self.graph.tensor(id).ty.is_empty());
                self.graph.nodes.push(Node { name, index, op, inputs, outputs });
            }
        }
        ids
    }

    /// Puts constants in the place of the last node, where `fold` gives what its results are.
    #[cfg(feature = "tflite")]
    pub(crate) fn fold_last(&mut self, fold: impl FnOnce(&Graph, &Node) -> Option<Vec<Vec<u8>>>) {
        // A constant that has a problem may have too few bytes.
        let last = self.graph.nodes.last().filter(|_| self.problems.is_empty());
        let results = last.and_then(|node| fold(&self.graph, node));
        let Some((results, node)) = results.and_then(|results| Some((results, self.graph.nodes.pop()?)))
        else {
            return;
        };
        for (id, bytes) in node.outputs.iter().zip(results) {
            self.graph.tensors[id.0].data = Some(Data::from_bytes(bytes));
        }
    }

    /// Puts `region` here, with these operands as its inputs; gives what its outputs have
    /// become. They must be as many, and of the same types.
    ///
    /// # Errors
    ///
    /// When there are too many graphs in this one then.
    #[cfg(feature = "tflite")]
    pub(crate) fn inline(
        &mut self,
        region: &Graph,
        operands: &[TensorId],
        index: usize,
    ) -> Result<Vec<TensorId>, OpError> {
        region.nodes.iter().try_for_each(|node| self.within.add(&node.op))?;
        Ok(self.graph.inline(region, operands, index))
    }

    /// Adds a tensor that is kept from run to run and starts as the constant `initial`;
    /// gives what it is at the start of a run. [`GraphBuilder::keep`] says what it becomes.
    pub fn state(&mut self, name: impl Into<String>, initial: TensorId) -> TensorId {
        let ty = self.graph.tensor(initial).ty.clone();
        let before = self.add(Tensor { name: name.into(), ty, data: None });
        self.graph.states.push(State { before, after: before, initial });
        before
    }

    /// Says what the state that starts as `before` is at the end of a run.
    pub fn keep(&mut self, before: TensorId, after: TensorId) {
        let types = [before, after].map(|id| self.graph.tensor(id).ty.clone());
        let name = self.graph.tensor(before).name.clone();
        if types[0] != types[1] {
            let message = format!("the state is {}, and becomes {}", types[0], types[1]);
            self.problems.push(Problem::new(message).at(Location::Tensor(name)));
        }
        if let Some(state) = self.graph.states.iter_mut().find(|state| state.before == before) {
            state.after = after;
        }
    }

    /// Stands in for the result of a node that the importer does not understand and
    /// has reported, so that the nodes after it are still looked at.
    pub fn stand_in(&mut self, name: impl Into<String>, ty: TensorType) -> TensorId {
        self.add(Tensor { name: name.into(), ty, data: None })
    }

    /// Ends the graph.
    ///
    /// # Errors
    ///
    /// All problems that were found.
    pub fn finish(mut self, outputs: Vec<TensorId>) -> Result<Graph, Vec<Problem>> {
        for (ports, what) in [(&self.graph.inputs, "inputs"), (&outputs, "outputs")] {
            if ports.len() > Self::MAX_PORTS {
                let message =
                    format!("the model has {} {what}, the limit is {}", ports.len(), Self::MAX_PORTS);
                self.problems.push(Problem::new(message));
            }
        }
        let (nodes, limit) = (self.graph.nodes.len(), Self::MAX_NODES);
        if nodes > limit {
            self.problems
                .push(Problem::new(format!("the model has {nodes} operators, the limit is {limit}")));
        }
        self.graph.outputs = outputs;
        if self.problems.is_empty() { Ok(self.graph) } else { Err(self.problems) }
    }

    /// The problems so far, when outputs cannot even be named.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.problems
    }

    fn add(&mut self, tensor: Tensor) -> TensorId {
        let (bytes, limit) = (tensor.ty.bytes(), Self::MAX_TENSOR_BYTES);
        if bytes > limit {
            let message = format!("{} has {bytes} bytes, the limit is {limit}", tensor.ty);
            self.problems.push(Problem::new(message).at(Location::Tensor(tensor.name.clone())));
        }
        if let Some(quantization) = &tensor.ty.quantization
            && let Err(message) = quantization.check(tensor.ty.dtype, &tensor.ty.shape)
        {
            self.problems.push(Problem::new(message).at(Location::Tensor(tensor.name.clone())));
        }
        self.graph.tensors.push(tensor);
        TensorId(self.graph.tensors.len() - 1)
    }
}

/// Checks the number of operands or results of a node.
///
/// # Errors
///
/// When there are more than [`GraphBuilder::MAX_OPERANDS`].
pub(crate) fn check_count(found: usize, what: &str) -> Result<(), OpError> {
    let limit = GraphBuilder::MAX_OPERANDS;
    if found > limit { Err(format!("{found} {what}, the limit is {limit}").into()) } else { Ok(()) }
}

/// What regions amount to.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    graphs: usize,
    parts: usize,
}

impl Size {
    /// Adds the regions of an operator.
    fn add(&mut self, op: &Op) -> Result<(), OpError> {
        if op.regions().iter().any(|region| region.depth() >= GraphBuilder::MAX_DEPTH) {
            return Err(format!("graphs within graphs are deeper than {}", GraphBuilder::MAX_DEPTH).into());
        }
        for region in op.regions() {
            self.add_graph(region);
        }
        if self.graphs > GraphBuilder::MAX_REGIONS {
            return Err(format!("more than {} graphs run in one", GraphBuilder::MAX_REGIONS).into());
        }
        if self.parts > GraphBuilder::MAX_PARTS {
            let message =
                format!("the graphs that run in one have more than {} parts", GraphBuilder::MAX_PARTS);
            return Err(message.into());
        }
        Ok(())
    }

    fn add_graph(&mut self, graph: &Graph) {
        self.graphs += 1;
        self.parts += graph.parts();
        for region in graph.nodes.iter().flat_map(|node| node.op.regions()) {
            self.add_graph(region);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::sketch::{f32_type, i8_type};

    #[test]
    fn too_many_ports() {
        let mut builder = GraphBuilder::new("wide");
        let inputs: Vec<_> =
            (0..=GraphBuilder::MAX_PORTS).map(|i| builder.input(format!("x{i}"), f32_type([1]))).collect();
        let problems = builder.finish(inputs).unwrap_err();
        let messages: Vec<_> = problems.iter().map(|problem| problem.message.as_str()).collect();
        let expect =
            ["inputs", "outputs"].map(|what| format!("the model has 1025 {what}, the limit is 1024"));
        assert_eq!(messages, expect);
    }

    #[test]
    fn elements_of_four_bits() {
        for (values, expect) in [([-8, 7], None), ([-9, 0], Some("element -9")), ([0, 8], Some("element 8"))]
        {
            let mut builder = GraphBuilder::new("nibbles");
            let mut ty = i8_type([2], 0.5, 0);
            ty.quantization = ty.quantization.map(Quantization::of_four_bits);
            builder.constant("c", ty, Data::from_i8s(&values));
            let problem = builder.into_problems().pop().map(|problem| problem.message);
            assert_eq!(problem, expect.map(|element| format!("{element} does not fit 4 bits")), "{values:?}");
        }
    }
}
