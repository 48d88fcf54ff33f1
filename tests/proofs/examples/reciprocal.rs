//! The reciprocal that quotients of run-time indices are made by where no instruction divides
//! (`src/emit/src/lower/arithmetic.rs`), for every divisor: it is never above `2^32 / d`, and below
//! by less than 2. So `high(n * r)` is too small by 2 at most: `n / d - n r / 2^32` is less than 2
//! for `n` below 2^32, and rounding down takes less than 1. About a minute:
//! `cargo run --release -p lanebook-proofs --example reciprocal`.

/// The constants of the sequence, as they stand there.
const LINE: (u32, u32) = (((48u64 << 31) / 17) as u32, ((32u64 << 31) / 17) as u32);
const STEPS: u32 = 2;
const SLACK: u32 = 4;

/// The upper half of a product.
fn high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// The sequence, word by word.
fn reciprocal(divisor: u32) -> u32 {
    let up = divisor.leading_zeros();
    let raised = divisor << up;
    let mut guess = LINE.0.wrapping_sub(high(raised, LINE.1));
    for _ in 0..STEPS {
        let error = high(raised, guess).wrapping_neg();
        guess = high(guess, error) << 1;
    }
    let back = guess.wrapping_sub(SLACK) >> (up ^ 31);
    let error = back.wrapping_mul(divisor).wrapping_neg();
    back.wrapping_add(high(back, error))
}

fn main() {
    // What is missing to 2^32 / d, times d, against d.
    let (mut most, mut at) = (0.0, 0);
    for divisor in 1..=u32::MAX {
        let product = u64::from(reciprocal(divisor)) * u64::from(divisor);
        let missing = (1u64 << 32).checked_sub(product);
        let missing = missing.unwrap_or_else(|| panic!("above 2^32 / {divisor}"));
        assert!(missing < 2 * u64::from(divisor), "2 or more below 2^32 / {divisor}");
        let below = missing as f64 / f64::from(divisor);
        if below > most {
            (most, at) = (below, divisor);
        }
    }
    println!("all divisors: never above 2^32 / d, at most {most:.6} below (d = {at})");
}
