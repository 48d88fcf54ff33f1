//! What matrix instructions have beyond one product of dense operands, with names resolved.
use super::atoms::{Matrix, Operand};
use super::words::{Words, need_source};
use super::{HwModel, Names};
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::load::Loaded;
use crate::schema::{self, Name};
use crate::source::Span;
use crate::spanned::Spanned;
use lanebook_tables::AccessId;

/// A modifier that exchanges what is read; operands by name.
#[derive(Clone, Debug)]
pub struct Broadcast {
    /// Its name.
    pub name: Name,
    /// The operand that is read otherwise.
    pub operand: Name,
    /// The immediate that chooses.
    pub by: Name,
    /// What it does.
    pub how: How,
}

/// What a modifier does.
#[derive(Clone, Debug)]
pub enum How {
    /// Lanes of a run, and for each value which run is read for each run.
    Lanes(u8, Vec<Vec<u8>>),
    /// The immediate that says which block of a group is read.
    Blocks(Name),
}

/// What a matrix instruction has beyond one product of dense operands.
#[derive(Clone, Debug)]
pub struct More {
    /// Where the shape stands.
    pub span: Span,
    /// Independent products.
    pub blocks: u16,
    /// Operand with sparsity indices.
    pub index: Option<u8>,
    /// Operands with block scales of A and B.
    pub scales: (Option<u8>, Option<u8>),
    /// (immediate, operand, bits a unit, lanes a unit).
    pub moves: Vec<(u8, u8, u16, u16)>,
    /// (operand, immediate, what it does; for blocks with the second immediate).
    pub broadcasts: Vec<(u8, u8, Use)>,
    /// Operands in shared memory.
    pub shared: Vec<SharedOperand>,
    /// Kind of what the unit does to its registers.
    pub runs: Option<AccessId>,
    /// Significant bits that the unit keeps of a sum, where they are fewer than the accumulator has.
    pub sum_bits: Option<Spanned<u8>>,
    /// The accumulator in tensor memory.
    pub tensor: Option<TensorOperand>,
}

/// An accumulator in tensor memory.
#[derive(Clone, Debug)]
pub struct TensorOperand {
    /// The tile; `check::units` finds it.
    pub tile: Name,
    /// The instruction descriptor; `check::units` finds it.
    pub descriptor: Name,
    /// The operand that holds it.
    pub word: u8,
    /// The predicate that says whether the old accumulator is added.
    pub adds: u8,
    /// The predicate of the thread that issues.
    pub one: u8,
    /// Kind of the unit's access.
    pub writes: AccessId,
    /// Kind of the access of loads.
    pub reads: AccessId,
    /// Kind of the access to the registers that they fill.
    pub fetched: AccessId,
    /// Kind of the stores that fill tensor memory.
    pub stores: AccessId,
    /// A stands there too: kind of the unit's access to it.
    pub a: Option<AccessId>,
}

/// An operand in shared memory.
#[derive(Clone, Debug)]
pub struct SharedOperand {
    /// Its number.
    pub operand: u8,
    /// The descriptor; `check::units` finds it.
    pub descriptor: Name,
    /// Kind of the access.
    pub access: AccessId,
    /// The immediate that says which coordinate is contiguous.
    pub along: Option<u8>,
}

/// A modifier as one atom uses it.
#[derive(Clone, Debug)]
pub enum Use {
    /// Lanes of a run, and for each value which run is read for each run.
    Lanes(u8, Vec<Vec<u8>>),
    /// The immediate that says which block of a group is read.
    Blocks(u8),
}

/// Modifiers that files declare.
pub(super) fn declare(loaded: &Loaded, model: &mut HwModel, diags: &mut Diagnostics) {
    let words = Words::of(model);
    let mut names = Names::default();
    for (number, entry) in loaded.broadcasts.iter().enumerate() {
        if !names.declare(&entry.name, number, "modifier", diags) {
            continue;
        }
        need_source(
            Some(&entry.sources).filter(|cited| !cited.is_empty()).map(Vec::as_slice),
            None,
            entry.name.span,
            &format!("modifier `{}`", entry.name.value),
            diags,
        );
        words.cited(&entry.sources, diags);
        let how = match (&entry.lanes, &entry.member) {
            (Some(lanes), None) => {
                let long = lanes.rows.first().map_or(0, Vec::len);
                if long == 0
                    || lanes.run == 0
                    || lanes.rows.iter().any(|row| {
                        row.len() != long || row.iter().any(|run| usize::from(*run) >= long)
                    })
                {
                    let message = "the rows do not all name as many runs of lanes as there are";
                    diags.push(Diagnostic::at(lanes.span, message).help("write for each value which run is read for each run, all of them in each row"));
                }
                How::Lanes(lanes.run, lanes.rows.clone())
            }
            (None, Some(member)) => How::Blocks(member.clone()),
            _ => {
                let message =
                    format!("modifier `{}` says neither lanes nor blocks", entry.name.value);
                diags.push(
                    Diagnostic::at(entry.name.span, message).help("give `lanes` or `member`"),
                );
                diags.lose_name(&entry.name, entry.name.span);
                continue;
            }
        };
        model.broadcasts.push(Broadcast {
            name: entry.name.clone(),
            operand: entry.operand.clone(),
            by: entry.by.clone(),
            how,
        });
    }
}

