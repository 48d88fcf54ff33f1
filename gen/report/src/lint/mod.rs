//! What is costly or wrong in a program whose tiles have layouts, line by line: Triton's TTGIR as it is printed, or lanebook's own.
//!
//! ```text
//! text --ir::parse (loose)--> operations, types --checks--> queries --answers--> findings
//! ```
//!
//! | module | what |
//! | --- | --- |
//! | `layouts` | layouts as queries, with aliases written out; answers, each computed once |
//! | `checks` | what is looked at, operation by operation |
//! | `traffic` | global memory that an access through pointers touches |
//! | `written` | findings as text, JSON and CSV |
//!
//! Every figure is counted over all elements by what answers queries, and a finding names the query that shows it again.
//! Where something is not known (the addresses of a gather, a layout that lanebook does not read) nothing is said.

mod checks;
mod layouts;
mod traffic;
mod written;

use crate::archs::arch;
use crate::problem::{Problem, Problems};
use crate::program::Source;
use crate::refused::of_program;
use lanebook::ir::{self, Program};
use lanebook::layout_seeding::{SeedingOptions, arch_of};
use lanebook_tables::{ArchId, Tables};

/// Operations, values, operands, attributes, types, regions and undo records that there is room for.
type ProgramRoom = ir::Storage<16_384, 32_768, 65_000, 32_768, 2048, 2048, 65_000>;

/// Stack of the thread that looks.
const STACK_BYTES: usize = 128 << 20;

/// How bad a finding is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The program does not do what it says, or a unit cannot read what it is given.
    Wrong,
    /// It costs more than another way.
    Costly,
    /// It costs, and may have to.
    Note,
}

impl Severity {
    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Costly => "costly",
            Self::Note => "note",
        }
    }
}

/// What is looked at.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LintCheck {
    /// A layout that does not fit its tile or the architecture.
    Layout,
    /// A layout of other lanes or warps than the module's.
    Workers,
    /// Two elements of a tile in memory lie in one place.
    Alias,
    /// Lanes that wait for each other at the banks of shared memory.
    Banks,
    /// A conversion that changes nothing.
    Idle,
    /// A conversion in a loop of what does not change there.
    Invariant,
    /// A conversion of wide elements that are narrow before or behind it.
    Wide,
    /// A conversion.
    Conversion,
    /// An access that touches more of global memory than its tile has.
    Coalescing,
    /// A lane moves less at once than lies side by side.
    Vector,
    /// A tile in shared memory that the matrix unit cannot read.
    Operand,
}

/// All checks: name and what each looks for.
pub const LINT_CHECKS: [(LintCheck, &str, &str); 11] = [
    (LintCheck::Layout, "layout", "a layout that does not fit its tile or the architecture"),
    (LintCheck::Workers, "workers", "a layout of other lanes or warps than the module says"),
    (LintCheck::Alias, "alias", "two elements of a tile in memory lie in one place"),
    (
        LintCheck::Banks,
        "bank-conflicts",
        "lanes that wait for each other at banks of shared memory",
    ),
    (
        LintCheck::Idle,
        "idle-conversion",
        "a conversion that moves nothing to another lane or register",
    ),
    (
        LintCheck::Invariant,
        "invariant-conversion",
        "a conversion that is the same in every turn of a loop",
    ),
    (
        LintCheck::Wide,
        "wide-conversion",
        "a conversion of elements that are narrower before or behind it",
    ),
    (
        LintCheck::Conversion,
        "conversion",
        "what a conversion moves: registers, lanes, or through shared memory",
    ),
    (
        LintCheck::Coalescing,
        "uncoalesced",
        "an access that touches more of global memory than its tile has",
    ),
    (LintCheck::Vector, "short-vector", "a lane moves less at once than lies side by side"),
    (
        LintCheck::Operand,
        "operand-mode",
        "a tile in shared memory that the matrix unit cannot read as it lies",
    ),
];

impl LintCheck {
    /// Its name, as findings have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        LINT_CHECKS.iter().find(|(check, ..)| *check == self).map_or("?", |(_, name, _)| name)
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LintFinding {
    /// The operation's line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// How bad it is.
    pub severity: Severity,
    /// What looked.
    pub check: LintCheck,
    /// The operation's name, as the program has it.
    pub op: String,
    /// What is found, with its numbers.
    pub what: String,
    /// What to do about it; may be empty.
    pub remedy: String,
    /// The query that shows it; may be empty.
    pub query: String,
    /// The numbers by name.
    pub figures: Vec<(&'static str, u64)>,
}

/// What was found in a program.
#[derive(Clone, Debug)]
pub struct Linted {
    /// The program's name.
    pub name: String,
    /// The architecture that it was looked at for.
    pub arch: String,
    /// By line.
    pub findings: Vec<LintFinding>,
    /// Operations that were looked at.
    pub operations: usize,
}

impl Linted {
    /// How many findings are so bad.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Looks at a program, for `arch_name` or for the target that its module names.
///
/// ```
/// use lanebook_report::lint::{LintCheck, lint};
/// use lanebook_report::program::Source;
///
/// let text = "
/// #rows = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
/// #same = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
/// tt.func @f(%x: tensor<64x64xf32, #rows>) {
///   %y = ttg.convert_layout %x : tensor<64x64xf32, #rows> -> tensor<64x64xf32, #same>
///   tt.return
/// }";
/// let source = Source::new("f.ttgir", text);
/// let found = lint(&lanebook::TABLES, &source, Some("sm_90")).expect("a program");
/// assert_eq!((found.findings[0].line, found.findings[0].check), (5, LintCheck::Idle));
/// ```
///
/// # Errors
/// The text is no program, or no architecture is known.
pub fn lint(
    tables: &Tables<'_>,
    source: &Source,
    arch_name: Option<&str>,
) -> Result<Linted, Problems> {
    // The library's storage is some megabytes, and made on the stack.
    std::thread::scope(|scope| {
        let worker = std::thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || looked_at(tables, source, arch_name))
            .map_err(|error| {
                Problem::internal(format!("cannot start a thread: {error}"), "free some memory")
            })?;
        worker.join().unwrap_or_else(|_| {
            Err(Problem::internal("looking at the program panicked", "report this with it").into())
        })
    })
}

/// The same on the thread's own stack.
fn looked_at(
    tables: &Tables<'_>,
    source: &Source,
    arch_name: Option<&str>,
) -> Result<Linted, Problems> {
    let mut storage = Box::new(ProgramRoom::new());
    let options = ir::Options { keep_unknown: true, free_names: true };
    let mut program = ir::parse(storage.pools(), tables, &source.text, options)
        .map_err(|error| of_program(tables, source, &error))?;
    ir::verify(&mut program).map_err(|error| of_program(tables, source, &error))?;
    let id = chosen(tables, &program, arch_name, &source.name)?;
    let mut findings = checks::all(tables, id, &program, &source.text)?;
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.severity, finding.check));
    let arch = tables.arch(id).map_or("?", |arch| arch.name).to_string();
    let operations = program.all().count();
    Ok(Linted { name: source.name.clone(), arch, findings, operations })
}

/// The architecture that is asked for, or that the program names.
fn chosen(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    name: Option<&str>,
    source: &str,
) -> Result<ArchId, Problem> {
    let asked = name.map(|name| arch(tables, name)).transpose()?.map(|(id, ..)| id);
    arch_of(program, tables, &SeedingOptions { arch: asked, prefer_bulk: false }).ok_or_else(|| {
        Problem::usage(
            format!("{source}: its module names no target that is known"),
            "name the architecture (--arch ARCH; in Python arch=\"ARCH\")",
        )
    })
}
