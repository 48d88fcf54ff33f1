//! `rules/contract.ron`: what `compile` takes of the operations, and why it takes no more.
use super::Ops;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::leak::{list, name, shared, text};
use crate::schema::Name;
use crate::spanned::Spanned;
use lanebook_suggest::remedy;
use lanebook_tables as t;
use lanebook_tables::contract::{kind, notation};
use serde::Deserialize;

/// The file.
pub const FILE: &str = "rules/contract.ron";

/// The file as it is written.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractFile {
    /// Prefixes that the key of an attribute may have.
    pub prefixes: Vec<String>,
    /// Fewest and most dimensions of a memref.
    pub memref_ranks: (u8, u8),
    /// Hints that any operation may have.
    #[serde(default)]
    pub hints: Vec<AttrEntry>,
    /// Operations that are compiled.
    pub compiled: Vec<Spanned<OpEntry>>,
    /// Operations that are not.
    pub refused: Vec<Spanned<RefusedEntry>>,
}

/// Operations with one contract.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "operation")]
pub struct OpEntry {
    /// Their names.
    pub ops: Vec<Name>,
    /// Main operands, in order.
    #[serde(default)]
    pub operands: Vec<SlotEntry>,
    /// Results, in order.
    #[serde(default)]
    pub results: Vec<SlotEntry>,
    /// Arguments of the region, in order.
    #[serde(default)]
    pub arguments: Vec<SlotEntry>,
    /// Attributes.
    #[serde(default)]
    pub attributes: Vec<AttrEntry>,
    /// What `compile` makes of them.
    pub does: String,
}

/// A place of an operation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "slot")]
pub struct SlotEntry {
    /// What it is called.
    pub name: String,
    /// What may stand there.
    pub kinds: Vec<Name>,
    /// How often, 255 = any number.
    #[serde(default = "once")]
    pub count: (u8, u8),
    /// Dimensions of a tile.
    #[serde(default = "usual_ranks")]
    pub ranks: (u8, u8),
    /// Its elements.
    #[serde(default = "usual_elements")]
    pub elements: ElementsWord,
    /// Written layouts that are obeyed.
    #[serde(default)]
    pub layouts: Vec<Name>,
    /// Attributes of an argument.
    #[serde(default)]
    pub attributes: Vec<AttrEntry>,
}

const fn once() -> (u8, u8) {
    (1, 1)
}

const fn usual_ranks() -> (u8, u8) {
    (1, 2)
}

const fn usual_elements() -> ElementsWord {
    ElementsWord::Bytes
}

/// Which elements a tile has.
#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementsWord {
    /// A whole number of bytes each.
    Bytes,
    /// 32 bits each.
    Words,
    /// 8, 16 or 32 bits each.
    Narrow,
    /// A whole number of bytes each, or truths.
    Held,
    /// Truths.
    Truths,
}

/// An attribute.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "attribute")]
pub struct AttrEntry {
    /// Its key.
    pub key: Name,
    /// What its value may be.
    pub value: Form,
    /// It must be there.
    #[serde(default)]
    pub required: bool,
    /// Only where the first operand and the first result have so many dimensions.
    #[serde(default)]
    pub ranks: (u8, u8),
    /// Nothing follows from it.
    #[serde(default)]
    pub hint: bool,
    /// What holds without it.
    #[serde(default)]
    pub default: String,
    /// What it means.
    pub doc: String,
}

/// What a value may be.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// None.
    Unit,
    /// A whole number from here to there.
    Int(i64, i64),
    /// A power of two from here to there.
    Power(i64, i64),
    /// One of these words.
    Word(Vec<String>),
    /// A text in quotes.
    Text,
    /// A name.
    Symbol,
    /// Exactly these numbers.
    Ints(Vec<u8>),
    /// A layout in one of these notations.
    Layout(Vec<Name>),
    /// The blocks of a launch.
    Grid,
    /// Where a memref's elements end.
    Bounds,
    /// An affine map of the operands.
    Map,
    /// A number above 0, or one of each dimension.
    Dense,
}

/// Operations that are not compiled.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename = "refused")]
pub struct RefusedEntry {
    /// Their names.
    pub ops: Vec<Name>,
    /// Why.
    pub reason: String,
    /// What to write instead.
    #[serde(default)]
    pub instead: String,
    /// What `compile` makes of them in functions of parallel loops, if it takes them there.
    #[serde(default)]
    pub in_loops: String,
}

/// The bits of words.
fn bits(names: &[Name], known: &[(u8, &str)], kind: &str, diags: &mut Diagnostics) -> u8 {
    names.iter().fold(0, |all, name| match known.iter().find(|(_, word)| *word == name.value) {
        Some((bit, _)) => all | bit,
        None => {
            let words = known.iter().map(|(_, word)| *word);
            let otherwise = format!("known: {}", words.clone().collect::<Vec<_>>().join(", "));
            diags.push(
                Diagnostic::at(name.span, format!("unknown {kind} `{}`", name.value))
                    .help(remedy(name, words, &otherwise)),
            );
            all
        }
    })
}

