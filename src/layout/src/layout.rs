//! The strided form of a layout: iters in a tree, replicas, an offset, a post-map.
//!
//! [`LayoutRef`] borrows and can be written into a `static` by a build script; [`Layout`] owns,
//! with fixed capacities. The logical coordinate is split over the shard iters, **first iter
//! fastest**; digit times stride is added on the iter's axis; each replica iter adds any of its
//! multiples; the offset is added; the post-map acts on axis `m`. Nothing is normalised on
//! construction: the tree, extents of 1 and strides of 0 stay as given.
//!
//! ```
//! use lanebook_layout::layout::{MAX_ITERS, MAX_MODES, MAX_OFFSETS, MAX_PROFILE};
//! use lanebook_layout::{AxisId, Error, Iter, Layout};
//!
//! // What a layout holds at most, and what one more is answered with.
//! assert!(MAX_MODES <= MAX_ITERS && MAX_ITERS < MAX_PROFILE && MAX_OFFSETS > 0);
//! let mut full = Layout::new();
//! for _ in 0..MAX_ITERS {
//!     full.push_replica(Iter::new(2, 1, AxisId::M)).unwrap();
//! }
//! assert!(matches!(full.push_replica(Iter::new(2, 1, AxisId::M)), Err(Error::Capacity { .. })));
//! ```

use crate::axis::AxisId;
use crate::error::{Error, Limit, Result};
use crate::num::{Int, SymId};
use crate::post::PostMap;
use crate::profile::{CLOSE, LEAF, Modes, OPEN, Profile};

pub(crate) use crate::iter::position;
pub use crate::iter::{Iter, Offset};

/// How many shard and replica iters a layout can have together.
pub const MAX_ITERS: usize = 32;
/// How many top-level modes a tree can have (a flat profile is bounded by [`MAX_ITERS`] alone).
pub const MAX_MODES: usize = 16;
/// How many axes can have an offset.
pub const MAX_OFFSETS: usize = 8;
/// How many tokens an owned profile can have.
pub const MAX_PROFILE: usize = 96;

/// A borrowed layout; all fields are plain slices, so a `static` can hold one.
///
/// ```
/// use lanebook_layout::{AxisId, Iter, LayoutRef};
///
/// // 8 rows of 64, one after the other; the first iter runs fastest.
/// static TILE: [Iter; 2] = [Iter::new(64, 1, AxisId::M), Iter::new(8, 64, AxisId::M)];
/// let tile = LayoutRef::new(&TILE);
/// assert_eq!(tile.size_value(), Ok(512));
/// assert_eq!(tile.offset_on(65, AxisId::M), Ok(65));
/// assert_eq!((tile.cosize(AxisId::M), tile.is_injective()), (Ok(512), Ok(true)));
/// ```
///
/// ```
/// use lanebook_layout::{AxisId, Coord, Int, NoSyms, WellKnown, notation};
///
/// let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // 8 rows over the lanes, 4 columns in registers, all of it twice, in warps 0 and 4.
/// let tile = of("S[(8,4):(1@laneid,1@register)] + R[2:4@warpid]");
/// let tile = tile.view();
/// assert!(tile.check().is_ok());
/// assert_eq!((tile.size(), tile.rank()), (Ok(Int::known(32)), 2));
/// assert_eq!(tile.axes().unwrap(), [AxisId::REGISTER, AxisId::LANE, AxisId::WARP]);
/// assert_eq!((tile.size_on(AxisId::LANE), tile.size_on(AxisId::WARP)), (Ok(Int::known(8)), Ok(Int::known(1))));
/// assert_eq!((tile.reach(AxisId::WARP), tile.span(AxisId::WARP)), (Ok((0, 4)), Ok(5)));
/// assert_eq!((tile.offset_of(AxisId::M), tile.collision()), (Ok(Int::known(0)), Ok(None)));
/// // Where coordinate 5 of row-major 8 by 4 lies: row 1, column 1, twice.
/// let (mut at, mut warps) = (Coord::new(), Vec::new());
/// tile.apply_flat(5, &mut at).unwrap();
/// assert_eq!(tile.offsets_on(5, [AxisId::LANE, AxisId::REGISTER]).unwrap(), [at.get(AxisId::LANE), at.get(AxisId::REGISTER)]);
/// tile.apply_all(5, &mut at, |one| Ok(warps.push(one.get(AxisId::WARP)))).unwrap();
/// assert_eq!(warps, [0, 4]);
/// ```
///
/// ```
/// # use lanebook_layout::{AxisId, Coord, NoSyms, WellKnown, notation};
/// // The modes of CuTe's tree, coordinates with one number a mode, whole tables.
/// let tile = notation::cute::parse("S<3,3,3> o 0 o ((2,4),64):((1,2),8)", &WellKnown, &mut NoSyms).unwrap();
/// let tile = tile.view();
/// assert_eq!((tile.modes().count(), tile.mode(0).unwrap().to_owned().unwrap().view().size_value()), (2, Ok(8)));
/// let mut at = Coord::new();
/// tile.apply(&[3, 9], &mut at).unwrap();
/// assert_eq!(at.get(AxisId::M), 75 ^ 8);
/// // Beyond the end the last mode goes on.
/// assert!(tile.apply_flat(512, &mut at).is_err() && tile.apply_extended(512, &mut at).is_ok());
/// let mut table = [0; 512];
/// assert_eq!(tile.table_on(AxisId::M, &mut table), Ok(512));
/// assert_eq!((table[75], tile.cosize_bound(AxisId::M)), (75 ^ 8, Ok(512)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutRef<'a> {
    /// The iters that split the logical coordinate, fastest first.
    pub shard: &'a [Iter],
    /// The iters that add copies.
    pub replica: &'a [Iter],
    /// Constants, at most one an axis.
    pub offset: &'a [Offset],
    /// The tree over `shard`.
    pub profile: Profile<'a>,
    /// The map on the memory axis.
    pub post: PostMap,
}

