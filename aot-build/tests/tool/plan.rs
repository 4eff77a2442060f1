//! `aot plan`.

use crate::*;

#[test]
fn tensors_that_are_alive_together_overlap_only_where_it_says() {
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
            let said = b["overlaps"] == a["name"] || a["overlaps"] == b["name"];
            assert_eq!(apart(a, b) || apart(b, a), !said, "{a} {b}");
        }
    }
    let alias = tensors.iter().find(|tensor| tensor["name"] == "digits_1/flatten_1/Reshape").unwrap();
    assert_eq!(alias["alias_of"], "digits_1/pool3_1/MaxPool2d");
    assert_eq!(json["peak"]["bytes"], json["arena_bytes"]);
    assert_eq!(json["peak"]["tensors"][0]["bytes"], 1024);
}

#[test]
fn a_table_and_a_map_for_people() {
    let ran = line(&format!("plan --map {DIGITS_FLOAT}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let (first, rest) = ran.out.split_once('\n').unwrap();
    let heading: Vec<_> = first.split_whitespace().collect();
    assert_eq!(heading, ["tensor", "bytes", "from", "to", "pool", "offset", "alias", "of", "overlaps"]);
    assert!(rest.contains("arena: 4 672 bytes, lower bound 4 672, proved optimal"), "{rest}");
    assert!(rest.contains("peak: "), "{rest}");
    assert!(rest.contains("\n           a image\n"), "{rest}");
}

#[test]
fn the_callers_buffers_have_no_offset() {
    let json = line(&format!("plan --json {DIGITS} --set inputs=caller")).json();
    let tensor = &json["tensors"][0];
    assert_eq!((&tensor["pool"], &tensor["offset"]), (&"caller".into(), &Value::Null));
}

#[test]
fn techniques_bring_the_sum_down_to_the_arena() {
    let json = line(&format!("plan --json {DIGITS}")).json();
    let figures = json["figures"].as_array().unwrap();
    assert!(figures.iter().all(|figure| figure["name"].is_string()));
    let bytes: Vec<_> = figures.iter().map(|figure| figure["bytes"].as_u64().unwrap()).collect();
    assert!(bytes.is_sorted_by(|more, less| more >= less), "{bytes:?}");
    let tensors = json["tensors"].as_array().unwrap();
    let sum: u64 = tensors.iter().map(|tensor| tensor["bytes"].as_u64().unwrap()).sum();
    assert_eq!((bytes[0], bytes.last()), (sum, json["arena_bytes"].as_u64().as_ref()));
}

#[test]
fn drawings_are_written() {
    let folder = folder("drawings");
    let [svg, html] = ["new/map.svg", "new/map.html"].map(|name| folder.join(name));
    let [svg_argument, html_argument] = [&svg, &html].map(|path| path.to_str().unwrap());
    let ran = aot(["plan", DIGITS, "--svg", svg_argument, "--html", html_argument, "--json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let own =
        ran.json()["tensors"].as_array().unwrap().iter().filter(|row| row["alias_of"].is_null()).count();
    let svg = std::fs::read_to_string(svg).unwrap();
    assert_eq!(svg.matches("<rect class=\"box\"").count(), own);
    let html = std::fs::read_to_string(html).unwrap();
    assert!(html.contains(svg.trim_end()) && html.contains("<h1>Memory of digits.tflite</h1>"));
    // Nothing is fetched: the only address is the name of the format.
    assert_eq!(html.replace("http://www.w3.org/2000/svg", "").matches("://").count(), 0);

    let ran = aot(["plan", DIGITS, "--svg", folder.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("the file cannot be written"), "{}", ran.err);
}

#[test]
fn drawings_are_of_models() {
    for flag in ["--svg", "--html"] {
        let ran = aot(["plan", "--intervals", "problem.csv", flag, "map"]);
        assert_eq!(ran.code, Some(2), "{flag}");
    }
}
