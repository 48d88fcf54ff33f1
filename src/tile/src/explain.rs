//! What errors of units, and reasons against a movement, say to a person.
//!
//! Reasons are said of an instruction: "needs addresses aligned to 16 B, 4 B are certain".

use crate::tiling::Reject;
use crate::unit::UnitError;
use crate::unit::map::{MapRule, Refusal};
use core::fmt::{Result, Write};
use lanebook_layout::words::SentencePart;
use lanebook_layout::{sentence, sentences, shown};
use lanebook_tables::{SourceId, Tables};

sentences! { UnitError, sink;
    Absent => ("the architecture has nothing of this name; name another architecture");
    NoField => ("the descriptor has no field of this name");
    NoWord { field } => ("field ~ of the descriptor has no value of this name", field);
    Range { value, low, high } => ("~ does not fit its field, which holds ~ to ~", value, low, high);
    Step { value, scale } => ("~ is no multiple of the field's unit ~", value, scale);
    NotListed { field, value } => ("field ~ of the descriptor does not have the value ~", field, value);
    Reserved { bits } => ("bits outside of all fields are set: ~", SentencePart::Bits(bits));
    Layout(error) => { error.write_text(sink) };
    Extent { dim, found, needed } => ("extent ~ of coordinate ~ does not fit; it has to be ~ or a multiple of it", found, dim, needed);
    Stride { iter, found, needed } => ("step ~ of the layout is ~, and the unit's tile has ~ there", iter, found, needed);
    NoValue { param } => ("parameter ~ of the unit's tile has no value", param);
    NoMode { b, m, s } => { no_mode((b, m, s), sink) };
    Width { bits } => ("the unit does not take elements of ~ bits in this order", bits);
    Unaligned { address, needed } => ("~ is not aligned; it has to be a multiple of ~", address, needed);
    Columns { found, low, high } => ("~ columns do not fit; from ~ to ~ and a power of two do", found, low, high);
    Reach { warp, lane, first } => ("warp ~ does not reach lane ~ of tensor memory, but those from ~ on", warp, lane, first);
    Order { columns } => ("products of ~ columns do not take an operand in this order", columns);
    Map(refusal) => { refusal.write_text(sink) };
}

fn no_mode((b, m, s): (u8, u8, i8), sink: &mut impl Write) -> Result {
    match b {
        0 => sink
            .write_str("no swizzle mode of the architecture is like this: padding, or none at all"),
        _ => sentence!(
            sink,
            "no swizzle mode of the architecture is S<~,~,~> on these positions; see `swizzle(MODE, TYPE)`",
            b,
            m,
            s
        ),
    }
}

impl Refusal {
    /// Writes which rule a tiled copy breaks.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, sink: &mut impl Write) -> Result {
        sink.write_str("a tiled copy ")?;
        self.rule.write_reason(self.found, self.needed, sink)
    }
}

shown!(Refusal);

impl MapRule {
    /// Writes what a tiled copy needs or takes by this rule, and what it found.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_reason(self, found: u64, needed: u64, sink: &mut impl Write) -> Result {
        let (text, order) = match self {
            Self::Rank => ("takes tensors of up to ~ dimensions, this has ~ (rule Rank)", true),
            Self::BoxExtent => (
                "takes boxes of 1 to ~ elements in a dimension, this one has ~ (rule BoxExtent)",
                true,
            ),
            Self::BoxBytes => (
                "needs rows of a multiple of ~ B, the tile has ~ B side by side (rule BoxBytes)",
                true,
            ),
            Self::BoxSpan => (
                "needs rows of ~ B, as long as the swizzle's, the tile has ~ B side by side (rule BoxSpan)",
                true,
            ),
            Self::BoxInner => {
                ("takes rows of ~ packed elements, this one has ~ (rule BoxInner)", true)
            }
            Self::Step => {
                ("takes steps of 1 to ~ between elements, this one is ~ (rule Step)", true)
            }
            Self::Extent => ("takes extents of 1 to ~, this one is ~ (rule Extent)", true),
            Self::ExtentMultiple => (
                "needs an innermost extent that is a multiple of ~ packed elements, it is ~ (rule ExtentMultiple)",
                true,
            ),
            Self::StrideMultiple => (
                "needs an outer stride that is a multiple of ~ B, ~ B are certain (rule StrideMultiple)",
                true,
            ),
            Self::StrideLimit => {
                ("needs strides below ~ B, this one is ~ B (rule StrideLimit)", true)
            }
            Self::Corner => (
                "needs a box that begins at a multiple of ~ B in its row, ~ B are certain (rule Corner)",
                true,
            ),
            Self::Edge => (
                "stores whole runs of ~ B, and of ~ B it is certain that they are inside of the bounds or outside (rule Edge)",
                true,
            ),
            Self::Base => ("needs a tensor aligned to ~ B, ~ B are certain (rule Base)", true),
            Self::Shared => (
                "needs boxes that start at a multiple of ~ B in shared memory, one would at ~ B (rule Shared)",
                true,
            ),
            Self::InterleaveRank => {
                ("needs ~ dimensions where it interleaves, this has ~ (rule InterleaveRank)", true)
            }
            Self::InterleaveSwizzle => {
                ("takes another swizzle mode where it interleaves (rule InterleaveSwizzle)", false)
            }
            Self::SwizzleEncoding => {
                ("needs one of the map's swizzle modes (rule SwizzleEncoding)", false)
            }
            Self::Limit => {
                ("does not take these elements and this swizzle together (rule Limit)", false)
            }
            Self::Contiguous => (
                "needs a tile whose innermost neighbours are ~ B apart, they are ~ B apart (rule Contiguous)",
                true,
            ),
            Self::Dense => {
                ("needs rows that follow each other without padding (rule Dense)", false)
            }
        };
        if order { sentence!(sink, text, needed, found) } else { sink.write_str(text) }
    }
}

