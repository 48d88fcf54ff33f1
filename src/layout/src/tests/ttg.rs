//! The text of Triton's attributes: what is refused, and where.

use crate::AxisId;
use crate::notation::ttg::{Key, parse};
use crate::notation::ttg_print::print;
use crate::notation::{Expected, ParseError};
use crate::triton::{Base, CtaMode, EncodingError, EncodingField, to_linear};
use std::string::String;
use std::vec::Vec;

fn refused(text: &str) -> (u32, u32, Expected) {
    let ParseError { line, col, expected } = parse(text).expect_err(text);
    (line, col, expected)
}

fn printed(text: &str) -> String {
    let encoding = parse(text).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut out = String::new();
    print(&mut out, &encoding).unwrap();
    assert_eq!(parse(&out), Ok(encoding), "{out}");
    out
}

#[test]
fn every_attribute_prints_as_it_parses() {
    for text in [
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0]]}>",
        "#ttg.slice<{dim = 0, parent = #ttg.slice<{dim = 2, parent = #ttg.blocked<{sizePerThread = [1, 1, 1], threadsPerWarp = [1, 1, 32], warpsPerCTA = [1, 1, 4], order = [2, 1, 0]}>}>}>",
        "#ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>",
        "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true, tilesPerWarp = [1, 2], elementBitWidth = 64}>",
        "#ttg.amd_wmma<{version = 3, isTranspose = false, ctaLayout = {register = [[0, 1]], warp = [[1, 0], [2, 0]]}, instrShape = [16, 16, 32]}>",
        "#ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {}}>",
        "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {warp = [[0, 0, 1]]}}>",
        "#ttg.amd_wmma<{version = 2, isTranspose = true, ctaLayout = {}, rank = 3}>",
        "#ttg.linear<{register = [[0, 1]], lane = [[1, 0], [0, 0]], warp = [], block = []}>",
        "#ttg.generic_linear<{register = [[0, 1]], lane = [[1, 1]], warp = [[2, 3]], block = []}>",
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>",
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 2, maxPhase = 4, order = [0, 1]}>",
        "#ttg.shared_linear<{offset = [[0, 1], [1, 1]], block = []}, alignment = 128>",
        "#ttg.padded_shared<[64:+8, 512:+16] {offset = [[0, 1], [1, 0]], block = []}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, fp4Padded = true, rank = 3}>",
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 128, colStride = 1, twoCTAs = true, ctaMode = TwoCTA_LHS>",
        "#ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>",
        "#ttng.tensor_memory_scales_encoding<>",
        "#ttg.partitioned_shared<{numPartitions = 2, numGroups = 4, partitionDim = 0, partitionLayout = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>}>",
        "#gluon.auto_encoding",
        "#gluon.coalesced_encoding",
    ] {
        assert_eq!(printed(text), text);
    }
    // Other spellings of the same.
    let long = "#ttg.amd_wmma<{version = 1, isTransposed = true, ctaLayout = {register = [], warp = []}, instrShape = [16, 16, 16], rank = 2}>";
    assert_eq!(printed(long), "#ttg.amd_wmma<{version = 1, isTranspose = true, ctaLayout = {}}>");
    assert!(
        printed("#ttg.shared<{vec=1,perPhase=1,maxPhase=1,order=[0]}>")
            .starts_with("#ttg.swizzled_shared")
    );
    assert!(
        printed("#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [2, 4]}>")
            .contains("offset = [[0, 1], [0, 2], [1, 0]]")
    );
    let two =
        parse("#ttng.tensor_memory_encoding<{blockN = 32, blockM = 64, ctaMode = TwoCTA_RHS}>")
            .unwrap();
    assert!(
        matches!(two.base, Base::TensorMemory(t) if t.cta_mode == CtaMode::TwoRhs && t.col_stride == 1)
    );
}

/// Blocks of 128 rows and 4 columns, in either order; the columns of memory are what is told apart.
#[test]
fn scales_in_tensor_memory() {
    let columns = |attribute: &str, shape: [u32; 2]| {
        let linear = to_linear(&parse(attribute).unwrap(), &shape, &super::triton::Seed).unwrap();
        let bits = linear.ins().bits_of(AxisId::TCOL);
        let at = |bit, dim| linear.column_on(AxisId::TCOL, bit, AxisId::dim(dim)).unwrap();
        (0..bits).map(|bit| (at(bit, 0), at(bit, 1))).collect::<Vec<_>>()
    };
    let (mn, k) = (
        "#ttng.tensor_memory_scales_encoding<>",
        "#ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>",
    );
    assert_eq!(columns(mn, [256, 8]), [(0, 1), (0, 2), (32, 0), (64, 0), (128, 0), (0, 4)]);
    assert_eq!(columns(k, [256, 8]), [(0, 1), (0, 2), (32, 0), (64, 0), (0, 4), (128, 0)]);
    assert_eq!(columns(k, [128, 16]), [(0, 1), (0, 2), (32, 0), (64, 0), (0, 4), (0, 8)]);
    for order in [mn, k] {
        assert_eq!(columns(order, [64, 4]), [(0, 1), (0, 2), (32, 0)], "{order}");
        assert_eq!(columns(order, [128, 4]), [(0, 1), (0, 2), (32, 0), (64, 0)], "{order}");
    }
    // The usual order needs not be said.
    assert_eq!(printed("#ttng.tensor_memory_scales_encoding<blockRepOrder = mnThenK>"), mn);
}

