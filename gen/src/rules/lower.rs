//! From checked rules to `lanebook_tables` values with dense dispatch.
use super::RuleModel;
use super::passes::Step;
use super::rule::CompiledRule;
use crate::leak::{list, shared, text};
use crate::names::perfect;
use lanebook_tables as t;
use std::collections::{BTreeMap, BTreeSet};

/// What the rule compiler contributes to the tables.
#[derive(Copy, Clone, Debug)]
pub struct RulePart {
    /// Operations of the tile IR.
    pub ops: &'static [t::OpDecl<'static>],
    /// Rules, dispatch, passes and phases.
    pub rules: t::Rules<'static>,
    /// Cost weights.
    pub weights: t::Weights,
    /// How attempts of layout inference are compared.
    pub policies: &'static [t::CostPolicy<'static>],
    /// How passes give layouts to operations.
    pub seeding: t::Seeding<'static>,
    /// What `compile` takes.
    pub contract: t::Contract<'static>,
    /// Elementwise operations that are several others.
    pub sequences: &'static [t::Sequence<'static>],
    /// Operation names and aliases.
    pub op_names: t::NameMap<'static>,
}

impl RulePart {
    /// The operation with this name or alias.
    pub(crate) fn op_named(&self, name: &str) -> Option<t::OpId> {
        let at =
            self.ops.iter().position(|op| op.name == name || op.aliases.slice().contains(&name))?;
        u16::try_from(at).ok().map(t::OpId)
    }
}

/// Lowers everything; what is leaked lives as long as the process.
#[must_use]
pub fn lower(model: &RuleModel) -> RulePart {
    let ops = list(model.ops.list.iter().map(|op| t::OpDecl {
        name: text(&op.entry.name),
        aliases: shared(op.entry.aliases.iter().map(|alias| text(alias))),
        role: op.role,
        layout: op.layout,
        operands: op.entry.operands,
        results: op.entry.results,
        regions: op.entry.regions,
        reads: op.entry.reads,
        writes: op.entry.writes,
        pure: op.entry.pure,
        effort: op.entry.effort,
        truth: op.entry.truth,
        same_bits: op.entry.same_bits,
        index: op.index,
        tiles: op.entry.tiles.as_ref().map_or("", |name| text(&name.value)),
        lowering: op.lowering,
    }));
    RulePart {
        ops,
        rules: rules(model),
        weights: model.weights.unwrap_or(RulePart::EMPTY.weights),
        policies: super::policies::lower(&model.policies),
        seeding: super::seeding::lower(&model.seeding, &model.candidates),
        sequences: super::sequences::lower(&model.sequences),
        contract: super::contract::lower(&model.contract, &model.ops),
        op_names: perfect(&model.ops.names.numbered().collect::<Vec<_>>()).leak(),
    }
}

/// What rules say, up to the last of those that run on programs and may be traced there.
fn docs(model: &RuleModel) -> &'static [&'static str] {
    let traced = |rule: &super::rule::CompiledRule| rule.language == t::Language::Tile;
    let count = model.rules.iter().rposition(traced).map_or(0, |last| last + 1);
    list(model.rules.iter().take(count).map(|rule| text(if traced(rule) { &rule.doc } else { "" })))
}

/// Rules, dispatch and pipelines.
#[must_use]
pub fn rules(model: &RuleModel) -> t::Rules<'static> {
    t::Rules {
        rules: list(model.rules.iter().map(rule)),
        names: list(model.rules.iter().map(|rule| text(&rule.name))),
        docs: docs(model),
        sets: sets(model),
        passes: list(model.passes.iter().map(|pass| t::Pass {
            name: text(&pass.name),
            steps: list(pass.steps.iter().map(|step| match step {
                Step::Rules(phase, sweeps) => t::PassStep::Rules { phase: *phase, sweeps: *sweeps },
                Step::Analysis(name) => t::PassStep::Analysis(text(name)),
            })),
        })),
        phases: list(model.phases.iter().map(|phase| text(phase))),
    }
}

fn rule(rule: &CompiledRule) -> t::Rule<'static> {
    t::Rule {
        language: rule.language,
        phase: rule.phase,
        priority: rule.priority,
        slots: rule.slots.len() as u8,
        pattern: list(rule.pattern.iter().copied()),
        lets: shared(
            rule.lets
                .iter()
                .map(|(slot, term)| t::Let { slot: *slot, term: shared(term.iter().copied()) }),
        ),
        conditions: shared(
            rule.conditions
                .iter()
                .map(|(word, args)| t::Cond { word: *word, args: shared(args.iter().copied()) }),
        ),
        replacement: list(rule.replacement.iter().copied()),
    }
}

/// Root numbers of a rule's pattern: one, but for a role of tile operations.
#[must_use]
pub fn roots(rule: &CompiledRule, model: &RuleModel) -> Vec<usize> {
    match rule.pattern.first() {
        Some(t::PatternNode::Index(op, ..)) => vec![*op as usize],
        Some(t::PatternNode::Const(_) | t::PatternNode::AnyConst(_)) => {
            vec![t::RuleSet::ROOT_CONST]
        }
        Some(t::PatternNode::Any(_)) => vec![t::RuleSet::ROOT_ANY],
        Some(t::PatternNode::Tile(op, ..)) => vec![op.index()],
        Some(t::PatternNode::Role(role, ..)) => model
            .ops
            .list
            .iter()
            .enumerate()
            .filter(|(_, op)| op.role == *role)
            .map(|(number, _)| number)
            .collect(),
        None => Vec::new(),
    }
}

fn sets(model: &RuleModel) -> &'static [t::RuleSet<'static>] {
    // An instruction set that extends another has its rules too.
    let mut keys: BTreeSet<_> =
        model.rules.iter().map(|rule| (rule.language, rule.isa, rule.phase)).collect();
    for (isa, _) in &model.families {
        let own: Vec<_> = keys
            .iter()
            .filter(|(.., of, _)| of.is_some_and(|of| model.isa_has(*isa, of)))
            .map(|(language, _, phase)| (*language, Some(*isa), *phase))
            .collect();
        keys.extend(own);
    }
    list(keys.into_iter().map(|(language, isa, phase)| {
        let mut by_root: BTreeMap<usize, Vec<(i32, u16)>> = BTreeMap::new();
        for (number, rule) in model.rules.iter().enumerate() {
            let same = rule.isa == isa
                || matches!((isa, rule.isa), (Some(isa), Some(of)) if model.isa_has(isa, of));
            if same && (rule.language, rule.phase) == (language, phase) {
                for root in roots(rule, model) {
                    by_root
                        .entry(root)
                        .or_default()
                        .push((-i32::from(rule.priority), number as u16));
                }
            }
        }
        let count = by_root.keys().last().map_or(0, |last| last + 1);
        let roots = list((0..count).map(|root| {
            let mut rules = by_root.remove(&root).unwrap_or_default();
            rules.sort_unstable();
            list(rules.into_iter().map(|(_, number)| t::RuleId(number)))
        }));
        t::RuleSet { language, isa, phase, roots }
    }))
}
