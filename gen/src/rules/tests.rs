//! What the rule compiler refuses, where it points and what it says to do. Each case adds one file
//! to the repository's own.
use super::{certificate, compile};
use crate::diagnostics::Diagnostics;
use crate::{load, model};
use std::path::Path;

/// The errors of the repository's rules with further files.
fn errors(files: &[(&str, &str)], certificates: bool) -> String {
    let mut diags = Diagnostics::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = load::find(&root, &mut diags);
    for (name, text) in files {
        sources.add(name, None, (*text).to_string());
    }
    let loaded = load::load(&sources, &mut diags);
    let hw = model::resolve(&loaded, &mut diags);
    let mut diags = Diagnostics::new();
    let rules = compile(&sources, &loaded, &hw, &mut diags);
    if certificates {
        certificate::check(&rules, &hw, &mut diags);
    }
    diags.plain(&sources)
}

/// The errors that one index rule adds.
fn index(rule: &str) -> String {
    let text = format!("(phase: \"simplify\", rules: [\n{rule}\n])");
    errors(&[("rules/index/zz.ron", &text)], false)
}

/// The errors of a target rule, in an instruction set of its own file.
fn target(rule: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/isa/ptx.ron");
    let text = std::fs::read_to_string(root).expect("the file is there");
    let at = text.find("\n    rules: [").expect("it has rules") + "\n    rules: [".len();
    let text = format!("{}\n{rule}\n{}", &text[..at], &text[at..]);
    let mut diags = Diagnostics::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let found = load::find(&root, &mut diags);
    let mut sources = crate::source::Sources::default();
    for (_, file) in found.iter() {
        let own = file.name == "rules/isa/ptx.ron";
        sources.add(&file.name, None, if own { text.clone() } else { file.text.clone() });
    }
    let loaded = load::load(&sources, &mut diags);
    let hw = model::resolve(&loaded, &mut diags);
    let mut diags = Diagnostics::new();
    compile(&sources, &loaded, &hw, &mut diags);
    diags.plain(&sources)
}

fn refuses(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in:\n{text}");
    }
}

const TAIL: &str = r#"doc: "d", examples: [(from: 1, to: 1)]"#;

#[test]
fn the_repository_compiles() {
    assert_eq!(errors(&[], true), "");
}

