//! Perfect-hash name maps, in the form that `lanebook_tables::NameMap` looks up.
use lanebook_tables::{Hashes, NameMap, name_hash};
use phf_generator::HashState;

/// A name map that owns its slices.
#[derive(Clone, Debug, Default)]
pub struct OwnedNameMap {
    /// Hash key.
    pub key: u64,
    /// Displacements.
    pub displacements: Vec<(u16, u16)>,
    /// Ids in hash order.
    pub ids: Vec<u16>,
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
    let HashState { key, disps, map } =
        phf_generator::generate_hash_with_hash_fn(&keys, |name, seed| with(name_hash(name, *seed)));
    // Both are below the number of names, which an id counts.
    let displacements = disps.iter().map(|(a, b)| (*a as u16, *b as u16)).collect();
    OwnedNameMap { key, displacements, ids: map.iter().map(|at| sorted[*at].1).collect() }
}

/// Our hashes as phf's generator takes them: it does not let others make the record, but change it.
pub(crate) fn with(ours: Hashes) -> phf_shared::Hashes {
    let mut hashes = phf_shared::hash(&0u8, &0);
    (hashes.g, hashes.f1, hashes.f2) = (ours.bucket, ours.first, ours.second);
    hashes
}

impl OwnedNameMap {
    /// The map with its slices leaked.
    #[must_use]
    pub fn leak(&self) -> NameMap<'static> {
        NameMap::new(self.key, Vec::leak(self.displacements.clone()), Vec::leak(self.ids.clone()))
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
            let get =
                |name: &str| map.get(name, |id| names.get(usize::from(id)).map(String::as_str));
            for (name, id) in &list {
                assert_eq!(get(name), Some(*id));
                assert_eq!(get(&format!("{name}x")), None);
            }
            assert_eq!(get(""), None);
        }
    }

    #[test]
    fn order_of_names_does_not_matter() {
        let (a, b) =
            (perfect(&[("x", 1), ("y", 2), ("z", 3)]), perfect(&[("z", 3), ("x", 1), ("y", 2)]));
        assert_eq!((a.key, &a.displacements, &a.ids), (b.key, &b.displacements, &b.ids));
    }

    #[test]
    fn empty_and_damaged_maps_find_nothing() {
        let get = |map: NameMap<'_>| map.get("x", |_| Some("x"));
        assert_eq!(get(perfect(&[]).leak()), None);
        assert_eq!(get(NameMap::EMPTY), None);
        assert_eq!(get(NameMap::new(7, &[(1, 2)], &[])), None);
        assert_eq!(get(NameMap::new(7, &[], &[0])), None);
        // No name where the id leads.
        assert_eq!(NameMap::new(7, &[(0, 0)], &[3]).get("x", |_| None), None);
    }
}
