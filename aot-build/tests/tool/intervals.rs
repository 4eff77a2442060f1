//! `aot plan --intervals`.

use crate::*;

/// Two of 4 bytes and one of 6, of which the first and the last are never alive
/// together: 10 bytes.
const PROBLEM: &str = "id,lower,upper,size\na,0,2,4\nb,1,3,6\nc,2,4,4\n";

fn plan(name: &str, problem: &str, more: &[&str]) -> Ran {
    let file = folder(name).join("problem.csv");
    std::fs::write(&file, problem).unwrap();
    aot([&["plan", "--intervals", file.to_str().unwrap()], more].concat())
}

#[test]
fn json_has_the_documented_keys() {
    for planner in ["optimal", "none", "greedy_by_size"] {
        let ran = plan("intervals-json", PROBLEM, &["--json", "--planner", planner]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let json = ran.json();
        let total = if planner == "none" { 14 } else { 10 };
        assert_eq!((&json["planner"], &json["total"]), (&planner.into(), &total.into()));
        assert_eq!((&json["lower_bound"], &json["proved"]), (&10.into(), &(total == 10).into()));
        assert!(json["nodes"].is_u64() && json["seconds"].is_f64());
        let offsets = json["offsets"].as_object().unwrap();
        assert_eq!(offsets.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}

#[test]
fn a_capacity_may_be_too_small() {
    for (capacity, planner, code, verdict) in [
        ("10", "optimal", 0, "ok   10 bytes: fits"),
        ("9", "optimal", 1, "FAIL 9 bytes: no plan fits, whatever the planner"),
        ("9", "none", 1, "FAIL 9 bytes: no plan fits, whatever the planner"),
        ("13", "none", 1, "FAIL 13 bytes: found no plan that fits; there may be one"),
    ] {
        let more = ["--capacity", capacity, "--planner", planner];
        let ran = plan("intervals-capacity", PROBLEM, &more);
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert_eq!(ran.out.lines().nth(1), Some(verdict));
        let json = plan("intervals-capacity", PROBLEM, &[&more[..], &["--json"]].concat()).json();
        assert_eq!(json["fits"], code == 0);
        assert_eq!(json["impossible"], capacity == "9");
    }
    let ran = plan("intervals-capacity", PROBLEM, &["--time-limit", "5"]);
    assert!(ran.out.starts_with("10 bytes for 3 buffers by optimal, proved optimal"), "{}", ran.out);
}

/// Buffers whose smallest plan is not found in seconds: their bound ignores most
/// alignments, so the search does not end.
fn hard_problem() -> String {
    let mut state = 1_u64;
    let mut below = |end: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % end
    };
    let mut text = String::from("id,lower,upper,size,alignment\n");
    for id in 0..300 {
        let (lower, steps, size) = (below(40), 1 + below(30), 1 + below(500));
        text += &format!("{id},{lower},{},{size},{}\n", lower + steps, 1 << below(8));
    }
    text
}

#[test]
fn the_time_limit_is_kept() {
    let ran = plan("intervals-time", &hard_problem(), &["--json", "--time-limit", "0.5"]);
    let json = ran.json();
    assert_eq!(json["proved"], false, "the problem is not hard");
    let seconds = json["seconds"].as_f64().unwrap();
    assert!((0.1..2.0).contains(&seconds), "{seconds} s");
}

#[test]
fn faults_name_the_line() {
    let ran = plan("intervals-fault", "id,lower,upper,size\na,0,1\n", &[]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("problem.csv: line 2: 3 fields; the header has 4"), "{}", ran.err);
}