#[test]
fn unknown_words_get_a_suggestion() {
    let text =
        index(&format!(r#"(name: "n", pattern: ("adn", "x", 7), replacement: "x", {TAIL})"#));
    refuses(&text, &["rules/index/zz.ron:2:23: error: unknown word `adn`", "did you mean `add`?"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("and", "x", 7), conditions: [("disjont", "x", 7)], replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["unknown condition `disjont`", "did you mean `disjoint`?"]);
    let text = index(&format!(
        r#"(name: "n", phase: "simplfy", pattern: ("and", "x", 77), replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["unknown phase `simplfy`", "did you mean `simplify`?"]);
}

#[test]
fn slots_are_bound_once_and_used_as_bound() {
    let text = index(&format!(
        r#"(name: "n", pattern: ("and", "xs", 7), replacement: ("add", "x", 1), {TAIL})"#
    ));
    refuses(&text, &["`x` is bound by nothing"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("and", "x", "c"), lets: [("d", ("add", "c", 1))], replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["`c` is not a constant", "add the condition (\"is_const\", \"c\")"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("and", "x", "c"), conditions: [("is_const", "c")], lets: [("c", 1)], replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["`c` is already bound"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("and", "x", 7), conditions: [("is_const", "c")], replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["`c` is not in the pattern"]);
}

#[test]
fn arities_and_widths_are_checked() {
    let text = index(&format!(r#"(name: "n", pattern: ("and", "x"), replacement: "x", {TAIL})"#));
    refuses(&text, &["`and` takes 2 arguments, here are 1"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("add64", ("add", "x", "y"), 7), replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["`add` has 32 bits, this place takes 64"]);
    let text = index(&format!(
        r#"(name: "n", pattern: ("add64", "x", ("extend64", "x")), replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["`x` has 64 bits, this place takes 32"]);
    let text =
        index(&format!(r#"(name: "n", pattern: ("extend64", "x"), replacement: "x", {TAIL})"#));
    refuses(&text, &["the replacement has 32 bits, the pattern 64"]);
}

#[test]
fn a_rule_has_a_doc_an_example_and_a_name_of_its_own() {
    let text = index(r#"(name: "n", pattern: ("and", "x", 77), replacement: "x", doc: " ")"#);
    refuses(&text, &["a rule needs a line of algebra", "rule `n` has no example"]);
    let text = index(&format!(
        r#"(name: "add_zero", priority: 92, pattern: ("add", "x", 77), replacement: "x", {TAIL})"#
    ));
    refuses(&text, &["rule `add_zero` is declared twice", "rules/index/basic.ron:"]);
    let text = index(r#"(name: "n", patern: ("and", "x", 77), replacement: "x", doc: "d")"#);
    refuses(&text, &["rules/index/zz.ron:2:", "patern"]);
}

#[test]
fn competing_rules_are_shown_both() {
    let text = index(&format!(
        r#"(name: "n", priority: 60, pattern: ("add", "a", ("shl", "b", 3)), replacement: "a", {TAIL})"#
    ));
    refuses(
        &text,
        &[
            "rules `add_disjoint` and `n` fit a common term at priority 60",
            "rules/index/bits.ron:",
            "note: the other rule",
            "higher priority",
        ],
    );
    // Conditions that exclude each other are no competition.
    let text = index(&format!(
        r#"(name: "n", priority: 71, pattern: ("shr", ("shl", "x", "a"), 5), conditions: [("is_const", "a"), ("less", "a", 5)], replacement: "x", {TAIL})"#
    ));
    assert_eq!(text, "");
}

#[test]
fn a_rule_that_is_always_beaten_is_refused() {
    let text = index(&format!(
        r#"(name: "n", priority: 1, pattern: ("mul", ("add", "x", 3), 0), replacement: "x", {TAIL})"#
    ));
    refuses(
        &text,
        &["rule `n` can never fire: `mul_zero` fits whatever it fits", "priority 91 against 1"],
    );
}

#[test]
fn rules_decrease_their_measure() {
    let text = index(&format!(
        r#"(name: "n", priority: 1, pattern: ("or", "x", ("shl", "y", 3)), replacement: ("add", "x", ("shl", "y", 3)), {TAIL})"#
    ));
    refuses(&text, &["rule `n` does not decrease its measure", "1 x + 3 y", "note: the pattern"]);
    let text = index(&format!(
        r#"(name: "n", priority: 1, pattern: ("mul", ("add", "x", "y"), "z"), replacement: ("add", ("mul", "x", "z"), ("mul", "y", "z")), {TAIL})"#
    ));
    refuses(&text, &["does not decrease"]);
    let tile = format!(
        r#"(phase: "clean_conversions", rules: [(name: "n", priority: 1, pattern: ("as", "e", ("neg", ("convert_layout", "x"))), replacement: ("convert_layout", ("like", "e", ("same", "x"))), {TAIL})])"#
    );
    refuses(
        &errors(&[("rules/tile/zz.ron", &tile)], false),
        &["rules/tile/zz.ron:1:", "rule `n` does not decrease its measure"],
    );
}

#[test]
fn instructions_exist_and_take_their_operands() {
    let text = target(&format!(
        r#"(name: "n", pattern: ("add", "x", ("mul", "y", 77)), replacement: ("ad.u32", "x", "y"), {TAIL}),"#
    ));
    refuses(&text, &["rules/isa/ptx.ron:", "unknown atom `ad.u32`", "did you mean `add.u32`?"]);
    let text = target(&format!(
        r#"(name: "n", pattern: ("add", "x", ("mul", "y", 77)), replacement: ("add.u32", "x"), {TAIL}),"#
    ));
    refuses(&text, &["`add.u32` takes 2 arguments, here are 1"]);
    let text = target(&format!(
        r#"(name: "n", pattern: ("add", "x", ("mul", "y", 77)), replacement: ("v_add_u32", "x", "y"), {TAIL}),"#
    ));
    refuses(
        &text,
        &["atom `v_add_u32` belongs to another instruction set", "hw-tables/amd/valu.ron:"],
    );
    let text = target(&format!(
        r#"(name: "n", pattern: ("or", "x", ("mul", "y", 77)), replacement: ("lop3.b32", "x", "y", "y", 256), {TAIL}),"#
    ));
    refuses(&text, &["256 is not in the range of operand `lut`"]);
    let text = target(&format!(
        r#"(name: "n", pattern: ("or", "x", ("mul", "y", 77)), replacement: ("lop3.b32", "x", "y", "y", "x"), {TAIL}),"#
    ));
    refuses(&text, &["operand `lut` of `lop3.b32` is an immediate"]);
    let text = target(&format!(
        r#"(name: "n", pattern: ("or", "x", ("mul", "y", 77)), replacement: ("bar.sync", 0), {TAIL}),"#
    ));
    refuses(
        &text,
        &["atom `bar.sync` does not say what it computes", "does not have exactly one result"],
    );
    let text = target(&format!(
        r#"(name: "n", pattern: ("add", "x", "y"), replacement: ("add.u32", "x", "y"), {TAIL}),"#
    ));
    refuses(&text, &["says the same as"]);
}

#[test]
fn tile_terms_speak_of_operations() {
    let rule = |pattern: &str, replacement: &str| {
        let text = format!(
            r#"(phase: "push_conversions", rules: [(name: "n", priority: 1, pattern: {pattern}, replacement: {replacement}, {TAIL})])"#
        );
        errors(&[("rules/tile/zz.ron", &text)], false)
    };
    refuses(
        &rule(r#"("convert_layot", "x")"#, r#""x""#),
        &["unknown operation `convert_layot`", "did you mean `convert_layout`?"],
    );
    refuses(&rule(r#"("any", "elementwize", "x")"#, r#""x""#), &["unknown role `elementwize`"]);
    refuses(&rule(r#"("mma", "x")"#, r#""x""#), &["`mma` does not take 1 operands"]);
    refuses(
        &rule(r#"("convert_layout", ("trans", "x"))"#, r#"("same", "x")"#),
        &["`same` needs `like`"],
    );
}

#[test]
fn certificates_are_asked_for() {
    let rule = format!(
        r#"(phase: "simplify", rules: [(name: "n", priority: 1, pattern: ("mul", ("add", "x", "y"), "z"), replacement: "z", {TAIL})])"#
    );
    refuses(
        &errors(&[("rules/index/zz.ron", &rule)], true),
        &["rule `n` has no proof certificate", certificate::REMEDY],
    );
    let mut diags = Diagnostics::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = load::find(&root, &mut diags);
    let loaded = load::load(&sources, &mut diags);
    let hw = model::resolve(&loaded, &mut diags);
    let mut rules = compile(&sources, &loaded, &hw, &mut diags);
    rules.certificates[0].hash = "0".into();
    rules.certificates[1].rule = "gone".into();
    certificate::check(&rules, &hw, &mut diags);
    refuses(
        &diags.plain(&sources),
        &[
            "has changed since it was proved",
            "note: its certificate",
            "certificate for `gone`, which is not a rule",
            "has no proof certificate",
        ],
    );
}

#[test]
fn the_hash_ignores_names_and_sees_everything_else() {
    let hash = |rule: &str| {
        let mut diags = Diagnostics::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut sources = load::find(&root, &mut diags);
        sources.add("rules/index/zz.ron", None, format!("(phase: \"simplify\", rules: [{rule}])"));
        let loaded = load::load(&sources, &mut diags);
        let hw = model::resolve(&loaded, &mut diags);
        let rules = compile(&sources, &loaded, &hw, &mut diags);
        let rule = rules
            .rules
            .iter()
            .find(|rule| rule.name.value.starts_with("probe"))
            .expect("it compiles");
        super::canonical::hash(&super::canonical::text(rule, &hw))
    };
    let a = hash(&format!(
        r#"(name: "probe", priority: 1, pattern: ("mul", "x", 77), replacement: "x", {TAIL})"#
    ));
    let b = hash(&format!(
        r#"(name: "probe2", priority: 2, pattern: ("mul", "q", 77), replacement: "q", {TAIL})"#
    ));
    let c = hash(&format!(
        r#"(name: "probe", priority: 1, pattern: ("mul", "x", 78), replacement: "x", {TAIL})"#
    ));
    assert_eq!(a, b);
    assert_ne!(a, c);
}

#[test]
fn every_word_is_documented() {
    let readme =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/README.md"))
            .expect("the file is there");
    for word in lanebook_tables::Word::ALL {
        assert!(
            readme.contains(&format!("`({} ", word.name())),
            "rules/README.md does not explain `{}`",
            word.name()
        );
    }
    for op in lanebook_tables::IndexOp::ALL {
        assert!(readme.contains(op.name()), "rules/README.md does not list `{}`", op.name());
    }
}

#[test]
fn pipelines_call_known_analyses() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = std::fs::read_to_string(root.join("rules/passes.ron")).expect("the file is there");
    let mut diags = Diagnostics::new();
    let found = load::find(&root, &mut diags);
    let mut sources = crate::source::Sources::default();
    for (_, file) in found.iter() {
        let own = file.name == "rules/passes.ron";
        let wrong = text.replacen("analysis(\"remove-aliases\")", "analysis(\"remove-alises\")", 1);
        sources.add(&file.name, None, if own { wrong } else { file.text.clone() });
    }
    let loaded = load::load(&sources, &mut diags);
    let hw = model::resolve(&loaded, &mut diags);
    let mut diags = Diagnostics::new();
    compile(&sources, &loaded, &hw, &mut diags);
    refuses(
        &diags.plain(&sources),
        &[
            "rules/passes.ron:",
            "unknown analysis `remove-alises`",
            "did you mean `remove-aliases`?",
        ],
    );
}
