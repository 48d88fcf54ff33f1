//! The permutation of bytes in shared memory against the facts that other systems computed, and the
//! rules of barriers that count bytes.

use lanebook_replay::json::{Json, parse};
use lanebook_replay::tensor::swizzled;
use lanebook_replay::{FaultKind, Kernel, Launch, Memory, Param, TensorMap, run};

/// Every recorded box: the place of each piece of its rows.
#[test]
fn rows_lie_as_recorded() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle/data/nvidia/tma_swizzle.jsonl");
    let (mut boxes, mut modes) = (0, std::collections::BTreeSet::new());
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let record = parse(line).unwrap();
        let number = |key: &str| record.get(key).and_then(Json::number).unwrap() as u64;
        let (mode, base, inner) =
            (number("mode_value") as u8, number("smem_base"), number("inner_bytes"));
        let step = number("step_elements") * number("element_bits") / 8;
        for (row, places) in (0u64..).zip(record.get("map").unwrap().list()) {
            for (j, place) in (0u64..).zip(places.list()) {
                assert_eq!(
                    swizzled(mode, base + row * inner + j * step),
                    place.number().unwrap() as u64,
                    "mode {mode}, row {row}, piece {j}"
                );
            }
        }
        boxes += 1;
        modes.insert(mode);
    }
    assert!(boxes >= 40 && modes.len() >= 6, "{boxes} boxes in {} modes", modes.len());
}

/// A box of 4 rows of 16 words, of a tensor of 3 x 20: copied, then read by one warp.
fn kernel(body: &str) -> String {
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.shared .align 1024 .b8 smem[1040];\n.visible .entry k(.param .u64 p, .param .align 64 .b8 t[128]) {{\n\
         .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p<2>;\n\
         mov.u32 %r0, %tid.x;\nmov.u32 %r1, smem;\nadd.u32 %r2, %r1, 1024;\nmov.b32 %r3, 0;\nmov.b32 %r4, 0;\nmov.b32 %r8, -1;\nsetp.lt.u32 %p0, %r0, 1;\n\
         mov.b64 %d0, t;\ncvta.param.u64 %d0, %d0;\n{body}\nret;\n}}\n"
    )
}

const MAKE: &str = "@%p0 mbarrier.init.shared::cta.b64 [%r2], 1;\nfence.mbarrier_init.release.cluster;\nbar.sync 0;\n";
const ANNOUNCE: &str = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 256;\n";
const COPY: &str = "@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%d0, {%r3, %r8}], [%r2];\n";
const WAIT: &str = "{\n.reg .pred done;\nwait:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%r2], %r4;\n@!done bra wait;\n}\n";
const READ: &str = "mad.lo.u32 %r5, %r0, 4, %r1;\nld.shared.b32 %r6, [%r5];\nld.param.u64 %d1, [p];\nmul.wide.u32 %d2, %r0, 4;\nadd.u64 %d1, %d1, %d2;\nst.global.b32 [%d1], %r6;\n";

fn map(memory: &Memory, tensor: lanebook_replay::BufferId) -> TensorMap {
    let address = memory.address(tensor);
    TensorMap {
        address,
        element_bytes: 4,
        rank: 2,
        extents: [20, 3, 1, 1, 1],
        strides: [4, 80, 0, 0, 0],
        boxed: [16, 4, 1, 1, 1],
        swizzle: 2,
        bounded: false,
    }
}

fn outcome(body: &str, change: impl Fn(&mut TensorMap)) -> Result<Vec<u32>, FaultKind> {
    let mut memory = Memory::new();
    let tensor = memory.add_u32("tensor", &(0..60).map(|i| i + 1).collect::<Vec<_>>());
    let out = memory.add_u32("out", &[0; 64]);
    let mut tensor_map = map(&memory, tensor);
    change(&mut tensor_map);
    let kernel = Kernel::parse_ptx(&kernel(body)).unwrap_or_else(|e| panic!("{e}"));
    run(
        &kernel,
        &Launch::new(64, vec![Param::Buffer(out), Param::Tensor(tensor_map)]),
        &mut memory,
    )
    .map_err(|f| f.kind)?;
    Ok(memory.u32s(out))
}

