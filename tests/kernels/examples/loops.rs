//! Compiles a program of loops, checks it and runs it: `-- FILE ARCH..`; `-t` shows the text.
#![allow(missing_docs)]

use lanebook_kernels::interpret::Interpreted;
use lanebook_kernels::judge::run_text;
use lanebook_kernels::{checked, try_with_kernel};

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let shows = args.iter().any(|a| a == "-t");
    args.retain(|a| a != "-t");
    let file = std::fs::read_to_string(&args[0]).expect("a program");
    let said = Interpreted::new(&file);
    for arch in &args[1..] {
        let made = try_with_kernel(&file, arch, |p, c, t| (checked(p, c), t.to_string()));
        match made {
            Ok((checked, text)) => {
                if shows {
                    println!("{text}");
                }
                let ran = said.as_ref().map(|said| run_text(said, &text, &[], arch));
                println!("{arch}: checked {checked:?}, ran {ran:?}");
            }
            Err(e) => println!("{arch}: refused: {e}"),
        }
    }
}
