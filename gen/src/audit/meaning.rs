//! What an instruction does is what its text says in words.
//!
//! Texts name operations by the words that the index language and the operations of tiles have, or
//! by their beginnings. A text that says `add` adds; operands are taken in the order in which they
//! are written, unless the text says that it takes them in reverse; a number of a term is one of
//! the text or the mask of one. Equal texts mean the same wherever one architecture has both.
use super::spelling::text;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::means::INDEX_WORDS;
use crate::model::{Atom, Does, HwModel, Operand};
use crate::rules::does;
use crate::template::{Piece, half};
use lanebook_suggest::remedy;
use lanebook_tables::{IndexOp, OpWord, Role, TermNode};
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        if let (Some(span), [_, ..]) = (atom.means_span, atom.means.as_slice()) {
            let mut say = |message: String, help: &str| {
                diags.push(
                    Diagnostic::at(span.head(), message)
                        .note(atom.template_span, "the text")
                        .help(help),
                )
            };
            words(compiled, atom, &mut say);
            halves(atom, &mut say);
            order(atom, &mut say);
            numbers(atom, &mut say);
            shifts(atom, &mut say);
            left_out(atom, &mut say);
        }
        if let Some(one) = &atom.does {
            done(compiled, atom, one, &mut diags);
            steps(compiled, atom, one, &mut diags);
            parts(&compiled.model, atom, one, &mut diags);
            lanes(atom, one, &mut diags);
        }
    }
    spellings(compiled, &mut diags);
    ordered(compiled, &mut diags);
    rounded(compiled, &mut diags);
    together(compiled, &mut diags);
    equal(compiled, &mut diags);
    diags
}

/// A text as it is written in the tables.
fn template(atom: &Atom) -> String {
    let pieces = atom.template.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Name(name) => format!("{{{name}}}"),
        Piece::Optional(name, before) => format!("{{{name}?{before}}}"),
    });
    pieces.collect()
}

/// Runs of letters of an instruction's first word.
fn letters(atom: &Atom) -> Vec<String> {
    let text = text(atom);
    let mnemonic = text.split_whitespace().next().unwrap_or_default();
    let parts = mnemonic.split(|c: char| !c.is_ascii_alphabetic());
    parts.filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// Whether an atom is one line of text.
pub(super) fn one_line(atom: &Atom) -> bool {
    !text(atom).trim_end().contains('\n')
}

/// A word of the index language without its width.
fn stem(word: &str) -> &str {
    word.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or(word)
}

/// The words of the index language that a text says.
fn said(letters: &[String]) -> BTreeSet<&'static str> {
    let stems = INDEX_WORDS.iter().map(|(word, ..)| stem(word));
    stems
        .filter(|stem| {
            letters.iter().any(|word| word == stem || stem.len() > 2 && word.contains(stem))
        })
        .collect()
}

/// What an instruction set says that a text which begins like this one means: the longest counts.
fn termed(compiled: &Compiled, atom: &Atom) -> Option<IndexOp> {
    let template = template(atom);
    let terms = &compiled.model.isa(atom.isa).terms;
    let begins = terms.iter().flat_map(|term| term.begins.iter().map(move |begin| (begin, term)));
    let (_, term) = begins
        .filter(|(begin, _)| template.starts_with(begin.as_str()))
        .max_by_key(|(begin, _)| begin.value.len())?;
    INDEX_WORDS.iter().find(|(word, ..)| *word == term.op.value).map(|(_, op, _)| *op)
}

