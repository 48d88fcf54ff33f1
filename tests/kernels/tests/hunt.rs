//! A fixed part of the hunt, and what the hunt is worth: faults that are put in are found.
#![allow(missing_docs)]

use lanebook_kernels::hunt::choices::Choices;
use lanebook_kernels::hunt::kinds::{KINDS, generate};
use lanebook_kernels::hunt::planted::FAULTS;
use lanebook_kernels::hunt::shrink::shrink;
use lanebook_kernels::hunt::verdict::references;
use lanebook_kernels::hunt::{Wish, hunt};
use lanebook_kernels::{parallel, sweeps_all};

const ARCHS: [&str; 16] = [
    "sm_75",
    "sm_80",
    "sm_89",
    "sm_90a",
    "sm_100a",
    "sm_120a",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx950",
    "gfx1030",
    "gfx1100",
    "gfx1100.w64",
    "gfx1200",
    "gfx1250",
    "gfx1251",
];

/// The kind of parallel loops, which has a test of its own.
const NESTS: &str = "nests";

/// The kind of loops whose copies run ahead, alike.
const STAGES: &str = "stages";

/// The kind of arithmetic on elements of any type, alike.
const ELEMENTS: &str = "elements";

/// The kind of quotients of whole numbers, alike.
const QUOTIENTS: &str = "quotients";

/// The kind of loops whose copies other warps start, alike.
const APART: &str = "apart";

/// The kind of atomic operations on elements of any type, alike.
const ATOMICS: &str = "atomics";

/// The kind of atomic operations that answer what stood there before, alike.
const ANSWERS: &str = "answers";

/// The kind of parts, scans and reductions of elements of 64 bits, alike.
const LONG: &str = "long";

/// The kind of tiles of three and four dimensions, alike.
const RANKS: &str = "ranks";

/// The kind of elements of half a byte, alike.
const HALVES: &str = "halves";

/// The kind of functions of floats, alike.
const FUNCTIONS: &str = "functions";

/// The kind of atomic operations on fewer elements than there are threads, alike.
const FEW: &str = "few";

/// The kind of tiles of tensor memory, which most architectures have not, alike.
const SUMS: &str = "sums";

/// The kind of tiles that begin in front of their tensor, alike.
const HALO: &str = "halo";

/// The kind of what can be written in more than one way, alike.
const SPELLED: &str = "spelled";

/// The kind of indices that memory says, alike.
const ADDRESSED: &str = "addressed";

/// The kind of anything in anything, alike.
const MIXTURE: &str = "mixture";

/// Random programs of one kind; at least so many pairs of a program and an architecture compile.
/// Half of them, unless all is swept: see [`sweeps_all`].
fn of_kind(kind: &str, (seed, count): (u64, usize), archs: &[&str], least: usize) {
    let (count, least) = if sweeps_all() { (count, least) } else { (count / 2, least * 2 / 5) };
    let wish = Wish {
        seed,
        first: 0,
        count,
        archs: archs.iter().map(|arch| (*arch).to_string()).collect(),
        kinds: vec![kind.to_string()],
        seconds: None,
        assemble: true,
        shrink: false,
        refusal: None,
    };
    let report = hunt(&wish, |found| println!("WRONG {found}"));
    println!("{report}");
    assert_eq!(report.not_understood, Vec::<String>::new());
    assert_eq!(report.wrong, 0, "{report}");
    assert!(report.compiled() >= least, "{report}");
}

#[test]
fn random_stages_are_right() {
    of_kind(STAGES, (3, 60), &["sm_80", "sm_100a"], 30);
}

#[test]
fn random_elements_are_right() {
    of_kind(ELEMENTS, (5, 60), &["sm_80", "sm_90a", "gfx942", "gfx1100"], 120);
}

#[test]
fn random_ranks_are_right() {
    of_kind(RANKS, (2, 24), &["sm_90a", "gfx942", "gfx1200"], 50);
}

#[test]
fn random_atomics_are_right() {
    of_kind(ATOMICS, (4, 40), &["sm_80", "gfx942", "gfx1100", "gfx1250"], 80);
}

#[test]
fn random_halves_are_right() {
    of_kind(HALVES, (7, 40), &["sm_80", "sm_120a", "gfx950", "gfx1200"], 60);
}

#[test]
fn random_functions_are_right() {
    of_kind(FUNCTIONS, (6, 16), &["sm_80", "gfx942", "gfx1100"], 30);
}

#[test]
fn random_answers_are_right() {
    of_kind(ANSWERS, (7, 40), &["sm_80", "gfx908", "gfx942", "gfx1030", "gfx1200"], 80);
}

#[test]
fn random_answers_of_few_are_right() {
    of_kind(FEW, (9, 40), &["sm_80", "gfx908", "gfx942", "gfx1030", "gfx1200"], 80);
}

#[test]
fn random_sums_in_tensor_memory_are_right() {
    of_kind(SUMS, (3, 30), &["sm_100a", "sm_103a"], 50);
}

#[test]
fn random_tiles_from_below_zero_are_right() {
    of_kind(HALO, (4, 30), &["sm_80", "sm_90a", "gfx942", "gfx1200"], 80);
}

