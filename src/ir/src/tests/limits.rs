//! Every capacity is hit cleanly: an error that names it, never a panic, never half a program.
use super::support::*;
use crate::parse;
use crate::verify;
use crate::{ErrorKind, LargeStorage, Pool, SmallStorage, Storage};
use std::boxed::Box;
use std::string::String;

#[track_caller]
fn full<
    const O: usize,
    const V: usize,
    const U: usize,
    const A: usize,
    const T: usize,
    const R: usize,
>(
    pool: Pool,
    text: &str,
) {
    let mut storage = Box::new(Storage::<O, V, U, A, T, R, 0>::new());
    let error = parse(storage.pools(), tables(), text, SNIPPET).unwrap_err();
    assert!(
        matches!(error.kind, ErrorKind::Capacity { pool: found, .. } if found == pool),
        "{error:?}"
    );
}

#[test]
fn pools() {
    full::<8, 64, 64, 64, 64, 64>(Pool::Ops, GEMM);
    full::<64, 8, 64, 64, 64, 64>(Pool::Values, GEMM);
    full::<64, 64, 8, 64, 64, 64>(Pool::Uses, GEMM);
    full::<64, 64, 64, 4, 64, 64>(Pool::Attrs, GEMM);
    full::<64, 64, 64, 64, 4, 64>(Pool::Types, GEMM);
    full::<64, 64, 64, 64, 64, 2>(Pool::Regions, GEMM);
    full::<8, 8, 8, 8, 2, 8>(Pool::Aliases, "#a = <4,1>\n#b = <4,1>\n#c = <4,1>\n");
}

/// Any storage size: reading ends with a program or a capacity, and an exact fit works.
#[test]
fn every_size() {
    fn size<const N: usize>() -> bool {
        let mut storage = Box::new(Storage::<N, N, N, N, N, N, 0>::new());
        match parse(storage.pools(), tables(), GEMM, STRICT) {
            Ok(mut program) => verify(&mut program).is_ok(),
            Err(error) => {
                assert!(matches!(error.kind, ErrorKind::Capacity { .. }), "{error:?}");
                false
            }
        }
    }
    let fits = [
        size::<0>(),
        size::<1>(),
        size::<2>(),
        size::<4>(),
        size::<8>(),
        size::<12>(),
        size::<16>(),
        size::<24>(),
        size::<32>(),
        size::<48>(),
    ];
    assert!(!fits[0] && fits[9] && fits.is_sorted());
}

#[test]
fn lists_depth_rank() {
    let check = |text: &str, pool| {
        let error = error_with(text, SNIPPET);
        assert!(
            matches!(error.kind, ErrorKind::Capacity { pool: found, .. } if found == pool),
            "{error:?}"
        );
    };
    let names: String = (0..40).map(|number| std::format!("%x{number}, ")).collect();
    check(&std::format!("{names}%y = call @f()"), Pool::List);
    let types = "index, ".repeat(40);
    check(&std::format!("use %a : {types}index"), Pool::List);
    check(&"agent_switch {\n".repeat(17), Pool::Depth);
    check("use %a : tensor<1x2x3x4x5x6x7xf16>", Pool::Rank);
    check(&std::format!("use %a {{k = \"{}\"}}", "x".repeat(70_000)), Pool::Text);
    assert!(matches!(
        error_with(&"%a = call @f() {x = (".repeat(40), SNIPPET).kind,
        ErrorKind::Unclosed
    ));
}

#[test]
fn memory_per_operation() {
    let mut storage = Box::new(LargeStorage::new());
    let pools = crate::Program::new(storage.pools(), tables(), "").unwrap().usage();
    let journal = pools
        .iter()
        .find(|usage| usage.pool == Pool::Journal)
        .map_or(0, |usage| usage.capacity * usage.bytes);
    let bytes = (size_of::<LargeStorage>() - journal) as f64 / 1024.0;
    assert!(bytes <= 160.0, "{bytes} bytes an operation");
    std::println!(
        "{} bytes an operation; small storage {} bytes",
        bytes,
        size_of::<SmallStorage>()
    );
    assert!(size_of::<SmallStorage>() <= 24 * 1024, "{}", size_of::<SmallStorage>());
}

/// A program of 1,000 operations: names are looked up in a table, not a list.
#[test]
fn long_program() {
    let mut text = String::from("func @f(%a0: index) {\n");
    for number in 1..=900 {
        text += &std::format!("  %a{number} = index.add %a{}, 1 : index\n", number - 1);
    }
    text += "}\n";
    round(&text, STRICT);
}
