//! Functions from layouts to layouts, numbers and truth values.
//!
//! Each answers in the place of its first argument. A function of the algebra is called from a frame that holds its answer
//! and nothing else that is large, and by its name: the proof of the stack follows calls, not tables of functions.

use crate::error::{KindOfValue, Why};
use crate::functions::QueryFunction;
use crate::text::TextSpan;
use crate::value::{ElementOrder, Placed, QueryValue};
use lanebook_layout::cute::{self, IntTuple, Tiler};
use lanebook_layout::tilelang;
use lanebook_layout::tirx::{self, facts};
use lanebook_layout::{
    AxisId, AxisNames, Error, Int, Iter, Layout, LayoutRef, Pad, Padding, PostMap, Unit, WellKnown,
    ops,
};

/// What a function of the algebra answers.
type MadeLayout = lanebook_layout::Result<Layout>;

fn at(args: &[QueryValue], number: usize) -> Result<&QueryValue, Why> {
    args.get(number).ok_or(Why::Kind { wanted: KindOfValue::Layout, found: KindOfValue::Nothing })
}

/// Whether the answer is a layout.
pub(crate) fn makes_layout(function: QueryFunction) -> bool {
    use QueryFunction as F;
    !matches!(
        function,
        F::Size
            | F::Cosize
            | F::Rank
            | F::Depth
            | F::Injective
            | F::Surjective
            | F::Runs
            | F::Congruent
    )
}

/// Applies a function that makes a layout; the answer takes the place of the first argument.
pub(crate) fn apply(
    function: QueryFunction,
    args: &mut [QueryValue],
    text: &str,
) -> Result<(), Why> {
    use QueryFunction as F;
    let elements = elements_after(function, args);
    trees(function, args)?;
    match function {
        F::Coalesce if args.len() > 1 => by_tuple(function, args, elements),
        F::Inverse => inverse(args, elements),
        F::RightInverse
        | F::LeftInverse
        | F::Flatten
        | F::Canonical
        | F::Filter
        | F::Nullspace
        | F::Coalesce => of_one(function, args, elements),
        F::BlockedProduct => paired(args, elements, false),
        F::RakedProduct => paired(args, elements, true),
        F::CommonLayout | F::Divide => of_two(function, args, elements),
        F::Compose
        | F::LogicalDivide
        | F::ZippedDivide
        | F::TiledDivide
        | F::FlatDivide
        | F::LogicalProduct
        | F::ZippedProduct
        | F::TiledProduct
        | F::FlatProduct => tiled(function, args, elements),
        F::TileToShape => tile_to_shape(args, elements),
        F::Slice | F::Dice | F::MakeOrdered | F::Identity => by_tuple(function, args, elements),
        F::MakeLayout => made(args, elements),
        F::Padded => padded(args),
        F::Complement => complement(args, elements),
        F::Recast | F::GroupModes | F::Select | F::PermuteDims => {
            by_numbers(function, args, elements)
        }
        F::DirectSum => direct_sum(args, elements),
        _ => constructed(function, args, text, elements),
    }
}

/// Puts an answer into the place of the first argument.
#[inline(never)]
fn put(args: &mut [QueryValue], made: &MadeLayout, elements: ElementOrder) -> Result<(), Why> {
    let layout = made.as_ref().map_err(|error| *error)?;
    let slot = args.first_mut().ok_or(Why::TooDeep)?;
    *slot = QueryValue::Layout(Placed { layout: layout.clone(), elements });
    Ok(())
}

/// How the elements of the answer are counted: as the first argument's where they stay in their order.
#[inline(never)]
fn elements_after(function: QueryFunction, args: &[QueryValue]) -> ElementOrder {
    use QueryFunction as F;
    let first = args.first().and_then(|value| value.placed().ok()).map(|placed| placed.elements);
    let bits = first.map_or(0, |e| e.bits);
    match function {
        F::Coalesce | F::Flatten | F::Canonical | F::Padded => first.unwrap_or_default(),
        F::DirectSum | F::PermuteDims => {
            ElementOrder { bits, row_major: true, ..ElementOrder::default() }
        }
        F::WgLocal | F::Datapath | F::RegisterTile | F::FullBank | F::HalfBank | F::QuarterBank => {
            ElementOrder { row_major: true, ..ElementOrder::default() }
        }
        _ => ElementOrder { bits, ..ElementOrder::default() },
    }
}

