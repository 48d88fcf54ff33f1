//! What `compile` takes of a program, walked: every operation with every attribute, number of
//! operands, element type and notation of a written layout. Each combination is refused; or it is
//! obeyed, which its removal shows, and the kernel computes what the program says.
//!
//! Operations, attributes and values come from the tables, so that a new one cannot be forgotten:
//! an operation that the contract takes and no program here has is an error.
#![allow(missing_docs)]

mod moves;
mod text;

use lanebook::TABLES;
use lanebook::compile::{CompileError, compile};
use lanebook::ir::contract::BreachKind;
use lanebook::ir::{ErrorKind, LargeStorage, Options, isolate_kernel, parse, verify};
use lanebook::tables::{AtomClass, AttrContract, AttrForm, OpContract, OpDecl, OpRole};
use lanebook::written::resolve_layouts;
use lanebook_kernels::checked::every_kernel;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::maps::text_and_maps;
use lanebook_kernels::room;
use std::collections::{BTreeMap, BTreeSet};
use text::*;

const ARCHS: [&str; 2] = ["sm_80", "gfx942"];

/// Where an operation is tried: stages of pipelines where warps can be set aside.
fn archs_of(decl: &OpDecl<'_>) -> [&'static str; 2] {
    match decl.role {
        _ if is_of_tensor_memory(decl) => ["sm_100a", "sm_103a"],
        OpRole::Produce | OpRole::Consume | OpRole::AgentSwitch => ["sm_90a", "sm_100a"],
        _ => ARCHS,
    }
}

/// Attributes that nobody has, or that other systems give to operations.
const FOREIGN: [&str; 12] = [
    "mask",
    "num_ctas",
    "sliceCount",
    "transA",
    "offset",
    "depth",
    "fastmath",
    "inputPrecision",
    "rounding",
    "tt.divisibility",
    "cache",
    "predicate",
];

/// What came of a text: kernel and plan, or what refused it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    Kernel(String),
    Refused(String),
}

fn outcome(text: &str, arch: &str) -> Outcome {
    let id = TABLES.arch_named(arch).expect("an architecture");
    let mut pools = Box::new(LargeStorage::new());
    let mut program = match parse(pools.pools(), &TABLES, text, Options::default()) {
        Ok(program) => program,
        Err(e) => return Outcome::Refused(format!("parse: {:?}", e.kind)),
    };
    if let Err(e) = verify(&mut program) {
        return Outcome::Refused(format!("verify: {:?}", e.kind));
    }
    let kernel = match isolate_kernel(&mut program, None) {
        Ok(kernel) => kernel,
        Err(e) => return Outcome::Refused(format!("isolate: {:?}", e.kind)),
    };
    if let Err(e) = resolve_layouts(&TABLES, id, &mut program, kernel, &mut Box::default()) {
        return Outcome::Refused(format!("layout: {e:?}"));
    }
    let mut room = room();
    match compile(&TABLES, id, &mut program, room.scratch()) {
        Ok(compiled) => {
            every_kernel(&program, &compiled, text, arch);
            let mut out = String::new();
            compiled.write(&TABLES, &program, &mut out).expect("text");
            let plan = &compiled.plan;
            // What whoever starts it is told.
            let arguments: Vec<_> =
                program.parameters(compiled.function).map(|value| (value, 640)).collect();
            out += &format!("{:?}\n", program.grid(compiled.function, &arguments));
            out += &format!(
                "{:?} {:?} {:?} {:?}",
                plan.allocs.as_slice(),
                plan.fragments.as_slice(),
                plan.globals.as_slice(),
                plan.transfers.as_slice()
            );
            Outcome::Kernel(out)
        }
        Err(CompileError::Contract(breach)) => {
            assert!(breach.at.line > 0, "a breach without a place: {breach:?}\n{text}");
            Outcome::Refused(format!("contract: {:?}", breach.kind))
        }
        Err(e) => Outcome::Refused(format!("{e:?}")),
    }
}

