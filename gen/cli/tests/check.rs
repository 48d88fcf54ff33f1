//! The audit as a command: what it looks at, what it prints in each format, how it ends.

use crate::support::{copy, folder, golden, root, run, run_in, run_with};
use std::fs;

/// The small tables of the compiler's own tests, with a file added.
fn tables(test: &str, added: &[(&str, &str)]) -> std::path::PathBuf {
    let at = folder(test);
    copy(&root().join("gen/tests/base"), &at);
    for (name, text) in added {
        let path = at.join(name);
        fs::create_dir_all(path.parent().expect("folder")).expect("folder");
        fs::write(path, text).expect("table");
    }
    at
}

const WRONG: &str = r#"(
    groups: [(name: "more", isa: "t", sources: [], atoms: [
        (name: "nap", class: sync, template: "nap {n}", operands: [(name: "n", role: immediate, range: (3, 0))]),
        (name: "doze <&>", class: sync, template: "doze {m}"),
    ])],
)
"#;

#[test]
fn every_format_says_the_same() {
    let (clean, wrong) =
        (tables("check.clean", &[]), tables("check.wrong", &[("hw-tables/a file.ron", WRONG)]));
    for format in ["text", "json", "sarif", "junit"] {
        let ran = run_in(&clean, &["check", "--draft", "--format", format], "");
        assert_eq!(ran.code, 0, "{}", ran.err);
        golden(&format!("check.clean.{format}"), &format!("{}{}", ran.out, ran.err));
        let ran = run_in(&wrong, &["check", "--draft", "--format", format], "");
        assert_eq!(ran.code, 1, "{}", ran.out);
        assert_eq!(ran.out.is_empty(), format == "text");
        golden(&format!("check.wrong.{format}"), &format!("{}{}", ran.out, ran.err));
        // The same bytes into a file, and again.
        if format != "text" {
            let again =
                run_in(&wrong, &["check", "--draft", "--format", format, "-o", "found"], "");
            assert_eq!((again.code, again.out.as_str()), (1, ""));
            assert_eq!(fs::read_to_string(wrong.join("found")).expect("found"), ran.out);
        }
    }
}

#[test]
fn warnings_can_be_denied() {
    let at = tables("check.deny", &[]);
    let fine = run_in(&at, &["check", "--draft"], "");
    assert_eq!(fine.code, 0);
    assert!(
        fine.out.contains(": no errors, 3 warnings") && fine.err.contains("warning[unused]"),
        "{}{}",
        fine.out,
        fine.err
    );
    for format in ["text", "json", "sarif", "junit"] {
        let ran = run_in(&at, &["check", "--draft", "--deny", "warnings", "--format", format], "");
        assert_eq!(ran.code, 1, "{format}");
        assert!(ran.err.ends_with("3 warnings, 1 note; not assembled: t\n"), "{}", ran.err);
    }
}

#[test]
fn notes_are_shown_when_asked_for() {
    let text = r#"(groups: [(name: "more", isa: "t", sources: [], atoms: [(name: "nap", class: sync, template: "nap")])])"#;
    let at = tables("check.notes", &[("hw-tables/more.ron", text)]);
    let (without, with) =
        (run_in(&at, &["check", "--draft"], ""), run_in(&at, &["check", "--draft", "--notes"], ""));
    assert!(
        !without.err.contains("note[status]") && without.out.contains("2 notes"),
        "{}",
        without.out
    );
    assert!(with.err.contains("note[status]: atom `nap` is assumed"), "{}", with.err);
}

