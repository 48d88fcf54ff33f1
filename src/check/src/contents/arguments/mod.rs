//! Invented arguments: numbers that a kernel's parameters may have, for the threads that are
//! carried out.

pub(crate) mod turning;

use crate::contents::ContentsContext;
use crate::stages::stages_of;
use lanebook_emit::ParamKind;
use lanebook_ir::{Op, Value, attr_names};
use lanebook_tables::IndexWord;

/// What a bound far above other arguments is in multiples of its steps.
const BEHIND: u64 = 256;
/// What a number is, of which a bound is computed, in multiples of its steps.
const FED: u64 = 4096;
/// Values of one bound that are looked at.
const LOOKED_AT: usize = 64;
/// Most elements that a usual stride has: offsets inside a tile are words of 32 bits.
const MOST_STRIDE: u64 = 1 << 23;
/// Indices, strides in bytes and the bytes that a tile spans are below this.
const LIMIT: u64 = 1 << 31;

/// Which arguments are invented.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// Loops turn, and no two strides are equal.
    Usual,
    /// Loops whose bound is an argument run no turn.
    Idle,
    /// As usual, in a block of this number; bounds of tensors lie inside of tiles.
    Edge(u8),
    /// Tiles begin as far from their tensor's start as indices reach, and their rows lie as far
    /// apart as they may.
    Far,
}

/// What a bound of a tensor is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// The argument.
    pub value: Value,
    /// What it is.
    pub number: u64,
}

