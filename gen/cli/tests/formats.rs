//! Every command's answer as JSON and, where it is a table, as comma-separated values; what `show` marks.

use crate::support;
use crate::support::run;
use serde_json::Value;

const MMA: &str = "mma.m16n8k16.f32.f16";
const GEMM: &str = "gen/cli/examples/gemm.tile";

/// The rows of a text of comma-separated values without quotes in it.
fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn every_command_has_json() {
    let root = support::root();
    let at = |path: &str| root.join(path).display().to_string();
    let (gemm, lint) = (at(GEMM), at("docs/linting.md"));
    assert!(std::path::Path::new(&lint).exists());
    let faults = at("gen/cli/tests/lint.ttgir");
    let loops = at("gen/cli/examples/loops/gemm.tile");
    let commands: [&[&str]; 17] = [
        &["compile", &gemm, "--arch", "sm_80"],
        &["opt", &gemm],
        &["rules"],
        &["rules", "--dispatch", "convert_layout"],
        &["atoms", "--arch", "sm_80"],
        &["atoms", "--arch", "sm_80", "--long", "--filter", "ldmatrix.x4"],
        &["ops"],
        &["ask", "(8,4):(4,1)"],
        &["show", "(8,4):(4,1)"],
        &["show", MMA, "--arch", "sm_80"],
        &["arch"],
        &["arch", "gfx950"],
        &["infer", &loops, "--arch", "sm_90a"],
        &["lint", &faults],
        &["dispatch", "--arch", "sm_80", "product"],
        &["diff", "sm_80", "sm_90a"],
        &["size", "sm_80,gfx950"],
    ];
    for command in commands {
        let ran = run(&[command, &["--format", "json"]].concat());
        let said: Value = serde_json::from_str(&ran.out)
            .unwrap_or_else(|e| panic!("{command:?}: {e} {}", ran.err));
        let empty = said.as_array().is_some_and(Vec::is_empty)
            || said.as_object().is_some_and(|o| o.is_empty());
        assert!(!empty && !said.is_null(), "{command:?}: {said}");
    }
}

#[test]
fn tables_are_the_same_in_each_form() {
    let json: Value = serde_json::from_str(&run(&["arch", "--format", "json"]).out).expect("JSON");
    let csv = run(&["arch", "--format", "csv"]).out;
    let csv = rows(&csv);
    assert_eq!(csv[0][..3], ["arch", "vendor", "isa"]);
    let list = json.as_array().expect("a list");
    assert!(list.len() > 30 && list.len() + 1 == csv.len());
    for (object, row) in list.iter().zip(&csv[1..]) {
        assert_eq!(
            (object["arch"].as_str(), object["vendor"].as_str()),
            (Some(row[0]), Some(row[1]))
        );
    }
    let text = run(&["size", "sm_80"]).out;
    let json: Value =
        serde_json::from_str(&run(&["size", "sm_80", "--format", "json"]).out).expect("JSON");
    let bytes = json[0]["bytes"].as_u64().expect("a number");
    assert!(bytes > 10_000 && text.contains(&bytes.to_string()), "{text}");
    run(&["arch", "sm_80", "--format", "csv"]).refused(2, &["several tables", "--format json"]);
    run(&["atoms", "--arch", "sm_80", "--long", "--format", "csv"])
        .refused(2, &["--long is no table"]);
    let atoms = run(&["diff", "sm_80", "sm_90a", "--format", "csv"]).out;
    assert!(
        atoms.starts_with("kind,name,first,second\n") && atoms.contains("\natom,wgmma."),
        "{atoms}"
    );
}

/// Element (i, j) of the accumulators of m16n8k16 by PTX's formula: lane 4 (i mod 8) + j / 2, register 2 (i / 8) + j mod 2.
#[test]
fn positions_are_rows_of_numbers() {
    let csv = run(&["ask", &format!("{MMA}.D"), "--arch", "sm_80", "--format", "csv"]).out;
    let csv = rows(&csv);
    let column = |name: &str| csv[0].iter().position(|head| *head == name).expect("a column");
    assert_eq!(csv.len(), 1 + 16 * 8);
    for row in &csv[1..] {
        let number = |name: &str| row[column(name)].parse::<u32>().expect("a number");
        let (i, j) = (number("i0"), number("i1"));
        assert_eq!(number("laneid"), 4 * (i % 8) + j / 2);
        assert_eq!(number("bit"), 32 * (2 * (i / 8) + j % 2));
    }
    let places =
        run(&["ask", "S[(8,4):(4@laneid,1)] + R[2:4@warpid] @ 8x4 at (3, 1)", "--format", "csv"])
            .out;
    assert_eq!(places, "laneid,m,warpid\n12,1,0\n12,1,4\n");
    let elements =
        run(&["ask", "v_mfma_f32_32x32x8_f16.D where lane 33 register 2", "--format", "csv"]).out;
    assert_eq!(elements, "i0,i1\n6,1\n");
    let figures =
        run(&["ask", "conflicts((64,64):(64,1), ldmatrix, f16) on sm_90", "--format", "csv"]).out;
    assert!(figures.starts_with("name,value\n") && figures.contains("\npasses,32\n"), "{figures}");
}

