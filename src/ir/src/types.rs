//! Types of values: scalars, tiles, memory references.
use crate::handle::TextRef;
use lanebook_tables::{DtypeId, Space};

/// The most dimensions a tile or memory reference can have.
pub const MAX_RANK: usize = 6;

/// Extents of a tile in elements, slowest first, as written.
///
/// ```
/// use lanebook::ir::{MAX_RANK, Shape};
///
/// let tile = Shape::of(&[64, 128]).unwrap();
/// assert_eq!((tile.rank(), tile.extent(1), tile.elements(), tile.pair()), (2, Some(128), Some(8192), Some((64, 128))));
/// // A dimension that is known at run time alone.
/// let rows = Shape::SCALAR.with(None).unwrap().with(Some(64)).unwrap();
/// assert_eq!((rows.iter().collect::<Vec<_>>(), rows.elements()), (vec![None, Some(64)], None));
/// assert!(Shape::of(&[1; MAX_RANK + 1]).is_none() && !Shape::UNKNOWN.is_known());
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    extents: [u32; MAX_RANK],
    rank: u8,
}

/// How an extent that is `?` is stored.
const DYNAMIC: u32 = u32::MAX;
/// How a shape that is elided (`tensor<...>`) is stored.
const ELIDED: u8 = u8::MAX;

impl Shape {
    /// No dimensions: a scalar.
    pub const SCALAR: Self = Self { extents: [0; MAX_RANK], rank: 0 };
    /// A shape that the text leaves out.
    pub const UNKNOWN: Self = Self { extents: [0; MAX_RANK], rank: ELIDED };

    /// A shape of known extents; `None` for too many or an extent of 2^32 - 1.
    #[must_use]
    pub fn of(extents: &[u32]) -> Option<Self> {
        extents.iter().try_fold(Self::SCALAR, |shape, extent| {
            if *extent == DYNAMIC { None } else { shape.with(Some(*extent)) }
        })
    }
    /// One more dimension, `None` inside for `?`; `None` when there is no room.
    #[must_use]
    pub fn with(mut self, extent: Option<u32>) -> Option<Self> {
        *self.extents.get_mut(usize::from(self.rank))? = extent.unwrap_or(DYNAMIC);
        self.rank = self.rank.wrapping_add(1);
        Some(self)
    }
    /// Whether the shape is written out (`?` counts as written).
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.rank != ELIDED
    }
    /// Number of dimensions; 0 when elided.
    #[must_use]
    pub const fn rank(self) -> usize {
        if self.is_known() { self.rank as usize } else { 0 }
    }
    /// Extent of a dimension in elements; `None` for `?`, for a dimension that is not there, and
    /// when elided.
    #[must_use]
    pub fn extent(self, dimension: usize) -> Option<u32> {
        if dimension >= self.rank() {
            return None;
        }
        self.extents.get(dimension).copied().filter(|extent| *extent != DYNAMIC)
    }
    /// Extents in order, `None` for `?`.
    pub fn iter(self) -> impl Iterator<Item = Option<u32>> {
        (0..self.rank()).map(move |dimension| self.extent(dimension))
    }
    /// Number of elements, when every extent is known and the product fits.
    #[must_use]
    pub fn elements(self) -> Option<u64> {
        if !self.is_known() {
            return None;
        }
        self.iter().try_fold(1u64, |product, extent| product.checked_mul(u64::from(extent?)))
    }
    /// Rows and columns of a two-dimensional shape with known extents.
    #[must_use]
    pub fn pair(self) -> Option<(u32, u32)> {
        if self.rank() == 2 { Some((self.extent(0)?, self.extent(1)?)) } else { None }
    }
}

/// What kind of type.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// Left out in the text (`...`): agrees with everything.
    Elided,
    /// `()`.
    Unit,
    /// `index`: an integer for subscripts and bounds.
    Index,
    /// One element, e.g. `f32`, `i1`.
    Scalar,
    /// A tile. Without a space it is undecided (registers, unless a rule turns it into a
    /// descriptor).
    Tensor,
    /// A place in memory with strides of its own.
    Memref,
    /// A type that is only kept, e.g. `!tt.ptr<f16>`; its text is the encoding.
    Other,
}

/// How a tile's elements lie, as far as its type says.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TileEncoding {
    /// Not said.
    None,
    /// `#name`: look it up with [`Program::alias`](crate::Program::alias). The name is without `#`.
    Alias(TextRef),
    /// Layout text in the type itself, in one of the notations.
    Written(TextRef),
    /// A number the client gave; only the client knows what it means.
    Handle(u16),
    /// Layout text that a pass wrote: the pool's cell where it begins, and its bytes. Read it with
    /// [`Program::layout_text`](crate::Program::layout_text); equal texts are equal here.
    Interned(u16, u16),
}

