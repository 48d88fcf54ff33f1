//! Architectures that differ from hx1 in one respect each: what their tables say is planned and
//! emitted, or `lanebook check` says beforehand that it cannot be.
use super::product::Tile;
use std::fmt::Write;

/// One architecture.
pub struct Variant {
    pub name: &'static str,
    lanes: u32,
    /// Instructions beside the usual ones.
    atoms: Vec<String>,
    /// Of the usual ones those that it has not.
    without: &'static [&'static str],
    product: String,
    banks: (u32, u32),
    /// Groups that it has not.
    lacks: &'static [&'static str],
    /// Kinds of accesses that nothing orders.
    unordered: &'static [&'static str],
    /// One counter for all memories.
    counts_alike: bool,
    /// The file's text where it is another.
    edit: Option<String>,
    pub tile: Tile,
    pub wanted: Wanted,
}

/// What is to come of one.
#[derive(Copy, Clone)]
pub enum Wanted {
    /// The product is right, and these movers are among those that were picked.
    Runs(&'static [&'static str]),
    /// `lanebook check` says so, with the machine's name, and the product is refused.
    Said(&'static str),
}

/// A matrix instruction: extents, and of D, A and B the registers and the layout.
pub fn product(
    name: &str,
    (m, n, k): (u32, u32, u32),
    d: (u32, &str),
    a: (u32, &str),
    b: (u32, &str),
) -> String {
    format!(
        r#"(name: "{name}.mma", class: matrix, template: "mma_{m}x{n}x{k} {{d}}, {{a}}, {{b}}, {{c}}",
        operands: [
            (name: "d", role: def, class: "vgpr", registers: {dr}, dtype: "f32", layout: "{dl}"),
            (name: "a", role: use, class: "vgpr", registers: {ar}, dtype: "f16", layout: "{al}"),
            (name: "b", role: use, class: "vgpr", registers: {br}, dtype: "f16", layout: "{bl}"),
            (name: "c", role: use, class: "vgpr", registers: {dr}, dtype: "f32", layout: "{dl}", range: (0, 0)),
        ],
        matrix: (m: {m}, n: {n}, k: {k}, a: "a", b: "b", c: "c", d: "d"), cost: (issue: 1, cycles: 4))"#,
        dr = d.0,
        dl = d.1,
        ar = a.0,
        al = a.1,
        br = b.0,
        bl = b.1
    )
}

/// A mover of so many bytes a lane between registers and memory. `memory`: space, the layout there,
/// what else is to be said of that side; `address`: registers.
pub fn mover(
    name: &str,
    lanes: u32,
    bytes: u32,
    is_load: bool,
    (space, layout, more): (&str, &str, &str),
    address: &str,
    counter: &str,
) -> String {
    let registers = bytes.div_ceil(4);
    let word = if is_load { "read" } else { "write" };
    let role = if is_load { "def" } else { "use" };
    let rest =
        if bytes < 4 { if is_load { ", rest: zero" } else { ", rest: ignored" } } else { "" };
    let own = format!(
        r#"(space: register, layout: "S[({lanes},{bytes}):(1@laneid,8@bit)]", operand: "data"{rest})"#
    );
    let memory = format!(
        r#"(space: {space}, layout: "{layout}", operand: "addr", align_bytes: {bytes}, slot_bytes: {bytes}, access: "{space}.{word}"{more})"#
    );
    let (from, to) = if is_load { (memory, own) } else { (own, memory) };
    let (template, side) = if is_load {
        ("{data}, {addr}{offset? offset:}", "from")
    } else {
        ("{addr}, {data}{offset? offset:}", "to")
    };
    format!(
        r#"(name: "{name}", class: move, template: "{name} {template}",
        operands: [
            (name: "data", role: {role}, class: "vgpr", registers: {registers}),
            (name: "addr", role: address, {address}),
            (name: "offset", role: immediate, range: (0, 65535)),
        ],
        movement: (unit_bits: 8, extents: [{lanes}, {bytes}], from: {from}, to: {to}, offset: (operand: "offset", on: [{side}])),
        counter: "{counter}")"#
    )
}

