//! Every layout puts each logical element in a place of its own and fills what it claims to fill.
//!
//! Register layouts: no register bit holds two elements, no element leaves the tuple, and every bit
//! of the tuple in every lane holds one, unless the entry says what becomes of the `rest`. Copies
//! (`R[...]`) must be places of their own. Memory layouts: no byte belongs to two elements, bytes
//! lie inside the slot's share, no slot is skipped.
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::layouts::{Layout, coordinate, gcd};
use crate::model::{Atom, HwModel, Operand, Side};
use crate::schema::Rest;
use crate::source::Span;
use lanebook_layout::AxisId;
use lanebook_tables::{ClassId, RegisterKind, Space};
use std::collections::BTreeSet;

/// Layouts with more places than this are refused rather than enumerated.
const MOST_PLACES: u64 = 1 << 22;

/// See the module.
#[must_use]
pub fn check(model: &HwModel) -> Diagnostics {
    let mut diags = Diagnostics::new();
    // Instances of one atom differ in few of their layouts: each is looked at once.
    let mut seen: BTreeSet<(&str, u16, u8, Option<ClassId>, Span)> = BTreeSet::new();
    // What many atoms have alike is well in all of them.
    let mut known = Known::default();
    for atom in model.every() {
        for operand in &atom.operands {
            if let (Some(layout), Some(extents), Some(dtype)) =
                (&operand.layout, &operand.extents, operand.dtype)
            {
                let extents = [extents.value.0, extents.value.1];
                let bits = model.dtypes[dtype.index()].bits;
                if !seen.insert((
                    &layout.text.value,
                    bits,
                    operand.registers,
                    operand.class,
                    operand.span,
                )) {
                    continue;
                }
                let unit = (bits, extents.as_slice());
                diags.extend(known.registers(model, atom, operand, layout, unit, operand.rest));
            }
        }
        if let Some(movement) = &atom.movement {
            for side in [&movement.from, &movement.to] {
                let (bits, extents) = (movement.unit_bits, &movement.extents.value);
                if side.space == Space::Register {
                    if let Some(operand) = atom.operands.get(usize::from(side.operand)) {
                        let unit = (bits, extents.as_slice());
                        diags.extend(known.registers(
                            model,
                            atom,
                            operand,
                            &side.layout,
                            unit,
                            side.rest,
                        ));
                    }
                } else if side.space != Space::Tensor {
                    diags.extend(known.memory(side, bits, extents));
                }
            }
        }
    }
    diags
}

/// What a finding about registers depends on.
type RegisterKey<'m> = (&'m str, u16, Vec<u16>, (u8, u16), bool, Rest, bool);
/// What a finding about memory depends on.
type MemoryKey<'m> = (&'m str, u8, u16, &'m [u16], Option<u16>);

/// Layouts of which nothing is to be said.
#[derive(Default)]
struct Known<'m> {
    registers: BTreeSet<RegisterKey<'m>>,
    memory: BTreeSet<MemoryKey<'m>>,
}

impl<'m> Known<'m> {
    fn registers(
        &mut self,
        model: &HwModel,
        atom: &'m Atom,
        operand: &'m Operand,
        layout: &'m Layout,
        (bits, extents): (u16, &[u16]),
        rest: Rest,
    ) -> Diagnostics {
        let key = (
            layout.text.value.as_str(),
            bits,
            extents.to_vec(),
            (operand.registers, operand.register_bits),
            is_scalar(model, atom, operand),
            rest,
            operand.vary.typed_by.is_some(),
        );
        // What is ignored may depend on the atom's other operands.
        if rest != Rest::Ignored && self.registers.contains(&key) {
            return Diagnostics::new();
        }
        let found = registers(model, atom, operand, layout, bits, extents, rest);
        if found.is_empty() {
            self.registers.insert(key);
        }
        found
    }
    fn memory(&mut self, side: &'m Side, unit: u16, extents: &'m [u16]) -> Diagnostics {
        let slot = side.slot_bytes.as_ref().map(|bytes| bytes.value);
        let key = (side.layout.text.value.as_str(), side.space as u8, unit, extents, slot);
        if self.memory.contains(&key) {
            return Diagnostics::new();
        }
        let found = memory(side, unit, extents);
        if found.is_empty() {
            self.memory.insert(key);
        }
        found
    }
}

