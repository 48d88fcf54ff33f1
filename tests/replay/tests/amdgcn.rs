//! What AMDGCN instructions compute, and what the interpreter refuses.

use crate::common::{amdgcn, go, go_amd};
use lanebook_replay::{BankModel, FaultKind, Kernel, Launch, Memory, Param, Space, run};

const STORE: &str = "  global_store_dword v9, v10, s[6:7]\n  s_waitcnt vmcnt(0)\n";

/// Result of `body` in v10 of every lane, from v1 = input[thread].
fn lanes(body: &str, input: &[u32]) -> Vec<u32> {
    let load = "  global_load_dword v1, v9, s[4:5]\n  s_waitcnt vmcnt(0)\n";
    let all: Vec<u32> = (0..64).map(|i| input[i % input.len()]).collect();
    go_amd("gfx950", &format!("{load}{body}{STORE}"), 64, &all).unwrap_or_else(|f| panic!("{f}")).1
        [..64]
        .to_vec()
}

fn one(body: &str, input: u32) -> u32 {
    let all = lanes(body, &[input]);
    assert!(all.iter().all(|v| *v == all[0]), "the same in all lanes");
    all[0]
}

fn kind(gfx: &str, body: &str) -> FaultKind {
    let fault = go_amd(gfx, body, 64, &[0; 256]).expect_err("a fault");
    println!("{fault}");
    fault.kind
}

#[test]
fn vector_integers() {
    let x = 0x8765_4321u32;
    for (line, want) in [
        ("v_lshl_add_u32 v10, v1, 4, 5", (x << 4) + 5),
        ("v_add_lshl_u32 v10, v1, 1, 4", (x + 1) << 4),
        ("v_lshl_or_b32 v10, v1, 8, 3", x << 8 | 3),
        ("v_and_or_b32 v10, v1, 15, 48", x & 15 | 48),
        ("v_or3_b32 v10, v1, 8, 16", x | 24),
        ("v_add3_u32 v10, v1, v1, 1", x.wrapping_mul(2) + 1),
        ("v_xad_u32 v10, v1, 33, 7", (x ^ 33) + 7),
        ("v_bfe_u32 v10, v1, 8, 12", x >> 8 & 0xfff),
        ("v_bfe_i32 v10, v1, 24, 8", 0xffff_ff87),
        ("v_mad_u32_u24 v10, v1, 3, 1", 0x65_4321 * 3 + 1),
        ("v_mul_u32_u24 v10, 3, v1", 0x65_4321 * 3),
        ("v_mul_lo_u32 v10, v1, v1", x.wrapping_mul(x)),
        ("v_mul_hi_u32 v10, v1, v1", ((u64::from(x) * u64::from(x)) >> 32) as u32),
        ("v_alignbit_b32 v10, v1, 0, 28", x << 4),
        ("v_alignbyte_b32 v10, v1, 0, 3", x << 8),
        ("v_sub_u32 v10, 0, v1", x.wrapping_neg()),
        ("v_ashrrev_i32 v10, 4, v1", (x as i32 >> 4) as u32),
        (
            "v_bitop3_b32 v10, v1, 15, 48 bitop3:0x6a",
            (0..32).fold(0, |s, b| {
                let index = (x >> b & 1) * 4 + (15 >> b & 1) * 2 + (48 >> b & 1);
                s | (0x6a >> index & 1) << b
            }),
        ),
        ("v_bfrev_b32 v10, v1", x.reverse_bits()),
        ("v_not_b32 v10, v1", !x),
        ("v_xor_b32 v10, 0x12345678, v1", x ^ 0x1234_5678),
        ("v_cvt_f32_u32 v10, v1", (x as f32).to_bits()),
        ("v_max_i32 v10, 5, v1", 5),
        ("v_min_u32 v10, 5, v1", 5),
    ] {
        assert_eq!(one(&format!("  {line}\n"), x), want, "{line}");
    }
    assert_eq!(one("  s_mov_b32 s20, 0x0c010203\n  v_perm_b32 v10, v1, 0, s20\n", x), 0);
    assert_eq!(one("  s_mov_b32 s20, 0x0d0c0405\n  v_perm_b32 v10, v1, 0, s20\n", x), 0xff00_2143);
    assert_eq!(one("  s_movk_i32 s20, 0xff0\n  v_bfi_b32 v10, s20, v1, 1\n", x), x & 0xff0 | 1);
}

