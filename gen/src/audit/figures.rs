//! Numbers of architectures and instructions that other numbers determine.
//!
//! A unit that runs for so many passes is busy in proportion; an instruction issues at least once,
//! and one that counts its instructions counts them all. What belongs to an instruction set is the same in all
//! of its architectures; sizes of memories are whole kilobytes; a bank model is as wide as the
//! access that it is named for.
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Arch, HwModel};
use crate::schema::Figures;
use crate::source::Span;
use lanebook_tables::{AtomClass, AtomId, IsaId, Status};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let model = &compiled.model;
    let mut diags = Diagnostics::new();
    passes(model, &mut diags);
    issues(model, &mut diags);
    alone(model, &mut diags);
    busy(model, &mut diags);
    families(model, &mut diags);
    sourced(compiled, &mut diags);
    super::fences::check(compiled, &mut diags);
    rates(model, &mut diags);
    super::foreign::check(compiled, &mut diags);
    let mut seen = BTreeSet::new();
    for arch in &model.archs {
        memory(arch, &mut diags);
        super::served::banks(model, arch, &mut seen, &mut diags);
    }
    diags
}

/// A name with its only number taken out, and the number.
pub(super) fn numbered(name: &str) -> Option<(String, u32)> {
    let start = name.rfind(|c: char| c.is_ascii_digit())?;
    let first = name[..start].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let number = name[first..=start].parse().ok()?;
    Some((format!("{}#{}", &name[..first], &name[start + 1..]), number))
}

fn passes(model: &HwModel, diags: &mut Diagnostics) {
    let mut known: BTreeMap<String, BTreeMap<(u32, u32), Vec<Span>>> = BTreeMap::new();
    // A series has several numbers.
    let mut numbers: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for (series, number) in model.tags.iter().filter_map(|tag| numbered(&tag.name.value)) {
        numbers.entry(series).or_default().insert(number);
    }
    for atom in model.atoms.iter().filter(|atom| atom.cost.cycles > 0) {
        for tag in &atom.tags {
            let Some((series, number)) = numbered(&model.tags[tag.index()].name.value) else {
                continue;
            };
            if numbers.get(&series).is_none_or(|numbers| numbers.len() < 2) {
                continue;
            }
            let cycles = u32::from(atom.cost.cycles);
            let common = crate::layouts::gcd(cycles.into(), number.max(1).into()) as u32;
            known
                .entry(series)
                .or_default()
                .entry((cycles / common, number / common))
                .or_default()
                .push(atom.name.span);
        }
    }
    for (series, rates) in known {
        let Some(usual) = rates.iter().max_by_key(|(_, spans)| spans.len()).map(|(rate, _)| *rate)
        else {
            continue;
        };
        for (rate, spans) in rates.iter().filter(|(rate, _)| **rate != usual) {
            let Some(span) = spans.first() else { continue };
            let message = format!(
                "cycles are {} for {} of `{series}` here, and {} for {} elsewhere",
                rate.0, rate.1, usual.0, usual.1
            );
            diags.push(
                Diagnostic::at(*span, message)
                    .help("cycles go with the number of the tag: correct `cost` or `tags`"),
            );
        }
    }
}

fn issues(model: &HwModel, diags: &mut Diagnostics) {
    let known = alone_issues(model);
    for atom in &model.atoms {
        let text = text(atom);
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        let issue = usize::from(atom.cost.issue);
        // An assembler that prints encodings writes an instruction for each line.
        let machine =
            model.isa(atom.isa).assembler.as_ref().is_some_and(|asked| !asked.encodes.is_empty());
        let exact = machine && lines > 1 && atom.class != AtomClass::Sync;
        // What computes is busy with each of its lines, and with none longer than a text of it alone.
        // (A conversion may have lines that only call registers by other names.)
        let computes = matches!(atom.class, AtomClass::Alu | AtomClass::Convert);
        let renames = atom.class == AtomClass::Convert || atom.does.is_none();
        let fewer = issue < lines && (issue > 1 || computes && !renames);
        let longest = if computes && lines > 1 { longest(&known, atom.isa, &text) } else { None };
        let more = longest.is_some_and(|longest| issue > longest);
        if issue == 0 || fewer || more || exact && issue != lines {
            let message =
                format!("`{}` is {lines} instructions and issues {issue} times", atom.name.value);
            diags.push(
                Diagnostic::at(atom.name.span, message)
                    .help("each instruction issues once, and once at least where a line may be several: correct `issue`"),
            );
        }
    }
}

