//! A generated sm_80 product of the size of real ones: 128x128 tiles, K in steps of 64, 256
//! threads.

use std::fmt::Write;

/// C[128x128] f32 = A[128xK] f16 row-major * B[Kx128] f16 row-major. Rows of A tiles are 128 bytes,
/// rows of B tiles 256 bytes; 16-byte chunks are swizzled by `chunk ^= row % 8`. Eight warps, 2 x
/// 4, of 64 x 32.
pub fn ptx(k: u32) -> String {
    let mut t = String::from(
        ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry gemm(.param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n\
         .reg .pred %p<2>; .reg .b32 %r<64>; .reg .b32 %a<16>; .reg .b32 %b<8>; .reg .f32 %c<64>; .reg .b64 %d<16>;\n\
         .shared .align 128 .b8 sm[32768];\n\
         ld.param.u64 %d0, [pa];\nld.param.u64 %d1, [pb];\nld.param.u64 %d2, [pc];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, sm;\nmov.u32 %r2, %laneid;\n\
         shr.u32 %r3, %r0, 5;\nand.b32 %r4, %r3, 1;\nshr.u32 %r5, %r3, 1;\n",
    );
    // A copy: row t/8 + 32*i, chunk t%8. B copy: row t/16 + 16*i, chunk t%16.
    for (row, chunks, out, base, pitch, global) in
        [("%r6", 3, "%r8", 0, 7, 2 * k), ("%r9", 4, "%r11", 16384, 8, 256)]
    {
        let (matrix, source) = if base == 0 { ("%d0", "%d3") } else { ("%d1", "%d4") };
        let _ = write!(
            t,
            "shr.u32 {row}, %r0, {chunks};\nand.b32 %r7, %r0, {};\nlop3.b32 %r12, %r7, {row}, 7, 0x78;\nshl.b32 {out}, {row}, {pitch};\n\
             shl.b32 %r12, %r12, 4;\nadd.u32 {out}, {out}, %r12;\nadd.u32 {out}, {out}, %r1;\nadd.u32 {out}, {out}, {base};\n\
             mul.lo.u32 %r12, {row}, {global};\nshl.b32 %r7, %r7, 4;\nadd.u32 %r12, %r12, %r7;\ncvt.u64.u32 %d5, %r12;\nadd.u64 {source}, {matrix}, %d5;\n",
            (1 << chunks) - 1
        );
    }
    // Fragment rows: lane%16; A row 64*wm + 16*i, B row 16*kk, column 32*wn + 16*j.
    t += "and.b32 %r13, %r2, 15;\nshr.u32 %r14, %r2, 4;\nand.b32 %r15, %r13, 7;\nshl.b32 %r16, %r4, 6;\nadd.u32 %r16, %r16, %r13;\nshl.b32 %r16, %r16, 7;\nadd.u32 %r16, %r16, %r1;\n";
    t += "shl.b32 %r17, %r13, 8;\nadd.u32 %r17, %r17, %r1;\nadd.u32 %r17, %r17, 16384;\nshl.b32 %r18, %r5, 2;\nadd.u32 %r18, %r18, %r14;\n";
    (0..64).for_each(|i| t += &format!("mov.f32 %c{i}, 0f00000000;\n"));
    t += "mov.u32 %r20, 0;\nLOOP:\n";
    for i in 0..4 {
        let _ = writeln!(
            t,
            "cp.async.cg.shared.global [%r8+{}], [%d3+{}], 16;",
            i * 4096,
            i * 32 * 2 * k
        );
        let _ =
            writeln!(t, "cp.async.cg.shared.global [%r11+{}], [%d4+{}], 16;", i * 4096, i * 4096);
    }
    t += "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n";
    for kk in 0..4 {
        let _ = write!(
            t,
            "add.u32 %r21, %r14, {};\nxor.b32 %r21, %r21, %r15;\nshl.b32 %r21, %r21, 4;\nadd.u32 %r21, %r21, %r16;\n",
            2 * kk
        );
        for i in 0..4 {
            let a = 4 * i;
            let _ = writeln!(
                t,
                "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%a{a}, %a{}, %a{}, %a{}}}, [%r21+{}];",
                a + 1,
                a + 2,
                a + 3,
                i * 2048
            );
        }
        for j in 0..2 {
            let b = 4 * j;
            let _ = write!(
                t,
                "add.u32 %r22, %r18, {};\nxor.b32 %r22, %r22, %r15;\nshl.b32 %r22, %r22, 4;\nadd.u32 %r22, %r22, %r17;\n",
                2 * j
            );
            let _ = writeln!(
                t,
                "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {{%b{b}, %b{}, %b{}, %b{}}}, [%r22+{}];",
                b + 1,
                b + 2,
                b + 3,
                kk * 4096
            );
        }
        for i in 0..4 {
            for j in 0..4 {
                let (c, a, b) = (16 * i + 4 * j, 4 * i, 2 * j);
                let c = format!("{{%c{c}, %c{}, %c{}, %c{}}}", c + 1, c + 2, c + 3);
                let _ = writeln!(
                    t,
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {c}, {{%a{a}, %a{}, %a{}, %a{}}}, {{%b{b}, %b{}}}, {c};",
                    a + 1,
                    a + 2,
                    a + 3,
                    b + 1
                );
            }
        }
    }
    let _ = write!(
        t,
        "bar.sync 0;\nadd.u64 %d3, %d3, 128;\nadd.u64 %d4, %d4, 16384;\nadd.u32 %r20, %r20, 64;\nsetp.lt.u32 %p0, %r20, {k};\n@%p0 bra LOOP;\n"
    );
    t += "shr.u32 %r23, %r2, 2;\nshl.b32 %r24, %r4, 6;\nadd.u32 %r23, %r23, %r24;\nshl.b32 %r23, %r23, 9;\nand.b32 %r24, %r2, 3;\nshl.b32 %r24, %r24, 3;\nadd.u32 %r23, %r23, %r24;\nshl.b32 %r24, %r5, 7;\nadd.u32 %r23, %r23, %r24;\ncvt.u64.u32 %d5, %r23;\nadd.u64 %d5, %d2, %d5;\n";
    for i in 0..4 {
        for j in 0..4 {
            let c = 16 * i + 4 * j;
            let at = i * 16 * 512 + j * 32;
            let _ = write!(
                t,
                "st.global.v2.f32 [%d5+{at}], {{%c{c}, %c{}}};\nst.global.v2.f32 [%d5+{}], {{%c{}, %c{}}};\n",
                c + 1,
                at + 4096,
                c + 2,
                c + 3
            );
        }
    }
    t + "ret;\n}\n"
}