#[test]
fn wide_vectors_and_carries() {
    let mad =
        "  v_mov_b32 v2, -1\n  v_mov_b32 v3, 1\n  v_mad_u64_u32 v[4:5], s[20:21], v1, v1, v[2:3]\n";
    let want = 0x8765_4321u64 * 0x8765_4321 + 0x1_ffff_ffff;
    assert_eq!(one(&format!("{mad}  v_mov_b32 v10, v4\n"), 0x8765_4321), want as u32);
    assert_eq!(one(&format!("{mad}  v_mov_b32 v10, v5\n"), 0x8765_4321), (want >> 32) as u32);
    let add = "  v_add_co_u32 v2, vcc, -1, v1\n  s_nop 1\n  v_addc_co_u32 v10, vcc, v1, v1, vcc\n";
    assert_eq!(one(add, 7), 15);
    let sub = "  v_sub_co_u32 v2, vcc, 3, v1\n  v_mov_b32 v3, 0\n  s_nop 1\n  v_subb_co_u32 v10, vcc, v1, v3, vcc\n";
    assert_eq!(one(sub, 7), 6);
    let shift = "  v_mov_b32 v2, v1\n  v_mov_b32 v3, 0\n  v_lshlrev_b64 v[4:5], 4, v[2:3]\n  v_lshl_add_u64 v[6:7], v[2:3], 4, v[4:5]\n";
    assert_eq!(one(&format!("{shift}  v_mov_b32 v10, v7\n"), 0xf000_0000), 0x1e);
    let select = "  v_cmp_gt_u32 vcc, 32, v0\n  v_mov_b32 v2, 1\n  s_nop 1\n  v_cndmask_b32 v10, v1, v2, vcc\n";
    assert_eq!(lanes(select, &[9])[31..33], [1, 9]);
}

#[test]
fn lanes_know_their_number_and_meet() {
    let all = lanes("  v_mbcnt_lo_u32_b32 v2, -1, 0\n  v_mbcnt_hi_u32_b32 v10, -1, v2\n", &[0]);
    assert_eq!(all, (0..64).collect::<Vec<_>>());
    let swapped = "  v_add_u32 v2, 0x100, v0\n  v_mov_b32 v10, v0\n  s_nop 1\n  v_permlane32_swap_b32 v10, v2\n";
    let all = lanes(swapped, &[0]);
    assert_eq!((all[0], all[31], all[32], all[63]), (0, 31, 0x100, 0x100 + 31));
    let swapped = swapped.replace("32_swap", "16_swap");
    let all = lanes(&swapped, &[0]);
    assert_eq!((all[15], all[16], all[32], all[48]), (15, 0x100, 32, 0x100 + 32));
    let pull = "  v_xor_b32 v2, 4, v9\n  ds_bpermute_b32 v10, v2, v0\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(lanes(pull, &[0])[..3], [1, 0, 3]);
    let push =
        pull.replace("v_xor_b32 v2, 4, v9", "v_add_u32 v2, 4, v9").replace("bpermute", "permute");
    assert_eq!(lanes(&push, &[0])[..3], [63, 0, 1]);
    assert_eq!(
        lanes("  v_readlane_b32 s20, v0, 5\n  s_nop 1\n  v_mov_b32 v10, s20\n", &[0]),
        [5; 64]
    );
}

