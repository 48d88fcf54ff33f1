//! Layouts as one line of text that reads back: in TIRx's notation where it can say them, else in
//! CuTe's or Triton's; and post-maps in words.
use lanebook_layout::notation::{cute, tirx};
use lanebook_layout::{Iter, LayoutRef, NoSyms, PostMap, Profile, Swizzle, Unit, WellKnown};

/// The layout in TIRx notation, its tree flattened: the text reads back as a layout that puts every
/// element where this one does. A swizzle in positions of the layout itself is one in elements
/// there; one in bytes, and padding, TIRx cannot say.
#[must_use]
pub fn said(layout: &LayoutRef<'_>) -> Option<String> {
    let post = match layout.post {
        PostMap::Swizzle(s) if s.unit == Unit::Codomain => {
            PostMap::Swizzle(Swizzle { unit: Unit::Element, ..s })
        }
        other => other,
    };
    let flat = LayoutRef { post, profile: Profile::FLAT, ..*layout };
    let mut out = String::new();
    tirx::print(&flat, &WellKnown, &NoSyms, &mut out).ok().map(|()| out)
}

/// The same tile in TIRx notation of a layout whose modes are a tile's dimensions, as in CuTe. TIRx
/// reads a tile row by row, so the modes keep their order from left to right and each one's iters
/// turn round.
#[must_use]
pub fn same_tile(layout: &LayoutRef<'_>) -> Option<String> {
    let mut modes: Vec<&[Iter]> = layout.modes().map(|(iters, _)| iters).collect();
    modes.reverse();
    said(&LayoutRef { shard: &modes.concat(), profile: Profile::FLAT, ..*layout })
}

/// The layout in TIRx notation, or in CuTe's, whose order of a tile's dimensions is the other one;
/// where neither says it, that it is so.
#[must_use]
pub fn tirx(layout: &LayoutRef<'_>) -> String {
    let in_cute = || {
        // CuTe counts in what its positions are, and those are what this swizzle counts if its
        // strides do.
        let post = match layout.post {
            PostMap::Swizzle(s) => PostMap::Swizzle(Swizzle { unit: Unit::Codomain, ..s }),
            other => other,
        };
        let mut out = String::new();
        cute::print(&LayoutRef { post, ..*layout }, &WellKnown, &NoSyms, &mut out)
            .ok()
            .map(|()| out)
    };
    said(layout)
        .or_else(in_cute)
        .unwrap_or_else(|| format!("(no notation says {})", post(&layout.post)))
}

/// A swizzle or padding in words; empty for none. Units are named unless they are the layout's own.
#[must_use]
pub fn post(post: &PostMap) -> String {
    let mut parts = Vec::new();
    if let Some(s) = post.swizzle() {
        parts.push(format!("swizzle<{},{},{}>{}", s.b, s.m, s.s, unit(s.unit)));
    }
    if let Some(padding) = post.padding() {
        for p in padding.pads() {
            parts.push(match padding.unit() {
                Unit::Byte => format!("pad {} B after every {} B", p.pad, p.interval),
                other => format!("pad {} after every {}{}", p.pad, p.interval, unit(other)),
            });
        }
    }
    parts.join(", ")
}

fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Byte => " of bytes",
        Unit::Element => " of elements",
        Unit::Codomain => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook_layout::{Coord, Layout};

    fn places(layout: &Layout) -> Vec<Coord> {
        let view = layout.view();
        let place = |x| {
            let mut out = Coord::new();
            view.apply_flat(x, &mut out).unwrap();
            out
        };
        (0..view.size_value().unwrap()).map(place).collect()
    }

    /// A tile's place by row and column, in CuTe's order and in TIRx's.
    #[test]
    fn a_tile_in_the_other_notation_is_the_same_tile() {
        for (text, rows, cols, wanted) in [
            ("(2,3):(1,2)", 2, 3, "S[(2,3):(1,2)]"),
            ("(4,8):(8,1)", 4, 8, "S[(4,8):(8,1)]"),
            ("((2,2),4):((1,8),2)", 4, 4, "S[(2,2,4):(8,1,2)]"),
            ("(2,(2,3)):(6,(1,2))", 2, 6, "S[(2,3,2):(6,2,1)]"),
            (
                "S<3,3,3> o 0 o (8,64):(64,1)",
                8,
                64,
                "ComposeLayout(3, 3, 3, TileLayout(S[(8,64):(64,1)]))",
            ),
            (
                "S<2,1,3> o 4 o (8,8):(1,8)",
                8,
                8,
                "ComposeLayout(1, 2, 3, TileLayout(S[(8,8):(1,8)] + 4))",
            ),
            ("20:2", 20, 1, "S[20:2]"),
        ] {
            let cute = cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
            let said = same_tile(&cute.view()).unwrap();
            assert_eq!(said, wanted, "{text}");
            let (ours, theirs) =
                (places(&cute), places(&tirx::parse(&said, &WellKnown, &mut NoSyms).unwrap()));
            for row in 0..rows {
                for col in 0..cols {
                    assert_eq!(
                        ours[row + rows * col],
                        theirs[row * cols + col],
                        "{text}: {row}, {col}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_tirx_cannot_say_is_said_otherwise() {
        let swizzled = |unit| {
            let mut layout = cute::parse("(64,64):(2,128)", &WellKnown, &mut NoSyms).unwrap();
            layout.set_post(PostMap::Swizzle(Swizzle::new(3, 4, 3, unit).unwrap())).unwrap();
            super::tirx(&layout.view())
        };
        assert_eq!(
            swizzled(Unit::Element),
            "ComposeLayout(4, 3, 3, TileLayout(S[(64,64):(128,2)]))"
        );
        assert_eq!(swizzled(Unit::Codomain), swizzled(Unit::Element));
        // Its positions are bytes.
        assert_eq!(swizzled(Unit::Byte), "S<3,4,3> o 0 o (64,64):(2,128)");
    }
}
