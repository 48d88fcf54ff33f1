//! Global memory: races between lanes and warps, accesses one element outside of a buffer, shared
//! memory that is declared twice.

use crate::common::{amdgcn, go_amd, go_ptx, ptx};
use lanebook_replay::{Fault, FaultKind, Kernel, Launch, Memory, Param, run};

type Answer = Result<(), FaultKind>;

fn nvidia(body: &str, threads: u32) -> Answer {
    go_ptx(body, threads, &[7; 256]).map(drop).map_err(|f| said(&f))
}

fn amd(gfx: &str, body: &str, threads: u32) -> Answer {
    go_amd(gfx, body, threads, &[7; 256]).map(drop).map_err(|f| said(&f))
}

/// Whether two accesses were found that nothing orders.
fn races(answer: Answer) -> bool {
    use FaultKind::{RaceReadAfterWrite, RaceWriteAfterRead, RaceWriteAfterWrite};
    matches!(answer, Err(RaceReadAfterWrite | RaceWriteAfterRead | RaceWriteAfterWrite))
}

fn said(fault: &Fault) -> FaultKind {
    println!("{fault}");
    fault.kind
}

/// What each of 64 threads stores, the neighbouring warp's thread loads.
#[test]
fn warps_need_a_barrier_in_global_memory() {
    let exchange = |between: &str| {
        nvidia(
            &format!(
                "st.global.u32 [%d2], %r0;\n{between}\nxor.b32 %r3, %r0, 32;\nmad.wide.u32 %d3, %r3, 4, %d1;\nld.global.u32 %r4, [%d3];"
            ),
            64,
        )
    };
    assert!(races(exchange("")));
    assert!(races(exchange("bar.warp.sync 0xffffffff;")));
    assert_eq!(exchange("bar.sync 0;"), Ok(()));
    let overwrite = |between: &str| {
        nvidia(
            &format!(
                "ld.global.u32 %r4, [%d2];\n{between}\nxor.b32 %r3, %r0, 32;\nmad.wide.u32 %d3, %r3, 4, %d1;\nst.global.u32 [%d3], %r0;"
            ),
            64,
        )
    };
    assert!(races(overwrite("")));
    assert_eq!(overwrite("bar.sync 0;"), Ok(()));
    let twice = |between: &str| {
        nvidia(
            &format!(
                "st.global.u32 [%d2], %r0;\n{between}\nxor.b32 %r3, %r0, 32;\nmad.wide.u32 %d3, %r3, 4, %d1;\nst.global.u32 [%d3], %r0;"
            ),
            64,
        )
    };
    assert!(races(twice("")));
    assert_eq!(twice("bar.sync 0;"), Ok(()));
}

/// Waves meet at a barrier with what they have waited for.
#[test]
fn waves_need_a_wait_and_a_barrier_in_global_memory() {
    let exchange = |between: &str| {
        amd(
            "gfx942",
            &format!(
                "  global_store_dword v9, v0, s[6:7]\n{between}  v_xor_b32 v10, 64, v0\n  v_lshlrev_b32 v10, 2, v10\n  global_load_dword v11, v10, s[6:7]\n  s_waitcnt vmcnt(0)\n"
            ),
            128,
        )
    };
    assert!(races(exchange("")));
    assert!(races(exchange("  s_waitcnt vmcnt(0)\n")));
    assert!(races(exchange("  s_barrier\n")));
    assert_eq!(exchange("  s_waitcnt vmcnt(0)\n  s_barrier\n"), Ok(()));
    let overwrite = |between: &str| {
        amd(
            "gfx942",
            &format!(
                "  global_load_dword v11, v9, s[6:7]\n{between}  v_xor_b32 v10, 64, v0\n  v_lshlrev_b32 v10, 2, v10\n  global_store_dword v10, v0, s[6:7]\n"
            ),
            128,
        )
    };
    assert!(races(overwrite("")));
    assert!(races(overwrite("  s_barrier\n")));
    assert_eq!(overwrite("  s_waitcnt vmcnt(0)\n  s_barrier\n"), Ok(()));
}

/// Copies of one element may each be stored: the same bits, by the same instruction.
#[test]
fn lanes_may_store_copies() {
    let both = |value: &str| nvidia(&format!("mov.u32 %r3, 5;\nst.global.u32 [%d1], {value};"), 64);
    assert_eq!(both("%r3"), Ok(()));
    assert_eq!(both("%r0"), Err(FaultKind::RaceWriteAfterWrite));
    let wave = |value: &str| {
        amd(
            "gfx942",
            &format!(
                "  v_mov_b32 v10, 0\n  v_mov_b32 v11, 5\n  global_store_dword v10, {value}, s[6:7]\n"
            ),
            64,
        )
    };
    assert_eq!(wave("v11"), Ok(()));
    assert_eq!(wave("v0"), Err(FaultKind::RaceWriteAfterWrite));
    // Another instruction, and a reader of one of the copies.
    let two = "setp.lt.u32 %p1, %r0, 32;\nmov.u32 %r3, 5;\n@%p1 st.global.u32 [%d1], %r3;\n@!%p1 st.global.u32 [%d1], %r3;";
    assert_eq!(nvidia(two, 64), Err(FaultKind::RaceWriteAfterWrite));
    let read = "mov.u32 %r3, 5;\nst.global.u32 [%d1], %r3;\nld.global.u32 %r4, [%d1];";
    assert_eq!(nvidia(read, 64), Err(FaultKind::RaceReadAfterWrite));
    assert_eq!(nvidia(read, 1), Ok(()));
}

