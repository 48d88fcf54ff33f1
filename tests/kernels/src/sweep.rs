//! Generated programs: GEMMs and movements of many shapes, types and thread counts, each with what
//! it must compute.

use lanebook_replay::{BufferId, Fault, Kernel, Launch, Memory, Param, Report, run};
use std::fmt::Write;

/// A GEMM of one tile of C for each block.
#[derive(Clone, Debug, PartialEq)]
pub struct Gemm {
    /// Extents of the tile.
    pub tile: (u32, u32, u32),
    /// Threads of the block.
    pub threads: u32,
    /// Element type of A and B.
    pub element: &'static str,
    /// A lies in memory as k x m, B as n x k.
    pub transposed: (bool, bool),
    /// Element type of C in memory; accumulators are f32.
    pub store: &'static str,
    /// Times the k tile.
    pub turns: u32,
    /// Attribute of A's allocation.
    pub layout: &'static str,
    /// C = max(2 * A B + A B, 0).
    pub arithmetic: bool,
}

/// A tile from A to B, through shared memory, maybe transposed.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// Rows and columns of the tile.
    pub tile: (u32, u32),
    /// Threads of the block.
    pub threads: u32,
    /// Element type.
    pub element: &'static str,
    /// What happens on the way.
    pub way: Way,
}

/// The way of a [`Move`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// Global to shared, into registers, to global.
    Registers,
    /// The same, transposed in registers' names.
    Transposed,
    /// Global to shared to global by two copies.
    Copies,
    /// Into registers, to shared memory, to global by a copy.
    StoreCopy,
}

/// A generated program.
#[derive(Clone, Debug, PartialEq)]
pub enum Case {
    /// See [`Gemm`].
    Gemm(Gemm),
    /// See [`Move`].
    Move(Move),
}

/// Bytes of an element type.
///
/// # Panics
/// For a type that no case uses.
#[must_use]
pub fn bytes(element: &str) -> u32 {
    match element {
        "f32" | "i32" => 4,
        "f16" | "bf16" => 2,
        "u8" | "i8" => 1,
        other => panic!("{other}"),
    }
}

impl Case {
    /// Threads of a block.
    #[must_use]
    pub fn threads(&self) -> u32 {
        match self {
            Self::Gemm(g) => g.threads,
            Self::Move(m) => m.threads,
        }
    }

    /// The program, its function named `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> String {
        match self {
            Self::Gemm(g) => g.text(name),
            Self::Move(m) => m.text(name),
        }
    }

    /// Runs an emitted kernel and compares every byte of the result; the error says what is wrong.
    ///
    /// # Errors
    /// A fault of the machine, or a wrong element.
    pub fn judge(&self, kernel: &Kernel, dynamic_shared: u32) -> Result<Ran, String> {
        match self {
            Self::Gemm(g) => g.judge(kernel, dynamic_shared),
            Self::Move(m) => m.judge(kernel, dynamic_shared),
        }
    }
}

/// A clean run.
pub struct Ran {
    /// What the replay saw.
    pub report: Report,
    /// Memory afterwards.
    pub memory: Memory,
    /// For each memref in order: its buffer, elements of its rows, and its tile's corner in turn
    /// `t` as `(row, col) + t * (row step, col step)`.
    pub tiles: Vec<Tile>,
}

/// Where a memref's tile lies.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    /// Its buffer.
    pub buffer: BufferId,
    /// Elements of a row of the whole matrix.
    pub stride: u64,
    /// Corner in the first turn.
    pub at: (u64, u64),
    /// What each turn adds.
    pub step: (u64, u64),
}

fn fault(f: &Fault) -> String {
    format!("{f}")
}

fn launch(threads: u32, params: Vec<Param>, dynamic_shared: u32) -> Launch {
    Launch { dynamic_shared, record_matrix: false, ..Launch::new(threads, params) }
}

