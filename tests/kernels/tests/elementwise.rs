//! Arithmetic on the elements of tiles, a program for each kind of element type: on every
//! architecture it is assembled and computes what the program says, of small numbers, of edges and
//! of every pattern; or it is refused for a reason that stands here.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::tables::{DtypeKind, OpWord};
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::{Assembler, parallel, sweeps_all, tested, try_kernel_text};
use std::collections::BTreeSet;

const PROGRAMS: [&str; 71] = [
    "bfloats_of_f64",
    "bfloats_of_i64",
    "bfloats_of_u64",
    "bits_i16",
    "bits_i8",
    "byte_extremes_e4m3",
    "byte_extremes_e4m3fnuz",
    "byte_extremes_e5m2",
    "byte_extremes_e5m2fnuz",
    "byte_fused_e4m3",
    "byte_fused_e4m3fnuz",
    "byte_fused_e5m2",
    "byte_fused_e5m2fnuz",
    "byte_sums_e4m3",
    "byte_sums_e4m3fnuz",
    "byte_sums_e5m2",
    "byte_sums_e5m2fnuz",
    "bytes_of_64_bits_e4m3",
    "bytes_of_64_bits_e5m2",
    "casts_of_f64",
    "casts_of_i64",
    "casts_of_u64",
    "compare_bf16",
    "compare_f16",
    "compare_f32",
    "compare_f64",
    "compare_i32",
    "compare_i64",
    "compare_u64",
    "exponentials_f32",
    "exponentials_f64",
    "extremes_f32",
    "floats_f64",
    "floats_of_e4m3",
    "floats_of_e4m3fnuz",
    "floats_of_e5m2",
    "floats_of_e5m2fnuz",
    "floats_of_f64",
    "floats_of_i64",
    "floats_of_u64",
    "floats_steps_f64",
    "functions_f32",
    "functions_f64",
    "fused_bf16",
    "fused_whole_numbers",
    "narrow_functions_bf16",
    "narrow_functions_f16",
    "narrow_sums_bf16",
    "narrow_sums_f16",
    "pairs_bf16",
    "pairs_f16",
    "quotients_f32",
    "quotients_f64",
    "reduce_whole_numbers",
    "repeated_64_bits",
    "rounded_bf16",
    "rounded_f16",
    "rounded_f32",
    "rounded_f64",
    "truths",
    "waves_f64",
    "whole_and_float",
    "whole_numbers",
    "whole_numbers_bits",
    "whole_numbers_bits_i64",
    "whole_numbers_bits_u64",
    "whole_numbers_extremes",
    "whole_numbers_extremes_i64",
    "whole_numbers_extremes_u64",
    "whole_numbers_i64",
    "whole_numbers_u64",
];

/// Functions that no instruction rounds once.
const FUNCTIONS: [&str; 5] = ["exp2", "rsqrt", "rcp", "math.sqrt", "math.log2"];

#[test]
fn every_architecture_computes_what_the_program_says() {
    let programs: Vec<(usize, &str)> = PROGRAMS.into_iter().enumerate().collect();
    let counts = parallel::each(&programs, |(turn, name)| {
        let mut right = 0;
        let program = tested(name);
        let said = [Fill::Small, Fill::Edges, Fill::Patterns].map(|fill| {
            Interpreted::with(&program, Given { turns: 1, salt: 4, fill: Some(fill) })
                .unwrap_or_else(|e| panic!("{name}, {fill:?}: {e}"))
        });
        let mut seen = BTreeSet::new();
        for (number, arch) in TABLES.archs.iter().enumerate() {
            let text = try_kernel_text(&program, arch.name)
                .unwrap_or_else(|why| panic!("{name}, {}: {why}", arch.name));
            // Architectures of one instruction set differ in their names.
            let body: String = text
                .lines()
                .filter(|line| !line.contains("target") && !line.contains("version"))
                .collect();
            let is_new = seen.insert(body);
            right += 1;
            // The same text for another one is assembled by turns, unless all is swept.
            if is_new || sweeps_all() || (number + turn).is_multiple_of(4) {
                let wave = if arch.name.ends_with(".w64") { "+wavefrontsize64" } else { "" };
                Assembler::of(arch.name)
                    .assemble_with(&text, arch.target, wave)
                    .unwrap_or_else(|said| panic!("{name}, {}: {said}\n{text}", arch.name));
            }
            if !is_new {
                continue;
            }
            // The replay knows one of those that are alike by its name.
            for said in &said {
                run_text(said, &text, &[], arch.name)
                    .unwrap_or_else(|e| panic!("{name}, {}: {e}\n{text}", arch.name));
            }
        }
        right
    });
    let right: usize = counts.into_iter().sum();
    assert_eq!(right, PROGRAMS.len() * TABLES.archs.len());
}

