//! The crates of `src` are floors, which cargo keeps apart; inside a crate, modules form floors as
//! well: a module may use what lies below it, nothing beside or above.
//!
//! The floors are listed here once, and the sources are read for `crate::` paths (not comments, not
//! tests). Without upward arrows there is no cycle. A module that is on no floor fails, and so does
//! one on the list that is gone.

#[path = "floors/reader.rs"]
mod reader;

use reader::{code, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Floors from the ground up. Modules that are written with a plus between are one house: parts of
/// one type, which see each other.
type Floors = &'static [&'static [&'static str]];

/// The crates with floors inside, each with what it may depend on besides `heapless` and `defmt`.
const CRATES: &[(&str, &[&str], Floors)] = &[
    ("src/layout", &[], ALGEBRA),
    (
        "src/ir",
        &["layout", "tables"],
        &[
            &["chains", "handle", "rewrite"],
            &["attr_names", "error", "types"],
            &["explain", "layout_table"],
            &[
                "attr+bounds+number+data+storage+program+query+text+edit+expr+full+layouts+fixed_handles+graph",
            ],
            &["verify"],
            &["detail"],
        ],
    ),
    (
        "src/tile",
        &["layout", "tables", "ir"],
        &[
            &["map"],
            &["copy_atom", "encoding", "repeat_places", "shaping", "unit"],
            &["candidates"],
            &["basis", "tiling", "product"],
            &["explain", "repeat_digits"],
            &["divide", "matrix", "offset", "tensor_blocks", "axis_order", "pairs"],
            &["unlaid"],
            &["evaluate"],
        ],
    ),
    (
        "src/passes",
        &["layout", "tables", "ir", "tile"],
        &[
            &["base", "choice", "diagnostic"],
            &["error"],
            &["context"],
            &["alias+handed+dead_args", "remat", "slice"],
            &["agent", "layout_seeding", "propagate"],
            &["unify"],
        ],
    ),
    (
        "src/plan",
        &["layout", "tables", "ir", "tile"],
        &[
            &["data"],
            &["in_flight"],
            &["detail", "explain", "select", "shared_alloc"],
            &["memory_pressure"],
        ],
    ),
    (
        "src/emit",
        &["layout", "tables", "ir", "tile", "plan", "infer", "loops"],
        &[
            &["expr", "pool", "stage"],
            &["step"],
            &["lower+memory+matrix+lanes+elements+sync+registers+text"],
            &["launch", "snippet", "detail", "explain"],
            &["compiled"],
        ],
    ),
    (
        "src/check",
        &["layout", "tables", "ir", "tile", "plan", "emit"],
        &[
            &["reader", "stages"],
            &["violation+evaluator+memory+matrix+lanes+order+contents+parting"],
            &["explain"],
        ],
    ),
    (
        "src/infer",
        &["layout", "tables"],
        &[
            &["error"],
            &["pool"],
            &["arena"],
            &["form+bits"],
            &["subst", "program"],
            &["solve", "points"],
            &["contain+fragment", "anchor"],
            &["notation", "event+inference+iterations"],
            &["queue"],
            &["parallel+driver+components"],
        ],
    ),
    (
        "src/loops",
        &["layout", "tables", "ir", "tile", "plan", "infer"],
        &[
            &["machine", "access_models", "places"],
            &["error", "exchange", "fusion", "operand", "reductions", "tensor_unit"],
            &["tell+operators+indices"],
            &["tensor_sums"],
            &["unit_operands"],
            &["accesses", "result"],
            &["swizzles"],
        ],
    ),
    (
        "src/query",
        &["layout", "tables", "tile", "infer"],
        &[
            &["functions", "homes", "text", "write"],
            &["error"],
            &["value"],
            &["algebra", "literal"],
            &["shaped", "named_axes"],
            &["words"],
            &["answer+conflicts+exchange+instruction+listing+machine+show+units"],
            &["eval"],
            &["ask"],
            &["distribution"],
        ],
    ),
    (
        "",
        &[
            "layout", "tables", "ir", "tile", "passes", "plan", "emit", "check", "infer", "loops",
            "query",
        ],
        &[&["generated", "guide"], &["compile", "convert", "pipeline"], &["detail", "written"]],
    ),
];

/// The host's crates: folder, folders inside that hold modules of the crate's root, floors.
const HOSTS: &[(&str, &[&str], Floors)] = &[
    (
        "gen/src",
        &["input", "values"],
        &[
            &["fact", "files", "leak", "names", "pattern", "source", "template"],
            &["dispatch", "suppressed", "render", "tree"],
            &["diagnostics"],
            &["spanned"],
            &["entries", "layouts", "schema"],
            &["families", "ledger", "params"],
            &["load"],
            &["model"],
            &["check", "lower_units", "rules", "new_arch_template"],
            &["lower", "select"],
            &["compiled"],
            &["partial_model"],
            &["compile"],
            &["assemble", "beside"],
            &["audit"],
        ],
    ),
    (
        "gen/cli/src",
        &[],
        &[
            &["args", "encodings", "output", "plannable", "tables", "verdicts"],
            &["assemblers", "declared"],
            &["candidates"],
            &["findings", "manual"],
            &["commands"],
        ],
    ),
    (
        "gen/report/src",
        &[],
        &[
            &["memory", "notation", "problem", "race", "reasons", "table"],
            &["answer", "archs", "program"],
            &["plan"],
            &["refused"],
            &["inferred", "lint", "resolved", "warps"],
            &["infer"],
            &["compile"],
            &["convert", "passes"],
        ],
    ),
    ("gen/page/src", &[], &[&["request+layouts+machines+programs"]]),
    (
        "gen/draw/src",
        &[],
        &[
            &["picture"],
            &["cell", "colour", "fold", "instance", "notation"],
            &["layout", "svg", "text"],
            &["atom", "difference"],
            &["banks", "physical"],
        ],
    ),
];

/// The algebra, from the ground up.
const ALGEBRA: Floors = &[
    &["axis", "order", "sym", "words"],
    &["error"],
    &["explain"],
    &["num", "post", "coord"],
    &["iter"],
    &["profile", "linear"],
    &["layout"],
    &["apply", "packed", "query"],
    &["ops"],
    &["convert"],
    &["cute", "tirx", "triton"],
    &["notation"],
    &["tilelang"],
];

/// A crate's sources as the check sees them.
struct Crate {
    /// Module -> the first-level names after `crate::` that it uses, each with a place.
    uses: BTreeMap<String, BTreeMap<String, String>>,
    /// Re-exported name -> the module that it comes from.
    exports: BTreeMap<String, String>,
}

/// Reads the modules below `root`, but not the crates that lie in folders of it. What lies in
/// `folders` counts as if it lay in `root`.
fn read(root: &Path, folders: &[&str]) -> Crate {
    let mut uses: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut exports = BTreeMap::new();
    for path in sources(root, root) {
        let below = path.strip_prefix(root).expect("below the root");
        let below = folders.iter().find_map(|f| below.strip_prefix(f).ok()).unwrap_or(below);
        // Such a folder's own file declares its modules.
        if below.as_os_str() == "mod.rs" {
            continue;
        }
        let first =
            below.components().next().expect("a part").as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_string();
        let is_test = below.components().any(|c| c.as_os_str() == "tests")
            || below
                .file_stem()
                .is_some_and(|s| s == "tests" || s.to_string_lossy().ends_with("_tests"));
        if module == "lib" || module == "main" || is_test {
            continue;
        }
        let text = code(&fs::read_to_string(&path).expect("a source"));
        // An exported macro is the crate's, wherever it stands.
        for part in text.split("#[macro_export]").skip(1) {
            let name = part
                .split_once("macro_rules!")
                .and_then(|(_, rest)| words(rest).into_iter().next());
            exports.extend(name.map(|name| (name, module.clone())));
        }
        let found = uses.entry(module.clone()).or_default();
        for (line, name) in crate_paths(&text) {
            found.entry(name).or_insert_with(|| format!("{}:{line}", path.display()));
        }
        // Up by `super` as far as the root would be a way around the list.
        let depth = below.components().count()
            - usize::from(below.file_name().is_some_and(|f| f == "mod.rs"));
        if text.contains(&"super::".repeat(depth)) {
            found.insert("super".into(), path.display().to_string());
        }
        found.remove(&module);
    }
    let lib = ["lib.rs", "main.rs"].map(|name| fs::read_to_string(root.join(name)).ok());
    let lib = code(lib.iter().flatten().next().expect("lib.rs or main.rs"));
    for item in
        lib.split(';').filter_map(|item| item.split_once("use ")).map(|(_, path)| path.trim())
    {
        if let Some((module, names)) = item.trim_start_matches("crate::").split_once("::") {
            for name in words(names).into_iter().filter(|_| !folders.contains(&module)) {
                exports.insert(name, module.to_string());
            }
        }
    }
    // `mod name { ... }` in lib.rs, and modules whose file uses nothing of the crate.
    for line in lib.lines() {
        let declared = line.trim().trim_start_matches("pub ").strip_prefix("mod ");
        if let Some(name) = declared
            .and_then(|rest| words(rest).into_iter().next())
            .filter(|name| name != "tests" && !folders.contains(&name.as_str()))
        {
            uses.entry(name).or_default();
        }
    }
    Crate { uses, exports }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|w| !w.is_empty())
        .map(str::to_string)
        .collect()
}

/// The names that follow `crate::`, also those in braces, with their lines.
fn crate_paths(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let line = text[..at].matches('\n').count() + 1;
        let rest = &text[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            out.extend(
                words(
                    rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or(""),
                )
                .into_iter()
                .map(|w| (line, w)),
            );
            continue;
        };
        // The first word of each part of the group.
        let (mut depth, mut part) = (0, String::new());
        for c in group.chars() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    out.extend(words(&part).into_iter().take(1).map(|w| (line, w)));
                    part.clear();
                    continue;
                }
                _ => {}
            }
            part.push(c);
        }
        out.extend(words(&part).into_iter().take(1).map(|w| (line, w)));
    }
    out
}

