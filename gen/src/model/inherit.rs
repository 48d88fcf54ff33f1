//! Architectures from what is written: inheritance is flattened, every reference resolved.
//!
//! A chain of `extends` is walked from the oldest to the youngest; what each kind of field does to
//! the parent's is in `hw-tables/SCHEMA.md`.
use super::archs::{Arch, ArchAtom, Bank, Counter, Hazard, Step, SyncRule};
use super::status::{Cited, Speaks, status};
use super::words::{Words, need_source};
use super::{HwModel, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::schema::{self, Name};
use crate::source::Span;
use crate::spanned::Spanned;
use crate::suppressed::Suppressed;
use lanebook_tables::{AccessId, AtomId, DtypeId, FeatureId, HazardUse, IsaId, SharedLimits};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn resolve(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    let words = Words::of(model);
    let mut names = Names::default();
    let entries: Vec<&Spanned<schema::Arch>> = loaded
        .archs
        .iter()
        .enumerate()
        .filter(|(at, arch)| names.declare(&arch.name, *at, "architecture", diags))
        .map(|(_, a)| a)
        .collect();
    let mut archs = Vec::new();
    for entry in &entries {
        let arch = chain(entry, &entries, diags)
            .and_then(|chain| Resolver { model, words: &words, diags, whole: true }.arch(&chain));
        if arch.is_none() {
            diags.lose_with(Suppressed::name(&entry.name, entry.name.span), entry.span);
        }
        archs.extend(arch);
    }
    let mut quiet = Diagnostics::new();
    for (number, arch) in archs.iter().enumerate() {
        model.arch_names.declare(&arch.name, number, "architecture", &mut quiet);
    }
    model.archs = archs;
}

/// The architecture and its ancestors, the oldest first. A cycle or an unknown parent is reported.
fn chain<'a>(
    entry: &'a Spanned<schema::Arch>,
    entries: &[&'a Spanned<schema::Arch>],
    diags: &mut Diagnostics,
) -> Option<Vec<&'a Spanned<schema::Arch>>> {
    let mut chain = vec![entry];
    let mut at = entry;
    while let Some(parent) = &at.extends {
        let known = || entries.iter().map(|a| a.name.as_str());
        let Some(next) = entries.iter().find(|a| a.name.value == parent.value) else {
            if std::ptr::eq(at, entry) {
                let help = lanebook_suggest::remedy(
                    parent,
                    known(),
                    "name an architecture that has a file",
                );
                let error =
                    Diagnostic::at(parent.span, format!("unknown architecture `{}`", parent.value))
                        .help(help)
                        .lacks(parent);
                diags.push(with_heirs(error, &[at], entries));
            }
            return None;
        };
        if let Some(start) = chain.iter().position(|a| std::ptr::eq(*a, *next)) {
            // Reported once, by the member whose name comes first.
            let cycle = &chain[start..];
            if start == 0 && cycle.iter().all(|a| a.name.value >= entry.name.value) {
                let mut error = Diagnostic::at(
                    entry.extends.as_ref().map_or(entry.span, |p| p.span),
                    format!("architecture `{}` extends itself", entry.name.value),
                );
                for member in &cycle[1..] {
                    error = error.note(
                        member.extends.as_ref().map_or(member.span, |p| p.span),
                        format!("through `{}`", member.name.value),
                    );
                }
                diags.push(with_heirs(error, cycle, entries).help("one of them must not extend"));
            }
            return None;
        }
        chain.push(next);
        at = next;
    }
    chain.reverse();
    Some(chain)
}

