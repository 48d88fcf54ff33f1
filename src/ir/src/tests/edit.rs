//! Building, changing, erasing, undoing.
use super::support::*;
use crate::parse;
use crate::verify;
use crate::{
    AttrValue, Builder, Def, ErrorKind, Literal, Op, Program, Storage, TileEncoding, Type, Value,
    attr_names,
};
use lanebook_tables::{OpRole, Space};
use std::vec::Vec;

/// The GEMM of the example, without text: names come from a vocabulary.
fn gemm(program: &mut Program<'_, '_>) -> Result<(), ErrorKind> {
    let mut b = Builder::new(program);
    let shared = Some(Space::Shared);
    let (half, full) = (b.memory(2, "f16")?, b.memory(2, "f32")?);
    let (ta, tb) = (b.tile(&[128, 64], "f16", None)?, b.tile(&[64, 128], "f16", None)?);
    let (sa, sb, acc) = (
        ta.in_space(Space::Shared),
        b.tile(&[64, 128], "f16", shared)?,
        b.tile(&[128, 128], "f32", None)?,
    );
    let func =
        b.function("gemm", 128, &[half, half, full, Type::INDEX, Type::INDEX, Type::INDEX])?;
    let args: Vec<Value> = b.program().parameters(func).collect();
    let [ma, mb, mc, m, n, k_end] = args[..] else { return Err(ErrorKind::Broken) };
    for (at, div) in [(ma, 8), (mb, 8), (mc, 4)] {
        b.program().add_value_attr(at, attr_names::ALIGN, AttrValue::Int(16, None))?;
        b.program().add_value_attr(at, attr_names::STRIDE_DIV, AttrValue::Int(div, None))?;
    }
    b.program().add_value_attr(m, attr_names::DIV, AttrValue::Int(128, None))?;
    b.program().add_value_attr(n, attr_names::DIV, AttrValue::Int(128, None))?;
    let (buffer_a, buffer_b) =
        (b.value("alloc_tensor", &[], sa)?, b.value("alloc_tensor", &[], sb)?);
    let zero = b.program().literal_value(Literal::Decimal { digits: 0, exponent: -1 })?;
    let (zero, lower, step) = (b.value("constant", &[zero], acc)?, b.int(0)?, b.int(64)?);
    let turn = b.counted(lower, k_end, step, &[zero])?;
    let inner: Vec<Value> = b
        .program()
        .body(turn)
        .into_iter()
        .flat_map(|body| b.program().arguments(body).collect::<Vec<_>>())
        .collect();
    let [k, c] = inner[..] else { return Err(ErrorKind::Broken) };
    b.op("copy", &[(ma, &[m, k]), (buffer_a, &[])], &[])?;
    b.op("copy", &[(mb, &[k, n]), (buffer_b, &[])], &[])?;
    let (a, w) = (b.value("tiled_load", &[buffer_a], ta)?, b.value("tiled_load", &[buffer_b], tb)?);
    let d = b.value("mma", &[a, w, c], acc)?;
    b.end(&[d])?;
    let r = b.program().result(turn, 0).ok_or(ErrorKind::Broken)?;
    b.op("tiled_store", &[(r, &[]), (mc, &[m, n])], &[])?;
    Ok(())
}

#[test]
fn build_the_gemm() {
    let (mut first, mut second) = (small(), small());
    let mut built = Program::new(first.pools(), tables(), "gemm").unwrap();
    gemm(&mut built).unwrap();
    verify(&mut built).unwrap();
    let mut read = parse(second.pools(), tables(), GEMM, STRICT).unwrap();
    verify(&mut read).unwrap();
    let text = printed(&built);
    let mut third = small();
    let mut again = parse(third.pools(), tables(), &text, STRICT).unwrap();
    verify(&mut again).unwrap();
    same(&built, &again);
    // The same operations with the same operands as the text's.
    same(&built, &read);
}

fn find(program: &Program<'_, '_>, role: OpRole) -> Op {
    program.all().find(|op| program.role(*op) == role).unwrap()
}

