//! `net.json` as it is written: what import, export and the JSON Schema share.
//!
//! Tensors and nodes are read one by one, after the document as a whole, so that
//! each has its own problem.

use std::fmt;
use std::marker::PhantomData;

use aot_rt::DType;
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::text::message;
use crate::graph::Shape;

/// What `format` says.
pub(crate) const FORMAT: &str = "aot-net";
/// The version that is read and written.
pub(crate) const VERSION: u64 = 1;

/// What the file says about itself, whatever else it holds.
#[derive(Debug, Deserialize)]
pub(crate) struct Header<'a> {
    #[serde(borrow)]
    pub(crate) format: Option<Unread<'a, String>>,
    #[serde(borrow)]
    pub(crate) version: Option<Unread<'a, u64>>,
}

/// A neural network.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct Document<'a> {
    /// Where an editor finds the schema; not read.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    #[serde(rename = "$schema", default)]
    pub(crate) _schema: Option<&'a RawValue>,
    /// `aot-net`.
    #[cfg_attr(feature = "schema", schemars(with = "String", extend("const" = FORMAT)))]
    #[serde(rename = "format")]
    pub(crate) _format: &'a RawValue,
    /// 1.
    #[cfg_attr(feature = "schema", schemars(with = "u64", extend("const" = VERSION)))]
    #[serde(rename = "version")]
    pub(crate) _version: &'a RawValue,
    /// Name of the model; that of the file by default.
    pub(crate) name: Option<String>,
    /// Inputs, constants and activations by name. A floating-point activation may be left out.
    #[serde(borrow)]
    pub(crate) tensors: Entries<'a, TensorEntry<'a>>,
    /// Names of the tensors that the caller gives, in this order.
    #[serde(borrow)]
    pub(crate) inputs: Unread<'a, Vec<Name<'a>>>,
    /// Names of the tensors that the caller gets, in this order.
    #[serde(borrow)]
    pub(crate) outputs: Unread<'a, Vec<Name<'a>>>,
    /// Tensors that are kept from run to run.
    #[serde(borrow, default)]
    pub(crate) states: Option<Unread<'a, Vec<StateEntry<'a>>>>,
    /// The operators, in any order.
    #[serde(borrow)]
    pub(crate) nodes: Vec<Unread<'a, NodeEntry<'a>>>,
}

/// A tensor.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Tensor"))]
#[serde(deny_unknown_fields)]
pub(crate) struct TensorEntry<'a> {
    /// Type of the elements.
    #[cfg_attr(feature = "schema", schemars(with = "crate::export::schema::DTypeName"))]
    #[serde(with = "crate::ops::dtype_name")]
    pub(crate) dtype: DType,
    /// Extents, outermost first; images are batch, height, width, channels.
    #[serde(borrow)]
    pub(crate) shape: Unread<'a, Shape>,
    /// What the integers of a quantized tensor stand for.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) quantization: Option<Unread<'a, QuantizationEntry>>,
    /// The elements of a constant.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Unread<'a, DataEntry<'a>>>,
}

/// A tensor that is kept from run to run.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "State"))]
#[serde(deny_unknown_fields)]
pub(crate) struct StateEntry<'a> {
    /// Name of what it is at the start of a run; no node computes it.
    #[serde(borrow)]
    pub(crate) before: Name<'a>,
    /// Name of what it is at the end of a run.
    #[serde(borrow)]
    pub(crate) after: Name<'a>,
    /// Name of the constant that it is before the first run.
    #[serde(borrow)]
    pub(crate) initial: Name<'a>,
}

/// `real = scale * (q - zero_point)`.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Quantization"))]
#[serde(deny_unknown_fields)]
pub(crate) struct QuantizationEntry {
    /// One scale for the tensor, or one for each slice along `axis`.
    pub(crate) scale: Vec<f32>,
    /// As many zero points.
    pub(crate) zero_point: Vec<i32>,
    /// The axis, where there are several scales.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) axis: Option<usize>,
    /// 4 for an int8 constant whose elements are -8 to 7: it may be stored in half the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) bits: Option<u8>,
}

