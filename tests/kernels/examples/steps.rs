//! The final steps of a program's kernel with their numbers, and what the checkers say of them.
//!
//! `cargo run -p lanebook-kernels --example steps -- FILE ARCH`

use lanebook::TABLES;
use lanebook::check::{FinalSteps, Violation};
use lanebook_kernels::{checked, try_with_kernel};

fn main() {
    let mut args = std::env::args().skip(1);
    let (file, arch) = (args.next().expect("a file"), args.next().expect("an architecture"));
    let source = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{file}: {e}"));
    try_with_kernel(&source, &arch, |program, compiled, _| {
        let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
        for (number, step) in compiled.steps.iter().enumerate() {
            let mut text = String::new();
            kernel.step(step, &mut text).expect("a step");
            println!("{number:4} op{:<3} {:?}: {}", step.origin, step.purpose, text.trim_end());
        }
        println!("plan: {:?}", lanebook::check::plan(&TABLES, program, &compiled.plan));
        let said = checked::check(program, &FinalSteps::of(compiled));
        println!("steps: {said:?}");
        if let Err(Violation::Race { missing, .. }) = said {
            println!("missing: {:?}", TABLES.atom(missing).map(lanebook::tables::Atom::name));
        }
    })
    .unwrap_or_else(|e| panic!("{e}"));
}
