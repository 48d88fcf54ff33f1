//! Programs: layouts of fragments and loops, inferred.
//!
//! Rules: where TileLang lowers a program and its layouts are sound, lanebook's are the same, or
//! sound as well with no more registers; what TileLang gives up lanebook may accept if its layouts
//! are sound; a layout that is written and must be taken, with the owners that follow from it, is
//! not refused. Shared buffers lie as TileLang has them, or so that the instructions of loops and
//! products together take no more passes of the banks, counted one by one. Sound means, at every point: whoever executes an access holds the element, whoever
//! holds an element that is written writes it, and no two elements lie in one place.

use super::super::{Case, Verdict};
use lanebook::TABLES;
use lanebook_inference_tests::banks::{SharedBeside, shared_beside};
use lanebook_inference_tests::beside::same_as_text;
use lanebook_inference_tests::judge::{Answer, Table, ask, recorded};
use lanebook_inference_tests::program::list;
use lanebook_inference_tests::unit::{arch, figures, unit};
use lanebook_report::memory::LoopMemory;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::HashMap;

/// TileLang's default: registers alone.
const POLICY: &str = "register_count";

thread_local! {
    static MEMORY: RefCell<LoopMemory> = RefCell::new(LoopMemory::default());
}

/// The verdict on one program.
pub fn judge(case: &Case<'_>) -> Verdict {
    let record = case.record;
    let target = record["program"]["target"].as_str().unwrap_or_default();
    let Some(machine) = arch(target).map(figures) else {
        return Verdict::Differ(format!("no architecture {target}"));
    };
    let Some(policy) = TABLES.policy_named(POLICY) else {
        return Verdict::Differ(format!("no policy {POLICY}"));
    };
    let (answer, faults) =
        MEMORY.with_borrow_mut(|memory| ask(memory, &record["program"], machine, policy, &unit));
    if let Some(arch) = arch(target) {
        let text = MEMORY.with_borrow_mut(|memory| {
            same_as_text(memory, &record["program"], arch, policy, &answer)
        });
        if let Err(what) = text {
            return Verdict::Differ(what);
        }
    }
    if let Some(fault) = faults.first() {
        return Verdict::Differ(format!("not sound: {fault}"));
    }
    let result = &record["result"];
    let lowers = result["verdict"] == "lowers";
    let wrong = wrongly(record);
    match answer {
        Answer::Unread(what) if what.starts_with("CONFLICT") && !lowers => {
            Verdict::Refused("two products want one fragment in two layouts")
        }
        Answer::Unread(what) => Verdict::Differ(format!("not read: {what}")),
        Answer::Stopped(why) => {
            let class = ["inference", "lowering"].map(|s| result[s]["class"].as_str());
            if class.into_iter().flatten().any(|c| LIMITS.contains(&c)) {
                return Verdict::Differ(format!("refused at a limit of TileLang's prover: {why}"));
            }
            match (lowers, wrong) {
                (false, _) => {
                    Verdict::Refused("both refuse, TileLang not at a limit of its prover")
                }
                (true, Some(rule)) => Verdict::Refused(rule),
                (true, None) => Verdict::Differ(format!("refused: {why}")),
            }
        }
        Answer::Layouts(buffers, loops) => {
            if let Some(what) = owners(record, &loops) {
                return Verdict::Differ(what);
            }
            if !lowers {
                return Verdict::Ruled("TileLang gives up; accepted, and sound at every point");
            }
            let shared = match arch(target) {
                Some(arch) => MEMORY.with_borrow_mut(|memory| {
                    shared_beside(memory, &record["program"], &result["buffers"], arch, policy)
                }),
                None => Ok(SharedBeside::Unsaid),
            };
            let shared = match shared {
                Ok(shared) => shared,
                Err(what) => return Verdict::Differ(what),
            };
            match compare(result, &buffers, &loops) {
                Ok(Beside::Same) => Verdict::Agree,
                Ok(Beside::SameFragments) => match shared {
                    SharedBeside::Same => Verdict::Agree,
                    SharedBeside::Fewer => Verdict::Ruled(
                        "fragments agree; shared buffers under other layouts, with fewer passes of the banks",
                    ),
                    SharedBeside::Equal => Verdict::Ruled(
                        "fragments agree; shared buffers under other layouts, with as many passes of the banks",
                    ),
                    SharedBeside::Unsaid => Verdict::Skipped(
                        "its fragments agree; the language does not say the program, so shared layouts are not compared",
                    ),
                },
                Ok(Beside::Fewer) => Verdict::Ruled("other layouts, sound, with fewer registers"),
                Ok(Beside::Equal) => Verdict::Ruled("other layouts, sound, with as many registers"),
                Ok(Beside::More(what)) => match wrong {
                    Some(rule) => Verdict::Ruled(rule),
                    None => Verdict::Differ(format!("more registers: {what}")),
                },
                Err(what) => Verdict::Differ(what),
            }
        }
    }
}

