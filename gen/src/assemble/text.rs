//! Texts for an assembler: every form of an instance with made-up operands, one after the other in
//! one listing.
//!
//! A [`Part`] knows its lines, so that one run of an assembler judges all of them. Registers are
//! made up; what they hold does not matter, since nothing runs.
use crate::model::{Assembler, Frame};
use crate::template;
use lanebook_tables::{
    AtomId, ClassId, Instance, Isa, Operand, Piece, RegisterKind, Role, TupleStyle,
};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

/// First number of a made-up register: below it are those with a meaning at entry.
const FIRST: usize = 8;

/// One text of a listing: which atom, and on which lines it stands (from 1).
#[derive(Clone, Debug)]
pub struct Part {
    /// The atom.
    pub atom: AtomId,
    /// Its text.
    pub text: String,
    /// It departs from the plain form: another class, or an end of an operand's range.
    pub variant: bool,
    /// Its lines.
    pub lines: Range<usize>,
    /// Which instance it is of, and which of its forms: the same in each listing of these.
    pub place: (usize, usize),
}

/// What a form of an instance has in the place of the plain operands.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Form {
    /// Registers of the first class, immediates at the least that they can be (but not below 0),
    /// optional ones at 16.
    Plain,
    /// Immediates at their lowest.
    Low,
    /// Immediates at their highest.
    High,
    /// Optional ones left out.
    Bare,
    /// An operand in another of its classes.
    Class(u8, ClassId),
    /// An integer in place of a register.
    Integer(u8, i64),
}

/// The plain form of an instance first, then all others that an architecture with the atom takes as
/// well. `label` stands where a label is wanted.
#[must_use]
pub fn forms(isa: &Isa<'_>, instance: &Instance<'_>, label: &str) -> Vec<String> {
    let mut forms = vec![Form::Plain, Form::Low, Form::High, Form::Bare];
    for (number, operand) in (0u8..).zip(instance.atom.operands) {
        if operand.implicit || matches!(operand.role, Role::Immediate | Role::Label) {
            continue;
        }
        forms.extend(operand.also.iter().map(|class| Form::Class(number, *class)));
        if operand.range.0 <= operand.range.1 {
            forms.extend([
                Form::Integer(number, operand.range.0),
                Form::Integer(number, operand.range.1),
            ]);
        }
    }
    let mut out: Vec<String> = Vec::new();
    for form in forms {
        let text = text(isa, instance, label, form);
        if !out.contains(&text) {
            out.push(text);
        }
    }
    out
}

fn text(isa: &Isa<'_>, instance: &Instance<'_>, label: &str, form: Form) -> String {
    let mut next = FIRST;
    let operands: Vec<String> = (0u8..)
        .zip(instance.atom.operands)
        .map(|(k, operand)| written(isa, instance, (k, operand), &mut next, label, form))
        .collect();
    let mut out = String::new();
    for piece in instance.atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Operand(k) => {
                out.push_str(operands.get(usize::from(k)).map_or("", String::as_str))
            }
            Piece::Optional(k, before) => {
                let (low, high) = instance
                    .atom
                    .operands
                    .get(usize::from(k))
                    .map_or((0, 0), |operand| *operand.range);
                let value = match form {
                    Form::Low => low,
                    Form::High => high,
                    Form::Bare => 0,
                    _ => high.min(16),
                };
                if value != 0 {
                    let _ = write!(out, "{before}{value}");
                }
            }
            Piece::Half(k, upper) => {
                if let Some(operand) = instance.atom.operands.get(usize::from(k)) {
                    let count = usize::from(operand.registers / 2);
                    let class = isa.classes.get(operand.class.index());
                    out.push_str(&class.map_or_else(String::new, |class| {
                        tuple(isa, class, FIRST + if upper { count } else { 0 }, count)
                    }));
                }
            }
            Piece::Frame(word) => out.push_str(word),
        }
    }
    out
}

