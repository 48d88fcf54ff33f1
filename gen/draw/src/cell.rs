//! Labels: what a physical coordinate looks like in a cell.
//!
//! Line 1 says *who* (warp, lane, address slot) or *where in memory*, line 2 *which place of
//! theirs* (register, byte). `r3.1` is register 3, element 1 of it: a register is 32 bits, elements
//! are as wide as the layout's own steps.
use crate::{Cell, Colours};
use lanebook_layout::coord::Coord;
use lanebook_layout::{AxisId, AxisNames, LayoutRef, WellKnown};

/// Bits of a register.
const REGISTER_BITS: i64 = 32;
/// Most colours that can be told apart.
const MOST_COLOURS: u64 = 64;
/// Colours of something without an end, such as memory offsets.
const WRAPPED: u64 = 32;

/// Banks to show for memory offsets.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Banks {
    /// Bits of one step of axis `m`.
    pub unit_bits: u32,
    /// How many banks.
    pub banks: u32,
    /// Bytes a bank delivers at once.
    pub bank_bytes: u32,
}

/// How the coordinates of one or more layouts are shown.
#[derive(Clone, Debug)]
pub struct Style {
    /// Bits of one element in a register: the greatest that divides every step.
    bits: i64,
    /// Axis that is coloured.
    axis: Option<AxisId>,
    /// Axes that are coloured in one of the layouts.
    coloured: Vec<AxisId>,
    banks: Option<Banks>,
    colours: Option<Colours>,
    axes: Vec<AxisId>,
    replicated: bool,
}

/// Axes in the order in which they are looked for to be coloured.
const COLOURED: [AxisId; 12] = [
    AxisId::LANE,
    AxisId::TLANE,
    AxisId::SLOT,
    AxisId::TX,
    AxisId::TID_IN_WG,
    AxisId::WARP,
    AxisId::WID_IN_WG,
    AxisId::M,
    AxisId::P,
    AxisId::BYTE,
    AxisId::REGISTER,
    AxisId::BIT,
];

/// Axes that say where in a lane or from an address.
const PLACES: [AxisId; 3] = [AxisId::BYTE, AxisId::REGISTER, AxisId::BIT];

/// Axes that stand in the first line of a cell.
const FIRST_LINE: [AxisId; 16] = [
    AxisId::BLOCK,
    AxisId::BX,
    AxisId::BY,
    AxisId::BZ,
    AxisId::CBX,
    AxisId::CBY,
    AxisId::CBZ,
    AxisId::WGID,
    AxisId::WARP,
    AxisId::WID_IN_WG,
    AxisId::TX,
    AxisId::TID_IN_WG,
    AxisId::LANE,
    AxisId::TLANE,
    AxisId::SLOT,
    AxisId::M,
];

