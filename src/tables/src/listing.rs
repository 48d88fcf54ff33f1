//! What atoms an architecture has, by what they are: for listings. What it can do is asked of its dispatch.
use crate::{Arch, ArchAtom, ArchId, Atom, AtomClass, AtomId, DtypeId, FeatureId, Space, Tables};

/// What atoms of a listing have in common; what is `None` may be anything.
///
/// ```
/// use lanebook::tables::{AtomClass, AtomFilter, Space};
/// let tables = &lanebook::TABLES;
/// let arch = tables.arch_named("sm_90a").unwrap();
/// let filter = AtomFilter { from: Some(Space::Shared), feature: tables.feature_named("ldmatrix"), ..AtomFilter::ALL };
/// let mut names = tables.list_atoms(Some(arch), filter).map(|(_, atom)| atom.name());
/// assert_eq!(names.next(), Some("ldmatrix.x1"));
/// let shape = AtomFilter { shape: Some([16, 8, 16]), dtypes: [tables.dtype_named("bf16"), None, None, None], ..AtomFilter::ALL };
/// assert!(tables.list_atoms(Some(arch), shape).all(|(_, atom)| atom.class == AtomClass::Matrix));
/// ```
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AtomFilter<'w> {
    /// What kind of thing they do.
    pub class: Option<AtomClass>,
    /// Some operand has this element type, for each of them.
    pub dtypes: [Option<DtypeId>; 4],
    /// Rows, columns and depth of a product.
    pub shape: Option<[u16; 3]>,
    /// They move from this space.
    pub from: Option<Space>,
    /// They move to this space.
    pub to: Option<Space>,
    /// The feature that they belong to.
    pub feature: Option<FeatureId>,
    /// What they are called, as for [`Atom::is_called`].
    pub called: Option<&'w str>,
}

impl AtomFilter<'_> {
    /// All atoms.
    pub const ALL: Self = Self {
        class: None,
        dtypes: [None; 4],
        shape: None,
        from: None,
        to: None,
        feature: None,
        called: None,
    };

    /// Whether an atom is so; of a family, whether one member has types and shape.
    #[must_use]
    pub fn takes<'a>(&self, atom: &'a Atom<'a>) -> bool {
        let space = |wanted: Option<Space>, own: Option<Space>| {
            wanted.is_none_or(|wanted| own == Some(wanted))
        };
        let moved = atom.movement;
        self.class.is_none_or(|class| class == atom.class)
            && space(self.from, moved.map(|movement| movement.from.space))
            && space(self.to, moved.map(|movement| movement.to.space))
            && self.feature.is_none_or(|feature| atom.feature() == Some(feature))
            && self.called.is_none_or(|name| atom.is_called(name))
            && self.takes_member(atom)
    }

    fn takes_member<'a>(&self, atom: &'a Atom<'a>) -> bool {
        if self.dtypes == [None; 4] && self.shape.is_none() {
            return true;
        }
        let mut members = (0..atom.instances()).filter_map(|number| atom.instance(number));
        members.any(|member| {
            let typed = |dtype: &DtypeId| {
                let mut operands = (0u8..).zip(atom.operands);
                operands.any(|(number, _)| member.dtype(number) == Some(*dtype))
            };
            let shaped =
                |shape: [u16; 3]| member.shape().is_some_and(|own| [own.m, own.n, own.k] == shape);
            self.dtypes.iter().flatten().all(typed) && self.shape.is_none_or(shaped)
        })
    }
}

impl<'a> Tables<'a> {
    /// The atoms that a filter takes, in the order of the tables: those of an architecture, or of all.
    pub fn list_atoms<'w>(
        &self,
        arch: Option<ArchId>,
        filter: AtomFilter<'w>,
    ) -> impl Iterator<Item = (AtomId, &'a Atom<'a>)> + use<'a, 'w> {
        let arch = arch.and_then(|id| self.arch(id));
        let all = (0u16..).map(AtomId).zip(self.atoms);
        all.filter(move |(id, atom)| {
            arch.is_none_or(|arch| arch.own(*id).is_some()) && filter.takes(atom)
        })
    }

    /// The atoms of an architecture with what it says of each, in the order of the tables.
    ///
    /// ```
    /// let tables = &lanebook::TABLES;
    /// let arch = tables.arch(tables.arch_named("sm_80").unwrap()).unwrap();
    /// let named = |name: &str| tables.list_own(arch).find(|(_, atom)| atom.name() == name);
    /// assert!(named("ldmatrix.x4").is_some_and(|(have, _)| have.native));
    /// ```
    pub fn list_own(
        &self,
        arch: &Arch<'a>,
    ) -> impl Iterator<Item = (ArchAtom, &'a Atom<'a>)> + use<'a> {
        let all = self.atoms;
        arch.atoms.iter().filter_map(move |have| Some((*have, all.get(have.atom.index())?)))
    }

    /// Those that are machine instructions of the architecture.
    ///
    /// ```
    /// let tables = &lanebook::TABLES;
    /// let arch = tables.arch(tables.arch_named("sm_80").unwrap()).unwrap();
    /// let own = tables.list_own(arch).filter(|(have, _)| have.native);
    /// assert!(tables.list_native(arch).map(|(id, _)| id).eq(own.map(|(have, _)| have.atom)));
    /// ```
    pub fn list_native(
        &self,
        arch: &Arch<'a>,
    ) -> impl Iterator<Item = (AtomId, &'a Atom<'a>)> + use<'a> {
        let native = self.list_own(arch).filter(|(have, _)| have.native);
        native.map(|(have, atom)| (have.atom, atom))
    }

    /// The feature with this name; in the lean tables those alone have one that facts of matrix units belong to.
    #[must_use]
    pub fn feature_named(&self, name: &str) -> Option<FeatureId> {
        let at = self.units.features.iter().position(|feature| *feature == name)?;
        u16::try_from(at).ok().map(FeatureId)
    }
}
