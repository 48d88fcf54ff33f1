//! Prints what inference does on one program of a folder.
use lanebook_infer::{Inference, InferenceEvent, Listener};
use lanebook_inference_tests::program::tell;
use lanebook_inference_tests::unit::{arch, figures, unit};
use lanebook_report::memory::LoopMemory;
use serde_json::Value;

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
            let mut memory = LoopMemory::default();
            let program = &record["program"];
            let arch = program["target"].as_str().and_then(arch).expect("a target");
            let mut inference = Inference::new(memory.parts().inference, figures(arch));
            let told = tell(&mut inference, program, &unit).expect("a program");
            println!("{:?}", told.buffers);
            let done = inference.run(&lanebook::TABLES.policies[0], &mut Print);
            println!("{done:?}");
        }
    }
}
