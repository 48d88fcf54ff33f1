//! What an expression stands for, and the memory that it is computed in.

use crate::error::{KindOfValue, Why};
use crate::homes::Distribution;
use crate::text::TextSpan;
use lanebook_infer::{ArenaParts, BaseEntry, DigitTerm, FormArena};
use lanebook_layout::cute::{IntTuple, TileTree};
use lanebook_layout::notation::basis::Basis;
use lanebook_layout::notation::tileas::TileAsDescriptor;
use lanebook_layout::ops::GuardedInverse;
use lanebook_layout::triton::Encoding;
use lanebook_layout::{Hw, Int, Layout, LayoutRef, Linear, Logical, Padding, Swizzle, SymTable};
use lanebook_tables::{ArchId, AtomId, Tables};

/// Most values that wait at once: operands of calls that are not complete.
pub const MAX_VALUES: usize = 12;
/// Most names that `let` gives.
pub const MAX_NAMES: usize = 16;
/// Most coordinates of a shape.
pub const MAX_DIMS: usize = 5;

/// What a query is asked of.
#[derive(Copy, Clone)]
pub(crate) struct Asked<'t> {
    pub(crate) tables: &'t Tables<'t>,
    pub(crate) arch: Option<ArchId>,
}

/// How the elements of a layout are counted, and how wide they are.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementOrder {
    /// Extents of the coordinates, as written; unused ones are 0.
    pub shape: [u32; MAX_DIMS],
    /// How many extents there are; 0: one for each mode of the layout, as its notation has them.
    pub rank: u8,
    /// The last coordinate is the fastest (TIRx, Triton, matrix operands), else the first (CuTe).
    pub row_major: bool,
    /// Bits of an element; 0: not known.
    pub bits: u16,
    /// Bits of a register; 0: there are none.
    pub register_bits: u16,
}

impl ElementOrder {
    /// The extents.
    #[must_use]
    pub fn extents(&self) -> &[u32] {
        self.shape.get(..usize::from(self.rank)).unwrap_or(&[])
    }

    /// These extents in place of the present ones.
    #[must_use]
    pub fn shaped(mut self, extents: &[u32]) -> Self {
        self.shape = [0; MAX_DIMS];
        self.rank = 0;
        for (slot, extent) in self.shape.iter_mut().zip(extents) {
            *slot = *extent;
            self.rank = self.rank.saturating_add(1);
        }
        self
    }
}

/// A layout with how its elements are counted.
#[derive(Clone, Debug, Default)]
pub struct Placed {
    /// The layout.
    pub layout: Layout,
    /// Its elements.
    pub elements: ElementOrder,
}

impl Placed {
    /// The number of an element by its coordinates, or by one number as it is.
    pub(crate) fn flat(&self, coordinates: &[u64]) -> Option<u64> {
        let mut written = [0u32; 32];
        let extents = self.extents(&mut written);
        if let [flat] = coordinates
            && extents.len() != 1
        {
            return Some(*flat);
        }
        if coordinates.len() != extents.len() {
            return None;
        }
        let (mut sum, mut weight) = (0u64, 1u64);
        let mut add = |(x, extent): (&u64, &u32)| {
            if *x >= u64::from(*extent) {
                return None;
            }
            sum = sum.checked_add(x.checked_mul(weight)?)?;
            weight = weight.checked_mul(u64::from(*extent))?;
            Some(())
        };
        let mut pairs = coordinates.iter().zip(extents);
        if self.elements.row_major {
            pairs.rev().try_for_each(add)?;
        } else {
            pairs.try_for_each(&mut add)?;
        }
        Some(sum)
    }

    /// The extents of the coordinates: those given, or the layout's own.
    pub fn extents<'x>(&'x self, room: &'x mut [u32; 32]) -> &'x [u32] {
        if self.elements.rank > 0 {
            return self.elements.extents();
        }
        let view = self.layout.view();
        let mut used = 0usize;
        for (mode, _) in view.modes() {
            let extent =
                mode.iter().try_fold(1u32, |all, it| all.checked_mul(it.extent_value().ok()?));
            if let Some(slot) = room.get_mut(used) {
                *slot = extent.unwrap_or(0);
                used = used.saturating_add(1);
            }
        }
        let out = room.get_mut(..used).unwrap_or(&mut []);
        if self.elements.row_major {
            out.reverse();
        }
        out
    }

