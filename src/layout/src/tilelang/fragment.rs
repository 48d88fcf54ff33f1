//! Fragments: which thread holds an element, and at which local index.

use super::{Element, GuardedInverse, LayoutBuilder, NOTHING, guarded_inverse, maps};
use crate::axis::AxisId;
use crate::error::{Error, Result};
use crate::layout::{Iter, Layout, LayoutRef, MAX_MODES, position};
use crate::num::Int;
use crate::ops::{Iters, push};

/// A map from elements to threads and local indices, with copies.
///
/// The thread is on axis `tx`, the local index on `m` and, if there are several, on numbered axes;
/// copies move the thread alone.
///
/// ```
/// use lanebook_layout::tilelang::{self, Element, Fragment};
/// use lanebook_layout::{AxisId, NoSyms, WellKnown, notation};
///
/// let of = |text: &str| notation::cute::parse(text, &WellKnown, &mut NoSyms).unwrap();
/// // 8 by 16 elements on 32 threads: columns by twos, rows by fours. The last dimension is the first mode.
/// let fragment = Fragment::new(of("((2,8),(2,4)):((1,1@tx),(2,8@tx))")).unwrap();
/// assert_eq!(fragment.shape().unwrap(), [8, 16]);
/// assert_eq!((fragment.thread_extent(), fragment.index_extent(), fragment.copies()), (Ok(32), Ok(4), Ok(1)));
/// // Row 1, column 3: row-major 19.
/// assert_eq!((fragment.forward_thread(19, 0), fragment.forward_index(19)), (Ok(1), Ok(3)));
/// assert_eq!(fragment.element(1, 3), Ok(Some(Element { flat: 19, copy: 0 })));
/// assert_eq!(fragment.inverse().unwrap().window(AxisId::TX), Some((0, 32)));
/// // The same from the threads alone: the local index counts what they leave open.
/// let threads = of("((2,8),(2,4)):((0@tx,1@tx),(0@tx,8@tx))");
/// assert_eq!(Fragment::with_threads(&threads.view()).unwrap(), fragment);
/// // Copies on further threads, and larger tiles of the same.
/// let twice = fragment.replicate(2).unwrap();
/// assert_eq!((twice.copies(), twice.thread_extent(), twice.forward_thread(19, 1)), (Ok(2), Ok(64), Ok(33)));
/// assert_eq!(twice.condense().unwrap(), twice);
/// let wider = fragment.repeat(&[1, 2], false, false).unwrap();
/// assert_eq!((wider.shape().unwrap().as_slice(), wider.index_extent()), (&[8, 32][..], Ok(8)));
/// assert_eq!(fragment.reshape(&[128], None).unwrap().shape().unwrap(), [128]);
/// assert_eq!(fragment.layout().size_value(), Ok(128));
/// // TVM's maps say thread and index as two outputs.
/// let map = of("((2,8),(2,4)):((1,1@0),(2,8@0))");
/// assert_eq!(Fragment::from_map(&map.view()).unwrap(), fragment);
/// assert_eq!(tilelang::fully_replicated(&[4, 4], 32).unwrap().copies(), Ok(32));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    layout: Layout,
}

impl Fragment {
    /// A fragment from its layout, whose modes are the dimensions, last first.
    ///
    /// # Errors
    /// [`Error::WrongAxis`] if a replica does not move the thread, or an iter moves neither thread
    /// nor index; [`Error::HasPostMap`].
    pub fn new(layout: Layout) -> Result<Self> {
        let view = layout.view();
        if !view.post.is_identity() {
            return Err(Error::HasPostMap);
        }
        for (k, it) in view.shard.iter().chain(view.replica).enumerate() {
            let index = it.axis() == AxisId::M || it.axis().as_dim().is_some();
            let fits = it.axis() == AxisId::TX || (index && k < view.shard.len());
            if !fits && !it.is_unit() {
                return Err(Error::WrongAxis { iter: position(k), axis: it.axis() });
            }
        }
        Ok(Self { layout })
    }

