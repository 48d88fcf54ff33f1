//! 003, TileLang's layout inference: the layouts of its examples, and what its checks ask of them.
//! (The inference itself is the engine's.)

use crate::c;
use lanebook::layout::tilelang::{Fragment, Guard, fully_replicated, guarded_inverse};
use lanebook::layout::{AxisId, Coord, ops};
use std::collections::{BTreeMap, BTreeSet};

fn fragment(text: &str) -> Fragment {
    Fragment::new(c(text)).unwrap()
}

/// (thread, local index) of an element of a fragment without copies.
fn place(f: &Fragment, x: u64) -> (i64, i64) {
    (f.forward_thread(x, 0).unwrap(), f.forward_index(x).unwrap())
}

/// "What Is Layout Inference?": `forward_thread` and its inverse for the loop variables.
#[test]
fn a_loop_and_its_inverse() {
    // Parallel(4, 16) on 64 threads, one iteration each.
    let f = fragment("(16,4):(1@tx,16@tx)");
    for x in 0..64 {
        assert_eq!(place(&f, x), (x as i64, 0));
        assert_eq!(f.element(x as i64, 0).unwrap().map(|e| e.flat), Some(x));
    }
    assert_eq!(f.element(64, 0).unwrap().map(|e| e.flat), None);
}

/// "Strict Layout Inference": `fragment[0]` read by every thread is fully replicated,
/// forward_thread(i, rep) = rep.
#[test]
fn constants_are_replicated() {
    let f = fully_replicated(&[1], 64).unwrap();
    assert_eq!((f.copies(), f.thread_extent(), f.index_extent()), (Ok(64), Ok(64), Ok(1)));
    for rep in 0..64u64 {
        assert_eq!((f.forward_thread(0, rep), f.forward_index(0)), (Ok(rep as i64), Ok(0)));
    }
}

/// "Layout Model": `Layout((M, N) -> (M / 16, N, 16), (i, j) -> (i / 16, j, i % 16))`, flattened
/// when compact row-major.
#[test]
fn a_plain_layout() {
    let (rows, columns) = (48u64, 24u64);
    // Modes: j, then i; outputs: @0, @1 and m, the last.
    let l = c("(24,(16,3)):(1@1,(1,1@0))");
    let memory = c("(24,(16,3)):(16,(1,384))");
    let mut out = Coord::new();
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        l.view().apply_flat(i * columns + j, &mut out).unwrap();
        let found = [AxisId::dim(0), AxisId::dim(1), AxisId::M].map(|axis| out.get(axis) as u64);
        assert_eq!(found, [i / 16, j, i % 16]);
        // (i / 16) * stride0 + j * stride1 + (i % 16) * stride2.
        let address = i / 16 * (columns * 16) + j * 16 + i % 16;
        assert_eq!(memory.view().offset_on(i * columns + j, AxisId::M), Ok(address as i64));
    }
    assert!(guarded_inverse(&l.view()).is_ok());
}

/// "Estimating Vectorization Width": `forward_index(i) = i * 16` gives [0, 16, 32, 48], which is no
/// vector.
#[test]
fn strided_memory_is_no_vector() {
    let remapped = c("(4):(16)");
    assert_eq!(crate::table(&remapped.view()), [0, 16, 32, 48]);
    assert_eq!(ops::consecutive(&remapped.view(), AxisId::M), Ok(1));
    assert_eq!(ops::consecutive(&c("(4):(1)").view(), AxisId::M), Ok(4));
}

/// "Calling PlanLoopPartition": access = flat / vector, thread = access % threads, local = access /
/// threads * vector + flat % vector.
#[test]
fn planned_loops() {
    // T.Parallel(4, 16), 64 threads, vectors of 4: one group of four each of the first sixteen
    // threads.
    let f = fragment("((4,4),4):((1,1@tx),4@tx)");
    for (i, j) in (0..4u64).flat_map(|i| (0..16u64).map(move |j| (i, j))) {
        let flat = i * 16 + j;
        assert_eq!(place(&f, flat), ((flat / 4) as i64, (flat % 4) as i64));
    }
    assert_eq!(f.thread_extent(), Ok(16));
    // The general formula, several rounds: 256 iterations, 16 threads, vectors of 4.
    let f = fragment("((4,16,4)):((1,1@tx,4))");
    for flat in 0..256u64 {
        let access = flat / 4;
        assert_eq!(place(&f, flat), ((access % 16) as i64, (access / 16 * 4 + flat % 4) as i64));
    }
    // "Special Checks for Fragment Buffers": 256 % (64 * 8) = 256, so 8 is halved; 256 % (64 * 4) =
    // 0.
    let fits = |vector: u64| 256 % (64 * vector) == 0;
    assert_eq!((fits(8), fits(4)), (false, true));
    let f = fragment("((4,64)):((1,1@tx))");
    let seen: BTreeSet<(i64, i64)> = (0..256).map(|x| place(&f, x)).collect();
    assert_eq!(
        (seen.len(), f.thread_extent(), f.index_extent()),
        (256, Ok(64), Ok(4)),
        "every group is complete"
    );
}

