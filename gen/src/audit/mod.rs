//! The audit: what a build does not ask for and an author of tables wants to know.
//!
//! A build refuses what is wrong in itself ([`crate::check`]). The audit holds facts against each
//! other that a build may leave apart, and says what is most likely not meant: registers that two
//! atoms hand each other, the same instruction twice, atoms that no architecture has, immediates
//! that reach too far. Every check has a name ([`CHECKS`]) and a level; nothing here changes
//! anything, starts a program or knows a name of the tables.
pub mod accumulate;
mod accuracy;
pub mod against;
pub mod agree;
mod aliases;
pub mod answers;
mod atomics;
pub mod cannot;
pub mod choices;
pub mod claims;
mod closed;
mod computed;
pub mod conflicts;
pub mod covered;
pub mod dispatch;
mod done;
pub mod duplicate;
mod evaluate;
pub mod example;
pub mod facts;
mod families;
pub mod fences;
mod field;
mod figured;
pub mod figures;
mod foreign;
pub mod format;
mod forms;
mod frame;
pub mod hazards;
mod kernels;
pub mod kin;
pub mod limits;
pub mod listed;
pub mod maps;
pub mod meaning;
pub mod measured;
pub mod operations;
pub mod order;
mod packed;
mod parts;
mod paths;
pub mod pipelines;
pub mod priorities;
pub mod reach;
pub mod registers;
pub mod remembered;
mod retold;
pub mod roles;
mod served;
pub mod siblings;
mod sides;
pub mod spelling;
pub mod swizzle;
mod taken;
pub mod tensor;
mod terms;
pub mod twice;
pub mod types;
pub mod verdicts;
pub mod waits;
pub mod weights;
pub mod whole;
mod wording;

pub use crate::pattern::fits;

use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::partial_model::PartialModel;

/// A check by the name that its findings carry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// How bad its findings are.
    pub level: Level,
    /// What it demands, one sentence.
    pub about: &'static str,
}

const fn check(name: &'static str, level: Level, about: &'static str) -> Check {
    Check { name, level, about }
}

/// The check that a caller runs with what packs the descriptors, the library.
pub const ENCODINGS: &str = "encodings";
/// The check that a caller runs with what plans, the library.
pub const PLAN: &str = "plan";
/// The check that a caller runs with [`crate::assemble`], since it starts programs.
pub const ASSEMBLER: &str = "assembler";
/// The check that a caller runs, since it knows what was asked for.
pub const COMPLETE: &str = "complete";
/// The check that a caller runs, since it knows what is not to be shown.
pub const SUPPRESSIONS: &str = "suppressions";
/// Checks that miss something: they can only be held against tables without errors.
pub const WHOLE: [&str; 5] = ["unreachable", "unused", "kin", "cannot", "verdicts"];

