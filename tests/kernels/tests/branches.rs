//! Branches in programs of tiles: what they cannot ask for, what is left of them where a kernel
//! cannot be made, and what they cost.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::compile::{CompileError, KernelStorage, compile};
use lanebook::ir::contract::BreachKind;
use lanebook::ir::{LargeStorage, Options, Plain, Program, SmallStorage, parse, print, verify};
use lanebook::plan::PlanError;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::{assembled, kernel_text, tested};

fn text(program: &Program<'_, '_>) -> String {
    let mut out = String::new();
    print(program, &Plain, &mut out).expect("a text");
    out
}

/// What compiling says of a text, and with what name the operation begins that it is about.
fn refused(source: &str, arch: &str) -> (CompileError, String) {
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &TABLES, source, Options::default()).expect("a program");
    verify(&mut program).expect("a sound program");
    let before = text(&program);
    let mut room = Box::new(KernelStorage::new());
    let id = TABLES.arch_named(arch).expect("an architecture");
    let error = match compile(&TABLES, id, &mut program, room.scratch()) {
        Ok(_) => panic!("{arch}: compiled\n{source}"),
        Err(error) => error,
    };
    assert_eq!(text(&program), before, "{arch}: {error:?}");
    let op = match error {
        CompileError::Contract(breach) => breach.at.op,
        CompileError::Plan(PlanError::SharedMemory { op, .. }) => Some(op),
        CompileError::Capacity { op, .. } => op,
        _ => None,
    };
    (error, op.map(|op| program.op_name(op).to_string()).unwrap_or_default())
}

/// A kernel around a body; `%x` and `%y` are tiles of 32x32.
fn kernel(body: &str) -> String {
    format!(
        "func @f(%X: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %Y: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}}, %p: index, %q: index {{signed}}, %w: i32) {{threads = 128}} {{
  %x = tiled_load %X[0, 0] : memref<?x?xf32, #gmem> -> tensor<32x32xf32>
  %y = add %x, %x : tensor<32x32xf32>
{body}
  tiled_store %r, %Y[0, 0] : tensor<32x32xf32> -> memref<?x?xf32, #gmem>
}}
"
    )
}

const CHOICE: &str = " -> tensor<32x32xf32> {
    scf.yield %x : tensor<32x32xf32>
  } else {
    scf.yield %y : tensor<32x32xf32>
  }";

/// What threads may see differently is no condition: neither elements nor numbers of other types.
#[test]
fn conditions_are_indices() {
    let elements = format!(
        "  %c = compare.olt %x, %y : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xi1>\n  %r = scf.if %c{CHOICE}"
    );
    let (error, name) = refused(&kernel(&elements), "sm_80");
    let CompileError::Contract(breach) = error else { panic!("{error:?}") };
    assert!(matches!(breach.kind, BreachKind::Kind { .. }), "{breach:?}");
    assert_eq!(name, "scf.if");
    // Numbers that are no indices are not looked at by the verifier either.
    let mut pools = Box::new(SmallStorage::new());
    let number = kernel(&format!("  %r = scf.if %w{CHOICE}"));
    let mut program =
        parse(pools.pools(), &TABLES, &number, Options::default()).expect("a program");
    assert!(verify(&mut program).is_err());
}

/// Conditions of every sign and size, with the numbers that are written among them.
#[test]
fn every_index_but_zero_is_true() {
    for condition in ["%p", "%q", "0", "1", "7"] {
        let source = kernel(&format!("  %r = scf.if %c{CHOICE}").replace("%c", condition));
        for arch in ["sm_80", "gfx942", "gfx1200"] {
            let kernel = kernel_text(&source, arch);
            assembled(arch, &kernel).unwrap_or_else(|e| panic!("{arch}: {e}\n{kernel}"));
            for value in [0, 1, 2, 0x4000_0000, 0x7fff_ffff, -1, i64::from(i32::MIN)] {
                let given = Given { turns: 1, salt: 0, fill: None };
                let mut said = Interpreted::with(&source, given).expect("a program");
                for (name, index) in &mut said.indices {
                    *index = if name == "%q" { value } else { value.max(0) };
                }
                run_text(&said, &kernel, &[], arch)
                    .unwrap_or_else(|e| panic!("{arch}, {condition} = {value}: {e}\n{kernel}"));
            }
        }
    }
}

