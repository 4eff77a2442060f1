//! Takes the hooks out of generated source, as text.

/// What neither source has, since it is generic over the instrument by itself: the untyped face,
/// and runs that go step by step.
const OTHERS: [[&str; 2]; 6] = [
    ["    impl ::aot_rt::Model for", "\n    }\n"],
    ["        pub fn start", "\n        }\n"],
    ["        pub async fn run_async", "\n        }\n"],
    ["    /// A run of [`Runner`] that goes step by step.", "\n    }\n"],
    ["    impl<'a, I: ::aot_rt::Instrument> RunnerRun", "\n    }\n"],
    ["        pub fn step(", "\n        }\n"],
];

/// The source with its hooks.
pub(super) fn kept(source: &str) -> String {
    // What the module exports.
    let source = source.replace(", RunnerRun", "");
    OTHERS.iter().fold(source, |source, [start, end]| without(&source, start, end))
}

/// The source without its hooks.
pub(super) fn removed(source: &str) -> String {
    let source = kept(source);
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with("///")).collect();
    let mut source = code.join("\n") + "\n";
    source = without(&source, "if instrument.before(", "}\n");
    source = without(&source, "instrument.after(", ";\n");
    source = without(&source, "let _ = instrument;", "\n");
    // What is generic has no code but where it is called: neither must this.
    source = source.replace("_with(", "_with_nothing(");
    source = source.replace("pub fn run_with_nothing", "fn run_with_nothing");
    source = source.replace("pub fn run_in_place_with_nothing", "fn run_in_place_with_nothing");
    for hook in [
        "instrument: &mut impl ::aot_rt::Instrument",
        "instrument: &mut impl Instrument",
        "&mut ()",
        "instrument",
    ] {
        source = source.replace(&format!(", {hook}"), "").replace(&format!("{hook}, "), "");
        source = source.replace(&format!("{hook},\n"), "\n").replace(hook, "");
    }
    source = source.replace("#[allow(\n    dead_code,", "#[allow(\n    unused,\n    dead_code,");
    assert!(source.contains("unused,"), "the attribute of the module is another");
    for word in ["instrument", "Action::", "Elements::"] {
        assert!(!source.contains(word), "`{word}` is left:\n{source}");
    }
    source
}

/// The source without all that starts and ends so.
fn without(source: &str, start: &str, end: &str) -> String {
    let mut rest = source;
    let mut kept = String::new();
    while let Some(first) = rest.find(start) {
        kept.push_str(&rest[..first]);
        let behind = rest[first..].find(end).expect("what starts ends");
        rest = &rest[first + behind + end.len()..];
    }
    kept + rest
}
