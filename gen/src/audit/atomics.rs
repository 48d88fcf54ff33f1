//! Words of atomic operations as other compilers print them agree with what is said of them.
//!
//! A word is the operation's name, behind `f` where it is of floats alone and behind `u` where of
//! numbers without a sign; what has a word of its own is not said by the bare one. Orders are named
//! for what they acquire and release.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::rules::seeding::SeedingFile;

/// Letters before a name, and the kind of elements that they stand for.
const LETTERS: [(&str, &str); 2] = [("f", "float"), ("u", "unsigned")];
/// What is in the names of orders that acquire, and of those that release.
const ACQUIRES: [&str; 2] = ["acq", "acquire"];
const RELEASES: [&str; 2] = ["rel", "release"];

/// See the module.
pub(super) fn check(seeding: &SeedingFile, diags: &mut Diagnostics) {
    for (text, op, of) in &seeding.atomics {
        let letter = text.value.strip_suffix(op.value.0.as_str());
        let own = letter.and_then(|letter| LETTERS.iter().find(|(known, _)| *known == letter));
        let kinds: Vec<&str> = of.iter().map(|kind| kind.value.0.as_str()).collect();
        let others = seeding.atomics.iter().filter(|(other, ..)| other.value != text.value);
        let taken = others
            .filter(|(_, done, _)| done.value.0 == op.value.0)
            .find_map(|other| other.2.iter().find(|kind| kinds.contains(&kind.value.0.as_str())));
        let wrong = match (letter, own) {
            (Some(""), _) => None,
            (Some(_), Some((_, kind))) if kinds == [*kind] => None,
            (Some(_), Some((_, kind))) => Some(format!("says `{kind}`, and is of {kinds:?}")),
            _ => Some(format!("is said to be `{}`", op.value.0)),
        };
        if let Some(wrong) = wrong {
            diags.push(Diagnostic::at(text.span, format!("`{}` {wrong}", text.value)).help(
                "a word is the operation's name, behind `f` of floats and `u` of numbers without a sign",
            ));
        }
        if let Some(taken) = taken {
            let message = format!("two words do `{}` to `{}`", op.value.0, taken.value.0);
            diags.push(
                Diagnostic::at(text.span, message)
                    .note(taken.span, "the other")
                    .help("what has a word of its own is said by that: correct one of the lists"),
            );
        }
    }
    for order in &seeding.orders {
        let says = |words: [&str; 2]| order.name.value.split('_').any(|part| words.contains(&part));
        if (says(ACQUIRES), says(RELEASES)) != (order.acquires, order.releases) {
            let message = format!(
                "`{}` acquires: {}, and releases: {}",
                order.name.value, order.acquires, order.releases
            );
            diags.push(
                Diagnostic::at(order.name.span, message)
                    .help("an order is named for what it does: correct its name or its flags"),
            );
        }
    }
    let mut blocks = seeding.scopes.iter().filter(|(_, scope)| scope.is_none());
    if let (Some((first, _)), Some((second, _))) = (blocks.next(), blocks.next()) {
        diags.push(
            Diagnostic::at(second.span, "two words are of the block alone")
                .note(first.span, "the other")
                .help("only the narrowest scope needs no fence: name the other's"),
        );
    }
}
