//! `aot run`: tolerance, sequences, files, folders of cases.

use crate::*;

#[test]
fn the_repositorys_cases_are_met() {
    let ran = line(&format!("run --case {CASE} {CASE_FLOAT}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    assert!(ran.out.contains("cases/digits_int8/s19: probabilities: 0 of 10 differ"), "{}", ran.out);
    assert!(ran.out.ends_with("cases: 2, sets: 40, beyond the tolerance: 0, cases not run to the end: 0\n"));
}

#[test]
fn a_folder_of_cases_stands_for_them() {
    let ran = line("run --case examples/digits/model/cases --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let names: Vec<_> =
        ran.json()["cases"].as_array().unwrap().iter().map(|case| case["case"].clone()).collect();
    assert!(names.is_sorted_by_key(Value::to_string), "{names:?}");
    assert!(names.contains(&CASE.into()) && names.contains(&CASE_FLOAT.into()), "{names:?}");
}

#[test]
fn differences_are_counted_and_tolerated() {
    let folder = folder("tolerance");
    let mut expected = read_npy(&in_repository(CASE).join("s0/out0.npy"));
    let changed = expected.iter().position(|value| *value == 0x80).unwrap();
    expected[changed] = expected[changed].wrapping_add(3);
    let file = folder.join("expected.npy");
    write_npy(&file, DType::I8, &[1, 10], &expected);
    let input = format!("{CASE}/s0/in0.npy");
    let run = |more: &[&str]| {
        aot([&["run", DIGITS, "--input", &input, "--expect", file.to_str().unwrap()], more].concat())
    };

    let ran = run(&[]);
    assert_eq!(ran.code, Some(1));
    let expect = "FAIL probabilities: 1 of 10 differ, the largest difference is 3, 0 is allowed\n";
    assert_eq!((ran.out.as_str(), ran.err.as_str()), (expect, ""));
    assert_eq!(run(&["--tolerance", "2.5"]).code, Some(1));

    let ran = run(&["--tolerance", "3", "--json"]);
    assert_eq!(ran.code, Some(0));
    let json = ran.json();
    assert_eq!(json["accepted"], true);
    let output = &json["outputs"][0];
    assert_eq!((&output["shape"], &output["dtype"]), (&vec![1, 10].into(), &"i8".into()));
    let difference = serde_json::json!({"elements": 10, "differing": 1, "largest": 3.0, "allowed": 3.0});
    assert_eq!(output["difference"], difference);
    assert_eq!(output["values"].as_array().unwrap().len(), 10);
}

/// The first expected value is moved by a thousandth of the largest one.
#[test]
fn float_tolerance_is_relative() {
    let folder = folder("relative");
    let input = format!("{CASE_FLOAT}/s0/in0.npy");
    let run =
        |more: &[&str]| aot([&["run", "--json", DIGITS_FLOAT, "--input", &input], more].concat()).json();
    let values = run(&[])["outputs"][0]["values"].clone();
    let mut values: Vec<f32> =
        values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect();
    let largest = values.iter().copied().fold(0.0, f32::max);
    values[0] += largest / 1000.0;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let file = folder.join("expected.npy");
    write_npy(&file, DType::F32, &[1, 10], &bytes);
    let expect = ["--expect", file.to_str().unwrap()];

    let json = run(&expect);
    let difference = &json["outputs"][0]["difference"];
    assert_eq!((&json["accepted"], &difference["differing"]), (&false.into(), &1.into()));
    assert_eq!(difference["allowed"], 1e-5 * f64::from(largest));
    for (tolerance, accepted) in [("0.0009", false), ("0.0011", true)] {
        assert_eq!(run(&[&expect[..], &["--tolerance", tolerance]].concat())["accepted"], accepted);
    }
}

#[test]
fn outputs_are_shown_and_written() {
    let folder = folder("outputs");
    let output = folder.join("deep/er");
    let input = format!("{CASE}/s0/in0.npy");
    let ran = aot(["run", DIGITS, "--input", &input, "--output", output.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.starts_with("probabilities, i8 [1, 10]: -1"), "{}", ran.out);
    assert_eq!(read_npy(&output.join("out0.npy")), read_npy(&in_repository(CASE).join("s0/out0.npy")));
}

/// One axis more in front: the model runs for each index of it.
#[test]
fn sequences_run_step_by_step() {
    let folder = folder("sequence");
    let stacked = |file: &str| -> Vec<u8> {
        (0..20).flat_map(|set| read_npy(&in_repository(CASE).join(format!("s{set}/{file}")))).collect()
    };
    let (input, output) = (folder.join("s0/in0.npy"), folder.join("s0/out0.npy"));
    std::fs::create_dir(folder.join("s0")).unwrap();
    write_npy(&input, DType::I8, &[20, 1, 8, 8, 1], &stacked("in0.npy"));
    write_npy(&output, DType::I8, &[20, 1, 10], &stacked("out0.npy"));
    let arguments = ["run", DIGITS, "--input", input.to_str().unwrap(), "--expect", output.to_str().unwrap()];
    let ran = aot(arguments);
    assert_eq!(ran.out, "ok   probabilities: 0 of 200 differ\n", "{}", ran.err);

    let model = in_repository(DIGITS).canonicalize().unwrap();
    std::fs::write(
        folder.join("meta.json"),
        serde_json::json!({"file": model, "sequence_steps": 20}).to_string(),
    )
    .unwrap();
    let ran = aot(["run", "--json", "--case", folder.to_str().unwrap()]);
    assert_eq!((ran.code, &ran.json()["cases"][0]["sets"][0]["accepted"]), (Some(0), &true.into()));

    write_npy(&output, DType::I8, &[19, 1, 10], &stacked("out0.npy")[..190]);
    let ran = aot(arguments);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("out0.npy: holds i8 [19, 1, 10], the inputs make i8 [20, 1, 10]"),
        "{}",
        ran.err
    );
}

#[test]
fn wrong_arrays_are_refused() {
    let folder = folder("wrong");
    let text = folder.join("text.npy");
    std::fs::write(&text, "x").unwrap();
    let good = format!("{CASE}/s0/in0.npy");
    for (inputs, expect) in [
        (vec!["missing.npy", "gone.npy"], "error: gone.npy: the file cannot be read"),
        (vec![text.to_str().unwrap()], "text.npy: not a complete .npy file"),
        (vec![&good, &good], "2 files for 1 inputs of the model\n  - `image`: i8 [1, 8, 8, 1]"),
        (
            vec!["examples/digits/model/cases/digits_float/s0/in0.npy"],
            "holds f32 [1, 8, 8, 1], input `image` is i8 [1, 8, 8, 1]",
        ),
    ] {
        let ran = aot([vec!["run", DIGITS, "--input"], inputs].concat());
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(expect), "{}", ran.err);
    }
}

#[test]
fn a_broken_case_does_not_hide_the_next() {
    let empty = folder("no-set");
    std::fs::write(empty.join("meta.json"), r#"{"file": "model.tflite"}"#).unwrap();
    let ran = aot(["run", "--json", "--case", "missing", empty.to_str().unwrap(), CASE]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error: missing/meta.json: the file cannot be read"), "{}", ran.err);
    assert!(ran.err.contains("holds no set of inputs"), "{}", ran.err);
    let json = ran.json();
    assert_eq!(json["accepted"], false);
    assert_eq!(json["cases"][0]["errors"][0]["file"], "missing/meta.json");
    assert_eq!((&json["cases"][2]["accepted"], &json["cases"][2]["case"]), (&true.into(), &CASE.into()));
    assert_eq!(json["cases"][2]["sets"].as_array().unwrap().len(), 20);
}

/// The checksums are those of what LiteRT's reference kernels compute
/// (`tests/instrument/reference`), taken with another implementation of FNV-1a.
#[test]
fn a_trace_has_a_checksum_for_each_step() {
    let input = format!("{CASE}/s0/in0.npy");
    let run = |more: &[&str]| aot([&["run", DIGITS, "--input", &input], more].concat());
    let ran = run(&["--trace"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let steps: Vec<_> = ran.out.lines().skip(1).collect();
    assert_eq!(steps.len(), 7, "{}", ran.out);
    assert_eq!(steps[0], "conv2d_0           a38748a7ae49c87f");
    assert_eq!(steps[2], "max_pool2d_2       5b85cb8815778048");
    assert_eq!(steps[6], "softmax_6          6feee18808b4b410");
    let json = run(&["--trace", "--json", "--set", "memory=\"min\""]).json();
    let expect = serde_json::json!({"step": "max_pool2d_2", "checksum": "5b85cb8815778048"});
    assert_eq!(json["trace"][2], expect);
    assert_eq!(run(&["--json"]).json().get("trace"), None);
}
