//! Compares all programs of a folder: one line each.
use lanebook_inference_tests::judge::{Answer, ask, recorded};
use lanebook_inference_tests::program::{Memory, list};
use serde_json::Value;

fn main() {
    let dir = std::env::args().nth(1).expect("a folder");
    let only = std::env::args().nth(2);
    let mut memory = Memory::default();
    let weights = if std::env::var_os("OWN").is_some() {
        lanebook_infer::CostWeights { registers: 1, memory: 1, work: 1 }
    } else {
        lanebook_infer::CostWeights { registers: 1, memory: 0, work: 0 }
    };
    let mut files: Vec<_> =
        std::fs::read_dir(dir).expect("a folder").map(|f| f.expect("a file").path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.starts_with("programs_") {
            continue;
        }
        for line in std::fs::read_to_string(&path).expect("text").lines() {
            let record: Value = serde_json::from_str(line).expect("a record");
            let id = record["id"].as_str().expect("an id").to_owned();
            if only.as_ref().is_some_and(|o| !id.starts_with(o.as_str())) {
                continue;
            }
            let (answer, faults) = ask(&mut memory, &record["program"], weights, &|_, _| false);
            let result = &record["result"];
            let verdict = result["verdict"].as_str().unwrap_or("");
            let class = result["inference"]["class"]
                .as_str()
                .or(result["lowering"]["class"].as_str())
                .unwrap_or("");
            let text = match &answer {
                Answer::Unread(e) => format!("UNREAD {e}"),
                Answer::Stopped(e) => format!("STOPPED {e}"),
                Answer::Layouts(buffers, loops) => {
                    let mut out = String::new();
                    if !faults.is_empty() {
                        out += &format!("FAULTY {faults:?} ");
                    }
                    let mut slots = (0, 0);
                    if let Some(theirs) = result["buffers"].as_object() {
                        for (name, layout) in theirs {
                            let Some(t) = recorded(layout) else { continue };
                            let Some(o) = buffers.get(name) else {
                                out += &format!("MISSING {name} ");
                                continue;
                            };
                            slots.0 += o.slots();
                            slots.1 += t.slots();
                            if t.threads != o.threads {
                                out += &format!(
                                    "[{name} ours {} theirs {} slots {}/{}] ",
                                    short(&o.threads),
                                    short(&t.threads),
                                    o.slots(),
                                    t.slots()
                                );
                            }
                        }
                    }
                    for (k, theirs) in list(&result["loops"]).iter().enumerate() {
                        let Some(t) = recorded(theirs) else { continue };
                        match loops.get(k) {
                            Some(Some(o))
                                if o.threads == t.threads || o.threads.len() != t.threads.len() => {
                            }
                            Some(Some(o)) => {
                                out += &format!(
                                    "[loop{k} ours {} theirs {} slots {}/{}]",
                                    short(&o.threads),
                                    short(&t.threads),
                                    o.slots(),
                                    t.slots()
                                )
                            }
                            _ => out += &format!("[loop{k} missing]"),
                        }
                    }
                    if out.is_empty() {
                        "SAME".into()
                    } else if out.starts_with("FAULTY") {
                        out
                    } else {
                        format!("OTHER {}/{} {out}", slots.0, slots.1)
                    }
                }
            };
            println!("{id} {verdict} {class} | {text}");
        }
    }
}

fn short(t: &[std::collections::BTreeSet<i64>]) -> String {
    t.iter()
        .take(6)
        .map(|s| format!("{}x{}", s.first().unwrap_or(&-1), s.len()))
        .collect::<Vec<_>>()
        .join(",")
}