impl Reject {
    /// The same, to be shown.
    pub fn display<'t>(self, tables: &'t Tables<'t>) -> impl core::fmt::Display + 't {
        core::fmt::from_fn(move |f| self.write_text(tables, f))
    }

    /// Writes why an instruction lost, said of it; limits and where they come from by their names
    /// in the tables.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn write_text(&self, tables: &Tables<'_>, sink: &mut impl Write) -> Result {
        match *self {
            Self::OddFactor { m, n, k } => sentence!(sink, "has extents ~x~x~ with an odd factor that counts no whole registers of a lane", m, n, k),
            Self::Operands { m, n, k } => sentence!(sink, "has operands of ~x~x~ that are not laid out bit by bit over the lanes of a wave", m, n, k),
            Self::Undivided { m, n, k } => sentence!(sink, "multiplies ~x~x~, which the tile's extents are no multiples of", m, n, k),
            Self::Lanes { atom, wave } => sentence!(sink, "serves ~ lanes, the wave has ~", lanes(atom), lanes(wave)),
            Self::Share { atom_bits, tile_bits } if atom_bits < tile_bits => sentence!(sink, "moves ~ bits a lane, an element has ~", atom_bits, tile_bits),
            Self::Share { atom_bits, .. } => sentence!(sink, "moves ~ bits a lane, more than a lane's part of the tile", atom_bits),
            Self::Apart { atom_bytes, tile_bytes } => sentence!(sink, "takes neighbours ~ B apart, in memory they are ~ B apart", atom_bytes, tile_bytes),
            Self::Strided { atom_bytes } => sentence!(sink, "takes neighbours ~ B apart, in memory they are a run-time stride apart", atom_bytes),
            Self::Alignment { need, have } => sentence!(sink, "needs addresses aligned to ~ B, ~ B are certain", need, have),
            Self::Packing { atom_bits } => sentence!(sink, "fills ~ bits of a register whose other bits belong to other elements of the tile", atom_bits),
            Self::Alone { atom_bits } => sentence!(sink, "moves ~ bits of registers that follow each other, each element of the tile has a register of its own", atom_bits),
            Self::Upper => sink.write_str("moves upper halves of registers, beside the one that moves lower ones"),
            Self::Registers { registers, most } => sentence!(sink, "needs ~ registers a lane for one tile, ~ is the most", registers, most),
            Self::RegisterOrder => sink.write_str("fills consecutive registers, the tile's are in another order"),
            Self::Run { byte } => sentence!(sink, "writes one consecutive run for the wave, the shared layout breaks it at byte ~", byte),
            Self::Element { element_bits } => sentence!(sink, "splits elements of ~ bits", element_bits),
            Self::Copies => sink.write_str("would write the same bytes from several lanes at once"),
            Self::Addresses { addresses, most } => sentence!(sink, "needs ~ different addresses a lane (rows a run-time stride apart and phases of a swizzle have their own), a movement has registers for ~", addresses, most),
            Self::Unguarded => sink.write_str("cannot be kept to what lies inside of the tensor's bounds"),
            Self::Bounds { share, whole } => sentence!(sink, "moves ~ B a lane at once, and no more than ~ B certainly lie together, on one side of the tensor's bounds and of a mask's", share, whole),
            Self::NotNative => sink.write_str("is no machine instruction here, the assembler would expand it"),
            Self::Tensor { rule: MapRule::Limit, found, .. } => limited(tables, found, sink),
            Self::Tensor { rule, found, needed } => rule.write_reason(found.into(), needed.into(), sink),
            Self::Order { limit, columns } => order(tables, limit, columns, sink),
            Self::Descriptor => sink.write_str("a matrix unit reads this tile, and no descriptor of it describes such a layout"),
            Self::Reach { warps, needed } => {
                sentence!(sink, "leaves its sums in lanes of tensor memory that ~ warps reach together, each a part by its number; the group has ~", needed, warps)
            }
            Self::Columns { need, have } => sentence!(sink, "needs ~ columns of tensor memory, a block has ~", need, have),
            Self::Room { bytes, most } => {
                sentence!(sink, "takes ~ B of shared memory, ~ B is the most for this tile if all that live at the same time are to fit", bytes, most)
            }
            Self::Absent => sink.write_str("none goes between these memories with addresses that a copy can give"),
            Self::Form => sink.write_str("addresses memory in a way that this movement cannot use"),
            Self::Size => sink.write_str("is beyond the planner's limits for this tile"),
            Self::Tangled => sink.write_str("would move elements of one register, or a lane's copies of them, different ways in different lanes"),
            Self::Warps => sink.write_str("would move elements out of their warp"),
            Self::Exchange { lanes } => sentence!(sink, "needs movements between lanes whose numbers differ in the bits of ~, which no instruction makes", SentencePart::Bits(lanes.into())),
            Self::Dearer => sink.write_str("costs more than the pick"),
        }
    }
}

