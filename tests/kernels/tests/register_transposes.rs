//! Copies that transpose blocks in registers: taken where that costs less than moving elements
//! alone, and every element where its layout says.
#![allow(missing_docs)]

use lanebook::compile::{CompileStorage, compile};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::plan::{Candidate, Reject};
use lanebook::tables::{Atom, Tables};
use lanebook::{TABLES, check};
use lanebook_kernels::checked::every_kernel_by;
use lanebook_kernels::{Assembler, e4m3, example};
use lanebook_replay::{BankModel, BufferId, Kernel, Launch, Memory, Param, Report, run};

/// What was decided for the copy of B, and the kernel.
struct Built {
    text: String,
    /// Width and height of the blocks that are transposed.
    flip: Option<(u8, u8)>,
    /// The copy's first atom.
    first: String,
    /// Losers of the copy of B that transpose blocks, with their reasons.
    flipped: Vec<(Reject, u32)>,
    /// Losers that load elements alone.
    alone: Vec<(Reject, u32)>,
    cost: u32,
}

/// The copy of B is the second movement of these programs.
fn build(tables: &Tables<'_>, source: &str, arch: &str) -> Built {
    let id = tables.arch_named(arch).expect("an architecture");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, source, Options::default())
        .unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    // Room for every reason.
    let mut room = Box::new(<CompileStorage<2048, 768, 1024, 2048>>::new());
    let compiled = compile(tables, id, &mut program, room.scratch())
        .unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    every_kernel_by(tables, &program, &compiled, source, arch);
    check::plan(tables, &program, &compiled.plan).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    check::order(tables, &program, &compiled).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    let mut text = String::new();
    compiled.write(tables, &program, &mut text).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    let copy = compiled.plan.transfers.get(1).expect("the copy of B");
    let share = |id| {
        tables
            .atom(id)
            .and_then(|a: &Atom<'_>| a.movement.as_ref())
            .map_or(0, |m| u32::from(m.from.slot_bytes))
    };
    let lost = |pick: &dyn Fn(&Candidate) -> bool| -> Vec<(Reject, u32)> {
        compiled
            .plan
            .rejected
            .iter()
            .filter(|l| l.op == copy.op && pick(&l.what))
            .map(|l| (l.why, l.cost))
            .collect()
    };
    Built {
        text,
        flip: copy.transpose.map(|f| (f.along, f.across)),
        first: tables.atom(copy.atom).expect("an atom").name().to_string(),
        flipped: lost(&|what| matches!(what, Candidate::Flipped(..))),
        alone: lost(&|what| matches!(what, Candidate::Atom(id) if share(*id) <= 2)),
        cost: copy.figures.cost,
    }
}

fn is_amd(arch: &str) -> bool {
    arch.starts_with("gfx")
}

