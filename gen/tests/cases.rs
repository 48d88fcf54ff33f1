//! Every error of the compiler: `cases/NAME.ron` beside the diagnostics it gives,
//! `cases/NAME.stderr`.
//!
//! `audit/` and `beside/` hold cases of the audit and of rule sets from outside. A case is a file
//! added to the sound little tables in `base/`, or several, each after a line `// file: PATH`,
//! which may also put one in the place of a file there. `LANEBOOK_BLESS=1 cargo test -p
//! lanebook-gen` writes the expected texts.
use lanebook_gen::audit::example::split;
use lanebook_gen::diagnostics::Diagnostics;
use lanebook_gen::source::Sources;
use lanebook_gen::{Compiled, Failure, Mode, compile, compile_sources, ledger, load};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

/// The base tables by name, with files added or replaced.
fn with(case: &[(String, String)]) -> Sources {
    let mut diags = Diagnostics::new();
    let base = load::find(&folder("base"), &mut diags);
    assert!(diags.is_empty());
    let mut files: BTreeMap<String, String> =
        base.iter().map(|(_, f)| (f.name.clone(), f.text.clone())).collect();
    files.extend(case.iter().cloned());
    let mut sources = Sources::default();
    for (name, text) in files {
        sources.add(&name, None, text);
    }
    sources
}

fn build(files: &[(&str, &str)]) -> Result<Compiled, Failure> {
    let files: Vec<(String, String)> =
        files.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    build_files(&files)
}

fn build_files(files: &[(String, String)]) -> Result<Compiled, Failure> {
    let ledger = files.iter().any(|(name, _)| name == load::LEDGER);
    compile_sources(
        with(files),
        Diagnostics::new(),
        if ledger { Mode::Release } else { Mode::Draft },
    )
}

/// Files of a folder with this ending, in order.
fn files(name: &str, ending: &str) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ext| ext == ending));
    paths.sort();
    paths
}

/// What is wrong with a case of the compiler.
fn refused(files: &[(String, String)]) -> (Sources, Diagnostics) {
    match build_files(files) {
        Ok(compiled) => (compiled.sources, Diagnostics::new()),
        Err(failure) => (failure.sources, failure.diagnostics),
    }
}

/// What the audit finds in the files of a case, and of one with errors these and what it finds in
/// the sound part.
fn audited(files: &[(String, String)]) -> (Sources, Diagnostics) {
    let (sources, all) = match build_files(files) {
        Ok(compiled) => {
            let all = lanebook_gen::audit::run(&compiled);
            (compiled.sources, all)
        }
        Err(failure) => {
            let mut all = failure.diagnostics;
            all.extend(lanebook_gen::audit::run_part(&failure.sound.expect("a sound part")));
            (failure.sources, all)
        }
    };
    let mut found = Diagnostics::new();
    for one in all.iter() {
        if one.labels.is_empty()
            || one.labels.iter().any(|label| {
                files.iter().any(|(name, _)| sources.file(label.span.file).name == *name)
            })
        {
            found.push(one.clone());
        }
    }
    (sources, found)
}

/// What is wrong with a set of rules that is to be used beside tables with this repository's
/// operations.
fn beside(files: &[(String, String)]) -> (Sources, Diagnostics) {
    let ops =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/ops.ron")).unwrap();
    let tables = build(&[("rules/ops.ron", &ops)])
        .unwrap_or_else(|failure| panic!("{}", failure.full()))
        .tables();
    match lanebook_gen::beside::compile(&tables, "set.ron", None, &files[0].1) {
        Ok(set) => (set.sources, Diagnostics::new()),
        Err(failure) => (failure.sources, failure.diagnostics),
    }
}