fn written(
    isa: &Isa<'_>,
    instance: &Instance<'_>,
    (number, operand): (u8, &Operand<'_>),
    next: &mut usize,
    label: &str,
    form: Form,
) -> String {
    if let Some(word) = instance.word(number) {
        return word.text.to_string();
    }
    if let Some(value) = instance.value(number) {
        return value.to_string();
    }
    match (operand.role, form) {
        (Role::Immediate, Form::Low) => operand.range.0.to_string(),
        (Role::Immediate, Form::High) => operand.range.1.to_string(),
        (Role::Immediate, _) => operand.range.0.max(0).to_string(),
        (Role::Label, _) => label.to_string(),
        (_, Form::Integer(at, value)) if at == number => value.to_string(),
        _ => {
            let class = match form {
                Form::Class(at, class) if at == number => class,
                _ => operand.class,
            };
            let Some(class) = isa.classes.get(class.index()) else { return String::new() };
            let count = usize::from(instance.registers(number).unwrap_or(operand.registers)).max(1);
            // Made-up registers suit every class that wants its longer tuples at multiples of more.
            let align = if count > 1 {
                usize::from(class.tuple_align).max(count.next_power_of_two().min(4))
            } else {
                1
            };
            let first = next.next_multiple_of(align);
            *next = first + count;
            tuple(isa, class, first, count)
        }
    }
}

fn tuple(
    isa: &Isa<'_>,
    class: &lanebook_tables::RegisterClass<'_>,
    first: usize,
    count: usize,
) -> String {
    let one = |k: usize| format!("{}{}", class.prefix, first + k);
    match (class.kind, isa.tuples) {
        (RegisterKind::Special, _) => class.prefix.to_string(),
        _ if count == 1 => one(0),
        (_, TupleStyle::Braces) => {
            format!("{{{}}}", (0..count).map(one).collect::<Vec<_>>().join(", "))
        }
        (_, TupleStyle::Range) => format!("{}[{first}:{}]", class.prefix, first + count - 1),
    }
}

/// What a listing is for.
#[derive(Copy, Clone, Debug)]
pub struct For<'a> {
    /// The target.
    pub target: &'a str,
    /// Version of the text.
    pub version: &'a str,
    /// Lanes of a wave.
    pub wave_lanes: u16,
}

/// A text with all forms of the instances, and which lines are whose. Other forms than the plain
/// ones are there for the atoms that `variants` says yes to, and of all only those whose place `only`
/// says yes to.
pub fn listing<'t>(
    (isa, assembler, register_decl): (&Isa<'_>, &Assembler, &Frame),
    wanted: &For<'_>,
    instances: impl Iterator<Item = (AtomId, Instance<'t>)>,
    variants: impl Fn(AtomId) -> bool,
    only: &dyn Fn((usize, usize)) -> bool,
) -> (String, Vec<Part>) {
    // Of each its text, the lines of it, and what stands where.
    let mut functions: Vec<(String, usize, Vec<Part>)> =
        vec![(String::new(), 0, Vec::new()); assembler.apart.len() + 1];
    let (mut labels, mut registers) = (0usize, 0usize);
    for (atom, instance) in instances {
        let named = (0u8..)
            .zip(instance.atom.operands)
            .map(|(k, operand)| usize::from(instance.registers(k).unwrap_or(operand.registers)));
        registers = registers.max(2 * FIRST + named.sum::<usize>());
        let mut texts = forms(isa, &instance, &format!("L{labels}"));
        if !variants(atom) {
            texts.truncate(1);
        }
        let mut labelled = false;
        for (number, text) in texts.into_iter().enumerate() {
            if !only((labels, number)) {
                continue;
            }
            let apart = assembler
                .apart
                .iter()
                .position(|word| text.contains(word.as_str()))
                .map_or(0, |at| at + 1);
            let Some((body, count, parts)) = functions.get_mut(apart) else { continue };
            let first = *count;
            let _ = writeln!(body, "{text}");
            let after = first + lines(&text) + 1;
            *count = after;
            if !labelled {
                labelled = true;
                let _ = writeln!(body, "L{labels}{}", isa.label_suffix);
                *count += 1 + lines(isa.label_suffix);
            }
            let place = (labels, number);
            parts.push(Part { atom, text, variant: number > 0, lines: first..after, place });
        }
        labels += 1;
    }
    let mut out = header(assembler, wanted);
    let mut all = Vec::new();
    for (number, (body, _, parts)) in functions
        .into_iter()
        .enumerate()
        .filter(|(number, (.., parts))| *number == 0 || !parts.is_empty())
    {
        // Lines before the body: those of the frame up to it, with everything in it but the body.
        let frame = |body: &str| {
            function(
                assembler,
                &format!("k{number}"),
                &declarations(isa, register_decl, registers),
                body,
            )
        };
        const MARK: &str = "\u{1}";
        let marked = frame(MARK);
        let before = lines(&out) + marked.split(MARK).next().map_or(0, lines) + 1;
        all.extend(parts.iter().map(|part| Part {
            lines: part.lines.start + before..part.lines.end + before,
            ..part.clone()
        }));
        out.push_str(&frame(&body));
    }
    (out, all)
}

fn header(assembler: &Assembler, wanted: &For<'_>) -> String {
    fill(&assembler.header, |word| match word {
        "target" => wanted.target.to_string(),
        "version" => wanted.version.to_string(),
        "wave_lanes" => wanted.wave_lanes.to_string(),
        _ => String::new(),
    })
}

fn function(assembler: &Assembler, name: &str, registers: &str, body: &str) -> String {
    fill(&assembler.function, |word| match word {
        "name" => name.to_string(),
        "registers" => registers.to_string(),
        "body" => body.to_string(),
        _ => String::new(),
    })
}

/// What marks text number so much in a listing that an assembler prints again.
fn mark(number: usize) -> String {
    format!("lanebook_text_{number}")
}

/// Texts for [`encodings`]: one function, a label before each.
pub fn marked(
    (isa, assembler, register_decl): (&Isa<'_>, &Assembler, &Frame),
    wanted: &For<'_>,
    texts: &[&str],
) -> String {
    let mut body = String::new();
    for (number, text) in texts.iter().enumerate() {
        let _ = writeln!(body, "{}{}\n{text}", mark(number), isa.label_suffix);
    }
    // Registers up to any number that a text names.
    let registers = texts
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_digit()))
        .filter_map(|digits| digits.parse::<u16>().ok())
        .max();
    let registers = declarations(isa, register_decl, registers.map_or(0, usize::from) + 1);
    header(assembler, wanted) + &function(assembler, "k0", &registers, &body)
}