fn check_attrs(attrs: &[AttrEntry], diags: &mut Diagnostics) {
    for (at, attr) in attrs.iter().enumerate() {
        let key = &attr.key;
        if attrs.iter().take(at).any(|other| other.key.value == key.value) {
            diags.push(
                Diagnostic::at(key.span, format!("attribute `{}` is there twice", key.value))
                    .help("remove one"),
            );
        }
        if attr.hint && attr.required {
            let what = format!("attribute `{}` is a hint, and required", key.value);
            diags.push(Diagnostic::at(key.span, what).help("remove `required`"));
        }
        if attr.required != attr.default.is_empty() {
            diags.push(
                Diagnostic::at(
                    key.span,
                    format!("attribute `{}` is either required or has a default", key.value),
                )
                .help("write `required: true`, or say in `default` what holds without it"),
            );
        }
        if let Form::Layout(notations) = &attr.value {
            bits(notations, &notation::NAMES, "notation", diags);
        }
    }
}

fn check_slots(
    slots: &[SlotEntry],
    given: (u8, u8),
    what: &str,
    of: &Name,
    diags: &mut Diagnostics,
) {
    for slot in slots {
        if bits(&slot.kinds, &kind::NAMES, "kind", diags) == 0 {
            diags.push(
                Diagnostic::at(of.span, format!("nothing can stand in `{}`", slot.name))
                    .help("name what can in `kinds`"),
            );
        }
        bits(&slot.layouts, &notation::NAMES, "notation", diags);
        check_attrs(&slot.attributes, diags);
    }
    let sum = |part: fn(&SlotEntry) -> u8| {
        slots.iter().fold(0u8, |sum, slot| sum.saturating_add(part(slot)))
    };
    let (least, most) = (sum(|slot| slot.count.0), sum(|slot| slot.count.1));
    if least < given.0 || most > given.1 || least > most {
        let declared = format!("{} to {}", given.0, given.1);
        diags.push(
            Diagnostic::at(
                of.span,
                format!(
                    "`{}` has {least} to {most} {what} here, and {declared} by its declaration",
                    of.value
                ),
            )
            .help("the contract takes no more than rules/ops.ron declares"),
        );
    }
}

/// Checks the file: every operation has one contract, and no contract takes more than its
/// declaration.
pub(super) fn check(file: ContractFile, ops: &Ops, diags: &mut Diagnostics) -> ContractFile {
    // Tables without a contract compile nothing; so do those of which no operation is known.
    if file.compiled.is_empty() && file.refused.is_empty() {
        return file;
    }
    let mut seen = vec![0u32; ops.list.len()];
    let names = file
        .compiled
        .iter()
        .flat_map(|entry| &entry.ops)
        .chain(file.refused.iter().flat_map(|entry| &entry.ops));
    for name in names {
        let Some(number) = ops.names.find(name, "operation", diags) else { continue };
        let Some(times) = seen.get_mut(usize::from(number)) else { continue };
        *times += 1;
        if *times > 1 {
            diags.push(
                Diagnostic::at(name.span, format!("`{}` has two contracts", name.value))
                    .help("remove one"),
            );
        }
    }
    for (op, _) in ops.list.iter().zip(&seen).filter(|(_, times)| **times == 0) {
        let what =
            format!("`{}` has no contract: what does `compile` take of it?", op.entry.name.value);
        diags.push(
            Diagnostic::at(op.entry.name.span, what)
                .help(format!("name it in {FILE}, under `compiled` or `refused`")),
        );
    }
    check_attrs(&file.hints, diags);
    for hint in file.hints.iter().filter(|hint| !hint.hint) {
        let what = format!("`{}` of any operation is no hint", hint.key.value);
        let help = "write `hint: true`: what is obeyed stands with its operation";
        diags.push(Diagnostic::at(hint.key.span, what).help(help));
    }
    for entry in &file.compiled {
        check_attrs(&entry.attributes, diags);
        for name in &entry.ops {
            let Some(op) = ops.named(name).and_then(|id| ops.get(id)) else { continue };
            check_slots(&entry.operands, op.entry.operands, "operands", name, diags);
            check_slots(&entry.results, op.entry.results, "results", name, diags);
            check_slots(&entry.arguments, (0, u8::MAX), "arguments", name, diags);
        }
    }
    for entry in file.refused.iter().filter(|entry| entry.reason.is_empty()) {
        diags.push(
            Diagnostic::at(entry.span, "operations are refused without a reason".to_string())
                .help("say in `reason` what is missing"),
        );
    }
    file
}

