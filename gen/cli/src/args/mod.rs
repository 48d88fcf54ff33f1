//! The command line.
mod audit;
mod lint;
mod snippet;

pub use audit::{Assemblers, Check, DENIED, Format};
pub use lint::Lint;
pub use snippet::{Convert, ConvertFormat, MovementArgs, SnippetArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use lanebook_report::table::Table;
use std::io::IsTerminal;
use std::path::PathBuf;

const EXIT: &str = "\
Exit status:
  0  done
  1  the input is refused: a program, layout or table that is wrong, or that the architecture cannot do
  2  the command line is wrong: an unknown option, architecture or atom
  3  a file cannot be read or written, or an internal error
  4  nothing is wrong with what was asked for, but errors elsewhere keep it from being judged in full (check)

On an error nothing is written: no part of an output file, and nothing on standard output.";

/// GPU data layouts, by the book.
///
/// Picks layouts and instructions for tile programs and writes the PTX or AMDGPU sequence; shows
/// layouts and what instructions do with them; audits the tables that all of it rests on.
#[derive(Debug, Parser)]
#[command(name = "lanebook", version, propagate_version = true, after_help = EXIT, max_term_width = 110)]
pub struct Cli {
    /// What to do; without it, on a terminal, questions are read line by line.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    /// Read hw-tables/ and rules/ under this folder in place of the tables that were built in.
    #[arg(long, global = true, value_name = "DIR")]
    pub tables: Option<PathBuf>,
}

/// When to use colour.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Colour {
    fn on(self, is_terminal: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                is_terminal
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
                    && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        }
    }
    /// Whether standard output is painted.
    pub fn on_stdout(self) -> bool {
        self.on(std::io::stdout().is_terminal())
    }
    /// Whether standard error is painted.
    pub fn on_stderr(self) -> bool {
        self.on(std::io::stderr().is_terminal())
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a tile program: layouts, decisions with their reasons, and the instruction sequence
    Compile(Compile),
    /// Run passes over a tile program and print what they make of it
    Opt(Opt),
    /// List the rewrite rules, or what is tried on an operation and in which order
    Rules(Rules),
    /// List the instruction forms of an architecture
    Atoms(Atoms),
    /// Print what `compile` takes of each operation of the tile language
    Ops(Ops),
    /// Answer a question about layouts, instructions, banks and descriptors
    Ask(Ask),
    /// Convert a register tile from one layout to another: the instructions alone, to be inlined
    Convert(Convert),
    /// Load, store or copy one tile: the instructions alone, to be inlined
    Movement(MovementArgs),
    /// Draw a layout, or the operands of an instruction form
    Show(Show),
    /// Print an architecture's figures with their sources
    Arch(ArchArgs),
    /// Infer the layouts of a program's parallel loops and fragments, and say how
    Infer(Infer),
    /// Say what is costly or wrong in a program whose tiles have layouts, such as Triton's TTGIR, line by line
    Lint(Lint),
    /// Check tables and rules, and say what is wrong with them
    Check(Check),
    /// Print what can be asked of an architecture, and which atoms answer, the first choice first
    Dispatch(Dispatch),
    /// Update the ledger of stable numbers, hw-tables/ids.ron
    Ids(Ids),
    /// Prove the rules for indices and instructions, and compare or write the log of proofs, rules/proofs.ron
    Prove(Prove),
    /// Compare two architectures: figures, banks, synchronisation, atoms
    Diff(Diff),
    /// Print what the tables weigh in a build, by choice of architectures
    Size(Size),
    /// Write a commented file for a new architecture
    NewArch(NewArch),
    /// Print what a shell needs to complete commands and options
    Completions(Completions),
    /// Write manual pages, one for each command
    Man(Man),
}

const COMPILE: &str = "\
Examples:
  lanebook compile --arch sm_80                            the built-in GEMM: everything
  lanebook compile --arch gfx950 --explain                 ... with every rejected candidate and its reason
  lanebook compile kernel.tile --arch sm_80 --emit ptx -o kernel.ptx
  cat kernel.tile | lanebook compile - --arch gfx950 --emit report
  lanebook compile kernel.tile --arch gfx950 --format json --set M=4096 --set N=512
                                                           the kernel and all that a launcher must know

