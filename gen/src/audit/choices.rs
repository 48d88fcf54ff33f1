//! How layouts are chosen agrees with itself, with the operations and with the machines.
//!
//! Candidates: what moves a tile goes from or to the memory that the entry is of, a layout's family
//! goes with where the tile lies, and each place of a product is in one entry of its kind. Accesses
//! through pointers have these in one place, and write as their operation does. Operations mean
//! what their names say. Matrix units: versions of one kind follow each other, each architecture
//! that a module can name and that multiplies matrices has one.
use super::{aliases, atomics};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::Arch;
use crate::rules::seeding::{AccessEntry, CandidateEntry, SeedingFile, UnitEntry};
use crate::schema::Name;
use crate::source::Span;
use lanebook_tables::{IndexWord, OpId, OpRole, Space};
use std::collections::BTreeMap;

/// What is in names of operations, and the word for what these do to runs of neighbours.
const TOKENS: [(&str, &str); 17] = [
    ("range", "range"),
    ("add", "add"),
    ("sub", "sub"),
    ("mul", "mul"),
    ("div", "div"),
    ("rem", "rem"),
    ("and", "and"),
    ("or", "or"),
    ("xor", "xor"),
    ("shl", "shl"),
    ("shrs", "ashr"),
    ("shr", "shr"),
    ("max", "extremum"),
    ("min", "extremum"),
    ("cmp", "compare"),
    ("select", "select"),
    ("ptr", "pointer"),
];
/// What does not change a run.
const SAME: &str = "same";
/// What a tile is to a product, and nothing.
const AXES: [&str; 5] = ["a", "b", "c", "d", "free"];
/// The factors of a product.
const FACTORS: [&str; 2] = ["a", "b"];

/// What is in the names of operations that read memory, and of those that write it.
const READS: [&str; 1] = ["load"];
const WRITES: [&str; 3] = ["store", ATOMIC, "copy"];
/// What is in the names of those that combine with what is there.
const ATOMIC: &str = "atomic";
/// What is computed of indices that runs of neighbours follow from, and what is done without signs.
const FOLLOWED: [&str; 5] = ["add", "sub", "mul", "div", "rem"];
const UNSIGNED: &str = "_unsigned";

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let seeding = &compiled.rules.seeding;
    aliases::check(compiled, &mut diags);
    atomics::check(seeding, &mut diags);
    by_hand(compiled, &mut diags);
    meanings(seeding, &mut diags);
    meant(compiled, &mut diags);
    alike(seeding, &mut diags);
    accesses(compiled, &mut diags);
    units(compiled, &mut diags);
    for entry in &compiled.rules.candidates {
        goes(entry, &mut diags);
    }
    covered(&compiled.rules.candidates, &mut diags);
    aligned(&compiled.rules.candidates, &mut diags);
    diags
}

/// What no program has is no operation that one may have.
fn by_hand(compiled: &Compiled, diags: &mut Diagnostics) {
    let ops = &compiled.rules.ops;
    for name in &compiled.rules.seeding.by_hand {
        if let Some(op) = ops.named(&name.value).and_then(|id| ops.get(id)) {
            diags.push(
                Diagnostic::at(name.span, format!("`{}` is declared", name.value))
                    .note(op.entry.name.span, "here")
                    .help("what is declared is taken or refused as its contract says: remove it from `by_hand`"),
            );
        }
    }
}

/// Operations mean what their names say.
fn meanings(seeding: &SeedingFile, diags: &mut Diagnostics) {
    for (op, word) in &seeding.meanings {
        let last = op.value.rsplit('.').next().unwrap_or_default();
        // The longest counts, of two as long the one that stands behind.
        let said = TOKENS
            .iter()
            .filter_map(|(token, word)| Some((token.len(), last.rfind(token)?, *word)))
            .max()
            .map_or(SAME, |(_, _, word)| word);
        if said != word.value.0 {
            let message = format!("`{}` is said to be `{}`", op.value, word.value.0);
            diags.push(
                Diagnostic::at(word.span, message)
                    .note(op.span, format!("its name says `{said}`"))
                    .help("correct the operation or the word"),
            );
        }
    }
}

