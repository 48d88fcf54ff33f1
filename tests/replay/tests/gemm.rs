//! Two small matrix products, one for each machine, run to the last bit; and what happens to them
//! when one instruction is missing or wrong.

use lanebook_replay::{
    BankModel, FaultKind, Kernel, Launch, MatrixShape, Memory, Param, Report, Space, run,
};

const PTX: &str = include_str!("../fixtures/kernels/gemm_sm80.ptx");
const AMD: &str = include_str!("../fixtures/kernels/gemm_gfx950.s");
const PHASES: &str = include_str!("../fixtures/lds_phases.jsonl");

const M: usize = 32;
const N: usize = 16;
const K: usize = 64;

struct Problem {
    memory: Memory,
    params: Vec<Param>,
    want: Vec<f32>,
}

fn problem() -> Problem {
    let a: Vec<f32> = (0..M * K).map(|i| (i % 23) as f32 - 11.0).collect();
    let b: Vec<f32> = (0..K * N).map(|i| (i % 19) as f32 - 9.0).collect();
    let mut want = vec![0.0; M * N];
    for i in 0..M {
        for j in 0..N {
            want[i * N + j] = (0..K).map(|k| a[i * K + k] * b[k * N + j]).sum();
        }
    }
    let mut memory = Memory::new();
    let ids = [memory.add_f16("A", &a), memory.add_f16("B", &b), memory.add_zeros("C", 4 * M * N)];
    memory.set_shape(ids[0], MatrixShape::row_major(M as u32, K as u32, 2));
    memory.set_shape(ids[1], MatrixShape::row_major(K as u32, N as u32, 2));
    Problem { params: ids.map(Param::Buffer).to_vec(), memory, want }
}

/// Runs a text; the difference is how many results are wrong.
fn attempt(
    kernel: &Kernel,
    threads: u32,
    banks: BankModel,
) -> Result<(Report, Memory, usize), FaultKind> {
    let mut p = problem();
    let launch =
        Launch { step_limit: 10_000, ..Launch::new(threads, p.params.clone()).banks(banks) };
    let report = run(kernel, &launch, &mut p.memory).map_err(|f| {
        println!("{f}");
        f.kind
    })?;
    let Param::Buffer(c) = p.params[2] else { unreachable!("a buffer") };
    assert!(p.memory.write_counts(c).iter().all(|&n| n == 1), "every byte of C is written once");
    let wrong = p.memory.f32s(c).iter().zip(&p.want).filter(|(got, want)| got != want).count();
    Ok((report, p.memory, wrong))
}

fn ptx(text: &str) -> Result<(Report, Memory, usize), FaultKind> {
    let kernel = Kernel::parse_ptx(text).unwrap_or_else(|e| panic!("{e}"));
    attempt(&kernel, 64, BankModel::nvidia())
}

fn amd(text: &str) -> Result<(Report, Memory, usize), FaultKind> {
    let kernel = Kernel::parse_amdgcn(text).unwrap_or_else(|e| panic!("{e}"));
    attempt(&kernel, 128, BankModel::from_jsonl("gfx950", PHASES).expect("phases"))
}

