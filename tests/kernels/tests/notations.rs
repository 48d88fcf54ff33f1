//! Layouts that programs write in the notations of other systems: each is where the plan puts the
//! tile, element by element, as the system's own definition says.
#![allow(missing_docs)]

use lanebook::TABLES;
use lanebook::encoding::to_linear;
use lanebook::layout::notation::ttg;
use lanebook::layout::triton::address::Addresses;
use lanebook::layout::{AxisId, Hw, Linear, Logical};
use lanebook::map::TileShape;
use lanebook::tables::OpRole;
use lanebook_kernels::interpret::inputs::Fill;
use lanebook_kernels::interpret::{Given, Interpreted};
use lanebook_kernels::judge::run_text;
use lanebook_kernels::noise::Noise;
use lanebook_kernels::{tested, try_with_kernel};

/// A program that loads and stores a tile, with a layout where `T` stands for its type.
fn in_registers(threads: u32, extents: &str, element: &str, layout: &str, form: &str) -> String {
    let memref = format!("memref<{extents}x{element}, #gmem>");
    let place = extents.split('x').map(|_| "0").collect::<Vec<_>>().join(", ");
    let (head, written) = match form {
        "alias" => (format!("#L = {layout}\n"), "#L"),
        _ => (String::new(), layout),
    };
    let tile = format!("tensor<{extents}x{element}, {written}>");
    let plain = format!("tensor<{extents}x{element}>");
    let body = if form == "converted" {
        format!(
            "  %p = tiled_load %x[{place}] : {memref} -> {plain}
  %a = convert_layout %p : {plain} -> {tile}
"
        )
    } else {
        format!("  %a = tiled_load %x[{place}] : {memref} -> {tile}\n")
    };
    format!(
        "{head}func @f(%x: {memref} {{align = 16}}, %y: {memref} {{align = 16}}) {{threads = {threads}}} {{
{body}  tiled_store %a, %y[{place}] : {tile} -> {memref}
}}
"
    )
}

const BLOCKED: &str = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>";
const MMA: &str = "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>";

/// Architecture, threads, rows, columns, element, layout: register tiles.
fn register_tiles() -> Vec<(&'static str, u32, u32, u32, &'static str, String)> {
    let slice = |dim: u8, parent: &str| format!("#ttg.slice<{{dim = {dim}, parent = {parent}}}>");
    let dot = |index: u8, parent: &str, width: u8| {
        format!("#ttg.dot_op<{{opIdx = {index}, parent = {parent}, kWidth = {width}}}>")
    };
    let wide = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [2, 2], order = [1, 0]}>";
    let mfma = "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>";
    let wmma = |version: u8| {
        format!(
            "#ttg.amd_wmma<{{version = {version}, isTranspose = false, ctaLayout = {{warp = [[1, 0], [0, 1]]}}}}>"
        )
    };
    let linear = "#ttg.linear<{register = [[0, 1], [0, 2], [16, 0]], lane = [[1, 0], [2, 0], [4, 0], [0, 4], [0, 8]], warp = [[8, 0], [0, 16]], block = []}>";
    vec![
        ("sm_80", 128, 64, 64, "f16", BLOCKED.into()),
        ("sm_80", 128, 64, 64, "f32", BLOCKED.into()),
        ("sm_80", 128, 16, 64, "f32", BLOCKED.into()),
        ("sm_80", 128, 8, 16, "f32", BLOCKED.into()),
        ("gfx942", 256, 64, 64, "f32", wide.into()),
        ("gfx1201", 128, 32, 64, "f32", BLOCKED.into()),
        ("sm_80", 128, 32, 32, "f32", linear.into()),
        ("sm_80", 128, 1, 64, "f32", slice(0, BLOCKED)),
        ("sm_80", 128, 1, 64, "f32", slice(1, MMA)),
        ("sm_80", 128, 64, 64, "f32", MMA.into()),
        ("sm_90a", 128, 64, 64, "f32", "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>".into()),
        ("gfx942", 256, 64, 64, "f32", mfma.into()),
        ("gfx1100", 128, 64, 64, "f32", wmma(1)),
        ("gfx1201", 128, 64, 64, "f32", wmma(2)),
        ("sm_80", 128, 64, 64, "f16", dot(0, MMA, 2)),
        ("gfx942", 256, 64, 64, "f16", dot(0, mfma, 4)),
    ]
}

