//! What a named axis is: a coordinate of threads, between two scopes, or of memory; and how axes
//! relate on a target.
//!
//! A thread axis counts parts of one *scope* in units of its *subscope*: `laneid` counts threads of
//! a warp. The thread axes of a well-formed layout form one chain of scopes, each the subscope of
//! the next.

use crate::axis::{AxisId, WellKnown};
use crate::error::{Error, Result};
use crate::layout::{Iter, LayoutRef};

/// A group of threads, from the whole grid to a single thread.
///
/// ```
/// # use lanebook_layout::tirx::Scope;
/// assert!(Scope::Grid < Scope::Cta && Scope::Warp < Scope::Thread);
/// assert_eq!((Scope::Cta.name(), Scope::Warpgroup.name()), ("cta", "warpgroup"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Scope {
    /// The grid. TIRx's registry calls it `thread` too, so that its own walk over `bx` with `tx`
    /// never ends.
    Grid,
    /// A cluster of blocks.
    Cluster,
    /// A block.
    Cta,
    /// A warpgroup.
    Warpgroup,
    /// A warp or wave.
    Warp,
    /// One thread.
    Thread,
}

impl Scope {
    /// TIRx's name of the scope.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Cta => "cta",
            Self::Warpgroup => "warpgroup",
            Self::Warp => "warp",
            Self::Grid | Self::Thread => "thread",
        }
    }
}

/// What an axis counts.
///
/// ```
/// # use lanebook_layout::tirx::{AxisKind, AxisKinds};
/// # use lanebook_layout::{AxisId, WellKnown};
/// assert_eq!(WellKnown.kind(AxisId::M), Some(AxisKind::Memory));
/// assert!(WellKnown.kind(AxisId::LANE).is_some_and(|kind| kind.is_thread()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AxisKind {
    /// Places in memory.
    Memory,
    /// Parts of `scope`, each a `subscope`.
    Thread {
        /// What is divided.
        scope: Scope,
        /// Into what.
        subscope: Scope,
    },
}

impl AxisKind {
    /// Whether the axis is one of threads.
    #[must_use]
    pub const fn is_thread(self) -> bool {
        matches!(self, Self::Thread { .. })
    }
}

/// Knows what axes are.
///
/// ```
/// # use lanebook_layout::tirx::{AxisKind, AxisKinds};
/// # use lanebook_layout::{AxisId, Error};
/// // An axis of one's own, and nothing else.
/// struct Queue;
/// impl AxisKinds for Queue {
///     fn kind(&self, axis: AxisId) -> Option<AxisKind> {
///         (axis == AxisId(AxisId::FIRST_FREE)).then_some(AxisKind::Memory)
///     }
/// }
/// assert_eq!(Queue.known(AxisId(AxisId::FIRST_FREE)), Ok(AxisKind::Memory));
/// assert_eq!(Queue.known(AxisId::LANE), Err(Error::UnknownAxis { axis: AxisId::LANE }));
/// ```
pub trait AxisKinds {
    /// What `axis` counts, if that is known.
    fn kind(&self, axis: AxisId) -> Option<AxisKind>;

    /// As [`AxisKinds::kind`].
    ///
    /// # Errors
    /// [`Error::UnknownAxis`].
    fn known(&self, axis: AxisId) -> Result<AxisKind> {
        self.kind(axis).ok_or(Error::UnknownAxis { axis })
    }
}

const fn thread(scope: Scope, subscope: Scope) -> AxisKind {
    AxisKind::Thread { scope, subscope }
}

/// TIRx's axes, and lanebook's own places in a register or memory.
const KINDS: [(AxisId, AxisKind); 21] = [
    (AxisId::BX, thread(Scope::Grid, Scope::Cta)),
    (AxisId::BY, thread(Scope::Grid, Scope::Cta)),
    (AxisId::BZ, thread(Scope::Grid, Scope::Cta)),
    (AxisId::CBX, thread(Scope::Cluster, Scope::Cta)),
    (AxisId::CBY, thread(Scope::Cluster, Scope::Cta)),
    (AxisId::CBZ, thread(Scope::Cluster, Scope::Cta)),
    (AxisId::TX, thread(Scope::Cta, Scope::Thread)),
    (AxisId::WARP, thread(Scope::Cta, Scope::Warp)),
    (AxisId::LANE, thread(Scope::Warp, Scope::Thread)),
    (AxisId::WGID, thread(Scope::Cta, Scope::Warpgroup)),
    (AxisId::TID_IN_WG, thread(Scope::Warpgroup, Scope::Thread)),
    (AxisId::WID_IN_WG, thread(Scope::Warpgroup, Scope::Warp)),
    (AxisId::M, AxisKind::Memory),
    (AxisId::P, AxisKind::Memory),
    (AxisId::F, AxisKind::Memory),
    (AxisId::BANK, AxisKind::Memory),
    (AxisId::TCOL, AxisKind::Memory),
    (AxisId::TLANE, AxisKind::Memory),
    (AxisId::BIT, AxisKind::Memory),
    (AxisId::BYTE, AxisKind::Memory),
    (AxisId::REGISTER, AxisKind::Memory),
];