What --emit takes:
  all      the annotated program, the decisions and the sequence (default)
  ir       the annotated program alone; it parses again
  report   the program and the decisions without the sequence
  ptx, amdgcn, ...
           the sequence alone, for the assembler; must be the architecture's instruction set";

/// Arguments of `compile`.
#[derive(Debug, Args)]
#[command(after_help = COMPILE)]
pub struct Compile {
    /// The program; `-` reads standard input; without it the built-in GEMM is compiled
    #[arg(value_name = "FILE.tile")]
    pub file: Option<PathBuf>,
    /// Architecture to compile for (`lanebook arch` lists them)
    #[arg(long, value_name = "ARCH")]
    pub arch: String,
    /// The function to compile, where several of the program may be launched
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// Warps of a block, where neither the module nor the kernel says how many threads it has, as
    /// Triton's TTIR does not: there it is an option of the launch
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub num_warps: Option<u32>,
    /// What to print
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub emit: String,
    /// How to write it: json is one object, the kernel's text and its launch (parameters, grid,
    /// threads, shared memory, tensor maps, flags of the assembler)
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = CompileFormat::Text, conflicts_with_all = ["emit", "explain", "dump"])]
    pub format: CompileFormat,
    /// The value of an index argument, for the blocks of the grid that `--format json` says
    #[arg(long, value_name = "NAME=NUMBER", value_parser = argument_value)]
    pub set: Vec<(String, i64)>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say of every candidate that was not taken why
    #[arg(long)]
    pub explain: bool,
    /// Print the instructions after a stage of emission in place of what --emit asks for: lower
    /// (virtual registers), allocate (physical ones), waits (as they are written); all: after each;
    /// list: the stages
    #[arg(long, value_name = "STAGE", conflicts_with_all = ["emit", "explain"])]
    pub dump: Option<String>,
}

/// How `compile` writes what it has made.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompileFormat {
    /// What --emit asks for
    Text,
    /// One object: the kernel's text and its launch
    Json,
}

/// Reads `NAME=NUMBER`; the name may begin with `%`.
fn argument_value(text: &str) -> Result<(String, i64), String> {
    let (name, number) = text.split_once('=').ok_or("it is written NAME=NUMBER")?;
    let number = number.trim().parse().map_err(|_| format!("`{number}` is no whole number"))?;
    Ok((name.trim().trim_start_matches('%').to_string(), number))
}

const OPT: &str = "\
Examples:
  lanebook opt kernel.tile --passes remove-conversions,remove-dead-args
  lanebook opt kernel.mlir --loose --passes remove-conversions --print-after-all --trace
  lanebook opt kernel.tile --arch sm_90a --passes assign-layouts --explain
  lanebook opt kernel.tile --arch sm_90a --passes assign-layouts --explain --figures figures.ron
  lanebook opt kernel.tile --rules mine.ron --passes tidy,remove-conversions
  lanebook opt --list

Either all of a pass happens or nothing: on an error nothing is printed, and the message shows the operation.";

/// Arguments of `opt`.
#[derive(Debug, Args)]
#[command(after_help = OPT)]
pub struct Opt {
    /// The program; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Passes to run, in this order
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    pub passes: Vec<String>,
    /// List the passes and their steps
    #[arg(long)]
    pub list: bool,
    /// Print the program after each pass
    #[arg(long)]
    pub print_after_all: bool,
    /// Print each rule and analysis that changes something
    #[arg(long)]
    pub trace: bool,
    /// How to write the result: json is one object, the program, what each pass changed and found
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OptFormat::Text, conflicts_with_all = ["print_after_all", "explain", "list"])]
    pub format: OptFormat,
    /// Keep operations that are not declared, and take undefined names for arguments
    #[arg(long)]
    pub loose: bool,
    /// Architecture for passes that choose layouts; without it the module's target (`lanebook arch`
    /// lists them)
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// Say of every candidate layout and instruction what it costs, and why it was not taken
    #[arg(long)]
    pub explain: bool,
    /// Figures that somebody else gives for instructions: --explain shows them beside the tables',
    /// and where the difference comes from
    #[arg(long, value_name = "FILE", requires = "explain")]
    pub figures: Option<PathBuf>,
    /// Take descriptors (TMA) for loads, stores and copies wherever they are legal
    #[arg(long)]
    pub prefer_tma: bool,
    /// A set of rules and passes of your own, beside the built-in ones (rules/README.md says what
    /// it may say)
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Most changes, over all passes
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub fuel: u32,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const INFER: &str = "\
Examples:
  lanebook infer loops.tile                          the program with layouts, and the timeline
  lanebook infer loops.tile --arch gfx942 --explain  ... with every attempt, its layouts and its cost
  lanebook infer loops.tile --level common           only what follows from layouts that are written
  lanebook infer loops.tile --picture                thread and local index of each element
  lanebook infer loops.tile --format json | jq .timeline

