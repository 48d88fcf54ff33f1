//! Figures that somebody declared for a load, store or copy, beside those of the tables: term by
//! term, with what the difference comes from.
//!
//! Declared figures are scored with the same weights and by the same rule as the tables'
//! candidates, but they choose nothing: what an instruction is and costs, the tables say. Where a
//! figure differs, the tables' own is taken apart (instructions, transactions of each, bank groups,
//! registers) and the declared one is looked for among the parts.
use crate::tables::counted;
use crate::verdicts::{bound, name, quarters, space, why};
use lanebook::ir::{Op, Program};
use lanebook::layout_seeding::{CostTerms, SeedingCandidate, Verdict, pick};
use lanebook_gen::compile::Failure;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics};
use lanebook_gen::schema::Name;
use lanebook_gen::source::Sources;
use lanebook_gen::spanned::{Spanned, read, whole};
use lanebook_report::problem::{Kind, Problem, Problems};
use lanebook_suggest::remedy;
use lanebook_tables::{ArchId, AtomFilter, AtomId, Space, Tables, Weights};
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// A file of declared figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "figures")]
struct File {
    /// Who says so.
    from: String,
    /// Figures, operation by operation.
    figures: Vec<Spanned<Entry>>,
}

/// Figures for one operation.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "entry")]
struct Entry {
    /// The tile that is loaded, without `%`; without it every operation.
    #[serde(default)]
    tile: Option<String>,
    candidates: Vec<Spanned<Figures>>,
}

/// Figures of one candidate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "candidate")]
struct Figures {
    /// What its source calls it.
    name: String,
    /// What the tables call it.
    atom: Name,
    /// The tile stays in memory; a descriptor names it.
    #[serde(default)]
    stays: bool,
    #[serde(default)]
    transactions: u32,
    #[serde(default)]
    tensor: u32,
    #[serde(default)]
    registers: u32,
}

/// Declared figures, checked against the tables.
#[derive(Debug)]
pub struct Declared {
    file: File,
    atoms: Vec<Vec<AtomId>>,
}

impl Declared {
    /// Reads a file.
    pub fn read(tables: &Tables<'_>, path: &Path) -> Result<Self, Problems> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Problem::usage(
                format!("cannot read {}: {error}", path.display()),
                "name a file with declared figures; gen/cli/examples has one",
            )
        })?;
        let (mut sources, mut diagnostics) = (Sources::default(), Diagnostics::new());
        let id = sources.add(&path.display().to_string(), Some(path), text);
        let mut atoms = Vec::new();
        let file: Option<File> = read(&sources, whole(&sources, id))
            .map_err(|diagnostic| diagnostics.push(diagnostic))
            .ok();
        for entry in file.iter().flat_map(|file| &file.figures) {
            let mut found = Vec::new();
            for figures in &entry.candidates {
                match tables.atom_named(&figures.atom) {
                    Some(atom) => found.push(atom),
                    None => {
                        let help = remedy(
                            &figures.atom,
                            tables.list_atoms(None, AtomFilter::ALL).map(|(_, atom)| atom.name()),
                            "`lanebook atoms` lists them",
                        );
                        diagnostics.push(
                            Diagnostic::at(
                                figures.atom.span,
                                format!("unknown instruction `{}`", *figures.atom),
                            )
                            .help(help),
                        );
                    }
                }
            }
            atoms.push(found);
        }
        match file {
            Some(file) if diagnostics.errors() == 0 => Ok(Self { file, atoms }),
            _ => {
                let errors = counted(diagnostics.errors(), "error");
                let failure = Failure { sources, diagnostics, sound: None };
                Err(Problems::Rendered(
                    Kind::Refused,
                    format!("{}{errors} in {}\n", failure.full(), path.display()),
                ))
            }
        }
    }

    /// Beside the candidates of one operation, as comments; nothing where nothing is declared for
    /// it.
    pub fn beside(
        &self,
        tables: &Tables<'_>,
        arch: Option<ArchId>,
        program: &Program<'_, '_>,
        op: Op,
        judged: &[SeedingCandidate],
    ) -> String {
        let mut out = String::new();
        for (entry, atoms) in self.file.figures.iter().zip(&self.atoms) {
            let result = program.result(op, 0).map_or("", |value| program.value_name(value));
            if entry.tile.as_deref().is_some_and(|tile| tile != result) {
                continue;
            }
            let _ = writeln!(
                out,
                "// {}, figures of {} beside those of the tables:",
                name(program, op),
                self.file.from
            );
            let tile = program
                .result(op, 0)
                .or_else(|| program.operand(op, 0))
                .and_then(|value| tables.dtype(program.type_of(value).dtype?));
            let view = View { tables, arch, judged, bits: tile.map_or(0, |dtype| dtype.bits) };
            for (figures, atom) in entry.candidates.iter().zip(atoms) {
                out.push_str(&view.one(figures, *atom));
            }
            out.push_str(&view.winners(&entry.candidates));
        }
        out
    }
}

