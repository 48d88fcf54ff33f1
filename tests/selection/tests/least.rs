//! What is selected for an address is no longer than the shortest sequence known.
//!
//! Each sequence is searched for with one instruction less than is selected. Where the search finds
//! one, the number stands here with the reason why selection does not, and the search must find it
//! again. Where it finds none, either there is none of these instructions, or the solver gave up:
//! then the number for which it did not stands here, too, and is refuted again; what lies between the
//! two is printed (`--nocapture`).
use lanebook::TABLES;
use lanebook::expr::{BitColumn, Combine, Reg, Variable, from_bits};
use lanebook_kernels::parallel;
use lanebook_selection::search::{Form, Found, Goal, search};
use lanebook_selection::{Bench, register};
use lanebook_tables::{IndexOp, RegisterKind};

const PTX: &[Form] = &[
    Form { atom: "and.b32", args: &["a", "k"] },
    Form { atom: "shl.b32", args: &["a", "s"] },
    Form { atom: "shr.u32", args: &["a", "s"] },
    Form { atom: "lop3.b32", args: &["a", "k", "b", "234"] },
    Form { atom: "lop3.b32", args: &["a", "k", "b", "106"] },
    Form { atom: "lop3.b32", args: &["a", "b", "k", "40"] },
    Form { atom: "lop3.b32", args: &["a", "b", "k", "168"] },
    Form { atom: "lop3.b32", args: &["a", "b", "k", "228"] },
    Form { atom: "mad.lo.u32", args: &["a", "k", "b"] },
    Form { atom: "mul.lo.u32", args: &["a", "k"] },
];

const AMD: &[Form] = &[
    Form { atom: "v_and_b32", args: &["k", "a"] },
    Form { atom: "v_or_b32", args: &["a", "b"] },
    Form { atom: "v_xor_b32", args: &["a", "b"] },
    Form { atom: "v_add_u32", args: &["a", "b"] },
    Form { atom: "v_lshlrev_b32", args: &["s", "a"] },
    Form { atom: "v_lshrrev_b32", args: &["s", "a"] },
    Form { atom: "v_mul_u32_u24", args: &["k", "a"] },
    Form { atom: "v_mad_u32_u24", args: &["a", "k", "b"] },
    Form { atom: "v_lshl_add_u32", args: &["a", "s", "b"] },
    Form { atom: "v_lshl_or_b32", args: &["a", "s", "b"] },
    Form { atom: "v_add_lshl_u32", args: &["a", "b", "s"] },
    Form { atom: "v_and_or_b32", args: &["a", "k", "b"] },
    Form { atom: "v_bfe_u32", args: &["a", "s", "m"] },
    Form { atom: "v_bfi_b32", args: &["k", "a", "b"] },
];

const BITOP3: &[Form] = &[
    Form { atom: "v_bitop3_b32", args: &["a", "k", "b", "106"] },
    Form { atom: "v_bitop3_b32", args: &["a", "b", "k", "40"] },
    Form { atom: "v_bitop3_b32", args: &["a", "b", "k", "168"] },
];

/// Steps that the solver may take for one question.
const EFFORT: u64 = 12_000_000;

struct Sequence {
    name: &'static str,
    arch: &'static str,
    /// What each bit of the thread's number contributes in bytes.
    columns: &'static [u32],
    combine: Combine,
    /// Whether the buffer's base is added.
    base: bool,
    /// The least number of instructions known, without those that read the thread's number and the
    /// base.
    least: usize,
    /// Of so many instructions there is none: one less than the least, or fewer where the solver gives
    /// up on more.
    refuted: usize,
    /// Why more are selected; empty where that is not so.
    reason: &'static str,
}

