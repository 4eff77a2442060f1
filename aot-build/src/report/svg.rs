//! The workspace as a drawing: time across, addresses up.
//!
//! One SVG without outside resources. Names from the model's file come in as text
//! only, escaped.

use super::memory::TensorReport;
use super::{MemoryReport, label, spaced};
use crate::codegen::plain;

/// Space around the plot, for the marks of the axes.
const LEFT: f64 = 84.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 36.0;

const PLOT_HEIGHT: f64 = 360.0;
/// Width of a step where there are neither few nor many.
const STEP_WIDTH: f64 = 28.0;
const LEAST_WIDTH: f64 = 480.0;
const MOST_WIDTH: f64 = 1_100.0;

/// Least width and height of a box that has its name written in it, and the width of
/// a character.
const NAMED_WIDTH: f64 = 24.0;
const NAMED_HEIGHT: f64 = 13.0;
const CHARACTER_WIDTH: f64 = 6.5;

/// Marks on the axis of addresses, and the most on that of time.
const BYTE_MARKS: usize = 4;
const STEP_MARKS: usize = 24;

/// Boxes are bright, with dark names, on light and on dark paper.
const STYLE: &str = "\
    .paper{fill:#fff}.grid{stroke:#bbb}.mark{fill:#333}.box{stroke:#333;fill-opacity:.85}.name{fill:#111}\
    .peak{fill:none;stroke:#c00;stroke-width:1.5;stroke-dasharray:4 2}.peak-mark{fill:#c00}\
    @media(prefers-color-scheme:dark){.paper{fill:#181818}.grid{stroke:#555}.mark{fill:#ddd}\
    .box{stroke:#eee}.peak{stroke:#f77}.peak-mark{fill:#f77}}";

/// Draws the workspace: a box for each tensor, from its first step to its last and from
/// its first byte to its last, with name, place and steps on hover; the step with most
/// bytes alive is framed.
#[must_use]
pub fn memory_svg(report: &MemoryReport) -> String {
    let plot = Plot::new(report);
    let (width, height) = (LEFT + plot.width + RIGHT, TOP + PLOT_HEIGHT + BOTTOM);
    let mut lines = vec![
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\" font-family=\"sans-serif\" font-size=\"11\">"
        ),
        format!("<title>Memory map, {} bytes</title>", spaced(report.arena_bytes)),
        format!("<style>{STYLE}</style>"),
        format!("<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>"),
    ];
    lines.extend(plot.addresses());
    let tensors = report.tensors.iter().filter(|tensor| tensor.alias_of.is_none());
    lines.extend(tensors.enumerate().filter_map(|(i, tensor)| plot.tensor(i, tensor)));
    lines.extend(plot.steps());
    lines.extend(plot.peak());
    lines.push("</svg>\n".into());
    lines.join("\n")
}

/// Text for an element or an attribute: what has a meaning in XML is escaped, what must
/// not stand there replaced.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Where things are drawn.
struct Plot<'r> {
    report: &'r MemoryReport,
    width: f64,
    /// One for each step, and one for the time after the last.
    columns: usize,
}

impl<'r> Plot<'r> {
    fn new(report: &'r MemoryReport) -> Self {
        let columns = report.steps.len() + 1;
        Self { report, width: (columns as f64 * STEP_WIDTH).clamp(LEAST_WIDTH, MOST_WIDTH), columns }
    }

    /// The left end of a step.
    fn x(&self, step: usize) -> f64 {
        LEFT + self.width * step as f64 / self.columns as f64
    }

    /// The lower end of a byte.
    fn y(&self, byte: usize) -> f64 {
        TOP + PLOT_HEIGHT - PLOT_HEIGHT * byte as f64 / self.report.span.max(1) as f64
    }

