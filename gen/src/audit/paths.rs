//! What stands between two accesses is said twice: by the table of an architecture, and by the
//! kinds of access, which know the path that they go.
//!
//! Accesses of one path see each other; one of another path is seen behind the steps that the later
//! kind names ([`Access::behind`]), and an access that goes on beside the lanes is over behind those
//! that its own kind names ([`Access::done`]). A rule has all of these and nothing else but barriers
//! and waits. A unit that runs beside the lanes has a rule to and from their registers.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Access, Arch, HwModel, Step, SyncRule};
use crate::schema::Name;
use crate::source::Span;
use lanebook_suggest::remedy;
use lanebook_tables::{AccessId, AtomId, Space};
use std::collections::{BTreeMap, BTreeSet};

/// The path of the lanes themselves.
const LANES: &str = "lanes";

/// Findings once each, whatever number of architectures inherits what is wrong.
type SaidAt = BTreeSet<(Span, u8)>;

/// The path of a kind of access.
pub(super) fn path(access: &Access) -> &str {
    access.path.as_ref().map_or(LANES, |name| name.as_str())
}

/// Whether two accesses of these kinds come in the order in which they are issued.
pub(super) fn ordered(first: &Access, second: &Access) -> bool {
    first.in_order && second.in_order && path(first) == path(second)
}

/// See the module.
pub(super) fn check(model: &HwModel, diags: &mut Diagnostics) {
    kinds(model, diags);
    let mut seen = SaidAt::new();
    for arch in model.archs.iter().filter(|arch| arch.whole) {
        let has: BTreeSet<AtomId> = arch.atoms.iter().map(|entry| entry.atom).collect();
        // Behind a scope stands what the memory model says, which no kind of access does.
        for rule in arch.sync.iter().filter(|rule| !super::order::is_scope(model, rule.producer)) {
            let between = Between::of(model, &has, rule);
            between.has_all(model, arch, &mut seen, diags);
            between.in_place(model, arch, &mut seen, diags);
            between.no_more(model, arch, &mut seen, diags);
        }
        registers(model, arch, &has, &mut seen, diags);
    }
}

/// Kinds name atoms and paths that there are, and what goes another path than the lanes says what it
/// needs behind them.
fn kinds(model: &HwModel, diags: &mut Diagnostics) {
    let paths: BTreeSet<&str> = model.accesses.iter().map(path).collect();
    for one in &model.accesses {
        let lists = one.behind.iter().flat_map(|behind| [&behind.before, &behind.after]);
        for list in lists.chain([&one.done]) {
            // A list of which nothing is known is of another vendor's atoms, which are not here.
            let known = |name: &&Name| model.atom_named(name).is_some();
            let any = list.iter().any(|name| known(&name));
            for name in list.iter().filter(|name| any && !known(name)) {
                let names = model.atoms.iter().map(|atom| atom.name.as_str());
                let help = remedy(name, names, "name an atom");
                let message = format!("no atom is named `{}`", name.value);
                diags.push(Diagnostic::at(name.span, message).help(help));
            }
        }
        for behind in one.behind.iter().filter(|behind| !paths.contains(behind.of.as_str())) {
            let help = remedy(&behind.of, paths.iter().copied(), "name the path of a kind");
            let message = format!("no access goes the path `{}`", behind.of.value);
            diags.push(Diagnostic::at(behind.of.span, message).help(help));
        }
        let after_lanes = one.behind.iter().any(|behind| behind.of.value == LANES);
        if one.path.is_some() && !after_lanes {
            let message =
                format!("nothing says what `{}` needs behind an access of lanes", one.name.value);
            diags.push(Diagnostic::at(one.name.span, message).help(
                "add `behind: [(of: \"lanes\", before: [..], after: [..])]`, with empty lists if nothing is needed",
            ));
        }
    }
}

/// What a rule has to have, by its two kinds.
struct Between<'m> {
    rule: &'m SyncRule,
    kinds: [&'m Access; 2],
    /// Steps by which the earlier is over.
    done: Vec<AtomId>,
    /// Steps before the waves meet, and after.
    before: Vec<AtomId>,
    after: Vec<AtomId>,
}