/// Operations with their contracts.
fn operations() -> impl Iterator<Item = (&'static OpDecl<'static>, &'static OpContract<'static>)> {
    TABLES.ops.iter().zip(TABLES.contract.ops)
}

fn compiled()
-> impl Iterator<Item = (&'static OpDecl<'static>, &'static OpContract<'static>, String)> {
    operations().filter(|(_, contract)| contract.compiled).map(|(decl, contract)| {
        let ty = if decl.name == "mma" {
            "f16"
        } else if decl.name == "mma_scaled" {
            "e4m3"
        } else if decl.name == "tt.histogram" {
            "i32"
        } else {
            "f32"
        };
        let program = program(decl, contract, ty).unwrap_or_else(|| {
            panic!("the contract takes `{}`, and no program here has it", decl.name)
        });
        (decl, contract, program)
    })
}

/// The kernel of a text is right at two turns: memory holds what the interpreter says.
fn right(text: &str, arch: &str, seen: &mut BTreeSet<(String, String)>) {
    if !seen.insert((text.to_string(), arch.to_string())) {
        return;
    }
    let Outcome::Kernel(_) = outcome(text, arch) else { return };
    // A snippet is no kernel: `snippets` runs such in a frame.
    let is_snippet = [", snippet}", "{snippet", ", snippet = true}"];
    if is_snippet.iter().any(|said| text.contains(said)) {
        return;
    }
    // The interpreter reads a bare `return`, and no empty lists of attributes.
    let bare: String = text
        .lines()
        .map(|line| {
            if line.trim_start().starts_with("return") && !line.contains('%') {
                "  return\n".to_string()
            } else {
                format!("{}\n", line.replace(" attributes {} {", " {").replace(" {}", ""))
            }
        })
        .collect();
    let said = Interpreted::with(&bare, Given { turns: 2, salt: 0, fill: Some(Fill::Small) })
        .unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    let (kernel, maps) = text_and_maps(text, arch);
    run_text(&said, &kernel, &maps, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
}

#[test]
fn every_operation_that_is_not_in_the_contract_is_refused() {
    let mut refused = 0;
    for (decl, contract) in operations().filter(|(_, contract)| !contract.compiled) {
        // Those of parallel loops are none of a function without layouts.
        let of_loops = !contract.in_loops.text().is_empty();
        let most =
            if decl.operands.1 == u8::MAX { decl.operands.0.max(2) } else { decl.operands.1 };
        let operands = ["%a", "%a", "%a", "%a", "%a"][..usize::from(most.min(5))].join(", ");
        let forms = [
            format!("  %x = {} {operands} : tensor<32x32xf32>\n", decl.name),
            format!("  {} {operands}\n", decl.name),
            format!("  %x = {} %m, %m : index\n", decl.name),
            format!("  {}\n", decl.name),
            format!("  {} {{\n  }}\n", decl.name),
            format!("  %x, %y = {} %a : tensor<32x32xf32>\n", decl.name),
            format!("  {} %i = 0 to %K step 32 {{\n  }}\n", decl.name),
            format!("  %x = {} @g(%a) : (tensor<32x32xf32>) -> tensor<32x32xf32>\n", decl.name),
        ];
        let mut by_contract = 0;
        for form in forms {
            let text = kernel(
                &format!("{}{form}{}", load("a", "A", "32x32", "f32"), store("a", "32x32", "f32")),
                "f32",
                "f32",
            );
            for arch in ARCHS {
                match outcome(&text, arch) {
                    Outcome::Kernel(_) => panic!("`{}` is compiled on {arch}:\n{text}", decl.name),
                    Outcome::Refused(why) => {
                        let by_loops = of_loops && why.starts_with("NotTold");
                        by_contract +=
                            usize::from(by_loops || why.starts_with("contract: Operation"))
                    }
                }
            }
        }
        refused += usize::from(by_contract > 0);
    }
    // Some have a syntax of their own, which none of these forms is.
    assert!(refused >= 4, "{refused} were read and refused");
}

#[test]
fn every_attribute_is_refused_or_obeyed() {
    let mut keys: BTreeSet<String> = FOREIGN.iter().map(|key| (*key).to_string()).collect();
    keys.extend(TABLES.contract.hints.iter().map(|hint| hint.key.to_string()));
    for (_, contract) in operations() {
        for attr in contract
            .attrs
            .iter()
            .chain(contract.arguments.iter().flat_map(|slot| slot.attrs.slice()))
        {
            keys.insert(attr.key.to_string());
            // Misspelt.
            keys.insert(attr.key[..attr.key.len() - 1].to_string());
        }
    }
    let (mut obeyed, mut seen) = (BTreeMap::<String, usize>::new(), BTreeSet::new());
    for (decl, contract, program) in compiled() {
        for key in &keys {
            let may = decl.results.1 > 0 && decl.regions == 0;
            let hints = TABLES.contract.hints.iter().filter(|_| may);
            let attr = contract.attrs.iter().chain(hints).find(|attr| attr.key == key.as_str());
            if key == "sym_name" || key == "threads" && decl.role == OpRole::Function {
                continue;
            }
            let wrong = [
                ("", false),
                ("1", false),
                ("word", false),
                ("[1, 0]", false),
                ("\"text\"", false),
            ]
            .map(|(v, ok)| (v.to_string(), ok))
            .to_vec();
            for (value, legal) in attr.map_or(wrong, |attr| values(&attr.form)) {
                let needed = required(contract, key);
                // Any text is one that nothing follows from.
                let is_noted = |attr: &AttrContract<'_>| {
                    attr.hint && matches!(attr.form, AttrForm::Text) && value.starts_with('"')
                };
                let legal = legal || attr.is_some_and(is_noted);
                let with =
                    marked(&program, ATTR, &own(decl, &listed(&[&needed, &joined(key, &value)])));
                let without = marked(&program, ATTR, &own(decl, &needed));
                for arch in archs_of(decl) {
                    let Outcome::Kernel(text) = outcome(&with, arch) else { continue };
                    assert!(
                        legal,
                        "{arch}: `{}` takes `{}`:\n{with}",
                        decl.name,
                        joined(key, &value)
                    );
                    let attr = attr.expect("legal");
                    // What is written as the default is the default; the end of coordinates is said
                    // by their start and the tile too; most bytes of what takes none are kept to
                    // (`conversions_in_rounds` shows those that take some); leave to read less of
                    // factors that are f32 is taken of those (`precision.rs`), and Triton writes it
                    // at others too.
                    let is_default = attr.default.text() == value
                        || key == "inserted"
                        || key == "scratch"
                        || key == "inputPrecision"
                        || decl.name == "tt.make_range" && key == "end";
                    if attr.hint {
                        let plain = outcome(&without, arch);
                        assert_eq!(plain, Outcome::Kernel(text), "{arch}: a hint:\n{with}");
                        right(&with, arch, &mut seen);
                        continue;
                    }
                    if attr.required {
                        right(&with, arch, &mut seen);
                        continue;
                    }
                    // An order that stands whatever is written: the annotated program says so.
                    let stands = matches!(decl.role, OpRole::Fence | OpRole::Wait);
                    assert!(
                        is_default || stands || outcome(&without, arch) != Outcome::Kernel(text),
                        "{arch}: `{}` does nothing:\n{with}",
                        joined(key, &value)
                    );
                    if !is_default {
                        right(&with, arch, &mut seen);
                    }
                    *obeyed.entry(format!("{} {key}", decl.name)).or_default() += 1;
                }
            }
        }
    }
    println!("{obeyed:?}");
    for wanted in ["alloc_tensor layout", "trans order", "broadcast axis", "func visibility"] {
        assert!(obeyed.contains_key(wanted), "{wanted} is never obeyed: {obeyed:?}");
    }
}

