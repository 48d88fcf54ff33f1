//! What other programs and measurements answered about instructions is what the tables say.
//!
//! `answers` keep recorded answers in brief: a tool writes them from the records alone, without the
//! tables. A line is an instruction by the first word of its text, then `KEY=VALUE`: the numbers of a
//! product (`m`, `n`, `k`, `blocks`, `cycles`, `sums` a cycle, `a.registers`), those of a bank model
//! (`banks`, `bank.bytes`), the sides that an `offset` is added to, or a hash. Hashed is what a map
//! says in lines of numbers:
//!
//! - `a`, `b`, `c`, `d`, `index`, `scale_a`, `scale_b`: lane, bit, row and column of each element of
//!   the operand, by lane and bit; `index+2`: the same where the immediate that moves it is 2;
//! - `lanes`: each value of the modifier that exchanges lanes, and which lane is read for each;
//! - `moved`: lane, bit, slot and bit in the slot of each element of a movement to registers;
//! - `groups`: the lanes that are served together as numbers of bits; `groups.unordered`: sorted.
//!
//! Words of descriptors, with what their fields hold, are packed anew. Layouts and numbers of units
//! stand in lines of their own, `layouts` and `facts`: people write these from what a program's
//! sources or a document say.
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::Layout;
use crate::model::status::Says;
use crate::model::{Arch, Atom, Bank, Cited, HwModel, More, Operand, Units, Use};
use crate::rules::canonical;
use crate::schema::{Answers, Name};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_layout::AxisId;
use lanebook_tables::{SourceId, Space};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Digits of a hash that are kept.
const DIGITS: usize = 16;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let (mut diags, mut known) = (Diagnostics::new(), BTreeMap::new());
    let model = &compiled.model;
    let texts: Vec<Texts<'_>> = model.archs.iter().map(|arch| Texts::of(model, arch)).collect();
    for one in &compiled.loaded.answers {
        for key in &one.sources {
            if !model.sources.iter().any(|doc| doc.key.value == key.value) {
                diags.push(
                    Diagnostic::at(key.span, format!("no source is called `{}`", key.value))
                        .help("name one of hw-tables/sources.ron, or declare it there")
                        .lacks(key),
                );
            }
        }
        let archs: Vec<&Texts<'_>> = texts.iter().filter(|own| speaks(one, own.arch)).collect();
        if let (Some(name), true) = (one.archs.first(), archs.is_empty()) {
            let message = format!(
                "no architecture goes by `{}` or its like and has waves of {}",
                name.value, one.lanes
            );
            diags.push(
                Diagnostic::at(name.span, message)
                    .help("name targets of architectures, and their lanes")
                    .lacks(name),
            );
        }
        for line in &one.words {
            super::packed::hold(model, one, line, &mut diags);
        }
        super::retold::hold(compiled, one, &mut diags);
        super::figured::hold(compiled, one, &mut diags);
        for row in &one.rows {
            hold(one, &archs, row, &mut known, &mut diags);
        }
    }
    diags
}

/// The atoms of an architecture by the first word of their text.
struct Texts<'m> {
    arch: &'m Arch,
    atoms: BTreeMap<String, Vec<&'m Atom>>,
}

impl<'m> Texts<'m> {
    fn of(model: &'m HwModel, arch: &'m Arch) -> Self {
        let mut atoms: BTreeMap<String, Vec<&'m Atom>> = BTreeMap::new();
        for atom in arch.atoms.iter().map(|entry| model.atom(entry.atom)) {
            if let Some(first) = text(atom).split_whitespace().next() {
                atoms.entry(first.to_string()).or_default().push(atom);
            }
        }
        Self { arch, atoms }
    }
    fn named(&self, first: &str) -> impl Iterator<Item = &'m Atom> + '_ {
        self.atoms.get(first).into_iter().flatten().copied()
    }
}

/// A part of an instruction that answers speak of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// Where a product has its factors and its result.
    Layouts,
    /// From where to where a movement goes.
    Movement,
    /// How long it runs.
    Cycles,
}

