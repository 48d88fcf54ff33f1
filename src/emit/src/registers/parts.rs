//! Parts of tiles that are some of each lane's registers: taken out, they are the same registers
//! where these follow each other, else copies; put in, they are copied, into the tile's own
//! registers where nothing else reads these.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::registers::liveness::overlaps;
use crate::registers::regs_of_value::OperandRegs;
use lanebook_ir::{Op, Program};
use lanebook_tables::OpRole;
use lanebook_tile::map::{Fragment, PartPlaces};
use lanebook_tile::shaping::{TilePart, tile_shape};

/// Bits of the registers that tiles are counted in.
const WORD: u16 = 32;

/// Most registers of a tile.
const MOST: usize = 256;

/// The registers of a part among those of its tile.
#[derive(Copy, Clone)]
struct PartRegisters {
    places: PartPlaces,
    /// log2 of the elements that share a register.
    packing: u8,
    /// Registers of an element.
    words: u16,
    /// Registers of the part.
    count: u16,
}

impl PartRegisters {
    /// Those of an operation's part, in the registers of its tile.
    fn of(program: &Program<'_, '_>, part: TilePart, whole: &Fragment) -> Option<Self> {
        let (own, places) = part.places(whole, tile_shape(program, part.part)?)?;
        let words = whole.shape.bits.checked_div(WORD)?.max(1);
        Some(Self { places, packing: own.packing(), words, count: own.registers() })
    }

    /// The register of the tile that is a register of the part.
    fn in_whole(self, register: u16) -> Option<u16> {
        let element = u32::from(register.checked_div(self.words)?);
        let place = element.checked_shl(u32::from(self.packing))?;
        let place = self.places.in_whole(place).checked_shr(u32::from(self.packing))?;
        let word = register.checked_rem(self.words)?;
        u16::try_from(place).ok()?.checked_mul(self.words)?.checked_add(word)
    }
}

impl LowerContext<'_, '_, '_, '_> {
    /// Takes a part out of a tile, or puts one in.
    #[inline(never)] // Its lists leave the stack before the next operation.
    pub(crate) fn part(&mut self, op: Op) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let own = TilePart::of(self.program, op).ok_or(refuse)?;
        let (_, whole) = self.plan.fragment_of(own.put.unwrap_or(own.whole)).ok_or(refuse)?;
        let registers = PartRegisters::of(self.program, own, whole).ok_or(refuse)?;
        match own.put {
            None => self.take_out(op, own, registers),
            Some(_) => self.put_in(op, own, registers, whole),
        }
    }

    fn take_out(
        &mut self,
        op: Op,
        own: TilePart,
        registers: PartRegisters,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let source = self.source(op, own.whole)?;
        if let Some(part) = self.consecutive(&source, registers) {
            return self.hold(own.part, part);
        }
        let (_, fragment) = self.plan.fragment_of(own.part).ok_or(refuse)?;
        let out = self.tile(source.registers().class, fragment)?;
        for k in 0..registers.count {
            let place = registers.in_whole(k).ok_or(refuse)?;
            let from = self.registers(&source, place, 1).ok_or(refuse)?;
            self.copy_tile(op, from, out.member(k))?;
        }
        self.hold(own.part, out)
    }

    /// The registers of a part where they follow each other as a tuple of their own may.
    fn consecutive(&self, source: &OperandRegs, registers: PartRegisters) -> Option<Reg> {
        let whole = source.whole()?;
        let first = registers.in_whole(0)?;
        let align = self.machine.isa.classes.get(whole.class.index())?.tuple_align;
        let aligned = first.checked_rem(u16::from(align.max(1)))? == 0 || registers.count == 1;
        let follows = |k: u16| registers.in_whole(k) == first.checked_add(k);
        let count = registers.count;
        let inside = first.checked_add(registers.count)? <= whole.count;
        (aligned && inside && (0..registers.count).all(follows))
            .then(|| whole.members(first, count))
    }

    fn put_in(
        &mut self,
        op: Op,
        own: TilePart,
        registers: PartRegisters,
        whole: &Fragment,
    ) -> Result<(), EmitError> {
        let refuse = EmitError::Unplanned(op);
        let result = own.put.ok_or(refuse)?;
        let (source, part) = (self.source(op, own.whole)?, self.source(op, own.part)?);
        let in_place = source
            .whole()
            .filter(|reg| !overlaps(*reg, part.registers()) && self.is_free_after(op, *reg));
        let out = match in_place {
            Some(reg) => reg,
            None => {
                let class = match source.whole() {
                    Some(reg) => reg.class,
                    None => self.tile_class(result)?,
                };
                let out = self.tile(class, whole)?;
                let written = self.written_later(op, whole).ok_or(refuse)?;
                for k in 0..out.count {
                    if written.get(usize::from(k)).is_none_or(|written| !*written) {
                        let from = self.registers(&source, k, 1).ok_or(refuse)?;
                        self.copy_tile(op, from, out.member(k))?;
                    }
                }
                out
            }
        };
        for k in 0..registers.count {
            let from = self.registers(&part, k, 1).ok_or(refuse)?;
            let place = registers.in_whole(k).ok_or(refuse)?;
            self.copy_tile(op, from, out.member(place))?;
        }
        self.hold(result, out)
    }

    /// The registers of a tile that this operation writes, and those after it that put further
    /// parts into the same tile before anything else reads it.
    fn written_later(&self, op: Op, whole: &Fragment) -> Option<[bool; MOST]> {
        let program = self.program;
        let mut out = [false; MOST];
        let mut next = Some(op);
        while let Some(at) = next.take() {
            let own = TilePart::of(program, at)?;
            let registers = PartRegisters::of(program, own, whole)?;
            for k in 0..registers.count {
                *out.get_mut(usize::from(registers.in_whole(k)?))? = true;
            }
            let mut users = program.uses(own.put?);
            if let (Some(only), None) = (users.next(), users.next()) {
                next = program.user(only).filter(|user| {
                    program.role(*user) == OpRole::Slice
                        && program.block_of(*user) == program.block_of(op)
                        && TilePart::of(program, *user)
                            .is_some_and(|part| part.put.is_some() && Some(part.whole) == own.put)
                        && program.results(*user).any(|v| self.plan.fragment_of(v).is_some())
                });
            }
        }
        Some(out)
    }
}
