//! Pipelines: the passes of `rules/passes.ron` that rewrite tile programs.
//!
//! A pass is a list of rule phases and [analyses](lanebook_passes). Either all of it happens or
//! nothing: when fuel or room runs out, or an analysis refuses, the program is as it was before the
//! pass. Planning and emission (`infer`, `assign`, `place`, `emit`, `check` in a pipeline) are
//! entry points of their own and not run here.

use heapless::VecView;
use lanebook_ir::rewrite::{RunError, Stats, Work, run};
use lanebook_ir::{ErrorKind, Node, Plain, Program, TileGraph};
use lanebook_passes::layout_seeding::{
    self, Appraiser, LayoutSeeding, ProgramPrice, SeedingOptions, SeedingScratch,
};
use lanebook_passes::{self, Analysis, ChoiceError, Event, PassContext, remat};
use lanebook_tables::{Language, Pass, PassStep, Tables};

pub use lanebook_passes::PassError;

/// The pass that folds conversions and pushes them toward loads.
pub const REMOVE_CONVERSIONS: &str = "remove-conversions";

/// Runs a pass over a program. `work` is lent room for nodes to look at; each rewrite costs one
/// unit of `fuel`; `trace` sees every rule that is applied, every change of an analysis, and every
/// finding.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::pipeline::{REMOVE_CONVERSIONS, apply};
///
/// let text = "func @f(%x: memref<64x64xf32, #gmem>) {threads = 128} {
///   %a = tiled_load %x[0, 0] : memref<64x64xf32, #gmem> -> tensor<64x64xf32>
///   %b = convert_layout %a : tensor<64x64xf32> -> tensor<64x64xf32>
///   tiled_store %b, %x[0, 0] : tensor<64x64xf32> -> memref<64x64xf32, #gmem>
/// }";
/// let mut storage = Box::new(SmallStorage::new());
/// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let (mut work, mut fuel) = (heapless::Vec::<_, 64>::new(), 100);
/// apply(&TABLES, REMOVE_CONVERSIONS, &mut program, work.as_mut_view(), &mut fuel, |_| {}).unwrap();
/// // The conversion to the same layout is gone.
/// assert!(program.all().all(|op| program.op_name(op) != "convert_layout"));
/// ```
///
/// # Errors
/// See [`PassError`]; the program is then unchanged.
pub fn apply(
    tables: &Tables<'_>,
    name: &str,
    program: &mut Program<'_, '_>,
    work: &mut VecView<Node>,
    fuel: &mut u32,
    trace: impl FnMut(Event),
) -> Result<Stats, PassError> {
    apply_with(
        tables,
        name,
        program,
        &mut PassScratch {
            work,
            fuel,
            room: None,
            wishes: SeedingOptions::default(),
            appraiser: None,
        },
        trace,
    )
}

/// What a pass works with, lent by the caller.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, parse};
/// use lanebook::layout_seeding::SeedingOptions;
/// use lanebook::pipeline::{PassScratch, REMOVE_CONVERSIONS, apply_with};
///
/// let mut storage = Box::new(SmallStorage::new());
/// let mut program = parse(storage.pools(), &TABLES, "func @f() {threads = 128} {\n}", Options::default()).unwrap();
/// let (mut work, mut fuel) = (heapless::Vec::<_, 64>::new(), 100);
/// // Passes that choose no layouts need no room.
/// let mut lent = PassScratch { work: work.as_mut_view(), fuel: &mut fuel, room: None, wishes: SeedingOptions::default(), appraiser: None };
/// let stats = apply_with(&TABLES, REMOVE_CONVERSIONS, &mut program, &mut lent, |_| {}).unwrap();
/// assert_eq!(stats.applied, 0);
/// ```
#[derive(Debug)]
pub struct PassScratch<'l, 'r> {
    /// Nodes to look at.
    pub work: &'l mut VecView<Node>,
    /// Changes that may be made.
    pub fuel: &'l mut u32,
    /// Room for passes that choose layouts; the others need none.
    pub room: Option<&'l mut SeedingScratch<'r>>,
    /// What they are asked for.
    pub wishes: SeedingOptions,
    /// Who says what the program costs as it is planned, so that passes decide nothing that costs
    /// more than what a planner would decide; they go by shapes alone where there is nobody.
    pub appraiser: Option<&'l mut dyn Appraiser>,
}

