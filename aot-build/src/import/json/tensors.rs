//! The tensors that a file declares.

use std::collections::HashMap;

use aot_rt::DType;

use super::constants::Constants;
use super::format::{Entries, Name, QuantizationEntry, TensorEntry, Unread};
use super::text::Findings;
use crate::error::{Location, Problem};
use crate::graph::{Data, Quantization, Shape, TensorType};
use crate::import::Source;

/// A tensor as the file declares it.
#[derive(Debug)]
pub(super) struct Declaration<'a> {
    /// Where its name is written.
    pub(super) place: &'a str,
    /// `None` when it cannot be read, which is reported.
    pub(super) ty: Option<TensorType>,
    /// What it is.
    pub(super) role: Role,
    /// Whether anything names it.
    pub(super) used: bool,
}

/// What a declared tensor is.
#[derive(Debug)]
pub(super) enum Role {
    /// An input or an activation.
    Activation,
    /// A constant; `None` when its elements have a problem, which is reported.
    Constant(Option<Data>),
    /// The declaration cannot be read, which is reported.
    Unknown,
}

/// Everything that is declared, by name.
pub(super) type Declarations<'a> = HashMap<String, Declaration<'a>>;

/// Reads all declarations, and the files that they name. Gives the names in the
/// order of the file, too.
pub(super) fn read<'a>(
    entries: Entries<'a, TensorEntry<'a>>,
    source: &mut Source,
    findings: &mut Findings<'a>,
) -> (Declarations<'a>, Vec<String>) {
    let mut constants = Constants::new(source);
    let (mut declarations, mut names) = (Declarations::with_capacity(entries.0.len()), Vec::new());
    for (Name { place, value: name }, entry) in entries.0 {
        if let Some(other) = declarations.get_mut(&name) {
            findings.add(place, Problem::new(format!("tensor `{name}` is declared twice")));
            // Nothing that follows from one of the two is reported.
            *other = Declaration { place: other.place, ty: None, role: Role::Unknown, used: true };
            continue;
        }
        let owner = Location::Tensor(name.clone());
        let (ty, role) = declaration(entry, &owner, &mut constants, findings);
        names.push(name.clone());
        declarations.insert(name, Declaration { place, ty, role, used: false });
    }
    (declarations, names)
}

fn declaration<'a>(
    entry: Unread<'a, TensorEntry<'a>>,
    owner: &Location,
    constants: &mut Constants<'_>,
    findings: &mut Findings<'a>,
) -> (Option<TensorType>, Role) {
    let Some(entry) = findings.object::<TensorEntry<'a>>(entry.json, owner) else {
        return (None, Role::Unknown);
    };
    let shape: Option<Shape> = findings.read(entry.shape.json, owner);
    let ty = shape.map(|shape| TensorType::new(entry.dtype, shape));
    let role = match (&ty, entry.data) {
        (_, None) => Role::Activation,
        (None, Some(_)) => Role::Constant(None),
        (Some(ty), Some(data)) => Role::Constant(constants.read(data, ty, owner, findings)),
    };
    let parameters = entry.quantization.map(|entry| (entry.json, findings.object(entry.json, owner)));
    let (Some(mut ty), Some((place, Some(parameters)))) = (ty.clone(), parameters) else {
        return (ty, role);
    };
    // Without it the type still serves to check the nodes.
    match quantization(parameters, ty.dtype, &ty.shape) {
        Ok(quantization) => ty.quantization = Some(quantization),
        Err(message) => findings.add(place, Problem::new(format!("{owner}{message}"))),
    }
    (Some(ty), role)
}

fn quantization(entry: QuantizationEntry, dtype: DType, shape: &Shape) -> Result<Quantization, String> {
    let QuantizationEntry { scale, zero_point, axis, bits } = entry;
    if scale.len() > 1 && axis.is_none() {
        return Err(format!("{} scales, but no `axis` that they belong to", scale.len()));
    }
    let quantization = Quantization::per_axis(scale, zero_point, axis.unwrap_or(0))?;
    quantization.check(dtype, shape)?;
    match (bits, dtype) {
        (None, _) => Ok(quantization),
        (Some(4), DType::I8) => Ok(quantization.of_four_bits()),
        (Some(bits), dtype) => Err(format!("`bits` is {bits} for {}, expected 4 for i8", dtype.name())),
    }
}
