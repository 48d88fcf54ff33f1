//! Texts exactly as Triton prints them: each operation is read with all the values that its line names, in their order.
use lanebook::ir::{Block, Def, Op, Program};
use lanebook_pass_tests::{SNIPPET, printed, texts, with};

/// All operations of a program.
fn ops(program: &Program<'_, '_>) -> Vec<Op> {
    let (mut open, mut found): (Vec<Block>, Vec<Op>) = (vec![program.root()], Vec::new());
    while let Some(block) = open.pop() {
        for op in program.ops(block) {
            found.push(op);
            open.extend(program.regions(op).flat_map(|region| program.blocks(region)));
        }
    }
    found
}

/// A line without what stands in quotes, nor in `loc(...)`.
fn plain(line: &str) -> String {
    let (mut out, mut quoted, mut depth) = (String::new(), false, 0);
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let letter = rest.chars().next().expect("a character");
        at += letter.len_utf8();
        quoted ^= letter == '"';
        if depth == 0 && !quoted && rest.starts_with(" loc(") {
            depth = 1;
            at += " loc(".len() - 1;
        } else if depth > 0 && !quoted {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
        } else if depth == 0 && !quoted {
            out.push(letter);
        }
    }
    out
}

/// The names of values that the operation of a line uses. Those that it binds are followed by `=` (results, counters, what
/// a loop carries) or stand in a function's brackets.
fn names(line: &str) -> Vec<String> {
    let line = plain(line);
    let body = match line.split_once(" = ") {
        Some((left, right)) if left.trim_start().starts_with('%') => right,
        _ => &line,
    };
    if body.trim_start().starts_with("tt.func") {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (at, _) in body.match_indices('%') {
        let rest = &body[at + 1..];
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '$');
        let name: String = rest.chars().take_while(|c| part(*c)).collect();
        let name = name.trim_end_matches("->").to_string();
        let behind = &rest[name.len()..];
        if !behind.starts_with(" = ") {
            // A loop's results have one name.
            found.push(name);
        }
    }
    found
}

fn read(program: &Program<'_, '_>, op: Op) -> Vec<String> {
    let values =
        program.all_operands(op).filter(|value| !matches!(program.def(*value), Def::Literal(_)));
    values.map(|value| program.value_name(value).to_string()).collect()
}

#[test]
fn every_name_is_an_operand() {
    let mut compared = 0;
    for (name, text) in texts("printed").into_iter().filter(|(name, _)| name.ends_with(".mlir")) {
        let lines: Vec<&str> = text.lines().collect();
        let first = with(&text, SNIPPET, |program| {
            for op in ops(program) {
                let line = program.place(op).line as usize;
                let line = lines.get(line.wrapping_sub(1)).expect("its line");
                let (wanted, found) = (names(line), read(program, op));
                // Values without a name (results behind the first, numbers the printer gave) have an empty one.
                let same = wanted.len() == found.len()
                    && wanted
                        .iter()
                        .zip(&found)
                        .all(|(wanted, found)| found.is_empty() || wanted == found);
                assert!(same, "{name}: {line}\n{wanted:?}\n{found:?}");
                compared += wanted.len();
            }
            printed(program)
        });
        // What is printed says the same.
        let second = with(&first, SNIPPET, |program| printed(program));
        assert_eq!(first, second, "{name}");
    }
    assert!(compared > 2500, "{compared}");
}
