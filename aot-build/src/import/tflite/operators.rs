//! What the importer knows of each operator.

use super::control::Runs;
use super::node::Node;
use super::schema::OperatorCode;
use super::types::Rows;
use super::variables::Access;
use super::{
    arithmetic, control, images, layers, lookups, matrices, movement, names, normalizations, recurrent,
    reductions, shapes, signal, sparsity, variables,
};
use crate::error::OpError;
use crate::graph::{Data, GraphBuilder, Shape};
use crate::ops::Op;

/// An operator that is known.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    /// The newest version that is known.
    pub(crate) version: i32,
    /// Fewest and most operands.
    pub(super) operands: [usize; 2],
    /// Which operands are tensors of the graph.
    pub(super) in_graph: InGraph,
    /// Most results.
    pub(super) results: usize,
    /// Which operands are variables that the operator brings up to date: in the graph, they
    /// are further results.
    pub(super) states: &'static [usize],
    /// It keeps its last result, and is given it in the next run as an operand more.
    pub(super) keeps: bool,
    /// Types of operands and result that belong together.
    pub(crate) types: Rows,
    pub(super) meaning: Meaning,
}

/// Makes an operator of the graph from one of the file.
pub(super) type Map = fn(&Node<'_>) -> Result<Op, OpError>;

/// Computes the result of an operator that follows from shapes and constants.
pub(super) type Compute = fn(&Node<'_>) -> Result<(Shape, Data), OpError>;

/// What becomes of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// One of the graph.
    Op(Map),
    /// A constant.
    Constant(Compute),
    /// It runs subgraphs.
    Control(Runs),
    /// It reads or changes a variable.
    Variable(Access),
    /// Its operand, which is sparse in the file, is its result.
    Dense,
}

/// Which operands are tensors of the graph. The others are constants that become
/// attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InGraph {
    /// The first ones: as many as a row of types has.
    First,
    /// All: their type is the first one of a row.
    All,
    /// The first ones, as many as are not refused. A row has the types of as many as it
    /// lists, the operator of the graph says what the others are.
    UpTo(usize),
    /// All but this one; a row has the types of the others.
    AllBut(usize),
    /// This one.
    Only(usize),
    /// These, in the order that the operator of the graph has them in; the types stand in
    /// that order, too.
    These(&'static [usize]),
}

/// Most operands or results of an operator that takes any number.
pub(super) const MANY: usize = GraphBuilder::MAX_OPERANDS;

/// The same for custom operators, whose names are any.
const CUSTOM_FAMILIES: [&[Known]; 1] = [signal::OPERATORS];

/// A table for each family of operators, beside the functions that map them.
const FAMILIES: &[&[Known]] = &[
    arithmetic::OPERATORS,
    control::OPERATORS,
    images::OPERATORS,
    layers::OPERATORS,
    lookups::OPERATORS,
    matrices::OPERATORS,
    movement::OPERATORS,
    normalizations::OPERATORS,
    recurrent::OPERATORS,
    reductions::OPERATORS,
    shapes::OPERATORS,
    sparsity::OPERATORS,
    variables::OPERATORS,
];

pub(super) const fn known(
    name: &'static str,
    version: i32,
    operands: [usize; 2],
    types: Rows,
    map: Map,
) -> Known {
    let meaning = Meaning::Op(map);
    new(name, version, operands, types, meaning)
}

/// An operator that takes any operands and gives any results.
pub(super) const fn known_as(name: &'static str, meaning: Meaning) -> Known {
    Known { in_graph: InGraph::All, results: MANY, ..new(name, 1, [0, MANY], &[], meaning) }
}

pub(super) const fn variable(name: &'static str, access: Access) -> Known {
    let meaning = Meaning::Variable(access);
    Known { in_graph: InGraph::All, ..new(name, 1, [0, 2], &[], meaning) }
}

/// An operator that is computed when the file is read.
pub(super) const fn constant(
    name: &'static str,
    operands: [usize; 2],
    types: Rows,
    compute: Compute,
) -> Known {
    new(name, 1, operands, types, Meaning::Constant(compute))
}

pub(super) const fn new(
    name: &'static str,
    version: i32,
    operands: [usize; 2],
    types: Rows,
    meaning: Meaning,
) -> Known {
    Known {
        name,
        version,
        operands,
        in_graph: InGraph::First,
        results: 1,
        states: &[],
        keeps: false,
        types,
        meaning,
    }
}

impl Known {
    /// What the operator does with variables, if that is what it does.
    pub(super) fn access(&self) -> Option<Access> {
        match self.meaning {
            Meaning::Variable(access) => Some(access),
            Meaning::Op(_) | Meaning::Constant(_) | Meaning::Control(_) | Meaning::Dense => None,
        }
    }

    /// Whether all operands are tensors of the graph, of the type that a row begins with.
    pub(crate) fn takes_any_number(&self) -> bool {
        self.in_graph == InGraph::All && !self.types.is_empty()
    }

    /// All operands are tensors of the graph.
    pub(super) const fn of_all(self) -> Self {
        Self { in_graph: InGraph::All, ..self }
    }

    /// Only this operand is a tensor of the graph.
    pub(super) const fn of_operand(self, operand: usize) -> Self {
        Self { in_graph: InGraph::Only(operand), ..self }
    }

    /// Only these operands are tensors of the graph.
    pub(super) const fn of_operands(self, operands: &'static [usize]) -> Self {
        Self { in_graph: InGraph::These(operands), ..self }
    }

    /// The first `operands` are tensors of the graph, of whatever types the operator takes;
    /// any of them may be left out. Those at `states` are variables.
    pub(super) const fn recurrent(self, operands: usize, states: &'static [usize]) -> Self {
        Self { in_graph: InGraph::UpTo(operands), states, ..self }
    }

    /// Its last result is kept for the next run.
    pub(super) const fn keeping(self) -> Self {
        Self { keeps: true, ..self }
    }

    /// All operands but this one are tensors of the graph.
    pub(super) const fn but_operand(self, operand: usize) -> Self {
        Self { in_graph: InGraph::AllBut(operand), ..self }
    }

    /// There may be several results.
    pub(super) const fn with_results(self) -> Self {
        Self { results: MANY, ..self }
    }
}

/// All operators, family by family.
pub(crate) fn operators() -> impl Iterator<Item = &'static Known> {
    FAMILIES.iter().chain(&CUSTOM_FAMILIES).copied().flatten()
}