#[test]
fn paths_choose_what_is_shown() {
    let at = tables("check.paths", &[("hw-tables/more/wrong.ron", WRONG)]);
    // A file or folder inside the tables: only what touches it, and that it cannot be judged in
    // full.
    for format in ["text", "json", "sarif", "junit"] {
        let ran = run_in(&at, &["check", "--draft", "hw-tables/base.ron", "--format", format], "");
        assert_eq!(ran.code, 4, "{}", ran.err);
        golden(&format!("check.beside.{format}"), &format!("{}{}", ran.out, ran.err));
    }
    // What the audit finds elsewhere is no reason to fail.
    let fine = tables(
        "check.beside",
        &[(
            "hw-tables/more.ron",
            r#"(agreements: [(name: "none", movers: ["nobody"], products: [], operand: a, along: k)])"#,
        )],
    );
    assert_eq!(run_in(&fine, &["check", "--draft", "hw-tables/more.ron"], "").code, 1);
    let ran = run_in(&fine, &["check", "--draft", "hw-tables/base.ron"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // Nothing to look at is no success.
    fs::create_dir_all(at.join("hw-tables/none")).expect("folder");
    fs::write(at.join("hw-tables/none/README.md"), "none").expect("file");
    for path in ["hw-tables/none", "hw-tables/none/README.md"] {
        run_in(&at, &["check", "--draft", path], "").refused(2, &["holds no tables"]);
    }
    for path in ["hw-tables/more", "hw-tables/more/wrong.ron", "."] {
        let ran = run_in(&at, &["check", "--draft", path], "");
        assert_eq!(ran.code, 1, "{path}");
        assert!(ran.err.contains("hw-tables/more/wrong.ron:3:"), "{}", ran.err);
    }
    // Further tables upon a checkout: named by --tables, or the folder that this is run in.
    let (base, other) = (tables("check.base", &[]), folder("check.other"));
    fs::create_dir_all(other.join("mine")).expect("folder");
    fs::write(other.join("mine/wrong.ron"), WRONG).expect("table");
    let base_name = base.to_str().expect("path");
    let ran = run_in(&other, &["check", "--draft", "mine", "--tables", base_name], "");
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("mine/wrong.ron:3:") && !ran.err.contains("base.ron"), "{}", ran.err);
    run_in(&other, &["check", "mine"], "").refused(2, &["has no folder hw-tables"]);
    run_in(&other, &["check", "mine/wrong.ron"], "").refused(2, &["is in no folder of tables"]);
    run_in(&other, &["check", "nothing"], "").refused(2, &["there is no nothing"]);
    // A folder below a checkout that is no part of its tables is further tables too, wherever the
    // checkout lies.
    fs::create_dir_all(base.join("mine")).expect("folder");
    fs::write(base.join("mine/wrong.ron"), WRONG).expect("table");
    let ran = run_in(&base, &["check", "--draft", "mine"], "");
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.err.contains("mine/wrong.ron:3:") && !ran.err.contains("base.ron"), "{}", ran.err);
    run_in(&base, &["check", "mine/wrong.ron"], "").refused(2, &["is in no folder of tables"]);
    let both = [base_name, at.to_str().expect("path")];
    run_in(&other, &["check", both[0], both[1]], "").refused(2, &["two sets of tables"]);
}

/// Beside errors of the compiler: what the audit, the descriptors and the assembler have to say of
/// the rest.
#[test]
fn what_is_sound_is_audited_beside_errors() {
    let named = r#"end: "end", assembler: (variable: "LANEBOOK_T_ASM", programs: ["no-such-program"], arguments: ["{target}", "{input}"], function: "{body}",
        error: "{input}:{line}: error: ", unknown: ["no such machine"]),"#;
    let doubtful = r#"(groups: [(name: "doubtful", isa: "t", sources: ["!book"], atoms: [(name: "doubt", class: sync, template: "doubt")])])"#;
    let at = tables(
        "check.part",
        &[
            ("hw-tables/a file.ron", WRONG),
            ("hw-tables/more.ron", JUDGED),
            ("hw-tables/doubtful.ron", doubtful),
        ],
    );
    edit(&at, "hw-tables/more.ron", "name: \"nap\"", "name: \"snooze\"");
    edit(&at, "hw-tables/more.ron", "name: \"more\"", "name: \"naps\"");
    edit(&at, "hw-tables/more.ron", "has: [\"more\"]", "has: [\"naps\"]");
    edit(&at, "rules/isa/t.ron", r#"end: "end","#, named);
    let program = at.join("asm");
    fs::write(&program, ASSEMBLER).expect("program");
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("program");
    let set = [("LANEBOOK_T_ASM", program.to_str().expect("path"))];
    for format in ["text", "json", "sarif", "junit"] {
        let ran = run_with(&at, &["check", "--draft", "--format", format], "", &set);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        let all = format!("{}{}", ran.out, ran.err);
        for said in [
            "the template names no operand",
            "asm refuses",
            "and nothing says it",
            "saw the sound part only (left out: atoms doze",
            "not even that",
        ] {
            assert!(all.contains(said), "{format}: `{said}` is missing in\n{all}");
        }
        // `more` has not been read in full, so that nothing is said of what the assembler takes
        // beyond it.
        assert!(!all.contains("asm takes"), "{all}");
    }
}