The program that is printed parses again; the timeline stands behind it in comments. A layout says, over v0, v1, .. \
(dimensions of a buffer, loops of a nest) and rep (the number of the copy), the thread and the place among the \
thread's own: {thread = v0 * 16 + v1, index = 0, replicate = 2}. It may be written: of a fragment in its type, \
tensor<4x16xf32, #fragment, {..}>; of a loop as its attribute layout. Threads count from the first of the \
operation's own (attribute threads = [first, end]).";

/// Arguments of `infer`.
#[derive(Debug, Args)]
#[command(after_help = INFER)]
pub struct Infer {
    /// The program; `-` reads standard input
    #[arg(value_name = "FILE.tile")]
    pub file: PathBuf,
    /// Architecture whose figures and matrix units count (`lanebook arch` lists them; without it the
    /// first of them)
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// The function to infer, where several of the program may be launched
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
    /// How far to go
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = InferLevel::Free)]
    pub level: InferLevel,
    /// What layouts cost: a name of rules/cost.ron, inference
    #[arg(long, value_name = "NAME")]
    pub cost: Option<String>,
    /// Show every attempt, with its layouts and its cost, and what was rejected
    #[arg(long)]
    pub explain: bool,
    /// How to write the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = InferFormat::Text, conflicts_with = "explain")]
    pub format: InferFormat,
    /// Draw each fragment: thread and local index of each element; into a file if -o names one that
    /// ends in .svg
    #[arg(long, conflicts_with_all = ["format", "explain"])]
    pub picture: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How the answer of `infer` is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum InferFormat {
    /// The annotated program, the timeline in comments
    Text,
    /// One object: buffers, loops, timeline
    Json,
}

/// How far inference goes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum InferLevel {
    /// Only what cannot be otherwise.
    Strict,
    /// What follows from layouts that are known.
    Common,
    /// Anything.
    Free,
}

const RULES: &str = "\
Examples:
  lanebook rules
  lanebook rules --filter push
  lanebook rules --dispatch convert_layout     an operation of tile programs, by any of its names
  lanebook rules --dispatch xor                a word of index expressions
  lanebook rules --rules mine.ron              a set of your own, checked
  lanebook rules --rules mine.ron --compile > mine.rs";