    /// The coordinates of an element by its number.
    pub(crate) fn coordinates(&self, flat: u64) -> heapless::Vec<u64, 32> {
        let mut written = [0u32; 32];
        let extents = self.extents(&mut written);
        let mut rest = flat;
        let mut out = heapless::Vec::new();
        let mut split = |extent: &u32| {
            let _ = out.push(rest.checked_rem(u64::from(*extent)).unwrap_or(0));
            rest = rest.checked_div(u64::from(*extent)).unwrap_or(0);
        };
        if self.elements.row_major {
            extents.iter().rev().for_each(&mut split);
            out.reverse();
        } else {
            extents.iter().for_each(&mut split);
        }
        out
    }
}

/// A swizzle that has not met its layout: `S<3,4,3>`, `S<3,4,3> o 8`, `Sw<3,4,3> o smem_ptr[16b](unset)`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LooseSwizzle {
    /// The swizzle, on positions.
    pub swizzle: Swizzle,
    /// What is added before.
    pub offset: Int,
    /// Bits of an element, where a pointer said so; else 0.
    pub bits: u16,
}

/// One instruction: an atom and which of its instances.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Picked {
    /// The atom.
    pub atom: AtomId,
    /// The instance's number.
    pub instance: u32,
}

/// What an expression stands for.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::query::{KindOfValue, LooseSwizzle, Picked, QueryStorage, QueryValue, ask};
///
/// let kind = |text: &str| {
///     let mut storage = Box::new(QueryStorage::new());
///     ask(&TABLES, None, text, &mut storage).unwrap().value().kind()
/// };
/// assert_eq!([kind("(8,8):(8,1)"), kind("size((8,8):(8,1))"), kind("S<3,4,3>")], [KindOfValue::Layout, KindOfValue::Number, KindOfValue::Swizzle]);
/// // An instruction is a value, and so is a swizzle that no layout has yet.
/// fn names(value: &QueryValue) -> bool {
///     match value {
///         QueryValue::Instruction(Picked { .. }) => true,
///         QueryValue::Swizzle(LooseSwizzle { .. }) => false,
///         _ => false,
///     }
/// }
/// # let _ = names;
/// ```
#[derive(Clone, Debug, Default)]
#[repr(u8)] // Nothing is 0: zeros are empty memory, also where C lends it.
#[allow(clippy::large_enum_variant)] // They stand in lent memory, one beside the other.
pub enum QueryValue {
    /// Nothing yet.
    #[default]
    Nothing,
    /// A number.
    Number(Int),
    /// Yes or no.
    Truth(bool),
    /// A tree of numbers: a shape, a coordinate.
    Tuple(IntTuple),
    /// Strides without a shape.
    Basis(Basis),
    /// Layouts in a tree: tiles, mode by mode.
    Tiles(TileTree),
    /// A layout.
    Layout(Placed),
    /// A swizzle.
    Swizzle(LooseSwizzle),
    /// A pointer of elements of so many bits, as CuTe prints it between a swizzle and its layout.
    Pointer(u16),
    /// An encoding of Triton without a shape.
    Encoding(Encoding),
    /// A descriptor of TileAS whose swizzle counts bytes, and whose elements have no width yet.
    Descriptor(TileAsDescriptor),
    /// An instruction.
    Instruction(Picked),
    /// A word of the query: an element type, a family of instructions, a mode.
    Word(TextSpan),
}