fn words(compiled: &Compiled, atom: &Atom, say: &mut impl FnMut(String, &str)) {
    if !one_line(atom) {
        return;
    }
    let letters = letters(atom);
    let said = said(&letters);
    let stem_of = |node: &TermNode| match node {
        TermNode::Op(op, _) => {
            INDEX_WORDS.iter().find(|(_, known, _)| known == op).map(|(word, ..)| stem(word))
        }
        _ => None,
    };
    let meant: BTreeSet<&str> = atom.means.iter().filter_map(stem_of).collect();
    if meant.is_empty() {
        if let (Some(word), [TermNode::Operand(_)]) = (said.iter().next(), atom.means.as_slice()) {
            say(
                format!("the text of `{}` says `{word}`, `means` says a copy", atom.name.value),
                "correct `means` or the text",
            );
        }
        return;
    }
    if let Some(word) = said.difference(&meant).next() {
        say(
            format!("the text of `{}` says `{word}`, `means` does not", atom.name.value),
            "correct `means` or the text",
        );
    }
    // Words of operations that no term has: `max` is not meant by anything.
    let ops = &compiled.rules.ops;
    let mut others = ops
        .list
        .iter()
        .filter(|op| op.role.is_lanewise())
        .filter_map(|op| op.entry.name.value.rsplit('.').next())
        .filter(|word| word.len() > 2 && !meant.contains(word));
    if let Some(word) = others.find(|other| letters.iter().any(|word| word == other)) {
        say(
            format!("the text of `{}` says `{word}`, `means` does not", atom.name.value),
            "correct `means` or the text",
        );
    }
    let root = atom.means.first().and_then(stem_of);
    let termed = termed(compiled, atom);
    let meant = atom.means.first().and_then(|node| match node {
        TermNode::Op(op, _) => Some(*op),
        _ => None,
    });
    if termed.is_some() && termed == meant {
        return;
    }
    if let Some(root) = root.filter(|root| termed.is_some() || !said.contains(root)) {
        say(
            format!(
                "`means` of `{}` ends with `{root}`, which its text does not say",
                atom.name.value
            ),
            "correct `means` or the text",
        );
    }
}

/// Products are of low halves, unless a term is wide; shifts to the right bring zeros.
fn halves(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let letters = letters(atom);
    let has = |wanted: &[IndexOp]| {
        atom.means.iter().any(|node| matches!(node, TermNode::Op(op, _) if wanted.contains(op)))
    };
    let says = |word: &str| letters.iter().any(|other| other == word);
    let product = has(&[IndexOp::Mul]);
    let high = product && (says("hi") || says("wide"));
    let narrow = has(&[IndexOp::MulWide64]) && (says("lo") || says("hi"));
    if one_line(atom) && (high || narrow) {
        say(
            format!(
                "the text of `{}` says another half of a product than `means`",
                atom.name.value
            ),
            "`mul` is the low half, `mul_wide64` the whole: correct `means` or the text",
        );
    }
    // A type behind the operation: `s` of a scalar instruction stands before it.
    let signed = letters.iter().skip(1).any(|word| word == "s" || word == "i");
    if one_line(atom)
        && has(&[IndexOp::Shr])
        && (signed || letters.iter().any(|w| w.starts_with("ashr")))
    {
        say(
            format!("the text of `{}` shifts signs in, `shr` zeros", atom.name.value),
            "correct `means` or the text",
        );
    }
}

/// Names of operands in the order of a text.
pub(super) fn written(atom: &Atom) -> Vec<&str> {
    let names = atom.template.iter().filter_map(|piece| match piece {
        // A half of a tuple stands for it.
        Piece::Name(name) | Piece::Optional(name, _) => {
            Some(half(name).map_or(name.as_str(), |(whole, _)| whole))
        }
        Piece::Text(_) => None,
    });
    names.collect()
}

/// Whether a mnemonic says that it takes its operands the other way round.
pub(super) fn reversed(atom: &Atom) -> bool {
    letters(atom).iter().any(|word| word.ends_with("rev"))
}

fn order(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let used: Vec<&str> = atom
        .means
        .iter()
        .filter_map(|node| match node {
            TermNode::Operand(number) => atom.operands.get(usize::from(*number)),
            _ => None,
        })
        .map(|operand| operand.name.value.as_str())
        .collect();
    let distinct: BTreeSet<&str> = used.iter().copied().collect();
    if distinct.len() != used.len() || !one_line(atom) {
        return;
    }
    let mut wanted: Vec<&str> =
        written(atom).into_iter().filter(|name| distinct.contains(name)).collect();
    if reversed(atom) {
        wanted.reverse();
    }
    if wanted != used && wanted.len() == used.len() {
        say(
            format!(
                "`{}` takes {} as its text has them, `means` takes {}",
                atom.name.value,
                wanted.join(", "),
                used.join(", ")
            ),
            "operands of a term come in the order of the text",
        );
    }
}

