//! An inverse goes the other way.
use lanebook::layout::{Hw, Linear, Logical};

fn back(map: &Linear<Hw, Logical>) -> Linear<Hw, Logical> {
    map.pseudo_invert().unwrap()
}

fn main() {
    let _ = back(&Linear::empty());
}
