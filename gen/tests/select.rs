//! What a build can ask for: some architectures only, and tables from outside the repository.
use lanebook_gen::{
    BuildOptions, Compiled, Failure, Mode, compile_with_options, ledger, load, select,
};
use lanebook_tables::{BuildNode, Language, Tables};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn extra() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extra")
}

fn build(archs: &str, extra: Option<&Path>) -> Result<Compiled, Failure> {
    compile_with_options(
        &root(),
        Mode::Release,
        &BuildOptions { archs: select::listed(archs), extra },
    )
}

fn built(archs: &str, extra: Option<&Path>) -> Compiled {
    build(archs, extra).unwrap_or_else(|failure| panic!("{}", failure.full()))
}

/// Atoms by name, since ids differ between selections.
fn name<'t>(tables: &Tables<'t>, id: lanebook_tables::AtomId) -> &'t str {
    tables.atom(id).unwrap_or_else(|| panic!("{id:?} is not in the tables")).name()
}

/// Whatever order a hash map's keys happen to have: the maps of two runs differ in it, in one
/// process too.
#[test]
fn the_generated_source_is_the_same_twice() {
    let [first, second] = [(); 2].map(|()| built("", None).rust());
    assert!(first.len() > 1 << 20 && first == second, "{} and {} bytes", first.len(), second.len());
}

#[test]
fn an_architecture_alone_is_what_it_was_among_others() {
    let all = built("", None).tables();
    for whole in all.archs {
        let one = select::select(&all, &[whole.name.to_string()]).unwrap();
        assert_eq!(one.archs.len(), 1, "{}", whole.name);
        assert_eq!(one.isas.len(), 1, "{}", whole.name);
        let arch =
            one.arch_named(whole.name).and_then(|id| one.arch(id)).expect("it was asked for");
        let named = |tables: &Tables<'static>,
                     arch: &lanebook_tables::Arch<'static>|
         -> Vec<(&str, bool)> {
            arch.atoms.iter().map(|a| (name(tables, a.atom), a.native)).collect()
        };
        assert_eq!(named(&one, arch), named(&all, whole));
        let steps =
            |tables: &Tables<'static>, arch: &lanebook_tables::Arch<'static>| -> Vec<&str> {
                arch.sync
                    .iter()
                    .flat_map(|rule| rule.steps)
                    .map(|step| name(tables, step.atom))
                    .chain(arch.counters.iter().map(|c| name(tables, c.wait)))
                    .collect()
            };
        assert_eq!(steps(&one, arch), steps(&all, whole));
        let (isa, whole_isa) = (one.isa(arch.isa).unwrap(), all.isa(whole.isa).unwrap());
        assert_eq!(
            (isa.name, name(&one, isa.branch), name(&one, isa.load_param64)),
            (whole_isa.name, name(&all, whole_isa.branch), name(&all, whole_isa.load_param64))
        );
        for (number, atom) in one.atoms.iter().enumerate() {
            assert_eq!(one.atom_named(atom.name()).map(|id| id.index()), Some(number));
            let before = all.atom_named(atom.name()).and_then(|id| all.atom(id)).unwrap();
            assert_eq!(
                (atom.stable(), atom.template, atom.operands.len()),
                (before.stable(), before.template, before.operands.len())
            );
            assert_eq!(atom.isa, arch.isa);
        }
    }
}

#[test]
fn rules_are_left_out_with_what_they_make() {
    let (all, one) = (built("", None).tables(), built("sm_80", None).tables());
    let count = |tables: &Tables<'static>, language| {
        tables.rules.rules.iter().filter(|rule| rule.language == language).count()
    };
    for language in [Language::Tile, Language::Index] {
        assert_eq!(count(&one, language), count(&all, language));
    }
    assert!(
        count(&one, Language::Target) > 0
            && count(&one, Language::Target) < count(&all, Language::Target)
    );
    for rule in one.rules.rules {
        for node in rule.replacement {
            if let BuildNode::Inst(atom, _) = node {
                let _ = name(&one, *atom);
            }
        }
    }
    for set in one.rules.sets {
        assert!(set.isa.is_none_or(|isa| one.isa(isa).is_some()));
        for rule in set.roots.iter().copied().flatten() {
            assert_eq!(one.rules.rule(*rule).unwrap().language, set.language);
        }
    }
    // The order in which a root's rules are tried is the same.
    let order = |tables: &Tables<'static>| -> Vec<&str> {
        let isa = tables.arch_named("sm_80").and_then(|id| tables.arch(id)).unwrap().isa;
        let set = tables.rules.set(Language::Target, Some(isa), 1).unwrap();
        set.roots.iter().copied().flatten().map(|rule| tables.rules.name(*rule)).collect()
    };
    let kept: Vec<&str> = one.rules.names.to_vec();
    assert_eq!(
        order(&one),
        order(&all).into_iter().filter(|rule| kept.contains(rule)).collect::<Vec<_>>()
    );
}

