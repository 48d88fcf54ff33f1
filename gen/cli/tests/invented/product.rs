//! A product of matrices on an architecture that nobody makes: compiled, checked by the independent
//! checkers, run by what the tables say, and held against the sums.
use super::machine::{Machine, to_half};
use lanebook::check;
use lanebook::compile::{Compiled, KernelStorage as Room, compile};
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook_tables::Tables;
use std::sync::{Mutex, PoisonError};

/// A tile of C = A * B^T, with the depth that one turn multiplies.
#[derive(Copy, Clone, Debug)]
pub struct Tile {
    pub m: u64,
    pub n: u64,
    pub k: u64,
    pub threads: usize,
    /// B lies by rows of the depth, not by columns of C.
    pub b_rows: bool,
}

/// What a product came to.
#[derive(Debug)]
pub struct Ran {
    /// The movers that were picked.
    pub movers: Vec<String>,
    /// The instruction that multiplies.
    pub product: String,
}

/// The program's text.
pub fn program(tile: Tile) -> String {
    let Tile { m, n, k, threads, b_rows } = tile;
    // B's rows and columns as they lie, where its tile begins, and what makes it (k, n).
    let (rows, columns, corner) = if b_rows { (k, n, "%k, %n") } else { (n, k, "%n, %k") };
    let turned = match b_rows {
        true => String::new(),
        false => format!("  %b = trans %t : tensor<{n}x{k}xf16> -> tensor<{k}x{n}xf16>\n"),
    };
    let loaded = if b_rows { "%b" } else { "%t" };
    format!(
        "func @product(%A: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}},
              %B: memref<?x?xf16, #gmem> {{align = 16, stride_div = 8}},
              %C: memref<?x?xf32, #gmem> {{align = 16, stride_div = 4}},
              %m: index {{div = {m}}}, %n: index {{div = {n}}}, %k: index {{div = {k}}}) {{threads = {threads}}} {{
  %sa = alloc_tensor : tensor<{m}x{k}xf16, #smem>
  %sb = alloc_tensor : tensor<{rows}x{columns}xf16, #smem>
  %z  = constant 0.0 : tensor<{m}x{n}xf32>
  copy %A[%m, %k], %sa : memref<?x?xf16, #gmem> -> tensor<{m}x{k}xf16, #smem>
  copy %B[{corner}], %sb : memref<?x?xf16, #gmem> -> tensor<{rows}x{columns}xf16, #smem>
  %a = tiled_load %sa : tensor<{m}x{k}xf16, #smem> -> tensor<{m}x{k}xf16>
  {loaded} = tiled_load %sb : tensor<{rows}x{columns}xf16, #smem> -> tensor<{rows}x{columns}xf16>
{turned}  %d = mma %a, %b, %z : tensor<{m}x{n}xf32>
  tiled_store %d, %C[%m, %n] : tensor<{m}x{n}xf32> -> memref<?x?xf32, #gmem>
}}
"
    )
}

/// What the checker of final steps works in; too large for a stack.
static ROOM: Mutex<check::ContentsStorage<8192, 8192, 65536, 32768>> =
    Mutex::new(check::ContentsStorage::new());

/// The independent checkers find nothing wrong with a kernel.
pub fn checked(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    compiled: &Compiled<'_>,
    name: &str,
) {
    check::plan(tables, program, &compiled.plan).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    steps_checked(tables, program, &check::FinalSteps::of(compiled))
        .unwrap_or_else(|e| panic!("{name}: {e:?}"));
}

/// What the checker of final steps says of some.
pub fn steps_checked(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    kernel: &check::FinalSteps<'_>,
) -> Result<check::StepsSummary, check::Violation> {
    let mut room = ROOM.lock().unwrap_or_else(PoisonError::into_inner);
    check::steps(tables, program, kernel, &mut room.scratch())
}

