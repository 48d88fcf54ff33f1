//! Functions from layouts to layouts, numbers and truth values.
//!
//! Each answers in the place of its first argument. Large values are made in functions of their own, so that the stack
//! holds one at a time.

use crate::error::{KindOfValue, Why};
use crate::functions::QueryFunction;
use crate::text::TextSpan;
use crate::value::{ElementOrder, Placed, QueryValue};
use lanebook_layout::cute::{self, IntTuple, Tiler};
use lanebook_layout::tilelang;
use lanebook_layout::tirx::{self, facts};
use lanebook_layout::{
    AxisId, AxisNames, Int, Iter, Layout, LayoutRef, Pad, Padding, PostMap, Unit, WellKnown, ops,
};

type MadeLayout = Result<Layout, Why>;

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
    let elements = elements_after(function, args);
    let layout = match arity_one(function, args)? {
        Some(layout) => layout,
        None => match of_two(function, args)? {
            Some(layout) => layout,
            None => by_shape(function, args, text)?,
        },
    };
    put(args, layout, elements)
}

#[inline(never)]
fn put(args: &mut [QueryValue], layout: Layout, elements: ElementOrder) -> Result<(), Why> {
    *args.first_mut().ok_or(Why::TooDeep)? = QueryValue::Layout(Placed { layout, elements });
    Ok(())
}

/// How the elements of the answer are counted: as the first argument's where they stay in their order.
fn elements_after(function: QueryFunction, args: &[QueryValue]) -> ElementOrder {
    use QueryFunction as F;
    let first = args.first().and_then(|value| value.placed().ok()).map(|placed| placed.elements);
    let tirx = ElementOrder { row_major: true, ..ElementOrder::default() };
    match function {
        F::Coalesce | F::Flatten | F::Canonical | F::Canonicalize | F::Padded => {
            first.unwrap_or_default()
        }
        F::DirectSum | F::TileTo | F::PermuteDims => {
            ElementOrder { bits: first.map_or(0, |e| e.bits), ..tirx }
        }
        F::WgLocal | F::Datapath | F::RegisterTile => tirx,
        F::FullBank | F::HalfBank | F::QuarterBank => tirx,
        _ => ElementOrder { bits: first.map_or(0, |e| e.bits), ..ElementOrder::default() },
    }
}

/// Functions of one layout. Each is called by its name: a table of them would hide from the proof of the stack what is
/// called.
#[inline(never)]
fn arity_one(function: QueryFunction, args: &[QueryValue]) -> Result<Option<Layout>, Why> {
    use QueryFunction as F;
    if function == F::Coalesce && args.len() > 1 {
        return Ok(None);
    }
    let first = match args.first() {
        Some(QueryValue::Layout(placed)) => placed.layout.view(),
        _ => return Ok(None),
    };
    let made = match function {
        F::RightInverse => ops::right_inverse(&first),
        F::LeftInverse => ops::left_inverse(&first),
        F::Flatten => ops::flatten(&first),
        F::Canonical => cute::canonical(&first),
        F::Canonicalize => tirx::canonicalize(&first),
        F::Filter => cute::filter(&first),
        F::Nullspace => cute::nullspace(&first),
        F::Coalesce => ops::coalesce(&first),
        F::Inverse => ops::inverse(&first).map(|found| found.layout),
        _ => return Ok(None),
    };
    Ok(Some(made?))
}

#[inline(never)]
fn of_two(function: QueryFunction, args: &[QueryValue]) -> Result<Option<Layout>, Why> {
    use QueryFunction as F;
    if !matches!(function, F::CommonLayout | F::BlockedProduct | F::RakedProduct | F::Divide) {
        return tiled(function, args);
    }
    let (first, second) = (at(args, 0)?.layout()?, at(args, 1)?.layout()?);
    let made = match function {
        F::CommonLayout => cute::max_common_layout(&first, &second),
        F::BlockedProduct => cute::blocked_product(&first, &second),
        F::RakedProduct => cute::raked_product(&first, &second),
        _ => ops::divide(&first, &second),
    };
    Ok(Some(made?))
}