#[test]
fn show_marks_what_is_asked_for() {
    let lane =
        run(&["show", MMA, "--arch", "sm_80", "--only", "D", "--lane", "14", "--format", "csv"])
            .out;
    let kept: Vec<Vec<&str>> =
        rows(&lane).into_iter().skip(1).filter(|row| row[3] != "·").collect();
    // Lane 14: rows 3 and 11, columns 4 and 5.
    let places: Vec<(&str, &str)> = kept.iter().map(|row| (row[1], row[2])).collect();
    assert_eq!(places, [("3", "4"), ("3", "5"), ("11", "4"), ("11", "5")], "{lane}");
    let one = run(&[
        "show", MMA, "--arch", "sm_80", "--only", "D", "--lane", "14", "--reg", "3", "--format",
        "csv",
    ])
    .out;
    assert_eq!(one.matches('·').count(), 127, "{one}");
    let at = run(&["show", "(8,8):(8,1)", "--at", "3,5"]).out;
    assert!(at.contains("element (3, 5): m 29") && at.matches('·').count() == 63, "{at}");
    let part = run(&["show", "mma.m16n8k16.f32.f16.A", "--arch", "sm_80"]).out;
    assert!(part.contains("16 x 16, 256 elements"), "{part}");
    let mfma = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [1, 1], instrShape = [32, 32, 8], isTransposed = false}> @ 32x32";
    let whole = run(&["show", mfma, "--arch", "gfx942", "--lane", "33", "--reg", "2"]).out;
    assert_eq!(whole.matches('·').count(), 32 * 32 - 1, "{whole}");
    run(&["show", "(8,8):(8,1)", "--at", "9,5"]).refused(1, &["no element has this coordinate"]);
    run(&["show", "(8,8):(8,1)", "--lane", "1"]).refused(1, &["an axis that the layout has"]);
    run(&["show", "(8,8):(8,1)", "(8,8):(1,8)", "--at", "1,1"])
        .refused(2, &["leave --view and the second layout out"]);
    let svg = run(&["show", "(8,8):(8,1)", "--format", "svg"]).out;
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    run(&["show", "(8,8):(8,1)", "-o", "picture.png"])
        .refused(2, &["pictures are SVG", "--format"]);
}

/// Extents that are no powers of two are told of in panels, and each of these says where it begins:
/// all elements of a lane follow from the first panel's bases.
#[test]
fn panels_of_a_conversion_say_where_they_begin() {
    const FROM: &str = "S[(8,3,4,4):(4@laneid,128@bit,1@laneid,32@bit)]";
    const TO: &str = "S[(2,4,3,8,2):(192@bit,8@laneid,64@bit,1@laneid,32@bit)]";
    let said = |shape: &str, from: &str, to: &str| -> Value {
        let options = ["--shape", shape, "--type", "f32", "--arch", "sm_80", "--emit", "json"];
        let text = run(&[&["convert", from, to], &options[..]].concat()).fine();
        serde_json::from_str(&text).expect("JSON")
    };
    let whole = said("8x48", FROM, TO);
    let elements = &whole["inputs"][0]["elements"];
    assert_eq!(elements["panels"], serde_json::json!([[0, 0], [0, 16], [0, 32]]), "{elements}");
    // A panel for each four of the registers.
    let registers = whole["inputs"][0]["registers"].as_array().expect("registers").len();
    assert_eq!((registers, elements["place"].as_array().expect("places").len()), (12, 2));
    let one = said("16x8", "S[(16,2,4):(2@laneid,1@laneid,32@bit)]", "mma.m16n8k16.f32.f16.D");
    assert!(one["inputs"][0]["elements"]["panels"].is_null(), "{one}");
}
