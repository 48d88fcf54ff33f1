//! Prints what inference does on one program of a folder.
use lanebook_infer::{Inference, InferenceEvent, Listener, MachineFigures};
use lanebook_inference_tests::program::{Memory, tell};
use serde_json::Value;

/// Figures of sm_80.
const MACHINE: MachineFigures = MachineFigures { wave: 32, access_bits: 128, sector_bytes: 32 };

struct Print;
impl Listener for Print {
    fn event(&mut self, _: &Inference<'_>, event: InferenceEvent) {
        println!("{event:?}");
    }
}

fn main() {
    let dir = std::env::args().nth(1).expect("a folder");
    let id = std::env::args().nth(2).expect("a program");
    for path in std::fs::read_dir(dir).expect("a folder") {
        for line in std::fs::read_to_string(path.expect("a file").path()).expect("text").lines() {
            if !line.contains(&format!("\"id\":\"{id}\"")) {
                continue;
            }
            let record: Value = serde_json::from_str(line).expect("a record");
            let mut memory = Memory::default();
            let mut inference = memory.inference(MACHINE);
            let told = tell(&mut inference, &record["program"], &|_, _| false).expect("a program");
            println!("{:?}", told.buffers);
            let done = inference.run(&lanebook::TABLES.policies[0], &mut Print);
            println!("{done:?}");
        }
    }
}