/// An argument that may be below zero is divided with its sign.
fn sign_of_an_argument(program: &str, seen: &mut BTreeSet<(String, String)>) {
    let divided = plain(program)
        .replace("[0, %m]", "[0, %q]")
        .replace("  %a = ", "  %q = index.div %m, 2 : index\n  %a = ");
    let signed = divided.replace("{div = 32}", "{signed, div = 32}");
    assert_ne!(divided, signed);
    for arch in ARCHS {
        assert_ne!(outcome(&signed, arch), outcome(&divided, arch), "{arch}: {signed}");
        assert!(matches!(outcome(&signed, arch), Outcome::Kernel(_)), "{arch}: {signed}");
        right(&signed, arch, seen);
        let odd = divided.replace("{div = 32}", "{signed = 1, div = 32}");
        assert!(matches!(outcome(&odd, arch), Outcome::Refused(_)), "{arch}: {odd}");
    }
}

/// Bounds of pairs that count halves: other code where there are pairs and bounds, else nothing.
fn halves_of_bounds() {
    let text = |element: &str, attrs: &str| {
        let (from, to) =
            (format!("memref<?x?x{element}, #gmem>"), format!("tensor<32x32x{element}>"));
        format!(
            "func @f(%A: {from} {{align = 16{attrs}}}, %C: {from} {{align = 16}}, %K: index {{div = 32}}) {{threads = 128}} {{\n  %a = tiled_load %A[0, 0] : {from} -> {to}\n  tiled_store %a, %C[0, 0] : {to} -> {from}\n}}\n"
        )
    };
    for arch in ARCHS {
        for bounds in [", bounds = (_, 24)", ", bounds = (20, %K)"] {
            let of = |element: &str, more: &str| {
                outcome(&text(element, &format!("{bounds}{more}")), arch)
            };
            let (halves, whole) = (of("e2m1x2", ", halves"), of("e2m1x2", ""));
            assert!(matches!(&halves, Outcome::Kernel(_)), "{arch}: {bounds}");
            assert_ne!(halves, whole, "{arch}: {bounds}");
            assert!(matches!(of("i8", ", halves"), Outcome::Refused(_)), "{arch}: {bounds}");
            assert!(
                matches!(of("e2m1x2", ", halves = 1"), Outcome::Refused(_)),
                "{arch}: {bounds}"
            );
        }
        for odd in [", halves", ", bounds = (_, 23), halves"] {
            assert!(
                matches!(outcome(&text("e2m1x2", odd), arch), Outcome::Refused(_)),
                "{arch}: {odd}"
            );
        }
    }
}

