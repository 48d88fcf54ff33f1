//! The sound part of inputs with errors: what is left when every entry with an error, and what
//! hangs upon it, is left out.
//!
//! The audit looks at this part, so that one run shows what it finds there beside the errors.
//! Entries go, not facts: an atom with an error is left out whole; of an architecture only the
//! element of its list that is wrong, and the whole only if the error is elsewhere in it. Then
//! everything is resolved and checked again, until nothing is said. Rules are left out altogether:
//! the audit asks nothing of them.
use crate::check;
use crate::compiled::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::load::{Loaded, LoadedGroup};
use crate::lower::lower;
use crate::model::{self, HwModel};
use crate::rules::{self, RuleModel};
use crate::schema::{self, Name};
use crate::source::{FileId, Sources, Span};
use crate::spanned::Spanned;
use std::collections::BTreeMap;

/// Rounds after which the rest is given up: each leaves something out, and a chain of what hangs
/// upon what is short.
const ROUNDS: usize = 32;
/// Names of one kind that a summary spells out.
const FEW: usize = 4;
/// Stages that say nothing about the entries that were loaded: what cannot be read is not among
/// them.
const OTHER_STAGES: [&str; 5] = ["files", "schema", "rules", "ledger", "proofs"];

/// What is sound, compiled, and what had to go for it.
#[derive(Debug)]
pub struct PartialModel {
    /// The tables of what is left, without rules. Good for the audit, not for a build.
    pub compiled: Compiled,
    /// What is left out.
    pub left_out: LeftOut,
}

/// What is left out, by kind: names with their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut(BTreeMap<&'static str, BTreeMap<String, Span>>);

impl LeftOut {
    fn add(&mut self, kind: &'static str, name: &Name) {
        self.0.entry(kind).or_default().insert(name.value.clone(), name.span);
    }
    /// `atoms a, b; architecture c`, empty for nothing.
    #[must_use]
    pub fn summary(&self) -> String {
        let kinds = self.0.iter().map(|(kind, names)| {
            let shown: Vec<&str> = names.keys().take(FEW).map(String::as_str).collect();
            let more = names.len().saturating_sub(FEW);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{kind}{} {}{more}", if names.len() == 1 { "" } else { "s" }, shown.join(", "))
        });
        kinds.collect::<Vec<_>>().join("; ")
    }
}

/// The sound part of what was loaded. `said` is what is wrong with it, not settled yet; what only
/// tables can show is added to it. Nothing if no part can be told apart.
#[must_use]
pub fn sound(sources: &Sources, loaded: Loaded, said: &mut Diagnostics) -> Option<PartialModel> {
    // What is held back here is so again, if it is about entries.
    let mut part = Part { loaded, left_out: LeftOut::default(), wrong: wrong(sources, said, []) };
    let mut lost = said.only_lost();
    for _ in 0..ROUNDS {
        let unresolved = part.wrong.len();
        part.leave_out(sources, &mut lost);
        if unresolved > 0 && part.wrong.len() == unresolved {
            return None; // nothing that could go
        }
        let mut now = lost.clone();
        let model = model::resolve(&part.loaded, &mut now);
        check::all(&model).iter().for_each(|one| now.push(one.clone()));
        part.wrong = wrong(sources, &now, now.held());
        if part.wrong.is_empty() {
            let tables = lower(&model, &rules::lower::lower(&RuleModel::default()));
            let unlike = check::params::check(&model, &tables).named("names");
            if unlike.is_empty() {
                return Some(part.compiled(sources, model, tables));
            }
            part.wrong = wrong(sources, &unlike, []);
            said.extend(unlike);
        }
    }
    None
}

/// Places of what is wrong with entries of the hardware tables, and of what is held back of them.
fn wrong(sources: &Sources, said: &Diagnostics, held: impl IntoIterator<Item = Span>) -> Vec<Span> {
    let stage = |one: &&Diagnostic| one.level == Level::Error && !OTHER_STAGES.contains(&one.check);
    let said = said
        .iter()
        .filter(stage)
        .filter_map(|one| one.labels.first())
        .map(|label| label.span)
        .chain(held);
    // An instruction set's frame is no matter of the audit.
    said.filter(|at| !sources.file(at.file).name.starts_with("rules/")).collect()
}

/// What is being cut down.
struct Part {
    loaded: Loaded,
    left_out: LeftOut,
    /// Places of errors that nothing has gone for yet.
    wrong: Vec<Span>,
}

impl Part {
    /// Whether an error is in a span; it is dealt with then.
    fn hit(&mut self, span: Span) -> bool {
        let before = self.wrong.len();
        self.wrong.retain(|at| {
            !(at.file == span.file
                && span.start <= at.start
                && at.start < span.end.max(span.start + 1))
        });
        self.wrong.len() < before
    }

    /// Takes out the entries of a list that are hit.
    fn cut<T>(
        &mut self,
        list: &mut Vec<T>,
        span: impl Fn(&T) -> Span,
        mut gone: impl FnMut(&mut Self, &T),
    ) {
        for entry in std::mem::take(list) {
            if self.hit(span(&entry)) {
                gone(self, &entry);
            } else {
                list.push(entry);
            }
        }
    }

    /// [`cut`](Self::cut) of entries with a name, which is lost with them.
    fn cut_named<T>(
        &mut self,
        list: &mut Vec<Spanned<T>>,
        kind: &'static str,
        name: impl Fn(&T) -> &Name,
        lost: &mut Diagnostics,
    ) {
        self.cut(list, |entry| entry.span, |part, entry| part.gone(kind, name(&entry.value), lost));
    }

    fn gone(&mut self, kind: &'static str, name: &Name, lost: &mut Diagnostics) {
        self.left_out.add(kind, name);
        lost.lose_name(name, name.span);
    }

