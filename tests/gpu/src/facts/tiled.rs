//! Tiled copies: a box of a matrix whose words are their own numbers, as each swizzle mode leaves it
//! in shared memory.

use super::{Asked, Finding};
use crate::{Arg, Device, Job, JobLaunch, Map};
use lanebook::TABLES;
use lanebook::tables::{SwizzleMode, TensorMap};
use lanebook::unit::swizzle::{apply, code, modes};
use lanebook_gen::fact;
use std::fmt::Write as _;

/// Rows of the box.
const ROWS: u32 = 16;
/// Bytes of a row where the mode says none.
const ROW_BYTES: u32 = 256;

/// Each swizzle mode that a tensor map can have.
pub fn all(device: &mut dyn Device, asked: Asked<'_>) -> Vec<Finding> {
    let Some(arch) = TABLES.arch(asked.arch) else { return Vec::new() };
    let mut out = Vec::new();
    for rules in fact::tensor_maps(&TABLES, arch) {
        let number = |names: &[(&str, u16)]| {
            names.iter().find(|(name, _)| *name == rules.encoding).map(|(_, number)| *number)
        };
        let element = rules.elements.iter().find(|element| element.name == "u32");
        let Some(element) = element.and_then(|element| number(element.codes)) else { continue };
        for mode in modes(&TABLES, arch) {
            let Some(number) = code(mode, rules.encoding) else { continue };
            let Some(fact) = fact::swizzle(mode, rules.encoding) else { continue };
            let differs = hold(device, asked, mode, (element, number)).err();
            out.push(Finding {
                kind: "swizzle",
                arch: asked.name.into(),
                name: mode.name.into(),
                text: String::new(),
                fact,
                trials: 1,
                cycles: String::new(),
                differs,
            });
        }
    }
    out
}

/// Where in its row a box may begin, by loads and by stores: a process for each place, since what
/// may not is a fault that ends the process.
pub fn corners(asked: Asked<'_>, device: &str) -> Vec<Finding> {
    let Some(arch) = TABLES.arch(asked.arch) else { return Vec::new() };
    let Some(rules) = fact::tensor_maps(&TABLES, arch).next() else {
        return Vec::new();
    };
    let places = 0..=2 * u32::from(rules.corner_bytes);
    let hold = |store: bool| {
        let may = |bytes: &u32| {
            let own = std::env::current_exe().and_then(|program| {
                let mut command = std::process::Command::new(program);
                command.args(["corner", &bytes.to_string(), "--arch", asked.name]);
                command.args(["--device", device]).args(store.then_some("--store"));
                command.output()
            });
            own.is_ok_and(|output| output.status.success())
        };
        let found: Vec<u32> = places.clone().filter(may).collect();
        let want = places.clone().filter(|at| at.is_multiple_of(rules.corner_bytes.into()));
        let differs = (found != want.collect::<Vec<_>>()).then(|| format!("it may at {found:?}"));
        Finding {
            kind: "corner",
            arch: asked.name.into(),
            name: format!("{} {}", rules.name, if store { "store" } else { "load" }),
            text: String::new(),
            fact: fact::corner(rules),
            trials: places.clone().count(),
            cycles: String::new(),
            differs,
        }
    };
    vec![hold(false), hold(true)]
}

/// What a box brings, and what it leaves, where the rows of the tensor end within it: at each byte
/// of a row, with rows of memory that go on behind.
pub fn edges(device: &mut dyn Device, asked: Asked<'_>) -> Vec<Finding> {
    let Some(arch) = TABLES.arch(asked.arch) else { return Vec::new() };
    let mut out = Vec::new();
    for rules in fact::tensor_maps(&TABLES, arch) {
        let Some(number) = byte_element(rules) else { continue };
        for store in [false, true] {
            let ends = 1..=BOXED;
            let mut hold = |end| edge(device, asked, (rules, number), end, store).err();
            let differs = ends.clone().find_map(|end| Some(format!("{end}: {}", hold(end)?)));
            out.push(Finding {
                kind: "edge",
                arch: asked.name.into(),
                name: format!("{} {}", rules.name, if store { "store" } else { "load" }),
                text: String::new(),
                fact: fact::edge(rules),
                trials: ends.count(),
                cycles: String::new(),
                differs,
            });
        }
    }
    out
}

/// The number of a map's element of a byte.
fn byte_element(rules: &TensorMap<'_>) -> Option<u16> {
    let element = rules.elements.iter().find(|element| element.name == "u8")?;
    element.codes.iter().find(|(name, _)| *name == rules.encoding).map(|(_, number)| *number)
}

/// Bytes of a row of the box.
const BOXED: u32 = 64;
/// Bytes from row to row in memory.
const APART: u32 = 128;
/// Where the box begins in its row.
const BEGIN: u32 = 32;