fn matrix(id: BufferId, rows: u32, cols: u32) -> [Param; 4] {
    [Param::Buffer(id), Param::U32(rows), Param::U32(cols), Param::U32(cols)]
}

impl Gemm {
    fn text(&self, name: &str) -> String {
        let Self {
            tile: (m, n, k),
            threads,
            element: e,
            transposed: (ta, tb),
            store,
            layout,
            arithmetic,
            ..
        } = self;
        let (stride, cstride) = (16 / bytes(e), 16 / bytes(store));
        let mut out = String::new();
        let _ = write!(
            out,
            "func @{name}(%A: memref<?x?x{e}, #gmem> {{align = 16, stride_div = {stride}}}, %B: memref<?x?x{e}, #gmem> {{align = 16, stride_div = {stride}}},
           %C: memref<?x?x{store}, #gmem> {{align = 16, stride_div = {cstride}}}, %m: index {{div = {m}}}, %n: index {{div = {n}}}, %K: index) {{threads = {threads}}} {{\n"
        );
        let shape = |r: &u32, c: &u32, t: &str, flip: bool| {
            if flip { format!("{c}x{r}x{t}") } else { format!("{r}x{c}x{t}") }
        };
        let (sa, sb, sc) = (shape(m, k, e, *ta), shape(k, n, e, *tb), shape(m, n, "f32", false));
        let _ = writeln!(out, "  %sa = alloc_tensor {layout} : tensor<{sa}, #smem>");
        let _ = writeln!(out, "  %sb = alloc_tensor : tensor<{sb}, #smem>");
        let _ = writeln!(out, "  %z = constant 0.0 : tensor<{sc}>");
        let _ = writeln!(
            out,
            "  %r = scf.for %k = 0 to %K step {k} iter_args(%c = %z) -> tensor<{sc}> {{"
        );
        let (ia, ib) =
            (if *ta { "%k, %m" } else { "%m, %k" }, if *tb { "%n, %k" } else { "%k, %n" });
        let _ =
            writeln!(out, "    copy %A[{ia}], %sa : memref<?x?x{e}, #gmem> -> tensor<{sa}, #smem>");
        let _ =
            writeln!(out, "    copy %B[{ib}], %sb : memref<?x?x{e}, #gmem> -> tensor<{sb}, #smem>");
        for (tile, flip, (rows, cols), s) in [("a", *ta, (m, k), &sa), ("b", *tb, (k, n), &sb)] {
            let own = shape(rows, cols, e, false);
            let read = if flip { format!("{tile}t") } else { tile.to_string() };
            let _ = writeln!(
                out,
                "    %{read} = tiled_load %s{tile} : tensor<{s}, #smem> -> tensor<{s}>"
            );
            if flip {
                let _ = writeln!(out, "    %{tile} = trans %{read} : tensor<{s}> -> tensor<{own}>");
            }
        }
        let _ = writeln!(out, "    %d = mma %a, %b, %c : tensor<{sc}>");
        let _ = writeln!(out, "    scf.yield %d : tensor<{sc}>");
        let _ = writeln!(out, "  }}");
        let sum = if *arithmetic {
            let _ = writeln!(
                out,
                "  %two = constant 2.0 : tensor<{sc}>\n  %zero = constant 0.0 : tensor<{sc}>"
            );
            let _ = writeln!(
                out,
                "  %e0 = mul %r, %two : tensor<{sc}>\n  %e1 = add %e0, %r : tensor<{sc}>\n  %e2 = max %e1, %zero : tensor<{sc}>"
            );
            "%e2"
        } else {
            "%r"
        };
        let result = if *store == "f32" {
            sum
        } else {
            let _ = writeln!(out, "  %h = cast {sum} : tensor<{sc}> -> tensor<{m}x{n}x{store}>");
            "%h"
        };
        let _ = writeln!(
            out,
            "  tiled_store {result}, %C[%m, %n] : tensor<{m}x{n}x{store}> -> memref<?x?x{store}, #gmem>\n}}"
        );
        out
    }

