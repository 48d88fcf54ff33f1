//! Who executes an iteration and who holds what it accesses, point by point; and what would bring
//! elements from the one to the other.
use lanebook::infer::{BaseId, Buffer, FragmentForm, IndexForm, Inference, Tape};
use std::collections::{BTreeMap, BTreeSet};

/// Most points that are looked at.
const MOST_POINTS: u64 = 1 << 18;

/// A point of a loop with who executes it and who holds the element.
pub struct Shown {
    pub point: Vec<i64>,
    pub element: Vec<i64>,
    pub doers: BTreeSet<i64>,
    pub holders: BTreeSet<i64>,
}

/// Turns of loops around that are looked at; one that has more stands still.
const MOST_TURNS: u32 = 256;

/// The first point where executing threads do not hold the element, or holders do not execute.
pub fn first_unserved(
    at: &Inference<'_>,
    layouts: [&FragmentForm; 2],
    indices: &[IndexForm],
    writes: bool,
) -> Option<Shown> {
    let mut found = None;
    points(at, layouts, indices, |shown| {
        let fits = match writes {
            true => shown.holders.is_subset(&shown.doers),
            false => shown.doers.is_subset(&shown.holders),
        };
        if !fits {
            found = Some(shown);
        }
        fits
    })?;
    found
}

/// Shows the points of a loop with this layout, which accesses a fragment with that one, until
/// `goes_on` says no.
fn points(
    at: &Inference<'_>,
    [spread, held]: [&FragmentForm; 2],
    indices: &[IndexForm],
    mut goes_on: impl FnMut(Shown) -> bool,
) -> Option<()> {
    let arena = &at.arena;
    let mut forms = vec![spread.thread];
    forms.extend_from_slice(indices);
    let own: Vec<(BaseId, u32)> = arena
        .variables(&forms)
        .ok()?
        .iter()
        .copied()
        .filter(|(id, extent)| {
            let loops = spread.vars.iter().any(|var| var == *id);
            *id != spread.copy && (loops || *extent <= MOST_TURNS)
        })
        .collect();
    let size = own.iter().map(|(_, extent)| u64::from(*extent)).product::<u64>();
    if size.checked_mul(u64::from(spread.copies) + u64::from(held.copies))? > MOST_POINTS {
        return None;
    }
    let mut doers_tape = Tape::new(arena, &forms).ok()?;
    let mut holders_tape = Tape::new(arena, &[held.thread]).ok()?;
    for number in 0..size {
        let (mut rest, mut values) = (number, BTreeMap::new());
        for (id, extent) in own.iter().rev() {
            let value = i64::try_from(rest % u64::from(*extent)).ok()?;
            rest /= u64::from(*extent);
            values.insert(*id, value);
            doers_tape.set(*id, value);
        }
        let (mut doers, mut holders) = (BTreeSet::new(), BTreeSet::new());
        for copy in 0..spread.copies {
            doers_tape.set(spread.copy, i64::from(copy));
            doers_tape.derive(arena).ok()?;
            doers.insert(doers_tape.value(arena, spread.thread).ok()?);
        }
        let mut element = Vec::new();
        for (dim, index) in held.vars.iter().zip(indices) {
            let value = doers_tape.value(arena, *index).ok()?;
            element.push(value);
            holders_tape.set(dim, value);
        }
        for copy in 0..held.copies {
            holders_tape.set(held.copy, i64::from(copy));
            holders_tape.derive(arena).ok()?;
            holders.insert(holders_tape.value(arena, held.thread).ok()?);
        }
        let point = spread.vars.iter().map(|var| values.get(&var).copied().unwrap_or(0));
        if !goes_on(Shown { point: point.collect(), element, doers, holders }) {
            break;
        }
    }
    Some(())
}