/// A coordinate's bits in a column, as the number of an element of the tile.
fn element(linear: &Linear<Hw, Logical>, at: (AxisId, u8), flat: bool, shape: TileShape) -> u32 {
    let on = |dim: u8| {
        linear.column_on(at.0, at.1, AxisId::dim(dim)).map_or(0, |n| u32::try_from(n).unwrap())
    };
    if flat { shape.element(0, on(0)) } else { shape.element(on(0), on(1)) }
}

#[test]
fn register_tiles_lie_as_triton_says() {
    let mut seen = 0;
    for (arch, threads, rows, cols, dtype, layout) in register_tiles() {
        let flat = rows == 1;
        let extents = if flat { format!("{cols}") } else { format!("{rows}x{cols}") };
        let id = TABLES.arch_named(arch).unwrap();
        let encoding = ttg::parse(&layout).unwrap();
        let shape: &[u32] = if flat { &[cols] } else { &[rows, cols] };
        let linear = to_linear(&TABLES, id, &encoding, shape).unwrap();
        let bits = TABLES.dtype(TABLES.dtype_named(dtype).unwrap()).unwrap().bits;
        let tile = TileShape::new(u64::from(rows), u64::from(cols), bits).unwrap();
        let columns = |axis: AxisId| -> Vec<u32> {
            let count = linear.ins().iter().find(|dim| dim.0 == axis).map_or(0, |dim| dim.1);
            (0..count).map(|bit| element(&linear, (axis, bit), flat, tile)).collect()
        };
        // Registers that hold the same element as one before are none of the plan's.
        let mut registers = columns(AxisId::REGISTER);
        registers.retain(|column| *column != 0);
        for form in ["type", "alias", "converted"] {
            let text = in_registers(threads, &extents, dtype, &layout, form);
            let made = try_with_kernel(&text, arch, |program, compiled, _| {
                let of_store = program
                    .inside(compiled.function)
                    .find(|op| program.op_name(*op) == "tiled_store")
                    .and_then(|op| program.operand(op, 0))
                    .unwrap();
                let plan = compiled.plan.fragments.iter().find(|f| f.value == of_store).unwrap();
                plan.fragment
            });
            let found = made.unwrap_or_else(|e| panic!("{arch} {form}: {e}\n{text}"));
            assert_eq!(found.register.as_slice(), registers, "{arch} {form} {layout}: registers");
            assert_eq!(
                found.lane.as_slice(),
                columns(AxisId::LANE),
                "{arch} {form} {layout}: lanes"
            );
            assert_eq!(
                found.warp.as_slice(),
                columns(AxisId::WARP),
                "{arch} {form} {layout}: warps"
            );
            seen += 1;
        }
    }
    assert_eq!(seen, 48);
}