/// Compiles and runs the product. A refusal is its reason; a wrong element fails the test.
pub fn run(tables: &Tables<'static>, name: &str, tile: Tile) -> Result<Ran, String> {
    let id = tables.arch_named(name).expect("it is known by name");
    let arch = tables.arch(id).expect("architecture");
    let text = program(tile);
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, &text, Options::default()).expect("program");
    verify(&mut program).expect("program");
    let mut room = Box::new(Room::new());
    let compiled = match compile(tables, id, &mut program, room.scratch()) {
        Ok(compiled) => compiled,
        Err(error) => {
            return Err(format!("{error:?}: {}", error.display(tables, id, &program)));
        }
    };
    checked(tables, &program, &compiled, name);
    let atom = |id| tables.atom(id).expect("atom").name().to_string();
    let ran = Ran {
        movers: compiled.plan.transfers.iter().map(|m| atom(m.atom)).collect(),
        product: compiled.plan.products.iter().map(|p| atom(p.product.atom)).collect(),
    };

    // Matrices larger than the tiles, with rows longer than they need to be.
    let (rows, depth, columns) = (3 * tile.m, 2 * tile.k, 3 * tile.n);
    let (corner_m, corner_n, corner_k) = (tile.m, tile.n, tile.k);
    let a = |i: u64, k: u64| ((i * 7 + k * 3) % 13) as i32 - 6;
    let b = |j: u64, k: u64| ((j * 5 + k * 11) % 9) as i32 - 4;
    let mut machine = Machine::new(tables, arch, tile.threads);
    let (at_a, at_b, at_c) = (0x10_0000u64, 0x7_0020_0000, 0x30_0000);
    let b_inner = if tile.b_rows { columns } else { depth };
    let (stride_a, stride_b, stride_c) = (depth + 8, b_inner + 16, columns + 4);
    for k in 0..depth {
        let of_a = (0..rows).map(|i| (at_a + 2 * (i * stride_a + k), a(i, k)));
        let place = |j| if tile.b_rows { k * stride_b + j } else { j * stride_b + k };
        let of_b = (0..columns).map(|j| (at_b + 2 * place(j), b(j, k)));
        for (at, value) in of_a.chain(of_b) {
            for (byte, at) in to_half(value).to_le_bytes().into_iter().zip(at..) {
                machine.global.insert(at, byte);
            }
        }
    }
    let before = machine.global.len();
    for (base, first, second, stride) in [
        (at_a, rows, depth, stride_a),
        if tile.b_rows {
            (at_b, depth, columns, stride_b)
        } else {
            (at_b, columns, depth, stride_b)
        },
        (at_c, rows, columns, stride_c),
    ] {
        machine.params.extend(base.to_le_bytes());
        for number in [first, second, stride] {
            machine.params.extend((number as u32).to_le_bytes());
        }
        machine.params.resize(machine.params.len().next_multiple_of(8), 0);
    }
    // The last pointer's arguments end on four bytes, where the indices begin.
    machine.params.truncate(68);
    for index in [corner_m, corner_n, corner_k] {
        machine.params.extend((index as u32).to_le_bytes());
    }
    machine.run(&compiled);
    let mut written = 0;
    for i in 0..tile.m {
        for j in 0..tile.n {
            let at = at_c + 4 * ((corner_m + i) * stride_c + corner_n + j);
            let bytes: Vec<u8> = (0..4)
                .map(|n| {
                    *machine
                        .global
                        .get(&(at + n))
                        .unwrap_or_else(|| panic!("{name}: ({i}, {j}) was not written"))
                })
                .collect();
            let found = f32::from_le_bytes(bytes.try_into().expect("four bytes"));
            let wanted: i32 = (0..tile.k)
                .map(|k| a(corner_m + i, corner_k + k) * b(corner_n + j, corner_k + k))
                .sum();
            assert_eq!(found, wanted as f32, "{name}: ({i}, {j})");
            written += 4;
        }
    }
    assert_eq!(machine.global.len() - before, written, "{name}: nothing else was written");
    Ok(ran)
}
