//! A workbench for index expressions under the real tables: build, simplify, select, and run what
//! was selected.
//!
//! The interpreter reads the instructions' meanings (`means`) from the tables with an evaluator of
//! its own, so that it shares nothing with the engine that it checks.
#![forbid(unsafe_code)]

pub mod machine;
pub mod random;
pub mod search;

use heapless::Vec as Fixed;
use lanebook::expr::{
    ExprArena, ExprError, ExprId, ExprNode, NodeChoice, Reg, RegBank, SelectError, SelectScratch,
    Selector, SimplifyScratch, Variable, Want, simplify,
};
use lanebook::rewrite::{RunError, Stats};
use lanebook_tables::{ArchId, RegisterKind, Tables};
use machine::Recorder;
use std::convert::Infallible;

/// Nodes that the workbench holds.
pub const NODES: usize = 2048;

/// Storage for one arena and what works on it.
pub struct Bench {
    nodes: Box<Fixed<ExprNode, NODES>>,
    variables: Fixed<Variable, 32>,
    buckets: Vec<ExprId>,
    forward: Vec<ExprId>,
    uses: Vec<u16>,
    work: Box<Fixed<ExprId, NODES>>,
    memo: Vec<[Option<Reg>; 2]>,
    choice: Vec<[NodeChoice; 2]>,
    counts: Vec<u16>,
}

impl Default for Bench {
    fn default() -> Self {
        Self {
            nodes: Box::new(Fixed::new()),
            variables: Fixed::new(),
            buckets: vec![ExprId::NONE; NODES],
            forward: vec![ExprId::NONE; NODES],
            uses: vec![0; NODES],
            work: Box::new(Fixed::new()),
            memo: vec![[None; 2]; NODES],
            choice: vec![[NodeChoice::NONE; 2]; NODES],
            counts: vec![0; NODES],
        }
    }
}

/// An arena with the scratch of simplification and selection.
pub struct Session<'s> {
    /// The expressions.
    pub arena: ExprArena<'s>,
    simplify: SimplifyScratch<'s>,
    select: Option<SelectScratch<'s>>,
}

impl Bench {
    /// An empty arena.
    pub fn session(&mut self) -> Session<'_> {
        Session {
            arena: ExprArena::new(&mut *self.nodes, &mut self.variables, &mut self.buckets),
            simplify: SimplifyScratch {
                forward: &mut self.forward,
                uses: &mut self.uses,
                work: &mut *self.work,
            },
            select: Some(SelectScratch {
                memo: &mut self.memo,
                choice: &mut self.choice,
                uses: &mut self.counts,
            }),
        }
    }
}

impl<'s> Session<'s> {
    /// Simplifies the roots with the rules of phase `simplify`.
    ///
    /// # Errors
    /// As [`simplify`].
    pub fn simplify(
        &mut self,
        tables: &Tables<'_>,
        roots: &mut [ExprId],
        fuel: &mut u32,
    ) -> Result<Stats, RunError<ExprError>> {
        let phase = tables.rules.phase_named("simplify").expect("the phase exists");
        simplify(&mut self.arena, &tables.rules, phase, roots, &mut self.simplify, fuel, |_, _| {})
    }
    /// A selector; to be asked for once.
    pub fn selector<'t>(&mut self, tables: &'t Tables<'t>, arch: ArchId) -> Selector<'t, 's> {
        let phase = tables.rules.phase_named("select").expect("the phase exists");
        Selector::new(tables, arch, phase, self.select.take().expect("asked for once"))
            .expect("rules exist")
    }
    /// Simplifies and selects vector registers for the roots; answers what was emitted and where
    /// the roots are.
    ///
    /// # Errors
    /// As [`Selector::select`].
    pub fn emit(
        &mut self,
        tables: &'static Tables<'static>,
        arch: ArchId,
        variables: &[Option<Reg>],
        roots: &mut [ExprId],
    ) -> Result<(Recorder, Vec<Reg>), SelectError<Infallible>> {
        let mut fuel = 100_000;
        self.simplify(tables, roots, &mut fuel).expect("simplifies");
        let mut selector = self.selector(tables, arch);
        let mut recorder = Recorder::new(variables);
        let wants: Vec<Want> =
            roots.iter().map(|node| Want { node: *node, place: RegBank::Vector }).collect();
        let mut out = vec![None; roots.len()];
        selector.select(&self.arena, variables, &wants, &mut out, &mut recorder)?;
        Ok((recorder, out.into_iter().flatten().collect()))
    }
}

/// A register for a variable: of the architecture's first class of the kind whose width divides
/// `width` bits.
#[must_use]
pub fn register(
    tables: &Tables<'_>,
    arch: ArchId,
    kind: RegisterKind,
    width: u16,
    first: u16,
) -> Option<Reg> {
    let isa = tables.isa(tables.arch(arch)?.isa)?;
    let fits = |exact: bool| {
        isa.classes.iter().position(|class| {
            class.kind == kind
                && class.name != "f32"
                && if exact { class.bits == width } else { width.is_multiple_of(class.bits) }
        })
    };
    let class = fits(true).or_else(|| fits(false))?;
    Some(Reg {
        class: lanebook_tables::ClassId(class as u16),
        first,
        count: width / isa.classes[class].bits,
    })
}
