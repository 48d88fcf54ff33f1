//! Perfect-hash name maps, in the form that `lanebook_tables::NameMap` looks up.
use lanebook_tables::NameMap;
use phf_generator::HashState;

/// A name map that owns its slices.
#[derive(Clone, Debug, Default)]
pub struct OwnedNameMap {
    /// Hash key.
    pub key: u64,
    /// Displacements.
    pub displacements: Vec<(u32, u32)>,
    /// Names with their ids, in hash order.
    pub entries: Vec<(String, u16)>,
}

/// A perfect hash of distinct names. The same names in the same order always give the same map.
///
/// # Panics
/// If a name stands twice: the caller declares names once (see [`crate::model::Names`]).
#[must_use]
pub fn perfect(names: &[(&str, u16)]) -> OwnedNameMap {
    if names.is_empty() {
        return OwnedNameMap::default();
    }
    let mut sorted: Vec<(&str, u16)> = names.to_vec();
    sorted.sort_unstable();
    assert!(sorted.windows(2).all(|pair| pair[0].0 != pair[1].0), "a name stands twice");
    let keys: Vec<&str> = sorted.iter().map(|(name, _)| *name).collect();
    let HashState { key, disps, map } = phf_generator::generate_hash(&keys);
    let entries = map.iter().map(|at| (sorted[*at].0.to_string(), sorted[*at].1)).collect();
    OwnedNameMap { key, displacements: disps, entries }
}

impl OwnedNameMap {
    /// The map with its slices leaked.
    #[must_use]
    pub fn leak(&self) -> NameMap<'static> {
        let entries: Vec<(&'static str, u16)> = self.entries.iter().map(|(name, id)| (&*String::leak(name.clone()), *id)).collect();
        NameMap { key: self.key, displacements: Vec::leak(self.displacements.clone()), entries: Vec::leak(entries) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_name_and_no_other() {
        for count in [1usize, 2, 3, 5, 17, 100, 1000] {
            let names: Vec<String> = (0..count).map(|n| format!("atom.{n}.x{}", n * n)).collect();
            let list: Vec<(&str, u16)> = names.iter().map(String::as_str).zip(0..).collect();
            let map = perfect(&list).leak();
            for (name, id) in &list {
                assert_eq!(map.get(name), Some(*id));
                assert_eq!(map.get(&format!("{name}x")), None);
            }
            assert_eq!(map.get(""), None);
        }
    }

    #[test]
    fn order_of_names_does_not_matter() {
        let (a, b) = (perfect(&[("x", 1), ("y", 2), ("z", 3)]), perfect(&[("z", 3), ("x", 1), ("y", 2)]));
        assert_eq!((a.key, &a.displacements, &a.entries), (b.key, &b.displacements, &b.entries));
    }

    #[test]
    fn empty_and_damaged_maps_find_nothing() {
        assert_eq!(perfect(&[]).leak().get("x"), None);
        assert_eq!(NameMap::EMPTY.get("x"), None);
        let damaged = NameMap { key: 7, displacements: &[(1, 2)], entries: &[] };
        assert_eq!(damaged.get("x"), None);
        let damaged = NameMap { key: 7, displacements: &[], entries: &[("x", 0)] };
        assert_eq!(damaged.get("x"), None);
    }
}
