//! Wait states are those that another compiler puts between the same two instructions.
//!
//! `waits` records, of pairs that share a register in some way, how many it put there. The rows of
//! an architecture ask for no fewer, and each row for no more than some pair that it is about needs;
//! where a product that goes on with its own sums needs fewer, it says `unless_same`. A row that no recorded pair is about rests on its own sources alone.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, Atom, Hazard, HwModel, Operand};
use crate::schema::{Name, Waits};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_tables::{HazardUse, Role, TagId};
use std::collections::BTreeSet;

/// A line of a record: how two instructions share a register, and what stands between them.
struct Line<'r> {
    from: &'r str,
    same: bool,
    later: &'r str,
    to: &'r str,
    /// None: an instruction that waits, in place of states.
    states: Option<u8>,
}

fn line(text: &str) -> Option<Line<'_>> {
    let mut words = text.split(' ');
    let (from, sign, later) = (words.next()?, words.next()?, words.next()?);
    let (to, states) = (words.next()?, words.next()?);
    let same = match sign {
        "=" => true,
        ">" => false,
        _ => return None,
    };
    let states = if states == "wait" { None } else { Some(states.parse().ok()?) };
    words.next().is_none().then_some(Line { from, same, later, to, states })
}

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    for arch in &model.archs {
        let own = compiled.loaded.waits.iter().filter(|one| one.arch.value == arch.name.value);
        let mut pairs = Vec::new();
        for one in own {
            pairs.extend(read(model, one, &mut diags));
        }
        enough(model, arch, &pairs, &mut diags);
        needed(model, arch, &pairs, &mut diags);
    }
    for one in &compiled.loaded.waits {
        if !model.archs.iter().any(|arch| arch.name.value == one.arch.value) {
            let message =
                format!("wait states are recorded of `{}`, which is not there", *one.arch);
            diags.push(Diagnostic::at(one.arch.span, message).help(REMEDY).lacks(&one.arch));
        }
    }
    diags
}

/// The rows of an architecture that recorded pairs are about.
#[must_use]
pub fn covered(compiled: &Compiled, arch: &Arch) -> BTreeSet<Span> {
    let own = compiled.loaded.waits.iter().filter(|one| one.arch.value == arch.name.value);
    let pairs: Vec<Pair<'_>> =
        own.flat_map(|one| read(&compiled.model, one, &mut Diagnostics::new())).collect();
    let rows = arch.hazards.iter().filter(|row| pairs.iter().any(|pair| about(row, pair)));
    rows.map(|row| row.span).collect()
}

/// How the record is made.
const REMEDY: &str =
    "measure again: `cargo run --release -p lanebook-assemble --example waits` prints the record";

/// A recorded pair.
struct Pair<'m> {
    earlier: &'m Atom,
    later: &'m Atom,
    line: Line<'m>,
    record: &'m Spanned<Waits>,
}

fn read<'m>(
    model: &'m HwModel,
    record: &'m Spanned<Waits>,
    diags: &mut Diagnostics,
) -> Vec<Pair<'m>> {
    let mut out = Vec::new();
    let mut unknown = BTreeSet::new();
    let mut say = |name: &Name, what: &str| {
        if unknown.insert(what.to_string()) {
            let message = format!("wait states are recorded of `{what}`, which is not there");
            diags.push(Diagnostic::at(name.span, message).help(REMEDY).lacks(name));
        }
    };
    for (one, name) in record.pairs.iter().flat_map(|one| one.behind.iter().map(move |n| (one, n)))
    {
        let Some(earlier) = model.atom_named(name).map(|id| model.atom(id)) else {
            say(name, name);
            continue;
        };
        for text in &one.states {
            let Some(line) = line(text) else {
                say(text, text);
                continue;
            };
            let Some(later) = model.atom_named(line.later).map(|id| model.atom(id)) else {
                say(text, line.later);
                continue;
            };
            if earlier.operand(line.from).is_none() || later.operand(line.to).is_none() {
                say(text, text);
                continue;
            }
            out.push(Pair { earlier, later, line, record });
        }
    }
    out
}

fn writes(role: Role) -> bool {
    matches!(role, Role::Def | Role::UseDef)
}