/// What is computed of indices that runs of neighbours follow from is said to do it to them.
fn meant(compiled: &Compiled, diags: &mut Diagnostics) {
    let (ops, meanings) = (&compiled.rules.ops, &compiled.rules.seeding.meanings);
    let Some((first, _)) = meanings.first() else { return };
    let said: Vec<_> = meanings.iter().filter_map(|(op, _)| ops.named(&op.value)).collect();
    for (number, op) in (0u16..).zip(&ops.list) {
        let spelled = IndexWord::NAMES.iter().find(|(word, _)| Some(*word) == op.index);
        let follows = spelled.is_some_and(|(_, name)| {
            FOLLOWED.contains(&name.strip_suffix(UNSIGNED).unwrap_or(name))
        });
        if follows && !said.contains(&OpId(number)) {
            let message =
                format!("nothing says what `{}` does to runs of neighbours", op.entry.name.value);
            diags.push(
                Diagnostic::at(first.span, message)
                    .note(op.entry.name.span, "the operation")
                    .help("add it to `meanings`: runs are lost where it stands"),
            );
        }
    }
}

/// Accesses whose names say the same take as many elements at once.
fn alike(seeding: &SeedingFile, diags: &mut Diagnostics) {
    let most = |one: &AccessEntry| -> Vec<(String, u16)> {
        one.most.iter().map(|(isa, most)| (isa.value.clone(), *most)).collect()
    };
    let atomic = seeding.accesses.iter().filter(|one| one.op.value.contains(ATOMIC));
    let atomic: Vec<&AccessEntry> = atomic.collect();
    for pair in atomic.windows(2) {
        if pair[0].most.is_empty() != pair[1].most.is_empty() {
            let (limited, free) =
                if pair[0].most.is_empty() { (pair[1], pair[0]) } else { (pair[0], pair[1]) };
            let message = format!(
                "`{}` takes any number of elements, and `{}` {:?}",
                free.op.value,
                limited.op.value,
                most(limited)
            );
            diags.push(
                Diagnostic::at(free.op.span, message).note(limited.op.span, "beside this").help(
                    "what machines do to one element at a time is limited alike: state `most`",
                ),
            );
        }
    }
}

/// Accesses through pointers.
fn accesses(compiled: &Compiled, diags: &mut Diagnostics) {
    let all = &compiled.rules.seeding.accesses;
    let Some(first) = all.first() else { return };
    let most = all.iter().find(|one| !one.most.is_empty());
    for one in all {
        let mut say = |message: String, note: Span, help: &str| {
            let message = format!("`{}` {message}", one.op.value);
            diags.push(Diagnostic::at(one.op.span, message).note(note, "beside this").help(help));
        };
        if one.pointer != first.pointer {
            say(
                format!("has its pointers in operand {}, others in {}", one.pointer, first.pointer),
                first.op.span,
                "pointers are the same operand everywhere: correct one of them",
            );
        }
        let counts = |entry: &crate::rules::seeding::AccessEntry| -> Vec<u16> {
            entry.most.iter().map(|(_, most)| *most).collect()
        };
        if let Some(other) = most.filter(|other| {
            !one.most.is_empty()
                && (counts(one) != counts(other) || one.most.len() != other.most.len())
        }) {
            say(
                "takes other numbers of elements than what is limited beside it".into(),
                other.op.span,
                "what machines do to one element at a time is limited alike: correct `most`",
            );
        }
        let ops = &compiled.rules.ops;
        let Some(op) = ops.named(&one.op.value).and_then(|id| ops.get(id)) else {
            let has = |word: &&&str| one.op.value.contains(**word);
            let (reads, writes) = (READS.iter().find(has), WRITES.iter().find(has));
            if let Some(word) = if one.writes { reads.filter(|_| writes.is_none()) } else { writes }
            {
                let what = format!("has `{word}` in its name, and `writes` is {}", one.writes);
                say(what, one.op.span, "correct `writes`, or the operation");
            }
            continue;
        };
        let writes = matches!(op.role, OpRole::Store | OpRole::Atomic | OpRole::Copy);
        let reads = matches!(op.role, OpRole::Load);
        if (writes && !one.writes) || (reads && one.writes) {
            say(
                format!("is {:?}, and `writes` is {}", op.role, one.writes),
                op.entry.name.span,
                "correct `writes`, or the operation",
            );
        }
    }
}