#[test]
fn a_box_at_the_edge() {
    let found = outcome(&[MAKE, ANNOUNCE, COPY, WAIT, READ].concat(), |_| {}).unwrap();
    // Row -1 is outside; rows of 64 bytes, exchanged in pieces of 16 by the number of their pair
    // (64 B mode).
    for (word, found) in (0u32..).zip(found) {
        let (row, place) = (word / 16, word % 16);
        let col = place ^ ((row / 2 % 4) << 2);
        assert_eq!(found, if row == 0 { 0 } else { (row - 1) * 20 + col + 1 }, "word {word}");
    }
}

#[test]
fn what_is_refused() {
    let all = [MAKE, ANNOUNCE, COPY, WAIT, READ];
    let without = |k: usize| {
        all.iter().enumerate().filter(|(i, _)| *i != k).map(|(_, part)| *part).collect::<String>()
    };
    assert_eq!(outcome(&without(0), |_| {}), Err(FaultKind::UninitialisedShared));
    assert_eq!(outcome(&without(1), |_| {}), Err(FaultKind::PhaseNeverEnds));
    assert_eq!(outcome(&without(2), |_| {}), Err(FaultKind::PhaseNeverEnds));
    assert_eq!(outcome(&without(3), |_| {}), Err(FaultKind::RaceReadAfterWrite));
    let whole = all.concat();
    for (from, to, kind) in [
        ("fence.mbarrier_init.release.cluster;\n", "", FaultKind::UnitNotFenced),
        ("bar.sync 0;\n", "", FaultKind::RaceReadAfterWrite),
        (", 256;", ", 240;", FaultKind::PhaseNeverEnds),
        (", 256;", ", 1048576;", FaultKind::InvalidOperand),
        ("[%r2], 1;", "[%r2], 2;", FaultKind::PhaseNeverEnds),
        ("add.u32 %r2, %r1, 1024;", "add.u32 %r2, %r1, 1028;", FaultKind::Misaligned),
        ("[%r1], [%d0", "[%r2], [%d0", FaultKind::InvalidOperand),
        ("cvta.param.u64 %d0, %d0;", "", FaultKind::InvalidOperand),
        ("mov.b32 %r4, 0;", "mov.b32 %r4, 2;", FaultKind::InvalidOperand),
        // Written through the generic proxy before, and not fenced.
        ("bar.sync 0;", "@%p0 st.shared.b32 [%r1], %r3;\nbar.sync 0;", FaultKind::UnitNotFenced),
        ("ld.shared.b32 %r6, [%r5];", "ld.shared.b32 %r6, [%r5+1024];", FaultKind::InvalidOperand),
        ("ld.shared.b32 %r6, [%r5];", "ld.shared.b32 %r6, [%r2];", FaultKind::InvalidOperand),
    ] {
        let text = kernel(&whole).replace(from, to);
        assert_ne!(text, kernel(&whole), "{from}");
        let mut memory = Memory::new();
        let tensor = memory.add_u32("tensor", &[1; 60]);
        let out = memory.add_u32("out", &[0; 64]);
        let params = vec![Param::Buffer(out), Param::Tensor(map(&memory, tensor))];
        let parsed = Kernel::parse_ptx(&text).unwrap_or_else(|e| panic!("{from}: {e}"));
        let found =
            run(&parsed, &Launch::new(64, params), &mut memory).map(|_| ()).map_err(|f| f.kind);
        assert_eq!(found, Err(kind), "{from} -> {to}");
    }
    // The second phase has the other parity.
    let again = [ANNOUNCE, COPY, WAIT].concat();
    let fence = "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
    let flip = "xor.b32 %r4, %r4, 1;\n";
    assert!(outcome(&[&whole, fence, flip, &again].concat(), |_| {}).is_ok());
    assert_eq!(outcome(&[&whole, flip, &again].concat(), |_| {}), Err(FaultKind::UnitNotFenced));
    assert_eq!(
        outcome(&[&whole, "fence.proxy.async.shared::cta;\n", flip, &again].concat(), |_| {}),
        Err(FaultKind::AsyncOverwrite)
    );
    assert_eq!(
        outcome(&[&whole, "bar.sync 0;\n", flip, &again].concat(), |_| {}),
        Err(FaultKind::UnitNotFenced)
    );
    // A phase that was over before: the wait for it is none for the copy that is on its way.
    assert_eq!(outcome(&[&whole, fence, &again].concat(), |_| {}), Err(FaultKind::AsyncNotWaited));
    assert_eq!(
        outcome(&[&whole, fence, &again, READ].concat(), |_| {}),
        Err(FaultKind::RaceReadAfterWrite)
    );
    // One barrier's phase says nothing of what completes on another one, also of what began before.
    let other = |text: &str| text.replace("[%r2]", "[%r2+8]").replace("[%r1]", "[%r1+512]");
    let start = [MAKE, &other(MAKE), ANNOUNCE, COPY, &other(ANNOUNCE), &other(COPY)].concat();
    let waits = [WAIT.to_string(), other(WAIT)];
    assert!(outcome(&[&start, &waits[0], READ, &waits[1]].concat(), |_| {}).is_ok());
    assert_eq!(
        outcome(&[&start, &waits[1], READ, &waits[0]].concat(), |_| {}),
        Err(FaultKind::RaceReadAfterWrite)
    );
}

