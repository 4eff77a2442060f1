//! Documents with one problem, and what is said of it.

use std::path::Path;

use super::{check, import, problems};
use crate::import::Source;

#[test]
fn syntax() {
    check(&[
        (r#""version": 1,"#, r#""version": 1"#, "line 4, column 3: expected `,` or `}`"),
        (
            r#""inputs": ["x"],"#,
            r#""inputs": ["x]"#,
            "line 9, column 16: control character (\\u0000-\\u001F) found while parsing a string",
        ),
        (
            "    {\"op\": \"fully_connected\", \"inputs\": [\"x\", \"w\", null], \"outputs\": [\"h\"]}\n  ]\n}\n",
            "",
            "line 12, column 103: EOF while parsing a value",
        ),
        (r#""version": 1,"#, r#""version": 01,"#, "line 3, column 15: invalid number"),
        (r#""version": 1,"#, "\"version\": 1, // first\n", "line 3, column 17: key must be a string"),
        ("[1, 2, 3.5, -4, 5e-1, 6]", "[1, 2, 3.5, NaN, 5e-1, 6]", "line 6, column 75: expected value"),
    ]);
}

#[test]
fn other_files() {
    for (text, expect) in [
        ("", "line 1, column 1: EOF while parsing a value"),
        ("[1, 2]", "line 1, column 1: expected an object"),
        (
            r#"{"name": "package", "version": "1.0.0"}"#,
            "line 1, column 1: not a net.json file: `format` is missing, expected `aot-net`",
        ),
        (r#"{"format": "onnx"}"#, "line 1, column 12: `format` is `onnx`, expected `aot-net`"),
        (r#"{"format": "aot-net", "version": 2, "new": 1}"#, "line 1, column 34: `version` is 2, expected 1"),
        (
            r#"{"format": "aot-net", "version": "1"}"#,
            "line 1, column 34: `version`: invalid type: string \"1\", expected u64",
        ),
        (r#"{"format": "aot-net", "tensors": {}}"#, "line 1, column 1: missing field `version`"),
        (r#"{"format": "aot-net", "version": 1}"#, "line 1, column 1: missing field `tensors`"),
    ] {
        let problems = import(text).unwrap_err();
        assert_eq!(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"), expect, "{text}");
    }
    let problems =
        super::super::import(&mut Source::new(Path::new("m.json"), 1 << 30), b"{\n \"\xc3\xa4\xff\"}")
            .unwrap_err();
    assert_eq!(problems[0].to_string(), "line 2, column 4: the text is not UTF-8");
}

#[test]
fn document() {
    check(&[
        (
            r#""version": 1,"#,
            r#""version": 1, "input": ["x"],"#,
            "line 3, column 17: unknown field `input`, expected one of `$schema`, `format`, `version`, `name`, `tensors`, `inputs`, `outputs`, `states`, `nodes`\n  = help: did you mean `inputs`?",
        ),
        (
            r#""version": 1,"#,
            r#""version": 1, "version": 1,"#,
            "line 3, column 17: duplicate field `version`",
        ),
        (r#""inputs": ["x"],"#, "", "line 1, column 1: missing field `inputs`"),
        (
            r#""inputs": ["x"],"#,
            r#""inputs": "x","#,
            "line 9, column 13: invalid type: string \"x\", expected a sequence",
        ),
        (
            r#""inputs": ["x"],"#,
            r#""inputs": ["x", 1],"#,
            "line 9, column 13: invalid type: integer `1`, expected a string",
        ),
        (r#""inputs": ["x"],"#, r#""inputs": ["x", "x"],"#, "line 9, column 19: input `x` is listed twice"),
        (
            r#""inputs": ["x"],"#,
            r#""inputs": ["x", "w"],"#,
            "line 9, column 19: input `w` has `data`: it is a constant",
        ),
        (
            r#""inputs": ["x"],"#,
            r#""inputs": ["x", "z"],"#,
            "line 9, column 19: input `z` is not declared in `tensors`",
        ),
        (
            r#""outputs": ["y"],
  "nodes""#,
            r#""outputs": ["y", "z"],
  "nodes""#,
            "line 10, column 20: there is no tensor `z`",
        ),
    ]);
}

#[test]
fn tensors() {
    check(&[
        (
            r#""x": {"dtype": "f32", "shape": [1, 2]},"#,
            r#""x": 1,"#,
            "line 5, column 10: tensor `x`: expected an object",
        ),
        (
            r#""x": {"dtype": "f32","#,
            r#""x": {"dtype": "f26","#,
            "line 5, column 20: tensor `x`: unknown variant `f26`, expected one of `i4`, `i8`, `u8`, `i16`, `i32`, `u32`, `i64`, `u64`, `f16`, `bf16`, `f32`, `bool`\n  = help: did you mean `f16`?",
        ),
        (
            r#""x": {"dtype": "f32","#,
            r#""x": {"dtyp": "f32","#,
            "line 5, column 11: tensor `x`: unknown field `dtyp`, expected one of `dtype`, `shape`, `quantization`, `data`\n  = help: did you mean `dtype`?",
        ),
        (r#""x": {"dtype": "f32","#, r#""x": {"#, "line 5, column 10: tensor `x`: missing field `dtype`"),
        ("[1, 2]}", "[1, -2]}", "line 5, column 40: tensor `x`: invalid value: integer `-2`, expected usize"),
        ("[1, 2]}", "[1, [2]]}", "line 5, column 40: tensor `x`: invalid type: sequence, expected usize"),
        (
            "[1, 2]}",
            "[65536, 65536]}",
            "line 5, column 36: tensor `x`: shape [65536, 65536] has more than 2147483647 elements",
        ),
        ("[1, 2]}", "[1, 1, 1, 1, 1, 1, 1, 1, 2]}", "line 5, column 36: tensor `x`: rank 9 is more than 8"),
        (
            r#""x": {"#,
            r#""w": {"dtype": "f32", "shape": []}, "x": {"#,
            "line 6, column 5: tensor `w` is declared twice",
        ),
        (
            r#""x": {"#,
            r#""unused": {"dtype": "f32", "shape": []}, "x": {"#,
            "line 5, column 5: tensor `unused` is declared and not used\n  = help: remove it, or name it where it belongs",
        ),
        (
            r#""scale": [0.1]"#,
            r#""scale": 0.1"#,
            "line 7, column 69: tensor `y`: invalid type: floating point `0.1`, expected a sequence",
        ),
        (
            r#""scale": [0.1]"#,
            r#""scale": [0.0]"#,
            "line 7, column 59: tensor `y`: scale 0 is not a positive normal number",
        ),
        (r#""scale": [0.1]"#, r#""scale": [1e99]"#, "line 7, column 70: tensor `y`: number out of range"),
        (
            r#""scale": [0.1]"#,
            r#""scale": [-0.1]"#,
            "line 7, column 59: tensor `y`: scale -0.1 is not a positive normal number",
        ),
        (r#""scale": [0.1]"#, r#""scale": []"#, "line 7, column 59: tensor `y`: 0 scales and 1 zero points"),
        (
            r#""scale": [0.1]"#,
            r#""scale": [0.1, 0.2]"#,
            "line 7, column 59: tensor `y`: 2 scales, but no `axis` that they belong to",
        ),
        (
            r#""scale": [0.1], "zero_point": [3]"#,
            r#""scale": [0.1, 0.2], "zero_point": [3, 3]"#,
            "line 7, column 59: tensor `y`: 2 scales, but no `axis` that they belong to",
        ),
        (
            r#""scale": [0.1], "zero_point": [3]"#,
            r#""scale": [0.1, 0.2], "zero_point": [3, 3], "axis": 1"#,
            "line 7, column 59: tensor `y`: 2 scales for axis 1 of shape [1, 3]",
        ),
        (
            r#""zero_point": [3]"#,
            r#""zero_point": [128]"#,
            "line 7, column 59: tensor `y`: zero point 128 is outside -128..=127",
        ),
        (
            r#""zero_point": [3]"#,
            r#""zero_point": [3.0]"#,
            "line 7, column 91: tensor `y`: invalid type: floating point `3.0`, expected i32",
        ),
        (r#", "zero_point": [3]"#, "", "line 7, column 59: tensor `y`: missing field `zero_point`"),
        (
            r#""zero_point": [3]"#,
            r#""zero_point": [3], "bits": 5"#,
            "line 7, column 59: tensor `y`: `bits` is 5 for i8, expected 4 for i8",
        ),
        (
            r#""shape": [1, 2]}"#,
            r#""shape": [1, 2], "quantization": {"scale": [1], "zero_point": [0]}}"#,
            "line 5, column 60: tensor `x`: floating-point tensors have no quantization",
        ),
    ]);
}

#[test]
fn data() {
    let table = [
        ("f32", "[1, 2, 3]", "line 6, column 63: tensor `w`: 3 values, shape [3, 2] takes 6"),
        ("f32", "[1, 2, 3, 4, 5, 1e39]", "line 6, column 79: tensor `w`: number out of range"),
        ("f32", "[1, 2, 3, 4, 5, null]", "line 6, column 79: tensor `w`: invalid type: null, expected f32"),
        (
            "f32",
            "[[1, 2, 3], [4, 5, 6]]",
            "line 6, column 63: tensor `w`: invalid type: sequence, expected f32",
        ),
        ("f32", "1", "line 6, column 63: tensor `w`: invalid type: integer `1`, expected a sequence"),
        (
            "i8",
            "[1, 2, 3, 4, 128, 6]",
            "line 6, column 75: tensor `w`: invalid value: integer `128`, expected i8",
        ),
        (
            "i8",
            "[1, 2, 3, 4, 5.0, 6]",
            "line 6, column 75: tensor `w`: invalid type: floating point `5.0`, expected i8",
        ),
        (
            "u8",
            "[1, 2, -3, 4, 5, 6]",
            "line 6, column 69: tensor `w`: invalid value: integer `-3`, expected u8",
        ),
        (
            "i64",
            "[1, 2, 3, 4, 9223372036854775807, 9223372036854775808]",
            "line 6, column 97: tensor `w`: invalid value: integer `9223372036854775808`, expected i64",
        ),
    ];
    for (dtype, values, expect) in table {
        let from = r#""f32", "shape": [3, 2], "data": {"values": [1, 2, 3.5, -4, 5e-1, 6]"#;
        let to = format!(r#""{dtype}", "shape": [3, 2], "data": {{"values": {values}"#);
        assert_eq!(problems(from, &to), expect, "{values}");
    }
    let from = r#"{"values": [1, 2, 3.5, -4, 5e-1, 6]}"#;
    check(&[
        (
            from,
            "{}",
            "line 6, column 52: tensor `w`: `data` needs one of `values`, `npy`, or `safetensors` with `tensor`",
        ),
        (
            from,
            r#"{"values": [1], "npy": "w.npy"}"#,
            "line 6, column 52: tensor `w`: `data` needs one of `values`, `npy`, or `safetensors` with `tensor`",
        ),
        (
            from,
            r#"{"safetensors": "w.safetensors"}"#,
            "line 6, column 52: tensor `w`: `data` needs one of `values`, `npy`, or `safetensors` with `tensor`",
        ),
        (
            from,
            r#"{"tensor": "w"}"#,
            "line 6, column 52: tensor `w`: `data` needs one of `values`, `npy`, or `safetensors` with `tensor`",
        ),
        (
            from,
            r#"{"value": [1]}"#,
            "line 6, column 53: tensor `w`: unknown field `value`, expected one of `values`, `npy`, `safetensors`, `tensor`\n  = help: did you mean `values`?",
        ),
        (
            from,
            r#"{"npy": "../w.npy"}"#,
            "line 6, column 60: tensor `w`: `../w.npy` is not a file in the model's folder\n  = help: name the file by a path relative to the model file, without `..`",
        ),
        (
            from,
            r#"{"npy": "/etc/passwd"}"#,
            "line 6, column 60: tensor `w`: `/etc/passwd` is not a file in the model's folder\n  = help: name the file by a path relative to the model file, without `..`",
        ),
        (from, r#"[1, 2]"#, "line 6, column 52: tensor `w`: expected an object"),
        (
            r#""f32", "shape": [3, 2]"#,
            r#""i64", "shape": [200000000]"#,
            "line 6, column 57: tensor `w`: with this one the constants have 1 600 000 000 bytes, `model_limit` is 1 073 741 824\nline 13, column 5: node #1 fully_connected `h`: shape [200000000] has rank 1, expected 2",
        ),
    ]);
}

#[test]
fn nodes() {
    let op = r#""op": "quantize""#;
    let attributes = r#"{"dtype": "i8"}"#;
    let inputs = r#"["x", "w", null]"#;
    check(&[
        (
            op,
            r#""op": "quantise""#,
            "line 12, column 12: node #0 quantise `q`: there is no operator `quantise`\n  = help: did you mean `quantize`?",
        ),
        (op, r#""op": "concat""#, "line 12, column 12: node #0 concat `q`: there is no operator `concat`"),
        (op, r#""op": 7"#, "line 12, column 12: node #0: invalid type: integer `7`, expected a string"),
        (
            op,
            r#""opp": "quantize""#,
            "line 12, column 6: node #0: unknown field `opp`, expected one of `op`, `name`, `inputs`, `outputs`, `attributes`, `regions`\n  = help: did you mean `op`?",
        ),
        (
            r#", "attributes": {"dtype": "i8"}"#,
            "",
            "line 12, column 5: node #0 quantize `q`: missing field `dtype`",
        ),
        (
            attributes,
            r#"{"dtype": "i7"}"#,
            "line 12, column 96: node #0 quantize `q`: unknown variant `i7`, expected one of `i4`, `i8`, `u8`, `i16`, `i32`, `u32`, `i64`, `u64`, `f16`, `bf16`, `f32`, `bool`",
        ),
        (
            attributes,
            r#"{"dtype": "i8", "dtype": "i8"}"#,
            "line 12, column 102: node #0 quantize `q`: duplicate field `dtype`",
        ),
        (
            attributes,
            r#"{"dtype": "i8", "axis": 0}"#,
            "line 12, column 102: node #0 quantize `q`: unknown field `axis`, expected `dtype`",
        ),
        (
            attributes,
            r#"{"dtype": 8}"#,
            "line 12, column 96: node #0 quantize `q`: invalid type: integer `8`, expected an element type",
        ),
        (attributes, "{}", "line 12, column 86: node #0 quantize `q`: missing field `dtype`"),
        (attributes, "null", "line 12, column 5: node #0 quantize `q`: missing field `dtype`"),
        (attributes, "[]", "line 12, column 86: node #0 quantize `q`: expected an object of attributes"),
        (
            attributes,
            r#"{"dtype": "u8"}"#,
            "line 12, column 5: node #0 quantize `q`: `y` is declared as i8 [1, 3], computed is u8 [1, 3]",
        ),
        (
            inputs,
            r#"["x"]"#,
            "line 6, column 5: tensor `w` is declared and not used\n  = help: remove it, or name it where it belongs\nline 13, column 5: node #1 fully_connected `h`: 1 operands, expected 2 to 3",
        ),
        (
            inputs,
            r#"["x", null]"#,
            "line 6, column 5: tensor `w` is declared and not used\n  = help: remove it, or name it where it belongs\nline 13, column 5: node #1 fully_connected `h`: operand 1 is missing",
        ),
        (inputs, r#"["x", "v"]"#, "line 13, column 47: node #1 fully_connected `h`: there is no tensor `v`"),
        (inputs, r#"["x", "y"]"#, "line 12, column 5: nodes wait for each other: `q` → `h` → `q`"),
        (
            inputs,
            r#"["x", "weights", "bias"]"#,
            "line 13, column 47: node #1 fully_connected `h`: there is no tensor `weights`\nline 13, column 58: node #1 fully_connected `h`: there is no tensor `bias`",
        ),
        (inputs, r#"["x", 3]"#, "line 13, column 41: node #1: invalid type: integer `3`, expected a string"),
        (
            inputs,
            r#"["w", "x"]"#,
            "line 12, column 5: node #0 quantize `q`: `y` is declared as i8 [1, 3], computed is i8 [3, 1]",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["h", "h"]"#,
            "line 13, column 5: node #1 fully_connected `h`: 2 results are declared, there are 1\nline 13, column 76: node #1 fully_connected `h`: computes `h` twice",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["w"]"#,
            "line 12, column 48: node #0 quantize `q`: there is no tensor `h`\nline 13, column 71: node #1 fully_connected `w`: computes `w`, which is a constant",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["x"]"#,
            "line 12, column 48: node #0 quantize `q`: there is no tensor `h`\nline 13, column 71: node #1 fully_connected `x`: computes `x`, which is an input",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["y"]"#,
            "line 12, column 48: node #0 quantize `q`: there is no tensor `h`\nline 13, column 71: node #1 fully_connected `y`: computes `y`, as node #0 does",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": []"#,
            "line 12, column 48: node #0 quantize `q`: there is no tensor `h`\nline 13, column 5: node #1 fully_connected ``: 0 results are declared, there are 1",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["h"], "attributes": {"activation": "rellu"}"#,
            "line 13, column 106: node #1 fully_connected `h`: unknown variant `rellu`, expected one of `none`, `relu`, `relu6`, `relu_n1_to_1`, `relu_0_to_1`\n  = help: did you mean `relu`?",
        ),
        (
            r#""outputs": ["h"]"#,
            r#""outputs": ["h"], "attributes": {"activaton": "relu"}"#,
            "line 13, column 92: node #1 fully_connected `h`: unknown field `activaton`, expected one of `keep_dimensions`, `activation`, `asymmetric_quantize_inputs`\n  = help: did you mean `activation`?",
        ),
        (
            r#"    "y": {"dtype": "i8""#,
            r#"    "z": {"dtype": "i8""#,
            "line 12, column 66: node #0 quantize `q`: `y` is i8 and not declared in `tensors`\n  = help: declare its type, and its quantization if it has one",
        ),
        (
            r#""shape": [1, 3]"#,
            r#""shape": [3, 1]"#,
            "line 12, column 5: node #0 quantize `q`: `y` is declared as i8 [3, 1], computed is i8 [1, 3]",
        ),
        (
            r#""shape": [1, 3]"#,
            r#""shape": [3, 0]"#,
            "line 12, column 5: node #0 quantize `q`: `y` is declared as i8 [3, 0], computed is i8 [1, 3]",
        ),
    ]);
}

#[test]
fn states() {
    let nodes = r#""inputs": ["x"],"#;
    let state = |entry: &str| format!("{nodes} \"states\": [{entry}],");
    for (entry, expect) in [
        (r#"{"before": "s", "after": "h", "initial": "w"}"#, "state `s` is not declared in `tensors`"),
        (r#"{"before": "x", "after": "h", "initial": "w"}"#, "state `x` is another tensor already"),
        (r#"{"before": "y", "after": "h", "initial": "x"}"#, "state `y` starts as `x`, which is no constant"),
        (
            r#"{"before": "y", "after": "h", "initial": "w"}"#,
            "state `y` is i8 [1, 3] and starts as f32 [3, 2]",
        ),
        (r#"{"before": "y", "after": "h"}"#, "missing field `initial`"),
        (r#"{"before": "y", "after": "none", "initial": "w"}"#, "there is no tensor `none`"),
    ] {
        let found = problems(nodes, &state(entry));
        assert!(found.contains(expect), "{entry}: {found}");
    }
}