#[test]
fn errors_stand_where_they_are() {
    assert_eq!(refused("ttg.blocked"), (1, 1, Expected::Attribute));
    assert_eq!(refused("#ttg.boxed<{}>"), (1, 2, Expected::Attribute));
    assert_eq!(refused("#ttg.linear"), (1, 12, Expected::Parameter(Key::Register)));
    assert_eq!(
        refused("#ttg.swizzled_shared<{vec = 8,\n  perPhase = x}>"),
        (2, 14, Expected::Integer)
    );
    // A cluster's bases have the dimensions of the encoding.
    let rank = |expected, found| {
        Expected::Encoding(EncodingError::Rank { field: EncodingField::Cga, expected, found })
    };
    let blocked = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0], CGALayout = [[1, 0, 1]]}>";
    assert_eq!(refused(blocked), (1, 1, rank(2, 3)));
    assert_eq!(refused(&blocked.replace("[1, 0, 1]", "[1]")), (1, 1, rank(2, 1)));
    assert!(parse(&blocked.replace("[1, 0, 1]", "[1, 0]")).is_ok());
    for text in [
        "#ttg.nvidia_mma<{versionMajor = 2, warpsPerCTA = [4, 1], instrShape = [16, 8], CGALayout = [[1, 0, 1]]}>",
        "#ttg.amd_mfma<{version = 4, warpsPerCTA = [2, 2], instrShape = [32, 32, 16], isTransposed = true, CGALayout = [[1, 0, 1]]}>",
        "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], CGALayout = [[1, 0, 1]]}>",
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 128, CGALayout = [[1, 0, 1]]>",
        "#ttng.tensor_memory_scales_encoding<CGALayout = [[1, 0, 1]]>",
    ] {
        assert_eq!(refused(text), (1, 1, rank(2, 3)), "{text}");
    }
    let padded =
        "#ttg.padded_shared<[64:+8] {order = [1, 0], shape = [2, 4], CGALayout = [[1, 0]]}>";
    assert_eq!(refused(padded), (1, 1, Expected::Encoding(EncodingError::WrongKind)));
    assert_eq!(
        refused("#ttng.tensor_memory_scales_encoding<blockRepOrder = [1, 0]>"),
        (1, 53, Expected::Key)
    );
    assert_eq!(refused("#ttg.swizzled_shared<{vec = 8, vec = 8}>"), (1, 32, Expected::KeyOnce));
    assert_eq!(refused("#ttg.swizzled_shared<{vec = 8, opIdx = 1}>"), (1, 32, Expected::Key));
    assert_eq!(refused("#ttg.swizzled_shared<{vec : 8}>"), (1, 27, Expected::Equals));
    assert_eq!(
        refused("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1, order = 1}>"),
        (1, 68, Expected::OpenBracket)
    );
    assert_eq!(
        refused("#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 1}>"),
        (1, 59, Expected::Parameter(Key::Order))
    );
    assert_eq!(
        refused("#ttg.shared_linear<{offset = [[0, 1], [1]]}>"),
        (1, 39, Expected::Congruent)
    );
    assert_eq!(refused("#ttg.nvmma_shared<{transposed = maybe}>"), (1, 33, Expected::Boolean));
    assert_eq!(refused("#ttg.slice<{parent = #ttg.slice<{}>}>"), (1, 34, Expected::Key));
    assert_eq!(
        refused("#ttg.slice<{parent = #gluon.auto_encoding}>"),
        (1, 43, Expected::Parameter(Key::Dim))
    );
    assert_eq!(refused("#ttg.padded_shared<[64:8]>"), (1, 24, Expected::Colon));
    assert_eq!(refused("#gluon.auto_encoding x"), (1, 22, Expected::End));
    assert_eq!(refused("#ttg.amd_wmma<{ctaLayout = {lane = []}}>"), (1, 29, Expected::Key));
    assert_eq!(
        refused("#ttg.swizzled_shared<{vec = 4294967296}>"),
        (1, 29, Expected::SmallerNumber)
    );
    let long = "#ttg.swizzled_shared<{order = [0, 1, 2, 3, 4, 5, 6, 7, 8]}>";
    assert_eq!(refused(long), (1, 56, Expected::Encoding(EncodingError::TooMany { max: 8 })));
    let dots = "#ttg.dot_op<{opIdx = 0, parent = #ttg.dot_op<{opIdx = 0, parent = #gluon.auto_encoding}>}>";
    assert_eq!(refused(dots), (1, 1, Expected::Encoding(EncodingError::WrongKind)));
}

#[test]
fn no_text_panics() {
    // Every prefix, and every text with one character gone, is parsed or refused.
    let text = "#ttg.dot_op<{opIdx = 0, parent = #ttg.amd_wmma<{version = 3, ctaLayout = {register = [[0, 1]], warp = []}, instrShape = [16, 16, 32]}>, kWidth = 2}>";
    for k in 0..text.len() {
        let _ = parse(&text[..k]);
        let mut without = String::from(text);
        without.remove(k);
        let _ = parse(&without);
    }
}
