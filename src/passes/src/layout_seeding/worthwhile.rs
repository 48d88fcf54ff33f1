//! Which of a pass's choices are made, where somebody says what a program costs as it is compiled:
//! those with which it costs no more. Whoever plans the program decides what passes leave open.
use crate::PassError;
use crate::layout_seeding::{LayoutSeeding, ProgramPrice};

/// Operations by their numbers in the text, the first on the lowest bit; those behind the last bit
/// are as that says.
pub(super) type OpMask = u128;

/// All operations.
pub(super) const ALL: OpMask = OpMask::MAX;

/// Whether an operation is picked.
pub(super) const fn is_picked(picked: OpMask, number: u32) -> bool {
    let last = OpMask::BITS.saturating_sub(1);
    let number = if number < last { number } else { last };
    picked.wrapping_shr(number) & 1 == 1
}

/// Makes the choices for some operations; answers for how many it changed something.
type Give = fn(&mut LayoutSeeding<'_, '_, '_, '_, '_>, OpMask) -> Result<u32, PassError>;

/// For which of `count` operations the choices cost no more than none: all of them, or one after
/// the other, each together with those that were worth it.
pub(super) fn pick(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    give: Give,
    count: usize,
) -> Result<OpMask, PassError> {
    if work.appraiser.is_none() {
        return Ok(ALL);
    }
    let (together, whole) = tried(work, give, ALL, 0)?;
    let Some(own) = price(work).filter(|_| together > 0) else { return Ok(ALL) };
    if whole.is_some_and(|found| found.is_at_most(own)) {
        return Ok(ALL);
    }
    let (mut picked, mut most, mut best) = (0, 0, own);
    let last = if together > 1 { u32::try_from(count).unwrap_or(OpMask::BITS) } else { 0 };
    for number in 0..last.min(OpMask::BITS) {
        let with = picked | 1u128.wrapping_shl(number);
        let (given, found) = tried(work, give, with, most)?;
        if let Some(found) = found.filter(|found| found.is_at_most(best)) {
            (picked, most, best) = (with, given, found);
        }
    }
    Ok(picked)
}

/// For how many of some operations something changes, and what the program costs then, if they are
/// more than `beyond`.
fn tried(
    work: &mut LayoutSeeding<'_, '_, '_, '_, '_>,
    give: Give,
    picked: OpMask,
    beyond: u32,
) -> Result<(u32, Option<ProgramPrice>), PassError> {
    let attempt = work.cx.attempt();
    let given = give(work, picked);
    let found = match &given {
        Ok(given) if *given > beyond => price(work),
        _ => None,
    };
    work.cx.take_back(attempt);
    given.map(|given| (given, found))
}

fn price(work: &mut LayoutSeeding<'_, '_, '_, '_, '_>) -> Option<ProgramPrice> {
    work.appraiser.as_mut()?.price(work.cx.program, &work.room.book)
}
