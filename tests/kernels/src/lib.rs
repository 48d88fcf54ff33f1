//! Whole kernels under test: the tile program, its text, what assembled it, what happened when it
//! ran.
//!
//! Three independent judges: the vendors' assemblers (is the text legal, and refused where it must
//! be), the replay crate (does it compute the right thing without a race), and the layouts' own
//! maps (is each address the one that the layout names).

pub mod checked;
pub mod faults;
pub mod hunt;
pub mod interpret;
pub mod judge;
mod loops;
pub mod maps;
pub mod mutants;
pub mod noise;
pub mod parallel;
pub mod programs;
pub mod snippets;
pub mod sweep;

use lanebook::check;
use lanebook::compile::{Compiled, Scratch, compile, compile_loops};
use lanebook::detail::{Detail, Stage, of_compile};
use lanebook::emit::step::{Inst, InstKind};
use lanebook::ir::{Options, Program, isolate_kernel, parse, verify};
use lanebook::plan::{End, Plan, Tiling};
use lanebook::written::resolve_layouts;
use lanebook::{TABLES, layout};
use lanebook_report::compile::{ProgramRoom, Room};
use lanebook_report::memory::LoopMemory;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// What a thread compiles in, one kernel after the other, as a driver does: what one leaves there
/// is nothing to the next. As large as the command's own, so that what the command compiles is run.
pub struct Workshop {
    /// For programs.
    pub pools: Box<ProgramRoom>,
    /// For plans and steps.
    pub room: Box<Room>,
    loops: LoopMemory,
}

impl Default for Workshop {
    fn default() -> Self {
        let pools = on_the_heap(|| Box::new(ProgramRoom::new()));
        let room = on_the_heap(|| Box::new(Room::new()));
        Self { pools, room, loops: loops::memory() }
    }
}

/// Workshops that nobody uses just now: one is made in milliseconds, and tests ask thousands of times.
static SHELF: Mutex<Vec<Workshop>> = Mutex::new(Vec::new());

fn from_the_shelf() -> Workshop {
    let kept = SHELF.lock().unwrap_or_else(PoisonError::into_inner).pop();
    kept.unwrap_or_default()
}

fn to_the_shelf(workshop: Workshop) {
    SHELF.lock().unwrap_or_else(PoisonError::into_inner).push(workshop);
}

/// Room for plans and steps, lent: whatever used it before has left its own there.
pub struct LentRoom(Option<Workshop>);

/// Room for plans and steps.
#[must_use]
pub fn room() -> LentRoom {
    LentRoom(Some(from_the_shelf()))
}

impl LentRoom {
    /// As the library wants it.
    ///
    /// # Panics
    /// Never: it is given back when it is dropped.
    pub fn scratch(&mut self) -> Scratch<'_> {
        self.0.as_mut().expect("given back when it is dropped").room.scratch()
    }
}

impl Drop for LentRoom {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(to_the_shelf);
    }
}

/// Made in a thread whose stack it fits on its way to the heap.
fn on_the_heap<T: Send + 'static>(new: fn() -> T) -> T {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(new).expect("a thread").join().expect("room")
}

