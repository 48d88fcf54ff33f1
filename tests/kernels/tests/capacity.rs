//! Rooms that are too small: which list is full is said, and at which operation.

use lanebook::TABLES;
use lanebook::compile::storage::{emit_parameter, plan_parameter};
use lanebook::compile::{Capacities, CompileError, CompileStorage, compile};
use lanebook::detail::{Stage, of_compile};
use lanebook::emit::EmitPool;
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::plan::{PlanError, PlanPool};
use lanebook_kernels::example;

fn refused<const STEPS: usize, const TUPLES: usize, const NODES: usize>(
    arch: &str,
) -> CompileError {
    let text = example("gemm.tile");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
    verify(&mut program).expect("a sound one");
    let mut room = Box::new(<CompileStorage<STEPS, TUPLES, NODES, 0>>::new());
    let id = TABLES.arch_named(arch).expect("an architecture");
    compile(&TABLES, id, &mut program, room.scratch())
        .map(|_| ())
        .expect_err("the room is too small")
}

fn full(error: CompileError, wanted: EmitPool, room: u32) {
    let CompileError::Capacity { pool, capacity, op } = error else { panic!("{error:?}") };
    assert_eq!((pool, capacity), (wanted, room));
    assert!(op.is_some(), "emission was at an operation");
    assert!(emit_parameter(pool).is_some_and(|p| pool.describe() != p), "{pool:?} can be enlarged");
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
    for pool in [EmitPool::Nesting, EmitPool::OpenAccesses, EmitPool::SyncSteps] {
        assert_eq!(emit_parameter(pool), None, "{pool:?}");
        assert!(!pool.describe().is_empty());
    }
}

/// A program around the lines of a body.
fn program(body: &str) -> String {
    format!(
        "func @f(%A: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %H: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}}, %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}) {{threads = 128}} {{\n{body}}}\n"
    )
}

/// Many lines, each with its number in place of `#`.
fn many(count: u32, line: &str) -> String {
    (0..count).map(|k| line.replace('@', &k.to_string()) + "\n").collect()
}

/// Twice what the programs below need.
const LARGER: Capacities = Capacities {
    steps: 4096,
    tuples: 2048,
    nodes: 2048,
    allocs: 32,
    transfers: 96,
    fragments: 96,
    globals: 32,
    products: 16,
    exchanges: 16,
    ..Capacities::DEFAULT
};
type Larger = lanebook::compile_storage!(LARGER);

/// So many products of tiles, each of the one before and of what `other` says of that.
fn chain(count: u32, other: &dyn Fn(&str) -> String) -> String {
    let one = |k: u32| {
        let from = k.checked_sub(1).map_or("x".to_string(), |before| format!("n{before}"));
        format!("  %n{k} = mul %{from}, %{} : tensor<32x32xf32>\n", other(&from))
    };
    (0..count).map(one).collect()
}

/// Room for many tiles in registers.
const WIDE: Capacities = Capacities { fragments: 192, ..LARGER };
type Wide = lanebook::compile_storage!(WIDE);

#[test]
fn tiles_that_wait_have_an_end() {
    // One tile is read by all.
    let body = format!(
        "  %x = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>\n{}  tiled_store %n139, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>\n",
        chain(140, &|_| "x".to_string())
    );
    let text = program(&body);
    let mut pools = Box::new(lanebook::ir::LargeStorage::new());
    let mut program = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let mut storage = Box::new(Wide::new());
    let id = TABLES.arch_named("sm_80").expect("an architecture");
    let error = compile(&TABLES, id, &mut program, storage.scratch())
        .map(|_| ())
        .expect_err("more than there is room for");
    let CompileError::Plan(PlanError::Capacity { pool, capacity, op: Some(op) }) = error else {
        panic!("{error:?}")
    };
    assert_eq!((pool, capacity, program.op_name(op)), (PlanPool::Worklist, 128, "mul"));
    assert_eq!(plan_parameter(pool), Some("WAITING"));
    // A lender who knows that name has what it takes.
    let mut larger = Box::new(<lanebook::compile_storage!(PATIENT)>::new());
    let again = compile(&TABLES, id, &mut program, larger.scratch()).map(|_| ());
    let is_full = |pool| matches!(again, Err(CompileError::Plan(PlanError::Capacity { pool: p, .. })) if p == pool);
    assert!(!is_full(PlanPool::Worklist), "{again:?}");
}

/// Room for many tiles that wait.
const PATIENT: Capacities = Capacities { waiting: 512, ..WIDE };

