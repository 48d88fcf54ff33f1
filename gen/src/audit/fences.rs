//! What makes a block's accesses seen by others does so in the memory model's order, by what another
//! compiler writes for it.
//!
//! Rows of a scope (`hw-tables/accesses.ron`: an access that is in no memory) release where writes
//! follow, and acquire where reads do. Beside waits and the barrier they have instructions that
//! write caches back or forget them: behind the barrier when they release, since all of the block is
//! released; in front of it, and behind all waits, when they acquire. Which, `figures` say of
//! another compiler (`release`, `acquire`).
use super::order::{is_scope, reads};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Arch, HwModel, Step, SyncRule};
use crate::schema::Figures;
use crate::spanned::Spanned;
use lanebook_tables::Space;

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    for arch in &model.archs {
        let is_own =
            |entry: &&Spanned<Figures>| entry.archs.iter().any(|name| name.value == arch.target);
        let told: Vec<_> = compiled.loaded.figures.iter().filter(is_own).collect();
        for rule in arch.sync.iter().filter(|rule| is_scope(model, rule.producer)) {
            let later = &model.accesses[rule.consumer.index()];
            // What comes to registers by itself is waited for there.
            if later.space == Space::Register {
                continue;
            }
            let releases = reads(&later.name.value) == Some(false);
            sides(rule, releases, diags);
            for entry in &told {
                texts(model, (arch, rule), (entry, releases), diags);
            }
        }
    }
}

/// Neither a wait, which says for how many, nor the barrier.
fn is_fence(step: &Step) -> bool {
    !step.barrier && step.immediates.is_empty()
}

fn sides(rule: &SyncRule, releases: bool, diags: &mut Diagnostics) {
    let mut pairs =
        rule.steps.iter().enumerate().flat_map(|(at, first)| {
            rule.steps.iter().skip(at + 1).map(move |second| (first, second))
        });
    let is_wrong = |(first, second): &(&Step, &Step)| match releases {
        true => is_fence(first) && second.barrier,
        false => {
            !is_fence(first) && is_fence(second) && first.barrier
                || is_fence(first) && !is_fence(second) && !second.barrier
        }
    };
    if let Some((first, second)) = pairs.find(is_wrong) {
        let help = if releases {
            "all of the block is released: caches are written back behind the barrier"
        } else {
            "what is read early may be old: caches are forgotten behind the waits, and before the barrier lets others go on"
        };
        diags.push(
            Diagnostic::at(second.span, "a fence stands on the wrong side of this")
                .note(first.span, "of what stands in front of it")
                .help(help),
        );
    }
}

/// Instructions beside waits and barrier are those that another compiler writes.
fn texts(
    model: &HwModel,
    (arch, rule): (&Arch, &SyncRule),
    (told, releases): (&Spanned<Figures>, bool),
    diags: &mut Diagnostics,
) {
    let theirs = if releases { &told.release } else { &told.acquire };
    let Some(theirs) = theirs else { return };
    let theirs: Vec<&str> = theirs.iter().map(|text| text.value.as_str()).collect();
    let fences = rule.steps.iter().filter(|step| is_fence(step));
    let own: Vec<String> =
        fences.map(|step| super::spelling::text(model.atom(step.atom.value))).collect();
    if own != theirs {
        let what = if releases { "release" } else { "acquire" };
        let sources: Vec<&str> = told.sources.iter().map(|source| source.value.as_str()).collect();
        let message = format!(
            "to {what}, `{}` has {own:?}, and {} {theirs:?}",
            arch.name.value,
            sources.join(", ")
        );
        diags.push(
            Diagnostic::at(rule.span, message)
                .note(told.span.head(), "what they say")
                .help("find out which is right, and correct the other"),
        );
    }
}
