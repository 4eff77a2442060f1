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
        "constants  9 004 bytes",
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
        "aot_build",
        "arena_bytes",
        "bytes",
        "configuration",
        "constant_bytes",
        "control_flow",
        "dead_channels",
        "devices",
        "file",
        "files",
        "format",
        "inputs",
        "lower_bound",
        "macs",
        "name",
        "operators",
        "outputs",
        "pools",
        "proved",
        "schedule",
        "sha256",
        "state_bytes",
        "steps",
        "tensors",
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

/// Files, configuration and places, against what other tools say of them.
#[test]
fn json_has_hashes_pools_and_steps() {
    let sha256 = |file: &str| {
        let output = Command::new("sha256sum").arg(in_repository(file)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()[..64].to_owned()
    };
    let json = line(&format!("check --json {DIGITS_FLOAT} --set memory=min --set ram_limit=9_000")).json();
    assert_eq!(json["sha256"], sha256(DIGITS_FLOAT));
    let weights = "examples/digits/model/digits.safetensors";
    let bytes = std::fs::metadata(in_repository(weights)).unwrap().len();
    let expect =
        serde_json::json!([{"file": "digits.safetensors", "bytes": bytes, "sha256": sha256(weights)}]);
    assert_eq!(json["files"], expect);

    let toml = json["configuration"]["toml"].as_str().unwrap();
    assert_eq!(toml, "memory = \"min\"\nram_limit = 9000\n");
    let file = folder("configuration").join("aot.toml");
    std::fs::write(&file, toml).unwrap();
    assert_eq!(json["configuration"]["sha256"], sha256(file.to_str().unwrap()));
    // It is the configuration that it says.
    assert_eq!(aot(["check", "--json", DIGITS_FLOAT, "--config", file.to_str().unwrap()]).json(), json);

    let plan = line(&format!("plan --json {DIGITS_FLOAT} --set memory=min --set ram_limit=9_000")).json();
    assert_eq!(json["tensors"], plan["tensors"]);
    let names: Vec<_> = json["schedule"].as_array().unwrap().iter().map(|step| &step["name"]).collect();
    assert_eq!(names, plan["steps"].as_array().unwrap().iter().collect::<Vec<_>>());
    let pools = &json["pools"];
    assert_eq!((&pools[0]["name"], &pools[0]["bytes"]), (&"workspace".into(), &json["arena_bytes"]));
    assert_eq!((&pools[1]["name"], &pools[1]["bytes"]), (&"constants".into(), &json["constant_bytes"]));
    let macs: u64 =
        json["schedule"].as_array().unwrap().iter().filter_map(|step| step["macs"].as_u64()).sum();
    assert_eq!(json["macs"], macs);
}

/// Steps within a branch or a loop follow it, and tensors count them.
#[test]
fn json_counts_steps_within_steps() {
    let json = line("check --json tests/conformance/cases/while_f32_nested_if/model.tflite").json();
    let schedule = json["schedule"].as_array().unwrap();
    let top = json["steps"].as_u64().unwrap() as usize;
    assert!(schedule.len() > top, "{} steps, {top} of the model itself", schedule.len());
    let tensors = json["tensors"].as_array().unwrap();
    let ends = |key: &str| tensors.iter().map(|tensor| tensor[key].as_u64().unwrap() as usize).max().unwrap();
    assert_eq!(ends("last_step"), schedule.len());
    // Each step has its own operands alive.
    for (i, step) in schedule.iter().enumerate() {
        for tensor in
            step["operands"].as_array().unwrap().iter().filter_map(|operand| operand["tensor"].as_u64())
        {
            let steps = ["first_step", "last_step"]
                .map(|key| tensors[tensor as usize][key].as_u64().unwrap() as usize);
            assert!((steps[0]..=steps[1]).contains(&i), "step {i}, tensor {tensor}: {steps:?}");
        }
    }
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
