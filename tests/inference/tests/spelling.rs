//! How an index is spelt changes nothing: neither the verdict nor a layout.

use lanebook_inference_tests::judge::{Answer, ask};
use lanebook_inference_tests::program::list;
use lanebook_inference_tests::unit::{arch, figures, unit};
use lanebook_report::memory::LoopMemory;
use serde_json::{Value, json};
use std::collections::HashMap;

/// A spelling of the variables of a loop nest: by name.
type Spelling = fn(&[(String, i64)]) -> HashMap<String, Value>;

/// Each variable as a digit of the nest's flat number.
fn flattened(vars: &[(String, i64)]) -> HashMap<String, Value> {
    let flat =
        vars.iter().fold(json!(0), |sum, (name, extent)| json!(["+", ["*", sum, extent], name]));
    let mut below = 1;
    let mut out = HashMap::new();
    for (name, extent) in vars.iter().rev() {
        out.insert(name.clone(), json!(["%", ["//", flat, below], extent]));
        below *= extent;
    }
    out
}

/// Each variable by bits turned over twice, and as a quotient.
fn turned(vars: &[(String, i64)]) -> HashMap<String, Value> {
    let spell = |(k, (name, extent)): (usize, &(String, i64))| {
        let turned = if extent.count_ones() == 1 && k % 2 == 0 {
            json!(["^", ["^", name, extent - 1], extent - 1])
        } else {
            json!(["//", ["+", ["*", name, 6], 5], 6])
        };
        (name.clone(), turned)
    };
    vars.iter().enumerate().map(spell).collect()
}

/// The expression with other spellings of its variables.
fn respelt(e: &Value, by: &HashMap<String, Value>) -> Value {
    if let Some(name) = e.as_str() {
        return by.get(name).cloned().unwrap_or_else(|| e.clone());
    }
    let Some(parts) = e.as_array() else { return e.clone() };
    if parts.first().and_then(Value::as_str) == Some("load") {
        let indices: Vec<Value> = list(&parts[2]).iter().map(|i| respelt(i, by)).collect();
        return json!(["load", parts[1], indices]);
    }
    let rest = parts.iter().skip(1).map(|p| respelt(p, by));
    Value::Array(parts.first().cloned().into_iter().chain(rest).collect())
}

fn statement(s: &Value, by: &HashMap<String, Value>) -> Value {
    let mut out = s.clone();
    for key in ["val", "cond"] {
        if let Some(e) = s.get(key) {
            out[key] = respelt(e, by);
        }
    }
    if let Some(indices) = s.get("idx") {
        out["idx"] = list(indices).iter().map(|i| respelt(i, by)).collect();
    }
    for key in ["body", "then", "else"] {
        if let Some(inner) = s.get(key) {
            out[key] = list(inner).iter().map(|s| statement(s, by)).collect();
        }
    }
    out
}

fn operation(op: &Value, spell: Spelling) -> Value {
    let mut out = op.clone();
    if op["op"] == "parallel" {
        let vars: Vec<(String, i64)> = list(&op["vars"])
            .iter()
            .map(|v| (v[0].as_str().expect("a name").to_owned(), v[1].as_i64().expect("a number")))
            .collect();
        let by = spell(&vars);
        out["body"] = list(&op["body"]).iter().map(|s| statement(s, &by)).collect();
        return out;
    }
    for key in ["body", "then"] {
        if let Some(inner) = op.get(key)
            && list(inner).iter().all(|o| o.get("op").is_some())
        {
            out[key] = list(inner).iter().map(|o| operation(o, spell)).collect();
        }
    }
    out
}

/// The answer as text, for comparison.
fn answer(memory: &mut LoopMemory, program: &Value) -> String {
    let arch = program["target"].as_str().and_then(arch).expect("a target");
    let (answer, faults) =
        ask(memory, program, figures(arch), &lanebook::TABLES.policies[0], &unit);
    assert!(faults.is_empty(), "{}: {faults:?}", program["id"]);
    match answer {
        Answer::Layouts(buffers, loops) => {
            let mut named: Vec<_> = buffers.into_iter().collect();
            named.sort_by(|a, b| a.0.cmp(&b.0));
            format!("{named:?} {loops:?}")
        }
        Answer::Stopped(_) => "refused".into(),
        Answer::Unread(what) => what,
    }
}

#[test]
fn an_index_spelt_in_three_ways_has_one_answer() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../oracle/data/tilelang");
    let mut memory = LoopMemory::default();
    let mut seen = 0;
    for file in ["seed", "access", "random", "issue", "sweeps"] {
        let text = std::fs::read_to_string(format!("{folder}/programs_{file}.jsonl"));
        for line in text.expect("the records").lines() {
            let record: Value = serde_json::from_str(line).expect("a record");
            let program = &record["program"];
            let loops = list(&program["ops"]).iter().any(|o| o["op"] == "parallel");
            let points: i64 = list(&program["buffers"])
                .iter()
                .map(|b| list(&b["shape"]).iter().filter_map(Value::as_i64).product::<i64>())
                .max()
                .unwrap_or(0);
            if !loops || points > 4096 || list(&program["ops"]).iter().any(|o| o["op"] == "gemm") {
                continue;
            }
            let plain = answer(&mut memory, program);
            for spell in [flattened as Spelling, turned] {
                let mut other = program.clone();
                other["ops"] = list(&program["ops"]).iter().map(|o| operation(o, spell)).collect();
                let found = answer(&mut memory, &other);
                assert_eq!(plain, found, "{}", program["id"]);
            }
            seen += 1;
        }
    }
    assert!(seen >= 100, "only {seen} programs");
}