/// Numbers in the text.
fn numbers_in(text: &str) -> BTreeSet<u64> {
    let digits = text.split(|c: char| !c.is_ascii_digit());
    let mut out: BTreeSet<u64> = digits.filter_map(|run| run.parse().ok()).collect();
    let hex = text.split(|c: char| !c.is_ascii_alphanumeric());
    out.extend(hex.filter_map(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()));
    out
}

fn numbers(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let known = numbers_in(&text(atom));
    for node in &atom.means {
        let TermNode::Const(value) = node else { continue };
        let value = *value as u32 as u64;
        let mask = known.iter().any(|bits| *bits < 64 && value == (1u64 << bits) - 1);
        // 0, 1, the last bit of a word and all of them are no numbers of an instruction.
        if !mask && !known.contains(&value) && ![0, 1, 31, 63, 0xffff_ffff].contains(&value) {
            say(
                format!("`{}` works with {value}, of which its text says nothing", atom.name.value),
                "a number of a term stands in the text, or masks as many bits as it says",
            );
        }
    }
}

/// What the one account of an atom takes, the other takes.
fn left_out(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let uses = atom.does.iter().flat_map(|one| &one.uses);
    let taken = |number: u8| {
        let node = atom.means.iter().find(|node| match node {
            TermNode::Operand(other) | TermNode::Lut3(other) => *other == number,
            _ => false,
        });
        node.is_some()
    };
    for number in uses.filter(|number| !taken(**number)) {
        let Some(operand) = atom.operands.get(usize::from(*number)) else { continue };
        say(
            format!(
                "`does` of `{}` takes `{}`, `means` does not",
                atom.name.value, operand.name.value
            ),
            "correct one of them: both say what the same instruction does",
        );
    }
}

/// What is bounded by the width of a word is a count of a shift.
fn shifts(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let Some(counts) = counted(&atom.means) else { return };
    for (number, operand) in (0u8..).zip(&atom.operands) {
        let used = atom.means.contains(&TermNode::Operand(number));
        let Some(range) = operand.range.as_ref().filter(|_| used) else { continue };
        let bounded = range.value == (0, 31) || range.value == (0, 63);
        if bounded != counts.contains(&number) && (bounded || range.value.1 > 64) {
            say(
                format!(
                    "operand `{}` of `{}` takes {} to {} and is {}a count of a shift",
                    operand.name.value,
                    atom.name.value,
                    range.value.0,
                    range.value.1,
                    if bounded { "not " } else { "" }
                ),
                "a shift counts from 0 to one less than the width of a word",
            );
        }
    }
}

