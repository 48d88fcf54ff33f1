//! What the tree of a text is, and which facts are in it.
use super::*;

fn one(text: &str) -> (Sources, Option<Tree>) {
    let mut sources = Sources::default();
    let id = sources.add("hw-tables/a.ron", None, text.to_string());
    let tree = read(&sources, id);
    (sources, tree)
}

#[test]
fn values_of_every_kind() {
    let text = r##"// head
    (a: 0x10, b: [-1, word, f(3)], c: {"k": (1, "x\n\"")}, /* aside */ d: r#"raw "q""#, e: (x: 1,), f: [], g: w(x: 2))"##;
    let (sources, tree) = one(text);
    let tree = tree.expect("a tree");
    assert_eq!(
        one_line(&tree),
        r#"(a: 16, b: [-1, word, [f, 3]], c: {k: [1, x\n"]}, d: raw "q", e: (x: 1), f: [], g: (is: w, x: 2))"#
    );
    assert_eq!(sources.text(tree.field("b").expect("b").span), "[-1, word, f(3)]");
    assert_eq!(sources.text(tree.field("d").expect("d").span), r##"r#"raw "q""#"##);
}

#[test]
fn what_is_not_well_formed_is_no_tree() {
    for text in ["", "(", "(a: )", "(a: 1 b: 2)", "[1 2]", "{1}", "\"", "(a: r#\"x)", "}"] {
        assert_eq!(one(text).1, None, "{text}");
    }
}

#[test]
fn facts_are_named_by_what_they_are_about() {
    let text = r#"(groups: [(name: "g", isa: "t", atoms: [(name: "x", operands: [(name: "d", role: def)], cost: (issue: 1))])],
        arch: (name: "m", banks: [(name: "b", banks: 4)], hazards: [(producer: "p", consumer: "q", states: 1), (producer: "p", consumer: "q", states: 2)]))"#;
    let (sources, _) = one(text);
    let found: Vec<String> = facts(&sources)
        .iter()
        .flat_map(|(thing, facts)| {
            facts
                .iter()
                .filter(|(path, _)| !path.is_empty())
                .map(move |(path, (value, _))| format!("{thing}: {path} = {value}"))
        })
        .collect();
    let expected = [
        "architecture m: banks[b].banks = 4",
        "architecture m: banks[b].name = b",
        "architecture m: hazards[p > q #2].consumer = q",
        "architecture m: hazards[p > q #2].producer = p",
        "architecture m: hazards[p > q #2].states = 2",
        "architecture m: hazards[p > q].consumer = q",
        "architecture m: hazards[p > q].producer = p",
        "architecture m: hazards[p > q].states = 1",
        "architecture m: name = m",
        "atom x: cost.issue = 1",
        "atom x: in = group g",
        "atom x: name = x",
        "atom x: operands[d].name = d",
        "atom x: operands[d].role = def",
        "group g: isa = t",
        "group g: name = g",
    ];
    assert_eq!(found, expected);
}

/// Every table of this repository is a tree that ends where the file ends.
#[test]
fn the_repository_s_tables_are_trees() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut quiet = crate::diagnostics::Diagnostics::new();
    let sources = crate::load::find(&root, &mut quiet);
    for (id, file) in sources.iter() {
        let tree = read(&sources, id).unwrap_or_else(|| panic!("{}", file.name));
        assert_eq!(
            sources.text(tree.span).trim_end().len(),
            file.text[tree.span.start as usize..].trim_end().len(),
            "{}",
            file.name
        );
    }
    let found = facts(&sources);
    assert!(
        found.contains_key("atom ldmatrix.x4")
            && found.contains_key("architecture gfx950")
            && found.contains_key("instruction set ptx")
    );
}