/// What is wrong, one line each.
fn faults(source: &Crate, floors: &[&[&str]]) -> Vec<String> {
    let house_of = |module: &str| {
        floors.iter().enumerate().find_map(|(number, floor)| {
            let house = floor.iter().find(|house| house.split('+').any(|part| part == module))?;
            Some((number, *house))
        })
    };
    let listed: BTreeSet<&str> =
        floors.iter().copied().flatten().flat_map(|house| house.split('+')).collect();
    let mut out = Vec::new();
    for module in listed.iter().filter(|m| !source.uses.contains_key(**m)) {
        out.push(format!("{module} is on a floor, but there is no such module"));
    }
    for (module, uses) in &source.uses {
        let Some((own, house)) = house_of(module) else {
            out.push(format!("{module} is on no floor: give it one in tests/floors.rs"));
            continue;
        };
        for (name, place) in uses {
            let target = if source.uses.contains_key(name) {
                name
            } else {
                source.exports.get(name).unwrap_or(name)
            };
            match house_of(target) {
                Some((floor, other)) if floor < own || other == house => {}
                Some((floor, _)) => out.push(format!("{place}: {module} (floor {own}) uses {target} (floor {floor})")),
                None => out.push(format!("{place}: {module} uses crate::{name}, which is no module and no name that lib.rs exports from one (write `crate::` to reach another module)")),
            }
        }
    }
    out
}