fn is_scalar(model: &HwModel, atom: &Atom, operand: &Operand) -> bool {
    operand.class.is_some_and(|class| {
        model.isa(atom.isa).classes[class.index()].kind == RegisterKind::Scalar
    })
}

/// A table of places, each empty or with the element that is there.
struct Places {
    width: u64,
    cells: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl Places {
    /// Whoever was at (row, column) before.
    fn claim(&mut self, row: u64, column: u64, element: u64) -> Option<u64> {
        let cell = &mut self.cells[(row * self.width + column) as usize];
        let before = std::mem::replace(cell, element as u32);
        (before != EMPTY).then_some(u64::from(before))
    }
}

/// Whether it speaks of axes of another space, which other checks report.
fn foreign(space: Space, layout: &Layout) -> bool {
    layout.axes().iter().any(|axis| !super::movement::axes_of(space).contains(axis))
}

fn too_large(span: Span) -> Diagnostics {
    Diagnostic::at(span, "the layout is too large to be checked")
        .help("correct its extents and strides")
        .into()
}

fn registers(
    model: &HwModel,
    atom: &Atom,
    operand: &Operand,
    layout: &Layout,
    unit: u16,
    extents: &[u16],
    rest: Rest,
) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let span = layout.text.span;
    let total = u64::from(operand.registers) * u64::from(operand.register_bits);
    let unit = u64::from(unit);
    if unit == 0
        || total == 0
        || foreign(Space::Register, layout)
        || layout.size() != extents.iter().map(|e| u64::from(*e)).product()
    {
        return diags; // reported by others
    }
    let grain = gcd(layout.grain(AxisId::BIT, unit), total);
    if layout.size() * layout.copies() > MOST_PLACES {
        return too_large(span);
    }
    let lanes = layout.most(AxisId::LANE) + 32 * layout.most(AxisId::WARP) + 1;
    if lanes <= 0 || lanes as u64 * (total / grain) > MOST_PLACES {
        return too_large(span);
    }
    let mut places = Places {
        width: total / grain,
        cells: vec![EMPTY; (lanes as u64 * (total / grain)) as usize],
    };
    let (lane_ids, warps, bits) = (
        layout.positions(AxisId::LANE),
        layout.positions(AxisId::WARP),
        layout.positions(AxisId::BIT),
    );
    for (number, ((lane, warp), bit)) in lane_ids.iter().zip(&warps).zip(&bits).enumerate() {
        let (x, lane, bit) = (number as u64 % layout.size(), lane + 32 * warp, *bit);
        if lane < 0 || bit < 0 || bit as u64 + unit > total {
            let message = format!(
                "element {} is at bits {bit} to {} of lane {lane}, the tuple of `{}` has {total} bits",
                coordinate(x, extents),
                bit + unit as i64 - 1,
                operand.name.value
            );
            diags.push(
                Diagnostic::at(span, message)
                    .note(operand.name.span, "the operand")
                    .help("correct the layout, or `registers` of the operand"),
            );
            return diags;
        }
        for cell in 0..unit / grain {
            if let Some(before) = places.claim(lane as u64, bit as u64 / grain + cell, x) {
                let at = bit as u64 + cell * grain;
                let width = u64::from(operand.register_bits);
                let place = format!("bit {} of register {} in lane {lane}", at % width, at / width);
                let message = if before == x {
                    format!("two copies of element {} are at {place}", coordinate(x, extents))
                } else {
                    format!(
                        "elements {} and {} are both at {place}",
                        coordinate(before, extents),
                        coordinate(x, extents)
                    )
                };
                diags.push(
                    Diagnostic::at(span, message)
                        .note(operand.name.span, "the operand")
                        .help("each register bit holds one element: correct the strides"),
                );
                return diags;
            }
        }
    }
    if is_scalar(model, atom, operand) && layout.axes().contains(&AxisId::LANE) {
        diags.push(
            Diagnostic::at(span, "a scalar register has no lanes")
                .note(operand.name.span, "the operand")
                .help("leave `laneid` out"),
        );
    }
    let hole = places.cells.iter().position(|cell| *cell == EMPTY);
    match (hole, rest) {
        (Some(at), Rest::None) => {
            let (lane, bit) = (at as u64 / places.width, at as u64 % places.width * grain);
            let width = u64::from(operand.register_bits);
            let message = format!(
                "bit {} of register {} of `{}` in lane {lane} holds no element",
                bit % width,
                bit / width,
                operand.name.value
            );
            diags.push(Diagnostic::at(span, message).note(operand.name.span, "the operand").help(
                "cover it, or say what becomes of it: `rest: zero`, `sign`, `keep` or `ignored`",
            ));
        }
        // What it does not name may be whole lanes, of a wave that other operands fill.
        (None, Rest::Ignored)
            if atom
                .operands
                .iter()
                .filter_map(|o| o.layout.as_ref())
                .any(|other| super::archs::lanes(other) > lanes as u64) => {}
        // A family's narrower types may leave a rest.
        (None, rest) if rest != Rest::None && operand.vary.typed_by.is_none() => {
            let message =
                format!("the layout names every bit of `{}`, there is no rest", operand.name.value);
            diags.push(
                Diagnostic::at(span, message)
                    .note(operand.name.span, "the operand")
                    .help("remove `rest`"),
            );
        }
        _ => {}
    }
    diags
}

