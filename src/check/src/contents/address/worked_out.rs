//! Numbers of arguments and indices, worked out once as long as neither what is given nor the turns
//! change: every step of a thread asks for those of its tile.

use crate::contents::ContentsContext;
use crate::contents::address::ThreadRun;
use crate::contents::storage::LOOPS;
use core::cell::RefCell;
use heapless::Vec;
use lanebook_emit::ParamKind;
use lanebook_ir::{Op, Value};

/// Most of them; with more, some are worked out again.
const KEPT: usize = 24;

/// When indices were worked out: the turns that run, the loop that is run ahead of, and whether the
/// thread only copies.
type Moment = ([u32; LOOPS], Option<Op>, bool);

/// Indices, and when they were worked out.
type Indices = (Moment, Vec<(Value, Option<i64>), KEPT>);

/// What was worked out.
#[derive(Default)]
pub(super) struct WorkedOut {
    arguments: RefCell<Vec<(Value, ParamKind, Option<u64>), KEPT>>,
    indices: RefCell<Indices>,
}

impl<'a> ThreadRun<'a, '_> {
    /// Goes on with what another context gives.
    pub(in crate::contents) fn goes_on_with(&mut self, look: &'a ContentsContext<'a>) {
        self.look = look;
        self.worked_out = WorkedOut::default();
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
        let known = kept.as_ref().filter(|kept| kept.0 == now);
        if let Some((_, found)) = known.and_then(|kept| kept.1.iter().find(own)) {
            return *found;
        }
        drop(kept);
        let found = self.index_now(value);
        if let Ok(mut kept) = self.worked_out.indices.try_borrow_mut() {
            if kept.0 != now {
                *kept = (now, Vec::new());
            }
            let _ = kept.1.push((value, found));
        }
        found
    }
}
