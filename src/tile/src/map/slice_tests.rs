//! Parts of tiles, element by element: a place of the part holds, in every lane of every warp, what
//! the place of the tile that it is said to be holds.

use crate::map::{Fragment, PartPlaces, TileShape};
use crate::noise::Noise;

/// A distribution with the tile's bits in any order, some of them joined to others.
fn any(noise: &mut Noise, shape: TileShape) -> Fragment {
    let mut bits = noise.shuffled(shape.total());
    if noise.below(3) == 0 && bits.len() > 2 {
        let (a, b) = (noise.below(bits.len()), noise.below(bits.len()));
        if a != b {
            bits[a] ^= bits[b];
        }
    }
    let mut out = Fragment::new(shape);
    out.by_rows = noise.below(2) == 0;
    out.unpacked = shape.bits < 32 && noise.below(2) == 0;
    for (k, e) in bits.into_iter().enumerate() {
        let pushed = match k {
            1 | 3 => out.lane.push(e),
            4 => out.warp.push(e),
            _ => out.register.push(e),
        };
        assert!(pushed);
    }
    assert!(out.lane.push(0));
    out
}

/// What the places say, held against the elements.
fn held(
    whole: &Fragment,
    part: &Fragment,
    places: PartPlaces,
    (row, col): (u32, u32),
) -> Result<(), std::string::String> {
    let many = (1u32 << part.register.len()) * part.shape.grid.count();
    for place in 0..many {
        for (lane, warp) in (0..8u32).flat_map(|lane| (0..2u32).map(move |warp| (lane, warp))) {
            let own = part.shape.position(part.element(place, lane, warp));
            let found = whole.shape.position(whole.element(places.in_whole(place), lane, warp));
            if found != (own.0 + row, own.1 + col) {
                return Err(std::format!("{place}, {lane}, {warp}: {found:?}, {own:?}"));
            }
        }
    }
    Ok(())
}

#[test]
fn parts_are_where_they_are_said_to_be() {
    let mut noise = Noise(7);
    let (mut found, mut none) = (0, 0);
    for _ in 0..4000 {
        let extent = |noise: &mut Noise| 1u64 << noise.below(5);
        let (rows, cols) = (extent(&mut noise) * [1, 1, 3][noise.below(3)], extent(&mut noise));
        let bits = [8, 16, 32, 64][noise.below(4)];
        let shape = TileShape::new(rows, cols, bits).expect("a shape");
        let whole = any(&mut noise, shape);
        // All of it, or a power of two that panels have.
        let cut = |noise: &mut Noise, n: u64| {
            if noise.below(4) == 0 { n } else { 1 << noise.below(n.trailing_zeros() as usize + 1) }
        };
        let (r, c) = (cut(&mut noise, rows), cut(&mut noise, cols));
        let small = TileShape::new(r, c, bits).expect("a shape");
        let start = (
            (noise.below((rows / r) as usize) * r as usize) as u32,
            (noise.below((cols / c) as usize) * c as usize) as u32,
        );
        let Some((part, places)) = whole.part(small, start) else {
            none += 1;
            continue;
        };
        found += 1;
        if let Err(why) = held(&whole, &part, places, start) {
            panic!("{whole:?}\n{part:?}\n{places:?} at {start:?}: {why}");
        }
        // Put around it again, it is its part.
        let Some(around) = part.around(shape) else {
            assert!(part.shape.grid != shape.grid, "{part:?} in {shape:?}");
            continue;
        };
        let (again, places) = around.part(small, start).expect("a part");
        assert_eq!(again, part);
        held(&around, &again, places, start).expect("the part");
    }
    assert!(found > 1000 && none > 500, "{found} parts, {none} that are none");
}

#[test]
fn parts_of_other_lanes_are_none() {
    let mut whole = Fragment::new(TileShape::new(4, 4, 32).expect("a shape"));
    for e in [1, 2, 4] {
        assert!(whole.register.push(e));
    }
    assert!(whole.lane.push(8));
    let half = |rows, cols| TileShape::new(rows, cols, 32).expect("a shape");
    assert!(whole.part(half(2, 4), (2, 0)).is_none(), "a lane's rows are the upper or the lower");
    assert!(whole.part(half(1, 4), (1, 0)).is_none());
    assert!(whole.part(half(4, 2), (0, 2)).is_some());
    // Two halves in a register are one part's.
    let narrow = whole.with_bits(16, false);
    assert!(narrow.part(half(4, 1), (0, 1)).is_none());
    assert!(narrow.part(half(4, 2), (0, 2)).is_some());
    // A part that is larger, or two of three panels, is none; one of them is.
    assert!(whole.part(half(8, 4), (0, 0)).is_none());
    assert!(Fragment::new(half(4, 8)).around(half(12, 8)).is_some());
    assert!(Fragment::new(half(8, 8)).around(half(12, 8)).is_none());
}
