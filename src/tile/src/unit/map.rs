//! What a tiled copy of a tensor can describe: checked by the rules of the tables, and derived from
//! a layout.
//!
//! Dimensions count from the innermost, as tensor maps do.
//!
//! ```
//! use lanebook::TABLES;
//! use lanebook::layout::{NoSyms, WellKnown, notation};
//! use lanebook::unit::UnitError;
//! use lanebook::unit::map::{CheckedMap, DerivedBox, MAX_RANK, MapRule, Refusal, Request, check, derive, of_element, takes};
//!
//! let arch = TABLES.arch(TABLES.arch_named("sm_90a").unwrap()).unwrap();
//! // A box of 64 by 128 of a matrix of 4096 columns, in rows of 128 bytes that are swizzled.
//! let request = Request {
//!     element: "f16", interleave: "none", swizzle: "128B", base: 4096, extents: &[4096, 512], strides: &[8192],
//!     boxed: &[64, 128], steps: &[1, 1], shared: 1024, copies: (true, true),
//! };
//! let map: CheckedMap = check(&TABLES, arch, &request).unwrap();
//! assert_eq!(map.bytes, 64 * 128 * 2);
//! // Rows wider than the swizzle: which rule, where, what was found and needed.
//! let wide = Request { boxed: &[128, 8], ..request };
//! let UnitError::Map(refusal) = check(&TABLES, arch, &wide).unwrap_err() else { panic!() };
//! assert_eq!(refusal, Refusal { rule: MapRule::BoxSpan, dim: 0, found: 256, needed: 128 });
//! let (mut sentence, mut reason) = (String::new(), String::new());
//! refusal.write_text(&mut sentence).unwrap();
//! refusal.rule.write_reason(refusal.found, refusal.needed, &mut reason).unwrap();
//! assert!(sentence.contains("256") && reason.contains("128"), "{sentence}");
//! // Which box a layout in shared memory is.
//! let tile = notation::tirx::parse("S[(64,64):(64,1)]", &WellKnown, &mut NoSyms).unwrap();
//! let found: DerivedBox = derive(&TABLES, arch, "f16", &tile.view(), &[64, 64]).unwrap();
//! assert_eq!((usize::from(found.rank) <= MAX_RANK, found.extents[0]), (true, 64));
//! // Whether element type and swizzle go together in that direction.
//! let (_, element) = of_element(&TABLES, arch, "f16").unwrap();
//! assert!(takes(&TABLES, arch, element, map.swizzle, (true, true)).is_ok());
//! ```

use crate::unit::{UnitError, has, swizzle};
use lanebook_layout::{Iter, LayoutRef, tirx};
use lanebook_tables::{Arch, Interleave, MapElement, SwizzleMode, Tables, TensorMap};

/// Most dimensions of a tensor.
pub const MAX_RANK: usize = 5;

/// A rule that a tensor map breaks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum MapRule {
    /// Dimensions: fewest and most.
    Rank,
    /// Elements of a box in a dimension: 1 and most.
    BoxExtent,
    /// The box's innermost bytes are a multiple.
    BoxBytes,
    /// The box's innermost bytes fit the swizzle's row.
    BoxSpan,
    /// The box's innermost extent for a packed element.
    BoxInner,
    /// Steps between elements: 1 and most.
    Step,
    /// Elements of the tensor in a dimension: 1 and most.
    Extent,
    /// The tensor's innermost extent is a multiple for a packed element.
    ExtentMultiple,
    /// Strides are a multiple.
    StrideMultiple,
    /// Strides stay below.
    StrideLimit,
    /// Alignment of the tensor.
    Base,
    /// Where the box begins within a row of the tensor is a multiple.
    Corner,
    /// The rows of a tensor that is stored to end at a multiple: bytes.
    Edge,
    /// Alignment of the tile in shared memory.
    Shared,
    /// Dimensions that an interleaving needs.
    InterleaveRank,
    /// The swizzle mode that an interleaving needs.
    InterleaveSwizzle,
    /// The swizzle mode has no number in the map's encoding.
    SwizzleEncoding,
    /// The element type and the swizzle mode do not go together in this direction: number of the
    /// limit in
    /// [`lanebook_tables::Units::map_limits`].
    Limit,
    /// The layout's innermost elements do not lie side by side.
    Contiguous,
    /// The layout's dimensions do not follow each other without gaps.
    Dense,
}

