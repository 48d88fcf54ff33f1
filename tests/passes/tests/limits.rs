//! Out of fuel, of undo records, of worklist or of handles: an error that names the limit, and the
//! program as it was.
use lanebook::TABLES;
use lanebook::ir::{ErrorKind, Node, Pool, Storage, parse, verify};
use lanebook::pipeline::{PassError, apply};
use lanebook::rewrite::RunError;
use lanebook_pass_tests::generate::program;
use lanebook_pass_tests::{SNIPPET, folder, printed, run as run_pass, run_with};

const PASSES: [&str; 5] = [
    "remove-conversions",
    "remove-aliases",
    "slice",
    "remove-dead-args",
    "resolve-agent-boundaries",
];

/// Runs a pass in storage with so many undo records; answers the error, having looked that nothing
/// changed.
fn run<const OPS: usize, const JOURNAL: usize>(
    text: &str,
    pass: &str,
    fuel: u32,
    work: usize,
) -> Result<u32, PassError> {
    let mut storage: Box<Storage<OPS, 4096, 8192, 4096, 256, 256, JOURNAL>> =
        std::thread::Builder::new()
            .stack_size(16 << 20)
            .spawn(|| Box::new(Storage::new()))
            .expect("a thread")
            .join()
            .expect("it is made");
    let mut program = parse(storage.pools(), &TABLES, text, SNIPPET).expect("it parses");
    verify(&mut program).expect("it is well formed");
    let before = printed(&program);
    let (mut small, mut large) =
        (Box::new(heapless::Vec::<Node, 4>::new()), Box::new(heapless::Vec::<Node, 8192>::new()));
    let list = if work < 5 { small.as_mut_view() } else { large.as_mut_view() };
    let mut left = fuel;
    let outcome = apply(&TABLES, pass, &mut program, list, &mut left, |_| {});
    verify(&mut program).expect("still well formed");
    match outcome {
        Ok(stats) => Ok(stats.applied),
        Err(error) => {
            assert_eq!(printed(&program), before, "{pass}: {error:?}");
            Err(error)
        }
    }
}

#[test]
fn fuel() {
    let mut short = 0;
    for seed in 0..24 {
        let text = program(seed, 8);
        for pass in PASSES {
            let Ok(needed) = run::<1024, 32768>(&text, pass, 100_000, 8192) else { continue };
            for fuel in [0, needed / 2, needed.saturating_sub(1)] {
                match run::<1024, 32768>(&text, pass, fuel, 8192) {
                    Err(PassError::Run(RunError::Fuel { limit })) => {
                        assert!(limit <= fuel, "{limit} of {fuel}");
                        short += 1;
                    }
                    Ok(applied) => assert!(applied <= fuel, "{pass}: {applied} changes for {fuel}"),
                    other => panic!("{pass}: {other:?}"),
                }
            }
            assert_eq!(
                run::<1024, 32768>(&text, pass, needed, 8192),
                Ok(needed),
                "{pass}: exactly enough"
            );
        }
    }
    assert!(short > 30, "{short}");
}

#[test]
fn undo_records() {
    let mut short = 0;
    for seed in 0..24 {
        let text = program(seed, 8);
        for pass in PASSES {
            let outcomes = [
                run::<1024, 8>(&text, pass, 100_000, 8192),
                run::<1024, 60>(&text, pass, 100_000, 8192),
                run::<1024, 300>(&text, pass, 100_000, 8192),
            ];
            for outcome in outcomes {
                match outcome {
                    Err(PassError::Run(RunError::Graph(ErrorKind::Capacity {
                        pool: Pool::Journal,
                        limit,
                    }))) => {
                        assert!([8, 60, 300].contains(&limit));
                        short += 1;
                    }
                    Ok(_) | Err(PassError::Refused { .. }) => {}
                    other => panic!("{pass}: {other:?}"),
                }
            }
        }
    }
    assert!(short > 30, "{short}");
}

#[test]
fn worklist() {
    let mut short = 0;
    for seed in 0..24 {
        for pass in PASSES {
            match run::<1024, 32768>(&program(seed, 8), pass, 100_000, 4) {
                Err(PassError::Run(RunError::Work { capacity })) => {
                    assert_eq!(capacity, 4);
                    short += 1;
                }
                Ok(_) | Err(PassError::Refused { .. }) => {}
                other => panic!("{pass}: {other:?}"),
            }
        }
    }
    assert!(short > 20, "{short}");
}

#[test]
fn operations() {
    // Slices need room for their copies.
    let text = "scf.for %i = 0 to 64 step 1 attributes {sliceCount = 64 : i32} {\n  %x = index.add %i, %n : index\n  fence\n}\n";
    assert_eq!(run::<256, 32768>(text, "slice", 1_000, 8192), Ok(64));
    match run::<64, 32768>(text, "slice", 1_000, 8192) {
        Err(PassError::Run(RunError::Graph(ErrorKind::Capacity {
            pool: Pool::Ops,
            limit: 64,
        }))) => {}
        other => panic!("{other:?}"),
    }
}

/// From none on, one more each time: an error and the program as it was (`run_with` looks), until
/// it is enough; then the whole pass.
#[test]
fn every_amount_of_fuel() {
    for (file, pass, least) in [
        ("anchors/gemm.sm_80.blocked.mlir", "coalesce", 3),
        ("products/attention.sm_90.mlir", "accelerate-matmul", 2),
        ("seed/slicing.before.tile", "slice", 2),
        ("ttgir/softmax.sm_90.before.mlir", "remove-conversions", 2),
        ("ttgir/gemm_epilogue.sm_90.before.mlir", "remove-conversions", 5),
    ] {
        let text = std::fs::read_to_string(folder(file)).expect("the text is there");
        let whole = run_pass(&text, pass).unwrap_or_else(|error| panic!("{file}: {error:?}")).text;
        let mut fuel = 0;
        loop {
            match run_with(&text, pass, fuel) {
                Err(PassError::Run(RunError::Fuel { limit })) => {
                    assert!(limit <= fuel, "{file}: {limit} of {fuel}")
                }
                Ok(outcome) => break assert_eq!(outcome.text, whole, "{file} with {fuel}"),
                Err(error) => panic!("{file} with {fuel}: {error:?}"),
            }
            fuel += 1;
        }
        assert!(fuel >= least && fuel < 2_000, "{file}: {fuel}");
    }
}