impl<'m> Between<'m> {
    fn of(model: &'m HwModel, has: &BTreeSet<AtomId>, rule: &'m SyncRule) -> Self {
        let kind = |id: AccessId| &model.accesses[id.index()];
        let [first, second] = [kind(rule.producer), kind(rule.consumer)];
        let here = |names: &[Name]| -> Vec<AtomId> {
            let ids: Option<Vec<AtomId>> = names
                .iter()
                .map(|name| model.atom_named(name).filter(|id| has.contains(id)))
                .collect();
            ids.unwrap_or_default()
        };
        let behind = second
            .behind
            .iter()
            .find(|behind| path(first) != path(second) && behind.of.value == path(first));
        Self {
            rule,
            kinds: [first, second],
            done: if ordered(first, second) { Vec::new() } else { here(&first.done) },
            before: behind.map(|behind| here(&behind.before)).unwrap_or_default(),
            after: behind.map(|behind| here(&behind.after)).unwrap_or_default(),
        }
    }

    fn at(&self, atom: AtomId) -> Option<usize> {
        self.rule.steps.iter().position(|step| step.atom.value == atom)
    }

    fn told(&self) -> String {
        let [first, second] = self.kinds;
        format!("between `{}` and `{}`", first.name.value, second.name.value)
    }

    fn found(&self, span: Span, message: String, help: &str, diags: &mut Diagnostics) {
        let [first, second] = self.kinds;
        diags.push(
            Diagnostic::at(span.head(), message)
                .note(first.name.span, "the earlier kind")
                .note(second.name.span, "the later kind")
                .help(help),
        );
    }

    fn has_all(&self, model: &HwModel, arch: &Arch, seen: &mut SaidAt, diags: &mut Diagnostics) {
        let wanted = self.done.iter().chain(&self.before).chain(&self.after);
        let missing = wanted.copied().find(|atom| self.at(*atom).is_none());
        if let Some(atom) = missing
            && seen.insert((self.rule.span, 0))
        {
            let message = format!(
                "{} stands no `{}` on `{}`, which the kinds ask for",
                self.told(),
                model.atom(atom).name.value,
                arch.name.value
            );
            let help = "add the step, or correct `done` or `behind` of the kinds";
            self.found(self.rule.span, message, help, diags);
        }
    }

    /// What is over comes before what is said of it; one side's steps before the meeting, the
    /// other's behind it; steps of the earlier access alone come first.
    fn in_place(&self, model: &HwModel, arch: &Arch, seen: &mut SaidAt, diags: &mut Diagnostics) {
        let steps = &self.rule.steps;
        let waits = |step: &Step| arch.counters.iter().any(|c| c.wait.value == step.atom.value);
        let meet: Vec<usize> = (0..steps.len()).filter(|at| meets(model, &steps[*at])).collect();
        let over = (0..steps.len()).rfind(|at| {
            waits(&steps[*at]) || self.done.contains(&steps[*at].atom.value) && !meet.contains(at)
        });
        let before = |atom: &&AtomId| {
            self.at(**atom).is_some_and(|at| {
                meet.first().is_some_and(|meet| at > *meet) || over.is_some_and(|over| at < over)
            })
        };
        let after = |atom: &&AtomId| {
            self.at(**atom).is_some_and(|at| meet.last().is_some_and(|meet| at < *meet))
        };
        let places: Vec<usize> = self.done.iter().filter_map(|atom| self.at(*atom)).collect();
        let wrong = self.before.iter().find(before).or_else(|| self.after.iter().find(after));
        let wrong = wrong.copied().or_else(|| {
            let turned = places.windows(2).any(|pair| pair[0] > pair[1]);
            self.done.first().filter(|_| turned).copied()
        });
        if let Some(atom) = wrong
            && seen.insert((self.rule.span, 1))
        {
            let message = format!(
                "`{}` stands at the wrong place {}",
                model.atom(atom).name.value,
                self.told()
            );
            let help = "first what the earlier access is over by, then what stands before the meeting, the meeting, what stands behind it";
            self.found(self.rule.span, message, help, diags);
        }
        // Right after its producer is what each lane does there, before it waits or meets the others.
        let own = steps.iter().take_while(|step| step.after_producer).count();
        let late = steps.iter().skip(own).any(|step| step.after_producer);
        let next = steps.get(own).filter(|step| !meets(model, step) && !waits(step));
        let early = next.filter(|step| {
            let atom = step.atom.value;
            let last = self.done.last() == Some(&atom) && self.done.len() > 1;
            !meet.is_empty() && !last && !self.after.contains(&atom)
        });
        if (late || early.is_some()) && seen.insert((self.rule.span, 2)) {
            let at = early.map_or(self.rule.span, |step| step.span);
            let message = format!("a step {} is not where the earlier access is", self.told());
            let help = "what comes before a wait or a barrier is `place: after_producer`, and nothing else is";
            self.found(at, message, help, diags);
        }
    }

