//! Repeated parts drawn once, differences, single operands, lines of a terminal's width.
use lanebook_draw::difference::{self, Compared};
use lanebook_draw::layout::{Order, picture};
use lanebook_draw::{Panel, Picture, svg, text};
use lanebook_layout::notation::{cute, tirx};
use lanebook_layout::{Layout, NoSyms, WellKnown};

fn row_major(text: &str) -> Layout {
    tirx::parse(text, &WellKnown, &mut NoSyms).expect("TIRx")
}

fn drawn(text: &str, shape: (u64, u64)) -> Picture {
    picture(&row_major(text).view(), text, Order::RowMajor, shape, None).expect("picture")
}

/// The accumulators of a warp group: 64 rows, 256 columns, four warps.
const GROUP: &str = "S[(4,2,8,32,4,2):(1@warpid,64@bit,4@laneid,128@bit,1@laneid,32@bit)]";

/// Every cell that a fold leaves out is that of the part with the step added: told by its numbers.
fn unfolded_again(whole: &Panel, part: &Panel) {
    for row in 0..part.rows() {
        for column in 0..part.columns() {
            assert_eq!(whole.cell(row, column), part.cell(row, column), "{row}, {column}");
        }
    }
}

#[test]
fn what_repeats_is_drawn_once() {
    let whole = drawn(GROUP, (64, 256));
    let folded = whole.clone().folded();
    let (all, part) = (&whole.panels[0], &folded.panels[0]);
    assert_eq!((part.rows(), part.columns()), (16, 8));
    let said = folded.subtitle.last().expect("a line");
    assert!(said.contains("rows 0 to 15 of 64, x4, each time +1 warp"), "{said}");
    assert!(said.contains("columns 0 to 7 of 256, x32, each time +4 registers"), "{said}");
    unfolded_again(all, part);
    // The next part of the whole is the same, four registers on.
    assert_eq!(all.cell(9, 3).lines, ["w0 T5", "r3"]);
    assert_eq!(all.cell(9, 11).lines, ["w0 T5", "r7"]);
    assert_eq!(all.cell(25, 11).lines, ["w1 T5", "r7"]);
    // Warps are told apart by heavier lines.
    assert_eq!(all.rule, 16);
}

#[test]
fn what_does_not_repeat_is_drawn_whole() {
    // Small.
    assert_eq!(
        drawn("S[(8,4,2):(4@laneid,1@laneid,32@bit)]", (8, 8)).folded().panels[0].cells.len(),
        64
    );
    // Memory is drawn for its own sake.
    let memory = drawn("S[(64,64):(64,1)]", (64, 64)).folded();
    assert_eq!(memory.panels[0].cells.len(), 64 * 64);
    // Parts in another order: no step leads from each to the next.
    let crooked = "S[(8,2,2,2,4,2):(4@laneid,256@bit,512@bit,128@bit,1@laneid,32@bit)]";
    let folded = drawn(crooked, (8, 64)).folded();
    assert_eq!(folded.panels[0].columns(), 64);
}

#[test]
fn a_folded_picture_is_narrow() {
    let width = |picture: &Picture| -> usize {
        let text = svg::render(picture);
        let from = text.find("width=\"").expect("a width") + 7;
        text[from..].split('"').next().and_then(|w| w.parse().ok()).expect("a number")
    };
    let whole = drawn(GROUP, (64, 256));
    assert!(width(&whole) > 7000);
    assert!(width(&whole.folded()) < 1400);
}

#[test]
fn a_legend_ends_inside_of_the_picture() {
    let mut picture = drawn("S[(8,4,2):(4@laneid,1@laneid,32@bit)]", (8, 8));
    if let Some(colours) = &mut picture.colours {
        colours.what = "the row of A, C and D; the column of B".into();
        colours.prefix = "lane".into();
    }
    let text = svg::render(&picture);
    let number = |line: &str, key: &str| -> Option<usize> {
        let at = line.find(&format!(" {key}=\""))? + key.len() + 3;
        line[at..].split('"').next()?.parse().ok()
    };
    let width = number(text.lines().next().expect("a line"), "width").expect("a width");
    // A monospaced character of these notes is 6.3 pixels wide at 10.5 pixels.
    let notes = text.lines().filter(|line| line.contains("class=\"note\""));
    let ends: Vec<usize> = notes
        .filter_map(|line| {
            let said = line.split('>').nth(1)?.split('<').next()?;
            Some(number(line, "x")? + said.chars().count() * 63 / 10)
        })
        .collect();
    assert!(ends.len() > 4, "{ends:?}");
    assert!(ends.iter().all(|end| *end <= width), "{ends:?} in {width}");
}