#[test]
fn several_keep_their_order_and_weigh_less_than_all() {
    let two = built(" sm_80 ,gfx950,", None);
    let names: Vec<&str> = two.tables().archs.iter().map(|arch| arch.name).collect();
    assert_eq!(names, ["gfx950", "sm_80"], "in the order of the tables");
    let bytes =
        |compiled: &Compiled| compiled.weights().iter().map(|weight| weight.bytes).sum::<usize>();
    assert!(bytes(&built("sm_80", None)) < bytes(&two) && bytes(&two) < bytes(&built("", None)));
    assert!(built("sm_80", None).rust().len() < two.rust().len());
}

#[test]
fn an_unknown_name_lists_the_known_ones() {
    let failure = build("sm_81,gfx950,vax", None).unwrap_err();
    let said = failure.plain();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(said.contains("error: LANEBOOK_ARCHS names an unknown architecture `sm_81`; help: did you mean `sm_80`? known are "), "{said}");
    assert!(said.contains("unknown architecture `vax`; help: known are "), "{said}");
    assert!(said.contains("gfx950") && said.contains("sm_80"), "{said}");
}

#[test]
fn tables_from_outside_have_local_numbers() {
    let compiled = built("", Some(&extra()));
    let tables = compiled.tables();
    let arch =
        tables.arch_named("sm_81x").and_then(|id| tables.arch(id)).expect("the extra architecture");
    let parent = tables.arch_named("sm_80").and_then(|id| tables.arch(id)).unwrap();
    assert_eq!(arch.atoms.len(), parent.atoms.len() + 1);
    let atom = tables.atom_named("outside.nap").and_then(|id| tables.atom(id)).unwrap();
    assert!(atom.stable() >= ledger::FIRST_LOCAL);
    assert!(compiled.rust().contains("//     extra/sm_81x.ron\n"));
    // Together with a selection.
    assert_eq!(built("sm_81x", Some(&extra())).tables().archs.len(), 1);
    assert!(load::watched_in(&extra()).contains(&extra().join("sm_81x.ron")));
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let failure = build("", Some(&extra().join("nowhere"))).unwrap_err();
    assert!(failure.plain().contains("cannot read folder nowhere"), "{}", failure.plain());
}

/// Tables from elsewhere with mistakes of several stages, and a wish for an architecture that
/// nobody has: one run says all of it, each at its place, and nothing of what the file that cannot
/// be read may declare.
#[test]
fn mistakes_of_a_folder_and_of_the_wish_are_said_together() {
    let at = Path::new(env!("CARGO_TARGET_TMPDIR")).join("select.mistakes");
    let _ = std::fs::remove_dir_all(&at);
    std::fs::create_dir_all(&at).unwrap();
    let files = [
        (
            "a.ron",
            "(groups: [(name: \"far\" isa: \"t\", sources: [], atoms: [(name: \"far.nap\", class: sync, template: \"nap\")])])",
        ),
        (
            "b.ron",
            "(groups: [(name: \"near\", isa: \"t\", sources: [], atoms: [(name: \"near.nap\", class: sync, template: \"nap {n}\")])])",
        ),
        (
            "c.ron",
            "(arch: (name: \"x1\", extends: \"m1\", has: [\"far\", \"near\", \"nera\"], lacks: [\"far.nap\"], sources: [\"book\"]))",
        ),
    ];
    for (name, text) in files {
        std::fs::write(at.join(name), text).unwrap();
    }
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/base");
    let build = |archs: &str| {
        compile_with_options(
            &base,
            Mode::Draft,
            &BuildOptions { archs: select::listed(archs), extra: Some(&at) },
        )
    };
    let said = build("m1,x1,x2").unwrap_err().plain();
    let lines: Vec<&str> =
        said.lines().map(|line| line.split("; help").next().unwrap_or(line)).collect();
    let wanted = [
        "error: LANEBOOK_ARCHS names an unknown architecture `x2`",
        "select.mistakes/a.ron:1:1: note: 2 findings are held back until this is mended: what is missing elsewhere may be what stands here",
        "select.mistakes/a.ron:1:24: error: expected comma",
        "select.mistakes/b.ron:1:99: error: the template names no operand of the atom: `{n}`",
        "select.mistakes/c.ron:1:57: error: unknown group `nera`",
    ];
    assert_eq!(lines, wanted, "{said}");
    // Mended, it builds.
    for (name, text) in files {
        let text = text
            .replace("\"far\" isa", "\"far\", isa")
            .replace(" {n}", "")
            .replace(", \"nera\"", "");
        std::fs::write(at.join(name), text).unwrap();
    }
    let tables = build("m1,x1").unwrap_or_else(|failure| panic!("{}", failure.full())).tables();
    assert!(tables.archs.len() == 2 && tables.atom_named("near.nap").is_some());
}
