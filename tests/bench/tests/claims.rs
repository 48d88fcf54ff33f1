//! What does not depend on the machine: instruction counts beside Triton's, and that the report is
//! complete.
use lanebook::compile::{compile, plan};
use lanebook::ir::SmallStorage;
use lanebook::{EMISSION, LEAN, TABLES};
use lanebook_bench::{
    Effort, Report, address, against, algebra, budget, conversion_time, conversions, distinct,
    growth, lookup, passes, regions, room, size, whole,
};
use std::sync::OnceLock;

/// One report for all who ask, everything in it measured once: that its rows are there is what
/// counts here.
fn report() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| lanebook_bench::report(Effort::Once))
}

/// "Never more": to the first address and for all further ones together, counted from nothing,
/// beside Triton's sequence: on Triton's shared layout, and on the chosen one beside Triton's best
/// for the same form (or its only one).
#[test]
fn no_sequence_costs_more_address_instructions_than_triton() {
    let counts = address::counts();
    assert_eq!(counts.len(), 10 + 7, "both architectures are in the tables");
    let mut worse = Vec::new();
    for count in &counts {
        let peer = count.peers().find(|peer| Some(peer.form) == count.form);
        let peer = peer.or(count.peers().next());
        assert!(peer.is_some() || count.triton.is_empty(), "{count:?}");
        if peer.is_some_and(|peer| count.first + count.further > peer.first + peer.further) {
            worse.push(format!("{count:?}"));
        }
        assert!(count.accesses > 0 && !count.atom.is_empty(), "{count:?}");
    }
    assert!(worse.is_empty(), "more than Triton's:\n{}", worse.join("\n"));
}

/// Machine instructions are counted where an assembler makes them, and it makes no more of a
/// sequence than stands in the text.
#[test]
fn the_assembler_makes_no_more_of_a_sequence() {
    let counts = address::counts();
    let mut counted = 0;
    for count in &counts {
        let Some(machine) = &count.machine else { continue };
        let machine = machine.as_ref().unwrap_or_else(|e| panic!("{}: {e}", count.what));
        assert!((2..=count.first).contains(machine), "{machine} of {count:?}");
        counted += 1;
    }
    assert_eq!(counted, 6, "two layouts of each of NVIDIA's sequences");
}

/// Every recorded conversion is right, in the replay too, and together they cost no more than they
/// did: passes, instructions, scratch.
#[test]
fn conversions_keep_to_their_budget() {
    let records = conversions::records(&conversions::own()).expect("the records");
    let (text, above) = conversions::table(&records, false, Some(&conversions::BUDGET));
    assert!(records.len() > 200, "{} records", records.len());
    assert!(above.is_empty(), "{above:?}\n{text}");
}

/// Direct-to-LDS: a further access costs one sum for its rows in global memory and one for its run
/// in shared memory, which is Triton's count where it pads; where it swizzles, it takes more.
#[test]
fn a_further_direct_copy_costs_two_instructions() {
    let counts = address::counts();
    let direct =
        counts.iter().find(|count| count.what.starts_with("direct-to-LDS")).expect("it is counted");
    assert!(direct.accesses > 1 && direct.further <= 2 * (direct.accesses - 1), "{direct:?}");
    assert!(direct.triton.iter().all(|peer| direct.further <= peer.further), "{direct:?}");
    let starts = direct.lines.concat().iter().filter(|line| line.contains(" m0,")).count();
    assert_eq!(starts, direct.accesses as usize, "M0 is written once an access: {direct:?}");
}

/// Where Triton's sequence takes as many accesses, so does this one; but for one, where Triton lets
/// a lane hold two steps of k side by side.
#[test]
fn accesses_are_as_wide_as_triton_s() {
    for count in address::counts() {
        let narrower = count.triton.iter().any(|peer| count.accesses > peer.accesses);
        let known = (count.arch, count.what) == ("gfx942", "ds_read A");
        assert_eq!(narrower, known, "{count:?}");
    }
}

