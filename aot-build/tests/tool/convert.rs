//! `aot generate` and `aot export`.

use crate::*;

#[test]
fn generate_writes_source_and_constants() {
    let folder = folder("generate");
    let file = folder.join("digits.rs");
    let ran = aot(["generate", DIGITS, "-o", file.to_str().unwrap(), "--json", "--set", "name=Reader"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = ran.json();
    let constants = folder.join("digits.bin");
    assert_eq!((&json["type_name"], &json["rust"]), (&"Reader".into(), &file.to_str().into()));
    assert_eq!((&json["constants"], &json["constant_bytes"]), (&constants.to_str().into(), &9004.into()));
    assert_eq!(std::fs::read(constants).unwrap().len(), 9004);
    let source = std::fs::read_to_string(&file).unwrap();
    assert!(source.contains(r#"include_bytes!("digits.bin")"#), "{source}");
    assert!(source.contains("pub struct Reader"), "{source}");
}

#[test]
fn what_cannot_be_written_is_said() {
    let folder = folder("unwritable");
    std::fs::write(folder.join("file"), "").unwrap();
    let below_a_file = folder.join("file/x.rs");
    let ran = aot(["generate", DIGITS, "-o", below_a_file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("x.rs: the file cannot be written"), "{}", ran.err);
}

#[test]
fn an_export_is_named_as_it_is_read() {
    let file = folder("export-name").join("net");
    let ran = aot(["export", DIGITS, "-o", file.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("has to end in `.json`"), "{}", ran.err);
    assert!(!file.exists() && !file.with_extension("safetensors").exists());
}

/// Importing an export gives the same plan, and results that are equal bit for bit.
#[test]
fn an_export_is_the_same_model() {
    let folder = folder("export");
    let cases = in_repository("tests/conformance/cases");
    let mut names: Vec<_> =
        std::fs::read_dir(&cases).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    // Every 25th of the operators' cases; the importer's own tests know all of them.
    let sample =
        names.iter().step_by(25).map(|name| (cases.join(name), cases.join(name).join("model.tflite")));
    let digits = [(CASE, DIGITS), (CASE_FLOAT, DIGITS_FLOAT)];
    let digits = digits.map(|(case, model)| (in_repository(case), in_repository(model)));
    for (case, model) in sample.chain(digits) {
        let model = model.to_str().unwrap();
        let net = folder.join("net.json");
        let net = net.to_str().unwrap();
        let ran = aot(["export", model, "-o", net]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.starts_with(net));
        let plan = |model| aot(["plan", "--json", model]).json();
        assert_eq!(plan(model), plan(net), "{model}");

        let inputs: Vec<_> = (0..)
            .map(|i| case.join(format!("s0/in{i}.npy")))
            .take_while(|path| path.exists())
            .map(|path| path.to_str().unwrap().to_owned())
            .collect();
        let results = |model: &str, to: &str| {
            let to = folder.join(to);
            let command = ["run", model, "--output", to.to_str().unwrap(), "--input"].map(str::to_owned);
            let ran = aot(command.into_iter().chain(inputs.clone()));
            assert_eq!(ran.code, Some(0), "{}", ran.err);
            read_npy(&to.join("out0.npy"))
        };
        assert_eq!(results(model, "a"), results(net, "b"), "{model}");
    }
}
