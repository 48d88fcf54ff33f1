//! Conversions inside warps: which element each lane has at last, and the steps that move registers
//! between lanes.

use crate::evaluator::power;
use crate::lanes::shape::{at, byte, mask, narrow, places};
use crate::violation::Violation;
use lanebook_emit::step::{Inst, InstKind};
use lanebook_ir::{Op, Program};
use lanebook_plan::{Plan, ShufflePlan, Swap};
use lanebook_tables::{OpRole, OpWord, Tables};
use lanebook_tile::map::Fragment;

/// The exclusive or of the columns of a number's bits; `None` if it has more bits than there are
/// columns.
fn added(columns: &[u32], number: u32) -> Option<u32> {
    let (mut out, mut rest) = (0u32, number);
    for column in columns {
        if rest & 1 == 1 {
            out ^= column;
        }
        rest >>= 1;
    }
    (rest == 0).then_some(out)
}

/// Which register a thread has under a number once swaps are done.
fn unswapped(swaps: &[Swap], word: u32, thread: u32) -> u32 {
    let odd = |s: &&Swap| (thread & u32::from(s.threads)).count_ones() & 1 == 1;
    swaps.iter().filter(odd).fold(word, |word, s| word ^ u32::from(s.word))
}

/// Where the stages lead back from a place of the result in a panel and a lane of a warp: to which
/// place of the operand, and in which lane. `operands`: the operand's places in a panel.
pub(crate) fn back(
    moved: &ShufflePlan,
    (panel, place): (u32, u32),
    (operands, lanes): (u32, u32),
    (lane, warp): (u32, u32),
) -> Option<(u32, u32)> {
    let parts = power(usize::from(moved.packing))?;
    let above = warp.checked_mul(lanes)?;
    let kept = added(moved.kept.as_slice(), place)?;
    let (word, part) = (kept.checked_div(parts)?, kept.checked_rem(parts)?);
    let received = unswapped(moved.behind.as_slice(), word, lane | above);
    let mut sender =
        added(moved.lane.as_slice(), lane)? ^ added(moved.offset.as_slice(), received)?;
    for (bit, adds) in (0u32..).zip(moved.warp.as_slice()) {
        if warp.checked_shr(bit)? & 1 == 1 {
            sender ^= u32::from(*adds);
        }
    }
    let sent = added(moved.word.as_slice(), received)?;
    let word = unswapped(moved.before.as_slice(), sent, sender | above);
    let place = added(moved.sent.as_slice(), word.checked_mul(parts)? | part)?;
    let inside = place < operands && sender < lanes;
    inside.then_some((place.checked_add(panel.checked_mul(operands)?)?, sender))
}

/// Statement 13 for a conversion inside warps.
#[inline(never)]
pub(crate) fn convert(
    plan: &Plan<'_>,
    moved: &ShufflePlan,
    from: &Fragment,
    to: &Fragment,
) -> Result<(), Violation> {
    let op = moved.op;
    let refuse = Violation::End { op, operand: 3 };
    if from.shape != to.shape {
        return Err(refuse);
    }
    let (lanes, warps) = (
        power(usize::from(plan.wave)).ok_or(refuse)?,
        power(usize::from(plan.warps)).ok_or(refuse)?,
    );
    let panels = u32::from(from.shape.grid.rows)
        .checked_mul(u32::from(from.shape.grid.cols))
        .ok_or(refuse)?;
    let each = |f: &Fragment| places(f).and_then(|all| all.checked_div(panels));
    let (results, operands) = (each(to).ok_or(refuse)?, each(from).ok_or(refuse)?);
    for panel in 0..panels {
        for place in 0..results {
            for lane in 0..lanes {
                let number = panel
                    .checked_mul(results)
                    .and_then(|start| start.checked_add(place))
                    .ok_or(refuse)?;
                let wrong = |warp: u32| Violation::Converted {
                    op,
                    warp: byte(warp),
                    lane: byte(lane),
                    place: narrow(number),
                };
                for warp in 0..warps {
                    let (place, sender) =
                        back(moved, (panel, place), (operands, lanes), (lane, warp))
                            .ok_or(wrong(warp))?;
                    let (want, found) = (at(to, number, lane, warp), at(from, place, sender, warp));
                    if want.is_none() || want != found {
                        return Err(wrong(warp));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Statement 16 for conversions inside warps.
#[inline(never)]
pub(crate) fn steps(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    plan: &Plan<'_>,
    steps: &[Inst],
) -> Result<(), Violation> {
    let own = |op: Op| plan.lanes.iter().filter(move |l| l.op == op);
    for first in plan.lanes.iter().filter(|l| program.role(l.op) == OpRole::Convert) {
        let op = first.op;
        let missing = Violation::Lanes { op, step: u16::MAX };
        let fragment = plan
            .fragments
            .iter()
            .find(|f| Some(f.value) == program.operand(op, 0))
            .ok_or(Violation::Missing(op))?;
        let grid = fragment.fragment.shape.grid;
        let panels = u32::from(grid.rows).checked_mul(u32::from(grid.cols)).ok_or(missing)?;
        let straight = |moved: &ShufflePlan| {
            (0u32..)
                .zip(moved.lane.as_slice())
                .all(|(bit, adds)| adds.checked_shr(bit) == Some(1) && adds.is_power_of_two())
                && moved.warp.as_slice().iter().all(|adds| *adds == 0)
        };
        let received = |moved: &ShufflePlan| power(moved.word.as_slice().len()).unwrap_or(0);
        let offset = |moved: &ShufflePlan, word: u32| {
            added(moved.offset.as_slice(), word).unwrap_or(u32::MAX)
        };
        let (mut wanted, mut found) = (0u32, 0u32);
        for moved in own(op) {
            for word in 0..received(moved) {
                if !straight(moved) || offset(moved, word) != 0 {
                    wanted = wanted.checked_add(panels).ok_or(missing)?;
                }
            }
        }
        for (number, step) in (0u16..).zip(steps) {
            let is_own = step.purpose != InstKind::Label && usize::from(step.origin) == op.index();
            let Some(atom) = tables.atom(step.atom).filter(|a| {
                is_own
                    && a.does
                        .is_some_and(|d| matches!(d.op, OpWord::ShuffleXor | OpWord::ShuffleIndex))
            }) else {
                continue;
            };
            let known = match mask(atom, step) {
                Some(None) => true,
                Some(Some(mask)) => own(op).any(|moved| {
                    straight(moved)
                        && (0..received(moved)).any(|word| offset(moved, word) == u32::from(mask))
                }),
                None => false,
            };
            if !known {
                return Err(Violation::Lanes { op, step: number });
            }
            found = found.saturating_add(1);
        }
        if wanted != found {
            return Err(missing);
        }
    }
    Ok(())
}