    fn no_more(&self, model: &HwModel, arch: &Arch, seen: &mut SaidAt, diags: &mut Diagnostics) {
        let counts = |atom: AtomId| {
            arch.counters.iter().any(|counter| counter.wait.value == atom)
                || model.atom(atom).counter.is_some()
        };
        let further = self.rule.steps.iter().find(|step| {
            let atom = step.atom.value;
            let asked = [&self.done, &self.before, &self.after];
            !step.barrier && !counts(atom) && !asked.iter().any(|list| list.contains(&atom))
        });
        if let Some(step) = further
            && seen.insert((step.span, 3))
        {
            let message = format!(
                "nothing says why `{}` stands {}",
                model.atom(step.atom.value).name.value,
                self.told()
            );
            let help = "name it in `done` of the earlier kind or `behind` of the later one, or remove the step";
            self.found(step.span, message, help, diags);
        }
    }
}

/// A step at which the waves meet, or an object that completed is seen by each of them.
fn meets(model: &HwModel, step: &Step) -> bool {
    step.barrier || model.units.mbarriers.iter().any(|(_, one)| one.wait == step.atom.value)
}

/// Who works on registers beside the lanes has rules to what lanes wrote and from what they read.
fn registers(
    model: &HwModel,
    arch: &Arch,
    has: &BTreeSet<AtomId>,
    seen: &mut SaidAt,
    diags: &mut Diagnostics,
) {
    let known: BTreeSet<(AccessId, AccessId)> =
        arch.sync.iter().map(|rule| (rule.producer, rule.consumer)).collect();
    let lanes = |reading: bool| {
        (0u16..).map(AccessId).zip(&model.accesses).find_map(|(id, one)| {
            let own = one.space == Space::Register && path(one) == LANES;
            (own && super::order::reads(&one.name) == Some(reading)).then_some(id)
        })
    };
    let mut wanted: BTreeMap<(AccessId, AccessId), Span> = BTreeMap::new();
    for atom in has.iter().map(|id| model.atom(*id)) {
        let runs = atom.more.as_ref().and_then(|more| more.runs);
        if let (Some(unit), Some(write), Some(read)) = (runs, lanes(false), lanes(true)) {
            wanted.entry((write, unit)).or_insert(atom.name.span);
            wanted.entry((unit, read)).or_insert(atom.name.span);
        }
        // What lanes fetch is in their registers when it is over.
        if let Some(one) = atom.more.as_ref().and_then(|more| more.tensor.as_ref()) {
            wanted.entry((one.reads, one.fetched)).or_insert(atom.name.span);
        }
        let brings = atom.movement.as_ref().filter(|one| one.to.space == Space::Register);
        if let (Some(from), Some(read)) = (brings.and_then(|one| one.from.access), lanes(true))
            && !model.accesses[from.index()].done.is_empty()
        {
            wanted.entry((from, read)).or_insert(atom.name.span);
        }
    }
    let name = |id: AccessId| &model.accesses[id.index()].name.value;
    for ((first, second), atom) in wanted {
        if !known.contains(&(first, second)) && seen.insert((atom, 4)) {
            let message = format!(
                "`{}` has `{}` and `{}`, and nothing says what stands between them",
                arch.name.value,
                name(first),
                name(second)
            );
            diags.push(
                Diagnostic::at(arch.name.span, message)
                    .note(atom, "an atom that makes one of them")
                    .help("add a rule to `sync`"),
            );
        }
    }
}