/// Every check in the order in which they run: the compiler's stages and checks, then the audit's
/// own.
pub const CHECKS: [Check; 64] = [
    check("files", Level::Error, "Every input file can be read."),
    check(
        "schema",
        Level::Error,
        "Every entry is RON with known fields and words, and none is missing.",
    ),
    check(
        "names",
        Level::Error,
        "Names are declared once, known where they are used, and layouts and templates are well formed.",
    ),
    check(
        "operands",
        Level::Error,
        "Operands are what their role says, and an atom has the parts that its class asks for.",
    ),
    check(
        "template",
        Level::Error,
        "A template names the operands of its atom, and every one that is not implicit.",
    ),
    check(
        "movement",
        Level::Error,
        "Both sides of a movement cover the same coordinates in the axes of their spaces.",
    ),
    check("matrix", Level::Error, "Matrix operands have the extents of the shape."),
    check(
        "coverage",
        Level::Error,
        "Every register bit and every byte holds one element, and none is left out unsaid.",
    ),
    check("banks", Level::Error, "The groups of a bank model partition the lanes or slots."),
    check(
        "archs",
        Level::Error,
        "An architecture has the instruction set, wave size, banks and frame that its atoms ask for.",
    ),
    check(
        "sync",
        Level::Error,
        "Synchronisation, counters and hazards speak of atoms and operands that are there.",
    ),
    check(
        "units",
        Level::Error,
        "Descriptors, swizzle modes, operand tiles and tensor memory are whole, and name only what is there.",
    ),
    check(
        "rules",
        Level::Error,
        "Rules are well formed, do not overlap unsaid, and make progress.",
    ),
    check(
        "words",
        Level::Error,
        "What an atom does is an elementwise operation or a known step, with the operands that it takes.",
    ),
    check("ledger", Level::Error, "Every atom has a stable number, and numbers are never reused."),
    check("proofs", Level::Error, "Every rule that needs a proof has a current certificate."),
    check(
        "dispatch",
        Level::Error,
        "The index of what an architecture can do and its atoms say the same, and each capability has a number of its own.",
    ),
    check(
        "agreement",
        Level::Error,
        "Registers that a mover hands to a matrix instruction hold the elements that it expects.",
    ),
    check(
        "accumulator",
        Level::Error,
        "A matrix instruction keeps an element of C where it keeps that of D, and has A and B in one order along the depth, rows of A in the warps of D.",
    ),
    check("spelling", Level::Error, "Shapes, types and widths in a text are those of its atom."),
    check(
        "meaning",
        Level::Error,
        "An instruction does what its text says in words, to operands in the order of the text.",
    ),
    check(
        "roles",
        Level::Error,
        "Operands are read and written as texts, movements and products have them.",
    ),
    check(
        "siblings",
        Level::Error,
        "Accesses that are alike in text and width agree in alignment, banks, counter and offset.",
    ),
    check(
        "figures",
        Level::Error,
        "Cycles go with passes, sizes are whole, and what belongs to an instruction set is the same in it.",
    ),
    check(
        "hazards",
        Level::Error,
        "Wait states grow with the time that an instruction runs, and hold for both factors.",
    ),
    check(
        "waits",
        Level::Error,
        "Wait states are those that another compiler puts between the same two instructions.",
    ),
    check(
        "measured",
        Level::Error,
        "What a machine was asked about is as it was then, and who cites a machine was asked about.",
    ),
    check(
        "answers",
        Level::Error,
        "Instructions and units are as the records of other programs and of measurements have them.",
    ),
    check(
        "order",
        Level::Error,
        "Accesses go the way that their kind says, and what they count is waited for.",
    ),
    check(
        "tensor",
        Level::Error,
        "Tiles and moves of tensor memory fill its lanes and their registers, and shapes fit them.",
    ),
    check(
        "swizzle",
        Level::Error,
        "Swizzle modes follow their formula, tiles their mode, and codes one another.",
    ),
    check(
        "claims",
        Level::Error,
        "Every number and register of an instruction has a part in what it does, and one alone.",
    ),
    check(
        "conflicts",
        Level::Error,
        "Accesses that conflict have a rule, and rules and counters are of what there is.",
    ),
    check(
        "whole",
        Level::Error,
        "Parts of one entry imply each other: class, crossing of lanes, what is moved, first tags, lists.",
    ),
    check(
        "maps",
        Level::Error,
        "Tensor maps of one encoding agree, and their numbers leave no gap.",
    ),
    check("limits", Level::Error, "Limits of operands are there for one block and for a pair."),
    check(
        "types",
        Level::Error,
        "Element types are what their names and the standards say; an operation's operands have one.",
    ),
    check(
        "operations",
        Level::Error,
        "Operations have what their role has, are taken as they are declared, and are done to all types of a family.",
    ),
    check(
        "registers",
        Level::Error,
        "A kernel's frame has registers and steps of its own for each place.",
    ),
    check(
        "choices",
        Level::Error,
        "How layouts are chosen agrees with itself, with operations and with machines.",
    ),
    check(
        "weights",
        Level::Error,
        "Weights of costs are to one another as what is known of them says.",
    ),
    check(
        "passes",
        Level::Error,
        "Pipelines have their stages, and go through phases in one order and equally often.",
    ),
    check(
        "priorities",
        Level::Error,
        "Of two rules that fit one term that comes first which is special, or leaves less to compute.",
    ),
    check("twice", Level::Error, "No entry of a list stands there again."),
    check("format", Level::Error, "A template survives being encoded and decoded."),
    check(
        "immediate",
        Level::Error,
        "Offsets fit 32 bits after scaling, and their range is one that a bit field can have.",
    ),
    check(
        "alignment",
        Level::Error,
        "Addresses are aligned no more than a slot is long, and tuples fit their class.",
    ),
    check(
        "capacity",
        Level::Error,
        "A side has no more address slots than its bank model, which is of what a lane accesses, in each architecture that has it.",
    ),
    check(
        "duplicate",
        Level::Warning,
        "No architecture has the same instruction form under two names.",
    ),
    check("unreachable", Level::Warning, "Every atom is in an architecture."),
    check("unused", Level::Error, "Everything that is declared is used."),
    check(
        "kin",
        Level::Note,
        "What operations, passes and rules ask for, and most of a family of architectures can do, each of them can do.",
    ),
    check(
        "cannot",
        Level::Note,
        "What operations, passes and rules ask for is answered: what no program can have is said.",
    ),
    check(
        PLAN,
        Level::Note,
        "Waves, threads, matrix extents, banks and movements are such as the planner can use.",
    ),
    check(
        "verdicts",
        Level::Error,
        "Assemblers have judged every text as it stands, and what each architecture claims.",
    ),
    check("listed", Level::Warning, "Lists stand in the order of what they name."),
    check("evidence", Level::Error, "A fact that departs from its document says why."),
    check("status", Level::Note, "Facts that are contested or assumed."),
    check(
        ENCODINGS,
        Level::Error,
        "Every descriptor is packed and read again: the ends and the named values of each field.",
    ),
    check(
        ASSEMBLER,
        Level::Error,
        "An assembler takes what an architecture has and refuses what it has not (where one is found).",
    ),
    check(
        COMPLETE,
        Level::Error,
        "What was asked for can be judged in full: no error elsewhere is in the way.",
    ),
    check(
        SUPPRESSIONS,
        Level::Warning,
        "Suppressions and baselines speak of what is found, and no longer than they say.",
    ),
    check(
        "change",
        Level::Note,
        "Facts that differ from another version of the tables (--against).",
    ),
    check(
        "pick",
        Level::Note,
        "Choices for the example programs that differ from another version's (--against).",
    ),
];

