//! Which element types an architecture moves: small programs that do nothing else, compiled.

use lanebook::compile::{KernelStorage, compile};
use lanebook::ir::{self, Options, SmallStorage};
use lanebook_tables::{Arch, ArchId, OpRole, Tables};

/// Lines of the probes, `T` for the element type: from global memory into registers, and on.
const LOAD: &str = "  %x = tiled_load %A[0, 0] : memref<?x?xT, #gmem> -> tensor<64x64xT>\n";
const STORE: &str = "  tiled_store %x, %B[0, 0] : tensor<64x64xT> -> memref<?x?xT, #gmem>\n";
const TILE: &str = "  %s = alloc_tensor : tensor<64x64xT, #smem>\n";
const IN: &str = "  tiled_store %x, %s : tensor<64x64xT> -> tensor<64x64xT, #smem>\n";
const OUT: &str = "  %y = tiled_load %s : tensor<64x64xT, #smem> -> tensor<64x64xT>\n  tiled_store %y, %B[0, 0] : tensor<64x64xT> -> memref<?x?xT, #gmem>\n";
const COPY_IN: &str = "  copy %A[0, 0], %s : memref<?x?xT, #gmem> -> tensor<64x64xT, #smem>\n";
const COPY_OUT: &str = "  copy %s, %B[0, 0] : tensor<64x64xT, #smem> -> memref<?x?xT, #gmem>\n";

/// Ways of a movement, each with the lines of its probe.
fn ways(role: OpRole) -> &'static [(&'static str, &'static [&'static str])] {
    match role {
        OpRole::Load => &[("from #gmem", &[LOAD, STORE]), ("from #smem", &[TILE, LOAD, IN, OUT])],
        OpRole::Store => &[("to #gmem", &[LOAD, STORE]), ("to #smem", &[TILE, LOAD, IN, OUT])],
        OpRole::Copy => &[
            ("#gmem to #smem", &[TILE, COPY_IN, OUT]),
            ("#smem to #gmem", &[TILE, LOAD, IN, COPY_OUT]),
        ],
        _ => &[],
    }
}

/// For each way of a movement the element types that `compile` moves on an architecture; `None`
/// for what is no movement.
pub fn moved(tables: &Tables<'_>, arch: &Arch<'_>, role: OpRole) -> Option<Vec<String>> {
    let ways = ways(role);
    if ways.is_empty() {
        return None;
    }
    let Some(id) = tables.arch_named(arch.name) else { return Some(Vec::new()) };
    let mut room = Box::new(KernelStorage::new());
    let mut pools = Box::new(SmallStorage::new());
    let mut out = Vec::new();
    for (way, lines) in ways {
        let mut names: Vec<&str> = Vec::new();
        // Pairs are how their halves are moved.
        for dtype in tables.dtypes.iter().filter(|dtype| dtype.pair_of.is_none()) {
            let text = program(lines, dtype.name, arch);
            if moves(tables, id, &text, &mut room, &mut pools) {
                names.push(dtype.name);
            }
        }
        if !names.is_empty() {
            out.push(format!("{way}: {}", names.join(" ")));
        }
    }
    Some(out)
}

/// A kernel of some lines, in tensors whose rows are aligned as well as any.
fn program(lines: &[&str], element: &str, arch: &Arch<'_>) -> String {
    let threads = arch.wave_lanes.first().map_or(128, |lanes| u32::from(*lanes) * 4);
    let memref = "memref<?x?xT, #gmem> {align = 16, stride_div = 16}";
    format!(
        "func @moved(%A: {memref}, %B: {memref}) {{threads = {threads}}} {{\n{}}}\n",
        lines.concat()
    )
    .replace("xT", &format!("x{element}"))
}

fn moves(
    tables: &Tables<'_>,
    arch: ArchId,
    text: &str,
    room: &mut KernelStorage,
    pools: &mut SmallStorage,
) -> bool {
    let Ok(mut program) = ir::parse(pools.pools(), tables, text, Options::default()) else {
        return false;
    };
    ir::verify(&mut program).is_ok()
        && ir::isolate_kernel(&mut program, None).is_ok()
        && compile(tables, arch, &mut program, room.scratch()).is_ok()
}
