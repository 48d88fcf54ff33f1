//! The whole compile: text in, text out, on every architecture, beside Triton's front half.
use crate::report::Report;
use crate::{COMPILED, peer, room};
use lanebook::TABLES;
use lanebook::compile::{Compiled, compile, plan};
use lanebook::ir::{Options, Program, SmallStorage, parse, verify};
use lanebook::tables::ArchId;
use std::fmt::{self, Write};

/// The section's heading.
pub const SECTION: &str =
    "Whole compile, text in to text out (Triton: its own IR of the same kernel in, text out)";

/// Triton's milliseconds by program: on sm_80, and on gfx942.
const TRITON: [(&str, [f64; 2]); 3] =
    [("gemm", [393.7, 424.1]), ("transpose", [57.0, 117.2]), ("attention", [361.4, 859.6])];

/// Storage for every program here.
pub type Room = lanebook::compile::CompileStorage<2048, 768, 1536, 0>;

/// A sink that forgets: the text is made, not kept.
#[derive(Default)]
pub(crate) struct Gone(usize);

impl Gone {
    /// How many bytes there were.
    pub(crate) fn bytes(&self) -> usize {
        self.0
    }
}

impl Write for Gone {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 += text.len();
        Ok(())
    }
}

/// Reads and checks a program.
///
/// # Panics
/// If it is wrong; the message says how.
pub fn read<'s, 't>(storage: &'s mut SmallStorage, text: &'t str) -> Program<'s, 't> {
    let mut program = parse(storage.pools(), &TABLES, text, Options::default())
        .unwrap_or_else(|e| panic!("{e:?}"));
    verify(&mut program).unwrap_or_else(|e| panic!("{e:?}"));
    program
}

/// Compiles `text` for an architecture and hands program and result to `f`; the error is what the
/// compiler said.
///
/// # Errors
/// An architecture that cannot do it.
pub fn with_compiled<R>(
    text: &str,
    arch: ArchId,
    f: impl FnOnce(&Program<'_, '_>, &Compiled<'_>) -> R,
) -> Result<R, String> {
    let mut storage = Box::new(SmallStorage::new());
    let mut program = read(&mut storage, text);
    let mut room = Box::new(Room::new());
    let compiled =
        compile(&TABLES, arch, &mut program, room.scratch()).map_err(|e| format!("{e:?}"))?;
    Ok(f(&program, &compiled))
}

/// Architectures of the tables with their ids.
pub fn archs() -> impl Iterator<Item = (ArchId, &'static lanebook::tables::Arch<'static>)> {
    (0..).map(ArchId).zip(TABLES.archs)
}

/// Measures all programs on all architectures, stage by stage and whole.
pub fn measure(report: &mut Report) {
    let effort = report.effort;
    let (mut storage, mut scratch) = (Box::new(SmallStorage::new()), Box::new(Room::new()));
    for (name, text) in COMPILED {
        let reading = effort.nanoseconds(|_| read(&mut storage, text).usage());
        report.alone(SECTION, format!("{name}: read and verify"), reading / 1e3, "us");
        for (id, arch) in archs() {
            if let Err(refusal) = with_compiled(text, id, |_, _| ()) {
                report.note(SECTION, format!("{name} {}: not measured, {refusal}", arch.name));
                continue;
            }
            let planning = {
                let mut program = read(&mut storage, text);
                effort.nanoseconds(|_| plan(&TABLES, id, &mut program, scratch.scratch()).is_ok())
            };
            let whole = effort.nanoseconds(|_| {
                let mut program = read(&mut storage, text);
                let compiled =
                    compile(&TABLES, id, &mut program, scratch.scratch()).expect("compiled before");
                let mut out = Gone::default();
                compiled.write(&TABLES, &program, &mut out).expect("the sink takes everything");
                out.bytes()
            });
            report.alone(SECTION, format!("{name} {}: plan", arch.name), planning / 1e3, "us");
            let what = format!("{name} {}: whole", arch.name);
            let is_amd = usize::from(arch.vendor == "amd");
            match TRITON.iter().find(|(program, _)| *program == name) {
                Some((_, times)) => {
                    let whose =
                        format!("{} for {}", peer::TRITON_WHOLE, ["sm_80", "gfx942"][is_amd]);
                    report.held(SECTION, what, whole / 1e3, "us", 1e3 * times[is_amd], whose);
                }
                None => report.alone(SECTION, what, whole / 1e3, "us"),
            }
        }
    }
    report.note(
        SECTION,
        format!(
            "stages are measured alone; the rest of the whole is emission and text. {}",
            room::STACK
        ),
    );
}
