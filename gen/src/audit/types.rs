//! Element types are what their names say.
//!
//! A name ends in the width (`u8`, `b128`), or says how many bits exponent and fraction have
//! (`e4m3`); its letters say what the bits mean. The bias of a format follows from its exponent
//! (IEEE 754-2019 section 3.3, OCP 8-bit floating point 1.0 table 1), one more where the pattern of
//! the negative zero is no number. What an operation takes and leaves is of one type, but for casts
//! and truths.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Atom, Dtype, Operand};
use crate::rules::does;
use lanebook_tables::{DtypeKind, FloatFormat, OpRole, OpWord, Role, Specials};
use std::collections::BTreeMap;

/// See the module.
#[must_use]
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for dtype in &compiled.model.dtypes {
        let name = Name::of(&dtype.name.value);
        let mut say = |message: String, help: &str| {
            let message = format!("element type `{}`: {message}", dtype.name.value);
            diags.push(Diagnostic::at(dtype.name.span, message).help(help));
        };
        if pair(dtype, &mut say) {
            continue;
        }
        kind(dtype, &name, &mut say);
        width(dtype, &name, &mut say);
        // Sign, exponent of 32 bits, fraction of 16 (IEEE 754-2019 table 3.5).
        let read = if name.letters == "tf" { 1 + 8 + 10 } else { dtype.bits };
        if dtype.bits.checked_sub(u16::from(dtype.unread)) != Some(read) {
            say(
                format!("{} of its bits are not read, its name says {read} that are", dtype.unread),
                "correct `unread` or the name",
            );
        }
        if let Some(format) = &dtype.format {
            parts(dtype, format, &name, &mut say);
            numbers(format, &mut say);
        }
    }
    operands(compiled, &mut diags);
    diags
}

/// The atoms that do an operation.
#[derive(Default)]
struct OperationAtoms<'a> {
    /// How many have operands of one type.
    alike: usize,
    /// The others, with two operands that differ.
    odd: Vec<(&'a Atom, &'a Operand, &'a Operand)>,
}

/// Operands of an elementwise operation have one type. What has two of them more often than one is a
/// cast.
fn operands(compiled: &Compiled, diags: &mut Diagnostics) {
    let mut of_op: BTreeMap<&str, OperationAtoms<'_>> = BTreeMap::new();
    for atom in &compiled.model.atoms {
        half_typed(atom, diags);
        let Some((op, typed)) = typed(compiled, atom) else { continue };
        let doers = of_op.entry(op).or_default();
        let Some(first) = typed.first() else { continue };
        match typed.iter().find(|one| one.dtype != first.dtype) {
            Some(other) => doers.odd.push((atom, first, other)),
            None => doers.alike += 1,
        }
    }
    let name = |one: &Operand| {
        let dtype = one.dtype.and_then(|id| compiled.model.dtypes.get(id.index()));
        dtype.map_or("none", |dtype| dtype.name.value.as_str())
    };
    truths(compiled, diags);
    for (op, OperationAtoms { alike, odd }) in of_op {
        for (atom, first, other) in odd.iter().filter(|_| odd.len() < alike) {
            let message = format!(
                "`{}` does `{op}` to `{}` of {} and `{}` of {}",
                atom.name.value,
                first.name.value,
                name(first),
                other.name.value,
                name(other)
            );
            diags.push(
                Diagnostic::at(other.name.span, message)
                    .note(first.name.span, "the first")
                    .help("what an operation takes and leaves is of one type: correct `dtype`"),
            );
        }
    }
}

/// Of registers that an operation takes from one class all have a type, or none has.
fn half_typed(atom: &Atom, diags: &mut Diagnostics) {
    let Some(does) = &atom.does else { return };
    let taken = does.uses.iter().filter_map(|number| atom.operands.get(usize::from(*number)));
    let taken: Vec<&Operand> = taken.filter(|one| one.class.is_some()).collect();
    let typed = taken.iter().find(|one| one.dtype.is_some());
    let other = typed
        .and_then(|typed| taken.iter().find(|one| one.dtype.is_none() && one.class == typed.class));
    if let (Some(typed), Some(other)) = (typed, other) {
        let message = format!(
            "`{}` of `{}` has no type, and `{}` has one",
            other.name.value, atom.name.value, typed.name.value
        );
        diags.push(
            Diagnostic::at(other.name.span, message)
                .note(typed.name.span, "the other")
                .help("what an operation takes has a type: state its `dtype`"),
        );
    }
}

