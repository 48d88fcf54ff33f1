//! TileLang's layouts: fragments, maps of shared memory, their algebra, and the helpers that make
//! them.
//!
//! TileLang writes a map as an expression an output; here it is a [`crate::Layout`] in one fixed
//! way:
//!
//! - the logical dimensions are the modes of the tree, the **last dimension first** (so that a flat
//!   coordinate is the row-major index); shapes, dimension numbers and coordinates count as
//!   TileLang writes them, first dimension first;
//! - of the outputs, the last lies on axis `m`, the earlier ones on the numbered axes `@0`, `@1`,
//!   ...;
//! - a [`Fragment`]'s thread lies on axis `tx`, its copies are replica iters on `tx`, its local
//!   index is on `m`.
//!
//! A map that a strided layout cannot say (an XOR across two outputs) is a [`crate::Linear`] if its
//! extents are powers of two, and refused otherwise. Inverses are exact, with guards where
//! positions are left out ([`GuardedInverse`]).

pub mod facts;
mod fragment;
pub mod index_maps;
mod maps;
mod metadata;
mod shared;
mod xor;

pub use fragment::{Fragment, fully_replicated};
pub use maps::{expand, index_map, linear, repeat, reshape, shape_of};
pub use metadata::{MetadataAtom, MetadataColumns, metadata_columns, metadata_tiles};
pub use shared::{
    Fallback, RowSwizzle, WideSwizzle, bank_swizzled, operand_swizzled, padded, wide_swizzled,
};
pub use xor::{Crosswise, PhaseSwizzle, Shared, phase_swizzled, rows_swizzled, shared_operand_v1};

use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::ops::{Iters, push};

pub use crate::ops::{Element, Guard, GuardedInverse, guarded_inverse};

/// Output `k` of `count`: the last on axis `m`, the others numbered.
fn output(k: usize, count: usize) -> Result<AxisId> {
    if k.saturating_add(1) >= count {
        return Ok(AxisId::M);
    }
    let numbered = u8::try_from(k).ok().and_then(AxisId::basis);
    numbered.ok_or(Error::Capacity { limit: Limit::Axes, max: 16 })
}

/// A layout under construction, dimension by dimension, the last one first.
struct LayoutBuilder {
    iters: Iters,
    counts: heapless::Vec<u8, MAX_MODES>,
    open: u8,
}

impl LayoutBuilder {
    fn new() -> Self {
        Self { iters: Iters::new(), counts: heapless::Vec::new(), open: 0 }
    }

    /// Adds an iter to the dimension in hand, slower than those before.
    fn push(&mut self, it: Iter) -> Result<()> {
        self.open = self.open.saturating_add(1);
        push(&mut self.iters, it)
    }

    /// Adds an iter unless its extent is 1.
    fn step(&mut self, extent: u32, stride: u32, axis: AxisId) -> Result<()> {
        if extent == 1 {
            return Ok(());
        }
        self.push(Iter::new(extent, i64::from(stride), axis))
    }

    /// Ends the dimension in hand.
    fn end(&mut self) -> Result<()> {
        if self.open == 0 {
            self.push(Iter::new(1, 0, AxisId::M))?;
        }
        let full = Error::Capacity { limit: Limit::Modes, max: MAX_MODES as u32 };
        self.counts.push(self.open).map_err(|_| full)?;
        self.open = 0;
        Ok(())
    }

    /// The layout, with replicas, offset and post-map of `rest`.
    fn finish(&self, rest: &LayoutRef<'_>) -> Result<Layout> {
        let mut out = Layout::new();
        let mut iters = self.iters.iter();
        out.open()?;
        for count in &self.counts {
            if *count > 1 {
                out.open()?;
            }
            for it in iters.by_ref().take(usize::from(*count)) {
                out.push_leaf(*it)?;
            }
            if *count > 1 {
                out.close()?;
            }
        }
        out.close()?;
        out.copy_rest(rest)?;
        out.view().check()?;
        Ok(out)
    }
}

/// A layout with nothing but an empty tree: the `rest` of a plain map.
const NOTHING: LayoutRef<'static> = LayoutRef::new(&[]);

/// `whole / part`, which must be exact; the error names the dimension.
fn exact(whole: u32, part: u32, dim: usize) -> Result<u32> {
    let fault = Error::BadShape { dim: position(dim), found: whole, needed: part };
    if whole.checked_rem(part) != Some(0) {
        return Err(fault);
    }
    whole.checked_div(part).ok_or(fault)
}