/// What the entry has beyond a plain shape, `None` if nothing.
pub(super) fn resolve(
    entry: &Spanned<schema::Matrix>,
    operands: &[Operand],
    names: &Names,
    (known, accesses): (&[Broadcast], &Names),
    diags: &mut Diagnostics,
) -> Option<More> {
    let mut find =
        |name: &Name| names.find(name, "operand", diags).and_then(|n| u8::try_from(n).ok());
    let index = entry.index.as_ref().and_then(&mut find);
    let scales =
        (entry.scale_a.as_ref().and_then(&mut find), entry.scale_b.as_ref().and_then(&mut find));
    let mut moves = Vec::new();
    for (of, operand) in (0u8..).zip(operands) {
        for (by, bits, lanes) in &operand.moved {
            moves.extend(find(by).map(|by| (by, of, *bits, *lanes)));
        }
    }
    let mut broadcasts = Vec::new();
    for name in &entry.broadcasts {
        let Some(found) = known.iter().find(|b| b.name.value == name.value) else {
            let help = lanebook_suggest::remedy(
                name,
                known.iter().map(|b| b.name.as_str()),
                "declare it under `broadcasts`",
            );
            diags.push(
                Diagnostic::at(name.span, format!("unknown modifier `{}`", name.value))
                    .help(help)
                    .lacks(name),
            );
            continue;
        };
        let here = |wanted: &Name, diags: &mut Diagnostics| {
            let number = names.get(wanted).and_then(|n| u8::try_from(n).ok());
            if number.is_none() {
                let message = format!(
                    "modifier `{}` speaks of operand `{}`, which the atom does not have",
                    name.value, wanted.value
                );
                diags.push(
                    Diagnostic::at(name.span, message)
                        .note(wanted.span, "the modifier")
                        .help("give the atom this operand, or leave the modifier out"),
                );
            }
            number
        };
        let (of, by) = (here(&found.operand, diags), here(&found.by, diags));
        let how = match &found.how {
            How::Lanes(run, rows) => Some(Use::Lanes(*run, rows.clone())),
            How::Blocks(member) => here(member, diags).map(Use::Blocks),
        };
        if let (Some(of), Some(by), Some(how)) = (of, by, how) {
            broadcasts.push((of, by, how));
        }
    }
    let mut shared = Vec::new();
    for entry in &entry.shared {
        let mut find =
            |name: &Name| names.find(name, "operand", diags).and_then(|n| u8::try_from(n).ok());
        let (operand, along) = (find(&entry.operand), entry.along.as_ref().and_then(&mut find));
        let access = accesses.find(&entry.access, "access kind", diags).map(AccessId);
        if let (Some(operand), Some(access)) = (operand, access) {
            shared.push(SharedOperand {
                operand,
                descriptor: entry.descriptor.clone(),
                access,
                along,
            });
        }
    }
    let runs = entry
        .runs
        .as_ref()
        .and_then(|name| accesses.find(name, "access kind", diags))
        .map(AccessId);
    let plain = entry.blocks == 1
        && index.is_none()
        && scales == (None, None)
        && moves.is_empty()
        && broadcasts.is_empty();
    // What is not found is said; the rest of the atom is judged as one with its accumulator in
    // tensor memory all the same.
    let tensor = entry.tensor.as_ref().map(|t| {
        let mut find = |name: &Name| {
            names
                .find(name, "operand", diags)
                .and_then(|n| u8::try_from(n).ok())
                .unwrap_or_default()
        };
        let (word, adds, one) = (find(&t.word), find(&t.adds), find(&t.one));
        let mut kind =
            |name: &Name| AccessId(accesses.find(name, "access kind", diags).unwrap_or_default());
        let (writes, reads, fetched, stores) =
            (kind(&t.writes), kind(&t.reads), kind(&t.fetched), kind(&t.stores));
        let a = t.a.as_ref().map(kind);
        TensorOperand {
            tile: t.tile.clone(),
            descriptor: t.descriptor.clone(),
            word,
            adds,
            one,
            writes,
            reads,
            fetched,
            stores,
            a,
        }
    });
    let alone = shared.is_empty() && runs.is_none() && tensor.is_none() && entry.sum_bits.is_none();
    (!(plain && alone)).then_some(More {
        span: entry.span,
        blocks: entry.blocks,
        index,
        scales,
        moves,
        broadcasts,
        shared,
        runs,
        sum_bits: entry.sum_bits.clone(),
        tensor,
    })
}

/// The logical extents of each operand of a shape: [`lanebook_tables::MatrixMore`] says what they
/// are.
pub(super) fn extents(
    shape: &Matrix,
    more: Option<&More>,
    operands: &[Operand],
) -> Vec<(u8, (u16, u16))> {
    let (m, n, k) = (shape.m, shape.n, shape.k);
    let blocks = more.map_or(1, |more| more.blocks.max(1));
    let stored = if more.is_some_and(|more| more.index.is_some()) { k / 2 } else { k };
    let mut out = vec![
        (shape.a, (blocks.saturating_mul(m), stored)),
        (shape.b, (blocks.saturating_mul(k), n)),
        (shape.c, (blocks.saturating_mul(m), n)),
        (shape.d, (blocks.saturating_mul(m), n)),
    ];
    let Some(more) = more else { return out };
    out.extend(more.index.map(|index| (index, (m, k / 2))));
    // How long a run of k shares a scale follows from the layout's size.
    let size = |operand: u8| {
        operands
            .get(usize::from(operand))
            .and_then(|o| o.layout.as_ref())
            .map_or(0, crate::layouts::Layout::size)
    };
    let share =
        |operand: u8, rows: u16| u16::try_from(size(operand) / u64::from(rows.max(1))).unwrap_or(0);
    out.extend(more.scales.0.map(|scale| (scale, (m, share(scale, m)))));
    out.extend(more.scales.1.map(|scale| (scale, (share(scale, n), n))));
    out
}
