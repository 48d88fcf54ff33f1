//! Instructions whose extents are no powers of two: the odd factor of an extent counts panels of the
//! tile, each in registers of its own.
//!
//! An extent is `count * 2^bits`, and a row of it `low + 2^below * (panel + count * high)` for one
//! `below` of `0..=bits`, the same for all operands that have the dimension: which rows of a tile an
//! instruction takes is free, as long as they agree on it. What the panels' digit adds to a place has
//! to be whole registers of the lane that has the element, so that an instruction's registers are
//! those of its panels, in an order of their own ([`RepeatRegisters`]).

use crate::product::{Product, ProductTile};
use crate::repeat_places::RepeatPlaces;
use lanebook_layout::AxisId;
use lanebook_tables::{Instance, MatrixShape};

/// Bits of a register.
const WORD: u32 = 32;
/// Most digits of an operand: bits in registers, and its two dimensions' panels.
const DIGITS: usize = 14;

/// An extent as panels of a power of two.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RepeatDigit {
    /// Panels: an odd number.
    pub count: u16,
    /// log2 of the elements in a panel.
    pub bits: u8,
    /// log2 of what the panels' digit counts by.
    pub below: u8,
}

impl RepeatDigit {
    /// An extent whose panels are counted by `2^below`; `None` where a panel has fewer elements.
    #[must_use]
    pub fn of(extent: u16, below: u8) -> Option<Self> {
        let bits = u8::try_from(extent.checked_ilog2().map(|_| extent.trailing_zeros())?).ok()?;
        let count = extent.checked_shr(u32::from(bits))?;
        (below <= bits).then_some(Self { count, bits, below })
    }

    /// An extent that is a power of two.
    #[must_use]
    pub fn power(extent: u16) -> Option<Self> {
        Self::of(extent, 0).filter(|digit| digit.count == 1)
    }

    /// What a bit of a panel's element counts by.
    #[must_use]
    pub fn weight(self, bit: u8) -> Option<u32> {
        let panels = if bit < self.below { 1 } else { u32::from(self.count) };
        panels.checked_shl(u32::from(bit))
    }

    fn extent(self) -> Option<u32> {
        u32::from(self.count).checked_shl(u32::from(self.bits))
    }

    /// The panel of a row, and its bits in that.
    fn split(self, row: u32) -> Option<(u32, u32)> {
        let step = 1u32.checked_shl(u32::from(self.below))?;
        let (low, rest) = (row.checked_rem(step)?, row.checked_div(step)?);
        let count = u32::from(self.count);
        let high = rest.checked_div(count)?.checked_mul(step)?;
        Some((rest.checked_rem(count)?, high.checked_add(low)?))
    }
}

/// How the panels of an operand's rows and columns stand in its registers: bits of a lane's registers
/// from one panel to the next; 0 where there is one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RepeatStrides {
    rows: (u32, u32),
    cols: (u32, u32),
}

impl RepeatStrides {
    /// A bit of the operand's registers as one of a panel's.
    #[must_use]
    pub fn inside(self, bit: u32) -> Option<u32> {
        // The slower one first: the other one's step is counted below it.
        let (slow, fast) =
            if self.rows.0 > self.cols.0 { (self.rows, self.cols) } else { (self.cols, self.rows) };
        without(without(bit, slow)?, fast)
    }

    /// The panels along rows and columns that a bit of the operand's registers belongs to.
    fn panels(self, bit: u32) -> Option<(u32, u32)> {
        let digit = |(step, count): (u32, u32)| match step {
            0 => Some(0),
            _ => bit.checked_div(step)?.checked_rem(count),
        };
        Some((digit(self.rows)?, digit(self.cols)?))
    }

    fn is_plain(self) -> bool {
        self == Self::default()
    }
}

/// A number without the digit of so many values at a step.
fn without(bit: u32, (step, count): (u32, u32)) -> Option<u32> {
    if step == 0 {
        return Some(bit);
    }
    let above = bit.checked_div(step.checked_mul(count)?)?.checked_mul(step)?;
    above.checked_add(bit.checked_rem(step)?)
}

/// The steps of an operand's panels; `None` where its layout is no sum of what bits and panels add,
/// or panels are not in whole registers of the same lane.
#[must_use]
pub fn repeat_strides(
    instance: &Instance<'_>,
    number: u8,
    (rows, cols): (RepeatDigit, RepeatDigit),
) -> Option<RepeatStrides> {
    if (rows.count, cols.count) == (1, 1) {
        return Some(RepeatStrides::default());
    }
    steps_of(instance, number, rows, cols)
}

