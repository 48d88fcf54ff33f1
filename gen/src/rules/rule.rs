//! One rule: from its entry to compiled terms.
use super::ops::Ops;
use super::schema::RuleEntry;
use super::term::{Terms, Width};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{HwModel, Names};
use crate::schema::{Name, Term};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables::{
    BuildNode, CondArg, IsaId, Language, MAX_INSTRUCTIONS, MAX_SLOTS, MAX_TERM, PatternNode, Word,
};

/// A rule whose names are resolved.
#[derive(Clone, Debug)]
pub struct CompiledRule {
    /// Its name.
    pub name: Name,
    /// The whole entry.
    pub span: Span,
    /// Where the left side stands.
    pub pattern_span: Span,
    /// Where the right side stands.
    pub replacement_span: Span,
    /// Language.
    pub language: Language,
    /// Instruction set of a target rule.
    pub isa: Option<IsaId>,
    /// Phase number.
    pub phase: u8,
    /// Higher is tried first.
    pub priority: i16,
    /// Slots by number.
    pub slots: Vec<Slot>,
    /// Left side, prefix order.
    pub pattern: Vec<PatternNode>,
    /// Computed constants: slot and term.
    pub lets: Vec<(u8, Vec<BuildNode>)>,
    /// Conditions.
    pub conditions: Vec<(Word, Vec<CondArg>)>,
    /// Right side, prefix order.
    pub replacement: Vec<BuildNode>,
    /// Width of both sides in bits (tile rules: 0).
    pub width: u8,
    /// One line of algebra.
    pub doc: String,
    /// Examples as written.
    pub examples: Vec<Spanned<Example>>,
}

/// See [`super::schema::Example`].
pub type Example = super::schema::Example;

/// A slot of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Its name in the rule.
    pub name: String,
    /// Width in bits (tile rules: 0).
    pub width: u8,
    /// Bound by a condition `is_const`, or computed.
    pub constant: bool,
    /// Computed by a `let`.
    pub computed: bool,
}

/// What a rule is compiled against.
pub struct Context<'a> {
    /// Atoms.
    pub hw: &'a HwModel,
    /// Tile operations.
    pub ops: &'a Ops,
    /// Names of phases.
    pub phases: &'a [String],
    /// Language of the file.
    pub language: Language,
    /// Instruction set of the file.
    pub isa: Option<IsaId>,
    /// Phase of the file.
    pub phase: Option<Name>,
}

/// Phase of target rules that do not state theirs.
pub const SELECT: &str = "select";

/// Compiles a rule. What is wrong is reported; `None` if nothing sound remains.
pub fn compile(
    entry: &Spanned<RuleEntry>,
    context: &Context<'_>,
    diags: &mut Diagnostics,
) -> Option<CompiledRule> {
    let before = diags.len();
    let phase = phase(entry, context, diags);
    if entry.doc.value.trim().is_empty() {
        diags.push(
            Diagnostic::at(entry.doc.span, "a rule needs a line of algebra")
                .help("say in `doc` what is equal, e.g. \"(x & c) & d = x & (c & d)\""),
        );
    }
    if entry.examples.is_empty() {
        diags.push(
            Diagnostic::at(entry.name.span, format!("rule `{}` has no example", entry.name.value))
                .help("add examples: [(from: ..., to: ...)]"),
        );
    }
    let mut terms = Terms::new(context);
    for condition in &entry.conditions {
        if let Term::Call(word, args) = &condition.value
            && word.value == Word::IsConst.name()
            && let Some(Term::Name(name)) = args.first().map(|arg| &arg.value)
        {
            terms.constants.insert(name.clone());
        }
    }
    let mut pattern = Vec::new();
    let root = terms.pattern(&entry.pattern, Width::Free, &mut pattern, diags);
    let mut lets = Vec::new();
    for (name, term) in &entry.lets {
        let mut code = Vec::new();
        let width = terms.computed(term, Width::Free, &mut code, diags);
        if let Some(slot) = terms.declare(name, width, diags) {
            lets.push((slot, code));
        }
    }
    let conditions = entry
        .conditions
        .iter()
        .filter_map(|condition| terms.condition(condition, diags))
        .flatten()
        .collect();
    let mut replacement = Vec::new();
    let made = terms.replacement(&entry.replacement, root, &mut replacement, diags);
    if let (Width::Bits(left), Width::Bits(right)) = (root, made)
        && left != right
    {
        diags.push(
            Diagnostic::at(
                entry.replacement.span,
                format!("the replacement has {right} bits, the pattern {left}"),
            )
            .note(entry.pattern.span, "the pattern")
            .help("both sides must have one width"),
        );
    }
    let most = if context.language == Language::Target { MAX_INSTRUCTIONS } else { MAX_TERM };
    for (list, most, span, what) in [
        (pattern.len(), MAX_TERM, entry.pattern.span, "pattern"),
        (replacement.len(), most, entry.replacement.span, "replacement"),
    ] {
        if list > most {
            diags.push(
                Diagnostic::at(span, format!("the {what} has {list} nodes"))
                    .help(format!("{most} is the most; split the rule")),
            );
        }
    }
    if terms.slots.len() > MAX_SLOTS {
        diags.push(
            Diagnostic::at(
                entry.name.span,
                format!("rule `{}` has {} slots", entry.name.value, terms.slots.len()),
            )
            .help(format!("{MAX_SLOTS} is the most")),
        );
    }
    terms.check_constants(entry, diags);
    if diags.len() > before {
        return None;
    }
    let width = match (root, made) {
        (Width::Bits(bits), _) | (_, Width::Bits(bits)) => bits,
        _ => 32,
    };
    let slots = terms
        .slots
        .iter()
        .map(|slot| Slot {
            width: slot.width.bits(),
            name: slot.name.clone(),
            constant: slot.constant,
            computed: slot.computed,
        })
        .collect();
    Some(CompiledRule {
        name: entry.name.clone(),
        span: entry.span,
        pattern_span: entry.pattern.span,
        replacement_span: entry.replacement.span,
        language: context.language,
        isa: context.isa,
        phase: phase?,
        priority: entry.priority,
        slots,
        pattern,
        lets,
        conditions,
        replacement,
        width: if context.language == Language::Tile { 0 } else { width },
        doc: entry.doc.value.clone(),
        examples: entry.examples.clone(),
    })
}

fn phase(entry: &RuleEntry, context: &Context<'_>, diags: &mut Diagnostics) -> Option<u8> {
    let select = Spanned { value: SELECT.to_string(), span: entry.name.span };
    let name = entry.phase.as_ref().or(context.phase.as_ref()).unwrap_or(&select);
    let found = context
        .phases
        .iter()
        .position(|phase| *phase == name.value)
        .and_then(|at| u8::try_from(at).ok());
    if found.is_none() {
        let known = context.phases.iter().map(String::as_str);
        diags.push(
            Diagnostic::at(name.span, format!("unknown phase `{}`", name.value))
                .help(remedy(name, known, "rules/passes.ron lists the phases"))
                .lacks(name),
        );
    }
    found
}

/// Names are unique.
pub fn check_names(rules: &[CompiledRule], diags: &mut Diagnostics) {
    let mut names = Names::default();
    for (number, rule) in rules.iter().enumerate() {
        names.declare(&rule.name, number, "rule", diags);
    }
}
