//! Snippets in a frame of the test's own: a kernel that puts words into the input registers, runs
//! the snippet and stores the output registers. The frame knows registers' names and nothing else
//! of what the snippet does.

use crate::assembled;
use lanebook::compile::compile;
use lanebook::emit::{ParamKind, Snippet};
use lanebook::ir::{LargeStorage, Options, parse, verify};
use lanebook::tables::Tables;
use lanebook::{TABLES, check};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, run};
use std::fmt::Write;

const PHASES: &str = include_str!("../../replay/fixtures/lds_phases.jsonl");

/// Where in the frame the snippet's scratch begins: not at 0, so that an address without it is
/// wrong.
const SCRATCH_AT: u32 = 512;

/// A snippet's text with what a frame needs of it.
#[derive(Clone, Debug)]
pub struct Framed {
    /// The kernel.
    pub text: String,
    /// The snippet's own lines.
    pub body: String,
    /// Registers of the tile that goes in, and of the one that comes out; 0 where there is none.
    pub registers: (u32, u32),
    /// Bytes of scratch.
    pub scratch: u32,
    /// Threads.
    pub threads: u32,
    /// What it is said to write: what names begin with, the first number, how many.
    pub written: Vec<(String, u32, u32)>,
}

/// Compiles a program to a snippet and puts it into a frame. A pointer that it takes is the frame's
/// third parameter.
///
/// # Errors
/// Why there is no snippet.
pub fn framed(tables: &Tables<'_>, source: &str, arch: &str) -> Result<Framed, String> {
    let id = tables.arch_named(arch).ok_or("an unknown architecture")?;
    let mut pools = Box::new(LargeStorage::new());
    let mut program =
        parse(pools.pools(), tables, source, Options::default()).map_err(|e| format!("{e:?}"))?;
    verify(&mut program).map_err(|e| format!("{e:?}"))?;
    let mut room = crate::room();
    let compiled =
        compile(tables, id, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    check::plan(tables, &program, &compiled.plan).map_err(|v| format!("WRONG: the plan: {v:?}"))?;
    check::order(tables, &program, &compiled).map_err(|v| format!("WRONG: the order: {v:?}"))?;
    let snippet = compiled.snippet(tables, &program).ok_or("no snippet")?;
    let mut body = String::new();
    snippet.write(&mut body).map_err(|e| format!("{e:?}"))?;
    let named = tables.arch(id).expect("an architecture");
    let is_ptx = arch.starts_with("sm_");
    let text = if is_ptx {
        ptx(&snippet, &body, (named.target, named.isa_version))
    } else {
        amdgcn(&snippet, &body, (named.target, arch))
    };
    let count = |value: Option<lanebook::emit::SnippetValue<'_>>| {
        value.map_or(0, |value| u32::from(value.count))
    };
    Ok(Framed {
        text,
        body,
        registers: (
            count(snippet.inputs().find(|v| v.kind == ParamKind::Tile)),
            count(snippet.outputs().next()),
        ),
        scratch: snippet.scratch().0,
        threads: snippet.threads(),
        written: snippet
            .clobbers()
            .flat_map(|set| set.runs().map(move |(first, n)| (set.prefix.to_string(), first, n)))
            .collect(),
    })
}

/// log2 of the bytes of a thread's row of words in the frame's buffers.
fn row(registers: u32) -> u32 {
    registers.max(1).next_power_of_two().ilog2() + 2
}

fn ptx(snippet: &Snippet<'_>, body: &str, (target, version): (&str, &str)) -> String {
    let mut out = format!(".version {version}\n.target {target}\n.address_size 64\n");
    let (bytes, _) = snippet.scratch();
    let _ = writeln!(out, ".shared .align 128 .b8 frame[{}];", bytes + SCRATCH_AT);
    out +=
        ".visible .entry framed(.param .u64 param_0, .param .u64 param_1, .param .u64 param_2)\n";
    let _ = writeln!(out, ".reqntid {}, 1, 1\n{{", snippet.threads());
    snippet.write_declarations(&mut out).expect("text");
    // Inputs that no step reads are not declared: it has none of those.
    out += "    .reg .b64 %frame<8>;\n    .reg .b32 %own<2>;\n";
    out += "    ld.param.u64 %frame0, [param_0];\n    ld.param.u64 %frame1, [param_1];\n";
    out += "    mov.u32 %own0, %tid.x;\n";
    for value in snippet.inputs() {
        match value.kind {
            ParamKind::Tile => {
                let _ = writeln!(
                    out,
                    "    mul.wide.u32 %frame2, %own0, {};\n    add.s64 %frame3, %frame0, %frame2;",
                    1 << row(u32::from(value.count))
                );
                for k in 0..value.count {
                    let register = format!("{}{}", value.prefix, value.first + k);
                    let _ = writeln!(out, "    ld.global.b32 {register}, [%frame3+{}];", 4 * k);
                }
            }
            ParamKind::Scratch => {
                let register = format!("{}{}", value.prefix, value.first);
                let _ = writeln!(
                    out,
                    "    mov.u32 {register}, frame;\n    add.u32 {register}, {register}, {SCRATCH_AT};"
                );
            }
            ParamKind::Pointer => {
                let _ =
                    writeln!(out, "    ld.param.u64 {}{}, [param_2];", value.prefix, value.first);
            }
            other => panic!("no frame has {other:?}"),
        }
    }
    out += body;
    for value in snippet.outputs() {
        let _ = writeln!(
            out,
            "    mul.wide.u32 %frame2, %own0, {};\n    add.s64 %frame3, %frame1, %frame2;",
            1 << row(u32::from(value.count))
        );
        for k in 0..value.count {
            let register = format!("{}{}", value.prefix, value.first + k);
            let _ = writeln!(out, "    st.global.b32 [%frame3+{}], {register};", 4 * k);
        }
    }
    out + "    ret;\n}\n"
}

