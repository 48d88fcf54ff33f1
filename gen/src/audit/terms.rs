//! The term of `means` is what the text of its instruction says.
//!
//! Its words, its operands in the order of the text, the half of a product, the numbers that it works
//! with, and which operands are counts of shifts.
use super::spelling::text;
use super::wording::{letters, numbers_in, one_line, reversed, said, stem, template, written};
use crate::compile::Compiled;
use crate::means::INDEX_WORDS;
use crate::model::Atom;
use lanebook_tables::{IndexOp, TermNode};
use std::collections::BTreeSet;

/// All of it, of one atom that has a term.
pub(super) fn term(compiled: &Compiled, atom: &Atom, say: &mut impl FnMut(String, &str)) {
    words(compiled, atom, say);
    halves(atom, say);
    order(atom, say);
    numbers(atom, say);
    narrow(atom, say);
    shifts(atom, say);
    left_out(atom, say);
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

/// A text that computes with integers of fewer bits than registers have takes so many of them.
fn narrow(atom: &Atom, say: &mut impl FnMut(String, &str)) {
    let computes = matches!(atom.means.first(), Some(TermNode::Op(..)));
    let used = |number: u8| atom.means.contains(&TermNode::Operand(number));
    let whole = (0u8..).zip(&atom.operands).filter(|(number, _)| used(*number));
    let whole = whole.map(|(_, operand)| u64::from(operand.register_bits)).min().unwrap_or(0);
    let first = text(atom);
    let first = first.split_whitespace().next().unwrap_or_default();
    let bits =
        |word: &str| -> Option<u64> { word.strip_prefix(['u', 'i', 's', 'b'])?.parse().ok() };
    for bits in first.split(['.', '_']).filter_map(bits).filter(|bits| (2..whole).contains(bits)) {
        let mask = (1u64 << bits) - 1;
        let masked = atom
            .means
            .iter()
            .any(|node| matches!(node, TermNode::Const(value) if *value as u32 as u64 == mask));
        if one_line(atom) && computes && !masked {
            say(
                format!(
                    "the text of `{}` takes {bits} bits, `means` all of a register",
                    atom.name.value
                ),
                "mask what is taken, or correct the text",
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