/// One box of whose rows the tensor has so many bytes, and of whose rows three are below it.
fn edge(
    device: &mut dyn Device,
    asked: Asked<'_>,
    (rules, number): (&TensorMap<'_>, u16),
    end: u32,
    store: bool,
) -> Result<(), String> {
    let tall = ROWS - 3;
    let map = Map {
        operand: 0,
        element: u32::from(number),
        element_bytes: 1,
        extents: vec![BEGIN + end, tall],
        strides: vec![1, u64::from(APART)],
        boxed: vec![BOXED as u16, ROWS as u16],
        interleave: 0,
        swizzle: 0,
    };
    let bytes = BOXED * ROWS;
    let make = if store { kernel_back } else { kernel };
    let job = Job {
        text: make(asked, [BEGIN, 0], bytes),
        kernel: "probe".into(),
        threads: 32,
        dynamic_shared: 0,
        launches: vec![JobLaunch { grid: [1; 3], args: vec![Arg::Map(map), Arg::Pointer(1)] }],
    };
    // The lower bit says which of the two a byte is of.
    let memory: Vec<u8> = (0..APART * ROWS).map(|at| (at * 7 + at / APART) as u8 | 1).collect();
    let tile: Vec<u8> = (0..bytes).map(|at| (at * 13 + 5) as u8 & !1).collect();
    let after = device.run(&job, &[memory.clone(), tile.clone()])?;
    let run = u32::from(rules.edge_bytes);
    for (i, j) in (0..ROWS).flat_map(|i| (0..APART).map(move |j| (i, j))) {
        let outside = (i * APART + j) as usize;
        let inside = (BEGIN..BEGIN + BOXED).contains(&j).then(|| (i * BOXED + j - BEGIN) as usize);
        let reach = if store { end.next_multiple_of(run) } else { end };
        let is_there = i < tall && j < BEGIN + reach;
        let (got, want) = match inside {
            Some(at) if store => {
                (after[0][outside], if is_there { tile[at] } else { memory[outside] })
            }
            None if store => (after[0][outside], memory[outside]),
            Some(at) => (after[1][at], if is_there { memory[outside] } else { 0 }),
            None => continue,
        };
        if got != want {
            return Err(format!("byte ({i}, {j}) is {got}, not {want}"));
        }
    }
    Ok(())
}

/// One box that begins so many bytes behind where its row does.
///
/// # Errors
/// What the device says, or which byte is another.
pub fn corner(
    device: &mut dyn Device,
    asked: Asked<'_>,
    bytes: u32,
    store: bool,
) -> Result<(), String> {
    let rules =
        TABLES.units.tensor_maps.iter().find(|rules| rules.elements.iter().any(|e| e.bits == 8));
    let rules = rules.ok_or("no map")?;
    let number = byte_element(rules).ok_or("no bytes")?;
    let (row, wide, tall) = (64, 128u32, ROWS);
    let map = Map {
        operand: 0,
        element: u32::from(number),
        element_bytes: 1,
        extents: vec![wide, tall],
        strides: vec![1, u64::from(wide)],
        boxed: vec![row as u16, ROWS as u16],
        interleave: 0,
        swizzle: 0,
    };
    let text = if store {
        kernel_back(asked, [bytes, 0], row * ROWS)
    } else {
        kernel(asked, [bytes, 0], row * ROWS)
    };
    let job = Job {
        text,
        kernel: "probe".into(),
        threads: 32,
        dynamic_shared: 0,
        launches: vec![JobLaunch { grid: [1; 3], args: vec![Arg::Map(map), Arg::Pointer(1)] }],
    };
    let tensor: Vec<u8> = (0..wide * tall).map(|at| (at * 7 + at / wide) as u8).collect();
    let tile: Vec<u8> = (0..row * ROWS).map(|at| (at * 13 + 5) as u8).collect();
    let after = device.run(&job, &[tensor.clone(), tile.clone()])?;
    for (i, j) in (0..ROWS).flat_map(|i| (0..row).map(move |j| (i, j))) {
        let (outside, inside) = ((i * wide + bytes + j) as usize, (i * row + j) as usize);
        // Beyond the tensor there is nothing.
        if bytes + j >= wide {
            continue;
        }
        let same = if store {
            after[0][outside] == tile[inside]
        } else {
            after[1][inside] == tensor[outside]
        };
        if !same {
            return Err(format!("byte ({i}, {j}) is another"));
        }
    }
    Ok(())
}

fn hold(
    device: &mut dyn Device,
    asked: Asked<'_>,
    mode: &SwizzleMode<'_>,
    (element, number): (u16, u16),
) -> Result<(), String> {
    let row = if mode.span_bytes == 0 { ROW_BYTES } else { u32::from(mode.span_bytes) };
    let (columns, bytes) = (row / 4, row * ROWS);
    // The matrix is wider and longer than the box, which stands inside.
    let (wide, tall, at) = (columns + 8, ROWS + 5, [4u32, 3]);
    let words: Vec<u8> = (0..wide * tall).flat_map(|k| (k + 1).to_le_bytes()).collect();
    let map = Map {
        operand: 0,
        element: u32::from(element),
        element_bytes: 4,
        extents: vec![wide, tall],
        strides: vec![4, u64::from(wide) * 4],
        boxed: vec![columns as u16, ROWS as u16],
        interleave: 0,
        swizzle: number as u8,
    };
    let job = Job {
        text: kernel(asked, at, bytes),
        kernel: "probe".into(),
        threads: 32,
        dynamic_shared: 0,
        launches: vec![JobLaunch { grid: [1; 3], args: vec![Arg::Map(map), Arg::Pointer(1)] }],
    };
    let after = device.run(&job, &[words, vec![0; bytes as usize]])?;
    let got = after.get(1).ok_or("nothing came back")?;
    for word in 0..bytes / 4 {
        let (i, j) = (word / columns, word % columns);
        let want = (at[1] + i) * wide + at[0] + j + 1;
        let stands = apply(mode, u64::from(4 * word)) as usize;
        let found = got.get(stands..stands + 4).ok_or("outside of the box")?;
        if found != want.to_le_bytes() {
            return Err(format!("word ({i}, {j}) is not at byte {stands}"));
        }
    }
    Ok(())
}

/// One copy of the box to shared memory, and from there to the second parameter.
fn kernel(asked: Asked<'_>, [x, y]: [u32; 2], bytes: u32) -> String {
    let mut out = format!(
        ".version {}\n.target {}\n.address_size 64\n.shared .align 1024 .b8 smem[{}];\n",
        asked.version,
        asked.target,
        bytes + 8
    );
    out.push_str(".visible .entry probe(\n    .param .align 64 .b8 param_0[128],\n    .param .u64 param_1\n)\n.reqntid 32, 1, 1\n{\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<4>;\n");
    let _ = write!(
        out,
        "    mov.u32 %r0, %tid.x;
    mov.u32 %r1, smem;
    add.u32 %r2, %r1, {bytes};
    mov.b64 %rd0, param_0;
    cvta.param.u64 %rd0, %rd0;
    ld.param.u64 %rd1, [param_1];
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [%r2], 1;
    @%p0 fence.mbarrier_init.release.cluster;
    bar.sync 0;
    mov.u32 %r4, {x};
    mov.u32 %r5, {y};
    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r2], {bytes};
    @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd0, {{%r4, %r5}}], [%r2];
W:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra W;
    shl.b32 %r3, %r0, 2;
    add.u32 %r1, %r1, %r3;
    cvt.u64.u32 %rd2, %r3;
    add.u64 %rd1, %rd1, %rd2;
"
    );
    for k in 0..bytes / 128 {
        let at = 128 * k;
        let _ = writeln!(
            out,
            "    ld.shared.b32 %r6, [%r1+{at}];\n    st.global.b32 [%rd1+{at}], %r6;"
        );
    }
    out.push_str("    ret;\n}\n");
    out
}

