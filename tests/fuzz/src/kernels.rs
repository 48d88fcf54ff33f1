//! Whole compilations: an arbitrary program on an arbitrary architecture, in storage that the
//! programs before it used, is what it is in fresh storage, and the library's checkers agree with
//! it.

use lanebook::TABLES;
use lanebook_kernels::Workshop;
use lanebook_kernels::hunt::choices::Choices;
use lanebook_kernels::hunt::kinds::{KINDS, generate};
use lanebook_kernels::hunt::verdict::Built;
use std::cell::RefCell;

thread_local! {
    static USED: RefCell<Workshop> = RefCell::default();
}

/// What compiling answered, as text.
fn answer(workshop: &mut Workshop, text: &str, arch: &str) -> String {
    match workshop.build(text, arch) {
        Built::Kernel(kernel) => {
            assert_eq!(kernel.checked, Ok(()), "{arch}\n{text}\n{}", kernel.text);
            kernel.text
        }
        Built::Refused(why) => why,
        Built::Broken(symptom) => panic!("{arch}: {symptom:?}\n{text}"),
    }
}

/// The first byte is the kind, the second the architecture, the others are the generator's choices.
pub fn compile(data: &[u8]) {
    let (kind, arch) = (data.first().copied().unwrap_or(0), data.get(1).copied().unwrap_or(0));
    let kind = KINDS[usize::from(kind) % KINDS.len()].0;
    let Some(arch) = TABLES.archs.get(usize::from(arch) % TABLES.archs.len()) else { return };
    let Some(program) = generate(kind, Choices::bytes(data.get(2..).unwrap_or(&[]))) else {
        return;
    };
    let text = program.text("f");
    let used = USED.with_borrow_mut(|used| answer(used, &text, arch.name));
    let fresh = answer(&mut Workshop::default(), &text, arch.name);
    assert_eq!(used, fresh, "{}\n{text}", arch.name);
}