/// Arguments of `rules`.
#[derive(Debug, Args)]
#[command(after_help = RULES)]
pub struct Rules {
    /// Show what is tried on this operation or word, first to last
    #[arg(long, value_name = "OP")]
    pub dispatch: Option<String>,
    /// Only rules with this text in their name
    #[arg(long, value_name = "TEXT", conflicts_with = "dispatch")]
    pub filter: Option<String>,
    /// The rules of this file in place of the built-in ones
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Write that file's rules as a Rust static for programs without files
    #[arg(long, requires = "rules", conflicts_with_all = ["dispatch", "filter", "format"])]
    pub compile: bool,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

const ATOMS: &str = "\
Examples:
  lanebook atoms --arch sm_80 --class matrix
  lanebook atoms --arch gfx950 --filter ds_read
  lanebook atoms --dtype bf16 --shape 16x8x16      on which architectures
  lanebook atoms --from shared --to register --arch gfx950
  lanebook atoms --feature wgmma.f16
  lanebook atoms --arch sm_80 --long --filter ldmatrix.x4";

/// Arguments of `atoms`.
#[derive(Debug, Args)]
#[command(after_help = ATOMS)]
pub struct Atoms {
    /// Architecture (`lanebook arch` lists them); without it all, and which have each
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// Only this kind
    #[arg(long, value_enum, value_name = "CLASS")]
    pub class: Option<Class>,
    /// Only those with an operand of this element type
    #[arg(long, value_name = "TYPE")]
    pub dtype: Option<String>,
    /// Only matrix instructions of this shape
    #[arg(long, value_name = "MxNxK")]
    pub shape: Option<String>,
    /// Only those that move from this space
    #[arg(long, value_enum, value_name = "SPACE")]
    pub from: Option<MemorySpace>,
    /// Only those that move to this space
    #[arg(long, value_enum, value_name = "SPACE")]
    pub to: Option<MemorySpace>,
    /// Only those of this feature, as `lanebook ask ARCH` lists them
    #[arg(long, value_name = "FEATURE")]
    pub feature: Option<String>,
    /// Only those with this text in their name or instruction
    #[arg(long, value_name = "TEXT")]
    pub filter: Option<String>,
    /// Operands, layouts and sources of each
    #[arg(long)]
    pub long: bool,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

const OPS: &str = "\
Examples:
  lanebook ops                       all operations, a line each
  lanebook ops reduce                operands, attributes, defaults, written layouts
  lanebook ops --arch gfx942         for which element types it has instructions
  lanebook ops mma --arch sm_90a --format json
  lanebook ops --format markdown     the reference, rules/TILE.md";

/// Arguments of `ops`.
#[derive(Debug, Args)]
#[command(after_help = OPS)]
pub struct Ops {
    /// One operation, by its name or another spelling of it
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Say what this architecture does with them (`lanebook arch` lists them)
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// How to print them
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OpsFormat::Text)]
    pub format: OpsFormat,
}

/// Forms in which operations are printed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum OpsFormat {
    /// For people
    Text,
    /// For scripts
    Json,
    /// The reference of the language
    Markdown,
}

/// Memory spaces.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum MemorySpace {
    /// Registers
    Register,
    /// Shared memory (LDS)
    Shared,
    /// Global memory
    Global,
    /// Tensor memory
    Tensor,
}

/// Forms of `opt`'s result.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum OptFormat {
    /// The program
    Text,
    /// One object
    Json,
}

/// Forms of what is a table.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// For people
    Text,
    /// For scripts
    Json,
    /// Comma-separated values, a head first
    Csv,
}

impl TableFormat {
    /// A table in this form.
    pub fn of(self, table: &Table) -> String {
        match self {
            Self::Text => table.render(0),
            Self::Json => format!("{:#}\n", table.json()),
            Self::Csv => table.csv(),
        }
    }
}

/// Kinds of atoms.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum Class {
    /// Moves tiles between memory spaces or registers
    Move,
    /// Multiplies matrices
    Matrix,
    /// Integer arithmetic for addresses
    Alu,
    /// Moves registers between lanes
    CrossLane,
    /// Changes element width
    Convert,
    /// Orders accesses
    Sync,
    /// Branches, parameters, frame
    Control,
}

const SHOW: &str = "\
Examples:
  lanebook show '((2,2),4):((1,2),4)'
          CuTe: the first mode runs down, the second across
  lanebook show 'S[(8,4,2):(4@laneid,1@laneid,16@bit)]' --shape 8x8 -o fragment.svg
          TIRx: row-major, the last iter runs across
  lanebook show 'S<3,4,3> o 0 o (8,64):(128,2)' --unit 8 --arch sm_80
          offsets in bytes, coloured by bank
  lanebook show ldmatrix.x4 --arch sm_80
          both sides of a movement
  lanebook show mma.m16n8k16.f32.f16 --arch sm_80 -o mma.svg
          A, B, C and D of a matrix instruction
  lanebook show mma.m16n8k16.f32.f16 --arch sm_80 --view lanes
          the same by lane and register
  lanebook show ldmatrix.x4 --arch sm_80 --view banks --stride 128
          which rows are served together when they stand 128 bytes apart
  lanebook show mma.m16n8k16.f32.f16 --arch sm_80 --only D --lane 14
          what a lane holds; --at 3,5: who holds an element
  lanebook show '#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}> @ 32x16'
          any layout of the query language (`lanebook ask`)
  lanebook show '(8,8):(8,1)' --format csv
          a line a cell