/// The check with a name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Check> {
    CHECKS.iter().find(|check| check.name == name)
}

/// One of the audit's own checks with its name.
type Run = (&'static str, fn(&Compiled) -> Diagnostics);

/// The audit's own checks. Each can be run alone.
pub const ALL: [Run; 41] = [
    ("dispatch", dispatch::check),
    ("agreement", agree::check),
    ("accumulator", accumulate::check),
    ("spelling", spelling::check),
    ("meaning", meaning::check),
    ("roles", roles::check),
    ("siblings", siblings::check),
    ("figures", figures::check),
    ("hazards", hazards::check),
    ("waits", waits::check),
    ("measured", measured::check),
    ("answers", answers::check),
    ("order", order::check),
    ("tensor", tensor::check),
    ("swizzle", swizzle::check),
    ("claims", claims::check),
    ("conflicts", conflicts::check),
    ("whole", whole::check),
    ("maps", maps::check),
    ("limits", limits::check),
    ("types", types::check),
    ("operations", operations::check),
    ("registers", registers::check),
    ("choices", choices::check),
    ("weights", weights::check),
    ("passes", pipelines::check),
    ("priorities", priorities::check),
    ("twice", twice::check),
    ("format", format::check),
    ("immediate", field::immediates),
    ("alignment", field::alignment),
    ("capacity", field::capacity),
    ("duplicate", duplicate::check),
    ("unreachable", reach::unreachable),
    ("unused", reach::unused),
    ("kin", kin::check),
    ("cannot", cannot::check),
    ("verdicts", verdicts::check),
    ("listed", listed::check),
    ("evidence", facts::evidence),
    ("status", facts::status),
];

/// Runs the audit's own checks on tables that compile.
#[must_use]
pub fn run(compiled: &Compiled) -> Diagnostics {
    let mut out = Diagnostics::new();
    for (name, check) in ALL {
        out.extend(check(compiled).named(name));
    }
    out
}

/// Runs them on the sound part of tables that do not compile, but for what can be said of the whole
/// only. A note says so.
#[must_use]
pub fn run_part(part: &PartialModel) -> Diagnostics {
    let mut out = Diagnostics::new();
    for (name, check) in ALL.iter().filter(|(name, _)| !WHOLE.contains(name)) {
        // What lacks a name may lack one that is left out.
        check(&part.compiled)
            .named(name)
            .iter()
            .filter(|one| one.lacks.is_none())
            .for_each(|one| out.push(one.clone()));
    }
    let left_out = part.left_out.summary();
    let left_out =
        if left_out.is_empty() { String::new() } else { format!(" (left out: {left_out})") };
    let message = format!(
        "the audit's own checks saw the sound part only{left_out}, {} not even that",
        WHOLE.map(|name| format!("`{name}`")).join(", ")
    );
    out.push(Diagnostic {
        check: COMPLETE,
        ..Diagnostic::nowhere(message)
            .help("mend the errors and run it again")
            .as_level(Level::Note)
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_that_runs_is_listed() {
        for name in
            ALL.iter().map(|(name, _)| *name).chain(crate::check::ALL.iter().map(|(name, _)| *name))
        {
            assert!(named(name).is_some(), "{name}");
        }
    }
}
