//! gfx1250: what a missing wait, barrier or instruction between does, line by line, and that each
//! is seen.
#![allow(missing_docs)]

use lanebook_kernels::{example, kernel_text};
use lanebook_replay::{FaultKind, Kernel, Launch, Memory, Param, run};

fn matrix(id: lanebook_replay::BufferId, rows: u32, cols: u32) -> [Param; 4] {
    [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
}

/// The example's tile with 32 x 32 of C, 32 of depth, one or more waves.
fn program(name: &str, threads: u32) -> String {
    let text = example(name)
        .replace("128x128", "32x32")
        .replace("128x64", "32x32")
        .replace("64x128", "32x32")
        .replace("step 64", "step 32");
    text.replace("threads = 128", &format!("threads = {threads}")).replace("div = 128", "div = 32")
}

/// Wrong elements of C, or the fault.
fn product(text: &str, threads: u32, k: u32) -> Result<usize, FaultKind> {
    let (m, n) = (32u32, 32u32);
    let a: Vec<f32> = (0..m * k).map(|i| ((i * 7 + i / k) % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| ((i * 5 + i / n) % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let (ia, ib, ic) = (
        memory.add_f16("A", &a),
        memory.add_f16("B", &b),
        memory.add_f32("C", &vec![7.0; (m * n) as usize]),
    );
    let mut params: Vec<Param> = Vec::new();
    params.extend(matrix(ia, m, k));
    params.extend(matrix(ib, k, n));
    params.extend(matrix(ic, m, n));
    params.extend([Param::U32(0), Param::U32(0), Param::U32(k)]);
    let kernel = Kernel::parse_amdgcn(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(threads, params), &mut memory).map_err(|f| f.kind)?;
    let c = memory.f32s(ic);
    let right = |i: u32, j: u32| {
        (0..k).map(|x| a[(i * k + x) as usize] * b[(x * n + j) as usize]).sum::<f32>()
    };
    Ok((0..m * n).filter(|at| c[*at as usize] != right(at / n, at % n)).count())
}

fn without(text: &str, at: usize) -> String {
    text.lines().enumerate().filter(|(k, _)| *k != at).map(|(_, l)| format!("{l}\n")).collect()
}

/// Each wait for a copy, and each that keeps a copy off what is still read, is needed.
#[test]
fn a_missing_wait_is_seen() {
    for name in ["gemm.tile", "gemm_store.tile"] {
        let text = kernel_text(&program(name, 64), "gfx1250");
        assert_eq!(product(&text, 64, 96), Ok(0), "{text}");
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let (mut waits, mut kinds) = (0, Vec::new());
        for at in 0..lines.len() {
            let word = lines[at].split(' ').next().unwrap_or("");
            if !["s_wait_asynccnt", "s_wait_dscnt", "s_wait_kmcnt", "s_barrier_wait"]
                .contains(&word)
            {
                continue;
            }
            // In front of a barrier behind the products these have waited for all that was read.
            if word == "s_wait_dscnt"
                && lines[at + 1].starts_with("s_barrier_signal")
                && !lines[..at].iter().any(|l| l.starts_with("ds_store"))
            {
                continue;
            }
            waits += 1;
            let got = product(&without(&text, at), 64, 96);
            assert!(got != Ok(0), "{name}: line {at}, `{}`, is not missed\n{text}", lines[at]);
            kinds.extend(got.err());
        }
        assert!(waits >= 5, "{waits}\n{text}");
        assert!(
            kinds.contains(&FaultKind::AsyncNotWaited)
                && kinds.contains(&FaultKind::RegisterInFlight),
            "{kinds:?}"
        );
    }
}

/// A copy to LDS without the wait of its own counter is not made good by the others.
#[test]
fn other_counters_do_not_stand_in() {
    let text = kernel_text(&program("gemm.tile", 64), "gfx1250");
    let broken = text.replace("s_wait_asynccnt 0", "s_wait_loadcnt 0");
    assert_ne!(text, broken);
    assert_eq!(product(&broken, 64, 64), Err(FaultKind::AsyncNotWaited));
}

fn header(body: &str) -> String {
    format!(
        ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1250\"\n.text\nk:\n{body}  s_endpgm\n.amdhsa_kernel k\n  .amdhsa_next_free_vgpr 64\n  .amdhsa_next_free_sgpr 16\n  \
         .amdhsa_group_segment_fixed_size 4096\n  .amdhsa_user_sgpr_kernarg_segment_ptr 1\n  .amdhsa_system_sgpr_workgroup_id_x 0\n.end_amdhsa_kernel\n"
    )
}

fn outcome(body: &str) -> Option<FaultKind> {
    let mut memory = Memory::new();
    let buffer = memory.add("A", (0..=255).collect());
    let text = header(&format!("  s_load_b64 s[2:3], s[0:1], 0\n  s_wait_kmcnt 0\n{body}"));
    let kernel = Kernel::parse_amdgcn(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    run(&kernel, &Launch::new(32, vec![Param::Buffer(buffer)]), &mut memory).err().map(|f| f.kind)
}

/// Distances behind the matrix unit and behind the transcendental one: exactly as many as LLVM's
/// table names are enough.
#[test]
fn vector_instructions_stand_between() {
    let zero: String = (8..56).map(|v| format!("  v_mov_b32 v{v}, 0\n")).collect();
    let product = |form: &str, a: &str, b: &str| {
        format!("{zero}  v_wmma_f32_{form} v[8:15], {a}, {b}, v[8:15]\n")
    };
    let nops = |n: usize| "  v_nop\n".repeat(n);
    for (form, a, b, need) in [
        ("16x16x32_f16", "v[16:23]", "v[24:31]", 5),
        ("16x16x64_fp8_fp8", "v[16:23]", "v[24:31]", 2),
        ("16x16x128_fp8_fp8", "v[16:31]", "v[32:47]", 5),
        ("16x16x4_f32", "v[16:17]", "v[18:19]", 0),
    ] {
        let first = product(form, a, b);
        // Its result as A of a product, in a vector instruction; its A overwritten.
        for (then, less) in [
            ("v_wmma_f32_16x16x32_f16 v[48:55], v[8:15], v[16:23], 0", 0),
            ("v_add_f32 v56, v8, v8", 1),
            ("v_mov_b32 v9, 0", 1),
            ("v_mov_b32 v17, 0", 1),
        ] {
            let enough = usize::max(need, 1) - less;
            let enough = if need == 0 { 0 } else { enough };
            let with = |n: usize| outcome(&format!("{first}{}  {then}\n", nops(n)));
            assert_eq!(with(enough), None, "{form}: {then}");
            if enough > 0 {
                assert_eq!(with(enough - 1), Some(FaultKind::MissingWaitStates), "{form}: {then}");
            }
        }
        // Accumulating needs nothing.
        assert_eq!(
            outcome(&format!("{first}  v_wmma_f32_{form} v[8:15], {a}, {b}, v[8:15]\n")),
            None,
            "{form}"
        );
    }
    for (then, bad) in [
        ("v_add_f32 v10, v9, v8", true),
        ("v_mov_b32 v8, 0", true),
        ("v_exp_f32 v10, v9", false),
        ("v_add_f32 v10, v11, v11", false),
    ] {
        let text = |n: usize| format!("{zero}  v_exp_f32 v9, v8\n{}  {then}\n", nops(n));
        assert_eq!(outcome(&text(0)), bad.then_some(FaultKind::MissingWaitStates), "{then}");
        assert_eq!(outcome(&text(1)), None, "{then}");
    }
}

/// Copies between the memories: the two directions are not ordered, LDS instructions not with them;
/// a byte that is read by a copy stays until then.
#[test]
fn copies_are_ordered_by_their_counter_alone() {
    let start = "  v_lshlrev_b32 v1, 2, v0\n  v_mov_b32 v2, 0\n";
    let load = "  global_load_async_to_lds_b32 v1, v1, s[2:3]\n";
    let store = "  global_store_async_from_lds_b32 v1, v1, s[2:3] offset:128\n";
    let (write, wait, lds) =
        ("  ds_store_b32 v1, v2 offset:128\n", "  s_wait_asynccnt 0\n", "  s_wait_dscnt 0\n");
    let run = |parts: &[&str]| outcome(&format!("{start}{}", parts.concat()));
    assert_eq!(run(&[load, wait, "  ds_load_b32 v3, v1\n"]), None);
    assert_eq!(run(&[load, "  ds_load_b32 v3, v1\n"]), Some(FaultKind::AsyncNotWaited));
    assert_eq!(run(&[write, lds, store, wait]), None);
    assert_eq!(run(&[write, store, wait]), Some(FaultKind::AsyncNotWaited));
    assert_eq!(run(&[write, lds, store, write]), Some(FaultKind::AsyncOverwrite));
    assert_eq!(run(&[write, lds, store, wait, write]), None);
    // One of each: the count of one that is left says nothing of which.
    assert_eq!(
        run(&[write, lds, load, store, "  s_wait_asynccnt 1\n", "  ds_load_b32 v3, v1\n"]),
        Some(FaultKind::AsyncNotWaited)
    );
    assert_eq!(
        run(&[
            load,
            "  global_load_async_to_lds_b32 v1, v1, s[2:3] offset:128\n",
            "  s_wait_asynccnt 1\n",
            "  ds_load_b32 v3, v1\n"
        ]),
        None
    );
}