/// How often instructions of one line issue at most, by instruction set and first word.
type Alone = BTreeMap<(IsaId, String), usize>;

/// The first word of a line.
fn first(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().to_string()
}

fn alone_issues(model: &HwModel) -> Alone {
    let mut out = Alone::new();
    for atom in &model.atoms {
        let text = text(atom);
        if !text.trim_end().contains('\n') {
            let most = out.entry((atom.isa, first(&text))).or_default();
            *most = usize::from(atom.cost.issue).max(*most);
        }
    }
    out
}

/// How often the lines of a text issue at most, each as the instruction of one line does that begins
/// so; none if one of them is in no other text.
fn longest(alone: &Alone, isa: IsaId, text: &str) -> Option<usize> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| alone.get(&(isa, first(line))).copied()).sum()
}

/// Of operations of one kind, in as many instructions, one that issues another number of times than
/// all others is suspect.
fn alone(model: &HwModel, diags: &mut Diagnostics) {
    let mut known: BTreeMap<_, BTreeMap<u16, Vec<&crate::model::Atom>>> = BTreeMap::new();
    for atom in &model.atoms {
        let Some(does) = &atom.does else { continue };
        let kind = does.op.value.split('.').next().unwrap_or_default();
        let lines = text(atom).lines().filter(|line| !line.trim().is_empty()).count();
        let issues = known.entry((atom.isa, kind, lines)).or_default();
        issues.entry(atom.cost.issue).or_default().push(atom);
    }
    for issues in known.values().filter(|issues| issues.len() == 2) {
        let Some((usual, others)) = issues.iter().max_by_key(|(_, atoms)| atoms.len()) else {
            continue;
        };
        for (issue, atoms) in issues.iter().filter(|(issue, _)| *issue != usual) {
            let ([atom], Some(other), true) = (atoms.as_slice(), others.first(), others.len() > 3)
            else {
                continue;
            };
            let message = format!(
                "`{}` issues {issue} times, and all others of its kind {usual}",
                atom.name.value
            );
            diags.push(
                Diagnostic::at(atom.name.span, message)
                    .note(other.name.span, "one of them")
                    .help("as many instructions issue as often: correct `issue`")
                    .as_level(Level::Warning),
            );
        }
    }
}

/// Cycles are known of matrix units alone.
fn busy(model: &HwModel, diags: &mut Diagnostics) {
    for atom in &model.atoms {
        if atom.cost.cycles > 0 && atom.class != AtomClass::Matrix {
            let message = format!("`{}` keeps no unit busy and has cycles of one", atom.name.value);
            diags.push(
                Diagnostic::at(atom.name.span, message)
                    .help("cycles are those of a matrix unit: leave them at 0"),
            );
        }
    }
}

/// The instruction set that a family began with.
fn root(model: &HwModel, isa: IsaId) -> IsaId {
    std::iter::successors(Some(isa), |at| model.isa(*at).parent)
        .take(model.isas.len())
        .last()
        .unwrap_or(isa)
}

