//! A fragment as a layout with strides.

use super::{NotationError, NotationFault, fault};
use crate::{BaseId, FormArena, FormBase, FragmentForm, IndexForm, MAX_TERMS};
use lanebook_layout::{AxisId, Iter, Layout};

/// Most places where the digits of one coordinate begin and end.
const MAX_CUTS: usize = 2 * MAX_TERMS;

/// The layout of a fragment: the thread on axis `tx`, the local index on `m`, copies as replicas.
/// Its modes are the coordinates, the last first, so that elements are counted row-major.
///
/// # Errors
/// [`NotationFault::NotStrided`].
pub fn strided(arena: &FormArena<'_>, fragment: &FragmentForm) -> Result<Layout, NotationError> {
    let refused = fault(NotationFault::NotStrided, 0);
    let made = by_digits(arena, fragment).ok_or(refused)?;
    made.view().check().map_err(|_| refused)?;
    Ok(made)
}

fn by_digits(arena: &FormArena<'_>, fragment: &FragmentForm) -> Option<Layout> {
    let FragmentForm { vars, copy, thread, index, .. } = *fragment;
    for form in [thread, index] {
        for term in arena.terms_of(form) {
            let base = arena.base(term.digit.base).ok()?;
            matches!(base, FormBase::Var { .. }).then_some(())?;
        }
    }
    // A local index is one for all copies.
    if arena.terms_of(index).iter().any(|term| term.digit.base == copy) {
        return None;
    }
    let mut out = Layout::new();
    for var in vars.iter().rev() {
        digits(arena, var, &[(thread, AxisId::TX), (index, AxisId::M)], |it| {
            out.push_shard(it).ok()
        })?;
    }
    digits(arena, copy, &[(thread, AxisId::TX)], |it| match it.is_unit() {
        true => Some(()),
        false => out.push_replica(it).ok(),
    })?;
    for (form, axis) in [(thread, AxisId::TX), (index, AxisId::M)] {
        if form.constant != 0 {
            out.add_offset(form.constant.into(), axis).ok()?;
        }
    }
    Some(out)
}

/// The digits of a variable that the maps move by, the lowest first.
fn digits(
    arena: &FormArena<'_>,
    var: BaseId,
    maps: &[(IndexForm, AxisId)],
    mut take: impl FnMut(Iter) -> Option<()>,
) -> Option<()> {
    let whole = arena.extent(var).ok()?;
    let mut cuts: heapless::Vec<u32, MAX_CUTS> = heapless::Vec::new();
    cuts.extend_from_slice(&[1, whole]).ok()?;
    // In order, each once.
    let mut cut_at = |cut: u32| match cuts.iter().position(|other| *other >= cut) {
        Some(at) if cuts.get(at) == Some(&cut) => Some(()),
        Some(at) => cuts.insert(at, cut).ok(),
        None => cuts.push(cut).ok(),
    };
    let of =
        |form: IndexForm| arena.terms_of(form).iter().filter(move |term| term.digit.base == var);
    for term in maps.iter().flat_map(|(form, _)| of(*form)) {
        let end = term.digit.unit.checked_mul(term.digit.extent)?;
        for cut in [term.digit.unit, end.min(whole)] {
            cut_at(cut)?;
        }
    }
    for pair in cuts.windows(2) {
        let [low, high] = *pair else { continue };
        let extent = high.checked_div(low).filter(|_| high.checked_rem(low) == Some(0))?;
        let mut moved = None;
        for (form, axis) in maps {
            let mut stride = 0i64;
            for term in of(*form) {
                let digit = term.digit;
                let end = digit.unit.checked_mul(digit.extent)?;
                if digit.unit <= low && low < end {
                    let steps = low.checked_div(digit.unit)?;
                    stride = stride.checked_add(term.stride.checked_mul(i64::from(steps))?)?;
                }
            }
            if stride != 0 && moved.replace((stride, *axis)).is_some() {
                return None;
            }
        }
        let (stride, axis) = moved.unwrap_or((0, AxisId::M));
        take(Iter::new(extent, stride, axis))?;
    }
    // A coordinate of one value has a mode as well.
    if whole == 1 {
        take(Iter::new(1, 0, AxisId::M))?;
    }
    Some(())
}
