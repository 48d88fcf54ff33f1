//! Layouts in an arena that the caller lends: equal layouts get equal numbers.
//!
//! The arena is a hash table over the caller's slices; it never moves or frees a layout. Interning
//! costs a hash and, in general, one comparison.
//!
//! ```
//! use lanebook_layout::cute::intern::{Arena, ArenaId, Record};
//! use lanebook_layout::{AxisId, Iter, NoSyms, Offset, WellKnown, notation};
//!
//! let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
//! let (mut records, mut iters) = ([Record::EMPTY; 8], [Iter::new(1, 0, AxisId::M); 64]);
//! let (mut tokens, mut offsets) = ([0; 64], [Offset::new(0, AxisId::M); 8]);
//! let mut arena = Arena::new(&mut records, &mut iters, &mut tokens, &mut offsets);
//! assert!(arena.is_empty());
//! let first: ArenaId = arena.intern(&of("(8,8):(8,1)").view()).unwrap();
//! assert_eq!(arena.intern(&of("(8,8):(8,1)").view()), Ok(first));
//! assert_ne!(arena.intern(&of("(8,8):(1,8)").view()), Ok(first));
//! assert_eq!(arena.len(), 2);
//! assert_eq!(arena.get(first).unwrap().to_owned().unwrap(), of("(8,8):(8,1)"));
//! ```

use crate::error::{Error, Limit, Result};
use crate::layout::{Iter, LayoutRef, Offset};
use crate::post::PostMap;
use crate::profile::Profile;
use core::hash::{Hash, Hasher};

/// The number of an interned layout. Two layouts of one arena are equal in spelling exactly if
/// their numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ArenaId(u16);

/// A slot of an arena.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    hash: u32,
    iters: u32,
    tokens: u32,
    offsets: u32,
    shard: u8,
    replica: u8,
    token_count: u8,
    offset_count: u8,
    used: bool,
    post: PostMap,
}

impl Record {
    /// A slot that holds nothing yet.
    pub const EMPTY: Self = Self {
        hash: 0,
        iters: 0,
        tokens: 0,
        offsets: 0,
        shard: 0,
        replica: 0,
        token_count: 0,
        offset_count: 0,
        used: false,
        post: PostMap::None,
    };
}

/// Interned layouts.
#[derive(Debug)]
pub struct Arena<'s> {
    records: &'s mut [Record],
    iters: &'s mut [Iter],
    tokens: &'s mut [u8],
    offsets: &'s mut [Offset],
    used_iters: usize,
    used_tokens: usize,
    used_offsets: usize,
}

impl<'s> Arena<'s> {
    /// An empty arena in these slices; their contents are overwritten.
    ///
    /// `records` bounds the number of layouts (at most 65,535 count), the others the sum of what
    /// they hold.
    pub fn new(
        records: &'s mut [Record],
        iters: &'s mut [Iter],
        tokens: &'s mut [u8],
        offsets: &'s mut [Offset],
    ) -> Self {
        records.fill(Record::EMPTY);
        Self { records, iters, tokens, offsets, used_iters: 0, used_tokens: 0, used_offsets: 0 }
    }

    /// The number of `l`, the same as that of any equal layout before.
    ///
    /// # Errors
    /// [`Error::Capacity`] of [`Limit::Arena`] if there is no room (nothing is changed then); those
    /// of [`LayoutRef::check`].
    pub fn intern(&mut self, l: &LayoutRef<'_>) -> Result<ArenaId> {
        l.check()?;
        let hash = hash_of(l);
        let slots = self.records.len().min(usize::from(u16::MAX));
        let full =
            Error::Capacity { limit: Limit::Arena, max: u32::try_from(slots).unwrap_or(u32::MAX) };
        let start = usize::try_from(hash).ok().and_then(|h| h.checked_rem(slots)).ok_or(full)?;
        for k in (start..slots).chain(0..start) {
            let id = ArenaId(u16::try_from(k).map_err(|_| full)?);
            let record = *self.records.get(k).ok_or(full)?;
            if !record.used {
                let record = self.store(l, hash)?;
                if let Some(slot) = self.records.get_mut(k) {
                    *slot = record;
                }
                return Ok(id);
            }
            if record.hash == hash && self.get(id) == Some(*l) {
                return Ok(id);
            }
        }
        Err(full)
    }

    /// The layout with this number.
    #[must_use]
    pub fn get(&self, id: ArenaId) -> Option<LayoutRef<'_>> {
        let r = self.records.get(usize::from(id.0)).filter(|r| r.used)?;
        let iters = self.iters.get(usize::try_from(r.iters).ok()?..)?;
        let (shard, rest) = iters.split_at_checked(usize::from(r.shard))?;
        let tokens = self.tokens.get(usize::try_from(r.tokens).ok()?..)?;
        let offsets = self.offsets.get(usize::try_from(r.offsets).ok()?..)?;
        Some(LayoutRef {
            shard,
            replica: rest.get(..usize::from(r.replica))?,
            offset: offsets.get(..usize::from(r.offset_count))?,
            profile: Profile::from_tokens(tokens.get(..usize::from(r.token_count))?),
            post: r.post,
        })
    }

    /// The number of layouts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.iter().filter(|r| r.used).count()
    }

    /// Whether nothing is interned.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn store(&mut self, l: &LayoutRef<'_>, hash: u32) -> Result<Record> {
        let start = (self.used_iters, self.used_tokens, self.used_offsets);
        let shard = append(self.iters, start.0, l.shard)?;
        let iters = append(self.iters, shard, l.replica)?;
        let tokens = append(self.tokens, start.1, l.profile.tokens())?;
        let offsets = append(self.offsets, start.2, l.offset)?;
        (self.used_iters, self.used_tokens, self.used_offsets) = (iters, tokens, offsets);
        Ok(Record {
            hash,
            iters: place(start.0)?,
            tokens: place(start.1)?,
            offsets: place(start.2)?,
            shard: count(l.shard.len())?,
            replica: count(l.replica.len())?,
            token_count: count(l.profile.tokens().len())?,
            offset_count: count(l.offset.len())?,
            used: true,
            post: l.post,
        })
    }
}

/// Copies `items` to `at` and gives the place after them.
fn append<T: Copy>(to: &mut [T], at: usize, items: &[T]) -> Result<usize> {
    let full =
        Error::Capacity { limit: Limit::Arena, max: u32::try_from(to.len()).unwrap_or(u32::MAX) };
    let end = at.checked_add(items.len()).ok_or(full)?;
    let room = to.get_mut(at..end).ok_or(full)?;
    for (slot, item) in room.iter_mut().zip(items) {
        *slot = *item;
    }
    Ok(end)
}

fn place(x: usize) -> Result<u32> {
    u32::try_from(x).map_err(|_| Error::Overflow)
}

fn count(x: usize) -> Result<u8> {
    u8::try_from(x).map_err(|_| Error::Overflow)
}

/// FNV-1a, which needs no state and no table.
struct Fnv(u32);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        u64::from(self.0)
    }

    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = (self.0 ^ u32::from(*b)).wrapping_mul(16_777_619);
        }
    }
}

fn hash_of(l: &LayoutRef<'_>) -> u32 {
    let mut h = Fnv(2_166_136_261);
    for it in l.shard.iter().chain(l.replica) {
        it.hash(&mut h);
    }
    for o in l.offset {
        o.hash(&mut h);
    }
    h.write(l.profile.tokens());
    l.post.hash(&mut h);
    h.0
}