/// The folders of what ships.
fn engine(root: &Path) -> Vec<PathBuf> {
    let crates = CRATES.iter().map(|(folder, ..)| Path::new(folder).join("src"));
    crates.chain(["src/capi".into(), "src/tables".into()]).map(|f| root.join(f)).collect()
}

#[test]
fn modules_use_what_lies_below() {
    let mut arrows = 0;
    for (folder, _, floors) in CRATES {
        let folder = Path::new(folder).join("src");
        let source = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder), &[]);
        arrows += source.uses.values().map(BTreeMap::len).sum::<usize>();
        let faults = faults(&source, floors);
        assert!(faults.is_empty(), "{}:\n{}", folder.display(), faults.join("\n"));
    }
    assert!(arrows > 200, "only {arrows} arrows were found: the reader is broken");
}

/// The same for the table compiler, the command and the pictures.
#[test]
fn modules_of_the_host_use_what_lies_below() {
    let mut arrows = 0;
    for (folder, folders, floors) in HOSTS {
        let source = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), folders);
        arrows += source.uses.values().map(BTreeMap::len).sum::<usize>();
        let faults = faults(&source, floors);
        assert!(faults.is_empty(), "{folder}:\n{}", faults.join("\n"));
    }
    assert!(arrows > 120, "only {arrows} arrows were found: the reader is broken");
}