    /// Takes out what is wrong, once.
    fn leave_out(&mut self, sources: &Sources, lost: &mut Diagnostics) {
        let mut groups = std::mem::take(&mut self.loaded.groups);
        for group in &mut groups {
            self.within_group(group, lost);
        }
        let mut kept = Vec::new();
        for group in groups {
            if self.hit(group.group.span) {
                group.atoms.iter().for_each(|atom| self.gone("atom", &atom.name, lost));
                self.gone("group", &group.group.name, lost);
            } else {
                kept.push(group);
            }
        }
        self.loaded.groups = kept;
        let mut agreements = std::mem::take(&mut self.loaded.agreements);
        self.cut_named(&mut agreements, "agreement", |agreement| &agreement.name, lost);
        self.loaded.agreements = agreements;
        let mut archs = std::mem::take(&mut self.loaded.archs);
        for arch in &mut archs {
            self.within_arch(&mut arch.value);
        }
        self.cut_named(&mut archs, "architecture", |arch| &arch.name, lost);
        self.loaded.archs = archs;
        self.words(sources, lost);
    }

    fn within_group(&mut self, group: &mut LoadedGroup, lost: &mut Diagnostics) {
        let before = self.wrong.len();
        self.cut_named(&mut group.atoms, "atom", |atom| &atom.name, lost);
        let units = &mut group.units;
        self.cut_named(&mut units.descriptors, "descriptor", |unit| &unit.name, lost);
        self.cut_named(&mut units.swizzles, "swizzle mode", |unit| &unit.name, lost);
        self.cut_named(&mut units.operand_tiles, "operand tile", |unit| &unit.name, lost);
        self.cut(&mut units.tensor_memories, |unit| unit.span, |_, _| {});
        self.cut_named(&mut units.tensor_tiles, "tensor tile", |unit| &unit.name, lost);
        self.cut_named(&mut units.tensor_moves, "tensor move", |unit| &unit.name, lost);
        self.cut(&mut units.shapes, |unit| unit.span, |_, _| {});
        self.cut_named(&mut units.order_limits, "order limit", |unit| &unit.name, lost);
        self.cut_named(&mut units.map_limits, "map limit", |unit| &unit.name, lost);
        self.cut_named(&mut units.tensor_maps, "tensor map", |unit| &unit.name, lost);
        // The atoms of a family that could not be read are missing already.
        self.cut(&mut group.group.value.families, |family| family.span, |_, _| {});
        self.cut(&mut group.group.value.atoms, |entry| entry.span, |_, _| {});
        group.whole &= self.wrong.len() == before;
    }

    /// Elements of its lists that are wrong.
    fn within_arch(&mut self, arch: &mut schema::Arch) {
        for list in [
            &mut arch.has,
            &mut arch.without,
            &mut arch.lacks,
            &mut arch.assembles,
            &mut arch.expanded,
        ] {
            self.cut(list, |name| name.span, |_, _| {});
        }
        if let Some(list) = &mut arch.sources {
            self.cut(list, |name| name.span, |_, _| {});
        }
        self.cut(&mut arch.banks, |bank| bank.span, |_, _| {});
        self.cut(&mut arch.sync, |rule| rule.span, |_, _| {});
        self.cut(&mut arch.counters, |counter| counter.span, |_, _| {});
        self.cut(arch.hazards.as_mut().unwrap_or(&mut Vec::new()), |hazard| hazard.span, |_, _| {});
    }

    /// Words, which know the place of their name only: what is wrong between one and the next is
    /// wrong with the first.
    fn words(&mut self, sources: &Sources, lost: &mut Diagnostics) {
        let loaded = std::mem::take(&mut self.loaded);
        let Loaded { sources: documents, dtypes, axes, accesses, broadcasts, tags, .. } = &loaded;
        let names = documents
            .iter()
            .map(|one| &one.key)
            .chain(dtypes.iter().map(|one| &one.name))
            .chain(axes.iter().map(|one| &one.name));
        let names = names
            .chain(accesses.iter().map(|one| &one.name))
            .chain(broadcasts.iter().map(|one| &one.name))
            .chain(tags.iter().map(|one| &one.name));
        let mut names: Vec<Name> = names.cloned().collect();
        names.sort_by_key(|name| name.span);
        self.loaded = loaded;
        let mut gone: Vec<Span> = Vec::new();
        for (at, name) in names.iter().enumerate() {
            let end = names
                .get(at + 1)
                .filter(|next| next.span.file == name.span.file)
                .map_or(file_end(sources, name.span.file), |next| next.span.start);
            if self.hit(Span { end, ..name.span }) {
                gone.push(name.span);
                self.left_out.add("word", name);
                // Of two with one name, the other is still there.
                if !names.iter().any(|other| other.value == name.value && other.span != name.span) {
                    lost.lose_name(name, name.span);
                }
            }
        }
        let stays = |name: &Name| !gone.contains(&name.span);
        let loaded = &mut self.loaded;
        loaded.sources.retain(|one| stays(&one.key));
        loaded.dtypes.retain(|one| stays(&one.name));
        loaded.axes.retain(|one| stays(&one.name));
        loaded.accesses.retain(|one| stays(&one.name));
        loaded.broadcasts.retain(|one| stays(&one.name));
        loaded.tags.retain(|one| stays(&one.name));
    }

    fn compiled(
        self,
        sources: &Sources,
        model: HwModel,
        tables: lanebook_tables::Tables<'static>,
    ) -> PartialModel {
        let compiled =
            Compiled::new(sources.clone(), self.loaded, model, RuleModel::default(), tables);
        PartialModel { compiled, left_out: self.left_out }
    }
}

fn file_end(sources: &Sources, file: FileId) -> u32 {
    sources.file(file).text.len() as u32 + 1
}
