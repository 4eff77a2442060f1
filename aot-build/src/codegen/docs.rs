//! Documentation of generated items: names from files made harmless, the table of
//! inputs and outputs.

use aot_rt::Quantization;

use super::literal::array;
use super::ports::Port;
use crate::Model;
use crate::error::spaced;

/// Longest name that a line of documentation shows in full.
const MAX_NAME: usize = 60;

/// A name from a file as a code span: one line, no backtick, nothing that reorders
/// text, not longer than a line.
pub(super) fn code_span(name: &str) -> String {
    let mut text: String = name.chars().take(MAX_NAME).map(harmless).collect();
    if name.chars().nth(MAX_NAME).is_some() {
        text.push('…');
    }
    let text = text.trim();
    if text.is_empty() { "(no name)".into() } else { format!("`{text}`") }
}

/// Text from a file outside a code span.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(harmless).collect()
}

fn harmless(c: char) -> char {
    match c {
        '`' => '\'',
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    }
}

/// What the integers of a tensor stand for: `0.5847 (q − 83)`.
pub(crate) fn real_value(quantization: Quantization) -> String {
    let Quantization { scale, zero_point } = quantization;
    let steps = match zero_point {
        0 => "q".to_owned(),
        1.. => format!("(q − {zero_point})"),
        ..0 => format!("(q + {})", zero_point.unsigned_abs()),
    };
    let inverse = 1.0 / f64::from(scale);
    if scale == 1.0 {
        return steps;
    }
    if (2.0..=65_536.0).contains(&inverse) && inverse.fract() == 0.0 {
        return format!("{steps} / {inverse}");
    }
    // Four significant digits.
    let decimals = 3 - f64::from(scale).log10().floor() as i32;
    match usize::try_from(decimals) {
        Ok(decimals) if decimals <= 7 => {
            let scale = format!("{scale:.decimals$}");
            let short = if decimals > 0 { scale.trim_end_matches('0').trim_end_matches('.') } else { &scale };
            format!("{short} {steps}")
        }
        _ => format!("{scale:.3e} {steps}"),
    }
}

/// `1×49×10×1`, or `scalar`.
fn extents(shape: &[usize]) -> String {
    let extents: Vec<_> = shape.iter().map(usize::to_string).collect();
    if extents.is_empty() { "scalar".into() } else { extents.join("×") }
}

/// Documentation of the runner.
pub(super) fn runner(model: &Model, inputs: &[Port<'_>], outputs: &[Port<'_>]) -> String {
    let source = &model.source;
    let compiled = &model.compiled;
    let proof = if compiled.proved {
        "proved minimal".to_owned()
    } else {
        format!("at least {} are needed", spaced(compiled.lower_bound))
    };
    format!(
        "Runner for {} ({} bytes, sha256\n`{}`).\n\n{}\n\
         RAM {} bytes ({proof}), constants {} bytes, {} MACs.",
        code_span(&source.file),
        spaced(source.bytes),
        source.sha256,
        table(inputs, outputs),
        spaced(compiled.arena_bytes),
        spaced(compiled.program.constants.bytes().len()),
        spaced(compiled.program.macs()),
    )
}

fn table(inputs: &[Port<'_>], outputs: &[Port<'_>]) -> String {
    let row = |role: &str, port: &Port<'_>| {
        let ty = format!("`{}`, {}", port.array(), extents(&port.ty().shape));
        let real = port.quantization().map_or_else(
            || if port.is_float() { "the number".into() } else { "—".into() },
            |quantization| format!("`{}`", real_value(quantization)),
        );
        [role.into(), code_span(&port.port.name).replace('|', "\\|"), ty, real]
    };
    let mut rows: Vec<[String; 4]> =
        vec![["", "name", "type", "real value"].map(Into::into), [const { String::new() }; 4]];
    rows.extend(inputs.iter().map(|port| row("input", port)));
    rows.extend(outputs.iter().map(|port| row("output", port)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    let mut text = String::new();
    for (i, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&match i {
                1 => format!("|{}", "-".repeat(width + 2)),
                _ => format!("| {cell:width$} "),
            });
        }
        text.push_str("|\n");
    }
    text
}

/// `` Input `x`: `[i8; 490]`, shape `[1, 49, 10, 1]`, real value `0.5847 (q − 83)`. ``
pub(super) fn port(role: &str, port: &Port<'_>) -> String {
    let real = port.quantization().map(|q| format!(", real value `{}`", real_value(q))).unwrap_or_default();
    format!("{role} {}, shape `{}`{real}.", code_span(&port.port.name), array(&port.ty().shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_harmless() {
        for (name, expect) in [
            ("conv2d/Conv2D", "`conv2d/Conv2D`"),
            ("a`b``c", "`a'b''c`"),
            ("a\nb\r\u{202e}c*/]", "`a b  c*/]`"),
            ("", "(no name)"),
            (" \n", "(no name)"),
        ] {
            assert_eq!(code_span(name), expect);
        }
        assert_eq!(code_span(&"é".repeat(61)), format!("`{}…`", "é".repeat(60)));
    }

    #[test]
    fn real_values() {
        for (scale, zero_point, expect) in [
            (0.584_702_9, 83, "0.5847 (q − 83)"),
            (1.0 / 256.0, -128, "(q + 128) / 256"),
            (0.024_573_16, 0, "0.02457 q"),
            (1.0, 0, "q"),
            (0.1, 1, "0.1 (q − 1)"),
            (20.0, 0, "20 q"),
            (12.345_67, 1, "12.35 (q − 1)"),
            (1.234_567e-9, 0, "1.235e-9 q"),
            (12_345.678, 0, "1.235e4 q"),
        ] {
            assert_eq!(real_value(Quantization { scale, zero_point }), expect);
        }
    }
}
