//! What the importer knows of each operator.

use aot_rt::DType;

use super::control::Runs;
use super::node::Node;
use super::schema::OperatorCode;
use super::variables::Access;
use super::{arithmetic, control, layers, movement, names, reductions, shapes, variables};
use crate::error::OpError;
use crate::ops::Op;

/// An operator that is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The newest version that is known.
    pub(super) version: i32,
    /// Fewest and most operands.
    pub(super) operands: [usize; 2],
    /// Which operands are tensors of the graph.
    pub(super) in_graph: InGraph,
    /// Most results.
    pub(super) results: usize,
    /// Types of operands and result that belong together.
    pub(super) types: &'static [&'static [DType]],
    pub(super) meaning: Meaning,
}

/// Makes an operator of the graph from one of the file.
pub(super) type Map = fn(&Node<'_>) -> Result<Op, OpError>;

/// What becomes of an operator.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning {
    /// One of the graph.
    Op(Map),
    /// It runs subgraphs.
    Control(Runs),
    /// It reads or changes a variable.
    Variable(Access),
}

/// Which operands are tensors of the graph. The others are constants that become
/// attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InGraph {
    /// The first ones: as many as a row of types has.
    First,
    /// All: their type is the first one of a row.
    All,
    /// This one.
    Only(usize),
}

/// Most operands or results of an operator that takes any number.
pub(super) const MANY: usize = 1024;

/// A table for each family of operators, beside the functions that map them.
const FAMILIES: [&[Known]; 7] = [
    arithmetic::OPERATORS,
    control::OPERATORS,
    layers::OPERATORS,
    movement::OPERATORS,
    reductions::OPERATORS,
    shapes::OPERATORS,
    variables::OPERATORS,
];

pub(super) const fn known(
    name: &'static str,
    version: i32,
    operands: [usize; 2],
    types: &'static [&'static [DType]],
    map: Map,
) -> Known {
    let meaning = Meaning::Op(map);
    Known { name, version, operands, in_graph: InGraph::First, results: 1, types, meaning }
}

/// An operator that takes any operands and gives any results.
pub(super) const fn known_as(name: &'static str, meaning: Meaning) -> Known {
    let (operands, results) = ([0, MANY], MANY);
    Known { name, version: 1, operands, in_graph: InGraph::All, results, types: &[], meaning }
}

pub(super) const fn variable(name: &'static str, access: Access) -> Known {
    let meaning = Meaning::Variable(access);
    Known { name, version: 1, operands: [0, 2], in_graph: InGraph::All, results: 1, types: &[], meaning }
}

impl Known {
    /// What the operator does with variables, if that is what it does.
    pub(super) fn access(&self) -> Option<Access> {
        match self.meaning {
            Meaning::Variable(access) => Some(access),
            Meaning::Control(_) | Meaning::Op(_) => None,
        }
    }

    /// All operands are tensors of the graph.
    pub(super) const fn of_all(self) -> Self {
        Self { in_graph: InGraph::All, ..self }
    }

    /// Only this operand is a tensor of the graph.
    pub(super) const fn of_operand(self, operand: usize) -> Self {
        Self { in_graph: InGraph::Only(operand), ..self }
    }

    /// There may be several results.
    pub(super) const fn with_results(self) -> Self {
        Self { results: MANY, ..self }
    }
}

/// The operator that a code stands for.
///
/// # Errors
///
/// How messages name it, when it is not known.
pub(super) fn find(code: &OperatorCode) -> Result<&'static Known, String> {
    let name = names::operator_name(code.builtin);
    if code.builtin == names::CUSTOM {
        return Err(format!("{name} \"{}\"", code.custom.as_deref().unwrap_or_default()));
    }
    match FAMILIES.iter().copied().flatten().find(|known| known.name == name) {
        Some(known) if (1..=known.version).contains(&code.version) => Ok(known),
        Some(known) => Err(format!("{name} version {}, known are 1 to {}", code.version, known.version)),
        None => Err(name),
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