/// Matrix units.
fn units(compiled: &Compiled, diags: &mut Diagnostics) {
    let (units, model) = (&compiled.rules.seeding.units, &compiled.model);
    let mut by_kind: BTreeMap<&str, Vec<&UnitEntry>> = BTreeMap::new();
    for unit in units {
        by_kind.entry(unit.accumulators.value.0.as_str()).or_default().push(unit);
    }
    let vendor = |unit: &UnitEntry| {
        let arch = unit.archs.iter().find_map(|name| model.arch_named(name));
        arch.map(|arch| arch.vendor.clone())
    };
    let mut say = |at: Span, note: Span, message: String, help: &str| {
        diags.push(Diagnostic::at(at, message).note(note, "beside this").help(help));
    };
    for (kind, of) in &by_kind {
        for pair in of.windows(2) {
            let [one, two] = pair else { continue };
            if vendor(one) == vendor(two) && two.version.0 != one.version.0 + 1 {
                say(
                    two.accumulators.span,
                    one.accumulators.span,
                    format!(
                        "version {} of `{kind}` comes behind version {}",
                        two.version.0, one.version.0
                    ),
                    "versions of one kind follow each other: correct `version`, or name what is between",
                );
            }
        }
        let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
        for name in of.iter().flat_map(|unit| &unit.archs) {
            if let Some(other) = seen.insert(name.as_str(), name.span) {
                say(
                    name.span,
                    other,
                    format!("`{}` has two units of kind `{kind}`", name.value),
                    "an architecture has one of each kind: remove one",
                );
            }
        }
    }
    for (at, unit) in units.iter().enumerate() {
        let own = unit.accumulators.span;
        let same = units.iter().take(at).find(|other| vendor(other) == vendor(unit));
        if let Some(other) = same.filter(|other| other.transposes != unit.transposes) {
            say(
                own,
                other.accumulators.span,
                "one unit of a vendor transposes its product, another does not".into(),
                "texts of one vendor ask in one way: correct `transposes`",
            );
        }
        let tensor = unit.ops.is_some();
        let lacks = unit.archs.iter().find(|name| {
            let arch = model.arch_named(name);
            tensor && arch.is_some_and(|arch| !moves_to_tensor(compiled, arch))
        });
        if let Some(name) = lacks {
            say(
                name.span,
                own,
                format!("`{}` has no tensor memory, where the sums of this unit are", name.value),
                "remove it from `archs`, or add what moves tiles there",
            );
        }
        let odd = [
            (unit.fills != (unit.scaled_lane > 0), "`fills` goes with `scaled_lane`"),
            (unit.transposes != (unit.lane > 0), "`lane` goes with `transposes`"),
            (tensor != (unit.most_warps > 0), "`most_warps` goes with sums in tensor memory"),
            (
                unit.scaled_lane > 0 && unit.scaled_lane < unit.lane,
                "`scaled_lane` is no less than `lane`",
            ),
            (unit.lane > 0 && !unit.lane.is_power_of_two(), "`lane` is a power of two"),
            (tensor && !unit.most_warps.is_power_of_two(), "`most_warps` is a power of two"),
        ];
        for (_, what) in odd.into_iter().filter(|(wrong, _)| *wrong) {
            say(own, own, format!("{what}, and here it does not hold"), "correct one of them");
        }
    }
    named(compiled, diags);
}

