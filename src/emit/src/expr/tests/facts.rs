//! Facts hold for all values, checked by brute force over small ones.
use crate::expr::BitFacts;
use lanebook_tables::IndexOp;

/// Every set of values among 0..8 that facts of known bits can describe.
fn described() -> std::vec::Vec<(BitFacts, std::vec::Vec<u64>)> {
    let mut out = std::vec::Vec::new();
    for zeros in 0..8u64 {
        for ones in 0..8u64 {
            if zeros & ones != 0 {
                continue;
            }
            let values: std::vec::Vec<u64> =
                (0..8).filter(|value| value & zeros == 0 && value & ones == ones).collect();
            let facts =
                BitFacts { zeros: zeros | !7, ones, high: 7, varying: 7, level: 1, width: 32 }
                    .tightened();
            out.push((facts, values));
        }
    }
    out
}

#[test]
fn facts_of_words_hold_for_all_small_values() {
    for op in IndexOp::ALL {
        if op.argument_width(0) != 32 {
            continue;
        }
        for (a, left) in described() {
            for (b, right) in described() {
                let facts = BitFacts::of(op, &a, &b);
                for (&x, &y) in left.iter().flat_map(|x| right.iter().map(move |y| (x, y))) {
                    let Some(value) = op.eval(x, y) else { continue };
                    assert!(
                        value & facts.zeros == 0
                            && value & facts.ones == facts.ones
                            && value <= facts.high,
                        "{op:?} {x} {y} = {value}: {facts:?}"
                    );
                }
                assert_eq!(facts.level, 1);
            }
        }
    }
}

#[test]
fn only_varying_bits_vary() {
    // Lanes share the bits of x that are not varying: changing varying bits changes varying bits of
    // the value only.
    for op in [IndexOp::Add, IndexOp::Sub, IndexOp::Mul, IndexOp::And, IndexOp::Or, IndexOp::Xor] {
        for varying in 0..16u64 {
            let a = BitFacts { varying, ..BitFacts::unknown(32) }.tightened();
            for constant in [0u64, 1, 6, 12, 0xffff_fff0] {
                let b = BitFacts::constant(constant, 32);
                let facts = BitFacts::of(op, &a, &b);
                for x in 0..16u64 {
                    for y in (0..16u64).filter(|y| (x ^ y) & !varying == 0) {
                        let difference =
                            op.eval(x, constant).unwrap() ^ op.eval(y, constant).unwrap();
                        assert_eq!(
                            difference & !facts.varying,
                            0,
                            "{op:?} {x} {y} {constant} {facts:x?}"
                        );
                    }
                }
            }
        }
    }
    let thread = BitFacts { varying: 63, ..BitFacts::unknown(32) };
    assert!(
        BitFacts::of(IndexOp::Shr, &thread, &BitFacts::constant(6, 32)).uniform(),
        "the wave's number is uniform"
    );
    assert!(!BitFacts::of(IndexOp::Shr, &thread, &BitFacts::constant(5, 32)).uniform());
}

#[test]
fn ranges_and_bits_tighten_each_other() {
    let facts = BitFacts { high: 100, ..BitFacts::unknown(32) }.tightened();
    assert_eq!(facts.possible(), 127);
    let facts = BitFacts { zeros: !0x30, ..BitFacts::unknown(32) }.tightened();
    assert_eq!(facts.high, 0x30);
    assert_eq!(BitFacts::constant(u64::MAX, 32).value(), Some(0xffff_ffff));
    assert_eq!(BitFacts::constant(5, 32).value(), Some(5));
    assert_eq!(BitFacts::unknown(32).value(), None);
}