#[test]
fn maps_that_the_driver_refuses() {
    type Change = fn(&mut TensorMap);
    let body = [MAKE, ANNOUNCE, COPY, WAIT, READ].concat();
    let changes: [Change; 9] = [
        |m| m.address += 8,
        |m| m.strides[1] = 84,
        |m| m.boxed[0] = 3,
        |m| m.boxed[1] = 257,
        |m| m.swizzle = 1,
        |m| m.swizzle = 3,
        |m| m.swizzle = 9,
        |m| m.rank = 1,
        |m| m.extents[1] = 0,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert_eq!(outcome(&body, change), Err(FaultKind::InvalidOperand), "change {number}");
    }
}

/// What a map says is the tensor is in the memory that was lent, or reading it is a fault: what lies
/// outside the tensor is never touched, what lies in it is.
#[test]
fn maps_of_more_than_the_memory() {
    let body = [MAKE, ANNOUNCE, COPY, WAIT, READ].concat();
    type Change = fn(&mut TensorMap);
    // The box ends with the memory; rows of it, or columns, are outside the tensor.
    let within: [Change; 4] = [
        |m| m.address += 16,
        |m| (m.extents[1], m.strides[1]) = (2, 160),
        |m| (m.extents[0], m.address) = (12, m.address + 32),
        |m| m.boxed[1] = 4,
    ];
    for (number, change) in within.into_iter().enumerate() {
        assert!(outcome(&body, change).is_ok(), "change {number}");
    }
    let beyond: [Change; 5] = [
        |m| m.address += 32,
        |m| m.address -= 16,
        |m| m.strides[1] = 96,
        |m| (m.extents[0], m.address) = (16, m.address + 32),
        |m| (m.extents[1], m.strides[1]) = (2, 192),
    ];
    for (number, change) in beyond.into_iter().enumerate() {
        assert_eq!(outcome(&body, change), Err(FaultKind::GlobalOutOfBounds), "change {number}");
    }
}

