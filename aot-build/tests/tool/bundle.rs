//! `aot bundle`: crates that build and test themselves.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Deref;

use crate::*;

const STATEFUL: &str = "tests/conformance/cases/svdf_i8_rank2/model.tflite";

/// The folder of a bundle, which goes away with the test, whether it passes or not.
struct Bundle(PathBuf);

impl Deref for Bundle {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Bundle {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Bundles a model into a folder of the test's own, outside of this repository: cargo would take
/// the bundle for a forgotten member of the workspace.
fn bundle(name: &str, model: &str, options: &[&str]) -> Bundle {
    let folder = Bundle(std::env::temp_dir().join(format!("aot-bundle-{}-{name}", std::process::id())));
    let _ = std::fs::remove_dir_all(&*folder);
    let ran = aot(["bundle", model, "-o", folder.to_str().unwrap()].iter().chain(options));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    folder
}

/// Runs `cargo test` in a bundle; gives whether all is well, and what it printed.
fn cargo_test(folder: &Path) -> (bool, String) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.current_dir(folder).args(["test", "--offline"]).env("CARGO_TARGET_DIR", folder.join("target"));
    // Whoever gets the bundle may deny warnings.
    let Output { status, stdout, stderr } = cargo.env("RUSTFLAGS", "-D warnings").output().unwrap();
    let text = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).join("");
    (status.success(), text)
}

/// All files below a folder: path from there, and contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.insert(path.strip_prefix(folder).unwrap().to_owned(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

/// The bundle tests itself, and its metadata is what the tool says of the model; then a byte of
/// the reference is another, and the test says so.
fn check(folder: &Path, model: &str, options: &[&str]) {
    let json = aot(["check", "--json", model].iter().chain(options)).out;
    assert_eq!(std::fs::read_to_string(folder.join("metadata.json")).unwrap(), json);
    let name = serde_json::from_str::<Value>(&json).unwrap()["name"].as_str().unwrap().to_owned();
    let krate = format!("model_{}", name.to_lowercase());
    let test = include_str!("bundle/metadata.rs").replace("CRATE", &krate).replace("RUNNER", &name);
    std::fs::write(folder.join("tests/metadata.rs"), test).unwrap();
    std::fs::write(folder.join("tests/metadata.txt"), in_lines(&json)).unwrap();
    let (good, text) = cargo_test(folder);
    assert!(good && text.contains("test outputs_are_those_of_the_reference ... ok"), "{text}");
    assert!(text.contains("test metadata_is_that_of_the_tool ... ok"), "{text}");

    let output = folder.join("reference/out0.npy");
    let mut bytes = std::fs::read(&output).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(output, bytes).unwrap();
    let (good, text) = cargo_test(folder);
    assert!(!good && text.contains("test outputs_are_those_of_the_reference ... FAILED"), "{text}");
}

/// What `tests/tool/bundle/metadata.rs` makes of the same metadata.
fn in_lines(json: &str) -> String {
    let json: Value = serde_json::from_str(json).unwrap();
    let list = |key: &str| json[key].as_array().unwrap().clone();
    let pool = |of: &Value| list("pools").iter().position(|pool| pool["name"] == of["pool"]);
    let mut lines = String::new();
    // Writing to a string cannot fail.
    let mut line = |values: &[&Value]| {
        let shown = |value: &&Value| match value {
            Value::Array(extents) => {
                format!("{:?}", extents.iter().filter_map(Value::as_u64).collect::<Vec<_>>())
            }
            value => value.to_string(),
        };
        let _ = writeln!(lines, "{}", values.iter().map(shown).collect::<Vec<_>>().join(" "));
    };
    for keys in [
        &["format", "aot_build", "name", "file", "bytes", "sha256"][..],
        &["arena_bytes", "lower_bound"],
        &["proved", "constant_bytes", "state_bytes", "macs", "control_flow"],
    ] {
        line(&keys.iter().map(|key| &json[key]).collect::<Vec<_>>());
    }
    line(&[&json["configuration"]["toml"], &json["configuration"]["sha256"]]);
    for file in list("files") {
        line(&[&file["file"], &file["bytes"], &file["sha256"]]);
    }
    for (name, uses) in json["operators"].as_object().unwrap() {
        line(&[&name.as_str().into(), uses]);
    }
    for port in ["inputs", "outputs"].iter().flat_map(|role| list(role)) {
        line(&["name", "dtype", "shape", "zero_point"].map(|key| &port[key]));
    }
    for pool in list("pools") {
        line(&[&pool["name"], &pool["bytes"]]);
    }
    let mut owner = Value::Null;
    for (i, tensor) in list("tensors").iter().enumerate() {
        if tensor["alias_of"].is_null() {
            owner = i.into();
        }
        let alias_of = if tensor["alias_of"].is_null() { &Value::Null } else { &owner };
        let [name, dtype, zero_point, bytes, offset, first, last] =
            ["name", "dtype", "zero_point", "bytes", "offset", "first_step", "last_step"]
                .map(|key| &tensor[key]);
        let none = Value::Array(Vec::new());
        let shape = if tensor["shape"].is_null() { &none } else { &tensor["shape"] };
        line(&[name, dtype, shape, zero_point, bytes, &pool(tensor).into(), offset, first, last, alias_of]);
    }
    for step in list("schedule") {
        line(&["name", "operator", "kernel", "node", "macs", "bytes", "device"].map(|key| &step[key]));
        for operand in step["operands"].as_array().unwrap() {
            let [name, access, dtype, elements, tensor, offset] =
                ["name", "access", "dtype", "elements", "tensor", "offset"].map(|key| &operand[key]);
            line(&[name, access, dtype, elements, tensor, &pool(operand).into(), offset]);
        }
    }
    lines
}

