//! What is known of an index holds of every value that it can have, and a loop moves it as is said:
//! random expressions, each operation of each held against its value for many arguments.

use lanebook::TABLES;
use lanebook::ir::{IndexStep, Options, SmallStorage, parse, verify};
use lanebook_kernels::hunt::choices::Choices;
use lanebook_kernels::interpret::{index_arithmetic, index_relation};
use lanebook_kernels::kernel_text;
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
fn wrap(n: i64) -> i64 {
    i64::from(n as u32 as i32)
}

/// What an operation computes, as the interpreter has it; `None`: nothing is said of it.
fn value(word: &str, n: &[i64]) -> Option<i64> {
    match word {
        "index.cmp" => index_relation("slt", n[0], n[1]).ok(),
        "index.select" => Some(if n[0] != 0 { n[1] } else { n[2] }),
        _ => index_arithmetic(word, n[0], n[1]).ok(),
    }
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

/// Random operations on what stands before them, by number.
fn steps(choices: &mut Choices, known: usize, count: usize) -> Vec<Step> {
    let step = |k: usize, choices: &mut Choices| {
        let word = choices.of(&WORDS);
        let count = if word == "index.select" { 3 } else { 2 };
        let operands = (0..count).map(|_| match choices.below(3) {
            0 => Err(choices.of(&NUMBERS)),
            _ => Ok(choices.below(k)),
        });
        let operands = operands.collect();
        Step { word, operands }
    };
    (known..known + count).map(|k| step(k, choices)).collect()
}

/// How a value is called, the arguments and a loop's counter first.
fn name(k: usize) -> String {
    ["%m", "%n", "%p"].get(k).map_or(format!("%v{k}"), ToString::to_string)
}

fn lines(steps: &[Step], first: usize) -> String {
    let mut text = String::new();
    for (k, step) in (first..).zip(steps) {
        let said = step.operands.iter().map(|one| one.map_or_else(|n| n.to_string(), name));
        let said: Vec<String> = said.collect();
        let kind = if step.word == "index.cmp" { " {kind = slt}" } else { "" };
        let _ = writeln!(text, "  {} = {} {}{kind} : index", name(k), step.word, said.join(", "));
    }
    text
}

/// The values of operations, behind those that are known.
fn run(steps: &[Step], known: &[i64]) -> Vec<Option<i64>> {
    let mut values: Vec<Option<i64>> = known.iter().copied().map(Some).collect();
    for step in steps {
        let operands = step.operands.iter().map(|one| one.map_or_else(Some, |k| values[k]));
        let operands: Option<Vec<i64>> = operands.collect();
        values.push(operands.and_then(|operands| value(step.word, &operands)));
    }
    values.split_off(known.len())
}

fn head() -> String {
    format!("func @f({}) {{\n", ARGUMENTS.map(|(said, ..)| said).join(", "))
}

#[test]
fn facts_of_indices_hold() {
    let (mut choices, mut held, mut known) = (Choices::seeded(7), 0, 0);
    let mut pools = Box::new(SmallStorage::new());
    for _ in 0..2000 {
        let steps = steps(&mut choices, ARGUMENTS.len(), 10);
        let text = format!("{}{}}}\n", head(), lines(&steps, ARGUMENTS.len()));
        let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect(&text);
        verify(&mut program).expect(&text);
        let function = program.functions().next().expect("a function");
        let ops = program.inside(function).filter(|op| program.index_word(*op).is_some());
        let facts: Vec<_> =
            ops.map(|op| program.index_facts(program.result(op, 0).expect("a result"))).collect();
        assert_eq!(facts.len(), steps.len(), "{text}");
        known += facts.iter().filter(|f| f.divisor() > 1 || f.low > i64::from(i32::MIN)).count();
        for _ in 0..40 {
            let given = ARGUMENTS.map(|one| argument(&mut choices, one));
            for ((step, facts), value) in steps.iter().zip(&facts).zip(run(&steps, &given)) {
                let Some(value) = value else { continue };
                let fits = (facts.low..=facts.high).contains(&value)
                    && value % i64::from(facts.divisor()) == 0;
                assert!(fits, "{text}{} of {given:?} is {value}: {facts:?}", step.word);
                held += 1;
            }
        }
    }
    assert!(held > 500_000 && known > 5_000, "{held} values, {known} facts");
}

#[test]
fn indices_move_in_a_loop_as_is_said() {
    let (mut choices, mut held, mut moved) = (Choices::seeded(11), 0, 0);
    let mut pools = Box::new(SmallStorage::new());
    for _ in 0..2000 {
        // The counter is one more that is known.
        let counter = ARGUMENTS.len();
        let steps = steps(&mut choices, counter + 1, 10);
        let by = choices.of(&[1, 2, 8, 48]);
        let text = format!(
            "{}  scf.for {} = 0 to %n step {by} {{\n{}  scf.yield\n  }}\n}}\n",
            head(),
            name(counter),
            lines(&steps, counter + 1)
        );
        let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect(&text);
        verify(&mut program).expect(&text);
        let function = program.functions().next().expect("a function");
        let at = program.inside(function).find_map(|op| program.counted_loop(op)).expect(&text);
        let ops = program.inside(at.op).filter(|op| program.index_word(*op).is_some());
        let told: Vec<_> = ops
            .map(|op| program.index_step(program.result(op, 0).expect("a result"), &at))
            .collect();
        assert_eq!(told.len(), steps.len(), "{text}");
        for _ in 0..20 {
            let mut given = ARGUMENTS.map(|one| argument(&mut choices, one)).to_vec();
            // Two turns that follow each other below the bound, which is an argument.
            let turns = given[1] / by;
            if turns < 2 {
                continue;
            }
            given.push(choices.below((turns - 1) as usize) as i64 * by);
            let before = run(&steps, &given);
            given[counter] += by;
            let after = run(&steps, &given);
            for (k, told) in told.iter().enumerate() {
                let (Some(before), Some(after)) = (before[k], after[k]) else { continue };
                let grew = wrap(after - before);
                let said = match told {
                    IndexStep::Fixed => 0,
                    IndexStep::By(n) => wrap(*n),
                    IndexStep::Times(n) => wrap(*n * by),
                    _ => continue,
                };
                assert_eq!(grew, said, "{text}%v{} at {given:?}: {told:?}", counter + 1 + k);
                held += 1;
                moved += usize::from(said != 0);
            }
        }
    }
    assert!(held > 100_000 && moved > 10_000, "{held} turns, {moved} that move");
}

/// Threads that share rows of any length by whole vectors: as many vectors as there are, and none of
/// them is asked whether it is there.
#[test]
fn rows_of_any_length_are_vectors_without_a_question() {
    for (rows, columns, threads) in [
        (64usize, 48usize, 128usize),
        (64, 40, 128),
        (64, 20, 64),
        (64, 12, 64),
        (32, 112, 128),
        (64, 56, 128),
        (64, 36, 64),
        (64, 100, 64),
    ] {
        let tile = format!("memref<{rows}x{columns}xf32>");
        let program = format!(
            "func @rows(%A: {tile} {{align = 16}}, %B: {tile} {{align = 16}}) {{threads = {threads}}} {{
  parallel (%i, %j) in ({rows}, {columns}) {{
    %x = memref.load %A[%i, %j]
    memref.store %x, %B[%i, %j]
  }}
}}
"
        );
        for (arch, load, question) in
            [("sm_80", "ld.global.v4", "setp"), ("gfx942", "global_load_dwordx4", "v_cmp")]
        {
            let text = kernel_text(&program, arch);
            let vectors = rows * columns / 4 / threads;
            assert_eq!(text.matches(load).count(), vectors, "{arch}\n{program}{text}");
            assert!(!text.contains(question), "{arch}\n{program}{text}");
        }
    }
}