/// Room for everything but for more than 32 conversions.
const FEW_CONVERSIONS: Capacities =
    Capacities { conversions: 32, rejected: 0, ..lanebook_report::compile::SIZES };

/// Room for more tiles in shared memory than a word has bits.
const MANY_TILES: Capacities = Capacities { rejected: 0, ..lanebook_report::compile::SIZES };

/// As many tiles in shared memory as are lent.
#[test]
fn shared_tiles_are_as_many_as_are_lent() {
    with_much_room(shared_tiles_of_a_large_room);
}

fn shared_tiles_of_a_large_room() {
    let text = format!(
        "func @f(%A: memref<?x64xf16, #gmem> {{align = 16}}, %C: memref<?x64xf16, #gmem> {{align = 16}}) {{threads = 64}} {{\n{}{}{}}}\n",
        many(70, "  %s@ = alloc_tensor : tensor<8x8xf16, #smem>"),
        many(70, "  copy %A[@, 0], %s@ : memref<?x64xf16, #gmem> -> tensor<8x8xf16, #smem>"),
        many(70, "  copy %s@, %C[@, 0] : tensor<8x8xf16, #smem> -> memref<?x64xf16, #gmem>"),
    );
    for arch in ["sm_80", "gfx942"] {
        let id = TABLES.arch_named(arch).expect("an architecture");
        let mut pools = Box::new(lanebook_report::compile::ProgramRoom::new());
        let mut program =
            parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
        verify(&mut program).expect("a sound one");
        let mut storage = Box::new(<lanebook::compile_storage!(MANY_TILES)>::new());
        let compiled = compile(&TABLES, id, &mut program, storage.scratch());
        let tiles = compiled.map(|kernel| kernel.plan.allocs.len());
        assert_eq!(tiles, Ok(70), "{arch}");
    }
}

/// Does something where much room can be made.
fn with_much_room(what: fn()) {
    let thread = std::thread::Builder::new().stack_size(1 << 28);
    thread.spawn(what).expect("a thread").join().expect("what holds");
}

/// What has no room is what is said, not what the conversion was wanted for.
#[test]
fn conversions_that_have_no_room_say_so() {
    with_much_room(conversions_beyond_the_room);
}

fn conversions_beyond_the_room() {
    let text = include_str!("../programs/products_of_seventeen_pairs.tile");
    for arch in ["sm_80", "gfx942"] {
        let id = TABLES.arch_named(arch).expect("an architecture");
        let mut pools = Box::new(lanebook_report::compile::ProgramRoom::new());
        let mut program =
            parse(pools.pools(), &TABLES, text, Options::default()).expect("a program");
        verify(&mut program).expect("a sound one");
        let mut storage = Box::new(<lanebook::compile_storage!(FEW_CONVERSIONS)>::new());
        let error = compile(&TABLES, id, &mut program, storage.scratch())
            .map(|_| ())
            .expect_err("more than there is room for");
        let CompileError::Plan(PlanError::Capacity { pool, capacity, .. }) = error else {
            panic!("{arch}: {error:?}")
        };
        assert_eq!((pool, capacity), (PlanPool::Conversions, 32), "{arch}");
        assert_eq!(plan_parameter(pool), Some("CONVERSIONS"));
    }
}