impl<'a> LayoutRef<'a> {
    /// A flat layout of these iters (fastest first) and nothing else.
    #[must_use]
    pub const fn new(shard: &'a [Iter]) -> Self {
        Self { shard, replica: &[], offset: &[], profile: Profile::FLAT, post: PostMap::None }
    }

    /// Checks extents (at least 1 where known), capacities, profile and post-map.
    ///
    /// Everything that this crate returns passes; a literal made elsewhere may not.
    pub fn check(&self) -> Result<()> {
        let count = self.shard.len().saturating_add(self.replica.len());
        if count > MAX_ITERS {
            return Err(Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 });
        }
        if self.offset.len() > MAX_OFFSETS {
            return Err(Error::Capacity { limit: Limit::Offsets, max: MAX_OFFSETS as u32 });
        }
        for (k, it) in self.shard.iter().chain(self.replica).enumerate() {
            if it.extent() == Int::ZERO {
                return Err(Error::BadExtent { iter: position(k) });
            }
        }
        self.profile.check(self.shard.len())?;
        if !self.profile.is_flat() && self.rank() > MAX_MODES {
            return Err(Error::Capacity { limit: Limit::Modes, max: MAX_MODES as u32 });
        }
        self.post.check()
    }

    /// The top-level modes: the iters of each and their profile.
    #[must_use]
    pub fn modes(&self) -> Modes<'a> {
        Modes::new(self.shard, self.profile)
    }

    /// Mode `k` as a layout of its own, without replicas, offset and post-map.
    #[must_use]
    pub fn mode(&self, k: usize) -> Option<LayoutRef<'a>> {
        let (shard, profile) = self.modes().nth(k)?;
        Some(LayoutRef { shard, replica: &[], offset: &[], profile, post: PostMap::None })
    }

    /// An owned copy.
    pub fn to_owned(&self) -> Result<Layout> {
        Layout::from_ref(*self)
    }
}