/// Planning and emission read nothing that the lean tables lack: the same text, or a refusal too,
/// for every architecture.
#[test]
fn the_lean_tables_lose_nothing() {
    let [gemm, transpose] = lanebook_bench::EXAMPLES;
    // Programs may name what moves a tile.
    let asked = ["tma.2d.load.one", "cp.async.cg.16"]
        .map(|mover| gemm.1.replace("], %sa :", &format!("], %sa {{mover = \"{mover}\"}} :")));
    assert!(asked.iter().all(|text| text != gemm.1));
    for (name, text) in [
        gemm,
        transpose,
        ("gemm by a tensor map", &asked[0]),
        ("gemm by an asynchronous copy", &asked[1]),
    ] {
        let mut storage = Box::new(SmallStorage::new());
        let mut program = whole::read(&mut storage, text);
        let mut made = 0;
        for (id, arch) in whole::archs() {
            let written = [&TABLES, &LEAN].map(|tables| {
                let mut room = Box::new(whole::Room::new());
                let mut text = String::new();
                // A refusal names atoms by ids, which differ.
                let compiled = compile(tables, id, &mut program, room.scratch()).ok()?;
                compiled.write(tables, &program, &mut text).ok().map(|()| text)
            });
            made += usize::from(written[0].is_some());
            assert_eq!(written[0], written[1], "{name} {}", arch.name);
            // A stored plan, and what emission alone reads.
            let mut room = Box::new(whole::Room::new());
            let mut text = String::new();
            let emitted = plan(&LEAN, id, &mut program, room.scratch())
                .and_then(|planned| planned.emit(&EMISSION, &program))
                .ok()
                .and_then(|compiled| compiled.write(&EMISSION, &program, &mut text).ok());
            assert_eq!(written[1], emitted.map(|()| text), "{name} {}", arch.name);
        }
        assert!(made > 3, "{name}: {made}");
    }
}

/// What the removal of conversions writes grows with the program and no faster, and a record is
/// written once however often it changes.
#[test]
fn passes_are_linear_in_what_they_write() {
    for (shape, small, large) in passes::growth() {
        assert!(small < 256.0 && large < 256.0, "{shape}: {small} and {large} bytes an operation");
        assert!(
            small > 0.0 && large <= 1.25 * small,
            "{shape}: {small} bytes an operation at 64 operations, {large} at 1,024"
        );
    }
}

#[test]
fn the_report_has_every_row() {
    let report = report();
    for (section, least) in [
        (lookup::SECTION, 9),
        (algebra::SECTION, 30),
        (whole::SECTION, 2 * (1 + 2 * 2)),
        (conversion_time::SECTION, 2 * 3),
        (passes::SECTION, 4 * (5 + 2 + 1) + 3 * 2),
        (passes::APPLICATIONS, 10),
        (passes::TRITON, 5 + 3 * 3),
        (growth::SECTION, 8 * 2),
        (regions::SECTION, 2),
        (distinct::SECTION, 6),
        (room::SECTION, 2 + 2 * 3),
        (size::SECTION, 3),
        (address::SECTION, 16),
    ] {
        let rows = report.rows.iter().filter(|row| row.section == section).count();
        assert!(rows >= least, "{section}: {rows} rows, at least {least} expected");
    }
    for row in &report.rows {
        assert!(row.value.is_finite() && row.value >= 0.0, "{row:?}");
    }
    for row in report.rows.iter().filter(|row| row.section != address::SECTION) {
        assert!(row.value > 0.0, "{row:?}");
    }
    let (text, json) = (report.to_string(), against::document(report));
    assert!(report.rows.iter().all(|row| text.contains(&row.what) && json.contains(&row.what)));
    let document: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(document["budgets"].as_array().map(Vec::len), Some(budget::BUDGETS.len()));
    assert!(document["made"]["machine"]["cores"].as_u64() > Some(0), "{}", document["made"]);
    // Beside itself nothing differs; beside one where a figure was half and one was missing, these.
    let same = against::compared(report, &json).expect("a document");
    assert!(same.ends_with(&format!("  {} differ by at most 5 %\n", report.rows.len())), "{same}");
    let mut older = document;
    let first = older["rows"][0]["value"].as_f64().expect("a number");
    older["rows"][0]["value"] = (first / 2.0).into();
    older["rows"].as_array_mut().expect("a list").pop();
    let told = against::compared(report, &older.to_string()).expect("a document");
    assert!(told.contains("  more  ") && told.contains("(2.00 x)"), "{told}");
    assert!(told.contains("  new   ") && against::compared(report, "[]").is_err(), "{told}");
}