/// Most sources of a folder: where there are more, they are several subjects.
const MOST_FILES: usize = 20;

/// Folders with more: one check a file.
const LISTS: [&str; 1] = ["gen/src/audit"];

#[test]
fn folders_are_subjects() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: BTreeMap<PathBuf, usize> = BTreeMap::new();
    let hosts = HOSTS.iter().map(|(folder, ..)| root.join(folder));
    for folder in engine(root).into_iter().chain(hosts) {
        for path in sources(&folder, &folder) {
            let at = path.parent().expect("a folder").to_path_buf();
            if !at.ends_with("tests") {
                *files.entry(at).or_default() += 1;
            }
        }
    }
    assert!(files.len() > 40, "only {} folders: the reader is broken", files.len());
    for (folder, count) in files {
        let below = folder.strip_prefix(root).expect("below the root").to_string_lossy();
        let list = LISTS.contains(&below.replace('\\', "/").as_str());
        assert!(
            count <= MOST_FILES || list,
            "{below} has {count} files: give its subjects folders of their own"
        );
    }
}

/// Cargo refuses circles; that passes and plan do not see each other, and nothing sees what lies
/// above, is said here.
#[test]
fn crates_depend_on_what_lies_below() {
    for (folder, below, _) in CRATES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml");
        let text = fs::read_to_string(&path).expect("a manifest");
        let (_, rest) = text.split_once("\n[dependencies]\n").expect("dependencies");
        let found: BTreeSet<&str> = rest
            .split("\n[")
            .next()
            .expect("a section")
            .lines()
            .filter_map(|line| line.split([' ', '.', '=']).next().filter(|name| !name.is_empty()))
            .collect();
        let mut allowed: BTreeSet<String> =
            below.iter().map(|name| format!("lanebook-{name}")).collect();
        allowed.extend(["heapless".into(), "defmt".into()]);
        let found: BTreeSet<String> = found.into_iter().map(str::to_string).collect();
        let above: Vec<_> = found.difference(&allowed).collect();
        assert!(above.is_empty(), "{}: depends on {above:?}", path.display());
    }
}

/// What a peer's ready-made layouts are made of defines the peer's names. The engine's facts come
/// from the tables: it reads none of that.
#[test]
fn numbers_of_the_peers_stay_with_the_peers() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seen = 0;
    // The query language speaks the peers' names: that is what it is for.
    for folder in engine(root).into_iter().filter(|folder| !folder.ends_with("src/query/src")) {
        for path in sources(&folder, &folder) {
            let below = path.strip_prefix(&folder).expect("below the folder");
            let part = |name: &str| below.iter().any(|p| p == name);
            if part("tests") || part("tirx") || part("tilelang") {
                continue;
            }
            let text = code(&fs::read_to_string(&path).expect("a source"));
            for word in ["tirx::facts", "tilelang::facts", "index_maps"] {
                assert!(!text.contains(word), "{}: {word}", path.display());
            }
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen} sources");
}