fn memory(side: &Side, unit: u16, extents: &[u16]) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let (layout, span, unit) = (&side.layout, side.layout.text.span, u64::from(unit));
    if unit == 0
        || foreign(side.space, layout)
        || layout.size() != extents.iter().map(|e| u64::from(*e)).product()
    {
        return diags; // reported by `movement`
    }
    if layout.copies() != 1 {
        return Diagnostic::at(span, "a memory side has no copies").help("remove `R[...]`").into();
    }
    // In bits: elements may be narrower than a byte.
    let place = |x| {
        (
            layout.at(x, 0, AxisId::SLOT),
            layout.at(x, 0, AxisId::BYTE) * 8 + layout.at(x, 0, AxisId::BIT),
            layout.at(x, 0, AxisId::PLACE),
        )
    };
    if layout.size() > MOST_PLACES {
        return too_large(span);
    }
    let (slots, bits, seconds) = (0..layout.size())
        .map(place)
        .fold((0, 0, 0), |most, at| (most.0.max(at.0), most.1.max(at.1), most.2.max(at.2)));
    let grain = gcd(layout.grain(AxisId::BIT, unit), 8);
    let width = (bits.max(0) as u64 + unit).div_ceil(grain);
    let seconds = seconds.max(0) as u64 + 1;
    if (slots as u64 + 1) * seconds * width > MOST_PLACES {
        return too_large(span);
    }
    let mut places =
        Places { width, cells: vec![EMPTY; ((slots as u64 + 1) * seconds * width) as usize] };
    for x in 0..layout.size() {
        let (slot, bit, second) = place(x);
        let byte = bit.div_euclid(8);
        if slot < 0 || bit < 0 || second < 0 {
            let message =
                format!("element {} is at byte {byte} of slot {slot}", coordinate(x, extents));
            return Diagnostic::at(span, message).help("slots and bytes are not negative").into();
        }
        if let Some(stated) = &side.slot_bytes
            && bit as u64 + unit > u64::from(stated.value) * 8
        {
            let message = format!(
                "element {} is at byte {byte} of slot {slot}, a slot supplies {} bytes",
                coordinate(x, extents),
                stated.value
            );
            diags.push(
                Diagnostic::at(span, message)
                    .note(stated.span, "stated here")
                    .help("correct the layout or `slot_bytes`"),
            );
            return diags;
        }
        for cell in 0..unit / grain {
            if let Some(before) =
                places.claim(slot as u64 * seconds + second as u64, bit as u64 / grain + cell, x)
            {
                let message = format!(
                    "elements {} and {} are both at byte {byte} of slot {slot}",
                    coordinate(before, extents),
                    coordinate(x, extents)
                );
                return Diagnostic::at(span, message)
                    .help("each byte belongs to one element: correct the strides")
                    .into();
            }
        }
    }
    if let Some(slot) = places
        .cells
        .chunks((seconds * width) as usize)
        .position(|cells| cells.iter().all(|cell| *cell == EMPTY))
    {
        let message = format!("slot {slot} of {} supplies nothing", slots + 1);
        diags.push(Diagnostic::at(span, message).help("number the slots without holes"));
    }
    diags
}
