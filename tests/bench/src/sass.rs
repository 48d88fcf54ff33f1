//! What an assembler that allocates registers makes of a sequence: machine instructions, counted.
//!
//! The sequence stands alone in a kernel that stores the address it ends in, and the same kernel
//! with a number in the address's place is taken off.
use lanebook::TABLES;
use lanebook::compile::Compiled;
use lanebook::emit::step::{Inst, Slot};
use lanebook::tables::Role;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Machine instructions of a sequence of the target's text that ends in the address of an access;
/// `None` where its text is that of the machine already, or the access is none of shared memory.
pub(crate) fn count(
    compiled: &Compiled<'_>,
    lines: &[String],
    access: &Inst,
) -> Option<Result<u32, String>> {
    let arch = TABLES.arch(compiled.plan.arch)?;
    let isa = TABLES.isa(arch.isa)?;
    // Where classes declare registers, an assembler allocates them.
    isa.classes.iter().find(|class| !class.declared.is_empty())?;
    let address = address(access)?;
    let mut declared = String::new();
    for (class, high) in isa.classes.iter().zip(compiled.usage.high) {
        if !class.declared.is_empty() {
            declared.push_str(&format!(
                ".reg {} {}<{}>;\n",
                class.declared,
                class.prefix,
                high + 1
            ));
        }
    }
    let version = arch.isa_version;
    let frame = |body: &str, value: &str| {
        format!(
            ".version {version}\n.target {}\n.address_size 64\n.shared .align 1024 .b8 smem[32768];\n\
             .visible .entry sequence()\n.reqntid 128, 1, 1\n{{\n{declared}{body}\n\
             st.volatile.shared.b32 [smem], {value};\nret;\n}}\n",
            arch.target
        )
    };
    let class = isa.classes.get(usize::from(address.0))?;
    let name = format!("{}{}", class.prefix, address.1);
    let body = lines.join("\n");
    let whole = instructions(&frame(&body, &name), arch.name);
    let rest = instructions(&frame("", "1"), arch.name);
    Some(whole.and_then(|whole| rest.map(|rest| whole.saturating_sub(rest))))
}

/// The register with an access's address: class and number.
fn address(access: &Inst) -> Option<(u8, u16)> {
    let atom = TABLES.atom(access.atom)?;
    let numbered = (0..).zip(atom.operands.iter());
    let at =
        numbered.filter(|(_, operand)| operand.role == Role::Address).map(|(at, _)| at).next()?;
    match access.arg(at) {
        Slot::Reg { class, count: 1, first } => Some((class, first)),
        _ => None,
    }
}

/// Machine instructions of a kernel, those that fill it up left out.
fn instructions(text: &str, arch: &str) -> Result<u32, String> {
    let tools = tools()?;
    // Several threads may ask at once.
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let number = ASKED.fetch_add(1, Ordering::Relaxed);
    let name = format!("lanebook-sass-{}-{number}-{arch}", std::process::id());
    let [source, binary] =
        ["ptx", "cubin"].map(|end| std::env::temp_dir().join(&name).with_extension(end));
    std::fs::write(&source, text).map_err(|e| e.to_string())?;
    let assembled = told(
        Command::new(&tools[0]).arg(format!("-arch={arch}")).arg("-o").arg(&binary).arg(&source),
    );
    let listed = assembled.and_then(|_| told(Command::new(&tools[1]).arg("-plr").arg(&binary)));
    let _ = (std::fs::remove_file(&source), std::fs::remove_file(&binary));
    let listed = listed?;
    let lines = listed.lines().filter(|line| line.trim_start().starts_with("/*"));
    let count = lines.filter(|line| line.contains(';') && !line.contains("NOP;")).count();
    u32::try_from(count).map_err(|e| e.to_string())
}

/// What a program prints; what it says where it fails.
fn told(command: &mut Command) -> Result<String, String> {
    let out = command.output().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
    }
}

/// The assembler and the disassembler: named by variables, or where `.ci/tools` puts them.
fn tools() -> Result<[PathBuf; 2], String> {
    let found =
        [("LANEBOOK_PTXAS", "ptxas"), ("LANEBOOK_NVDISASM", "nvdisasm")].map(|(variable, name)| {
            let named = std::env::var_os(variable).map(PathBuf::from);
            named.or_else(|| installed(name)).ok_or(format!("no {name} (.ci/tools installs it)"))
        });
    let [assembler, disassembler] = found;
    Ok([assembler?, disassembler?])
}

fn installed(name: &str) -> Option<PathBuf> {
    let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/venv-nv/lib");
    let pythons = std::fs::read_dir(lib).ok()?.flatten();
    let mut there = pythons.map(|at| at.path().join("site-packages/nvidia/cu13/bin").join(name));
    there.find(|path| path.exists())
}
