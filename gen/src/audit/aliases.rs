//! Names that other systems have for element types say these types, and each name is there once.
//!
//! A number behind letters is the width, a letter in front says a kind, `e4m3` the bits of exponent
//! and fraction, `b8` behind them the bias. What is read as another type is one of its width that a
//! unit does not read in full, and types whose instructions name a format have all formats of it.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{Dtype, HwModel};
use crate::schema::Name;
use lanebook_tables::DtypeKind;
use std::collections::BTreeMap;

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    let (seeding, model) = (&compiled.rules.seeding, &compiled.model);
    let named = |name: &Name| model.dtypes.iter().find(|dtype| dtype.name.value == name.value);
    let lists: [(&str, Vec<&Name>); 6] = [
        ("target", seeding.targets.iter().map(|(name, _)| name).collect()),
        ("element type", seeding.dtypes.iter().map(|(name, _)| name).collect()),
        ("format", seeding.formats.iter().map(|(name, _)| name).collect()),
        ("operation", seeding.meanings.iter().map(|(name, _)| name).collect()),
        ("access", seeding.accesses.iter().map(|access| &access.op).collect()),
        ("element type that is read", seeding.read_as.iter().map(|(name, _)| name).collect()),
    ];
    for (what, names) in lists {
        once(what, &names, diags);
    }
    for (alias, name) in &seeding.dtypes {
        let Some(dtype) = named(name) else { continue };
        if let Some(what) = differs(&alias.value.to_lowercase(), dtype) {
            diags.push(
                Diagnostic::at(name.span, format!("`{}` is `{}`: {what}", alias.value, name.value))
                    .note(alias.span, "its name")
                    .help("correct the name or the type"),
            );
        }
    }
    for (written, read) in &seeding.read_as {
        let (Some(one), Some(other)) = (named(written), named(read)) else { continue };
        let kept = one.bits == other.bits && one.kind == other.kind;
        if !kept || one.unread > 0 || other.unread == 0 {
            let message = format!("`{}` is read as `{}`", written.value, read.value);
            diags.push(
                Diagnostic::at(read.span, message)
                    .note(other.name.span, "the type")
                    .help("a unit reads some bits less of a type as wide: one with `unread`"),
            );
        }
    }
    formats(model, &seeding.formats, diags);
}

/// No name of a list is there twice: the second would never be found.
fn once(what: &str, names: &[&Name], diags: &mut Diagnostics) {
    let mut seen = BTreeMap::new();
    for name in names {
        if let Some(other) = seen.insert(name.as_str(), name.span) {
            diags.push(
                Diagnostic::at(name.span, format!("{what} `{}` is there twice", name.value))
                    .note(other, "here too")
                    .help("the first one is found: remove one"),
            );
        }
    }
}

/// Runs of digits of a name with the letters in front of each.
fn runs(name: &str) -> Vec<(&str, u32)> {
    let mut out = Vec::new();
    let mut rest = name;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (letters, digits) = rest.split_at(at);
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let letters = letters.rsplit('_').next().unwrap_or(letters);
        out.push((letters, digits.get(..end).and_then(|d| d.parse().ok()).unwrap_or_default()));
        rest = digits.get(end..).unwrap_or_default();
    }
    out
}

/// What a name says of a type that it is not.
fn differs(alias: &str, dtype: &Dtype) -> Option<&'static str> {
    let parts = runs(alias);
    let own = runs(&dtype.name.value);
    let of = |parts: &[(&str, u32)], letter: &str| {
        parts
            .iter()
            .find(|(letters, _)| letters.strip_prefix('u') == Some(letter) || *letters == letter)
            .map(|part| part.1)
    };
    let field = |letters: &str| matches!(letters, "e" | "m" | "ue" | "b");
    let width = parts.iter().find(|(letters, _)| !field(letters)).map(|part| part.1);
    if width.is_some_and(|width| width != u32::from(dtype.bits)) {
        return Some("the name says another width");
    }
    for letter in ["e", "m"] {
        let said = of(&parts, letter);
        let has_fields = of(&own, "e").is_some();
        if said.is_some() && said != of(&own, letter)
            || said.is_none() && letter == "e" && has_fields
        {
            return Some("the name says other bits of exponent or fraction");
        }
    }
    let bias = parts.iter().find(|(letters, _)| *letters == "b").map(|part| part.1);
    let own_bias = dtype.format.as_ref().map(|format| i64::from(format.bias));
    if bias.is_some_and(|bias| own_bias != Some(i64::from(bias))) {
        return Some("the name says another bias");
    }
    let odd = |name: &str| name.contains("fnuz") || bias.is_some();
    if odd(alias) != dtype.name.value.contains("fnuz") {
        return Some("one of them has a zero without a sign");
    }
    if alias.contains("ue") != dtype.name.value.starts_with("ue")
        && dtype.format.as_ref().is_none_or(|format| format.signed)
    {
        return Some("one of them has no sign");
    }
    let kind = match alias.trim_start_matches("float_").chars().next() {
        Some('u') if !alias.contains("ue") => Some(DtypeKind::Unsigned),
        Some('i') => Some(DtypeKind::Signed),
        Some('b') if alias.starts_with("bool") => Some(DtypeKind::Bits),
        Some('f' | 'e' | 'd' | 'h' | 't' | 'u') => Some(DtypeKind::Float),
        Some('b') => Some(DtypeKind::Float),
        _ => None,
    };
    if kind.is_some_and(|kind| kind != dtype.kind) {
        return Some("the name says another kind of numbers");
    }
    for first in ["bf", "tf"] {
        if alias.starts_with(first) != dtype.name.value.starts_with(first) {
            return Some("one of them has the exponent of a wider type");
        }
    }
    None
}

/// Types whose instructions name a format.
fn formats(model: &HwModel, formats: &[(Name, Name)], diags: &mut Diagnostics) {
    let named = |name: &Name| model.dtypes.iter().find(|dtype| dtype.name.value == name.value);
    for (format, name) in formats {
        let (Some(one), Some(of)) = (named(format), named(name)) else { continue };
        let listed = |dtype: &Dtype| {
            formats
                .iter()
                .any(|(other, own)| other.value == dtype.name.value && own.value == name.value)
        };
        let same = |dtype: &&Dtype| {
            let signed = dtype.format.as_ref().is_some_and(|format| format.signed);
            let standard = !dtype.name.value.contains("fnuz");
            dtype.bits == of.bits && dtype.kind == of.kind && signed && standard
        };
        let left = model.dtypes.iter().filter(same).find(|dtype| !listed(dtype));
        let what = if one.bits != of.bits
            || one.kind != of.kind
            || one.format.is_none()
            || of.format.is_some()
        {
            Some("is no format of it".to_string())
        } else {
            left.map(|left| format!("is one, and `{}` is not", left.name.value))
        };
        if let Some(what) = what {
            let message = format!("formats of `{}`: `{}` {what}", name.value, format.value);
            diags.push(Diagnostic::at(format.span, message).help(
                "a type without a format of its own has those of its width: name all of them",
            ));
        }
    }
}
