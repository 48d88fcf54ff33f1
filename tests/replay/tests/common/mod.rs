//! Wraps bodies into whole kernels.
#![allow(dead_code)]

use lanebook_replay::{Fault, Kernel, Launch, Memory, Param, Report, run};

/// An AMDGCN kernel around `body`: s[4:5] = input, s[6:7] = output, v0 = thread, v9 = 4 * thread;
/// all of v10..v59 and a0..a31 hold zero when `filled`.
pub fn amdgcn(gfx: &str, body: &str, filled: bool) -> String {
    let mut fill = String::new();
    if filled {
        (10..60).for_each(|r| fill += &format!("  v_mov_b32 v{r}, 0\n"));
        (0..32).for_each(|r| fill += &format!("  v_accvgpr_write_b32 a{r}, 0\n"));
        fill += "  s_nop 15\n";
    }
    format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--{gfx}\"\n.text\nk:\n  s_load_dwordx4 s[4:7], s[0:1], 0x0\n  v_and_b32 v0, 0x3ff, v0\n  \
         v_lshlrev_b32 v9, 2, v0\n{fill}  s_waitcnt lgkmcnt(0)\n{body}  s_endpgm\n.amdhsa_kernel k\n  \
         .amdhsa_group_segment_fixed_size 4096\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_next_free_vgpr 128\n  \
         .amdhsa_next_free_sgpr 64\n  .amdhsa_accum_offset 64\n.end_amdhsa_kernel\n"
    )
}

/// A PTX kernel around `body`: %d0 = input, %d1 = output, %r0 = thread, %r1 = 4 * thread, %d2 =
/// output of the thread; `sm` is 4096 bytes of shared memory, %r2 its address.
pub fn ptx(body: &str) -> String {
    format!(
        ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{{\n\
         .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<40>; .reg .f32 %f<16>; .reg .b64 %d<16>; .reg .b128 %q<2>;\n\
         .shared .align 128 .b8 sm[4096];\n\
         ld.param.u64 %d0, [p];\n ld.param.u64 %d1, [q];\n mov.u32 %r0, %tid.x;\n shl.b32 %r1, %r0, 2;\n mov.u32 %r2, sm;\n\
         mad.wide.u32 %d2, %r0, 4, %d1;\n{body}\nret;\n}}\n"
    )
}

/// Words of the input, as many threads as asked, 64 KiB of output.
pub fn go(kernel: &Kernel, threads: u32, input: &[u32]) -> Result<(Report, Vec<u32>), Fault> {
    let mut memory = Memory::new();
    let (p, q) = (memory.add_u32("input", input), memory.add_zeros("output", 1 << 16));
    let launch = Launch {
        step_limit: 100_000,
        ..Launch::new(threads, vec![Param::Buffer(p), Param::Buffer(q)])
    };
    let report = run(kernel, &launch, &mut memory)?;
    Ok((report, memory.u32s(q)))
}

pub fn go_amd(
    gfx: &str,
    body: &str,
    threads: u32,
    input: &[u32],
) -> Result<(Report, Vec<u32>), Fault> {
    let kernel = Kernel::parse_amdgcn(&amdgcn(gfx, body, false)).unwrap_or_else(|e| panic!("{e}"));
    go(&kernel, threads, input)
}

pub fn go_ptx(body: &str, threads: u32, input: &[u32]) -> Result<(Report, Vec<u32>), Fault> {
    let kernel = Kernel::parse_ptx(&ptx(body)).unwrap_or_else(|e| panic!("{e}"));
    go(&kernel, threads, input)
}
