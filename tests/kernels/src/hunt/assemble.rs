//! Many kernels in one file for each target: an assembler's start costs more than a kernel.

use crate::Assembler;
use lanebook::TABLES;
use std::collections::BTreeMap;

/// Kernels that wait for their assembler.
#[derive(Default)]
pub struct Batches {
    waiting: BTreeMap<String, Vec<(usize, String)>>,
}

/// A kernel that its assembler refuses: program, architecture, what was said.
pub type Unassembled = (usize, String, String);

impl Batches {
    /// Adds the kernel of a program.
    pub fn add(&mut self, arch: &str, program: usize, text: String) -> Vec<Unassembled> {
        let list = self.waiting.entry(arch.to_string()).or_default();
        list.push((program, text));
        if list.len() < 48 { Vec::new() } else { self.flush(arch) }
    }

    /// Assembles what waits for an architecture.
    fn flush(&mut self, arch: &str) -> Vec<Unassembled> {
        let list = self.waiting.remove(arch).unwrap_or_default();
        let texts: Vec<&str> = list.iter().map(|(_, t)| t.as_str()).collect();
        if list.is_empty() || assembled(arch, &joined(&texts)).is_ok() {
            return Vec::new();
        }
        let single = |(program, text): &(usize, String)| {
            assembled(arch, text).err().map(|said| (*program, arch.to_string(), said))
        };
        list.iter().filter_map(single).collect()
    }

    /// Assembles all that waits.
    pub fn finish(&mut self) -> Vec<Unassembled> {
        let archs: Vec<String> = self.waiting.keys().cloned().collect();
        archs.iter().flat_map(|arch| self.flush(arch)).collect()
    }
}

/// Whether an architecture's assembler takes a text.
fn assembled(arch: &str, text: &str) -> Result<(), String> {
    let target = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).map_or(arch, |a| a.target);
    let wave = if arch.ends_with(".w64") { "+wavefrontsize64" } else { "" };
    Assembler::of(arch).assemble_with(text, target, wave)
}

/// Kernels of different names, each with its own shared segment, as one file.
fn joined(texts: &[&str]) -> String {
    const FRAME: [&str; 5] =
        [".version", ".target", ".address_size", ".amdhsa_code_object_version", ".amdgcn_target"];
    let mut out = String::new();
    for (k, text) in texts.iter().enumerate() {
        for line in text.lines() {
            if k > 0 && FRAME.iter().any(|f| line.trim_start().starts_with(f)) {
                continue;
            }
            out.push_str(&line.replace("smem", &format!("smem{k}")));
            out.push('\n');
        }
    }
    out
}