#[test]
fn scalars_branches_and_masks() {
    let body = "  s_mov_b32 s20, 0\n  s_mov_b32 s21, 0\nL:\n  s_add_u32 s20, s20, s21\n  s_add_i32 s21, s21, 1\n  s_cmp_lt_i32 s21, 5\n  s_cbranch_scc1 L\n  v_mov_b32 v10, s20\n";
    assert_eq!(one(body, 0), 10);
    let wide = "  s_mov_b32 s20, -1\n  s_mov_b32 s21, 0\n  s_add_u32 s20, s20, 1\n  s_addc_u32 s21, s21, 7\n  s_lshl_b64 s[20:21], s[20:21], 4\n  v_mov_b32 v10, s21\n";
    assert_eq!(one(wide, 0), 0x80);
    let table = [
        ("s_movk_i32 s21, 0x1234\n  s_bfe_u32 s20, s21, 0x80004", 0x23),
        ("s_mov_b32 s21, 0x10000\n  s_mul_hi_u32 s20, s21, 0x30000", 3),
        ("s_mul_i32 s20, 7, -3", (-21i32) as u32),
        ("s_lshl2_add_u32 s20, 5, 3", 23),
        ("s_andn2_b32 s20, 15, 5", 10),
        ("s_bfm_b32 s20, 4, 8", 0xf00),
        ("s_pack_ll_b32_b16 s20, 1, 2", 0x2_0001),
        ("s_min_u32 s20, 3, -1", 3),
        ("s_min_i32 s20, 3, -1", u32::MAX),
        ("s_lshr_b32 s20, -1, 28", 15),
    ];
    for (line, want) in table {
        assert_eq!(one(&format!("  {line}\n  v_mov_b32 v10, s20\n"), 0), want, "{line}");
    }
    let masked = "  v_mov_b32 v10, 1\n  v_cmp_gt_u32 vcc, 3, v0\n  s_and_saveexec_b64 s[20:21], vcc\n  v_mov_b32 v10, 2\n  s_mov_b64 exec, s[20:21]\n";
    assert_eq!(lanes(masked, &[0])[1..5], [2, 2, 1, 1]);
}

#[test]
fn lds_widths_pairs_and_transposes() {
    let pair = "  v_lshlrev_b32 v2, 3, v0\n  v_add_u32 v3, 0x100, v0\n  ds_write2_b32 v2, v0, v3 offset0:0 offset1:1\n  ds_read2_b32 v[4:5], v2 offset0:1 offset1:0\n  s_waitcnt lgkmcnt(0)\n  v_lshl_or_b32 v10, v4, 16, v5\n";
    assert_eq!(lanes(pair, &[0])[5], 0x105_0005);
    let bytes =
        "  ds_write_b8 v0, v0 offset:64\n  ds_read_u8 v10, v0 offset:64\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(lanes(bytes, &[0])[63], 63);
    let halves = "  v_lshlrev_b32 v2, 1, v0\n  v_lshlrev_b32 v3, 16, v0\n  ds_write_b16_d16_hi v2, v3\n  ds_read_u16 v10, v2\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(lanes(halves, &[0])[63], 63);
    let triple = "  v_lshlrev_b32 v2, 4, v0\n  v_mov_b32 v4, v0\n  v_mov_b32 v5, v0\n  v_mov_b32 v6, v9\n  ds_write_b96 v2, v[4:6]\n  ds_read_b32 v10, v2 offset:8\n  s_waitcnt lgkmcnt(0)\n";
    assert_eq!(lanes(triple, &[0])[3], 12);
}

#[test]
fn halves_of_16_bit_loads_do_not_survive_under_sram_ecc() {
    let body = "  global_load_short_d16 v1, v9, s[4:5]\n  s_waitcnt vmcnt(0)\n  global_load_short_d16_hi v1, v9, s[4:5] offset:2\n  s_waitcnt vmcnt(0)\n  v_mov_b32 v10, v1\n";
    let text = amdgcn("gfx950", &format!("{body}{STORE}"), false);
    let fault = go(&Kernel::parse_amdgcn(&text).expect("parses"), 64, &[0; 64])
        .expect_err("half a register");
    assert_eq!(fault.kind, FaultKind::UninitialisedRegister);
    assert!(fault.sentence.contains("SRAM ECC"), "{fault}");
    let kept = text.replace("--gfx950", "--gfx950:sramecc-");
    let input: Vec<u32> = (0..64).map(|i| i * 0x1_0001).collect();
    assert_eq!(
        go(&Kernel::parse_amdgcn(&kept).expect("parses"), 64, &input).expect("kept").1[..64],
        input
    );
    let packed = "  global_load_short_d16 v1, v9, s[4:5]\n  global_load_short_d16 v2, v9, s[4:5] offset:2\n  s_waitcnt vmcnt(0)\n  v_and_b32 v1, 0xffff, v1\n  v_lshl_or_b32 v10, v2, 16, v1\n";
    assert_eq!(
        go_amd("gfx950", &format!("{packed}{STORE}"), 64, &input).expect("packed by hand").1[..64],
        input
    );
}

