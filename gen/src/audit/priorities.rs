//! Priorities say which rule comes first where that is not said otherwise.
//!
//! Rules for instructions compete by cost, and of equals the one that stands first in the file is
//! taken: a priority is for a set of instructions that extends another, ahead of what that one has. Of two rewrite rules that fit a common term the
//! one comes first that is special; else the one that leaves a term which is there already, or a
//! number; then the one that puts another word for one word; then the one that takes away most.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::tree::{self, Tree};
use crate::rules::{CompiledRule, overlap};
use lanebook_tables::Language;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let rules = &compiled.rules.rules;
    for rule in rules.iter().filter(|rule| rule.language == Language::Target && rule.priority != 0)
    {
        let decides = rules.iter().any(|other| {
            let extends = |(own, theirs)| compiled.model.isa_has(own, theirs);
            other.language == Language::Target
                && other.isa != rule.isa
                && rule.isa.zip(other.isa).is_some_and(extends)
                && other.priority != rule.priority
                && overlap::fit_one_term(rule, other)
        });
        if !decides {
            let message =
                format!("priority {} of `{}` decides nothing", rule.priority, rule.name.value);
            diags.push(Diagnostic::at(rule.name.span, message).help(
                "cost decides between instructions, then the order of the file: write 0, and put the rule where it belongs",
            ));
        }
    }
    for (at, rule) in rules.iter().enumerate() {
        for other in rules.iter().skip(at + 1) {
            let alike = (rule.language, rule.isa, rule.phase, Language::Index)
                == (other.language, other.isa, other.phase, rule.language);
            if alike && rule.priority != other.priority && overlap::fit_one_term(rule, other) {
                let (first, second) =
                    if rule.priority > other.priority { (rule, other) } else { (other, rule) };
                sooner(first, second, &mut diags);
            }
        }
    }
    diags
}

/// Words of a term.
fn words(tree: &Tree) -> usize {
    match tree {
        Tree::Node(_, args) => 1 + args.iter().map(words).sum::<usize>(),
        Tree::Any(_) | Tree::AnyConst(_) | Tree::Const(_) => 0,
    }
}

/// What makes one rule come before another: a term that is already there or a number, then another
/// word for one word, then how many words are taken away.
fn rank(rule: &CompiledRule) -> (u8, i64) {
    let count = |tree: &Tree| i64::try_from(words(tree)).unwrap_or(i64::MAX);
    let (before, after) = (count(&tree::pattern(rule)), count(&tree::replacement(rule)));
    match (before, after) {
        (_, 0) => (2, 0),
        (1, 1) => (1, 0),
        _ => (0, before - after),
    }
}

fn shown((rank, saved): (u8, i64)) -> String {
    match rank {
        2 => "leaves nothing to compute".into(),
        1 => "puts one word for another".into(),
        _ => format!("takes away {saved} words"),
    }
}

fn sooner(first: &CompiledRule, second: &CompiledRule, diags: &mut Diagnostics) {
    if overlap::is_instance(first, second) || rank(first) >= rank(second) {
        return;
    }
    let message = format!(
        "`{}` {}, and comes before `{}`, which {}",
        first.name.value,
        shown(rank(first)),
        second.name.value,
        shown(rank(second))
    );
    diags.push(
        Diagnostic::at(first.name.span, message)
            .note(second.name.span, format!("priority {} against {}", second.priority, first.priority))
            .help("first comes what is special, then what leaves nothing, then one word for another, then what takes away most: exchange the priorities"),
    );
}
