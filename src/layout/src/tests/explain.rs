//! Each error says what is wrong in words.

use crate::axis::AxisId;
use crate::error::{Error, Limit, NotLinear, NotStrided, NotSwizzle};
use crate::notation::{Expected, ParseError, Part, PrintError, ttg};
use crate::num::SymId;
use crate::triton::{EncodingError, EncodingField};
use std::string::ToString;

const AXIS: AxisId = AxisId::M;

#[test]
fn errors_of_the_algebra() {
    let (iter, leaf, mode, stride, extent, axis) = (1, 2, 3, -4, 5, AXIS);
    let count = crate::every_variant_speaks!(Error:
        Capacity { limit: Limit::Iters, max: 32 }, Overflow, NeedsValue { sym: SymId(core::num::NonZeroU8::MIN) },
        Undecided { steps: 1 }, BadProfile { iters: 1, leaves: 2 }, BadExtent { iter },
        BadSwizzle { b: 3, m: 4, s: 1 }, BadPadding { pair: 0 },
        OutOfRange { mode, coord: 9, extent: 8 }, Rank { expected: 2, found: 1 },
        NegativeOffset { offset: -1 }, HasPostMap, HasReplica, HasOffset { axis },
        WrongAxis { iter, axis }, NegativeStride { iter, stride },
        StrideDivisibility { leaf, stride, extent }, ExtentDivisibility { leaf, extent, run: 2 },
        Carry { mode, reach: 9, extent }, NotInjective { iter, stride, unit: 1 },
        Interleaved { iter, stride, unit: 1 }, NotSurjective { axis, stride, expected: 1 },
        NotDivisible { mode, part: 0 },
        NotLinear { iter, extent: 3, stride, why: NotLinear::Extent },
        NotStrided { dim: axis, bit: 0, column: 3, why: NotStrided::TwoAxes },
        NotSwizzle { bit: 3, why: NotSwizzle::Apart }, NoDim { axis },
        DimBits { axis, expected: 1, found: 2 }, NoSolution { column: 1, bit: 0 },
        NotInvertible { inputs: 1, outputs: 2, rank: 1 }, NotIntegral { num: 1, den: 2 },
        NotCongruent { node: 0 }, BadCoord { leaf, value: -1 }, NoMode { mode: 3, rank: 2 },
        ShapeDivisibility { leaf, extent, divisor: 3 }, NestedAxes { axis },
        Recast { iter, value: 1, num: 1, den: 2 }, ScopeConflict { axis, other: axis },
        ScopeGap { axis }, UnknownAxis { axis }, CannotGroup { dim: 0, iter, extent: 3 },
        BadShape { dim: 0, found: 1, needed: 2 }, BadElement { bits: 3 },
        CannotPack { iter, count: 2 }, CannotSlice { dim: 0, begin: 1, end: 1 },
        BadPermutation { at: 0, value: 3 }, NoVariant { found: 1 });
    assert!(count > 40);
}

#[test]
fn errors_of_encodings() {
    let (field, dim) = (EncodingField::Order, 1);
    let count = crate::every_variant_speaks!(EncodingError:
        TooMany { max: 1 }, NotPowerOfTwo { field, at: 0, value: 3 },
        Rank { field, expected: 2, found: 1 }, BadValue { field, value: 1 },
        NotAnOrder { at: 0, value: 3 }, NotAPermutation { input: 1, bit: 0 },
        NotCovered { dim, bits: 3 }, ClusterNotCovered { dim, bits: 1 },
        MustBeTransposed { m: 64, n: 4 }, OddInstruction { n: 24 }, OperandInMemory { operand: 0 },
        NoInstruction { m: 1, n: 2, k: 3, bits: 32 }, OddTile, SwizzleNeedsRows { rank: 1 },
        SpanTooShort { needed: 8, found: 4 }, TooFewRows { needed: 8, found: 4 },
        BlockTooLarge { dim, block: 8, extent: 4 }, Fp4ColStride { found: 2 }, Padded, WrongKind,
        CannotSplit { extent: 3 }, NotBroadcast { dim, extent: 2, wanted: 4 },
        Reshape { old: 1, new: 2 }, Placeholder, Layout(Error::Overflow));
    assert!(count > 20);
}

#[test]
fn errors_of_notations() {
    let count = crate::every_variant_speaks!(PrintError: Sink, UnnamedAxis(AXIS), UnnamedSymbol(SymId(core::num::NonZeroU8::MIN)),
        NotExpressible(Part::Tree), Invalid(Error::Overflow));
    assert_eq!(count, 5);
    for expected in [
        Expected::Colon,
        Expected::KnownAxis,
        Expected::Fits(Error::Overflow),
        Expected::Encoding(EncodingError::Padded),
        Expected::Parameter(ttg::Key::Order),
    ] {
        let error = ParseError { line: 2, col: 7, expected };
        let text = error.to_string();
        let sentence = text.strip_prefix("line 2, column 7: ").expect("the place");
        assert!(sentence.contains(' ') && !text.contains(&std::format!("{expected:?}")), "{text}");
    }
}