impl QueryValue {
    /// What kind of value it is.
    #[must_use]
    pub fn kind(&self) -> KindOfValue {
        match self {
            Self::Nothing => KindOfValue::Nothing,
            Self::Number(_) => KindOfValue::Number,
            Self::Truth(_) => KindOfValue::Truth,
            Self::Tuple(_) | Self::Basis(_) | Self::Tiles(_) => KindOfValue::Tuple,
            Self::Layout(_) | Self::Descriptor(_) => KindOfValue::Layout,
            Self::Swizzle(_) | Self::Pointer(_) => KindOfValue::Swizzle,
            Self::Encoding(_) => KindOfValue::Encoding,
            Self::Instruction(_) => KindOfValue::Instruction,
            Self::Word(_) => KindOfValue::Word,
        }
    }

    pub(crate) fn placed(&self) -> Result<&Placed, Why> {
        match self {
            Self::Layout(placed) => Ok(placed),
            other => Err(other.no_layout()),
        }
    }

    /// What keeps it from being a layout.
    pub(crate) fn no_layout(&self) -> Why {
        match self {
            Self::Encoding(_) => Why::NeedsShape,
            Self::Descriptor(_) => Why::NeedsBits,
            other => Why::Kind { wanted: KindOfValue::Layout, found: other.kind() },
        }
    }

    pub(crate) fn layout(&self) -> Result<LayoutRef<'_>, Why> {
        self.placed().map(|placed| placed.layout.view())
    }

    pub(crate) fn number(&self) -> Result<Int, Why> {
        match self {
            Self::Number(value) => Ok(*value),
            other => Err(Why::Kind { wanted: KindOfValue::Number, found: other.kind() }),
        }
    }

    /// A known number that is not negative.
    pub(crate) fn count(&self) -> Result<u32, Why> {
        let value = self.number()?.value()?;
        u32::try_from(value).map_err(|_| Why::Layout(lanebook_layout::Error::Overflow))
    }

    /// Makes a number a tree of one leaf.
    #[inline(never)]
    pub(crate) fn make_tuple(&mut self) -> Result<(), Why> {
        if let Self::Number(value) = self {
            *self = Self::Tuple(IntTuple::leaf(*value)?);
        }
        Ok(())
    }

    /// A tree of numbers.
    pub(crate) fn tuple(&self) -> Result<&IntTuple, Why> {
        match self {
            Self::Tuple(tuple) => Ok(tuple),
            other => Err(Why::Kind { wanted: KindOfValue::Tuple, found: other.kind() }),
        }
    }
}

/// A place in lent memory: zeros are an empty one.
#[repr(u8)]
#[derive(Clone, Debug, Default)]
#[allow(clippy::large_enum_variant)]
pub(crate) enum LentPlace<T> {
    /// Nothing is there.
    #[default]
    Empty,
    /// This.
    Full(T),
}

/// Where the forms of an encoding stand on the way to a layout, and the inverse that a question looks things up in.
#[derive(Debug)]
pub(crate) struct EncodingRoom {
    pub(crate) linear: LentPlace<Linear<Hw, Logical>>,
    pub(crate) back: LentPlace<Linear<Logical, Hw>>,
    pub(crate) padding: LentPlace<Padding>,
    pub(crate) inverse: LentPlace<GuardedInverse>,
    /// An encoding's text with the names in it written out.
    pub(crate) text: heapless::String<1024>,
}

/// Memory for the maps of a written fragment.
#[derive(Debug)]
pub(crate) struct FragmentRoom {
    bases: [BaseEntry; 64],
    terms: [DigitTerm; 512],
    buckets: [u16; 32],
}

impl FragmentRoom {
    pub(crate) fn arena(&mut self) -> FormArena<'_> {
        let Self { bases, terms, buckets } = self;
        FormArena::new(ArenaParts { bases, terms, buckets })
    }
}

/// A name that `let` gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedValue {
    pub(crate) name: heapless::String<24>,
    pub(crate) value: QueryValue,
}

