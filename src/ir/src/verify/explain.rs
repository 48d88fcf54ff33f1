//! What is not in the contract, in words. With the names of the program and of the contract, and
//! with what would be right: the command.

use super::contract::{At, Breach, BreachKind, ValueList};
use core::fmt::{Result, Write};
use lanebook_layout::{sentence, sentences, shown};

impl ValueList {
    /// One of the list, in words.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Operand => "operand",
            Self::Result => "result",
            Self::Argument => "argument",
        }
    }
}

sentences! { BreachKind, sink;
    Operation => ("`compile` has no instructions for this operation");
    Undeclared => ("this is no operation of rules/ops.ron");
    Outside => ("the operation stands outside of the function");
    Function => ("a program for `compile` is one function that calls no other, as `isolate_kernel` leaves it");
    Region => ("the operation has a region, or blocks, that `compile` does not follow");
    Yield => ("the body does not end with scf.yield");
    Attr => ("`compile` obeys no attribute of this name here");
    AttrTwice => ("an attribute is written twice, maybe with another prefix");
    AttrForm {} => ("an attribute has a value of another form");
    AttrRange { value } => ("an attribute cannot be ~", value);
    AttrShape {} => ("an attribute says nothing with tiles of these shapes, or another thing than they do");
    AttrMissing { attr } => ("the operation does not say an attribute that it needs, number ~ of its contract", attr);
    Count { side, least, most, found } => { count(side, (least, most), found, sink) };
    Kind { at } => ("~ ~ is of a kind that cannot stand there", at.side.describe(), at.number);
    Rank { at, least, most, found } => { rank(at, (least, most), found, sink) };
    Element { at, want } => ("~ ~ must have elements ~", at.side.describe(), at.number, want.words());
    Subscripts { operand, needed, found } => ("operand ~ has ~ subscripts and needs ~: a memref one for each dimension, a tile none", operand, found, needed);
    Subscript { operand, number } => ("subscript ~ of operand ~ is no index", number, operand);
    Layout { at } => ("the layout written for ~ ~ is not obeyed", at.side.describe(), at.number);
    LayoutTwice => ("this tile has a layout in its type and another as an attribute");
    LayoutName => ("no layout has this name");
    Literal {} => ("the constant is no number that its type holds");
    NoContract => ("the tables have no contract");
}

/// `none`, `2`, `2 to 3`, `2 or more`.
fn write_between((least, most): (u8, u8), sink: &mut impl Write) -> Result {
    match (least, most) {
        (0, 0) => sink.write_str("none"),
        range => crate::explain::write_between(range, sink),
    }
}

fn count(side: ValueList, range: (u8, u8), found: u16, sink: &mut impl Write) -> Result {
    sentence!(sink, "~s: ", side.describe())?;
    write_between(range, sink)?;
    sentence!(sink, "; ~ written", found)
}

fn rank(at: At, range: (u8, u8), found: u8, sink: &mut impl Write) -> Result {
    sentence!(sink, "~ ~ is of rank ~; taken: ", at.side.describe(), at.number, found)?;
    write_between(range, sink)
}

impl Breach {
    /// Writes where and what is wrong.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        if self.at.line > 0 {
            sentence!(sink, "line ~, column ~: ", self.at.line, self.at.column)?;
        }
        self.kind.write_text(sink)
    }
}

shown!(Breach);
