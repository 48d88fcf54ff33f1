//! Atomic operations that several elements and several blocks have in one place: which comes first
//! is not said, so that what they answer is judged as a set. Each bin's tickets are the numbers
//! from 0 on, each once, and what is put where a ticket says is there, whoever has it.

use lanebook_kernels::judge::{execute_grid, noise};
use lanebook_kernels::{assembled, kernel_text};
use lanebook_replay::{Memory, Param};

const BINS: u32 = 16;
const BLOCKS: u32 = 3;
/// Elements of a block's tile.
const ELEMENTS: u32 = 512;
/// Places of a bin.
const ROOM: u32 = 2048;

/// Elements by bins, in the order in which they come.
fn sorted(kind: &str) -> String {
    format!(
        "func @f(%K: memref<1536xi32, #gmem> {{align = 16}}, %H: memref<16xi32, #gmem> {{align = 16}}, %T: memref<1536xi32, #gmem> {{align = 16}}, %S: memref<32768xi32, #gmem> {{align = 16}}) {{threads = 128, grid = (3)}} {{
  %b = block_id x : index
  %at = index.mul %b, 512 : index
  %k = tiled_load %K[%at] : memref<1536xi32, #gmem> -> tensor<512xi32>
  %one = constant 1 : tensor<512xi32>
  %t = tiled_atomic %one, %H[0], %k {{kind = {kind}}} : tensor<512xi32>, memref<16xi32, #gmem>, tensor<512xi32> -> tensor<512xi32>
  tiled_store %t, %T[%at] : tensor<512xi32> -> memref<1536xi32, #gmem>
  %room = constant 2048 : tensor<512xi32>
  %first = mul %k, %room : tensor<512xi32>
  %place = add %first, %t : tensor<512xi32>
  scatter %k, %S[0], %place : tensor<512xi32>, memref<32768xi32, #gmem>, tensor<512xi32>
}}
"
    )
}

/// What is wrong with what a kernel left, if something is.
fn wrong(arch: &str, text: &str) -> Result<(), String> {
    let all = BLOCKS * ELEMENTS;
    // Bins of many elements and of few.
    let bin = |i: u32| ((noise(i).abs() * noise(i + 9000).abs()) * 15.9) as u32;
    let keys: Vec<u32> = (0..all).map(bin).collect();
    let mut memory = Memory::new();
    let k = memory.add_u32("K", &keys);
    let h = memory.add_u32("H", &vec![0; BINS as usize]);
    let t = memory.add_u32("T", &vec![u32::MAX; all as usize]);
    let s = memory.add_u32("S", &vec![u32::MAX; (BINS * ROOM) as usize]);
    let params = [k, h, t, s].map(Param::Buffer).to_vec();
    execute_grid(arch, text, (128, [BLOCKS, 1, 1]), params, &mut memory)
        .map_err(|fault| format!("{fault:?}"))?;
    let (counts, tickets, slots) = (memory.u32s(h), memory.u32s(t), memory.u32s(s));
    for bin in 0..BINS {
        let mut own: Vec<u32> =
            keys.iter().zip(&tickets).filter(|(key, _)| **key == bin).map(|(_, t)| *t).collect();
        own.sort_unstable();
        let many = own.len() as u32;
        if counts[bin as usize] != many {
            return Err(format!("bin {bin} counts {}, not {many}", counts[bin as usize]));
        }
        if own != (0..many).collect::<Vec<u32>>() {
            return Err(format!("tickets of bin {bin} are {own:?}"));
        }
        let places = &slots[(bin * ROOM) as usize..((bin + 1) * ROOM) as usize];
        let filled = |place: &u32| *place == bin;
        let is_dense = places[..many as usize].iter().all(filled)
            && places[many as usize..].iter().all(|place| *place == u32::MAX);
        if !is_dense {
            return Err(format!("places of bin {bin} have gaps"));
        }
    }
    Ok(())
}

const ARCHS: [&str; 10] = [
    "sm_75",
    "sm_80",
    "sm_90a",
    "sm_120a",
    "gfx908",
    "gfx90a",
    "gfx942",
    "gfx1030",
    "gfx1100.w64",
    "gfx1250",
];

#[test]
fn tickets_are_given_once_each() {
    for arch in ARCHS {
        let text = kernel_text(&sorted("add"), arch);
        assembled(arch, &text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        wrong(arch, &text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
    }
}

/// The judge sees answers of another operation, and those of one that stores no sum.
#[test]
fn other_answers_are_no_tickets() {
    for arch in ["sm_80", "gfx942"] {
        for kind in ["max", "exch", "xor"] {
            let text = kernel_text(&sorted(kind), arch);
            assert!(wrong(arch, &text).is_err(), "{arch}: {kind}");
        }
    }
}

/// Each block takes one ticket, which all of its threads know.
fn of_blocks(kind: &str) -> String {
    let said = "memref<1xi32, #gmem> -> tensor<1xi32>";
    format!(
        "func @f(%H: memref<1xi32, #gmem>, %T: memref<768xi32, #gmem> {{align = 16}}) {{threads = 128, grid = (3)}} {{
  %b = block_id x : index
  %at = index.mul %b, 256 : index
  %one = constant 1 : tensor<1xi32>
  %t = tiled_atomic %one, %H[0] {{kind = {kind}}} : tensor<1xi32>, {said}
  %all = broadcast %t : tensor<1xi32> -> tensor<256xi32>
  tiled_store %all, %T[%at] : tensor<256xi32> -> memref<768xi32, #gmem>
}}
"
    )
}

/// What is wrong with the tickets that blocks have taken.
fn wrong_of_blocks(arch: &str, text: &str) -> Result<(), String> {
    let mut memory = Memory::new();
    let h = memory.add_u32("H", &[7]);
    let t = memory.add_u32("T", &[u32::MAX; 768]);
    let params = [h, t].map(Param::Buffer).to_vec();
    execute_grid(arch, text, (128, [BLOCKS, 1, 1]), params, &mut memory)
        .map_err(|fault| format!("{fault:?}"))?;
    let (count, tickets) = (memory.u32s(h)[0], memory.u32s(t));
    let mut own: Vec<u32> = tickets.chunks(256).map(|block| block[0]).collect();
    let is_one = tickets.chunks(256).all(|block| block.iter().all(|ticket| *ticket == block[0]));
    own.sort_unstable();
    match count == 7 + BLOCKS && is_one && own == [7, 8, 9] {
        true => Ok(()),
        false => Err(format!("{count} behind {own:?}, one for each block: {is_one}")),
    }
}

#[test]
fn each_block_takes_one_ticket() {
    for arch in ARCHS {
        let text = kernel_text(&of_blocks("add"), arch);
        assembled(arch, &text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        wrong_of_blocks(arch, &text).unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        let other = kernel_text(&of_blocks("max"), arch);
        assert!(wrong_of_blocks(arch, &other).is_err(), "{arch}");
    }
}
