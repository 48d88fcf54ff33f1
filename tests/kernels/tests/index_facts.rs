//! What is known of an index holds of every value that it can have: random expressions, each
//! operation of each held against its value for many arguments.

use lanebook::TABLES;
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook_kernels::hunt::choices::Choices;
use std::fmt::Write as _;

const WORDS: [&str; 15] = [
    "index.add",
    "index.sub",
    "index.mul",
    "index.div",
    "index.divu",
    "index.rem",
    "index.remu",
    "index.cdiv",
    "index.cdivu",
    "index.min",
    "index.minu",
    "index.max",
    "index.maxu",
    "index.cmp",
    "index.select",
];
const NUMBERS: [i64; 16] =
    [0, 1, 2, 3, 4, 6, 7, 12, 16, 64, 100, -1, -8, 1_000_003, i32::MAX as i64, i32::MIN as i64];

/// An operation: its word and operands, values by number or numbers themselves.
struct Step {
    word: &'static str,
    operands: Vec<Result<usize, i64>>,
}

/// 32 bits in two's complement.
fn wrap(n: i128) -> i64 {
    i64::from(n as u32 as i32)
}

/// What an operation computes; `None`: nothing is said of it.
fn value(word: &str, n: &[i64]) -> Option<i64> {
    let (a, b) = (i128::from(n[0]), i128::from(n[1]));
    let plain = |n: i128| n & 0xffff_ffff;
    let (x, y) = (plain(a), plain(b));
    if b == 0 && ["div", "rem"].iter().any(|part| word.contains(part)) {
        return None;
    }
    let floor = |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    Some(wrap(match word {
        "index.add" => a + b,
        "index.sub" => a - b,
        "index.mul" => a * b,
        "index.div" => floor(a, b),
        "index.divu" => x / y,
        "index.rem" => a - floor(a, b) * b,
        "index.remu" => x % y,
        "index.cdiv" => -floor(-a, b),
        "index.cdivu" => (x + y - 1) / y,
        "index.min" => a.min(b),
        "index.minu" => wrap(x.min(y)).into(),
        "index.max" => a.max(b),
        "index.maxu" => wrap(x.max(y)).into(),
        "index.cmp" => i128::from(a < b),
        "index.select" => i128::from(if n[0] != 0 { n[1] } else { n[2] }),
        other => panic!("{other}"),
    }))
}

/// The arguments: multiples of 16, of 48, of 1 with a sign.
const ARGUMENTS: [(&str, i64, bool); 3] = [
    ("%m: index {div = 16}", 16, false),
    ("%n: index {div = 48}", 48, false),
    ("%p: index {signed}", 1, true),
];

fn argument(choices: &mut Choices, (_, div, signed): (&str, i64, bool)) -> i64 {
    let most = i64::from(i32::MAX) / div;
    let n = match choices.below(4) {
        0 => choices.below(20) as i64,
        1 => most - choices.below(20) as i64,
        _ => choices.below(1 << 31) as i64 % (most + 1),
    };
    let n = n * div;
    if signed && choices.once_in(2) { -n - 1 } else { n }
}

#[test]
fn facts_of_indices_hold() {
    let (mut choices, mut held, mut known) = (Choices::seeded(7), 0, 0);
    let mut pools = Box::new(SmallStorage::new());
    for _ in 0..2000 {
        let mut steps: Vec<Step> = Vec::new();
        let mut text = format!("func @f({}) {{\n", ARGUMENTS.map(|(said, ..)| said).join(", "));
        let names =
            |k: usize| ["%m", "%n", "%p"].get(k).map_or(format!("%v{k}"), |n| n.to_string());
        for k in ARGUMENTS.len()..ARGUMENTS.len() + 10 {
            let word = choices.of(&WORDS);
            let count = if word == "index.select" { 3 } else { 2 };
            let operands: Vec<_> = (0..count)
                .map(|_| match choices.below(3) {
                    0 => Err(choices.of(&NUMBERS)),
                    _ => Ok(choices.below(k)),
                })
                .collect();
            let said = operands.iter().map(|one| one.map_or_else(|n| n.to_string(), names));
            let said: Vec<String> = said.collect();
            let kind = if word == "index.cmp" { " {kind = slt}" } else { "" };
            let _ = writeln!(text, "  {} = {word} {}{kind} : index", names(k), said.join(", "));
            steps.push(Step { word, operands });
        }
        text.push_str("}\n");
        let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect(&text);
        verify(&mut program).expect(&text);
        let function = program.functions().next().expect("a function");
        let ops: Vec<_> =
            program.inside(function).filter(|op| program.index_word(*op).is_some()).collect();
        assert_eq!(ops.len(), steps.len(), "{text}");
        let facts: Vec<_> = ops
            .iter()
            .map(|op| program.index_facts(program.result(*op, 0).expect("a result")))
            .collect();
        known += facts.iter().filter(|f| f.divisor() > 1 || f.low > i64::from(i32::MIN)).count();
        for _ in 0..40 {
            let mut values: Vec<Option<i64>> =
                ARGUMENTS.iter().map(|one| Some(argument(&mut choices, *one))).collect();
            for (step, facts) in steps.iter().zip(&facts) {
                let operands: Option<Vec<i64>> = step
                    .operands
                    .iter()
                    .map(|one| one.map_or_else(Some, |k| values[k]))
                    .collect();
                let value = operands.as_deref().and_then(|operands| value(step.word, operands));
                if let Some(value) = value {
                    let fits = (facts.low..=facts.high).contains(&value)
                        && value % i64::from(facts.divisor()) == 0;
                    assert!(fits, "{text}{} of {operands:?} is {value}: {facts:?}", step.word);
                    held += 1;
                }
                values.push(value);
            }
        }
    }
    assert!(held > 500_000 && known > 5_000, "{held} values, {known} facts");
}
