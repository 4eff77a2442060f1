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
        include_str!("reference.rs")
            .replace("CRATE", &self.package.replace('-', "_"))
            .replace("RUNNER", &self.generated.type_name)
            .replace("NUMBER_OF_RUNS", &self.reference.runs.to_string())
            .replace("    // INPUTS\n", &arrays("in", self.reference.inputs.len()))
            .replace("    // OUTPUTS\n", &arrays("out", self.reference.outputs.len()))
    }

    pub(super) fn readme(&self) -> String {
        format!(
            include_str!("README.template"),
            summary = self.summary,
            package = self.package,
            krate = self.package.replace('-', "_"),
            runner = self.generated.type_name,
            version = self.summary.aot_build,
            run = self.run,
        )
    }
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
