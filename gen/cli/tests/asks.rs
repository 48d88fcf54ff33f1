//! `rules/asks.ron` holds everything that the engine asks of an architecture: with an index of
//! nothing else every program compiles to the same text.

use crate::support::root;
use lanebook::compile::{CompileStorage, compile};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook_gen::dispatch::{indexed_where, spelled};
use lanebook_gen::rules::asks::{Ask, fits};
use lanebook_gen::{Compiled, Mode};
use lanebook_tables::{ArchId, Capability, Tables};
use std::fs;

type Room = CompileStorage<2048, 768, 1024, 0>;

fn compiled() -> Compiled {
    lanebook_gen::compile(&root(), Mode::Release)
        .unwrap_or_else(|failure| panic!("{}", failure.full()))
}

/// The tables with what some asks ask for alone.
fn answering(tables: Tables<'static>, asks: &[Ask]) -> Tables<'static> {
    indexed_where(tables, |arch, capability: Capability| {
        let line = spelled(&tables, arch, capability);
        asks.iter().any(|ask| fits(ask.ask.as_str(), &line))
    })
}

/// The kernel's text, or why there is none.
fn text(tables: &Tables<'_>, arch: ArchId, source: &str) -> Result<String, String> {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, source, Options::default()).expect("a program");
    verify(&mut program).expect("a sound program");
    let mut room = Box::new(Room::new());
    let compiled = compile(tables, arch, &mut program, room.scratch());
    let compiled = compiled.map_err(|error| format!("{error:?}"))?;
    let mut out = String::new();
    compiled.write(tables, &program, &mut out).expect("text");
    Ok(out)
}

/// Example programs, and a few small ones that need what those do not.
fn programs() -> Vec<(String, String)> {
    let mut out = Vec::new();
    let small = ["g_64_64_64_64_e4m3fnuz_01_relu_f32", "r_8_256_256_f32_0_add_1"]
        .map(|name| root().join("tests/kernels/programs").join(name).with_extension("tile"));
    let examples = fs::read_dir(root().join("gen/cli/examples")).expect("examples");
    let mut paths: Vec<_> = examples.map(|entry| entry.expect("an entry").path()).collect();
    paths.extend(small);
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|e| e == "tile")) {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        out.push((name, fs::read_to_string(path).expect("a program")));
    }
    assert!(out.len() > 8, "only {} programs", out.len());
    out
}

/// Architectures of which each has something that the others lack.
const ARCHS: [&str; 8] =
    ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a", "gfx908", "gfx950", "gfx1250"];

#[test]
fn the_engine_asks_for_nothing_else() {
    let compiled = compiled();
    let tables = compiled.tables();
    let asked = answering(tables, &compiled.rules.asks);
    let mut made = 0;
    for name in ARCHS {
        let id = tables.arch_named(name).expect("an architecture");
        for (program, source) in programs() {
            let (all, some) = (text(&tables, id, &source), text(&asked, id, &source));
            made += usize::from(all.is_ok());
            assert!(
                all == some,
                "{program} on {name}: the engine asks for something that rules/asks.ron lacks"
            );
        }
    }
    assert!(made > 40, "only {made} kernels were made");
}

/// The test above itself: without one of the asks that programs need, kernels are others.
#[test]
fn an_ask_that_is_missing_shows() {
    let compiled = compiled();
    let tables = compiled.tables();
    let named = |name: &str| tables.arch_named(name).expect("an architecture");
    for (lost, arch, program) in [
        ("index add * * number", "sm_80", "gemm"),
        ("index add64 * * number", "sm_80", "gemm"),
        ("shuffle-xor", "sm_80", "layer_norm"),
        ("elementwise * * * ..", "gfx950", "layer_norm"),
        ("fill *", "gfx950", "gemm"),
        ("transfer global shared", "sm_80", "gemm"),
    ] {
        // Patterns for anything of a kind would answer in its place.
        let kind = lost.split(' ').next().expect("a kind");
        let asks: Vec<Ask> = compiled
            .rules
            .asks
            .iter()
            .filter(|ask| {
                let pattern = ask.ask.as_str();
                pattern != lost
                    && !(pattern.starts_with(&format!("{kind} *"))
                        || kind == "index" && pattern.starts_with("index add64 * * *"))
            })
            .cloned()
            .collect();
        assert!(asks.len() < compiled.rules.asks.len(), "{lost} is asked");
        let (_, source) =
            programs().into_iter().find(|(name, _)| name == program).expect("an example");
        let some = answering(tables, &asks);
        assert!(
            text(&tables, named(arch), &source) != text(&some, named(arch), &source),
            "{lost}: {program} on {arch} is the same without"
        );
    }
}