/// Whether a row of such uses speaks of an operand with this role.
fn is_used(role: Role, on: HazardUse) -> bool {
    let read = matches!(role, Role::Use | Role::UseDef | Role::Address);
    match on {
        HazardUse::Read => read,
        HazardUse::Write => writes(role),
        HazardUse::Any => read || writes(role),
    }
}

/// Whether a row is about a pair.
fn about(hazard: &Hazard, pair: &Pair<'_>) -> bool {
    let role = |atom: &Atom, name: &str| {
        atom.operand(name).and_then(|number| atom.operands.get(usize::from(number))).map(|o| o.role)
    };
    let from = match &hazard.producer_operand {
        Some(name) => name.value == pair.line.from,
        None => role(pair.earlier, pair.line.from).is_some_and(writes),
    };
    let used = role(pair.later, pair.line.to).is_some_and(|role| is_used(role, hazard.on));
    pair.earlier.tags.contains(&hazard.producer)
        && pair.later.tags.contains(&hazard.consumer)
        && hazard.operand.as_ref().is_none_or(|name| name.value == pair.line.to)
        && from
        && used
        && !(hazard.unless_same && pair.line.same)
        && hazard.after.is_none()
}

/// No pair has fewer than it needs.
fn enough(model: &HwModel, arch: &Arch, pairs: &[Pair<'_>], diags: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for pair in pairs {
        let rows: Vec<&Hazard> = arch.hazards.iter().filter(|row| about(row, pair)).collect();
        let waits = rows.iter().any(|row| row.wait.is_some());
        let states = rows.iter().map(|row| row.states).max().unwrap_or(0);
        let lacks = match pair.line.states {
            None => !waits,
            Some(needed) => needed > states && !waits,
        };
        let tags = |atom: &Atom| {
            let names = atom.tags.iter().map(|tag| model.tags[tag.index()].name.value.as_str());
            names.collect::<Vec<_>>().join("+")
        };
        let (first, second) = (tags(pair.earlier), tags(pair.later));
        if lacks && seen.insert((first, second, pair.line.from, pair.line.to)) {
            let wanted = match pair.line.states {
                None => "an instruction that waits".to_string(),
                Some(states) => format!("{states} wait states"),
            };
            let message = format!(
                "`{}`: {} finds {wanted} between `{}` (`{}`) and `{}` (`{}`{}), the rows ask for {states}",
                arch.name.value,
                *pair.record.by,
                pair.earlier.name.value,
                pair.line.from,
                pair.later.name.value,
                pair.line.to,
                if pair.line.same { ", the same tuple" } else { "" },
            );
            let at = rows.first().map_or(arch.name.span, |row| row.span.head());
            diags.push(
                Diagnostic::at(at, message)
                    .note(pair.record.arch.span, "the record")
                    .help("correct the states or the tags of a row, or add one"),
            );
        }
    }
}

/// No row asks for more than one of its pairs needs.
fn needed(model: &HwModel, arch: &Arch, pairs: &[Pair<'_>], diags: &mut Diagnostics) {
    let asked = Asked::of(model, arch, pairs);
    for row in arch.hazards.iter().filter(|row| row.wait.is_none() && row.after.is_none()) {
        let of = pairs.iter().filter(|pair| about(row, pair));
        let most = of.filter_map(|pair| pair.line.states).max();
        if !asked.about(row) {
            continue;
        }
        let most = most.unwrap_or(0);
        if row.states > most {
            let name = |tag: TagId| model.tags[tag.index()].name.value.clone();
            let message = format!(
                "`{}`: {} states between `{}` and `{}`, of which {most} are found at most",
                arch.name.value,
                row.states,
                name(row.producer),
                name(row.consumer)
            );
            diags.push(
                Diagnostic::at(row.span.head(), message)
                    .help("correct the states or the tags, or measure again"),
            );
            continue;
        }
        let chain = |atom: &str| {
            let own = pairs.iter().filter(|pair| pair.line.same && about(row, pair));
            let own = own.filter(|pair| pair.earlier.name.value == atom && pair.line.later == atom);
            own.filter_map(|pair| pair.line.states).max().unwrap_or(0)
        };
        let chained = asked.chains(arch, row).map(chain).max();
        if let Some(same) = chained.filter(|same| !row.unless_same && *same < row.states) {
            let message = format!(
                "`{}`: {} states between a product and itself with its sums, of which {same} are found at most",
                arch.name.value, row.states
            );
            diags.push(Diagnostic::at(row.span.head(), message).help(
                "say `unless_same: true`, and what the same tuple needs in a row of its own",
            ));
        }
    }
}

/// The instructions of a record.
struct Asked<'m> {
    earlier: Vec<&'m Atom>,
    later: Vec<&'m Atom>,
    /// Matrix instructions of which nothing is known.
    unknown: Vec<&'m Atom>,
}