/// An owned layout of bounded size (about 1.1 KiB).
///
/// ```
/// use lanebook_layout::{AxisId, Int, Iter, Layout, PostMap, Swizzle, Unit};
///
/// let mut tile = Layout::from_iters(&[Iter::new(64, 1, AxisId::M), Iter::new(8, 64, AxisId::M)]).unwrap();
/// tile.set_post(PostMap::Swizzle(Swizzle::new(3, 3, 3, Unit::Codomain).unwrap())).unwrap();
/// // Row 1: its chunks of 8 are exchanged in pairs.
/// assert_eq!(tile.view().offset_on(64, AxisId::M), Ok(72));
/// tile.add_offset(Int::known(5), AxisId::WARP).unwrap();
/// assert_eq!(tile.view().offset_on(64, AxisId::WARP), Ok(5));
/// ```
///
/// ```
/// use lanebook_layout::{AxisId, Coord, Iter, Layout, NoSyms, Profile, SymNames, SymTable, WellKnown, notation};
/// use lanebook_layout::profile::{CLOSE, LEAF, OPEN};
///
/// // Built by hand: a tree of one mode of two leaves, and a copy.
/// let mut built = Layout::new();
/// built.push_shard(Iter::new(4, 1, AxisId::M)).unwrap();
/// built.push_shard(Iter::new(8, 4, AxisId::M)).unwrap();
/// built.set_profile(Profile::from_tokens(&[OPEN, OPEN, LEAF, LEAF, CLOSE, CLOSE])).unwrap();
/// built.push_replica(Iter::new(2, 1, AxisId::WARP)).unwrap();
/// assert_eq!((built.view().rank(), built.view().modes().count()), (1, 1));
/// let mode = built.view().mode(0).unwrap().to_owned().unwrap();
/// assert_eq!(mode.view().size_value(), Ok(32));
/// assert_eq!(Layout::from_ref(built.view()).unwrap(), built);
/// // One number for each mode, or a table of a whole axis.
/// let mut at = Coord::new();
/// built.view().apply(&[5], &mut at).unwrap();
/// assert_eq!(at.get(AxisId::M), 5);
/// let mut table = [0; 4];
/// assert_eq!(built.view().table_on(AxisId::M, &mut table), Ok(4));
/// assert_eq!(table, [0, 1, 2, 3]);
/// // Beyond the end the last mode runs on, as composition has it.
/// Layout::leaf(4, 2).unwrap().view().apply_extended(5, &mut at).unwrap();
/// assert_eq!(at.get(AxisId::M), 10);
/// // A run-time extent gets its number; the bound of a swizzled tile needs no search.
/// let mut syms = SymTable::new();
/// let rows = notation::cute::parse("(M,8):(8,1)", &WellKnown, &mut syms).unwrap();
/// let rows = rows.substitute(syms.sym("M").unwrap(), 16).unwrap();
/// assert_eq!(rows.view().size_value(), Ok(128));
/// assert_eq!(rows.view().cosize_bound(AxisId::M), Ok(128));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    iters: heapless::Vec<Iter, MAX_ITERS, u8>,
    shard_len: u8,
    offset: heapless::Vec<Offset, MAX_OFFSETS, u8>,
    profile: heapless::Vec<u8, MAX_PROFILE, u8>,
    post: PostMap,
}

const _: () = assert!(core::mem::size_of::<Layout>() <= 1300);