#[test]
fn an_int8_model() {
    let input = format!("{CASE}/s0/in0.npy");
    let folder = bundle("int8", DIGITS, &["--input", &input]);
    // The reference runtime says the same.
    let expected = read_npy(&in_repository(&format!("{CASE}/s0/out0.npy")));
    assert_eq!(read_npy(&folder.join("reference/out0.npy")), expected);
    std::fs::write(folder.join("tests/addresses.rs"), include_str!("bundle/addresses.rs")).unwrap();
    // The example of the documentation.
    let text = include_str!("../../../docs/metadata.md");
    let example = text.split("```rust").nth(1).and_then(|text| text.split("```").next()).unwrap();
    let example = format!("use model_digits::Digits;\n#[test]\nfn example() {{{example}}}\n");
    std::fs::write(folder.join("tests/documentation.rs"), example).unwrap();
    check(&folder, DIGITS, &[]);
}

#[test]
fn a_float_model_in_the_callers_arrays() {
    let options = ["--set", "inputs=caller", "--set", "outputs=caller", "--set", "name=Reader"];
    let folder = bundle("float", DIGITS_FLOAT, &options);
    check(&folder, DIGITS_FLOAT, &options);
}

#[test]
fn a_model_with_a_state() {
    let folder = bundle("state", STATEFUL, &[]);
    let output = npy::read(&std::fs::read(folder.join("reference/out0.npy")).unwrap()).unwrap().shape[0];
    assert_eq!(output, 4, "runs");
    check(&folder, STATEFUL, &[]);
}

/// What bundles with devices are of, and the keys of these.
const DEVICES: [(&str, &str, &[&str]); 3] = [
    (
        "devices-direct",
        DIGITS_FLOAT,
        &["devices.npu.operators=[\"conv2d\"]", "devices.dsp.patterns=[[\"fully_connected\", \"softmax\"]]"],
    ),
    (
        "devices-caller",
        DIGITS,
        &[
            "devices.npu.operators=[\"depthwise_conv2d\", \"conv2d\"]",
            "devices.npu.calls=packed",
            "devices.npu.activate=caller",
            "devices.dsp.operators=[\"fully_connected\"]",
            "devices.dsp.calls=registry",
            "calls=registry",
            "inputs=caller",
            "outputs=caller",
        ],
    ),
    ("devices-rows", DIGITS, &["devices.npu.operators=[\"fully_connected\"]", "inputs=rows", "memory=min"]),
];

#[test]
fn models_with_devices() {
    for (name, model, keys) in DEVICES {
        let options: Vec<_> = keys.iter().flat_map(|key| ["--set", key]).collect();
        let folder = bundle(name, model, &options);
        let (good, text) = cargo_test(&folder);
        assert!(good && text.contains("test outputs_are_those_of_the_reference ... ok"), "{name}: {text}");
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.contains("Their drivers are yours"), "{readme}");
        // Constants as the kernels need them are not those of the model.
        if let Ok(mut bytes) = std::fs::read(folder.join("reference/packed0.bin")) {
            bytes.rotate_left(4);
            std::fs::write(folder.join("reference/packed0.bin"), bytes).unwrap();
            let (good, text) = cargo_test(&folder);
            let failed = "test outputs_are_those_of_the_reference ... FAILED";
            assert!(!good && text.contains(failed), "{name}: {text}");
        } else {
            assert_ne!(model, DIGITS_FLOAT, "float filters are packed");
        }
    }
}

