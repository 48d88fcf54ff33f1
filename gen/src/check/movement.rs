//! The two sides of a movement speak of the same logical coordinates, in the axes and operands that
//! their space has.
use crate::diagnostics::{About, Diagnostic, Diagnostics};
use crate::layouts::{Layout, axis_name};
use crate::model::{Atom, HwModel, Movement, OffsetField, Side};
use crate::schema::Rest;
use lanebook_layout::AxisId;
use lanebook_tables::{Role, Space};

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    for atom in model.every() {
        if let Some(movement) = &atom.movement {
            extents(movement, &mut diags);
            for (side, is_from) in [(&movement.from, true), (&movement.to, false)] {
                axes(side.space, &side.layout, &mut diags);
                operand(atom, side, is_from, &mut diags);
                rest(atom, side, is_from, &mut diags);
                access(model, side, &mut diags);
            }
            offset(atom, movement, &mut diags);
        }
    }
    diags
}

fn extents(movement: &Movement, diags: &mut Diagnostics) {
    if movement.unit_bits == 0 {
        diags.push(
            Diagnostic::at(movement.span.head(), "`unit_bits` is zero")
                .help("state the width of a logical element"),
        );
    }
    let wanted: u64 = movement.extents.iter().map(|e| u64::from(*e)).product();
    for side in [&movement.from, &movement.to] {
        let layout = &side.layout;
        if layout.size() != wanted {
            diags.push(
                Diagnostic::at(
                    layout.text.span,
                    format!("the layout has {} coordinates, the movement {wanted}", layout.size()),
                )
                .note(movement.extents.span, "extents of the movement")
                .help("both sides of a movement cover the same coordinates"),
            );
        } else if !layout.splits_into(&movement.extents) {
            diags.push(
                Diagnostic::at(layout.text.span, "the layout's extents do not split the movement's")
                    .note(movement.extents.span, "extents of the movement")
                    .help("let each extent of the movement be a product of neighbouring extents of the layout, in the same order"),
            );
        }
    }
}

/// The axes of layouts in a space.
pub(super) fn axes_of(space: Space) -> &'static [AxisId] {
    match space {
        Space::Register => &[AxisId::LANE, AxisId::WARP, AxisId::BIT],
        // Bits: elements narrower than a byte.
        Space::Shared | Space::Global => &[AxisId::SLOT, AxisId::PLACE, AxisId::BYTE, AxisId::BIT],
        Space::Tensor => &[AxisId::TLANE, AxisId::TCOL, AxisId::BIT],
    }
}

/// A layout speaks of its space's axes only.
pub(super) fn axes(space: Space, layout: &Layout, diags: &mut Diagnostics) {
    let allowed = axes_of(space);
    for axis in layout.axes().into_iter().filter(|axis| !allowed.contains(axis)) {
        let names: Vec<String> = allowed.iter().map(|a| axis_name(*a)).collect();
        diags.push(
            Diagnostic::at(
                layout.text.span,
                format!("axis `{}` has no meaning in this space", axis_name(axis)),
            )
            .help(format!("its axes are {}", names.join(", "))),
        );
    }
}

fn operand(atom: &Atom, side: &Side, is_from: bool, diags: &mut Diagnostics) {
    let Some(operand) = atom.operands.get(usize::from(side.operand)) else { return };
    let (fits, wanted) = match (side.space, is_from) {
        (Space::Register, true) => (matches!(operand.role, Role::Use | Role::UseDef), "`use`"),
        (Space::Register, false) => {
            (matches!(operand.role, Role::Def | Role::UseDef), "`def` or `use_def`")
        }
        // An address may be in a fixed register (`use` and implicit) or be a plain `use` of a
        // scalar.
        _ => (matches!(operand.role, Role::Address | Role::Use), "`address`"),
    };
    if !fits {
        diags.push(
            Diagnostic::at(
                operand.name.span,
                format!(
                    "operand `{}` has the wrong role for its side of the movement",
                    operand.name.value
                ),
            )
            .note(side.span.head(), "this side")
            .help(format!("its role is {wanted}")),
        );
    }
}

