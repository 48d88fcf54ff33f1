//! The whole compile of one program for one architecture again and again, for a profiler: `cargo
//! run --release -p lanebook-bench --example whole -- FILE ARCH TIMES [plan]`. With `all` as the
//! architecture a fingerprint of each one's text.
use lanebook::TABLES;
use lanebook::compile::{compile, plan};
use lanebook::ir::SmallStorage;
use lanebook_bench::whole::{Room, archs, read};
use std::time::Instant;

/// For each architecture a number that stands for the kernel's text, to see whether a change of the
/// compiler changed it.
fn fingerprints(file: &str, text: &str) {
    let (mut storage, mut room) = (Box::new(SmallStorage::new()), Box::new(Room::new()));
    for (id, arch) in archs() {
        let mut program = read(&mut storage, text);
        let mut out = String::new();
        match compile(&TABLES, id, &mut program, room.scratch()) {
            Ok(compiled) => {
                compiled.write(&TABLES, &program, &mut out).expect("a string takes everything")
            }
            Err(e) => out = format!("{e:?}"),
        }
        let hash = out.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
        });
        println!("{file} {}: {} bytes, {hash:016x}", arch.name, out.len());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [file, arch, times, rest @ ..] = args.as_slice() else {
        return eprintln!("FILE ARCH TIMES [plan]");
    };
    let text = std::fs::read_to_string(file).expect("the file is there");
    let times: usize = times.parse().expect("a number");
    if arch == "all" {
        return fingerprints(file, &text);
    }
    let (id, _) = archs().find(|(_, a)| a.name == arch).expect("an architecture of the tables");
    let (mut storage, mut room) = (Box::new(SmallStorage::new()), Box::new(Room::new()));
    let (mut least, mut bytes) = (u128::MAX, 0);
    for _ in 0..times {
        let start = Instant::now();
        let mut program = read(&mut storage, &text);
        if rest.is_empty() {
            let compiled = compile(&TABLES, id, &mut program, room.scratch())
                .unwrap_or_else(|e| panic!("{e:?}"));
            let mut out = String::with_capacity(1 << 16);
            compiled.write(&TABLES, &program, &mut out).expect("a string takes everything");
            bytes = out.len();
        } else {
            bytes = plan(&TABLES, id, &mut program, room.scratch())
                .map(|_| 0)
                .unwrap_or_else(|e| panic!("{e:?}"));
        }
        least = least.min(start.elapsed().as_nanos());
    }
    println!("{file} {arch}: {:.1} us, {bytes} bytes of text", least as f64 / 1e3);
}
