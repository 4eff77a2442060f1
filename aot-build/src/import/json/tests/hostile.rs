//! What the other tests of this folder leave out of the twelve classes of bad files;
//! `docs/hostile-files.md` says which test has what.

use std::fmt::Write as _;

use super::{Folder, import};
use crate::Config;
use crate::error::Problem;
use crate::graph::GraphBuilder;
use crate::import as importing;

const FLOATS: &str = r#"{"dtype": "f32", "shape": [1, 4, 4, 2]}"#;
const FINE: &str =
    r#"{"dtype": "i8", "shape": [1, 4, 4, 2], "quantization": {"scale": [0.1], "zero_point": [-3]}}"#;
const COARSE: &str =
    r#"{"dtype": "i8", "shape": [1, 4, 4, 2], "quantization": {"scale": [0.2], "zero_point": [4]}}"#;
const WEIGHTS: &str =
    r#"{"dtype": "f32", "shape": [3, 1, 2, 2], "data": {"values": [1,2,3,4,5,6,7,8,9,10,11,12]}}"#;

/// A model of one operator; operands and results are called `x0`, `x1`, … and `y0`, …
fn one(op: &str, attributes: &str, operands: &[&str], results: &[&str]) -> String {
    let named = |prefix: &str, tensors: &[&str]| -> Vec<(String, String)> {
        tensors.iter().enumerate().map(|(i, ty)| (format!("{prefix}{i}"), (*ty).to_owned())).collect()
    };
    let (operands, results) = (named("x", operands), named("y", results));
    let mut tensors = String::new();
    for (name, ty) in operands.iter().chain(&results) {
        let separator = if tensors.is_empty() { "" } else { ", " };
        write!(tensors, "{separator}\"{name}\": {ty}").unwrap();
    }
    let names = |tensors: &[(String, String)]| {
        tensors.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
    };
    let inputs: Vec<_> = operands.iter().filter(|(_, ty)| !ty.contains("data")).cloned().collect();
    format!(
        r#"{{"format": "aot-net", "version": 1, "tensors": {{{tensors}}}, "inputs": [{}], "outputs": [{}],
"nodes": [{{"op": "{op}", "inputs": [{}], "outputs": [{}], "attributes": {attributes}}}]}}"#,
        names(&inputs),
        names(&results),
        names(&operands),
        names(&results),
    )
}

