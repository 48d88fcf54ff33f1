//! Parts of tiles: bits of one are bits of the tile that it was taken out of; bits of a tile are
//! those of the part that was put in, or of what the tile was before.

use crate::contents::goal::{Prover, What};
use crate::contents::through::BitRange;
use crate::lanes::part::PartValues;
use crate::lanes::shape::places;
use crate::violation::Violation;
use lanebook_ir::{Op, Value};

impl Prover<'_, '_, '_> {
    /// Bits of an operation on parts.
    pub(super) fn parted(
        &mut self,
        bits: BitRange,
        op: Op,
        value: Value,
        at: u32,
    ) -> Result<bool, Violation> {
        let Some((of, first)) = self.part_of(op, value, at) else { return Ok(false) };
        // All of them, or element by element.
        let place = self.look.place_of(value).unwrap_or(1).max(1);
        let width = u32::from(bits.width);
        let mut done = place.saturating_sub(at.checked_rem(place).unwrap_or(0));
        while done < width {
            let here = self.part_of(op, value, at.saturating_add(done));
            if here != Some((of, first.saturating_add(done))) {
                return Ok(false);
            }
            done = done.saturating_add(place);
        }
        self.want(bits, What::Tile(of), first)?;
        Ok(true)
    }

    /// The value of which a bit of an operation's result is a bit, and which one.
    fn part_of(&self, op: Op, value: Value, at: u32) -> Option<(Value, u32)> {
        let look = self.look;
        let own = PartValues::of(look.program, op)?;
        let each = look.place_of(value)?;
        let (place, inside) = (at.checked_div(each)?, at.checked_rem(each)?);
        let bit = |place: u32| place.checked_mul(each)?.checked_add(inside);
        if own.put.is_none() {
            let (whole, part) = (look.fragment(own.whole)?, look.fragment(value)?);
            return Some((own.whole, bit(own.in_whole(whole, part, place)?)?));
        }
        let whole = look.fragment(value)?;
        // A constant is the same everywhere.
        if look.program.constant(own.part).is_some() {
            let own = if own.covers(look.program, whole, place)? { own.part } else { own.whole };
            return Some((own, at));
        }
        let part = look.fragment(own.part)?;
        let found = (0..places(part)?).find(|p| own.in_whole(whole, part, *p) == Some(place));
        match found {
            Some(p) => Some((own.part, bit(p)?)),
            None => Some((own.whole, at)),
        }
    }
}
