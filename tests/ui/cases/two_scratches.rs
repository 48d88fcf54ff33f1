//! One storage is lent to one compilation at a time.
use lanebook::compile::KernelStorage;

fn main() {
    let mut storage = KernelStorage::new();
    let first = storage.scratch();
    let second = storage.scratch();
    drop((first, second));
}
