//! Kernels for `far`, a machine with an instruction set of its own, run by the emulator.
use super::machine::{Machine, half, to_half};
use super::product::{checked, steps_checked};
use lanebook::check;
use lanebook::compile::{Compiled, KernelStorage, compile};
use lanebook::emit::step::{Inst, InstKind, Slot};
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook::tile::repeat_places::RepeatPlaces;
use lanebook_tables::Tables;

/// The programs of its folder.
pub const GEMM: &str = include_str!("far/gemm.tile");
pub const TRANSPOSE: &str = include_str!("far/transpose.tile");

/// A matrix in global memory, its rows further apart than they need be.
struct Matrix {
    at: u64,
    rows: u64,
    columns: u64,
    stride: u64,
}

impl Matrix {
    fn place(&self, row: u64, column: u64, bytes: u64) -> u64 {
        self.at + bytes * (row * self.stride + column)
    }

    /// Small numbers as halves.
    fn fill(&self, machine: &mut Machine<'_>, number: impl Fn(u64, u64) -> i32) {
        for row in 0..self.rows {
            for column in 0..self.columns {
                let bytes = to_half(number(row, column)).to_le_bytes();
                for (byte, at) in bytes.into_iter().zip(self.place(row, column, 2)..) {
                    machine.global.insert(at, byte);
                }
            }
        }
    }
}

/// The parameters by number.
fn arguments(matrices: &[&Matrix], indices: &[u64]) -> Vec<u64> {
    let of = |matrix: &&Matrix| [matrix.at, matrix.rows, matrix.columns, matrix.stride];
    matrices.iter().flat_map(of).chain(indices.iter().copied()).collect()
}

fn bytes<const N: usize>(machine: &Machine<'_>, at: u64) -> [u8; N] {
    std::array::from_fn(|k| *machine.global.get(&(at + k as u64)).expect("it was written"))
}

/// Compiles a program for it, and hands the kernel on once the checkers have seen it.
pub fn kernel(
    tables: &Tables<'static>,
    text: &str,
    then: impl FnOnce(&Program<'_, '_>, &mut Compiled<'_>),
) {
    let id = tables.arch_named("far").expect("it is known by name");
    let mut pools = Box::new(SmallStorage::new());
    let mut program = parse(pools.pools(), tables, text, Options::default()).expect("program");
    verify(&mut program).expect("program");
    let mut room = Box::new(KernelStorage::new());
    let mut compiled = compile(tables, id, &mut program, room.scratch())
        .unwrap_or_else(|error| panic!("{error:?}: {error}"));
    checked(tables, &program, &compiled, "far");
    then(&program, &mut compiled);
}

/// The atoms of a kernel's movements and products.
pub fn picked(tables: &Tables<'_>, compiled: &Compiled<'_>) -> Vec<String> {
    let plan = &compiled.plan;
    let movers = plan.transfers.iter().flat_map(|m| [Some(m.atom), m.second]);
    let products = plan.products.iter().map(|p| Some(p.product.atom));
    let name = |id| tables.atom(id).expect("atom").name().to_string();
    movers.chain(products).flatten().map(name).collect()
}

fn machine<'t>(tables: &'t Tables<'static>, threads: usize) -> Machine<'t> {
    let arch = tables.arch_named("far").and_then(|id| tables.arch(id)).expect("architecture");
    Machine::new(tables, arch, threads)
}

/// C = A * B at a corner, over a depth of so many turns.
pub fn gemm(tables: &Tables<'static>, compiled: &Compiled<'_>, turns: u64) {
    let (m, n, depth) = (24, 32, 16 * turns);
    let a = |i: u64, k: u64| ((i * 7 + k * 3) % 13) as i32 - 6;
    let b = |k: u64, j: u64| ((j * 5 + k * 11) % 9) as i32 - 4;
    let mut machine = machine(tables, 64);
    let matrix = |at, rows, columns, more| Matrix { at, rows, columns, stride: columns + more };
    let of_a = matrix(0x10_0000, 3 * m, depth, 8);
    let of_b = matrix(0x7_0020_0000, depth, 3 * n, 16);
    let of_c = matrix(0x30_0000, 3 * m, 3 * n, 4);
    of_a.fill(&mut machine, a);
    of_b.fill(&mut machine, b);
    let before = machine.global.len();
    machine.numbered = arguments(&[&of_a, &of_b, &of_c], &[m, n, depth]);
    machine.run(compiled);
    for i in 0..m {
        for j in 0..n {
            let found = f32::from_le_bytes(bytes(&machine, of_c.place(m + i, n + j, 4)));
            let wanted: i32 = (0..depth).map(|k| a(m + i, k) * b(k, n + j)).sum();
            assert_eq!(found, wanted as f32, "({i}, {j}) after {turns} turns");
        }
    }
    assert_eq!(machine.global.len() - before, (4 * m * n) as usize, "nothing else was written");
}

/// B = A turned, one tile of it.
pub fn transpose(tables: &Tables<'static>, compiled: &Compiled<'_>) {
    let number = |row: u64, column: u64| (row * 64 + column) as i32 % 2000;
    let mut machine = machine(tables, 64);
    let of_a = Matrix { at: 0x10_0000, rows: 64, columns: 96, stride: 104 };
    let of_b = Matrix { at: 0x20_0000, rows: 96, columns: 64, stride: 72 };
    of_a.fill(&mut machine, number);
    let before = machine.global.len();
    machine.numbered = arguments(&[&of_a, &of_b], &[32, 64]);
    machine.run(compiled);
    for row in 0..32 {
        for column in 0..32 {
            let place = of_b.place(64 + column, 32 + row, 2);
            let found = half(u16::from_le_bytes(bytes(&machine, place)));
            assert_eq!(found, number(32 + row, 64 + column) as f32, "({row}, {column})");
        }
    }
    assert_eq!(machine.global.len() - before, 2 * 32 * 32, "nothing else was written");
}

/// Registers of an instance that are brought together in another order are noticed, and panels that
/// are counted otherwise than the instruction's layouts have them: how many faults there were.
pub fn faults(
    tables: &Tables<'static>,
    program: &Program<'_, '_>,
    compiled: &mut Compiled<'_>,
) -> usize {
    let is_copy = |step: &Inst| {
        step.purpose == InstKind::Fill && matches!(step.args[1], Slot::Reg { count: 1, .. })
    };
    let steps: Vec<Inst> = compiled.steps.to_vec();
    let mut planted = 0;
    for at in 1..steps.len() {
        if !is_copy(&steps[at]) || !is_copy(&steps[at - 1]) {
            continue;
        }
        let mut wrong = steps.clone();
        (wrong[at - 1].args[1], wrong[at].args[1]) = (steps[at].args[1], steps[at - 1].args[1]);
        let kernel = check::FinalSteps { steps: &wrong, ..check::FinalSteps::of(compiled) };
        assert!(steps_checked(tables, program, &kernel).is_err(), "step {at}");
        planted += 1;
    }
    let right = compiled.plan.products[0].product.below;
    let (right_m, n, k) = right.get();
    for below in 0..3 {
        if below != right_m {
            let places = RepeatPlaces::new((below, n, k)).expect("room");
            compiled.plan.products[0].product.below = places;
            assert!(check::plan(tables, program, &compiled.plan).is_err(), "{below}");
            planted += 1;
        }
    }
    compiled.plan.products[0].product.below = right;
    planted
}
