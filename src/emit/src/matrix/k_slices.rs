//! Slices: an operand of a product that is loaded one stretch of the depth at a time.
//!
//! Where a kernel would need more registers than there are, the loads whose tile only one product
//! reads are carried out inside it: each turn over the depth brings its own part of the tile into
//! registers of its own, which are free again after it. The instructions are the same, in another
//! order. Where that is not enough, the operand whose blocks the product takes one after the other
//! comes block by block.

use crate::expr::Reg;
use crate::lower::context::{EmitError, LowerContext};
use crate::memory::movement::register_class;
use crate::step::InstKind;
use lanebook_ir::{Op, Program, Value};
use lanebook_plan::{End, Plan, TransferPlan};
use lanebook_tables::{Isa, OpRole, Tables};
use lanebook_tile::map::{BitMatrix, Fragment, log2_exact};
use lanebook_tile::product::ProductInput;

/// A load that a product carries out slice by slice.
///
/// Of the tile's register number the bits from `low` up, `bits` of them, count slices.
#[derive(Copy, Clone)]
pub(crate) struct KSlices {
    load: Op,
    /// Renamings between the load and the product.
    way: [Option<Op>; 2],
    low: u8,
    bits: u8,
    /// log2 of the registers of a block: of one operand of the matrix instruction.
    block: u8,
}

/// How far emission goes for fewer registers: each step costs instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[doc(hidden)]
pub enum RegisterPressureLevel {
    /// Whole tiles, and every address in a register.
    #[default]
    None,
    /// Operands of products by slices of the depth.
    Depth,
    /// Also by blocks, and outer steps of global tiles by a scalar base.
    Most,
    /// Both operands by blocks, of which some are loaded again and again; and copies with few
    /// registers on the way.
    Blocks,
}

impl RegisterPressureLevel {
    /// The last one.
    pub const LAST: Self = Self::Blocks;

    /// The least that a plan needs in any case: whole operands and the sum of a product together
    /// are more than the registers there are.
    #[doc(hidden)]
    pub fn least(
        tables: &Tables<'_>,
        isa: &Isa<'_>,
        program: &Program<'_, '_>,
        plan: &Plan<'_>,
    ) -> Self {
        let origin = |value: Option<Value>| {
            let mut at = program.def_op(value?)?;
            while let OpRole::Transpose | OpRole::Convert = program.role(at) {
                at = program.def_op(program.operand(at, 0)?)?;
            }
            (program.role(at) == OpRole::Load).then_some(at)
        };
        let is_crowded = plan.products.iter().any(|p| {
            let (product, shape) = (&p.product, p.product.shape);
            let class = |number: u8| {
                tables
                    .atom(product.atom)
                    .and_then(|atom| atom.operands.get(usize::from(number)))
                    .map(|operand| operand.class)
            };
            let same = class(shape.a) == class(shape.d)
                && class(shape.b) == class(shape.d)
                && p.tensor.is_none();
            let pool = class(shape.d)
                .and_then(|class| isa.classes.get(class.index()))
                .map_or(0, |class| class.pool.1);
            let most = isa.tile_most();
            let (from_a, from_b) =
                (origin(program.operand(p.op, 0)), origin(program.operand(p.op, 1)));
            let held = |from: Option<Op>, fragment: &Fragment, shared: bool| {
                if from.is_some() && !shared { fragment.registers() } else { 0 }
            };
            let (a, b) = (
                held(from_a, &product.a, product.shared[0]),
                held(from_b, &product.b, product.shared[1]),
            );
            // Both may be one tile.
            let inputs = if from_a == from_b { a.max(b) } else { a.saturating_add(b) };
            match pool {
                // The assembler allocates, and no tile has more than a lane.
                0 => a.max(b) > most,
                _ => same && inputs.saturating_add(product.c.registers()) > pool,
            }
        });
        if is_crowded { Self::Depth } else { Self::None }
    }

    /// The next step.
    #[doc(hidden)]
    pub fn more(self) -> Option<Self> {
        match self {
            Self::None => Some(Self::Depth),
            Self::Depth => Some(Self::Most),
            Self::Most => Some(Self::Blocks),
            Self::Blocks => None,
        }
    }
}

/// Bits of the registers that tiles are counted in.
const WORD: u16 = 32;
/// Registers of a copy on the way, where registers are short.
const FEW: u32 = 8;
/// Bits that count slices, where all bits from the lowest on do.
const TOP: u8 = 16;

impl KSlices {
    /// The load.
    pub(crate) fn load(self) -> Op {
        self.load
    }

