//! The repository's tables before the vendors' assemblers, with edits.
//!
//! How an assembler is asked is `lanebook_gen::assemble`'s; here is which one these tests take, and
//! what they change.

pub mod waits;

use lanebook_gen::assemble::{self, Verdict};
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::source::Sources;
use lanebook_gen::{Compiled, Mode, compile_sources, load};
use lanebook_tables::IsaId;
use std::path::{Path, PathBuf};

/// The repository's folder.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A text in a file, and what takes its place.
pub type Edit<'a> = (&'a str, &'a str, &'a str);

/// The repository's tables with edits.
///
/// # Panics
/// If a text does not stand in its file exactly once, or the tables do not compile.
#[must_use]
pub fn tables(edits: &[Edit<'_>]) -> Compiled {
    let mut diagnostics = Diagnostics::new();
    let written = load::find(&root(), &mut diagnostics);
    let mut sources = Sources::default();
    for (_, file) in written.iter() {
        let mut text = file.text.clone();
        for (_, from, to) in edits.iter().filter(|(name, ..)| *name == file.name) {
            assert_eq!(text.matches(from).count(), 1, "{}: {from}", file.name);
            text = text.replace(from, to);
        }
        sources.add(&file.name, None, text);
    }
    compile_sources(sources, diagnostics, Mode::Draft)
        .unwrap_or_else(|failure| panic!("{}", failure.plain()))
}

/// The assembler of an instruction set: as `lanebook check` finds it, or where `.ci/run` puts it.
///
/// # Panics
/// When there is none: these tests do not pass without it.
#[must_use]
pub fn assembler(compiled: &Compiled, isa: &str) -> (IsaId, PathBuf) {
    let at =
        compiled.model.isa_names.get(isa).unwrap_or_else(|| panic!("no instruction set {isa}"));
    let named = compiled.model.isas[usize::from(at)].assembler.as_ref().expect("an assembler");
    let pythons =
        std::fs::read_dir(root().join("target/venv-nv/lib")).into_iter().flatten().flatten();
    let folders: Vec<PathBuf> =
        pythons.map(|python| python.path().join("site-packages/nvidia/cu13/bin")).collect();
    let path =
        assemble::find(named, &folders).unwrap_or_else(|why| panic!("{why}: run `.ci/run` once"));
    (IsaId(at), path)
}

/// What its assembler says of architectures of an instruction set; of all, if none is named.
#[must_use]
pub fn judged(compiled: &Compiled, isa: &str, names: &[&str]) -> Vec<Verdict> {
    let (id, path) = assembler(compiled, isa);
    let mut archs = assemble::archs(compiled, id);
    archs.retain(|at| names.is_empty() || names.contains(&compiled.model.archs[*at].name.as_str()));
    assert!(names.is_empty() || archs.len() == names.len(), "{names:?}");
    assemble::judge(compiled, id, &path, &archs)
}

/// Differences as lines: architecture, atom, what is wrong, the text.
#[must_use]
pub fn lines(compiled: &Compiled, verdicts: &[Verdict]) -> Vec<String> {
    let mut out = Vec::new();
    for verdict in verdicts {
        let arch = compiled.model.archs[verdict.arch].name.as_str();
        if let Err(why) = &verdict.judged {
            out.push(format!("{arch} not judged: {why:?}"));
        }
        for one in &verdict.differences {
            let atom = &compiled.model.atoms[one.atom.index()].name.value;
            let what = one.refused.as_ref().map_or("taken and not claimed".to_string(), |said| {
                format!("claimed and refused ({said})")
            });
            out.push(format!("{arch} {atom} {what}: {}", one.text));
        }
    }
    out
}
