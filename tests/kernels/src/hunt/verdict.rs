//! One program on one architecture: compiled, checked, run, compared.

use crate::interpret::{Given, Global, Interpreted, TOO_LARGE, UNWRITTEN};
use crate::judge::{block_counts, parsed};
use crate::loops::inferred;
use crate::maps::{KernelMap, encoded};
use crate::{Workshop, checked};
use lanebook::TABLES;
use lanebook::compile::{Compiled, compile, compile_loops};
use lanebook::ir::{Options, Program, isolate_kernel, parse, verify};
use lanebook::written::resolve_layouts;
use lanebook_replay::{BankModel, Kernel, Launch, Param, run};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a program computes in one run.
pub struct Reference {
    /// The run's turns.
    pub turns: u32,
    /// What the kernel is given.
    pub said: Interpreted,
    /// What memory holds afterwards.
    pub after: Vec<Global>,
}

/// Turns and salts of the runs of a program.
const RUNS: [(u32, u32); 7] = [(2, 0), (0, 1), (1, 0), (2, 1), (2, 2), (3, 1), (5, 0)];

/// What a program computes in each run; runs in which it reads what nothing wrote, or
/// whose tensors are too large, are left out.
///
/// # Errors
/// A program that the interpreter does not understand.
pub fn references(text: &str) -> Result<Vec<Reference>, String> {
    let mut out = Vec::new();
    for (turns, salt) in RUNS {
        let said = match Interpreted::with(text, Given { turns, salt, fill: None }) {
            Err(why) if why.contains(UNWRITTEN) || why.contains(TOO_LARGE) => continue,
            other => other?,
        };
        let is_bounded = said.is_bounded;
        if !is_bounded && turns != 2 {
            continue;
        }
        let after = said.expect()?;
        out.push(Reference { turns, said, after });
    }
    Ok(out)
}

/// What is wrong with a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Symptom {
    /// Who says so, and the class.
    pub class: String,
    /// Turns of its loops, where it is a run.
    pub turns: Option<u32>,
    /// All that is said.
    pub detail: String,
}

impl Symptom {
    fn new(class: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { class: class.into(), turns: None, detail: detail.into() }
    }
}

/// A compiled kernel.
#[derive(Clone, Debug)]
pub struct Emitted {
    /// Its name in the text.
    pub kernel: String,
    /// Its text.
    pub text: String,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch must ask for.
    pub dynamic_shared: u32,
    /// The driver's numbers of each map's element type and interleaving.
    pub numbers: Vec<[u32; 2]>,
    /// The tensor maps that it takes.
    pub maps: Vec<KernelMap>,
    /// What the checkers of the library say.
    pub checked: Result<(), String>,
}

/// What became of compiling.
pub enum Built {
    /// A kernel.
    Kernel(Emitted),
    /// Refused, for this reason.
    Refused(String),
    /// It panicked.
    Broken(Symptom),
}

impl Workshop {
    /// Compiles a program for an architecture.
    pub fn build(&mut self, program: &str, arch: &str) -> Built {
        match catch_unwind(AssertUnwindSafe(|| self.emitted(program, arch))) {
            Ok(Ok(emitted)) => Built::Kernel(emitted),
            // Steps that cannot be printed are no reason to refuse a program.
            Ok(Err(why)) if why.starts_with(UNPRINTED) => Built::Broken(Symptom::new("text", why)),
            Ok(Err(why)) => Built::Refused(why),
            Err(panic) => {
                *self = Self::default();
                let said = panic
                    .downcast_ref::<String>()
                    .cloned()
                    .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_string()));
                Built::Broken(Symptom::new("panic", said.unwrap_or_default()))
            }
        }
    }

    fn emitted(&mut self, program: &str, arch: &str) -> Result<Emitted, String> {
        let id = TABLES.arch_named(arch).ok_or("unknown architecture")?;
        let mut program = parse(self.pools.pools(), &TABLES, program, Options::default())
            .map_err(|e| format!("Parse({:?})", e.kind))?;
        verify(&mut program).map_err(|e| format!("Verify({:?})", e.kind))?;
        let kernel =
            isolate_kernel(&mut program, None).map_err(|e| format!("Isolate({:?})", e.kind))?;
        resolve_layouts(&TABLES, id, &mut program, kernel, &mut Box::default())
            .map_err(|e| format!("{e:?}"))?;
        let of_loops = program.functions().next().filter(|f| program.has_loops(*f));
        let made = match of_loops {
            Some(function) => {
                let mut told = inferred(&mut self.loops, &mut program, function, id)?;
                compile_loops(&TABLES, id, &mut program, self.room.scratch(), &mut told)
            }
            None => compile(&TABLES, id, &mut program, self.room.scratch()),
        };
        let compiled = made.map_err(|e| format!("{e:?}"))?;
        let mut text = String::new();
        compiled
            .write(&TABLES, &program, &mut text)
            .map_err(|_| format!("{UNPRINTED}, {}", unprinted(&program, &compiled)))?;
        let maps = compiled
            .plan
            .maps
            .iter()
            .map(|m| KernelMap::of(&program, compiled.function, m))
            .collect();
        let launch = compiled.launch(&TABLES, &program).ok_or("the plan is of other tables")?;
        let numbers = launch.maps().map(|map| Some([map?.element.1, map?.interleave.1]));
        Ok(Emitted {
            kernel: launch.kernel.to_string(),
            threads: launch.threads,
            dynamic_shared: launch.dynamic_shared_bytes,
            numbers: numbers.collect::<Option<_>>().ok_or("a tensor map without a number")?,
            text,
            maps,
            checked: checked(&program, &compiled),
        })
    }
}

