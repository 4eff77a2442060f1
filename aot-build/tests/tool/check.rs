//! `aot check`, and what holds for all commands: configuration, exit codes, messages.

use crate::*;

#[test]
fn says_what_a_model_needs() {
    let ran = line(&format!("check {DIGITS}"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    for expect in [
        "digits.tflite: 14 272 bytes, sha256 732f944f",
        "input   image          i8 [1, 8, 8, 1]  0.003922 (q + 128)",
        "operators  conv2d 3, fully_connected 1, max_pool2d 2, reshape 1, softmax 1",
        "MACs       231 680",
        "constants  9 002 bytes",
    ] {
        assert!(ran.out.contains(expect), "{expect}: {}", ran.out);
    }
    // Colours are for terminals.
    assert!(!ran.out.contains('\x1b'));
}

#[test]
fn json_has_the_documented_keys() {
    let ran = line(&format!("check --json {DIGITS}"));
    assert_eq!(ran.code, Some(0));
    let json = ran.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
    let expect = [
        "arena_bytes",
        "bytes",
        "constant_bytes",
        "control_flow",
        "dead_channels",
        "file",
        "inputs",
        "lower_bound",
        "macs",
        "name",
        "operators",
        "outputs",
        "pools",
        "proved",
        "sha256",
        "state_bytes",
        "steps",
    ];
    assert_eq!(keys, expect);
    assert_eq!(json["operators"]["conv2d"], 3);
    assert_eq!(json["macs"], 231_680);
    assert!(json["arena_bytes"].as_u64() >= json["lower_bound"].as_u64());
    let input = &json["inputs"][0];
    assert_eq!((&input["dtype"], &input["shape"]), (&"i8".into(), &vec![1, 8, 8, 1].into()));
    assert_eq!(input["zero_point"], -128);
    let float = line(&format!("check --json {DIGITS_FLOAT}")).json();
    assert_eq!((&float["inputs"][0]["scale"], &float["inputs"][0]["dtype"]), (&Value::Null, &"f32".into()));
}

#[test]
fn a_refused_model_gives_every_problem() {
    let model = "tests/conformance/refused/conv_2d_hybrid.tflite";
    let ran = line(&format!("check --json {model}"));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with(&format!("error: {model}: ")), "{}", ran.err);
    let json = ran.json();
    assert_eq!(json["errors"][0]["file"], model);
    let problem = &json["errors"][0]["problems"][0];
    assert!(ran.err.contains(problem["message"].as_str().unwrap()));
    assert!(
        problem["items"].is_array() && problem.get("location").is_some() && problem.get("help").is_some()
    );
    // Without `--json` there is no answer.
    let ran = line(&format!("check {model}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
}

#[test]
fn failures_say_what_is_wrong() {
    for (arguments, code, expect) in [
        ("check missing.tflite", 1, "error: missing.tflite: the file cannot be read"),
        ("check Cargo.toml", 1, "Cargo.toml: files that end in `toml` are not read"),
        ("check", 2, "required arguments were not provided"),
        ("chek x.tflite", 2, "similar subcommand"),
        ("check x.tflite --set optimize", 2, "expected KEY=VALUE"),
        ("run x.tflite", 2, "--input"),
        ("run", 2, "required arguments"),
        ("run x.tflite --input x.npy --tolerance=-1", 2, "--tolerance"),
        ("run --case x --expect y.npy", 2, "cannot be used with"),
        ("plan", 2, "required arguments"),
        ("plan --intervals x.csv --planner best", 2, "there is no planner `best`"),
        ("generate x.tflite", 2, "--output"),
    ] {
        let ran = line(arguments);
        assert_eq!(ran.code, Some(code), "{arguments}: {}", ran.err);
        assert!(ran.err.contains(expect), "{arguments}: {}", ran.err);
    }
}

#[test]
fn keys_come_from_a_file_and_from_the_command_line() {
    let file = folder("config").join("aot.toml");
    let config = file.to_str().unwrap();
    std::fs::write(&file, "[models.digits]\nram_limit = 100\nname = \"Kws\"\n").unwrap();

    let ran = aot(["check", DIGITS, "--config", config]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("the limit is 100"), "{}", ran.err);

    let ran = aot(["check", "--json", DIGITS, "--config", config, "--set", "ram_limit=1_000_000"]);
    assert_eq!((ran.code, &ran.json()["name"]), (Some(0), &"Kws".into()));

    let ran = aot(["check", DIGITS, "--set", "ram_limits=1", "--set", "optimize=fast"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error: --set: `ram_limits` is no configuration key"), "{}", ran.err);
    assert!(ran.err.contains("did you mean `ram_limit`?"), "{}", ran.err);
    assert!(ran.err.contains("`optimize` is one of"), "{}", ran.err);

    std::fs::write(&file, "\nram_limits = 3\n").unwrap();
    let ran = aot(["check", DIGITS, "--config", config]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.starts_with(&format!("error: {config}: line 2, column 1: ")), "{}", ran.err);
}