/// What a comparison leaves is one bit an element.
fn truths(compiled: &Compiled, diags: &mut Diagnostics) {
    let ops = &compiled.rules.ops;
    for atom in &compiled.model.atoms {
        let Some(does) = &atom.does else { continue };
        let op = match does::word(&does.op, |name| ops.named(name)) {
            Some(OpWord::Op(id)) => ops.get(id),
            _ => None,
        };
        if op.is_none_or(|op| !op.entry.truth) {
            continue;
        }
        for operand in atom.operands.iter().filter(|one| one.role == Role::Def) {
            let dtype = operand.dtype.and_then(|id| compiled.model.dtypes.get(id.index()));
            if let Some(dtype) = dtype.filter(|dtype| dtype.bits != 1) {
                let message = format!(
                    "`{}` compares, and leaves `{}` of {}",
                    atom.name.value, operand.name.value, dtype.name.value
                );
                diags.push(
                    Diagnostic::at(operand.name.span, message)
                        .help("a comparison leaves truths, of one bit: correct `dtype`"),
                );
            }
        }
    }
}

/// The operation that an atom does and, of those of its operands that have to be of one type, the
/// ones with a type.
fn typed<'a>(compiled: &Compiled, atom: &'a Atom) -> Option<(&'a str, Vec<&'a Operand>)> {
    let does = atom.does.as_ref()?;
    let ops = &compiled.rules.ops;
    let Some(OpWord::Op(id)) = does::word(&does.op, |name| ops.named(name)) else { return None };
    let op = ops.get(id).filter(|op| op.role.is_lanewise())?;
    // What decides is a truth, and so is what comparisons leave.
    let decides = usize::from(op.role == OpRole::Select);
    let taken = does.uses.iter().skip(decides);
    let taken = taken.filter_map(|number| atom.operands.get(usize::from(*number)));
    let left = atom.operands.iter().filter(|one| one.role == Role::Def && !op.entry.truth);
    let all = taken.chain(left).filter(|one| one.dtype.is_some());
    Some((&does.op.value, all.collect()))
}

/// What a name says.
struct Name {
    /// The letters before its first digit.
    letters: String,
    /// `e5m2`: bits of exponent and fraction.
    parts: Option<(u8, u8)>,
    /// `f16`: bits.
    bits: Option<u16>,
    /// Letters behind the last digit.
    ending: String,
}

impl Name {
    fn of(name: &str) -> Self {
        let first = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let last = name.rfind(|c: char| c.is_ascii_digit()).map_or(name.len(), |at| at + 1);
        let digits = &name[first..last];
        let two =
            digits.split_once('m').and_then(|(e, m)| Some((e.parse().ok()?, m.parse().ok()?)));
        Self {
            letters: name[..first].to_string(),
            parts: two,
            bits: digits.parse().ok(),
            ending: name[last..].to_string(),
        }
    }
}

/// Whether a type is one of pairs, by its name or by what it says; both say the same.
fn pair(dtype: &Dtype, say: &mut impl FnMut(String, &str)) -> bool {
    let half = dtype.name.value.strip_suffix("x2");
    let of = dtype.pair_of.as_ref().map(|of| of.value.as_str());
    if half != of {
        let message =
            format!("its name says {}, `pair_of` {}", half.unwrap_or("-"), of.unwrap_or("-"));
        say(
            message,
            "a type of pairs is called by that of its halves, with `x2` behind: correct `pair_of` or the name",
        );
    } else if half.is_some() && dtype.kind != DtypeKind::Bits {
        say("a pair is no number".into(), "say `kind: bits`");
    }
    half.is_some() || of.is_some()
}

