//! Address instructions never exceed Triton's for the same movements (`shared/facts/triton.md`
//! section 6).
//!
//! Counted: reading the thread's number where that is an instruction, everything up to the first
//! address, and the sum with the buffer's base where the buffer does not start at a known place.
//! Run with `--nocapture` to see the sequences.
use lanebook::TABLES;
use lanebook::expr::{BitColumn, Combine, ExprId, Reg, Variable, evaluate, from_bits};
use lanebook_selection::machine::{Registers, legal, run};
use lanebook_selection::{Bench, NODES, register};
use lanebook_tables::{IndexOp, RegisterKind};

struct Case {
    name: &'static str,
    arch: &'static str,
    /// What each bit of the thread's number contributes in bytes.
    columns: &'static [u32],
    combine: Combine,
    /// Whether the buffer's base is added.
    base: bool,
    /// Further phases: exclusive-or constants on the first address.
    phases: &'static [u32],
    /// Most instructions: to the first address, and for all phases.
    most: (usize, usize),
}

const CASES: &[Case] = &[
    // 128x64 f16, rows of 128 bytes, 16-byte chunks swizzled by row & 7. Lanes 0-15: rows; lane bit
    // 4: next chunk; warp bit 5: 64 rows down.
    Case {
        name: "ldmatrix A, swizzled",
        arch: "sm_80",
        columns: &[128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 16, 8192, 0],
        combine: Combine::Xor,
        base: true,
        phases: &[32, 64, 96],
        most: (8, 3),
    },
    // 64x128 f16, rows of 256 bytes, transposed: lanes 0-15: rows; lane bit 4: next chunk; warp bit
    // 6: 64 columns right.
    Case {
        name: "ldmatrix B, swizzled",
        arch: "sm_80",
        columns: &[256 ^ 16, 512 ^ 32, 1024 ^ 64, 2048, 16, 0, 128],
        combine: Combine::Xor,
        base: true,
        phases: &[32, 64, 96],
        most: (8, 3),
    },
    // A row of 128 bytes is eight threads' 16-byte vectors.
    Case {
        name: "local_store, swizzled",
        arch: "sm_80",
        columns: &[16, 32, 64, 128 ^ 16, 256 ^ 32, 512 ^ 64, 1024],
        combine: Combine::Xor,
        base: true,
        phases: &[],
        most: (4, 0),
    },
    // gfx950: 64x128 f16, four 8-byte pieces of a row side by side, rows swizzled in 16-byte
    // chunks.
    Case {
        name: "ds_read_b64_tr_b16, swizzled",
        arch: "gfx950",
        columns: &[8, 16, 256 ^ 32, 512 ^ 64, 1024 ^ 16, 2048, 128, 0],
        combine: Combine::Xor,
        base: false,
        phases: &[],
        most: (8, 0),
    },
    // gfx950: 128x64 f16, rows of 128 bytes padded by 16. Lanes 0-15: rows; lane bits 4, 5: chunks;
    // wave bit 6: 64 rows down.
    Case {
        name: "ds_read_b128 A, padded",
        arch: "gfx950",
        columns: &[144, 288, 576, 1152, 16, 32, 9216, 0],
        combine: Combine::Add,
        base: false,
        phases: &[],
        most: (4, 0),
    },
    Case {
        name: "ds_write_b128, padded",
        arch: "gfx950",
        columns: &[16, 32, 64, 144, 288, 576, 1152, 2304],
        combine: Combine::Add,
        base: false,
        phases: &[],
        most: (2, 0),
    },
    Case {
        name: "ds_read_b128 A, swizzled",
        arch: "gfx950",
        columns: &[128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 16, 32, 8192, 0],
        combine: Combine::Xor,
        base: false,
        phases: &[64],
        most: (5, 1),
    },
];