impl ContentsContext<'_> {
    /// What an invented argument is.
    pub(super) fn argument(&self, value: Value, kind: ParamKind) -> Option<u64> {
        let number =
            u64::try_from(self.params.iter().position(|p| p.value == value && p.kind == kind)?)
                .ok()?;
        let attr = |name| {
            self.program
                .int_value_attr(value, name)
                .and_then(|n| u64::try_from(n).ok())
                .unwrap_or(1)
                .max(1)
        };
        match kind {
            ParamKind::Pointer | ParamKind::Map(_) => number.checked_add(1)?.checked_shl(36),
            ParamKind::Tile | ParamKind::Result(_) | ParamKind::Scratch => None,
            ParamKind::Extent(_) => Some(1 << 20),
            ParamKind::Blocks(axis) => Some(self.blocks(axis)),
            ParamKind::Stride(dim) => {
                let unit = attr(attr_names::STRIDE_DIV);
                let far = (self.given == Given::Far)
                    .then(|| self.far_stride(value, usize::from(dim), unit))
                    .flatten();
                far.or_else(|| self.usual_stride(value, usize::from(dim), (unit, number)))
            }
            ParamKind::Scalar if self.edges.iter().any(|edge| edge.value == value) => {
                self.edges.iter().find(|edge| edge.value == value).map(|edge| edge.number)
            }
            // No two numbers that are no indices are alike.
            ParamKind::Scalar if self.program.type_of(value).dtype.is_some() => {
                Some(number.checked_add(1)?.wrapping_mul(0x9e37_79b1) & 0xffff_ffff)
            }
            ParamKind::Scalar => Some(self.scalar(value, attr(attr_names::DIV))),
        }
    }

    /// A stride in elements; those of two dimensions, and of two tensors, differ.
    fn usual_stride(&self, memref: Value, dim: usize, (unit, number): (u64, u64)) -> Option<u64> {
        let rank = self.program.type_of(memref).shape.rank();
        let outer = rank.saturating_sub(2).saturating_sub(dim);
        // Strides are words of 32 bits: those of many dimensions lie less far apart.
        let apart = if rank > 3 { 29u64 } else { 613 }
            .checked_pow(u32::try_from(outer).ok()?)?
            .checked_mul(521)?
            .checked_add(number.min(255))?;
        let most = MOST_STRIDE.checked_div(unit)?.saturating_sub(u64::try_from(outer).ok()?).max(1);
        unit.checked_mul(apart.min(most))
    }

    /// The greatest multiple of `unit` elements that a stride may be: with it every tile of the
    /// tensor spans less than the limit.
    fn far_stride(&self, memref: Value, dim: usize, unit: u64) -> Option<u64> {
        let rank = self.program.type_of(memref).shape.rank();
        let is_outer = dim.checked_add(2) == Some(rank);
        let tiles = self.plan.globals.iter().filter(|g| g.memref == memref);
        let most = tiles
            .filter_map(|g| {
                let shape = g.map.shape;
                let element = u64::from(shape.bits / 8);
                let rows = if is_outer { shape.row_count() } else { 1 };
                let rest = LIMIT.checked_sub(shape.col_count().checked_mul(element)?)?;
                rest.checked_div(rows.checked_mul(element)?)
            })
            .min()?;
        let multiple = most.checked_div(unit)?.checked_mul(unit)?;
        if multiple == 0 { None } else { Some(multiple) }
    }

    /// A number that lets each loop with this bound turn at least twice.
    fn scalar(&self, value: Value, div: u64) -> u64 {
        let operations =
            || self.program.functions().next().into_iter().flat_map(|f| self.program.inside(f));
        let bounded =
            |op| self.program.counted_loop(op).filter(|at: &lanebook_ir::Loop| at.upper == value);
        let mut out = div;
        let mut bounds = false;
        // Twice; a loop of stages as often as it fills each of its buffers twice.
        let mut times = 2u64;
        // One that a bound is computed of is large, so that its loop turns.
        let feeds =
            |op| self.program.counted_loop(op).is_some_and(|at| self.feeds(value, at.upper));
        let is_fed = operations().any(feeds);
        for at in operations().filter_map(bounded) {
            let Some(step) = self.program.int(at.step).and_then(|n| u64::try_from(n).ok()) else {
                continue;
            };
            bounds = true;
            let stages = stages_of(self.program, self.plan, at.op);
            if stages > 1 {
                // Where it goes on with the buffer behind the last one, that is not the first.
                let more = u64::from(self.program.is_warp_specialized(at.op));
                times = times.max(u64::from(stages).saturating_mul(2).saturating_add(more));
            }
            let mut multiple = out;
            while multiple.checked_rem(step).is_some_and(|rest| rest != 0) && multiple < 1 << 20 {
                multiple = multiple.saturating_add(out);
            }
            out = multiple;
        }
        // A loop that begins at an argument too turns if its bound is far above: after some turns
        // it is left anyway.
        let from_argument =
            || operations().filter_map(bounded).any(|at| self.program.int(at.lower).is_none());
        let most = self.most(out);
        // By zero nothing is divided.
        let given = match self.given {
            Given::Idle if self.divides(value) => Given::Usual,
            given => given,
        };
        match (bounds, given) {
            (true, Given::Idle) => 0,
            (true, _) if from_argument() => out.saturating_mul(BEHIND).min(most),
            (true, Given::Edge(_)) => {
                // A turn and a half, as far as it may be.
                let halves = times.saturating_mul(2).saturating_sub(1);
                out.saturating_mul(halves).checked_div(2).unwrap_or(0).next_multiple_of(div)
            }
            (true, _) => out.saturating_mul(times).min(most),
            (false, Given::Idle) if is_fed => 0,
            (false, Given::Far) => most,
            (false, _) if is_fed => out.saturating_mul(FED).min(most),
            (false, _) => out.saturating_mul(5).min(most),
        }
    }

    /// Whether a number is divided by an argument, or by what is computed of it.
    fn divides(&self, value: Value) -> bool {
        let is_quotient = |op: &Op| {
            let word = self.program.index_word(*op);
            word.is_some_and(|word| {
                use IndexWord::{CeilDiv, CeilDivUnsigned, Div, DivUnsigned, Rem, RemUnsigned};
                matches!(word, Div | DivUnsigned | Rem | RemUnsigned | CeilDiv | CeilDivUnsigned)
            })
        };
        let inside = self.program.functions().next().into_iter();
        let mut quotients = inside.flat_map(|f| self.program.inside(f)).filter(is_quotient);
        quotients.any(|op| {
            let by = self.program.operand(op, 1);
            by.is_some_and(|by| by == value || self.feeds(value, by))
        })
    }

    /// The greatest multiple of a number that an index may be.
    pub(super) fn most(&self, unit: u64) -> u64 {
        let most = LIMIT.saturating_sub(1).saturating_sub(self.beyond());
        most.saturating_sub(most.checked_rem(unit).unwrap_or(0))
    }

    /// How far a tile of a tensor with bounds may reach behind its start: its last index is below
    /// the limit too.
    fn beyond(&self) -> u64 {
        let bounded = self.plan.globals.iter().filter(|g| g.guards != 0);
        let extents = bounded.map(|g| g.map.shape.row_count().max(g.map.shape.col_count()));
        extents.max().unwrap_or(0)
    }

    /// Whether a bound is computed of an argument.
    pub(super) fn feeds(&self, value: Value, bound: Value) -> bool {
        let mut seen: heapless::Vec<Value, LOOKED_AT> = heapless::Vec::new();
        let _ = seen.push(bound);
        let mut at = 0usize;
        while let Some(&next) = seen.get(at) {
            at = at.saturating_add(1);
            let Some(op) = self.program.def_op(next).filter(|_| self.program.int(next).is_none())
            else {
                continue;
            };
            for operand in self.program.operands(op) {
                if operand == value {
                    return true;
                }
                if !seen.contains(&operand) {
                    // What there is no room for is not looked at: the loop may turn less often.
                    let _ = seen.push(operand);
                }
            }
        }
        false
    }
}
