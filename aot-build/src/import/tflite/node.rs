//! What the mapping of an operator reads: its options and its constant operands.

use super::flatbuffer::{Fault, Scalar, Table};
use super::schema::{Model, Operator};
use super::{Value, flexbuffer, names};
use crate::error::OpError;
use crate::graph::{GraphBuilder, Shape, TensorType};
use crate::ops::{Activation, Padding2d};

/// An operator whose operands have been read.
#[derive(Debug)]
pub(super) struct Node<'m> {
    pub(super) model: &'m Model<'m>,
    /// What has been read of the model already.
    pub(super) graph: &'m GraphBuilder,
    /// What has become of the file's tensors.
    pub(super) values: &'m [Value],
    pub(super) operator: &'m Operator<'m>,
    /// Types of the operands that the graph has, `None` where one is left out.
    pub(super) operands: Vec<Option<TensorType>>,
    /// Type of the first result as the file declares it.
    pub(super) result: &'m TensorType,
}

/// A table of options: its number in the schema's union, and how many fields it has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    pub(super) code: u8,
    pub(super) name: &'static str,
    pub(super) fields: usize,
}

pub(super) const fn kind(code: u8, name: &'static str, fields: usize) -> Kind {
    Kind { code, name, fields }
}

/// The options of an operator; all defaults where the file has none.
#[derive(Debug)]
pub(super) struct Options<'m> {
    table: Option<Table<'m>>,
}

/// A constant operand.
struct Constant<'m> {
    ty: i8,
    rank: usize,
    bytes: &'m [u8],
}

/// The elements of a constant operand.
#[derive(Debug)]
pub(super) struct Integers {
    pub(super) values: Vec<i64>,
    pub(super) rank: usize,
}

impl<'m> Node<'m> {
    /// Shape of an operand that the graph has.
    pub(super) fn shape(&self, operand: usize) -> Result<&Shape, OpError> {
        let ty = self.operands.get(operand).and_then(Option::as_ref);
        ty.map(|ty| &ty.shape).ok_or_else(|| format!("operand {operand} is left out").into())
    }