/// Whether an architecture moves tiles to or from tensor memory.
fn moves_to_tensor(compiled: &Compiled, arch: &Arch) -> bool {
    let movements =
        arch.atoms.iter().filter_map(|entry| compiled.model.atom(entry.atom).movement.as_ref());
    let mut sides = movements.flat_map(|movement| [&movement.from, &movement.to]);
    sides.any(|side| side.space == Space::Tensor)
}

/// Each architecture that a module can name and that multiplies matrices has a unit, from the
/// first one of its vendor on that has one.
fn named(compiled: &Compiled, diags: &mut Diagnostics) {
    let (seeding, model) = (&compiled.rules.seeding, &compiled.model);
    let number = |name: &str| -> u32 {
        let digits = name.chars().skip_while(|c| !c.is_ascii_digit());
        let digits: String = digits.take_while(char::is_ascii_digit).collect();
        digits.parse().unwrap_or_default()
    };
    let has: Vec<&Name> = seeding.units.iter().flat_map(|unit| &unit.archs).collect();
    for (target, name) in &seeding.targets {
        let Some(arch) = model.arch_named(name) else { continue };
        let first = has
            .iter()
            .filter(|other| model.arch_named(other).is_some_and(|one| one.vendor == arch.vendor))
            .map(|other| number(other))
            .min();
        let multiplies = arch.atoms.iter().any(|entry| {
            let atom = model.atom(entry.atom);
            atom.matrix.is_some() && atom.class == lanebook_tables::AtomClass::Matrix
        });
        let listed = has.iter().any(|other| other.value == name.value);
        if multiplies && !listed && first.is_some_and(|first| first <= number(name)) {
            let message = format!("`{}` multiplies matrices, and no unit is of it", name.value);
            diags.push(
                Diagnostic::at(target.span, message)
                    .note(arch.name.span, "the architecture")
                    .help("name it in `archs` of a unit of rules/seeding.ron"),
            );
        }
    }
}

/// From where to where a candidate moves its tile, and in which layouts it lies.
fn goes(entry: &CandidateEntry, diags: &mut Diagnostics) {
    let word = |word: &crate::spanned::Spanned<crate::rules::schema::Bare>| word.value.0.clone();
    let (role, memory, bucket) = (word(&entry.role), word(&entry.memory), word(&entry.bucket));
    let (from, to) = (word(&entry.movers.0), word(&entry.movers.1));
    let family = word(&entry.family);
    let mut say = |wrong: bool, span: Span, message: &str, help: &str| {
        if wrong {
            diags.push(Diagnostic::at(span, format!("{role} of {memory}: {message}")).help(help));
        }
    };
    let own = match role.as_str() {
        "load" => from == memory,
        "store" | "atomic" => to == memory,
        _ => from == memory || to == memory,
    };
    say(
        !own,
        entry.memory.span,
        "its movers go elsewhere",
        "a load comes from its memory, a store goes there: correct `movers`, `memory` or `role`",
    );
    let touches = from == "register" || to == "register";
    say(
        touches != (bucket == "register"),
        entry.bucket.span,
        "its tile does not lie where its movers bring it",
        "a tile is in registers where a mover goes from or to them: correct `bucket` or `movers`",
    );
    say(
        (bucket == "memory") != (family == "shared"),
        entry.family.span,
        "its layouts are not of where its tile lies",
        "a tile that stays in memory has a layout of shared memory, one in registers has not",
    );
    let free = entry.axes.iter().any(|axis| axis.value.0 == "free");
    say(
        (role == "index") != (memory == "register"),
        entry.role.span,
        "tiles of indices live in registers, and nothing else does",
        "write `index` for them, or the memory that is moved from or to",
    );
    let places = entry.axes.iter().map(|axis| AXES.iter().position(|one| *one == axis.value.0));
    let places: Vec<_> = places.collect();
    say(
        places.windows(2).any(|two| two[0] > two[1]),
        entry.role.span,
        "its axes do not stand in the order of a product",
        "list them as a, b, c, d, free",
    );
    let product = family == "dot_operand";
    say(
        product && free,
        entry.family.span,
        "what is part of no product has fragments",
        "fragments are of operands: correct `family` or `axes`",
    );
    let apart = [("global", "blocked"), ("tensor", "linear"), ("register", "linear")];
    let wanted = apart.iter().find(|(space, _)| *space == memory).map(|(_, family)| *family);
    say(
        wanted.is_some_and(|wanted| wanted != family),
        entry.family.span,
        "another family of layouts goes with this memory",
        "rows in global memory are blocked, tensor memory and indices have linear layouts",
    );
    let expected = product || free || memory != "shared" || bucket == "memory" || role == "atomic";
    say(
        !expected,
        entry.family.span,
        "operands in registers out of shared memory are fragments",
        "write `dot_operand`",
    );
    say(
        entry.bulk && (touches || entry.align < 16),
        entry.role.span,
        "what goes by a descriptor touches registers or is hardly aligned",
        "descriptors move from memory to memory, at least 16 bytes at once",
    );
    say(
        !entry.bulk && bucket == "memory" && from == to,
        entry.role.span,
        "a tile is read where it lies without a descriptor",
        "what stays where it is is read by a descriptor: `bulk: true`",
    );
}

