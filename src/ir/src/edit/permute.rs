//! Dimensions of tiles that change places, as transpositions of matrices.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::edit::edit_ops::Edit;
use crate::edit::ranks::{Batch, Ranks, few};
use crate::error::ErrorKind;
use crate::handle::{Op, Value};
use crate::types::{MAX_RANK, Shape, Type};
use lanebook_tables::OpRole;

impl Ranks<'_, '_, '_> {
    /// Dimensions change places.
    pub(crate) fn transpose(&mut self, op: Op) -> Edit {
        let result = self.program.result(op, 0).ok_or(ErrorKind::Broken)?;
        let from = self.program.operand(op, 0).ok_or(ErrorKind::Broken)?;
        let (Some(a), Some(b)) = (self.batch(from), self.batch(result)) else {
            return Err(ErrorKind::RankForm);
        };
        let order = self.order(op, a.shape.rank())?;
        let front = a.front();
        let behind = order.iter().skip(front).take(2);
        let is_inner = behind.clone().all(|dimension| *dimension >= front);
        if is_inner && self.is_unrolled(op) && b.few().is_ok() {
            let is_turned = behind.clone().next() != Some(&front);
            return self.transpose_each(op, (from, a), (result, b), (order, is_turned));
        }
        let flat = self.flat(op, from)?;
        let matrix = self.permuted(op, flat, a.shape, order)?;
        self.give(op, result, matrix)?;
        self.program.erase(op)
    }

    /// Which dimension of the operand each one of the result is.
    fn order(&self, op: Op, rank: usize) -> Edit<[usize; MAX_RANK]> {
        let mut order = [0usize; MAX_RANK];
        let Some(said) = self.program.attr(op, attr_names::ORDER) else {
            for (at, dimension) in order.iter_mut().zip((0..rank).rev()) {
                *at = dimension;
            }
            return Ok(order);
        };
        let (AttrValue::List(text) | AttrValue::Layout(text) | AttrValue::Text(text)) = said else {
            return Err(ErrorKind::RankForm);
        };
        let mut numbers = [0i64; MAX_RANK];
        let numbers = self.program.list(text, &mut numbers).ok_or(ErrorKind::RankForm)?;
        let mut seen = [false; MAX_RANK];
        for (at, number) in order.iter_mut().zip(numbers) {
            let dimension = usize::try_from(*number).ok().filter(|dimension| *dimension < rank);
            *at = dimension.ok_or(ErrorKind::RankForm)?;
            let seen = seen.get_mut(*at).ok_or(ErrorKind::RankForm)?;
            if core::mem::replace(seen, true) {
                return Err(ErrorKind::RankForm);
            }
        }
        if numbers.len() == rank { Ok(order) } else { Err(ErrorKind::RankForm) }
    }

    /// The matrices in another order, each maybe transposed.
    fn transpose_each(
        &mut self,
        op: Op,
        (from, a): (Value, Batch),
        (result, b): (Value, Batch),
        (order, is_turned): ([usize; MAX_RANK], bool),
    ) -> Edit {
        let stack = self.open_stack()?;
        for number in 0..b.count {
            let (place, mut source) = (b.place(number), [0u32; MAX_RANK]);
            for (at, dimension) in place.iter().zip(order).take(a.front()) {
                *source.get_mut(dimension).ok_or(ErrorKind::Broken)? = *at;
            }
            let mut own = self.matrix(op, from, a.number(&source))?;
            if is_turned {
                own = self.turned(op, own)?;
            }
            self.push(stack, own)?;
        }
        self.close_stack(stack, op, result)?;
        self.program.erase(op)
    }

    /// A tile, as one matrix, whose dimensions stand in another order: each in turn is brought in
    /// front of those that stand behind it.
    fn permuted(
        &mut self,
        at: Op,
        flat: Value,
        shape: Shape,
        order: [usize; MAX_RANK],
    ) -> Edit<Value> {
        let rank = shape.rank();
        // The dimensions as they stand, and their extents.
        let mut now = [0usize; MAX_RANK];
        for (dimension, own) in now.iter_mut().enumerate() {
            *own = dimension;
        }
        let extent = |dimension: usize| shape.extent(dimension).ok_or(ErrorKind::Extent);
        let mut matrix = flat;
        for (target, wanted) in order.into_iter().enumerate().take(rank) {
            let place = now.iter().position(|own| *own == wanted).ok_or(ErrorKind::RankForm)?;
            if place == target {
                continue;
            }
            let all = |from: usize, to: usize| {
                let own = now.get(from..to).ok_or(ErrorKind::Broken)?;
                own.iter().try_fold(1u32, |all, own| {
                    all.checked_mul(extent(*own)?).ok_or(ErrorKind::Extent)
                })
            };
            let sizes = [
                all(0, target)?,
                all(target, place)?,
                extent(wanted)?,
                all(place.saturating_add(1), rank)?,
            ];
            matrix = self.exchanged(at, matrix, sizes)?;
            let moved = now.get_mut(target..=place).ok_or(ErrorKind::Broken)?;
            moved.rotate_right(1);
        }
        Ok(matrix)
    }

    /// A tile of four dimensions with the inner two in each other's place.
    fn exchanged(&mut self, at: Op, tile: Value, [before, a, b, behind]: [u32; 4]) -> Edit<Value> {
        let times = |a: u32, b: u32| a.checked_mul(b).ok_or(ErrorKind::Extent);
        let (both, last) = (times(times(a, b)?, behind)?, times(behind, before)?);
        let powers = [a, b, behind, before].iter().all(|extent| extent.is_power_of_two());
        if powers && a > 1 && b > 1 && last > 1 {
            return self.permute(at, tile, [a, b, behind]);
        }
        // What stands before them goes behind for as long as they change places.
        let mut own = tile;
        if before > 1 {
            own = self.shaped(at, own, &[before, both])?;
            own = self.turned(at, own)?;
        }
        if a > 1 && b > 1 {
            own = if last == 1 {
                let matrix = self.shaped(at, own, &[a, b])?;
                self.turned(at, matrix)?
            } else {
                self.exchanged_blocks(at, own, [a, b, last])?
            };
        }
        if before > 1 {
            own = self.shaped(at, own, &[both, before])?;
            own = self.turned(at, own)?;
        }
        Ok(own)
    }

    /// Groups of dimensions change places where they lie: nothing moves.
    fn permute(&mut self, at: Op, tile: Value, [a, b, run]: [u32; 3]) -> Edit<Value> {
        let ty = self.program.type_of(tile);
        let made = self.make(at, OpRole::Permute, &[tile], ty)?;
        let op = self.program.def_op(made).ok_or(ErrorKind::Broken)?;
        let said = [(attr_names::LEFT, a), (attr_names::RIGHT, b), (attr_names::RUN, run)];
        for (key, number) in said {
            self.program.set_attr(op, key, AttrValue::Int(i64::from(number), None))?;
        }
        Ok(made)
    }

    /// A matrix of `a` by `b` runs, transposed run by run.
    fn exchanged_blocks(&mut self, at: Op, tile: Value, [a, b, run]: [u32; 3]) -> Edit<Value> {
        let times = |a: u32, b: u32| a.checked_mul(b).ok_or(ErrorKind::Extent);
        let (wide, narrow) = (times(b, run)?, times(a, run)?);
        let matrix = self.shaped(at, tile, &[a, wide])?;
        let shape = Shape::of(&[b, narrow]).ok_or(ErrorKind::Extent)?;
        let ty = Type { shape, ..self.program.type_of(matrix) };
        let mut made = self.filled(at, ty)?;
        let by_rows = a <= b;
        let count = if by_rows { a } else { b };
        few(count)?;
        for number in 0..count {
            let start = times(number, run)?;
            made = if by_rows {
                let row = self.taken(at, matrix, [number, 0], [1, wide])?;
                let block = self.shaped(at, row, &[b, run])?;
                self.put(at, block, made, [0, start])?
            } else {
                let block = self.taken(at, matrix, [0, start], [a, run])?;
                let row = self.shaped(at, block, &[1, narrow])?;
                self.put(at, row, made, [number, 0])?
            };
        }
        Ok(made)
    }
}