    fn judge(&self, kernel: &Kernel, dynamic_shared: u32) -> Result<Ran, String> {
        let (m, n, tk) = self.tile;
        let k = tk * self.turns;
        // The tile is the lower right one of two by two.
        let (rows, cols) = (2 * m, 2 * n);
        let a = |i: u32, x: u32| ((i * 7 + x * 3 + i / 5) % 5) as f32 - 2.0;
        let b = |x: u32, j: u32| ((x * 5 + j + x / 3) % 7) as f32 - 3.0;
        let fill = |r: u32, c: u32, flip: bool, f: &dyn Fn(u32, u32) -> f32| -> Vec<f32> {
            if flip {
                (0..c * r).map(|i| f(i % r, i / r)).collect()
            } else {
                (0..r * c).map(|i| f(i / c, i % c)).collect()
            }
        };
        let (ta, tb) = self.transposed;
        let (va, vb) = (fill(rows, k, ta, &a), fill(k, cols, tb, &b));
        let mut memory = Memory::new();
        let add = |memory: &mut Memory, name: &str, t: &str, v: &[f32]| match t {
            "bf16" => memory.add_bf16(name, v),
            "f16" => memory.add_f16(name, v),
            _ => memory.add_f32(name, v),
        };
        let ia = add(&mut memory, "A", self.element, &va);
        let ib = add(&mut memory, "B", self.element, &vb);
        let ic = add(&mut memory, "C", self.store, &vec![7.0; (rows * cols) as usize]);
        let mut params = Vec::new();
        params.extend(if ta { matrix(ia, k, rows) } else { matrix(ia, rows, k) });
        params.extend(if tb { matrix(ib, cols, k) } else { matrix(ib, k, cols) });
        params.extend(matrix(ic, rows, cols));
        params.extend([Param::U32(m), Param::U32(n), Param::U32(k)]);
        let report = run(kernel, &launch(self.threads, params, dynamic_shared), &mut memory)
            .map_err(|f| fault(&f))?;
        let read: Vec<f32> = match self.store {
            "f16" => memory.f16s(ic),
            "bf16" => memory
                .bytes(ic)
                .chunks(2)
                .map(|c| f32::from_bits(u32::from(u16::from_le_bytes([c[0], c[1]])) << 16))
                .collect(),
            _ => memory.f32s(ic),
        };
        for i in 0..rows {
            for j in 0..cols {
                let product = || (0..k).map(|x| a(i, x) * b(x, j)).sum::<f32>();
                let want: f32 = match (i >= m && j >= n, self.arithmetic) {
                    (true, true) => (3.0 * product()).max(0.0),
                    (true, false) => product(),
                    _ => 7.0,
                };
                let got = read[(i * cols + j) as usize];
                // Sums are small whole numbers: exact in f32 and f16; bf16 keeps eight bits of
                // them.
                let close = got == want
                    || (self.store == "bf16" && (got - want).abs() <= want.abs() / 128.0);
                if !close {
                    return Err(format!("C({i},{j}) is {got}, not {want}"));
                }
            }
        }
        let (m, n, tk) = (u64::from(m), u64::from(n), u64::from(tk));
        let flip = |(a, b): (u64, u64), t: bool| if t { (b, a) } else { (a, b) };
        let tiles = vec![
            Tile {
                buffer: ia,
                stride: u64::from(if ta { rows } else { k }),
                at: flip((m, 0), ta),
                step: flip((0, tk), ta),
            },
            Tile {
                buffer: ib,
                stride: u64::from(if tb { k } else { cols }),
                at: flip((0, n), tb),
                step: flip((tk, 0), tb),
            },
            Tile { buffer: ic, stride: u64::from(cols), at: (m, n), step: (0, 0) },
        ];
        Ok(Ran { report, memory, tiles })
    }
}

