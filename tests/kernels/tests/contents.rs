//! The checker of contents: every example passes on every architecture that compiles it, and steps
//! that were changed are noticed.
#![allow(missing_docs)]

use lanebook::check::FinalSteps;
use lanebook_kernels::mutants::{moved_tiles, rates};
use lanebook_kernels::{checked, example, try_with_kernel};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Every program of the folders of examples and of programs that were once wrong.
fn all_programs() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let files = [root.join("../../gen/cli/examples"), root.join("programs")]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("a folder"));
    let mut out: Vec<_> = files
        .flatten()
        .map(|f| f.path())
        .filter(|p| p.extension().is_some_and(|e| e == "tile"))
        .collect();
    out.sort();
    out.into_iter()
        .map(|p| (p.display().to_string(), std::fs::read_to_string(&p).expect("a program")))
        .collect()
}

/// Programs with a store, or a conversion, in a branch that none of the blocks takes that are looked
/// at, or of which what is read decides: it is not followed, and the summary counts it. Of each
/// program as many accesses at the most as stand in such a branch.
const LEFT_BRANCHES: [(&str, u32); 4] = [
    ("programs/atomics_through_pointers.tile", 1),
    ("programs/branches.tile", 1),
    ("programs/bodies_without_a_turn.tile", 1),
    // Which buffer of three it is, the loop counts: the elements of one are stored in each branch.
    ("programs/triton_buffers.tile", 5),
];

/// No false alarm: where a program is compiled, what its steps leave is what the plan says.
#[test]
fn examples_pass() {
    let (mut kernels, mut goals, mut addresses, mut alarms) = (0u32, 0u64, 0u64, Vec::new());
    let mut left = BTreeSet::new();
    for (name, source) in all_programs() {
        for arch in ["sm_80", "sm_90a", "sm_100a", "gfx908", "gfx950", "gfx1100", "gfx1250"] {
            let summary = match try_with_kernel(&source, arch, |program, compiled, _| {
                checked::check(program, &FinalSteps::of(compiled))
            }) {
                Err(_) => continue,
                Ok(Ok(summary)) => summary.contents,
                Ok(Err(violation)) => {
                    alarms.push(format!("{name} {arch}: {violation:?}"));
                    continue;
                }
            };
            // What elements of parallel loops hold is not followed yet, and the summary says so.
            let of_loops = source.contains("parallel ") || source.contains("#fragment");
            let is_followed = summary.unplaced == 0 && summary.unfollowed == 0;
            let known = LEFT_BRANCHES.iter().find(|(known, _)| name.ends_with(known));
            if let Some((_, each)) = known.filter(|_| !is_followed) {
                // The instructions of a store of a line or two, the registers of one conversion.
                let (unplaced, unfollowed) = (summary.unplaced, summary.unfollowed);
                let is_little = unplaced <= unfollowed * each && unfollowed <= 6;
                assert!(is_little, "{name} {arch}: {summary:?}");
                left.insert(name.clone());
            } else {
                assert!(is_followed != of_loops, "{name} {arch}: {summary:?}");
            }
            (kernels, goals, addresses) = (
                kernels + 1,
                goals + u64::from(summary.goals),
                addresses + u64::from(summary.addresses),
            );
        }
    }
    println!("{kernels} kernels, {goals} goals, {addresses} addresses");
    assert_eq!(left.len(), LEFT_BRANCHES.len(), "{left:?}");
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
    assert!(
        kernels >= 50 && goals > 20_000 && addresses > 20_000,
        "{kernels} kernels, {goals} goals, {addresses} addresses"
    );
}

/// Of random changes to final steps, each one that the replay calls wrong is noticed.
fn all_noticed(name: &str, source: &str, arch: &str, kinds: &[&str], each: usize) -> usize {
    let mut all = 0;
    for (kind, wrong, noticed) in rates(source, arch, each, kinds, true) {
        println!("{name} {arch} {kind}: {noticed} of {wrong}");
        assert_eq!(noticed, wrong, "{name} {arch} {kind}");
        all += wrong;
    }
    all
}