/// The check itself: an arrow upward, one sideways, a stranger, a module that is gone.
#[test]
fn a_broken_house_is_noticed() {
    let uses = |module: &str, names: &[&str]| {
        (
            module.to_string(),
            names.iter().map(|n| (n.to_string(), format!("{module}.rs:1"))).collect(),
        )
    };
    let house = |list: Vec<(String, BTreeMap<String, String>)>| Crate {
        uses: list.into_iter().collect(),
        exports: BTreeMap::from([("Thing".into(), "top".into())]),
    };
    let floors: &[&[&str]] = &[&["ground"], &["left", "right"], &["top"]];
    let good = || {
        vec![
            uses("ground", &[]),
            uses("left", &["ground"]),
            uses("right", &["ground"]),
            uses("top", &["left", "right", "ground"]),
        ]
    };
    assert_eq!(faults(&house(good()), floors), [""; 0]);
    for (module, names, want) in [
        ("ground", &["top"][..], "uses top (floor 2)"),
        ("ground", &["Thing"], "uses top (floor 2)"),
        ("left", &["right"], "left (floor 1) uses right (floor 1)"),
        ("left", &["Unknown"], "no name that lib.rs exports"),
        ("cellar", &["ground"], "cellar is on no floor"),
    ] {
        let mut list = good();
        list.retain(|m| m.0 != module);
        list.push(uses(module, names));
        let found = faults(&house(list), floors);
        assert!(found.iter().any(|f| f.contains(want)), "{want}: {found:?}");
    }
    let mut list = good();
    list.retain(|m| m.0 != "top");
    assert_eq!(faults(&house(list), floors), ["top is on a floor, but there is no such module"]);
    // The reader: groups, comments, test modules, several lines.
    let text = "use crate::{\n    a::{B, c},\n    d,\n};\nlet x = crate::e::f(); // crate::g\n#[cfg(test)]\nmod tests {\n    use crate::h;\n}\nfn y() -> crate::I;\n#[cfg(test)]\nmod more;\nuse crate::j;";
    let names: Vec<String> = crate_paths(&code(text)).into_iter().map(|n| n.1).collect();
    assert_eq!(names, ["a", "d", "e", "I", "j"]);
}

/// Reading a list of atoms, or one of copy atoms whatever they join: `CopyAtoms` answers by spaces.
const ATOM_LISTS: [&str; 5] =
    [".atoms", "in self.copy_atoms", "in copy_atoms", "copy_atoms.iter()", "copy_atoms.len()"];

/// The walks over atoms of what ships: listings, which are for people.
const WALKS: [&str; 3] = ["src/tables/src/listing.rs"; 3];

/// What an architecture can do is asked of its dispatch: nothing in what ships walks over its atoms.
/// The tables themselves look one up, by its number or by a search in a list that ascends.
#[test]
fn architectures_are_asked_not_walked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut read, mut walked) = (0, Vec::new());
    let own =
        ["src/pipeline.rs", "src/compile.rs", "src/convert.rs", "src/written.rs", "src/lib.rs"];
    let top = own.iter().map(|file| root.join(file));
    let below = engine(root).into_iter().flat_map(|folder| sources(&folder, &folder));
    for path in top.chain(below) {
        let text = code(&fs::read_to_string(&path).expect("a source"));
        let looks = |line: &str| {
            path.starts_with(root.join("src/tables"))
                && [".atoms.get(", ".atoms.binary_search"].iter().any(|look| line.contains(look))
        };
        let walks = |line: &&str| ATOM_LISTS.iter().any(|list| line.contains(list)) && !looks(line);
        let is_test = path.components().any(|part| part.as_os_str() == "tests")
            || path.file_stem().is_some_and(|stem| stem == "tests");
        let file = path.strip_prefix(root).expect("below the root").display().to_string();
        walked.extend(text.lines().filter(walks).filter(|_| !is_test).map(|_| file.clone()));
        read += 1;
    }
    assert!(read > 200, "only {read} sources");
    assert_eq!(
        walked, WALKS,
        "these read a list of atoms, each line once; `Arch::dispatch` answers what is asked of an architecture"
    );
}

/// What the host's tools read of lists that are called atoms: how many there are, and lists of
/// their own. All else is asked of the tables.
const HOST_ATOMS: [(&str, &str); 10] = [
    ("gen/cli/src/assemblers.rs", ".atoms"), // of the compiler's model
    ("gen/cli/src/assemblers.rs", "let of = &compiled.model.atoms[atom];"),
    ("gen/cli/src/commands/arch.rs", "arch.atoms.len().to_string(),"),
    (
        "gen/cli/src/commands/arch.rs",
        "line(\"instructions\", format!(\"{}{version}, {}\", isa.name, counted(arch.atoms.len(), \"atom\")));",
    ),
    ("gen/cli/src/commands/check.rs", "atoms: tables.atoms.len(),"),
    ("gen/cli/src/commands/check.rs", "counted(figures.atoms, \"atom\"),"),
    ("gen/cli/src/commands/size.rs", "chosen.atoms.len().to_string(),"),
    (
        "gen/cli/src/declared.rs",
        "for (entry, atoms) in self.file.figures.iter().zip(&self.atoms) {",
    ),
    ("gen/cli/src/findings/junit.rs", "part.atoms"),
    (
        "gen/cli/src/plannable.rs", // its tests
        "let sound = TABLES.atoms.iter().find(native).expect(\"a product\");",
    ),
];

