//! One instruction between loads and stores of all that it can see.

use super::Asked;
use crate::{Arg, Device, Job, JobLaunch};
use lanebook::TABLES;
use lanebook::tables::{Instance, Piece, RegisterKind, Role};
use lanebook_gen::fact::parameter;
use std::fmt::Write as _;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// A register that a probe loads and stores.
#[derive(Clone, Debug)]
struct Slot {
    /// Its name.
    register: String,
    /// What a load or store of it is called; a predicate's goes through a word.
    suffix: &'static str,
    /// Whether the instruction reads it, and whether it writes it.
    access: [bool; 2],
}

/// A kernel that holds one instruction.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The kernel's text.
    pub text: String,
    /// The registers' places by operand: first slot and count.
    pub operands: Vec<(usize, usize)>,
    /// Bits of a register of each operand.
    pub bits: Vec<usize>,
    slots: usize,
    shared: usize,
}

/// What lanes and shared memory hold: of each slot a word for each lane, and the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Words by slot and lane.
    pub registers: Vec<[u64; LANES]>,
    /// Shared memory.
    pub shared: Vec<u8>,
}

impl Probe {
    /// The probe of an instance, with these values for its immediates, if each of its operands is a
    /// register or an immediate with one. With so many bytes of shared memory, of which an operand
    /// is the address, counted from where it begins.
    #[must_use]
    pub fn new(
        asked: Asked<'_>,
        instance: &Instance<'_>,
        immediate: impl Fn(u8) -> Option<i64>,
        (shared, address): (usize, Option<u8>),
    ) -> Option<Self> {
        let isa = TABLES.isa(instance.atom.isa)?;
        let (mut slots, mut operands, mut bits) = (Vec::new(), Vec::new(), Vec::new());
        let mut written: Vec<String> = Vec::new();
        for (number, operand) in (0u8..).zip(instance.atom.operands) {
            operands.push((slots.len(), 0));
            bits.push(0);
            if let Some(fixed) = parameter(instance, number) {
                written.push(fixed);
                continue;
            }
            let access = match operand.role {
                Role::Def => [false, true],
                Role::Use | Role::Address => [true, false],
                Role::UseDef => [true, true],
                Role::Immediate => {
                    written.push(immediate(number)?.to_string());
                    continue;
                }
                Role::Label => return None,
            };
            let class = isa.classes.get(operand.class.index())?;
            let suffix = match (class.kind, class.bits) {
                (RegisterKind::Predicate, _) => "pred",
                (RegisterKind::Vector, 16) => "b16",
                (RegisterKind::Vector, 32) => "b32",
                (RegisterKind::Vector, 64) => "b64",
                _ => return None,
            };
            let count = usize::from(instance.registers(number)?).max(1);
            let names: Vec<String> =
                (0..count).map(|k| format!("{}{}", class.prefix, 100 + slots.len() + k)).collect();
            *operands.last_mut()? = (slots.len(), count);
            *bits.last_mut()? = usize::from(class.bits);
            slots.extend(names.iter().map(|name| Slot { register: name.clone(), suffix, access }));
            written.push(tuple(&names));
        }
        let mut line = line(instance, &written)?;
        if let Some((first, _)) = address.and_then(|number| operands.get(usize::from(number))) {
            let name = &slots.get(*first)?.register;
            line = format!("mov.u32 %r4, smem;\n    add.u32 {name}, {name}, %r4;\n    {line}");
        }
        let text = kernel(asked, &slots, &line, shared);
        Some(Self { text, operands, bits, slots: slots.len(), shared })
    }

    /// A state of zeros.
    #[must_use]
    pub fn state(&self) -> State {
        State { registers: vec![[0; LANES]; self.slots], shared: vec![0; self.shared] }
    }

    /// Runs it from a state; what is there afterwards. A register that the instruction does not
    /// write is as before.
    ///
    /// # Errors
    /// What the device says.
    pub fn run(&self, device: &mut dyn Device, before: &State) -> Result<State, String> {
        let words: Vec<u8> =
            before.registers.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let operands = vec![words.clone(), before.shared.clone()];
        let job = Job {
            text: self.text.clone(),
            kernel: "probe".into(),
            threads: LANES as u32,
            dynamic_shared: 0,
            launches: vec![JobLaunch {
                grid: [1; 3],
                args: vec![Arg::Pointer(0), Arg::Pointer(1)],
            }],
        };
        let mut after = device.run(&job, &operands)?.into_iter();
        let (words, shared) = (after.next().unwrap_or_default(), after.next().unwrap_or_default());
        let mut registers = vec![[0; LANES]; self.slots];
        for (to, from) in registers.iter_mut().flatten().zip(words.as_chunks::<8>().0) {
            *to = u64::from_le_bytes(*from);
        }
        Ok(State { registers, shared })
    }
}