fn families(model: &HwModel, diags: &mut Diagnostics) {
    let mut known: BTreeMap<(IsaId, &str), BTreeMap<String, Vec<&Arch>>> = BTreeMap::new();
    for arch in &model.archs {
        let family = root(model, arch.isa);
        let mut add = |what, value: String| {
            known.entry((family, what)).or_default().entry(value).or_default().push(arch)
        };
        add("vendor", arch.vendor.clone());
        add("integers that any operand takes", format!("{:?}", arch.inline_integers));
        let whole = arch.shared.static_bytes == arch.shared.max_bytes;
        add("that all shared memory can be declared", whole.to_string());
        if !whole {
            add("bytes that are declared at most", arch.shared.static_bytes.to_string());
        }
    }
    for ((_, what), values) in known {
        if values.len() < 2 {
            continue;
        }
        let usual = values.iter().max_by_key(|(_, archs)| archs.len());
        let odd = values.iter().min_by_key(|(_, archs)| archs.len());
        if let (Some((usual, of)), Some((odd, archs))) = (usual, odd)
            && let (Some(arch), Some(other)) = (archs.first(), of.first())
        {
            let message = format!(
                "{what}: {odd} on `{}`, {usual} on `{}`",
                arch.name.value, other.name.value
            );
            diags.push(
                Diagnostic::at(arch.name.span, message)
                    .note(other.name.span, "the other")
                    .help("it is a fact of the instruction set: correct one of them"),
            );
        }
    }
}

fn memory(arch: &Arch, diags: &mut Diagnostics) {
    const KILO: u32 = 1024;
    let shared = &arch.shared;
    let odd = |bytes: u32| !bytes.is_multiple_of(KILO);
    if odd(shared.static_bytes) || odd(shared.max_bytes) {
        let message = format!(
            "`{}` has {} and {} bytes of shared memory, which are no kilobytes",
            arch.name.value, shared.static_bytes, shared.max_bytes
        );
        diags.push(Diagnostic::at(shared.span, message).help("sizes are multiples of 1024"));
    }
    let most = arch.wave_lanes.value.iter().copied().max().unwrap_or(1).max(1);
    if !arch.max_threads.is_power_of_two() || !arch.max_threads.is_multiple_of(most) {
        let message = format!(
            "a group of `{}` has {} threads at most, which are no whole waves of {most}",
            arch.name.value, arch.max_threads
        );
        diags.push(
            Diagnostic::at(arch.name.span, message)
                .help("a group is a number of waves, a power of two: correct `max_threads`"),
        );
    }
}

/// What an entry says of an architecture, what it says of itself, and what it is.
fn told(model: &HwModel, arch: &Arch, entry: &Figures) -> Vec<(&'static str, String, String)> {
    let mut out = Vec::new();
    let mut add = |what, own: String, theirs: Option<String>| {
        out.extend(theirs.map(|theirs| (what, own, theirs)));
    };
    let number = |value: Option<u32>| value.map(|value| value.to_string());
    add("bytes of shared memory", arch.shared.max_bytes.to_string(), number(entry.shared_bytes));
    add(
        "threads of a group",
        arch.max_threads.to_string(),
        number(entry.max_threads.map(u32::from)),
    );
    add(
        "scalar registers that an instruction reads",
        arch.scalar_reads.to_string(),
        number(entry.scalar_reads.map(u32::from)),
    );
    // What a tile takes at most is what its lanes have.
    let most = model.isa(arch.isa).classes.iter().map(|class| class.tile_most).max().unwrap_or(0);
    add("registers of a lane", most.to_string(), number(entry.registers.map(u32::from)));
    let own: BTreeSet<u16> = arch.banks.iter().map(|bank| bank.banks).collect();
    let theirs: BTreeSet<u16> = entry.banks.iter().copied().collect();
    add("banks", format!("{own:?}"), (!theirs.is_empty()).then(|| format!("{theirs:?}")));
    let names = arch.flushed.iter().filter_map(|id| model.dtypes.get(id.index()));
    let own: BTreeSet<&str> = names.map(|dtype| dtype.name.value.as_str()).collect();
    let theirs = entry
        .flushed
        .as_ref()
        .map(|list| -> BTreeSet<&str> { list.iter().map(|name| name.value.as_str()).collect() });
    let theirs = theirs.map(|theirs| format!("{theirs:?}"));
    add("types whose subnormal numbers are taken as 0", format!("{own:?}"), theirs);
    out
}