/// A tensor that is one row in parts: indices of tiles say alone where elements lie. Of others it would
/// say nothing.
fn parts_of_a_row() {
    let text = |memref: &str, attrs: &str, place: &str| {
        format!(
            "func @f(%A: memref<{memref}xf32, #gmem> {{align = 16{attrs}}}, %C: memref<?x?xf32, #gmem>) {{threads = 128}} {{\n  %i = constant 5 : tensor<32x32xi32>\n  %a = gather %A[{place}], %i {{axis = 1}} : (memref<{memref}xf32, #gmem>, tensor<32x32xi32>) -> tensor<32x32xf32>\n  tiled_store %a, %C[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>\n}}\n"
        )
    };
    for arch in ARCHS {
        let of = |attrs: &str| outcome(&text("64x1024", attrs, "2, 3"), arch);
        let (parts, rows) = (of(", far"), of(""));
        assert!(matches!(&parts, Outcome::Kernel(_)), "{arch}");
        assert_ne!(parts, rows, "{arch}");
        for odd in [", far = 1", ", far, bounds = (64, 1000)"] {
            assert!(matches!(of(odd), Outcome::Refused(_)), "{arch}: {odd}");
        }
        for (memref, place) in [("?x1024", "2, 3"), ("1024", "3"), ("4x64x1024", "1, 2, 3")] {
            let said = outcome(&text(memref, ", far", place), arch);
            assert!(matches!(said, Outcome::Refused(_)), "{arch}: {memref}");
        }
    }
}

