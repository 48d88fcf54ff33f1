//! No two rules compete at one priority, and none is always beaten.
//!
//! *Overlap*: two index or tile rules of one phase and priority whose patterns fit a common term,
//! unless their conditions exclude each other (`less a b` with `less b a` or `equal a b`,
//! `not_const x` where x is a constant). *Shadowing*: a rule whose every fit is a fit of a rule
//! tried earlier. Target rules compete by cost, so for them only doubles are refused. All places
//! involved are shown.
use super::RuleModel;
use super::rule::CompiledRule;
use super::tree::{self, Tree};
use crate::diagnostics::{Diagnostic, Diagnostics};
use lanebook_tables::{CondArg, Language, Word};
use std::collections::BTreeMap;

/// A slot of the first or of the second rule.
type Variable = (bool, u8);

#[derive(Clone, Default)]
struct Bindings {
    map: BTreeMap<Variable, (bool, Tree)>,
}

impl Bindings {
    /// Follows a slot to what it is bound to.
    fn walk(&self, side: bool, tree: &Tree) -> (bool, Tree) {
        let (mut side, mut tree) = (side, tree.clone());
        while let Tree::Any(slot) | Tree::AnyConst(slot) = tree {
            match self.map.get(&(side, slot)) {
                Some((next, bound)) => (side, tree) = (*next, bound.clone()),
                None => break,
            }
        }
        (side, tree)
    }