impl Part {
    /// Whether the keys of a line say all of it.
    fn is_said(self, keys: &BTreeSet<&str>) -> bool {
        match self {
            Self::Layouts => {
                ["a", "b"].iter().all(|key| keys.contains(key))
                    && ["c", "d"].iter().any(|key| keys.contains(key))
            }
            Self::Movement => keys.contains("moved"),
            Self::Cycles => keys.contains("cycles"),
        }
    }
}

/// Who said what of instructions and bank models in recorded answers.
#[derive(Debug, Default)]
pub(super) struct Answered {
    atoms: BTreeMap<(Span, Part), BTreeSet<SourceId>>,
    banks: BTreeMap<Span, BTreeSet<SourceId>>,
    /// Kinds and names of units, as lines have them.
    units: BTreeSet<String>,
}

impl Answered {
    /// Of all answers, and of machines.
    pub(super) fn of(compiled: &Compiled) -> Self {
        let (model, mut out) = (&compiled.model, Self::default());
        out.machines(compiled);
        let texts: Vec<Texts<'_>> = model.archs.iter().map(|arch| Texts::of(model, arch)).collect();
        for one in &compiled.loaded.answers {
            let number = |key: &Name| {
                let at = model.sources.iter().position(|doc| doc.key.value == key.value)?;
                u16::try_from(at).ok().map(SourceId)
            };
            let by: BTreeSet<SourceId> = one.sources.iter().filter_map(number).collect();
            for own in texts.iter().filter(|own| speaks(one, own.arch)) {
                for row in &one.rows {
                    out.line(own, row, &by);
                }
            }
            let first = |line: &Name, count: usize| {
                line.value.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
            };
            out.units.extend(one.words.iter().map(|line| format!("descriptor {}", first(line, 1))));
            out.units.extend(one.facts.iter().chain(&one.layouts).map(|line| first(line, 2)));
        }
        out
    }

    /// What machines were asked about.
    fn machines(&mut self, compiled: &Compiled) {
        let model = &compiled.model;
        for one in &compiled.loaded.measured {
            let arch = model.archs.iter().find(|arch| arch.name.value == one.arch.value);
            let part = match one.kind.as_str() {
                "product" => Some(Part::Layouts),
                "movement" => Some(Part::Movement),
                _ => None,
            };
            for row in &one.rows {
                let atom = model.atom_named(&row.name).map(|id| model.atom(id));
                let bank = arch.zip(atom).and_then(|(arch, atom)| bank_of(arch, atom));
                match (part, atom, bank, one.kind.as_str()) {
                    (Some(part), Some(atom), ..) => {
                        self.atoms.entry((atom.name.span, part)).or_default();
                    }
                    (None, _, Some(bank), "banks") => {
                        self.banks.entry(bank.name.span).or_default();
                    }
                    (None, .., "swizzle") => {
                        self.units.insert(format!("swizzle {}", row.name.value));
                    }
                    _ => {}
                }
            }
        }
    }

    fn line(&mut self, own: &Texts<'_>, row: &Name, by: &BTreeSet<SourceId>) {
        let mut words = row.value.split_whitespace();
        let name = words.next().unwrap_or_default();
        let keys = words.filter_map(|word| Some(word.split_once('=')?.0));
        let keys: BTreeSet<&str> = keys.collect();
        for atom in own.named(name) {
            for part in [Part::Layouts, Part::Movement, Part::Cycles] {
                if part.is_said(&keys) {
                    self.atoms.entry((atom.name.span, part)).or_default().extend(by);
                }
            }
            let groups = ["groups", "groups.unordered"].iter().any(|key| keys.contains(key));
            if let (true, Some(bank)) = (groups, bank_of(own.arch, atom)) {
                self.banks.entry(bank.name.span).or_default().extend(by);
            }
        }
    }

    /// Whether the audit compares a part of an atom with an answer.
    pub(super) fn holds(&self, atom: &Atom, part: Part) -> bool {
        self.atoms.contains_key(&(atom.name.span, part))
    }

    /// The same of a bank model.
    pub(super) fn holds_bank(&self, bank: &Bank) -> bool {
        self.banks.contains_key(&bank.name.span)
    }

