//! The queue of operators to ask, and who is woken by a layout.

use crate::error::{FormError, FormResult, PoolName};
use crate::event::{InferenceEvent, Listener};
use crate::inference::Inference;
use crate::program::{BufferId, MemoryScope, OperatorId};

/// The end of the queue.
const NONE: u16 = u16::MAX;

/// Not in the queue.
const OUT: u16 = u16::MAX - 1;

/// A queue of operators: a list through the lent words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    first: u16,
    last: u16,
}

impl Default for Queue {
    fn default() -> Self {
        Self { first: NONE, last: NONE }
    }
}

impl Inference<'_> {
    /// Takes all operators out of the queue.
    pub(crate) fn clear_queue(&mut self) -> FormResult<()> {
        let has = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        let full = FormError::Full { pool: PoolName::Queue, has };
        self.words.get_mut(..self.operators.len()).ok_or(full)?.fill(OUT);
        Ok(())
    }

    fn word(&mut self, id: OperatorId) -> Option<&mut u16> {
        self.words.get_mut(usize::from(id.0))
    }

    fn queued(&self, id: OperatorId) -> bool {
        self.words.get(usize::from(id.0)).is_some_and(|w| *w != OUT)
    }

    pub(crate) fn push_back(&mut self, queue: &mut Queue, id: OperatorId) {
        if let Some(word) = self.word(id) {
            *word = NONE;
        }
        if queue.first == NONE {
            queue.first = id.0;
        } else if let Some(word) = self.word(OperatorId(queue.last)) {
            *word = id.0;
        }
        queue.last = id.0;
    }

    fn push_front(&mut self, queue: &mut Queue, id: OperatorId) {
        let first = queue.first;
        if let Some(word) = self.word(id) {
            *word = first;
        }
        queue.first = id.0;
        if queue.last == NONE {
            queue.last = id.0;
        }
    }

    pub(crate) fn pop(&mut self, queue: &mut Queue) -> Option<OperatorId> {
        let id = OperatorId(queue.first);
        if queue.first == NONE {
            return None;
        }
        let next = core::mem::replace(self.word(id)?, OUT);
        queue.first = next;
        if next == NONE {
            queue.last = NONE;
        }
        Some(id)
    }

    /// A buffer was laid: who accesses it is to be asked.
    pub(crate) fn note_laid(&mut self, id: BufferId) {
        let before = self.laid;
        if let Some(buffer) = self.buffers.get_mut(usize::from(id.0))
            && buffer.fresh.is_none()
        {
            buffer.fresh = Some(before);
            self.laid = Some(id);
        }
    }

    /// Takes a buffer that was laid off the list.
    fn next_laid(&mut self) -> Option<BufferId> {
        let id = self.laid?;
        self.laid = self.buffers.get_mut(usize::from(id.0))?.fresh.take().flatten();
        Some(id)
    }

    /// No one is to be asked for what was laid so far.
    pub(crate) fn forget_laid(&mut self) {
        while self.next_laid().is_some() {}
    }

    /// Puts those that access what was laid to the front, but not `asked`, who laid it.
    pub(crate) fn wake(
        &mut self,
        queue: &mut Queue,
        asked: OperatorId,
        listener: &mut dyn Listener,
    ) -> FormResult<()> {
        while let Some(laid) = self.next_laid() {
            let storage = *self.buffer_of(self.storage(laid))?;
            let mut at = storage.uses.map(|(first, _)| first);
            if storage.scope != MemoryScope::Fragment {
                continue;
            }
            while let Some(access) = at.and_then(|k| self.access_at(k)).copied() {
                let other = access.operator;
                if other != asked && !self.queued(other) {
                    self.push_front(queue, other);
                    let woken = InferenceEvent::Wakes(asked, other, access.buffer);
                    listener.event(self, woken);
                }
                at = access.next_use;
            }
        }
        Ok(())
    }
}