/// The memory that queries are computed in; names that `let` gives stay in it from query to query.
///
/// It is large: let it stand in a static, or on the heap where there is one.
#[derive(Debug)]
pub struct QueryStorage {
    pub(crate) values: [QueryValue; MAX_VALUES],
    pub(crate) names: [NamedValue; MAX_NAMES],
    pub(crate) symbols: SymTable,
    /// Where each value is written.
    pub(crate) starts: [u32; MAX_VALUES],
    /// How many names there are.
    pub(crate) named: u8,
    /// How many values a question has.
    pub(crate) used: u8,
    pub(crate) room: EncodingRoom,
    pub(crate) fragment: FragmentRoom,
    /// The two sides of a conversion.
    pub(crate) distributions: [Distribution; 2],
    /// The shape of what a layout is read for that says none of its own: empty where nothing says it.
    pub(crate) shape: heapless::Vec<u32, 5>,
    /// Where the bits of an element's number lie in memory, of a layout that no strides say.
    pub(crate) places: heapless::Vec<u32, 24>,
}

impl QueryStorage {
    /// Empty memory.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            values: [const { QueryValue::Nothing }; MAX_VALUES],
            names: [const { NamedValue { name: heapless::String::new(), value: QueryValue::Nothing } };
                MAX_NAMES],
            symbols: SymTable::new(),
            starts: [0; MAX_VALUES],
            named: 0,
            used: 0,
            room: EncodingRoom {
                linear: LentPlace::Empty,
                back: LentPlace::Empty,
                padding: LentPlace::Empty,
                inverse: LentPlace::Empty,
                text: heapless::String::new(),
            },
            fragment: FragmentRoom {
                bases: [BaseEntry::EMPTY; 64],
                terms: [DigitTerm::EMPTY; 512],
                buckets: [0; 32],
            },
            distributions: [Distribution::EMPTY; 2],
            shape: heapless::Vec::new(),
            places: heapless::Vec::new(),
        }
    }

    pub(crate) fn value(&self, at: usize) -> &QueryValue {
        self.values.get(at).unwrap_or(&QueryValue::Nothing)
    }

    /// The place of value `at`; the last one if there are fewer.
    pub(crate) fn slot(&mut self, at: usize) -> &mut QueryValue {
        let [values @ .., last] = &mut self.values;
        values.get_mut(at).unwrap_or(last)
    }

    pub(crate) fn set(&mut self, at: usize, value: QueryValue) -> Result<(), Why> {
        *self.values.get_mut(at).ok_or(Why::TooDeep)? = value;
        Ok(())
    }

    /// Says where value `at` is written.
    pub(crate) fn begins(&mut self, at: usize, start: u32) {
        if let Some(slot) = self.starts.get_mut(at) {
            *slot = start;
        }
    }

    /// The numbers that names stand for, one by one.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (&str, i64)> {
        let used = self.names.get(..usize::from(self.named)).unwrap_or(&[]);
        used.iter().filter_map(|named| match &named.value {
            QueryValue::Number(number) => Some((named.name.as_str(), number.as_known()?)),
            _ => None,
        })
    }

    /// Puts the value of a name into value `at`; whether there is such a name.
    pub(crate) fn recall(&mut self, name: &str, at: usize) -> bool {
        let used = self.names.get(..usize::from(self.named)).unwrap_or(&[]);
        let Some(found) = used.iter().rev().find(|named| named.name == name) else { return false };
        let Some(slot) = self.values.get_mut(at) else { return false };
        slot.clone_from(&found.value);
        true
    }

    /// Gives value `at` a name.
    pub(crate) fn name(&mut self, name: &str, at: usize) -> Result<(), Why> {
        let known =
            self.names.iter().take(usize::from(self.named)).position(|named| named.name == name);
        let place = known.unwrap_or(usize::from(self.named));
        let (Some(slot), Some(value)) = (self.names.get_mut(place), self.values.get(at)) else {
            return Err(Why::TooManyNames);
        };
        slot.name.clear();
        slot.name.push_str(name).map_err(|_| Why::TooManyNames)?;
        slot.value.clone_from(value);
        if known.is_none() {
            self.named = self.named.saturating_add(1);
        }
        Ok(())
    }
}

impl Default for QueryStorage {
    fn default() -> Self {
        Self::new()
    }
}
