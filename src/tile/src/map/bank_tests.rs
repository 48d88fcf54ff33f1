//! The count by rank against the count word by word, on random swizzles, slots and groups.
#![allow(clippy::unwrap_used)]

use super::{BankAccess, count_by_rank, count_each};
use crate::map::{BitMatrix, SharedLayout, TileShape};
use lanebook_layout::{PostMap, Swizzle, Unit};
use lanebook_tables::{BankModel, Status};

fn next(state: &mut u64) -> u32 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as u32
}

#[test]
fn ranks_count_what_words_count() {
    let shape = TileShape::new(64, 64, 16).unwrap();
    let quads: [u64; 4] = [
        0x0000_0000_00f0_000f,
        0x0000_0000_000f_00f0,
        0x0000_0000_f000_0f00,
        0x0000_0000_0f00_f000,
    ];
    let eights = [0xff, 0xff00, 0x00ff_0000, 0xff00_0000];
    let all = [0xffff_ffff];
    let groups: [&[u64]; 3] = [&quads, &eights, &all];
    let mut state = 7;
    let (mut agreed, mut conflicting) = (0, 0);
    for round in 0..4000u32 {
        let b = 1 + next(&mut state) % 3;
        let m = 2 + next(&mut state) % 3;
        let s = b + next(&mut state) % 4;
        let post =
            Swizzle::new(b as u8, m as u8, s as i8, Unit::Byte).map(PostMap::Swizzle).unwrap();
        let layout = SharedLayout { row_major: round % 2 == 0, post, ..SharedLayout::BY_ROWS };
        let map = layout.map(shape).unwrap();
        let mut slots = BitMatrix::new();
        for _ in 0..5 {
            assert!(slots.push((next(&mut state) % 4096) & !7));
        }
        for slot_bytes in [2, 4, 8, 16] {
            for groups in groups {
                for banks in [32, 64] {
                    let model = BankModel {
                        name: "",
                        banks,
                        bank_bytes: 4,
                        groups,
                        status: Status::Assumed,
                        sources: &[],
                    };
                    // Now and then some lanes leave it to others.
                    let kept = if round % 3 == 0 { (next(&mut state) % 32) as u8 } else { 0 };
                    let access = BankAccess { slots: &slots, slot_bytes, kept };
                    let each = count_each(&map, access, &model, u32::MAX).unwrap();
                    if let Some(found) = count_by_rank(&map, access, &model) {
                        assert_eq!(
                            found, each,
                            "{layout:?} {slots:?} {slot_bytes} {groups:x?} {banks}"
                        );
                        agreed += 1;
                        conflicting += u32::from(found.extra() > 0);
                    }
                }
            }
        }
    }
    assert!(
        agreed > 10_000 && conflicting > 1_000,
        "{agreed} compared, {conflicting} with conflicts"
    );
}