impl Layout {
    /// The flat layout without iters: one point, at zero.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            iters: heapless::Vec::new(),
            shard_len: 0,
            offset: heapless::Vec::new(),
            profile: heapless::Vec::new(),
            post: PostMap::None,
        }
    }

    /// A flat layout of these iters, fastest first.
    pub fn from_iters(shard: &[Iter]) -> Result<Self> {
        let mut out = Self::new();
        for it in shard {
            out.push_shard(*it)?;
        }
        Ok(out)
    }

    /// The layout `extent:stride` on axis `m`, a leaf outside any tuple.
    pub fn leaf(extent: u32, stride: i64) -> Result<Self> {
        let mut out = Self::new();
        out.push_leaf(Iter::new(extent, stride, AxisId::M))?;
        Ok(out)
    }

    /// A checked copy.
    pub fn from_ref(l: LayoutRef<'_>) -> Result<Self> {
        l.check()?;
        let mut out = Self::new();
        for it in l.shard {
            out.push_shard(*it)?;
        }
        for t in l.profile.tokens() {
            out.push_token(*t)?;
        }
        out.copy_rest(&l)?;
        Ok(out)
    }

    /// The layout as plain slices.
    #[must_use]
    pub fn view(&self) -> LayoutRef<'_> {
        let (shard, replica) = self
            .iters
            .as_slice()
            .split_at_checked(usize::from(self.shard_len))
            .unwrap_or((&[], &[]));
        LayoutRef {
            shard,
            replica,
            offset: self.offset.as_slice(),
            profile: Profile::from_tokens(self.profile.as_slice()),
            post: self.post,
        }
    }

    /// Appends a shard iter (slowest so far) and leaves the profile alone: for flat layouts.
    pub fn push_shard(&mut self, it: Iter) -> Result<()> {
        self.push_iter(it)?;
        if let Some(tail) = self.iters.get_mut(usize::from(self.shard_len)..)
            && !tail.is_empty()
        {
            tail.rotate_right(1);
        }
        self.shard_len = self.shard_len.saturating_add(1);
        Ok(())
    }

    /// Appends a replica iter.
    pub fn push_replica(&mut self, it: Iter) -> Result<()> {
        self.push_iter(it)
    }

    fn push_iter(&mut self, it: Iter) -> Result<()> {
        if it.extent() == Int::ZERO {
            return Err(Error::BadExtent { iter: position(self.iters.len()) });
        }
        self.iters
            .push(it)
            .map_err(|_| Error::Capacity { limit: Limit::Iters, max: MAX_ITERS as u32 })
    }

    /// Adds to the offset on an axis. A sum of zero removes it.
    pub fn add_offset(&mut self, value: Int, axis: AxisId) -> Result<()> {
        if let Some(o) = self.offset.iter_mut().find(|o| o.axis() == axis) {
            *o = Offset::symbolic(o.value().checked_add(value)?, axis);
        } else if value != Int::ZERO {
            let full = Error::Capacity { limit: Limit::Offsets, max: MAX_OFFSETS as u32 };
            self.offset.push(Offset::symbolic(value, axis)).map_err(|_| full)?;
        }
        self.offset.retain(|o| o.value() != Int::ZERO);
        Ok(())
    }

    /// Sets the post-map.
    pub fn set_post(&mut self, post: PostMap) -> Result<()> {
        post.check()?;
        self.post = post;
        Ok(())
    }

    /// The layout with `sym` replaced by a positive `value` everywhere.
    pub fn substitute(&self, sym: SymId, value: i64) -> Result<Self> {
        let mut out = self.clone();
        for it in &mut out.iters {
            *it = it.substitute(sym, value)?;
        }
        for o in &mut out.offset {
            *o = Offset::symbolic(o.value().substitute(sym, value)?, o.axis());
        }
        out.view().check()?;
        Ok(out)
    }

    /// Appends a shard iter together with its leaf token.
    pub(crate) fn push_leaf(&mut self, it: Iter) -> Result<()> {
        self.push_shard(it)?;
        self.push_token(LEAF)
    }

    /// Appends a profile token.
    pub(crate) fn push_token(&mut self, token: u8) -> Result<()> {
        let full = Error::Capacity { limit: Limit::Profile, max: MAX_PROFILE as u32 };
        self.profile.push(token).map_err(|_| full)
    }

    /// Begins a tuple.
    pub(crate) fn open(&mut self) -> Result<()> {
        self.push_token(OPEN)
    }

    /// Ends a tuple. A whole tree that is a tuple of more leaves than a tree has modes becomes the
    /// flat profile, which says the same and has as many modes as iters.
    pub(crate) fn close(&mut self) -> Result<()> {
        let plain = match self.profile.as_slice() {
            [OPEN, leaves @ ..] => leaves.len() > MAX_MODES && leaves.iter().all(|t| *t == LEAF),
            _ => false,
        };
        if plain {
            self.profile.clear();
            return Ok(());
        }
        self.push_token(CLOSE)
    }

    /// Appends the shard of `l` as one node of the tree; a flat profile becomes a tuple.
    pub(crate) fn push_node(&mut self, l: &LayoutRef<'_>) -> Result<()> {
        for it in l.shard {
            self.push_shard(*it)?;
        }
        if l.profile.is_flat() {
            self.open()?;
            for _ in l.shard {
                self.push_token(LEAF)?;
            }
            return self.close();
        }
        for t in l.profile.tokens() {
            self.push_token(*t)?;
        }
        Ok(())
    }

    /// Replaces the tree by an explicit one of the same iters, or the flat one if `tokens` is
    /// empty.
    pub fn set_profile(&mut self, profile: Profile<'_>) -> Result<()> {
        profile.check(usize::from(self.shard_len))?;
        self.profile.clear();
        for t in profile.tokens() {
            self.push_token(*t)?;
        }
        self.view().check()
    }

    /// Adds replicas, offset and post-map of `l`.
    pub(crate) fn copy_rest(&mut self, l: &LayoutRef<'_>) -> Result<()> {
        for it in l.replica {
            self.push_replica(*it)?;
        }
        for o in l.offset {
            self.add_offset(o.value(), o.axis())?;
        }
        self.set_post(l.post)
    }
}
