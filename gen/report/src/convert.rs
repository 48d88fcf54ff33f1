//! Conversions and movements by themselves, from their layouts to instructions with what is where.
use crate::archs::arch;
use crate::compile::{reported, unwritten};
use crate::plan::Report;
use crate::problem::{Problem, Problems};
use crate::program::Source;
use lanebook::convert::{
    Conversion, ConversionSides, ConvertError, MovementKind, TileMovement, write_conversion,
    write_movement,
};
use lanebook::query::{NoDistribution, QueryStorage, WarpSplit};
use lanebook_tables::Tables;

/// The program of a conversion, for the architecture of a name, and its sides: their registers are
/// numbered as they are written.
///
/// # Errors
/// Which layout registers cannot have, and why.
pub fn conversion(
    tables: &Tables<'_>,
    arch_name: &str,
    wanted: &Conversion<'_>,
) -> Result<(Source, Option<ConversionSides>), Problems> {
    let (id, ..) = arch(tables, arch_name)?;
    let (mut text, mut query) = (String::new(), Box::new(QueryStorage::new()));
    let sides = write_conversion(tables, id, wanted, &mut query, &mut text)
        .map_err(|error| refused(&error, (wanted.from, wanted.to)))?;
    Ok((source(text), Some(sides)))
}

/// The program of a movement.
///
/// # Errors
/// As [`conversion`].
pub fn movement(
    tables: &Tables<'_>,
    arch_name: &str,
    wanted: &TileMovement<'_>,
) -> Result<(Source, Option<ConversionSides>), Problems> {
    let (id, ..) = arch(tables, arch_name)?;
    let (mut text, mut query) = (String::new(), Box::new(QueryStorage::new()));
    let threads = write_movement(tables, id, wanted, &mut query, &mut text)
        .map_err(|error| refused(&error, (wanted.registers, "")))?;
    let [own, _] = *query.distributions();
    let in_registers = wanted.kind != MovementKind::Copy;
    let sides = in_registers.then_some(ConversionSides { from: own, to: own, threads });
    Ok((source(text), sides))
}

/// A snippet's instructions, what is where in comments before them.
///
/// # Errors
/// Why there are none.
pub fn text(
    tables: &Tables<'_>,
    arch_name: &str,
    (source, sides): &(Source, Option<ConversionSides>),
) -> Result<String, Problems> {
    reported(tables, arch_name, source, false, |report| {
        report.snippet_text(sides.as_ref()).ok_or_else(no_snippet)
    })
}

/// The same as one object.
///
/// # Errors
/// Why there are none.
pub fn json(
    tables: &Tables<'_>,
    arch_name: &str,
    (source, sides): &(Source, Option<ConversionSides>),
) -> Result<String, Problems> {
    reported(tables, arch_name, source, false, |report: &Report<'_>| {
        let mut object = report.snippet(sides.as_ref()).ok_or_else(no_snippet)?;
        object["arch"] = report.arch.name.into();
        object["isa"] = report.isa.name.into();
        serde_json::to_string_pretty(&object).map(|text| text + "\n").map_err(|_| unwritten())
    })
}

/// `64x32` as numbers.
///
/// # Errors
/// It is no shape.
pub fn extents(text: &str) -> Result<Vec<u32>, Problem> {
    let all: Result<Vec<u32>, _> = text.split('x').map(|n| n.trim().parse::<u32>()).collect();
    all.ok().filter(|all| !all.is_empty() && all.len() <= 5).ok_or_else(|| {
        Problem::usage(
            format!("{text} is no shape"),
            "write 1 to 5 whole numbers with `x` between, 64x32",
        )
    })
}

/// A way to lay warps of 32 into waves of 64, by name.
///
/// # Errors
/// There is none of this name.
pub fn split(name: &str) -> Result<WarpSplit, Problem> {
    WarpSplit::named(name).ok_or_else(|| {
        let names = WarpSplit::NAMED.map(|(name, _)| name).join(", ");
        Problem::usage(
            format!("{name} is no way to lay warps into waves"),
            format!("use one of {names}"),
        )
    })
}

fn source(text: String) -> Source {
    Source::new("the program of these layouts", text)
}

fn no_snippet() -> Problem {
    Problem::internal("the function is no snippet", "report this with its layouts")
}

fn refused(error: &ConvertError, texts: (&str, &str)) -> Problem {
    let mut words = String::new();
    // A text takes all that is written.
    let _ = error.write_text(texts, &mut words);
    let help = match error {
        // What registers do not have shared memory may.
        ConvertError::From(NoDistribution::Post) | ConvertError::To(NoDistribution::Post) => {
            "`lanebook movement load` and `lanebook movement store` go between registers and a tile in shared memory"
        }
        _ => {
            "`lanebook ask LAYOUT` shows what a layout says, `lanebook convert --help` which notations there are"
        }
    };
    Problem::refused(words.trim_end().to_string(), help)
}