/// Words that differ from generation to generation.
struct Words {
    load4: &'static str,
    load2: &'static str,
    get: &'static str,
    put: &'static str,
    scalars: &'static str,
    vectors: &'static str,
}

fn words(target: &str) -> Words {
    let generation = target.trim_start_matches("gfx");
    let old = generation.starts_with('9') || generation.starts_with("10");
    let (scalars, vectors) = if generation.starts_with("12") {
        ("s_wait_kmcnt 0", "s_wait_loadcnt 0")
    } else {
        ("s_waitcnt lgkmcnt(0)", "s_waitcnt vmcnt(0)")
    };
    let [load4, load2, get, put] = if old {
        ["s_load_dwordx4", "s_load_dwordx2", "global_load_dword", "global_store_dword"]
    } else {
        ["s_load_b128", "s_load_b64", "global_load_b32", "global_store_b32"]
    };
    Words { load4, load2, get, put, scalars, vectors }
}

fn amdgcn(snippet: &Snippet<'_>, body: &str, (target, arch): (&str, &str)) -> String {
    let words = words(target);
    let clobbers = |prefix: &str| {
        snippet
            .clobbers()
            .find(|set| set.prefix == prefix)
            .map_or(0, |set| set.runs().map(|(first, count)| first + count).max().unwrap_or(0))
    };
    let values = || snippet.inputs().chain(snippet.outputs());
    let above = |prefix: &str| {
        let own = values().filter(|v| v.prefix == prefix);
        own.map(|v| u32::from(v.first) + u32::from(v.count)).max().unwrap_or(1)
    };
    // Registers that the snippet neither writes nor has values in.
    let vector = clobbers("v").max(above("v"));
    let scalar = clobbers("s").max(above("s")).max(4).next_multiple_of(4);
    assert!(vector + 2 <= 256 && scalar + 4 <= 100, "no registers are left: {vector} {scalar}");
    let mut out = format!("    .amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n");
    out += "    .amdhsa_code_object_version 5\n    .text\n    .globl framed\n    .p2align 8\n";
    out += "    .type framed,@function\nframed:\n";
    let registers = |value: Option<lanebook::emit::SnippetValue<'_>>| {
        row(value.map_or(1, |value| u32::from(value.count)))
    };
    let tile = snippet.inputs().find(|v| v.kind == ParamKind::Tile);
    let _ = writeln!(out, "    {} s[{scalar}:{}], s[0:1], 0x0", words.load4, scalar + 3);
    for value in snippet.inputs() {
        let (first, last) = (value.first, value.first + value.count - 1);
        match value.kind {
            ParamKind::Tile => {}
            ParamKind::Scratch => {
                let _ = writeln!(out, "    s_mov_b32 {}{first}, {SCRATCH_AT}", value.prefix);
            }
            ParamKind::Pointer => {
                let _ = writeln!(out, "    {} s[{first}:{last}], s[0:1], 0x10", words.load2);
            }
            other => panic!("no frame has {other:?}"),
        }
    }
    let _ = writeln!(out, "    {}", words.scalars);
    let (to, from) = (vector, vector + 1);
    let _ = writeln!(out, "    v_lshlrev_b32 v{from}, {}, v0", registers(tile));
    let _ = writeln!(out, "    v_lshlrev_b32 v{to}, {}, v0", registers(snippet.outputs().next()));
    if let Some(value) = tile {
        for k in 0..value.count {
            let _ = writeln!(
                out,
                "    {} {}{}, v{from}, s[{scalar}:{}] offset:{}",
                words.get,
                value.prefix,
                value.first + k,
                scalar + 1,
                4 * k
            );
        }
        let _ = writeln!(out, "    {}", words.vectors);
    }
    out += body;
    for value in snippet.outputs() {
        for k in 0..value.count {
            let _ = writeln!(
                out,
                "    {} v{to}, {}{}, s[{}:{}] offset:{}",
                words.put,
                value.prefix,
                value.first + k,
                scalar + 2,
                scalar + 3,
                4 * k
            );
        }
    }
    let (bytes, _) = snippet.scratch();
    out += "    s_endpgm\n.Lframed_end:\n    .size framed, .Lframed_end-framed\n    .rodata\n    .p2align 6\n";
    out += "    .amdhsa_kernel framed\n";
    let _ = writeln!(out, "        .amdhsa_group_segment_fixed_size {}", bytes + SCRATCH_AT);
    out += "        .amdhsa_kernarg_size 24\n        .amdhsa_user_sgpr_count 2\n";
    out += "        .amdhsa_user_sgpr_kernarg_segment_ptr 1\n        .amdhsa_system_vgpr_workitem_id 0\n";
    let _ = writeln!(out, "        .amdhsa_next_free_vgpr {}", (vector + 2).next_multiple_of(4));
    let _ = writeln!(out, "        .amdhsa_next_free_sgpr {}", scalar + 4);
    let known = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).expect("an architecture");
    let wave = known.wave_lanes.first().copied().unwrap_or(0);
    if target.starts_with("gfx90a") || target.starts_with("gfx94") || target.starts_with("gfx95") {
        let _ = writeln!(out, "        .amdhsa_accum_offset {}", (vector + 2).next_multiple_of(4));
    }
    if !target.starts_with("gfx9") {
        let _ = writeln!(out, "        .amdhsa_wavefront_size32 {}", u8::from(wave == 32));
    }
    out += "    .end_amdhsa_kernel\n    .amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\n";
    let _ = writeln!(
        out,
        "amdhsa.target: amdgcn-amd-amdhsa--{target}\namdhsa.kernels:\n  - .name: framed\n    .symbol: framed.kd\n    \
         .kernarg_segment_size: 24\n    .kernarg_segment_align: 8\n    .group_segment_fixed_size: {}\n    \
         .private_segment_fixed_size: 0\n    .wavefront_size: {wave}\n    .sgpr_count: {}\n    .vgpr_count: {}\n    \
         .max_flat_workgroup_size: {}\n    .reqd_workgroup_size: [ {}, 1, 1 ]\n    .args:",
        bytes + SCRATCH_AT,
        scalar + 4,
        vector + 2,
        snippet.threads(),
        snippet.threads()
    );
    for k in 0..3 {
        let _ = writeln!(
            out,
            "      - .name: \"p{k}\"\n        .offset: {}\n        .size: 8\n        .value_kind: global_buffer\n        \
             .address_space: global",
            8 * k
        );
    }
    out + "...\n    .end_amdgpu_metadata\n"
}

