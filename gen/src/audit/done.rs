//! What `does` says of an instruction is what its text says.
//!
//! The operation by its word or a spelling of the instruction set, its operands in the order of the
//! text; packs and choices of bytes; exchanges of lanes.
use super::wording::{letters, one_line, reversed, template, written};
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, Does};
use crate::rules::does;
use lanebook_tables::{OpWord, Role};

/// What the two halves of a pair are called.
const HALVES: [&str; 2] = ["lo", "hi"];

/// All of it, of one atom that does something.
pub(super) fn account(compiled: &Compiled, atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    done(compiled, atom, one, diags);
    steps(compiled, atom, one, diags);
    lanes(atom, one, diags);
}

/// The word of what an atom does is one of its text, at least its beginning, or the text is one of
/// the instruction set's spellings of the operation.
fn done(compiled: &Compiled, atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    let word = does::word(&one.op, |name| compiled.rules.ops.named(name));
    let Some(OpWord::Op(id)) = word else { return };
    let ops = &compiled.rules.ops;
    if one.op.value == "cast" {
        return;
    }
    let mut say = |message: String, help: &str| {
        diags.push(
            Diagnostic::at(one.op.span, message).note(atom.template_span, "the text").help(help),
        )
    };
    let letters = letters(atom);
    if letters.iter().any(|word| word == "approx") && one.ulp == 0 {
        say(
            format!("`{}` is exact, and its text says that it approximates", atom.name.value),
            "say by how many units in the last place it is off: `ulp`",
        );
    }
    let name = one.op.value.rsplit('.').next().unwrap_or_default();
    let begins = |word: &String| word.len() > 1 && word.get(..2) == name.get(..2);
    let other = ops
        .list
        .iter()
        .filter(|op| op.role.is_lanewise())
        .map(|op| op.entry.name.value.as_str())
        .filter(|other| !name.starts_with(other))
        .find(|other| letters.iter().any(|word| word == other));
    let own = letters.iter().any(|word| word == name);
    let template = template(atom);
    // What the instruction set says that a text which begins like this one does: the longest counts.
    let spellings = compiled.model.isa(atom.isa).spellings.iter();
    let spelled = spellings
        .flat_map(|spelling| spelling.begins.iter().map(move |begin| (begin, &spelling.op)))
        .filter(|(begin, _)| template.starts_with(begin.as_str()))
        .max_by_key(|(begin, _)| begin.value.len());
    if let Some((_, op)) = spelled.filter(|(_, op)| ops.named(&op.value) != Some(id)) {
        let message = format!(
            "`{}` does `{}`, and a text that begins so does `{}`",
            atom.name.value, one.op.value, op.value
        );
        say(message, "correct `op` or the text, or the spellings of the instruction set");
    }
    let one_line = one_line(atom);
    if one_line && spelled.is_none() && (!letters.iter().any(begins) || other.is_some() && !own) {
        say(
            format!(
                "`{}` does `{}`, its text says {}",
                atom.name.value,
                one.op.value,
                letters.join(", ")
            ),
            "correct `op` or the text",
        );
    }
    let used: Vec<&str> = one
        .uses
        .iter()
        .filter_map(|number| atom.operands.get(usize::from(*number)))
        .map(|operand| operand.name.value.as_str())
        .collect();
    // Of several instructions, the one that begins as the operation is spelled is the one that does it.
    if !one_line && spelled.is_none() {
        return;
    }
    let mut wanted: Vec<&str> = Vec::new();
    for name in written(atom).into_iter().filter(|name| used.contains(name)) {
        if one_line || !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    if one_line && reversed(atom) {
        wanted.reverse();
    }
    let takes = ops.get(id).map_or(1, |op| usize::from(op.entry.operands.0));
    if wanted != used && used.len() == takes {
        say(
            format!(
                "`{}` takes {} in its text, `uses` says {}",
                atom.name.value,
                wanted.join(", "),
                used.join(", ")
            ),
            "operands come in the order of the text",
        );
    }
}

/// What is packed is so in the order of the text; a choice has as many bits as its register has bytes
/// to choose; the result is the first operand.
fn steps(compiled: &Compiled, atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    let mut say = |message: String, help: &str| {
        diags.push(
            Diagnostic::at(one.op.span, message).note(atom.template_span, "the text").help(help),
        )
    };
    let operand = |number: &u8| atom.operands.get(usize::from(*number));
    let result = atom.operands.first();
    if result.is_some_and(|first| matches!(first.role, Role::Use | Role::Immediate)) {
        say(
            format!(
                "`{}` does `{}`, and its first operand is read alone",
                atom.name.value, one.op.value
            ),
            "the result is the first operand: order `operands` so",
        );
    }
    let word = does::word(&one.op, |name| compiled.rules.ops.named(name));
    let used: Vec<&str> =
        one.uses.iter().filter_map(operand).map(|operand| operand.name.value.as_str()).collect();
    if word == Some(OpWord::ConcatRegs) {
        let mut wanted: Vec<&str> = Vec::new();
        for name in written(atom).into_iter().filter(|name| used.contains(name)) {
            if !wanted.contains(&name) {
                wanted.push(name);
            }
        }
        if wanted != used {
            say(
                format!(
                    "`{}` packs {} in its text, `uses` says {}",
                    atom.name.value,
                    wanted.join(", "),
                    used.join(", ")
                ),
                "the lowest comes first in both: correct `uses` or the text",
            );
        }
    }
    // What takes one operand and has several puts them side by side. (A text may name the highest
    // first.)
    let one_each = match word {
        Some(OpWord::Op(id)) => {
            compiled.rules.ops.get(id).is_some_and(|op| op.entry.operands.0 == 1)
        }
        _ => false,
    };
    let place = |half: &str| used.iter().position(|name| *name == half);
    if place(HALVES[0]) > place(HALVES[1]) && place(HALVES[1]).is_some() {
        say(
            format!("`{}` takes `{}` ahead of `{}`", atom.name.value, HALVES[1], HALVES[0]),
            "the lower half comes first: correct `uses`, or the operands' names",
        );
    }
    let falls = one.uses.windows(2).any(|two| two[0] > two[1]);
    if one_each && !one_line(atom) && falls && one.uses.windows(2).any(|two| two[0] < two[1]) {
        say(
            format!("`{}` puts {} side by side", atom.name.value, used.join(", ")),
            "the lowest comes first, in `operands` as in `uses`: correct one of them",
        );
    }
    if let (Some(OpWord::BytePermute), Some(selector), Some(result)) =
        (word, one.uses.last().and_then(operand), result)
    {
        let bits = u32::from(one.selector) * u32::from(result.register_bits / 8);
        let held = u32::from(selector.registers) * u32::from(selector.register_bits);
        if selector.role != Role::Immediate && bits > held {
            say(
                format!(
                    "`{}` has {held} bits, and chooses by {} for each byte",
                    selector.name.value, one.selector
                ),
                "correct `selector`: those of all bytes stand in the operand",
            );
        }
        let Some(range) = &selector.range else { return };
        let most = 1i64.checked_shl(bits).filter(|_| bits < 63).map_or(i64::MAX, |end| end - 1);
        // A range that does not begin with 0 is that of what stands in the text.
        if range.value.1 > most || range.value.0 == 0 && range.value.1 != most {
            say(
                format!(
                    "`{}` goes to {}, {} bits for each byte to {most}",
                    selector.name.value, range.value.1, one.selector
                ),
                "correct `selector`, or the operand's range",
            );
        }
    }
}

/// Exchanges are of runs of masks, or of one, and what they set fits.
fn lanes(atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    for lanes in &one.lanes {
        let (first, last) = lanes.masks;
        let run = first == 1 && (u16::from(last) + 1).is_power_of_two();
        let mut say = |message: String, help: &str| {
            diags.push(
                Diagnostic::at(one.op.span, message)
                    .note(atom.name.span, "of this atom")
                    .help(help),
            )
        };
        if first != last && !run || first == 0 {
            say(
                format!("exchanges of {first} to {last} in `{}`", atom.name.value),
                "masks are all from 1 to one less than a power of two, or one",
            );
        }
        if first != last && lanes.by.is_none() && lanes.set.len() == 1 && lanes.step == 0 {
            say(
                format!("exchanges of {first} to {last} in `{}` have one text", atom.name.value),
                "`step` is by how much the number grows from one mask to the next",
            );
        }
        // A list of lanes names for each the one that it takes.
        let set = &lanes.set;
        if set.len() > 2
            && first == last
            && (0i32..).zip(set).any(|(lane, taken)| *taken != lane ^ i32::from(first))
        {
            say(
                format!("lanes {set:?} are not those that differ by {first}"),
                "lane l takes what lane l ^ mask has: correct `set` or `masks`",
            );
        }
        // A lane that is named is the one that is read: nothing is added to it.
        if lanes.by.is_some() && set.iter().any(|number| *number != 0) {
            say(
                format!("`{}` names a lane, and adds {set:?} to it", atom.name.value),
                "correct `set` or `by`",
            );
        }
        let moved = one.uses.first().and_then(|number| atom.operands.get(usize::from(*number)));
        if let (Some((_, times)), Some(moved)) = (lanes.by.as_ref(), moved) {
            let named = atom.operands.get(usize::from(lanes.by.as_ref().map_or(0, |by| by.0)));
            if let Some(named) = named.filter(|named| named.name == moved.name) {
                say(
                    format!("`{}` is moved, and says which lane is read", named.name.value),
                    "the number of a lane is an operand of its own",
                );
            }
            let bytes = moved.register_bits / 8;
            if u16::from(*times) != bytes && *times != 1 {
                say(
                    format!("a lane is named by {times} times its number in `{}`", atom.name.value),
                    "lanes are counted by their number, or by the bytes of the register that is moved",
                );
            }
        }
        let used = |number: u8| one.uses.contains(&number);
        let free = atom.immediates().find(|(number, _)| !used(*number));
        if let (Some((_, operand)), None) = (&free, set.first()) {
            say(
                format!("nothing says what `{}` is", operand.name.value),
                "say in `set` what a text has there",
            );
        }
        if let (Some((_, operand)), Some(start)) = (free, set.first())
            && let Some(range) = &operand.range
        {
            let most = i64::from(*start) + i64::from(lanes.step) * i64::from(last);
            if most > range.value.1 || i64::from(*start) < range.value.0 {
                say(
                    format!("`{}` would hold {start} to {most}", operand.name.value),
                    "correct `set`, `step` or the operand's range",
                );
            }
        }
    }
}
