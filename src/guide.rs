//! The guide: short pages, each about one thing to do.
//!
//! Pages lie in `docs/`. Their Rust is run as tests of this module; the commands on them, with what
//! they print, by the command's own tests.

/// Defines a module a page, where documentation or its tests are made.
macro_rules! pages {
    ($($page:ident: $file:literal, $about:literal;)*) => {
        $(#[cfg(any(doc, doctest))]
        #[doc = $about]
        #[doc = ""]
        #[doc = include_str!($file)]
        pub mod $page {})*
    };
}

pages! {
    elements: "../docs/elements.md", "Where an element is, and what is somewhere.";
    conflicts: "../docs/conflicts.md", "Conflicts of an access, and layouts without them.";
    linting: "../docs/linting.md", "What is costly or wrong in a program, line by line.";
    asking: "../docs/asking.md", "The query language.";
    launching: "../docs/launching.md", "From text to a launch, in Rust, C and Python.";
    converting: "../docs/converting.md", "Snippets: one conversion or movement by itself.";
    tiles: "../docs/tiles.md", "What a tile program looks like.";
    loops: "../docs/loops.md", "Parallel loops and how their layouts are inferred.";
    reports: "../docs/reports.md", "What `compile` says beside the kernel.";
    adding: "../docs/adding.md", "Facts: atoms, architectures, instruction sets.";
    rules: "../docs/rules.md", "Rewrite rules and their proofs.";
    embedding: "../docs/embedding.md", "Memory, `LANEBOOK_ARCHS`, errors, linking.";
    versions: "../docs/versions.md", "What stays between versions, and the least Rust.";
    peers: "../docs/peers.md", "What Triton, CuTe, TIRx and TileLang call it.";
}

/// The README's samples.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub mod readme {}