impl AxisKinds for WellKnown {
    fn kind(&self, axis: AxisId) -> Option<AxisKind> {
        KINDS.iter().find(|(a, _)| *a == axis).map(|(_, k)| *k)
    }
}

impl<T: AxisKinds + ?Sized> AxisKinds for &T {
    fn kind(&self, axis: AxisId) -> Option<AxisKind> {
        (**self).kind(axis)
    }
}

/// On a target, one step of `axis` is `factor` steps of `parent`.
///
/// ```
/// # use lanebook_layout::tirx::{AxisRelation, facts};
/// # use lanebook_layout::AxisId;
/// // A warp is 32 threads.
/// let warp = AxisRelation { axis: AxisId::WARP, factor: 32, parent: AxisId::TX };
/// assert!(facts::WARP_32.contains(&warp));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AxisRelation {
    /// The axis of larger steps, or of fewer.
    pub axis: AxisId,
    /// Steps of `parent` in one of `axis`.
    pub factor: u32,
    /// The axis that replaces `axis`.
    pub parent: AxisId,
}

/// The innermost and the outermost scope of a layout's threads.
///
/// ```
/// # use lanebook_layout::tirx::{Scope, ScopePair, scope_pair};
/// # use lanebook_layout::{NoSyms, WellKnown, notation};
/// let tile = notation::tirx::parse("S[(4,32):(1@warpid,1@laneid)]", &WellKnown, &mut NoSyms).unwrap();
/// let pair: ScopePair = scope_pair(&tile.view(), &WellKnown).unwrap().unwrap();
/// assert_eq!((pair.subscope, pair.scope), (Scope::Thread, Scope::Cta));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ScopePair {
    /// What the innermost axis counts.
    pub subscope: Scope,
    /// What all of them together divide.
    pub scope: Scope,
}

/// For each scope as a subscope: the scope it is placed in, and by which axis.
type ScopeChain = [Option<(Scope, AxisId)>; 6];

/// The scopes that the thread axes of `l` span. `None` if no shard iter lies on a thread axis, as
/// in TIRx: replicas and offsets alone distribute nothing.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // In memory alone there are no threads; a lane of a warpgroup has no place without its warp.
/// assert_eq!(tirx::scope_pair(&of("S[64:1]").view(), &WellKnown), Ok(None));
/// assert!(tirx::scope_pair(&of("S[(4,32):(1@wgid,1@laneid)]").view(), &WellKnown).is_err());
/// ```
///
/// # Errors
/// [`Error::ScopeConflict`] if two axes place one subscope in different scopes (`tx` beside
/// `laneid`); [`Error::ScopeGap`] if an axis is not connected (`laneid` beside `wgid`);
/// [`Error::UnknownAxis`].
pub fn scope_pair(l: &LayoutRef<'_>, kinds: &impl AxisKinds) -> Result<Option<ScopePair>> {
    let mut distributed = false;
    for it in l.shard {
        distributed |= kinds.known(it.axis())?.is_thread();
    }
    if !distributed {
        return Ok(None);
    }
    let mut chain: ScopeChain = [None; 6];
    let mut innermost = Scope::Grid;
    let iters = l.shard.iter().chain(l.replica).map(Iter::axis);
    for axis in iters.chain(l.offset.iter().map(|o| o.axis())) {
        let AxisKind::Thread { scope, subscope } = kinds.known(axis)? else {
            continue;
        };
        innermost = innermost.max(subscope);
        if let Some(link) = chain.get_mut(subscope as usize) {
            match *link {
                Some((other, first)) if other != scope => {
                    return Err(Error::ScopeConflict { axis: first, other: axis });
                }
                _ => *link = Some((scope, axis)),
            }
        }
    }
    // Each link is used at most once, so that even contradictory kinds cannot hold the walk.
    let mut at = innermost;
    while let Some((scope, _)) = chain.get_mut(at as usize).and_then(Option::take) {
        at = scope;
    }
    match chain.iter().flatten().next() {
        Some((_, axis)) => Err(Error::ScopeGap { axis: *axis }),
        None => Ok(Some(ScopePair { subscope: innermost, scope: at })),
    }
}

/// Whether the thread axes of `l` form one chain of scopes.
///
/// ```
/// # use lanebook_layout::{NoSyms, WellKnown, notation, tirx};
/// # let of = |text: &str| notation::tirx::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// assert_eq!(tirx::well_formed(&of("S[(4,32):(1@warpid,1@laneid)]").view(), &WellKnown), Ok(()));
/// assert!(tirx::well_formed(&of("S[(4,32):(1@tx,1@laneid)]").view(), &WellKnown).is_err());
/// ```
///
/// # Errors
/// Those of [`scope_pair`], and of [`LayoutRef::check`].
pub fn well_formed(l: &LayoutRef<'_>, kinds: &impl AxisKinds) -> Result<()> {
    l.check()?;
    scope_pair(l, kinds).map(|_| ())
}