/// How the answer begins where a step cannot be printed.
const UNPRINTED: &str = "no text";

/// The step that cannot be printed.
fn unprinted(program: &Program<'_, '_>, compiled: &Compiled<'_>) -> String {
    let Some(kernel) = compiled.kernel(&TABLES, program) else { return "no kernel".to_string() };
    let step = compiled.steps.iter().find(|step| kernel.step(step, &mut String::new()).is_err());
    step.map_or("not of a step".to_string(), |s| {
        format!("{}: {s:?}", TABLES.atom(s.atom).map_or(String::new(), |a| a.name().to_string()))
    })
}

/// Runs a kernel in every way, or in that of one number of turns.
///
/// # Errors
/// What is wrong.
pub fn judged(
    emitted: &Emitted,
    arch: &str,
    references: &[Reference],
    only: Option<u32>,
) -> Result<(), Symptom> {
    let kernel =
        parsed(&emitted.text, arch).map_err(|e| Symptom::new("not modelled", e.to_string()))?;
    for reference in references.iter().filter(|r| only.is_none_or(|turns| r.turns == turns)) {
        let said =
            |class: String, detail: String| Symptom { class, turns: Some(reference.turns), detail };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let own = reference.said.on(arch);
            if !reference.said.depends_on(&own.unit) {
                return once(&kernel, emitted, reference, &reference.after);
            }
            let after = own.expect().map_err(|why| ("reference".to_string(), why))?;
            once(&kernel, emitted, reference, &after)
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err((class, detail))) => return Err(said(class, detail)),
            Err(_) => return Err(said("panic of the replay".to_string(), String::new())),
        }
    }
    Ok(())
}

fn once(
    kernel: &Kernel,
    emitted: &Emitted,
    reference: &Reference,
    after: &[Global],
) -> Result<(), (String, String)> {
    let said = &reference.said;
    let (mut memory, ids, mut params) = said.memory();
    let extents: Vec<Vec<u32>> = said.globals.iter().map(Global::passed).collect();
    for m in &emitted.maps {
        let filled = m.fill_many(ids[m.memref], &extents[m.memref], &memory);
        params.push(Param::Tensor(encoded(m.within(filled, &said.indices), &mut memory)));
    }
    params.extend(block_counts(&emitted.text, said.grid));
    let [x, y, z] = said.grid;
    let launch = Launch {
        dynamic_shared: emitted.dynamic_shared,
        record_matrix: false,
        record_accesses: false,
        ..Launch::new(emitted.threads, params).grid(x, y, z).banks(BankModel::none())
    };
    let report = run(kernel, &launch, &mut memory)
        .map_err(|f| (format!("fault {:?}", f.kind), f.to_string()))?;
    if report.clamped > 0 {
        return Err((
            "outside".to_string(),
            format!("{} accesses outside of the tensors", report.clamped),
        ));
    }
    for (global, id) in after.iter().zip(&ids) {
        global.compare(memory.bytes(*id)).map_err(|e| ("value".to_string(), e))?;
    }
    Ok(())
}

/// The text as the replay reads it: machines that it does not tell apart have one.
#[must_use]
pub fn unnamed(text: &str, arch: &str) -> String {
    if arch.starts_with("sm_") {
        return text.splitn(3, '\n').nth(2).unwrap_or("").to_string();
    }
    [("gfx1150", "gfx1100"), ("gfx1151", "gfx1100"), ("gfx1201", "gfx1200"), ("gfx1251", "gfx1250")]
        .iter()
        .fold(text.to_string(), |text, (from, to)| text.replace(from, to))
}
