//! Rules outside of a checkout: proved by the command, and said to be unproved where they are used.

use crate::support::{copy, folder, root, run_in};
use std::fs;
use std::path::{Path, PathBuf};

/// The repository's tables and rules alone.
fn tables(test: &str) -> PathBuf {
    let at = folder(test);
    for name in ["hw-tables", "rules"] {
        copy(&root().join(name), &at.join(name));
    }
    at
}

fn edit(at: &Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(at.join(name)).expect("a file");
    assert!(text.contains(from), "{name} has no {from}");
    fs::write(at.join(name), text.replacen(from, to, 1)).expect("a file");
}

const BASIC: &str = "rules/index/basic.ron";

#[test]
fn rules_are_proved_without_a_checkout() {
    let at = tables("prove.rules");
    let program = root().join("gen/cli/examples/gemm.tile");
    let program = program.to_str().expect("path");
    let compile = ["compile", "--arch", "sm_90", "--tables", ".", program];
    let known = run_in(&at, &compile, "");
    assert!(known.code == 0 && known.err.is_empty(), "{}", known.err);
    // Another name for the same: true, and not proved under it.
    edit(&at, BASIC, r#"(name: "fold_sub","#, r#"(name: "fold_difference","#);
    let warned = run_in(&at, &compile, "");
    let said = "warning: 1 rule of . not proved, so that what is computed may be wrong: fold_difference; help: `lanebook prove .`\n";
    assert_eq!((warned.code, warned.err.as_str(), &warned.out), (0, said, &known.out));
    let stale = run_in(&at, &["prove"], "");
    assert!(stale.code == 1 && stale.out.contains("is not current"), "{}{}", stale.out, stale.err);
    let written = run_in(&at, &["prove", "--write"], "");
    assert!(written.code == 0 && written.out.contains("is written"), "{}", written.err);
    assert!(run_in(&at, &compile, "").err.is_empty());
    // What is written is what the repository has, but for the name.
    let log = |at: &Path| fs::read_to_string(at.join("rules/proofs.ron")).expect("a log");
    let (ours, theirs) = (log(&at), log(&root()));
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&ours), lines(&theirs));
    let other: Vec<&str> =
        ours.lines().filter(|line| !theirs.lines().any(|other| other == *line)).collect();
    assert!(matches!(other[..], [one] if one.contains("fold_difference")), "{other:?}");
    // A wrong rule: the values are said, and nothing is written.
    edit(&at, BASIC, r#"lets: [("e", ("sub", "c", "d"))]"#, r#"lets: [("e", ("sub", "d", "c"))]"#);
    edit(&at, BASIC, r#"(from: ("sub", 9, 4), to: 5)"#, r#"(from: ("sub", 4, 4), to: 0)"#);
    let wrong = run_in(&at, &["prove", "--write"], "");
    assert_eq!(wrong.code, 1, "{}{}", wrong.out, wrong.err);
    assert!(
        wrong.err.contains("rule `fold_difference` is not proved: the sides differ for"),
        "{}",
        wrong.err
    );
    assert!(wrong.err.contains("rules/index/basic.ron:"), "{}", wrong.err);
    assert_eq!(log(&at), ours);
    let warned = run_in(&at, &compile, "");
    assert!(
        warned.err.contains("not proved, so that what is computed may be wrong: fold_difference")
    );
    // A folder without rules is no folder to prove.
    fs::remove_dir_all(at.join("rules")).expect("removed");
    assert_eq!(run_in(&at, &["prove"], "").code, 2);
    // One with neither is none: the rules that are built in are proved.
    fs::remove_dir_all(at.join("hw-tables")).expect("removed");
    let built_in = run_in(&at, &["prove"], "");
    let said = "the built-in rules/proofs.ron is current";
    assert!(built_in.code == 0 && built_in.out.contains(said), "{}{}", built_in.out, built_in.err);
    assert_eq!(run_in(&at, &["prove", "--write"], "").code, 2);
    assert_eq!(run_in(&at, &["prove", "."], "").code, 2);
}

#[test]
fn a_vendor_declares_its_own_sources() {
    let at = tables("prove.sources");
    let text = fs::read_to_string(at.join("hw-tables/sources.ron")).expect("sources");
    let entry = text.lines().find(|line| line.contains("(key: \"llvm_mca\"")).expect("an entry");
    edit(&at, "hw-tables/sources.ron", &format!("{entry}\n"), "");
    let missing = run_in(&at, &["check", "--assemblers", "off"], "");
    assert!(missing.code == 1 && missing.err.contains("llvm_mca"), "{}", missing.err);
    let own = at.join("hw-tables/amd/sources.ron");
    fs::write(&own, format!("(sources: [\n{entry}\n])\n")).expect("sources");
    let found = run_in(&at, &["check", "--assemblers", "off"], "");
    assert!(found.code == 0, "{}", found.err);
    // Declared twice is an error that names both places.
    fs::write(at.join("hw-tables/nvidia/sources.ron"), format!("(sources: [\n{entry}\n])\n"))
        .expect("sources");
    let twice = run_in(&at, &["check", "--assemblers", "off"], "");
    assert!(twice.code == 1, "{}", twice.err);
    let both = ["hw-tables/amd/sources.ron", "hw-tables/nvidia/sources.ron"];
    assert!(both.iter().all(|name| twice.err.contains(name)), "{}", twice.err);
}