#[test]
fn lists_of_a_plan_say_where_they_are_full() {
    let load = "  %x = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>\n";
    let store = "  tiled_store %x, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>\n";
    // Each tile is read by the next one.
    let line = chain(50, &str::to_string);
    let last = "  tiled_store %n49, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>\n";
    let cases = [
        (
            many(17, "  %s@ = alloc_tensor : tensor<8x8xf32, #smem>"),
            PlanPool::Allocs,
            16,
            "alloc_tensor",
        ),
        (
            many(49, "  %x@ = tiled_load %A[0, 0] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>"),
            PlanPool::Transfers,
            48,
            "tiled_load",
        ),
        (
            many(17, "  %x@ = tiled_load %A[0, @] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>"),
            PlanPool::Globals,
            16,
            "tiled_load",
        ),
        (format!("{load}{line}{last}"), PlanPool::Fragments, 48, "mul"),
        (
            format!(
                "  %a = tiled_load %H[0, 0] : memref<?x?xf16, #gmem> -> tensor<32x32xf16>\n  %z = constant 0.0 : tensor<32x32xf32>\n{}",
                many(
                    9,
                    "  %d@ = mma %a, %a, %z : tensor<32x32xf32>\n  tiled_store %d@, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>"
                )
            ),
            PlanPool::Products,
            8,
            "mma",
        ),
        (
            format!(
                "{load}{}{store}",
                many(
                    9,
                    "  %r@ = reduce %x {axis = 0, kind = max} : tensor<32x32xf32> -> tensor<32xf32>\n  %b@ = broadcast %r@ {axis = 0} : tensor<32xf32> -> tensor<32x32xf32>\n  tiled_store %b@, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>"
                )
            ),
            PlanPool::Exchanges,
            8,
            "reduce",
        ),
    ];
    for (body, wanted, room, name) in cases {
        let text = program(&body);
        let mut pools = Box::new(lanebook::ir::LargeStorage::new());
        let mut program =
            parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
        verify(&mut program).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
        let mut storage = Box::new(<CompileStorage<4096, 2048, 2048, 0>>::new());
        let id = TABLES.arch_named("sm_80").expect("an architecture");
        let error = compile(&TABLES, id, &mut program, storage.scratch())
            .map(|_| ())
            .expect_err("more than there is room for");
        let CompileError::Plan(PlanError::Capacity { pool, capacity, op }) = error else {
            panic!("{wanted:?}: {error:?}")
        };
        assert_eq!((pool, capacity), (wanted, room));
        let op = op.unwrap_or_else(|| panic!("{wanted:?}: at no operation"));
        assert_eq!(program.op_name(op), name, "{wanted:?}");
        // A lender who knows that name has what it takes; else the length is the library's own.
        let mut larger = Box::new(Larger::new());
        let again = compile(&TABLES, id, &mut program, larger.scratch()).map(|_| ());
        let is_full = matches!(
            again,
            Err(CompileError::Plan(PlanError::Capacity { pool, .. })) if pool == wanted
        );
        assert_eq!(is_full, plan_parameter(wanted).is_none(), "{wanted:?}: {again:?}");
        let Stage::Plan(detail) = of_compile(error) else { panic!("{error:?}") };
        assert_eq!((detail.op, detail.numbers), (Some(op), [i64::from(room), wanted as i64, 0]));
    }
}

/// Enough for several functions of 64 bits.
const MANY_STEPS: Capacities =
    Capacities { steps: 16_384, tuples: 8192, nodes: 4096, fragments: 1024, ..Capacities::DEFAULT };

/// What stands in an operation's place takes room of the program: which pool is full is said, and
/// how much that holds.
#[test]
fn names_the_pool_of_the_program() {
    let text = "func @f(%A: memref<?x?xf64, #gmem> {align = 16, stride_div = 2}) {threads = 32} {\n  %x0 = tiled_load %A[0, 0] : memref<?x?xf64, #gmem> -> tensor<8x8xf64>\n".to_string()
        + &(1..=8).fold(String::new(), |text, k| {
            text + &format!("  %x{k} = exp %x{} : tensor<8x8xf64>\n", k - 1)
        })
        + "  tiled_store %x8, %A[0, 0] : tensor<8x8xf64> -> memref<?x?xf64, #gmem>\n}\n";
    let id = TABLES.arch_named("sm_80").expect("an architecture");
    let mut storage = Box::new(<CompileStorage<8192, 4096, 2048, 0>>::new());
    let mut pools = Box::new(SmallStorage::new());
    let mut small = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
    verify(&mut small).expect("a sound one");
    let error = compile(&TABLES, id, &mut small, storage.scratch())
        .map(|_| ())
        .expect_err("more than there is room for");
    let CompileError::Plan(PlanError::ProgramCapacity { op, pool, limit }) = error else {
        panic!("{error:?}")
    };
    assert_eq!(small.op_name(op), "exp");
    let lent = small.usage().into_iter().find(|usage| usage.pool == pool).expect("a pool");
    assert_eq!(lent.capacity, limit as usize);
    let said = error.to_string();
    assert!(said.contains(&limit.to_string()) && said.contains(pool.describe()), "{said}");
    let Stage::Plan(detail) = of_compile(error) else { panic!("{error:?}") };
    assert_eq!((detail.op, detail.numbers), (Some(op), [i64::from(limit), pool as i64, 0]));

    let mut pools = Box::new(lanebook::ir::LargeStorage::new());
    let mut large = parse(pools.pools(), &TABLES, &text, Options::default()).expect("a program");
    verify(&mut large).expect("a sound one");
    let mut larger = Box::new(<lanebook::compile_storage!(MANY_STEPS)>::new());
    let done = compile(&TABLES, id, &mut large, larger.scratch()).map(|_| ());
    assert_eq!(done, Ok(()));
}