#[test]
fn differences_are_counted_and_marked() {
    let one = row_major("S[(8,8):(8,1)]");
    let other = cute::parse("(8,8):(8,1)", &WellKnown, &mut NoSyms).expect("CuTe");
    let turned = cute::parse("(8,8):(1,8)", &WellKnown, &mut NoSyms).expect("CuTe");
    let compare = |b: &Layout| {
        let (x, y) = (one.view(), b.view());
        let both = [
            Compared { text: "one", layout: &x, order: Order::RowMajor },
            Compared { text: "other", layout: &y, order: Order::ColumnMajor },
        ];
        difference::picture(both, (8, 8)).expect("a picture")
    };
    let same = compare(&other);
    assert_eq!(same.subtitle, ["the same at all 64 elements"]);
    assert!(same.panels.iter().flat_map(|p| &p.cells).all(|cell| cell.colour.is_none()));
    let differs = compare(&turned);
    assert_eq!(
        differs.subtitle,
        ["56 of 64 elements are placed differently, the first at row 0, column 1"]
    );
    let marked = |panel: &Panel| panel.cells.iter().filter(|c| c.lines[0].ends_with('*')).count();
    assert_eq!(differs.panels.iter().map(marked).collect::<Vec<_>>(), [56, 56]);
    assert_eq!(differs.panels[0].cell(3, 3).colour, None);
    let short = row_major("S[(4,8):(8,1)]");
    let (x, y) = (one.view(), short.view());
    let both = [
        Compared { text: "one", layout: &x, order: Order::RowMajor },
        Compared { text: "short", layout: &y, order: Order::RowMajor },
    ];
    assert!(difference::picture(both, (8, 8)).is_err());
}

#[test]
fn lines_end_at_the_terminals_width() {
    let picture = drawn("S[(8,4,2):(4@laneid,1@laneid,32@bit)]", (8, 8));
    let lines = |width| {
        let options = text::Options { colour: false, most: 64, width };
        text::render(&picture, options)
    };
    let (whole, narrow) = (lines(0), lines(40));
    let grid = |text: &str| text.lines().filter(|line| line.contains("T31")).count();
    assert_eq!((grid(&whole), grid(&narrow)), (1, 1));
    let columns =
        |text: &str| text.lines().filter(|line| line.trim_start().starts_with("0 ")).count();
    assert!(columns(&narrow) > columns(&whole), "{narrow}");
    let rows = narrow.lines().filter(|line| line.contains(":r"));
    assert!(rows.clone().count() > 8 && rows.clone().all(|line| line.len() <= 40), "{narrow}");
    // Every cell is there once.
    let cells = |text: &str| text.matches(":r").count();
    assert_eq!(cells(&whole), cells(&narrow));
    // Narrower than a cell: one a line.
    assert_eq!(cells(&lines(3)), 64);
}

#[test]
fn one_operand_alone() {
    let mut picture = drawn("S[(8,4,2):(4@laneid,1@laneid,32@bit)]", (8, 8));
    picture.panels[0].parts = vec!["C".into(), "D".into()];
    picture.panels.push(Panel { parts: vec!["A".into()], place: (0, 1), ..Panel::default() });
    let only = picture.clone().only("D").expect("D");
    assert_eq!(only.panels.len(), 1);
    assert_eq!(only.panels[0].parts, ["C", "D"]);
    let error = picture.only("E").expect_err("no E");
    assert!(error.remedy.contains("C, D, A"), "{error:?}");
}