/// Makes numbers trees where a tree is needed.
#[inline(never)]
fn trees(function: QueryFunction, args: &mut [QueryValue]) -> Result<(), Why> {
    use QueryFunction as F;
    let places: &[usize] = match function {
        F::Identity | F::Slice | F::Dice => &[0],
        F::MakeLayout | F::MakeOrdered => &[0, 1],
        F::TileToShape => &[1, 2],
        F::Coalesce
        | F::LogicalDivide
        | F::ZippedDivide
        | F::TiledDivide
        | F::FlatDivide
        | F::LogicalProduct
        | F::ZippedProduct
        | F::TiledProduct
        | F::FlatProduct
        | F::Compose => &[1],
        _ => &[],
    };
    places.iter().try_for_each(|place| match args.get_mut(*place) {
        Some(value) => value.make_tuple(),
        None => Ok(()),
    })
}

#[inline(never)]
fn of_one(
    function: QueryFunction,
    args: &mut [QueryValue],
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let first = at(args, 0)?.layout()?;
    let made = match function {
        F::RightInverse => cute::right_inverse(&first),
        F::LeftInverse => cute::left_inverse(&first),
        F::Flatten => ops::flatten(&first),
        F::Canonical => cute::canonical(&first),
        F::Filter => cute::filter(&first),
        F::Nullspace => cute::nullspace(&first),
        _ => ops::coalesce(&first),
    };
    put(args, &made, elements)
}

#[inline(never)]
fn inverse(args: &mut [QueryValue], elements: ElementOrder) -> Result<(), Why> {
    let answer = ops::inverse(&at(args, 0)?.layout()?);
    let found = answer.as_ref().map_err(|error| *error)?;
    let slot = args.first_mut().ok_or(Why::TooDeep)?;
    if let QueryValue::Layout(placed) = slot {
        placed.layout.clone_from(&found.layout);
        placed.elements = elements;
    }
    Ok(())
}

/// A product whose modes are pairs: what it is made in is what is kept.
#[inline(never)]
fn paired(args: &mut [QueryValue], elements: ElementOrder, is_raked: bool) -> Result<(), Why> {
    let (first, second) = (at(args, 0)?.layout()?, at(args, 1)?.layout()?);
    let mut made = Ok(Layout::new());
    let fault = match &mut made {
        Ok(out) => cute::append_product(out, &first, &second, is_raked).err(),
        Err(_) => None,
    };
    if let Some(fault) = fault {
        made = Err(fault);
    }
    put(args, &made, elements)
}

#[inline(never)]
fn of_two(
    function: QueryFunction,
    args: &mut [QueryValue],
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let (first, second) = (at(args, 0)?.layout()?, at(args, 1)?.layout()?);
    let made = match function {
        F::CommonLayout => cute::max_common_layout(&first, &second),
        _ => ops::divide(&first, &second),
    };
    put(args, &made, elements)
}

#[inline(never)]
fn tiled(
    function: QueryFunction,
    args: &mut [QueryValue],
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let first = &at(args, 0)?.layout()?;
    let tiler = &match at(args, 1)? {
        QueryValue::Layout(tiler) => Tiler::Layout(tiler.layout.view()),
        QueryValue::Tiles(tree) => Tiler::Tree(tree),
        other => Tiler::Shape(other.tuple()?.view()),
    };
    let made = match function {
        F::Compose => cute::composition(first, tiler),
        F::LogicalDivide => cute::logical_divide(first, tiler),
        F::ZippedDivide => cute::zipped_divide(first, tiler),
        F::TiledDivide => cute::tiled_divide(first, tiler),
        F::FlatDivide => cute::flat_divide(first, tiler),
        F::LogicalProduct => cute::logical_product(first, tiler),
        F::ZippedProduct => cute::zipped_product(first, tiler),
        F::TiledProduct => cute::tiled_product(first, tiler),
        _ => cute::flat_product(first, tiler),
    };
    put(args, &made, elements)
}