/// The cheapest way from the threads that hold the elements of a fragment to those that read them:
/// between the lanes of a warp where the elements stay in it, else through shared memory.
pub fn conversion(
    at: &Inference<'_>,
    layouts: [&FragmentForm; 2],
    indices: &[IndexForm],
    own: &Buffer,
) -> Option<String> {
    let wave = i64::from(at.wave().max(1));
    let (mut stays, mut far) = (true, BTreeSet::new());
    points(at, layouts, indices, |shown| {
        for doer in &shown.doers {
            let mut near = shown.holders.iter().filter(|h| *h / wave == doer / wave);
            match near.clone().min_by_key(|holder| *holder ^ doer) {
                Some(holder) => drop(far.insert(holder ^ doer)),
                None => stays = false,
            }
            stays &= near.next().is_some();
        }
        stays
    })?;
    let extents = own.dims.iter().map(|dim| at.arena.extent(dim).map(u64::from));
    let elements: u64 = extents.product::<Result<u64, _>>().ok()?;
    let bytes = (elements * u64::from(own.bits)).div_ceil(8);
    let memory = format!(
        "through shared memory, {bytes} bytes: `exchange = allow` on the loop, or the copy, puts it in"
    );
    far.remove(&0);
    if !stays || far.is_empty() {
        return Some(memory);
    }
    let by: Vec<String> = far.iter().map(i64::to_string).collect();
    let by = by.join(", ");
    Some(format!(
        "between lanes of one warp, whose numbers differ by xor {by}; from here, {memory}"
    ))
}

/// A fragment's layout as what each bit of a coordinate adds to thread and local index, where it is
/// linear over bits: `v0 [T1 T2 I4] v1 [I1 I2 T4]`.
pub fn in_bases(at: &Inference<'_>, form: &FragmentForm) -> Option<String> {
    let arena = &at.arena;
    let forms = [form.thread, form.index];
    let mut inputs: Vec<(String, BaseId, u32)> = Vec::new();
    for (number, var) in form.vars.iter().enumerate() {
        inputs.push((format!("v{number}"), var, arena.extent(var).ok()?));
    }
    if form.copies > 1 {
        inputs.push(("rep".into(), form.copy, form.copies));
    }
    let points = inputs.iter().try_fold(1u64, |n, i| n.checked_mul(u64::from(i.2)))?;
    if points > MOST_POINTS || inputs.iter().any(|i| !i.2.is_power_of_two()) {
        return None;
    }
    let mut tape = Tape::new(arena, &forms).ok()?;
    let mut value = |number: u64| -> Option<[i64; 2]> {
        let mut rest = number;
        for (_, var, extent) in &inputs {
            tape.set(*var, i64::try_from(rest % u64::from(*extent)).ok()?);
            rest /= u64::from(*extent);
        }
        tape.derive(arena).ok()?;
        Some([tape.value(arena, form.thread).ok()?, tape.value(arena, form.index).ok()?])
    };
    if value(0)? != [0, 0] {
        return None;
    }
    let bits: Vec<[i64; 2]> =
        (0..points.trailing_zeros()).map(|bit| value(1 << bit)).collect::<Option<_>>()?;
    for number in 0..points {
        let set = (0u32..).zip(&bits).filter(|(bit, _)| number >> bit & 1 == 1);
        let sum = set.fold([0, 0], |sum: [i64; 2], (_, b)| [sum[0] ^ b[0], sum[1] ^ b[1]]);
        if value(number)? != sum {
            return None;
        }
    }
    let mut left = bits.iter();
    let shown: Vec<String> = inputs
        .iter()
        .map(|(name, _, extent)| {
            let own: Vec<String> =
                left.by_ref().take(extent.trailing_zeros() as usize).map(basis).collect();
            format!("{name} [{}]", own.join(" "))
        })
        .collect();
    Some(shown.join(" "))
}

/// What one bit adds.
fn basis([thread, index]: &[i64; 2]) -> String {
    match (thread, index) {
        (0, 0) => "0".into(),
        (thread, 0) => format!("T{thread}"),
        (0, index) => format!("I{index}"),
        (thread, index) => format!("T{thread}+I{index}"),
    }
}
