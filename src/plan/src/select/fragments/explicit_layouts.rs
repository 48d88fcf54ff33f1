//! Written layouts of register tiles: which lane and which register holds each element, in TIRx's
//! notation.
//!
//! What can be kept to has every bit of an element's number in its panel in one bit of a lane's, a
//! warp's or a register's, and panels in other registers of each lane. Bits of lanes and warps that no
//! element's bit has hold copies.

use crate::data::ConversionPlace;
use crate::data::{PlanError, Unwritable};
use crate::select::fragments::flow::{is_register_tile, spread};
use crate::select::fragments::unread::Unread;
use crate::select::memory::explicit_layouts;
use crate::select::planner::Planner;
use lanebook_ir::attr_names::INSERTED;
use lanebook_ir::{Op, Program, Value};
use lanebook_layout::{AxisId, Layout, LayoutRef, PostMap};
use lanebook_tables::OpRole;
use lanebook_tile::map::{Fragment, TileShape, log2_exact};

/// The axis that says that a layout is one of registers.
const LANES: &str = "laneid";

/// The text of a register tile's layout, if the program writes one that speaks of lanes.
pub(crate) fn text<'p>(program: &'p Program<'_, '_>, value: Value) -> Option<&'p str> {
    let text = program
        .layout_text(&program.type_of(value))
        .filter(|_| is_register_tile(program, value))?
        .trim_ascii();
    (text.starts_with("S[")
        && text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == LANES))
    .then_some(text)
}

/// The distribution that a text writes, and whether its registers stand in this order in the text:
/// those of a panel follow each other here, wherever they are written.
///
/// # Errors
/// Why it cannot be kept to.
#[inline(never)]
fn fragment(
    program: &Program<'_, '_>,
    text: &str,
    shape: TileShape,
    wave: u8,
    warps: u8,
) -> Result<(Fragment, bool), Unwritable> {
    let mut layout = Layout::new();
    explicit_layouts::read(program, text, &mut layout)?;
    let view = layout.view();
    if view.size_value().ok() != shape.row_count().checked_mul(shape.col_count()) {
        return Err(Unwritable::Size);
    }
    if view.post != PostMap::None || !view.offset.is_empty() {
        return Err(Unwritable::Axes);
    }
    if shape.grid.count() != 1 && !digits_are_panels(&view, shape) {
        return Err(Unwritable::Panels);
    }
    let (mut lane, mut warp) = ([0u32; 6], [0u32; 5]);
    for k in 0..shape.total() {
        let e = 1u32.checked_shl(u32::from(k)).ok_or(Unwritable::Size)?;
        let number = number_of(shape, e);
        let mut homes = 0u8;
        for axis in [AxisId::LANE, AxisId::WARP, AxisId::BIT] {
            let at = view
                .offset_on(number, axis)
                .ok()
                .and_then(|at| u64::try_from(at).ok())
                .ok_or(Unwritable::Order)?;
            if at == 0 {
                continue;
            }
            homes = homes.saturating_add(1);
            // Registers are brought to places below.
            if axis == AxisId::BIT {
                continue;
            }
            let bit = log2_exact(at).ok_or(Unwritable::Order)?;
            let slot = match axis {
                AxisId::LANE => lane.get_mut(usize::from(bit)).filter(|_| bit < wave),
                _ => warp.get_mut(usize::from(bit)).filter(|_| bit < warps),
            };
            match slot {
                Some(column @ 0) => *column = e,
                Some(_) => return Err(Unwritable::Order),
                None => return Err(Unwritable::Size),
            }
        }
        if homes != 1 {
            return Err(Unwritable::Order);
        }
    }
    copies_are_free(&view, (&lane, wave), (&warp, warps))?;
    let mut out = Fragment::new(shape);
    let in_order = place_registers(&view, &mut out)?;
    let lanes = lane.iter().take(usize::from(wave)).all(|e| out.lane.push(*e));
    let all = lanes && warp.iter().take(usize::from(warps)).all(|e| out.warp.push(*e));
    if all && out.covers() { Ok((out, in_order)) } else { Err(Unwritable::Size) }
}