#[inline(never)]
fn steps_of(
    instance: &Instance<'_>,
    number: u8,
    rows: RepeatDigit,
    cols: RepeatDigit,
) -> Option<RepeatStrides> {
    let operand = instance.atom.operands.get(usize::from(number))?;
    let layout = operand.layout.filter(|_| instance.atom.shared(number).is_none())?;
    let at = |row: u32, col: u32| -> Option<[i64; 3]> {
        let x = u64::from(row).checked_mul(u64::from(operand.extents.1))?;
        let x = x.checked_add(u64::from(col))?;
        layout.offsets_on(x, [AxisId::LANE, AxisId::BIT, AxisId::WARP]).ok()
    };
    let first = at(0, 0)?;
    let from_first = |row: u32, col: u32| -> Option<[i64; 3]> {
        let [l, b, w] = at(row, col)?;
        let [l0, b0, w0] = first;
        Some([l.checked_sub(l0)?, b.checked_sub(b0)?, w.checked_sub(w0)?])
    };
    // What the panels' digits add, and what each bit adds.
    let step = |digit: RepeatDigit, along_rows: bool| -> Option<(u32, u32)> {
        if digit.count == 1 {
            return Some((0, 1));
        }
        let by = 1u32.checked_shl(u32::from(digit.below))?;
        let [l, b, w] = if along_rows { from_first(by, 0)? } else { from_first(0, by)? };
        let b = u32::try_from(b).ok().filter(|b| *b > 0 && b.is_multiple_of(WORD))?;
        ((l, w) == (0, 0)).then_some((b, u32::from(digit.count)))
    };
    let steps = RepeatStrides { rows: step(rows, true)?, cols: step(cols, false)? };
    // Places go on from one digit to the next, so that a panel's are numbered without gaps.
    let mut digits: heapless::Vec<(u32, u32), DIGITS> = heapless::Vec::new();
    for digit in [steps.rows, steps.cols].iter().copied().filter(|(step, _)| *step > 0) {
        digits.push(digit).ok()?;
    }
    for (digit, along_rows) in [(rows, true), (cols, false)] {
        for bit in 0..digit.bits {
            let by = digit.weight(bit)?;
            let [l, b, w] = if along_rows { from_first(by, 0)? } else { from_first(0, by)? };
            match (l, w) {
                (0, 0) if b > 0 => digits.push((u32::try_from(b).ok()?, 2)).ok()?,
                _ if b == 0 => {}
                _ => return None,
            }
        }
    }
    let mut place: Option<u32> = None;
    for _ in 0..digits.len() {
        let next =
            digits.iter().copied().filter(|(step, _)| place.is_none_or(|p| *step >= p)).min()?;
        if place.is_some_and(|place| place != next.0) {
            return None;
        }
        place = Some(next.0.checked_mul(next.1)?);
    }
    if place != u32::from(instance.registers(number)?).checked_mul(WORD) {
        return None;
    }
    // Every element is where bits and panels put it.
    for row in 0..rows.extent()? {
        for col in 0..cols.extent()? {
            let ((up, r), (across, c)) = (rows.split(row)?, cols.split(col)?);
            let mut sum = [0i64; 3];
            let mut add = |part: [i64; 3]| -> Option<()> {
                for (sum, part) in sum.iter_mut().zip(part) {
                    *sum = sum.checked_add(part)?;
                }
                Some(())
            };
            for (digit, bits, along_rows) in [(rows, r, true), (cols, c, false)] {
                for bit in (0..digit.bits)
                    .filter(|bit| bits.checked_shr(u32::from(*bit)).unwrap_or(0) & 1 == 1)
                {
                    let by = digit.weight(bit)?;
                    add(if along_rows { from_first(by, 0)? } else { from_first(0, by)? })?;
                }
            }
            let panels = u64::from(up).checked_mul(u64::from(steps.rows.0))?;
            let panels =
                panels.checked_add(u64::from(across).checked_mul(u64::from(steps.cols.0))?)?;
            add([0, i64::try_from(panels).ok()?, 0])?;
            if from_first(row, col)? != sum {
                return None;
            }
        }
    }
    Some(steps)
}

/// How panels are counted along m, n and k, if they can be for all operands that are in registers.
#[must_use]
pub fn below_of(instance: &Instance<'_>, shape: &MatrixShape) -> Option<RepeatPlaces> {
    if [shape.m, shape.n, shape.k].iter().all(|extent| extent.is_power_of_two()) {
        return Some(RepeatPlaces::default());
    }
    // A unit that works on while the kernel goes on takes registers that nothing brings together.
    instance.atom.more.is_none_or(|more| more.runs.is_none()).then(|| search(instance, shape))?
}