#[test]
fn random_spellings_are_right() {
    of_kind(SPELLED, (4, 30), &["sm_80", "gfx942", "gfx1030", "gfx1200"], 80);
}

#[test]
fn random_indices_of_memory_are_right() {
    of_kind(
        ADDRESSED,
        (5, 40),
        &["sm_80", "sm_90a", "gfx908", "gfx942", "gfx1100", "gfx1250"],
        160,
    );
}

#[test]
fn random_mixtures_are_right() {
    of_kind(MIXTURE, (2, 30), &["sm_80", "sm_90a", "gfx942", "gfx1200"], 60);
}

#[test]
fn random_long_parts_are_right() {
    of_kind(LONG, (8, 40), &["sm_80", "gfx90a", "gfx942", "gfx1200"], 80);
}

#[test]
fn random_quotients_are_right() {
    of_kind(QUOTIENTS, (6, 30), &["sm_80", "gfx942", "gfx1100"], 55);
}

#[test]
fn random_copies_of_other_warps_are_right() {
    of_kind(APART, (5, 40), &["sm_90a", "sm_100a", "sm_120a"], 30);
}

#[test]
fn random_nests_are_right() {
    of_kind(NESTS, (18, 40), &["sm_80", "gfx942", "gfx1100", "sm_90a"], 60);
}

#[test]
fn random_programs_are_right() {
    let count = KINDS.len() - 17;
    let (parts, least) = if sweeps_all() { (6, 500) } else { (2, 160) };
    let compiled = parallel::each(&(0..parts).collect::<Vec<_>>(), |part| {
        // By turns the one and the other half of the architectures.
        let archs = ARCHS.iter().skip(part % 2).step_by(2).map(ToString::to_string).collect();
        programs_from(part / 2 * count, count, archs)
    });
    assert!(compiled.iter().sum::<usize>() >= least, "{compiled:?}");
}

/// So many random programs of most kinds from a number on are right; how many pairs of a program
/// and an architecture compile.
fn programs_from(first: usize, count: usize, archs: Vec<String>) -> usize {
    let wish = Wish {
        seed: 15,
        first,
        count,
        archs,
        kinds: KINDS
            .iter()
            .map(|(kind, _)| kind.to_string())
            .filter(|k| {
                ![
                    NESTS, STAGES, ELEMENTS, RANKS, ATOMICS, QUOTIENTS, APART, HALVES, ANSWERS,
                    LONG, FUNCTIONS, FEW, SUMS, HALO, SPELLED, ADDRESSED, MIXTURE,
                ]
                .contains(&k.as_str())
            })
            .collect(),
        seconds: None,
        assemble: true,
        shrink: false,
        refusal: None,
    };
    let report = hunt(&wish, |found| println!("WRONG {found}"));
    println!("{report}");
    assert_eq!(report.not_understood, Vec::<String>::new());
    assert_eq!(report.wrong, 0, "{report}");
    report.compiled()
}

/// Any bytes are choices, and any choices a program that the interpreter understands.
#[test]
fn every_kind_is_understood() {
    for (kind, _) in KINDS {
        for bytes in
            [&[][..], &[255; 300], &[7, 3, 200, 1, 90, 33, 17, 250, 4, 66, 8, 12, 1, 1, 1, 2, 5, 9]]
        {
            let program = generate(kind, Choices::bytes(bytes)).expect("a kind");
            references(&program.text("f"))
                .unwrap_or_else(|e| panic!("{kind}: {e}\n{}", program.text("f")));
        }
    }
    assert!(generate("wish", Choices::seeded(1)).is_none());
}

#[test]
fn planted_faults_are_found() {
    assert!(FAULTS.len() >= 12);
    let mut missed = Vec::new();
    for fault in FAULTS {
        match fault.found_within(4, 200) {
            Some(number) => println!("{} ({}): program {number}", fault.name, fault.arch),
            None => missed.push(format!("{} ({})", fault.name, fault.arch)),
        }
    }
    assert_eq!(missed, Vec::<String>::new());
}

/// What is not needed for the fault goes: statements, loops, carried values, extents, threads,
/// layouts, arguments.
#[test]
fn wrong_programs_become_small() {
    let mut seen = 0;
    for number in 0..80 {
        let program = generate("flow", Choices::seeded(number)).expect("a kind");
        let spoilt = |text: &str| text.contains("= mma") && text.contains("-> memref");
        if !spoilt(&program.text("f")) {
            continue;
        }
        seen += 1;
        let small = shrink(&program, |p| {
            references(&p.text("f")).is_ok_and(|r| !r.is_empty()) && spoilt(&p.text("f"))
        });
        let text = small.text("f");
        assert!(
            spoilt(&text)
                && text.lines().count() <= 13
                && small.threads == 32
                && !text.contains("layout")
                && !text.contains("scf.for"),
            "{text}"
        );
        assert!(
            small
                .types
                .iter()
                .flat_map(|t| &t.shape)
                .all(|e| *e <= 8 || !text.contains(&format!("{e}x"))),
            "{text}"
        );
    }
    assert!(seen >= 5, "{seen}");
}