/// A broken rule with its numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Refusal {
    /// Which.
    pub rule: MapRule,
    /// The dimension, where there is one.
    pub dim: u8,
    /// What was found.
    pub found: u64,
    /// What was needed: a multiple, or the most.
    pub needed: u64,
}

/// A tensor and the box that is copied at once.
#[derive(Copy, Clone, Debug)]
pub struct Request<'r> {
    /// Name of the element type in the map.
    pub element: &'r str,
    /// Name of the interleaving.
    pub interleave: &'r str,
    /// Name of the swizzle mode.
    pub swizzle: &'r str,
    /// Alignment of the tensor's first byte.
    pub base: u64,
    /// The tensor's extents.
    pub extents: &'r [u64],
    /// Its strides in bytes, without the innermost's.
    pub strides: &'r [u64],
    /// The box's extents.
    pub boxed: &'r [u32],
    /// Steps between the box's elements.
    pub steps: &'r [u32],
    /// Where in shared memory the tile starts.
    pub shared: u64,
    /// Whether it is copied to shared memory, and from there.
    pub copies: (bool, bool),
}

/// A checked tensor map.
#[derive(Copy, Clone, Debug)]
pub struct CheckedMap<'a> {
    /// The table.
    pub map: &'a TensorMap<'a>,
    /// The element type.
    pub element: &'a MapElement<'a>,
    /// The interleaving.
    pub interleave: &'a Interleave<'a>,
    /// The swizzle mode.
    pub swizzle: &'a SwizzleMode<'a>,
    /// Bytes of the tile in shared memory.
    pub bytes: u64,
}

/// The map of the architecture that has this element type, and the type.
///
/// # Errors
/// [`UnitError::Absent`].
pub fn of_element<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    element: &str,
) -> Result<(&'a TensorMap<'a>, &'a MapElement<'a>), UnitError> {
    let maps = tables.units.tensor_maps.iter().filter(|map| has(arch, map.feature));
    let mut found =
        maps.filter_map(|map| map.elements.iter().find(|e| e.name == element).map(|e| (map, e)));
    found.next().ok_or(UnitError::Absent)
}

fn refuse(rule: MapRule, dim: usize, found: u64, needed: u64) -> UnitError {
    UnitError::Map(Refusal { rule, dim: u8::try_from(dim).unwrap_or(u8::MAX), found, needed })
}

fn divides(part: u64, whole: u64) -> bool {
    part == 0 || whole.checked_rem(part) == Some(0)
}

/// Checks a tensor map by every rule of the tables.
///
/// # Errors
/// [`UnitError::Absent`] for an element type, interleaving or mode that the architecture does not have;
/// [`UnitError::Map`] with the first broken rule.
pub fn check<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    request: &Request<'_>,
) -> Result<CheckedMap<'a>, UnitError> {
    let (map, element) = of_element(tables, arch, request.element)?;
    let interleave =
        map.interleaves.iter().find(|i| i.name == request.interleave).ok_or(UnitError::Absent)?;
    let mode = swizzle::named(tables, arch, request.swizzle)?;
    let rank = request.extents.len();
    let (least, most) = (usize::from(map.rank.0.max(interleave.rank_min)), usize::from(map.rank.1));
    if rank < usize::from(map.rank.0) || rank > most {
        return Err(refuse(MapRule::Rank, 0, rank as u64, most as u64));
    }
    if rank < least {
        return Err(refuse(MapRule::InterleaveRank, 0, rank as u64, least as u64));
    }
    let lists = [request.boxed.len(), request.steps.len(), request.strides.len().saturating_add(1)];
    if let Some(other) = lists.into_iter().find(|n| *n != rank) {
        return Err(refuse(MapRule::Rank, 0, other as u64, rank as u64));
    }
    if !interleave.swizzle.is_empty() && interleave.swizzle != mode.name {
        return Err(refuse(MapRule::InterleaveSwizzle, 0, 0, 0));
    }
    if swizzle::code(mode, map.encoding).is_none() {
        return Err(refuse(MapRule::SwizzleEncoding, 0, 0, 0));
    }
    takes(tables, arch, element, mode, request.copies)?;
    extents(map, element, request)?;
    let align = u64::from(element.align_bytes.max(interleave.align_bytes));
    strides(map, align, request)?;
    let bytes = boxes(map, element, interleave, mode, request)?;
    let needed = u64::from(map.shared_bytes).max(u64::from(mode.atom_bytes));
    if !divides(needed, request.shared) {
        return Err(refuse(MapRule::Shared, 0, request.shared, needed));
    }
    Ok(CheckedMap { map, element, interleave, swizzle: mode, bytes })
}