/// Candidates of one kind.
type Kind = (String, String, String, bool);

/// Each place of a product is in one entry of a kind; what stays in memory is of factors.
fn covered(all: &[CandidateEntry], diags: &mut Diagnostics) {
    let mut kinds: BTreeMap<Kind, Vec<(&str, Span)>> = BTreeMap::new();
    for entry in all {
        let word =
            |word: &crate::spanned::Spanned<crate::rules::schema::Bare>| word.value.0.clone();
        let kind = (word(&entry.role), word(&entry.memory), word(&entry.bucket), entry.bulk);
        let list = kinds.entry(kind).or_default();
        list.extend(entry.axes.iter().map(|axis| (axis.value.0.as_str(), axis.span)));
    }
    for ((role, memory, bucket, _), axes) in kinds {
        let factors = role == "load" && bucket == "memory";
        let wanted: &[&str] = if factors { &FACTORS } else { &AXES };
        let at = axes.first().map(|(_, span)| *span);
        let mut say = |span: Span, message: String, help: &str| {
            let message = format!("{role} of {memory}, tile in {bucket}: {message}");
            diags.push(Diagnostic::at(span, message).help(help));
        };
        for name in wanted {
            let mut there = axes.iter().filter(|(axis, _)| axis == name);
            match (there.next(), there.next(), at) {
                (None, _, Some(at)) => say(
                    at,
                    format!("no candidate where it is `{name}`"),
                    "each of a, b, c, d and free has one, and the factors have where a product reads them in place",
                ),
                (_, Some((_, span)), _) => {
                    say(*span, format!("`{name}` has two candidates"), "remove one of them")
                }
                _ => {}
            }
        }
        for (name, span) in axes.iter().filter(|(name, _)| !wanted.contains(name)) {
            say(
                *span,
                format!("`{name}` is read in place"),
                "a product reads its factors in place, and nothing else does",
            );
        }
    }
}

/// Entries of one kind of layouts ask for one alignment.
fn aligned(all: &[CandidateEntry], diags: &mut Diagnostics) {
    let mut seen: BTreeMap<(String, bool, bool, bool), (u16, Span)> = BTreeMap::new();
    for entry in all {
        let atomic = entry.role.value.0 == "atomic";
        let nowhere = entry.memory.value.0 == "register";
        let kind = (entry.family.value.0.clone(), entry.bulk, atomic, nowhere);
        let (align, span) = *seen.entry(kind).or_insert((entry.align, entry.role.span));
        if align != entry.align {
            let message = format!(
                "layouts `{}` are aligned by {} bytes here and by {align} there",
                entry.family.value.0, entry.align
            );
            diags.push(
                Diagnostic::at(entry.role.span, message)
                    .note(span, "the other")
                    .help("what the same instructions reach is aligned alike: correct one of them"),
            );
        }
    }
}