    /// How many facts of units it compares, of a kind as coverage calls them.
    pub(super) fn units(&self, units: &Units, kind: &str) -> usize {
        let count = |word: &str, names: Vec<&str>| {
            names.into_iter().filter(|name| self.units.contains(&format!("{word} {name}"))).count()
        };
        fn names<'u, T: 'u>(
            all: impl Iterator<Item = &'u T>,
            name: fn(&T) -> &str,
        ) -> Vec<&'u str> {
            all.map(name).collect()
        }
        match kind {
            "descriptors" => {
                count("descriptor", names(units.descriptors.iter(), |d| &d.fact.entry.name.value))
            }
            "swizzle modes" => {
                count("swizzle", names(units.swizzles.iter(), |one| &one.entry.name.value))
            }
            "operand tiles" => {
                count("operand", names(units.operand_tiles.iter(), |one| &one.0.entry.name.value))
            }
            "tensor tiles" => {
                count("tile", names(units.tensor_tiles.iter(), |one| &one.0.entry.name.value))
            }
            "tensor moves" => {
                count("move", names(units.tensor_moves.iter(), |one| &one.0.entry.name.value))
            }
            "unit shapes" => {
                count("shape", names(units.shapes.iter(), |one| &one.entry.descriptor.value))
            }
            "tiled copies" => {
                count("map", names(units.tensor_maps.iter(), |one| &one.entry.name.value))
            }
            "completion objects" => {
                count("completion", names(units.mbarriers.iter(), |one| &one.0.entry.name.value))
            }
            _ => 0,
        }
    }

    /// What a part of an atom rests on: what it cites, and who answered.
    pub(super) fn atom(&self, atom: &Atom, part: Part) -> Cited {
        with(&atom.sources, self.atoms.get(&(atom.name.span, part)))
    }

    /// The same of a bank model.
    pub(super) fn bank(&self, bank: &Bank) -> Cited {
        with(&bank.sources, self.banks.get(&bank.name.span))
    }
}

fn with(cited: &Cited, more: Option<&BTreeSet<SourceId>>) -> Cited {
    let mut out = cited.clone();
    more.into_iter().flatten().for_each(|source| out.push(*source, Says::This));
    out
}

/// The bank model of the side in shared memory.
fn bank_of<'m>(arch: &'m Arch, atom: &Atom) -> Option<&'m Bank> {
    let movement = atom.movement.as_ref()?;
    let side = [&movement.from, &movement.to].into_iter().find(|s| s.space == Space::Shared)?;
    let name = side.banks.as_ref()?;
    arch.banks.iter().find(|bank| bank.name.value == name.value)
}

/// Whether answers are of an architecture, by its target and the lanes of its waves.
fn speaks(one: &Answers, arch: &Arch) -> bool {
    let named = one.archs.iter().any(|name| name.value == arch.target);
    named && arch.wave_lanes.value.first() == Some(&one.lanes)
}

/// What was found already: operands of many instructions have one layout.
type Known = BTreeMap<(String, u64), String>;