/// The text with one change, which must be there exactly once.
fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}`");
    text.replace(from, to)
}

fn without(text: &str, marker: &str) -> String {
    let hits = text.lines().filter(|l| l.contains(marker)).count();
    assert_eq!(hits, 1, "`{marker}`");
    text.lines().map(|l| if l.contains(marker) { "" } else { l }).collect::<Vec<_>>().join("\n")
}

#[test]
fn ptx_product_is_exact_and_free_of_conflicts() {
    let (report, memory, wrong) = ptx(PTX).expect("no fault");
    assert_eq!(wrong, 0);
    assert_eq!(report.executed("mma.sync"), 2 * 2 * 4);
    assert_eq!(report.executed("ldmatrix"), 2 * 2 * 4);
    assert_eq!(report.barriers, 4);
    assert_eq!(report.conflicts(), 0, "{:?}", report.sites);
    // Every element of every operand is where the fragment rule wants it.
    for event in &report.matrix {
        for lane in 0..32 {
            let (g, t) = (lane / 4, lane % 4);
            let first = event.a_origin(&memory, 0, 0).expect("labelled").element.expect("a matrix");
            let k0 = first.1;
            assert_eq!((first.0, k0 % 16), (16 * event.warp, 0));
            for i in 0..8u32 {
                let (row, col) = (g + 8 * ((i / 2) & 1), 2 * t + i % 2 + 8 * (i / 4));
                let origin = event.a_origin(&memory, lane, i as usize).expect("labelled");
                assert_eq!(memory.name(origin.buffer), "A");
                assert_eq!(origin.element, Some((16 * event.warp + row, k0 + col)));
            }
            for i in 0..4u32 {
                let origin = event.b_origin(&memory, lane, i as usize).expect("labelled");
                let (row, col) = origin.element.expect("a matrix");
                assert_eq!(
                    (memory.name(origin.buffer), row, col % 8),
                    ("B", k0 + 2 * t + i % 2 + 8 * (i / 2), g)
                );
            }
        }
    }
}

#[test]
fn amd_product_is_exact() {
    let (report, memory, wrong) = amd(AMD).expect("no fault");
    assert_eq!(wrong, 0);
    assert_eq!(report.executed("v_mfma"), 4);
    assert_eq!(report.barriers, 4);
    assert_eq!(report.matrix.len(), 4);
    for (event, step) in report.matrix.iter().zip([0, 0, 1, 1]) {
        for lane in 0..64 {
            for i in 0..8 {
                let k = 32 * step + 8 * (lane / 16) + i as u32;
                let a = event.a_origin(&memory, lane, i).expect("labelled");
                let b = event.b_origin(&memory, lane, i).expect("labelled");
                assert_eq!(
                    (memory.name(a.buffer), a.element),
                    ("A", Some((16 * event.warp + lane % 16, k)))
                );
                assert_eq!((memory.name(b.buffer), b.element), ("B", Some((k, lane % 16))));
            }
        }
    }
    let kernel = Kernel::parse_amdgcn(AMD).expect("parses");
    let line =
        kernel.instructions().iter().find(|(_, m)| m == "global_load_lds_dword").expect("a load").0
            + 1;
    // The offset moves the LDS address too.
    assert_eq!(report.addresses(line, Space::Shared, 64), [2048 + 512 + 256; 2]);
}

#[test]
fn ptx_bugs_are_found() {
    let planted = [
        (
            without(PTX, "bar.sync 0;                             // stage visible"),
            FaultKind::RaceReadAfterWrite,
        ),
        (without(PTX, "cp.async.wait_group 1"), FaultKind::AsyncNotWaited),
        (changed(PTX, "wait_group 1;", "wait_group 2;"), FaultKind::AsyncNotWaited),
        (changed(PTX, "[%r35];", "[%r35+8];"), FaultKind::Misaligned),
        (changed(PTX, "[%r36+512];", "[%r36+8192];"), FaultKind::SharedOutOfBounds),
        (changed(PTX, "[%d3+2112]", "[%d3+4096]"), FaultKind::GlobalOutOfBounds),
        (changed(PTX, "    mov.f32 %c7, 0f00000000;\n", ""), FaultKind::UninitialisedRegister),
        (
            changed(PTX, "    cp.async.ca.shared.global [%r11], [%d4], 16;\n", ""),
            FaultKind::UninitialisedShared,
        ),
        (changed(PTX, "mov.u32 %r40, sm;", "mov.u32 %r40, 0;"), FaultKind::SharedOutOfBounds),
        (
            changed(
                PTX,
                "    ret;",
                "    setp.lt.u32 %p2, %r0, 32;\n    @%p2 bar.sync 0;\n    ret;",
            ),
            FaultKind::BarrierDivergence,
        ),
        (
            changed(
                PTX,
                "    bar.sync 0;                             // stage visible",
                "    setp.lt.u32 %p2, %r13, 16;\n    @%p2 bar.sync 0;",
            ),
            FaultKind::WarpDivergence,
        ),
        (
            changed(PTX, "setp.lt.u32 %p1, %r30, 2;", "setp.ge.u32 %p1, %r30, 0;"),
            FaultKind::StepLimit,
        ),
    ];
    for (text, want) in planted {
        assert_eq!(ptx(&text).map(|_| ()), Err(want));
    }
}

/// With one stage only, the barrier behind the products keeps the next copy away from the readers.
#[test]
fn a_copy_over_data_still_being_read_is_found() {
    let single = changed(PTX, "xor.b32 %r32, %r31, 3072;", "mov.u32 %r32, 0;");
    // The copy for step 1 starts while step 0 is being copied to the same place.
    assert_eq!(ptx(&single).map(|_| ()), Err(FaultKind::AsyncOverwrite));
    let late = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 unused, .param .u64 q) {
  .reg .b32 %r<8>; .reg .b64 %d<4>;
  .shared .align 16 .b8 sm[256];
  ld.param.u64 %d0, [p];
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, sm;
  add.u32 %r1, %r1, %r2;
  cp.async.ca.shared.global [%r1], [%d0], 4;
  cp.async.wait_all;
  bar.sync 0;
  xor.b32 %r3, %r1, 4;
  ld.shared.b32 %r4, [%r3];
  BARRIER
  cp.async.ca.shared.global [%r1], [%d0+4], 4;
  ret;
}";
    assert_eq!(ptx(&late.replace("BARRIER", "")).map(|_| ()), Err(FaultKind::AsyncOverwrite));
}

#[test]
fn a_wrong_swizzle_gives_wrong_elements_or_conflicts() {
    // The reader uses other row bits than the writer.
    let text = changed(PTX, "shr.u32 %r19, %r14, 1;", "shr.u32 %r19, %r14, 0;");
    let (_, _, wrong) = ptx(&text).expect("no fault, only wrong data");
    assert!(wrong > 0);
    // Consistent, but without effect: the rows of one matrix collide.
    let text = changed(PTX, "lop3.b32 %r3, %r2, %r3, 3, 0x78;", "lop3.b32 %r3, %r2, %r3, 3, 0xf0;");
    let text = changed(&text, "and.b32 %r19, %r19, 3;", "and.b32 %r19, %r19, 0;");
    let (report, _, wrong) = ptx(&text).expect("no fault");
    assert_eq!(wrong, 0);
    assert!(report.conflicts() > 0);
    let site = report
        .sites
        .values()
        .find(|s| s.conflicts() > 0 && s.executions == 4)
        .expect("ldmatrix of A");
    assert_eq!((site.least, site.transactions), (4 * 4, 4 * 16));
    let text = changed(AMD, "v_bfe_u32 v9, v2, 1, 2", "v_bfe_u32 v9, v2, 0, 2");
    assert!(amd(&text).expect("no fault").2 > 0);
}

#[test]
fn amd_bugs_are_found() {
    let planted = [
        (without(AMD, "; arguments"), FaultKind::RegisterInFlight),
        (without(AMD, "; m0"), FaultKind::MissingWaitStates),
        (without(AMD, "; tiles"), FaultKind::AsyncNotWaited),
        (
            changed(AMD, "s_waitcnt vmcnt(0)                  ; tiles", "s_waitcnt vmcnt(1)"),
            FaultKind::AsyncNotWaited,
        ),
        (without(AMD, "; loaded"), FaultKind::AsyncOverwrite),
        (without(AMD, "; free"), FaultKind::RaceReadAfterWrite),
        (without(AMD, "; fragments"), FaultKind::RegisterInFlight),
        (
            changed(AMD, "lgkmcnt(0)                ; fragments", "lgkmcnt(1)"),
            FaultKind::RegisterInFlight,
        ),
        (
            changed(
                AMD,
                "  s_barrier                           ; free",
                "  v_mov_b32 v8, v12\n  s_barrier",
            ),
            FaultKind::MissingWaitStates,
        ),
        (changed(AMD, "v10 offset:2176", "v10 offset:2180"), FaultKind::Misaligned),
        (changed(AMD, "v10 offset:2176", "v10 offset:3072"), FaultKind::SharedOutOfBounds),
        (changed(AMD, "v12, s[8:9]", "v12, s[8:9] offset:-64"), FaultKind::GlobalOutOfBounds),
        (changed(AMD, "v_mov_b32 v13, 0", "s_nop 0"), FaultKind::UninitialisedRegister),
        (
            changed(AMD, ".amdhsa_next_free_vgpr 24", ".amdhsa_next_free_vgpr 20"),
            FaultKind::RegisterOutsidePool,
        ),
        (
            changed(AMD, ".amdhsa_next_free_sgpr 16", ".amdhsa_next_free_sgpr 15"),
            FaultKind::RegisterOutsidePool,
        ),
        (
            changed(
                AMD,
                "  s_endpgm",
                "  s_cmp_eq_u32 s12, 0\n  s_cbranch_scc1 OUT\n  s_barrier\nOUT:\n  s_endpgm",
            ),
            FaultKind::BarrierDivergence,
        ),
    ];
    for (text, want) in planted {
        assert_eq!(amd(&text).map(|_| ()), Err(want), "{text}");
    }
}
