//! What PTX instructions compute, and what the interpreter refuses.

use crate::common::{go_ptx, ptx};
use lanebook_replay::{FaultKind, Kernel, Launch, Memory, Param, Space, run};

/// Result of `body` in %r10, from %r3 = input word 0.
fn one(body: &str, input: u32) -> u32 {
    let body = format!("ld.global.u32 %r3, [%d0];\n{body}\nst.global.u32 [%d2], %r10;");
    go_ptx(&body, 32, &[input, 0x1111_2222, 3, 4]).unwrap_or_else(|f| panic!("{f}")).1[0]
}

fn kind(body: &str, threads: u32) -> FaultKind {
    let fault = go_ptx(body, threads, &[0; 1024]).expect_err("a fault");
    println!("{fault}");
    fault.kind
}

#[test]
fn integers() {
    let x = 0x8765_4321u32;
    for (line, want) in [
        ("add.u32 %r10, %r3, 5;", x + 5),
        ("sub.s32 %r10, 5, %r3;", 5u32.wrapping_sub(x)),
        ("mul.lo.u32 %r10, %r3, %r3;", x.wrapping_mul(x)),
        ("mul.hi.u32 %r10, %r3, %r3;", ((u64::from(x) * u64::from(x)) >> 32) as u32),
        ("mad.lo.s32 %r10, %r3, 3, 1;", x.wrapping_mul(3).wrapping_add(1)),
        ("shl.b32 %r10, %r3, 40;", 0),
        ("shr.u32 %r10, %r3, 8;", x >> 8),
        ("shr.s32 %r10, %r3, 8;", ((x as i32) >> 8) as u32),
        ("not.b32 %r10, %r3;", !x),
        ("lop3.b32 %r10, %r3, 0x70, 0xf0, 0x78;", x ^ 0x70),
        ("bfe.u32 %r10, %r3, 8, 12;", x >> 8 & 0xfff),
        ("bfi.b32 %r10, 5, %r3, 4, 4;", x & !0xf0 | 0x50),
        ("prmt.b32 %r10, %r3, 0, 0x4012;", x >> 16 & 0xff | x & 0xff00 | (x & 0xff) << 16),
        ("shf.l.wrap.b32 %r10, %r3, %r3, 8;", x.rotate_left(8)),
        ("min.s32 %r10, %r3, 1;", x),
        ("max.u32 %r10, %r3, 1;", x),
        ("neg.s32 %r10, %r3;", x.wrapping_neg()),
        ("popc.b32 %r10, %r3;", x.count_ones()),
        ("setp.lt.s32 %p1, %r3, 0; selp.b32 %r10, 7, 8, %p1;", 7),
        ("setp.lo.u32 %p1|%p2, %r3, 5; selp.b32 %r10, 7, 8, %p2;", 7),
        (
            "setp.eq.u32 %p1, %r3, 0; setp.ne.or.s32 %p2, %r3, 0, %p1; @!%p2 mov.u32 %r10, 1; @%p2 mov.u32 %r10, 2;",
            2,
        ),
        ("cvt.u64.u32 %d5, %r3; shl.b64 %d5, %d5, 4; mov.b64 {%r4, %r10}, %d5;", 8),
        ("cvt.u8.u32 %r10, %r3;", 0x21),
        ("cvt.s32.s8 %r10, %r3;", 0x21),
        ("cvt.rn.f32.u32 %f0, 3; add.rn.f32 %f1, %f0, 0f3F000000; cvt.rzi.u32.f32 %r10, %f1;", 3),
        ("mov.b32 {%h0, %h1}, %r3; mov.b32 %r10, {%h1, %h0};", 0x4321_8765),
        ("cvt.rn.f16x2.f32 %r10, 0f40000000, 0f3F800000;", 0x4000_3c00),
        ("mul.wide.s32 %d5, %r3, 2; mov.b64 {_, %r10}, %d5;", u32::MAX),
        ("rem.u32 %r10, %r3, 1000;", x % 1000),
        ("mov.u32 %r10, %lanemask_lt;", 0),
    ] {
        assert_eq!(one(line, x), want, "{line}");
    }
}