#[test]
fn buffers_have_a_range_and_a_12_bit_offset() {
    let rsrc = "  s_mov_b32 s8, s4\n  s_mov_b32 s9, s5\n  s_movk_i32 s10, 0x80\n  s_mov_b32 s11, 0x20000\n";
    let load = format!(
        "{rsrc}  buffer_load_dword v10, v9, s[8:11], 0 offen offset:4\n  s_waitcnt vmcnt(0)\n{STORE}"
    );
    let input: Vec<u32> = (100..164).collect();
    let (report, out) = go_amd("gfx950", &load, 64, &input).expect("no fault");
    assert_eq!((out[0], out[30], out[31], out[63]), (101, 131, 0, 0));
    assert_eq!(report.clamped, 33);
    let scalar = load
        .replace("s[8:11], 0 offen offset:4", "s[8:11], s20 offen")
        .replace("  buffer", "  s_movk_i32 s20, 0x7c\n  buffer");
    assert_eq!(go_amd("gfx950", &scalar, 64, &input).expect("no fault").1[..2], [131, 0]);
    assert_eq!(kind("gfx950", &load.replace("offset:4", "offset:4096")), FaultKind::InvalidOperand);
    let dma = format!(
        "{rsrc}  s_mov_b32 m0, 0x40\n  s_nop 0\n  buffer_load_dword v9, s[8:11], 0 offen lds\n  s_waitcnt vmcnt(0)\n  ds_read_b32 v10, v9 offset:64\n  s_waitcnt lgkmcnt(0)\n{STORE}"
    );
    let (report, out) = go_amd("gfx950", &dma, 64, &input).expect("no fault");
    assert_eq!((out[0], out[31], out[32]), (100, 131, 0));
    assert_eq!(
        report.accesses.iter().filter(|a| a.space == Space::Shared && a.is_write).count(),
        1
    );
}

#[test]
fn asynchrony_is_judged() {
    let load = "  global_load_dword v1, v9, s[4:5]\n";
    assert_eq!(
        kind("gfx950", &format!("{load}  v_mov_b32 v10, v1\n")),
        FaultKind::RegisterInFlight
    );
    assert_eq!(kind("gfx950", &format!("{load}  v_mov_b32 v1, 0\n")), FaultKind::RegisterInFlight);
    assert_eq!(
        kind("gfx950", &format!("{load}  s_waitcnt lgkmcnt(0)\n  v_mov_b32 v10, v1\n")),
        FaultKind::RegisterInFlight
    );
    // Scalar loads return in any order: a count above zero covers none of them.
    let two = "  s_load_dword s20, s[4:5], 0x0\n  s_load_dword s21, s[4:5], 0x4\n  s_waitcnt lgkmcnt(1)\n  s_mov_b32 s22, s20\n";
    assert_eq!(kind("gfx950", two), FaultKind::RegisterInFlight);
    assert!(go_amd("gfx950", &two.replace("lgkmcnt(1)", "lgkmcnt(0)"), 64, &[0; 4]).is_ok());
    // In order: the older of two vector loads is there when one is left.
    let older = "  global_load_dword v1, v9, s[4:5]\n  global_load_dword v2, v9, s[4:5]\n  s_waitcnt vmcnt(1)\n  v_mov_b32 v10, v1\n";
    assert!(go_amd("gfx950", older, 64, &[0; 64]).is_ok());
    assert_eq!(kind("gfx950", &older.replace("v10, v1", "v10, v2")), FaultKind::RegisterInFlight);
    // An LDS write that is not waited for before the barrier is not seen behind it.
    let other = "  v_xor_b32 v3, 0x100, v9\n  ds_write_b32 v9, v0\n  WAIT\n  s_barrier\n  ds_read_b32 v4, v3\n  s_waitcnt lgkmcnt(0)\n";
    let fault =
        go_amd("gfx950", &other.replace("WAIT", "s_nop 0"), 128, &[0; 4]).expect_err("race");
    assert_eq!(fault.kind, FaultKind::RaceReadAfterWrite);
    assert!(go_amd("gfx950", &other.replace("WAIT", "s_waitcnt lgkmcnt(0)"), 128, &[0; 4]).is_ok());
    // A load to LDS does not wait for LDS reads of its own wave.
    let over = "  s_mov_b32 m0, 0\n  ds_write_b32 v9, v0\n  ds_read_b32 v4, v9\n  WAIT\n  global_load_lds_dword v9, s[4:5]\n  s_waitcnt vmcnt(0)\n";
    assert_eq!(kind("gfx950", &over.replace("WAIT", "s_nop 0")), FaultKind::AsyncOverwrite);
    assert!(go_amd("gfx950", &over.replace("WAIT", "s_waitcnt lgkmcnt(0)"), 64, &[0; 64]).is_ok());
}

