//! Numbers of arguments and indices, worked out once as long as neither what is given nor the turns
//! change: every step of a thread asks for those of its tile.

use crate::contents::ContentsContext;
use crate::contents::address::ThreadRun;
use crate::contents::storage::LOOPS;
use core::cell::{Cell, RefCell};
use heapless::Vec;
use lanebook_emit::ParamKind;
use lanebook_ir::{Op, Value};

/// Most of them; with more, some are worked out again.
const KEPT: usize = 24;

/// When indices were worked out: the turns that run, the loop that is run ahead of, and whether the
/// thread only copies.
type Moment = ([u32; LOOPS], Option<Op>, bool);

/// What was worked out, in the room of the check: it is large for a stack.
#[derive(Debug)]
pub(in crate::contents) struct WorkedOut {
    arguments: RefCell<Vec<(Value, ParamKind, Option<u64>), KEPT>>,
    moment: Cell<Moment>,
    indices: RefCell<Vec<(Value, Option<i64>), KEPT>>,
}

impl WorkedOut {
    /// Nothing yet.
    pub(in crate::contents) const fn new() -> Self {
        Self {
            arguments: RefCell::new(Vec::new()),
            moment: Cell::new(([0; LOOPS], None, false)),
            indices: RefCell::new(Vec::new()),
        }
    }

    /// Nothing again, for another thread or what another context gives.
    pub(super) fn forget(&self) {
        if let (Ok(mut arguments), Ok(mut indices)) =
            (self.arguments.try_borrow_mut(), self.indices.try_borrow_mut())
        {
            arguments.clear();
            indices.clear();
        }
    }
}

impl<'a> ThreadRun<'a, '_> {
    /// Goes on with what another context gives.
    pub(in crate::contents) fn goes_on_with(&mut self, look: &'a ContentsContext<'a>) {
        self.look = look;
        self.worked_out.forget();
    }

    /// What an invented argument is.
    pub(in crate::contents) fn argument(&self, value: Value, kind: ParamKind) -> Option<u64> {
        let own = |(v, k, _): &&(Value, ParamKind, Option<u64>)| (*v, *k) == (value, kind);
        let kept = self.worked_out.arguments.try_borrow().ok();
        if let Some((.., found)) = kept.as_ref().and_then(|kept| kept.iter().find(own)) {
            return *found;
        }
        drop(kept);
        let found = self.look.argument(value, kind);
        if let Ok(mut kept) = self.worked_out.arguments.try_borrow_mut() {
            // Where there is no room it is worked out again.
            let _ = kept.push((value, kind, found));
        }
        found
    }

    /// The value of an index of the program in the turns that run.
    pub(in crate::contents) fn index(&self, value: Value) -> Option<i64> {
        let now = (self.turns, self.ahead, self.thread >= self.look.plan.threads);
        let kept = self.worked_out.indices.try_borrow().ok();
        let own = |(v, _): &&(Value, Option<i64>)| *v == value;
        let known = kept.as_ref().filter(|_| self.worked_out.moment.get() == now);
        if let Some((_, found)) = known.and_then(|kept| kept.iter().find(own)) {
            return *found;
        }
        drop(kept);
        let found = self.index_now(value);
        if let Ok(mut kept) = self.worked_out.indices.try_borrow_mut() {
            if self.worked_out.moment.replace(now) != now {
                kept.clear();
            }
            let _ = kept.push((value, found));
        }
        found
    }
}
