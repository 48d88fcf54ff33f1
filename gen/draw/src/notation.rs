//! Layouts as one line of text for people: TIRx's notation, and in words what it cannot say.
use lanebook_layout::notation::tirx;
use lanebook_layout::{LayoutRef, NoSyms, PostMap, Profile, Unit, WellKnown};

/// The layout in TIRx notation (its tree flattened), its post-map behind it in words.
#[must_use]
pub fn tirx(layout: &LayoutRef<'_>) -> String {
    let mut out = String::new();
    let plain = LayoutRef { post: PostMap::None, profile: Profile::FLAT, ..*layout };
    if tirx::print(&plain, &WellKnown, &NoSyms, &mut out).is_err() {
        out = "(a layout that TIRx's notation cannot say)".to_string();
    }
    let post = post(&layout.post);
    if !post.is_empty() {
        out.push_str(", ");
        out.push_str(&post);
    }
    out
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