const SEQUENCES: &[Sequence] = &[
    Sequence {
        name: "ldmatrix A, swizzled",
        arch: "sm_80",
        columns: &[128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 16, 8192, 0],
        combine: Combine::Xor,
        base: true,
        least: 7,
        refuted: 3,
        reason: "",
    },
    Sequence {
        name: "ldmatrix B, swizzled",
        arch: "sm_80",
        columns: &[256 ^ 16, 512 ^ 32, 1024 ^ 64, 2048, 4096, 0, 128],
        combine: Combine::Xor,
        base: true,
        least: 4,
        refuted: 3,
        reason: "",
    },
    Sequence {
        name: "local_store, swizzled",
        arch: "sm_80",
        columns: &[16, 32, 64, 128 ^ 16, 256 ^ 32, 512 ^ 64, 1024],
        combine: Combine::Xor,
        base: true,
        least: 3,
        refuted: 2,
        reason: "",
    },
    Sequence {
        name: "ldmatrix A, padded",
        arch: "sm_80",
        columns: &[144, 288, 576, 1152, 16, 9216, 0],
        combine: Combine::Add,
        base: true,
        least: 6,
        refuted: 3,
        reason: "",
    },
    Sequence {
        name: "ldmatrix B, padded",
        arch: "sm_80",
        columns: &[272, 544, 1088, 2176, 4352, 0, 128],
        combine: Combine::Add,
        base: true,
        least: 4,
        refuted: 3,
        reason: "",
    },
    Sequence {
        name: "ds_read_b64_tr_b16 B, padded",
        arch: "gfx950",
        columns: &[8, 16, 320, 640, 0, 2560, 64, 128],
        combine: Combine::Add,
        base: false,
        least: 6,
        refuted: 2,
        reason: "",
    },
    Sequence {
        name: "ds_read_b128 A, swizzled",
        arch: "gfx950",
        columns: &[128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 2048, 16, 8192, 0],
        combine: Combine::Xor,
        base: false,
        least: 5,
        refuted: 2,
        reason: "",
    },
    Sequence {
        name: "ds_write_b128, padded",
        arch: "gfx950",
        columns: &[16, 32, 64, 144, 288, 576, 1152, 2304],
        combine: Combine::Add,
        base: false,
        least: 2,
        refuted: 1,
        reason: "",
    },
    Sequence {
        name: "ds_read_b64 A, swizzled",
        arch: "gfx942",
        columns: &[128 ^ 16, 256 ^ 32, 512 ^ 64, 1024, 2048, 8, 8192, 0],
        combine: Combine::Xor,
        base: false,
        least: 6,
        refuted: 2,
        reason: "",
    },
    Sequence {
        name: "ds_read_b64 A, padded",
        arch: "gfx942",
        columns: &[136, 272, 544, 1088, 2176, 8, 8704, 0],
        combine: Combine::Add,
        base: false,
        least: 5,
        refuted: 2,
        reason: "",
    },
];

/// Instructions that are selected.
fn selected(sequence: &Sequence) -> usize {
    let arch = TABLES.arch_named(sequence.arch).expect("known architecture");
    let wave = u64::from(TABLES.arch(arch).expect("its data").wave_lanes[0]);
    let mut bench = Bench::default();
    let mut session = bench.session();
    let thread = Variable::word().below(1 << sequence.columns.len()).varying(wave - 1);
    let (_, thread) = session.arena.variable_node(thread).unwrap();
    let base = Variable::word().aligned(10).uniform();
    let (_, base) = session.arena.variable_node(base).unwrap();
    let columns: Vec<BitColumn> = (0u8..)
        .zip(sequence.columns)
        .map(|(bit, column)| BitColumn { value: thread, bit, column: *column })
        .collect();
    let mut root = from_bits(&mut session.arena, &columns, sequence.combine, 0).unwrap();
    if sequence.base {
        root = session.arena.op(IndexOp::Add, &[root, base]).unwrap();
    }
    let variables: Vec<Option<Reg>> =
        [1, 2].map(|n| register(&TABLES, arch, RegisterKind::Vector, 32, n)).to_vec();
    let (recorder, _) = session.emit(&TABLES, arch, &variables, &mut [root]).unwrap();
    println!("{}", recorder.text(&TABLES));
    recorder.steps.len()
}

