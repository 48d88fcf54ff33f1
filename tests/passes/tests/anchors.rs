//! Layouts for accesses and products: what lanebook chooses beside what Triton 3.9 chose on the
//! same text.
use lanebook::ir::Op;
use lanebook_pass_tests::judge::meanings;
use lanebook_pass_tests::{SNIPPET, folder, layout, run, undecided, with};
use std::collections::BTreeMap;

fn recorded(stage: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder("anchors")).expect("the recorded kernels") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if let Some(name) = name.strip_suffix(&format!(".{stage}.mlir")) {
            found.insert(name.to_string(), std::fs::read_to_string(&path).expect("it reads"));
        }
    }
    found
}

/// Number and layout of every access of a text.
fn accesses(text: &str) -> Vec<(String, String)> {
    with(text, SNIPPET, |program| {
        let ops: Vec<Op> = program.all().collect();
        let mut found = Vec::new();
        for op in ops {
            let name = program.op_name(op);
            if matches!(name, "tiled_load" | "tt.store" | "tt.atomic_rmw") {
                let pointers = program.operand(op, 0).expect("pointers");
                if program.type_of(pointers).is_tile() {
                    found.push((name.to_string(), layout(program, pointers)));
                }
            }
        }
        found
    })
}

#[test]
fn accesses_get_the_layouts_that_triton_gives_them() {
    let (before, after) = (recorded("blocked"), recorded("coalesced"));
    assert!(before.len() >= 8 && before.len() == after.len());
    let mut compared = 0;
    for (name, text) in before {
        let outcome = run(&text, "coalesce").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let (mine, theirs) = (accesses(&outcome.text), accesses(&after[&name]));
        assert_eq!(mine, theirs, "{name}");
        compared += mine.len();
        // Once more changes nothing: every access has its layout.
        let again = run(&outcome.text, "coalesce").expect("it runs again");
        assert!(
            again.steps.is_empty() && again.text == outcome.text,
            "{name}: {} more changes",
            again.steps.len()
        );
    }
    assert!(compared >= 30, "{compared} accesses");
}

/// The same kernels without any layout: `assign-layouts` gives each access the layout that Triton
/// gives it, products get instructions, and with conversions removed whatever moves or multiplies
/// has one.
#[test]
fn kernels_without_layouts_get_all_of_them() {
    let (before, after) = (recorded("blocked"), recorded("coalesced"));
    let mut compared = 0;
    for (name, text) in before {
        let plain = undecided(&text);
        let wanted = does(&plain);
        let assigned =
            run(&plain, "assign-layouts").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let (mine, theirs) = (accesses(&assigned.text), accesses(&after[&name]));
        assert_eq!(mine, theirs, "{name}");
        compared += mine.len();
        let products = run(&assigned.text, "accelerate-matmul")
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let done = run(&products.text, "remove-conversions")
            .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(does(&done.text), wanted, "{name}: became\n{}", done.text);
        with(&done.text, SNIPPET, |program| {
            // What loads, stores and products read and give; arithmetic between them may be left to
            // the planner.
            for op in program
                .all()
                .filter(|op| matches!(program.op_name(*op), "tiled_load" | "tt.store" | "mma"))
            {
                for value in program.results(op).chain(program.operands(op)) {
                    let ty = program.type_of(value);
                    assert!(
                        !ty.is_tile() || program.layout_text(&ty).is_some(),
                        "{name}: {} has no layout in\n{}",
                        program.value_name(value),
                        done.text
                    );
                }
            }
        });
        println!("{name}: {} conversions", done.text.matches(" = convert_layout ").count());
    }
    assert!(compared >= 30, "{compared} accesses");
}

/// What a text is observed to do.
fn does(text: &str) -> Vec<Vec<(String, u64)>> {
    with(text, SNIPPET, |program| meanings(program))
}

#[test]
fn what_a_program_does_does_not_depend_on_the_layouts_of_its_accesses() {
    let mut told = 0;
    for (name, text) in recorded("blocked") {
        let outcome = run(&text, "coalesce").unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let wanted = does(&text);
        assert!(wanted.iter().all(|seen| !seen.is_empty()), "{name}: nothing is observed");
        assert_eq!(does(&outcome.text), wanted, "{name}: became\n{}", outcome.text);
        // The judge sees other arithmetic, and a store that is gone.
        let last = outcome
            .text
            .lines()
            .rfind(|line| line.trim_start().starts_with("tt.store"))
            .unwrap_or_else(|| panic!("{name}: no store"));
        for wrong in [
            outcome.text.replacen(" index.add ", " index.mul ", 1),
            outcome.text.replacen(last, "", 1),
        ] {
            if wrong != outcome.text {
                assert_ne!(does(&wrong), wanted, "{name}: not seen in\n{wrong}");
                told += 1;
            }
        }
    }
    assert!(told >= 12, "{told} wrong programs");
}