/// Another operation is another result: each of them is told from its neighbour.
#[test]
fn another_operation_is_seen() {
    for (name, from, to) in [
        ("functions_f32", "math.floor", "math.ceil"),
        ("functions_f32", "math.absf", "neg"),
        ("rounded_f32", "math.roundeven", "math.floor"),
        ("rounded_f32", "math.roundeven", "math.ceil"),
        ("rounded_f32", "math.trunc", "math.floor"),
        ("rounded_f32", "math.trunc", "math.roundeven"),
        ("functions_f32", "math.sqrt", "math.log2"),
        ("whole_numbers", "arith.maxsi", "arith.maxui"),
        ("whole_numbers", "arith.minui", "arith.minsi"),
        ("whole_numbers", "%c = mul", "%c = add"),
        ("whole_numbers_bits", "arith.shrsi", "arith.shrui"),
        ("whole_numbers_bits", "arith.ori", "arith.xori"),
        ("bits_i8", "arith.andi", "arith.ori"),
        ("pairs_f16", "%b = sub %x, %y", "%b = sub %y, %x"),
        ("pairs_f16", "fma %x, %y, %a", "fma %x, %y, %y"),
        ("whole_and_float", "arith.uitofp", "arith.sitofp"),
        ("whole_and_float", "arith.fptoui", "arith.fptosi"),
        ("whole_numbers_i64", "%b = sub %x, %y", "%b = sub %y, %x"),
        ("whole_numbers_extremes_i64", "arith.maxsi", "arith.maxui"),
        ("whole_numbers_bits_i64", "arith.shrsi", "arith.shrui"),
        ("whole_numbers_extremes_u64", "arith.minui", "arith.minsi"),
        ("compare_i64", "compare.sle", "compare.ule"),
        ("compare_f64", "compare.ueq", "compare.oeq"),
        ("floats_f64", "fma %x, %y, %k", "fma %x, %y, %y"),
        ("floats_steps_f64", "math.floor", "math.ceil"),
        ("floats_of_i64", "%c1 = cast", "%c1 = arith.uitofp"),
        ("casts_of_f64", "%c4 = cast", "%c4 = arith.fptoui"),
    ] {
        let program = tested(name);
        let other = program.replace(from, to);
        assert_ne!(program, other, "{name}: {from}");
        let given = Given { turns: 1, salt: 4, fill: Some(Fill::Patterns) };
        let meant = Interpreted::with(&other, given).expect("a program");
        for arch in ["sm_90a", "gfx942"] {
            let text = try_kernel_text(&program, arch).expect("a kernel");
            assert!(run_text(&meant, &text, &[], arch).is_err(), "{name}, {arch}: {from}, {to}");
        }
    }
}

/// What is said of a sequence's accuracy is held tightly enough that a constant which is a few units
/// off in its last places is seen.
#[test]
fn a_constant_that_is_a_little_off_is_seen() {
    // What makes a logarithm to base 2 a natural one, as bits of an f32, and the lower half of the
    // same of an f64.
    for (name, right) in [
        ("exponentials_f32", core::f32::consts::LN_2.to_bits()),
        ("exponentials_f64", core::f64::consts::LN_2.to_bits() as u32),
    ] {
        let program = tested(name);
        let given = Given { turns: 1, salt: 4, fill: Some(Fill::Small) };
        let meant = Interpreted::with(&program, given).expect("a program");
        let text = try_kernel_text(&program, "sm_90a").expect("a kernel");
        assert!(text.contains(&right.to_string()), "{right}\n{text}");
        run_text(&meant, &text, &[], "sm_90a").expect("the right constant");
        let wrong = text.replace(&right.to_string(), &(right + 16).to_string());
        let said = run_text(&meant, &wrong, &[], "sm_90a");
        assert!(said.is_err(), "{name}: 16 units in the last place of a constant are not seen");
    }
}

/// A number of 64 bits that becomes a short float is rounded once: rounded twice it is another one,
/// and the inputs have such.
#[test]
fn a_second_rounding_is_seen() {
    let of = |name: &str, body: &str| {
        let (from, to) = name.split_once(' ').expect("two types");
        format!(
            "func @f(%A: memref<16x64x{from}, #gmem>, %B: memref<16x64x{to}, #gmem>) {{threads = 128}} {{
      %x = tiled_load %A[0, 0] : memref<16x64x{from}, #gmem> -> tensor<16x64x{from}>
{body}
      tiled_store %y, %B[0, 0] : tensor<16x64x{to}> -> memref<16x64x{to}, #gmem>
    }}"
        )
    };
    for (types, middle) in
        [("f64 f16", "f32"), ("f64 bf16", "f32"), ("i64 f32", "f64"), ("u64 bf16", "f32")]
    {
        let (from, to) = types.split_once(' ').expect("two types");
        let once = of(types, &format!("%y = cast %x : tensor<16x64x{from}> -> tensor<16x64x{to}>"));
        let twice = of(
            types,
            &format!(
                "%z = cast %x : tensor<16x64x{from}> -> tensor<16x64x{middle}>
                 %y = cast %z : tensor<16x64x{middle}> -> tensor<16x64x{to}>"
            ),
        );
        let given = Given { turns: 1, salt: 4, fill: Some(Fill::Patterns) };
        let meant = Interpreted::with(&once, given).expect("a program");
        for arch in ["sm_90a", "gfx942", "gfx1100"] {
            let text = try_kernel_text(&once, arch).expect("a kernel");
            run_text(&meant, &text, &[], arch).unwrap_or_else(|e| panic!("{types}, {arch}: {e}"));
            let text = try_kernel_text(&twice, arch).expect("a kernel");
            assert!(run_text(&meant, &text, &[], arch).is_err(), "{types}, {arch}: rounded twice");
        }
    }
}