impl Move {
    fn text(&self, name: &str) -> String {
        let Self { tile: (r, c), threads, element: e, way } = self;
        let stride = 16 / bytes(e);
        let mem = format!("memref<?x?x{e}, #gmem>");
        let (reg, smem, turned) = (
            format!("tensor<{r}x{c}x{e}>"),
            format!("tensor<{r}x{c}x{e}, #smem>"),
            format!("tensor<{c}x{r}x{e}>"),
        );
        let body = match way {
            Way::Registers => {
                format!(
                    "  copy %A[%m, %n], %s : {mem} -> {smem}\n  %t = tiled_load %s : {smem} -> {reg}\n  tiled_store %t, %B[%m, %n] : {reg} -> {mem}\n"
                )
            }
            Way::Transposed => format!(
                "  copy %A[%m, %n], %s : {mem} -> {smem}\n  %t = tiled_load %s : {smem} -> {reg}\n  %u = trans %t : {reg} -> {turned}\n  tiled_store %u, %B[%n, %m] : {turned} -> {mem}\n"
            ),
            Way::Copies => format!(
                "  copy %A[%m, %n], %s : {mem} -> {smem}\n  copy %s, %B[%m, %n] : {smem} -> {mem}\n"
            ),
            Way::StoreCopy => {
                format!(
                    "  %t = tiled_load %A[%m, %n] : {mem} -> {reg}\n  tiled_store %t, %s : {reg} -> {smem}\n  copy %s, %B[%m, %n] : {smem} -> {mem}\n"
                )
            }
        };
        format!(
            "func @{name}(%A: {mem} {{align = 16, stride_div = {stride}}}, %B: {mem} {{align = 16, stride_div = {stride}}}, %m: index {{div = {r}}}, %n: index {{div = {c}}}) {{threads = {threads}}} {{\n  %s = alloc_tensor : {smem}\n{body}}}\n"
        )
    }

    fn judge(&self, kernel: &Kernel, dynamic_shared: u32) -> Result<Ran, String> {
        let (r, c) = self.tile;
        let e = bytes(self.element) as usize;
        let (rows, cols) = (2 * r, 2 * c);
        let flip = self.way == Way::Transposed;
        let data: Vec<u8> =
            (0..(rows * cols) as usize * e).map(|i| (i * 31 + i / 251) as u8).collect();
        let mut memory = Memory::new();
        let ia = memory.add("A", data.clone());
        let ib = memory.add("B", vec![0xee; data.len()]);
        let mut params = Vec::new();
        params.extend(matrix(ia, rows, cols));
        params.extend(if flip { matrix(ib, cols, rows) } else { matrix(ib, rows, cols) });
        params.extend([Param::U32(r), Param::U32(c)]);
        let report = run(kernel, &launch(self.threads, params, dynamic_shared), &mut memory)
            .map_err(|f| fault(&f))?;
        let got = memory.bytes(ib);
        for i in 0..rows as usize {
            for j in 0..cols as usize {
                let from = (i * cols as usize + j) * e;
                let to = if flip { j * rows as usize + i } else { i * cols as usize + j } * e;
                let inside = i >= r as usize && j >= c as usize;
                for b in 0..e {
                    let want = if inside { data[from + b] } else { 0xee };
                    if got[to + b] != want {
                        return Err(format!(
                            "byte {b} of element ({i},{j}) is {:02x}, not {want:02x}",
                            got[to + b]
                        ));
                    }
                }
            }
        }
        let at = (u64::from(r), u64::from(c));
        let tiles = vec![
            Tile { buffer: ia, stride: u64::from(cols), at, step: (0, 0) },
            Tile {
                buffer: ib,
                stride: u64::from(if flip { rows } else { cols }),
                at: if flip { (at.1, at.0) } else { at },
                step: (0, 0),
            },
        ];
        Ok(Ran { report, memory, tiles })
    }
}