/// What further sources say of an architecture is what it says of itself.
fn sourced(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    for entry in &compiled.loaded.figures {
        for name in &entry.archs {
            let mut found = model.archs.iter().filter(|arch| arch.target == name.value).peekable();
            if found.peek().is_none() {
                diags.push(
                    Diagnostic::at(
                        name.span,
                        format!("no architecture has the target `{}`", name.value),
                    )
                    .help("correct the name, or remove it")
                    .lacks(name),
                );
            }
            for arch in found {
                let told = told(model, arch, entry);
                for (what, own, theirs) in told.into_iter().filter(|(_, own, theirs)| own != theirs)
                {
                    let sources: Vec<&str> =
                        entry.sources.iter().map(|source| source.value.as_str()).collect();
                    let message = format!(
                        "{what}: {own} on `{}`, {theirs} by {}",
                        arch.name.value,
                        sources.join(", ")
                    );
                    diags.push(
                        Diagnostic::at(arch.name.span, message)
                            .note(entry.span.head(), "what they say")
                            .help("find out which is right, and correct the other"),
                    );
                }
            }
        }
    }
    // Once they speak of some architectures of a vendor, they speak of all.
    let told = |arch: &Arch| {
        compiled
            .loaded
            .figures
            .iter()
            .any(|entry| entry.archs.iter().any(|n| n.value == arch.target))
    };
    let vendors: BTreeSet<&str> =
        model.archs.iter().filter(|arch| told(arch)).map(|arch| arch.vendor.as_str()).collect();
    for arch in
        model.archs.iter().filter(|arch| vendors.contains(arch.vendor.as_str()) && !told(arch))
    {
        diags.push(
            Diagnostic::at(
                arch.name.span,
                format!("no second source speaks of the figures of `{}`", arch.name.value),
            )
            .help("add its target to `figures`, with a source")
            .as_level(crate::diagnostics::Level::Note),
        );
    }
}

/// Products of a family, with operands as wide, do as many sums a cycle: one that is alone with
/// another rate, where all others have one, is suspect.
fn rates(model: &HwModel, diags: &mut Diagnostics) {
    type Rates = BTreeMap<u64, Vec<AtomId>>;
    let mut known: BTreeMap<(IsaId, &str, u16, u16), Rates> = BTreeMap::new();
    for (id, atom) in (0u16..).map(AtomId).zip(&model.atoms) {
        let Some(shape) =
            atom.matrix.as_ref().filter(|_| atom.cost.cycles > 0 && atom.status != Status::Assumed)
        else {
            continue;
        };
        let bits = |number: u8| {
            let operand = atom.operands.get(usize::from(number));
            let dtype = operand.and_then(|operand| operand.dtype);
            dtype.and_then(|id| model.dtypes.get(id.index())).map_or(0, |dtype| dtype.bits)
        };
        let name = atom.name.value.as_str();
        let family = name.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
        let sums = u64::from(shape.m) * u64::from(shape.n) * u64::from(shape.k);
        let rate = 1000 * sums / u64::from(atom.cost.cycles);
        let key = (atom.isa, family, bits(shape.a), bits(shape.b));
        known.entry(key).or_default().entry(rate).or_default().push(id);
    }
    for rates in known.into_values() {
        let mut list: Vec<(u64, Vec<AtomId>)> = rates.into_iter().collect();
        list.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
        let [(usual, many), (odd, one)] = list.as_slice() else { continue };
        if let ([one], [first, _, _, ..]) = (one.as_slice(), many.as_slice()) {
            let (one, first) = (model.atom(*one), model.atom(*first));
            let message = format!(
                "`{}` does {} sums a cycle, and {} others of its family do {}",
                one.name.value,
                odd / 1000,
                many.len(),
                usual / 1000
            );
            diags.push(
                Diagnostic::at(one.name.span, message)
                    .note(first.name.span, "one of the others")
                    .help("correct `cycles`"),
            );
        }
    }
}