fn hold(
    one: &Spanned<Answers>,
    archs: &[&Texts<'_>],
    row: &Name,
    known: &mut Known,
    diags: &mut Diagnostics,
) {
    let mut words = row.value.split_whitespace();
    let name = words.next().unwrap_or_default();
    let mut told: Vec<Span> = Vec::new();
    let mut held = archs.is_empty();
    let said: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
    if said.is_empty() {
        diags.push(
            Diagnostic::at(row.span, format!("`{}` says nothing of an instruction", row.value))
                .help("a line is the first word of its text, then `KEY=VALUE`"),
        );
        return;
    }
    for own in archs {
        let arch = own.arch;
        for atom in own.named(name) {
            held = true;
            for (key, wanted) in &said {
                let Some(found) = Found { arch, atom, known }.of(key) else {
                    diags.push(
                        Diagnostic::at(row.span, format!("`{name}` has no `{key}` to compare"))
                            .note(atom.name.span, "of this atom")
                            .help(
                                "the record speaks of what the atom has not: correct one of them",
                            ),
                    );
                    return;
                };
                if found.value == **wanted || told.contains(&found.at) {
                    continue;
                }
                told.push(found.at);
                let by: Vec<&str> = one.sources.iter().map(|key| key.value.as_str()).collect();
                let (atom, by) = (&atom.name.value, by.join(", "));
                let message = if found.hashed {
                    format!("`{key}` of `{atom}` is not as it is by {by}")
                } else {
                    format!("`{key}` of `{atom}` is {}, by {by} it is {wanted}", found.value)
                };
                diags.push(
                    Diagnostic::at(found.at, message)
                        .note(row.span, "what it answered")
                        .note(arch.name.span, "of this architecture")
                        .help("correct the fact; where the record is one of this repository, `lanebook check --oracle` shows the place"),
                );
            }
        }
    }
    if !held {
        diags.push(
            Diagnostic::at(
                row.span,
                format!("no text of these architectures begins with `{name}`"),
            )
            .help("add the instruction, or remove the line")
            .lacks(row),
        );
    }
}

/// What the tables say under a key.
struct Answer {
    value: String,
    at: Span,
    hashed: bool,
}

struct Found<'a> {
    arch: &'a Arch,
    atom: &'a Atom,
    known: &'a mut Known,
}

impl Found<'_> {
    fn of(&mut self, key: &str) -> Option<Answer> {
        let plain = |value: u64, at: Span| Answer { value: value.to_string(), at, hashed: false };
        let atom = self.atom;
        let shape = atom.matrix.as_ref();
        if let Some(operand) = key.strip_suffix(".registers") {
            let operand = self.operand(operand)?.1;
            return Some(plain(u64::from(operand.registers), operand.span));
        }
        Some(match key {
            "m" => plain(u64::from(shape?.m), shape?.span),
            "n" => plain(u64::from(shape?.n), shape?.span),
            "k" => plain(u64::from(shape?.k), shape?.span),
            "blocks" => {
                plain(atom.more.as_ref().map_or(1, |more| u64::from(more.blocks)), shape?.span)
            }
            "sums" => {
                let blocks = atom.more.as_ref().map_or(1, |more| u64::from(more.blocks));
                let sums = blocks * u64::from(shape?.m) * u64::from(shape?.n) * u64::from(shape?.k);
                plain(sums.checked_div(atom.cost.cycles.into())?, atom.name.span)
            }
            "offset" => offset(atom)?,
            "cycles" => plain(u64::from(atom.cost.cycles), atom.name.span),
            "banks" => plain(u64::from(self.bank()?.banks), self.bank()?.name.span),
            "bank.bytes" => plain(u64::from(self.bank()?.bank_bytes), self.bank()?.name.span),
            "groups" | "groups.unordered" => {
                let bank = self.bank()?;
                let mut groups: Vec<u64> = bank.groups.iter().map(|group| group.value).collect();
                if key != "groups" {
                    groups.sort_unstable();
                }
                hashed(groups.iter().map(u64::to_string), bank.groups_span)
            }
            "lanes" => exchanged(atom)?,
            "moved" => moved(atom)?,
            _ => return self.places(key),
        })
    }
    /// An operand by its part in a product.
    fn operand(&self, name: &str) -> Option<(u8, &Operand)> {
        let (shape, more) = (self.atom.matrix.as_ref()?, self.atom.more.as_ref());
        let number = match name {
            "a" => Some(shape.a),
            "b" => Some(shape.b),
            "c" => Some(shape.c),
            "d" => Some(shape.d),
            "index" => more.and_then(|more| more.index),
            "scale_a" => more.and_then(|more| more.scales.0),
            "scale_b" => more.and_then(|more| more.scales.1),
            _ => None,
        }?;
        Some((number, self.atom.operands.get(usize::from(number))?))
    }
    fn bank(&self) -> Option<&Bank> {
        bank_of(self.arch, self.atom)
    }
    /// Where the elements of an operand are, moved by an immediate's value.
    fn places(&mut self, key: &str) -> Option<Answer> {
        let (name, value) = key
            .split_once('+')
            .map_or((key, 0), |(name, value)| (name, value.parse::<u64>().unwrap_or_default()));
        let (number, operand) = self.operand(name)?;
        let layout = operand.layout.as_ref()?;
        let columns = u64::from(operand.extents.as_ref()?.value.1).max(1);
        let shift = if value == 0 { 0 } else { value * by(self.atom.more.as_ref()?, number)? };
        let at = layout.text.span;
        let seen = (layout.text.value.clone(), columns << 32 | shift);
        if let Some(value) = self.known.get(&seen) {
            return Some(Answer { value: value.clone(), at, hashed: true });
        }
        let mut lines = lanes_and_bits(layout, shift as i64, |x| [x / columns, x % columns]);
        lines.sort_unstable();
        let answer = hashed(lines.iter().map(joined), at);
        self.known.insert(seen, answer.value.clone());
        Some(answer)
    }
}