    /// Lines across with their addresses.
    fn addresses(&self) -> Vec<String> {
        let (quotient, rest) = (self.report.span / BYTE_MARKS, self.report.span % BYTE_MARKS);
        let mut marks: Vec<_> = (0..=BYTE_MARKS).map(|i| quotient * i + rest * i / BYTE_MARKS).collect();
        marks.dedup();
        let line = |byte: usize| {
            let (y, left, right) = (self.y(byte), LEFT - 6.0, LEFT + self.width);
            format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{right}\"/>\
                 <text class=\"mark\" x=\"{left}\" y=\"{y:.1}\" dy=\"4\" text-anchor=\"end\">{}</text>",
                spaced(byte)
            )
        };
        marks.into_iter().map(line).collect()
    }

    /// The box of a tensor of the workspace; colours go round with `i`.
    fn tensor(&self, i: usize, tensor: &TensorReport) -> Option<String> {
        let address = tensor.address.filter(|_| tensor.bytes > 0)?;
        let (x, y) = (self.x(tensor.first_step), self.y(address + tensor.bytes));
        let (width, height) = (self.x(tensor.last_step + 1) - x, self.y(address) - y);
        let hue = i * 47 % 360;
        let title = format!(
            "{}\n{} bytes at {}, steps {} to {}",
            // Here is room for all of it.
            escaped(&plain(&tensor.name)),
            spaced(tensor.bytes),
            spaced(tensor.offset.unwrap_or(address)),
            tensor.first_step,
            self.report.last_step(tensor)
        );
        Some(format!(
            "<g><title>{title}</title><rect class=\"box\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" fill=\"hsl({hue},60%,70%)\"/>{}</g>",
            if width < NAMED_WIDTH || height < NAMED_HEIGHT {
                String::new()
            } else {
                let name = escaped(&shortened(&tensor.name, (width / CHARACTER_WIDTH) as usize));
                format!("<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{name}</text>", x + 3.0, y + 11.0)
            }
        ))
    }

    /// Positions of steps, their names on hover.
    fn steps(&self) -> Vec<String> {
        let y = TOP + PLOT_HEIGHT + 14.0;
        let mark = |(step, name): (usize, &str)| {
            let (x, name) = ((self.x(step) + self.x(step + 1)) / 2.0, escaped(&label(name)));
            let text = if step < self.report.steps.len() { step.to_string() } else { "end".into() };
            format!(
                "<text class=\"mark\" x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\">{text}\
                 <title>{name}</title></text>"
            )
        };
        let names = self.report.steps.iter().map(String::as_str).chain(["after the last step"]);
        let mut lines: Vec<_> =
            names.enumerate().step_by(self.columns.div_ceil(STEP_MARKS)).map(mark).collect();
        lines.push(format!("<text class=\"mark\" x=\"{LEFT}\" y=\"{}\">steps</text>", y + 15.0));
        lines
    }

    /// A frame around the step with most bytes alive.
    fn peak(&self) -> Option<String> {
        let peak = &self.report.peak;
        let step = self.report.steps.get(peak.step);
        let step = step.map_or("end".into(), |name| format!("step {} {}", peak.step, label(name)));
        let (left, right) = (self.x(peak.step), self.x(peak.step + 1));
        // Written to the side where there is more room.
        let (x, anchor) =
            if left + right < 2.0 * LEFT + self.width { (left, "start") } else { (right, "end") };
        let (y, width, mark) = (TOP, right - left, TOP - 8.0);
        (peak.bytes > 0).then(|| {
            format!(
                "<rect class=\"peak\" x=\"{left:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{PLOT_HEIGHT}\" \
                 pointer-events=\"none\"/>\
                 <text class=\"peak-mark\" x=\"{x:.1}\" y=\"{mark}\" text-anchor=\"{anchor}\">peak: {}, {} bytes</text>",
                escaped(&step),
                spaced(peak.bytes)
            )
        })
    }
}

/// The start of a name, as far as there is room.
fn shortened(name: &str, characters: usize) -> String {
    let name = label(name);
    if name.chars().count() <= characters {
        return name;
    }
    name.chars().take(characters.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::report::{Figure, Peak, memory_html};

    fn tensor(
        name: &str,
        bytes: usize,
        (first_step, last_step): (usize, usize),
        offset: usize,
    ) -> TensorReport {
        TensorReport {
            first_step,
            last_step,
            pool: "workspace".into(),
            offset: Some(offset),
            address: Some(offset),
            ..TensorReport::new(name, None, bytes)
        }
    }

    fn report() -> MemoryReport {
        let view = TensorReport { alias_of: Some("padded".into()), ..tensor("view", 200, (0, 1), 50) };
        let caller = TensorReport {
            pool: "caller".into(),
            offset: None,
            address: None,
            ..tensor("other", 7, (1, 1), 0)
        };
        MemoryReport {
            arena_bytes: 250,
            pools: Vec::new(),
            span: 250,
            lower_bound: 240,
            proved: false,
            steps: vec!["pad_0".into(), "conv2d_1".into()],
            tensors: vec![
                tensor("x</title><script>alert('&')</script>", 50, (0, 0), 0),
                tensor("padded", 200, (0, 1), 50),
                view,
                caller,
                tensor("y", 10, (1, 2), 0),
            ],
            peak: Peak { step: 0, bytes: 250, tensors: Vec::new() },
            runs: Vec::new(),
            figures: vec![Figure { name: "every tensor its own bytes", bytes: 460 }],
        }
    }

    /// Compares with `snapshots/NAME`; writes it where `UPDATE_SNAPSHOTS` is set.
    fn snapshot(name: &str, text: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/snapshots").join(name);
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&path, text).unwrap();
        }
        assert_eq!(text, std::fs::read_to_string(path).unwrap());
    }

    #[test]
    fn time_goes_across_and_addresses_up() {
        snapshot("memory.svg", &memory_svg(&report()));
    }

    #[test]
    fn a_page_of_its_own() {
        snapshot("memory.html", &memory_html("a<b>.tflite", &report()));
    }

    #[test]
    fn nothing_is_drawn_without_memory() {
        let peak = Peak { step: 0, bytes: 0, tensors: Vec::new() };
        let report = MemoryReport {
            arena_bytes: 0,
            span: 0,
            tensors: Vec::new(),
            steps: Vec::new(),
            peak,
            ..report()
        };
        let svg = memory_svg(&report);
        assert!(!svg.contains("NaN") && !svg.contains("class=\"box\""), "{svg}");
    }

    #[test]
    fn names_fit_their_boxes() {
        assert_eq!(shortened("conv2d", 6), "conv2d");
        assert_eq!(shortened("conv2d", 4), "con…");
    }
}