/// Three dimensions of which the first two are rows: the encoding is that of all three.
#[test]
fn tiles_of_three_dimensions_lie_as_triton_says() {
    let nested = "#ttg.blocked<{sizePerThread = [1, 2, 2], threadsPerWarp = [2, 4, 4], warpsPerCTA = [2, 1, 2], order = [2, 1, 0]}>";
    let turned = "#ttg.blocked<{sizePerThread = [2, 1, 1], threadsPerWarp = [1, 8, 8], warpsPerCTA = [1, 2, 2], order = [0, 1, 2]}>";
    for (arch, threads, layout) in [("sm_80", 128, nested), ("gfx942", 256, turned)] {
        let id = TABLES.arch_named(arch).unwrap();
        let linear = to_linear(&TABLES, id, &ttg::parse(layout).unwrap(), &[4, 16, 16]).unwrap();
        let columns = |axis: AxisId| -> Vec<u32> {
            let count = linear.ins().iter().find(|dim| dim.0 == axis).map_or(0, |dim| dim.1);
            let on =
                |bit: u8, dim: u8| linear.column_on(axis, bit, AxisId::dim(dim)).unwrap() as u32;
            (0..count).map(|bit| (on(bit, 0) * 16 + on(bit, 1)) * 16 + on(bit, 2)).collect()
        };
        let text = format!(
            "#L = {layout}
func @f(%x: memref<4x16x16xf32, #gmem> {{align = 16}}, %y: memref<4x16x16xf32, #gmem> {{align = 16}}) {{threads = {threads}}} {{
  %a = tiled_load %x[0, 0, 0] : memref<4x16x16xf32, #gmem> -> tensor<4x16x16xf32>
  %b = convert_layout %a : tensor<4x16x16xf32> -> tensor<4x16x16xf32, #L>
  %c = add %b, %b : tensor<4x16x16xf32, #L>
  tiled_store %c, %y[0, 0, 0] : tensor<4x16x16xf32, #L> -> memref<4x16x16xf32, #gmem>
}}
"
        );
        let found = try_with_kernel(&text, arch, |program, compiled, _| {
            let sum = program.inside(compiled.function).find(|op| program.op_name(*op) == "add");
            let sum = sum.and_then(|op| program.result(op, 0)).unwrap();
            compiled.plan.fragments.iter().find(|f| f.value == sum).unwrap().fragment
        });
        let found = found.unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
        let registers: Vec<u32> =
            columns(AxisId::REGISTER).into_iter().filter(|column| *column != 0).collect();
        assert_eq!(found.register.as_slice(), registers, "{arch}: registers");
        assert_eq!(found.lane.as_slice(), columns(AxisId::LANE), "{arch}: lanes");
        assert_eq!(found.warp.as_slice(), columns(AxisId::WARP), "{arch}: warps");
    }
}