/// Every budget is held against something, images excepted, which are built by a script.
#[test]
fn every_budget_has_rows() {
    let text = budget::table(report());
    for budget in &budget::BUDGETS {
        let measured = report().rows.iter().any(|row| (budget.is_for)(row));
        assert!(measured || budget.what.starts_with("image"), "{}:\n{text}", budget.what);
    }
}

/// Twice the program is twice the changes and twice what is written, whatever the pass.
#[test]
fn every_pass_does_as_much_an_operation() {
    let all = growth::grown(&[64, 512], Effort::Once);
    assert_eq!(all.len(), 8);
    for grown in all {
        let [small, large] = grown.sizes[..] else { panic!("{}: {:?}", grown.pass, grown.sizes) };
        let more = large.ops as f64 / small.ops as f64;
        assert!(small.changes > 0 && more > 4.0, "{}: {small:?}, {large:?}", grown.pass);
        assert!(
            f64::from(large.changes) <= 1.25 * more * f64::from(small.changes),
            "{}: {small:?}, {large:?}",
            grown.pass
        );
        assert!(
            large.journal as f64 <= 1.25 * more * small.journal as f64,
            "{}: {small:?}, {large:?}",
            grown.pass
        );
    }
}

/// Every kind of rule and analysis that the passes apply has a price of its own.
#[test]
fn every_rule_has_a_price() {
    let found: Vec<_> =
        report().rows.iter().filter(|row| row.section == passes::APPLICATIONS).collect();
    for wanted in [
        "convert_convert",
        "convert_same",
        "convert_constant",
        "push_met_convert",
        "push_elementwise",
        "[weigh-conversions]",
    ] {
        assert!(
            found.iter().any(|row| row.what.contains(wanted)
                && !row.what.ends_with(", 0 times")
                && row.value > 0.0),
            "{wanted}: {found:?}"
        );
    }
    assert!(found.len() >= 10, "{found:?}");
}

/// Of the recorded conversions four say fewer passes than their own instructions can take: what each
/// lane moves is other bytes, and all banks deliver so many in a pass. No other record does.
#[test]
fn four_records_of_conversions_say_fewer_passes_than_their_instructions_take() {
    let text = std::fs::read_to_string(conversions::own()).expect("the records");
    let mut found = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let record: serde_json::Value = serde_json::from_str(line).expect("a record");
        let least = conversions::least_of(&record).expect("known instructions");
        let passes = record["triton"]["passes"].as_u64().expect("passes");
        if passes < least {
            found.push((record["id"].as_str().expect("a name").to_string(), passes, least));
        }
    }
    let wanted = [
        ("cvt-0054", 64, 80), // (2 stores + 8 loads) x 4 warps x 32 lanes x 8 bytes, 128 a pass
        ("cvt-0120", 64, 128), // (2 + 2) x 4 x 64 x 16
        ("cvt-0154", 32, 64), // (4 + 4) x 4 x 32 x 8
        ("cvt-0230", 64, 128), // (2 + 2) x 4 x 64 x 16
    ];
    found.sort();
    assert_eq!(found, wanted.map(|(name, passes, least)| (name.to_string(), passes, least)));
    for (name, bytes) in [
        ("ds_read2st64_b32", 8),
        ("ld.shared.v4.b16", 8),
        ("ds_write_b16_d16_hi", 2),
        ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 16),
        ("shfl.sync.idx.b32", 0),
    ] {
        assert_eq!(conversions::lane_bytes(name), Some(bytes), "{name}");
    }
}