#[inline(never)]
fn by_tuple(
    function: QueryFunction,
    args: &mut [QueryValue],
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let made = match function {
        F::Coalesce => {
            cute::coalesce_by_profile(&at(args, 0)?.layout()?, at(args, 1)?.tuple()?.view())
        }
        F::Slice => cute::slice(at(args, 0)?.tuple()?.view(), &at(args, 1)?.layout()?),
        F::Dice => cute::dice(at(args, 0)?.tuple()?.view(), &at(args, 1)?.layout()?),
        F::MakeOrdered => {
            cute::make_ordered_layout(at(args, 0)?.tuple()?.view(), at(args, 1)?.tuple()?.view())
        }
        _ => cute::make_identity_layout(at(args, 0)?.tuple()?.view()),
    };
    put(args, &made, elements)
}

/// A block repeated over a shape: the layout of the blocks first, then the block beside it. What is done to positions behind
/// the block is done behind all of them.
#[inline(never)]
fn tile_to_shape(args: &mut [QueryValue], elements: ElementOrder) -> Result<(), Why> {
    tiles(args)?;
    let post = match args.first_mut() {
        Some(QueryValue::Layout(placed)) => {
            if !placed.layout.view().offset.is_empty() {
                return Err(lanebook_layout::Error::HasOffset { axis: AxisId::M }.into());
            }
            let post = placed.layout.view().post;
            placed.layout.set_post(PostMap::None)?;
            post
        }
        _ => return Err(Why::TooDeep),
    };
    paired(args, elements, false)?;
    match args.first_mut() {
        Some(QueryValue::Layout(placed)) => Ok(placed.layout.set_post(post)?),
        _ => Err(Why::TooDeep),
    }
}

/// The layout of the blocks in the place of the shape.
#[inline(never)]
fn tiles(args: &mut [QueryValue]) -> Result<(), Why> {
    let block = at(args, 0)?.layout()?;
    let shape = at(args, 1)?.tuple()?;
    let made = match args.get(2) {
        Some(order) => cute::tiles_of(&block, shape.view(), order.tuple()?.view()),
        None => {
            let order = [0, 1, 2, 3, 4, 5, 6, 7];
            let order = order.get(..shape.view().rank().min(order.len())).unwrap_or(&[]);
            cute::tiles_of(&block, shape.view(), IntTuple::flat(order)?.view())
        }
    };
    let layout = made?;
    let value = QueryValue::Layout(Placed { layout, elements: ElementOrder::default() });
    *args.get_mut(1).ok_or(Why::TooDeep)? = value;
    Ok(())
}

/// `make_layout`: compact, or with strides.
#[inline(never)]
fn made(args: &mut [QueryValue], elements: ElementOrder) -> Result<(), Why> {
    let shape = at(args, 0)?.tuple()?;
    let made = match args.get(1) {
        Some(QueryValue::Basis(strides)) => strides.over(shape.view()),
        Some(strides) => return strided(args, strides.tuple()?.clone(), elements),
        None => cute::make_layout(shape.view()),
    };
    put(args, &made, elements)
}

/// The layout of a shape with strides of the same tree: a compact layout of the shape has the tree, and the strides take
/// the place of its own.
#[inline(never)]
fn strided(args: &mut [QueryValue], strides: IntTuple, elements: ElementOrder) -> Result<(), Why> {
    let shape = at(args, 0)?.tuple()?;
    if shape.view().tokens() != strides.view().tokens() {
        return Err(Why::Layout(Error::NotCongruent { node: 0 }));
    }
    let compact = cute::make_layout(shape.view())?;
    let view = compact.view();
    let mut iters: heapless::Vec<Iter, { lanebook_layout::MAX_ITERS }> = heapless::Vec::new();
    for (it, stride) in view.shard.iter().zip(strides.view().leaves()) {
        let made = Iter::symbolic(it.extent(), *stride, AxisId::M)?;
        iters.push(made).map_err(|_| Why::TooDeep)?;
    }
    let made = LayoutRef { profile: view.profile, ..LayoutRef::new(&iters) }.to_owned();
    put(args, &made, elements)
}