Pictures (.svg) follow the viewer's light or dark scheme; colours can be told apart with any colour vision.";

/// Arguments of `show`.
#[derive(Debug, Args)]
#[command(after_help = SHOW)]
pub struct Show {
    /// A layout of the query language (`lanebook ask`), or (with --arch) the name of an instruction form
    #[arg(value_name = "LAYOUT|ATOM")]
    pub what: String,
    /// Another layout of the same elements: what the two place differently is coloured and marked
    #[arg(value_name = "LAYOUT")]
    pub other: Option<String>,
    /// Architecture: look an atom up there, or take its banks for --unit
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// Draw this operand of an atom alone
    #[arg(long, value_name = "A|B|C|D|from|to")]
    pub only: Option<String>,
    /// How to draw an atom
    #[arg(long, value_enum, value_name = "VIEW", default_value_t = View::Elements)]
    pub view: View,
    /// For --view banks: bytes from one address slot to the next; without it they follow one
    /// another
    #[arg(long, value_name = "BYTES")]
    pub stride: Option<u32>,
    /// Rows and columns of the grid
    #[arg(long, value_name = "ROWSxCOLUMNS")]
    pub shape: Option<String>,
    /// Bits of one step in memory: labels become bytes and banks
    #[arg(long, value_name = "BITS")]
    pub unit: Option<u32>,
    /// Number of 4-byte banks for --unit, where no architecture is given
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub banks: u32,
    /// Mark the element with these coordinates
    #[arg(long, value_name = "ROW,COLUMN")]
    pub at: Option<String>,
    /// Mark what this lane (or thread) holds
    #[arg(long, value_name = "LANE", conflicts_with = "at")]
    pub lane: Option<u32>,
    /// Mark what this register of each lane holds; with --lane that of the lane
    #[arg(long, visible_alias = "register", value_name = "REGISTER", conflicts_with = "at")]
    pub reg: Option<u32>,
    /// Mark what this warp holds
    #[arg(long, value_name = "WARP", conflicts_with = "at")]
    pub warp: Option<u32>,
    /// How to write it; without it text, or a picture where -o names one
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<AskFormat>,
    /// Write to this file instead of standard output; a name that ends in .svg makes a picture
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Draw all rows and columns, however many; else a part that repeats is drawn once
    #[arg(long)]
    pub full: bool,
}

const ASK: &str = "\
Examples:
  lanebook ask 'logical_divide((8,8):(8,1), (2,2))'
  lanebook ask 'mma.m16n8k16.f32.f16.D at (3, 5)'
  lanebook ask 'v_mfma_f32_32x32x8_f16.D where lane 33 register 2' --format json
  lanebook ask 'let A = (8,4):(4,1); equal(compose(A, right_inverse(A)), 32:1)'
  lanebook ask ldmatrix --arch sm_90                  the members of a family";

/// Arguments of `ask`.
#[derive(Debug, Args)]
#[command(after_help = ASK)]
pub struct Ask {
    /// A layout in any notation, an instruction's operand, or a function of them; names with `let`; without it the
    /// functions are listed
    #[arg(value_name = "EXPRESSION")]
    pub expression: Option<String>,
    /// Architecture, where the answer depends on one and the expression does not say `on ARCH`
    #[arg(long, value_name = "ARCH")]
    pub arch: Option<String>,
    /// How to write the answer
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = AskFormat::Text)]
    pub format: AskFormat,
}

/// Formats of answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum AskFormat {
    /// For people
    Text,
    /// One object
    Json,
    /// Comma-separated values, a head first: positions of elements, or what the answer names
    Csv,
    /// A picture of the layout
    Svg,
}