#[test]
fn placement_is_judged() {
    for (body, want) in [
        ("  v_mov_b32 v64, 0\n", FaultKind::RegisterOutsidePool),
        ("  v_accvgpr_write_b32 a64, 0\n", FaultKind::RegisterOutsidePool),
        ("  s_mov_b32 s64, 0\n", FaultKind::RegisterOutsidePool),
        ("  global_load_dwordx2 v[1:2], v9, s[4:5]\n", FaultKind::RegisterOutsidePool),
        ("  v_add_u32 v10, s4, v9\n  v_xad_u32 v10, s4, s5, v9\n", FaultKind::InvalidOperand),
        ("  v_lshl_add_u32 v10, v9, 2, 0x1000\n", FaultKind::InvalidOperand),
        ("  v_readfirstlane_b32 m0, v9\n", FaultKind::InvalidOperand),
        ("  s_add_u32 s20, 0x1000, 0x2000\n", FaultKind::InvalidOperand),
        ("  v_mfma_f32_32x32x16_f16 v[0:15], v[2:5], v[20:23], 0\n", FaultKind::InvalidOperand),
        ("  global_load_dword v10, v9, s[4:5] offset:4096\n", FaultKind::InvalidOperand),
        ("  ds_read_b32 v10, v9\n", FaultKind::UninitialisedShared),
        ("  ds_write_b32 v0, v9\n", FaultKind::Misaligned),
        ("  ds_write_b32 v9, v9 offset:3844\n", FaultKind::SharedOutOfBounds),
        ("  v_mov_b32 v1, 0\n  ds_write_b32 v1, v9\n", FaultKind::RaceWriteAfterWrite),
        ("  s_load_dword s20, s[0:1], 0x10\n", FaultKind::Parameter),
        ("  s_load_dword s20, s[0:1], 0x2\n", FaultKind::Misaligned),
        ("  v_mov_b32 v10, v20\n", FaultKind::UninitialisedRegister),
        ("  s_mov_b32 s20, s30\n", FaultKind::UninitialisedRegister),
        ("  s_cbranch_scc1 E\nE:\n", FaultKind::UninitialisedRegister),
        (
            "  v_cmp_gt_u32 vcc, 3, v0\n  s_and_saveexec_b64 s[20:21], vcc\n  v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], 0\n",
            FaultKind::WarpDivergence,
        ),
    ] {
        assert_eq!(kind("gfx950", body), want, "{body}");
    }
    for (gfx, body) in [
        ("gfx942", "  v_bitop3_b32 v10, v0, v9, v0 bitop3:0x78\n"),
        ("gfx942", "  ds_read_b64_tr_b16 v[2:3], v0\n"),
        ("gfx942", "  global_load_lds_dwordx4 v9, s[4:5]\n"),
        ("gfx90a", "  v_mfma_f32_16x16x32_f16 v[0:3], v[4:7], v[8:11], 0\n"),
        ("gfx950", "  v_frobnicate_b32 v0, v1\n"),
        ("gfx950", "  v_add_u32 v0, v1, v2 clamp\n"),
        ("gfx950", "  s_waitcnt vscnt(0)\n"),
        ("gfx950", "  s_branch nowhere\n"),
        ("gfx950", "  .long 5\n"),
    ] {
        assert!(Kernel::parse_amdgcn(&amdgcn(gfx, body, false)).is_err(), "{gfx} {body}");
    }
}