#[inline(never)]
fn search(instance: &Instance<'_>, shape: &MatrixShape) -> Option<RepeatPlaces> {
    // Where an extent is a power of two, nothing is counted.
    let ways = |extent: u16| {
        let most = if extent.is_power_of_two() { 0 } else { extent.trailing_zeros() };
        0..=u8::try_from(most).unwrap_or(0)
    };
    for m in ways(shape.m) {
        for n in ways(shape.n) {
            for k in ways(shape.k) {
                let Some(below) = RepeatPlaces::new((m, n, k)) else { continue };
                let digits = shape_digits(shape, below)?;
                let fits = operands(shape, digits)
                    .iter()
                    .all(|(number, digits)| repeat_strides(instance, *number, *digits).is_some());
                if fits {
                    return Some(below);
                }
            }
        }
    }
    None
}

/// The extents of an instruction as panels.
#[doc(hidden)]
#[must_use]
pub fn shape_digits(shape: &MatrixShape, below: RepeatPlaces) -> Option<[RepeatDigit; 3]> {
    let (m, n, k) = below.get();
    Some([RepeatDigit::of(shape.m, m)?, RepeatDigit::of(shape.n, n)?, RepeatDigit::of(shape.k, k)?])
}

/// A, B and C with their dimensions.
fn operands(
    shape: &MatrixShape,
    [m, n, k]: [RepeatDigit; 3],
) -> [(u8, (RepeatDigit, RepeatDigit)); 3] {
    [(shape.a, (m, k)), (shape.b, (k, n)), (shape.c, (m, n))]
}

/// Where the registers of an instance's operand are among those of the tile, where its panels are
/// not beside each other.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RepeatRegisters {
    steps: RepeatStrides,
    /// Instances' panels along the operand's columns.
    across: u32,
    /// Instances in a panel.
    blocks: u32,
    /// Registers of an instance in a panel.
    own: u32,
    /// Registers of an instance.
    all: u16,
}

impl RepeatRegisters {
    /// Those of a tile of a product, by what the instruction calls it. `None` where blocks of registers are whole operands, one behind the other.
    #[must_use]
    pub fn of(product: &Product, instance: &Instance<'_>, tile: ProductTile) -> Option<Self> {
        let shape = &product.shape;
        let digits = shape_digits(shape, product.below)?;
        let [a, b, c] = operands(shape, digits);
        let ((rm, rn, rk), (_, pn, pk)) = (product.repeats, product.panels);
        let ((number, pair), repeats, across) = match tile {
            ProductTile::A => (a, (rm, rk), pk),
            ProductTile::B => (b, (rk, rn), pn),
            ProductTile::C => (c, (rm, rn), pn),
        };
        let steps = repeat_strides(instance, number, pair).filter(|steps| !steps.is_plain())?;
        let all = u16::from(instance.registers(number)?);
        let panels = u32::from(pair.0.count).checked_mul(u32::from(pair.1.count))?;
        Some(Self {
            steps,
            across: u32::from(across),
            blocks: 1u32.checked_shl(u32::from(repeats.0.checked_add(repeats.1)?))?,
            own: u32::from(all).checked_div(panels)?,
            all,
        })
    }

    /// How many registers an instance takes.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.all
    }

    /// The tile's first register of a block whose registers stand beside each other there.
    #[must_use]
    pub fn run(&self, block: u16) -> Option<u16> {
        let first = self.register(block, 0)?;
        let beside = |index: u16| self.register(block, index) == first.checked_add(index);
        (0..self.all).all(beside).then_some(first)
    }

    /// The tile's register that is the `index`-th of a block's.
    #[must_use]
    pub fn register(&self, block: u16, index: u16) -> Option<u16> {
        let bit = u32::from(index).checked_mul(WORD)?;
        let (up, right) = self.steps.panels(bit)?;
        let inside = self.steps.inside(bit)?.checked_div(WORD)?;
        let (high, low) = (
            u32::from(block).checked_div(self.blocks)?,
            u32::from(block).checked_rem(self.blocks)?,
        );
        let (rows, cols) = (self.steps.rows.1, self.steps.cols.1);
        let row = high.checked_div(self.across)?.checked_mul(rows)?.checked_add(up)?;
        let col = high.checked_rem(self.across)?.checked_mul(cols)?.checked_add(right)?;
        let panel = row.checked_mul(self.across.checked_mul(cols)?)?.checked_add(col)?;
        let block = panel.checked_mul(self.blocks)?.checked_add(low)?;
        u16::try_from(block.checked_mul(self.own)?.checked_add(inside)?).ok()
    }
}