    /// The slice of a block of the tile.
    pub(crate) fn holds(self, block: u16) -> u16 {
        let low = self.low.saturating_sub(self.block);
        u16::try_from(low_bits(
            u32::from(block).checked_shr(u32::from(low)).unwrap_or(0),
            self.bits,
        ))
        .unwrap_or(u16::MAX)
    }

    /// The number of a block of the tile among its slice's blocks.
    pub(crate) fn block(self, number: u16) -> u16 {
        let low = self.low.saturating_sub(self.block);
        u16::try_from(without(u32::from(number), low, self.bits)).unwrap_or(u16::MAX)
    }

    /// The slice of a register of the tile.
    fn slice_of(self, register: u32) -> u32 {
        low_bits(register.checked_shr(u32::from(self.low)).unwrap_or(0), self.bits)
    }
}

fn low_bits(n: u32, bits: u8) -> u32 {
    n & 1u32.checked_shl(u32::from(bits)).unwrap_or(0).wrapping_sub(1)
}

/// A number without `bits` of its bits, from bit `low` up.
fn without(n: u32, low: u8, bits: u8) -> u32 {
    let high = n.checked_shr(u32::from(low.saturating_add(bits))).unwrap_or(0);
    high.checked_shl(u32::from(low)).unwrap_or(0) | low_bits(n, low)
}

impl LowerContext<'_, '_, '_, '_> {
    /// Whether a load, or a renaming of its result, is left to the product that reads the tile.
    pub(crate) fn is_sliced(&self, op: Op) -> bool {
        let left = |sliced: KSlices| sliced.load == op || sliced.way.contains(&Some(op));
        self.plan
            .products
            .iter()
            .any(|p| ProductInput::BOTH.into_iter().any(|i| self.sliced(p.op, i).is_some_and(left)))
    }

    /// How many parts of so many registers each a copy has on the way at once: `most`, unless
    /// registers are short.
    pub(crate) fn in_flight(&self, registers: u32, most: u32) -> u32 {
        if self.pressure < RegisterPressureLevel::Blocks {
            return most;
        }
        FEW.checked_div(registers).unwrap_or(1).max(1).min(most)
    }

    /// The load that an input of a product comes from unchanged, and the renamings on the
    /// way; `None` if anything else reads the tile, or writes memory or branches in between.
    fn chain(&self, product: Op, input: ProductInput) -> Option<(Op, [Option<Op>; 2])> {
        let program = self.program;
        let mut value: Value = program.operand(product, input.of([0, 1]))?;
        let mut way = [None; 2];
        for step in 0..=way.len() {
            if program.uses(value).count() != 1 {
                return None;
            }
            let op = program.def_op(value)?;
            match program.role(op) {
                OpRole::Load => return self.undisturbed(op, product).then_some((op, way)),
                OpRole::Transpose | OpRole::Convert if !self.plan.converts(op) => {
                    *way.get_mut(step)? = Some(op);
                    value = program.operand(op, 0)?;
                }
                _ => return None,
            }
        }
        None
    }

    /// Nothing between the two, in one block, writes memory that the tile has bytes in common with,
    /// or has regions.
    fn undisturbed(&self, load: Op, product: Op) -> bool {
        let tile = match self.plan.move_of(load).map(|m| m.from) {
            Some(End::Shared(k)) => self.plan.allocs.get(usize::from(k)),
            _ => None,
        };
        // Scratch may have the bytes of a tile that is not read any more where the load stands.
        let spoils = |op: Op| {
            let scratch =
                self.plan.exchange_of(op).and_then(|e| self.plan.allocs.get(usize::from(e.alloc)));
            tile.zip(scratch).is_some_and(|(tile, scratch)| tile.meets(scratch))
        };
        let mut at = self.program.next(load);
        while let Some(op) = at {
            if op == product {
                return true;
            }
            if spoils(op) {
                return false;
            }
            match self.program.role(op) {
                OpRole::Load
                | OpRole::Transpose
                | OpRole::Convert
                | OpRole::Constant
                | OpRole::Index
                | OpRole::Elementwise
                | OpRole::Select
                | OpRole::Matrix
                | OpRole::Alloc => {}
                _ => return false,
            }
            at = self.program.next(op);
        }
        false
    }