/// Whether copies (to shared memory, from there) take these elements under a mode, as far as the
/// limits of the tables go.
///
/// # Errors
/// [`UnitError::Map`] with [`MapRule::Limit`] and the first limit that forbids it.
pub fn takes(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    element: &MapElement<'_>,
    mode: &SwizzleMode<'_>,
    (loads, stores): (bool, bool),
) -> Result<(), UnitError> {
    for (number, limit) in tables.units.map_limits.iter().enumerate() {
        let elements = limit.elements.is_empty() || limit.elements.contains(&element.name);
        let modes = limit.swizzles.is_empty() || limit.swizzles.contains(&mode.name);
        if has(arch, limit.feature)
            && elements
            && modes
            && ((loads && limit.copies.0) || (stores && limit.copies.1))
        {
            return Err(refuse(MapRule::Limit, 0, number as u64, 0));
        }
    }
    Ok(())
}

fn extents(
    map: &TensorMap<'_>,
    element: &MapElement<'_>,
    request: &Request<'_>,
) -> Result<(), UnitError> {
    for (dim, extent) in request.extents.iter().enumerate() {
        if *extent == 0 || *extent > map.extent_max {
            return Err(refuse(MapRule::Extent, dim, *extent, map.extent_max));
        }
    }
    let inner = request.extents.first().copied().unwrap_or(0);
    let multiple = u64::from(element.extent_multiple);
    if !divides(multiple, inner) {
        return Err(refuse(MapRule::ExtentMultiple, 0, inner, multiple));
    }
    // Rows of an odd number of bits end in a byte that is theirs.
    let row = inner.checked_mul(u64::from(element.bits)).map(|bits| bits.div_ceil(8));
    let row = row.ok_or(UnitError::Layout(lanebook_layout::Error::Overflow))?;
    if request.copies.1 && !divides(u64::from(map.edge_bytes), row) {
        return Err(refuse(MapRule::Edge, 0, row, u64::from(map.edge_bytes)));
    }
    Ok(())
}

fn strides(map: &TensorMap<'_>, align: u64, request: &Request<'_>) -> Result<(), UnitError> {
    let base = align.max(u64::from(map.base_bytes));
    if !divides(base, request.base) {
        return Err(refuse(MapRule::Base, 0, request.base, base));
    }
    let multiple = align.max(u64::from(map.stride_bytes));
    for (dim, stride) in request.strides.iter().enumerate() {
        let dim = dim.saturating_add(1);
        if !divides(multiple, *stride) {
            return Err(refuse(MapRule::StrideMultiple, dim, *stride, multiple));
        }
        if *stride >= map.stride_limit {
            return Err(refuse(MapRule::StrideLimit, dim, *stride, map.stride_limit));
        }
    }
    Ok(())
}

fn boxes(
    map: &TensorMap<'_>,
    element: &MapElement<'_>,
    interleave: &Interleave<'_>,
    mode: &SwizzleMode<'_>,
    request: &Request<'_>,
) -> Result<u64, UnitError> {
    let overflow = UnitError::Layout(lanebook_layout::Error::Overflow);
    let mut elements = 1u64;
    for (dim, (extent, step)) in request.boxed.iter().zip(request.steps).enumerate() {
        if *extent == 0 || *extent > u32::from(map.box_max) {
            return Err(refuse(
                MapRule::BoxExtent,
                dim,
                u64::from(*extent),
                u64::from(map.box_max),
            ));
        }
        if *step == 0 || *step > u32::from(map.step_max) {
            return Err(refuse(MapRule::Step, dim, u64::from(*step), u64::from(map.step_max)));
        }
        // Without interleaving the innermost step is not looked at.
        let step = if dim == 0 && interleave.rows { 1 } else { *step };
        elements = elements.checked_mul(u64::from(extent.div_ceil(step))).ok_or(overflow)?;
    }
    let inner = request.boxed.first().copied().map_or(0, u64::from);
    if element.box_inner != 0 && inner != u64::from(element.box_inner) {
        return Err(refuse(MapRule::BoxInner, 0, inner, u64::from(element.box_inner)));
    }
    let bytes = |count: u64| {
        count
            .checked_mul(u64::from(element.shared_bits))
            .and_then(|bits| bits.checked_div(8))
            .ok_or(overflow)
    };
    if interleave.rows {
        let row = bytes(inner)?;
        if !divides(u64::from(map.box_bytes), row) || row == 0 {
            return Err(refuse(MapRule::BoxBytes, 0, row, u64::from(map.box_bytes)));
        }
        if mode.span_bytes != 0 && row > u64::from(mode.span_bytes) {
            return Err(refuse(MapRule::BoxSpan, 0, row, u64::from(mode.span_bytes)));
        }
    }
    bytes(elements)
}