/// Runs a product of whole 128 x 128 tiles; every element of C is compared, inside the block's tile
/// and outside.
fn right(text: &str, arch: &str, eight: Option<u8>, k: u32) -> Report {
    let (m, n) = (256u32, 256u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let bytes = |v: &[f32], bias: u8| -> Vec<u8> {
        v.iter().map(|v| if *v == 0.0 { 0 } else { e4m3(*v) + bias }).collect()
    };
    let (ia, ib) = match eight {
        Some(bias) => (memory.add("A", bytes(&a, bias)), memory.add("B", bytes(&b, bias))),
        None => (memory.add_f16("A", &a), memory.add_f16("B", &b)),
    };
    let ic = memory.add_f32("C", &vec![7.0; (m * n) as usize]);
    let kernel = if is_amd(arch) { Kernel::parse_amdgcn(text) } else { Kernel::parse_ptx(text) }
        .unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let matrix = |(id, rows, cols): (BufferId, u32, u32)| {
        [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
    };
    let mut params: Vec<Param> =
        [(ia, m, k), (ib, k, n), (ic, m, n)].into_iter().flat_map(matrix).collect();
    params.extend([128, 0, k].map(Param::U32));
    let mut launch = Launch::new(128, params);
    if !is_amd(arch) {
        launch = launch.banks(BankModel::nvidia());
    }
    let report =
        run(&kernel, &launch, &mut memory).unwrap_or_else(|f| panic!("{arch}: {f}\n{text}"));
    for (at, &got) in memory.f32s(ic).iter().enumerate() {
        let (i, j) = (at as u32 / n, at as u32 % n);
        let want = if i >= 128 && j < 128 {
            (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum()
        } else {
            7.0
        };
        assert_eq!(got, want, "{arch}: row {i}, column {j}");
    }
    report
}

fn instructions(text: &str, word: &str) -> usize {
    text.lines().filter(|line| line.trim_start().starts_with(word)).count()
}

/// B of a product in f16 on gfx942 lies the other way round: the copy transposes blocks where rows
/// are aligned, takes elements one by one where they are not, and where choosing bytes is made
/// dear. Each says why.
#[test]
fn sixteen_bits_by_cost() {
    let (arch, aligned) = ("gfx942", example("gemm.tile"));
    let lines: Vec<&str> = aligned
        .lines()
        .map(|line| {
            if line.contains("%B: memref") {
                "           %B: memref<?x?xf16, #gmem> {align = 2, stride_div = 1},"
            } else {
                line
            }
        })
        .collect();
    let rows = lines.join("\n");
    let flipped = build(&TABLES, &aligned, arch);
    assert!(flipped.flip.is_some(), "{}", flipped.first);
    assert!(
        flipped.alone.iter().any(|(why, cost)| *why == Reject::Dearer && *cost > flipped.cost),
        "{:?}",
        flipped.alone
    );
    let alone = build(&TABLES, &rows, arch);
    assert!(alone.flip.is_none() && alone.first.contains("d16"), "{}", alone.first);
    let unaligned = |why: &Reject| matches!(why, Reject::Alignment { need: 4.., have: 2 });
    assert!(
        !alone.flipped.is_empty() && alone.flipped.iter().all(|(why, _)| unaligned(why)),
        "{:?}",
        alone.flipped
    );
    // The same program, but a choice of bytes takes as long as sixteen other instructions.
    let mut atoms = TABLES.atoms.to_vec();
    let permute =
        atoms.iter_mut().find(|atom| atom.name() == "v_perm_b32").expect("a choice of bytes");
    permute.cost.issue = 16;
    let dear = build(&Tables { atoms: &atoms, ..TABLES }, &aligned, arch);
    assert!(dear.flip.is_none() && dear.first.contains("d16"), "{}", dear.first);
    assert!(
        dear.flipped.iter().any(|(why, cost)| *why == Reject::Dearer && *cost >= dear.cost),
        "{:?}",
        dear.flipped
    );
    for built in [&flipped, &alone, &dear] {
        right(&built.text, arch, None, 128);
        Assembler::of(arch)
            .assemble(&built.text, "gfx942")
            .unwrap_or_else(|said| panic!("{said}\n{}", built.text));
    }
    let moves = |text: &str| {
        instructions(text, "global_load") + instructions(text, "ds_") + instructions(text, "v_perm")
    };
    assert!(
        moves(&flipped.text) + 40 < moves(&alone.text),
        "{} {}",
        moves(&flipped.text),
        moves(&alone.text)
    );
}

/// B of a product in eight bits with its rows along n: no instruction reads it so but RDNA4's and
/// CDNA4's transposing loads, and the copy turns it round.
#[test]
fn eight_bits_the_wrong_way() {
    let program = example("gemm_fp8.tile");
    let turn = "    %t = trans %b : tensor<128x128xe4m3> -> tensor<128x128xe4m3>\n";
    assert!(program.contains(turn) && program.contains("%B[%n, %k]"));
    let program = program
        .replace(turn, "")
        .replace("mma %a, %t, %c", "mma %a, %b, %c")
        .replace("%B[%n, %k]", "%B[%k, %n]");
    for (arch, target) in [("gfx942", "gfx942"), ("gfx1200", "gfx1200"), ("sm_89", "sm_89")] {
        let source =
            if arch == "gfx942" { program.replace("e4m3", "e4m3fnuz") } else { program.clone() };
        let built = build(&TABLES, &source, arch);
        assert!(
            built.flip.is_some_and(|(along, across)| along >= 2 && across >= 2),
            "{arch}: {}",
            built.first
        );
        right(&built.text, arch, Some(if arch == "gfx942" { 8 } else { 0 }), 256);
        Assembler::of(arch)
            .assemble(&built.text, target)
            .unwrap_or_else(|said| panic!("{arch}: {said}\n{}", built.text));
    }
}
