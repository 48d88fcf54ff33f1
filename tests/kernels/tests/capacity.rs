//! Rooms that are too small: which list is full is said, and at which operation.

use lanebook::TABLES;
use lanebook::compile::{Error, Storage, compile};
use lanebook::emit::EmitPool;
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook_kernels::example;

fn refused<const STEPS: usize, const TUPLES: usize, const NODES: usize>(arch: &str) -> Error {
    let text = example("gemm.tile");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
    verify(&mut program).expect("a sound one");
    let mut room = Box::new(Storage::<STEPS, TUPLES, NODES, 0>::new());
    let id = TABLES.arch_named(arch).expect("an architecture");
    compile(&TABLES, id, &mut program, room.scratch())
        .map(|_| ())
        .expect_err("the room is too small")
}

fn full(error: Error, wanted: EmitPool, room: u32) {
    let Error::Capacity { pool, capacity, op } = error else { panic!("{error:?}") };
    assert_eq!((pool, capacity), (wanted, room));
    assert!(op.is_some(), "emission was at an operation");
    assert!(pool.parameter().is_some_and(|p| pool.describe() != p), "{pool:?} can be enlarged");
}

#[test]
fn names_the_list_and_the_operation() {
    for arch in ["sm_80", "gfx950"] {
        full(refused::<40, 768, 1024>(arch), EmitPool::Steps, 40);
        full(refused::<2048, 16, 1024>(arch), EmitPool::Tuples, 16);
        full(refused::<2048, 768, 24>(arch), EmitPool::Nodes, 24);
    }
}

#[test]
fn lists_of_a_fixed_length_have_no_parameter() {
    for pool in [EmitPool::Params, EmitPool::Addresses, EmitPool::Nesting, EmitPool::OpenAccesses] {
        assert_eq!(pool.parameter(), None, "{pool:?}");
        assert!(!pool.describe().is_empty());
    }
}