/// The second parameter to shared memory, and from there one copy of the box.
fn kernel_back(asked: Asked<'_>, [x, y]: [u32; 2], bytes: u32) -> String {
    let mut out = format!(
        ".version {}\n.target {}\n.address_size 64\n.shared .align 1024 .b8 smem[{bytes}];\n",
        asked.version, asked.target
    );
    out.push_str(".visible .entry probe(\n    .param .align 64 .b8 param_0[128],\n    .param .u64 param_1\n)\n.reqntid 32, 1, 1\n{\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<4>;\n    .reg .pred %p<4>;\n    mov.u32 %r0, %tid.x;\n    mov.u32 %r1, smem;\n    mov.b64 %rd0, param_0;\n    cvta.param.u64 %rd0, %rd0;\n    ld.param.u64 %rd1, [param_1];\n    setp.eq.u32 %p0, %r0, 0;\n    shl.b32 %r3, %r0, 2;\n    add.u32 %r2, %r1, %r3;\n    cvt.u64.u32 %rd2, %r3;\n    add.u64 %rd1, %rd1, %rd2;\n");
    for k in 0..bytes / 128 {
        let at = 128 * k;
        let _ = writeln!(
            out,
            "    ld.global.b32 %r6, [%rd1+{at}];\n    st.shared.b32 [%r2+{at}], %r6;"
        );
    }
    let _ = write!(
        out,
        "    fence.proxy.async.shared::cta;
    bar.sync 0;
    mov.u32 %r4, {x};
    mov.u32 %r5, {y};
    @%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd0, {{%r4, %r5}}], [%r1];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;
}}
"
    );
    out
}
