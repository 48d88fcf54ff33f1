//! The records in a program's pools. All links are handles; an operation costs 26 bytes and a stamp
//! beside it, a value 22, a use 12.
use crate::error::Pool;
use crate::handle::{AttrRef, Block, Op, Region, TextRef, TypeRef, Use, Value};
use crate::storage::Pools;
use heapless::VecView;
use lanebook_tables::OpId;

/// No declaration: an operation that is only kept.
pub(crate) const OPAQUE: u16 = u16::MAX;

/// When a record was last written to the undo journal, or made: see [`Pools::edit`]. Not part of
/// what the record says, so all are equal.
#[derive(Copy, Clone, Default)]
pub struct Stamp(pub u8);

impl PartialEq for Stamp {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Stamp {}

impl core::fmt::Debug for Stamp {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("_")
    }
}

/// An operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct OpData {
    pub decl: u16,
    pub block: Option<Block>,
    pub prev: Option<Op>,
    pub next: Option<Op>,
    pub first_operand: Option<Use>,
    pub last_operand: Option<Use>,
    pub first_result: Option<Value>,
    pub first_region: Option<Region>,
    pub attrs: Option<AttrRef>,
    /// Number in program order; derived, valid after `renumber`.
    pub order: u16,
    /// Name as written, for places and for operations that are only kept.
    pub name: TextRef,
}

impl OpData {
    pub const fn new(decl: Option<OpId>, name: TextRef) -> Self {
        Self {
            decl: match decl {
                Some(OpId(id)) => id,
                None => OPAQUE,
            },
            block: None,
            prev: None,
            next: None,
            first_operand: None,
            last_operand: None,
            first_result: None,
            first_region: None,
            attrs: None,
            order: 0,
            name,
        }
    }
}

/// What a value is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// On the free list.
    Free,
    Result,
    Argument,
    Literal,
}

/// A value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct ValueData {
    pub name: TextRef,
    pub ty: TypeRef,
    /// Pool index of the operation (result), block (argument); unused for a literal.
    pub owner: u16,
    /// Result or argument number.
    pub number: u16,
    /// Next result of the operation, next argument of the block.
    pub next: Option<Value>,
    pub first_use: Option<Use>,
    /// Attributes of an argument, payload of a literal.
    pub attrs: Option<AttrRef>,
    /// Next value under the same hash while a text is read.
    pub chain: Option<Value>,
    pub kind: ValueKind,
    pub stamp: Stamp,
}

/// What an operand is to its operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UseKind {
    Main,
    /// In the brackets after the main operand before it.
    Subscript,
    /// Named by an attribute.
    Attr,
}

/// One use of a value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct UseData {
    pub value: Option<Value>,
    pub owner: Op,
    /// Next operand of the operation.
    pub next: Option<Use>,
    /// Neighbours among the uses of the value.
    pub next_use: Option<Use>,
    pub prev_use: Option<Use>,
    pub kind: UseKind,
    pub stamp: Stamp,
}

/// Kind of an attribute's payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AttrKind {
    Unit,
    Int,
    Decimal,
    MinusZero,
    Hex,
    Large,
    LiteralWord,
    Str,
    Word,
    Symbol,
    Alias,
    Layout,
    List,
    Text,
    Operand,
    Handle,
}

/// An attribute, or the payload of a literal value.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AttrData {
    pub key: TextRef,
    pub next: Option<AttrRef>,
    pub ty: Option<TypeRef>,
    /// A 64-bit number in four parts, a name in three, a handle in one.
    pub payload: [u16; 4],
    pub extra: i16,
    pub kind: AttrKind,
    pub stamp: Stamp,
}

/// A region.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegionData {
    pub owner: Option<Op>,
    pub first_block: Option<Block>,
    pub next: Option<Region>,
    pub stamp: Stamp,
}

/// A block.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BlockData {
    pub region: Option<Region>,
    pub next: Option<Block>,
    pub first_op: Option<Op>,
    pub last_op: Option<Op>,
    pub first_arg: Option<Value>,
    pub stamp: Stamp,
}

/// A layout alias.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct AliasData {
    pub name: TextRef,
    pub body: TextRef,
}

