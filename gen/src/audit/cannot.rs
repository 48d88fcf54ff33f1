//! What no program can have on an architecture, since nothing there answers what the engine asks:
//! asks of `rules/asks.ron`, elementwise operations that `rules/contract.ron` compiles, operations
//! of addresses that no usable rule of `rules/isa` covers.
//!
//! The author of an architecture reads it here; without it a user would, program by program.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::dispatch::{answered, sequences, spelled};
use lanebook_tables::{
    Arch, BuildNode, IndexOp, Language, OpId, PatternNode, RegisterKind, RuleId, Tables,
};
use std::collections::BTreeSet;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let tables = &compiled.tables();
    let mut lines = Vec::new();
    for (arch, model) in tables.archs.iter().zip(&compiled.model.archs) {
        let all: Vec<String> =
            answered(tables, arch).into_iter().map(|one| spelled(tables, arch, one)).collect();
        lines.push((arch, model, all));
    }
    let mut diags = Diagnostics::new();
    // What no machine of these tables does is said once.
    let nowhere: BTreeSet<&str> = compiled_words(tables)
        .filter(|(name, id)| {
            !lines.iter().any(|(arch, _, all)| does((tables, arch), all, name, *id))
        })
        .map(|(name, _)| name)
        .collect();
    let first = compiled_words(tables).find(|(name, _)| nowhere.contains(name));
    let first = first.and_then(|(_, id)| compiled.rules.ops.list.get(id.index()));
    if let Some(op) = first.filter(|_| !lines.is_empty()) {
        let names: Vec<String> = nowhere.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "no architecture can: {}: `compile` takes them, and nothing does them",
            names.join(", ")
        );
        diags.push(
            Diagnostic::at(op.entry.name.span, message)
                .help("give the atoms that do them `does`; programs that have them are refused")
                .as_level(Level::Note),
        );
    }
    for (arch, model, all) in lines.iter().filter(|(_, model, _)| model.whole) {
        let mut cannot = missing_answers(compiled, all);
        let words = compiled_words(tables)
            .filter(|(name, id)| !nowhere.contains(name) && !does((tables, arch), all, name, *id))
            .map(|(name, _)| format!("`{name}`: no instruction does it for any type"));
        cannot.extend(words);
        cannot.extend(uncovered(tables, arch).map(|op| {
            format!("addresses that need `{0}`: no usable rule covers {0} in each lane", op.name())
        }));
        if cannot.is_empty() {
            continue;
        }
        let message = format!("{} cannot: {}", arch.name, cannot.join("; "));
        diags.push(
            Diagnostic::at(model.name.span, message)
                .help(format!(
                    "add atoms if the machine has them: `lanebook dispatch --arch {}` lists what is answered, rules/asks.ron what is asked",
                    arch.name
                ))
                .as_level(Level::Note),
        );
    }
    diags
}

/// What follows from asks that nothing answers, in their order, each once.
fn missing_answers(compiled: &Compiled, lines: &[String]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for ask in &compiled.rules.asks {
        let Some(cannot) = &ask.cannot else { continue };
        if lines.iter().any(|line| ask.answered_by(line)) {
            continue;
        }
        let said = match cannot.contains(": no ") {
            true => cannot.clone(),
            false => format!("{cannot}: nothing answers `{}`", ask.ask.value),
        };
        if !out.contains(&said) {
            out.push(said);
        }
    }
    out
}

/// Elementwise operations that are compiled.
fn compiled_words<'t>(tables: &Tables<'t>) -> impl Iterator<Item = (&'t str, OpId)> {
    let contracts = tables.contract.ops;
    let ops = (0u16..).map(OpId).zip(tables.ops);
    ops.filter(move |(id, op)| {
        op.role.is_lanewise() && contracts.get(id.index()).is_some_and(|contract| contract.compiled)
    })
    .map(|(id, op)| (op.name, id))
}

/// Whether an instruction does an operation for some element type, or others do in its place.
fn does((tables, arch): (&Tables<'_>, &Arch<'_>), lines: &[String], name: &str, id: OpId) -> bool {
    let head = format!("elementwise {name}/");
    lines.iter().any(|line| line.starts_with(&head)) || sequences(tables, arch, id).next().is_some()
}

/// Operations of addresses that no rule of the instruction set computes in each lane, from any
/// values, with atoms that the architecture has.
fn uncovered<'t>(tables: &Tables<'t>, arch: &Arch<'t>) -> impl Iterator<Item = IndexOp> {
    let isa = arch.isa;
    let phases = 0..=tables.rules.phases.len() as u8;
    let ids: BTreeSet<RuleId> = phases
        .filter_map(|phase| tables.rules.set(Language::Target, Some(isa), phase))
        .flat_map(|set| IndexOp::ALL.into_iter().flat_map(move |op| set.rules_for(op as usize)))
        .copied()
        .collect();
    let usable: Vec<_> = ids
        .into_iter()
        .filter_map(|id| tables.rules.rule(id))
        .filter(|rule| {
            rule.replacement
                .iter()
                .all(|node| !matches!(node, BuildNode::Inst(atom, _) if arch.own(*atom).is_none()))
        })
        .filter(|rule| in_lanes(tables, arch, rule.replacement.iter().next()))
        .collect();
    // Without rules the instruction set computes no addresses at all, and says so elsewhere.
    let any = !usable.is_empty();
    IndexOp::ALL.into_iter().filter(move |op| {
        any && !usable.iter().any(|rule| match rule.pattern.iter().as_slice() {
            [PatternNode::Index(root, ..), rest @ ..] => {
                *root == *op && rest.iter().all(|node| matches!(node, PatternNode::Any(_)))
            }
            _ => false,
        })
    })
}

/// Whether what a rule makes stands in registers of lanes, and not of the wave alone.
fn in_lanes(tables: &Tables<'_>, arch: &Arch<'_>, root: Option<&BuildNode>) -> bool {
    let Some(BuildNode::Inst(atom, _)) = root else { return true };
    let class = tables.atom(*atom).and_then(|atom| atom.operands.first()).map(|o| o.class);
    let classes = tables.isa(arch.isa).map(|isa| isa.classes);
    let class = classes.zip(class).and_then(|(classes, class)| classes.get(class.index()));
    class.is_none_or(|class| class.kind == RegisterKind::Vector)
}
