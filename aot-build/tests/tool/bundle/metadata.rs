//! Put into a bundle by the tests of the tool: writes the metadata as they do.

use aot_rt::metadata::Tensor;
use aot_rt::{Access, DType};

#[test]
fn metadata_is_that_of_the_tool() {
    let expected = include_str!("metadata.txt");
    let found = in_lines();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
}

fn in_lines() -> String {
    let of = CRATE::RUNNER::METADATA;
    let (file, sizes) = (of.file, of.sizes);
    let mut lines = vec![
        format!("{} {:?} {:?} {:?} {} {:?}", of.format, of.aot_build, of.name, file.name, file.bytes, file.sha256),
        format!("{} {}", sizes.arena_bytes, sizes.lower_bound),
        format!(
            "{} {} {} {} {}",
            sizes.proved, sizes.constant_bytes, sizes.state_bytes, sizes.macs, sizes.control_flow
        ),
        format!("{:?} {:?}", of.configuration.toml, of.configuration.sha256),
    ];
    lines.extend(of.files.iter().map(|file| format!("{:?} {} {:?}", file.name, file.bytes, file.sha256)));
    lines.extend(of.operators.iter().map(|operator| format!("{:?} {}", operator.name, operator.uses)));
    for port in of.inputs.iter().chain(of.outputs) {
        let zero_point = optional(port.quantization.map(|quantization| quantization.zero_point));
        lines.push(format!("{:?} {} {:?} {zero_point}", port.name, name(port.dtype), port.shape));
    }
    lines.extend(of.pools.iter().map(|pool| format!("{:?} {}", pool.name, pool.bytes)));
    for Tensor { name: label, dtype, shape, quantization, bytes, pool, offset, steps: [first, last], alias_of } in
        of.tensors
    {
        let dtype = optional(dtype.map(name));
        let zero_point = optional(quantization.map(|quantization| quantization.zero_point));
        let (pool, offset, alias_of) = (optional(*pool), optional(*offset), optional(*alias_of));
        lines.push(format!(
            "{label:?} {dtype} {shape:?} {zero_point} {bytes} {pool} {offset} {first} {last} {alias_of}"
        ));
    }
    for step in of.steps {
        let info = step.info;
        let (kernel, device) = (quoted(info.kernel), quoted(info.device));
        let (label, operator, node) = (info.name, info.operator, info.node);
        lines.push(format!("{label:?} {operator:?} {kernel} {node:?} {} {} {device}", info.macs, info.bytes));
        for operand in step.operands {
            let access = if operand.access == Access::Read { "read" } else { "write" };
            let (tensor, offset) = (optional(operand.tensor), optional(operand.offset));
            let (dtype, len, pool) = (name(operand.dtype), operand.len, optional(operand.pool));
            lines.push(format!("{:?} {access:?} {dtype} {len} {tensor} {pool} {offset}", operand.name));
        }
    }
    lines.join("\n")
}

fn name(dtype: DType) -> String {
    format!("{:?}", dtype.name())
}

fn quoted(text: Option<&str>) -> String {
    optional(text.map(|text| format!("{text:?}")))
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or("null".to_owned(), |value| value.to_string())
}
