//! Limits: how much shared memory single tiles may take, and how much tensor memory single
//! products, where all of them together do not fit otherwise.

use crate::data::Plan;
use heapless::Vec;
use lanebook_ir::Value;

/// Most tiles with a limit.
const MOST: usize = 16;

/// Most bytes that tiles may take, by the value that names each; others may take what they want.
#[derive(Clone, Debug)]
pub struct Limits {
    list: Vec<(Value, u32), MOST>,
    /// Most columns of tensor memory for one product.
    pub columns: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

impl Limits {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self { list: Vec::new(), columns: u32::MAX }
    }

    /// Most bytes of a tile; `u32::MAX` where nothing limits it.
    #[must_use]
    pub fn of(&self, value: Value) -> u32 {
        self.list.iter().find(|(v, _)| *v == value).map_or(u32::MAX, |(_, bytes)| *bytes)
    }

    /// Sets the most bytes of a tile. `None`: there is no room for another limit.
    pub fn set(&mut self, value: Value, bytes: u32) -> Option<()> {
        if let Some((_, old)) = self.list.iter_mut().find(|(v, _)| *v == value) {
            *old = bytes;
            return Some(());
        }
        self.list.push((value, bytes)).ok()
    }

    /// Lets a tile take what it wants again.
    pub fn lift(&mut self, value: Value) {
        self.list.retain(|(v, _)| *v != value);
    }

    /// Takes over what another list says.
    pub fn copy_from(&mut self, other: &Self) {
        self.columns = other.columns;
        self.list.clear();
        let _ = self.list.extend_from_slice(&other.list);
    }
}

#[doc(hidden)]
impl Plan<'_> {
    /// Whether a tile is the scratch of an exchange.
    #[must_use]
    pub fn is_scratch(&self, alloc: usize) -> bool {
        self.exchanges.iter().any(|e| usize::from(e.alloc) == alloc)
    }
}