/// Puts elements' bits into registers by their strides, with panels above them; whether they are
/// written in this order.
#[inline(never)] // Of few layouts; what is read stands on the stack above it.
fn place_registers(view: &LayoutRef<'_>, out: &mut Fragment) -> Result<bool, Unwritable> {
    let shape = out.shape;
    let bits = || (0..shape.total()).filter_map(|k| 1u32.checked_shl(u32::from(k)));
    let stride = |e: u32| view.offset_on(number_of(shape, e), AxisId::BIT).ok();
    let grid = shape.grid;
    let (mut along, mut down) = (
        panel_stride(view, shape, (grid.cols, 1))?,
        panel_stride(view, shape, (grid.rows, grid.cols))?,
    );
    let strides = bits().filter_map(stride).chain(along).chain(down);
    let least = strides.filter(|stride| *stride > 0).min();
    // Places follow each other: elements side by side, or one in each register.
    out.unpacked = shape.bits < 32 && least == Some(32);
    let mut want = i64::from(out.place_bits());
    let unit = want.max(32);
    let mut in_order = true;
    let panels_are_left = grid.count() > 1;
    loop {
        let extent = if let Some(e) = bits().find(|e| stride(*e) == Some(want)) {
            in_order &= along.is_some() == (grid.cols > 1) && down.is_some() == (grid.rows > 1);
            if !out.register.push(e) {
                return Err(Unwritable::Registers);
            }
            2
        } else if along == Some(want) && want.checked_rem(unit) == Some(0) {
            out.by_rows = down.is_some() || grid.rows == 1;
            along = None;
            i64::from(grid.cols)
        } else if down == Some(want) && want.checked_rem(unit) == Some(0) {
            down = None;
            i64::from(grid.rows)
        } else {
            break;
        };
        want = want.checked_mul(extent).ok_or(Unwritable::Size)?;
    }
    let placed = out.register.len();
    let all = bits().filter(|e| stride(*e).is_none_or(|at| at != 0)).count();
    match placed == all && along.is_none() && down.is_none() {
        true => Ok(in_order),
        false if panels_are_left => Err(Unwritable::Panels),
        false => Err(Unwritable::Order),
    }
}

/// How far the next of `many` panels is in registers, where `step` is the number of the second; `None`
/// of one alone.
fn panel_stride(
    view: &LayoutRef<'_>,
    shape: TileShape,
    (many, step): (u8, u8),
) -> Result<Option<i64>, Unwritable> {
    let mut stride = None;
    for index in 1..many {
        let panel = u32::from(index).saturating_mul(u32::from(step));
        let number = number_of(shape, panel.checked_shl(u32::from(shape.total())).unwrap_or(0));
        let on = |axis| view.offset_on(number, axis).ok();
        let at = on(AxisId::BIT).ok_or(Unwritable::Panels)?;
        let own = *stride.get_or_insert(at);
        let follows = i64::from(index).checked_mul(own) == Some(at) && own > 0;
        if !follows || on(AxisId::LANE) != Some(0) || on(AxisId::WARP) != Some(0) {
            return Err(Unwritable::Panels);
        }
    }
    Ok(stride)
}

/// Copies are where no element's bit leads, and nowhere else.
fn copies_are_free(
    view: &LayoutRef<'_>,
    (lane, wave): (&[u32], u8),
    (warp, warps): (&[u32], u8),
) -> Result<(), Unwritable> {
    for iter in view.replica {
        let (extent, stride) = (
            iter.extent_value().map_err(|_| Unwritable::Axes)?,
            iter.stride_value().map_err(|_| Unwritable::Axes)?,
        );
        let first = u64::try_from(stride).ok().and_then(log2_exact).ok_or(Unwritable::Axes)?;
        let many = log2_exact(u64::from(extent)).ok_or(Unwritable::Axes)?;
        for bit in first..first.saturating_add(many) {
            let taken = match iter.axis() {
                AxisId::LANE => lane.get(usize::from(bit)).filter(|_| bit < wave),
                AxisId::WARP => warp.get(usize::from(bit)).filter(|_| bit < warps),
                _ => None,
            };
            if taken != Some(&0) {
                return Err(Unwritable::Axes);
            }
        }
    }
    Ok(())
}