fn kind(dtype: &Dtype, name: &Name, say: &mut impl FnMut(String, &str)) {
    let said = match name.letters.as_str() {
        // Of one bit nothing is left beside a sign.
        "i" if dtype.bits == 1 => DtypeKind::Bits,
        "i" => DtypeKind::Signed,
        "u" => DtypeKind::Unsigned,
        "b" => DtypeKind::Bits,
        _ => DtypeKind::Float,
    };
    if dtype.kind != said {
        say(format!("{:?} is not what its name says", dtype.kind), "correct `kind` or the name");
    }
    if dtype.format.is_some() && dtype.kind != DtypeKind::Float {
        say("it has a format and is no float".into(), "leave `format` out, or correct `kind`");
    }
}

fn width(dtype: &Dtype, name: &Name, say: &mut impl FnMut(String, &str)) {
    let said = match (name.parts, name.bits) {
        // A scale without a sign lies in a byte whose highest bit is not used.
        (Some((exponent, fraction)), _) if name.letters == "ue" => {
            u16::from(exponent + fraction).next_multiple_of(8)
        }
        (Some((exponent, 0)), _) => u16::from(exponent),
        (Some((exponent, fraction)), _) => u16::from(exponent + fraction) + 1,
        (None, Some(bits)) => bits,
        (None, None) => return,
    };
    if dtype.bits != said {
        say(format!("{} bits, and its name says {said}", dtype.bits), "correct `bits` or the name");
    }
}

fn parts(dtype: &Dtype, format: &FloatFormat, name: &Name, say: &mut impl FnMut(String, &str)) {
    let (exponent, fraction) = (u16::from(format.exponent), u16::from(format.fraction));
    if u16::from(format.signed) + exponent + fraction != dtype.bits {
        say(
            format!(
                "sign, {exponent} bits of exponent and {fraction} of fraction are not its {} bits",
                dtype.bits
            ),
            "correct `exponent`, `fraction` or `signed`",
        );
    }
    if name.parts.is_some_and(|said| said != (format.exponent, format.fraction)) {
        say("exponent and fraction are not those of its name".into(), "correct them, or the name");
    }
    // IEEE 754 has a format of each width; the other of 16 bits has the exponent of 32.
    let interchange = match (name.letters.as_str(), dtype.bits) {
        ("f", 16) => Some(5),
        ("f", 32) | ("bf", 16) => Some(8),
        ("f", 64) => Some(11),
        _ => None,
    };
    if interchange.is_some_and(|wanted| wanted != exponent) {
        say(
            format!("an exponent of {exponent} bits is not that of the standard"),
            "correct `exponent`",
        );
    }
    let finite = name.ending.contains("fn");
    let one_zero = name.ending.contains("uz");
    if one_zero != (format.specials == Specials::OneZero)
        || finite && format.specials == Specials::Ieee
    {
        say(
            "its patterns that are no numbers are not those of its name".into(),
            "`one_zero` goes with names in `uz`: correct `specials`",
        );
    }
}

fn numbers(format: &FloatFormat, say: &mut impl FnMut(String, &str)) {
    let half = 1i16.checked_shl(u32::from(format.exponent).saturating_sub(1)).unwrap_or(0);
    let one_zero = format.specials == Specials::OneZero;
    let bias = if one_zero { half } else { half - 1 };
    if format.bias != bias {
        say(
            format!(
                "a bias of {}, and an exponent of {} bits has {bias}",
                format.bias, format.exponent
            ),
            "correct `bias`",
        );
    }
    if format.zero != (format.fraction > 0) {
        say("powers of two alone have no zero, all others have one".into(), "correct `zero`");
    }
    // Infinity and NaN share the highest exponent: a fraction tells them apart; a short exponent
    // has no value to spare.
    let ieee = format.fraction > 0 && format.exponent >= 5;
    if !one_zero && ieee != (format.specials == Specials::Ieee) {
        say(
            "exponents of five bits and more spend the highest on infinity and NaN, if there is a fraction".into(),
            "correct `specials`",
        );
    }
}
