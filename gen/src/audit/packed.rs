//! A word of a descriptor that another program packed holds what the tables' fields say.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::HwModel;
use crate::model::units::{Descriptor, Field};
use crate::schema::{Answers, Name};

/// One line: the descriptor, the word, and what its fields hold.
pub(super) fn hold(model: &HwModel, one: &Answers, line: &Name, diags: &mut Diagnostics) {
    let mut words = line.value.split_whitespace();
    let name = words.next().unwrap_or_default();
    let wanted = words.next().and_then(|word| word.strip_prefix("0x"));
    let wanted = wanted.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let held: Option<Vec<(&str, u64)>> = words
        .map(|word| word.split_once('=').and_then(|(field, n)| Some((field, n.parse().ok()?))))
        .collect();
    let (Some(wanted), Some(held)) = (wanted, held) else {
        let message = format!("`{}` is no word of a descriptor", line.value);
        diags.push(Diagnostic::at(line.span, message).help("write `NAME 0xWORD FIELD=VALUE`"));
        return;
    };
    let descriptors = &model.units.descriptors;
    let Some(descriptor) = descriptors.iter().find(|one| one.fact.entry.name.value == name) else {
        diags.push(
            Diagnostic::at(line.span, format!("no descriptor is called `{name}`"))
                .help("correct the name, or remove the line")
                .lacks(line),
        );
        return;
    };
    let by: Vec<&str> = one.sources.iter().map(|key| key.value.as_str()).collect();
    let found = match packed(descriptor, &held) {
        Ok(found) if found == wanted => return,
        Ok(found) => format!("is packed as {found:#x}, by {} as {wanted:#x}", by.join(", ")),
        Err(field) => format!("cannot hold `{field}` as {} has it", by.join(", ")),
    };
    diags.push(
        Diagnostic::at(descriptor.fact.entry.name.span, format!("`{name}` {found}"))
            .note(line.span, "its fields, and the word")
            .help("correct the field in which they differ"),
    );
}

/// The word with some fields, or the first that there is no place for. Of a field with one value
/// alone that need not be said.
fn packed(descriptor: &Descriptor, held: &[(&str, u64)]) -> Result<u64, String> {
    let mut word = 0;
    for field in &descriptor.fields {
        let said = held.iter().find_map(|(name, value)| value_of(field, name, *value));
        let (low, high) = field.range;
        let only = if low == high { u64::from(low) } else { 0 };
        let units = said.unwrap_or(Some(only)).ok_or_else(|| field.name.value.clone())?;
        let room = u32::from(field.bits).min(63);
        if units >> room != 0 || field.at > 63 {
            return Err(field.name.value.clone());
        }
        word |= units << field.at;
    }
    let known = |name: &str| descriptor.fields.iter().any(|f| value_of(f, name, 0).is_some());
    match held.iter().find(|(name, _)| !known(name)) {
        Some((name, _)) => Err((*name).to_string()),
        None => Ok(word),
    }
}

/// The units of a field that a name and a value mean, if the name is its own: `n_div_8` counts eighths
/// of `n`.
fn value_of(field: &Field, name: &str, value: u64) -> Option<Option<u64>> {
    let (name, value) = match name.rsplit_once("_div_") {
        Some((name, unit)) => (name, value.checked_mul(unit.parse().ok()?)?),
        None => (name, value),
    };
    let scale = u64::from(field.scale).max(1);
    (field.name.value == name).then(|| value.is_multiple_of(scale).then_some(value / scale))
}
