//! The undo journal: exact whatever was done, and as long as what was touched.
use super::support::*;
use crate::parse;
use crate::{
    AttrValue, ErrorKind, Literal, Op, Pool, Program, TileEncoding, Type, Value, attr_names,
};
use std::boxed::Box;
use std::format;
use std::string::String;
use std::vec::Vec;

/// A xorshift generator.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// One change, whichever: what cannot be done is left.
fn change(program: &mut Program<'_, '_>, chance: &mut Chance) {
    let ops: Vec<Op> = program.all().collect();
    let values: Vec<Value> =
        ops.iter().flat_map(|op| program.results(*op).collect::<Vec<_>>()).collect();
    let (op, value, other) = (chance.of(&ops), chance.of(&values), chance.of(&values));
    let ty = program.type_of(value);
    let convert = program.tables().op_named("convert_layout").unwrap();
    let _: Result<(), ErrorKind> = match chance.below(12) {
        0 => program.set_attr(op, attr_names::LAYOUT, AttrValue::Int(chance.below(9) as i64, None)),
        1 => program.remove_attr(op, attr_names::LAYOUT),
        2 => program
            .insert_before(
                op,
                convert,
                &[value],
                &[ty.encoded(TileEncoding::Handle(chance.below(6) as u16))],
            )
            .map(|_| ()),
        3 => program.replace_all_uses(value, other),
        4 | 5 => program.erase(op),
        6 => program
            .set_type(value, Type::INDEX.encoded(TileEncoding::Handle(chance.below(6) as u16))),
        7 => program.add_operand(op, value).map(|_| ()),
        8 => program.remove_operand(op, chance.below(3)),
        9 => program
            .literal_value(Literal::Int(7))
            .and_then(|seven| program.set_operand(op, 0, seven)),
        10 => program.move_before(op, chance.of(&ops)),
        _ => program.pools.make(&format!("#ttg.blocked<{}>", chance.below(40))).map(|_| ()),
    };
}

#[test]
fn random_changes_are_taken_back_bit_by_bit() {
    let mut undone = 0;
    for seed in 1..17u64 {
        let mut storage = Box::new(BigStorage::new());
        let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
        let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut marks = Vec::new();
        // Numbers of marks run out and begin again on the way.
        for _ in 0..seed * 16 {
            let mark = program.mark();
            program.keep(mark);
        }
        for _ in 0..4000 {
            match chance.below(10) {
                0 if marks.len() < 6 => {
                    let before = program.pools.snapshot();
                    marks.push((program.mark(), before));
                }
                1 if !marks.is_empty() => {
                    let (mark, _) = marks.pop().unwrap();
                    program.keep(mark);
                }
                2 | 3 if !marks.is_empty() => {
                    // An inner mark may be left open.
                    let left = chance.below(2).min(marks.len() - 1);
                    marks.truncate(marks.len() - left);
                    let (mark, before) = marks.pop().unwrap();
                    program.undo(mark);
                    assert_eq!(program.pools.snapshot(), before, "seed {seed}");
                    undone += 1;
                }
                _ if program.all().count() < 8 => {
                    let Some((mark, before)) = marks.drain(..).next() else { break };
                    program.undo(mark);
                    assert_eq!(program.pools.snapshot(), before, "seed {seed}");
                    undone += 1;
                }
                _ => change(&mut program, &mut chance),
            }
        }
        if let Some((mark, before)) = marks.drain(..).next() {
            program.undo(mark);
            assert_eq!(program.pools.snapshot(), before, "seed {seed}");
        }
    }
    assert!(undone > 200, "{undone}");
}

fn entries(program: &Program<'_, '_>) -> usize {
    program
        .usage()
        .into_iter()
        .find(|usage| usage.pool == Pool::Journal)
        .map_or(0, |usage| usage.used)
}

#[test]
fn a_record_is_kept_once_a_mark() {
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let value = program.all().filter_map(|op| program.result(op, 0)).next().unwrap();
    let types = [Type::INDEX, Type::INDEX.encoded(TileEncoding::Handle(1))];
    let outer = program.mark();
    for turn in 0..100 {
        program.set_type(value, types[turn % 2]).unwrap();
    }
    // The value, and how many types there were.
    assert_eq!(entries(&program), 2);
    let inner = program.mark();
    for turn in 0..100 {
        program.set_type(value, types[turn % 2]).unwrap();
    }
    assert_eq!(entries(&program), 3);
    program.keep(inner);
    program.set_type(value, types[0]).unwrap();
    assert_eq!(entries(&program), 3);
    program.undo(outer);
    assert_eq!(entries(&program), 0);
}

/// Whatever is done to a program inside one mark, its journal holds no more entries than the
/// program had records.
#[test]
fn the_journal_is_no_longer_than_the_program() {
    let mut storage = Box::new(BigStorage::new());
    let text: String = (0..60)
        .map(|at| {
            format!("%x{at} = tiled_load %p{at} : memref<8x8xf16, #smem> -> tensor<8x8xf16>\n")
        })
        .collect();
    let mut program = parse(storage.pools(), tables(), &text, SNIPPET).unwrap();
    let records: usize = program
        .usage()
        .iter()
        .filter(|usage| usage.pool != Pool::Journal)
        .map(|usage| usage.used)
        .sum();
    let mut chance = Chance(5);
    let mark = program.mark();
    for _ in 0..3000 {
        if program.all().count() < 20 {
            break;
        }
        change(&mut program, &mut chance);
    }
    // And the beginnings of free lists and the lengths of pools.
    assert!(entries(&program) <= records + 14, "{} entries, {records} records", entries(&program));
    program.undo(mark);
}