#[inline(never)]
fn tiled(function: QueryFunction, args: &[QueryValue]) -> Result<Option<Layout>, Why> {
    use QueryFunction as F;
    if !matches!(
        function,
        F::Compose
            | F::LogicalDivide
            | F::ZippedDivide
            | F::TiledDivide
            | F::FlatDivide
            | F::LogicalProduct
            | F::ZippedProduct
            | F::TiledProduct
            | F::FlatProduct
    ) {
        return Ok(None);
    }
    let first = at(args, 0)?.layout()?;
    match at(args, 1)? {
        QueryValue::Layout(tiler) => {
            by_tiler(function, &first, &Tiler::Layout(tiler.layout.view()))
        }
        QueryValue::Tuple(shape) => by_tiler(function, &first, &Tiler::Shape(shape.view())),
        QueryValue::Number(_) => {
            by_tiler(function, &first, &Tiler::Shape(at(args, 1)?.tuple()?.view()))
        }
        other => Err(Why::Kind { wanted: KindOfValue::Layout, found: other.kind() }),
    }
}

#[inline(never)]
fn by_tiler(
    function: QueryFunction,
    first: &LayoutRef<'_>,
    tiler: &Tiler<'_>,
) -> Result<Option<Layout>, Why> {
    use QueryFunction as F;
    let made = match function {
        F::Compose => cute::composition(first, tiler),
        F::LogicalDivide => cute::logical_divide(first, tiler),
        F::ZippedDivide => cute::zipped_divide(first, tiler),
        F::TiledDivide => cute::tiled_divide(first, tiler),
        F::FlatDivide => cute::flat_divide(first, tiler),
        F::LogicalProduct => cute::logical_product(first, tiler),
        F::ZippedProduct => cute::zipped_product(first, tiler),
        F::TiledProduct => cute::tiled_product(first, tiler),
        F::FlatProduct => cute::flat_product(first, tiler),
        _ => return Ok(None),
    };
    Ok(Some(made?))
}

#[inline(never)]
fn by_shape(function: QueryFunction, args: &[QueryValue], text: &str) -> MadeLayout {
    use QueryFunction as F;
    let small = |number: usize| -> Result<i16, Why> {
        let value = at(args, number)?.number()?.value()?;
        i16::try_from(value).map_err(|_| Why::Layout(lanebook_layout::Error::Overflow))
    };
    match function {
        F::Complement => complement(args),
        F::Coalesce => {
            Ok(cute::coalesce_by_profile(&at(args, 0)?.layout()?, at(args, 1)?.tuple()?.view())?)
        }
        F::Recast => {
            let bits = |number| u16::try_from(small(number)?).map_err(|_| Why::NeedsBits);
            Ok(cute::recast(&at(args, 0)?.layout()?, bits(1)?, bits(2)?)?)
        }
        F::GroupModes => Ok(cute::group_modes(&at(args, 0)?.layout()?, small(1)?, small(2)?)?),
        F::Slice => Ok(cute::slice(at(args, 0)?.tuple()?.view(), &at(args, 1)?.layout()?)?),
        F::Dice => Ok(cute::dice(at(args, 0)?.tuple()?.view(), &at(args, 1)?.layout()?)?),
        F::MakeLayout => match args.get(1) {
            Some(QueryValue::Basis(strides)) => Ok(strides.over(at(args, 0)?.tuple()?.view())?),
            Some(strides) => Ok(strided(&at(args, 0)?.tuple()?, &strides.tuple()?)?),
            None => Ok(cute::make_layout(at(args, 0)?.tuple()?.view())?),
        },
        F::MakeOrdered => Ok(cute::make_ordered_layout(
            at(args, 0)?.tuple()?.view(),
            at(args, 1)?.tuple()?.view(),
        )?),
        F::Identity => Ok(cute::make_identity_layout(at(args, 0)?.tuple()?.view())?),
        F::Padded => padded(args),
        _ => by_numbers(function, args, text),
    }
}

