//! Quotients and remainders of 64 bits, where they are nearest to another one: multiples of the
//! divisor, what is one below and one above them, divisors around powers of two, the least and the
//! greatest numbers.

use lanebook_inference_tests::random::Random;
use lanebook_kernels::judge::execute;
use lanebook_kernels::kernel_text;
use lanebook_replay::{Memory, Param};

/// Elements of a tile.
const MANY: usize = 256;

fn program(name: &str) -> String {
    let m = "memref<16x16xi64, #gmem>";
    let t = "tensor<16x16xi64>";
    format!(
        "func @f(%A: {m} {{align = 16}}, %B: {m} {{align = 16}}, %C: {m} {{align = 16}}) {{threads = 128}} {{
  %a = tiled_load %A[0, 0] : {m} -> {t}
  %b = tiled_load %B[0, 0] : {m} -> {t}
  %c = {name} %a, %b : {t}
  tiled_store %c, %C[0, 0] : {t} -> {m}
}}
"
    )
}

/// Dividends and divisors that are hard to divide.
struct Numbers(Random);

impl Numbers {
    /// Of any length.
    fn any(&mut self) -> u64 {
        self.0.bits() >> (self.0.bits() & 63)
    }

    fn divisor(&mut self) -> u64 {
        let power = 1u64 << (self.0.bits() & 63);
        match self.0.bits() % 5 {
            0 => power,
            1 => power.wrapping_sub(1),
            2 => power.wrapping_add(1),
            3 => u64::MAX - (self.0.bits() & 3),
            _ => self.any(),
        }
        .max(1)
    }

    fn dividend(&mut self, by: u64) -> u64 {
        let of = self.any();
        let multiple = of / by * by;
        match self.0.bits() % 6 {
            0 => multiple,
            1 => multiple.wrapping_sub(1),
            2 => multiple.wrapping_add(1),
            3 => u64::MAX - (self.0.bits() & 3),
            4 => (1 << 63) + (self.0.bits() & 1),
            _ => of,
        }
    }
}

fn words(numbers: &[u64]) -> Vec<u32> {
    numbers.iter().flat_map(|n| [*n as u32, (*n >> 32) as u32]).collect()
}

/// What 64 bits hold of the true result.
fn wanted(name: &str, a: u64, b: u64) -> u64 {
    let (x, y) = (a as i64 as i128, b as i64 as i128);
    match name {
        "divui" => a / b,
        "remui" => a % b,
        "divsi" => (x / y) as u64,
        _ => (x % y) as u64,
    }
}

/// How many of a kernel's results are another number.
fn wrong(name: &str, text: &str, arch: &str, seed: u64) -> usize {
    let mut numbers = Numbers(Random(seed));
    let mut b: Vec<u64> = (0..MANY).map(|_| numbers.divisor()).collect();
    let a: Vec<u64> = b.iter().map(|by| numbers.dividend(*by)).collect();
    // Also below zero.
    b.iter_mut().step_by(3).for_each(|by| *by = by.wrapping_neg());
    let mut memory = Memory::new();
    let (ia, ib) = (memory.add_u32("A", &words(&a)), memory.add_u32("B", &words(&b)));
    let ic = memory.add_u32("C", &[7; 2 * MANY]);
    let params = [ia, ib, ic].map(Param::Buffer).to_vec();
    execute(arch, text, 128, params, &mut memory).unwrap_or_else(|e| panic!("{arch}: {e:?}"));
    let found = memory.u32s(ic);
    let found = found.chunks(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32);
    let pairs = a.iter().zip(&b).map(|(a, b)| wanted(name, *a, *b));
    found.zip(pairs).filter(|(found, wanted)| found != wanted).count()
}

#[test]
fn quotients_of_64_bits_are_exact() {
    for arch in ["sm_80", "gfx90a", "gfx1200"] {
        for name in ["divui", "remui", "divsi", "remsi"] {
            let text = kernel_text(&program(name), arch);
            for seed in 1..=12u64 {
                let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                assert_eq!(wrong(name, &text, arch, seed), 0, "{arch}: {name}, {seed:x}");
            }
        }
    }
}

/// These numbers tell operations apart that differ in few of them.
#[test]
fn another_quotient_is_seen() {
    let text = kernel_text(&program("divui"), "sm_80");
    assert!(wrong("divsi", &text, "sm_80", 0x9e37_79b9_7f4a_7c15) > MANY / 8);
    let text = kernel_text(&program("remsi"), "gfx90a");
    assert!(wrong("remui", &text, "gfx90a", 0x9e37_79b9_7f4a_7c15) > MANY / 8);
}