/// A type. `Copy`; programs intern them, see [`TypeRef`](crate::TypeRef).
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Shape, TileEncoding, Type, TypeKind};
/// use lanebook::tables::Space;
///
/// let f16 = TABLES.dtype_named("f16").unwrap();
/// let tile = Type::tensor(Shape::of(&[64, 64]).unwrap(), f16);
/// assert!(tile.is_tile() && !tile.is_memory() && tile.kind == TypeKind::Tensor);
/// let shared = tile.in_space(Space::Shared);
/// assert!(shared.is_memory() && !shared.is_kept());
/// assert!(tile.in_space(Space::Register).is_fragment() && !shared.is_fragment());
/// assert!(Type::memref(Shape::UNKNOWN, f16, Space::Global).is_memory());
/// // A type that leaves something open agrees with one that says it.
/// assert!(Type::ELIDED.agrees(&tile) && Type::ELIDED.is_elided() && !Type::INDEX.agrees(&tile));
/// assert_eq!((Type::UNIT.kind, Type::scalar(f16).kind, Type::bare(TypeKind::Index)), (TypeKind::Unit, TypeKind::Scalar, Type::INDEX));
/// assert_eq!(tile.encoded(TileEncoding::None), tile);
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// What kind.
    pub kind: TypeKind,
    /// Element type, for `Scalar`, `Tensor`, `Memref` (`None` when elided, or when the element is
    /// `index`).
    pub dtype: Option<DtypeId>,
    /// Memory kind, when the type says it: `#gmem`, `#smem`, `#tmem`, `#fragment`, or an alias that
    /// begins so (`#smem_swizzled`).
    pub space: Option<Space>,
    /// Extents in elements.
    pub shape: Shape,
    /// Layout.
    pub encoding: TileEncoding,
    /// Text of an element type that is only kept, e.g. `!tt.ptr<f16>` (`dtype` is then `None`);
    /// empty otherwise.
    pub element: TextRef,
}

impl Type {
    /// `...`
    pub const ELIDED: Self = Self::bare(TypeKind::Elided);
    /// `()`
    pub const UNIT: Self = Self::bare(TypeKind::Unit);
    /// `index`
    pub const INDEX: Self = Self::bare(TypeKind::Index);

    /// A type of this kind and nothing else.
    #[must_use]
    pub const fn bare(kind: TypeKind) -> Self {
        Self {
            kind,
            dtype: None,
            space: None,
            shape: Shape::SCALAR,
            encoding: TileEncoding::None,
            element: TextRef::EMPTY,
        }
    }
    /// A scalar.
    #[must_use]
    pub const fn scalar(dtype: DtypeId) -> Self {
        Self { dtype: Some(dtype), ..Self::bare(TypeKind::Scalar) }
    }
    /// A tile without a memory kind.
    #[must_use]
    pub const fn tensor(shape: Shape, dtype: DtypeId) -> Self {
        Self { dtype: Some(dtype), shape, ..Self::bare(TypeKind::Tensor) }
    }
    /// A place in memory.
    #[must_use]
    pub const fn memref(shape: Shape, dtype: DtypeId, space: Space) -> Self {
        Self { dtype: Some(dtype), shape, space: Some(space), ..Self::bare(TypeKind::Memref) }
    }
    /// The same type in a memory space.
    #[must_use]
    pub const fn in_space(self, space: Space) -> Self {
        Self { space: Some(space), ..self }
    }
    /// The same type under another encoding.
    #[must_use]
    pub const fn encoded(self, encoding: TileEncoding) -> Self {
        Self { encoding, ..self }
    }
    /// Left out in the text.
    #[must_use]
    pub const fn is_elided(&self) -> bool {
        matches!(self.kind, TypeKind::Elided)
    }
    /// Kind, element type, extents and space agree, as far as both say them; layouts are not
    /// compared.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        if self.is_elided() || other.is_elided() {
            return true;
        }
        if self.kind != other.kind {
            return false;
        }
        let shapes = self.shape.is_known() && other.shape.is_known();
        !shapes
            || (self.shape == other.shape && self.dtype == other.dtype && self.space == other.space)
    }
    /// A tensor or memref.
    #[must_use]
    pub const fn is_tile(&self) -> bool {
        matches!(self.kind, TypeKind::Tensor | TypeKind::Memref)
    }
    /// A tile of elements whose type is only kept: pointers.
    #[must_use]
    pub const fn is_kept(&self) -> bool {
        self.is_tile() && !self.element.is_empty()
    }
    /// A tile of registers whose elements are addressed one by one, and whose distribution over
    /// threads is inferred.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        matches!(self.kind, TypeKind::Tensor) && matches!(self.space, Some(Space::Register))
    }
    /// Lives in memory: a memref, or a tensor in shared, global or tensor memory.
    #[must_use]
    pub const fn is_memory(&self) -> bool {
        matches!(self.kind, TypeKind::Memref)
            || (matches!(self.kind, TypeKind::Tensor)
                && matches!(self.space, Some(Space::Shared | Space::Global | Space::Tensor)))
    }
}

/// The memory kind that an encoding's name stands for: `gmem`, `smem`, `tmem`, `fragment`,
/// alone or followed by `_`.
pub(crate) fn space_of(name: &str) -> Option<(Space, bool)> {
    let (head, exact) = match name.as_bytes().iter().position(|byte| *byte == b'_') {
        Some(at) => (name.get(..at)?, false),
        None => (name, true),
    };
    SPACES.iter().find(|(_, word)| *word == head).map(|(space, _)| (*space, exact))
}

/// Memory kinds with their words.
pub(crate) const SPACES: &[(Space, &str)] = &[
    (Space::Global, "gmem"),
    (Space::Shared, "smem"),
    (Space::Tensor, "tmem"),
    (Space::Register, "fragment"),
];
