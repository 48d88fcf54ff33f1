//! Arguments of `convert` and `movement`.
use clap::{Args, ValueEnum};
use std::path::PathBuf;

const CONVERT: &str = "\
Examples:
  lanebook convert mma.m16n8k16.f32.f16.D 'S[(16,2,4):(2@laneid,1@laneid,32@bit)]' --shape 16x8 --type f32 --arch sm_80
  lanebook convert '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 16], warpsPerCTA = [4, 1], order = [1, 0]}>' \\
    '#ttg.amd_mfma<{version = 4, warpsPerCTA = [4, 1], instrShape = [32, 32, 16], isTransposed = false}>' \\
    --shape 128x128 --type f16 --arch gfx950
  lanebook convert 'mma.m16n8k16.f32.f16.D on sm_80' 'S[(8,2,8):(8@laneid,32@bit,1@laneid)]' --shape 16x8 --type f32 --arch gfx942

FROM and TO are layouts in any notation that `lanebook ask` reads: Triton's encodings, TIRx over lanes, operands of \
instructions, CuTe's layouts of (thread, value) to elements counted column by column. `on ARCH` behind one says of which \
architecture's warps it is: warps of 32 lie in waves of 64 (and back) as --split says. A layout that says nothing of \
warps is the same in each. Two elements of 4 bits go as a byte, where both layouts have the same two in each.

What --emit takes:
  asm      what is in which register, in comments, and the instructions (default)
  json     the same as one object
  explain  the program, the plan with every way that was not taken, and the instructions
  program  the tile program that is compiled";

/// How `convert` writes what it has made.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ConvertFormat {
    /// Comments that say what is where, and the instructions
    Asm,
    /// One object
    Json,
    /// The plan with every way that was not taken
    Explain,
    /// The tile program that is compiled
    Program,
}

/// What `convert` and `movement` both take.
#[derive(Debug, Args)]
pub struct SnippetArgs {
    /// Extents of the tile, the last the fastest
    #[arg(long, value_name = "MxN")]
    pub shape: String,
    /// Type of the elements
    #[arg(long = "type", value_name = "TYPE")]
    pub dtype: String,
    /// Architecture that executes it (`lanebook arch` lists them)
    #[arg(long, value_name = "ARCH")]
    pub arch: String,
    /// Threads of the group; without it as many as the layouts speak of
    #[arg(long, value_name = "N")]
    pub threads: Option<u32>,
    /// How two warps of 32 lie in a wave of 64: halves (the first is the lower half) or interleaved
    /// (the first is the even lanes)
    #[arg(long, value_name = "WAY", default_value = "halves")]
    pub split: String,
    /// What to print
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = ConvertFormat::Asm)]
    pub emit: ConvertFormat,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT)]
pub struct Convert {
    /// The layout that there is
    #[arg(value_name = "FROM")]
    pub from: String,
    /// The layout that is wanted
    #[arg(value_name = "TO")]
    pub to: String,
    /// Most bytes of shared memory that it goes through, in rounds where the tile has more; without it as many as the
    /// tile has
    #[arg(long, value_name = "BYTES")]
    pub scratch: Option<u32>,
    #[command(flatten)]
    pub snippet: SnippetArgs,
}

const MOVEMENT: &str = "\
Examples:
  lanebook movement load --registers mma.m16n8k16.f32.f16.A --shared 'S[(16,16):(16,1)]' --shape 16x16 --type f16 --arch sm_80
  lanebook movement store --registers 'S[(16,2,4):(2@laneid,1@laneid,32@bit)]' --stride 1024 --align 16 --shape 16x8 --type f32 --arch sm_80
  lanebook movement copy --shared 'S[(64,64):(72,1)]' --stride 4096 --align 16 --shape 64x64 --type f16 --threads 128 --arch gfx950

Memory is global, rows --stride elements apart, or shared in a layout of a shared tile (TIRx, CuTe, TileAS; empty: one \
is chosen). A copy goes from global to shared memory. Addresses are inputs: of a tile in shared memory, where the \
scratch begins.";

/// Arguments of `movement`.
#[derive(Debug, Args)]
#[command(after_help = MOVEMENT)]
pub struct MovementArgs {
    /// load, store or copy
    #[arg(value_name = "KIND")]
    pub kind: String,
    /// The layout in registers, as in `convert`; not of a copy
    #[arg(long, value_name = "LAYOUT")]
    pub registers: Option<String>,
    /// The layout in shared memory; without it memory is global
    #[arg(long, value_name = "LAYOUT")]
    pub shared: Option<String>,
    /// Elements from one row to the next in global memory; without it rows follow each other
    #[arg(long, value_name = "N")]
    pub stride: Option<u32>,
    /// What the address in global memory is a multiple of, in bytes; without it, or 0: an element
    #[arg(long, value_name = "BYTES")]
    pub align: Option<u32>,
    #[command(flatten)]
    pub snippet: SnippetArgs,
}