/// Why a model does not compile.
fn refusal(text: &str) -> String {
    let shown = |problems: &[Problem]| -> String {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    match import(text) {
        Err(problems) => shown(&problems),
        Ok(graph) => match crate::compile(graph, &crate::Config::default()) {
            Ok(_) => "nothing".into(),
            Err(problems) => shown(&problems),
        },
    }
}

/// Attributes of an operator on one float image, and what is said of them.
#[test]
fn attributes() {
    let depth = r#"{"dtype": "f32", "shape": [1, 2, 2, 8]}"#;
    for (op, attributes, expect) in [
        (
            "max_pool2d",
            r#"{"window": [2, 2], "stride": [0, 1]}"#,
            "window, stride and dilation must be at least 1",
        ),
        ("max_pool2d", r#"{"window": [2, 0]}"#, "window, stride and dilation must be at least 1"),
        ("max_pool2d", r#"{"window": [2, -2]}"#, "invalid value: integer `-2`, expected usize"),
        ("max_pool2d", r#"{"window": [2]}"#, "invalid length 1, expected an array of length 2"),
        ("max_pool2d", r#"{"window": [5, 2]}"#, "the window of [5, 2] is larger than the padded image"),
        ("max_pool2d", r#"{"window": [2, 2], "padding": "some"}"#, "unknown variant `some`"),
        (
            "max_pool2d",
            r#"{"window": [2, 2], "padding": {"explicit": [2, 0, 0, 0]}}"#,
            "padding 2, 0 is not smaller than the window of 2",
        ),
        (
            "max_pool2d",
            r#"{"window": [2, 2], "padding": {"explicit": [0, 0, 0]}}"#,
            "invalid length 3, expected an array of length 4",
        ),
        (
            "max_pool2d",
            r#"{"window": [2, 2], "padding": {"explicit": [0, 0, 0, -1]}}"#,
            "invalid value: integer `-1`, expected usize",
        ),
        ("max_pool2d", r#"{"window": [2, 2], "activation": "tanh"}"#, "unknown variant `tanh`"),
        ("max_pool2d", r#"{"window": [2, 2], "ceil": true}"#, "unknown field `ceil`"),
        ("mean", r#"{"axes": [4], "keep_dimensions": true}"#, "axes [4] are not ascending axes of"),
        ("mean", r#"{"axes": [1, 1], "keep_dimensions": true}"#, "axes [1, 1] are not ascending axes of"),
        ("transpose", r#"{"permutation": [0, 1, 2, 2]}"#, "[0, 1, 2, 2] is no permutation of the axes of"),
        ("transpose", r#"{"permutation": [0, 1]}"#, "[0, 1] is no permutation of the axes of"),
        ("reshape", r#"{"shape": [5, 5]}"#, "has another number of elements than [5, 5]"),
        ("reshape", r#"{"shape": [-1, 4]}"#, "invalid value: integer `-1`, expected usize"),
        ("pad", r#"{"padding": [[0, 0]]}"#, "padding"),
        ("split", r#"{"axis": 3, "sizes": [1, 2]}"#, "sizes [1, 2] do not add up to axis 3 of"),
        ("split", r#"{"axis": 4, "sizes": [1]}"#, "axis 4"),
        ("space_to_depth", r#"{"block": 0}"#, "0×0"),
        ("space_to_depth", r#"{"block": 3}"#, "is not made of squares of 3×3 pixels"),
        ("softmax", r#"{"beta": 0}"#, "beta 0 is not a positive normal number"),
        ("softmax", r#"{"beta": 1e39}"#, "number out of range"),
        ("leaky_relu", r#"{"alpha": 1e39}"#, "number out of range"),
        ("concatenation", r#"{"axis": 4}"#, "axis 4 is outside of f32 [1, 4, 4, 2]"),
        ("tile", r#"{"multiples": [1, 1, 1, 4611686018427387904]}"#, "more than 2147483647 elements"),
        ("broadcast_to", r#"{"shape": [1048576, 1048576]}"#, "more than 2147483647 elements"),
        ("cast", r#"{"dtype": "f64"}"#, "unknown variant `f64`"),
    ] {
        let found = refusal(&one(op, attributes, &[FLOATS], &[depth]));
        assert!(
            found.starts_with("line 2, column ") && found.contains(&format!("node #0 {op} `y0`: ")),
            "{found}"
        );
        assert!(found.contains(expect), "{op} {attributes}: expected {expect}, found {found}");
    }
}

#[test]
fn shapes_that_do_not_fit() {
    let [two, three] = ["[2, 3]", "[2, 4]"].map(|shape| format!(r#"{{"dtype": "f32", "shape": {shape}}}"#));
    let big = |shape: &str| format!(r#"{{"dtype": "f32", "shape": {shape}}}"#);
    let conv = |x: &str| one("conv2d", "{}", &[x, WEIGHTS], &[FLOATS]);
    let bias = r#"{"dtype": "f32", "shape": [2], "data": {"values": [1, 2]}}"#;
    let result = r#"{"dtype": "f32", "shape": [1, 4, 3, 3]}"#;
    let indices = r#"{"dtype": "i32", "shape": [2], "data": {"values": [0, 4]}}"#;
    for (text, expect) in [
        (
            one("add", "{}", &[&two, &three], &[&two]),
            "node #0 add `y0`: shapes [2, 3] and [2, 4] cannot be broadcast together",
        ),
        (conv(r#"{"dtype": "f32", "shape": [1, 4, 4, 3]}"#), "3 channels"),
        (
            one("gather", r#"{"axis": 1}"#, &[FLOATS, indices], &[FLOATS]),
            "node #0 gather `y0`: index 4 is outside of axis 1 of f32 [1, 4, 4, 2]",
        ),
        (conv(FLOATS), "`y0` is declared as f32 [1, 4, 4, 2], computed is f32 [1, 4, 3, 3]"),
        (
            one("conv2d", "{}", &[FLOATS, WEIGHTS, bias], &[result]),
            "node #0 conv2d `y0`: bias `x2` is f32 [2], expected 3 of f32",
        ),
        (
            one("relu", "{}", &[&big("[32768, 16384]")], &[&big("[32768, 16384]")]),
            "tensor `x0`: f32 [32768, 16384] has 2147483648 bytes, the limit is 2147483647",
        ),
        (
            one("add", "{}", &[&big("[16384, 16384]"), &big("[16384, 16384]")], &[&big("[16384, 16384]")]),
            "key `ram_limit`: needs ",
        ),
    ] {
        let found = refusal(&text);
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

#[test]
fn scales() {
    let scaled = |scale: &str| COARSE.replace("0.2", scale);
    for (text, expect) in [
        (
            one("relu", "{}", &[FINE], &[&scaled("1e-40")]),
            "tensor `y0`: scale 0.00000000000000000000000000000000000000",
        ),
        (one("relu", "{}", &[FINE], &[&scaled("1e-9")]), "node #0 relu `y0`: a sum can reach 255"),
        (
            one("max_pool2d", r#"{"window": [1, 1]}"#, &[FINE], &[COARSE]),
            "`x0` has scale 0.1 and zero point -3, `y0` has scale 0.2 and zero point 4: they must be equal",
        ),
        (
            one("softmax", "{}", &[FINE], &[COARSE]),
            "`y0` has scale 0.2 and zero point 4, the result has 0.00390625 and -128",
        ),
        (
            one("relu", "{}", &[r#"{"dtype": "i8", "shape": [1, 4, 4, 2]}"#], &[FINE]),
            "node #0 relu `y0`: `x0` is i8 [1, 4, 4, 2] without scale and zero point",
        ),
        (one("relu", "{}", &[FINE], &[FLOATS]), "`y0` is declared as f32 [1, 4, 4, 2], computed is i8"),
        (one("add", "{}", &[FINE, FLOATS], &[FINE]), "node #0 add `y0`: "),
    ] {
        let found = refusal(&text);
        assert!(found.contains(expect), "expected {expect}, found {found}");
    }
}

/// A few bytes ask for any number of results or channels.
#[test]
fn results_and_channels_without_bytes() {
    let x = r#"{"dtype": "i8", "shape": [2000000000]}"#;
    let found = refusal(&one("unpack", r#"{"axis": 0}"#, &[x], &[r#"{"dtype": "i8", "shape": []}"#]));
    assert!(found.contains("node #0 unpack `y0`: 2000000000 results, the limit is 1024"), "{found}");
    let small = r#"{"dtype": "f32", "shape": [1]}"#;
    let found = refusal(&one("concatenation", r#"{"axis": 0}"#, &[small; 1025], &[small]));
    assert!(found.contains("1025 operands, the limit is 1024"), "{found}");

    // Weights that are no constant: each channel would need a bound of its own.
    let quantized = |shape: &str| {
        format!(
            r#"{{"dtype": "i8", "shape": {shape}, "quantization": {{"scale": [0.1], "zero_point": [0]}}}}"#
        )
    };
    let [x, weights] = ["[1, 1, 1, 1]", "[1, 1, 1, 500000000]"].map(quantized);
    let graph = import(&one("depthwise_conv2d", "{}", &[&x, &weights], &[&weights])).unwrap();
    assert_eq!(crate::compile(graph, &crate::Config::default()).unwrap().arena_bytes, 1_000_000_001);
}

#[test]
fn more_operators_than_the_limit() {
    let mut nodes = String::new();
    for i in 0..=GraphBuilder::MAX_NODES {
        let separator = if i == 0 { "" } else { ",\n" };
        let next = i + 1;
        write!(nodes, r#"{separator}{{"op": "relu", "inputs": ["t{i}"], "outputs": ["t{next}"]}}"#).unwrap();
    }
    let text = format!(
        r#"{{"format": "aot-net", "version": 1, "inputs": ["t0"], "outputs": ["t1"],
"tensors": {{"t0": {{"dtype": "f32", "shape": [1]}}}}, "nodes": [{nodes}]}}"#
    );
    let problems = import(&text).unwrap_err();
    assert_eq!(problems[0].message, "the model has 65537 operators, the limit is 65536");
}

/// What a name could do in a message, beside being shown.
#[test]
fn names_add_no_lines() {
    let text = one("relu", "{}", &[FLOATS], &[FLOATS]).replace("\"relu\"", r#""\n  = help: run this""#);
    let found = refusal(&text);
    assert_eq!(found.lines().count(), 1, "{found}");
    assert!(found.contains("there is no operator `\\u{a}  = help: run this`"), "{found}");

    // Names of ports and of tensors reach comments, identifiers and literals.
    let text = one("relu", "{}", &[FLOATS], &[FLOATS]).replace("x0", r"\nfn injected() {}\n//");
    let text = text.replace("y0", r"*/ \r\n\u2028 fn injected() {} `");
    let compiled = crate::compile(import(&text).unwrap(), &crate::Config::default()).unwrap();
    let (type_name, config) = ("Net".to_owned(), crate::Config::default());
    let model = crate::Model { type_name, source: crate::SourceInfo::default(), compiled, config };
    let source = crate::codegen::generate(&model, &[]).unwrap().file("pub", "&[0; 1]");
    assert!(source.contains("injected"));
    assert!(source.lines().all(|line| !line.trim_start().starts_with("fn injected")), "{source}");
}

/// The model and the files that it names, together; a file counts as often as it is named.
#[test]
fn files_beyond_the_limit() {
    let folder = Folder::new("limit");
    let data = r#"{"dtype": "i8", "shape": [10], "data": {"npy": "w.npy"}}"#;
    let x = r#"{"dtype": "i8", "shape": [10]}"#;
    let text =
        one("concatenation", r#"{"axis": 0}"#, &[x, data, data], &[r#"{"dtype": "i8", "shape": [30]}"#]);
    let stored = crate::weights::Stored {
        dtype: aot_rt::DType::I8,
        shape: crate::graph::Shape::new([10]).unwrap(),
        bytes: &[0; 10],
    };
    let npy = crate::weights::npy::write(&stored);
    let (json, npy_bytes) = (text.len() as u64, npy.len() as u64);
    folder.write("w.npy", npy);
    folder.write("model.json", &text);
    let read = |model_limit| {
        importing::import(&folder.0.join("model.json"), &Config { model_limit, ..Config::default() })
    };
    assert!(read(json + 2 * npy_bytes).is_ok());
    let message = |limit| read(limit).unwrap_err().problems[0].message.clone();
    let found = message(json + 2 * npy_bytes - 1);
    let limit = json + 2 * npy_bytes - 1;
    let expect = format!("tensor `x2`: `w.npy` has {npy_bytes} bytes, those before it {}", json + npy_bytes);
    assert_eq!(found, format!("{expect}, `model_limit` is {limit}"));
    assert_eq!(message(json - 1), format!("the file has {json} bytes, `model_limit` is {}", json - 1));
}

/// A link inside the folder that leads out of it.
#[cfg(unix)]
#[test]
fn links_that_leave_the_folder() {
    let (folder, outside) = (Folder::new("linked"), Folder::new("outside"));
    outside.write("w.npy", "");
    std::os::unix::fs::symlink(outside.0.join("w.npy"), folder.0.join("w.npy")).unwrap();
    let data = r#"{"dtype": "i8", "shape": [10], "data": {"npy": "w.npy"}}"#;
    folder.write("model.json", one("relu", "{}", &[data], &[data]));
    let found = folder.import().unwrap_err().to_string();
    assert!(found.contains("`w.npy` is not a file in the model's folder"), "{found}");
}

/// Operators that need elements say so, whatever they would divide by.
#[test]
fn an_extent_of_zero() {
    for (op, attributes, shape, more) in [
        ("arg", r#"{"function": "max", "axis": 1, "dtype": "i32"}"#, "[2, 0]", &[][..]),
        ("average_pool2d", r#"{"window": [1, 1]}"#, "[1, 0, 4, 2]", &[]),
        ("batch_matmul", "{}", "[2, 0]", &[r#"{"dtype": "f32", "shape": [0, 2]}"#]),
        ("conv2d", "{}", "[1, 4, 0, 2]", &[WEIGHTS]),
        (
            "conv2d",
            "{}",
            "[1, 4, 4, 2]",
            &[r#"{"dtype": "f32", "shape": [0, 1, 1, 2], "data": {"values": []}}"#],
        ),
        ("depth_to_space", r#"{"block": 2}"#, "[1, 2, 2, 0]", &[]),
        ("fully_connected", "{}", "[0, 2]", &[r#"{"dtype": "f32", "shape": [3, 2]}"#]),
        ("gather", r#"{"axis": 0}"#, "[0, 2]", &[r#"{"dtype": "i32", "shape": [1]}"#]),
        ("max_pool2d", r#"{"window": [1, 1]}"#, "[0, 4, 4, 2]", &[]),
        ("mean", r#"{"axes": [0], "keep_dimensions": false}"#, "[0, 2]", &[]),
        ("pad", r#"{"padding": [[1, 1]]}"#, "[0]", &[]),
        ("reduce", r#"{"function": "sum", "axes": [0], "keep_dimensions": false}"#, "[0, 2]", &[]),
        ("softmax", "{}", "[2, 0]", &[]),
        ("space_to_depth", r#"{"block": 2}"#, "[1, 0, 2, 2]", &[]),
        ("tile", r#"{"multiples": [2]}"#, "[0]", &[]),
        ("top_k", r#"{"k": 1}"#, "[2, 0]", &[]),
    ] {
        let x = format!(r#"{{"dtype": "f32", "shape": {shape}}}"#);
        let operands: Vec<&str> = std::iter::once(&*x).chain(more.iter().copied()).collect();
        let found = refusal(&one(op, attributes, &operands, &[r#"{"dtype": "f32", "shape": [1]}"#]));
        assert!(found.contains("it has no element, which is not supported here"), "{op}: {found}");
    }
    // Of those that take such tensors, shapes must fit as always.
    let none = r#"{"dtype": "f32", "shape": [0, 4]}"#;
    for (op, attributes, more, expect) in [
        ("add", "{}", &[r#"{"dtype": "f32", "shape": [2, 4]}"#][..], "cannot be broadcast together"),
        ("concatenation", r#"{"axis": 1}"#, &[r#"{"dtype": "f32", "shape": [1, 4]}"#], "does not fit"),
        ("reshape", r#"{"shape": [4]}"#, &[], "has another number of elements than [4]"),
        ("slice", r#"{"begin": [0, 0], "size": [1, 4]}"#, &[], "does not have 1 elements from 0 on"),
        ("slice", r#"{"begin": [1, 0], "size": [0, 4]}"#, &[], "does not have 0 elements from 1 on"),
        ("split", r#"{"axis": 0, "sizes": [1]}"#, &[], "do not add up to axis 0"),
        ("transpose", r#"{"permutation": [0, 0]}"#, &[], "is no permutation of the axes"),
    ] {
        let operands: Vec<&str> = std::iter::once(none).chain(more.iter().copied()).collect();
        let found = refusal(&one(op, attributes, &operands, &[none]));
        assert!(found.contains(expect), "{op} {attributes}: expected {expect}, found {found}");
    }
}

/// Integers of four bits, two in a byte, are not what operators compute with.
#[test]
fn four_bits() {
    let four = r#"{"dtype": "i4", "shape": [1, 4, 4, 2]}"#;
    for (op, attributes, results, expect) in [
        ("relu", "{}", four, "`x0` is i4 [1, 4, 4, 2], which is not supported here"),
        ("transpose", r#"{"permutation": [0, 1, 2, 3]}"#, four, "dequantized; cast others to i8"),
        ("quantize", r#"{"dtype": "i4"}"#, four, "which is not supported here"),
    ] {
        let found = refusal(&one(op, attributes, &[four], &[results]));
        assert!(found.contains(expect), "{op}: expected {expect}, found {found}");
    }
    let found = refusal(&one("cast", r#"{"dtype": "i4"}"#, &[FLOATS], &[four]));
    assert!(found.contains("no kernel for the types f32, i4"), "{found}");
    for (values, expect) in
        [("[1, 8]", "element 8 does not fit 4 bits"), ("[1]", "1 values, shape [2] takes 2")]
    {
        let constant = format!(r#"{{"dtype": "i4", "shape": [2], "data": {{"values": {values}}}}}"#);
        let found =
            refusal(&one("cast", r#"{"dtype": "i8"}"#, &[&constant], &[r#"{"dtype": "i8", "shape": [2]}"#]));
        assert!(found.contains(expect), "{values}: expected {expect}, found {found}");
    }
}