/// The tools that ship ask as the library does.
#[test]
fn tools_ask_architectures_too() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut files, mut found) = (0, Vec::new());
    for folder in ["gen/report/src", "gen/cli/src", "gen/page/src", "gen/draw/src"] {
        for path in sources(&root.join(folder), root) {
            files += 1;
            let text = fs::read_to_string(root.join(&path)).expect("a source");
            let file = path.strip_prefix(root).expect("below the root").display().to_string();
            let comment = |line: &&str| line.trim_start().starts_with("//");
            let reads = |line: &&str| {
                line.split(".atoms").skip(1).any(|rest| !rest.starts_with(char::is_alphanumeric))
                    || line.contains("zip(tables.atoms)")
            };
            let lines = text.lines().filter(|line| !comment(line)).filter(reads);
            found.extend(lines.map(|line| (file.clone(), line.trim().to_string())));
        }
    }
    found.sort();
    assert!(files > 60, "only {files} sources");
    let mut known = HOST_ATOMS.map(|(file, line)| (file.to_string(), line.to_string()));
    known.sort();
    assert_eq!(found, known, "`Arch::dispatch`, `Arch::own`, `Tables::list_own`, `list_atoms`");
}

/// Kinds of capabilities that a source names, tests left out.
fn kinds(text: &str) -> BTreeSet<String> {
    let all = text.split("Capability::").skip(1);
    all.map(|rest| words(rest).into_iter().next().expect("a kind")).collect()
}

/// Layouts are read with the program: what chooses, emits and checks has no reader of their texts.
#[test]
fn layouts_are_read_with_the_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut read, mut readers) = (0, Vec::new());
    for folder in ["src/tile", "src/plan", "src/emit", "src/check"] {
        for path in sources(&root.join(folder), root) {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            if path.components().any(|c| c.as_os_str() == "tests") || name.ends_with("tests") {
                continue;
            }
            read += 1;
            let text = code(&fs::read_to_string(&path).expect("a source"));
            if words(&text).iter().any(|word| word == "notation") {
                readers.push(path.display().to_string());
            }
        }
    }
    assert!(read > 100, "{read} sources");
    assert!(readers.is_empty(), "read by {}", readers.join(", "));
}

/// `rules/asks.ron` is the one list of what the engine asks: every kind of capability that a source
/// names stands there beside that source, and nothing else does.
#[test]
fn what_is_asked_is_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read_to_string(root.join("rules/asks.ron")).expect("rules/asks.ron");
    let field = |line: &str, key: &str| {
        let (_, rest) = line.split_once(&format!("{key}: \""))?;
        rest.split('"').next().map(str::to_string)
    };
    // As `lanebook_gen::rules::asks::KINDS` has them: `product-into` is ProductInto.
    let camel = |word: &str| -> String {
        let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
        word.split('-').map(capital).collect()
    };
    let mut listed: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in list.lines() {
        let (Some(ask), Some(by)) = (field(line, "(ask"), field(line, "by")) else { continue };
        let kind = camel(ask.split(' ').next().expect("a kind"));
        listed.entry(by).or_default().insert(kind);
    }
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let src = root.join("src");
    for folder in engine(root).iter().filter(|folder| !folder.ends_with("src/tables")) {
        for path in sources(folder, folder) {
            let text = code(&fs::read_to_string(&path).expect("a source"));
            let named = kinds(&text);
            let is_test = path.components().any(|part| part.as_os_str() == "tests");
            if named.is_empty() || is_test {
                continue;
            }
            let below = path.strip_prefix(&src).expect("below src").to_string_lossy();
            found.insert(below.replace('\\', "/"), named);
        }
    }
    assert!(found.len() > 8, "only {} sources ask: the reader is broken", found.len());
    assert_eq!(found, listed, "sources that ask (left), and rules/asks.ron (right)");
}