/// Arguments of `arch`.
#[derive(Debug, Args)]
pub struct ArchArgs {
    /// Which; without it all are listed
    #[arg(value_name = "ARCH")]
    pub arch: Option<String>,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

const DISPATCH: &str = "\
Examples:
  lanebook dispatch --arch sm_90a                     everything that is answered
  lanebook dispatch --arch gfx950 transfer shared     movements from or to shared memory
  lanebook dispatch --arch gfx942 product bf16 bf16   products of bf16
  lanebook dispatch --arch sm_80 elementwise exp2     what does exp2, on which elements";

/// Arguments of `dispatch`.
#[derive(Debug, Args)]
#[command(after_help = DISPATCH)]
pub struct Dispatch {
    /// The architecture
    #[arg(long, value_name = "ARCH")]
    pub arch: String,
    /// Words that a capability's line has, all of them
    #[arg(value_name = "CAPABILITY")]
    pub words: Vec<String>,
    /// Name all atoms, however many
    #[arg(long)]
    pub long: bool,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

const PROVE: &str = "\
Examples:
  lanebook prove                    the rules of the folder this is run in, or those that are built in where it has none:
                                    all proved, and rules/proofs.ron says so
  lanebook prove ~/my-rules --write writes rules/proofs.ron there

Nothing but the tables and rules of DIR is needed, and z3 on the path. A wrong rule is told with values for which its sides
differ. `lanebook check` and each build ask for a current log.";

/// Arguments of `prove`.
#[derive(Debug, Args)]
#[command(after_help = PROVE)]
pub struct Prove {
    /// Folder that holds hw-tables/ and rules/, as --tables says it for other commands [default: .,
    /// or what is built in where that has neither]
    #[arg(value_name = "DIR", conflicts_with = "tables")]
    pub root: Option<PathBuf>,
    /// Write the log of proofs, where it is not current
    #[arg(long)]
    pub write: bool,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

/// Arguments of `ids`.
#[derive(Debug, Args)]
pub struct Ids {
    /// Folder that holds hw-tables/ and rules/, as --tables says it for other commands [default: .]
    #[arg(value_name = "DIR", conflicts_with = "tables")]
    pub root: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

const NEW_ARCH: &str = "\
Examples:
  lanebook new-arch gfx955 --like gfx950         writes hw-tables/amd/gfx955.ron
  lanebook new-arch sm_130 --like sm_90a -o -    prints it
  lanebook new-arch xpu1                         writes the skeleton of a machine with an instruction set of its own:
                                                 hw-tables/xpu1/xpu1.ron and sources.ron, rules/isa/xpu1.ron

The file alone makes the architecture: the next build has it, every command knows its name. A skeleton compiles, and everything
in it is made up: `lanebook check --draft --notes` says what is assumed in it and what the machine cannot do yet.";

/// Arguments of `new-arch`.
#[derive(Debug, Args)]
#[command(after_help = NEW_ARCH)]
pub struct NewArch {
    /// Its name, as its assembler spells it
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The architecture that it takes everything from that it does not state; without it the machine
    /// has an instruction set of its own
    #[arg(long, value_name = "ARCH")]
    pub like: Option<String>,
    /// Write to this file; without it beside the other architecture's; `-` prints it, or all files of
    /// a skeleton
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

const COMPLETIONS: &str = "\
Examples:
  lanebook completions bash > ~/.local/share/bash-completion/completions/lanebook
  lanebook completions zsh > ~/.zfunc/_lanebook
  lanebook completions fish > ~/.config/fish/completions/lanebook.fish";

/// Arguments of `completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Arguments of `man`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lanebook man -o ~/.local/share/man/man1")]
pub struct Man {
    /// The folder to write lanebook.1, lanebook-compile.1 and so on to; it is made if it is not there
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}

const SIZE: &str = "\
Examples:
  lanebook size                     each architecture alone, and all
  lanebook size sm_80,gfx950        what LANEBOOK_ARCHS=sm_80,gfx950 cargo build takes
  lanebook size --tables DIR        of the tables in a folder";

/// Arguments of `size`.
#[derive(Debug, Args)]
#[command(after_help = SIZE)]
pub struct Size {
    /// Choices of architectures, each separated by commas
    #[arg(value_name = "ARCHS")]
    pub archs: Vec<String>,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  lanebook diff sm_80 sm_90a")]
pub struct Diff {
    /// One architecture
    #[arg(value_name = "ARCH")]
    pub first: String,
    /// The other
    #[arg(value_name = "ARCH")]
    pub second: String,
    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = TableFormat::Text)]
    pub format: TableFormat,
}

/// How an atom is drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// By logical coordinate: which lane and register holds it, which bytes it comes from
    Elements,
    /// By lane and register, or tensor-memory lane and column: which elements are there
    Lanes,
    /// By group and bank: which address slots are served in which pass
    Banks,
}
