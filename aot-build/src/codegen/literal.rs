//! Rust literals: numbers as `clippy::pedantic` wants them, parameter structs.

use aot_rt::{Fields, Value};

use super::writer::{Code, STRUCT_WIDTH};
use crate::error::grouped;

/// `2_656_768`.
pub(super) fn integer(value: impl std::fmt::Display) -> String {
    let digits = value.to_string();
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    format!("{sign}{}", grouped(digits, '_'))
}

/// The shortest literal that reads back as `value`.
pub(super) fn float(value: f32) -> String {
    if value.is_nan() {
        return "f32::NAN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "f32::INFINITY" } else { "f32::NEG_INFINITY" }.into();
    }
    let text = format!("{value:?}");
    let (mantissa, exponent) = text.split_once('e').map_or((text.as_str(), None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let mut literal = integer(whole);
    if let Some(fraction) = fraction {
        literal.push('.');
        for (i, digit) in fraction.char_indices() {
            if i > 0 && i.is_multiple_of(3) {
                literal.push('_');
            }
            literal.push(digit);
        }
    }
    if let Some(exponent) = exponent {
        literal.push('e');
        literal.push_str(exponent);
    }
    literal
}

/// `[1, 49, 10, 1]`.
pub(super) fn array(values: &[impl std::fmt::Display]) -> String {
    let values: Vec<_> = values.iter().map(integer).collect();
    format!("[{}]", values.join(", "))
}

/// A parameter struct: `open`, the struct, `close`.
pub(super) fn params(code: &mut Code, open: &str, params: &dyn Fields, close: &str) {
    let mut items = Vec::new();
    params.fields(&mut |name, value| {
        let value = match value {
            Value::Usize(value) => integer(value),
            Value::I32(value) => integer(value),
            Value::F32(value) => float(value),
            Value::Bool(value) => value.to_string(),
            Value::Usizes(values) => array(values),
            Value::I32s(values) => array(values),
            Value::Struct(inner) => {
                let mut lines = Code::new(code.indent() + 1);
                self::params(&mut lines, "", inner, "");
                lines.into_text().trim().to_owned()
            }
        };
        items.push(format!("{name}: {value}"));
    });
    code.list(&format!("{open}kernels::{} {{ ", params.name()), &items, &format!(" }}{close}"), STRUCT_WIDTH);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_back() {
        for (value, expect) in [
            (0.584_702_9, "0.584_702_9"),
            (1.0, "1.0"),
            (-128.0, "-128.0"),
            (123_456.79, "123_456.79"),
            (1e-5, "1e-5"),
            (1.175_494_4e-38, "1.175_494_4e-38"),
            (3.402_823_5e38, "3.402_823_5e38"),
            (-0.0, "-0.0"),
            (f32::NEG_INFINITY, "f32::NEG_INFINITY"),
            (f32::NAN, "f32::NAN"),
        ] {
            assert_eq!(float(value), expect);
            if value.is_finite() {
                assert_eq!(expect.replace('_', "").parse::<f32>(), Ok(value));
            }
        }
    }

    #[test]
    fn integers_are_grouped() {
        assert_eq!([integer(0), integer(-128), integer(1000)], ["0", "-128", "1_000"]);
        assert_eq!(integer(i32::MIN), "-2_147_483_648");
    }
}