impl Style {
    /// A style that suits all of some layouts (with known numbers): the same colours for all, a
    /// legend for all.
    #[must_use]
    pub fn of(layouts: &[LayoutRef<'_>], banks: Option<Banks>) -> Self {
        let mut axes: Vec<AxisId> = Vec::new();
        for axis in layouts.iter().flat_map(|layout| layout.axes().unwrap_or_default()) {
            if !axes.contains(&axis) {
                axes.push(axis);
            }
        }
        let mut coloured: Vec<AxisId> = layouts.iter().filter_map(coloured).collect();
        coloured.sort();
        coloured.dedup();
        // Places of a lane are no colours where lanes are.
        if coloured.iter().any(|axis| !PLACES.contains(axis)) {
            coloured.retain(|axis| !PLACES.contains(axis));
        }
        let reach = |axis: AxisId| {
            layouts
                .iter()
                .filter_map(|l| l.reach(axis).ok())
                .map(|(_, high)| high)
                .max()
                .unwrap_or(0)
        };
        let values = coloured
            .iter()
            .map(|axis| u64::try_from(reach(*axis)).unwrap_or(0) + 1)
            .max()
            .unwrap_or(0);
        let colours = match (coloured.first().copied(), banks) {
            (None, _) => None,
            (Some(AxisId::M), Some(banks)) => {
                let count = u64::from(banks.banks).next_power_of_two().min(MOST_COLOURS);
                Some(Colours {
                    count: u16::try_from(count).unwrap_or(32),
                    what: "bank".into(),
                    prefix: "b".into(),
                    wraps: false,
                })
            }
            (Some(first), _) => {
                let wraps =
                    coloured.contains(&AxisId::M) && values > WRAPPED || values > MOST_COLOURS;
                let count = if wraps { WRAPPED } else { values.next_power_of_two() };
                let what = coloured.iter().map(|axis| name(*axis)).collect::<Vec<_>>().join(", ");
                let prefix = if coloured.len() == 1 { prefix(first) } else { String::new() };
                Some(Colours { count: u16::try_from(count).unwrap_or(32), what, prefix, wraps })
            }
        };
        let bits = layouts.iter().map(element_bits).fold(0, gcd);
        let axis = coloured.first().copied();
        let replicated = layouts.iter().any(|l| l.replica.iter().any(|it| !it.is_unit()));
        Self { bits, axis, coloured, banks, colours, axes, replicated }
    }

    /// The style for one of the layouts: the element width and the coloured axis are its own.
    #[must_use]
    pub fn own(&self, layout: &LayoutRef<'_>) -> Self {
        Self {
            bits: element_bits(layout),
            axis: coloured(layout).filter(|axis| self.coloured.contains(axis)),
            ..self.clone()
        }
    }

    /// Takes the colours and axes of a style of more layouts.
    pub fn colour_as(&mut self, other: &Self) {
        *self = Self { bits: self.bits, ..other.clone() };
    }

    /// What the colours mean.
    #[must_use]
    pub fn colours(&self) -> Option<Colours> {
        self.colours.clone()
    }

    /// What the labels mean.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut out = Vec::new();
        for axis in &self.axes {
            let text = match *axis {
                AxisId::LANE => "T: lane of the wave".to_string(),
                AxisId::BIT if self.bits < REGISTER_BITS => format!(
                    "r: 32-bit register of the lane; r0.1: element 1 of it, of {} bits",
                    self.bits
                ),
                AxisId::BIT => "r: 32-bit register of the lane".to_string(),
                AxisId::SLOT => "s: address slot (the lane whose address is used)".to_string(),
                AxisId::BYTE => "+: bytes from that address".to_string(),
                AxisId::WARP => "w: warp of the group".to_string(),
                AxisId::TLANE => "L: lane of tensor memory".to_string(),
                AxisId::TCOL => "C: column of tensor memory, 32 bits wide".to_string(),
                AxisId::CBX => "b: block of the pair".to_string(),
                AxisId::M if self.banks.is_some() => "number: byte; b: its bank".to_string(),
                AxisId::M => "number: position in memory, in the layout's own unit".to_string(),
                other if other.is_basis() => continue,
                other => format!("{}: axis {}", prefix(other), name(other)),
            };
            out.push(text);
        }
        if self.replicated {
            out.push("x4: held in 4 places, the first of which is named".to_string());
        }
        out
    }

    /// The cell of a logical element: all its places, the first of which is named.
    #[must_use]
    pub fn cell(&self, places: &[Coord]) -> Cell {
        let Some(first) = places.first() else { return Cell::default() };
        let mut lines = [Vec::new(), Vec::new()];
        for axis in &self.axes {
            if !first.iter().any(|(a, _)| a == *axis) {
                continue;
            }
            let line = usize::from(!FIRST_LINE.contains(axis));
            lines[line].push((order(*axis), self.label(*axis, first.get(*axis))));
            if let Some(bank) = self.bank(first).filter(|_| *axis == AxisId::M) {
                lines[1].push((0, format!("b{bank}")));
            }
        }
        let mut lines: Vec<String> = lines
            .into_iter()
            .map(|mut line| {
                line.sort();
                line.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
            })
            .filter(|line| !line.is_empty())
            .collect();
        if places.len() > 1
            && let Some(last) = lines.last_mut()
        {
            last.push_str(&format!(" x{}", places.len()));
        }
        Cell { lines, colour: self.colour(first) }
    }