/// The number, row by row, of an element that is given as its panel and the bits in it.
fn number_of(shape: TileShape, e: u32) -> u64 {
    let (row, col) = shape.position(e);
    u64::from(row).saturating_mul(shape.col_count()).saturating_add(u64::from(col))
}

/// Whether no digit of a layout's is part of a panel's extent and part of a count of panels: what
/// elements' bits and panels add is then what each of them adds alone.
#[inline(never)] // Of few layouts; what is read stands on the stack above it.
fn digits_are_panels(view: &LayoutRef<'_>, shape: TileShape) -> bool {
    let panel = |bits: u8| 1u64.checked_shl(u32::from(bits)).unwrap_or(0);
    let (cols, rows) = (panel(shape.cols), panel(shape.rows));
    let (across, up) = (u64::from(shape.grid.cols), u64::from(shape.grid.rows));
    view.is_grouped_by([cols, across, rows, up])
}

impl Planner<'_, '_, '_, '_> {
    /// Gives register tiles the distributions that the program writes.
    #[inline(never)]
    pub(crate) fn place_written(&mut self) -> Result<(), PlanError> {
        let program = self.program;
        for value in program.parameters(self.function) {
            self.place_one(self.function, value)?;
        }
        for op in program.inside(self.function) {
            for value in program.results(op) {
                self.place_one(op, value)?;
            }
        }
        Ok(())
    }

    /// The same of one tile, of an operation's result or a function's argument.
    fn place_one(&mut self, op: Op, value: Value) -> Result<(), PlanError> {
        let program = self.program;
        let Some(text) = text(program, value) else {
            // In another notation: nobody has brought it to this one.
            let ty = program.type_of(value);
            let is_written = is_register_tile(program, value) && program.layout_text(&ty).is_some();
            let why = Unwritable::Unread;
            return if is_written { Err(PlanError::Written { op, why }) } else { Ok(()) };
        };
        let shape = self.shape_of(op, value)?;
        let refused = |why| PlanError::Written { op, why };
        let (fragment, in_order) =
            fragment(program, text, shape, self.target.wave, self.target.warps).map_err(refused)?;
        // What is handed over is handed over register by register; else nobody sees which is which.
        if !in_order && self.is_handed_over(op, value) {
            return Err(refused(Unwritable::Panels));
        }
        let (unpacked, registers) = (fragment.unpacked, fragment.registers());
        // What a product reads may come slice by slice; what is handed over is there at once.
        let whole = matches!(program.role(op), OpRole::Function | OpRole::Convert);
        let most = self.target.isa.tile_most();
        if whole && registers > most {
            return Err(PlanError::Registers { op, registers, most });
        }
        let reader = self.placed_operand(op);
        spread(
            program,
            value,
            (fragment, unpacked),
            reader,
            &Unread::default(),
            (self.waiting, self.plan.fragments),
        )
    }

    /// Whether a function takes or returns a tile.
    fn is_handed_over(&self, op: Op, value: Value) -> bool {
        let program = self.program;
        let mut users = program.uses(value).filter_map(|place| program.user(place));
        program.role(op) == OpRole::Function
            || users.any(|user| program.role(user) == OpRole::Return)
    }

    /// The first operand of an operation on tiles that has a distribution and is not a conversion's
    /// that was put there: where the result has another one, the two meet there.
    fn placed_operand(&self, op: Op) -> Option<(Op, ConversionPlace)> {
        let program = self.program;
        let made_of_it = !matches!(program.role(op), OpRole::For | OpRole::Function);
        let placed = |value: Value| {
            program.constant(value).is_none()
                && is_register_tile(program, value)
                && self.plan.fragment_of(value).is_some()
                && !program.def_op(value).is_some_and(|def| program.has_attr(def, INSERTED))
        };
        let number = program.operands(op).position(placed).filter(|_| made_of_it)?;
        Some((op, ConversionPlace::Before(u8::try_from(number).ok()?)))
    }
}
