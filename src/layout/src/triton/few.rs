//! A short list by value.

use super::EncodingError;
use core::fmt;

/// At most `N` items, held in place and `Copy`; more is [`EncodingError::TooMany`].
///
/// ```
/// use lanebook_layout::triton::Few;
///
/// let mut order: Few<u8, 2> = Few::new();
/// order.push(1).unwrap();
/// order.push(0).unwrap();
/// assert_eq!((order.as_slice(), order.get(0)), (&[1, 0][..], Some(1)));
/// assert!(order.push(2).is_err());
/// ```
///
/// ```
/// use lanebook_layout::triton::Few;
///
/// let mut few: Few<u8, 4> = Few::from_slice(&[3, 1]).unwrap();
/// few.insert(1, 2).unwrap();
/// assert_eq!((few.len(), few.is_empty(), few.as_slice()), (3, false, &[3, 2, 1][..]));
/// few.as_mut_slice()[0] = 9;
/// assert_eq!((few.remove(0), few.iter().sum::<u8>()), (Some(9), 3));
/// ```
#[derive(Clone, Copy)]
pub struct Few<T, const N: usize> {
    items: [T; N],
    len: u8,
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// No item.
    #[must_use]
    pub fn new() -> Self {
        Self { items: [T::default(); N], len: 0 }
    }

    /// These items.
    ///
    /// # Errors
    /// [`EncodingError::TooMany`].
    pub fn from_slice(items: &[T]) -> Result<Self, EncodingError> {
        let mut out = Self::new();
        for item in items {
            out.push(*item)?;
        }
        Ok(out)
    }

    /// Appends an item.
    ///
    /// # Errors
    /// [`EncodingError::TooMany`].
    pub fn push(&mut self, item: T) -> Result<(), EncodingError> {
        let max = u16::try_from(N).unwrap_or(u16::MAX);
        let slot =
            self.items.get_mut(usize::from(self.len)).ok_or(EncodingError::TooMany { max })?;
        *slot = item;
        self.len = self.len.saturating_add(1);
        Ok(())
    }

    /// Puts an item before position `at` (at the end, if that is beyond it).
    ///
    /// # Errors
    /// [`EncodingError::TooMany`].
    pub fn insert(&mut self, at: usize, item: T) -> Result<(), EncodingError> {
        self.push(item)?;
        let mut carried = item;
        for slot in self.as_mut_slice().iter_mut().skip(at) {
            core::mem::swap(slot, &mut carried);
        }
        Ok(())
    }

    /// Takes the item at position `at` out.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        let found = self.get(at)?;
        let mut carried = found;
        for slot in self.as_mut_slice().iter_mut().skip(at).rev() {
            core::mem::swap(slot, &mut carried);
        }
        self.len = self.len.saturating_sub(1);
        Some(found)
    }

    /// The item at position `at`.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<T> {
        self.as_slice().get(at).copied()
    }

    /// The items in order.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        self.items.get(..usize::from(self.len)).unwrap_or(&[])
    }

    /// The items in order.
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        self.items.get_mut(..usize::from(self.len)).unwrap_or(&mut [])
    }

    /// The items in order, by value.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + ExactSizeIterator + Clone + '_ {
        self.as_slice().iter().copied()
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy + Default + PartialEq, const N: usize> PartialEq for Few<T, N> {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Copy + Default + Eq, const N: usize> Eq for Few<T, N> {}

impl<T: Copy + Default + fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}
