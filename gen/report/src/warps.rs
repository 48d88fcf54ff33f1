//! How many warps a block has, where whoever launches a kernel says so: a module of Triton's TTIR does
//! not.
use crate::problem::Problem;
use crate::program::Source;
use crate::refused::of_program;
use lanebook::ir::{AttrValue, Op, Program, attr_names};
use lanebook_tables::{Arch, OpRole, Tables};

/// Says of each kernel how many threads a source's warps are, where the text says none.
pub(crate) fn say(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &mut Program<'_, '_>,
    source: &Source,
) -> Result<(), Problem> {
    let Some(warps) = source.warps else { return Ok(()) };
    let modules = program.all().filter(|op| program.is_module(*op));
    let said = |program: &Program<'_, '_>, op: Op, key: &str| program.int_attr(op, key);
    let (mut written, mut lanes) =
        (None, arch.wave_lanes.first().map_or(1, |lanes| i64::from(*lanes)));
    for module in modules {
        written = written.or(said(program, module, attr_names::NUM_WARPS));
        lanes = said(program, module, attr_names::WAVE).unwrap_or(lanes);
    }
    if let Some(written) = written {
        return agreed("the module", "warps", (i64::from(warps), written));
    }
    let threads = i64::from(warps).saturating_mul(lanes);
    let kernels: Vec<Op> =
        program.all().filter(|op| program.role(*op) == OpRole::Function).collect();
    for kernel in kernels {
        match said(program, kernel, attr_names::THREADS) {
            Some(written) => agreed("the kernel", "threads", (threads, written))?,
            None => program
                .set_attr(kernel, attr_names::THREADS, AttrValue::Int(threads, None))
                .map_err(|kind| {
                    let at = lanebook::ir::SourcePlace { op: None, ..program.place(kernel) };
                    of_program(tables, source, &lanebook::ir::IrError { kind, at })
                })?,
        }
    }
    Ok(())
}

/// Refuses another number than the text's.
fn agreed(who: &str, what: &str, (asked, written): (i64, i64)) -> Result<(), Problem> {
    if asked == written {
        return Ok(());
    }
    Err(Problem::usage(
        format!("--num-warps asks for {asked} {what}, and {who} says {written}"),
        "leave --num-warps out: what the program says is obeyed",
    ))
}