/// `A` with positions left out; further pairs are added to those that it has.
#[inline(never)]
fn padded(args: &mut [QueryValue]) -> Result<(), Why> {
    let pad = Pad { interval: at(args, 1)?.count()?, pad: at(args, 2)?.count()? };
    let post = at(args, 0)?.layout()?.post;
    let present = post.padding().map_or(&[][..], |padding| padding.pads());
    let mut pads: heapless::Vec<Pad, { lanebook_layout::MAX_PADS }> = heapless::Vec::new();
    for one in present.iter().chain([&pad]) {
        pads.push(*one).map_err(|_| Why::TooDeep)?;
    }
    let padding = Padding::new(&pads, Unit::Codomain)?;
    let both = match post.swizzle() {
        Some(swizzle) => PostMap::SwizzlePadding(swizzle, padding),
        None => PostMap::Padding(padding),
    };
    match args.first_mut() {
        Some(QueryValue::Layout(placed)) => Ok(placed.layout.set_post(both)?),
        _ => Err(Why::TooDeep),
    }
}

/// Small numbers of a tuple, or one alone.
pub(crate) fn numbers(value: &QueryValue) -> Result<heapless::Vec<u32, 16>, Why> {
    let one;
    let leaves = match value {
        QueryValue::Number(number) => {
            one = [*number];
            &one[..]
        }
        other => other.tuple()?.view().leaves(),
    };
    let mut out = heapless::Vec::new();
    for leaf in leaves {
        let number = u32::try_from(leaf.value()?).map_err(|_| Error::Overflow)?;
        out.push(number).map_err(|_| Why::TooDeep)?;
    }
    Ok(out)
}

/// The greatest position, and 1; of positions that are coordinates the size of the box that holds them.
fn cosize(l: &LayoutRef<'_>) -> Result<i64, Why> {
    let coordinates = l.shard.iter().any(|it| it.axis().is_basis());
    Ok(if coordinates { cute::cosize(l)? } else { l.cosize(AxisId::M)? })
}

/// The complement up to a size, or in a box of coordinates.
#[inline(never)]
fn complement(args: &mut [QueryValue], elements: ElementOrder) -> Result<(), Why> {
    let first = at(args, 0)?.layout()?;
    let made = match args.get(1) {
        Some(QueryValue::Tuple(shape)) => cute::complement_in(&first, shape.view()),
        _ => ops::complement(&first, bound(args)?),
    };
    put(args, &made, elements)
}

/// The size up to which a complement goes.
fn bound(args: &[QueryValue]) -> Result<Int, Why> {
    match args.get(1) {
        Some(size) => size.number(),
        None => Ok(Int::known(cosize(&at(args, 0)?.layout()?)?)),
    }
}

#[inline(never)]
fn by_numbers(
    function: QueryFunction,
    args: &mut [QueryValue],
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let small = |number: usize| -> Result<i16, Why> {
        let value = at(args, number)?.number()?.value()?;
        i16::try_from(value).map_err(|_| Why::Layout(Error::Overflow))
    };
    let first = at(args, 0)?.layout()?;
    let made = match function {
        F::Recast => {
            let bits = |number| u16::try_from(small(number)?).map_err(|_| Why::NeedsBits);
            cute::recast(&first, bits(1)?, bits(2)?)
        }
        F::GroupModes => cute::group_modes(&first, small(1)?, small(2)?),
        F::Select => {
            let mut modes: heapless::Vec<usize, 32> = heapless::Vec::new();
            for k in &numbers(at(args, 1)?)? {
                modes.push(*k as usize).map_err(|_| Why::TooDeep)?;
            }
            cute::select(&first, &modes)
        }
        _ => {
            let mut order: heapless::Vec<u8, 32> = heapless::Vec::new();
            for k in &numbers(at(args, 1)?)? {
                order.push(u8::try_from(*k).unwrap_or(u8::MAX)).map_err(|_| Why::TooDeep)?;
            }
            tirx::permute_dims(&first, &order)
        }
    };
    put(args, &made, elements)
}

#[inline(never)]
fn direct_sum(args: &mut [QueryValue], elements: ElementOrder) -> Result<(), Why> {
    let (left, right) = (numbers(at(args, 1)?)?, numbers(at(args, 3)?)?);
    let made = tirx::direct_sum(&at(args, 0)?.layout()?, &left, &at(args, 2)?.layout()?, &right);
    put(args, &made, elements)
}