    /// The options, which must be there.
    pub(super) fn options(&self, kind: Kind) -> Result<Options<'m>, OpError> {
        Options::required_of(self.operator, kind)
    }

    /// The options, or defaults.
    ///
    /// # Errors
    ///
    /// When there are others, or with fields that are not known: what they ask for
    /// would be left undone.
    pub(super) fn optional_options(&self, kind: Kind) -> Result<Options<'m>, OpError> {
        Options::of(self.operator, kind)
    }

    /// Whether an operand has its elements in the file; it must not be left out.
    pub(super) fn is_constant(&self, operand: usize) -> Result<bool, OpError> {
        let index = self.operator.inputs.get(operand).and_then(|index| usize::try_from(*index).ok());
        let index = index.ok_or_else(|| format!("operand {operand} is left out"))?;
        let tensor =
            self.model.tensors.get(index).ok_or_else(|| format!("operand {operand} does not exist"))?;
        let data = self.model.buffer(tensor.buffer).map_err(|problem| problem.message)?;
        Ok(data.is_some() || self.computed(index).is_some())
    }

    /// The attributes of a custom operator, integers and truth values: these, all of them,
    /// and no others.
    pub(super) fn attributes<const N: usize>(&self, names: [&str; N]) -> Result<[i64; N], OpError> {
        // There may be no map where it would be empty.
        match self.operator.custom_options()? {
            None | Some([]) if N == 0 => Ok([0; N]),
            options => flexbuffer::integers(options.unwrap_or_default(), names),
        }
    }

    /// The elements of a constant operand that the importer itself needs, such as a
    /// shape; `None` where it is left out.
    pub(super) fn integers(&self, operand: usize) -> Result<Option<Integers>, OpError> {
        let Some(Constant { ty, rank, bytes }) = self.constant(operand, &[names::INT32, names::INT64])?
        else {
            return Ok(None);
        };
        let read = |bytes| i64::read(bytes).or_else(|| i32::read(bytes).map(i64::from));
        let values = bytes.chunks_exact(size(ty)).filter_map(read).collect();
        Ok(Some(Integers { values, rank }))
    }

    /// The only element of a constant operand; `None` where it is left out.
    pub(super) fn number(&self, operand: usize) -> Result<Option<f64>, OpError> {
        const TYPES: [i8; 6] =
            [names::FLOAT32, names::INT8, names::UINT8, names::INT16, names::INT32, names::INT64];
        let Some(Constant { ty, bytes, .. }) = self.constant(operand, &TYPES)? else { return Ok(None) };
        let value = match ty {
            names::FLOAT32 => f32::read(bytes).map(f64::from),
            names::INT8 => i8::read(bytes).map(f64::from),
            names::UINT8 => u8::read(bytes).map(f64::from),
            names::INT16 => i16::read(bytes).map(f64::from),
            names::INT32 => i32::read(bytes).map(f64::from),
            _ => i64::read(bytes).map(|value| value as f64),
        };
        value.map(Some).ok_or_else(|| format!("operand {operand} has not one element").into())
    }

    /// Rank and elements of a tensor that has been computed from constants.
    fn computed(&self, index: usize) -> Option<(usize, &'m [u8])> {
        let Some(Value::Ready(id)) = self.values.get(index) else { return None };
        let tensor = self.graph.tensor(*id);
        Some((tensor.ty.shape.len(), tensor.data.as_ref()?.bytes()))
    }

    /// A constant operand of one of the types `expected`; `None` where it is left out.
    fn constant(&self, operand: usize, expected: &[i8]) -> Result<Option<Constant<'m>>, OpError> {
        let index = self.operator.inputs.get(operand).and_then(|index| usize::try_from(*index).ok());
        let Some(index) = index else { return Ok(None) };
        let model = self.model;
        let refuse =
            |what: String| OpError::from(format!("operand {operand}, {}, {what}", model.describe(index)));
        let tensor = model.tensors.get(index).ok_or_else(|| refuse("does not exist".into()))?;
        let ty = tensor.ty;
        if !expected.contains(&ty) {
            let expected: Vec<_> = expected.iter().map(|ty| names::type_name(*ty)).collect();
            return Err(refuse(format!("is {}, expected {}", names::type_name(ty), expected.join(" or "))));
        }
        if let Some(computed) = self.computed(index) {
            let (rank, bytes) = computed;
            return Ok(Some(Constant { ty, rank, bytes }));
        }
        if tensor.sparsity()?.is_some() {
            return Err(refuse("is sparse".into()));
        }
        let size = size(ty);
        let extents = tensor.shape.iter().map(|extent| usize::try_from(*extent).ok());
        let elements = extents.into_iter().try_fold(1_usize, |product, extent| product.checked_mul(extent?));
        let bytes = match model.buffer(tensor.buffer).map_err(|problem| refuse(problem.message))? {
            Some(bytes) => bytes,
            // Nothing is all that an empty constant has.
            None if elements == Some(0) => &[],
            None => {
                return Err(refuse("is not constant".into()).help(
                    "all shapes must be known when the model is compiled: convert it with fixed input shapes",
                ));
            }
        };
        if elements.and_then(|elements| elements.checked_mul(size)) != Some(bytes.len()) {
            let (elements, found) = (elements.unwrap_or(usize::MAX), bytes.len());
            return Err(refuse(format!("has {elements} elements of {size} bytes, its data {found} bytes")));
        }
        model.file.charge(0, bytes.len())?;
        Ok(Some(Constant { ty, rank: tensor.shape.len(), bytes }))
    }
}

/// Bytes of an element of the types that constant operands have.
const fn size(ty: i8) -> usize {
    match ty {
        names::INT8 | names::UINT8 => 1,
        names::INT16 => 2,
        names::INT64 => 8,
        _ => 4,
    }
}

