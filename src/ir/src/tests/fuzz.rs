//! Random texts and random edits: never a panic; what reads must also verify or not, print, and
//! read again.
use super::support::*;
use crate::parse;
use crate::verify;
use crate::{Options, Storage};
use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

const FORMS: &str = "#sw = <(8,8),(8,1)>
%a = tiled_load %p {layout = #sw, offset = tile.select(%c, 0, 8)} : memref<8x8xf16> -> tensor<8x8xf16, S[(8,8):(8@l,1)]>
%y:2 = scf.if %c -> (tensor<8x8xf16>, index) {
  scf.yield %a, %i : tensor<8x8xf16>, index
} else {
^bb0(%z: index):
  scf.yield %w, 0x1f : tensor<...>, index
}
%h = scf.while (%j = %y#1) : (index) -> index {
  scf.condition(%c) %j : i1, index
} do {
  ^bb0(%z: index):
  scf.yield %z : index
}
";

fn check(text: &str, options: Options) {
    let mut storage = Box::new(Storage::<96, 192, 256, 128, 48, 32, 0>::new());
    let Ok(mut program) = parse(storage.pools(), tables(), text, options) else { return };
    let _ = verify(&mut program);
    let out = printed(&program);
    let mut second = Box::new(Storage::<96, 192, 256, 128, 48, 32, 0>::new());
    // An unknown operation may have a name that means something else after another one.
    match parse(second.pools(), tables(), &out, options) {
        _ if options.keep_unknown => {}
        Ok(again) => assert_eq!(normal(&printed(&again)), normal(&out), "{text}"),
        Err(error) => assert!(verify(&mut program).is_err(), "{error:?}\n{text}\n----\n{out}"),
    }
}

/// The printer's own names (`%_7`) numbered in their order.
fn normal(text: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut out = String::new();
    for (number, piece) in text.split("%_").enumerate() {
        let digits = piece.len() - piece.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if number > 0 {
            let name = &piece[..digits];
            let place = seen.iter().position(|known| *known == name).unwrap_or_else(|| {
                seen.push(name);
                seen.len() - 1
            });
            out += &std::format!("%_{place}");
        }
        out += if number > 0 { &piece[digits..] } else { piece };
    }
    out
}

#[test]
fn mutations_never_panic() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let pieces: Vec<&str> = "%r:2 # @f ^bb0 { } ( ) [ ] < > : , = -> ... 0 -1 1.5e3 \" // ä tensor< memref< xf16 128x 64 index i1 scf.for scf.yield func return else do to step iter_args attributes".split(' ').collect();
    for turn in 0..6000 {
        let base = [GEMM, TRANSPOSE, FORMS][turn % 3];
        let mut bytes: Vec<u8> = base.bytes().collect();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(5) {
                0 => bytes[at] = random.below(128) as u8,
                1 => drop(bytes.remove(at)),
                2 => {
                    let piece = pieces[random.below(pieces.len())];
                    bytes.splice(at..at, piece.bytes());
                }
                3 => bytes.truncate(at.max(1)),
                _ => {
                    let end = (at + random.below(60)).min(bytes.len());
                    let copy: Vec<u8> = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        check(&text, [STRICT, SNIPPET, LOOSE][random.below(3)]);
    }
}

#[test]
fn token_soup_never_panics() {
    let mut random = Random(42);
    let pieces: Vec<&str> = "%a %b %r:2 %r#1 # #e @f ^bb0: { } ( ) [ ] < > : , = -> ... 0 -1 1.5 \"s\" tensor<4xf16> memref<?xf16> index i1 () scf.for scf.if scf.while scf.yield scf.condition func return copy mma use constant call else do to step iter_args attributes mask fence agent_switch affine.apply affine_map<(d)->(d)> \n".split(' ').collect();
    for _ in 0..20_000 {
        let text: String = (0..random.below(30))
            .map(|_| String::from(pieces[random.below(pieces.len())]) + " ")
            .collect();
        check(&text, [STRICT, SNIPPET, LOOSE][random.below(3)]);
    }
}

/// Random edits under a mark, then back: every record is as it was.
#[test]
fn edits_undo() {
    use crate::{AttrValue, Literal, Op, Type, Value};
    let mut random = Random(7);
    for turn in 0..400 {
        let mut storage = Box::new(Storage::<64, 96, 128, 64, 24, 16, 200>::new());
        let mut program =
            parse(storage.pools(), tables(), [GEMM, TRANSPOSE][turn % 2], STRICT).unwrap();
        let before = (printed(&program), dump(&program));
        let mark = program.mark();
        for _ in 0..random.below(25) {
            let ops: Vec<Op> = program.all().collect();
            if ops.is_empty() {
                break;
            }
            let op = ops[random.below(ops.len())];
            let values: Vec<Value> = ops
                .iter()
                .flat_map(|op| {
                    program.results(*op).chain(program.all_operands(*op)).collect::<Vec<_>>()
                })
                .collect();
            let Some(value) = values.get(random.below(values.len())).copied() else { break };
            let _ = match random.below(12) {
                0 => program.erase(op),
                1 => program.move_before(op, ops[random.below(ops.len())]),
                2 => program.replace_all_uses(value, values[random.below(values.len())]),
                3 => program.set_type(value, Type::INDEX),
                4 => program.set_attr(op, "layout", AttrValue::Handle(random.below(9) as u32)),
                5 => program.remove_attr(op, "threads"),
                6 => program.set_attr(op, "offset", AttrValue::Operand(value)),
                7 => program
                    .insert_before(
                        op,
                        lanebook_tables::OpId(random.below(60) as u16),
                        &[value, value],
                        &[Type::INDEX],
                    )
                    .map(|_| ()),
                8 => program
                    .literal_value(Literal::Int(random.below(99) as i64))
                    .and_then(|literal| program.add_operand(op, literal))
                    .map(|_| ()),
                9 => program.remove_operand(op, random.below(4)),
                10 => program.remove_result(op, 0),
                _ => program
                    .body(op)
                    .map_or(Ok(()), |body| program.remove_argument(body, random.below(3))),
            };
            // Reading never panics in between.
            let _ = (verify(&mut program), printed(&program));
        }
        program.undo(mark);
        assert_eq!((printed(&program), dump(&program)), before);
        verify(&mut program).unwrap();
    }
}

fn dump(program: &crate::Program<'_, '_>) -> String {
    std::format!("{:?}", program.pools.snapshot())
}
