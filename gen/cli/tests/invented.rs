//! An architecture is one file: one that nobody makes (other waves, other banks, a mover with an
//! addressing map of its own, a matrix shape of its own) is dropped beside the others, and
//! everything knows it. No line of Rust is about it.
#[path = "invented/machine.rs"]
mod machine;
mod support;

use lanebook::compile::{KernelStorage as Room, compile};
use lanebook::ir::{Options, SmallStorage, parse, verify};
use lanebook::{check, layout};
use lanebook_gen::{Mode, Wish, compile_wish};
use lanebook_tables::Tables;
use machine::{Machine, to_half};
use std::fs;
use std::path::{Path, PathBuf};
use support::{copy, folder, golden, root, run_in};

fn invented() -> PathBuf {
    root().join("gen/cli/tests/invented")
}

/// The repository's tables with hx1 beside them.
fn tables() -> Tables<'static> {
    let at = folder("invented.tables");
    fs::copy(invented().join("hx1.ron"), at.join("hx1.ron")).expect("table");
    let wish = Wish { archs: None, extra: Some(&at) };
    compile_wish(&root(), Mode::Release, &wish)
        .unwrap_or_else(|failure| panic!("{}", failure.full()))
        .tables()
}

/// Each element of C is the sum that it should be, at its place, when the steps run by the tables'
/// own layouts.
#[test]
fn a_kernel_computes_what_it_should() {
    let tables = tables();
    let id = tables.arch_named("hx1").expect("it is known by name");
    let arch = tables.arch(id).expect("architecture");
    let text = fs::read_to_string(invented().join("product.tile")).expect("program");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), &tables, &text, Options::default()).expect("program");
    verify(&mut program).expect("program");
    let mut room = Box::new(Room::new());
    let compiled = compile(&tables, id, &mut program, room.scratch()).expect("kernel");
    // The independent witnesses.
    check::plan(&tables, &program, &compiled.plan).expect("each element arrives");
    check::order(&tables, &program, &compiled).expect("no race");
    let picked: Vec<&str> =
        compiled.plan.transfers.iter().map(|m| tables.atom(m.atom).expect("atom").name()).collect();
    assert!(picked.contains(&"hx1.gather") && picked.contains(&"hx1.get"), "{picked:?}");

    // Matrices larger than the tiles, with rows longer than they need to be.
    let (rows, depth, columns) = (192u64, 128u64, 96u64);
    let (corner_m, corner_n, corner_k) = (64u64, 32u64, 64u64);
    let a = |i: u64, k: u64| ((i * 7 + k * 3) % 13) as i32 - 6;
    let b = |j: u64, k: u64| ((j * 5 + k * 11) % 9) as i32 - 4;
    let mut machine = Machine::new(&tables, arch, 64);
    let (at_a, at_b, at_c) = (0x10_0000u64, 0x7_0020_0000, 0x30_0000);
    let (stride_a, stride_b, stride_c) = (depth + 8, depth + 16, columns + 4);
    for (rows, base, stride, value) in
        [(rows, at_a, stride_a, &a as &dyn Fn(u64, u64) -> i32), (columns, at_b, stride_b, &b)]
    {
        for i in 0..rows {
            for k in 0..depth {
                for (n, byte) in to_half(value(i, k)).to_le_bytes().into_iter().enumerate() {
                    machine.global.insert(base + 2 * (i * stride + k) + n as u64, byte);
                }
            }
        }
    }
    let before = machine.global.len();
    for (base, first, second, stride) in [
        (at_a, rows, depth, stride_a),
        (at_b, columns, depth, stride_b),
        (at_c, rows, columns, stride_c),
    ] {
        machine.params.extend(base.to_le_bytes());
        for number in [first, second, stride] {
            machine.params.extend((number as u32).to_le_bytes());
        }
        machine.params.resize(machine.params.len().next_multiple_of(8), 0);
    }
    // The last pointer's arguments end on four bytes, where the indices begin.
    machine.params.truncate(68);
    for index in [corner_m, corner_n, corner_k] {
        machine.params.extend((index as u32).to_le_bytes());
    }
    machine.run(&compiled);
    let mut written = 0;
    for i in 0..64 {
        for j in 0..32 {
            let at = at_c + 4 * ((corner_m + i) * stride_c + corner_n + j);
            let bytes: Vec<u8> = (0..4)
                .map(|n| {
                    *machine
                        .global
                        .get(&(at + n))
                        .unwrap_or_else(|| panic!("({i}, {j}) was not written"))
                })
                .collect();
            let found = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            let wanted: i32 = (0..64)
                .map(|k| a(corner_m + i, corner_k + k) * b(corner_n + j, corner_k + k))
                .sum();
            assert_eq!(found, wanted as f32, "({i}, {j})");
            written += 4;
        }
    }
    assert_eq!(machine.global.len() - before, written, "nothing else was written");
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
    let at = folder("invented.sketch");
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
        let text = fs::read_to_string(at.join(path)).expect("sketch");
        let (head, fields) = text.split_once("        // vendor").expect("fields");
        let fields: String = format!("        // vendor{fields}")
            .lines()
            .map(|line| line.replacen("        // ", "        ", 1) + "\n")
            .collect();
        fs::write(at.join(path), format!("{head}{fields}")).expect("sketch");
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