/// Lanes of a logarithm.
fn lanes(log2: u8) -> u64 {
    1u64.checked_shl(log2.into()).unwrap_or(0)
}

/// The limit of orders that is broken, with its source.
fn order(tables: &Tables<'_>, limit: u16, columns: u16, sink: &mut impl Write) -> Result {
    let Some(limit) = tables.units.order_limits.get(usize::from(limit)) else {
        return sink.write_str("is in an order that the product does not take");
    };
    sentence!(
        sink,
        "is an order that products of ~ columns do not take: rule `~` allows ",
        columns,
        limit.name
    )?;
    for (k, steps) in limit.n.iter().enumerate() {
        sentence!(
            sink,
            "~from ~ to ~ in steps of ~",
            if k == 0 { "columns " } else { " or " },
            steps.low,
            steps.high,
            steps.step
        )?;
    }
    sink.write_str(if limit.n.is_empty() { "no number of columns (" } else { " (" })?;
    cited(tables, limit.sources, sink)?;
    sink.write_str(")")
}

/// The limit of tiled copies that is broken, with its source.
fn limited(tables: &Tables<'_>, limit: u32, sink: &mut impl Write) -> Result {
    let limit = usize::try_from(limit).ok().and_then(|k| tables.units.map_limits.get(k));
    let Some(limit) = limit else {
        return sink.write_str("is a form that tiled copies do not take");
    };
    sentence!(
        sink,
        "needs elements and a swizzle that tiled copies take together here: rule `~` (",
        limit.name
    )?;
    cited(tables, limit.sources, sink)?;
    sink.write_str(")")
}

/// Keys of sources, with commas between.
fn cited(tables: &Tables<'_>, sources: &[SourceId], sink: &mut impl Write) -> Result {
    let keys = sources.iter().filter_map(|id| tables.sources.get(id.index()));
    for (k, source) in keys.enumerate() {
        sentence!(sink, "~~", if k > 0 { ", " } else { "" }, source.key)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook_layout::{Error, every_variant_speaks};

    #[test]
    fn each_error_says_what_is_wrong() {
        let (field, value, found, needed) = (1, 9, 3, 4);
        let map = Refusal { rule: MapRule::BoxBytes, dim: 0, found: 24, needed: 16 };
        let count = every_variant_speaks!(UnitError:
            Absent, NoField, NoWord { field }, Range { field, value, low: 0, high: 7 },
            Step { field, value, scale: 16 }, NotListed { field, value }, Reserved { bits: 6 },
            Layout(Error::Overflow), Extent { dim: 0, found, needed },
            Stride { iter: 0, found: 1, needed: 2 }, NoValue { param: 0 },
            NoMode { b: 3, m: 4, s: 3 }, Width { bits: 6 }, Unaligned { address: 8, needed: 16 },
            Columns { found: 33, low: 32, high: 512 }, Reach { warp: 1, lane: 0, first: 32 },
            Order { limit: 0, operand: 1, columns: 24 }, Map(map));
        assert!(count > 15);
        assert_eq!(
            std::string::ToString::to_string(&map),
            "a tiled copy needs rows of a multiple of 16 B, the tile has 24 B side by side (rule BoxBytes)"
        );
    }
}