/// A product and a sum are rounded one by one, which no other text than one that says so promises:
/// ptxas makes a fused one of `mul.f32` and `add.f32`, and the replay takes neither.
#[test]
fn products_and_sums_are_rounded_one_by_one() {
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24; the last bit is lost where the product is rounded.
    let (x, z) = (1.0 + 2f32.powi(-12), -(1.0 + 2f32.powi(-11)));
    assert_ne!(x * x + z, x.mul_add(x, z));
    let program =
        "func @f(%A: memref<32x64xf32, #gmem>, %B: memref<32x64xf32, #gmem>) {threads = 128} {
      %x = tiled_load %A[0, 0] : memref<32x64xf32, #gmem> -> tensor<32x64xf32>
      %y = tiled_load %B[0, 0] : memref<32x64xf32, #gmem> -> tensor<32x64xf32>
      %p = mul %x, %y : tensor<32x64xf32>
      %s = add %p, %y : tensor<32x64xf32>
      %d = sub %s, %x : tensor<32x64xf32>
      tiled_store %d, %A[0, 0] : tensor<32x64xf32> -> memref<32x64xf32, #gmem>
    }";
    let said = Interpreted::with(program, Given { turns: 1, salt: 4, fill: Some(Fill::Patterns) })
        .expect("a program");
    let mut seen = 0;
    for arch in TABLES.archs.iter().filter(|arch| arch.name.starts_with("sm_")) {
        let text = try_kernel_text(program, arch.name).expect("a kernel");
        for word in ["add", "sub", "mul"] {
            let plain = text.replace(&format!("{word}.rn.f32"), &format!("{word}.f32"));
            assert!(plain != text && !text.contains("fma."), "{}: {word}\n{text}", arch.name);
            let why = run_text(&said, &plain, &[], arch.name).expect_err("it may be fused");
            assert!(why.contains("says no rounding"), "{}: {why}", arch.name);
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen}");
}

/// How far a function may be off is said of each instruction and sequence that does it, and of no
/// other; the reference lets through no more than that.
#[test]
fn accuracy_is_said() {
    let mut said = BTreeSet::new();
    for arch in TABLES.archs {
        for own in arch.atoms {
            let atom = TABLES.atom(own.atom).expect("an atom");
            let Some(does) = atom.does else { continue };
            let name = atom.note.map_or("", |note| note.name);
            let OpWord::Op(id) = does.op else {
                assert_eq!(does.ulp, 0, "{}", name);
                continue;
            };
            let op = TABLES.op(id).expect("an operation").name;
            // Of 64 bits all are rounded once.
            let single = atom.operands.first().is_none_or(|operand| operand.registers == 1);
            assert_eq!(does.ulp > 0, FUNCTIONS.contains(&op) && single, "{}: {op}", name);
            if does.ulp > 0 {
                said.insert(op);
            }
        }
    }
    assert_eq!(said, FUNCTIONS.into_iter().collect());
    // What is made of others says it as well, and is more off than its steps are.
    let (mut functions, mut wide) = (BTreeSet::new(), BTreeSet::new());
    for one in TABLES.sequences {
        let op = TABLES.op(one.op).expect("an operation").name;
        let of_functions = one.steps.iter().any(|step| {
            let step = TABLES.op(one.op_of(step)).expect("an operation").name;
            FUNCTIONS.contains(&step)
        });
        // Whole numbers have no units: they are exact, whatever they are made of.
        let is_float = TABLES.dtype(one.to).is_some_and(|to| to.kind == DtypeKind::Float);
        // Of 64 bits what begins with an estimate ends rounded once.
        let is_wide = TABLES.dtype(one.to).is_some_and(|to| to.bits == 64);
        assert!(one.ulp > 0 || !of_functions || !is_float || is_wide, "{op}");
        assert!(one.ulp == 0 || is_float, "{op}");
        if one.ulp > 1 {
            if is_wide { &mut wide } else { &mut functions }.insert(op);
        }
    }
    let both = ["exp", "log", "math.cos", "math.erf", "math.sin", "math.tanh"];
    assert_eq!(functions, both.into_iter().chain(["div"]).collect());
    assert_eq!(wide, both.into_iter().chain(["exp2", "math.log2"]).collect());
}