#[test]
fn all_checks_are_named() {
    golden("check.list", &run(&["check", "--list"]).fine());
}

/// This repository's tables keep what the audit demands: no errors. What assemblers say of them is
/// in tests/assemble.
#[test]
fn the_tables_in_the_tree_pass() {
    let ran = run(&["check", "--assemblers", "off"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// A machine like `m1` that lacks an atom and one that the assembler does not know; an atom that it
/// refuses.
const JUDGED: &str = r#"(
    groups: [(name: "more", isa: "t", sources: ["book"], atoms: [(name: "nap", class: sync, template: "nap {n}", operands: [
        (name: "n", role: immediate, range: (0, 9)),
    ])])],
    arch: (name: "m2", extends: "m1", has: ["more"], lacks: ["add"], hazards: []),
)
"#;

/// Takes everything but `nap` of more than 5, for m1 and m2 alone.
const ASSEMBLER: &str = "#!/bin/sh\n[ $1 = m9 ] && { echo 'm9: no such machine'; exit 1; }\nawk -v f=\"$2\" '/^nap [6-9]/ { print f \":\" FNR \": error: too long a nap\"; bad = 1 } END { exit bad }' \"$2\"\n";

#[test]
fn assemblers_are_asked_or_named_as_skipped() {
    let named = r#"end: "end", assembler: (variable: "LANEBOOK_T_ASM", programs: ["no-such-program"], arguments: ["{target}", "{input}"], function: "{body}",
        error: "{input}:{line}: error: ", unknown: ["no such machine"]),"#;
    let third = r#"(arch: (name: "m3", target: "m9", extends: "m1"))"#;
    let at = tables(
        "check.assembler",
        &[("hw-tables/more.ron", JUDGED), ("hw-tables/third.ron", third)],
    );
    edit(&at, "rules/isa/t.ron", r#"end: "end","#, named);
    let program = at.join("asm");
    fs::write(&program, ASSEMBLER).expect("program");
    #[cfg(unix)]
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("program");
    let set = [("LANEBOOK_T_ASM", program.to_str().expect("path"))];
    for format in ["text", "json", "sarif", "junit"] {
        let ran = run_with(&at, &["check", "--draft", "--format", format], "", &set);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        golden(&format!("check.assembler.{format}"), &format!("{}{}", ran.out, ran.err));
        // Every format says what was left out.
        let ran = run_in(&at, &["check", "--draft", "--format", format], "");
        let all = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 0, "{all}");
        assert!(
            all.contains("skipped: nothing assembles the texts of 3 architectures of `t`"),
            "{format}: {all}"
        );
    }
    // Left out unasked, it is a warning, which can be denied, and allowed.
    let denied = run_in(&at, &["check", "--draft", "--deny", "assembler"], "");
    assert!(denied.code == 1 && denied.err.contains("skipped: nothing"), "{}", denied.err);
    let allowed = run_in(&at, &["check", "--draft", "--allow", "assembler"], "");
    assert!(allowed.code == 0 && !allowed.err.contains("skipped: "), "{}", allowed.err);
    // One that must be judged and cannot be fails its own file, and no other machine's.
    for (path, code) in [("hw-tables/third.ron", 1), ("hw-tables/dtypes.ron", 0)] {
        let ran = run_with(&at, &["check", "--draft", "--assemblers", "require", path], "", &set);
        assert_eq!(ran.code, code, "{path}: {}{}", ran.out, ran.err);
    }
    let ran = run_with(&at, &["check", "--draft", "--assemblers", "off"], "", &set);
    assert!(ran.code == 0 && ran.out.ends_with("; not assembled: t\n"), "{}{}", ran.out, ran.err);
    let required = run_in(&at, &["check", "--draft", "--assemblers", "require"], "");
    assert!(
        required.code == 1 && required.err.contains("error[assembler]: skipped"),
        "{}",
        required.err
    );
}

/// Atoms that no machine has, beside `add` and `jump` that m1 has.
const SPELLED: &str = r#"(
    groups: [(name: "more", isa: "t", sources: ["book"], atoms: [
        (name: "plus", class: control, template: "plus {d}, {a}, {b}", operands: [
            (name: "d", role: def, class: "r"), (name: "a", role: use, class: "r"), (name: "b", role: use, class: "r"),
        ]),
        (name: "minus", class: control, template: "minus {d}, {a}, {b}", operands: [
            (name: "d", role: def, class: "r"), (name: "a", role: use, class: "r"), (name: "b", role: use, class: "r"),
        ]),
        (name: "plus back", class: control, template: "plus {b}, {a}, {d}", operands: [
            (name: "d", role: def, class: "r"), (name: "a", role: use, class: "r"), (name: "b", role: use, class: "r"),
        ]),
        (name: "plus twice", class: control, template: "plus r8, r9, r10\nplus r8, r9, r10"),
        (name: "leap", class: control, template: "leap {to}", operands: [(name: "to", role: label)]),
        (name: "hush", class: control, template: "hush"),
    ])],
)
"#;