/// Bits that one unit of an immediate moves an operand's layout by.
fn by(more: &More, number: u8) -> Option<u64> {
    let mut moves = more.moves.iter().filter(|(_, of, ..)| *of == number);
    let (_, _, bits, _) = moves.next()?;
    moves.next().is_none().then_some(u64::from(*bits))
}

/// Lane and bit of every element, and two numbers more.
fn lanes_and_bits(layout: &Layout, shift: i64, more: impl Fn(u64) -> [u64; 2]) -> Vec<[i64; 4]> {
    let (lanes, bits) = (layout.positions(AxisId::LANE), layout.positions(AxisId::BIT));
    let size = layout.size().max(1);
    let all = (0u64..).zip(lanes.into_iter().zip(bits));
    all.map(|(number, (lane, bit))| {
        let [row, column] = more(number % size);
        [lane, bit + shift, row as i64, column as i64]
    })
    .collect()
}

/// For each value of the modifier the lane that is read for each lane.
fn exchanged(atom: &Atom) -> Option<Answer> {
    let more = atom.more.as_ref()?;
    let (run, rows) = more.broadcasts.iter().find_map(|(_, _, how)| match how {
        Use::Lanes(run, rows) => Some((usize::from(*run), rows)),
        Use::Blocks(_) => None,
    })?;
    let lines = rows.iter().enumerate().map(|(value, row)| {
        let mut line = value.to_string();
        for from in row {
            for lane in 0..run {
                let _ = write!(line, " {}", usize::from(*from) * run + lane);
            }
        }
        line
    });
    Some(hashed(lines, more.span))
}

/// From which slot, and which bits of it, each element of a lane comes.
fn moved(atom: &Atom) -> Option<Answer> {
    let movement = atom.movement.as_ref()?;
    let (from, to) = (&movement.from.layout, &movement.to.layout);
    let slots = |x: u64| {
        let bit = from.at(x, 0, AxisId::BYTE) * 8 + from.at(x, 0, AxisId::BIT);
        [from.at(x, 0, AxisId::SLOT), bit].map(|number| number.max(0) as u64)
    };
    let mut lines = lanes_and_bits(to, 0, slots);
    lines.sort_unstable();
    Some(hashed(lines.iter().map(joined), movement.span))
}

/// The sides to which the immediate is added.
fn offset(atom: &Atom) -> Option<Answer> {
    let field = atom.movement.as_ref()?.offsets.first()?;
    let sides = [("from", field.on_from), ("to", field.on_to)];
    let sides = sides.into_iter().filter(|(_, on)| *on).map(|(side, _)| side);
    let value = sides.collect::<Vec<_>>().join(",");
    Some(Answer { value, at: field.span, hashed: false })
}

fn joined(line: &[i64; 4]) -> String {
    line.map(|number| number.to_string()).join(" ")
}

fn hashed(lines: impl Iterator<Item = String>, at: Span) -> Answer {
    let mut all = String::new();
    for line in lines {
        all.push_str(&line);
        all.push('\n');
    }
    let mut value = canonical::hash(&all);
    value.truncate(DIGITS);
    Answer { value, at, hashed: true }
}
