//! Damaged inputs are answered with diagnostics, never with a panic: bytes of the sound little
//! tables are dropped, doubled, swapped and replaced, and the whole compiler runs on each result.
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::source::Sources;
use lanebook_gen::{Mode, compile_sources, load};
use std::path::Path;

/// A fixed sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn damaged(text: &str, numbers: &mut Numbers) -> String {
    const PIECES: [&str; 16] = [
        "(",
        ")",
        "[",
        "]",
        ",",
        "\"",
        "-1",
        "0",
        "99999999999",
        "é",
        "//",
        "/*",
        "None",
        "{",
        "@",
        "S[()]",
    ];
    let mut letters: Vec<char> = text.chars().collect();
    for _ in 0..=numbers.below(3) {
        let (a, b) = (numbers.below(letters.len()), numbers.below(letters.len()));
        match numbers.below(4) {
            0 => drop(letters.remove(a)),
            1 => letters.swap(a, b),
            2 => letters.insert(a, letters[b]),
            _ => drop(letters.splice(a..a + 1, PIECES[numbers.below(PIECES.len())].chars())),
        }
    }
    letters.into_iter().collect()
}

#[test]
fn damage_is_reported() {
    let mut quiet = Diagnostics::new();
    let base = load::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/base"), &mut quiet);
    let mut numbers = Numbers(7);
    let (mut refused, rounds) = (0, 600);
    for _ in 0..rounds {
        let victim = numbers.below(base.iter().count());
        let mut sources = Sources::default();
        for (at, (_, file)) in base.iter().enumerate() {
            let text =
                if at == victim { damaged(&file.text, &mut numbers) } else { file.text.clone() };
            sources.add(&file.name, None, text);
        }
        if let Err(failure) = compile_sources(sources, Diagnostics::new(), Mode::Draft) {
            refused += 1;
            assert!(failure.plain().contains("error: ") && failure.full().contains("error: "));
        }
    }
    assert!(refused > rounds / 2, "{refused} of {rounds} were refused");
}