/// Operands inside the second arguments of shifts.
fn counted(term: &[TermNode]) -> Option<BTreeSet<u8>> {
    let mut out = BTreeSet::new();
    let mut at = 0;
    // The arguments that are still to come, each with whether it is a count.
    let mut open: Vec<bool> = vec![false];
    while let Some(node) = term.get(at) {
        let inside = open.pop()?;
        match node {
            TermNode::Op(op, arity) => {
                let word = INDEX_WORDS.iter().find(|(_, known, _)| known == op)?.0;
                let shift = stem(word) == "shl" || stem(word) == "shr";
                for argument in (0..*arity).rev() {
                    open.push(inside || shift && argument == 1);
                }
            }
            TermNode::Operand(number) => {
                if inside {
                    out.insert(*number);
                }
            }
            TermNode::Const(_) => {}
            _ => return None,
        }
        at += 1;
    }
    Some(out)
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
    if word == Some(OpWord::Pack) {
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
    if let (Some(OpWord::Choose), Some(selector), Some(result)) =
        (word, one.uses.last().and_then(operand), result)
        && let Some(range) = &selector.range
    {
        let bits = u32::from(one.selector) * u32::from(result.register_bits / 8);
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

/// Spellings are of operations that there are, and some atom's text begins as each of them.
fn spellings(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    // Beside errors the rules are not there to be judged.
    if compiled.rules.ops.list.is_empty() {
        return;
    }
    let texts: Vec<String> = model.atoms.iter().map(template).collect();
    let mut seen = BTreeSet::new();
    for spelling in model.isas.iter().flat_map(|isa| &isa.spellings) {
        let ops = &compiled.rules.ops;
        if ops.named(&spelling.op.value).is_none() && seen.insert(spelling.op.span) {
            let names = ops.list.iter().map(|op| op.entry.name.value.as_str());
            let help = remedy(&spelling.op.value, names, "operations stand in rules/ops.ron");
            let message = format!("no operation is named `{}`", spelling.op.value);
            diags.push(Diagnostic::at(spelling.op.span, message).help(help));
        }
        for begin in &spelling.begins {
            if seen.insert(begin.span) && !texts.iter().any(|text| text.starts_with(begin.as_str()))
            {
                let message = format!("no atom's text begins with `{}`", begin.value);
                diags.push(
                    Diagnostic::at(begin.span, message)
                        .help("correct it, or remove it")
                        .as_level(Level::Warning),
                );
            }
        }
    }
}

/// Sums and products say every word that the fused ones of their instruction set and element type
/// say: a rounding that a text leaves out is one that an assembler may leave out too, when it makes
/// one instruction of a product and a sum.
fn rounded(compiled: &Compiled, diags: &mut Diagnostics) {
    let key = |atom: &Atom| Some((atom.isa.index(), atom.operands.first()?.dtype?.index()));
    let name = |atom: &Atom| {
        let one = atom.does.as_ref().filter(|_| one_line(atom))?;
        Some(one.op.value.rsplit('.').next().unwrap_or_default().to_string())
    };
    let mut fused: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for atom in &compiled.model.atoms {
        let Some(key) = key(atom).filter(|_| name(atom).as_deref() == Some("fma")) else {
            continue;
        };
        let said: BTreeSet<String> =
            letters(atom).into_iter().filter(|word| word != "fma").collect();
        fused.entry(key).and_modify(|all| all.retain(|word| said.contains(word))).or_insert(said);
    }
    for atom in &compiled.model.atoms {
        let sums = ["add", "sub", "mul"];
        let Some(one) = atom
            .does
            .as_ref()
            .filter(|_| name(atom).is_some_and(|name| sums.contains(&name.as_str())))
        else {
            continue;
        };
        let Some(wanted) = key(atom).and_then(|key| fused.get(&key)) else { continue };
        let said = letters(atom);
        if let Some(word) = wanted.iter().find(|word| !said.contains(word)) {
            let message = format!(
                "the text of `{}` does not say `{word}`, that of `fma` of its type does",
                atom.name.value
            );
            diags.push(
                Diagnostic::at(one.op.span, message)
                    .note(atom.template_span, "the text")
                    .help("say how it is rounded: without it an assembler may make one instruction of two"),
            );
        }
    }
}

/// How many results the elements of an operand fill.
fn held(model: &HwModel, atom: &Atom, one: &Does) -> Option<u32> {
    let holds = |operand: &Operand| {
        let bits = u32::from(model.dtypes.get(operand.dtype?.index())?.bits);
        (u32::from(operand.register_bits) * u32::from(operand.registers)).checked_div(bits)
    };
    let from = holds(atom.operands.get(usize::from(*one.uses.first()?))?)?;
    from.checked_div(holds(atom.operands.first()?)?)
}

fn parts(model: &HwModel, atom: &Atom, one: &Does, diags: &mut Diagnostics) {
    let Some(parts) = held(model, atom, one) else { return };
    if u32::from(one.part) >= parts.max(1) {
        let message = format!(
            "`{}` makes part {} of a register that holds {parts}",
            atom.name.value, one.part
        );
        diags.push(
            Diagnostic::at(one.op.span, message)
                .help("parts count from 0: correct `part`, or the type of the operand"),
        );
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

/// Parts that are made, of how many, and by an atom.
type Made<'m> = (BTreeSet<u8>, u32, &'m Atom);
/// The numbers of a text, its atom, and what that does.
type Numbered<'m> = (Vec<u64>, &'m Atom, &'m Does);

/// Whoever makes one part of a register makes them all.
fn together(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut said = BTreeSet::new();
    for arch in &model.archs {
        let mut found: BTreeMap<(usize, usize, &str), Made<'_>> = BTreeMap::new();
        for atom in arch.atoms.iter().map(|entry| model.atom(entry.atom)) {
            let Some(one) = atom.does.as_ref().filter(|one| one.uses.len() == 1) else {
                continue;
            };
            let from = one.uses.first().and_then(|n| atom.operands.get(usize::from(*n))?.dtype);
            let to = atom.operands.first().and_then(|operand| operand.dtype);
            let (Some(from), Some(to), Some(parts)) = (from, to, held(model, atom, one)) else {
                continue;
            };
            let key = (from.index(), to.index(), one.op.value.as_str());
            let entry = found.entry(key).or_insert((BTreeSet::new(), parts, atom));
            entry.0.insert(one.part);
            entry.1 = entry.1.max(parts);
        }
        for ((from, to, _), (have, parts, atom)) in found {
            let wider = model.dtypes[to].bits > model.dtypes[from].bits;
            let missing = (0..parts.min(32) as u8).find(|part| !have.contains(part));
            if let Some(part) = missing.filter(|_| wider)
                && said.insert(atom.name.span)
            {
                let message = format!(
                    "`{}` makes `{}` of `{}`, and nothing makes part {part} of a register",
                    arch.name.value, model.dtypes[to].name.value, model.dtypes[from].name.value
                );
                diags.push(
                    Diagnostic::at(atom.name.span, message)
                        .help("correct the `part` of one of these conversions, or add the one that is missing"),
                );
            }
        }
    }
}

/// A text and the numbers in it, each as a place.
fn apart(text: &str) -> (String, Vec<u64>) {
    let (mut words, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let tail = &rest[at..];
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        words.push_str(&rest[..at]);
        words.push('#');
        numbers.push(tail[..end].parse().unwrap_or(u64::MAX));
        rest = &tail[end..];
    }
    words.push_str(rest);
    (words, numbers)
}

/// Texts that differ in one number make the parts of a register in the order of that number.
fn ordered(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut alike: BTreeMap<(usize, String), Vec<Numbered<'_>>> = BTreeMap::new();
    for atom in &model.atoms {
        let Some(one) = &atom.does else { continue };
        let types: Vec<_> = atom.operands.iter().map(|operand| operand.dtype).collect();
        let (words, numbers) = apart(&template(atom));
        let key = (atom.isa.index(), format!("{words}|{types:?}|{}", one.op.value));
        alike.entry(key).or_default().push((numbers, atom, one));
    }
    for all in alike.values() {
        for (at, (numbers, atom, one)) in all.iter().enumerate() {
            for (others, other, theirs) in &all[at + 1..] {
                let mut differ = numbers.iter().zip(others).filter(|(a, b)| a != b);
                let (Some((a, b)), None) = (differ.next(), differ.next()) else { continue };
                if a.cmp(b) == one.part.cmp(&theirs.part) {
                    continue;
                }
                let message = format!(
                    "`{}` makes part {} with {a} in its text, `{}` part {} with {b}",
                    atom.name.value, one.part, other.name.value, theirs.part
                );
                diags.push(
                    Diagnostic::at(one.op.span, message)
                        .note(theirs.op.span, "the other")
                        .help("parts come in the order of the number that chooses them: correct a `part`, or a text"),
                );
            }
        }
    }
}

/// One text, two meanings.
fn equal(compiled: &Compiled, diags: &mut Diagnostics) {
    let model = &compiled.model;
    let mut said = BTreeSet::new();
    for arch in &model.archs {
        let mut known: BTreeMap<String, &Atom> = BTreeMap::new();
        for atom in arch.atoms.iter().map(|entry| model.atom(entry.atom)) {
            let Some(mine) = meaning(atom) else { continue };
            let classes: Vec<String> =
                atom.operands.iter().map(|o| format!("{:?}{}", o.class, o.registers)).collect();
            let key = format!("{}|{}", text(atom), classes.join(","));
            let Some(other) = known.get(&key) else {
                known.insert(key, atom);
                continue;
            };
            if meaning(other).is_some_and(|theirs| theirs != mine)
                && said.insert((atom.name.span, other.name.span))
            {
                let message = format!(
                    "`{}` and `{}` have one text and do different things",
                    atom.name.value, other.name.value
                );
                diags.push(
                    Diagnostic::at(atom.template_span, message)
                        .note(other.template_span, "the other")
                        .help("correct a text, or what one of them does"),
                );
            }
        }
    }
}

/// What an atom computes, if a word says it.
fn meaning(atom: &Atom) -> Option<String> {
    (!atom.means.is_empty()).then(|| format!("{:?}", atom.means))
}