/// Assembles a framed snippet.
///
/// # Errors
/// What the assembler says.
pub fn assemble(framed: &Framed, arch: &str) -> Result<(), String> {
    assembled(arch, &framed.text)
}

/// What a snippet leaves: words of each thread's output registers, and of the memory that its
/// pointer points to.
pub struct Left {
    words: Vec<u32>,
    row: usize,
    /// What stands behind its pointer.
    pub memory: Vec<u8>,
}

impl Left {
    /// A register of a thread.
    #[must_use]
    pub fn word(&self, thread: u32, register: u32) -> u32 {
        self.words[thread as usize * self.row + register as usize]
    }
}

/// Runs a text that [`framed`] made: `given` are the words that thread and register begin with,
/// `memory` what its pointer points to.
///
/// # Errors
/// What the replay faulted on.
pub fn replayed(
    framed: &Framed,
    arch: &str,
    given: impl Fn(u32, u32) -> u32,
    memory: &[u8],
) -> Result<Left, String> {
    let is_ptx = arch.starts_with("sm_");
    let text = &framed.text;
    let kernel = if is_ptx { Kernel::parse_ptx(text) } else { Kernel::parse_amdgcn(text) }
        .map_err(|e| e.to_string())?;
    let banks = if is_ptx {
        BankModel::nvidia_of(arch)
    } else {
        BankModel::from_jsonl(arch, PHASES).map_err(|e| e.to_string())?
    };
    let (from, to) =
        (1usize << (row(framed.registers.0) - 2), 1usize << (row(framed.registers.1) - 2));
    let threads = framed.threads as usize;
    let words: Vec<u32> =
        (0..threads * from).map(|k| given((k / from) as u32, (k % from) as u32)).collect();
    let mut all = Memory::new();
    let x = all.add_u32("X", &words);
    let y = all.add_zeros("Y", threads * to * 4);
    let behind: Vec<u32> = memory
        .chunks_exact(4)
        .map(|c| u32::from_le_bytes(c.try_into().expect("four bytes")))
        .collect();
    let z = if behind.is_empty() { all.add_zeros("Z", 4) } else { all.add_u32("Z", &behind) };
    let params = vec![Param::Buffer(x), Param::Buffer(y), Param::Buffer(z)];
    run(&kernel, &Launch::new(framed.threads, params).banks(banks), &mut all)
        .map_err(|f| f.to_string())?;
    Ok(Left { words: all.u32s(y), row: to, memory: all.bytes(z).to_vec() })
}