/// Runs every case of a folder and compares what it says; everything that was said.
fn run_cases(
    name: &str,
    said: impl Fn(&[(String, String)]) -> (Sources, Diagnostics),
) -> Vec<Diagnostics> {
    let bless = std::env::var_os("LANEBOOK_BLESS").is_some();
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for path in files(name, "ron") {
        let (sources, found) = said(&split(&fs::read_to_string(&path).unwrap()));
        let text = if found.is_empty() { "nothing\n".to_string() } else { found.plain(&sources) };
        let expected = path.with_extension("stderr");
        if bless {
            fs::write(&expected, &text).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!("{}:\n{text}", path.display()));
        }
        all.push(found);
    }
    assert!(wrong.is_empty(), "LANEBOOK_BLESS=1 accepts these:\n{}", wrong.join("\n"));
    all
}

#[test]
fn every_case_gives_its_diagnostics() {
    assert!(run_cases("cases", refused).len() > 20);
}

/// What is left of a case when its errors and what hangs upon them are left out compiles, and
/// nothing sound is missing.
#[test]
fn every_case_has_a_sound_part() {
    let base = build(&[]).unwrap_or_else(|failure| panic!("{}", failure.full()));
    for path in files("cases", "ron") {
        let case = split(&fs::read_to_string(&path).unwrap());
        let Err(failure) = build_files(&case) else { continue };
        let sound = failure.sound.unwrap_or_else(|| panic!("{}: no sound part", path.display()));
        // A case that replaces no file of the base leaves its atoms alone.
        if case.iter().all(|(name, _)| base.sources.iter().all(|(_, file)| file.name != *name)) {
            let lost = base
                .model
                .atoms
                .iter()
                .find(|atom| sound.compiled.model.atom_named(&atom.name).is_none());
            assert_eq!(
                lost.map(|atom| atom.name.as_str()),
                None,
                "{}: {}",
                path.display(),
                sound.left_out.summary()
            );
        }
    }
}

#[test]
fn every_case_of_the_audit_gives_its_findings() {
    let all = run_cases("audit", audited);
    // Each check of the audit finds something; what it finds has the level that it is listed with,
    // or a lower one.
    for (name, _) in
        lanebook_gen::audit::ALL.iter().filter(|(name, _)| !["format", "dispatch"].contains(name))
    {
        let mut of_it =
            all.iter().flat_map(Diagnostics::iter).filter(|one| one.check == *name).peekable();
        assert!(of_it.peek().is_some(), "`{name}` finds nothing in any case");
        let listed = lanebook_gen::audit::named(name).unwrap().level;
        assert!(of_it.all(|one| one.level >= listed), "{name}");
    }
}

#[test]
fn every_expectation_has_a_case_and_an_error() {
    for folder in ["cases", "audit"] {
        for path in files(folder, "stderr") {
            assert!(path.with_extension("ron").exists(), "{} has no case", path.display());
            let text = fs::read_to_string(&path).unwrap();
            assert!(
                ["error: ", "warning: ", "note: "].iter().any(|word| text.contains(word)),
                "{} expects nothing",
                path.display()
            );
        }
    }
}