fn program(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("programs").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn changed_steps_are_noticed() {
    let kinds = ["exchanged", "read", "written", "immediate", "left out", "wait"];
    let kernels = [
        ("gemm.tile", "sm_80"),
        ("gemm.tile", "sm_90a"),
        ("gemm.tile", "sm_100a"),
        ("gemm_mxfp8.tile", "sm_100a"),
        ("gemm.tile", "gfx950"),
        ("layer_norm.tile", "sm_80"),
        ("layer_norm.tile", "gfx1100"),
        ("attention.tile", "sm_100a"),
    ];
    for (name, arch) in kernels {
        assert!(all_noticed(name, &example(name), arch, &kinds, 3) >= 12, "{name} {arch}");
    }
    for (name, arch) in [
        ("sum_transposed.tile", "sm_80"),
        ("sum_transposed.tile", "gfx942"),
        ("a_128_32_64_64_64_f16.tile", "gfx1100"),
        ("coordinates.tile", "sm_80"),
        ("coordinates.tile", "gfx942"),
        ("numbers_of_arguments.tile", "sm_90a"),
        ("numbers_of_arguments.tile", "gfx1100"),
    ] {
        assert!(
            all_noticed(
                name,
                &program(name),
                arch,
                &["written", "read", "exchanged", "packing", "immediate"],
                4
            ) >= 6,
            "{name} {arch}"
        );
    }
}

/// Tiles that a loop of stages writes beside its copies, and a product beside a ring.
#[test]
fn changes_beside_stages_are_noticed() {
    for (name, arch) in [
        ("staged_beside_a_running_tile.tile", "sm_80"),
        ("staged_beside_a_running_tile.tile", "gfx942"),
        ("staged_beside_a_loop_of_copies.tile", "sm_80"),
        ("staged_beside_a_copy_by_choice.tile", "gfx1100"),
        ("resident_factor_beside_stages.tile", "sm_100a"),
    ] {
        let kinds = ["exchanged", "read", "written", "left out", "wait"];
        assert!(all_noticed(name, &program(name), arch, &kinds, 4) >= 12, "{name} {arch}");
    }
}

/// Warps that copy for the others: their part, that of the readers, and what both hand over to each
/// other.
#[test]
fn changed_handovers_are_noticed() {
    let kinds =
        ["order", "parity", "exchanged", "read", "written", "immediate", "left out", "bound"];
    for (name, arch) in [
        ("apart.tile", "sm_90a"),
        ("apart.tile", "sm_120a"),
        ("apart_inside_a_loop.tile", "sm_100a"),
        ("apart_twice.tile", "sm_90a"),
    ] {
        assert!(all_noticed(name, &program(name), arch, &kinds, 3) >= 20, "{name} {arch}");
    }
}

/// Loops between two numbers of the run, of which each is another one in each block: where they
/// begin, how far they go, and what they do.
#[test]
fn changed_loops_of_parts_are_noticed() {
    let kinds = ["bound", "read", "written", "exchanged", "immediate", "left out", "guard"];
    let source = example("gemm_split_k.tile");
    for arch in ["sm_80", "gfx942", "gfx1100"] {
        assert!(all_noticed("gemm_split_k.tile", &source, arch, &kinds, 3) >= 18, "{arch}");
    }
}

/// Indices of other elements, guards of indices and of others left out.
#[test]
fn changed_indices_are_noticed() {
    for (name, arch, kinds, least) in [
        ("gathered_bounds.tile", "sm_80", &["index", "guard", "zeros", "read"][..], 10),
        ("gathered_bounds.tile", "gfx942", &["index", "guard", "zeros", "read"], 10),
        ("gathered_masked.tile", "gfx1100", &["index", "truth", "guard"], 6),
        ("gathered_elements.tile", "sm_90a", &["index", "read", "immediate", "exchanged"], 8),
        ("gathered_elements.tile", "gfx950", &["index", "read"], 6),
        ("gathered_gemm.tile", "sm_80", &["index", "guard", "left out"], 6),
        ("gathered_rows_f32.tile", "gfx1200", &["index", "read", "written"], 6),
        ("atomic_sums.tile", "sm_80", &["again", "guard", "index", "read"], 8),
        ("atomic_sums.tile", "gfx942", &["again", "guard", "index", "left out"], 8),
        ("atomic_whole.tile", "gfx1100", &["again", "index", "truth"], 6),
        ("atomic_old.tile", "sm_80", &["again", "guard", "index", "read", "written", "zeros"], 10),
        ("atomic_old.tile", "gfx1200", &["again", "guard", "index", "read", "written"], 10),
        ("atomic_compare.tile", "sm_90a", &["again", "guard", "read", "written", "exchanged"], 10),
        ("atomic_compare.tile", "gfx942", &["again", "index", "read", "written", "exchanged"], 10),
    ] {
        assert!(all_noticed(name, &program(name), arch, kinds, 4) >= least, "{name} {arch}");
    }
}

/// Guards of masked movements: left out, or of another element; what they leave alone not filled.
#[test]
fn changed_guards_are_noticed() {
    for (name, arch) in [
        ("masked_tails_f32.tile", "sm_80"),
        ("masked_other.tile", "sm_90a"),
        ("masked_other.tile", "gfx942"),
        ("masked_tails_f16.tile", "gfx1100"),
    ] {
        let kinds = ["guard", "truth", "zeros"];
        assert!(all_noticed(name, &program(name), arch, &kinds, 4) >= 6, "{name} {arch}");
    }
}

/// What was once wrong in the emitter, put back into its steps.
#[test]
fn faults_put_back_are_noticed() {
    let faults = [
        (
            "copies of what loops carry",
            "copy",
            &[("carried_swap.tile", "sm_80"), ("carried_rotation.tile", "gfx950")][..],
        ),
        (
            "sums where those lie that are still read",
            "in place",
            &[("sum_converted_residual.tile", "sm_80"), ("sum_transposed.tile", "gfx950")],
        ),
        (
            "the other half of a register",
            "half",
            &[
                ("loose_cast_and_transpose.tile", "sm_80"),
                ("loose_cast_through_shared.tile", "gfx950"),
            ],
        ),
        (
            "phases that nothing waits for",
            "wait",
            &[("copy_nobody_reads.tile", "sm_90a"), ("copy_unread_in_inner_loop.tile", "sm_100a")],
        ),
        (
            "wait states behind results that nobody uses",
            "states",
            &[
                ("dead_product_waits.tile", "gfx942"),
                ("dead_product_waits.tile", "gfx90a"),
                ("dead_reduction.tile", "gfx950"),
            ],
        ),
        (
            "loops that run no turn",
            "wait",
            &[("no_turn_around_barrier.tile", "sm_80"), ("no_turn_around_barrier.tile", "gfx1100")],
        ),
    ];
    for (fault, kind, programs) in faults {
        for (name, arch) in programs {
            assert!(
                all_noticed(name, &program(name), arch, &[kind], 4) > 0,
                "{fault}: {name} {arch}"
            );
        }
    }
}

/// Scratch and tiles that lie where another one lives.
#[test]
fn moved_tiles_are_noticed() {
    for (name, arch) in [
        ("scratch_beside_late_load.tile", "gfx1100"),
        ("buffers_that_live_at_once.tile", "sm_80"),
        ("buffers_that_live_at_once.tile", "gfx950"),
    ] {
        let (wrong, noticed) = moved_tiles(&program(name), arch);
        println!("{name} {arch}: {noticed} of {wrong}");
        assert!(wrong > 0 && noticed == wrong, "{name} {arch}: {noticed} of {wrong}");
    }
}

/// What orders what copies bring for a unit stands in its rule's order: a fence in front of the wait
/// fences nothing that is waited for.
#[test]
fn a_fence_in_front_of_its_wait_is_noticed() {
    for (name, arch) in [
        ("stages_of_two_kinds_of_copies.tile", "sm_90a"),
        ("stages_of_two_kinds_of_copies.tile", "sm_100a"),
        ("stages_of_two_kinds_of_copies_of_bytes.tile", "sm_90a"),
    ] {
        let swapped = try_with_kernel(&program(name), arch, |program, compiled, _| {
            let named = |k: usize, begin: &str| {
                let atom = compiled.steps.get(k).and_then(|s| lanebook::TABLES.atom(s.atom));
                atom.is_some_and(|atom| atom.name().starts_with(begin))
            };
            let at = (0..compiled.steps.len())
                .find(|k| named(*k, "cp.async.wait_group") && named(k + 1, "fence.proxy.async"))
                .unwrap_or_else(|| panic!("{name} {arch}: a wait and a fence"));
            let mut steps = compiled.steps.to_vec();
            steps.swap(at, at + 1);
            let kernel = FinalSteps { steps: &steps, ..FinalSteps::of(compiled) };
            checked::check(program, &kernel).err().map(|v| format!("{v:?}"))
        });
        let found = swapped.expect("a kernel").unwrap_or_default();
        assert!(found.starts_with("Race"), "{name} {arch}: {found}");
    }
}
