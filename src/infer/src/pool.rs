//! A stack of entries in lent memory.

use crate::error::{FormError, FormResult, PoolName};

/// Entries on top of each other in a lent slice.
#[derive(Debug)]
pub(crate) struct LentStack<'a, T> {
    slots: &'a mut [T],
    len: usize,
    name: PoolName,
}

impl<'a, T: Copy> LentStack<'a, T> {
    pub(crate) fn new(slots: &'a mut [T], name: PoolName) -> Self {
        Self { slots, len: 0, name }
    }

    pub(crate) fn full(&self) -> FormError {
        FormError::Full {
            pool: self.name,
            has: u32::try_from(self.slots.len()).unwrap_or(u32::MAX),
        }
    }

    /// Puts an entry on top; its position.
    pub(crate) fn push(&mut self, entry: T) -> FormResult<usize> {
        let full = self.full();
        let at = self.len;
        *self.slots.get_mut(at).ok_or(full)? = entry;
        self.len = at.saturating_add(1);
        Ok(at)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Takes off all entries from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        self.slots.get(..self.len).unwrap_or(&[])
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        self.slots.get_mut(..self.len).unwrap_or(&mut [])
    }

    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.as_slice().get(at)
    }

    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.as_mut_slice().get_mut(at)
    }

    /// `count` entries from `start` on.
    pub(crate) fn range(&self, start: usize, count: usize) -> &[T] {
        start.checked_add(count).and_then(|end| self.as_slice().get(start..end)).unwrap_or(&[])
    }
}

/// Takes entry `at` out and closes the gap.
pub(crate) fn take_out<T: Copy, const N: usize>(items: &mut heapless::Vec<T, N>, at: usize) {
    if at < items.len() {
        if let Some(tail) = items.get_mut(at..) {
            tail.rotate_left(1);
        }
        items.pop();
    }
}