/// [`apply`] with room for passes that choose layouts.
///
/// # Errors
/// See [`PassError`]; the program is then unchanged. Layouts that were made meanwhile stay in the
/// room's book, unused.
pub fn apply_with(
    tables: &Tables<'_>,
    name: &str,
    program: &mut Program<'_, '_>,
    lent: &mut PassScratch<'_, '_>,
    mut trace: impl FnMut(Event),
) -> Result<Stats, PassError> {
    let pass = tables.rules.passes.iter().find(|p| p.name == name).ok_or(PassError::Unknown)?;
    let mark = program.mark();
    let mut told = |event: Event| {
        log(tables, event);
        trace(event);
    };
    let outcome = whole(tables, pass, program, lent, &mut told);
    match outcome {
        Ok(_) => program.keep(mark),
        Err(_) => program.undo(mark),
    }
    outcome
}

/// Tells a device's log what is applied, and why.
#[cfg(feature = "defmt")]
fn log(tables: &Tables<'_>, event: Event) {
    match event {
        Event::Rule { rule, at } => defmt::trace!(
            "{=str} at {}: {=str}",
            tables.rules.name(rule),
            at,
            tables.rules.doc(rule)
        ),
        Event::Change { analysis, at } => {
            defmt::trace!("{=str} at {}: {=str}", analysis.name(), at, analysis.reason())
        }
        Event::Finding { diagnostic, at } => defmt::debug!("{}: {=str}", at, diagnostic.text()),
    }
}