#[test]
fn marks_nest() {
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let original = (printed(&program), program.pools.snapshot());
    let outer = program.mark();
    let mma = find(&program, OpRole::Matrix);
    let a = program.operand(mma, 0).unwrap();
    let ty = program.type_of(a);
    let convert = program.tables().op_named("convert_layout").unwrap();
    let op =
        program.insert_before(mma, convert, &[a], &[ty.encoded(TileEncoding::Handle(3))]).unwrap();
    let converted = program.result(op, 0).unwrap();
    program.set_operand(mma, 0, converted).unwrap();
    verify(&mut program).unwrap();
    let middle = printed(&program);
    assert!(
        middle.contains("= convert_layout %a : tensor<128x64xf16> -> tensor<128x64xf16, handle_3>"),
        "{middle}"
    );
    let inner = program.mark();
    program.replace_all_uses(converted, a).unwrap();
    program.erase(op).unwrap();
    assert_eq!(printed(&program), original.0);
    program.undo(inner);
    assert_eq!(printed(&program), middle);
    verify(&mut program).unwrap();
    let inner = program.mark();
    program.set_type(converted, Type::INDEX).unwrap();
    program.keep(inner);
    program.undo(outer);
    assert_eq!((printed(&program), program.pools.snapshot()), original);
    verify(&mut program).unwrap();
}

#[test]
fn a_full_journal_is_an_error_and_undoes() {
    let mut storage = Storage::<64, 64, 64, 64, 16, 8, 6>::new();
    let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let original = (printed(&program), program.pools.snapshot());
    let mark = program.mark();
    let mut result = Ok(());
    for op in program.all().collect::<Vec<_>>() {
        result =
            result.and_then(|()| program.set_attr(op, attr_names::LAYOUT, AttrValue::Handle(1)));
    }
    assert!(matches!(result, Err(ErrorKind::Capacity { pool: crate::Pool::Journal, limit: 6 })));
    program.undo(mark);
    assert_eq!((printed(&program), program.pools.snapshot()), original);
}

#[test]
fn erase_and_reuse() {
    let mut storage = small();
    let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let turn = find(&program, OpRole::For);
    assert_eq!(program.erase(turn), Err(ErrorKind::StillUsed));
    let store = find(&program, OpRole::Store);
    program.erase(store).unwrap();
    assert_eq!(program.erase(store), Err(ErrorKind::Stale));
    assert!(!program.is_alive(store));
    program.erase(turn).unwrap();
    verify(&mut program).unwrap();
    assert_eq!(program.all().count(), 4);
    for role in [OpRole::Constant, OpRole::Alloc, OpRole::Alloc] {
        program.erase(find(&program, role)).unwrap();
    }
    let used = program.usage().map(|pool| pool.used);
    let func = find(&program, OpRole::Function);
    program.erase(func).unwrap();
    // Everything comes from the free lists now.
    let text = program.usage().map(|pool| pool.used);
    assert_eq!(used, text);
    assert_eq!(program.all().count(), 0);
    assert_eq!(printed(&program), "");
}

#[test]
fn operands_and_results() {
    let mut storage = small();
    let text = "%a = constant 1 : index\n%b = constant 2 : index\n%x, %y, %z = call @f(%a, %b, 7) : (index, index, ...) -> (i32, f32, f16)\nuse %z, %a[%b, %b], %x\n";
    let mut program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let ops: Vec<Op> = program.all().collect();
    let [a, b] = [program.result(ops[0], 0).unwrap(), program.result(ops[1], 0).unwrap()];
    assert_eq!((program.uses(a).count(), program.uses(b).count()), (2, 3));
    program.remove_operand(ops[3], 1).unwrap();
    assert_eq!((program.uses(a).count(), program.uses(b).count()), (1, 1));
    program.remove_result(ops[2], 1).unwrap();
    program.remove_operand(ops[2], 2).unwrap();
    assert_eq!(program.remove_result(ops[2], 0), Err(ErrorKind::StillUsed));
    program.replace_all_uses(a, b).unwrap();
    assert!(!program.is_used(a));
    let place = program.operand_use(ops[2], 1).unwrap();
    assert_eq!(
        (program.user(place), program.used(place), program.operand_number(place)),
        (Some(ops[2]), Some(b), Some(1))
    );
    program.erase(ops[0]).unwrap();
    assert_eq!(
        printed(&program),
        "%b = constant 2 : index\n%x, %z = call @f(%b, %b) : (index, index) -> (i32, f16)\nuse %z, %x : f16, i32\n"
    );
}

