//! `lanebook lint`: each check finds its fault at its line, says nothing of a program without one, and what it names as a query says the
//! same again.

use crate::support::{folder, root, run, run_in};
use lanebook_report::lint::LINT_CHECKS;
use serde_json::Value;
use std::collections::BTreeSet;

/// Programs as Triton prints them, in the repository.
const PRINTED: &str = "tests/passes/printed";

fn faults() -> String {
    root().join("gen/cli/tests/lint.ttgir").display().to_string()
}

fn json(args: &[&str]) -> (i32, Value) {
    let ran = run(&[&["lint", "--format", "json"], args].concat());
    (
        ran.code,
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {} {}", ran.out, ran.err)),
    )
}

#[test]
fn every_check_finds_its_fault_at_its_line() {
    let text = include_str!("lint.ttgir");
    let (code, found) = json(&[&faults()]);
    assert_eq!((code, found["arch"].as_str()), (1, Some("sm_90a")));
    let findings = found["findings"].as_array().expect("a list");
    let mut seen = BTreeSet::new();
    for one in findings {
        let line = one["line"].as_u64().expect("a line") as usize;
        let column = one["column"].as_u64().expect("a column") as usize;
        let op = one["op"].as_str().expect("an operation");
        let written = text.lines().nth(line - 1).expect("a line of the text");
        assert!(written[column - 1..].starts_with(op), "{op}: {written}");
        seen.insert((one["check"].as_str().expect("a name").to_string(), line));
    }
    let line = |part: &str| text.lines().position(|l| l.contains(part)).expect(part) + 1;
    let function = line("tt.func public @f");
    for (check, at) in [
        ("layout", function),
        ("workers", function),
        ("alias", line("%a2 = ttg.local_alloc")),
        ("bank-conflicts", line("%a = ttg.local_alloc")),
        ("uncoalesced", line("%x = tt.load")),
        ("short-vector", line("%xs = tt.load")),
        ("conversion", line("%y = ttg.convert_layout")),
        ("idle-conversion", line("%yy = ttg.convert_layout")),
        ("wide-conversion", line("%f = ttg.convert_layout")),
        ("invariant-conversion", line("%z = ttg.convert_layout")),
        ("operand-mode", line("%d = ttng.warp_group_dot")),
    ] {
        assert!(seen.contains(&(check.to_string(), at)), "{check} at {at}: {seen:?}");
    }
    let found: BTreeSet<&str> = seen.iter().map(|(check, _)| check.as_str()).collect();
    let all: BTreeSet<&str> = LINT_CHECKS.iter().map(|(_, name, _)| *name).collect();
    assert_eq!(found, all, "a check without a fault here");
}

#[test]
fn what_a_finding_rests_on_can_be_asked_again() {
    let (_, found) = json(&[&faults()]);
    let mut asked = 0;
    for one in found["findings"].as_array().expect("a list") {
        let query = one["query"].as_str().expect("a text");
        let figures = &one["figures"];
        if !query.starts_with("conflicts(") && !query.starts_with("feeds(")
            || figures == &serde_json::json!({})
        {
            continue;
        }
        let ran = run(&["ask", query, "--arch", "sm_90a", "--format", "json"]);
        let said: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{e}: {}", ran.err));
        for key in ["passes", "least", "all_passes", "elements", "other_lane", "other_warp"] {
            assert!(figures[key].is_null() || figures[key] == said[key], "{key}: {figures} {said}");
        }
        asked += 1;
    }
    assert!(asked > 4, "only {asked}");
}

/// 64 lanes' rows of 128 bytes in memory, counted by hand: each lane of the fault's layout takes 16 bytes of a row of its own.
#[test]
fn figures_are_those_that_are_counted_by_hand() {
    let (_, found) = json(&[&faults(), "--check", "uncoalesced"]);
    let one = &found["findings"][0];
    // 64 rows of 64 halves: 4 segments of 32 bytes a row. 16 bytes at once: each segment is touched twice.
    assert_eq!(
        (one["figures"]["least_segments"].as_u64(), one["figures"]["segments"].as_u64()),
        (Some(256), Some(512))
    );
    let (_, found) = json(&[&faults(), "--check", "bank-conflicts"]);
    let one = &found["findings"][0];
    // Eight lanes of a group begin at a multiple of 128 bytes each: all in bank 0, eight passes a group, four groups.
    assert_eq!(
        (one["figures"]["passes"].as_u64(), one["figures"]["least"].as_u64()),
        (Some(32), Some(4))
    );
}

#[test]
fn tritons_own_kernels_have_nothing_wrong() {
    let mut programs = 0;
    for entry in std::fs::read_dir(root().join(PRINTED)).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.extension().is_none_or(|end| end != "mlir") {
            continue;
        }
        let path = path.display().to_string();
        let ran = run(&["lint", &path, "--format", "json"]);
        // Before layouts are chosen a module names no target.
        if ran.code == 2 {
            assert!(ran.err.contains("names no target"), "{}", ran.err);
            continue;
        }
        assert_eq!(ran.code, 0, "{path}: {} {}", ran.out, ran.err);
        programs += 1;
    }
    assert!(programs >= 8, "only {programs}");
}

#[test]
fn forms_and_options() {
    let text = run(&["lint", &faults(), "--quiet"]);
    assert!(text.out.contains("lint.ttgir:") && !text.out.contains(": note: "), "{}", text.out);
    assert!(text.err.contains("of the findings are wrong"), "{}", text.err);
    let rows = run(&["lint", &faults(), "--check", "operand-mode", "--format", "csv"]);
    let lines: Vec<&str> = rows.out.lines().collect();
    assert_eq!(lines[0], "line,column,severity,check,op,what,remedy,query");
    assert!(
        lines.len() == 3 && lines[1].contains(",wrong,operand-mode,ttng.warp_group_dot,"),
        "{lines:?}"
    );
    let list = run(&["lint", "--list"]);
    assert_eq!(list.out.lines().count(), LINT_CHECKS.len() + 1);
    run(&["lint"]).refused(2, &["no program is named"]);
    let unknown = run(&["lint", &faults(), "--check", "spelling"]);
    assert!(unknown.code == 2 && unknown.err.contains("bank-conflicts"), "{}", unknown.err);
    let empty = folder("lint_without_a_target");
    std::fs::write(empty.join("f.ttgir"), "tt.func @f() {\n  tt.return\n}\n").expect("a file");
    run_in(&empty, &["lint", "f.ttgir"], "").refused(2, &["f.ttgir", "names no target", "--arch"]);
    let clean = run_in(&empty, &["lint", "f.ttgir", "--arch", "sm_90a", "--deny"], "");
    assert_eq!(
        (clean.code, clean.out.as_str()),
        (0, "0 findings of 2 operations for sm_90a: 0 wrong, 0 costly, 0 notes\n")
    );
}
