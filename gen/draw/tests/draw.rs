//! Pictures: colours keep their promises, grids show the layout, output is stable.
use lanebook_draw::colour::{DARK, LIGHT, contrast};
use lanebook_draw::layout::{Order, picture, shape};
use lanebook_draw::{svg, text};
use lanebook_layout::notation::{cute, tirx};
use lanebook_layout::{Layout, NoSyms, WellKnown};
use std::collections::BTreeSet;

fn row_major(text: &str) -> Layout {
    tirx::parse(text, &WellKnown, &mut NoSyms).expect("TIRx")
}

fn column_major(text: &str) -> Layout {
    cute::parse(text, &WellKnown, &mut NoSyms).expect("CuTe")
}

const PLAIN: text::Options = text::Options { colour: false, most: 64, width: 0 };

#[test]
fn text_stands_out_on_every_fill() {
    for scheme in [LIGHT, DARK] {
        assert!(contrast(scheme.faint, scheme.page) >= 4.5);
        for count in [1, 2, 4, 8, 16, 32, 64] {
            for k in 0..count {
                let c = contrast(scheme.fill(k, count), scheme.ink);
                assert!(c >= 4.5, "colour {k} of {count}: {c}");
            }
        }
    }
}

#[test]
fn colours_differ() {
    for scheme in [LIGHT, DARK] {
        let all: BTreeSet<_> = (0..64).map(|k| scheme.fill(k, 64)).collect();
        assert_eq!(all.len(), 64);
    }
}

#[test]
fn shapes_follow_the_notation() {
    let two = column_major("((2,2),4):((1,2),4)");
    assert_eq!(shape(&two.view(), Order::ColumnMajor), Ok((4, 4)));
    let one = column_major("8:1");
    assert_eq!(shape(&one.view(), Order::ColumnMajor), Ok((1, 8)));
    let three = column_major("(2,3,4):(1,2,6)");
    assert_eq!(shape(&three.view(), Order::ColumnMajor), Ok((2, 12)));
    let fragment = row_major("S[(2,8,4,2):(32@bit,4@laneid,1@laneid,16@bit)]");
    assert_eq!(shape(&fragment.view(), Order::RowMajor), Ok((16, 8)));
    let wide = row_major("S[(2,4,2):(8,2,1)]");
    assert_eq!(shape(&wide.view(), Order::RowMajor), Ok((2, 8)));
}

#[test]
fn cells_say_where_elements_are() {
    let layout = row_major("S[(8,4,2):(4@laneid,1@laneid,16@bit)] + R[2:4@warpid]");
    let picture = picture(&layout.view(), "x", Order::RowMajor, (8, 8), None).expect("picture");
    let cell = picture.panels[0].cell(3, 5);
    assert_eq!(cell.lines, ["w0 T14", "r0.1 x2"]);
    assert_eq!(cell.colour, Some(14));
    let banks = lanebook_draw::cell::Banks { unit_bits: 16, banks: 32, bank_bytes: 4 };
    let memory = column_major("(8,64):(64,1)");
    let picture = lanebook_draw::layout::picture(
        &memory.view(),
        "x",
        Order::ColumnMajor,
        (8, 64),
        Some(banks),
    )
    .expect("picture");
    // Element 65 is byte 130, in word 32, that is bank 0.
    assert_eq!(picture.panels[0].cell(1, 1).lines, ["130", "b0"]);
}

#[test]
fn wrong_shapes_and_sizes_are_refused() {
    let layout = column_major("(8,8):(8,1)");
    let error =
        picture(&layout.view(), "x", Order::ColumnMajor, (8, 9), None).expect_err("refused");
    assert!(error.message.contains("64"), "{error:?}");
    let huge = column_major("(1024,1024):(1024,1)");
    assert!(picture(&huge.view(), "x", Order::ColumnMajor, (1024, 1024), None).is_err());
}

#[test]
fn pictures_are_well_formed_and_stable() {
    let layout = column_major("S<3,3,3> o 0 o (8,64):(64,1)");
    let make = || {
        svg::render(
            &picture(&layout.view(), "a < b & c", Order::ColumnMajor, (8, 64), None)
                .expect("picture"),
        )
    };
    let text = make();
    assert_eq!(text, make());
    assert!(text.contains("a &lt; b &amp; c") && !text.contains("a < b"));
    for tag in ["svg", "text", "g", "style", "title", "desc"] {
        let (open, close) =
            (text.matches(&format!("<{tag}")).count(), text.matches(&format!("</{tag}>")).count());
        // `<g` is also how `<g>` begins, and nothing else that is drawn.
        assert_eq!(open, close, "{tag}");
    }
    assert!(text.contains("prefers-color-scheme:dark"));
    assert_eq!(text.matches("<rect class=\"cell").count(), 512);
}

#[test]
fn terminals_get_colour_only_if_asked() {
    let layout = column_major("(4,8):(8,1)");
    let picture = picture(&layout.view(), "x", Order::ColumnMajor, (4, 8), None).expect("picture");
    assert!(!text::render(&picture, PLAIN).contains('\x1b'));
    assert!(
        text::render(&picture, text::Options { colour: true, most: 64, width: 0 })
            .contains("\x1b[")
    );
    assert!(
        text::render(&picture, text::Options { colour: false, most: 2, width: 0 })
            .contains("2 of 4 rows")
    );
}
