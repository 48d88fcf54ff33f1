//! The facts that a GPU would be asked, on the replay: what it models agrees with the tables, and a
//! fact that is another is seen.
#![allow(missing_docs)]

use lanebook_gpu::Device;
use lanebook_gpu::facts::{self, Asked, Finding, tiled};
use lanebook_gpu::hunted::{Outcome, judge};
use lanebook_gpu::replay::Replay;
use lanebook_kernels::Workshop;
use std::collections::BTreeMap;

fn found(arch: &str) -> Vec<Finding> {
    let mut all = Vec::new();
    let asked = Asked::named(arch).expect("an architecture");
    facts::of_instructions(&mut Replay, asked, |found| all.push(found.clone()));
    all.extend(tiled::all(&mut Replay, asked));
    all
}

#[test]
fn the_replay_does_as_the_tables_say() {
    let all = found("sm_90a");
    let mut agreed: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &all {
        match &one.differs {
            None => *agreed.entry(one.kind).or_default() += 1,
            // What the replay does not model is no answer: sparse operands, 4 bits, single bits.
            Some(why) => assert!(
                ["no known element type", "expected four type suffixes", "operands do not fit"]
                    .iter()
                    .any(|said| why.contains(said)),
                "{}: {why}",
                one.name
            ),
        }
    }
    let least = [("movement", 25), ("product", 40), ("sums", 28), ("swizzle", 4)];
    for (kind, least) in least {
        assert!(agreed.get(kind).is_some_and(|count| *count >= least), "{kind}: {agreed:?}");
    }
}

/// A device that exchanges two lanes of what comes back.
struct Crossed;

impl Device for Crossed {
    fn name(&self) -> String {
        "crossed".into()
    }

    fn word(&self) -> &'static str {
        "crossed"
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn run(
        &mut self,
        job: &lanebook_gpu::Job,
        operands: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, String> {
        let mut after = Replay.run(job, operands)?;
        // Words of lanes 1 and 2 of each register.
        for words in after.iter_mut().take(1).flat_map(|bytes| bytes.chunks_mut(8 * 32)) {
            if words.len() == 8 * 32 {
                let (low, high) = words.split_at_mut(16);
                low[8..].swap_with_slice(&mut high[..8]);
            }
        }
        Ok(after)
    }
}

#[test]
fn another_lane_is_seen() {
    let asked = Asked::named("sm_80").expect("an architecture");
    let (mut seen, mut all) = (0, 0);
    facts::of_instructions(&mut Crossed, asked, |found| {
        let writes_registers = found.fact.get("to").is_none_or(|to| to.starts_with("register"));
        if found.kind != "sums" && writes_registers {
            all += 1;
            seen += usize::from(found.differs.is_some());
        }
    });
    assert!(all > 60 && seen == all, "{seen} of {all}");
}

#[test]
fn a_box_begins_where_it_may() {
    let asked = Asked::named("sm_90a").expect("an architecture");
    for store in [false, true] {
        for bytes in 0..=32 {
            let may = tiled::corner(&mut Replay, asked, bytes, store);
            assert_eq!(may.is_ok(), bytes % 16 == 0, "{bytes} {store}: {may:?}");
        }
    }
}

/// Tile programs are judged; what depends on the order of blocks is not asked of a device that runs
/// them at once.
#[test]
fn programs_are_judged() {
    let mut workshop = Workshop::default();
    let mut ask =
        |name: &str| judge(&mut workshop, &mut Replay, (&lanebook_kernels::tested(name), "sm_90a"));
    assert!(matches!(ask("column_16"), Ok(Outcome::Right(1..))));
    assert!(matches!(ask("boxes_ahead_twice"), Ok(Outcome::Right(2..))));
    assert!(
        matches!(ask("numbers_of_arguments"), Ok(Outcome::Refused(why)) if why.contains("order"))
    );
}

/// What was measured stands in the tables, and is read as what it is written as: `lanebook check`
/// holds them against it.
#[test]
fn what_is_kept_is_what_the_tables_have() {
    let all = found("sm_90a");
    let text = format!("({})", facts::kept(&all, "h100"));
    for one in all.iter().filter(|one| one.is_kept()) {
        assert!(text.contains(&format!("(name: {:?}, trials: {}", one.name, one.trials)), "{text}");
    }
    let tables = include_str!("../../../hw-tables/nvidia/h100.ron");
    let (mut same, mut rows) = (0, 0);
    for line in text.lines().filter(|line| line.contains("fact: {")) {
        rows += 1;
        let fact = |line: &str| {
            let name = line.split('"').nth(1).map(str::to_string);
            Some((name?, line.split_once("fact: ")?.1.to_string()))
        };
        let own = fact(line).expect("a row");
        let mut kept = tables.lines().filter_map(fact).filter(|row| row.0 == own.0);
        same += usize::from(kept.any(|row| row.1 == own.1));
    }
    assert!(rows > 60 && same == rows, "{same} rows of {rows}");
}