/// Bounds of the tensors: other code where they are well said, nothing where they are not.
fn bounds_of_a_tensor(
    program: &str,
    values: Vec<(String, bool)>,
    seen: &mut BTreeSet<(String, String)>,
) {
    let promised = "align = 16, stride_div = 16";
    let mut taken = 0;
    for (value, legal) in values {
        let one = listed(&[promised, &joined("bounds", &value)]);
        let text = marked(program, ARGUMENT, &one);
        for arch in ARCHS {
            let is_taken = matches!(outcome(&text, arch), Outcome::Kernel(_));
            assert_eq!(is_taken, legal, "{arch}: {text}");
            if is_taken {
                let plain = marked(program, ARGUMENT, promised);
                assert_ne!(outcome(&text, arch), outcome(&plain, arch), "{arch}: {text}");
                right(&text, arch, seen);
                taken += 1;
            }
        }
    }
    assert!(taken >= 3 * ARCHS.len(), "obeyed {taken} times");
}

/// Promises about arguments: a stronger one lets wider instructions in, a weaker one keeps them
/// out.
#[test]
fn every_promise_of_an_argument_is_refused_or_obeyed() {
    let mut seen = BTreeSet::new();
    let (decl, contract) =
        operations().find(|(decl, _)| decl.role == OpRole::Function).expect("a function");
    let program = program(decl, contract, "f32").expect("a program");
    let promised = ["align = 16", "stride_div = 16", "div = 32"];
    for attr in contract.arguments.iter().flat_map(|slot| slot.attrs.slice()) {
        let others: Vec<&str> = promised
            .iter()
            .filter(|other| !other.starts_with(&format!("{} ", attr.key)))
            .copied()
            .collect();
        if attr.key == "signed" {
            sign_of_an_argument(&program, &mut seen);
            continue;
        }
        if attr.key == "halves" {
            halves_of_bounds();
            continue;
        }
        if attr.key == "far" {
            parts_of_a_row();
            continue;
        }
        if attr.key == "bounds" {
            bounds_of_a_tensor(&program, values(&attr.form), &mut seen);
            continue;
        }
        let mut differ = 0;
        for (value, legal) in values(&attr.form) {
            let one = joined(attr.key, &value);
            let index = attr.key == "div";
            let (of_memref, of_index) = (
                others
                    .iter()
                    .filter(|o| !o.starts_with("div"))
                    .copied()
                    .collect::<Vec<_>>()
                    .join(", "),
                others.contains(&"div = 32"),
            );
            let text = |said: &str| {
                let memref = if index { of_memref.clone() } else { listed(&[&of_memref, said]) };
                let div = if index {
                    said.to_string()
                } else if of_index {
                    "div = 32".to_string()
                } else {
                    String::new()
                };
                let text = marked(
                    &program.replace("{div = 32}", &format!("{{{div}}}")),
                    ARGUMENT,
                    &memref,
                );
                text.replace(" {}", "")
            };
            for arch in ARCHS {
                let Outcome::Kernel(kernel) = outcome(&text(&one), arch) else { continue };
                assert!(legal, "{arch}: `{one}` is taken:\n{}", text(&one));
                let number: i64 = value.parse().expect("a number");
                let plain = outcome(&text(""), arch) == Outcome::Kernel(kernel);
                // What is true of every number, or says no more than is known, changes nothing.
                let says = if attr.key == "align" { number > 4 } else { number % 2 == 0 };
                assert!(
                    plain != says,
                    "{arch}: `{one}` changes {}:\n{}",
                    if plain { "nothing" } else { "something" },
                    text(&one)
                );
                differ += usize::from(!plain);
                if number <= 32 {
                    right(&text(&one), arch, &mut seen);
                }
            }
        }
        assert!(differ >= 4, "`{}` is obeyed {differ} times", attr.key);
    }
}

