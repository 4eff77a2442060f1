//! Graphs within nodes.

use super::import;

/// A model without a problem.
const GOOD: &str = r#"{
  "format": "aot-net",
  "version": 1,
  "tensors": {"c": {"dtype": "bool", "shape": [1]}, "x": {"dtype": "f32", "shape": [2]}},
  "inputs": ["c", "x"],
  "outputs": ["y"],
  "nodes": [
    {"op": "if", "inputs": ["c", "x"], "outputs": ["y"], "regions": [
      {"tensors": {"a": {"dtype": "f32", "shape": [2]}}, "inputs": ["a"], "outputs": ["b"],
       "nodes": [{"op": "add", "inputs": ["a", "a"], "outputs": ["b"]}]},
      {"tensors": {"a": {"dtype": "f32", "shape": [2]}}, "inputs": ["a"], "outputs": ["a"], "nodes": []}
    ]}
  ]
}
"#;

#[test]
fn a_model_without_a_problem() {
    let graph = import(GOOD).unwrap();
    assert_eq!((graph.depth(), graph.nodes[0].op.regions().len()), (1, 2));
}

#[test]
fn problems_are_where_they_are() {
    for (from, to, expect) in [
        (r#""outputs": ["b"],"#, r#""outputs": ["d"],"#, "line 9, column 87: there is no tensor `d`"),
        (
            r#"["a", "a"], "outputs""#,
            r#"["a", "x"], "outputs""#,
            "line 10, column 48: node #0 add `b`: there is no tensor `x`",
        ),
        (
            r#"["c", "x"], "outputs""#,
            r#"["c", "c"], "outputs""#,
            "line 8, column 5: node #0 if `y`: input `a` of the branch where it is true is f32 [2], the operand bool [1]",
        ),
        (
            r#"["a"], "outputs": ["a"], "nodes": []"#,
            r#"[], "outputs": ["a"], "nodes": []"#,
            "line 11, column 84: `a` is never computed\n  = help: give it `data`, name it in `inputs`, or add the node that computes it",
        ),
        (
            r#""if", "inputs""#,
            r#""add", "inputs""#,
            "line 8, column 70: node #0 add `y`: 2 regions, expected 0",
        ),
        (
            r#""nodes": []}"#,
            r#""nodes": [], "states": []}"#,
            "line 11, column 106: node #0 if `y`: unknown field",
        ),
    ] {
        assert_eq!(GOOD.matches(from).count(), 1, "{from}");
        let problems = import(&GOOD.replace(from, to)).unwrap_err();
        let found = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(found.starts_with(expect), "expected {expect}, found {found}");
    }
    let missing = r#"{"format": "aot-net", "version": 1, "tensors": {"c": {"dtype": "bool", "shape": [1]}},
        "inputs": ["c"], "outputs": ["y"], "nodes": [{"op": "if", "inputs": ["c"], "outputs": ["y"]}]}"#;
    let problems = import(missing).unwrap_err();
    assert_eq!(
        problems[0].to_string(),
        "line 2, column 61: node #0 if `y`: `regions` is missing, expected 2"
    );
}

#[test]
fn too_deep() {
    let leaf = r#"{"tensors": {"c": {"dtype": "bool", "shape": [1]}}, "inputs": ["c"], "outputs": ["c"], "nodes": []}"#;
    let deeper = |region: &str| {
        format!(
            r#"{{"tensors": {{"c": {{"dtype": "bool", "shape": [1]}}, "y": {{"dtype": "bool", "shape": [1]}}}},
                "inputs": ["c"], "outputs": ["y"],
                "nodes": [{{"op": "if", "inputs": ["c", "c"], "outputs": ["y"], "regions": [{leaf}, {region}]}}]}}"#
        )
    };
    let nested = |depth: usize| (0..depth).fold(leaf.to_owned(), |region, _| deeper(&region));
    let model = |depth| nested(depth).replacen('{', r#"{"format": "aot-net", "version": 1, "#, 1);
    assert_eq!(import(&model(16)).unwrap().depth(), 16);
    let problems = import(&model(17)).unwrap_err();
    assert!(problems[0].message.contains("deeper than 16"), "{}", problems[0]);
}