/// Bits that stay must be read as well as written.
fn rest(atom: &Atom, side: &Side, is_from: bool, diags: &mut Diagnostics) {
    let Some(operand) = atom.operands.get(usize::from(side.operand)) else { return };
    let name = &operand.name.value;
    let wrong = match side.rest {
        Rest::None => return,
        _ if side.space != Space::Register => {
            ("a memory side has no rest".to_string(), "remove `rest`")
        }
        Rest::Keep if operand.role != Role::UseDef => (
            format!("`rest: keep` says that `{name}` is read as well as written"),
            "make its role `use_def`",
        ),
        Rest::Ignored if !is_from => (
            format!("`{name}` is written, its rest is not ignored"),
            "say `zero`, `sign` or `keep`",
        ),
        Rest::Zero | Rest::Sign | Rest::Keep if is_from => {
            (format!("`{name}` is read, its rest does not change"), "say `ignored`")
        }
        _ => return,
    };
    diags.push(
        Diagnostic::at(side.span.head(), wrong.0)
            .note(operand.name.span, "the operand")
            .help(wrong.1),
    );
}

fn access(model: &HwModel, side: &Side, diags: &mut Diagnostics) {
    if side.space == Space::Register {
        if let Some(banks) = &side.banks {
            diags.push(
                Diagnostic::at(banks.span, "registers have no bank model here")
                    .help("remove `banks`"),
            );
        }
        return;
    }
    match side.access {
        None if side.states_access => {}
        None => diags.push(
            Diagnostic::at(side.span.head(), "a memory side has no `access`")
                .help("state the kind of access, for synchronisation"),
        ),
        Some(access) => {
            let kind = &model.accesses[access.index()];
            if kind.space != side.space {
                diags.push(
                    Diagnostic::at(
                        side.span.head(),
                        format!("access kind `{}` touches another space", kind.name.value),
                    )
                    .note(kind.name.span, "declared here")
                    .help("use an access kind of this side's space"),
                );
            }
        }
    }
    if !side.align_bytes.is_power_of_two() {
        diags.push(
            Diagnostic::at(
                side.span.head(),
                format!("an alignment of {} bytes is not a power of two", side.align_bytes),
            )
            .help("correct `align_bytes`"),
        );
    }
}

fn offset(atom: &Atom, movement: &Movement, diags: &mut Diagnostics) {
    for field in &movement.offsets {
        offset_field(atom, movement, field, diags);
    }
}

fn offset_field(atom: &Atom, movement: &Movement, field: &OffsetField, diags: &mut Diagnostics) {
    let Some(operand) = atom.operands.get(usize::from(field.operand)) else { return };
    let mut about = About::new(diags, field.span.head()).note(operand.name.span, "the operand");
    if operand.role != Role::Immediate {
        about.say(
            format!("the offset field `{}` is not an immediate", operand.name.value),
            "make its role `immediate`",
        );
    }
    if field.scale == 0 {
        about.say(
            "an offset unit of zero bytes",
            "state how many bytes one unit stands for, or leave `scale` out",
        );
    }
    if let Some(range) = &operand.range {
        if i32::try_from(range.0).is_err() || i32::try_from(range.1).is_err() {
            about.say(
                format!("the offset range ({}, {}) does not fit 32 bits", range.0, range.1),
                "address arithmetic is 32 bits wide: narrow the range",
            );
        } else if range.0 > 0 || range.1 < 0 {
            about.say(
                format!("the offset range ({}, {}) has no zero", range.0, range.1),
                "an offset can always be nothing",
            );
        }
    }
    for (on, side, name) in
        [(field.on_from, &movement.from, "from"), (field.on_to, &movement.to, "to")]
    {
        if on && side.space == Space::Register {
            about.say(
                format!("the offset is on `{name}`, which is in registers"),
                "put it on a side in memory",
            );
        }
    }
    if !field.on_from && !field.on_to {
        about.say("the offset is on no side", "write `on: [from]`, `on: [to]` or both");
    }
}