#[test]
fn an_excerpt_shows_every_place() {
    let text = fs::read_to_string(folder("cases/sources_twice.ron")).unwrap();
    let failure = build(&[("hw-tables/sources.ron", &text)]).unwrap_err();
    let shown = failure.diagnostics.sorted()[0].excerpt(&failure.sources);
    let expected = "\
error[names]: source `book` is declared twice
 --> hw-tables/sources.ron:2:61
  |
2 | (sources: [(key: \"book\", title: \"The Book of Lanes\"), (key: \"book\", title: \"Another\"), (key: \"a#b\", title: \"Odd\"),
  |                  ------ declared here first                 ^^^^^^
  |
  = help: rename or remove one of them";
    assert_eq!(shown, expected, "\n{shown}");
}

#[test]
fn the_base_compiles_and_answers() {
    let compiled = build(&[]).unwrap_or_else(|failure| panic!("{}", failure.full()));
    let tables = compiled.tables();
    for (number, atom) in tables.atoms.iter().enumerate() {
        assert_eq!(tables.atom_named(atom.name()).map(|id| id.index()), Some(number));
        assert!(tables.atom_named(&format!("{}?", atom.name())).is_none());
    }
    let arch = tables.arch_named("m1").and_then(|id| tables.arch(id)).unwrap();
    assert_eq!(arch.banks[0].groups, [0b0011, 0b1100]);
    assert_eq!(arch.hazards[0].operand, Some(1));
    assert_eq!(arch.sync[0].steps[0].immediates, [0]);
    assert!(tables.arch_named("m3").is_none());
}

#[test]
fn inheritance_replaces_by_name_and_adds_the_rest() {
    let text = r#"(
        groups: [(name: "more", isa: "t", sources: [], atoms: [(name: "nap", class: sync, template: "nap"), (name: "pause", class: sync, template: "pause {n}", operands: [(name: "n", role: immediate, range: (0, 0))])])],
        arch: (name: "m2", extends: "m1", has: ["more"], lacks: ["wait"], expanded: ["add"], max_threads: 128,
            banks: [(name: "b32", banks: 8, bank_bytes: 4, groups: consecutive(4)), (name: "a", banks: 1, bank_bytes: 4, groups: ["0,2", "1,3"])],
            sync: [(producer: "shared.read", consumer: "shared.write", steps: [(atom: "barrier", place: after_producer)]), (producer: "shared.write", consumer: "shared.read", steps: [])],
            counters: [(name: "mem", max: 0, in_order: true, wait: "pause", operand: "n")],
            hazards: [], sources: ["book"]),
    )"#;
    let compiled =
        build(&[("hw-tables/m2.ron", text)]).unwrap_or_else(|failure| panic!("{}", failure.full()));
    let tables = compiled.tables();
    let arch = tables.arch_named("m2").and_then(|id| tables.arch(id)).unwrap();
    let parent = tables.arch_named("m1").and_then(|id| tables.arch(id)).unwrap();
    let has = |arch: &lanebook_tables::Arch<'_>, name: &str| {
        let id = tables.atom_named(name);
        arch.atoms.iter().find(|a| Some(a.atom) == id).map(|a| a.native)
    };
    assert_eq!(
        (has(arch, "nap"), has(arch, "wait"), has(arch, "add"), has(parent, "add")),
        (Some(true), None, Some(false), Some(true))
    );
    assert_eq!(
        (arch.max_threads, arch.shared, arch.hazards.len(), arch.sync.len()),
        (128, parent.shared, 0, 2)
    );
    assert_eq!(
        (arch.banks[0].name, arch.banks[0].groups, arch.banks[1].banks),
        ("a", &[0b0101, 0b1010][..], 8)
    );
    assert!(arch.sync[1].steps[0].after_producer && arch.sync[0].steps.is_empty());
    assert_eq!((arch.counters.len(), arch.counters[0].max), (1, 0));
}

#[test]
fn the_same_inputs_give_the_same_bytes() {
    let (first, second) = (build(&[]).ok().unwrap(), build(&[]).ok().unwrap());
    assert_eq!(first.rust(), second.rust());
    assert!(first.rust().starts_with(
        "// Generated by lanebook-gen; do not edit. Made from:\n//     hw-tables/axes.ron\n"
    ));
    assert!(
        !first.rust().contains(env!("CARGO_MANIFEST_DIR")),
        "generated text holds a local path"
    );
    assert_eq!(first.ledger(), second.ledger());
}

#[test]
fn a_ledger_only_grows() {
    let first = build(&[]).ok().unwrap();
    let ids = first.ledger();
    let second =
        build(&[(load::LEDGER, &ids)]).unwrap_or_else(|failure| panic!("{}", failure.full()));
    assert_eq!(second.ledger(), ids, "regenerating changes nothing");
    assert_eq!(second.tables().atoms[0].stable(), 1);
    // A new atom gets the next number, a lost one becomes a tombstone, everything else stays.
    let names: Vec<&str> = second
        .model
        .atoms
        .iter()
        .map(|a| a.name.as_str())
        .filter(|n| *n != "add")
        .chain(["aaa"])
        .collect();
    let next = ledger::update(second.loaded.ledger.as_ref(), names, []);
    assert!(next.contains("(id: 1, name: \"add\", retired: true),"), "{next}");
    assert!(next.contains("(id: 9, name: \"aaa\"),"), "{next}");
    assert_eq!(
        ids.lines().filter(|line| !next.contains(*line)).count(),
        1,
        "only the line of `add` changed"
    );
}

#[test]
fn inputs_and_folders_of_inputs_are_watched() {
    let root = folder("base");
    let watched: Vec<String> = load::watched(&root)
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"))
        .collect();
    let expected = [
        "hw-tables",
        "hw-tables/axes.ron",
        "hw-tables/base.ron",
        "hw-tables/dtypes.ron",
        "hw-tables/sources.ron",
        "rules/isa",
        "rules/isa/t.ron",
    ];
    assert_eq!(watched, expected);
}

#[test]
fn a_check_runs_alone() {
    let sources =
        with(&split(&fs::read_to_string(folder("cases/coverage_registers.ron")).unwrap()));
    let mut diags = Diagnostics::new();
    let loaded = load::load(&sources, &mut diags);
    let model = lanebook_gen::model::resolve(&loaded, &mut diags);
    assert!(diags.is_empty());
    for (name, check) in lanebook_gen::check::ALL {
        assert_eq!(check(&model).is_empty(), name != "coverage", "{name}");
    }
}

#[test]
fn the_tables_of_this_repository_compile() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if root.join("hw-tables/sources.ron").exists() {
        let compiled =
            compile(&root, Mode::Release).unwrap_or_else(|failure| panic!("{}", failure.full()));
        let again =
            compile(&root, Mode::Release).unwrap_or_else(|failure| panic!("{}", failure.full()));
        assert_eq!(compiled.rust(), again.rust());
        assert_eq!(
            compiled.ledger(),
            compiled.sources.iter().find(|(_, f)| f.name == load::LEDGER).unwrap().1.text
        );
    }
}

