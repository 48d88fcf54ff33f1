//! Packed layouts come back as they were, and no bytes are taken for more than they say.
use super::cute_laws::Random;
use super::{c, t};
use crate::packed::{MAX_PACKED, pack, unpack};
use crate::post::{Pad, Padding, PostMap, Swizzle, Unit};
use crate::{AxisId, Int, Iter, Layout, SymNames, SymTable};
use std::vec::Vec;

fn packed(layout: &Layout) -> Option<Vec<u8>> {
    let mut bytes = heapless::Vec::<u8, MAX_PACKED>::new();
    pack(&layout.view(), bytes.as_mut_view())?;
    Some(bytes.to_vec())
}

/// Packs, reads and compares everything but the tree.
fn round(layout: &Layout) -> Vec<u8> {
    let bytes = packed(layout).unwrap_or_else(|| panic!("{layout:?} does not fit"));
    let mut back = Layout::new();
    assert_eq!(unpack(&bytes, &mut back), Some(bytes.len()), "{layout:?}");
    let (a, b) = (layout.view(), back.view());
    assert_eq!((a.shard, a.replica, a.offset, a.post), (b.shard, b.replica, b.offset, b.post));
    // What stands behind is another's; what is cut off is missed.
    let mut longer = bytes.clone();
    longer.push(0xff);
    assert_eq!(unpack(&longer, &mut back), Some(bytes.len()));
    for len in 0..bytes.len() {
        assert_eq!(unpack(&bytes[..len], &mut back), None, "{len} bytes of {layout:?}");
    }
    bytes
}

#[test]
fn written_layouts() {
    for text in ["(64,64):(72,1)", "((2,2),4):((1,2),4)", "S<3,4,3> o 0 o (64,64):(64,1)", "8:0"] {
        round(&c(text));
    }
    for text in [
        "S[(8,2,4,2):(4@laneid,1@warpid,1@laneid,1)] + R[2:4@warpid] + 5@warpid",
        "S[(64,64):(64,1)]",
        "S[1:1]",
    ] {
        round(&t(text));
    }
    assert_eq!(round(&c("(64,64):(72,1)")).len(), 3 + 1 + 3 + 3 + 1, "counts, post-map, two iters");
}

#[test]
fn random_layouts() {
    let mut random = Random(7);
    for _ in 0..20_000 {
        let mut layout = Layout::new();
        for _ in 0..random.below(9) {
            let bits = random.below(62) as u32;
            let stride = (random.below(1 << 30) as i64) << bits >> random.below(40);
            let den = if random.below(8) == 0 { 1 + random.below(9) as i64 } else { 1 };
            let stride = Int::ratio(if random.below(2) == 0 { stride } else { !stride }, den);
            let extent =
                Int::known(1 + (random.below(1 << 32) as i64 >> random.below(31)) % 0xffff_ffff);
            let axis = AxisId(random.below(1 << 16) as u16);
            let Some(it) = stride.ok().and_then(|stride| Iter::symbolic(extent, stride, axis).ok())
            else {
                continue;
            };
            if random.below(3) == 0 { layout.push_replica(it) } else { layout.push_shard(it) }
                .unwrap();
        }
        for axis in 0..random.below(3) {
            let value = random.below(1 << 40) as i64 - (1 << 39);
            layout.add_offset(Int::known(value), AxisId(axis as u16)).unwrap();
        }
        let unit = [Unit::Element, Unit::Byte, Unit::Codomain][random.below(3) as usize];
        let swizzle = Swizzle::new(random.below(4) as u8, random.below(5) as u8, 4, unit).unwrap();
        let pad = Pad { interval: 1 + random.below(1 << 20) as u32, pad: random.below(99) as u32 };
        let pads = [pad; 4];
        let padding = Padding::new(&pads[..random.below(5) as usize], unit).unwrap();
        let post = [
            PostMap::None,
            PostMap::Swizzle(swizzle),
            PostMap::Padding(padding),
            PostMap::SwizzlePadding(swizzle, padding),
        ][random.below(4) as usize];
        layout.set_post(post).unwrap();
        round(&layout);
    }
}

/// The fullest layout fits.
#[test]
fn limits() {
    let mut layout = Layout::new();
    let stride = Int::ratio(i64::MIN + 1, i64::from(u32::MAX)).unwrap();
    for _ in 0..crate::MAX_ITERS {
        let extent = Int::known(i64::from(u32::MAX));
        layout.push_shard(Iter::symbolic(extent, stride, AxisId(u16::MAX)).unwrap()).unwrap();
    }
    for axis in 0..crate::MAX_OFFSETS as u16 {
        layout.add_offset(stride, AxisId(u16::MAX - axis)).unwrap();
    }
    let pads = [Pad { interval: u32::MAX, pad: u32::MAX }; crate::MAX_PADS];
    let swizzle = Swizzle::new(3, 4, 3, Unit::Byte).unwrap();
    let padding = Padding::new(&pads, Unit::Element).unwrap();
    layout.set_post(PostMap::SwizzlePadding(swizzle, padding)).unwrap();
    let bytes = round(&layout);
    assert!(bytes.len() <= MAX_PACKED, "{}", bytes.len());
}

/// Symbols are not kept.
#[test]
fn symbols() {
    let m = SymTable::new().sym("M").unwrap();
    let mut layout = Layout::new();
    layout.push_shard(Iter::symbolic(Int::sym(m), Int::known(1), AxisId::M).unwrap()).unwrap();
    assert_eq!(packed(&layout), None);
    let mut layout = Layout::new();
    layout.push_shard(Iter::symbolic(Int::known(2), Int::sym(m), AxisId::M).unwrap()).unwrap();
    assert_eq!(packed(&layout), None);
}

/// Any bytes are a layout that packs to what is read again, or none.
#[test]
fn any_bytes() {
    let mut random = Random(3);
    let mut read = 0;
    for _ in 0..100_000 {
        let bytes: Vec<u8> = (0..random.below(24))
            .map(|at| random.below(if at < 4 { 3 } else { 256 }) as u8)
            .collect();
        let mut layout = Layout::new();
        if unpack(&bytes, &mut layout).is_some() {
            read += 1;
            round(&layout);
        }
    }
    assert!(read > 1000, "{read}");
}