/// Branches of each form, in each other and in a loop, and a tile that no machine has room for:
/// the program is then as it was, and what is said is said of its own operations.
#[test]
fn what_is_refused_is_as_it_was() {
    let program = tested("branches.tile");
    let fails = "  %big = alloc_tensor : tensor<1024x64xf32, #smem>
  copy %X[%m, 0], %big : memref<?x64xf32, #gmem> -> tensor<1024x64xf32, #smem>
";
    let broken = program.replace("%q  = index.cmp", &format!("{fails}  %q  = index.cmp"));
    for arch in ["sm_80", "sm_100a", "gfx942", "gfx1200"] {
        let (error, name) = refused(&broken, arch);
        assert!(matches!(error, CompileError::Plan(_)), "{arch}: {error:?}");
        assert!(["alloc_tensor", "copy"].contains(&name.as_str()), "{arch}: {name}, {error:?}");
    }
    // A branch is a loop to whoever nests them.
    let deep = (0..5).fold(CHOICE.replace("%x", "%y"), |inner, n| {
        format!(
            " -> tensor<32x32xf32> {{\n  %d{n} = scf.if %p{inner}\n  scf.yield %d{n} : tensor<32x32xf32>\n}} else {{\n  scf.yield %x : tensor<32x32xf32>\n}}"
        )
    });
    let (error, name) = refused(&kernel(&format!("  %r = scf.if %p{deep}")), "sm_80");
    assert!(matches!(error, CompileError::Capacity { .. }), "{error:?}");
    assert_eq!(name, "scf.if", "{error:?}");
}

/// Where the second part passes on what is there, it is no loop of its own.
#[test]
fn a_second_part_that_computes_nothing_is_none() {
    let text = |other: &str, loops: usize| {
        let source = kernel(&format!(
            "  %r = scf.if %p -> tensor<32x32xf32> {{
    %s = mul %y, %y : tensor<32x32xf32>
    scf.yield %s : tensor<32x32xf32>
  }} else {{
    %t = mul %x, %x : tensor<32x32xf32>
    scf.yield {other} : tensor<32x32xf32>
  }}"
        ));
        let source = match other {
            "%t" => source,
            _ => source.replace("    %t = mul %x, %x : tensor<32x32xf32>\n", ""),
        };
        for arch in ["sm_80", "gfx942", "gfx1200"] {
            lanebook_kernels::with_kernel(&source, arch, |program, _, _| {
                let count =
                    |name: &str| program.all().filter(|op| program.op_name(*op) == name).count();
                assert_eq!((count("scf.if"), count("scf.for")), (0, loops), "{arch}: {source}");
            });
        }
    };
    text("%t", 2);
    text("%y", 1);
}

/// What was put into a program for one machine is right for the next one, too.
#[test]
fn a_program_is_compiled_again() {
    for name in ["branches.tile", "extremes.tile", "reshapes.tile"] {
        let source = tested(name);
        let steps = |archs: &[&str]| {
            let mut pools = Box::new(LargeStorage::new());
            let mut program =
                parse(pools.pools(), &TABLES, &source, Options::default()).expect("a program");
            verify(&mut program).expect("a sound program");
            let mut last = Vec::new();
            for arch in archs {
                let mut room = Box::new(KernelStorage::new());
                let id = TABLES.arch_named(arch).expect("an architecture");
                let compiled = compile(&TABLES, id, &mut program, room.scratch());
                let compiled = compiled.unwrap_or_else(|e| panic!("{name}, {arch}: {e:?}"));
                last = compiled.steps.iter().map(|step| (step.atom, step.args)).collect();
            }
            last
        };
        let once = steps(&["gfx942"]);
        assert!(once.len() > 50, "{name}: {}", once.len());
        assert_eq!(steps(&["sm_80", "gfx1200", "gfx942"]), once, "{name}");
    }
}
