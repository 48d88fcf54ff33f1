//! `lanebook convert` and `lanebook movement`: a conversion, or a movement, by itself.
use crate::args::{Convert, ConvertFormat, MovementArgs, SnippetArgs};
use crate::output;
use lanebook::convert::{Conversion, ConversionSides, MovedMemory, MovementKind, TileMovement};
use lanebook_report::compile::compiled;
use lanebook_report::convert::{self, extents, split};
use lanebook_report::plan::Parts;
use lanebook_report::problem::{Problem, Problems};
use lanebook_report::program::Source;
use lanebook_tables::Tables;

/// Runs `convert`.
pub fn run(args: &Convert, tables: &Tables<'_>) -> Result<(), Problems> {
    let own = &args.snippet;
    let extents = extents(&own.shape)?;
    let wanted = Conversion {
        from: &args.from,
        to: &args.to,
        threads: own.threads,
        split: split(&own.split)?,
        scratch: args.scratch,
        ..Conversion::of(&extents, &own.dtype)
    };
    written(tables, own, convert::conversion(tables, &own.arch, &wanted)?)
}

/// Runs `movement`.
pub fn movement(args: &MovementArgs, tables: &Tables<'_>) -> Result<(), Problems> {
    let own = &args.snippet;
    let extents = extents(&own.shape)?;
    let stride = args.stride.unwrap_or(extents.last().copied().unwrap_or(1));
    let global = MovedMemory::Global { stride, align: args.align.unwrap_or(0) };
    let kind = MovementKind::NAMED.iter().find(|(name, _)| *name == args.kind);
    let &(_, kind) = kind.ok_or_else(|| {
        let kinds = MovementKind::NAMED.map(|(name, _)| name).join(", ");
        Problem::usage(
            format!("`{}` is no movement", args.kind),
            format!("the movements are {kinds}"),
        )
    })?;
    let is_copy = kind == MovementKind::Copy;
    let is_global = is_copy || args.shared.is_none();
    let ignored = if is_copy && args.registers.is_some() {
        Some(("--registers", "a copy has no tile in registers"))
    } else if !is_global && args.stride.is_some() {
        Some(("--stride", "its memory is shared"))
    } else if !is_global && args.align.is_some() {
        Some(("--align", "its memory is shared"))
    } else {
        None
    };
    if !is_copy && args.registers.is_none() && args.shared.is_none() {
        let said = format!("a {} wants a layout", args.kind);
        let remedy = "say that of its registers, --registers LAYOUT, of shared memory, --shared LAYOUT, or both";
        return Err(Problem::usage(said, remedy).into());
    }
    if let Some((word, why)) = ignored {
        let said = format!("{word} says nothing of this movement: {why}");
        return Err(Problem::usage(said, "leave it out").into());
    }
    let wanted = TileMovement {
        kind,
        registers: args.registers.as_deref().unwrap_or_default(),
        memory: match &args.shared {
            Some(layout) => MovedMemory::Shared(layout),
            None if is_copy => MovedMemory::Shared(""),
            None => global,
        },
        other: is_copy.then_some(global),
        extents: &extents,
        dtype: &own.dtype,
        threads: own.threads,
        split: split(&own.split)?,
    };
    written(tables, own, convert::movement(tables, &own.arch, &wanted)?)
}

/// Writes what is asked for of a program.
fn written(
    tables: &Tables<'_>,
    args: &SnippetArgs,
    source: (Source, Option<ConversionSides>),
) -> Result<(), Problems> {
    let arch_name = args.arch.as_str();
    let out = match args.emit {
        ConvertFormat::Asm => convert::text(tables, arch_name, &source)?,
        ConvertFormat::Json => convert::json(tables, arch_name, &source)?,
        ConvertFormat::Explain => compiled(tables, arch_name, &source.0, Parts::All, true)?,
        ConvertFormat::Program => source.0.text,
    };
    Ok(output::write(args.output.as_deref(), &out)?)
}
