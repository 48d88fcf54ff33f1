//! An architecture is one file: one that nobody makes (other waves, other banks, a mover with an
//! addressing map of its own, a matrix shape of its own) is dropped beside the others, and
//! everything knows it. No line of Rust is about it.
mod far;
mod machine;
mod product;
mod variants;

use crate::support::{copy, folder, golden, root, run, run_in};
use lanebook::layout;
use lanebook_gen::{BuildOptions, Mode, compile_with_options};
use lanebook_tables::Tables;
use product::Tile;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use variants::Wanted;

fn invented() -> PathBuf {
    root().join("gen/cli/tests/invented")
}

/// The repository's tables with hx1 beside them.
fn tables() -> Tables<'static> {
    static TABLES: OnceLock<Tables<'static>> = OnceLock::new();
    *TABLES.get_or_init(|| {
        let at = folder("invented.tables");
        fs::copy(invented().join("hx1.ron"), at.join("hx1.ron")).expect("table");
        let wish = BuildOptions { archs: None, extra: Some(&at) };
        compile_with_options(&root(), Mode::Release, &wish)
            .unwrap_or_else(|failure| panic!("{}", failure.full()))
            .tables()
    })
}

/// Each element of C is the sum that it should be, at its place, when the steps run by the tables'
/// own layouts.
#[test]
fn a_kernel_computes_what_it_should() {
    let tile = Tile { m: 64, n: 32, k: 64, threads: 64, b_rows: false };
    let ran = product::run(&tables(), "hx1", tile).expect("a kernel");
    let picked = |name: &str| ran.movers.iter().any(|mover| mover == name);
    assert!(picked("hx1.gather") && picked("hx1.get"), "{:?}", ran.movers);
}

/// What `compile` says of a machine of which `check` says this: of an instruction the same words, of
/// one that is not there what it would have been needed for.
fn compile_says(audit: &str) -> &str {
    match audit {
        _ if audit.starts_with("nothing answers") || audit.starts_with("a copy's addresses") => {
            "none goes between these memories with addresses that a copy can give"
        }
        _ if audit.starts_with("no usable rule") => "which an index of this program needs",
        _ if audit.starts_with("nothing says what stands") => "lack a synchronisation rule",
        same => same,
    }
}

/// What tables can say is planned, emitted and right, or `lanebook check` says beforehand that it
/// cannot be used: of machines made for that, and of some with matrix instructions and figures as
/// they came.
#[test]
fn what_tables_say_is_used_or_said_to_be_of_no_use() {
    let at = folder("invented.variants");
    let named = variants::all();
    let (random, odd) = (variants::random(41, 30, false), variants::random(43, 30, true));
    for (folder, variants) in [("named", &named), ("random", &random), ("odd", &odd)] {
        fs::create_dir_all(at.join(folder)).expect("folder");
        for variant in variants {
            let path = at.join(folder).join(format!("{}.ron", variant.name));
            fs::write(path, variant.text()).expect("table");
        }
    }
    let wish = BuildOptions { archs: None, extra: Some(&at) };
    let tables = compile_with_options(&root(), Mode::Release, &wish)
        .unwrap_or_else(|failure| panic!("{}", failure.full()))
        .tables();
    let path = at.join("named");
    let path = path.to_str().expect("path");
    let checked = run(&["check", "--tables", ".", path, "--notes", "--assemblers", "off"]);
    let said: Vec<&str> = checked.err.lines().filter(|line| !line.starts_with(' ')).collect();
    for variant in &named {
        let name = variant.name;
        let ran = product::run(&tables, name, variant.tile);
        match (variant.wanted, ran) {
            (Wanted::Runs(movers), Ok(ran)) => {
                let picked = |mover: &&str| ran.movers.iter().any(|other| other == mover);
                assert!(movers.iter().all(picked), "{name}: {:?}", ran.movers);
                assert_eq!(ran.product, format!("{name}.mma"));
            }
            (Wanted::Said(what), Err(why)) => {
                let meant = compile_says(what);
                assert!(why.contains(meant), "{name}: compile says {why}, not `{meant}`");
                // The word that compile misses is one that the audit missed.
                if let Some((op, _)) = why.split_once(" covers ").and_then(|w| w.1.split_once(','))
                {
                    let missed = format!("no usable rule covers {op} in each lane");
                    let told = |line: &&str| line.contains(name) && line.contains(&missed);
                    assert!(said.iter().any(told), "{name}: check does not say `{missed}`");
                }
                let told = |line: &&str| line.contains(name) && line.contains(what);
                assert!(said.iter().any(told), "{name}: check does not say `{what}`");
            }
            (_, Ok(ran)) => panic!("{name} was planned with {:?}", ran.movers),
            (_, Err(why)) => panic!("{name}: {why}"),
        }
    }
    // What is picked can be emitted, as far as registers reach.
    for machines in [&random, &odd] {
        let mut right = 0;
        for variant in machines {
            match product::run(&tables, variant.name, variant.tile) {
                Ok(_) => right += 1,
                Err(why) => {
                    let is_choice =
                        ["Plan(", "Capacity {"].iter().any(|kind| why.starts_with(kind))
                            || why.contains("Pool {");
                    assert!(is_choice, "{}: {why}", variant.name);
                }
            }
        }
        assert!(right >= 6, "{right} of {} machines run their product", machines.len());
    }
}