#[test]
fn lanes_exchange_and_diverge() {
    let tail = "st.global.u32 [%d2], %r10;";
    let run = |body: &str| {
        go_ptx(&format!("{body}\n{tail}"), 64, &[0; 4]).unwrap_or_else(|f| panic!("{f}")).1
    };
    assert_eq!(run("shfl.sync.bfly.b32 %r10, %r0, 1, 0x1f, -1;")[6..8], [7, 6]);
    assert_eq!(run("shfl.sync.idx.b32 %r10, %r0, 3, 0x1f, -1;")[40], 35);
    assert_eq!(run("shfl.sync.up.b32 %r10, %r0, 2, 0, -1;")[..4], [0, 1, 0, 1]);
    assert_eq!(run("shfl.sync.down.b32 %r10|%p1, %r0, 2, 0x1f, -1;")[29..33], [31, 30, 31, 34]);
    // Row form: lane 4g + t holds elements (g, 2t) and (g, 2t + 1), numbered 8 * row + col.
    let moved = run(
        "shl.b32 %r4, %r0, 17; shl.b32 %r5, %r0, 1; or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, 0x10000;\n\
         movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r4;",
    );
    // Lane 5 = (g 1, t 1) receives (2, 1) and (3, 1).
    assert_eq!(moved[5], (8 * 3 + 1) << 16 | (8 * 2 + 1));
    let body = "and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 0; mov.u32 %r10, 5; @%p1 bra EVEN; mov.u32 %r10, 6; bra END;\nEVEN: add.u32 %r10, %r10, 2;\nEND: add.u32 %r10, %r10, 10;";
    assert_eq!(run(body)[..3], [17, 16, 17]);
    assert_eq!(
        kind("setp.lt.u32 %p1, %r0, 3; @%p1 shfl.sync.idx.b32 %r10, %r0, 3, 0x1f, -1;", 32),
        FaultKind::WarpDivergence
    );
}

#[test]
fn widths_travel_through_shared_memory() {
    let body = "
        mad.wide.u32 %d3, %r0, 16, %d0;
        ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d3];
        mad.lo.u32 %r8, %r0, 16, %r2;
        st.shared.v2.b64 [%r8], {%d3, %d3};
        st.shared.v4.b32 [%r8], {%r4, %r5, %r6, %r7};
        ld.shared.b128 %q0, [%r8];
        mov.b128 {%d4, %d5}, %q0;
        mov.b64 {%r9, %r10}, %d5;
        st.global.u32 [%d2], %r10;";
    let input: Vec<u32> = (0..128).collect();
    let (report, out) = go_ptx(body, 32, &input).expect("no fault");
    assert_eq!(out[..3], [3, 7, 11]);
    let kernel = Kernel::parse_ptx(&ptx(body)).expect("parses");
    let line =
        kernel.instructions().iter().find(|(_, m)| m == "st.shared.v4.b32").expect("a store").0;
    assert_eq!(report.addresses(line, Space::Shared, 2), [1024 + 32]);
}

