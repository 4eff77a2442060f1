//! The schema in the repository is that of the types, and takes what the importer takes.

use super::*;

/// What is wrong with `value`, by the keywords that the schema uses.
fn validate(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Value::Object(keywords) = schema else {
        return if schema == &json!(false) { Err(format!("{value} is not allowed")) } else { Ok(()) };
    };
    let wrong = |keyword: &str| Err(format!("{value} against {keyword} {}", keywords[keyword]));
    let takes = |schema: &Value| validate(root, schema, value);
    let list = |keyword: &str| keywords[keyword].as_array().unwrap().iter();
    for (keyword, argument) in keywords {
        match keyword.as_str() {
            "$ref" => {
                let pointer = argument.as_str().unwrap().trim_start_matches('#');
                validate(root, root.pointer(pointer).unwrap(), value)?;
            }
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    "integer" => value.is_i64() || value.is_u64(),
                    other => panic!("type {other}"),
                };
                if !argument.as_array().map_or_else(|| is(argument), |names| names.iter().any(is)) {
                    return wrong(keyword);
                }
            }
            "const" if value != argument => return wrong(keyword),
            "enum" if !list(keyword).any(|each| each == value) => return wrong(keyword),
            "minimum" if value.as_f64() < argument.as_f64() => return wrong(keyword),
            "maximum" if value.as_f64() > argument.as_f64() => return wrong(keyword),
            "minItems" if value.as_array().is_some_and(|a| a.len() < argument.as_u64().unwrap() as usize) => {
                return wrong(keyword);
            }
            "maxItems" if value.as_array().is_some_and(|a| a.len() > argument.as_u64().unwrap() as usize) => {
                return wrong(keyword);
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    validate(root, argument, item)?;
                }
            }
            "required" if value.is_object() => {
                if let Some(key) = list(keyword).find(|key| value.get(key.as_str().unwrap()).is_none()) {
                    return Err(format!("{key} is missing in {value}"));
                }
            }
            "properties" => {
                for (key, schema) in argument.as_object().unwrap() {
                    value.get(key).map_or(Ok(()), |value| validate(root, schema, value))?;
                }
            }
            "additionalProperties" => {
                let known =
                    |key: &&String| keywords.get("properties").and_then(|all| all.get(*key)).is_some();
                let keys = value.as_object().into_iter().flat_map(|object| object.keys());
                for key in keys.filter(|key| !known(key)) {
                    validate(root, argument, &value[key]).map_err(|error| format!("`{key}`: {error}"))?;
                }
            }
            "allOf" => list(keyword).try_for_each(takes)?,
            "anyOf" if !list(keyword).any(|schema| takes(schema).is_ok()) => return wrong(keyword),
            "oneOf" if list(keyword).filter(|schema| takes(schema).is_ok()).count() != 1 => {
                return wrong(keyword);
            }
            "if" if takes(argument).is_ok() => takes(&keywords["then"])?,
            "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" | "required" | "anyOf"
            | "oneOf" | "if" | "then" => {}
            "$schema" | "title" | "description" | "default" | "format" | "definitions" => {}
            other => panic!("the test does not know the keyword {other}"),
        }
    }
    Ok(())
}

#[test]
fn documents() {
    let schema: Value = serde_json::from_str(&schema()).unwrap();
    let good = include_str!("../../../../examples/digits/model/digits.json");
    let good: Value = serde_json::from_str(good).unwrap();
    assert_eq!(validate(&schema, &schema, &good), Ok(()));
    let quantization = json!({"scale": [0.5, 1e-3], "zero_point": [0, -1], "axis": 1});
    for (place, value, is_good) in [
        ("/name", json!(null), true),
        ("/name", json!(1), false),
        ("/format", json!("onnx"), false),
        ("/version", json!(2), false),
        ("/extra", json!(1), false),
        ("/inputs", json!("image"), false),
        ("/tensors/image/dtype", json!("f26"), false),
        ("/tensors/image/shape", json!([1, 0]), false),
        ("/tensors/image/shape", json!([1, 1, 1, 1, 1, 1, 1, 1, 1]), false),
        ("/tensors/image/quantization", quantization, true),
        ("/tensors/image/quantization", json!({"scale": 1, "zero_point": [0]}), false),
        ("/tensors/image/quantization", json!({"scale": [1]}), false),
        ("/tensors/image/data", json!({"values": [1, 2.5, -3]}), true),
        ("/tensors/image/data", json!({"values": ["1"]}), false),
        ("/tensors/image/data", json!({"npy": "image.npy"}), true),
        ("/tensors/image/data", json!({"npy": "image.npy", "values": []}), false),
        ("/tensors/image/data", json!({"safetensors": "image"}), false),
        ("/tensors/image/data", json!({}), false),
        ("/nodes/0/op", json!("conv4d"), false),
        ("/nodes/0/inputs", json!(["image", null]), true),
        ("/nodes/0/inputs", json!(["image", 1]), false),
        ("/nodes/0/outputs", json!([null]), false),
        ("/nodes/0/attributes", json!({}), true),
        ("/nodes/0/attributes", json!({"strides": [1, 1]}), false),
        ("/nodes/0/attributes", json!({"stride": [1]}), false),
        ("/nodes/0/attributes", json!({"padding": {"explicit": [0, 1, 0, 1]}}), true),
        ("/nodes/0/attributes", json!({"padding": {"explicit": [0, 1]}}), false),
        ("/nodes/0/attributes", json!({"padding": "explicit"}), false),
        ("/nodes/0/attributes", json!({"activation": "relu6"}), true),
        ("/nodes/0/attributes", json!({"activation": "gelu"}), false),
        ("/nodes/5", json!({"op": "reshape", "inputs": [], "outputs": []}), false),
        ("/nodes/5", json!({"op": "softmax", "inputs": [], "outputs": []}), true),
    ] {
        let mut document = good.clone();
        let (parent, key) = place.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap() {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value.clone(),
            object => object[key] = value.clone(),
        }
        let found = validate(&schema, &schema, &document);
        assert_eq!(found.is_ok(), is_good, "{place} {value}: {found:?}");
    }
}

#[test]
fn the_schema_in_the_repository_is_that_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/net.schema.json");
    let schema = schema();
    if std::env::var_os("AOT_UPDATE").is_some() {
        std::fs::write(path, &schema).unwrap();
    }
    // As values: the order of keys depends on the features of `serde_json`.
    let [found, schema]: [Value; 2] = [std::fs::read_to_string(path).unwrap_or_default(), schema]
        .map(|text| serde_json::from_str(&text).unwrap_or_default());
    assert!(found == schema, "run this test with AOT_UPDATE=1 to write {path}");
}