#[test]
fn never_more_than_triton() {
    let mut failures = Vec::new();
    for case in CASES {
        let arch = TABLES.arch_named(case.arch).expect("known architecture");
        let data = TABLES.arch(arch).unwrap();
        let isa = TABLES.isa(data.isa).unwrap();
        let mut bench = Bench::default();
        let mut session = bench.session();
        let wave = u64::from(data.wave_lanes[0]);
        let (_, thread) = session
            .arena
            .variable_node(Variable::word().below(1 << case.columns.len()).varying(wave - 1))
            .unwrap();
        let (_, base) =
            session.arena.variable_node(Variable::word().aligned(10).uniform()).unwrap();
        let columns: Vec<BitColumn> = (0u8..)
            .zip(case.columns)
            .map(|(bit, column)| BitColumn { value: thread, bit, column: *column })
            .collect();
        let swizzled = from_bits(&mut session.arena, &columns, case.combine, 0).unwrap();
        // The buffer is aligned to the swizzle's span, so phases can be applied after the base.
        let first = if case.base {
            session.arena.op(IndexOp::Add, &[swizzled, base]).unwrap()
        } else {
            swizzled
        };
        let variables: Vec<Option<Reg>> = [(RegisterKind::Vector, 1), (RegisterKind::Vector, 2)]
            .iter()
            .map(|(kind, number)| register(&TABLES, arch, *kind, 32, *number))
            .collect();
        let mut roots: Vec<ExprId> = vec![first];
        let original: Vec<ExprId> = std::iter::once(first)
            .chain(case.phases.iter().map(|phase| {
                session.arena.op_const(IndexOp::Xor, first, u64::from(*phase)).unwrap()
            }))
            .collect();
        let (alone, _) = {
            let mut other = Bench::default();
            let mut session = other.session();
            let (_, thread) = session
                .arena
                .variable_node(Variable::word().below(1 << case.columns.len()).varying(wave - 1))
                .unwrap();
            let (_, base) =
                session.arena.variable_node(Variable::word().aligned(10).uniform()).unwrap();
            let columns: Vec<BitColumn> =
                columns.iter().map(|column| BitColumn { value: thread, ..*column }).collect();
            let swizzled = from_bits(&mut session.arena, &columns, case.combine, 0).unwrap();
            let first = if case.base {
                session.arena.op(IndexOp::Add, &[swizzled, base]).unwrap()
            } else {
                swizzled
            };
            session.emit(&TABLES, arch, &variables, &mut [first]).unwrap()
        };
        roots.extend(&original[1..]);
        let (recorder, out) = session.emit(&TABLES, arch, &variables, &mut roots).unwrap();
        legal(&TABLES, arch, &recorder).unwrap();
        let to_first = alone.steps.len() + usize::from(isa.read_thread.is_some());
        let further = recorder.steps.len() - alone.steps.len();
        println!(
            "{}: {} to the first address (at most {}), {} for {} phases (at most {})\n{}",
            case.name,
            to_first,
            case.most.0,
            further,
            case.phases.len(),
            case.most.1,
            recorder.text(&TABLES)
        );
        if to_first > case.most.0 || further > case.most.1 {
            failures.push(format!("{}: {to_first} and {further}", case.name));
        }
        let mut scratch = vec![0; NODES];
        for lane in 0..1u64 << case.columns.len() {
            let given = [lane, 0x2000];
            let mut registers = Registers::from([(1, lane), (2, 0x2000)]);
            run(&TABLES, &recorder.steps, &mut registers);
            let direct = (0..case.columns.len()).filter(|bit| lane >> bit & 1 == 1).fold(
                0u32,
                |sum, bit| match case.combine {
                    Combine::Xor => sum ^ case.columns[bit],
                    Combine::Add => sum.wrapping_add(case.columns[bit]),
                },
            );
            let direct = u64::from(direct) + if case.base { 0x2000 } else { 0 };
            assert_eq!(registers[&out[0].first], direct, "{}: lane {lane}", case.name);
            for (register, node) in out.iter().zip(&original) {
                assert_eq!(
                    registers[&register.first],
                    evaluate(&session.arena, *node, &given, &mut scratch).unwrap()
                );
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}
