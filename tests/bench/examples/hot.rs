//! One pass over one program again and again, for a profiler: `cargo run --release -p
//! lanebook-bench --example hot -- FILE PASS TIMES`.
use lanebook::TABLES;
use lanebook::ir::{Node, Options, Storage, parse, verify};
use lanebook::pipeline::apply;
use std::time::Instant;

/// Room for 4,096 operations.
type Room = Storage<8192, 16384, 32768, 16384, 1024, 1024, 65_000>;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, pass, times] = args.as_slice() else { return eprintln!("FILE PASS TIMES") };
    let text = std::fs::read_to_string(file).expect("the file is there");
    let times: usize = times.parse().expect("a number");
    let mut storage = lanebook_bench::boxed(Room::new);
    let mut work = Box::new(heapless::Vec::<Node, 65_000>::new());
    let mut program =
        parse(storage.pools(), &TABLES, &text, Options { keep_unknown: true, free_names: true })
            .unwrap_or_else(|e| panic!("{e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}"));
    let (mut least, mut stats) = (u128::MAX, Default::default());
    for _ in 0..times {
        // Taken back each time: reading is not what is looked at.
        let mark = program.mark();
        let mut fuel = 1_000_000;
        let start = Instant::now();
        stats = apply(&TABLES, pass, &mut program, work.as_mut_view(), &mut fuel, |_| {})
            .unwrap_or_else(|e| panic!("{e:?}"));
        least = least.min(start.elapsed().as_nanos());
        program.undo(mark);
    }
    println!(
        "{file}: {pass}, {} operations, {:.1} us, {stats:?}",
        program.all().count(),
        least as f64 / 1e3
    );
}