/// The bytes of each of so many [`marked`] texts in what an assembler printed; none for a text of
/// which some byte is not told, or that has none.
#[must_use]
pub fn encodings(
    pattern: &Frame,
    label_suffix: &str,
    count: usize,
    said: &str,
) -> Vec<Option<Vec<u8>>> {
    let marks: BTreeMap<String, usize> =
        (0..count).map(|number| (mark(number) + label_suffix, number)).collect();
    let mut out: Vec<Option<Vec<u8>>> = vec![Some(Vec::new()); count];
    let mut at = None;
    for line in said.lines() {
        if let Some(number) = marks.get(line.trim()) {
            at = Some(*number);
        } else if let (Some(bytes), Some(of)) =
            (printed(pattern, line), at.and_then(|at| out.get_mut(at)))
        {
            *of = of.take().zip(hexadecimal(bytes)).map(|(before, bytes)| [before, bytes].concat());
        }
    }
    out.into_iter().map(|bytes| bytes.filter(|bytes| !bytes.is_empty())).collect()
}

/// What stands for `{bytes}` in a line with an encoding.
fn printed<'m>(pattern: &Frame, line: &'m str) -> Option<&'m str> {
    let (before, after) = pattern
        .split_at(pattern.iter().position(|piece| !matches!(piece, template::Piece::Text(_)))?);
    let words = |pieces: &[template::Piece]| fill(&pieces.to_vec(), |_| String::new());
    let (_, rest) = line.split_once(words(before).as_str())?;
    rest.split_once(words(after).as_str()).map(|(bytes, _)| bytes)
}

/// `0x10,0xff`; none if a part is no byte.
fn hexadecimal(bytes: &str) -> Option<Vec<u8>> {
    bytes
        .split(',')
        .map(|byte| u8::from_str_radix(byte.trim().strip_prefix("0x")?, 16).ok())
        .collect()
}

/// Declarations of so many registers of each class that is declared.
fn declarations(isa: &Isa<'_>, register_decl: &Frame, count: usize) -> String {
    let one = |class: &lanebook_tables::RegisterClass<'_>| {
        fill(register_decl, |word| match word {
            "class" => class.name.to_string(),
            "declared" => class.declared.to_string(),
            "prefix" => class.prefix.to_string(),
            "count" => count.to_string(),
            "bits" => class.bits.to_string(),
            _ => String::new(),
        })
    };
    isa.classes.iter().filter(|class| !class.declared.is_empty()).map(one).collect()
}

/// A text without the numbers of its registers (those behind a letter, or in a range `[8:9]`);
/// those of the instruction's name and numbers that stand by themselves stay.
#[must_use]
pub fn shape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push('\n');
        }
        let (name, operands) = line.split_once(' ').unwrap_or((line, ""));
        out.push_str(name);
        out.push(' ');
        let (mut before, mut bracket, mut dropped) = (' ', false, false);
        for c in operands.chars() {
            if c.is_ascii_digit() {
                let starts = !before.is_ascii_digit();
                dropped = if starts {
                    before.is_ascii_alphabetic() || (bracket && matches!(before, '[' | ':'))
                } else {
                    dropped
                };
                if !dropped {
                    out.push(c);
                } else if starts {
                    out.push('#');
                }
            } else {
                bracket = c == '[' || (bracket && c != ']');
                out.push(c);
            }
            before = c;
        }
    }
    out
}

