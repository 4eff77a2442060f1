//! The JSON Schema of `net.json`, from the types that read and write it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use aot_rt::DType;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::graph::Shape;
use crate::import::json::format::{Document, Entries, Spanned, Unread};
use crate::ops::Op;

/// The JSON Schema of `net.json`, version 1. The repository has it as
/// `aot-build/net.schema.json`.
#[must_use]
pub fn schema() -> String {
    // The version that editors know best.
    let mut generator = SchemaSettings::draft07().for_deserialize().into_generator();
    let operators = Op::schemas(&mut generator);
    let mut schema = generator.into_root_schema_for::<Document<'_>>();
    schema.insert("title".into(), "net.json".into());
    let attributes: Vec<_> =
        operators.iter().map(|(name, attributes)| condition(&schema, name, attributes.as_value())).collect();
    if let Some(Value::Object(node)) = schema.pointer_mut("/definitions/Node") {
        node.insert("allOf".into(), attributes.into());
    }
    if let Some(Value::Object(op)) = schema.pointer_mut("/definitions/Node/properties/op") {
        op.insert("enum".into(), Op::NAMES.into());
    }
    format!("{:#}\n", schema.as_value())
}

/// Where the operator is `name`, the attributes are of this schema.
fn condition(schema: &Schema, name: &str, attributes: &Value) -> Value {
    let pointer = attributes["$ref"].as_str().unwrap_or_default().trim_start_matches('#');
    let mut then = json!({"properties": {"attributes": attributes}});
    // Where the attributes have none that is required, they may be left out.
    if schema.pointer(pointer).is_some_and(|definition| definition.get("required").is_some()) {
        then["required"] = json!(["attributes"]);
    }
    json!({"if": {"properties": {"op": {"const": name}}}, "then": then})
}

/// An element type, by name.
pub(crate) struct DTypeName;

impl JsonSchema for DTypeName {
    fn schema_name() -> Cow<'static, str> {
        "DType".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": DType::ALL.map(DType::name)})
    }
}

impl JsonSchema for Shape {
    fn schema_name() -> Cow<'static, str> {
        "Shape".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let extent = json!({"type": "integer", "minimum": 1});
        json_schema!({"type": "array", "items": extent, "maxItems": Shape::MAX_RANK})
    }
}

/// The types that say where something is written look like what is written there.
macro_rules! looks_like {
    ($($ty:ty => $seen:ty,)*) => {$(
        impl<T: JsonSchema> JsonSchema for $ty {
            fn schema_name() -> Cow<'static, str> {
                <$seen>::schema_name()
            }

            fn schema_id() -> Cow<'static, str> {
                <$seen>::schema_id()
            }

            fn inline_schema() -> bool {
                <$seen>::inline_schema()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                <$seen>::json_schema(generator)
            }
        }
    )*};
}

looks_like! {
    Spanned<'_, T> => T,
    Unread<'_, T> => T,
    Entries<'_, T> => BTreeMap<String, T>,
}

#[cfg(test)]
mod tests;