/// The diagnostic with a note for each architecture that extends one of these, by however many
/// steps, and is not one of them: nothing can be said of it before they are mended.
fn with_heirs(
    error: Diagnostic,
    of: &[&Spanned<schema::Arch>],
    entries: &[&Spanned<schema::Arch>],
) -> Diagnostic {
    let parent = |name: &Name| entries.iter().find(|a| a.name.value == name.value).copied();
    let mut heirs: Vec<&Spanned<schema::Arch>> = of.to_vec();
    // Each round finds those one step further.
    loop {
        let known = |entry: &Spanned<schema::Arch>, heirs: &[&Spanned<schema::Arch>]| {
            heirs.iter().any(|heir| std::ptr::eq(*heir, entry))
        };
        let next = entries.iter().find(|entry| {
            !known(entry, &heirs)
                && entry.extends.as_ref().and_then(parent).is_some_and(|p| known(p, &heirs))
        });
        match next {
            Some(heir) => heirs.push(heir),
            None => break,
        }
    }
    heirs[of.len()..].iter().fold(error, |error, heir| {
        let place = heir.extends.as_ref().map_or(heir.span, |p| p.span);
        error.note(place, format!("so `{}` is not looked at", heir.name.value))
    })
}

struct Resolver<'a> {
    model: &'a HwModel,
    words: &'a Words,
    diags: &'a mut Diagnostics,
    /// No group and no counter of the architecture is missing.
    whole: bool,
}

type Chain<'a> = [&'a Spanned<schema::Arch>];

/// What the youngest member of the chain that states it says.
fn last<T>(chain: &Chain<'_>, field: impl Fn(&schema::Arch) -> Option<T>) -> Option<T> {
    chain.iter().rev().find_map(|arch| field(arch))
}

