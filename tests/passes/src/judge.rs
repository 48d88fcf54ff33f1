//! Passes under judgement: a program must mean the same after each, and be as it was when one
//! refuses or runs out.
use crate::generate::{self, Random};
use crate::laid_out;
use crate::meaning::meaning;
use crate::{SNIPPET, printed, with};
use lanebook::TABLES;
use lanebook::ir::{Node, Program, verify};
use lanebook::pipeline::{PassError, apply};
use std::collections::BTreeMap;

/// Passes that are judged, in the order in which a compiler would run them.
pub const PASSES: [&str; 4] = ["remove-conversions", "remove-aliases", "slice", "remove-dead-args"];
/// Choices of what a program leaves free.
const CHOICES: u64 = 3;

/// What a program is observed to do, for several choices of what it leaves free.
#[must_use]
pub fn meanings(program: &Program<'_, '_>) -> Vec<Vec<(String, u64)>> {
    (0..CHOICES).map(|seed| meaning(program, seed)).collect()
}

/// Runs passes one after the other, each judged; answers how many changes each made.
///
/// # Panics
/// If a pass changes what the program does, leaves it malformed, or refuses and leaves it changed.
pub fn judge(name: &str, text: &str, passes: &[&'static str]) -> BTreeMap<&'static str, u32> {
    judge_with(name, text, passes, 100_000)
}

/// The same with this much fuel for each pass.
///
/// # Panics
/// Those of [`judge`].
pub fn judge_with(
    name: &str,
    text: &str,
    passes: &[&'static str],
    fuel: u32,
) -> BTreeMap<&'static str, u32> {
    let mut done = BTreeMap::new();
    with(text, SNIPPET, |program| {
        let wanted = meanings(program);
        let mut work = Box::new(heapless::Vec::<Node, 8192>::new());
        for pass in passes {
            let before = printed(program);
            let mut left = fuel;
            match apply(&TABLES, pass, program, work.as_mut_view(), &mut left, |_| {}) {
                Ok(stats) => *done.entry(*pass).or_default() += stats.applied,
                Err(PassError::Refused { .. } | PassError::Run(_)) => assert_eq!(
                    printed(program),
                    before,
                    "{name}: {pass} refused and left something changed"
                ),
                Err(error) => panic!("{name}: {pass}: {error:?}\n{before}"),
            }
            if let Err(error) = verify(program) {
                panic!("{name}: {pass} left {error:?}\n{before}\n--- became\n{}", printed(program));
            }
            assert_eq!(
                meanings(program),
                wanted,
                "{name}: {pass} changed what this does:\n{before}\n--- became\n{}",
                printed(program)
            );
        }
    });
    done
}

/// A program, an order of passes and an amount of fuel from bytes, judged: what the fuzzer runs.
///
/// # Panics
/// Those of [`judge`].
pub fn fuzz(bytes: &[u8]) {
    let seed = bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mut random = Random::new(seed);
    let size = 2 + random.below(14);
    let text = if random.below(2) == 0 {
        generate::program(seed, size)
    } else {
        laid_out::program(seed, size)
    };
    let mut passes = Vec::new();
    for _ in 0..2 + random.below(4) {
        passes.push(PASSES[random.below(PASSES.len())]);
    }
    let fuel = if random.below(4) == 0 { random.below(12) as u32 } else { 100_000 };
    judge_with(&format!("bytes {bytes:?}"), &text, &passes, fuel);
}
