//! What a linked program holds of a model's metadata: nothing, unless it names the constant.

use std::path::Path;

const MANIFEST: &str = r#"
[package]
name = "metadata"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "metadata"
path = "named.rs"

[[bin]]
name = "unnamed"
path = "unnamed.rs"

[dependencies]
aot-macros = { path = "ROOT/aot-macros" }
aot-rt = { path = "ROOT/aot-rt" }

[profile.firmware]
inherits = "release"
panic = "abort"
lto = "fat"
codegen-units = 1

[workspace]
"#;

const PROGRAM: &str = r#"
#![no_std]
#![no_main]

aot_macros::aot_model! { struct Digits = "ROOT/examples/digits/model/digits.tflite"; }

#[link(name = "c")]
unsafe extern "C" {}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    let Some(digits) = Digits::take() else { return 1 };
    core::hint::black_box(digits.run(core::hint::black_box(&[0; 64])));
    // USE
    0
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
"#;

#[test]
fn a_program_holds_metadata_only_where_it_is_named() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("it is there");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("metadata");
    std::fs::create_dir_all(&folder).expect("a folder for tests can be made");
    let root = workspace.display().to_string();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text.replace("ROOT", &root)).expect("it can be written");
    };
    write("Cargo.toml", MANIFEST);
    write("named.rs", &PROGRAM.replace("// USE", "core::hint::black_box(Digits::METADATA);"));
    write("unnamed.rs", PROGRAM);
    let named = super::build(&folder, "metadata", &workspace.join("target/firmware-test"));
    let unnamed = named.with_file_name("unnamed");
    super::check(&named);
    super::check_unobserved(&unnamed);

    let read = |path: &Path| std::fs::read(path).expect("the program can be read");
    let (named, unnamed) = (read(&named), read(&unnamed));
    let holds =
        |program: &[u8], text: &str| program.windows(text.len()).any(|bytes| bytes == text.as_bytes());
    // The hash of the model, its file, a tensor without a step, an argument of kernels.
    for text in ["732f944f0c41c7e232e6", "digits.tflite", "digits_1/flatten_1/Reshape", "multipliers"] {
        assert!(holds(&named, text), "`{text}` is not where it is named");
        assert!(!holds(&unnamed, text), "`{text}` is where nobody names it");
    }
}
