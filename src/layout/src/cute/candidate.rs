//! The layout candidate that layout assignment passes around: small, with everything it is compared
//! by.
//!
//! Its counterpart while a text is read, one entry with count, denominator and dimensions, never
//! leaves the parser ([`crate::notation::basis`]).

use super::canon::canonical;
use super::intern::{Arena, ArenaId};
use crate::error::{Error, Result};
use crate::layout::LayoutRef;
use crate::post::Swizzle;

/// What a candidate's positions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum PositionKind {
    /// Integers on one axis.
    Strided,
    /// Coordinates, on numbered axes.
    Basis,
    /// Positions on several named axes.
    Named,
}

/// A layout candidate. Two of one arena are the same layout in meaning if their `normal` is equal,
/// and in spelling if their `written` is.
///
/// ```
/// # use lanebook_layout::cute::candidate::{LayoutCandidate, PositionKind};
/// # use lanebook_layout::cute::intern::{Arena, Record};
/// # use lanebook_layout::{AxisId, Iter, NoSyms, Offset, WellKnown, notation};
/// # let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// let (mut records, mut iters) = ([Record::EMPTY; 8], [Iter::new(1, 0, AxisId::M); 64]);
/// let (mut tokens, mut offsets) = ([0; 64], [Offset::new(0, AxisId::M); 8]);
/// let mut arena = Arena::new(&mut records, &mut iters, &mut tokens, &mut offsets);
/// // Two spellings of one layout: equal in meaning, not as written.
/// let mut flat = LayoutCandidate::new(&of("32:1").view(), &mut arena).unwrap();
/// let tree = LayoutCandidate::new(&of("(4,8):(1,4)").view(), &mut arena).unwrap();
/// assert_eq!((flat.normal == tree.normal, flat.written == tree.written), (true, false));
/// assert_eq!(flat.kind, PositionKind::Strided);
/// // Values that use it are counted: after the last release none is left.
/// flat.retain().unwrap();
/// assert!(!flat.release());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutCandidate {
    /// The layout as it was written, with its tree: the list of bases.
    pub written: ArenaId,
    /// Its canonical form: the normalized strides.
    pub normal: ArenaId,
    /// What its positions are.
    pub kind: PositionKind,
    /// The swizzle, part of the layout's identity.
    pub swizzle: Option<Swizzle>,
    /// How many values use it.
    pub references: u16,
}

impl LayoutCandidate {
    /// The candidate for `l`, interned; nothing uses it yet.
    ///
    /// # Errors
    /// [`Error::Capacity`] of the arena; those of [`canonical`]; [`Error::NotIntegral`] for a
    /// stride that is a fraction: no such layout reaches lowering.
    pub fn new(l: &LayoutRef<'_>, arena: &mut Arena<'_>) -> Result<Self> {
        for it in l.shard {
            if !it.stride().is_whole() {
                return Err(Error::NotIntegral {
                    num: it.stride().coeff(),
                    den: it.stride().den().get(),
                });
            }
        }
        let axes = l.axes()?;
        let kind = if axes.iter().any(|a| a.is_basis()) {
            PositionKind::Basis
        } else if axes.len() > 1 {
            PositionKind::Named
        } else {
            PositionKind::Strided
        };
        let normal = arena.intern(&canonical(l)?.view())?;
        Ok(Self {
            written: arena.intern(l)?,
            normal,
            kind,
            swizzle: l.post.swizzle(),
            references: 0,
        })
    }

    /// One more value uses it.
    ///
    /// # Errors
    /// [`Error::Overflow`] beyond 65,535.
    pub fn retain(&mut self) -> Result<()> {
        self.references = self.references.checked_add(1).ok_or(Error::Overflow)?;
        Ok(())
    }

    /// One value fewer uses it; whether any is left.
    pub fn release(&mut self) -> bool {
        self.references = self.references.saturating_sub(1);
        self.references > 0
    }
}