/// The operator that a code stands for.
///
/// # Errors
///
/// How messages name it, when it is not known.
pub(super) fn find(code: &OperatorCode) -> Result<&'static Known, String> {
    let builtin = names::operator_name(code.builtin);
    let (name, families, shown) = match (code.builtin, code.custom.as_deref().unwrap_or_default()) {
        (names::CUSTOM, custom) => (custom, &CUSTOM_FAMILIES[..], format!("{builtin} \"{custom}\"")),
        _ => (&*builtin, FAMILIES, builtin.clone()),
    };
    match families.iter().copied().flatten().find(|known| known.name == name) {
        Some(known) if (1..=known.version).contains(&code.version) => Ok(known),
        Some(known) => Err(format!("{shown} version {}, known are 1 to {}", code.version, known.version)),
        None => Err(shown),
    }
}

/// An axis of `rank`; negative ones count from the end.
pub(super) fn checked_axis(value: i64, rank: usize) -> Result<usize, OpError> {
    // A shape's rank is at most 8.
    let count = rank as i64;
    let axis = if value < 0 { value.saturating_add(count) } else { value };
    let axis = usize::try_from(axis).ok().filter(|axis| *axis < rank);
    axis.ok_or_else(|| format!("axis {value} is outside -{count}..{count}").into())
}