    fn bank(&self, place: &Coord) -> Option<i64> {
        let banks = self.banks?;
        let byte = place.get(AxisId::M) * i64::from(banks.unit_bits) / 8;
        Some(
            byte.div_euclid(i64::from(banks.bank_bytes.max(1)))
                .rem_euclid(i64::from(banks.banks.max(1))),
        )
    }

    fn colour(&self, place: &Coord) -> Option<u16> {
        let axis = self.axis?;
        let count = self.colours.as_ref()?.count;
        let value = match self.bank(place).filter(|_| axis == AxisId::M) {
            Some(bank) => bank,
            None => place.get(axis),
        };
        u16::try_from(value.rem_euclid(i64::from(count))).ok()
    }

    fn label(&self, axis: AxisId, value: i64) -> String {
        match axis {
            AxisId::BIT => {
                let (register, rest) =
                    (value.div_euclid(REGISTER_BITS), value.rem_euclid(REGISTER_BITS));
                if self.bits < REGISTER_BITS {
                    format!("r{register}.{}", rest / self.bits)
                } else {
                    format!("r{register}")
                }
            }
            AxisId::M => match self.banks {
                Some(banks) => (value * i64::from(banks.unit_bits) / 8).to_string(),
                None => value.to_string(),
            },
            other => format!("{}{value}", prefix(other)),
        }
    }
}

/// Bits of one element in a register: the greatest that divides every step.
fn element_bits(layout: &LayoutRef<'_>) -> i64 {
    let steps = layout
        .shard
        .iter()
        .chain(layout.replica)
        .filter(|it| it.axis() == AxisId::BIT && !it.is_unit())
        .map(|it| it.stride_value().unwrap_or(REGISTER_BITS));
    let starts = layout
        .offset
        .iter()
        .filter(|o| o.axis() == AxisId::BIT)
        .map(|o| o.value().value().unwrap_or(REGISTER_BITS));
    match steps.chain(starts).fold(0, gcd) {
        0 => REGISTER_BITS,
        bits => bits,
    }
}

/// The axis whose numbers give the colour.
fn coloured(layout: &LayoutRef<'_>) -> Option<AxisId> {
    let axes = layout.axes().unwrap_or_default();
    COLOURED.into_iter().find(|axis| axes.contains(axis)).or(axes.first().copied())
}

fn order(axis: AxisId) -> usize {
    FIRST_LINE.iter().position(|a| *a == axis).unwrap_or(usize::from(axis.0) + FIRST_LINE.len())
}

/// Text before a number of an axis.
fn prefix(axis: AxisId) -> String {
    match axis {
        AxisId::LANE => "T".into(),
        AxisId::WARP | AxisId::WID_IN_WG => "w".into(),
        AxisId::TX | AxisId::TID_IN_WG => "t".into(),
        AxisId::SLOT => "s".into(),
        AxisId::BYTE => "+".into(),
        AxisId::REGISTER => "r".into(),
        AxisId::TLANE => "L".into(),
        AxisId::TCOL => "C".into(),
        AxisId::CBX => "b".into(),
        AxisId::M => String::new(),
        other if other.is_basis() => {
            let path: Vec<String> = other.basis_path().map(|p| p.to_string()).collect();
            format!("@{}:", path.join("@"))
        }
        other => format!("{}:", name(other)),
    }
}

fn name(axis: AxisId) -> String {
    match axis {
        AxisId::LANE => "lane".into(),
        AxisId::SLOT => "address slot".into(),
        AxisId::M => "offset".into(),
        AxisId::WARP => "warp".into(),
        AxisId::BIT => "bit".into(),
        other if other.is_basis() => prefix(other).trim_end_matches(':').to_string(),
        other => WellKnown.name(other).map_or_else(|| format!("axis {}", other.0), str::to_string),
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