impl<'m> Options<'m> {
    /// As [`Node::optional_options`].
    pub(super) fn of(operator: &Operator<'m>, kind: Kind) -> Result<Self, OpError> {
        let (code, table) = operator.options()?;
        let Kind { code: expected, name, fields } = kind;
        match table {
            None if code == 0 || code == expected => {}
            Some(table) if code == expected => {
                if let Some(slot) = table.last_slot().filter(|slot| *slot >= fields) {
                    return Err(format!("field {slot} of {name} is not known").into());
                }
            }
            _ => return Err(format!("options are of type {code}, expected {name} ({expected})").into()),
        }
        Ok(Self { table })
    }

    /// As [`Node::options`].
    pub(super) fn required_of(operator: &Operator<'m>, kind: Kind) -> Result<Self, OpError> {
        let options = Self::of(operator, kind)?;
        if options.table.is_none() {
            return Err(format!("{} are missing", kind.name).into());
        }
        Ok(options)
    }

    fn scalar<T: Scalar>(&self, slot: usize, default: T) -> Result<T, Fault> {
        self.table.map_or(Ok(default), |table| table.scalar(slot, default))
    }

    pub(super) fn flag(&self, slot: usize) -> Result<bool, OpError> {
        Ok(self.scalar(slot, 0_u8)? != 0)
    }

    /// A text, as bytes; empty where it is left out.
    pub(super) fn text(&self, slot: usize) -> Result<Vec<u8>, OpError> {
        let Some(table) = self.table else { return Ok(Vec::new()) };
        let text = table.bytes(slot)?.unwrap_or_default();
        // Nothing reads so much of it again.
        table.file().charge(table.position(), text.len())?;
        Ok(text.to_vec())
    }

    /// A flag that is set where the file does not say.
    pub(super) fn flag_unless_cleared(&self, slot: usize) -> Result<bool, OpError> {
        Ok(self.scalar(slot, 1_u8)? != 0)
    }

    pub(super) fn f32(&self, slot: usize) -> Result<f32, OpError> {
        Ok(self.scalar(slot, 0.0)?)
    }

    pub(super) fn i32(&self, slot: usize) -> Result<i32, OpError> {
        Ok(self.scalar(slot, 0)?)
    }

    pub(super) fn i32s(&self, slot: usize) -> Result<Vec<i64>, OpError> {
        let values = self.table.map_or(Ok(Vec::new()), |table| table.scalars::<i32>(slot))?;
        Ok(values.into_iter().map(i64::from).collect())
    }

    /// A number of cells, at least 1.
    pub(super) fn count(&self, slot: usize, default: i32, name: &str) -> Result<usize, OpError> {
        let value = self.scalar(slot, default)?;
        let count = usize::try_from(value).ok().filter(|count| *count > 0);
        count.ok_or_else(|| format!("{name} is {value}, expected at least 1").into())
    }

    pub(super) fn padding(&self, slot: usize) -> Result<Padding2d, OpError> {
        match self.scalar(slot, 0_i8)? {
            0 => Ok(Padding2d::Same),
            1 => Ok(Padding2d::Valid),
            code => Err(format!("padding is {code}, expected 0 (SAME) or 1 (VALID)").into()),
        }
    }

    pub(super) fn activation(&self, slot: usize) -> Result<Activation, OpError> {
        let name = match self.scalar(slot, 0_i8)? {
            0 => return Ok(Activation::None),
            1 => return Ok(Activation::Relu),
            2 => return Ok(Activation::ReluN1To1),
            3 => return Ok(Activation::Relu6),
            4 => "TANH".to_owned(),
            5 => "SIGN_BIT".to_owned(),
            code => code.to_string(),
        };
        Err(format!("fused activation {name} is not supported, only NONE, RELU, RELU_N1_TO_1 and RELU6")
            .into())
    }

    /// Checks an enum of which only the values in `known` are supported.
    pub(super) fn only(&self, slot: usize, known: &[i8], name: &str) -> Result<(), OpError> {
        let code: i8 = self.scalar(slot, 0)?;
        if known.contains(&code) {
            return Ok(());
        }
        Err(format!("{name} {code} is not supported, only {known:?}").into())
    }
}