/// The layout of as many addresses as there are lanes.
pub fn slots(lanes: u32, bytes: u32) -> String {
    format!("S[({lanes},{bytes}):(1@slot,1@byte)]")
}

const FAR: &str = r#"class: "vgpr", registers: 2"#;
const NEAR: &str = r#"class: "vgpr""#;
const ROWS: &str = r#", banks: "rows""#;

impl Variant {
    fn new(name: &'static str, lanes: u32, product: String) -> Self {
        Self {
            name,
            lanes,
            atoms: Vec::new(),
            without: &[],
            product,
            banks: (8, 4),
            lacks: &[],
            unordered: &[],
            counts_alike: false,
            edit: None,
            tile: Tile { m: 32, n: 16, k: 64, threads: 2 * lanes as usize, b_rows: false },
            wanted: Wanted::Runs(&[]),
        }
    }

    /// The architecture's file.
    pub fn text(&self) -> String {
        if let Some(text) = &self.edit {
            return text.clone();
        }
        let (name, lanes) = (self.name, self.lanes);
        let vm = if self.counts_alike { "lgkm" } else { "vm" };
        let mut atoms = Vec::new();
        for bytes in [16, 4, 2] {
            let at = slots(lanes, bytes);
            for (word, is_load, space, more, address, counter) in [
                ("load", true, "global", "", FAR, vm),
                ("store", false, "global", "", FAR, vm),
                ("put", false, "shared", ROWS, NEAR, "lgkm"),
                ("get", true, "shared", ROWS, NEAR, "lgkm"),
            ] {
                let sized = format!("{word}{bytes}");
                let lacks = [word, sized.as_str()].iter().any(|own| self.without.contains(own));
                let is_odd = bytes == 2 && word != "get";
                if !lacks && !is_odd {
                    let atom = format!("{name}.{word}{bytes}");
                    atoms.push(mover(
                        &atom,
                        lanes,
                        bytes,
                        is_load,
                        (space, &at, more),
                        address,
                        counter,
                    ));
                }
            }
        }
        atoms.extend(self.atoms.iter().cloned());
        atoms.push(self.product.clone());
        let mut sync = String::new();
        for (space, waits) in [("global", vm), ("shared", "lgkm")] {
            for (first, second) in [("write", "read"), ("read", "write"), ("write", "write")] {
                let pair = format!("{space}.{first} {space}.{second}");
                if self.unordered.contains(&pair.as_str()) {
                    continue;
                }
                let counts = match waits {
                    "vm" => r#"{"vm": 0, "lgkm": 15}"#,
                    _ => r#"{"vm": 63, "lgkm": 0}"#,
                };
                let _ = write!(
                    sync,
                    r#"(producer: "{space}.{first}", consumer: "{space}.{second}", steps: [(atom: "s_waitcnt", immediates: {counts}), (atom: "s_barrier", barrier: true)]),"#
                );
            }
        }
        let counters = r#"(name: "vm", max: 63, in_order: true, wait: "s_waitcnt", operand: "vm"), (name: "lgkm", max: 15, in_order: true, wait: "s_waitcnt", operand: "lgkm")"#;
        let has: Vec<String> = [
            "valu",
            "valu.gfx9",
            "valu.u64",
            "valu.mov64",
            "lanes",
            "salu",
            "control.amd",
            "scalar_load.gfx9",
            "sync.gfx9",
        ]
        .iter()
        .filter(|group| !self.lacks.contains(group))
        .map(|group| format!("\"{group}\""))
        .collect();
        format!(
            r#"(
groups: [(name: "{name}.own", isa: "amdgcn", sources: [], atoms: [{atoms}])],
arch: (name: "{name}", vendor: "amd", isa: "amdgcn", wave_lanes: [{lanes}], max_threads: 256,
    shared: (static_bytes: 65536, max_bytes: 65536), has: ["{name}.own", {has}],
    banks: [(name: "rows", banks: {banks}, bank_bytes: {bank_bytes}, groups: consecutive({group}), sources: [])],
    sync: [{sync}], counters: [{counters}], hazards: [],
    inline_integers: (-16, 64), scalar_reads: 1, sources: ["~llvm_mc"]),
)
"#,
            atoms = atoms.join(",\n"),
            has = has.join(", "),
            banks = self.banks.0,
            bank_bytes = self.banks.1,
            group = self.lanes.min([8, 4, 16][self.name.len() % 3]),
        )
    }
}

