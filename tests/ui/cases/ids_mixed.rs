//! The number of an atom is no number of an architecture, nor the other way about.
use lanebook::tables::{ArchId, AtomId, ClassId};

fn arch(atom: AtomId) -> ArchId {
    atom
}

fn main() {
    let class: ClassId = arch(AtomId(0));
    let _ = class;
}