impl Figures {
    const fn terms(&self) -> CostTerms {
        CostTerms { shared: self.transactions, tensor: self.tensor, registers: self.registers }
    }
}

/// Candidates of one operation, as the tables have them.
struct View<'v> {
    tables: &'v Tables<'v>,
    arch: Option<ArchId>,
    judged: &'v [SeedingCandidate],
    /// Bits of an element of the tile.
    bits: u16,
}

const fn is_legal(candidate: &SeedingCandidate) -> bool {
    matches!(candidate.verdict, Verdict::Taken | Verdict::Dearer)
}

/// `1 x 4 + 4 x 0 + 0.25 x 32 = 12`.
fn sum(terms: CostTerms, weights: &Weights) -> String {
    let term = |weight: u32, count: u32| format!("{} x {count}", quarters(weight));
    let all = [
        term(weights.shared_transaction, terms.shared),
        term(weights.tensor_cycle, terms.tensor),
        term(weights.register, terms.registers),
    ];
    format!("{} = {}", all.join(" + "), quarters(terms.score(weights)))
}

impl View<'_> {
    /// One declared candidate, with the tables' beside it.
    fn one(&self, figures: &Figures, atom: AtomId) -> String {
        let weights = &self.tables.weights;
        let mut out = String::new();
        let _ = writeln!(out, "//   {} ({})", figures.name, *figures.atom);
        let _ = writeln!(out, "//     declared      {}", sum(figures.terms(), weights));
        // What stays in memory is what the tables call a descriptor.
        let wanted = if figures.stays { None } else { Some(atom) };
        let found = self
            .judged
            .iter()
            .filter(|it| it.atom == wanted && !it.whole)
            .min_by_key(|it| !is_legal(it));
        let mut lines: Vec<(&str, String)> = Vec::new();
        match found {
            Some(it) if is_legal(it) => {
                let _ = writeln!(out, "//     tables        {}", sum(it.terms, weights));
                lines.push(("transactions", self.transactions(figures, it, atom)));
                lines.push(("registers", self.registers(figures, Some(it.terms.registers))));
                if figures.tensor != it.terms.tensor {
                    lines.push((
                        "tensor",
                        format!(
                            "{} declared, {} columns in the tables",
                            figures.tensor, it.terms.tensor
                        ),
                    ));
                }
                let more =
                    i64::from(it.terms.score(weights)) - i64::from(figures.terms().score(weights));
                let signed = format!(
                    "{}{}",
                    if more < 0 { "-" } else { "+" },
                    quarters(u32::try_from(more.unsigned_abs()).unwrap_or(u32::MAX))
                );
                lines.push((
                    "difference",
                    if more == 0 {
                        "none".into()
                    } else {
                        signed + " " + &self.shares(figures.terms(), it.terms)
                    },
                ));
            }
            Some(it) => {
                lines.push(("tables", format!("no candidate: {}", why(self.tables, it.verdict))));
                lines.push(("transactions", self.alone(figures, atom)));
                lines.push(("registers", self.registers(figures, None)));
            }
            None => {
                lines.push(("tables", format!("no candidate: {}", self.lacks(atom))));
                lines.push(("transactions", self.alone(figures, atom)));
                lines.push(("registers", self.registers(figures, None)));
            }
        }
        if figures.stays && self.spaces(atom).is_none_or(|(from, _)| from != "shared") {
            let joins = self.spaces(atom).map_or("moves no tile by itself".into(), |(from, to)| {
                format!("joins {from} and {to}")
            });
            lines.push(("instruction", format!("{} {joins}: compared with a descriptor by which a product reads the tile where it lies", *figures.atom)));
        }
        for (head, line) in lines {
            let _ = writeln!(out, "//     {head:<13} {line}");
        }
        out
    }

    /// How much of a difference each term has.
    fn shares(&self, declared: CostTerms, tables: CostTerms) -> String {
        let weights = &self.tables.weights;
        let of = [
            ("transactions", declared.shared, tables.shared, weights.shared_transaction),
            ("tensor", declared.tensor, tables.tensor, weights.tensor_cycle),
            ("registers", declared.registers, tables.registers, weights.register),
        ];
        let differ = of.into_iter().filter(|(_, a, b, _)| a != b);
        let each = differ.map(|(term, a, b, weight)| {
            let sign = if b < a { "-" } else { "+" };
            format!("{term} {sign}{} x {}", b.abs_diff(a), quarters(weight))
        });
        format!("({})", each.collect::<Vec<_>>().join(", "))
    }

    /// What became of the declared transactions.
    fn transactions(&self, figures: &Figures, it: &SeedingCandidate, atom: AtomId) -> String {
        let (declared, parts, total) = (figures.transactions, it.parts, it.terms.shared);
        let what = if figures.stays { ("pass", "passes") } else { ("instruction", "instructions") };
        let mut out = format!(
            "{} {} x {} = {total} of a warp",
            parts.count,
            if parts.count == 1 { what.0 } else { what.1 },
            parts.each
        );
        let whole = declared.checked_rem(parts.each) == Some(0);
        let share = declared.checked_div(parts.each).unwrap_or(0);
        if declared == total {
            out.push_str("; declared the same");
        } else if whole && share > 0 && share < parts.count {
            let of =
                if share == 1 { format!("one {}", what.0) } else { format!("{share} {}", what.1) };
            let _ = write!(out, "; declared {declared}: those of {of}");
        } else if total > 0 && declared.checked_rem(total) == Some(0) && declared > 0 {
            let _ = write!(
                out,
                "; declared {declared}: {} times as many, as of {} warps",
                declared / total,
                declared / total
            );
        } else {
            let _ = write!(out, "; declared {declared}");
        }
        if parts.each > parts.least {
            let _ = write!(
                out,
                "; {} of each {} are bank conflicts",
                parts.each - parts.least,
                parts.each
            );
        }
        if !figures.stays {
            let _ = write!(out, "; {}", self.banks(atom));
        }
        out
    }

    /// What one instruction takes, where it is no candidate.
    fn alone(&self, figures: &Figures, atom: AtomId) -> String {
        format!("declared {}; {}", figures.transactions, self.banks(atom))
    }

    /// How an instruction's accesses meet the banks.
    fn banks(&self, atom: AtomId) -> String {
        let Some(movement) = self.tables.atom(atom).and_then(|atom| atom.movement) else {
            return "the tables say of no lane what it accesses".into();
        };
        let bits: u32 =
            movement.extents.iter().fold(u32::from(movement.unit_bits), |bits, extent| {
                bits.saturating_mul(u32::from(*extent))
            });
        let Some(side) =
            [movement.from, movement.to].into_iter().find(|side| side.space == Space::Shared)
        else {
            return format!("one moves {} B and accesses no shared memory", bits / 8);
        };
        let mut out = format!("one moves {} B, {} B at each address", bits / 8, side.slot_bytes);
        let model = self
            .arch
            .and_then(|arch| self.tables.arch(arch))
            .and_then(|arch| arch.banks.iter().find(|model| model.name == side.banks));
        if let Some(model) = model {
            let wide = model.groups.first().map_or(0, |group| group.count_ones());
            let groups = counted(model.groups.len(), "group");
            let _ = write!(
                out,
                ", served in {groups} of {wide} over {} banks of {} B (`{}`)",
                model.banks, model.bank_bytes, model.name
            );
        }
        out
    }

    /// What became of the declared registers.
    fn registers(&self, figures: &Figures, own: Option<u32>) -> String {
        // Candidates that deliver registers hold one lane's part of the tile, whatever the
        // instruction.
        let held = self
            .judged
            .iter()
            .filter(|it| is_legal(it) && !it.whole && it.atom.is_some())
            .map(|it| it.terms.registers)
            .min();
        let declared = figures.registers;
        match (own, held.filter(|held| *held > 0)) {
            (Some(own), _) if own == declared => format!("{own}, declared the same"),
            (Some(0), _) => format!("0, the tile stays in memory; declared {declared}"),
            (None, _) if figures.stays => format!("declared {declared}"),
            (_, Some(held)) if declared == held => {
                format!("declared {declared}: a lane's part of the tile")
            }
            (_, Some(held)) if declared > held && declared.is_multiple_of(held) => {
                format!(
                    "declared {declared}: {} times a lane's part of the tile, which is {held} registers by whatever instruction",
                    declared / held
                )
            }
            (_, Some(held)) => format!(
                "declared {declared}: a lane's part of the tile is {held} registers by whatever instruction"
            ),
            (own, None) => format!(
                "{}declared {declared}",
                own.map_or_else(String::new, |own| format!("{own}, "))
            ),
        }
    }

    /// Why an instruction is not among the candidates at all.
    fn lacks(&self, atom: AtomId) -> String {
        let has = |arch: &lanebook_tables::Arch<'_>| arch.own(atom).is_some_and(|have| have.native);
        let here = self.arch.and_then(|arch| self.tables.arch(arch));
        // Elements of an instruction that splits bytes are its own; others are bytes or halves of
        // any element.
        let packed = self
            .tables
            .atom(atom)
            .and_then(|atom| atom.movement)
            .map(|movement| movement.unit_bits)
            .filter(|unit| *unit < 8);
        let packed = packed.map_or_else(String::new, |unit| {
            format!("it takes elements of {unit} bits, those of the tile have {}", self.bits)
        });
        match here {
            Some(arch) if !has(arch) => {
                let others: Vec<&str> = self
                    .tables
                    .archs
                    .iter()
                    .filter(|arch| has(arch))
                    .map(|arch| arch.name)
                    .collect();
                let others = if others.is_empty() {
                    "nor has any other".into()
                } else {
                    format!("on {}", others.join(", "))
                };
                let packed = if packed.is_empty() { packed } else { format!("; {packed}") };
                format!("{} does not have it ({others}){packed}", arch.name)
            }
            _ if !packed.is_empty() => packed,
            _ => self.spaces(atom).map_or("it moves no tile by itself".into(), |(from, to)| {
                format!("it joins {from} and {to}")
            }),
        }
    }

    fn spaces(&self, atom: AtomId) -> Option<(&'static str, &'static str)> {
        let movement = self.tables.atom(atom)?.movement?;
        Some((space(movement.from.space), space(movement.to.space)))
    }

    /// Who wins by the declared figures, and who by the tables'.
    fn winners(&self, declared: &[Spanned<Figures>]) -> String {
        let weights = &self.tables.weights;
        let mut out = String::new();
        let is_bound = bound(self.judged);
        for figures in declared.iter().filter(|figures| figures.stays && is_bound) {
            let _ =
                writeln!(out, "//   {} is out: {}", figures.name, why(self.tables, Verdict::Bound));
        }
        let mut left: Vec<&Figures> = declared
            .iter()
            .map(|it| &it.value)
            .filter(|figures| !(figures.stays && is_bound))
            .collect();
        let mut order = Vec::new();
        while let Some(best) = pick(&left.iter().map(|it| it.terms()).collect::<Vec<_>>(), weights)
        {
            let it = left.remove(best);
            order.push(format!("{} {}", it.name, quarters(it.terms().score(weights))));
        }
        let _ = writeln!(
            out,
            "//   by declared figures: {}",
            if order.is_empty() { "nothing".into() } else { order.join(", then ") }
        );
        let taken = self.judged.iter().find(|it| it.verdict == Verdict::Taken && !it.whole);
        let by = taken.map_or_else(
            || "nothing".into(),
            |it| {
                let label = it
                    .atom
                    .and_then(|atom| self.tables.atom(atom))
                    .map_or("descriptor", |atom| atom.name());
                format!("{label} {}", quarters(it.terms.score(weights)))
            },
        );
        let _ = writeln!(out, "//   by the tables: {by}");
        out
    }
}
