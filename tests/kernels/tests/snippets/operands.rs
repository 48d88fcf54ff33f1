//! Operands of one vendor's matrix units on the other's waves.

use super::{Home, Noise, deal, digits, word, written};
use lanebook::TABLES;
use lanebook::convert::Conversion;
use lanebook::query::WarpSplit;
use lanebook_kernels::snippets::{assemble, framed, replayed};

/// The thread of the warps that a layout is of, for a thread of waves of another size: the warp, and
/// the lane.
fn other_thread(thread: u32, own: u32, other: u32, split: WarpSplit) -> (u32, u32) {
    let (lane, wave) = (thread & ((1 << own) - 1), thread >> own);
    match (split, own, other) {
        (WarpSplit::Interleaved, 6, 5) => (2 * wave + (lane & 1), lane >> 1),
        (WarpSplit::Interleaved, 5, 6) => (wave >> 1, lane << 1 | (wave & 1)),
        // The threads of a group, one after the other.
        _ => (thread >> other, thread & ((1 << other) - 1)),
    }
}

/// An operand as its vendor's manual has it: rows, columns, bits of an element, the warps it is of,
/// and from (warp, lane, number in the lane) to (row, column).
struct Operand {
    name: &'static str,
    on: &'static str,
    wave: u32,
    warps: u32,
    extents: [u32; 2],
    dtype: (&'static str, u32),
    at: fn(u32, u32, u32) -> (u32, u32),
}

const OPERANDS: [Operand; 9] = [
    Operand {
        name: "mma.m16n8k16.f32.f16.A",
        on: "sm_80",
        wave: 5,
        warps: 0,
        extents: [16, 16],
        dtype: ("f16", 16),
        at: |_, lane, i| (lane / 4 + 8 * (i / 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i / 4)),
    },
    Operand {
        name: "mma.m16n8k16.f32.f16.B",
        on: "sm_80",
        wave: 5,
        warps: 0,
        extents: [16, 8],
        dtype: ("f16", 16),
        at: |_, lane, i| (lane % 4 * 2 + i % 2 + 8 * (i / 2), lane / 4),
    },
    Operand {
        name: "mma.m16n8k16.f32.f16.D",
        on: "sm_80",
        wave: 5,
        warps: 0,
        extents: [16, 8],
        dtype: ("f32", 32),
        at: |_, lane, i| (lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2),
    },
    Operand {
        name: "mma.m16n8k32.s32.s8.s8.A",
        on: "sm_80",
        wave: 5,
        warps: 0,
        extents: [16, 32],
        dtype: ("i8", 8),
        at: |_, lane, i| (lane / 4 + 8 * (i / 4 % 2), lane % 4 * 4 + i % 4 + 16 * (i / 8)),
    },
    Operand {
        name: "mma.m8n8k4.f64.D",
        on: "sm_80",
        wave: 5,
        warps: 0,
        extents: [8, 8],
        dtype: ("f64", 64),
        at: |_, lane, i| (lane / 4, lane % 4 * 2 + i),
    },
    Operand {
        name: "wgmma.m64n16k16.f32.f16.D",
        on: "sm_90a",
        wave: 5,
        warps: 2,
        extents: [64, 16],
        dtype: ("f32", 32),
        at: |warp, lane, i| {
            (16 * warp + lane / 4 + 8 * (i / 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i / 4))
        },
    },
    Operand {
        name: "v_mfma_f32_16x16x16_f16.A",
        on: "gfx942",
        wave: 6,
        warps: 0,
        extents: [16, 16],
        dtype: ("f16", 16),
        at: |_, lane, i| (lane % 16, lane / 16 * 4 + i),
    },
    Operand {
        name: "v_mfma_f32_16x16x16_f16.D",
        on: "gfx942",
        wave: 6,
        warps: 0,
        extents: [16, 16],
        dtype: ("f32", 32),
        at: |_, lane, i| (lane / 16 * 4 + i, lane % 16),
    },
    Operand {
        name: "v_mfma_f32_32x32x8_f16.D",
        on: "gfx942",
        wave: 6,
        warps: 0,
        extents: [32, 32],
        dtype: ("f32", 32),
        at: |_, lane, i| (lane / 32 * 4 + i % 4 + 8 * (i / 4), lane % 32),
    },
];

impl Operand {
    /// The element at a bit of a thread's registers.
    fn element(&self, thread: u32, at: u32, own: u32, split: WarpSplit) -> Option<u32> {
        let bits = self.dtype.1;
        if !at.is_multiple_of(bits) {
            return None;
        }
        let (warp, lane) = other_thread(thread, own, self.wave, split);
        let (row, col) = (self.at)(warp & ((1 << self.warps) - 1), lane, at / bits);
        Some(row * self.extents[1] + col)
    }
}

/// Converts an operand on an architecture to a distribution that is dealt out, and back; every
/// element lands where it has to be.
fn lands(noise: &mut Noise, operand: &Operand, (arch, own): (&str, u32), split: WarpSplit) {
    let bits = operand.dtype.1;
    let total = (operand.extents[0] * operand.extents[1]).ilog2();
    let threads = (operand.wave + operand.warps).max(own);
    let dealt = loop {
        let dealt = deal(noise, total, (own, threads - own), bits);
        if !dealt.copies.iter().any(|h| matches!(h, Home::Bit(_))) {
            break dealt;
        }
    };
    let name = format!("{} on {}", operand.name, operand.on);
    let text = dealt.text();
    for back in [false, true] {
        let (from, to) = if back { (&text, &name) } else { (&name, &text) };
        let wanted = Conversion {
            from,
            to,
            split,
            threads: Some(1 << threads),
            ..Conversion::of(&operand.extents, operand.dtype.0)
        };
        let (source, _) = written(arch, &wanted);
        let framed = framed(&TABLES, &source, arch)
            .unwrap_or_else(|e| panic!("{arch}: {from} to {to}: {e}\n{source}"));
        if !back {
            assemble(&framed, arch).unwrap_or_else(|e| panic!("{arch}: {e}\n{}", framed.text));
        }
        let by_name = |thread: u32, at: u32| operand.element(thread, at, own, split);
        let by_deal = |thread: u32, at: u32| dealt.element(thread, at);
        for digit in 0..digits(1 << total, bits) {
            let given = |thread: u32, register: u32| {
                let element = |at| if back { by_deal(thread, at) } else { by_name(thread, at) };
                word(element, register, bits, digit).0
            };
            let left = replayed(&framed, arch, given, &[])
                .unwrap_or_else(|e| panic!("{arch}: {e}\n{source}\n{}", framed.text));
            for thread in 0..framed.threads {
                for register in 0..framed.registers.1 {
                    let element = |at| if back { by_name(thread, at) } else { by_deal(thread, at) };
                    let (value, mask) = word(element, register, bits, digit);
                    assert_eq!(
                        (left.word(thread, register) ^ value) & mask,
                        0,
                        "{arch}: {from} to {to}, {split:?}: thread {thread} register {register}\n{}",
                        framed.text
                    );
                }
            }
        }
    }
}

#[test]
fn operands_of_other_warps() {
    let mut noise = Noise(5);
    let archs =
        [("gfx942", 6), ("gfx950", 6), ("gfx1100", 5), ("gfx1200", 5), ("sm_80", 5), ("sm_90a", 5)];
    let mut tried = 0;
    for operand in &OPERANDS {
        for (arch, own) in archs {
            for (_, split) in WarpSplit::NAMED {
                // Both ways are one where waves are of the same size.
                if own == operand.wave && split != WarpSplit::Halves {
                    continue;
                }
                lands(&mut noise, operand, (arch, own), split);
                tried += 1;
            }
        }
    }
    assert!(tried > 60, "{tried}");
}

/// Of a fragment of sm_80 each element is once in each warp that holds it: on a wave of 64, twice.
#[test]
fn each_element_is_there_as_often_as_said() {
    for (_, split) in WarpSplit::NAMED {
        for operand in OPERANDS.iter().filter(|o| o.wave == 5) {
            let mut seen = vec![0u32; (operand.extents[0] * operand.extents[1]) as usize];
            let threads = 1 << (operand.wave + operand.warps).max(6);
            let places = seen.len() as u32 / (1 << (operand.wave + operand.warps));
            for thread in 0..threads {
                for place in 0..places {
                    let at = place * operand.dtype.1;
                    seen[operand.element(thread, at, 6, split).expect("an element") as usize] += 1;
                }
            }
            let copies = threads >> (operand.wave + operand.warps);
            assert!(seen.iter().all(|n| *n == copies), "{} {split:?}: {seen:?}", operand.name);
        }
    }
}
