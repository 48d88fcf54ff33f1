//! Assemblers take every form of every atom for the architectures that have it, and refuse it for
//! all others; and what is wrong with a table shows.
#![allow(missing_docs)]

use lanebook_assemble::{judged, lines, tables};
use lanebook_gen::assemble::Unable;

#[test]
fn ptx_is_as_the_tables_say() {
    let compiled = tables(&[]);
    let verdicts = judged(&compiled, "ptx", &[]);
    let wrong = lines(&compiled, &verdicts);
    assert!(wrong.is_empty(), "{} differences\n{}", wrong.len(), wrong.join("\n"));
    let texts: usize = verdicts.iter().filter_map(|verdict| verdict.judged.as_ref().ok()).sum();
    assert!(
        verdicts.len() >= 20 && texts > 1000 * verdicts.len(),
        "{texts} texts of {} architectures",
        verdicts.len()
    );
}

/// A fault of each kind, and nothing else.
#[test]
fn faults_are_found() {
    let compiled = tables(&[
        // A word that no target has; a range one step too long; an architecture without an atom that it
        // has.
        (
            "hw-tables/nvidia/sync.ron",
            "template: \"wgmma.fence.sync.aligned;\"",
            "template: \"wgmma.fense.sync.aligned;\"",
        ),
        ("hw-tables/nvidia/async.ron", "range: (24, 256)", "range: (24, 264)"),
        ("hw-tables/nvidia/async.ron", "registers: (24, 256, 8)", "registers: (24, 264, 8)"),
        (
            "hw-tables/nvidia/sm_89.ron",
            "name: \"sm_89\",",
            "name: \"sm_89\", lacks: [\"cp.async.ca.16\"],",
        ),
    ]);
    let verdicts = judged(&compiled, "ptx", &["sm_89", "sm_90", "sm_90a", "sm_120f"]);
    let mut found: Vec<(&str, &str, bool)> = Vec::new();
    for one in verdicts.iter().flat_map(|verdict| &verdict.differences) {
        found.push((
            &compiled.model.archs[one.arch].name.value,
            &compiled.model.atoms[one.atom.index()].name.value,
            one.refused.is_some(),
        ));
    }
    found.dedup();
    let registers: Vec<&str> =
        found.iter().filter(|one| one.1.starts_with("setmaxnreg")).map(|one| one.0).collect();
    assert!(
        registers.contains(&"sm_90a")
            && registers.contains(&"sm_120f")
            && !registers.contains(&"sm_90"),
        "{registers:?}"
    );
    assert!(found.iter().filter(|one| one.1.starts_with("setmaxnreg")).all(|one| one.2));
    found.retain(|one| !one.1.starts_with("setmaxnreg"));
    assert_eq!(
        found,
        [("sm_89", "cp.async.ca.16", false), ("sm_90a", "wgmma.fence", true)],
        "{:#?}",
        lines(&compiled, &verdicts)
    );
}

/// A target that the assembler does not know is told from one that lacks everything.
#[test]
fn unknown_targets_are_named() {
    let compiled = tables(&[(
        "hw-tables/nvidia/sm_86.ron",
        "name: \"sm_86\"",
        "name: \"sm_86\", target: \"sm_999\"",
    )]);
    let verdicts = judged(&compiled, "ptx", &["sm_80", "sm_86"]);
    let unknown: Vec<&str> = verdicts
        .iter()
        .filter(|verdict| matches!(verdict.judged, Err(Unable::Unknown(_))))
        .map(|verdict| compiled.model.archs[verdict.arch].name.as_str())
        .collect();
    assert_eq!(unknown, ["sm_86"]);
}