#[test]
fn every_number_of_operands_is_refused_or_obeyed() {
    let mut seen = BTreeSet::new();
    for (decl, contract, program) in compiled() {
        // A square tile does not say which of its dimensions is new.
        let needed = if decl.role == OpRole::Broadcast {
            "axis = 1".to_string()
        } else {
            own(decl, &required(contract, ""))
        };
        let base = marked(&program, ATTR, &needed);
        let mut made = 0;
        for arch in archs_of(decl) {
            if let Outcome::Kernel(_) = outcome(&base, arch) {
                made += 1;
                if decl.name != "mma_scaled" {
                    right(&base, arch, &mut seen);
                }
            }
            for more in ["%a", "%m", "%A", "%A[%m, 0]", "1", "%a, %a", "%a, %m, %a"] {
                let comma =
                    if matches!(decl.role, OpRole::Return | OpRole::Alloc) { "" } else { ", " };
                let text = marked(&program.replace(ATTR, &needed), MORE, &format!("{comma}{more}"));
                if text == base {
                    continue;
                }
                // Register tiles are what a snippet returns.
                let returned =
                    decl.role == OpRole::Return && more.split(", ").all(|tile| tile == "%a");
                match outcome(&text, arch) {
                    Outcome::Refused(_) => assert!(!returned, "{arch}: {more} refused:\n{text}"),
                    Outcome::Kernel(made) => assert!(
                        returned && !made.contains(".entry") && !made.contains(".amdhsa_kernel"),
                        "{arch}: `{}` with {more} more:\n{text}",
                        decl.name
                    ),
                }
            }
        }
        let by_tables = matches!(decl.role, OpRole::Elementwise) || decl.name == "mma_scaled";
        assert!(
            made > 0 || by_tables,
            "`{}` is compiled nowhere: {:?}\n{base}",
            decl.name,
            outcome(&base, "sm_80")
        );
    }
}