impl Resolver<'_> {
    fn arch(mut self, chain: &Chain<'_>) -> Option<Arch> {
        let own = chain.last()?;
        // What a parent lacks is said there, and its children lack it too.
        let missing = |what: &str, diags: &mut Diagnostics| {
            diags.push(
                Diagnostic::at(
                    own.name.span,
                    format!("architecture `{}` does not say its `{what}`", own.name.value),
                )
                .help("state it, or extend an architecture that does"),
            );
        };
        let isa_name = last(chain, |a| a.isa.clone());
        let isa = isa_name
            .as_ref()
            .and_then(|name| self.model.isa_names.find(name, "instruction set", self.diags));
        let (vendor, wave) =
            (last(chain, |a| a.vendor.clone()), last(chain, |a| a.wave_lanes.clone()));
        let (threads, shared) =
            (last(chain, |a| a.max_threads.clone()), last(chain, |a| a.shared.clone()));
        let stated = [
            ("isa", isa_name.is_some()),
            ("vendor", vendor.is_some()),
            ("wave_lanes", wave.is_some()),
            ("max_threads", threads.is_some()),
            ("shared", shared.is_some()),
        ];
        for (what, _) in stated.iter().filter(|(_, there)| !there && chain.len() == 1) {
            missing(what, self.diags);
        }
        let cited = last(chain, |a| a.sources.clone());
        let sources = self.words.cited(cited.as_deref().unwrap_or_default(), self.diags);
        need_source(
            cited.as_deref(),
            own.status,
            own.name.span,
            &format!("architecture `{}`", own.name.value),
            self.diags,
        );
        // The rest is resolved whether those are there or not, so that what is wrong with it is
        // said.
        let lanes = wave.as_ref().and_then(|wave| wave.first().copied()).unwrap_or(0);
        let (banks, atoms, features) =
            (self.banks(chain, lanes), self.atoms(chain), self.features(chain));
        let (sync, counters, hazards) =
            (self.sync(chain), self.counters(chain), self.hazards(chain));
        let flushed = last(chain, |a| a.flushed.clone()).unwrap_or_default();
        let flushed = flushed
            .iter()
            .filter_map(|name| self.model.dtype_names.find(name, "element type", self.diags))
            .map(DtypeId)
            .collect();
        let (isa, wave, shared) = (IsaId(isa?), wave?, shared?);
        let limits =
            SharedLimits { static_bytes: shared.static_bytes, max_bytes: shared.max_bytes };
        Some(Arch {
            name: own.name.clone(),
            target: own
                .target
                .as_ref()
                .map_or_else(|| own.name.value.clone(), |target| target.value.clone()),
            vendor: vendor?.value,
            isa,
            isa_version: last(chain, |a| a.isa_version.clone())
                .map(|v| v.value)
                .unwrap_or_default(),
            max_threads: threads?.value,
            shared: Spanned { value: limits, span: shared.span },
            banks,
            atoms,
            features,
            sync,
            counters,
            hazards,
            whole: self.whole,
            inline_integers: last(chain, |a| a.inline_integers.clone()).map_or((1, 0), |i| i.value),
            flushed,
            scalar_reads: last(chain, |a| a.scalar_reads.clone()).map_or(0, |s| s.value),
            wave_lanes: wave,
            sources,
        })
    }

    /// The sources of an entry, or those of the architecture that states it.
    fn sources(
        &mut self,
        own: Option<&Vec<Name>>,
        arch: &schema::Arch,
        span: Span,
        what: &str,
        typed: Option<schema::Status>,
    ) -> Cited {
        let cited = own.or(arch.sources.as_ref()).map(Vec::as_slice);
        need_source(cited, typed.or(arch.status), span, what, self.diags);
        self.words.cited(cited.unwrap_or_default(), self.diags)
    }

    fn atoms(&mut self, chain: &Chain<'_>) -> Vec<ArchAtom> {
        let mut has: BTreeMap<u16, ((bool, bool), Span)> = BTreeMap::new();
        for arch in chain {
            for name in &arch.has {
                for id in self.group(name) {
                    has.insert(id.0, ((true, true), name.span));
                }
            }
            for name in &arch.assembles {
                for id in self.group(name) {
                    has.entry(id.0).or_insert(((false, false), name.span));
                }
            }
            for name in &arch.without {
                for id in self.group(name) {
                    self.taken(&mut has, id, name, true);
                }
            }
            for name in &arch.lacks {
                if let Some(id) = self.model.atom_names.find(name, "atom", self.diags) {
                    self.taken(&mut has, AtomId(id), name, false);
                }
            }
            for name in &arch.expanded {
                let Some(id) = self.model.atom_names.find(name, "atom", self.diags) else {
                    continue;
                };
                match has.get_mut(&id) {
                    Some(((native, _), _)) => *native = false,
                    None => self.absent(name),
                }
            }
        }
        has.into_iter()
            .map(|(id, ((native, documented_for_arch), because))| ArchAtom {
                atom: AtomId(id),
                native,
                documented_for_arch,
                because,
            })
            .collect()
    }

    /// The groups of the chain; of those that are assembled alone what their instructions are, and no more.
    fn features(&self, chain: &Chain<'_>) -> Vec<FeatureId> {
        let mut out = BTreeSet::new();
        let units = &self.model.units;
        for arch in chain {
            out.extend(arch.has.iter().filter_map(|name| units.feature(name)));
            let assembled = arch.assembles.iter().filter_map(|name| units.feature(name));
            out.extend(assembled.filter(|feature| feature.index() >= units.with_facts));
            for name in arch.without.iter().filter_map(|name| self.model.units.feature(name)) {
                out.remove(&name);
            }
        }
        out.into_iter().collect()
    }

    fn taken(
        &mut self,
        has: &mut BTreeMap<u16, ((bool, bool), Span)>,
        id: AtomId,
        name: &Name,
        group: bool,
    ) {
        if has.remove(&id.0).is_none() && !group {
            self.absent(name);
        }
    }

    fn absent(&mut self, name: &Name) {
        if !self.whole {
            return; // a group that could have it is missing
        }
        let message =
            format!("atom `{}` is in none of the groups that the architecture has", name.value);
        self.diags.push(
            Diagnostic::at(name.span, message).help("remove it here, or add its group to `has`"),
        );
    }

    fn group(&mut self, name: &Name) -> Vec<AtomId> {
        let found = self.model.groups.iter().find(|g| g.name.value == name.value);
        self.whole &= found.is_some_and(|group| group.whole);
        if found.is_none() {
            let known = self.model.groups.iter().map(|g| g.name.as_str());
            let help = lanebook_suggest::remedy(
                name,
                known,
                "write a group of this name, or use one that exists",
            );
            self.diags.push(
                Diagnostic::at(name.span, format!("unknown group `{}`", name.value))
                    .help(help)
                    .lacks(name),
            );
        }
        found.map(|g| g.atoms.clone()).unwrap_or_default()
    }

    fn banks(&mut self, chain: &Chain<'_>, wave: u16) -> Vec<Bank> {
        let mut out: BTreeMap<String, Bank> = BTreeMap::new();
        for arch in chain {
            let mut names = Names::default();
            for bank in &arch.banks {
                if !names.declare(&bank.name, 0, "bank model", self.diags) {
                    continue;
                }
                let what = format!("bank model `{}`", bank.name.value);
                let slots = bank.slots.as_ref().map_or(wave, |s| s.value);
                let sources =
                    self.sources(bank.sources.as_ref(), arch, bank.span, &what, bank.status);
                let resolved = Bank {
                    name: bank.name.clone(),
                    banks: bank.banks,
                    bank_bytes: bank.bank_bytes,
                    slots,
                    groups: self.groups(&bank.groups, slots),
                    groups_span: bank.groups.span,
                    status: status(&self.model.sources, &sources, Speaks::OfMachine),
                    sources,
                };
                out.insert(bank.name.value.clone(), resolved);
            }
        }
        out.into_values().collect()
    }

    fn groups(&mut self, groups: &Spanned<schema::Groups>, slots: u16) -> Vec<Spanned<u64>> {
        let span = groups.span;
        match &groups.value {
            schema::Groups::Consecutive(0) => {
                self.diags.push(
                    Diagnostic::at(span, "a group has at least one lane")
                        .help("write how many are served together"),
                );
                Vec::new()
            }
            schema::Groups::Consecutive(run) => {
                let lanes = |from: u16| {
                    (from..(from + run).min(slots).min(64))
                        .fold(0, |mask, lane| mask | 1u64 << lane)
                };
                (0..slots.min(64))
                    .step_by(usize::from(*run))
                    .map(|from| Spanned { value: lanes(from), span })
                    .collect()
            }
            schema::Groups::Listed(list) => list
                .iter()
                .filter_map(|text| match lanes(text) {
                    Some(value) => Some(Spanned { value, span: text.span }),
                    None => {
                        let message = format!("`{}` is not a set of lanes", text.value);
                        self.diags.push(
                            Diagnostic::at(text.span, message)
                                .help("write ranges of lanes below 64, such as \"0-3,12-15\""),
                        );
                        None
                    }
                })
                .collect(),
        }
    }

    fn sync(&mut self, chain: &Chain<'_>) -> Vec<SyncRule> {
        let mut out: Vec<SyncRule> = Vec::new();
        for arch in chain {
            let mut seen: BTreeMap<(AccessId, AccessId), Span> = BTreeMap::new();
            for rule in &arch.sync {
                let find = |name: &Name, diags: &mut Diagnostics| {
                    self.model.access_names.find(name, "access kind", diags).map(AccessId)
                };
                let (producer, consumer) =
                    (find(&rule.producer, self.diags), find(&rule.consumer, self.diags));
                let steps = rule.steps.iter().filter_map(|step| self.step(step)).collect();
                let sources = self.sources(
                    rule.sources.as_ref(),
                    arch,
                    rule.span,
                    "this synchronisation rule",
                    None,
                );
                let (Some(producer), Some(consumer)) = (producer, consumer) else { continue };
                if let Some(first) = seen.insert((producer, consumer), rule.span) {
                    let message = format!(
                        "what stands between `{}` and `{}` is said twice",
                        rule.producer.value, rule.consumer.value
                    );
                    self.diags.push(
                        Diagnostic::at(rule.producer.span, message)
                            .note(first.head(), "here first")
                            .help("keep one of them"),
                    );
                }
                let resolved = SyncRule { span: rule.span, producer, consumer, steps, sources };
                match out.iter_mut().find(|r| (r.producer, r.consumer) == (producer, consumer)) {
                    Some(old) => *old = resolved,
                    None => out.push(resolved),
                }
            }
        }
        out
    }

    fn step(&mut self, step: &Spanned<schema::Step>) -> Option<Step> {
        let atom = AtomId(self.model.atom_names.find(&step.atom, "atom", self.diags)?);
        Some(Step {
            atom: Spanned { value: atom, span: step.atom.span },
            immediates: step.immediates.clone(),
            after_producer: step.place == schema::Place::AfterProducer,
            barrier: step.barrier,
            span: step.span,
        })
    }

    fn counters(&mut self, chain: &Chain<'_>) -> Vec<Counter> {
        let mut out: Vec<Counter> = Vec::new();
        for arch in chain {
            let mut names = Names::default();
            for counter in &arch.counters {
                let wait = self.model.atom_names.find(&counter.wait, "atom", self.diags);
                if !names.declare(&counter.name, 0, "counter", self.diags) {
                    continue;
                }
                let Some(wait) = wait else {
                    self.whole = false;
                    continue;
                };
                let resolved = Counter {
                    name: counter.name.clone(),
                    max: counter.max,
                    in_order: counter.in_order,
                    wait: Spanned { value: AtomId(wait), span: counter.wait.span },
                    operand: counter.operand.clone(),
                };
                match out.iter_mut().find(|c| c.name.value == counter.name.value) {
                    Some(old) => *old = resolved,
                    None => out.push(resolved),
                }
            }
        }
        out
    }

    fn hazards(&mut self, chain: &Chain<'_>) -> Vec<Hazard> {
        let Some(arch) = chain.iter().rev().find(|a| a.hazards.is_some()) else {
            return Vec::new();
        };
        let mut out = Vec::new();
        for hazard in arch.hazards.iter().flatten() {
            let tags = [hazard.producer.clone(), hazard.consumer.clone()];
            let tags = self.words.tagged(&tags, self.diags);
            let counts = self.words.tagged(&hazard.counts, self.diags);
            let sources =
                self.sources(hazard.sources.as_ref(), arch, hazard.span, "this hazard", None);
            let [producer, consumer] = tags[..] else { continue };
            let (operand, states) = (hazard.operand.clone(), hazard.states);
            let on = match hazard.on {
                schema::HazardOn::Read => HazardUse::Read,
                schema::HazardOn::Write => HazardUse::Write,
                schema::HazardOn::Any => HazardUse::Any,
            };
            let (producer_operand, unless_same) =
                (hazard.producer_operand.clone(), hazard.unless_same);
            let wait = hazard
                .wait
                .as_ref()
                .and_then(|name| self.model.atom_names.find(name, "atom", self.diags))
                .map(AtomId);
            let after = hazard.after.as_ref().and_then(|name| {
                self.words.tagged(std::slice::from_ref(name), self.diags).first().copied()
            });
            if hazard.wait.is_some() && wait.is_none() {
                continue; // it has been said
            }
            out.push(Hazard {
                span: hazard.span,
                producer,
                consumer,
                operand,
                on,
                producer_operand,
                unless_same,
                states,
                counts,
                wait,
                after,
                sources,
                noted: hazard.note.is_some(),
            });
        }
        out
    }
}

/// `0-3,12-15` as a mask.
fn lanes(text: &str) -> Option<u64> {
    let mut mask = 0u64;
    for part in text.split(',') {
        let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last > 63 || first > last {
            return None;
        }
        for lane in first..=last {
            if mask >> lane & 1 == 1 {
                return None;
            }
            mask |= 1 << lane;
        }
    }
    Some(mask)
}
