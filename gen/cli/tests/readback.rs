//! Layouts that are printed can be read: those of every atom, and those of the reports of the
//! examples.

use crate::support::run;
use lanebook::TABLES;
use lanebook_draw::notation::said;
use lanebook_layout::notation::{cute, tirx, ttg};
use lanebook_layout::{Coord, LayoutRef, NoSyms, WellKnown};
use std::collections::BTreeSet;

/// Where every element of a layout is, copies among it.
fn places(layout: &LayoutRef<'_>) -> Vec<Vec<Coord>> {
    let size = layout.size_value().expect("numbers");
    let one = |x| {
        let (mut all, mut at) = (Vec::new(), Coord::new());
        layout
            .apply_all(x, &mut at, |place| {
                all.push(place.clone());
                Ok(())
            })
            .expect("a place");
        all
    };
    (0..size).map(one).collect()
}

#[test]
fn every_layout_of_an_atom_reads_back() {
    let mut texts = BTreeSet::new();
    for atom in TABLES.atoms {
        let sides = atom.movement.iter().flat_map(|m| [m.from.layout, m.to.layout]);
        for layout in atom.operands.iter().filter_map(|operand| operand.layout).chain(sides) {
            let text = said(layout).unwrap_or_else(|| panic!("{}: {layout:?}", atom.name()));
            if texts.insert(text.clone()) {
                let back = tirx::parse(&text, &WellKnown, &mut NoSyms)
                    .unwrap_or_else(|error| panic!("{text}: {error:?}"));
                assert_eq!(places(layout), places(&back.view()), "{}: {text}", atom.name());
            }
        }
    }
    assert!(texts.len() > 250, "{}", texts.len());
}

/// The layouts in a text, by how they begin.
fn layouts(text: &str) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    for line in text.lines() {
        for (notation, begin) in [
            ("tirx", ": S["),
            ("tirx", ": ComposeLayout("),
            ("tirx", ": R["),
            ("ttg", ": #ttg."),
            ("cute", ": S<"),
        ] {
            out.extend(
                line.split_once(begin)
                    .map(|(_, rest)| (notation, format!("{}{rest}", &begin[2..]))),
            );
        }
    }
    out
}

#[test]
fn every_layout_of_a_report_reads_back() {
    let mut seen = BTreeSet::new();
    for example in ["gemm", "gemm_bt", "gemm_store", "transpose", "layer_norm", "attention"] {
        for arch in [
            "sm_75", "sm_80", "sm_90a", "sm_100a", "gfx90a", "gfx942", "gfx950", "gfx1030",
            "gfx1100", "gfx1200", "gfx1250",
        ] {
            let ran = run(&[
                "compile",
                &format!("gen/cli/examples/{example}.tile"),
                "--arch",
                arch,
                "--emit",
                "report",
            ]);
            if ran.code == 1 {
                continue; // refused there, which other tests look at
            }
            let report = ran.fine();
            assert!(!report.contains("no notation says"), "{example} {arch}\n{report}");
            for (notation, text) in layouts(&report) {
                match notation {
                    "ttg" => drop(
                        ttg::parse(&text)
                            .unwrap_or_else(|error| panic!("{example} {arch}: {text}: {error:?}")),
                    ),
                    "cute" => drop(
                        cute::parse(&text, &WellKnown, &mut NoSyms)
                            .unwrap_or_else(|error| panic!("{example} {arch}: {text}: {error:?}")),
                    ),
                    _ => drop(
                        tirx::parse(&text, &WellKnown, &mut NoSyms)
                            .unwrap_or_else(|error| panic!("{example} {arch}: {text}: {error:?}")),
                    ),
                }
                seen.insert((notation, text));
            }
        }
    }
    assert!(seen.len() > 30, "{}", seen.len());
    // Swizzled tiles, and padded ones.
    assert!(
        seen.iter().any(|(_, text)| text.starts_with("ComposeLayout("))
            && seen.iter().any(|(notation, _)| *notation == "ttg"),
        "{seen:?}"
    );
}

#[test]
fn what_show_says_in_another_notation_is_the_same_picture() {
    for text in
        ["(2,3):(1,2)", "((2,2),4):((1,8),2)", "S<2,1,3> o 0 o (8,8):(8,1)", "(4,(2,3)):(6,(1,2))"]
    {
        let picture = run(&["show", text]).fine();
        let line = picture
            .lines()
            .find_map(|line| line.trim().strip_prefix("TIRx: "))
            .unwrap_or_else(|| panic!("{picture}"))
            .to_string();
        let rows = |picture: &str| {
            picture
                .lines()
                .skip_while(|line| !line.contains("elements"))
                .filter(|line| !line.contains("TIRx:"))
                .map(str::to_string)
                .collect::<Vec<_>>()
        };
        let shape = picture
            .lines()
            .find_map(|line| line.split(',').next().filter(|_| line.contains("elements")))
            .expect("a shape")
            .trim()
            .replace(" x ", "x");
        assert_eq!(
            rows(&picture),
            rows(&run(&["show", &line, "--shape", &shape]).fine()),
            "{text} is not {line}"
        );
    }
}