#[test]
fn addresses_have_three_forms() {
    let flat = "  v_mov_b32 v3, s5\n  v_add_co_u32 v2, vcc, s4, v9\n  s_nop 1\n  v_addc_co_u32 v3, vcc, 0, v3, vcc\n  global_load_dword v10, v[2:3], off offset:-4\n  s_waitcnt vmcnt(0)\n";
    let input: Vec<u32> = (0..4096).collect();
    // Buffers start 4 KiB below a 4 GiB boundary: the last threads of 2048 need the carry.
    let far = flat.replace("s4, v9", "s20, v9").replace(
        "  v_mov_b32 v3, s5",
        "  s_add_u32 s20, s4, 0xfc0\n  s_mov_b32 s21, s5\n  v_mov_b32 v3, s21",
    );
    let (_, out) = go_amd("gfx950", &format!("{far}{STORE}"), 64, &input).expect("no fault");
    assert_eq!((out[0], out[63]), (1007, 1007 + 63));
    let lost = far.replace("v_addc_co_u32 v3, vcc, 0, v3, vcc", "s_nop 0");
    assert_eq!(
        go_amd("gfx950", &format!("{lost}{STORE}"), 64, &input).expect_err("lost carry").kind,
        FaultKind::GlobalOutOfBounds
    );
    let wide = "  v_lshl_add_u64 v[2:3], s[4:5], 0, v[20:21]\n  global_load_ushort v10, v[2:3], off\n  s_waitcnt vmcnt(0)\n";
    let body = format!("  v_mov_b32 v20, v9\n  v_mov_b32 v21, 0\n{wide}{STORE}");
    assert_eq!(go_amd("gfx942", &body, 64, &input).expect("no fault").1[63], 63);
}

#[test]
fn workgroups_know_their_place() {
    let body = "  s_lshl_b32 s20, s2, 8\n  v_add_u32 v9, s20, v9\n  v_mov_b32 v10, s2\n  global_store_dword v9, v10, s[6:7]\n";
    let kernel = Kernel::parse_amdgcn(&amdgcn("gfx942", body, false)).expect("parses");
    let mut memory = Memory::new();
    let (p, q) = (memory.add_zeros("p", 4), memory.add_zeros("q", 768));
    let launch = Launch::new(64, vec![Param::Buffer(p), Param::Buffer(q)])
        .grid(3, 1, 1)
        .banks(BankModel::none());
    run(&kernel, &launch, &mut memory).expect("no fault");
    let out = memory.u32s(q);
    assert_eq!((out[0], out[64], out[191]), (0, 1, 2));
    assert!(memory.write_counts(q).iter().all(|&n| n == 1));
}

#[test]
fn frames_of_larger_kernels_are_read() {
    let text = r#"
    .amdgcn_target "amdgcn-amd-amdhsa--gfx950"
    .amdhsa_code_object_version 5
    .text
    .globl k
    .p2align 8
    .type k,@function
k:
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_load_dword s4, s[0:1], 0x8 // a parameter
  v_lshlrev_b32 v1, 2, v0
  v_accvgpr_write_b32 a0, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v2, s4 /* also
  a comment */
  global_store_dword v1, v2, s[2:3]
  s_endpgm
.Lk_end:
    .size k, .Lk_end-k
    .rodata
    .p2align 6
    .amdhsa_kernel k
        .amdhsa_group_segment_fixed_size 0
        .amdhsa_private_segment_fixed_size 0
        .amdhsa_kernarg_size 12
        .amdhsa_user_sgpr_count 2
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_system_sgpr_workgroup_id_x 0
        .amdhsa_system_vgpr_workitem_id 0
        .amdhsa_next_free_vgpr ((3+3)/4)*4+1
        .amdhsa_next_free_sgpr 5
        .amdhsa_accum_offset ((3+3)/4)*4
    .end_amdhsa_kernel
    .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: 12
    .group_segment_fixed_size: 0
    .max_flat_workgroup_size: 64
    .args:
      - .offset: 0
        .size: 8
        .value_kind: by_value
...
    .end_amdgpu_metadata
"#;
    let kernel = Kernel::parse_amdgcn(text).expect("parses");
    let mut memory = Memory::new();
    let p = memory.add_zeros("p", 256);
    let mut launch = Launch::new(64, vec![Param::Buffer(p), Param::U32(7)]);
    run(&kernel, &launch, &mut memory).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!(memory.u32s(p), [7; 64]);
    launch.block = [128, 1, 1];
    assert_eq!(
        run(&kernel, &launch, &mut memory).expect_err("too many").kind,
        FaultKind::Parameter
    );
    let wrong =
        text.replace(".amdhsa_group_segment_fixed_size 0", ".amdhsa_group_segment_fixed_size 16");
    assert!(Kernel::parse_amdgcn(&wrong).is_err());
}