/// Functions that make a layout of numbers and words.
#[inline(never)]
fn constructed(
    function: QueryFunction,
    args: &mut [QueryValue],
    text: &str,
    elements: ElementOrder,
) -> Result<(), Why> {
    use QueryFunction as F;
    let count = |number: usize| at(args, number)?.count();
    let word = |number: usize| -> Result<&str, Why> {
        match at(args, number)? {
            QueryValue::Word(span) => Ok(unquoted(*span, text)),
            other => Err(Why::Kind { wanted: KindOfValue::Word, found: other.kind() }),
        }
    };
    let made = match function {
        F::WgLocal => {
            let rows = if args.len() > 1 { count(1)? } else { 128 };
            tirx::wg_local_layout(rows, count(0)?)
        }
        F::FullBank | F::HalfBank | F::QuarterBank => {
            let vectors = match function {
                F::FullBank => 8,
                F::HalfBank => 4,
                _ => 2,
            };
            let atom = &tilelang::facts::ROW_SWIZZLE;
            tilelang::bank_swizzled(&numbers(at(args, 0)?)?, count(1)?, vectors, atom)
        }
        F::Datapath => {
            let mut letters = word(0)?.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return Err(Why::BadWord);
            };
            let path = tirx::datapath(facts::DATAPATHS, letter)?;
            let slab = if args.len() > 3 { count(3)? } else { 0 };
            tirx::tmem_datapath_layout(path, count(1)?, count(2)?, slab)
        }
        F::RegisterTile => {
            tirx::atom_layout(facts::ATOM_FORMS, word(0)?, count(1)?, count(2)?, count(3)?)
        }
        _ => return Err(Why::UnknownFunction),
    };
    put(args, &made, elements)
}

/// A word without its quotes.
pub(crate) fn unquoted(span: TextSpan, text: &str) -> &str {
    span.of(text).trim_matches(['"', '\''])
}

/// The axis that an optional argument names, `m` without it.
fn axis(args: &[QueryValue], number: usize, text: &str) -> Result<AxisId, Why> {
    match args.get(number) {
        None => Ok(AxisId::M),
        Some(QueryValue::Word(span)) => WellKnown.axis(unquoted(*span, text)).ok_or(Why::BadWord),
        Some(other) => Err(Why::Kind { wanted: KindOfValue::Word, found: other.kind() }),
    }
}

/// A number, or yes or no.
enum Measured {
    Number(Int),
    Truth(bool),
}

/// Applies a function that answers a number or yes or no.
pub(crate) fn measure(
    function: QueryFunction,
    args: &mut [QueryValue],
    text: &str,
) -> Result<(), Why> {
    let found = if function == QueryFunction::Congruent {
        Measured::Truth(congruent(args)?)
    } else {
        measured(function, args, text)?
    };
    let slot = args.first_mut().ok_or(Why::TooDeep)?;
    *slot = match found {
        Measured::Number(number) => QueryValue::Number(number),
        Measured::Truth(truth) => QueryValue::Truth(truth),
    };
    Ok(())
}

#[inline(never)]
fn congruent(args: &mut [QueryValue]) -> Result<bool, Why> {
    for value in args.iter_mut().take(2) {
        if let QueryValue::Layout(placed) = value {
            let shape = IntTuple::shape_of(&placed.layout.view())?;
            *value = QueryValue::Tuple(shape);
        }
        value.make_tuple()?;
    }
    Ok(cute::congruent(at(args, 0)?.tuple()?.view(), at(args, 1)?.tuple()?.view()))
}

#[inline(never)]
fn measured(function: QueryFunction, args: &[QueryValue], text: &str) -> Result<Measured, Why> {
    use QueryFunction as F;
    let first = at(args, 0)?.layout()?;
    let known =
        |value: u64| i64::try_from(value).map(Int::known).map_err(|_| Why::Layout(Error::Overflow));
    Ok(match function {
        F::Size => Measured::Number(first.size()?),
        F::Cosize if args.len() < 2 => Measured::Number(Int::known(cosize(&first)?)),
        F::Cosize => Measured::Number(Int::known(first.cosize(axis(args, 1, text)?)?)),
        F::Rank => Measured::Number(known(first.rank() as u64)?),
        F::Depth => Measured::Number(known(first.profile.depth() as u64)?),
        F::Injective => Measured::Truth(first.is_injective()?),
        F::Surjective => Measured::Truth(ops::is_surjective(&first)?),
        F::Runs => Measured::Number(known(ops::consecutive(&first, axis(args, 1, text)?)?)?),
        _ => return Err(Why::UnknownFunction),
    })
}