/// `aot_rt::SOURCE` lists every file; with `AOT_UPDATE` the list is written anew.
#[test]
fn the_runtime_is_complete() {
    let crate_folder = in_repository("aot-rt");
    let mut expected = files(&crate_folder.join("src"));
    let list = crate_folder.join("src/source.rs");
    if std::env::var_os("AOT_UPDATE").is_some() {
        let text = std::fs::read_to_string(&list).unwrap();
        let (head, _) = text.split_once("files![\n").unwrap();
        let mut names: Vec<_> = expected.keys().map(|path| format!("src/{}", path.display())).collect();
        names.extend(["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "build.rs"].map(str::to_owned));
        names.sort();
        let lines: String = names.iter().map(|name| format!("    {name:?}\n")).collect();
        std::fs::write(&list, format!("{head}files![\n{lines}];\n")).unwrap();
        expected.insert("source.rs".into(), std::fs::read(&list).unwrap());
    }
    let folder = bundle("runtime", DIGITS, &[]);
    let mut found = files(&folder.join("aot-rt"));
    let manifest = String::from_utf8(found.remove(Path::new("Cargo.toml")).unwrap()).unwrap();
    let script = found.remove(Path::new("build.rs")).unwrap();
    assert_eq!(script, std::fs::read(crate_folder.join("build.rs")).unwrap());
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        assert_eq!(found.remove(Path::new(license)).unwrap(), std::fs::read(in_repository(license)).unwrap());
    }
    let found: BTreeMap<_, _> = found
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix("src").unwrap().to_owned(), bytes))
        .collect();
    let names = |files: &BTreeMap<PathBuf, Vec<u8>>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected), "run this test with AOT_UPDATE=1");
    assert!(found == expected, "the bundle's files are those that the tool was built from");
    assert!(!manifest.contains("workspace"), "{manifest}");
}

#[test]
fn a_seed_gives_the_same_inputs() {
    let input = |name: &str, seed: &str| {
        let folder = bundle(name, DIGITS, &["--seed", seed]);
        read_npy(&folder.join("reference/in0.npy"))
    };
    assert_eq!(input("seed-1", "7"), input("seed-2", "7"));
    assert_ne!(input("seed-1", "7"), input("seed-2", "8"));
}

#[test]
fn a_folder_that_is_not_empty_stays_as_it_is() {
    let folder = folder("bundle-force");
    std::fs::write(folder.join("README.md"), "mine").unwrap();
    let to = folder.to_str().unwrap();
    let ran = aot(["bundle", DIGITS, "-o", to]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("the folder is not empty; `--force` writes over the files in it"),
        "{}",
        ran.err
    );
    assert_eq!(files(&folder).len(), 1);

    let ran = aot(["bundle", DIGITS, "-o", to, "--force", "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = ran.json();
    assert_eq!(
        (&json["package"], &json["type_name"], &json["runs"]),
        (&"model-digits".into(), &"Digits".into(), &1.into())
    );
    assert_eq!(json["files"].as_array().unwrap().len(), files(&folder).len());
    assert_ne!(std::fs::read(folder.join("README.md")).unwrap(), b"mine");

    let file = folder.join("README.md");
    let ran = aot(["bundle", DIGITS, "-o", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("the folder cannot be listed"), "{}", ran.err);
}

#[test]
fn what_does_not_fit_is_said() {
    let folder = folder("bundle-refused");
    let to = folder.join("bundle");
    let case = format!("{CASE_FLOAT}/s0/in0.npy");
    let ran = aot(["bundle", DIGITS, "-o", to.to_str().unwrap(), "--input", &case]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("input `image` is i8 [1, 8, 8, 1]"), "{}", ran.err);
    assert!(!to.exists(), "nothing is written");

    let keys = [
        "devices.npu.operators=[\"conv2d\", \"depthwise_conv2d\"]",
        "pools.ram.reach=[\"cpu\"]",
        "pools.sram.reach=[\"npu\"]",
    ];
    let ran = aot(["bundle", DIGITS, "-o", to.to_str().unwrap()]
        .into_iter()
        .chain(keys.iter().flat_map(|key| ["--set", key])));
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("tensors in the pool `sram`, which `cpu` does not reach"), "{}", ran.err);
    assert!(!to.exists(), "nothing is written");
}
