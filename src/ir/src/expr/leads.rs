//! What a loop of stages does only to know where its copies begin: numbers that are loaded in the
//! loop, and what is computed of them.
//!
//! Copies run turns ahead, so all of it does, too. Nothing else of the loop may read it then: what
//! others read as well is there twice (`edit/leads.rs`).

use crate::expr::index_expr::IndexStep;
use crate::handle::{Op, Value};
use crate::program::{Def, Loop, Program};
use heapless::Vec;
use lanebook_tables::{IndexWord, OpRole, Space};

/// Most operations that say where the copies of one loop begin.
pub(crate) const LEADS: usize = 48;

/// Operations of a loop's body.
pub type Leads = Vec<Op, LEADS>;

#[doc(hidden)] // Questions of the floors above.
impl Program<'_, '_> {
    /// The operations of a loop of stages that run ahead with its copies, because they say where
    /// these begin, in no order: none, where one of them cannot.
    #[must_use]
    #[inline(never)]
    pub fn leads(&self, parts: &Loop) -> Leads {
        let mut all = Leads::new();
        if self.stages(parts.op) < 2 || !self.all_leading(parts, &mut all) {
            return Leads::new();
        }
        // What the counter alone decides is known everywhere, unless a load that runs ahead is at
        // what it says.
        let mut leads = Leads::new();
        for &op in &all {
            let is_loaded = self.role(op) != OpRole::Index
                || self.index_word(op) == Some(IndexWord::Uniform)
                || self.result(op, 0).is_some_and(|value| self.is_loaded_inside(value, parts));
            let feeds = |value: Value| {
                let users = self.uses(value).filter_map(|place| self.user(place));
                users.into_iter().any(|user| self.role(user) == OpRole::Load)
            };
            let is_own = self.results(op).all(|value| self.is_read_ahead(value, &all));
            if is_loaded && !is_own {
                return Leads::new();
            }
            if is_own && (is_loaded || self.results(op).any(feeds)) {
                let _ = leads.push(op);
            }
        }
        let loads = leads.iter().any(|op| self.role(*op) == OpRole::Load);
        if loads { leads } else { Leads::new() }
    }

    /// Whether an index is computed of what the loop itself loads.
    #[must_use]
    pub fn is_loaded_inside(&self, value: Value, parts: &Loop) -> bool {
        self.index_step(value, parts) == IndexStep::Other && self.is_of_elements(value)
    }

    /// All that a loop's copies read to know where they begin, in its body; whether all of that can
    /// run ahead of it, and there is room for it.
    pub(crate) fn all_leading(&self, parts: &Loop, out: &mut Leads) -> bool {
        for copy in self.ops(parts.body).filter(|op| fills(self, *op)) {
            for start in self.subscripts(copy, 0) {
                if !self.add_leading(start, parts, out) {
                    return false;
                }
            }
        }
        let mut at = 0usize;
        while let Some(&op) = out.get(at) {
            at = at.saturating_add(1);
            let of_global = self.operand(op, 0).map(|from| self.type_of(from).space);
            let can = match self.role(op) {
                OpRole::Load => of_global == Some(Some(Space::Global)),
                OpRole::Index | OpRole::Constant | OpRole::Reshape => true,
                role => role.is_lanewise(),
            };
            let mut used = self.uses_by(op).filter_map(|place| self.used(place));
            if !can || !used.all(|value| self.add_leading(value, parts, out)) {
                return false;
            }
        }
        true
    }

    /// Adds what makes a value inside of a loop; whether it is known turns ahead.
    fn add_leading(&self, value: Value, parts: &Loop, out: &mut Leads) -> bool {
        let is_number = self.int(value).is_some() && !self.type_of(value).is_tile();
        if is_number || value == parts.induction {
            return true;
        }
        match self.def(value) {
            Def::Result(op, _) if self.parent(op) == Some(parts.op) => {
                out.contains(&op) || out.push(op).is_ok()
            }
            Def::Argument(block, _) => block != parts.body,
            _ => true,
        }
    }

    /// Whether copies, and what says where they begin, are all that reads a value.
    fn is_read_ahead(&self, value: Value, all: &Leads) -> bool {
        let mut users = self.uses(value).filter_map(|place| self.user(place));
        users.all(|user| all.contains(&user) || fills(self, user))
    }
}

/// Whether an operation copies a tile from global into shared memory.
pub(crate) fn fills(program: &Program<'_, '_>, op: Op) -> bool {
    let space = |k: usize| program.operand(op, k).and_then(|v| program.type_of(v).space);
    program.role(op) == OpRole::Copy
        && space(0) == Some(Space::Global)
        && space(1) == Some(Space::Shared)
}