/// Why TileLang's layouts are no model, if they are none: by the exact checks of the record.
fn wrongly(record: &Value) -> Option<&'static str> {
    let result = &record["result"];
    for l in list(&result["loops"]) {
        if l["covers_extents"] == false {
            return Some("TileLang's loop does not cover its iterations");
        }
        for check in list(&l["exact_check"]) {
            if check["loop_threads_own"] == false {
                return Some("a thread of TileLang's loop does not hold what it asks for");
            }
            let number = |key: &str| check[key].as_i64();
            if number("iterations") > number("distinct_targets") {
                return Some("iterations store to one place in turn: TileLang spreads them");
            }
            if check["owners_all_write"] == false {
                return Some("in TileLang's loop not all holders of an element write it");
            }
        }
        if l.get("depends_on_outer_vars").is_some_and(|d| !list(d).is_empty())
            && record["cpu_run"]["thread_order_dependent"] == true
        {
            return Some("TileLang's guard lets several threads store");
        }
    }
    for layout in result["buffers"].as_object().into_iter().flat_map(|b| b.values()) {
        let threads = record["program"]["threads"].as_i64().unwrap_or(0);
        let outside = |t: &Table| t.threads.iter().flatten().any(|t| *t < 0 || *t >= threads);
        if recorded(layout).is_ok_and(|table| table.as_ref().is_some_and(outside)) {
            return Some("TileLang's layout names threads that are not there");
        }
        let shape = list(&layout["shape"]);
        let name = list(&record["program"]["buffers"]);
        let declared =
            name.iter().find(|b| result["buffers"][b["name"].as_str().unwrap_or("")] == *layout);
        if declared.is_some_and(|b| list(&b["shape"]) != shape) {
            return Some("TileLang's layout is smaller than the buffer");
        }
    }
    (record["cpu_run"]["match"] == false).then_some("TileLang's kernel gives wrong results")
}

/// Classes of failures that are limits of TileLang's prover, not proofs that no layout exists.
const LIMITS: &[&str] = &[
    "inverse_scale",
    "normalize_iter",
    "iter_divisibility",
    "inverse_not_roundtrip",
    "type_mismatch",
    "no_layout_found",
];

/// Loops whose owners follow from a written layout have those owners.
fn owners(record: &Value, loops: &[Option<Table>]) -> Option<String> {
    for derived in list(record.get("derived_loop_threads")?) {
        let k = usize::try_from(derived["loop"].as_u64()?).ok()?;
        let copies = usize::try_from(derived["replicate"].as_u64()?).ok()?;
        let table = loops.get(k)?.as_ref()?;
        for (point, want) in list(&derived["thread"]).chunks(copies).enumerate() {
            let want = want.iter().filter_map(Value::as_i64).collect();
            let have = table.threads.get(point)?;
            if *have != want {
                return Some(format!("loop {k}, point {point}: {have:?}, not {want:?}"));
            }
        }
    }
    None
}

/// How lanebook's layouts stand beside TileLang's: their registers.
enum Beside {
    Same,
    /// All that is compared is the same; there are layouts of shared memory as well.
    SameFragments,
    Fewer,
    Equal,
    More(String),
}

fn compare(
    result: &Value,
    buffers: &HashMap<String, Table>,
    loops: &[Option<Table>],
) -> Result<Beside, String> {
    let (mut own, mut theirs, mut differs) = (0, 0, String::new());
    let mut shared = false;
    for (name, layout) in result["buffers"].as_object().into_iter().flatten() {
        let Some(table) = recorded(layout)? else {
            shared = true;
            continue;
        };
        let have = buffers.get(name).ok_or_else(|| format!("{name} has no layout"))?;
        own += have.slots();
        theirs += table.slots();
        if have.threads != table.threads {
            differs += &format!("{name} {} for {}; ", have.slots(), table.slots());
        }
    }
    for (k, layout) in list(&result["loops"]).iter().enumerate() {
        let table = recorded(layout)?.ok_or_else(|| format!("loop {k} names no threads"))?;
        let have = loops.get(k).and_then(Option::as_ref);
        let have = have.ok_or_else(|| format!("loop {k} is not spread"))?;
        // A nest that TileLang fused has as many points.
        if have.threads != table.threads {
            differs += &format!("loop {k}; ");
        }
    }
    Ok(match own.cmp(&theirs) {
        _ if differs.is_empty() && own == theirs && shared => Beside::SameFragments,
        _ if differs.is_empty() && own == theirs => Beside::Same,
        std::cmp::Ordering::Less => Beside::Fewer,
        std::cmp::Ordering::Equal => Beside::Equal,
        std::cmp::Ordering::Greater => Beside::More(differs),
    })
}
