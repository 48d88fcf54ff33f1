//! A product of real size, exact, without conflicts, and quick enough for every test run.

#[path = "common/big.rs"]
mod big;

use std::time::Instant;

use lanebook_replay::{BankModel, Kernel, Launch, MatrixShape, Memory, Param, run};

#[test]
fn a_tile_of_128_by_128_runs_in_seconds() {
    let (n, k) = (128usize, 128usize);
    let text = big::ptx(k as u32);
    if let Ok(path) = std::env::var("LANEBOOK_REPLAY_DUMP") {
        std::fs::write(path, &text).expect("dump");
    }
    let kernel = Kernel::parse_ptx(&text).unwrap_or_else(|e| panic!("{e}"));
    let a: Vec<f32> = (0..n * k).map(|i| (i % 13) as f32 - 6.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| (i % 11) as f32 - 5.0).collect();
    let mut memory = Memory::new();
    let ids = [memory.add_f16("A", &a), memory.add_f16("B", &b), memory.add_zeros("C", 4 * n * n)];
    memory.set_shape(ids[0], MatrixShape::row_major(n as u32, k as u32, 2));
    let launch = Launch::new(256, ids.map(Param::Buffer).to_vec()).banks(BankModel::nvidia());
    let start = Instant::now();
    let report = run(&kernel, &launch, &mut memory).unwrap_or_else(|f| panic!("{f}"));
    let seconds = start.elapsed().as_secs_f64();
    println!("{seconds:.2} s");
    let c = memory.f32s(ids[2]);
    for i in 0..n {
        for j in 0..n {
            let want: f32 = (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum();
            assert_eq!(c[i * n + j], want, "{i} {j}");
        }
    }
    assert_eq!(report.executed("mma"), 8 * 8 * 16);
    assert_eq!(report.conflicts(), 0, "{:?}", report.sites);
    assert!(seconds < 20.0, "{seconds} s: the interpreter has become unusable");
}