/// A machine far from all others, whose instruction set is its own, too: the audit has nothing against
/// it, and a loop of products and a transposition are planned with what it alone has, checked, and
/// right when its steps run by the tables.
#[test]
fn a_machine_with_a_text_of_its_own_multiplies_and_transposes() {
    let at = folder("invented.far");
    for name in ["rules", "hw-tables"] {
        copy(&root().join(name), &at.join(name));
    }
    fs::create_dir_all(at.join("hw-tables/far")).expect("folder");
    for (from, to) in [
        ("far.ron", "hw-tables/far/far.ron"),
        ("sources.ron", "hw-tables/far/sources.ron"),
        ("isa.ron", "rules/isa/far.ron"),
    ] {
        fs::copy(invented().join("far").join(from), at.join(to)).expect("a file");
    }
    let audit = ["check", "--draft", "--assemblers", "off", "--notes"];
    let said = run_in(&at, &[&audit[..], &["hw-tables/far", "rules/isa/far.ron"]].concat(), "");
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(!said.err.contains("warning") && !said.err.contains("no plan of far"), "{}", said.err);
    let tables = compile_with_options(&at, Mode::Draft, &BuildOptions { archs: None, extra: None })
        .unwrap_or_else(|failure| panic!("{}", failure.full()))
        .tables();
    far::kernel(&tables, far::GEMM, |program, compiled| {
        let picked = far::picked(&tables, compiled);
        for own in ["far.mma", "far.turn", "far.fill"] {
            assert!(picked.iter().any(|name| name == own), "{own}: {picked:?}");
        }
        for turns in [0, 1, 2, 5] {
            far::gemm(&tables, compiled, turns);
        }
        let planted = far::faults(&tables, program, compiled);
        assert!(planted >= 4, "{planted} faults");
    });
    far::kernel(&tables, far::TRANSPOSE, |_, compiled| far::transpose(&tables, compiled));
    for name in ["gemm", "transpose"] {
        let program = invented().join(format!("far/{name}.tile"));
        let program = program.to_str().expect("path");
        let compile = ["compile", "--tables", ".", "--arch", "far", "--emit", "far", program];
        let text = run_in(&at, &compile, "");
        assert_eq!(text.code, 0, "{}", text.err);
        golden(&format!("far.{name}.txt"), &text.out);
    }
}

/// Bank conflicts are counted with its own model: eight banks, and slots 0, 2 and 1, 3 of the
/// gather together.
#[test]
fn banks_are_its_own() {
    let tables = tables();
    let arch = tables.arch_named("hx1").and_then(|id| tables.arch(id)).expect("architecture");
    let gather = arch.banks.iter().find(|model| model.name == "gather").expect("model");
    assert_eq!((gather.banks, gather.groups), (8, &[0b0101, 0b1010][..]));
    let mover = tables
        .atom_named("hx1.gather")
        .and_then(|id| tables.atom(id))
        .and_then(|atom| atom.movement)
        .expect("mover");
    // Lane 6 gets bytes 4 to 7 of what slot 2 points to.
    let lane6 = (0..32).filter(|x| mover.to.layout.offset_on(*x, layout::AxisId::LANE) == Ok(6));
    let places: Vec<_> = lane6
        .map(|x| {
            (
                mover.from.layout.offset_on(x, layout::AxisId::SLOT),
                mover.from.layout.offset_on(x, layout::AxisId::BYTE),
            )
        })
        .collect();
    assert_eq!(places, [(Ok(2), Ok(4)), (Ok(2), Ok(6))]);
}

