//! Every wait-state rule, at its exact distance: one state less is a fault, the distance is not.
//!
//! The distances are those that `llc-22 -run-pass post-RA-hazard-rec` inserts for the same pairs.

use crate::common::{amdgcn, go};
use lanebook_replay::{FaultKind, Kernel};

fn holds(gfx: &str, first: &str, states: u32, second: &str) -> bool {
    let mut nops = String::new();
    let mut left = states;
    while left > 0 {
        let some = left.min(16);
        nops += &format!("  s_nop {}\n", some - 1);
        left -= some;
    }
    let mut text = amdgcn(gfx, &format!("  {first}\n{nops}  {second}\n"), true);
    if gfx == "gfx90a" {
        // The older spelling.
        text = text.replace("16x16x16_f16", "16x16x16f16").replace("32x32x8_f16", "32x32x8f16");
    }
    let kernel = Kernel::parse_amdgcn(&text).unwrap_or_else(|e| panic!("{e}"));
    match go(&kernel, 64, &[0; 64]) {
        Ok(_) => true,
        Err(fault) if fault.kind == FaultKind::MissingWaitStates => false,
        Err(fault) => panic!("{fault}"),
    }
}

const SHORT_OLD: &str = "v_mfma_f32_16x16x16_f16 v[12:15], v[40:41], v[42:43], v[12:15]";
const LONG_OLD: &str = "v_mfma_f32_32x32x8_f16 v[12:27], v[40:41], v[42:43], v[12:27]";
const SHORT: &str = "v_mfma_f32_16x16x32_f16 v[12:15], v[40:43], v[44:47], v[12:15]";
const LONG: &str = "v_mfma_f32_32x32x16_f16 v[12:27], v[40:43], v[44:47], v[12:27]";

#[test]
fn distances_are_exact() {
    // first, then, needed on gfx90a, gfx942, gfx950 (-1: not there or no rule)
    let rules: [(&str, &str, [i32; 3]); 28] = [
        (SHORT_OLD, "v_mov_b32 v50, v13", [11, 7, 8]),
        (LONG_OLD, "v_mov_b32 v50, v13", [19, 11, 12]),
        (SHORT, "v_mov_b32 v50, v13", [-1, -1, 8]),
        (LONG, "v_mov_b32 v50, v27", [-1, -1, 12]),
        (SHORT_OLD, "global_store_dword v9, v13, s[6:7]", [11, 7, 8]),
        (SHORT_OLD, "ds_write_b32 v9, v13", [11, 7, 8]),
        (SHORT_OLD, "v_mov_b32 v13, 0", [11, 7, 8]),
        (SHORT_OLD, "global_load_dword v13, v9, s[6:7]", [11, 7, 8]),
        (LONG_OLD, "v_mfma_f32_32x32x8_f16 v[28:43], v[12:13], v[44:45], 0", [19, 11, 12]),
        (SHORT_OLD, SHORT_OLD, [0, 0, 0]),
        (SHORT, SHORT, [-1, -1, 0]),
        (SHORT_OLD, "v_mfma_f32_16x16x16_f16 v[14:17], v[40:41], v[42:43], v[14:17]", [8, 5, 6]),
        (LONG_OLD, "v_mfma_f32_32x32x8_f16 v[14:29], v[40:41], v[42:43], v[14:29]", [16, 9, 10]),
        (LONG, "v_mfma_f32_32x32x16_f16 v[14:29], v[40:43], v[44:47], v[14:29]", [-1, -1, 10]),
        (
            "v_mfma_f32_16x16x16_f16 v[50:53], v[40:41], v[42:43], v[12:15]",
            "v_mov_b32 v13, 0",
            [7, 3, 3],
        ),
        (
            "v_mfma_f32_32x32x8_f16 v[28:43], v[44:45], v[46:47], v[12:27]",
            "v_mov_b32 v13, 0",
            [15, 7, 7],
        ),
        (
            "v_mfma_f32_16x16x16_f16 a[0:3], v[40:41], v[42:43], a[0:3]",
            "v_accvgpr_read_b32 v13, a0",
            [11, 7, 8],
        ),
        ("v_mov_b32 v40, 0", SHORT_OLD, [2, 2, 2]),
        ("v_mov_b32 v12, 0", SHORT_OLD, [2, 2, 2]),
        ("v_mov_b32 v40, 0", "v_readfirstlane_b32 s20, v40", [0, 1, 1]),
        ("v_readfirstlane_b32 s20, v40", "v_mov_b32 v41, s20", [0, 2, 2]),
        ("v_readfirstlane_b32 s20, v40", "v_readlane_b32 s21, v41, s20", [4, 4, 4]),
        ("v_readfirstlane_b32 s6, v45", "global_load_dword v41, v9, s[4:5]", [0, 0, 0]),
        ("v_add_co_u32 v40, vcc, v41, v42", "v_addc_co_u32 v43, vcc, v44, v45, vcc", [0, 2, 2]),
        ("v_cmp_lt_u32 vcc, v40, v41", "v_cndmask_b32 v42, v43, v44, vcc", [0, 2, 2]),
        ("global_store_dwordx4 v9, v[40:43], s[6:7]", "v_mov_b32 v41, 0", [1, 2, 2]),
        ("global_store_dwordx2 v9, v[40:41], s[6:7]", "v_mov_b32 v41, 0", [0, 0, 0]),
        ("v_mov_b32 v40, 0", "v_permlane32_swap_b32 v40, v41", [-1, -1, 2]),
    ];
    for (first, second, needs) in rules {
        for (gfx, need) in ["gfx90a", "gfx942", "gfx950"].into_iter().zip(needs) {
            if need < 0 {
                continue;
            }
            assert!(holds(gfx, first, need as u32, second), "{gfx}: {first} / {need} / {second}");
            if need > 0 {
                assert!(
                    !holds(gfx, first, need as u32 - 1, second),
                    "{gfx}: {first} / {} / {second}",
                    need - 1
                );
            }
        }
    }
}

#[test]
fn loads_to_lds_wait_for_m0_and_scalar_addresses_for_vector_writes() {
    for gfx in ["gfx942", "gfx950"] {
        let dma = "global_load_lds_dword v9, s[4:5]";
        assert!(!holds(gfx, "s_mov_b32 m0, 0", 0, dma));
        assert!(holds(gfx, "s_mov_b32 m0, 0", 1, dma));
        let first =
            "s_mov_b32 s21, s5\n  v_mov_b32 v40, s4\n  s_nop 1\n  v_readfirstlane_b32 s20, v40";
        let then = "global_load_dword v41, v9, s[20:21]";
        assert!(!holds(gfx, first, 4, then));
        assert!(holds(gfx, first, 5, then));
    }
}

/// Stricter than LLVM 22 on purpose (llvm-project pull request 218363).
#[test]
fn another_instruction_does_not_get_the_accumulator_forwarded() {
    assert!(!holds("gfx950", SHORT, 5, SHORT_OLD));
    assert!(holds("gfx950", SHORT, 6, SHORT_OLD));
}