/// 16x4x8 on 16 lanes, as hx1 has it.
fn usual(name: &str) -> String {
    product(
        name,
        (16, 4, 8),
        (4, "S[(16,4):(1@laneid,32@bit)]"),
        (4, "S[(16,8):(1@laneid,16@bit)]"),
        (1, "S[(4,2,4):(4@laneid,16@bit,1@laneid)]"),
    )
}

/// All of them.
pub fn all() -> Vec<Variant> {
    let on16 = |name: &'static str| Variant::new(name, 16, usual(name));
    let eight = product(
        "v8",
        (8, 4, 8),
        (4, "S[(8,4):(1@laneid,32@bit)]"),
        (4, "S[(8,8):(1@laneid,16@bit)]"),
        (2, "S[(2,4,4):(4@laneid,16@bit,1@laneid)]"),
    );
    let replicated = product(
        "vrep",
        (16, 4, 8),
        (4, "S[(16,4):(1@laneid,32@bit)] + R[2:16@laneid]"),
        (2, "S[(16,2,4):(1@laneid,16@laneid,16@bit)]"),
        (1, "S[(4,2,4):(4@laneid,16@bit,1@laneid)] + R[2:16@laneid]"),
    );
    // Extents that are no powers of two: three or five panels of an operand in other registers, in
    // one dimension or in two, below or above what bits add.
    let pairs = "S[(3,4,4,2):(32@bit,4@laneid,1@laneid,16@bit)]";
    let rows = "S[(8,16):(16@bit,1@laneid)]";
    let twelve =
        product("v12", (12, 16, 8), (12, "S[(12,16):(32@bit,1@laneid)]"), (3, pairs), (4, rows));
    let twelve_twice = product(
        "v12r",
        (12, 16, 8),
        (24, "S[(12,2,8):(64@bit,32@bit,1@laneid)] + R[2:8@laneid]"),
        (3, pairs),
        (4, rows),
    );
    let twelve_of_eight = product(
        "v12w8",
        (12, 8, 8),
        (12, "S[(12,8):(32@bit,1@laneid)]"),
        (6, "S[(3,2,2,4,2):(64@bit,32@bit,4@laneid,1@laneid,16@bit)]"),
        (4, "S[(8,8):(16@bit,1@laneid)]"),
    );
    let twenty = product(
        "v20",
        (20, 16, 8),
        (20, "S[(20,16):(32@bit,1@laneid)]"),
        (5, "S[(5,4,4,2):(32@bit,4@laneid,1@laneid,16@bit)]"),
        (4, rows),
    );
    let both = product(
        "v12n24",
        (12, 24, 8),
        (18, "S[(6,2,3,8):(96@bit,8@laneid,32@bit,1@laneid)]"),
        (3, "S[(3,2,2,4,2):(32@bit,4@laneid,8@laneid,1@laneid,16@bit)]"),
        (6, "S[(2,4,3,8):(8@laneid,16@bit,64@bit,1@laneid)]"),
    );
    // No extent is a power of two: odd factors of all three count registers, and every operand lies in
    // few lanes of the wave, with copies in the others.
    let odd = product(
        "v6n10k6",
        (6, 10, 6),
        (15, "S[(2,3,2,5):(2@laneid,32@bit,1@laneid,96@bit)] + R[8:4@laneid]"),
        (9, "S[(2,3,3,2):(1@laneid,96@bit,32@bit,16@bit)] + R[16:2@laneid]"),
        (15, "S[(3,2,2,5):(32@bit,16@bit,1@laneid,96@bit)] + R[16:2@laneid]"),
    );
    let odd_of_eight = product(
        "v6k10w8",
        (6, 8, 10),
        (6, "S[(6,8):(32@bit,1@laneid)]"),
        (15, "S[(2,3,5,2):(1@laneid,160@bit,32@bit,16@bit)] + R[4:2@laneid]"),
        (5, "S[(5,2,8):(32@bit,16@bit,1@laneid)]"),
    );
    let deep = product(
        "vk12d",
        (16, 8, 12),
        (8, "S[(16,8):(1@laneid,32@bit)]"),
        (6, "S[(16,12):(1@laneid,16@bit)]"),
        (3, "S[(3,2,2,8):(32@bit,8@laneid,16@bit,1@laneid)]"),
    );
    let twelve_deep = product(
        "vk12",
        (16, 4, 12),
        (4, "S[(16,4):(1@laneid,32@bit)]"),
        (6, "S[(16,12):(1@laneid,16@bit)]"),
        (2, "S[(4,3,4):(4@laneid,16@bit,1@laneid)]"),
    )
    .replace(
        r#"registers: 2, dtype: "f16", layout: "S[(4,3"#,
        r#"registers: 2, dtype: "f16", rest: ignored, layout: "S[(4,3"#,
    );
    let wide = product(
        "vn24",
        (16, 24, 8),
        (24, "S[(16,24):(1@laneid,32@bit)]"),
        (4, "S[(16,8):(1@laneid,16@bit)]"),
        (6, "S[(8,2,12):(1@laneid,8@laneid,16@bit)]"),
    );
    let apart = product(
        "vapart",
        (16, 4, 8),
        (4, "S[(16,4):(1@laneid,32@bit)]"),
        (8, "S[(16,8):(1@laneid,32@bit)]"),
        (1, "S[(4,2,4):(4@laneid,16@bit,1@laneid)]"),
    )
    .replace(
        r#"layout: "S[(16,8):(1@laneid,32@bit)]""#,
        r#"rest: ignored, layout: "S[(16,8):(1@laneid,32@bit)]""#,
    );
    let spread = product(
        "vspread",
        (16, 4, 8),
        (8, "S[(16,4):(1@laneid,64@bit)]"),
        (4, "S[(16,8):(1@laneid,16@bit)]"),
        (1, "S[(4,2,4):(4@laneid,16@bit,1@laneid)]"),
    )
    .replace(
        r#"layout: "S[(16,4):(1@laneid,64@bit)]""#,
        r#"rest: ignored, layout: "S[(16,4):(1@laneid,64@bit)]""#,
    )
    .replacen("rest: ignored", "rest: zero", 1);
    let four = product(
        "v4",
        (4, 4, 4),
        (4, "S[(4,4):(1@laneid,32@bit)]"),
        (2, "S[(4,4):(1@laneid,16@bit)]"),
        (2, "S[(4,4):(16@bit,1@laneid)]"),
    );
    let one = product(
        "v1",
        (2, 2, 2),
        (4, "S[(2,2):(64@bit,32@bit)]"),
        (2, "S[(2,2):(32@bit,16@bit)]"),
        (2, "S[(2,2):(16@bit,32@bit)]"),
    );
    let cross = product(
        "vcross",
        (16, 4, 8),
        (4, "S[(4,4,4):(1@laneid,32@bit,4@laneid)]"),
        (4, "S[(2,8,8):(8@laneid,16@bit,1@laneid)]"),
        (1, "S[(4,2,4):(1@laneid,16@bit,4@laneid)]"),
    );
    let reversed = product(
        "vrev",
        (16, 4, 8),
        (4, "S[(2,2,2,2,4):(1@laneid,2@laneid,4@laneid,8@laneid,32@bit)]"),
        (4, "S[(16,2,4):(1@laneid,16@bit,32@bit)]"),
        (1, "S[(4,2,4):(4@laneid,16@bit,1@laneid)]"),
    );
    let wave64 = product(
        "v64",
        (16, 16, 16),
        (4, "S[(4,4,16):(16@laneid,32@bit,1@laneid)]"),
        (2, "S[(16,4,4):(1@laneid,16@laneid,16@bit)]"),
        (2, "S[(4,4,16):(16@laneid,16@bit,1@laneid)]"),
    );
    let tied = usual("vtied").replace(r#"(name: "d", role: def"#, r#"(name: "d", role: use_def"#)
        .replace(r#"(name: "c", role: use, class: "vgpr", registers: 4, dtype: "f32", layout: "S[(16,4):(1@laneid,32@bit)]", range: (0, 0)),"#, "")
        .replace(r#"c: "c", d: "d""#, r#"c: "d", d: "d""#)
        .replace(", {c}", "");
    let based = |name: &str, is_load: bool| {
        let word = if is_load { "load" } else { "store" };
        let at = slots(16, 16);
        mover(
            &format!("{name}.{word}"),
            16,
            16,
            is_load,
            ("global", &at, r#", base: "base""#),
            NEAR,
            "vm",
        )
        .replace(
            r#"(name: "offset", role"#,
            r#"(name: "base", role: address, class: "sgpr", registers: 2),
            (name: "offset", role"#,
        )
        .replace("{addr}", "{addr}, {base}")
    };
    let lines = |name: &str, is_load: bool, address: &str| {
        let word = if is_load { "load" } else { "store" };
        mover(
            &format!("{name}.{word}"),
            16,
            16,
            is_load,
            ("global", "S[(16,16):(16@byte,1@byte)]", ""),
            address,
            "vm",
        )
        .replace("slot_bytes: 16", "slot_bytes: 256")
    };
    let shared_lines = |name: &str, address: &str| {
        mover(
            &format!("{name}.line"),
            16,
            4,
            true,
            ("shared", "S[(16,4):(4@byte,1@byte)]", ROWS),
            address,
            "lgkm",
        )
        .replace("slot_bytes: 4", "slot_bytes: 64")
    };
    let shared_store = |name: &str, address: &str| {
        mover(
            &format!("{name}.line"),
            16,
            16,
            false,
            ("shared", "S[(16,16):(16@byte,1@byte)]", ROWS),
            address,
            "lgkm",
        )
        .replace("slot_bytes: 16", "slot_bytes: 256")
    };
    let wide_base = |name: &str| {
        based(name, true).replace(
            r#"role: address, class: "sgpr", registers: 2"#,
            r#"role: address, class: "sgpr", registers: 4"#,
        )
    };
    let scalar = r#"class: "sgpr", registers: 2"#;
    let transposing = r#"(name: "vtrans.tr", class: move, template: "vtrans_tr {data}, {addr}{offset? offset:}",
        operands: [
            (name: "data", role: def, class: "vgpr", registers: 1),
            (name: "addr", role: address, class: "vgpr"),
            (name: "offset", role: immediate, range: (0, 65535)),
        ],
        movement: (unit_bits: 16, extents: [8, 4], crosses_lanes: true,
            from: (space: shared, layout: "S[(8,4):(1@slot,2@byte)]", operand: "addr", align_bytes: 8, slot_bytes: 8, banks: "rows", access: "shared.read"),
            to: (space: register, layout: "S[(4,2,4):(4@laneid,16@bit,1@laneid)]", operand: "data"),
            offset: (operand: "offset", on: [from])),
        counter: "lgkm")"#;
    let changed = |name: &'static str, change: &dyn Fn(String) -> String| Variant {
        edit: Some(change(on16(name).text())),
        ..on16(name)
    };
    vec![
        on16("vbase"),
        Variant::new("v8", 8, eight),
        Variant { banks: (24, 8), ..on16("vbanks24") },
        Variant { banks: (20, 4), ..on16("vbanks20") },
        Variant {
            tile: Tile { m: 64, n: 32, k: 64, threads: 128, b_rows: false },
            ..Variant::new("vrep", 32, replicated)
        },
        Variant {
            tile: Tile { m: 96, n: 32, k: 64, threads: 64, b_rows: false },
            ..Variant::new("v12", 16, twelve)
        },
        Variant {
            tile: Tile { m: 72, n: 32, k: 16, threads: 32, b_rows: true },
            ..Variant::new("v12r", 16, twelve_twice)
        },
        Variant {
            tile: Tile { m: 96, n: 16, k: 32, threads: 32, b_rows: false },
            ..Variant::new("v12w8", 8, twelve_of_eight)
        },
        Variant {
            tile: Tile { m: 80, n: 32, k: 64, threads: 32, b_rows: false },
            ..Variant::new("v20", 16, twenty)
        },
        Variant {
            tile: Tile { m: 48, n: 48, k: 32, threads: 32, b_rows: true },
            ..Variant::new("v12n24", 16, both)
        },
        Variant {
            tile: Tile { m: 12, n: 20, k: 12, threads: 32, b_rows: false },
            banks: (28, 4),
            ..Variant::new("v6n10k6", 32, odd)
        },
        Variant {
            tile: Tile { m: 24, n: 32, k: 40, threads: 16, b_rows: true },
            banks: (20, 4),
            ..Variant::new("v6k10w8", 8, odd_of_eight)
        },
        Variant {
            tile: Tile { m: 64, n: 32, k: 96, threads: 64, b_rows: false },
            ..Variant::new("vk12d", 16, deep)
        },
        Variant { counts_alike: true, ..on16("vone") },
        Variant { lacks: &["valu.u64"], ..on16("vu64") },
        Variant { lacks: &["valu.mov64"], ..on16("vmov64") },
        Variant {
            wanted: Wanted::Said("no usable rule covers add in each lane"),
            lacks: &["valu.gfx9"],
            ..on16("vgfx9")
        },
        Variant {
            wanted: Wanted::Said("nothing answers `transfer register shared`"),
            without: &["put"],
            ..on16("vput")
        },
        Variant {
            wanted: Wanted::Said("nothing answers `transfer shared register`"),
            without: &["get"],
            ..on16("vget")
        },
        Variant {
            wanted: Wanted::Said("nothing answers `transfer global register`"),
            without: &["load"],
            ..on16("vload")
        },
        Variant {
            wanted: Wanted::Said("nothing answers `transfer register global`"),
            without: &["store"],
            ..on16("vstore")
        },
        Variant {
            wanted: Wanted::Said("nothing says what stands between them"),
            unordered: &["shared.write shared.read"],
            ..on16("vsync")
        },
        Variant {
            wanted: Wanted::Said(
                "has extents 16x4x12 with an odd factor that counts no whole registers of a lane",
            ),
            ..Variant::new("vk12", 16, twelve_deep)
        },
        Variant {
            tile: Tile { m: 64, n: 48, k: 64, threads: 64, b_rows: false },
            ..Variant::new("vn24", 16, wide)
        },
        Variant::new("vapart", 16, apart),
        Variant {
            wanted: Wanted::Said("has operands of 16x4x8 that are not laid out bit by bit"),
            ..Variant::new("vspread", 16, spread)
        },
        Variant {
            tile: Tile { m: 16, n: 16, k: 16, threads: 8, b_rows: false },
            ..Variant::new("v4", 4, four)
        },
        Variant {
            tile: Tile { m: 8, n: 8, k: 8, threads: 4, b_rows: false },
            ..Variant::new("v1", 1, one)
        },
        Variant::new("vcross", 16, cross),
        Variant::new("vrev", 16, reversed),
        Variant {
            tile: Tile { m: 64, n: 64, k: 32, threads: 128, b_rows: false },
            ..Variant::new("v64", 64, wave64)
        },
        Variant::new("vtied", 16, tied),
        Variant {
            wanted: Wanted::Runs(&["vsbase.load", "vsbase.store"]),
            without: &["load", "store"],
            atoms: vec![based("vsbase", true), based("vsbase", false)],
            ..on16("vsbase")
        },
        Variant {
            wanted: Wanted::Runs(&["vlines.load", "vlines.store"]),
            without: &["load", "store"],
            atoms: vec![lines("vlines", true, FAR), lines("vlines", false, FAR)],
            tile: Tile { m: 16, n: 64, k: 128, threads: 64, b_rows: false },
            ..on16("vlines")
        },
        Variant {
            wanted: Wanted::Runs(&["vslines.load", "vslines.store"]),
            without: &["load", "store"],
            atoms: vec![lines("vslines", true, scalar), lines("vslines", false, scalar)],
            tile: Tile { m: 16, n: 64, k: 128, threads: 64, b_rows: false },
            ..on16("vslines")
        },
        Variant {
            wanted: Wanted::Runs(&["vshl.line"]),
            without: &["get"],
            atoms: vec![shared_lines("vshl", NEAR)],
            tile: Tile { m: 16, n: 64, k: 128, threads: 64, b_rows: false },
            ..on16("vshl")
        },
        Variant {
            without: &["put"],
            atoms: vec![shared_store("vshs", r#"class: "sgpr""#)],
            tile: Tile { m: 16, n: 64, k: 128, threads: 64, b_rows: false },
            ..on16("vshs")
        },
        Variant {
            wanted: Wanted::Said("a copy's addresses are words of the lanes"),
            without: &["load"],
            atoms: vec![wide_base("vdesc")],
            ..on16("vdesc")
        },
        Variant {
            atoms: vec![lines("vmore", true, FAR), lines("vmore", false, FAR)],
            ..on16("vmore")
        },
        Variant {
            wanted: Wanted::Runs(&["vtrans.tr"]),
            atoms: vec![transposing.into()],
            without: &["get4"],
            tile: Tile { b_rows: true, ..on16("vtrans").tile },
            ..on16("vtrans")
        },
        Variant {
            banks: (24, 8),
            counts_alike: true,
            tile: Tile { m: 24, n: 48, k: 32, threads: 32, b_rows: true },
            ..Variant::new(
                "vmix",
                16,
                product(
                    "vmix",
                    (12, 24, 8),
                    (18, "S[(6,2,3,8):(96@bit,8@laneid,32@bit,1@laneid)]"),
                    (3, "S[(3,2,2,4,2):(32@bit,4@laneid,8@laneid,1@laneid,16@bit)]"),
                    (6, "S[(2,4,3,8):(8@laneid,16@bit,64@bit,1@laneid)]"),
                ),
            )
        },
        changed("vscale", &|text| {
            text.replace("range: (0, 65535)", "range: (0, 15)").replace(
                r#"offset: (operand: "offset","#,
                r#"offset: (operand: "offset", scale: 16,"#,
            )
        }),
        changed("vfar", &|text| text.replace("range: (0, 65535)", "range: (0, 7)")),
        changed("vodd", &|text| text.replace("consecutive(8)", r#"["0-2,15", "3-9", "10-14"]"#)),
        changed("vneg", &|text| text.replace("range: (0, 65535)", "range: (-64, 0)")),
    ]
}

/// Numbers that look random, the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn shuffle<T>(&mut self, list: &mut [T]) {
        for k in (1..list.len()).rev() {
            list.swap(k, self.below(k as u64 + 1) as usize);
        }
    }
}

/// An operand of 2^rows x 2^columns elements, each bit of a coordinate at a bit of the lane's number
/// or of its registers; the registers that it takes.
///
/// `panels`: so many times as many rows (columns where it says so), the digit that counts them above
/// so many of the dimension's bits, in registers behind all others.
fn scattered(
    random: &mut Random,
    (lanes, bits): (u32, u32),
    (rows, columns): (u32, u32),
    is_a: bool,
    panels: Option<Panels>,
) -> Option<(u32, String)> {
    let total = rows + columns;
    let packed = 32u32.div_ceil(bits).ilog2();
    let in_lanes = lanes.min(total.saturating_sub(packed));
    let mut places: Vec<String> = (0..in_lanes).map(|k| format!("{}@laneid", 1 << k)).collect();
    let held = total - in_lanes;
    places.extend((0..held).map(|k| format!("{}@bit", bits << k)));
    match random.below(4) {
        0 => random.shuffle(&mut places),
        // As products mostly are: neighbours along the depth in a register.
        _ => {
            let at = places.len() - held as usize;
            let pair = (packed > 0).then(|| places.remove(at));
            random.shuffle(&mut places);
            match pair {
                Some(pair) if is_a => places.push(pair),
                Some(pair) => places.insert(rows as usize - 1, pair),
                None => {}
            }
        }
    }
    let copies: Vec<String> = (in_lanes..lanes).map(|k| format!("2:{}@laneid", 1 << k)).collect();
    let replicas = match copies.as_slice() {
        [] => String::new(),
        all => {
            let (extents, strides): (Vec<&str>, Vec<&str>) =
                all.iter().filter_map(|one| one.split_once(':')).unzip();
            format!(" + R[({}):({})]", extents.join(","), strides.join(","))
        }
    };
    let mut extents = vec![2; total as usize];
    let mut registers = ((bits << held) / 32).max(1);
    if let Some(Panels { of_rows, count, below }) = panels {
        if bits << held < 32 {
            return None;
        }
        let end = if of_rows { rows } else { total };
        let at = (end - below) as usize;
        extents.insert(at, count);
        places.insert(at, format!("{}@bit", bits << held));
        registers *= count;
    }
    let extents: Vec<String> = extents.iter().map(u32::to_string).collect();
    let layout = format!("S[({}):({})]{replicas}", extents.join(","), places.join(","));
    Some((registers, layout))
}

/// The odd factor of an extent.
#[derive(Copy, Clone)]
struct Panels {
    of_rows: bool,
    count: u32,
    below: u32,
}

/// So many machines by a seed; `odd`: one extent of their products is no power of two.
pub fn random(seed: u64, count: usize, odd: bool) -> Vec<Variant> {
    let mut random = Random(seed);
    (0..count)
        .map(|number| {
            let name: &'static str =
                Box::leak(format!("{}{number}", if odd { "o" } else { "r" }).into_boxed_str());
            // Panels want whole registers in each operand: not too many lanes.
            let lanes = random.below(if odd { 5 } else { 7 }) as u32;
            let (m, n, k, dimension, count, [d, a, b]) = loop {
                let (m, n, k) = loop {
                    let mut any = || 1 + random.below(5) as u32;
                    let (m, n, k) = (any(), any(), any());
                    let registers = |bits: u32| bits.saturating_sub(lanes);
                    if registers(m + n) <= 4
                        && registers(m + k) <= 4
                        && registers(k + n) <= 4
                        && m + k > 1
                    {
                        break (m, n, k);
                    }
                };
                // m, n or k, and how often.
                let (dimension, count) = match odd {
                    true => (random.below(3), [3, 5][random.below(2) as usize]),
                    false => (3, 1),
                };
                let bits = [m, n, k].get(dimension as usize).copied().unwrap_or(0);
                let below = random.below(u64::from(bits) + 1) as u32;
                let panels = |rows: u64, columns: u64| match dimension {
                    of if of == rows => Some(Panels { of_rows: true, count, below }),
                    of if of == columns => Some(Panels { of_rows: false, count, below }),
                    _ => None,
                };
                let operands = [
                    scattered(&mut random, (lanes, 32), (m, n), false, panels(0, 1)),
                    scattered(&mut random, (lanes, 16), (m, k), true, panels(0, 2)),
                    scattered(&mut random, (lanes, 16), (k, n), false, panels(2, 1)),
                ];
                if let [Some(d), Some(a), Some(b)] = operands
                    && [&d, &a, &b].iter().all(|(registers, _)| *registers <= 48)
                {
                    break (m, n, k, dimension, count, [d, a, b]);
                }
            };
            let times = |of: u64| if of == dimension { count } else { 1 };
            let (em, en, ek) = (times(0) << m, times(1) << n, times(2) << k);
            let atom = product(name, (em, en, ek), (d.0, &d.1), (a.0, &a.1), (b.0, &b.1));
            let warps = 1usize << random.below(3);
            let tile = Tile {
                m: (1u64 << m).max(16) * u64::from(times(0)),
                n: (1u64 << n).max(16)
                    * if odd { u64::from(times(1)) } else { 1 + random.below(3) },
                k: (1u64 << k).max(8) * u64::from(times(2)) * if odd { 1 } else { 2 },
                threads: warps << lanes,
                b_rows: random.below(4) == 0,
            };
            let banks = [(8, 4), (24, 8), (20, 4), (32, 4), (64, 8)][random.below(5) as usize];
            Variant { tile, banks, ..Variant::new(name, 1 << lanes, atom) }
        })
        .collect()
}