fn lines(text: &str) -> usize {
    text.matches('\n').count()
}

/// A frame's text with the placeholders filled in.
#[must_use]
pub fn fill(frame: &Frame, mut value: impl FnMut(&str) -> String) -> String {
    frame
        .iter()
        .map(|piece| match piece {
            template::Piece::Text(text) => text.clone(),
            template::Piece::Name(name) | template::Piece::Optional(name, _) => value(name),
        })
        .collect()
}

/// The lines that messages name, each with the first message. `input` is the file as the assembler
/// was given it.
#[must_use]
pub fn errors(pattern: &Frame, input: &str, said: &str) -> BTreeMap<usize, String> {
    let mut out = BTreeMap::new();
    for message in said.lines() {
        if let Some((line, rest)) = error(pattern, input, message) {
            out.entry(line)
                .or_insert_with(|| rest.trim_start_matches([':', ' ']).trim().to_string());
        }
    }
    out
}

/// The line that a message names and what follows the pattern, wherever in it the pattern stands.
fn error<'m>(pattern: &Frame, input: &str, message: &'m str) -> Option<(usize, &'m str)> {
    let starts = message.match_indices(|_: char| true).map(|(at, _)| at);
    starts.filter_map(|at| fits(pattern, input, &message[at..])).next()
}

fn fits<'m>(pattern: &Frame, input: &str, mut rest: &'m str) -> Option<(usize, &'m str)> {
    let mut line = None;
    for piece in pattern {
        match piece {
            template::Piece::Text(text) => rest = rest.strip_prefix(text.as_str())?,
            template::Piece::Name(name) | template::Piece::Optional(name, _) if name == "input" => {
                rest = rest.strip_prefix(input)?
            }
            template::Piece::Name(name) | template::Piece::Optional(name, _) => {
                let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                let number: usize = rest.get(..digits)?.parse().ok()?;
                rest = &rest[digits..];
                if name == "line" {
                    line = Some(number);
                }
            }
        }
    }
    Some((line?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes() {
        assert_eq!(shape("v_add_u32 v8, v9, 64"), shape("v_add_u32 v10, v11, 64"));
        assert_eq!(
            shape("ds_read2_b32 v[8:9], v10 offset1:16"),
            "ds_read2_b32 v[#:#], v# offset#:16"
        );
        assert_ne!(shape("cp.async [%r8], [%rd9], 16;"), shape("cp.async [%r8], [%rd9], 4;"));
        assert_ne!(shape("v_add_u32 v8, v9, v10"), shape("v_add_u16 v8, v9, v10"));
        assert_ne!(shape("v_add_u32 v8, v9, v10"), shape("v_add_u32 v8, v9, s10"));
    }

    #[test]
    fn encodings_by_text() {
        let pattern = template::parse("encoding: [{bytes}]").expect("a pattern");
        let said = "\t.target x\nlanebook_text_0:\n\tadd v8 ; encoding: [0x08,0x00]\nlanebook_text_1:\n\ta ; encoding: [0x01]\n\tb ; encoding: [0xff,0x02]\n\
            lanebook_text_2:\n\tjump L3 ; encoding: [A,A,0xa0,0xbf]\n ; fixup A\n\tadd ; encoding: [0x08,0x00]\nlanebook_text_3:\n";
        assert_eq!(
            encodings(&pattern, ":", 5, said),
            [Some(vec![8, 0]), Some(vec![1, 255, 2]), None, None, None]
        );
        // Another way to print them says nothing.
        assert_eq!(encodings(&pattern, ":", 1, "lanebook_text_0:\n add // 08 00\n"), [None]);
    }

    #[test]
    fn messages() {
        let first = template::parse("{input}, line {line}; error").expect("a pattern");
        let second = template::parse("{input}:{line}:{column}: error").expect("a pattern");
        let said = "ptxas /tmp/k.s, line 12; error   : Feature 'x' needs more\nptxas /tmp/k.s, line 13; warning : old\n/tmp/k.s, line 12; error   : again\n";
        assert_eq!(
            errors(&first, "/tmp/k.s", said),
            BTreeMap::from([(12, "Feature 'x' needs more".to_string())])
        );
        let said = "/tmp/k.s:7:5: error: not supported on this GPU\n    v_x\n    ^\n/tmp/k.s:9:1: warning: odd\n/tmp/k.s:x:1: error: no\n";
        assert_eq!(
            errors(&second, "/tmp/k.s", said),
            BTreeMap::from([(7, "not supported on this GPU".to_string())])
        );
        assert!(errors(&first, "/tmp/other", said).is_empty());
    }
}