/// Files that half of the tables hang upon lose their last bracket: that is all that is wrong,
/// nothing is said of what hangs upon them.
#[test]
fn a_file_that_ends_early_is_all_that_is_wrong() {
    let mut diags = Diagnostics::new();
    let whole = load::find(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), &mut diags);
    let mut seen = 0;
    for name in [
        "hw-tables/dtypes.ron",
        "hw-tables/nvidia/async.ron",
        "rules/isa/amdgcn.ron",
        "rules/ops.ron",
    ] {
        let mut sources = Sources::default();
        for (_, file) in whole.iter() {
            let end = file.text.trim_end().len();
            seen += usize::from(file.name == name);
            sources.add(
                &file.name,
                None,
                if file.name == name {
                    file.text[..end - 1].to_string()
                } else {
                    file.text.clone()
                },
            );
        }
        let failure = compile_sources(sources, diags.clone(), Mode::Release).unwrap_err();
        assert_eq!(failure.diagnostics.errors(), 1, "{name}: {}", failure.plain());
        let said = failure.plain();
        assert!(
            said.lines().any(|line| line.starts_with(name) && line.contains(": error: ")),
            "{name}: {said}"
        );
        assert!(
            said.lines().any(|line| line.starts_with(name) && line.contains(" held back ")),
            "{name}: {said}"
        );
    }
    assert_eq!(seen, 4);
}

/// Calls that make a diagnostic.
const MAKERS: [&str; 3] = ["Diagnostic::at(", "Diagnostic::nowhere(", ".say("];