impl<'m> Asked<'m> {
    fn of(model: &'m HwModel, arch: &'m Arch, pairs: &[Pair<'m>]) -> Self {
        let record: Option<&'m Spanned<Waits>> = pairs.first().map(|pair| pair.record);
        let named = |names: &'m [Name]| {
            names.iter().filter_map(|name| model.atom_named(name)).map(|id| model.atom(id))
        };
        let blocks = record.into_iter().flat_map(|record| &record.pairs);
        let earlier: Vec<&Atom> = blocks.flat_map(|one| named(&one.behind)).collect();
        let matrices = arch.atoms.iter().map(|entry| model.atom(entry.atom));
        let missing = |atom: &&Atom| {
            atom.matrix.is_some() && !earlier.iter().any(|one| one.name.value == atom.name.value)
        };
        let unknown = matrices.filter(missing).collect();
        let later = record.into_iter().flat_map(|record| named(&record.before)).collect();
        Self { earlier, later, unknown }
    }
    /// Products behind which they stand themselves, where a row is about the sums that they go on with, and
    /// no other row asks for as much.
    fn chains<'a>(&'a self, arch: &'a Arch, row: &'a Hazard) -> impl Iterator<Item = &'a str> {
        let sums = |atom: &&Atom| {
            let number = atom.matrix.as_ref().map(|shape| usize::from(shape.c));
            let operand = number.and_then(|number| atom.operands.get(number));
            let named = row.operand.as_ref().zip(operand);
            named.is_some_and(|(name, operand)| name.value == operand.name.value)
        };
        let own = self.earlier.iter().filter(|atom| atom.tags.contains(&row.producer));
        let own = own.map(|atom| &**atom).filter(|atom| atom.tags.contains(&row.consumer));
        let later = |atom: &&Atom| self.later.iter().any(|one| one.name.value == atom.name.value);
        let alone = |atom: &&Atom| {
            let others = arch.hazards.iter().filter(|other| other.span != row.span);
            let mut more = others.filter(|other| {
                atom.tags.contains(&other.producer)
                    && atom.tags.contains(&other.consumer)
                    && other.operand.as_ref().is_none_or(|name| row.operand.as_ref() == Some(name))
                    && other.producer_operand == row.producer_operand
                    && other.states >= row.states
                    && !other.unless_same
            });
            more.next().is_none()
        };
        own.filter(sums).filter(later).filter(alone).map(|atom| atom.name.value.as_str())
    }
    /// Whether some of them are those of a row, with registers of one class that it speaks of, and
    /// all that it is about were asked for.
    fn about(&self, row: &Hazard) -> bool {
        // Registers that are written where the row names no operand of the earlier one, and read
        // unless it is about writes: of others the record says little.
        let of = |list: &[&Atom], tag: TagId, operand: &Option<Name>, written: bool| {
            let meant = |one: &&Operand| {
                let role = match (operand, written) {
                    (Some(name), true) => return name.value == one.name.value && !one.implicit,
                    (None, true) => matches!(one.role, Role::Def | Role::UseDef),
                    (_, false) => matches!(one.role, Role::Use | Role::UseDef | Role::Address),
                };
                let named = operand.as_ref().is_none_or(|name| name.value == one.name.value);
                role && named && !one.implicit
            };
            let tagged = list.iter().filter(|atom| atom.tags.contains(&tag));
            let classes = tagged.flat_map(|atom| {
                let plain = |one: &&Operand| one.class.is_some() && one.also.is_empty();
                atom.operands.iter().filter(meant).filter(move |one| written || plain(one))
            });
            classes.filter_map(|one| one.class.map(|class| class.0)).collect::<BTreeSet<u16>>()
        };
        let from = of(&self.earlier, row.producer, &row.producer_operand, true);
        let to = of(&self.later, row.consumer, &row.operand, row.on == HazardUse::Write);
        !self.unknown.iter().any(|atom| atom.tags.contains(&row.producer))
            && from.intersection(&to).next().is_some()
    }
}