/// Architecture, threads, rows, columns, layout: shared tiles of 16 bits.
fn shared_tiles() -> Vec<(&'static str, u32, u32, u32, String)> {
    let swizzled = |vec: u8, per: u8, most: u8, order: &str| {
        format!(
            "#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = [{order}]}}>"
        )
    };
    let nvmma = |bytes: u8, turned: bool| {
        format!(
            "#ttg.nvmma_shared<{{swizzlingByteWidth = {bytes}, transposed = {turned}, elementBitWidth = 16}}>"
        )
    };
    let padded =
        |pads: &str| format!("#ttg.padded_shared<[{pads}] {{order = [1, 0], shape = [64, 64]}}>");
    let rotating = |vec: u32, per: u32, most: u32, order: &str| {
        format!(
            "#ttg.amd_rotating_shared<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = [{order}]}}>"
        )
    };
    let linear =
        |bases: &[[u32; 2]]| format!("#ttg.shared_linear<{{offset = {bases:?}}}, alignment = 16>");
    let offset = |pads: &str, bases: &[[u32; 2]]| {
        format!("#ttg.padded_shared<[{pads}] {{offset = {bases:?}, block = []}}>")
    };
    vec![
        ("sm_80", 128, 64, 64, swizzled(8, 1, 8, "1, 0")),
        ("sm_80", 128, 64, 64, swizzled(8, 1, 8, "0, 1")),
        ("sm_80", 128, 64, 32, swizzled(8, 2, 4, "1, 0")),
        ("sm_80", 128, 64, 64, swizzled(1, 1, 1, "1, 0")),
        ("gfx942", 256, 64, 64, swizzled(4, 1, 16, "1, 0")),
        ("gfx942", 256, 64, 64, padded("64:+8")),
        ("gfx942", 256, 64, 64, padded("64:+8, 512:+16")),
        ("gfx1201", 128, 64, 64, padded("128:+4, 256:+4, 1024:+8")),
        ("sm_90a", 128, 64, 64, nvmma(128, false)),
        ("sm_90a", 128, 64, 128, nvmma(128, false)),
        ("sm_90a", 128, 64, 64, nvmma(64, false)),
        ("sm_90a", 128, 64, 64, nvmma(128, true)),
        ("sm_90a", 128, 64, 64, nvmma(0, false)),
        ("sm_80", 128, 8, 8, "#ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [1, 1], [2, 2], [4, 4]]}, alignment = 128>".into()),
        ("sm_80", 128, 64, 64, rotating(8, 1, 16, "1, 0")),
        ("gfx942", 256, 64, 64, rotating(4, 2, 4, "0, 1")),
        ("gfx1201", 128, 32, 64, rotating(2, 1, 4, "1, 0")),
        // Core matrices, an order of bits, a matrix of no pattern.
        ("sm_80", 128, 16, 32, linear(&[[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]])),
        ("gfx950", 256, 32, 32, linear(&[[0, 1], [0, 2], [8, 0], [0, 4], [16, 0], [1, 0], [0, 8], [2, 0], [0, 16], [4, 0]])),
        ("sm_90a", 128, 16, 16, linear(&[[0, 1], [0, 2], [1, 4], [0, 8], [3, 4], [4, 8], [8, 1], [2, 15]])),
        ("gfx942", 256, 16, 64, offset("128:+16", &[[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [8, 0], [1, 0], [2, 0], [4, 0]])),
        ("gfx1100", 128, 16, 64, offset("64:+4, 256:+8", &[[0, 1], [0, 2], [0, 4], [4, 0], [0, 16], [8, 0], [0, 32], [1, 0], [2, 0], [0, 8]])),
    ]
}

#[test]
fn shared_tiles_lie_as_triton_says() {
    let mut seen = 0;
    for (arch, threads, rows, cols, layout) in shared_tiles() {
        let addresses = Addresses::new(&ttg::parse(&layout).unwrap(), &[rows, cols], 16).unwrap();
        let memref = format!("memref<{rows}x{cols}xf16, #gmem>");
        let plain = format!("tensor<{rows}x{cols}xf16>");
        for form in ["type", "alias", "attribute", "attribute's alias"] {
            let (head, written) = match form {
                "alias" | "attribute's alias" => (format!("#L = {layout}\n"), "#L"),
                _ => (String::new(), layout.as_str()),
            };
            let (attr, tile) = if form.starts_with("attribute") {
                (format!(" {{layout = {written}}}"), format!("tensor<{rows}x{cols}xf16, #smem>"))
            } else {
                (String::new(), format!("tensor<{rows}x{cols}xf16, #smem, {written}>"))
            };
            let text = format!(
                "{head}func @f(%x: {memref} {{align = 16}}, %y: {memref} {{align = 16}}) {{threads = {threads}}} {{
  %s = alloc_tensor{attr} : {tile}
  copy %x[0, 0], %s : {memref} -> {tile}
  %a = tiled_load %s : {tile} -> {plain}
  tiled_store %a, %y[0, 0] : {plain} -> {memref}
}}
"
            );
            let made = try_with_kernel(&text, arch, |_, compiled, _| {
                let alloc = compiled.plan.allocs.first().unwrap();
                (alloc.map().unwrap(), alloc.shape, alloc.fixed)
            });
            let (map, shape, fixed) = made.unwrap_or_else(|e| panic!("{arch} {form}: {e}\n{text}"));
            assert!(fixed, "{arch} {form} {layout}");
            for row in 0..rows {
                for col in 0..cols {
                    let wanted = addresses.element(&[row, col]).unwrap() * 2;
                    let found = u64::from(map.at(shape.element(row, col)).bytes);
                    assert_eq!(found, wanted, "{arch} {form} {layout}: row {row}, column {col}");
                }
            }
            seen += 1;
        }
    }
    assert_eq!(seen, 88);
}

/// Layouts of no pattern.
struct Layouts(Noise);