/// Places of the compiler that make diagnostics: file and line, with the beginning of the call. Tests are left out, and what
/// diagnostics are made of.
fn makers() -> BTreeMap<(String, u32), String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(env!("CARGO_MANIFEST_DIR"))
                .unwrap()
                .to_string_lossy()
                .replace('\\', "/");
            if name.ends_with("tests.rs") || name == "src/input/diagnostics.rs" {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let lines: Vec<&str> =
                text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).collect();
            for (number, line) in (1..).zip(&lines) {
                if MAKERS.iter().any(|maker| line.contains(maker))
                    && !line.trim_start().starts_with("//")
                {
                    let call: Vec<&str> =
                        lines.iter().skip(number - 1).take(4).map(|line| line.trim()).collect();
                    out.insert((name.clone(), number as u32), call.join(" "));
                }
            }
        }
    }
    out
}

/// Diagnostics of what is no text: files that cannot be read, wishes that cannot be met.
fn without_files() -> Vec<Diagnostics> {
    let at = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unreadable");
    let _ = fs::remove_dir_all(&at);
    fs::create_dir_all(at.join("hw-tables")).unwrap();
    fs::write(at.join("hw-tables/bytes.ron"), [0xff, 0xfe]).unwrap();
    let mut unread = Diagnostics::new();
    load::find(&at, &mut unread);
    let text = unread.plain(&Sources::default());
    assert!(
        text.contains("cannot read folder rules")
            && text.contains("cannot read hw-tables/bytes.ron"),
        "{text}"
    );
    let wish = lanebook_gen::BuildOptions { archs: Some(vec!["m3".into()]), extra: None };
    let unmet = lanebook_gen::compile_with_options(&folder("base"), Mode::Draft, &wish)
        .unwrap_err()
        .diagnostics;
    let unnumbered = lanebook_gen::compile(&folder("base"), Mode::Release).unwrap_err().diagnostics;
    vec![unread, unmet, unnumbered]
}

/// What no input can bring about: it guards the compiler against itself, or against limits that no
/// file reaches.
const WITHOUT_A_CASE: [(&str, &str); 8] = [
    // What was kept, read again.
    ("src/audit/remembered.rs", "Diagnostic::nowhere(*message)"),
    // Certificates that come from a file have a place in it.
    ("src/rules/certificate.rs", "None => Diagnostic::nowhere(&message)"),
    // Serde's own types, none of which the schema uses in a way that ron answers so.
    ("src/input/spanned.rs", "expected {expected}, found {found}"),
    // The encoder would have to be wrong.
    ("src/audit/format.rs", "changes when it is encoded"),
    // So would the index of capabilities.
    ("src/audit/dispatch.rs", "{what}"),
    // 65,535 names.
    ("src/model/names.rs", "too many entries of kind"),
    // The notation of tables has no symbols and no swizzles; it could get them.
    ("src/input/layouts.rs", "a layout in a table has no symbols"),
    ("src/input/layouts.rs", "a layout in a table is flat"),
];

/// Every diagnostic of the compiler and the audit is said by a case with its expected text: a new
/// one without fails here.
#[test]
fn every_diagnostic_has_a_case() {
    let said: Vec<Diagnostics> = run_cases("cases", refused)
        .into_iter()
        .chain(run_cases("audit", audited))
        .chain(run_cases("beside", beside))
        .chain(without_files())
        .collect();
    let reached: std::collections::BTreeSet<(String, u32)> = said
        .iter()
        .flat_map(Diagnostics::iter)
        .map(|one| {
            let file = one.site.0.file().replace('\\', "/");
            (
                file.rsplit_once("src/").map_or(file.clone(), |(_, rest)| format!("src/{rest}")),
                one.site.0.line(),
            )
        })
        .collect();
    let makers = makers();
    assert!(makers.len() > 100, "{}", makers.len());
    let missing: Vec<String> = makers
        .iter()
        .filter(|(place, line)| {
            !reached.contains(place)
                && !WITHOUT_A_CASE
                    .iter()
                    .any(|(file, text)| place.0 == *file && line.contains(text))
        })
        .map(|((file, number), line)| format!("gen/{file}:{number}: {line}"))
        .collect();
    assert!(
        missing.is_empty(),
        "no case in gen/tests/cases, audit or beside says these {} of {}:\n{}",
        missing.len(),
        makers.len(),
        missing.join("\n")
    );
}