#[inline(never)]
fn complement(args: &[QueryValue]) -> MadeLayout {
    let first = at(args, 0)?.layout()?;
    let bound = match args.get(1) {
        Some(QueryValue::Tuple(shape)) => shape.view().product()?,
        Some(size) => size.number()?,
        None => Int::known(first.cosize(AxisId::M)?),
    };
    Ok(ops::complement(&first, bound)?)
}

/// `A` with positions left out; further pairs are added to those that it has.
#[inline(never)]
fn padded(args: &[QueryValue]) -> MadeLayout {
    let mut out = at(args, 0)?.placed()?.layout.clone();
    let pad = Pad { interval: at(args, 1)?.count()?, pad: at(args, 2)?.count()? };
    let post = out.view().post;
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
    out.set_post(both)?;
    Ok(out)
}

/// The layout of a shape with strides of the same tree.
fn strided(shape: &IntTuple, strides: &IntTuple) -> MadeLayout {
    if shape.view().tokens() != strides.view().tokens() {
        return Err(Why::Layout(lanebook_layout::Error::NotCongruent { node: 0 }));
    }
    // A compact layout of the shape has the tree; the strides take the place of its own.
    let compact = cute::make_layout(shape.view())?;
    let view = compact.view();
    let mut iters: heapless::Vec<Iter, { lanebook_layout::MAX_ITERS }> = heapless::Vec::new();
    for (it, stride) in view.shard.iter().zip(strides.view().leaves()) {
        let made = Iter::symbolic(it.extent(), *stride, AxisId::M)?;
        iters.push(made).map_err(|_| Why::TooDeep)?;
    }
    Ok(LayoutRef { profile: view.profile, ..LayoutRef::new(&iters) }.to_owned()?)
}

/// The order in which the first of `rank` modes is the fastest.
fn first_fastest(rank: usize) -> Result<IntTuple, Why> {
    let mut out = IntTuple::new();
    out.open()?;
    for k in 0..rank {
        out.push_leaf(Int::known(i64::try_from(k).unwrap_or(i64::MAX)))?;
    }
    out.close()?;
    Ok(out)
}

/// Small numbers of a tuple.
fn numbers(value: &QueryValue) -> Result<heapless::Vec<u32, 32>, Why> {
    let tuple: IntTuple = value.tuple()?;
    let mut out = heapless::Vec::new();
    for leaf in tuple.view().leaves() {
        let number = u32::try_from(leaf.value()?).map_err(|_| lanebook_layout::Error::Overflow)?;
        out.push(number).map_err(|_| Why::TooDeep)?;
    }
    Ok(out)
}

