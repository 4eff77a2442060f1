//! Control flow: operators that run other subgraphs.
//!
//! A subgraph becomes a graph once, whatever runs it. `IF` and `WHILE` have such graphs as
//! regions; that of `CALL` is put in its place. Since subgraphs may share subgraphs, a
//! small file can describe a large model: how large is limited, and how deep.

use std::collections::HashMap;

use super::node::{Kind, kind};
use super::operators::{Known, Meaning, known_as};
use super::schema::Operator;
use super::{Importer, limited, structure};
use crate::error::{OpError, Problem};
use crate::graph::{Data, Graph, GraphBuilder, TensorId, TensorType};
use crate::ops::{If, Op, Region, Reshape, While};
use crate::passes::Budget;

pub(super) const OPERATORS: &[Known] = &[
    known_as("CALL", Meaning::Control(Runs::Call)),
    known_as("IF", Meaning::Control(Runs::If)),
    known_as("WHILE", Meaning::Control(Runs::While)),
];

/// Which subgraphs an operator runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runs {
    /// One.
    Call,
    /// One of two.
    If,
    /// Two, again and again.
    While,
}

impl Runs {
    const fn options(self) -> Kind {
        match self {
            Self::Call => kind(16, "CallOptions", 1),
            Self::If => kind(92, "IfOptions", 2),
            Self::While => kind(93, "WhileOptions", 2),
        }
    }
}

/// What the subgraphs of a file share.
#[derive(Debug, Default)]
pub(super) struct Subgraphs {
    /// For each buffer, its bytes once they are used: tensors may share them.
    pub(super) data: Vec<Option<Data>>,
    /// The subgraphs that are being read: the main one, and each run by the one before it.
    path: Vec<usize>,
    /// Those that have been read; `None` where a problem has been reported.
    known: HashMap<usize, Option<Region>>,
    /// Parts of all graphs that calls became.
    inlined: usize,
    /// What may be computed already, since the shapes of later tensors depend on it.
    pub(super) folding: Budget,
}

impl Subgraphs {
    pub(super) fn new(buffers: usize, main: usize) -> Self {
        Self { data: vec![None; buffers], path: vec![main], ..Self::default() }
    }

    /// Notes that a subgraph is going to be read.
    fn enter(&mut self, subgraph: usize) -> Result<(), OpError> {
        let path = &self.path;
        if let Some(start) = path.iter().position(|other| *other == subgraph) {
            let names: Vec<_> = path[start..].iter().chain([&subgraph]).map(ToString::to_string).collect();
            return Err(format!("subgraphs run each other without end: {}", names.join(" → ")).into());
        }
        if path.len() > GraphBuilder::MAX_DEPTH {
            let message = format!("subgraphs within subgraphs are deeper than {}", GraphBuilder::MAX_DEPTH);
            return Err(message.into());
        }
        if self.known.len() + path.len() > GraphBuilder::MAX_REGIONS {
            return Err(format!("more than {} subgraphs are run", GraphBuilder::MAX_REGIONS).into());
        }
        self.path.push(subgraph);
        Ok(())
    }
}

impl<'m> Importer<'m> {
    /// Adds an operator that runs subgraphs.
    pub(super) fn control(
        &mut self,
        index: usize,
        operator: &'m Operator<'m>,
        runs: Runs,
        operands: Vec<Option<TensorId>>,
    ) -> Result<(), OpError> {
        let outputs: Vec<_> =
            operator.outputs.iter().map(|index| usize::try_from(*index).unwrap_or_default()).collect();
        let Some(types) = self.types(&outputs) else { return Ok(()) };
        let Some(result) = types.first() else { return Ok(()) };
        let node = self.view(operator, Vec::new(), result);
        let options = node.options(runs.options())?;
        // The second one of `CALL`, which has one, is not looked at.
        let positions = [options.i32(0)?, options.i32(1)?];
        let mut region = |i: usize| self.region(index, positions[i]);
        match runs {
            Runs::Call => {
                let Some(region) = region(0)? else { return Ok(()) };
                self.call(index, &region, operands, &outputs, types)
            }
            Runs::If | Runs::While => {
                // Both are looked at, so that all problems are found.
                let (Some(first), Some(second)) = (region(0)?, region(1)?) else { return Ok(()) };
                let regions = [first, second];
                let op: Op = match runs {
                    Runs::While => While { regions }.into(),
                    _ => If { regions }.into(),
                };
                self.declare(index, op, operands, (&outputs, types), Vec::new())?;
                Ok(())
            }
        }
    }

    /// Puts a subgraph in the place of the node that calls it.
    fn call(
        &mut self,
        index: usize,
        region: &Region,
        operands: Vec<Option<TensorId>>,
        outputs: &[usize],
        types: Vec<TensorType>,
    ) -> Result<(), OpError> {
        let tensors: Vec<_> = operands.iter().map(|id| id.map(|id| self.graph.tensor(id))).collect();
        region.check_call("the subgraph", &tensors, &types)?;
        self.subgraphs.inlined += region.parts();
        if self.subgraphs.inlined > GraphBuilder::MAX_PARTS {
            let most = GraphBuilder::MAX_PARTS;
            return Err(format!("what calls run has more than {most} tensors, operators and operands").into());
        }
        let operands: Vec<_> = operands.into_iter().flatten().collect();
        let results = self.graph.inline(region, &operands, index)?;
        // Where they are outputs of the model, they are called as the caller does.
        for ((result, output), ty) in results.into_iter().zip(outputs).zip(types) {
            let op = Reshape { shape: ty.shape.clone() }.into();
            self.declare(index, op, vec![Some(result)], (&[*output], vec![ty]), Vec::new())?;
        }
        Ok(())
    }

    /// The graph of a subgraph that node `index` runs; `None` where a problem with it has
    /// been reported.
    fn region(&mut self, index: usize, subgraph: i32) -> Result<Option<Region>, OpError> {
        let position = usize::try_from(subgraph).map_err(|_| format!("there is no subgraph {subgraph}"))?;
        if let Some(known) = self.subgraphs.known.get(&position) {
            return Ok(known.clone());
        }
        self.subgraphs.enter(position)?;
        let read = self.read_subgraph(position);
        self.subgraphs.path.pop();
        let region = match read {
            Ok(graph) => Some(graph.into()),
            Err(problems) => {
                for Problem { location, message, items, help } in limited(problems) {
                    let message = format!("subgraph {position}: {location}{message}");
                    let problem = Problem { items, help, ..Problem::new(message) };
                    self.graph.problem(problem.at(structure::location(self.model, index)));
                }
                None
            }
        };
        self.subgraphs.known.insert(position, region.clone());
        Ok(region)
    }

    fn read_subgraph(&mut self, position: usize) -> Result<Graph, Vec<Problem>> {
        let model = self.model.subgraph(position).map_err(|problem| vec![problem])?;
        let mut importer =
            Importer::new(&model, self.config, String::new(), std::mem::take(&mut self.subgraphs));
        let read = importer.read();
        self.subgraphs = std::mem::take(&mut importer.subgraphs);
        importer.finish(read?)
    }
}