impl Layouts {
    fn below(&mut self, limit: u32) -> u32 {
        self.0.below(limit as usize) as u32
    }
    fn either(&mut self) -> bool {
        self.below(2) == 1
    }
    /// Powers of two for rows and columns whose product is `2^bits`.
    fn split(&mut self, bits: u32) -> [u32; 2] {
        let rows = self.below(bits + 1);
        [1 << rows, 1 << (bits - rows)]
    }
    /// An encoding of nested tiles for four warps.
    fn blocked(&mut self, lanes: u32) -> String {
        let bits = self.below(4);
        let (size, threads, warps) = (self.split(bits), self.split(lanes.ilog2()), self.split(2));
        let order = if self.either() { [1, 0] } else { [0, 1] };
        format!(
            "#ttg.blocked<{{sizePerThread = {size:?}, threadsPerWarp = {threads:?}, warpsPerCTA = {warps:?}, order = {order:?}}}>"
        )
    }
    /// Rows and columns that the bits of a place hold: some of a row first, then all others in any
    /// order, maybe mixed.
    fn bases(&mut self, rows: u32, cols: u32, mixed: bool) -> Vec<[u32; 2]> {
        let along = (0..cols.ilog2()).map(|bit| [0, 1 << bit]);
        let mut out: Vec<[u32; 2]> =
            along.chain((0..rows.ilog2()).map(|bit| [1 << bit, 0])).collect();
        let kept = self.below(4) as usize;
        for number in (kept + 1..out.len()).rev() {
            out.swap(number, kept + self.below((number - kept + 1) as u32) as usize);
        }
        for _ in 0..if mixed { self.below(6) } else { 0 } {
            let [into, from] = [(); 2].map(|()| self.below(out.len() as u32) as usize);
            if into != from {
                let [row, col] = out[from];
                out[into] = [out[into][0] ^ row, out[into][1] ^ col];
            }
        }
        out
    }
    /// An encoding of shared memory for rows and columns of 16 bits.
    fn shared(&mut self, rows: u32, cols: u32) -> String {
        match self.below(6) {
            0 => {
                let (interval, pad) = (8 << self.below(4), 2 << self.below(3));
                let second = if self.either() {
                    format!(", {}:+{pad}", interval * 8)
                } else {
                    String::new()
                };
                format!(
                    "#ttg.padded_shared<[{interval}:+{pad}{second}] {{order = [1, 0], shape = [{rows}, {cols}]}}>"
                )
            }
            1 => {
                let bytes = 32 << self.below(3);
                format!(
                    "#ttg.nvmma_shared<{{swizzlingByteWidth = {bytes}, transposed = {}, elementBitWidth = 16}}>",
                    self.either()
                )
            }
            2 => format!(
                "#ttg.shared_linear<{{offset = {:?}}}, alignment = 16>",
                self.bases(rows, cols, true)
            ),
            3 => {
                let (interval, pad) = (8 << self.below(4), 2 << self.below(3));
                let bases = self.bases(rows, cols, false);
                format!(
                    "#ttg.padded_shared<[{interval}:+{pad}] {{offset = {bases:?}, block = []}}>"
                )
            }
            kind => {
                let (vec, per, most) = (1 << self.below(4), 1 << self.below(2), 1 << self.below(4));
                let order = if self.either() { [1, 0] } else { [0, 1] };
                let name = if kind == 4 { "amd_rotating_shared" } else { "swizzled_shared" };
                format!(
                    "#ttg.{name}<{{vec = {vec}, perPhase = {per}, maxPhase = {most}, order = {order:?}}}>"
                )
            }
        }
    }
}