#[inline(never)]
fn by_numbers(function: QueryFunction, args: &[QueryValue], text: &str) -> MadeLayout {
    use QueryFunction as F;
    let count = |number: usize| at(args, number)?.count();
    let word = |number: usize| -> Result<&str, Why> {
        match at(args, number)? {
            QueryValue::Word(span) => Ok(unquoted(*span, text)),
            other => Err(Why::Kind { wanted: KindOfValue::Word, found: other.kind() }),
        }
    };
    match function {
        F::Select => {
            let chosen = numbers(at(args, 1)?)?;
            let mut modes: heapless::Vec<usize, 32> = heapless::Vec::new();
            for k in &chosen {
                modes.push(*k as usize).map_err(|_| Why::TooDeep)?;
            }
            Ok(cute::select(&at(args, 0)?.layout()?, &modes)?)
        }
        F::PermuteDims => {
            let chosen = numbers(at(args, 1)?)?;
            let mut order: heapless::Vec<u8, 32> = heapless::Vec::new();
            for k in &chosen {
                order.push(u8::try_from(*k).unwrap_or(u8::MAX)).map_err(|_| Why::TooDeep)?;
            }
            Ok(tirx::permute_dims(&at(args, 0)?.layout()?, &order)?)
        }
        F::TileTo => Ok(tirx::tile_to(
            &at(args, 0)?.layout()?,
            &numbers(at(args, 1)?)?,
            &numbers(at(args, 2)?)?,
        )?),
        F::TileToShape => {
            let shape = at(args, 1)?.tuple()?;
            let order = match args.get(2) {
                Some(order) => order.tuple()?,
                None => first_fastest(shape.view().rank())?,
            };
            Ok(cute::tile_to_shape(&at(args, 0)?.layout()?, shape.view(), order.view())?)
        }
        F::DirectSum => {
            let (left, right) = (at(args, 0)?.layout()?, at(args, 2)?.layout()?);
            Ok(tirx::direct_sum(&left, &numbers(at(args, 1)?)?, &right, &numbers(at(args, 3)?)?)?)
        }
        F::WgLocal => {
            let rows = if args.len() > 1 { count(1)? } else { 128 };
            Ok(tirx::wg_local_layout(rows, count(0)?)?)
        }
        F::FullBank | F::HalfBank | F::QuarterBank => {
            let vectors = match function {
                F::FullBank => 8,
                F::HalfBank => 4,
                _ => 2,
            };
            let shape = numbers(at(args, 0)?)?;
            let atom = &tilelang::facts::ROW_SWIZZLE;
            Ok(tilelang::bank_swizzled(&shape, count(1)?, vectors, atom)?)
        }
        F::Datapath => {
            let letter = word(0)?.chars().next().ok_or(Why::BadWord)?;
            let path = tirx::datapath(facts::DATAPATHS, letter)?;
            let slab = if args.len() > 3 { count(3)? } else { 0 };
            Ok(tirx::tmem_datapath_layout(path, count(1)?, count(2)?, slab)?)
        }
        F::RegisterTile => {
            Ok(tirx::atom_layout(facts::ATOM_FORMS, word(0)?, count(1)?, count(2)?, count(3)?)?)
        }
        _ => Err(Why::UnknownFunction),
    }
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

/// Applies a function that answers a number or yes or no.
#[inline(never)]
pub(crate) fn measure(
    function: QueryFunction,
    args: &[QueryValue],
    text: &str,
) -> Result<QueryValue, Why> {
    use QueryFunction as F;
    if function == F::Congruent {
        let (a, b) = (shape(at(args, 0)?)?, shape(at(args, 1)?)?);
        return Ok(QueryValue::Truth(cute::congruent(a.view(), b.view())));
    }
    let first = at(args, 0)?.layout()?;
    let known = |value: u64| {
        i64::try_from(value)
            .map(Int::known)
            .map_err(|_| Why::Layout(lanebook_layout::Error::Overflow))
    };
    Ok(match function {
        F::Size => QueryValue::Number(first.size()?),
        F::Cosize => QueryValue::Number(Int::known(first.cosize(axis(args, 1, text)?)?)),
        F::Rank => QueryValue::Number(known(first.rank() as u64)?),
        F::Depth => QueryValue::Number(known(first.profile.depth() as u64)?),
        F::Injective => QueryValue::Truth(first.is_injective()?),
        F::Surjective => QueryValue::Truth(ops::is_surjective(&first)?),
        F::Runs => QueryValue::Number(known(ops::consecutive(&first, axis(args, 1, text)?)?)?),
        _ => return Err(Why::UnknownFunction),
    })
}

fn shape(value: &QueryValue) -> Result<IntTuple, Why> {
    match value {
        QueryValue::Layout(placed) => Ok(IntTuple::shape_of(&placed.layout.view())?),
        other => other.tuple(),
    }
}