/// Takes everything. Asked for encodings: `plus` is `add`, `leap` is `jump` but its target is open,
/// `hush` is nothing.
const ENCODES: &str = r#"#!/bin/sh
[ "$1" = show ] || exit 0
awk '
    /:$/ { print; next }
    /^hush/ { print "  ; hush"; next }
    { code = substr($1, 1, 1); if ($1 == "plus") code = "a"; if ($1 == "leap") code = "j" }
    code == "j" { print "  " $0 " ; encoding: [A,0x6a]"; next }
    { out = sprintf("0x%02x", index("abcdefghijklmnopqrstuvwxyz", code)); rest = $0; sub(/^[^ ]* */, "", rest); gsub(/[^0-9]+/, " ", rest)
      n = split(rest, numbers, " "); for (k = 1; k <= n; k++) out = out sprintf(",0x%02x", numbers[k]); print "  " $0 " ; encoding: [" out "]" }
' "$2"
"#;

#[test]
fn another_spelling_is_told_from_another_instruction_by_its_encoding() {
    let asked = |test: &str, encodes: &str| {
        let named = format!(
            r#"end: "end", assembler: (variable: "LANEBOOK_T_ASM", programs: ["no-such-program"], arguments: ["check", "{{input}}"], function: "{{body}}",
            error: "{{input}}:{{line}}: error: ", {encodes}),"#
        );
        let at = tables(test, &[("hw-tables/more.ron", SPELLED)]);
        edit(&at, "rules/isa/t.ron", r#"end: "end","#, &named);
        let program = at.join("asm");
        fs::write(&program, ENCODES).expect("program");
        #[cfg(unix)]
        fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .expect("program");
        let ran = run_with(
            &at,
            &["check", "--draft", "--format", "text"],
            "",
            &[("LANEBOOK_T_ASM", program.to_str().expect("path"))],
        );
        let all = format!("{}{}", ran.out, ran.err);
        let taken = all.lines().filter(|line| line.starts_with("warning[assembler]: asm takes `"));
        let taken: Vec<String> =
            taken.filter_map(|line| Some(line.split('`').nth(1)?.to_string())).collect();
        (taken, all)
    };
    let all = [
        "plus r8, r9, r10",
        "minus r8, r9, r10",
        "plus r10, r9, r8",
        "plus r8, r9, r10 / plus r8, r9, r10",
        "leap L",
        "hush",
    ];
    // Without encodings each of them is an instruction beyond the tables.
    let (taken, said) = asked("check.spelled.not", "");
    assert!(
        taken.len() == all.len()
            && taken.iter().zip(all).all(|(text, start)| text.starts_with(start)),
        "{said}"
    );
    // With them, all but the one that has the bytes of `add`: neither other operands nor it twice
    // nor unknown bytes will do.
    let (taken, said) =
        asked("check.spelled", r#"encodes: ["show", "{input}"], encoding: "encoding: [{bytes}]""#);
    assert!(
        taken.len() == all.len() - 1
            && taken.iter().zip(&all[1..]).all(|(text, start)| text.starts_with(start)),
        "{said}"
    );
}

/// A folder with the repository's tables in a git repository of their own, one commit old.
fn repository(test: &str) -> std::path::PathBuf {
    let at = folder(test);
    for part in ["hw-tables", "rules"] {
        copy(&root().join(part), &at.join(part));
    }
    for args in [
        &["init", "-q"][..],
        &["add", "."],
        &[
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.invalid",
            "commit",
            "-q",
            "-m",
            "tables",
        ],
    ] {
        let done =
            std::process::Command::new("git").current_dir(&at).args(args).output().expect("git");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    at
}

fn edit(at: &std::path::Path, name: &str, from: &str, to: &str) {
    let text = fs::read_to_string(at.join(name)).expect("table");
    assert!(text.contains(from), "{from}");
    fs::write(at.join(name), text.replacen(from, to, 1)).expect("table");
}

#[test]
fn another_version_is_compared_fact_by_fact() {
    let at = repository("check.against");
    let same = run_in(&at, &["check", "--assemblers", "off", "--against", "HEAD"], "");
    assert_eq!(same.code, 0, "{}", same.err);
    assert!(
        !same.out.contains("facts that differ") && !same.out.contains("choices"),
        "{}",
        same.out
    );
    // A mover that the examples use is taken away, two figures changed, a source added.
    edit(
        &at,
        "hw-tables/nvidia/sm_80.ron",
        "arch: (",
        "arch: (\n        lacks: [\"ldmatrix.x4\"],",
    );
    edit(
        &at,
        "hw-tables/amd/gfx950.ron",
        "(name: \"read32\", banks: 64, bank_bytes: 4, groups: consecutive(64)",
        "(name: \"read32\", banks: 32, bank_bytes: 4, groups: consecutive(32)",
    );
    edit(
        &at,
        "hw-tables/sources.ron",
        "sources: [",
        "sources: [\n    (key: \"zz\", title: \"Another\"),",
    );
    let base = folder("check.against.base");
    for part in ["hw-tables", "rules"] {
        copy(&root().join(part), &base.join(part));
    }
    let ran = run_in(&at, &["check", "--assemblers", "off", "--against", "HEAD"], "");
    assert_eq!(ran.code, 0, "{}", ran.err);
    for line in [
        "facts that differ\n",
        ": architecture gfx950: banks[read32].banks was 64, is 32\n",
        ": architecture sm_80: lacks is new: [ldmatrix.x4]\n",
        ": source zz is new, with 2 facts\n",
        "choices that differ\n",
        "  gemm on sm_80: ",
        ": was ldmatrix.x4 x",
        ", is ldmatrix.x2 x",
    ] {
        assert!(ran.out.contains(line), "`{line}` is missing in\n{}", ran.out);
    }
    // The same from a folder, denied.
    let denied = run_in(
        &at,
        &[
            "check",
            "--assemblers",
            "off",
            "--against",
            base.to_str().expect("path"),
            "--deny",
            "changes",
            "--format",
            "json",
        ],
        "",
    );
    assert_eq!(denied.code, 1, "{}", denied.err);
    assert_eq!(denied.out.matches("\"check\": \"change\"").count(), 4, "{}", denied.out);
    assert!(denied.out.contains("\"check\": \"pick\""), "{}", denied.out);
    run_in(&at, &["check", "--assemblers", "off", "--against", "nowhere"], "")
        .refused(2, &["--against nowhere", "no commit"]);
}

const UNUSED: &str = r#"(tags: [(name: "never", doc: "on nothing")])
"#;

#[test]
fn levels_are_those_of_the_audit() {
    let at = tables("check.levels", &[("hw-tables/more.ron", UNUSED)]);
    let ran = |args: &[&str]| run_in(&at, &[&["check", "--draft"], args].concat(), "");
    let fine = ran(&[]);
    assert_eq!(fine.code, 0);
    assert!(fine.err.contains("no atom has tag `never`"), "{}", fine.err);
    let denied = ran(&["--deny", "unused"]);
    assert_eq!(denied.code, 1);
    assert!(denied.err.contains("error[unused]"), "{}", denied.err);
    let allowed = ran(&["--allow", "unused", "--deny", "warnings"]);
    assert_eq!((allowed.code, allowed.err.contains("never")), (0, false), "{}", allowed.err);
    // The command line goes before the file.
    fs::write(at.join("check.ron"), r#"(levels: {"unused": allow})"#).expect("written");
    assert!(!ran(&[]).err.contains("never"));
    assert_eq!(ran(&["--deny", "unused"]).code, 1);
    // What the compiler says stays an error; an unknown check is none.
    for (args, what) in [
        (["--allow", "names"], "`names` cannot be lowered"),
        (["--warn", "unusd"], "did you mean `unused`?"),
        (["--deny", "warnigs"], "there is no check `warnigs`"),
    ] {
        let ran = ran(&args);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(what), "{}", ran.err);
    }
}

#[test]
fn suppressions_have_reasons_and_an_end() {
    let at = tables("check.suppressed", &[("hw-tables/more.ron", UNUSED)]);
    let with = |says: &str, reason: &str, until: &str| {
        let text = format!(
            r#"(suppressed: [(check: "unused", file: "hw-tables/more.ron", says: "{says}", reason: "{reason}"{until})])"#
        );
        fs::write(at.join("check.ron"), text).expect("written");
        run_in(&at, &["check", "--draft"], "")
    };
    let fine = with("never", "kept for the next table", "");
    assert_eq!((fine.code, fine.err.contains("never")), (0, false), "{}", fine.err);
    let fine = with("never", "kept for the next table", r#", until: "9999-12-31""#);
    assert_eq!((fine.code, fine.err.contains("never")), (0, false), "{}", fine.err);
    let ended = with("never", "kept for the next table", r#", until: "2020-01-31""#);
    assert!(
        ended.err.contains("no atom has tag `never`")
            && ended.err.contains("it held until 2020-01-31"),
        "{}",
        ended.err
    );
    let idle = with("ever so often", "kept for the next table", "");
    assert!(idle.err.contains("nothing says `ever so often` there"), "{}", idle.err);
    for (reason, until, what) in
        [("", "", "without a reason"), ("kept", r#", until: "soon""#, "is no day")]
    {
        let ran = with("never", reason, until);
        assert_eq!(ran.code, 2);
        assert!(ran.err.contains(what), "{}", ran.err);
    }
}

#[test]
fn a_baseline_hides_what_was_there() {
    let at = tables("check.baseline", &[("hw-tables/more.ron", UNUSED)]);
    let written = run_in(&at, &["check", "--draft", "--write-baseline", "known.ron"], "");
    assert_eq!(written.code, 0, "{}", written.err);
    let check = || {
        run_in(
            &at,
            &["check", "--draft", "--baseline", "known.ron", "--deny", "warnings", "--notes"],
            "",
        )
    };
    let fine = check();
    assert_eq!(fine.code, 0, "{}", fine.err);
    // Lines above a finding do not matter; a new finding does.
    let two = UNUSED
        .replace("(tags: [", "// More.\n\n(tags: [\n(name: \"nowhere\", doc: \"on nothing\"), ");
    fs::write(at.join("hw-tables/more.ron"), two).expect("written");
    let new = check();
    assert_eq!(new.code, 1);
    assert!(new.err.contains("`nowhere`") && !new.err.contains("`never`"), "{}", new.err);
    // What was mended is said, so that the baseline shrinks.
    fs::remove_file(at.join("hw-tables/more.ron")).expect("removed");
    let mended = check();
    assert_eq!(mended.code, 0);
    assert!(mended.err.contains("1 of 4 findings are not there any more"), "{}", mended.err);
}

#[test]
fn every_check_is_explained() {
    let ran = run(&["check", "--explain", "waits"]);
    assert_eq!(ran.code, 0);
    assert!(
        ran.out.contains("Wait states are those") && ran.out.contains("For example"),
        "{}",
        ran.out
    );
    let all = run(&["check", "--explain", "all"]);
    let page = fs::read_to_string(root().join("gen/CHECKS.md")).expect("the page");
    assert!(all.out == page, "write it again: lanebook check --explain all -o gen/CHECKS.md");
    // Only what programs, the library or a comparison say has no example.
    let without: Vec<&str> = page
        .split("\n## ")
        .filter(|section| section.contains("No example"))
        .filter_map(|section| section.lines().next())
        .collect();
    assert!(without.len() < 14, "{without:?}");
    let unknown = run(&["check", "--explain", "wait"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `waits`?"), "{}", unknown.err);
}