#[cfg(not(feature = "defmt"))]
const fn log(_: &Tables<'_>, _: Event) {}

/// All steps of a pass. Where exact cost has the last word, it also judges the whole: steps that
/// made the program dearer together are taken back, and what the last word says of the program as
/// it was counts instead. Who says what the program costs as it is compiled judges both.
fn whole(
    tables: &Tables<'_>,
    pass: &Pass<'_>,
    program: &mut Program<'_, '_>,
    lent: &mut PassScratch<'_, '_>,
    trace: &mut impl FnMut(Event),
) -> Result<Stats, PassError> {
    let last_word = PassStep::Analysis(Analysis::WeighConversions.name());
    let weighed = pass.steps.iter().any(|step| matches!((step, &last_word), (PassStep::Analysis(a), PassStep::Analysis(b)) if a == b));
    if !weighed {
        return steps(tables, pass.steps, program, lent, trace);
    }
    let graph = |kind| PassError::Run(RunError::Graph(kind));
    let before = remat::bill(program).map_err(graph)?.total();
    let own = price(program, lent);
    let mut stats = Stats::default();
    for (steps, is_last) in [(pass.steps, false), (&[last_word][..], true)] {
        let mark = program.mark();
        let found = self::steps(tables, steps, program, lent, trace).and_then(|made| {
            let dearer = remat::bill(program).map_err(graph)?.total() > before;
            Ok((made, made.applied > 0 && dearer && !is_last))
        });
        let (made, dearer) = match found {
            Ok(found) => found,
            Err(error) => {
                program.undo(mark);
                return Err(error);
            }
        };
        stats.visited = stats.visited.saturating_add(made.visited);
        let mut worse = || match (own, price(program, lent)) {
            (Some(own), Some(found)) => !found.is_at_most(own),
            (own, found) => own.is_some() && found.is_none(),
        };
        if dearer || made.applied > 0 && worse() {
            program.undo(mark);
            continue;
        }
        stats.applied = stats.applied.saturating_add(made.applied);
        program.keep(mark);
        break;
    }
    Ok(stats)
}

/// What the program costs as it is compiled, where somebody says so; layouts that passes made are
/// written by whoever keeps them.
fn price(program: &Program<'_, '_>, lent: &mut PassScratch<'_, '_>) -> Option<ProgramPrice> {
    let appraiser = lent.appraiser.as_mut()?;
    match &lent.room {
        Some(room) => appraiser.price(program, &room.book),
        None => appraiser.price(program, &Plain),
    }
}

#[inline(never)]
fn steps(
    tables: &Tables<'_>,
    steps: &[PassStep<'_>],
    program: &mut Program<'_, '_>,
    lent: &mut PassScratch<'_, '_>,
    trace: &mut impl FnMut(Event),
) -> Result<Stats, PassError> {
    let mut total = Stats::default();
    for step in steps {
        let (phase, sweeps) = match *step {
            PassStep::Rules { phase, sweeps } => (phase, sweeps),
            PassStep::Analysis(name) => {
                let Some(analysis) = Analysis::named(name) else { continue };
                let wishes = lent.wishes;
                let appraiser: Option<&mut dyn Appraiser> = match &mut lent.appraiser {
                    Some(appraiser) => Some(&mut **appraiser),
                    None => None,
                };
                let mut cx = PassContext::new(program, lent.work, lent.fuel, trace);
                let changes = match (analysis, &mut lent.room) {
                    (Analysis::WeighConversions, _) => {
                        cx.begin(analysis);
                        remat::run(&mut cx)
                    }
                    (analysis, _) if !layout_seeding::chooses(analysis) => {
                        lanebook_passes::run(&mut cx, analysis)
                    }
                    (analysis, Some(room)) => layout_seeding::run(
                        &mut LayoutSeeding { cx: &mut cx, tables, room, wishes, appraiser },
                        analysis,
                    ),
                    (_, None) => Err(PassError::Choice(ChoiceError::NoRoom)),
                }?;
                total.applied = total.applied.saturating_add(changes);
                continue;
            }
        };
        for _ in 0..sweeps {
            let stats = sweep(tables, phase, program, lent.work, lent.fuel, trace)
                .map_err(PassError::Run)?;
            total.visited = total.visited.saturating_add(stats.visited);
            total.applied = total.applied.saturating_add(stats.applied);
            if stats.applied == 0 {
                break;
            }
        }
    }
    Ok(total)
}

#[inline(never)]
fn sweep(
    tables: &Tables<'_>,
    phase: u8,
    program: &mut Program<'_, '_>,
    work: &mut VecView<Node>,
    fuel: &mut u32,
    trace: &mut impl FnMut(Event),
) -> Result<Stats, RunError<ErrorKind>> {
    let Some(set) = tables.rules.set(Language::Tile, None, phase) else {
        return Ok(Stats::default());
    };
    let mut work = Work::new(work);
    let mut graph = TileGraph::new(program);
    graph.push_all_last_first(&mut work)?;
    run(&mut graph, &tables.rules, set, &mut work, fuel, |rule, at| trace(Event::Rule { rule, at }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TABLES;
    use lanebook_ir::{Options, SmallStorage, parse, print, verify};
    use std::boxed::Box;
    use std::string::String;

    const TEXT: &str =
        "func @f(%A: memref<?x?xf32, #gmem>, %B: memref<?x?xf32, #gmem>) {threads = 64} {
  %s = alloc_tensor : tensor<64x64xf32, #smem>
  copy %A[0, 0], %s : memref<?x?xf32, #gmem> -> tensor<64x64xf32, #smem>
  %t = tiled_load %s : tensor<64x64xf32, #smem> -> tensor<64x64xf32, #x>
  %u = convert_layout %t : tensor<64x64xf32, #x> -> tensor<64x64xf32, #y>
  %v = convert_layout %u : tensor<64x64xf32, #y> -> tensor<64x64xf32, #z>
  tiled_store %v, %B[0, 0] : tensor<64x64xf32, #z> -> memref<?x?xf32, #gmem>
}
";

    fn with_program<R>(f: impl FnOnce(&mut Program<'_, '_>) -> R) -> R {
        let mut storage = Box::new(SmallStorage::new());
        let mut program =
            parse(storage.pools(), &TABLES, TEXT, Options::default()).expect("it parses");
        f(&mut program)
    }

    fn text(program: &Program<'_, '_>) -> String {
        let mut out = String::new();
        print(program, &Plain, &mut out).expect("it prints");
        out
    }

    #[test]
    fn conversions_vanish_into_the_load() {
        with_program(|program| {
            let mut work = heapless::Vec::<Node, 64>::new();
            let mut fuel = 100;
            let mut applied = 0;
            let stats =
                apply(&TABLES, REMOVE_CONVERSIONS, program, work.as_mut_view(), &mut fuel, |_| {
                    applied += 1
                })
                .expect("it runs");
            assert_eq!(stats.applied, applied);
            assert!(applied >= 2, "two conversions, two rules at least");
            verify(program).expect("still well formed");
            let out = text(program);
            assert!(!out.contains("convert_layout"), "{out}");
            assert!(out.contains("tensor<64x64xf32, #z>"), "{out}");
        });
    }

    #[test]
    fn without_fuel_or_room_nothing_changes() {
        for (fuel, room) in [(0u32, 64usize), (1, 64), (100, 2)] {
            with_program(|program| {
                let before = text(program);
                let (mut large, mut small) =
                    (heapless::Vec::<Node, 64>::new(), heapless::Vec::<Node, 2>::new());
                let work = if room > 2 { large.as_mut_view() } else { small.as_mut_view() };
                let mut left = fuel;
                let outcome = apply(&TABLES, REMOVE_CONVERSIONS, program, work, &mut left, |_| {});
                assert!(matches!(outcome, Err(PassError::Run(_))), "fuel {fuel}, room {room}");
                assert_eq!(text(program), before, "fuel {fuel}, room {room}");
            });
        }
    }

    #[test]
    fn unknown_passes_are_refused() {
        with_program(|program| {
            let mut work = heapless::Vec::<Node, 8>::new();
            let mut fuel = 1;
            assert_eq!(
                apply(&TABLES, "no-such-pass", program, work.as_mut_view(), &mut fuel, |_| {}),
                Err(PassError::Unknown)
            );
        });
    }
}