/// One entry of the undo journal.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Saved {
    Op(u16, OpData),
    Value(u16, ValueData),
    Use(u16, UseData),
    Attr(u16, AttrData),
    Region(u16, RegionData),
    Block(u16, BlockData),
    /// The pool held so many records.
    Grown(Pool, u16),
    /// The pool's free list began here (pool index + 1, 0 = nowhere).
    Free(Pool, u16),
}

/// A record that lives in a pool with a free list.
pub trait Cell: Copy {
    const POOL: Pool;
    /// A record on the free list; `next` is a pool index + 1 or 0.
    fn freed(self, next: u16) -> Self;
    /// The link of a record on the free list.
    fn next_free(self) -> u16;
    fn saved(self, index: u16) -> Saved;
    fn stamp<'a>(pools: &'a mut Pools<'_>, index: usize) -> Option<&'a mut Stamp>;
    fn cells<'a>(pools: &'a Pools<'_>) -> &'a VecView<Self>;
    fn cells_mut<'a>(pools: &'a mut Pools<'_>) -> &'a mut VecView<Self>;
}

macro_rules! cell {
    ($data:ident, $kind:ident, $pool:ident, $field:ident, |$this:ident, $next:ident| $freed:expr, |$from:ident| $link:expr, |$of:ident, $at:ident| $stamp:expr) => {
        impl Cell for $data {
            const POOL: Pool = Pool::$pool;
            fn freed(self, $next: u16) -> Self {
                let $this = self;
                $freed
            }
            fn next_free(self) -> u16 {
                let $from = self;
                $link
            }
            fn saved(self, index: u16) -> Saved {
                Saved::$kind(index, self)
            }
            fn stamp<'a>($of: &'a mut Pools<'_>, $at: usize) -> Option<&'a mut Stamp> {
                $stamp
            }
            fn cells<'a>(pools: &'a Pools<'_>) -> &'a VecView<Self> {
                &*pools.$field
            }
            fn cells_mut<'a>(pools: &'a mut Pools<'_>) -> &'a mut VecView<Self> {
                &mut *pools.$field
            }
        }
    };
}
cell!(
    OpData,
    Op,
    Ops,
    ops,
    |_this, next| Self { order: next, ..Self::new(None, TextRef::EMPTY) },
    |this| this.order,
    |pools, at| pools.op_stamps.get_mut(at)
);
cell!(
    ValueData,
    Value,
    Values,
    values,
    |this, next| Self {
        kind: ValueKind::Free,
        owner: next,
        number: 0,
        next: None,
        first_use: None,
        attrs: None,
        chain: None,
        name: TextRef::EMPTY,
        ..this
    },
    |this| this.owner,
    |pools, at| Some(&mut pools.values.get_mut(at)?.stamp)
);
cell!(
    UseData,
    Use,
    Uses,
    uses,
    |this, next| Self { value: None, next: link(next), next_use: None, prev_use: None, ..this },
    |this| unlink(this.next),
    |pools, at| Some(&mut pools.uses.get_mut(at)?.stamp)
);
cell!(
    AttrData,
    Attr,
    Attrs,
    attrs,
    |this, next| Self { payload: [next, 0, 0, 0], next: None, kind: AttrKind::Unit, ..this },
    |this| {
        let [next, ..] = this.payload;
        next
    },
    |pools, at| Some(&mut pools.attrs.get_mut(at)?.stamp)
);
cell!(
    RegionData,
    Region,
    Regions,
    regions,
    |this, next| Self {
        owner: None,
        first_block: None,
        next: next.checked_sub(1).and_then(|i| Region::at(usize::from(i))),
        ..this
    },
    |this| this.next.map_or(0, |r| (r.index() as u16).wrapping_add(1)),
    |pools, at| Some(&mut pools.regions.get_mut(at)?.stamp)
);
cell!(
    BlockData,
    Block,
    Blocks,
    blocks,
    |this, next| Self {
        region: None,
        first_op: None,
        last_op: None,
        first_arg: None,
        next: next.checked_sub(1).and_then(|i| Block::at(usize::from(i))),
        ..this
    },
    |this| this.next.map_or(0, |b| (b.index() as u16).wrapping_add(1)),
    |pools, at| Some(&mut pools.blocks.get_mut(at)?.stamp)
);

fn link(next: u16) -> Option<Use> {
    next.checked_sub(1).and_then(|index| Use::at(usize::from(index)))
}

fn unlink(next: Option<Use>) -> u16 {
    next.map_or(0, |next| (next.index() as u16).wrapping_add(1))
}
