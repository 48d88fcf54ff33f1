//! Fragments drawn: thread and local index of each element.
use super::shared::swizzle;
use super::timeline::{Names, layout};
use lanebook::infer::{BufferId, FragmentForm, Inference, Tape};
use lanebook::layout::Swizzle;
use lanebook_draw::{Cell, Colours, Panel, Picture};

/// Colours of a picture; threads beyond them start over.
const SHADES: u16 = 32;

/// Threads that a cell names.
const NAMED: usize = 2;

/// Most elements of a fragment that are drawn.
const MOST: u64 = 1 << 16;

/// A picture of fragments, and of shared buffers that lie under a swizzle; fragments that have no
/// layout are left out.
pub fn picture(
    at: &Inference<'_>,
    names: &Names,
    (fragments, shared): (&[BufferId], &[BufferId]),
) -> Picture {
    let mut panels = Vec::new();
    let mut notes = vec![
        "T = thread, behind the colon its local index; + = copies on further threads".to_string(),
    ];
    for (number, id) in fragments.iter().enumerate() {
        let Some(form) = at.layout(*id) else {
            notes.push(format!("{} has no layout yet", names.buffer(*id)));
            continue;
        };
        match panel(at, names.buffer(*id), &form, number) {
            Some(panel) => panels.push(panel),
            None => notes.push(format!("{} is too large to draw", names.buffer(*id))),
        }
    }
    for id in shared {
        let Some(place) = at.swizzle(*id) else { continue };
        match swizzled(at, names.buffer(*id), *id, place, panels.len()) {
            Some(panel) => panels.push(panel),
            None => notes.push(format!("{} is too large to draw", names.buffer(*id))),
        }
    }
    if shared.iter().any(|id| at.swizzle(*id).is_some()) {
        notes.push("@ = place in shared memory, in elements from the buffer's start".to_string());
    }
    Picture {
        title: "fragments".into(),
        subtitle: Vec::new(),
        panels,
        colours: Some(Colours {
            count: SHADES,
            what: "thread".into(),
            prefix: "T".into(),
            wraps: true,
        }),
        notes,
    }
}

/// Where the elements of a shared buffer lie.
fn swizzled(
    at: &Inference<'_>,
    name: &str,
    id: BufferId,
    place: Swizzle,
    number: usize,
) -> Option<Panel> {
    let own = at.buffer_of(id).ok()?;
    let extents: Vec<u64> = own
        .dims
        .iter()
        .map(|dim| at.arena.extent(dim).map(u64::from))
        .collect::<Result<_, _>>()
        .ok()?;
    let columns = extents.last().copied().unwrap_or(1);
    let size = extents.iter().product::<u64>();
    let bytes = u64::from(own.bits / 8);
    if size > MOST || bytes == 0 {
        return None;
    }
    let cell = |element: u64| {
        let lies = place.apply(element * bytes) / bytes;
        Cell { lines: vec![format!("@{lies}")], colour: None }
    };
    let leading: Vec<String> =
        (0..extents.len().saturating_sub(1)).map(|k| format!("v{k}")).collect();
    let shape: Vec<String> = extents.iter().map(u64::to_string).collect();
    Some(Panel {
        title: format!("{name}: {}, in shared memory", shape.join(" x ")),
        note: format!("{} of bytes", swizzle(Some(place))),
        axes: (leading.join(","), format!("v{}", extents.len().saturating_sub(1))),
        row_labels: (0..size / columns.max(1)).map(|row| row.to_string()).collect(),
        column_labels: (0..columns).map(|column| column.to_string()).collect(),
        cells: (0..size).map(cell).collect(),
        place: (0, number),
        ..Panel::default()
    })
}

fn panel(at: &Inference<'_>, name: &str, form: &FragmentForm, number: usize) -> Option<Panel> {
    let arena = &at.arena;
    let dims: Vec<_> = form.vars.iter().collect();
    let extents: Vec<u64> =
        dims.iter().map(|d| arena.extent(*d).map(u64::from)).collect::<Result<_, _>>().ok()?;
    let columns = extents.last().copied().unwrap_or(1);
    let size = extents.iter().product::<u64>();
    if size * u64::from(form.copies) > MOST {
        return None;
    }
    let mut tape = Tape::new(arena, &[form.thread, form.index]).ok()?;
    let mut cells = Vec::new();
    for element in 0..size {
        let mut rest = element;
        for (dim, extent) in dims.iter().zip(&extents).rev() {
            tape.set(*dim, i64::try_from(rest % extent).ok()?);
            rest /= extent;
        }
        let (mut threads, mut local) = (Vec::new(), 0);
        for copy in 0..form.copies {
            tape.set(form.copy, i64::from(copy));
            tape.derive(arena).ok()?;
            threads.push(tape.value(arena, form.thread).ok()?);
            local = tape.value(arena, form.index).ok()?;
        }
        threads.sort_unstable();
        threads.dedup();
        let few: Vec<String> = threads.iter().take(NAMED).map(i64::to_string).collect();
        let more = if threads.len() > few.len() { "+" } else { "" };
        let first = threads.first().copied().unwrap_or(0);
        cells.push(Cell {
            lines: vec![format!("T{}{more}", few.join(",")), local.to_string()],
            colour: u16::try_from(first.rem_euclid(i64::from(SHADES))).ok(),
        });
    }
    let leading: Vec<String> =
        (0..extents.len().saturating_sub(1)).map(|k| format!("v{k}")).collect();
    let shape: Vec<String> = extents.iter().map(u64::to_string).collect();
    Some(Panel {
        title: format!("{name}: {}, {} a thread", shape.join(" x "), form.slots),
        note: layout(at, form),
        axes: (leading.join(","), format!("v{}", extents.len().saturating_sub(1))),
        row_labels: (0..size / columns.max(1)).map(|row| row.to_string()).collect(),
        column_labels: (0..columns).map(|column| column.to_string()).collect(),
        cells,
        place: (0, number),
        ..Panel::default()
    })
}
