//! What the search passes over never wins: a plan with room for losers, where every product is
//! priced to its end and every final layout against all others, is the plan without.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::compile::{CompileStorage, plan};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook_kernels::example;
use lanebook_kernels::sweep::{Case, Gemm, Move, Way};

const ARCHS: [&str; 6] = ["sm_80", "sm_90a", "sm_100a", "gfx942", "gfx950", "gfx1200"];

/// A plan as text, or why there is none.
fn planned<const REJECTED: usize>(text: &str, arch: &str) -> String {
    let id = TABLES.arch_named(arch).expect("an architecture of the tables");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, text, Options::default()).expect("a program");
    verify(&mut program).expect("a sound program");
    let mut room = Box::new(<CompileStorage<2048, 768, 1024, REJECTED>>::new());
    match plan(&TABLES, id, &mut program, room.scratch()) {
        Ok(planned) => {
            let p = &planned.plan;
            format!(
                "{:?}\n{:?}\n{:?}\n{:?}\n{:?}",
                p.products, p.allocs, p.transfers, p.exchanges, p.fragments
            )
        }
        Err(why) => format!("{why:?}"),
    }
}

/// How many of the programs have a plan.
fn compare(texts: &[String]) -> usize {
    let mut made = 0;
    for text in texts {
        for arch in ARCHS {
            let (pruned, whole) = (planned::<0>(text, arch), planned::<64>(text, arch));
            assert_eq!(pruned, whole, "{arch}:\n{text}");
            made += usize::from(pruned.contains('\n'));
        }
    }
    made
}

#[test]
fn examples() {
    let texts: Vec<String> =
        ["gemm.tile", "gemm_bt.tile", "attention.tile", "transpose.tile"].map(example).into();
    assert!(compare(&texts) > 20);
}

#[test]
fn generated() {
    let mut cases = Vec::new();
    for (tile, threads) in [((64, 64, 32), 128), ((32, 48, 64), 128), ((128, 256, 32), 256)] {
        for (store, transposed) in
            [("f32", (true, false)), ("f16", (false, false)), ("f16", (false, true))]
        {
            cases.push(Case::Gemm(Gemm {
                tile,
                threads,
                element: "f16",
                transposed,
                store,
                turns: 1,
                layout: "",
                arithmetic: false,
            }));
        }
    }
    for (element, way) in [
        ("u8", Way::Transposed),
        ("f16", Way::Copies),
        ("f32", Way::StoreCopy),
        ("f16", Way::Registers),
    ] {
        cases.push(Case::Move(Move { tile: (64, 32), threads: 64, element, way }));
    }
    let texts: Vec<String> = cases.iter().map(|case| case.text("k")).collect();
    assert!(compare(&texts) > 50);
}