/// Tiles that go from one layout to another, through shared memory that lies in a third: all of it
/// computes what the text says.
#[test]
fn whatever_is_written_computes_what_it_says() {
    let (mut right, mut refused) = (0, Vec::new());
    let mut noise = Layouts(Noise(17));
    for number in 0..240 {
        let (arch, lanes) =
            [("sm_80", 32), ("gfx942", 64), ("sm_90a", 32), ("gfx1100", 32)][number % 4];
        let (rows, cols) = (16 << noise.below(3), 16 << noise.below(3));
        let [first, second, third] = [(); 3].map(|()| noise.blocked(lanes));
        let in_shared = noise.shared(rows, cols);
        let threads = lanes * 4;
        let (memref, tile) =
            (format!("memref<{rows}x{cols}xf16, #gmem>"), format!("tensor<{rows}x{cols}xf16"));
        let text = format!(
            "#first = {first}
#second = {second}
#third = {third}
#shared = {in_shared}
func @f(%x: {memref} {{align = 16}}, %y: {memref} {{align = 16}}) {{threads = {threads}}} {{
  %s = alloc_tensor {{layout = #shared}} : {tile}, #smem>
  %a = tiled_load %x[0, 0] : {memref} -> {tile}, #first>
  %b = convert_layout %a : {tile}, #first> -> {tile}, #second>
  tiled_store %b, %s : {tile}, #second> -> {tile}, #smem>
  %c = tiled_load %s : {tile}, #smem> -> {tile}, #third>
  %d = add %c, %c : {tile}, #first>
  tiled_store %d, %y[0, 0] : {tile}, #first> -> {memref}
}}
"
        );
        let made = try_with_kernel(&text, arch, |_, _, kernel| kernel.to_string());
        match made {
            Ok(kernel) => {
                let given = Given { turns: 1, salt: 0, fill: Some(Fill::Small) };
                let said = Interpreted::with(&text, given).unwrap();
                run_text(&said, &kernel, &[], arch)
                    .unwrap_or_else(|e| panic!("{arch}: {e}\n{text}"));
                right += 1;
            }
            Err(why) => refused.push(format!("{arch} {rows}x{cols} {in_shared}: {why}\n{text}")),
        }
    }
    println!("{right} right, {} refused", refused.len());
    assert!(right >= 200, "{right} right");
    // Rows that are shorter than what nvmma_shared swizzles are none in Triton either; a lane may be
    // given more than its registers hold.
    for why in &refused {
        let known = ["SpanTooShort", "Registers", "Emit(Inst(Pool {"];
        assert!(known.iter().any(|known| why.contains(known)), "{why}");
    }
}

/// What is no layout of the tile, or none that is planned in, is refused with a reason of its own.
#[test]
fn what_cannot_be_is_refused_for_its_reason() {
    let refused = |arch: &str, layout: &str| {
        let text = in_registers(128, "64x64", "f32", layout, "type");
        try_with_kernel(&text, arch, |_, _, _| ()).unwrap_err()
    };
    // Copies in a lane's registers are seen by nobody, but where a tile is handed over.
    let copied = "S[(8,4,4,8):(4@laneid,32@bit,1@laneid,128@bit)] + R[(4,2):(1@warpid,1024@bit)]";
    let text = in_registers(128, "32x32", "f32", copied, "type");
    let registers = try_with_kernel(&text, "sm_80", |_, compiled, _| {
        let tile = compiled.plan.fragments.iter().find(|f| f.fragment.shape.total() == 10);
        tile.unwrap().fragment.registers()
    });
    assert_eq!(registers, Ok(32));
    let text = format!(
        "#from = {copied}
func @f(%a: tensor<32x32xf32, #from>) {{threads = 128, snippet}} {{
  %b = convert_layout %a : tensor<32x32xf32, #from> -> tensor<32x32xf32, S[(8,4,4,8):(128@bit,1@warpid,8@laneid,1@laneid)] + R[4:1024@bit]>
  return %b : tensor<32x32xf32, S[(8,4,4,8):(128@bit,1@warpid,8@laneid,1@laneid)] + R[4:1024@bit]>
}}
"
    );
    let refused_copies = try_with_kernel(&text, "sm_80", |_, _, _| ()).unwrap_err();
    assert!(refused_copies.contains("HandedCopies"), "{refused_copies}");
    // A wave of 64 lanes of which half say nothing; eight warps where there are four; rows that
    // shared memory has; an instruction that the architecture has not.
    assert!(refused("gfx942", BLOCKED).contains("Unsaid"));
    let many = BLOCKED.replace("warpsPerCTA = [4, 1]", "warpsPerCTA = [8, 1]");
    assert!(refused("sm_80", &many).contains("Threads"));
    let swizzled = "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>";
    assert!(refused("sm_80", swizzled).contains("Post"));
    assert!(refused("gfx942", MMA).contains("NoInstruction"));
    assert!(refused("sm_80", "<(64,64),(64,1)>").contains("Contract"));
}

/// Sums and factors whose layouts are written as Triton gives them to a product, its warps in every
/// second tile, are what the product takes: nothing is converted.
#[test]
fn products_take_warps_as_they_are_written() {
    for (name, archs) in [
        ("written_mma_sums", &["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a"][..]),
        ("written_mfma_sums", &["gfx908", "gfx90a", "gfx942", "gfx950"][..]),
    ] {
        let text = tested(name);
        for arch in archs {
            let converts = try_with_kernel(&text, arch, |program, compiled, _| {
                let function = program.functions().next().expect("a function");
                let conversions = program
                    .inside(function)
                    .filter(|op| program.role(*op) == OpRole::Convert)
                    .count();
                (conversions, compiled.plan.exchanges.len(), compiled.plan.lanes.len())
            });
            assert_eq!(converts, Ok((0, 0, 0)), "{name}, {arch}");
        }
    }
}
