//! The project's own copy of the recorded answers passes, and a wrong record does not.

use crate::report::Report;
use crate::{SUITES, own_data, runner};

#[test]
fn own_data_agrees() {
    let report = runner::run(&own_data(), SUITES);
    assert!(report.passed(), "\n{}", report.render(20));
}

/// The report on one file with these lines.
fn report_on(name: &str, lines: &str) -> Report {
    let path =
        std::env::temp_dir().join(format!("lanebook-oracle-{}-{name}.jsonl", std::process::id()));
    std::fs::write(&path, lines).expect("a temporary file");
    let report = runner::run(&path, SUITES);
    std::fs::remove_file(&path).expect("removed");
    report
}

/// A record of CuTe's schema, under a name that says nothing.
fn record(op: &str, inputs: &str, dsl: &str) -> String {
    format!(r#"{{"id":"x","op":"{op}","in":{inputs},"dsl":{dsl},"pycute":{{"na":1}}}}"#)
}

#[test]
fn a_wrong_answer_is_a_difference() {
    let layout = r#"{"layout":"(4,2):(1,4)"}"#;
    assert!(report_on("right", &record("coalesce", layout, r#"{"ok":"8:1"}"#)).passed());
    for wrong in
        [r#"{"ok":"8:2"}"#, r#"{"ok":"(4,2):(1,4)"}"#, r#"{"ok":"7:1"}"#, r#"{"err":"E","msg":""}"#]
    {
        assert!(!report_on("wrong", &record("coalesce", layout, wrong)).passed(), "{wrong}");
    }
    // A right composition must not be refused, whatever the rule says of wrong ones.
    let pair = r#"{"a":"(6,2):(1,7)","b":"(3,2):(2,3)"}"#;
    assert!(report_on("peer", &record("composition", pair, r#"{"ok":"(3,2):(2,3)"}"#)).passed());
    let pair = r#"{"a":"(6,2):(1,7)","b":"3:2"}"#;
    assert!(!report_on("ours", &record("composition", pair, r#"{"ok":"3:3"}"#)).passed());
}

/// What an assembler takes is claimed for those targets and no others.
#[test]
fn a_wrong_target_is_a_difference() {
    let record = |mnemonic: &str, asm: &str, accepts: &str| {
        format!(r#"{{"mnemonic":"{mnemonic}","asm":"{asm}","accepts":[{accepts}]}}"#)
    };
    let right = r#""gfx942","gfx950","gfx1250","gfx1251""#;
    let line = "v_lshl_add_u64 v[0:1], v[2:3], 3, v[4:5]";
    assert!(report_on("taken", &record("v_lshl_add_u64", line, right)).passed());
    for wrong in [r#""gfx942","gfx950""#, r#""gfx90a","gfx942","gfx950","gfx1250","gfx1251""#] {
        assert!(
            !report_on("not-taken", &record("v_lshl_add_u64", line, wrong)).passed(),
            "{wrong}"
        );
    }
    let odd = "v_lshl_add_u64 v[1:2], v[2:3], 3, v[4:5]";
    assert!(!report_on("odd", &record("v_lshl_add_u64", odd, right)).passed(), "an odd tuple");
    assert!(
        !report_on("instruction", r#"{"gfx":"gfx942","inst":"v_mfma_f32_16x16x32_f16","asm":"v_mfma_f32_16x16x32_f16 v[0:3], v[8:11], v[12:15], v[0:3]"}"#)
            .passed()
    );
}

#[test]
fn what_cannot_be_read_or_is_not_known_is_reported() {
    let good = record("size", r#"{"layout":"4:1"}"#, r#"{"ok":"4"}"#);
    assert!(!report_on("broken", &format!("{good}\n{{\n")).passed());
    assert!(
        !report_on("operation", &record("sise", r#"{"layout":"4:1"}"#, r#"{"ok":"4"}"#)).passed()
    );
    assert!(
        !report_on("stray", &format!("{good}\n{{\"a\":1}}\n")).passed(),
        "a record of no schema beside one"
    );
    let unknown = report_on("unknown", "{\"a\":1}\n");
    assert!(unknown.render(1).contains("unknown schema"));
    assert!(!unknown.passed(), "nothing was compared");
    assert!(!report_on("none", "").passed());
    assert!(!runner::run(std::path::Path::new("/no/such/folder"), SUITES).passed());
}
