//! `aot plan`.

use crate::*;

#[test]
fn tensors_that_are_alive_together_do_not_overlap() {
    let ran = line(&format!("plan --json {DIGITS}"));
    assert_eq!(ran.code, Some(0));
    let json = ran.json();
    let number = |value: &Value| value.as_u64().unwrap();
    let tensors = json["tensors"].as_array().unwrap();
    let own: Vec<_> = tensors.iter().filter(|tensor| tensor["alias_of"].is_null()).collect();
    for (i, a) in own.iter().enumerate() {
        let end = |tensor: &Value| number(&tensor["offset"]) + number(&tensor["bytes"]);
        assert!(end(a) <= number(&json["arena_bytes"]));
        assert!(number(&a["last_step"]) <= json["steps"].as_array().unwrap().len() as u64);
        for b in &own[i + 1..] {
            let apart = |a: &Value, b: &Value| {
                end(a) <= number(&b["offset"]) || a["last_step"].as_u64() < b["first_step"].as_u64()
            };
            assert!(apart(a, b) || apart(b, a), "{a} {b}");
        }
    }
    let alias = tensors.iter().find(|tensor| tensor["name"] == "digits_1/flatten_1/Reshape").unwrap();
    assert_eq!(alias["alias_of"], "digits_1/pool3_1/MaxPool2d");
    assert_eq!(json["peak"]["step"], 1);
    assert_eq!(json["peak"]["bytes"], 2048);
    assert_eq!(json["peak"]["tensors"][0]["bytes"], 1024);
}

#[test]
fn a_table_and_a_map_for_people() {
    let ran = line(&format!("plan --map {DIGITS_FLOAT}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let (first, rest) = ran.out.split_once('\n').unwrap();
    let heading: Vec<_> = first.split_whitespace().collect();
    assert_eq!(heading, ["tensor", "bytes", "from", "to", "offset", "alias", "of"]);
    assert!(rest.contains("peak: "), "{rest}");
    assert!(rest.contains("\n           a image\n"), "{rest}");
}

#[test]
fn the_callers_buffers_have_no_offset() {
    let json = line(&format!("plan --json {DIGITS} --set inputs=caller")).json();
    let tensor = &json["tensors"][0];
    assert_eq!((&tensor["pool"], &tensor["offset"]), (&"caller".into(), &Value::Null));
}
