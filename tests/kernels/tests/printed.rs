//! Kernels exactly as Triton 3.9 prints them before layouts, but for their locations
//! (`printed/KERNEL.TARGET.mlir`): each compiles for what it was printed for, the checkers find
//! nothing, and what comes out does what the text says.
#![allow(missing_docs)]

use lanebook_kernels::hunt::verdict::references;
use lanebook_kernels::hunt::{Verdict, pair};
use lanebook_kernels::{Workshop, try_kernel_text};
use std::path::Path;

/// Kernels that the interpreter carries out; of the others one writes places twice where its
/// strides are small, one has products with words that it does not read, and one adds where its
/// indices, which are any numbers, say.
const RUN: [&str; 2] = ["matmul_tma", "softmax"];
/// Architectures that have a name of their own for what targets may use.
const ARCHS: [(&str, &str); 2] = [("sm_90", "sm_90a"), ("sm_100", "sm_100a")];

/// The texts with the kernels' names and the architectures.
fn texts() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("printed");
    let files = std::fs::read_dir(folder).expect("printed kernels");
    let mut out: Vec<_> = files
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let [kernel, target, _] = name.split('.').collect::<Vec<_>>()[..] else {
                panic!("{name}")
            };
            let arch = ARCHS.iter().find(|(of, _)| *of == target).map_or(target, |(_, own)| own);
            let text = std::fs::read_to_string(&path).expect("text");
            (kernel.to_string(), arch.to_string(), text)
        })
        .collect();
    out.sort();
    out
}

#[test]
fn kernels_as_triton_prints_them_compile_and_are_right() {
    let texts = texts();
    assert!(texts.len() >= 6);
    let mut run = 0;
    for (kernel, arch, text) in &texts {
        try_kernel_text(text, arch).unwrap_or_else(|e| panic!("{kernel} {arch}: {e}"));
        if !RUN.contains(&kernel.as_str()) {
            continue;
        }
        let known = references(text).unwrap_or_else(|e| panic!("{kernel}: {e}"));
        match pair(&mut Workshop::default(), text, arch, &known, &mut Vec::new()) {
            Ok(_) => run += 1,
            Err(Verdict::Refused(why)) => panic!("{kernel} {arch}: {why}"),
            Err(Verdict::Wrong(what)) => panic!("{kernel} {arch}: {}", what.detail),
        }
    }
    assert_eq!(run, texts.iter().filter(|(kernel, ..)| RUN.contains(&kernel.as_str())).count());
}
