//! Bank conflicts in words and as JSON.

use crate::answer::{QueryAnswer, QueryTopic};
use crate::conflicts::{self, AccessCost, BankedAccess, FreeOfConflicts, SlotOrder};
use crate::functions::QueryFunction;
use crate::instruction;
use crate::show::AnswerWritten;
use crate::write::Out;
use core::fmt::Write;
use lanebook_layout::Swizzle;
use lanebook_layout::notation::cute;
use lanebook_tables::BankModel;

/// Slots whose words are in one bank.
#[derive(Copy, Clone, Default)]
struct Meeting {
    group: u16,
    bank: u16,
    slots: u64,
}

/// The worst instance of an access whose conflicts are asked about.
#[derive(Copy, Clone, Debug)]
pub struct AccessedBanks<'t> {
    /// Which banks there are, and which slots are served together.
    pub banks: &'t BankModel<'t>,
    /// Bytes that a slot touches, from its address on.
    pub slot_bytes: u16,
    /// The instance's number.
    pub instance: u32,
    /// Passes over the banks that it takes.
    pub passes: u32,
    /// Passes if nothing met.
    pub least: u32,
}

impl QueryAnswer<'_> {
    /// The worst instance of the access of a `conflicts` question; `visit` gets each slot with its address in bytes.
    /// None for other questions.
    ///
    /// # Errors
    /// What the question's answer is refused for.
    pub fn accessed(
        &self,
        mut visit: impl FnMut(u32, u64),
    ) -> Result<Option<AccessedBanks<'_>>, crate::error::Why> {
        if !matches!(self.topic, QueryTopic::Question(QueryFunction::Conflicts)) {
            return Ok(None);
        }
        let (access, cost) = self.counted()?;
        let post = access.post();
        for slot in 0..access.slots {
            if let Some(byte) = access.address(cost.worst, slot, &post).flatten() {
                visit(slot, byte);
            }
        }
        Ok(Some(AccessedBanks {
            banks: access.model,
            slot_bytes: access.run_bytes(),
            instance: cost.worst,
            passes: cost.passes,
            least: cost.least,
        }))
    }

    /// What the question says, counted.
    fn counted(&self) -> Result<(BankedAccess<'_, '_>, AccessCost), crate::error::Why> {
        let access = conflicts::access(self.asked, self.arguments(), self.inverse(), self.text)?;
        let post = access.post();
        let cost = access.cost(&post, false)?.unwrap_or_default();
        Ok((access, cost))
    }

    /// The slots that meet first in the worst instance.
    #[inline(never)]
    fn meeting(access: &BankedAccess<'_, '_>, worst: u32) -> Result<Meeting, crate::error::Why> {
        let mut found = Meeting::default();
        access.instance(worst, &access.post(), |one| {
            let lanes = 1u64.checked_shl(u32::from(one.lanes.0)).unwrap_or(0)
                | 1u64.checked_shl(u32::from(one.lanes.1)).unwrap_or(0);
            if found.slots == 0 {
                found = Meeting { group: one.group, bank: one.bank, slots: lanes };
            } else if (found.group, found.bank) == (one.group, one.bank) {
                found.slots |= lanes;
            }
        })?;
        Ok(found)
    }

    #[inline(never)]
    fn free<'x>(
        &'x self,
        access: &BankedAccess<'_, '_>,
    ) -> Result<FreeOfConflicts<'x>, crate::error::Why> {
        let written = conflicts::order(self.asked, self.arguments(), self.text)?;
        let writer = match written {
            Some(SlotOrder::Written) => {
                conflicts::writer(self.asked, self.argument(3), self.text, access.bits())?
            }
            _ => conflicts::Writer::default(),
        };
        conflicts::free(self.asked, access, writer)
    }

    #[inline(never)]
    pub(crate) fn conflicts_text<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (access, cost) = self.counted()?;
        if let Some(picked) = access.instruction {
            instruction::name(self.asked, picked, out)?;
            out.text(": ")?;
        }
        number(access.slots, " slots of ", out)?;
        number(u32::from(access.run_bytes()), " bytes; banks `", out)?;
        out.texts(&[access.model.name, "` (", access.model.status.words(), ")\n"])?;
        out.text("passes ")?;
        number(cost.passes, ", least ", out)?;
        number(cost.least, "; ", out)?;
        number(access.instances, " instances take ", out)?;
        number(cost.all, " passes\n", out)?;
        if cost.passes <= cost.least {
            return Ok(out.text("no conflicts\n")?);
        }
        let meeting = Self::meeting(&access, cost.worst)?;
        out.text("in bank ")?;
        number(u32::from(meeting.bank), " meet slots", out)?;
        for slot in (0..64u32).filter(|slot| meeting.slots.wrapping_shr(*slot) & 1 == 1) {
            out.text(" ")?;
            out.unsigned(u64::from(slot))?;
        }
        out.text("\n")?;
        let free = self.free(&access)?;
        if let Some(swizzle) = free.swizzle {
            out.text("free: ")?;
            written(swizzle, out)?;
            out.text("\n")?;
        }
        if let Some(mode) = free.mode {
            out.texts(&["free: swizzle mode ", mode.name, "\n"])?;
        }
        if let Some(pad) = free.pad {
            out.text("free: padded, ")?;
            number(pad.pad, " elements after each ", out)?;
            number(pad.interval, "\n", out)?;
        }
        if free.swizzle.is_none() && free.mode.is_none() && free.pad.is_none() {
            out.text("no single swizzle or padding that was tried is free\n")?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(crate) fn conflicts_json<W: Write>(&self, out: &mut Out<'_, W>) -> AnswerWritten {
        let (access, cost) = self.counted()?;
        out.key_text(true, "kind", "conflicts")?;
        if let Some(picked) = access.instruction {
            out.key(false, "instruction")?;
            out.text("\"")?;
            instruction::name(self.asked, picked, out)?;
            out.text("\"")?;
        }
        for (key, value) in [
            ("slots", access.slots),
            ("slot_bytes", u32::from(access.run_bytes())),
            ("passes", cost.passes),
            ("least", cost.least),
            ("instances", access.instances),
            ("all_passes", cost.all),
        ] {
            out.key_number(false, key, i64::from(value))?;
        }
        out.key_text(false, "banks", access.model.name)?;
        out.key_text(false, "status", access.model.status.words())?;
        if cost.passes <= cost.least {
            return Ok(());
        }
        let meeting = Self::meeting(&access, cost.worst)?;
        out.key_number(false, "bank", i64::from(meeting.bank))?;
        let slots = (0..64i64).filter(|slot| meeting.slots.wrapping_shr(*slot as u32) & 1 == 1);
        crate::show::list_json("meet", slots, out)?;
        let free = self.free(&access)?;
        if let Some(swizzle) = free.swizzle {
            out.key(false, "free_swizzle")?;
            out.text("\"")?;
            written(swizzle, out)?;
            out.text("\"")?;
        }
        if let Some(mode) = free.mode {
            out.key_text(false, "free_mode", mode.name)?;
        }
        if let Some(pad) = free.pad {
            let pair = [i64::from(pad.interval), i64::from(pad.pad)];
            crate::show::list_json("free_padding", pair.into_iter(), out)?;
        }
        Ok(())
    }
}

fn number<W: Write>(value: u32, after: &str, out: &mut Out<'_, W>) -> core::fmt::Result {
    out.unsigned(u64::from(value))?;
    out.text(after)
}

fn written<W: Write>(swizzle: Swizzle, out: &mut Out<'_, W>) -> AnswerWritten {
    Ok(cute::print_swizzle(swizzle, out.sink()).map_err(|_| core::fmt::Error)?)
}