#[test]
fn every_element_type_is_refused_or_right() {
    let (mut seen, mut made, mut refused) = (BTreeSet::new(), 0, 0);
    for (decl, contract) in operations().filter(|(_, contract)| contract.compiled) {
        for dtype in TABLES.dtypes {
            let Some(program) = program(decl, contract, dtype.name) else { continue };
            let needed = if decl.role == OpRole::Broadcast {
                "axis = 1".to_string()
            } else {
                own(decl, &required(contract, ""))
            };
            let text = marked(&program, ATTR, &needed);
            for arch in ARCHS {
                match outcome(&text, arch) {
                    Outcome::Kernel(_) => {
                        made += 1;
                        if Interpreted::new(&text).is_ok() {
                            right(&text, arch, &mut seen);
                        }
                    }
                    Outcome::Refused(why) => {
                        assert!(!why.starts_with("parse"), "{why}\n{text}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(made >= 120 && refused >= 120, "{made} compiled, {refused} refused");
}

#[test]
fn every_written_layout_is_refused_or_obeyed() {
    let (mut seen, mut obeyed) = (BTreeSet::new(), BTreeMap::<&str, BTreeSet<&str>>::new());
    for (decl, contract, program) in compiled().filter(|(_, _, program)| program.contains(LAYOUT)) {
        let needed = own(decl, &required(contract, ""));
        let program = program.replace(ATTR, &needed);
        let without = marked(&program, LAYOUT, "");
        for arch in archs_of(decl) {
            let lanes = if arch.starts_with("gfx") { 64 } else { 32 };
            for (notation, layout) in layouts(lanes) {
                let with = marked(&program, LAYOUT, &format!(", {layout}"));
                assert_ne!(with, without);
                let Outcome::Kernel(text) = outcome(&with, arch) else { continue };
                assert!(
                    outcome(&without, arch) != Outcome::Kernel(text),
                    "{arch}: {notation} on `{}` does nothing:\n{with}",
                    decl.name
                );
                right(&with, arch, &mut seen);
                obeyed.entry(notation).or_default().insert(decl.name);
            }
        }
    }
    println!("{obeyed:?}");
    // Bases that are of no tile of this size, and what is no layout.
    for notation in ["linear", "nothing", "nonsense"] {
        assert!(!obeyed.contains_key(notation), "{obeyed:?}");
    }
    for notation in ["lanes", "triton", "cute, threads and values", "tilelang, expressions"] {
        assert!(obeyed.get(notation).is_some_and(|ops| ops.len() >= 9), "{notation}: {obeyed:?}");
    }
    for notation in ["tirx", "cute", "tileas", "triton, shared"] {
        assert!(
            obeyed.get(notation).is_some_and(|ops| ops.contains("alloc_tensor")),
            "{notation}: {obeyed:?}"
        );
    }
}

/// Every instruction that moves tiles, asked for by its name: refused, or what the operation is
/// made of.
#[test]
fn every_mover_is_refused_or_taken() {
    let (mut seen, mut taken) = (BTreeSet::new(), BTreeMap::<String, BTreeSet<&str>>::new());
    for (decl, contract, program) in
        compiled().filter(|(_, contract, _)| contract.attrs.iter().any(|attr| attr.key == "mover"))
    {
        let needed = required(contract, "");
        for arch in ARCHS {
            let machine =
                TABLES.arch(TABLES.arch_named(arch).expect("an architecture")).expect("it");
            let movers = machine
                .atoms
                .iter()
                .filter_map(|have| TABLES.atom(have.atom))
                .filter(|atom| atom.class == AtomClass::Move);
            for name in movers.map(|atom| atom.name()) {
                let mover = joined("mover", &format!("\"{name}\""));
                let all = if needed.is_empty() { mover } else { format!("{needed}, {mover}") };
                let text = marked(&program, ATTR, &all);
                let Outcome::Kernel(_) = outcome(&text, arch) else { continue };
                lanebook_kernels::with_kernel(&text, arch, |program, compiled, _| {
                    let op = program
                        .all()
                        .find(|op| program.has_attr(*op, "mover"))
                        .expect("the operation");
                    let moved = compiled
                        .plan
                        .move_of(op)
                        .unwrap_or_else(|| panic!("{arch}: nothing is moved by {name}:\n{text}"));
                    let atoms = [Some(moved.atom), moved.second]
                        .into_iter()
                        .flatten()
                        .filter_map(|id| TABLES.atom(id));
                    assert!(
                        atoms.into_iter().any(|atom| atom.name() == name),
                        "{arch}: not by {name}:\n{text}"
                    );
                });
                right(&text, arch, &mut seen);
                taken.entry(format!("{arch} {}", decl.name)).or_default().insert(name);
            }
        }
    }
    println!("{taken:?}");
    // What is scattered here moves element by element.
    let single = |at: &str| at.starts_with("sm_80 tiled_atomic") || at.ends_with(" scatter");
    let fewest = |at: &str| if single(at) { 1 } else { 2 };
    let is_enough = |(at, names): (&String, &BTreeSet<&str>)| names.len() >= fewest(at);
    assert!(taken.len() == 12 && taken.iter().all(is_enough), "{taken:?}");
}

/// Whatever else stands in a program than one function.
#[test]
fn nothing_stands_beside_the_function() {
    let one = kernel(
        &format!("{}{}", load("a", "A", "32x32", "f32"), store("a", "32x32", "f32")),
        "f32",
        "f32",
    );
    assert!(matches!(outcome(&one, "sm_80"), Outcome::Kernel(_)));
    let kind = |text: &str| outcome(text, "sm_80");
    assert_eq!(
        kind(&format!("{one}{}", one.replace("@f", "@g"))),
        Outcome::Refused(format!("isolate: {:?}", ErrorKind::SeveralKernels { functions: 2 }))
    );
    assert_eq!(
        kind(&format!("%x = constant 1 : index\n{one}")),
        Outcome::Refused(format!("contract: {:?}", BreachKind::Outside))
    );
    assert!(matches!(
        kind(&one.replace("{threads = 128}", "-> f32 {threads = 128}")),
        Outcome::Refused(_)
    ));
}
