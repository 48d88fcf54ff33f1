//! Numbers that instructions hold or ask for: offset fields, alignments, slots.
use super::figures::numbered;
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics, Level};
use crate::model::{Arch, Atom, Bank, OffsetField, Side};
use crate::spanned::Spanned;
use lanebook_layout::AxisId;
use lanebook_tables::{Role, Space};
use std::collections::BTreeMap;

/// Offset fields: what they reach after scaling fits 32 bits, and their range is that of a bit
/// field.
#[must_use]
pub fn immediates(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        for field in atom.movement.iter().flat_map(|movement| &movement.offsets) {
            offset(atom, field, &mut diags);
        }
    }
    diags
}

fn offset(atom: &Atom, field: &OffsetField, diags: &mut Diagnostics) {
    let Some(operand) = atom
        .operands
        .get(usize::from(field.operand))
        .filter(|operand| operand.role == Role::Immediate)
    else {
        return;
    };
    let Some(range) = &operand.range else { return };
    let scale = i64::from(field.scale);
    let fits =
        |value: i64| value.checked_mul(scale).is_some_and(|bytes| i32::try_from(bytes).is_ok());
    if !fits(range.0) || !fits(range.1) {
        diags.push(
            Diagnostic::at(
                field.span.head(),
                format!(
                    "offsets {} to {} of {scale} bytes each do not fit 32 bits",
                    range.0, range.1
                ),
            )
            .note(range.span, "the range")
            .help("narrow the range, or correct `scale`"),
        );
    }
    let full =
        |most: i64| most >= 0 && (most as u64).checked_add(1).is_some_and(u64::is_power_of_two);
    let is_field =
        full(range.1) && (range.0 == 0 || range.0 == -range.1 - 1 || range.0 == -range.1);
    if !is_field {
        diags.push(
            Diagnostic::at(range.span, format!("the offset `{}` takes {} to {}, which no bit field holds exactly", operand.name.value, range.0, range.1))
                .note(atom.name.span, "of this atom")
                .help("a field of n bits holds 0 to 2^n - 1, or -2^(n-1) to 2^(n-1) - 1: correct the range")
                .as_level(Level::Warning),
        );
    }
}

/// Alignments that contradict what is moved, and tuples that contradict their class.
#[must_use]
pub fn alignment(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in &compiled.model.atoms {
        let Some(movement) = &atom.movement else { continue };
        for side in [&movement.from, &movement.to] {
            slot(atom, movement.unit_bits, side, &mut diags);
        }
    }
    diags
}

fn slot(atom: &Atom, unit_bits: u16, side: &Side, diags: &mut Diagnostics) {
    if !matches!(side.space, Space::Shared | Space::Global) {
        return;
    }
    let Some(stated) = &side.slot_bytes else { return };
    taken(atom, unit_bits, side, stated, diags);
    // Rounded up: 12 bytes may ask for 16.
    let most = u32::from(stated.value).next_power_of_two();
    if u32::from(side.align_bytes) > most {
        let message = format!(
            "`{}` aligns slots of {} bytes to {}",
            atom.name.value, stated.value, side.align_bytes
        );
        diags.push(
            Diagnostic::at(side.span.head(), message)
                .note(stated.span, "the slot")
                .help("an instruction asks for no more than the natural alignment: correct `align_bytes` or `slot_bytes`"),
        );
    }
}

/// A slot supplies what the layout takes of it: not more, but for what fills it up to a power of two.
fn taken(atom: &Atom, unit_bits: u16, side: &Side, stated: &Spanned<u16>, diags: &mut Diagnostics) {
    let at = |x: u64, axis| side.layout.at(x, 0, axis);
    let all = 0..side.layout.size();
    // Two places of a slot are two runs.
    if all.clone().any(|x| at(x, AxisId::PLACE) != 0) {
        return;
    }
    let last = all.map(|x| 8 * at(x, AxisId::BYTE) + at(x, AxisId::BIT)).max().unwrap_or(0);
    let bytes = (last.max(0) as u64 + u64::from(unit_bits)).div_ceil(8);
    let given = u64::from(stated.value);
    // Elements narrower than a byte may be padded to one.
    let padded = unit_bits < 8 && 2 * bytes == given;
    if bytes != given && bytes.next_power_of_two() != given && !padded {
        let message = format!(
            "`{}` has slots of {given} bytes, of which the layout takes {bytes}",
            atom.name.value
        );
        diags.push(
            Diagnostic::at(stated.span, message)
                .note(side.layout.text.span, "the layout")
                .help("correct `slot_bytes`, or the layout"),
        );
    }
}

/// A side has no more slots than the bank model that it names.
#[must_use]
pub fn capacity(compiled: &Compiled) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for arch in &compiled.model.archs {
        for entry in &arch.atoms {
            let atom = compiled.model.atom(entry.atom);
            for side in atom.movement.iter().flat_map(|movement| [&movement.from, &movement.to]) {
                let Some(model) = side
                    .banks
                    .as_ref()
                    .and_then(|name| arch.banks.iter().find(|bank| bank.name.value == name.value))
                else {
                    continue;
                };
                let slots = slots(side);
                if slots > u64::from(model.slots) {
                    diags.push(
                        Diagnostic::at(
                            side.layout.text.span,
                            format!(
                                "`{}` has {slots} address slots, bank model `{}` of `{}` is for {}",
                                atom.name.value, model.name.value, arch.name.value, model.slots
                            ),
                        )
                        .note(model.name.span, "the model")
                        .help("give the model as many `slots`, or the side another model"),
                    );
                }
                if let Some((bits, wanted)) = other_width(arch, model, side, atom) {
                    diags.push(
                        Diagnostic::at(
                            side.banks.as_ref().map_or(side.span, |name| name.span),
                            format!(
                                "a lane of `{}` accesses {bits} bits, and bank model `{}` of `{}` is of others than `{wanted}`",
                                atom.name.value, model.name.value, arch.name.value
                            ),
                        )
                        .note(model.name.span, "the model")
                        .help("the narrowest that takes what a lane accesses: name that one"),
                    );
                }
            }
        }
    }
    diags
}

/// What a lane accesses and the model for that, where the model of a side is named for another width
/// than that: `read64` takes what is wider than `read32`, up to 64 bits.
fn other_width<'a>(
    arch: &'a Arch,
    model: &Bank,
    side: &Side,
    atom: &Atom,
) -> Option<(u64, &'a str)> {
    let (series, _) = numbered(&model.name.value)?;
    let widths = arch.banks.iter().filter_map(|bank| {
        let (other, width) = numbered(&bank.name.value)?;
        (other == series).then_some((u64::from(width), bank.name.value.as_str()))
    });
    let widths: BTreeMap<u64, &str> = widths.collect();
    if widths.len() < 2 {
        return None;
    }
    let movement = atom.movement.as_ref()?;
    // What goes to two places of a lane is two accesses.
    let places = movement.offsets.iter().map(|field| u64::from(field.place) + 1).max().unwrap_or(1);
    let lanes = slots(side).max(u64::from(model.slots)).max(1);
    let bits = side.layout.size() * u64::from(movement.unit_bits) / (lanes * places);
    let (_, wanted) = widths.range(bits..).next()?;
    (*wanted != model.name.value).then_some((bits, wanted))
}

/// How many address slots a side has.
fn slots(side: &Side) -> u64 {
    (0..side.layout.size())
        .map(|x| side.layout.at(x, 0, AxisId::SLOT))
        .max()
        .map_or(0, |most| most.max(0) as u64 + 1)
}
