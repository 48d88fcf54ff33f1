//! Passes over a program's text, with what their choices cost as the text that they leave is compiled.
use crate::compile::priced;
use crate::program::Source;
use lanebook::ir::{self, Node, Program};
use lanebook::layout_seeding::{Appraiser, ProgramPrice, SeedingOptions, SeedingStorage, arch_of};
use lanebook::pipeline::{PassScratch, apply_with};
use lanebook_tables::Tables;
use std::cell::RefCell;
use std::collections::HashMap;

/// Operations, values, operands, attributes, types, regions and undo records that there is room
/// for.
pub type ProgramRoom = ir::Storage<8192, 16384, 32768, 16384, 1024, 1024, 65000>;

/// Layouts that are made, values, classes of accesses, candidates that there is room for.
pub type ChoiceRoom = SeedingStorage<1024, 32768, 1024, 65536>;

/// Entries of the worklist.
pub const WORK: usize = 65_000;

/// What one pass works in.
struct PassRooms {
    program: Box<ProgramRoom>,
    work: Box<heapless::Vec<Node, WORK>>,
    choice: Box<ChoiceRoom>,
}

impl PassRooms {
    /// A frame of its own: a build that is not optimised makes what it boxes on the stack, and passes that
    /// price what others leave stand on one another.
    #[inline(never)]
    fn new() -> Self {
        Self {
            program: Box::new(ProgramRoom::new()),
            work: Box::new(heapless::Vec::new()),
            choice: Box::new(ChoiceRoom::new()),
        }
    }
}

/// A pass by its name, with the tables whose rules have it.
pub type NamedPass<'t> = (&'t Tables<'t>, &'t str);

/// What texts cost that were compiled before.
#[derive(Debug, Default)]
pub struct KnownPrices(RefCell<HashMap<String, Option<ProgramPrice>>>);

/// Says what a program costs as `lanebook compile` would compile what the passes that follow make
/// of it.
#[derive(Copy, Clone)]
pub struct Compiler<'t> {
    /// Tables with the built-in rules.
    pub tables: &'t Tables<'t>,
    /// The passes that follow.
    pub following: &'t [NamedPass<'t>],
    /// How texts are read.
    pub options: ir::Options,
    /// What the passes are asked for.
    pub wishes: SeedingOptions,
    /// What is known already.
    pub known: &'t KnownPrices,
}

impl std::fmt::Debug for Compiler<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.following.iter().map(|(_, pass)| pass)).finish()
    }
}

impl Appraiser for Compiler<'_> {
    fn price(
        &mut self,
        program: &Program<'_, '_>,
        layouts: &dyn ir::Annotate,
    ) -> Option<ProgramPrice> {
        let arch = self.tables.arch(arch_of(program, self.tables, &self.wishes)?)?;
        let text = self.left(printed(program, layouts)?)?;
        if let Some(price) = self.known.0.borrow().get(&text) {
            return *price;
        }
        let source = Source::new("a program between passes", text);
        let price = priced(self.tables, arch.name, &source);
        self.known.0.borrow_mut().insert(source.text, price);
        price
    }
}

impl Compiler<'_> {
    /// What the passes leave of a text; `None` if one refuses it.
    #[must_use]
    pub fn left(&self, text: String) -> Option<String> {
        let mut each = self.following.iter().enumerate();
        each.try_fold(text, |text, (number, pass)| {
            let following = self.following.get(number + 1..).unwrap_or(&[]);
            Compiler { following, ..*self }.after(*pass, &text)
        })
    }

    /// What a pass leaves of a text; `None` if it refuses it.
    fn after(mut self, (tables, pass): NamedPass<'_>, text: &str) -> Option<String> {
        let PassRooms { mut program, mut work, mut choice } = PassRooms::new();
        let mut program = ir::parse(program.pools(), tables, text, self.options).ok()?;
        ir::verify(&mut program).ok()?;
        let (mut room, mut fuel) = (choice.room(), u32::MAX);
        let mut scratch = PassScratch {
            work: work.as_mut_view(),
            fuel: &mut fuel,
            room: Some(&mut room),
            wishes: self.wishes,
            appraiser: Some(&mut self),
        };
        apply_with(tables, pass, &mut program, &mut scratch, |_| {}).ok()?;
        printed(&program, &room.book)
    }
}

/// A program as text; `None` where it cannot be written.
fn printed(program: &Program<'_, '_>, layouts: &dyn ir::Annotate) -> Option<String> {
    let mut out = String::new();
    ir::print(program, layouts, &mut out).ok()?;
    Some(out)
}

/// What passes leave of a program's text for the architecture of a name, one after the other; `None`
/// if one refuses it.
#[must_use]
pub fn passed(tables: &Tables<'_>, arch: &str, passes: &[&str], text: &str) -> Option<String> {
    let following: Vec<NamedPass<'_>> = passes.iter().map(|pass| (tables, *pass)).collect();
    let wishes = SeedingOptions { arch: tables.arch_named(arch), prefer_bulk: false };
    let known = &KnownPrices::default();
    let options = ir::Options::default();
    Compiler { tables, following: &following, options, wishes, known }.left(text.to_string())
}