#[test]
fn bugs_are_judged() {
    let at = "add.u32 %r4, %r2, %r1;";
    for (body, want) in [
        (
            format!(
                "{at} st.shared.b32 [%r4], %r0; xor.b32 %r5, %r4, 4; ld.shared.b32 %r6, [%r5];"
            ),
            FaultKind::RaceReadAfterWrite,
        ),
        ("st.shared.b32 [%r2], %r0;".to_string(), FaultKind::RaceWriteAfterWrite),
        (format!("{at} ld.shared.b32 %r6, [%r4];"), FaultKind::UninitialisedShared),
        (format!("{at} st.shared.b64 [%r4], %d0;"), FaultKind::Misaligned),
        (format!("{at} st.shared.b32 [%r4+3972], %r0;"), FaultKind::SharedOutOfBounds),
        ("st.shared.b32 [%r1], %r0;".to_string(), FaultKind::SharedOutOfBounds),
        ("st.global.b32 [%d1+65536], %r0;".to_string(), FaultKind::GlobalOutOfBounds),
        (
            "cvt.u32.u64 %r4, %d1; cvt.u64.u32 %d3, %r4; st.global.b32 [%d3], %r0;".to_string(),
            FaultKind::GlobalOutOfBounds,
        ),
        ("mov.u32 %r4, %r20;".to_string(), FaultKind::UninitialisedRegister),
        ("L: bra L;".to_string(), FaultKind::StepLimit),
        (
            format!(
                "{at} st.shared.b32 [%r4], %r0; bar.sync 0; xor.b32 %r5, %r4, 4; ld.shared.b32 %r6, [%r5]; st.shared.b32 [%r4], %r6;"
            ),
            FaultKind::RaceWriteAfterRead,
        ),
        (
            format!(
                "{at} cp.async.ca.shared.global [%r4], [%d0], 4; cp.async.commit_group; ld.shared.b32 %r6, [%r4];"
            ),
            FaultKind::AsyncNotWaited,
        ),
        // Waited for, but in no group: wait_group does not cover it.
        (
            format!(
                "{at} cp.async.ca.shared.global [%r4], [%d0], 4; cp.async.wait_group 0; ld.shared.b32 %r6, [%r4];"
            ),
            FaultKind::AsyncNotWaited,
        ),
    ] {
        assert_eq!(kind(&body, 32), want, "{body}");
    }
    // A missing barrier between warps: whichever warp comes first.
    let other = format!("{at} xor.b32 %r5, %r4, 128; BEFORE ld.shared.b32 %r6, [%r5];");
    assert_eq!(
        kind(&other.replace("BEFORE", "st.shared.b32 [%r4], %r0;"), 64),
        FaultKind::RaceWriteAfterRead
    );
    assert!(
        go_ptx(&other.replace("BEFORE", "st.shared.b32 [%r4], %r0; bar.sync 0;"), 64, &[0]).is_ok()
    );
    // Named barriers order their own warps only.
    let named = format!(
        "{at} xor.b32 %r5, %r4, 128; st.shared.b32 [%r4], %r0; shr.u32 %r7, %r0, 6; add.u32 %r7, %r7, 1; bar.sync %r7, 64; ld.shared.b32 %r6, [%r5];"
    );
    assert!(go_ptx(&named, 128, &[0]).is_ok());
    assert_eq!(kind(&named.replace("%r4, 128", "%r4, 256"), 128), FaultKind::RaceReadAfterWrite);
}

#[test]
fn unknown_text_is_refused() {
    for body in [
        "frob.b32 %r4, %r0;",
        "add.b32x %r4, %r0, 1;",
        "ld.texture.b32 %r4, [%d0];",
        "mov.u32 %r99, 0;",
        "cp.async.cg.shared.global [%r2], [%d0], 8;",
        "ld.global.v4.b64 {%d3, %d4, %d5, %d6}, [%d0];",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5}, [%r2];",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r4,%r5}, {%r6,%r7}, {%f0,%f1,%f2,%f3};",
        "bra NOWHERE;",
        "add.u32 %r4, %r0",
    ] {
        let fault = Kernel::parse_ptx(&ptx(body)).err().unwrap_or_else(|| panic!("{body}"));
        println!("{fault}");
    }
}

#[test]
fn frames_of_larger_kernels_are_read() {
    let text = "
.version 8.5
.target sm_80
.address_size 64
.extern .shared .align 128 .b8 smem[];
.visible .entry k(
    .param .u64 param_0,
    .param .u32 param_1
)
.reqntid 64, 1, 1
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [param_0];
    ld.param.u32 %r0, [param_1];
    mov.u32 %r1, smem;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %r1, %r2, 4, %r1;
    st.shared.b32 [%r1+65536], %r0;
    ret;
}";
    let kernel = Kernel::parse_ptx(text).expect("parses");
    let mut memory = Memory::new();
    let p = memory.add_zeros("p", 4);
    let mut launch = Launch::new(64, vec![Param::Buffer(p), Param::U32(7)]);
    let kind = |launch: &Launch, memory: &mut Memory| {
        run(&kernel, launch, memory).map(|_| ()).map_err(|f| f.kind)
    };
    assert_eq!(kind(&launch, &mut memory), Err(FaultKind::SharedOutOfBounds));
    launch.dynamic_shared = 65536 + 256;
    assert_eq!(kind(&launch, &mut memory), Ok(()));
    launch.block = [32, 1, 1];
    assert_eq!(kind(&launch, &mut memory), Err(FaultKind::Parameter));
    launch.block = [64, 1, 1];
    launch.params.pop();
    assert_eq!(kind(&launch, &mut memory), Err(FaultKind::Parameter));
}