/// Registers as an operand.
pub(super) fn tuple(names: &[String]) -> String {
    if let [one] = names { one.clone() } else { format!("{{{}}}", names.join(", ")) }
}

/// The text of an instance with its operands as they are written, by their numbers; nothing for what
/// is more than one line of registers. An offset of zero is not written.
pub(super) fn line(instance: &Instance<'_>, written: &[String]) -> Option<String> {
    let mut out = String::new();
    for piece in instance.atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Operand(k) => out.push_str(written.get(usize::from(k))?),
            Piece::Optional(..) => {}
            Piece::Half(..) | Piece::Frame(_) => return None,
        }
    }
    Some(out)
}

/// Declares so many registers of each class.
pub(super) fn declare(out: &mut String, count: usize) {
    let classes = [("b32", "%r"), ("b64", "%rd"), ("b16", "%h"), ("f32", "%f"), ("pred", "%p")];
    for (class, prefix) in classes {
        let _ = writeln!(out, "    .reg .{class} {prefix}<{count}>;");
    }
}

/// The head of a text: version, target, and a kernel of two pointers.
#[must_use]
pub fn head(asked: Asked<'_>, shared: usize) -> String {
    let mut out =
        format!(".version {}\n.target {}\n.address_size 64\n", asked.version, asked.target);
    if shared > 0 {
        let _ = writeln!(out, ".shared .align 1024 .b8 smem[{shared}];");
    }
    out.push_str(
        ".visible .entry probe(\n    .param .u64 param_0,\n    .param .u64 param_1\n)\n.reqntid 32, 1, 1\n{\n",
    );
    out
}

fn kernel(asked: Asked<'_>, slots: &[Slot], line: &str, shared: usize) -> String {
    let mut out = head(asked, shared);
    declare(&mut out, 100 + slots.len());
    // Addresses of the lane's words and of the image of shared memory.
    out.push_str(
        "    ld.param.u64 %rd0, [param_0];\n    ld.param.u64 %rd1, [param_1];\n    mov.u32 %r0, %tid.x;\n    cvt.u64.u32 %rd2, %r0;\n    shl.b64 %rd3, %rd2, 3;\n    add.u64 %rd0, %rd0, %rd3;\n    shl.b64 %rd3, %rd2, 2;\n    add.u64 %rd1, %rd1, %rd3;\n",
    );
    let words = shared / 4;
    let image = |out: &mut String, each: &dyn Fn(&mut String, usize)| {
        if words > 0 {
            out.push_str(
                "    mov.u32 %r1, smem;\n    shl.b32 %r2, %r0, 2;\n    add.u32 %r1, %r1, %r2;\n",
            );
            (0..words / LANES).for_each(|k| each(out, 4 * LANES * k));
            out.push_str("    bar.sync 0;\n");
        }
    };
    image(&mut out, &|out, at| {
        let _ = writeln!(
            out,
            "    ld.global.b32 %r3, [%rd1+{at}];\n    st.shared.b32 [%r1+{at}], %r3;"
        );
    });
    for (k, slot) in slots.iter().enumerate() {
        let at = 8 * LANES * k;
        let name = &slot.register;
        let _ = match slot.suffix {
            "pred" => writeln!(
                out,
                "    ld.global.b32 %r3, [%rd0+{at}];\n    setp.ne.u32 {name}, %r3, 0;"
            ),
            suffix => writeln!(out, "    ld.global.{} {name}, [%rd0+{at}];", typed(name, suffix)),
        };
    }
    let _ = writeln!(out, "    {line}");
    if words > 0 {
        out.push_str("    bar.sync 0;\n");
    }
    for (k, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.access[1]) {
        let at = 8 * LANES * k;
        let name = &slot.register;
        let _ = match slot.suffix {
            "pred" => {
                writeln!(
                    out,
                    "    selp.b32 %r3, 1, 0, {name};\n    st.global.b32 [%rd0+{at}], %r3;"
                )
            }
            suffix => writeln!(out, "    st.global.{} [%rd0+{at}], {name};", typed(name, suffix)),
        };
    }
    image(&mut out, &|out, at| {
        let _ = writeln!(
            out,
            "    ld.shared.b32 %r3, [%r1+{at}];\n    st.global.b32 [%rd1+{at}], %r3;"
        );
    });
    out.push_str("    ret;\n}\n");
    out
}

/// The type of a load or store of a register.
fn typed(name: &str, suffix: &'static str) -> &'static str {
    if name.starts_with("%f") { "f32" } else { suffix }
}