/// Where the examples are.
#[must_use]
pub fn example(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../gen/cli/examples").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The program of this name among those that are tested.
#[must_use]
pub fn tested(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("programs").join(name);
    let path = path.with_extension("tile");
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Compiles a program, checks its steps, and hands program, result and text to `f`.
///
/// # Panics
/// When any stage refuses; the message says which.
pub fn with_kernel<R>(
    text: &str,
    arch: &str,
    f: impl FnOnce(&Program<'_, '_>, &Compiled<'_>, &str) -> R,
) -> R {
    let checked = |program: &Program<'_, '_>, compiled: &Compiled<'_>, out: &str| {
        checked::every_kernel(program, compiled, text, arch);
        f(program, compiled, out)
    };
    try_with_kernel(text, arch, checked).unwrap_or_else(|e| panic!("{arch}: {e}"))
}

/// The same without the check, or what refused the program, as the library's own value in Debug
/// form.
///
/// # Errors
/// When any stage refuses.
pub fn try_with_kernel<R>(
    text: &str,
    arch: &str,
    f: impl FnOnce(&Program<'_, '_>, &Compiled<'_>, &str) -> R,
) -> Result<R, String> {
    try_with_plan(text, arch, |program, compiled, out| f(program, compiled, out))
}

/// The same with a kernel that may be changed.
///
/// # Errors
/// When any stage refuses.
pub fn try_with_plan<R>(
    text: &str,
    arch: &str,
    f: impl FnOnce(&Program<'_, '_>, &mut Compiled<'_>, &str) -> R,
) -> Result<R, String> {
    let mut workshop = from_the_shelf();
    let made = workshop.compiled(text, arch, f);
    to_the_shelf(workshop);
    made
}

impl Workshop {
    fn compiled<R>(
        &mut self,
        text: &str,
        arch: &str,
        f: impl FnOnce(&Program<'_, '_>, &mut Compiled<'_>, &str) -> R,
    ) -> Result<R, String> {
        let id = TABLES.arch_named(arch).ok_or("unknown architecture")?;
        let mut program = parse(self.pools.pools(), &TABLES, text, Options::default())
            .map_err(|e| format!("{e:?}"))?;
        verify(&mut program).map_err(|e| format!("{e:?}"))?;
        let kernel = isolate_kernel(&mut program, None).map_err(|e| format!("{e:?}"))?;
        resolve_layouts(&TABLES, id, &mut program, kernel, &mut Box::default())
            .map_err(|e| format!("{e:?}"))?;
        let of_loops = program.functions().next().filter(|f| program.has_loops(*f));
        let made = match of_loops {
            Some(function) => {
                let mut told = loops::inferred(&mut self.loops, &mut program, function, id)?;
                compile_loops(&TABLES, id, &mut program, self.room.scratch(), &mut told)
            }
            None => compile(&TABLES, id, &mut program, self.room.scratch()),
        };
        let mut compiled = match made {
            Ok(compiled) => compiled,
            Err(error) => {
                names_the_programs_own(&program, error);
                return Err(format!("{error:?}"));
            }
        };
        let mut out = String::new();
        compiled.write(&TABLES, &program, &mut out).map_err(|e| format!("{e:?}"))?;
        Ok(f(&program, &mut compiled, &out))
    }
}

/// An operation that an error names is one that the program has.
fn names_the_programs_own(program: &Program<'_, '_>, error: lanebook::compile::CompileError) {
    let (Stage::Plan(Detail { op, .. }) | Stage::Emit(Detail { op, .. })) = of_compile(error)
    else {
        return;
    };
    if let Some(op) = op {
        assert!(
            program.functions().any(|f| f == op || program.inside(f).any(|own| own == op)),
            "{error:?} names no operation of the program"
        );
    }
}

/// What the library's own checkers say of a kernel.
///
/// # Errors
/// A violation, in Debug form.
pub fn checked(program: &Program<'_, '_>, compiled: &Compiled<'_>) -> Result<(), String> {
    check::plan(&TABLES, program, &compiled.plan).map_err(|v| format!("plan: {v:?}"))?;
    checked::check(program, &check::FinalSteps::of(compiled))
        .map(|_| ())
        .map_err(|v| format!("steps: {v:?}"))
}

/// The text of a kernel.
#[must_use]
pub fn kernel_text(text: &str, arch: &str) -> String {
    with_kernel(text, arch, |_, _, out| out.to_string())
}

/// The text of a kernel, or what refused it, as the library's own value in Debug form.
///
/// # Errors
/// When any stage refuses.
pub fn try_kernel_text(text: &str, arch: &str) -> Result<String, String> {
    try_with_kernel(text, arch, |program, compiled, out| {
        checked::every_kernel(program, compiled, text, arch);
        out.to_string()
    })
}

/// Whether the assembler of an architecture of the tables takes a text.
///
/// # Errors
/// What the assembler says.
///
/// # Panics
/// When there is no such architecture, or no assembler.
pub fn assembled(arch: &str, text: &str) -> Result<(), String> {
    let known = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).expect("an architecture");
    let wave = if arch.ends_with(".w64") { "+wavefrontsize64" } else { "" };
    Assembler::of(arch).assemble_with(text, known.target, wave)
}

/// An assembler of the machine that runs the tests.
#[derive(Clone, Debug)]
pub struct Assembler {
    path: PathBuf,
    is_ptx: bool,
}

impl Assembler {
    /// The assembler for an architecture: from `LANEBOOK_PTXAS` or `LANEBOOK_LLVM_MC`, from the
    /// virtual environment that `.ci/run` makes, or from the path.
    ///
    /// # Panics
    /// When there is none: these tests do not pass without it.
    #[must_use]
    pub fn of(arch: &str) -> Self {
        let id = TABLES.arch_named(arch).expect("an architecture");
        let is_ptx =
            TABLES.arch(id).and_then(|a| TABLES.isa(a.isa)).is_some_and(|i| i.name == "ptx");
        let (variable, names): (_, &[&str]) = if is_ptx {
            ("LANEBOOK_PTXAS", &["ptxas"])
        } else {
            ("LANEBOOK_LLVM_MC", &["llvm-mc-22", "llvm-mc"])
        };
        if let Some(path) = std::env::var_os(variable) {
            return Self { path: path.into(), is_ptx };
        }
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut folders: Vec<PathBuf> = std::env::var_os("PATH")
            .map(|p| std::env::split_paths(&p).collect())
            .unwrap_or_default();
        let venv = root.join("target/venv-nv/lib");
        for python in std::fs::read_dir(venv).into_iter().flatten().flatten() {
            folders.push(python.path().join("site-packages/nvidia/cu13/bin"));
        }
        let found =
            names.iter().flat_map(|n| folders.iter().map(move |f| f.join(n))).find(|p| p.is_file());
        let path = found.unwrap_or_else(|| {
            panic!("no {names:?} found: run `.ci/run` once, or set {variable} to the assembler")
        });
        Self { path, is_ptx }
    }

    /// Assembles a text for a target; the error is what the assembler printed.
    ///
    /// # Errors
    /// When the assembler refuses the text.
    pub fn assemble(&self, text: &str, target: &str) -> Result<(), String> {
        self.assemble_with(text, target, "")
    }

    /// The same with features of the target (`+wavefrontsize64`; none if empty), for assemblers
    /// that take them.
    ///
    /// # Errors
    /// When the assembler refuses the text.
    pub fn assemble_with(&self, text: &str, target: &str, features: &str) -> Result<(), String> {
        let folder = std::env::temp_dir().join(format!(
            "lanebook-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let (source, object) = (folder.join("k.s"), folder.join("k.o"));
        std::fs::write(&source, text).map_err(|e| e.to_string())?;
        let mut command = Command::new(&self.path);
        if self.is_ptx {
            command.arg(format!("-arch={target}")).arg(&source).arg("-o").arg(&object);
        } else {
            if !features.is_empty() {
                command.arg(format!("-mattr={features}"));
            }
            command
                .arg("-triple=amdgcn-amd-amdhsa")
                .arg(format!("-mcpu={target}"))
                .arg("-filetype=obj")
                .arg("-o")
                .arg(&object)
                .arg(&source);
        }
        let output = command.output().map_err(|e| format!("{}: {e}", self.path.display()))?;
        let said = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let _ = std::fs::remove_dir_all(&folder);
        // An unknown processor is only a warning of llvm-mc's, which then goes on with another one.
        if output.status.success() && !said.contains("not a recognized processor") {
            Ok(())
        } else {
            Err(said)
        }
    }
}

/// Eight-bit pattern (four bits of exponent, three of fraction, bias 7) of a small whole number.
#[must_use]
pub fn e4m3(v: f32) -> u8 {
    let (magnitude, sign) = (v.abs() as u32, u8::from(v < 0.0) << 7);
    match magnitude.checked_ilog2() {
        None => sign,
        Some(top) => sign | ((top + 7) << 3) as u8 | (magnitude << 3 >> top & 7) as u8,
    }
}

/// The steps of a kernel with the number of the text line that each stands on (the first of it,
/// from 1).
#[must_use]
pub fn lines(compiled: &Compiled<'_>, program: &Program<'_, '_>, text: &str) -> Vec<(u32, Inst)> {
    let kernel = compiled.kernel(&TABLES, program).expect("a kernel");
    // The frame before the body: everything up to the first step's text.
    let mut body = String::new();
    for step in compiled.steps.iter() {
        kernel.step(step, &mut body).expect("a step");
    }
    let start = text.find(&body).expect("the body stands in the text");
    let mut line = 1 + u32::try_from(text[..start].matches('\n').count()).expect("few lines");
    let mut out = Vec::new();
    for step in compiled.steps.iter() {
        out.push((line, *step));
        let mut one = String::new();
        kernel.step(step, &mut one).expect("a step");
        line += u32::try_from(one.matches('\n').count()).expect("few lines");
    }
    out
}

/// Byte offset of a tile element in shared memory, from the layout's own map.
#[must_use]
pub fn shared_byte(plan: &Plan<'_>, alloc: u16, element: u32) -> u64 {
    let a = plan.allocs.get(usize::from(alloc)).expect("an allocation");
    let Some(map) = a.to_layout() else {
        // No strides say it: the map's own places of bits.
        let byte = a.map().expect("a map").at(element).bytes;
        return u64::from(byte) + u64::from(a.offset);
    };
    let (row, col) = a.shape.position(element);
    let number = u64::from(row) * a.shape.col_count() + u64::from(col);
    let byte = map.view().offset_on(number, layout::AxisId::M).expect("inside");
    u64::try_from(byte).expect("not negative") + u64::from(a.offset)
}

/// The decomposition of a movement at its first end or its last: they differ where blocks are
/// transposed between two atoms.
#[must_use]
pub fn fit_at(plan: &Plan<'_>, step_move: usize, first: bool) -> Tiling {
    let m = plan.transfers.get(step_move).expect("a movement");
    m.transpose
        .filter(|_| !first)
        .map_or(m.tiling, |flip| flip.second(&m.tiling).expect("blocks of the tile"))
}

/// The element that an instance of a movement handles at a slot of a warp.
#[must_use]
pub fn element(fit: &Tiling, lane: u32, warp: u32, instance: u32) -> u32 {
    fit.element(instance) ^ fit.address_lanes.at(lane) ^ fit.warps.at(warp)
}

/// The movement steps of each planned movement, in order: (line, step) by instance.
#[must_use]
pub fn instances(plan: &Plan<'_>, lines: &[(u32, Inst)]) -> Vec<Vec<(u32, Inst)>> {
    plan.transfers
        .iter()
        .map(|m| {
            let origin = u16::try_from(m.op.index()).expect("few operations");
            lines
                .iter()
                .filter(|(_, s)| s.origin == origin && s.purpose == InstKind::Move)
                .copied()
                .collect()
        })
        .collect()
}

/// The shared allocation at an end of a movement, if any.
#[must_use]
pub fn shared_end(plan: &Plan<'_>, index: usize) -> Option<(u16, bool)> {
    let m = plan.transfers.get(index)?;
    match (m.from, m.to) {
        (End::Shared(k), _) => Some((k, false)),
        (_, End::Shared(k)) => Some((k, true)),
        _ => None,
    }
}

/// Whether `LANEBOOK_SWEEP=all` asks for all of the long sweeps, as `.ci/full` does.
#[must_use]
pub fn sweeps_all() -> bool {
    std::env::var_os("LANEBOOK_SWEEP").is_some_and(|asked| asked == "all")
}
