//! A layout over lanes, warps and registers as a fragment.

use super::{NotationFault, NotationResult, fault};
use crate::{FormArena, FormError, FormResult, FragmentForm, IndexForm, VarRange, VarRole};
use lanebook_layout::{AxisId, Iter, Layout, PostMap};

/// What a layout's positions count, and its units.
#[derive(Copy, Clone, Debug)]
pub struct LaneUnits {
    /// Lanes of a warp.
    pub wave: u32,
    /// Bits of an element.
    pub bits: u32,
    /// Positions count along rows first, as CuTe has it; along columns otherwise.
    pub rows_fastest: bool,
}

/// The fragment that a layout says: thread `wave * warp + lane`, the local index in elements by the
/// bits or slots of a thread's registers. Copies in other registers of a thread are left out.
///
/// ```
/// use lanebook_infer::notation::{LaneUnits, of_lanes, write};
/// use lanebook_infer::{ArenaParts, BaseEntry, DigitTerm, Inference, MemoryScope};
/// # use lanebook_infer::{Access, Buffer, InferenceParts, MachineFigures, Operator};
/// use lanebook_layout::{AxisId, Iter, Layout};
/// # let (mut bases, mut terms, mut buckets) = (vec![BaseEntry::EMPTY; 64], vec![DigitTerm::EMPTY; 512], vec![0; 64]);
/// # let (mut buffers, mut operators) = (vec![Buffer::default(); 4], vec![Operator::default(); 4]);
/// # let (mut accesses, mut layouts) = (vec![Access::default(); 8], vec![None; 32]);
/// # let (mut queue, mut points) = (vec![0; 16], vec![0; 64]);
/// # let mut inference = Inference::new(InferenceParts {
/// #     arena: ArenaParts { bases: &mut bases, terms: &mut terms, buckets: &mut buckets },
/// #     buffers: &mut buffers, operators: &mut operators, accesses: &mut accesses,
/// #     layouts: &mut layouts, queue: &mut queue, points: &mut points,
/// # }, MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 });
/// let tile = inference.buffer(&[8, 16], 16, MemoryScope::Fragment)?;
/// let vars = inference.buffer_of(tile)?.dims;
/// // Four elements of a row to a lane, eight rows of four lanes.
/// let mut layout = Layout::new();
/// layout.push_shard(Iter::new(4, 16, AxisId::BIT)).unwrap();
/// layout.push_shard(Iter::new(32, 1, AxisId::LANE)).unwrap();
/// let units = LaneUnits { wave: 32, bits: 16, rows_fastest: false };
/// let fragment = of_lanes(&mut inference.arena, vars, &layout, units).unwrap();
/// let mut text = String::new();
/// write(&inference.arena, &fragment, &mut text).unwrap();
/// assert_eq!(text, "{thread = v0 * 4 + v1 // 4, index = v1 % 4}");
/// # Ok::<(), lanebook_infer::FormError>(())
/// ```
///
/// # Errors
/// [`NotationFault::NoThread`] of a layout of memory, [`NotationFault::Axes`] of a layout over other axes, [`NotationFault::Size`] of another number of
/// elements; maps that cannot be computed.
pub fn of_lanes(
    arena: &mut FormArena<'_>,
    vars: VarRange,
    layout: &Layout,
    units: LaneUnits,
) -> NotationResult<FragmentForm> {
    let view = layout.view();
    let other = fault(NotationFault::Axes, 0);
    let of_thread = |iter: &&Iter| matches!(iter.axis(), AxisId::LANE | AxisId::WARP | AxisId::TX);
    if !view.shard.iter().chain(view.replica).any(|iter| of_thread(&iter)) {
        return Err(fault(NotationFault::NoThread, 0));
    }
    let copies = view
        .replica
        .iter()
        .filter(of_thread)
        .try_fold(1u32, |n, iter| n.checked_mul(iter.extent_value().ok()?));
    let copies = copies.ok_or(other)?;
    if view.post != PostMap::None {
        return Err(other);
    }
    let form = |error: FormError| fault(NotationFault::Form(error), 0);
    let (count, element) = flat(arena, vars, units.rows_fastest).map_err(form)?;
    if view.size_value().ok() != Some(count) {
        return Err(fault(NotationFault::Size, 0));
    }
    let copy = arena.var(copies, VarRole::Copy).map_err(form)?;
    let mut sums =
        LaneSums { thread: IndexForm::constant(0), index: IndexForm::constant(0), units };
    let mut rest = element;
    for iter in view.shard {
        rest = sums.add(arena, rest, iter).map_err(form)?.ok_or(other)?;
    }
    let mut rest = arena.whole(copy).map_err(form)?;
    for iter in view.replica.iter().filter(of_thread) {
        rest = sums.add(arena, rest, iter).map_err(form)?.ok_or(other)?;
    }
    for offset in view.offset {
        let constant = offset.value().as_known().ok_or(other)?;
        let moved = sums.of(arena, offset.axis(), IndexForm::constant(1), constant);
        moved.map_err(form)?.ok_or(other)?;
    }
    arena.fragment(vars, copy, sums.thread, sums.index).map_err(form)
}

/// How many elements there are, and the number of one.
fn flat(
    arena: &mut FormArena<'_>,
    vars: VarRange,
    rows_fastest: bool,
) -> FormResult<(u64, IndexForm)> {
    let (mut count, mut element) = (1u64, IndexForm::constant(0));
    for at in 0..vars.len() {
        let at = if rows_fastest { at } else { vars.len().saturating_sub(at).saturating_sub(1) };
        let Some(var) = vars.iter().nth(at) else { break };
        let whole = arena.whole(var)?;
        let stride = i64::try_from(count).map_err(|_| FormError::Overflow)?;
        element = arena.add_scaled(element, whole, stride)?;
        count = count.checked_mul(u64::from(arena.extent(var)?)).ok_or(FormError::Overflow)?;
    }
    Ok((count, element))
}

/// The maps that are added up.
struct LaneSums {
    thread: IndexForm,
    index: IndexForm,
    units: LaneUnits,
}

impl LaneSums {
    /// Adds what an iter makes of the lowest digit of a number; what is left of that. `None` of an
    /// axis that no thread has, and of registers that hold no whole elements.
    fn add(
        &mut self,
        arena: &mut FormArena<'_>,
        number: IndexForm,
        iter: &Iter,
    ) -> FormResult<Option<IndexForm>> {
        let (Ok(extent), Ok(stride)) = (iter.extent_value(), iter.stride_value()) else {
            return Ok(None);
        };
        let (rest, digit) = arena.div_rem(number, i64::from(extent))?;
        Ok(self.of(arena, iter.axis(), digit, stride)?.map(|()| rest))
    }

    fn of(
        &mut self,
        arena: &mut FormArena<'_>,
        axis: AxisId,
        digit: IndexForm,
        stride: i64,
    ) -> FormResult<Option<()>> {
        let (sum, stride) = match axis {
            AxisId::LANE | AxisId::TX => (&mut self.thread, Some(stride)),
            AxisId::WARP => (&mut self.thread, stride.checked_mul(i64::from(self.units.wave))),
            AxisId::M | AxisId::SLOT | AxisId::REGISTER => (&mut self.index, Some(stride)),
            AxisId::BIT => {
                let bits = i64::from(self.units.bits);
                let whole = stride.checked_rem(bits) == Some(0);
                (&mut self.index, stride.checked_div(bits).filter(|_| whole))
            }
            _ => return Ok(None),
        };
        let Some(stride) = stride else { return Ok(None) };
        *sum = arena.add_scaled(*sum, digit, stride)?;
        Ok(Some(()))
    }
}