/// A box derived from a layout in shared memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DerivedBox<'a> {
    /// The swizzle mode.
    pub swizzle: &'a SwizzleMode<'a>,
    /// Number of dimensions.
    pub rank: u8,
    /// The coordinate of the layout that each dimension is, innermost first; coordinates count as
    /// written, slowest first.
    pub order: [u8; MAX_RANK],
    /// The box's extents, innermost first.
    pub extents: [u32; MAX_RANK],
    /// Boxes along each dimension, innermost first: the tile is copied box by box.
    pub boxes: [u32; MAX_RANK],
    /// Elements of shared memory from one box to the next along each dimension.
    pub steps: [i64; MAX_RANK],
}

/// The box that fills `layout` in shared memory, which counts elements over `shape` (row-major,
/// slowest first).
///
/// The dimension whose neighbours lie side by side is the innermost; others follow as they lie. A
/// dimension may be in two parts: the lower is the box's, the upper counts boxes.
///
/// # Errors
/// [`UnitError::Absent`] for the element type; [`UnitError::NoMode`] if no mode permutes like the layout;
/// [`UnitError::Map`] with [`MapRule::Rank`], [`MapRule::Contiguous`] or [`MapRule::Dense`], or the first rule
/// that the box breaks ([`MapRule::BoxSpan`] and so on).
pub fn derive<'a>(
    tables: &Tables<'a>,
    arch: &Arch<'_>,
    element: &str,
    layout: &LayoutRef<'_>,
    shape: &[u32],
) -> Result<DerivedBox<'a>, UnitError> {
    let (map, element) = of_element(tables, arch, element)?;
    let mode =
        swizzle::of_post(tables, arch, map.encoding, &layout.post, u16::from(element.shared_bits))?;
    if shape.is_empty() || shape.len() > usize::from(map.rank.1).min(MAX_RANK) {
        return Err(refuse(MapRule::Rank, 0, shape.len() as u64, u64::from(map.rank.1)));
    }
    if let Some(offset) = layout.offset.first() {
        return Err(UnitError::Layout(lanebook_layout::Error::HasOffset { axis: offset.axis() }));
    }
    if layout.replica.iter().any(|it| !it.is_unit()) {
        return Err(UnitError::Layout(lanebook_layout::Error::HasReplica));
    }
    let plain = LayoutRef { post: lanebook_layout::PostMap::None, ..*layout };
    let joined = tirx::canonicalize(&plain)?;
    let grouped = tirx::group(&joined.view(), shape)?;
    let mut out = DerivedBox {
        swizzle: mode,
        rank: 0,
        order: [0; MAX_RANK],
        extents: [1; MAX_RANK],
        boxes: [1; MAX_RANK],
        steps: [0; MAX_RANK],
    };
    let parts = parts_of(&grouped, shape.len())?;
    // Take the dimensions as they lie: the next one's step is what the box holds so far.
    let mut size = 1i64;
    let mut taken = [false; MAX_RANK];
    for place in 0..shape.len() {
        let next = |unit: bool| {
            let fits = |(dim, pair): &(usize, &[(u32, i64); 2])| {
                let [(extent, step), _] = **pair;
                !taken.get(*dim).copied().unwrap_or(true)
                    && if unit { extent == 1 } else { extent > 1 && step == size }
            };
            parts.iter().enumerate().rfind(fits).map(|(dim, _)| dim)
        };
        let rule = if place == 0 { MapRule::Contiguous } else { MapRule::Dense };
        let dim = next(false).or_else(|| next(true)).ok_or(refuse(
            rule,
            place,
            0,
            u64::try_from(size).unwrap_or(0),
        ))?;
        let [(extent, _), (boxes, step)] = parts.get(dim).copied().unwrap_or([(1, 0); 2]);
        if let Some(flag) = taken.get_mut(dim) {
            *flag = true;
        }
        size = size.checked_mul(i64::from(extent)).ok_or(lanebook_layout::Error::Overflow)?;
        let name = u8::try_from(dim).unwrap_or(u8::MAX);
        for (list, value) in [(&mut out.extents, extent), (&mut out.boxes, boxes)] {
            if let Some(slot) = list.get_mut(place) {
                *slot = value;
            }
        }
        if let Some(slot) = out.order.get_mut(place) {
            *slot = name;
        }
        if let Some(slot) = out.steps.get_mut(place) {
            *slot = step;
        }
        out.rank = out.rank.saturating_add(1);
    }
    boxes_lie_apart(map, element.shared_bits, &out, size)?;
    let used = usize::from(out.rank);
    let ones = [1u32; MAX_RANK];
    let interleave = map.interleaves.iter().find(|i| i.rows).ok_or(UnitError::Absent)?;
    let request = Request {
        element: element.name,
        interleave: interleave.name,
        swizzle: mode.name,
        base: 0,
        extents: &[],
        strides: &[],
        boxed: out.extents.get(..used).unwrap_or(&[]),
        steps: ones.get(..used).unwrap_or(&[]),
        shared: 0,
        copies: (false, false),
    };
    boxes(map, element, interleave, mode, &request)?;
    Ok(out)
}

