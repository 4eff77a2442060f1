//! The memory of a model as a page: the map and the tables, in one file without
//! outside resources.

use super::svg::escaped;
use super::text::is_number;
use super::{MemoryReport, RunReport, label, memory_svg, spaced};

const STYLE: &str = "\
    :root{color-scheme:light dark}body{font:14px/1.5 sans-serif;margin:2em;max-width:76em}\
    svg{max-width:100%;height:auto}table{border-collapse:collapse;margin:1em 0}\
    th,td{padding:.15em .8em;text-align:left;border-bottom:1px solid #8886}\
    td.number{text-align:right;font-variant-numeric:tabular-nums}";

/// A page about the memory of the model in the file `name`.
#[must_use]
pub fn memory_html(name: &str, report: &MemoryReport) -> String {
    let name = escaped(&label(name));
    let figures = report.figures.iter().map(|figure| [figure.name.into(), spaced(figure.bytes)]);
    let heading = ["technique after technique", "bytes of RAM"].map(str::to_owned);
    let figures: Vec<_> = std::iter::once(heading).chain(figures).collect();
    let sizes = [format!("Arena: {}", report.verdict()), format!("Peak: {}", report.peak_in_words())];
    let paragraphs = sizes.into_iter().chain(report.runs.iter().map(RunReport::in_words));
    let paragraphs: Vec<_> = paragraphs.map(|text| format!("<p>{}.</p>", escaped(&text))).collect();
    [
        "<!DOCTYPE html>",
        "<html lang=\"en\">",
        "<head>",
        "<meta charset=\"utf-8\">",
        "<meta name=\"viewport\" content=\"width=device-width\">",
        &format!("<title>Memory of {name}</title>"),
        &format!("<style>{STYLE}</style>"),
        "</head>",
        "<body>",
        &format!("<h1>Memory of {name}</h1>"),
        &paragraphs.join("\n"),
        memory_svg(report).trim_end(),
        &table(&figures),
        &table(&report.rows()),
        "</body>",
        "</html>\n",
    ]
    .join("\n")
}

/// A table of text that is escaped here; the first row is its heading.
fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let cell = |(tag, text): (&str, &String)| {
        let class = if tag == "td" && is_number(text) { " class=\"number\"" } else { "" };
        format!("<{tag}{class}>{}</{tag}>", escaped(text))
    };
    let row = |(i, row): (usize, &[String; N])| {
        let tag = if i == 0 { "th" } else { "td" };
        let cells: String = row.iter().map(|text| cell((tag, text))).collect();
        format!("<tr>{cells}</tr>")
    };
    let rows: Vec<_> = rows.iter().enumerate().map(row).collect();
    format!("<table>\n{}\n</table>", rows.join("\n"))
}