/// Copies a box out, and reads the tensor afterwards.
#[test]
fn what_a_copy_stores_is_there_when_it_has_been_waited_for() {
    // Thread 0 fills a box of 64 words; row 3 of it is outside the tensor.
    let fill = "mad.lo.u32 %r5, %r0, 4, %r1;\nst.shared.b32 [%r5], %r0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n";
    let store = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {%r3, %r4}], [%r1];\ncp.async.bulk.commit_group;\n";
    let wait = "cp.async.bulk.wait_group 0;\n";
    let of_reads = "cp.async.bulk.wait_group.read 0;\n";
    let meet = "bar.sync 0;\n";
    // The tensor's own address is the first parameter here.
    let at = "ld.param.u64 %d1, [p];\nmul.wide.u32 %d2, %r0, 4;\nadd.u64 %d1, %d1, %d2;\n";
    let (read, write) = ("ld.global.b32 %r6, [%d1];\n", "st.global.b32 [%d1], %r0;\n");
    let again = "@%p0 st.shared.b32 [%r1], %r3;\n";
    let outcome = |parts: &[&str]| {
        let mut memory = Memory::new();
        let tensor = memory.add_u32("tensor", &[0; 68]);
        let params = vec![
            Param::Buffer(tensor),
            Param::Tensor(TensorMap {
                boxed: [16, 3, 1, 1, 1],
                swizzle: 0,
                ..map(&memory, tensor)
            }),
        ];
        let kernel = Kernel::parse_ptx(&kernel(&parts.concat())).unwrap_or_else(|e| panic!("{e}"));
        run(&kernel, &Launch::new(64, params), &mut memory).map_err(|f| f.kind)?;
        Ok(memory.u32s(tensor))
    };
    let right = outcome(&[fill, store, at, wait, meet, read, again]).expect("waited for and met");
    assert_eq!((right[0], right[17], right[20], right[40]), (0, 0, 16, 32));
    assert!(outcome(&[fill, store, at, of_reads, meet, again]).is_ok());
    assert!(outcome(&[fill, store, at, wait, meet, write]).is_ok());
    use FaultKind::{AsyncNotWaited, AsyncOverwrite, RaceReadAfterWrite, RaceWriteAfterWrite};
    for (parts, fault) in [
        // Shared memory that the unit may not have read yet: written by a thread, with and without
        // the barrier; the kernel's end.
        (&[fill, store, again, wait][..], AsyncOverwrite),
        (&[fill, store, meet, again, wait], AsyncOverwrite),
        (&[fill, store, at], AsyncNotWaited),
        // Global memory: no wait, a wait for the reads alone, a wait that the other warp has not
        // heard of.
        (&[fill, store, at, meet, read, wait], AsyncNotWaited),
        (&[fill, store, at, of_reads, meet, read], AsyncNotWaited),
        (&[fill, store, at, wait, read, meet], RaceReadAfterWrite),
        (&[fill, store, at, meet, write, wait], AsyncOverwrite),
        (&[fill, store, at, of_reads, meet, write], AsyncOverwrite),
        (&[fill, store, at, wait, write, meet], RaceWriteAfterWrite),
        // The unit itself: a second box over the first.
        (&[fill, store, store, wait], AsyncOverwrite),
        // The last group is left out.
        (&[fill, store, at, "cp.async.bulk.wait_group 1;\n", meet, read, of_reads], AsyncNotWaited),
    ] {
        assert_eq!(outcome(parts), Err(fault), "{parts:?}");
    }
    assert!(outcome(&[fill, store, wait, store, wait]).is_ok());
}

/// A box that is stored where its map says more than the memory.
#[test]
fn stores_beyond_the_memory() {
    let body = "mad.lo.u32 %r5, %r0, 4, %r1;\nst.shared.b32 [%r5], %r0;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n\
                @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%d0, {%r3, %r4}], [%r1];\n\
                cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
    let stored = |further: u64, rows: u32| {
        let mut memory = Memory::new();
        let tensor = memory.add_u32("tensor", &[0; 60]);
        let own = map(&memory, tensor);
        let own = TensorMap {
            address: own.address + further,
            extents: [20, rows, 1, 1, 1],
            boxed: [16, 3, 1, 1, 1],
            swizzle: 0,
            ..own
        };
        let kernel = Kernel::parse_ptx(&kernel(body)).unwrap_or_else(|e| panic!("{e}"));
        let launch = Launch::new(64, vec![Param::Buffer(tensor), Param::Tensor(own)]);
        run(&kernel, &launch, &mut memory).map(drop).map_err(|f| f.kind)
    };
    let outside = Err(FaultKind::GlobalOutOfBounds);
    assert_eq!((stored(0, 3), stored(16, 3), stored(96, 2)), (Ok(()), Ok(()), Ok(())));
    assert_eq!((stored(32, 3), stored(112, 2)), (outside, outside));
}