    /// All ways to make two terms equal.
    fn unify(&self, a: (bool, &Tree), b: (bool, &Tree)) -> Vec<Bindings> {
        let ((side_a, a), (side_b, b)) = (self.walk(a.0, a.1), self.walk(b.0, b.1));
        let bound = |variable: Variable, to: (bool, Tree)| {
            let mut next = self.clone();
            next.map.insert(variable, to);
            vec![next]
        };
        match (&a, &b) {
            (Tree::Any(x) | Tree::AnyConst(x), Tree::Any(y) | Tree::AnyConst(y))
                if (side_a, x) == (side_b, y) =>
            {
                vec![self.clone()]
            }
            (Tree::Any(x), _) => bound((side_a, *x), (side_b, b)),
            (_, Tree::Any(y)) => bound((side_b, *y), (side_a, a)),
            (Tree::AnyConst(x), Tree::AnyConst(_) | Tree::Const(_)) => {
                bound((side_a, *x), (side_b, b))
            }
            (Tree::Const(_), Tree::AnyConst(y)) => bound((side_b, *y), (side_a, a)),
            (Tree::Const(x), Tree::Const(y)) if *x as u32 == *y as u32 => vec![self.clone()],
            (Tree::Node(head_a, args_a), Tree::Node(head_b, args_b))
                if head_a == head_b && args_a.len() == args_b.len() =>
            {
                let mut orders = vec![args_b.clone()];
                if head_a.commutes() {
                    orders.push(args_b.iter().rev().cloned().collect());
                }
                orders
                    .iter()
                    .flat_map(|args_b| {
                        args_a.iter().zip(args_b).fold(vec![self.clone()], |all, (x, y)| {
                            all.iter()
                                .flat_map(|bindings| bindings.unify((side_a, x), (side_b, y)))
                                .collect()
                        })
                    })
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// A term with its slots followed, as text.
    fn show(&self, side: bool, tree: &Tree) -> String {
        match self.walk(side, tree) {
            (side, Tree::Any(slot) | Tree::AnyConst(slot)) => {
                format!("{}{slot}", if side { 'b' } else { 'a' })
            }
            (_, Tree::Const(value)) => format!("{}", value as u32),
            (side, Tree::Node(head, args)) => {
                let args: Vec<String> = args.iter().map(|arg| self.show(side, arg)).collect();
                format!("({head:?} {})", args.join(" "))
            }
        }
    }
}

/// A condition with its arguments as text under bindings; computed constants are shown by their
/// terms.
fn conditions(rule: &CompiledRule, side: bool, bindings: &Bindings) -> Vec<(Word, Vec<String>)> {
    let show = |arg: &CondArg| match arg {
        CondArg::Const(value) => format!("{}", value.get() as u32),
        CondArg::Slot(slot) => show_slot(rule, side, *slot, bindings),
    };
    rule.conditions.iter().map(|(word, args)| (*word, args.iter().map(show).collect())).collect()
}

fn show_slot(rule: &CompiledRule, side: bool, slot: u8, bindings: &Bindings) -> String {
    match rule.lets.iter().find(|(name, _)| *name == slot) {
        Some((_, term)) => {
            let mut tree = tree::build(rule, term);
            inline(rule, &mut tree);
            bindings.show(side, &tree)
        }
        None => bindings.show(side, &Tree::Any(slot)),
    }
}

/// Puts the terms of computed constants in their places.
fn inline(rule: &CompiledRule, tree: &mut Tree) {
    match tree {
        Tree::AnyConst(slot) => {
            if let Some((_, term)) = rule.lets.iter().find(|(name, _)| name == slot) {
                *tree = tree::build(rule, term);
                inline(rule, tree);
            }
        }
        Tree::Node(_, args) => args.iter_mut().for_each(|arg| inline(rule, arg)),
        _ => {}
    }
}

fn excluded(a: &CompiledRule, b: &CompiledRule, bindings: &Bindings) -> bool {
    let mut all = conditions(a, false, bindings);
    all.extend(conditions(b, true, bindings));
    let has = |word: Word, x: &str, y: &str| {
        all.iter().any(|(w, args)| {
            *w == word
                && args.first().is_some_and(|arg| arg == x)
                && args.get(1).is_some_and(|arg| arg == y)
        })
    };
    let constant = |rule: &CompiledRule, side: bool| {
        rule.conditions.iter().any(|(word, args)| {
            matches!((word, args.first()), (Word::NotConst, Some(CondArg::Slot(slot)))
                if matches!(bindings.walk(side, &Tree::Any(*slot)).1, Tree::Const(_) | Tree::AnyConst(_)))
        })
    };
    constant(a, false)
        || constant(b, true)
        || all.iter().any(|(word, args)| match (word, args.as_slice()) {
            (Word::Less, [x, y]) => {
                x == y || has(Word::Less, y, x) || has(Word::Equal, x, y) || has(Word::Equal, y, x)
            }
            _ => false,
        })
}

/// Whether every fit of `later` is a fit of `earlier`.
fn beaten(earlier: &CompiledRule, later: &CompiledRule) -> bool {
    // A computed constant without a value is a condition of its own.
    if !earlier.lets.is_empty() {
        return false;
    }
    let (general, special) = (tree::pattern(earlier), tree::pattern(later));
    Bindings::default().unify((false, &general), (true, &special)).iter().any(|bindings| {
        let untouched = bindings.map.keys().all(|(side, _)| !side);
        let known = conditions(later, true, bindings);
        let held = |(word, args): &(Word, Vec<String>)| known.contains(&(*word, args.clone()));
        untouched
            && constants_stay(earlier, bindings)
            && conditions(earlier, false, bindings).iter().all(held)
    })
}

/// A slot for constants is bound to constants only (binding it to a free slot would narrow the
/// later rule).
fn constants_stay(earlier: &CompiledRule, bindings: &Bindings) -> bool {
    bindings.map.iter().all(|((_, slot), (_, tree))| {
        !earlier.slots.get(usize::from(*slot)).is_some_and(|slot| slot.constant)
            || !matches!(tree, Tree::Any(_))
    })
}

/// Whether some term fits both rules.
#[must_use]
pub fn fit_one_term(a: &CompiledRule, b: &CompiledRule) -> bool {
    let fits = Bindings::default().unify((false, &tree::pattern(a)), (true, &tree::pattern(b)));
    fits.iter().any(|bindings| !excluded(a, b, bindings))
}

/// Whether the left side of `special` is that of `general` with something in its slots.
pub(crate) fn is_instance(special: &CompiledRule, general: &CompiledRule) -> bool {
    let (wide, narrow) = (tree::pattern(general), tree::pattern(special));
    Bindings::default().unify((false, &wide), (true, &narrow)).iter().any(|bindings| {
        bindings.map.keys().all(|(side, _)| !side) && constants_stay(general, bindings)
    })
}

pub(crate) fn check(model: &RuleModel, diags: &mut Diagnostics) {
    for (number, a) in model.rules.iter().enumerate() {
        for b in model.rules.iter().skip(number + 1) {
            if (a.language, a.isa, a.phase) != (b.language, b.isa, b.phase) {
                continue;
            }
            if a.language == Language::Target {
                if (&a.pattern, &a.lets, &a.conditions, &a.replacement)
                    == (&b.pattern, &b.lets, &b.conditions, &b.replacement)
                {
                    diags.push(
                        Diagnostic::at(
                            b.name.span,
                            format!("rule `{}` says the same as `{}`", b.name.value, a.name.value),
                        )
                        .note(a.name.span, "the other rule")
                        .help("remove one"),
                    );
                }
                continue;
            }
            if a.priority != b.priority {
                let (first, second) = if a.priority > b.priority { (a, b) } else { (b, a) };
                if beaten(first, second) {
                    diags.push(
                        Diagnostic::at(
                            second.name.span,
                            format!("rule `{}` can never fire: `{}` fits whatever it fits, and is tried before", second.name.value, first.name.value),
                        )
                        .note(first.name.span, format!("priority {} against {}", first.priority, second.priority))
                        .help("give the special rule the higher priority, or remove it"),
                    );
                }
                continue;
            }
            if fit_one_term(a, b) {
                diags.push(
                    Diagnostic::at(
                        b.name.span,
                        format!(
                            "rules `{}` and `{}` fit a common term at priority {}",
                            a.name.value, b.name.value, a.priority
                        ),
                    )
                    .note(a.name.span, "the other rule")
                    .help("give the special one a higher priority"),
                );
            }
        }
    }
}