/// Parts of a coordinate, fastest first: extent and stride.
type Parts = [(u32, i64); 2];

/// The parts of each of `rank` coordinates.
fn parts_of(
    grouped: &tirx::Grouped,
    rank: usize,
) -> Result<heapless::Vec<Parts, MAX_RANK>, UnitError> {
    let view = grouped.layout.view();
    let mut out = heapless::Vec::new();
    for dim in 0..rank {
        let at = |k: usize| grouped.separators.get(k).copied().map_or(0, usize::from);
        let (from, to) = (at(dim), at(dim.saturating_add(1)));
        let own = view.shard.iter().rev().skip(from).take(to.saturating_sub(from));
        let mut pair = [(1u32, 0i64); 2];
        let mut slots = pair.iter_mut();
        for it in own.rev().filter(|it| !it.is_unit()) {
            let have = to.saturating_sub(from) as u64;
            let slot = slots.next().ok_or(refuse(MapRule::Dense, dim, have, 2))?;
            *slot = (it.extent_value()?, stride(it)?);
        }
        out.push(pair).map_err(|_| refuse(MapRule::Rank, 0, rank as u64, MAX_RANK as u64))?;
    }
    Ok(out)
}

/// Boxes do not overlap, and each starts where the pattern of the swizzle does. `size`: elements of
/// a box.
fn boxes_lie_apart(
    map: &TensorMap<'_>,
    element_bits: u8,
    out: &DerivedBox<'_>,
    size: i64,
) -> Result<(), UnitError> {
    for (dim, (boxes, step)) in
        out.boxes.iter().zip(out.steps).enumerate().filter(|(_, (boxes, _))| **boxes > 1)
    {
        let bits =
            step.checked_mul(i64::from(element_bits)).ok_or(lanebook_layout::Error::Overflow)?;
        let needed = u64::from(out.swizzle.repeat_bytes.max(map.shared_bytes));
        let bytes = u64::try_from(bits.checked_div(8).unwrap_or(0)).unwrap_or(0);
        if step.unsigned_abs() < size.unsigned_abs() {
            return Err(refuse(MapRule::Dense, dim, u64::from(*boxes), size.unsigned_abs()));
        }
        if !divides(needed, bytes) {
            return Err(refuse(MapRule::Shared, dim, bytes, needed));
        }
    }
    Ok(())
}

fn stride(it: &Iter) -> Result<i64, UnitError> {
    Ok(it.stride_value()?)
}