/// The elements of a constant, row by row: one of `values`, `npy`, or `safetensors` with `tensor`.
#[derive(Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Data", extend("oneOf" = [
    {"required": ["values"]}, {"required": ["npy"]}, {"required": ["safetensors", "tensor"]},
])))]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DataEntry<'a> {
    /// The numbers themselves, in one list.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<serde_json::Number>>"))]
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<&'a RawValue>,
    /// A `.npy` file in the folder of this file.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) npy: Option<Name<'a>>,
    /// A `.safetensors` file in the folder of this file.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) safetensors: Option<Name<'a>>,
    /// Name of the tensor in the `.safetensors` file.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) tensor: Option<Name<'a>>,
}

/// An operator applied to tensors.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Node"))]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeEntry<'a> {
    /// The operator.
    #[serde(borrow)]
    pub(crate) op: Name<'a>,
    /// Name of the node; that of its first output by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// Names of the operands; `null` where an optional one is left out.
    #[serde(borrow)]
    pub(crate) inputs: Vec<Option<Name<'a>>>,
    /// Names of the results.
    #[serde(borrow)]
    pub(crate) outputs: Vec<Name<'a>>,
    /// What the operator can be told; depends on `op`.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Option<std::collections::BTreeMap<String, serde_json::Value>>")
    )]
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) attributes: Option<&'a RawValue>,
    /// The graphs that an operator of control flow runs: of `if` where the condition is true, and
    /// where it is false; of `while` the condition, and the body.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) regions: Option<Unread<'a, Vec<RegionEntry<'a>>>>,
}

/// A graph that an operator runs. It sees no tensors but its own.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Region"))]
#[serde(deny_unknown_fields)]
pub(crate) struct RegionEntry<'a> {
    /// As those of the model.
    #[serde(borrow)]
    pub(crate) tensors: Entries<'a, TensorEntry<'a>>,
    /// Names of the tensors that it is given, in this order; of `if` without the condition.
    #[serde(borrow)]
    pub(crate) inputs: Unread<'a, Vec<Name<'a>>>,
    /// Names of the tensors that it gives, in this order.
    #[serde(borrow)]
    pub(crate) outputs: Unread<'a, Vec<Name<'a>>>,
    /// The operators, in any order.
    #[serde(borrow)]
    pub(crate) nodes: Vec<Unread<'a, NodeEntry<'a>>>,
}

/// What is known of a node that has a problem elsewhere.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct NodeResults<'a> {
    #[serde(borrow)]
    pub(crate) outputs: Vec<Name<'a>>,
}

/// A name, and where it is written.
pub(crate) type Name<'a> = Spanned<'a, String>;

/// A value, and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Spanned<'a, T> {
    /// Its JSON text; a slice of the file's.
    pub(crate) place: &'a str,
    pub(crate) value: T,
}

impl<T> Spanned<'_, T> {
    /// A value that is going to be written.
    pub(crate) fn new(value: T) -> Self {
        Self { place: "", value }
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Spanned<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let place = <&RawValue>::deserialize(deserializer)?.get();
        let value = serde_json::from_str(place).map_err(|error| D::Error::custom(message(&error)))?;
        Ok(Self { place, value })
    }
}

impl<T: Serialize> Serialize for Spanned<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// JSON text of a `T` that is read later.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unread<'a, T> {
    /// A slice of the file's text.
    pub(crate) json: &'a str,
    ty: PhantomData<T>,
}

impl<'a, T> Unread<'a, T> {
    /// JSON text that is going to be written.
    pub(crate) fn new(json: &'a str) -> Self {
        Self { json, ty: PhantomData }
    }
}

impl<'de: 'a, 'a, T> Deserialize<'de> for Unread<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::new(<&RawValue>::deserialize(deserializer)?.get()))
    }
}

impl<T> Serialize for Unread<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(self.json).map_err(S::Error::custom)?.serialize(serializer)
    }
}

/// The entries of an object in their order, doubles too.
#[derive(Debug)]
pub(crate) struct Entries<'a, T>(pub(crate) Vec<(Name<'a>, Unread<'a, T>)>);

impl<'de: 'a, 'a, T> Deserialize<'de> for Entries<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader<'a, T>(PhantomData<(&'a str, T)>);
        impl<'de: 'a, 'a, T> Visitor<'de> for Reader<'a, T> {
            type Value = Entries<'a, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Reader(PhantomData))
    }
}