/// A checkout with the file in it builds, and its command knows the architecture. The sources are
/// this repository's, untouched; only `hw-tables/amd/hx1.ron` and the ledger's new lines are new.
#[test]
#[ignore = "builds the workspace a second time: .ci/full; tables read at run time: the others"]
fn a_checkout_with_the_file_builds_and_knows_it() {
    let at = folder("invented.checkout");
    for name in [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "README.md",
        "gen",
        "src",
        "tests",
        "rules",
        "hw-tables",
    ] {
        copy(&root().join(name), &at.join(name));
    }
    fs::copy(invented().join("hx1.ron"), at.join("hw-tables/amd/hx1.ron")).expect("table");
    let ledger = run_in(&at, &["ids"], "").fine();
    assert!(ledger.contains("6 lines new or changed"), "{ledger}");
    // Into the folder that this test was built in, where everything is that is not of this
    // workspace. So that nothing that belongs to this checkout is replaced there, the other one has
    // a version, and its command a file name, of its own.
    let edit = |name: &str, change: &dyn Fn(&str) -> String| {
        let path = at.join(name);
        let text = fs::read_to_string(&path).expect("manifest");
        let changed = change(&text);
        assert_ne!(text, changed, "{name}");
        fs::write(&path, changed).expect("manifest");
    };
    let version = |text: &str| {
        text.replacen(
            concat!("version = \"", env!("CARGO_PKG_VERSION"), "\""),
            "version = \"0.1.999\"",
            1,
        )
    };
    edit("Cargo.toml", &version);
    // Built once and asked a few things: not optimised.
    edit("Cargo.toml", &|text| {
        let own = |section: &str| section.starts_with("[profile.dev.package.lanebook-");
        let plain = |section: &str| {
            let lines = section
                .lines()
                .map(|line| if line.starts_with("opt-level = ") { "opt-level = 0" } else { line });
            lines.map(|line| format!("{line}\n")).collect::<String>()
        };
        let sections = text.split_inclusive("\n\n");
        sections.map(|at| if own(at) { plain(at) } else { at.to_string() }).collect()
    });
    edit("Cargo.lock", &|text| {
        let packages = text.split("[[package]]").map(|package| {
            if package.contains("name = \"lanebook") {
                version(package)
            } else {
                package.to_string()
            }
        });
        packages.collect::<Vec<_>>().join("[[package]]")
    });
    edit("gen/cli/Cargo.toml", &|text| {
        text.replace("name = \"lanebook\"", "name = \"lanebook-hx1\"")
    });
    let profile = Path::new(env!("CARGO_BIN_EXE_lanebook")).parent().expect("profile folder");
    let mut cargo =
        std::process::Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--locked", "-p", "lanebook-cli", "--target-dir"])
        .arg(profile.parent().expect("target folder"));
    if profile.ends_with("release") {
        cargo.arg("--release");
    }
    let built = cargo
        .current_dir(&at)
        .env("LANEBOOK_ARCHS", "hx1")
        .env_remove("LANEBOOK_TABLES")
        .output()
        .expect("cargo");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let ran = |args: &[&str]| {
        let out = std::process::Command::new(profile.join("lanebook-hx1"))
            .args(args)
            .current_dir(&at)
            .output()
            .expect("command");
        assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    let archs = ran(&["arch"]);
    assert!(archs.lines().count() == 2 && archs.contains("hx1"), "{archs}");
    assert!(ran(&["check", "--assemblers", "off"]).contains("no errors"));
    let program = invented().join("product.tile");
    let program = program.to_str().expect("path");
    golden("hx1.report", &ran(&["compile", program, "--arch", "hx1", "--emit", "report"]));
    golden("hx1.amdgcn", &ran(&["compile", program, "--arch", "hx1", "--emit", "amdgcn"]));
    golden("hx1.gather.txt", &ran(&["show", "hx1.gather", "--arch", "hx1"]));
    ran(&["show", "hx1.mma", "--arch", "hx1", "-o", "mma.svg"]);
    assert!(fs::read_to_string(at.join("mma.svg")).expect("picture").contains("hx1.mma on hx1"));
}

/// `new-arch` writes a file that is its model's twin, and each commented field says what is
/// inherited.
#[test]
fn a_sketch_is_the_twin_of_its_model() {
    let at = folder("invented.new_arch_template");
    for name in ["rules", "hw-tables"] {
        copy(&root().join(name), &at.join(name));
    }
    for (like, path) in
        [("gfx950", "hw-tables/amd/twin1.ron"), ("sm_80", "hw-tables/nvidia/twin2.ron")]
    {
        let name = Path::new(path).file_stem().and_then(|name| name.to_str()).expect("name");
        let said = run_in(&at, &["new-arch", name, "--like", like], "").fine();
        assert!(said.contains(path), "{said}");
        let figures = |name: &str| run_in(&at, &["arch", name, "--tables", "."], "").fine();
        let twin = figures(name).replace(name, like);
        assert_eq!(twin, figures(like));
        // Uncomment every field of the architecture.
        let text = fs::read_to_string(at.join(path)).expect("new_arch_template");
        let (head, fields) = text.split_once("        // vendor").expect("fields");
        let fields: String = format!("        // vendor{fields}")
            .lines()
            .map(|line| line.replacen("        // ", "        ", 1) + "\n")
            .collect();
        fs::write(at.join(path), format!("{head}{fields}")).expect("new_arch_template");
        assert_eq!(figures(name).replace(name, like), figures(like), "uncommented");
    }
    run_in(&at, &["new-arch", "twin1", "--like", "gfx950"], "")
        .refused(2, &["there is an architecture `twin1` already"]);
    run_in(&at, &["new-arch", "x y", "--like", "gfx950"], "").refused(2, &["is no name"]);
    run_in(&at, &["new-arch", "twin3", "--like", "gfx951"], "")
        .refused(2, &["unknown architecture `gfx951`", "did you mean `gfx950`?"]);
    run_in(&at, &["new-arch", "twin3", "--like", "gfx950", "-o", "hw-tables/ids.ron"], "")
        .refused(2, &["exists"]);
    let printed = run_in(&at, &["new-arch", "twin3", "--like", "gfx950", "-o", "-"], "").fine();
    assert!(printed.starts_with("// twin3: written by `lanebook new-arch twin3 --like gfx950`."));
    run_in(&folder("invented.nowhere"), &["new-arch", "twin3", "--like", "gfx950"], "")
        .refused(2, &["has no folder hw-tables"]);
}