    /// A fragment from the map of its threads alone. The local index counts, row-major, what the
    /// thread leaves open.
    ///
    /// # Errors
    /// Those of [`Fragment::new`]; [`Error::Overflow`].
    pub fn with_threads(threads: &LayoutRef<'_>) -> Result<Self> {
        let mut b = LayoutBuilder::new();
        let mut stride = Int::ONE;
        for (mode, _) in threads.modes() {
            for it in mode {
                if it.stride() != Int::ZERO {
                    b.push(*it)?;
                    continue;
                }
                b.push(Iter::symbolic(it.extent(), stride, AxisId::M)?)?;
                stride = stride.checked_mul(it.extent())?;
            }
            b.end()?;
        }
        Self::new(b.finish(threads)?)
    }

    /// A fragment from a map whose first output is the thread (axis `@0`) and whose second is the
    /// local index.
    ///
    /// # Errors
    /// Those of [`Fragment::new`].
    pub fn from_map(l: &LayoutRef<'_>) -> Result<Self> {
        let mut b = LayoutBuilder::new();
        for (mode, _) in l.modes() {
            for it in mode {
                let axis = match it.axis().as_dim() {
                    Some(0) => AxisId::TX,
                    _ => it.axis(),
                };
                b.push(Iter::symbolic(it.extent(), it.stride(), axis)?)?;
            }
            b.end()?;
        }
        Self::new(b.finish(&NOTHING)?)
    }