/// Whether the search finds what it looks for where that is short.
fn is_found(sequence: &Sequence, forms: &[Form]) -> bool {
    sequence.least <= 4 && matches!(searched(sequence, forms, sequence.least), Found::Sequence(_))
}

fn searched(sequence: &Sequence, forms: &[Form], instructions: usize) -> Found {
    let wanted = |input: u32| {
        let own = (0u32..).zip(sequence.columns).filter(|(bit, _)| input >> bit & 1 == 1);
        own.fold(0u32, |sum, (_, column)| match sequence.combine {
            Combine::Xor => sum ^ column,
            Combine::Add => sum + column,
        })
    };
    let arch = TABLES.arch_named(sequence.arch).expect("known architecture");
    let goal = Goal {
        tables: &TABLES,
        arch: TABLES.arch(arch).expect("its data"),
        forms,
        inputs: sequence.columns.len() as u32,
        wanted: &wanted,
        base: sequence.base,
        effort: EFFORT,
    };
    search(&goal, instructions)
}

fn check(sequence: &Sequence, forms: &[Form]) -> Result<(), String> {
    let name = format!("{} {}", sequence.arch, sequence.name);
    let count = selected(sequence);
    let below = searched(sequence, forms, sequence.least - 1);
    let bound = match below {
        Found::Nothing => Some(sequence.least - 1),
        _ => (searched(sequence, forms, sequence.refuted) == Found::Nothing)
            .then_some(sequence.refuted),
    };
    println!("{name}: {count} selected, {} known; there is none of {bound:?}", sequence.least);
    if let Found::Sequence(text) = below {
        return Err(format!("{name}: {} are enough:\n{text}", sequence.least - 1));
    }
    if count < sequence.least {
        return Err(format!("{name}: {count} are selected, {} recorded", sequence.least));
    }
    if bound.is_none_or(|bound| bound < sequence.refuted) {
        return Err(format!("{name}: {} are not refuted again: {bound:?}", sequence.refuted));
    }
    if below == Found::Unknown {
        println!("  of {} the solver gives up after {EFFORT} steps", sequence.least - 1);
    }
    match (count > sequence.least, sequence.reason.is_empty()) {
        (false, true) => Ok(()),
        (false, false) => Err(format!("{name}: the reason is void: {count} are selected")),
        (true, true) => Err(format!("{name}: {count} selected, no reason")),
        (true, false) => match searched(sequence, forms, sequence.least) {
            Found::Sequence(text) => {
                println!("  known:\n{text}  selected are more: {}", sequence.reason);
                Ok(())
            }
            other => Err(format!("{name}: {} is not found again: {other:?}", sequence.least)),
        },
    }
}

#[test]
fn nothing_known_is_shorter_without_a_reason() {
    let with_bitop3: Vec<Form> = AMD.iter().chain(BITOP3).copied().collect();
    let tried = parallel::each(SEQUENCES, |sequence| {
        let arch = TABLES.arch_named(sequence.arch).and_then(|arch| TABLES.arch(arch)).unwrap();
        let has = |name: &str| {
            arch.atoms.iter().any(|own| TABLES.atom(own.atom).is_some_and(|a| a.name() == name))
        };
        let forms = match (has(PTX[0].atom), has(BITOP3[0].atom)) {
            (true, _) => PTX,
            (_, true) => &with_bitop3,
            _ => AMD,
        };
        (check(sequence, forms).err(), is_found(sequence, forms))
    });
    let found = tried.iter().filter(|(_, found)| *found).count();
    let failures: Vec<String> = tried.into_iter().filter_map(|(failure, _)| failure).collect();
    assert!(found >= 2, "the search finds what is short");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