fn attrs(entries: &[AttrEntry]) -> t::List<'static, t::AttrContract<'static>> {
    let quiet = &mut Diagnostics::default();
    let mut form = |form: &Form| match form {
        Form::Unit => t::AttrForm::Unit,
        Form::Int(least, most) => t::AttrForm::Int(*least, *most),
        Form::Power(least, most) => t::AttrForm::Power(*least, *most),
        Form::Word(words) => t::AttrForm::Word(shared(words.iter().map(|word| text(word)))),
        Form::Text => t::AttrForm::Text,
        Form::Symbol => t::AttrForm::Symbol,
        Form::Ints(numbers) => t::AttrForm::Ints(shared(numbers.iter().copied())),
        Form::Grid => t::AttrForm::Grid,
        Form::Bounds => t::AttrForm::Bounds,
        Form::Map => t::AttrForm::Map,
        Form::Dense => t::AttrForm::Dense,
        Form::Layout(notations) => {
            t::AttrForm::Layout(bits(notations, &notation::NAMES, "", quiet))
        }
    };
    shared(entries.iter().map(|entry| t::AttrContract {
        key: text(&entry.key),
        form: form(&entry.value),
        required: entry.required,
        ranks: entry.ranks,
        hint: entry.hint,
        default: name(&entry.default),
        doc: name(&entry.doc),
    }))
}

fn slots(entries: &[SlotEntry]) -> t::List<'static, t::SlotContract<'static>> {
    let quiet = &mut Diagnostics::default();
    shared(entries.iter().map(|entry| t::SlotContract {
        name: name(&entry.name),
        kinds: bits(&entry.kinds, &kind::NAMES, "", quiet),
        count: entry.count,
        ranks: entry.ranks,
        elements: match entry.elements {
            ElementsWord::Bytes => t::Elements::Bytes,
            ElementsWord::Words => t::Elements::Words,
            ElementsWord::Narrow => t::Elements::Narrow,
            ElementsWord::Held => t::Elements::Held,
            ElementsWord::Truths => t::Elements::Truths,
        },
        layouts: bits(&entry.layouts, &notation::NAMES, "", quiet),
        attrs: attrs(&entry.attributes),
    }))
}

/// As the tables have it.
pub(super) fn lower(file: &ContractFile, ops: &Ops) -> t::Contract<'static> {
    let own = |names: &[Name], at: usize| {
        names.iter().any(|name| ops.named(name).is_some_and(|id| id.index() == at))
    };
    let contract = |at: usize| {
        if let Some(entry) = file.compiled.iter().find(|entry| own(&entry.ops, at)) {
            return t::OpContract {
                compiled: true,
                refusal: t::Name::EMPTY,
                instead: t::Name::EMPTY,
                operands: slots(&entry.operands),
                results: slots(&entry.results),
                arguments: slots(&entry.arguments),
                attrs: attrs(&entry.attributes),
                does: name(&entry.does),
                in_loops: t::Name::EMPTY,
            };
        }
        let refused = file.refused.iter().find(|entry| own(&entry.ops, at));
        t::OpContract {
            compiled: false,
            refusal: refused.map_or(t::Name::EMPTY, |entry| name(&entry.reason)),
            instead: refused.map_or(t::Name::EMPTY, |entry| name(&entry.instead)),
            operands: t::List::EMPTY,
            results: t::List::EMPTY,
            arguments: t::List::EMPTY,
            attrs: t::List::EMPTY,
            does: t::Name::EMPTY,
            in_loops: refused.map_or(t::Name::EMPTY, |entry| name(&entry.in_loops)),
        }
    };
    t::Contract {
        prefixes: list(file.prefixes.iter().map(|prefix| text(prefix))),
        memref_ranks: file.memref_ranks,
        hints: attrs(&file.hints),
        ops: list((0..ops.list.len()).map(contract)),
    }
}

/// The contract without what only people read.
pub(crate) fn lean(contract: &t::Contract<'static>) -> t::Contract<'static> {
    let attrs = |attrs: t::List<'static, t::AttrContract<'static>>| {
        shared(attrs.iter().map(|attr| t::AttrContract {
            default: t::Name::EMPTY,
            doc: t::Name::EMPTY,
            ..*attr
        }))
    };
    let slots = |slots: t::List<'static, t::SlotContract<'static>>| {
        shared(slots.iter().map(|slot| t::SlotContract {
            name: t::Name::EMPTY,
            attrs: attrs(slot.attrs),
            ..*slot
        }))
    };
    t::Contract {
        hints: attrs(contract.hints),
        ops: list(contract.ops.iter().map(|op| t::OpContract {
            refusal: t::Name::EMPTY,
            instead: t::Name::EMPTY,
            does: t::Name::EMPTY,
            in_loops: t::Name::EMPTY,
            operands: slots(op.operands),
            results: slots(op.results),
            arguments: slots(op.arguments),
            attrs: attrs(op.attrs),
            ..*op
        })),
        ..*contract
    }
}