    /// The layout.
    #[must_use]
    pub fn layout(&self) -> LayoutRef<'_> {
        self.layout.view()
    }

    /// The shape, first dimension first.
    ///
    /// # Errors
    /// [`Error::NeedsValue`], [`Error::Overflow`].
    pub fn shape(&self) -> Result<heapless::Vec<u32, MAX_MODES>> {
        maps::shape_of(&self.layout())
    }

    /// How many copies each element has, coinciding ones included.
    ///
    /// # Errors
    /// [`Error::NeedsValue`], [`Error::Overflow`].
    pub fn copies(&self) -> Result<u64> {
        self.layout().replica.iter().try_fold(1u64, |n, it| {
            n.checked_mul(u64::from(it.extent_value()?)).ok_or(Error::Overflow)
        })
    }

    /// The greatest thread, plus 1.
    ///
    /// # Errors
    /// [`Error::NeedsValue`], [`Error::Overflow`].
    pub fn thread_extent(&self) -> Result<i64> {
        self.layout().cosize(AxisId::TX)
    }

    /// The greatest local index (the last one, if there are several), plus 1.
    ///
    /// # Errors
    /// [`Error::NeedsValue`], [`Error::Overflow`].
    pub fn index_extent(&self) -> Result<i64> {
        self.layout().cosize(AxisId::M)
    }

    /// The thread that holds copy `copy` of the element with row-major index `flat`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an element or copy that does not exist; [`Error::Overflow`].
    pub fn forward_thread(&self, flat: u64, copy: u64) -> Result<i64> {
        let copies = self.copies()?;
        let far = Error::OutOfRange { mode: u8::MAX, coord: copy, extent: copies };
        if copy >= copies {
            return Err(far);
        }
        let mut thread = self.layout().offset_on(flat, AxisId::TX)?;
        let mut rest = copy;
        for it in self.layout().replica {
            let extent = u64::from(it.extent_value()?);
            let digit = rest.checked_rem(extent).ok_or(far)?;
            rest = rest.checked_div(extent).ok_or(far)?;
            let way = i64::try_from(digit).map_err(|_| Error::Overflow)?;
            thread = it
                .stride_value()?
                .checked_mul(way)
                .and_then(|w| thread.checked_add(w))
                .ok_or(Error::Overflow)?;
        }
        Ok(thread)
    }

    /// The local index, on the last index axis, of the element with row-major index `flat`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Overflow`].
    pub fn forward_index(&self, flat: u64) -> Result<i64> {
        self.layout().offset_on(flat, AxisId::M)
    }

    /// `count` copies of the fragment on threads of their own, one after the other.
    ///
    /// # Errors
    /// [`Error::BadExtent`] for a count of 0; [`Error::Capacity`], [`Error::Overflow`].
    pub fn replicate(&self, count: u32) -> Result<Self> {
        let threads = self.thread_extent()?;
        let mut layout = self.layout.clone();
        layout.push_replica(Iter::new(count, threads, AxisId::TX))?;
        Self::new(layout)
    }

    /// Each dimension made as many times as long as `repeats` says: more threads (`on_thread`) or
    /// more local indices. With `lower_dim_first` repetitions of the last dimension come first,
    /// else those of the first.
    ///
    /// # Errors
    /// [`Error::Rank`], [`Error::BadExtent`]; [`Error::WrongAxis`] if indices are to grow and there
    /// are several; [`Error::Capacity`], [`Error::Overflow`].
    pub fn repeat(&self, repeats: &[u32], on_thread: bool, lower_dim_first: bool) -> Result<Self> {
        let view = self.layout();
        let rank = view.rank();
        if repeats.len() != rank {
            return Err(Error::Rank { expected: position(rank), found: position(repeats.len()) });
        }
        let many = view.shard.iter().position(|it| it.axis().as_dim().is_some());
        if let (Some(k), false) = (many, on_thread) {
            let axis = view.shard.get(k).map_or(AxisId::M, Iter::axis);
            return Err(Error::WrongAxis { iter: position(k), axis });
        }
        let (axis, unit) = if on_thread {
            (AxisId::TX, self.thread_extent()?)
        } else {
            (AxisId::M, self.index_extent()?)
        };
        let mut b = LayoutBuilder::new();
        for (k, (mode, _)) in view.modes().enumerate() {
            for it in mode {
                b.push(*it)?;
            }
            // The repetitions that come before those of this dimension.
            let dim = rank.saturating_sub(k).saturating_sub(1);
            let before = if lower_dim_first {
                repeats.get(dim.saturating_add(1)..)
            } else {
                repeats.get(..dim)
            };
            let stride = before
                .unwrap_or(&[])
                .iter()
                .try_fold(unit, |s, n| s.checked_mul(i64::from(*n)).ok_or(Error::Overflow))?;
            let times = repeats.get(dim).copied().unwrap_or(1);
            if times != 1 {
                b.push(Iter::new(times, stride, axis))?;
            }
            b.end()?;
        }
        Self::new(b.finish(&view)?)
    }

    /// The fragment without copies that coincide: replicas that do not move are dropped.
    ///
    /// # Errors
    /// [`Error::Capacity`].
    pub fn condense(&self) -> Result<Self> {
        let mut moving = Iters::new();
        for it in self.layout().replica {
            if it.stride() != Int::ZERO && !it.is_unit() {
                push(&mut moving, *it)?;
            }
        }
        Self::new(Layout::from_ref(LayoutRef { replica: &moving, ..self.layout() })?)
    }

    /// See [`super::reshape`].
    ///
    /// # Errors
    /// Those of [`super::reshape`].
    pub fn reshape(&self, shape: &[u32], rescale: Option<(u32, u32)>) -> Result<Self> {
        Self::new(maps::reshape(&self.layout(), shape, rescale)?)
    }

    /// From thread (axis `tx`) and local index (axis `m`) back to the element and its copy. Threads
    /// that hold nothing, as those between the owners of `thread = 16 * i`, have none.
    ///
    /// # Errors
    /// Those of [`guarded_inverse`].
    pub fn inverse(&self) -> Result<GuardedInverse> {
        guarded_inverse(&self.layout())
    }

    /// The element and copy that `thread` holds at local index `index`.
    ///
    /// # Errors
    /// Those of [`guarded_inverse`].
    pub fn element(&self, thread: i64, index: i64) -> Result<Option<Element>> {
        let mut at = crate::coord::Coord::new();
        at.add(AxisId::TX, thread)?;
        at.add(AxisId::M, index)?;
        self.inverse()?.at(&at)
    }
}

/// A fragment that every one of `threads` threads holds whole, row-major; TileLang:
/// `make_fully_replicated_layout_fragment`.
///
/// # Errors
/// [`Error::BadExtent`], [`Error::Capacity`], [`Error::Overflow`].
pub fn fully_replicated(shape: &[u32], threads: u32) -> Result<Fragment> {
    let mut layout = maps::linear(shape)?;
    layout.push_replica(Iter::new(threads, 1, AxisId::TX))?;
    Fragment::new(layout)
}
