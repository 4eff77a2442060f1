//! The texts of a bundle.

use aot_build::report::label;
use toml::{Table, Value};

use super::Bundle;

impl Bundle {
    pub(super) fn manifest(&self) -> String {
        format!(
            include_str!("manifest.toml"),
            package = self.package,
            description = Value::from(format!("{}, compiled by aot-build", self.summary.file)),
            rust_version = env!("CARGO_PKG_RUST_VERSION"),
        )
    }

    /// What `aot check --json` prints.
    pub(super) fn metadata(&self) -> String {
        let json = serde_json::to_string_pretty(&self.summary);
        json.expect("a summary has no keys but text, and numbers that are finite") + "\n"
    }

    pub(super) fn library(&self) -> String {
        format!(
            "//! The network of {}: [`{}`].\n#![no_std]\n\n{}\n/// The runtime that it calls.\npub use aot_rt;\n",
            label(&self.summary.file),
            self.generated.type_name,
            self.generated.file("pub", "include_bytes!(\"constants.bin\")"),
        )
    }

    pub(super) fn test(&self) -> String {
        let arrays = |name: &str, count: usize| -> String {
            (0..count).map(|i| format!("    include_bytes!(\"../reference/{name}{i}.npy\"),\n")).collect()
        };
        let runner = match &self.devices {
            Some(_) => "#[path = \"reference/devices.rs\"]\nmod devices;\n\nuse devices::Runner;".to_owned(),
            None => format!("type Runner = {}::{};", self.krate(), self.generated.type_name),
        };
        include_str!("reference.rs")
            .replace("// THE RUNNER", &runner)
            .replace("NUMBER_OF_RUNS", &self.reference.runs.to_string())
            .replace("    // INPUTS\n", &arrays("in", self.reference.inputs.len()))
            .replace("    // OUTPUTS\n", &arrays("out", self.reference.outputs.len()))
    }

    /// Name of the crate in Rust.
    pub(super) fn krate(&self) -> String {
        krate(&self.package)
    }

    pub(super) fn readme(&self) -> String {
        format!(
            include_str!("README.template"),
            summary = self.summary,
            package = self.package,
            krate = self.krate(),
            devices = if self.devices.is_some() { DEVICES } else { "" },
            runner = self.generated.type_name,
            version = self.summary.aot_build,
            run = self.run,
        )
    }
}

/// What is to be said where there are devices.
const DEVICES: &str = "
The network has steps for devices. Their drivers are yours: the traits are in `src/lib.rs`, and
`cargo doc --open` describes them. In the test, the runtime's own kernels stand in for them
(`tests/reference/devices.rs`): it says that the network is whole, and nothing of your drivers. Run it
with these in their place, too.
";

/// Name of a package in Rust.
pub(super) fn krate(package: &str) -> String {
    package.replace('-', "_")
}

/// The manifest of `aot-rt`, without what it takes from its workspace.
pub(super) fn runtime_manifest(text: &str) -> String {
    let mut manifest: Table = text.parse().expect("cargo has read the manifest");
    let package = Table::from_iter([
        ("name".to_owned(), "aot-rt".into()),
        ("version".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("description".to_owned(), "Runtime of neural networks that aot-build compiled".into()),
        ("license".to_owned(), env!("CARGO_PKG_LICENSE").into()),
        ("edition".to_owned(), "2024".into()),
        ("rust-version".to_owned(), env!("CARGO_PKG_RUST_VERSION").into()),
    ]);
    manifest.insert("package".to_owned(), package.into());
    manifest.remove("lints");
    manifest.to_string()
}
