//! What stands between the parentheses of `aot_model!`.

use aot_build::config::Value;
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Ident, Lit, LitStr, Result, Token, Visibility, braced, bracketed, token};

/// `"net.json", optimize = "size"`, or
/// `pub struct Net = "net.json" { optimize = "size" }`.
pub(crate) struct Arguments {
    /// What the long form says about the type.
    pub declaration: Option<Declaration>,
    /// Path of the model, relative to the crate's manifest.
    pub path: LitStr,
    /// Configuration, in the order it is written in.
    pub settings: Vec<Setting>,
}

/// `/// Documentation. pub struct Net`.
pub(crate) struct Declaration {
    pub attributes: Vec<Attribute>,
    pub visibility: Visibility,
    pub name: Ident,
}

/// `optimize = "size"`; of `devices.npu = { kind = "a", nodes = ["b"] }` one for each value, of an empty
/// table one.
pub(crate) struct Setting {
    /// At least one.
    pub keys: Vec<Ident>,
    pub value: Value,
    pub value_span: Span,
}

impl Setting {
    /// The keys as `Config::set` takes them: `devices.npu.kind`.
    pub(crate) fn name(&self) -> String {
        self.keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
    }

    /// The last key.
    pub(crate) fn key(&self) -> Option<&Ident> {
        self.keys.last()
    }
}

const FORMS: &str = "expected a model file: `aot_model!(\"net.json\")` or \
                     `aot_model!(pub struct Net = \"net.json\")`";

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        if input.peek(LitStr) {
            let path = input.parse()?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
            return Ok(Self { declaration: None, path, settings: settings(input, &[])? });
        }
        let attributes = Attribute::parse_outer(input)?;
        let visibility = input.parse()?;
        if !input.peek(Token![struct]) {
            return Err(input.error(FORMS));
        }
        input.parse::<Token![struct]>()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let path = input.parse()?;
        let settings = if input.peek(token::Brace) {
            let block;
            braced!(block in input);
            settings(&block, &[])?
        } else {
            input.parse::<Option<Token![;]>>()?;
            Vec::new()
        };
        Ok(Self { declaration: Some(Declaration { attributes, visibility, name }), path, settings })
    }
}

/// What is set in the table of the keys `outer`: tables may be nested, as in TOML.
fn settings(input: ParseStream<'_>, outer: &[Ident]) -> Result<Vec<Setting>> {
    let mut settings = Vec::new();
    while !input.is_empty() {
        let mut keys = outer.to_vec();
        keys.extend(Punctuated::<Ident, Token![.]>::parse_separated_nonempty(input)?);
        input.parse::<Token![=]>()?;
        if input.peek(token::Brace) {
            let value_span = input.span();
            let table;
            braced!(table in input);
            if table.is_empty() {
                // It may say something by being there.
                settings.push(Setting { keys, value: Value::Table(Default::default()), value_span });
            } else {
                settings.extend(self::settings(&table, &keys)?);
            }
        } else {
            let value_span = input.span();
            settings.push(Setting { keys, value: value(input)?, value_span });
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(settings)
}

fn value(input: ParseStream<'_>) -> Result<Value> {
    if input.peek(token::Bracket) {
        let list;
        bracketed!(list in input);
        let values = Punctuated::<_, Token![,]>::parse_terminated_with(&list, value)?;
        return Ok(Value::Array(values.into_iter().collect()));
    }
    let expected = "expected a string, a number, `true`, `false`, a list of them in `[]`, or a table in `{}`";
    let literal: Lit = input.parse().map_err(|error| Error::new(error.span(), expected))?;
    match &literal {
        Lit::Str(text) => Ok(Value::String(text.value())),
        Lit::Bool(flag) => Ok(Value::Boolean(flag.value)),
        Lit::Int(number) if number.suffix().is_empty() => Ok(Value::Integer(number.base10_parse()?)),
        Lit::Float(number) if number.suffix().is_empty() => Ok(Value::Float(number.base10_parse()?)),
        other => Err(Error::new(other.span(), expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<String>, String, Vec<(String, Value)>) {
        let Arguments { declaration, path, settings } = syn::parse_str(text).unwrap();
        let settings = settings.into_iter().map(|setting| (setting.name(), setting.value));
        (declaration.map(|declaration| declaration.name.to_string()), path.value(), settings.collect())
    }

    #[test]
    fn forms() {
        let optimize = || ("optimize".to_owned(), Value::from("size"));
        for (text, name, settings) in [
            (r#""net.json""#, None, vec![]),
            (r#""net.json","#, None, vec![]),
            (r#""net.json", optimize = "size""#, None, vec![optimize()]),
            (
                r#""net.json", a = 32_768, optimize = "size","#,
                None,
                vec![("a".to_owned(), Value::from(32_768)), optimize()],
            ),
            (r#"struct Net = "net.json""#, Some("Net"), vec![]),
            (r#"pub struct Net = "net.json";"#, Some("Net"), vec![]),
            (r#"#[derive(Debug)] pub(crate) struct Net = "net.json" {}"#, Some("Net"), vec![]),
            (
                r#"/** A net. */ struct Net = "net.json" { optimize = "size", }"#,
                Some("Net"),
                vec![optimize()],
            ),
            (
                r#""net.json", a.b.c = 1, a.b = { d = 2, e = {} }, f = { g.h = 3, },"#,
                None,
                vec![
                    ("a.b.c".to_owned(), 1.into()),
                    ("a.b.d".to_owned(), 2.into()),
                    ("a.b.e".to_owned(), Value::Table(Default::default())),
                    ("f.g.h".to_owned(), 3.into()),
                ],
            ),
            (
                r#""net.json", a = [1, -2], b = true, c = 1.5"#,
                None,
                vec![
                    ("a".to_owned(), Value::Array(vec![1.into(), (-2).into()])),
                    ("b".to_owned(), true.into()),
                    ("c".to_owned(), 1.5.into()),
                ],
            ),
            (
                r#"struct Net = "net.json" { pools = { a = { limit = 8 }, b = {}, } }"#,
                Some("Net"),
                vec![
                    ("pools.a.limit".to_owned(), 8.into()),
                    ("pools.b".to_owned(), Value::Table(Default::default())),
                ],
            ),
        ] {
            let expect = (name.map(str::to_owned), "net.json".to_owned(), settings);
            assert_eq!(parsed(text), expect, "{text}");
        }
    }

    #[test]
    fn malformed() {
        for (text, expect) in [
            ("", "expected a model file"),
            ("net.json", "expected a model file"),
            ("pub enum Net", "expected a model file"),
            (r#"struct Net: "net.json""#, "expected `=`"),
            (r#""net.json" optimize = "size""#, "expected `,`"),
            (r#""net.json", "size""#, "expected identifier"),
            (r#""net.json", optimize"#, "expected `=`"),
            (r#""net.json", ram_limit = 10usize"#, "expected a string, a number"),
            (r#""net.json", ram_limit = 4 * 1024"#, "expected `,`"),
            (r#""net.json", optimize = size"#, "expected a string, a number"),
            (r#""net.json", ram_limit = 99999999999999999999"#, "number too large"),
            (r#"struct Net = "net.json"; struct Other = "other.json";"#, "unexpected token"),
        ] {
            let message = syn::parse_str::<Arguments>(text).err().unwrap().to_string();
            assert!(message.contains(expect), "{text}: {message}");
        }
    }
}