/// A loop's dead argument goes with its initial value, its yield and its result (what a pass of
/// issue 6 does).
#[test]
fn drop_a_carried_value() {
    let mut storage = small();
    let text = "%r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %p, %pre = %q) -> (f32, f32) {\n%x = use %acc\nscf.yield %x, %pre : f32, f32\n}\n%out = use %r#0\n";
    let mut program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let turn = find(&program, OpRole::For);
    let body = program.body(turn).unwrap();
    let end = program.terminator(body).unwrap();
    program.remove_operand(end, 1).unwrap();
    program.remove_argument(body, 2).unwrap();
    program.remove_operand(turn, 4).unwrap();
    program.remove_result(turn, 1).unwrap();
    verify(&mut program).unwrap();
    assert_eq!(
        printed(&program),
        "%r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %p) -> f32 {\n  %x = use %acc\n  scf.yield %x\n}\n%out = use %r\n"
    );
}

#[test]
fn stale_handles_are_empty() {
    let mut storage = small();
    let program = Program::new(storage.pools(), tables(), "").unwrap();
    let (op, value) = (Op::at(40).unwrap(), Value::at(77).unwrap());
    assert_eq!(
        (program.role(op), program.operands(op).count(), program.results(op).count()),
        (OpRole::Opaque, 0, 0)
    );
    assert_eq!((program.def(value), program.type_of(value)), (Def::Nothing, Type::ELIDED));
    assert_eq!((program.op_name(op), program.next(op), program.place(op).line), ("", None, 0));
}

#[test]
fn hoisting_drops_names() {
    let mut storage = small();
    let text = "scf.for %i = %a to %n step %c {\n  %x = constant 1 : index\n  use %x\n}\nscf.for %i = %a to %n step %c {\n  %x = constant 2 : index\n  use %x\n}\n";
    let mut program = parse(storage.pools(), tables(), text, SNIPPET).unwrap();
    let (first, constant) = (find(&program, OpRole::For), find(&program, OpRole::Constant));
    program.move_before(constant, first).unwrap();
    verify(&mut program).unwrap();
    let out = printed(&program);
    let mut second = small();
    let mut again = parse(second.pools(), tables(), &out, SNIPPET).unwrap();
    verify(&mut again).unwrap();
    assert_eq!(printed(&again).lines().count(), out.lines().count());
}

/// Outside a mark a change that has no room changes nothing.
#[test]
fn a_change_without_room_changes_nothing() {
    let mut storage = Storage::<13, 24, 32, 32, 16, 8, 0>::new();
    let mut program = parse(storage.pools(), tables(), GEMM, STRICT).unwrap();
    let mma = find(&program, OpRole::Matrix);
    let a = program.operand(mma, 0).unwrap();
    let ty = program.type_of(a);
    let decl = program.tables().op_named("convert_layout").unwrap();
    let mut last = Ok(mma);
    for _ in 0..40 {
        let before = (printed(&program), program.pools.snapshot());
        last = program.insert_before(mma, decl, &[a, a, a, a], &[ty]);
        if last.is_err() {
            assert_eq!((printed(&program), program.pools.snapshot()), before);
            break;
        }
    }
    assert!(matches!(last, Err(ErrorKind::Capacity { .. })), "{last:?}");
    // Room for the operands, none for the result, and the other way round, are all found before
    // anything is done.
    let region = program.tables().op_named("scf.for").unwrap();
    let before = (printed(&program), program.pools.snapshot());
    assert!(program.insert_before(mma, region, &[], &[]).is_err());
    assert_eq!((printed(&program), program.pools.snapshot()), before);
}