    /// How an input of a product is loaded slice by slice; `None` if it is not.
    pub(crate) fn sliced(&self, product: Op, input: ProductInput) -> Option<KSlices> {
        if self.pressure == RegisterPressureLevel::None {
            return None;
        }
        let plan = self.plan.product_of(product)?;
        let p = &plan.product;
        // Panels of rows and columns stand above all other bits of a register's number.
        if (p.panels.2 != 1 && self.pressure < RegisterPressureLevel::Blocks)
            || p.takes_panels()
            || input.of(plan.shared).is_some()
        {
            return None;
        }
        let (load, way) = self.chain(product, input)?;
        let movement = self.plan.move_of(load).filter(|m| m.second.is_none())?;
        let number = if (input == ProductInput::A) != p.transposed { p.shape.a } else { p.shape.b };
        let atom = self.machine.tables.atom(p.atom)?;
        // Of registers as tiles are counted in, also where the instruction takes wider ones.
        let class = atom.operands.get(usize::from(number))?.class;
        let words = self.machine.isa.classes.get(class.index())?.bits.checked_div(WORD)?.max(1);
        let registers = atom.with_columns(p.shape.n)?.registers(number)?;
        let block = log2_exact(u64::from(registers).checked_mul(u64::from(words))?)?;
        // The depth's bits follow the block's own; an instruction of the load that spans some of
        // them keeps these together.
        let depth = block.checked_add(p.repeats.2)?;
        let rows = depth.checked_add(p.repeats.0)?;
        let after = |from: u8, to: u8| {
            let spanned = movement
                .tiling
                .tuple
                .as_slice()
                .iter()
                .filter(|&&bit| (from..to).contains(&bit))
                .max();
            spanned.map_or(from, |bit| bit.saturating_add(1))
        };
        let (by_depth, by_rows) = (after(block, depth), after(depth, rows));
        // The product takes each block of what the instruction calls A once, at one depth after the
        // other: as many slices as blocks load nothing twice. They are slices where no instruction
        // of the load spans blocks of several depths.
        if self.pressure == RegisterPressureLevel::Blocks {
            // As few as one instruction of the load fills, whatever they are of.
            let low = after(block, u8::MAX);
            return Some(KSlices { load, way, low, bits: TOP, block });
        }
        let each = number == p.shape.a
            && self.pressure == RegisterPressureLevel::Most
            && p.panels == (1, 1, 1)
            && by_depth == block
            && (by_rows == depth || depth == block);
        let (low, end) = if each {
            (if depth == block { by_rows } else { block }, rows)
        } else {
            (by_depth, depth)
        };
        let bits = end.checked_sub(low).filter(|bits| *bits > 0)?;
        Some(KSlices { load, way, low, bits, block })
    }

    /// Loads a slice into registers of its own.
    #[inline(never)]
    pub(crate) fn load_slice(
        &mut self,
        product: Op,
        sliced: KSlices,
        slice: u16,
    ) -> Result<Reg, EmitError> {
        let unplanned = EmitError::Unplanned(product);
        let plan: TransferPlan = *self.plan.move_of(sliced.load).ok_or(unplanned)?;
        let End::Registers(index) = plan.to else { return Err(unplanned) };
        let all =
            self.plan.fragments.get(usize::from(index)).ok_or(unplanned)?.fragment.registers();
        let atom = self.machine.tables.atom(plan.atom).ok_or(unplanned)?;
        let class = register_class(Some(atom)).ok_or(unplanned)?;
        let whole = all.checked_shr(u32::from(sliced.bits)).unwrap_or(0);
        let count = if sliced.bits == TOP {
            1u16.checked_shl(u32::from(sliced.low)).unwrap_or(0).min(all)
        } else {
            whole
        };
        if count > self.machine.isa.tile_most() {
            return Err(unplanned);
        }
        let reg = self.steps.tuple(class, count)?;
        let origin = self.steps.origin;
        self.steps.origin = u16::try_from(sliced.load.index()).unwrap_or(u16::MAX);
        // The same places in the tile's registers, without the bits that count slices.
        let mut places: BitMatrix<u8, 5> = BitMatrix::new();
        for &bit in plan.tiling.tuple.as_slice() {
            if !places.push(if bit < sliced.low { bit } else { bit.saturating_sub(sliced.bits) }) {
                return Err(unplanned);
            }
        }
        for i in 0..plan.tiling.count() {
            let register = plan.tiling.register(i);
            if sliced.slice_of(register) == u32::from(slice) {
                let data = self.part_of(
                    reg,
                    without(register, sliced.low, sliced.bits),
                    places.as_slice(),
                )?;
                self.instance(&plan, plan.atom, atom, i, Some(data))?;
            }
        }
        self.steps.origin = origin;
        self.steps.purpose = InstKind::Matrix;
        Ok(reg)
    }
}