/// A copy reads until it is waited for.
#[test]
fn copies_read_until_they_are_waited_for() {
    let body = |between: &str| {
        nvidia(
            &format!(
                "add.u32 %r3, %r2, %r1;\ncp.async.ca.shared.global [%r3], [%d2], 4;\ncp.async.commit_group;\n{between}\nst.global.u32 [%d2], %r0;\ncp.async.wait_group 0;"
            ),
            32,
        )
    };
    assert_eq!(body(""), Err(FaultKind::AsyncOverwrite));
    assert_eq!(body("cp.async.wait_group 0;"), Ok(()));
}

/// A kernel with one buffer of 64 words; the error's kind.
fn at(kernel: &Kernel, threads: u32) -> Answer {
    let mut memory = Memory::new();
    let (p, q) = (memory.add_u32("input", &[1; 64]), memory.add_u32("output", &[2; 64]));
    let launch = Launch::new(threads, vec![Param::Buffer(p), Param::Buffer(q)]);
    run(kernel, &launch, &mut memory).map(drop).map_err(|f| said(&f))
}

/// A kernel of a generation around a body.
fn frame(gfx: &str, body: &str) -> String {
    let text = amdgcn(gfx, body, false);
    if gfx.starts_with("gfx9") {
        return text;
    }
    let wait = if gfx == "gfx1250" { "s_wait_kmcnt 0" } else { "s_waitcnt lgkmcnt(0)" };
    text.replace("s_load_dwordx4", "s_load_b128")
        .replace("s_waitcnt lgkmcnt(0)", wait)
        .replace("  .amdhsa_accum_offset 64\n", "")
}

#[test]
fn one_element_outside_is_a_fault() {
    let forms = [
        ("ld.global.b8 %h0, [%d3];", 1),
        ("ld.global.b16 %h0, [%d3];", 2),
        ("ld.global.u32 %r3, [%d3];", 4),
        ("ld.global.v2.u32 {%r3, %r4}, [%d3];", 8),
        ("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d3];", 16),
        ("st.global.u32 [%d3], %r0;", 4),
        ("st.global.v4.u32 [%d3], {%r0, %r0, %r0, %r0};", 16),
        ("cp.async.ca.shared.global [%r2], [%d3], 4;\ncp.async.wait_all;", 4),
        ("cp.async.cg.shared.global [%r2], [%d3], 16;\ncp.async.wait_all;", 16),
    ];
    for (form, bytes) in forms {
        for buffer in ["%d0", "%d1"] {
            let kernel = |offset: i32| {
                let body = format!("add.s64 %d3, {buffer}, {offset};\n{form}");
                at(&Kernel::parse_ptx(&ptx(&body)).unwrap_or_else(|e| panic!("{e}")), 1)
            };
            let outside = Err(FaultKind::GlobalOutOfBounds);
            assert_eq!((kernel(0), kernel(256 - bytes)), (Ok(()), Ok(())), "{form}");
            assert_eq!((kernel(-bytes), kernel(256)), (outside, outside), "{form}");
        }
    }
    let forms = [
        ("gfx942", "global_load_ubyte v20, v10, B offset:O", 1),
        ("gfx942", "global_load_dword v20, v10, B offset:O", 4),
        ("gfx942", "global_load_dwordx4 v[20:23], v10, B offset:O", 16),
        ("gfx942", "global_store_dword v10, v0, B offset:O", 4),
        ("gfx942", "s_mov_b32 m0, 0\n  s_nop 4\n  global_load_lds_dword v10, B offset:O", 4),
        ("gfx1100", "global_load_b64 v[20:21], v10, B offset:O", 8),
        ("gfx1100", "global_store_b32 v10, v0, B offset:O", 4),
        ("gfx1250", "global_load_async_to_lds_b32 v11, v10, B offset:O", 4),
    ];
    for (gfx, form, bytes) in forms {
        for buffer in ["s[4:5]", "s[6:7]"] {
            let kernel = |offset: i32| {
                let body = format!(
                    "  v_mov_b32 v10, 0\n  v_mov_b32 v11, 0\n  {}\n",
                    form.replace('B', buffer).replace('O', &offset.to_string())
                );
                let text = frame(gfx, &body);
                at(&Kernel::parse_amdgcn(&text).unwrap_or_else(|e| panic!("{e}\n{text}")), 1)
            };
            let outside = Err(FaultKind::GlobalOutOfBounds);
            assert_eq!((kernel(0), kernel(256 - bytes)), (Ok(()), Ok(())), "{form}");
            assert_eq!((kernel(-bytes), kernel(256)), (outside, outside), "{form}");
        }
    }
}

/// Bytes of shared memory belong to one name.
#[test]
fn shared_memory_that_overlaps_is_refused() {
    let once = ".visible .entry";
    let two = ".extern .shared .align 16 .b8 one[];\n.extern .shared .align 16 .b8 two[];\n";
    for text in
        [ptx(".shared .align 16 .b8 sm[64];"), ptx("").replace(once, &format!("{two}{once}"))]
    {
        let refused = Kernel::parse_ptx(&text).map(drop).expect_err("a refusal");
        assert!(refused.sentence.contains("declare"), "{refused}");
    }
    let outside = "st.shared.u32 [%r2+4096], %r0;";
    assert_eq!(nvidia(outside, 1), Err(FaultKind::SharedOutOfBounds));
    assert_eq!(nvidia("st.shared.u32 [%r2+-4], %r0;", 1), Err(FaultKind::SharedOutOfBounds));
    assert_eq!(
        amd("gfx942", "  v_mov_b32 v10, 0\n  ds_write_b32 v10, v0 offset:4096\n", 1),
        Err(FaultKind::SharedOutOfBounds)
    );
}