/// Whether the thread that runs iteration `x` owns the element that it reads:
/// `ProveFragmentContains`.
fn owns(candidate: &Fragment, buffer: &Fragment, element: impl Fn(u64) -> u64) -> bool {
    let size = candidate.layout().size_value().unwrap();
    (0..size).all(|x| {
        let (thread, wanted) = (candidate.forward_thread(x, 0).unwrap(), element(x));
        let local = buffer.forward_index(wanted).unwrap();
        buffer.element(thread, local).unwrap().is_some_and(|e| e.flat == wanted)
    })
}

/// "ValidateCandidateAgainstFragments": the read that succeeds, the one that fails, and the write
/// that must be refused.
#[test]
fn ownership() {
    let buffer = fragment("(16,4):(1@tx,16@tx)");
    assert!(owns(&buffer, &buffer, |x| x), "thread = i * 16 + j on both sides");
    let rows = fragment("(16,4):(1,1@tx)");
    assert!(!owns(&rows, &buffer, |x| x), "thread = i cannot read what i * 16 + j owns");
    // Fully replicated: every thread has a valid copy.
    let everywhere = fully_replicated(&[4, 16], 64).unwrap();
    assert!(owns(&rows, &everywhere, |x| x));
    // Parallel(2, 2): i * 2 + j with local 0 against i with local j. Containment both ways is
    // equality of owners.
    let (buffer, candidate) = (fragment("(2,2):(1@tx,2@tx)"), fragment("(2,2):(1,1@tx)"));
    assert!(!owns(&candidate, &buffer, |x| x));
    assert!(!owns(&buffer, &candidate, |x| x));
    assert!(candidate.layout().is_injective().unwrap() && buffer.layout().is_injective().unwrap());
}

/// "Common Failure Cases": two elements in one place; a foreign owner is above; sparse but
/// injective is below.
#[test]
fn layouts_that_are_not_injective() {
    let f = fragment("(4,4):(0,1@tx)");
    assert_eq!(place(&f, 0), place(&f, 1));
    assert_eq!(f.layout().is_injective(), Ok(false));
    assert!(f.inverse().is_err());
}

/// "An Example" and "Common Failure Cases": reading `fragment[row, 0]` with row = group * 2 +
/// row_in_group.
#[test]
fn sparse_owners() {
    let source = fragment("(16,4):(1@tx,16@tx)");
    // The loop's layout is the source's after the access: columns 0 of rows 0 to 3, as
    // (row_in_group, group).
    let access = c("(2,2):(16,32)");
    let read = Fragment::new(ops::compose(&source.layout(), &access.view()).unwrap()).unwrap();
    let threads: Vec<i64> = (0..4).map(|x| read.forward_thread(x, 0).unwrap()).collect();
    assert_eq!(threads, [0, 16, 32, 48]);
    assert!(owns(&read, &source, |x| 16 * x));
    assert_eq!(read.layout().is_injective(), Ok(true));
    // Where the peer's inverter dies, the inverse has a guard: thread % 16 == 0, group = thread /
    // 32, row_in_group = thread % 32 / 16.
    let inverse = read.inverse().unwrap();
    let guards: Vec<Guard> = inverse.guards().collect();
    assert!(guards.iter().any(|g| g.axis == AxisId::TX), "{guards:?}");
    for thread in -1..65i64 {
        let found = read.element(thread, 0).unwrap().map(|e| e.flat);
        let wanted = (0..64).contains(&thread) && thread % 16 == 0;
        assert_eq!(
            found,
            wanted.then_some((thread / 32 * 2 + thread % 32 / 16) as u64),
            "thread {thread}"
        );
    }
    // The annotation that avoids it: source_layout(row, col) = (col, row); then thread 0 reads
    // local index `row`.
    let annotated = fragment("(16,4):(1@tx,1)");
    let mut by_row = BTreeMap::new();
    for row in 0..4u64 {
        by_row.insert(row, place(&annotated, 16 * row));
    }
    assert_eq!(by_row.into_values().collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2), (0, 3)]);
}
