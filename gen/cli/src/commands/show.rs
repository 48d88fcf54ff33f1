//! `lanebook show`: a layout or an atom's operands as a grid in the terminal, or as a picture.
use crate::args::{Colour, Show};
use crate::output;
use crate::problem::{Excerpt, Problem, Problems};
use crate::tables;
use lanebook_draw::cell::Banks;
use lanebook_draw::layout::Order;
use lanebook_draw::{DrawError, Picture, atom, layout, svg, text};
use lanebook_gen::suggest::nearest;
use lanebook_layout::notation::{Expected, ParseError, cute, tirx};
use lanebook_layout::{AxisId, AxisNames, Layout, NoSyms, WellKnown};
use lanebook_tables::Tables;

/// Rows and columns that a terminal shows without --full.
const MOST: usize = 64;

/// Runs the command.
pub fn run(args: &Show, tables: &Tables<'_>, colour: Colour) -> Result<(), Problems> {
    let picture = if is_layout(&args.what) { of_layout(args, tables)? } else { of_atom(args, tables)? };
    match &args.output {
        Some(path) => {
            if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) {
                return Err(Problem::usage(format!("pictures are SVG, and {} is not named so", path.display()), "end the name in .svg, or leave out -o for the terminal").into());
            }
            Ok(output::write(Some(path), &svg::render(&picture))?)
        }
        None => {
            let options = text::Options { colour: colour.on_stdout(), most: if args.full { usize::MAX } else { MOST } };
            Ok(output::write(None, &text::render(&picture, options))?)
        }
    }
}

/// Whether a text is meant to be a layout and not a name: it has a bracket or a colon, or begins like a number.
fn is_layout(text: &str) -> bool {
    text.contains(['(', '[', '<', ':', ')', ']']) || text.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

fn of_atom(args: &Show, tables: &Tables<'_>) -> Result<Picture, Problem> {
    let Some(name) = &args.arch else {
        let what = format!("`{}` is no layout, and an atom needs its architecture", args.what);
        return Err(Problem::usage(what, format!("add --arch ARCH ({}), or write a layout such as '(8,8):(8,1)'", tables::known_archs(tables).join(", "))));
    };
    let (_, arch, _) = tables::arch(tables, name)?;
    let atoms: Vec<_> = arch.atoms.iter().filter_map(|have| tables.atom(have.atom)).collect();
    let Some(found) = atoms.iter().find(|atom| atom.name == args.what) else {
        let near = nearest(&args.what, atoms.iter().map(|atom| atom.name)).map_or_else(|| format!("`lanebook atoms --arch {name}` lists them"), |near| format!("did you mean `{near}`?"));
        return Err(Problem::usage(format!("{name} has no atom `{}`", args.what), near));
    };
    for (given, option) in [(args.shape.is_some(), "--shape"), (args.unit.is_some(), "--unit")] {
        if given {
            return Err(Problem::usage(format!("{option} is for layouts; an atom's operands have their own"), format!("leave {option} out")));
        }
    }
    let mut picture = atom::picture(tables, found).map_err(drawn)?;
    picture.title = format!("{} on {}", found.name, arch.name);
    picture.subtitle.push(format!("facts: {}", tables::status(found.status)));
    Ok(picture)
}

fn of_layout(args: &Show, tables: &Tables<'_>) -> Result<Picture, Problem> {
    let (parsed, order) = parse(&args.what)?;
    let view = parsed.view();
    let shape = match &args.shape {
        Some(text) => rows_and_columns(text)?,
        None => layout::shape(&view, order).map_err(drawn)?,
    };
    let banks = match (args.unit, &args.arch) {
        (None, None) => None,
        (None, Some(_)) => return Err(Problem::usage("--arch beside a layout says which banks to show, and that needs --unit", "add --unit BITS, the bits of one step in memory (8 for bytes, 16 for f16)")),
        (Some(unit_bits), arch) => Some(banks(tables, unit_bits, arch.as_deref(), args.banks)?),
    };
    if banks.is_some() && !view.axes().is_ok_and(|axes| axes.contains(&AxisId::M)) {
        return Err(Problem::usage("--unit shows bytes and banks, and this layout has no memory axis", "leave --unit out"));
    }
    layout::picture(&view, &args.what, order, shape, banks).map_err(drawn)
}

fn banks(tables: &Tables<'_>, unit_bits: u32, arch: Option<&str>, count: u32) -> Result<Banks, Problem> {
    if unit_bits == 0 || unit_bits > 1024 {
        return Err(Problem::usage(format!("--unit {unit_bits} is no width"), "give 1 to 1024 bits"));
    }
    let (banks, bank_bytes) = match arch {
        Some(name) => {
            let (_, arch, _) = tables::arch(tables, name)?;
            let widest = arch.banks.iter().max_by_key(|model| u32::from(model.banks) * u32::from(model.bank_bytes));
            widest.map_or((count, 4), |model| (u32::from(model.banks), u32::from(model.bank_bytes)))
        }
        None => (count, 4),
    };
    if banks == 0 || banks > 64 {
        return Err(Problem::usage(format!("--banks {banks} is out of range"), "give 1 to 64"));
    }
    Ok(Banks { unit_bits, banks, bank_bytes })
}

fn drawn(error: DrawError) -> Problem {
    Problem::refused(error.message, error.remedy)
}

fn rows_and_columns(text: &str) -> Result<(u64, u64), Problem> {
    let parts = text.split_once(['x', 'X', ',']);
    let numbers = parts.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| Problem::usage(format!("--shape {text} is not rows and columns"), "write two numbers such as 8x16"))
}

/// Reads a layout in either notation: a bracket after S or R makes it TIRx.
pub fn parse(text: &str) -> Result<(Layout, Order), Problem> {
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let (parsed, order, notation) = if packed.contains("S[") || packed.contains("R[") || packed.contains('[') {
        (tirx::parse(text, &WellKnown, &mut NoSyms), Order::RowMajor, "TIRx")
    } else {
        (cute::parse(text, &WellKnown, &mut NoSyms), Order::ColumnMajor, "CuTe")
    };
    parsed.map(|layout| (layout, order)).map_err(|error| malformed(text, error, notation))
}

/// The byte at a line and column, both from 1.
fn offset(text: &str, line: u32, column: u32) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let rest = &text[start.min(text.len())..];
    start + rest.char_indices().nth(column.saturating_sub(1) as usize).map_or(rest.len(), |(at, _)| at)
}

fn malformed(text: &str, error: ParseError, notation: &str) -> Problem {
    let at = offset(text, error.line, error.col);
    let word: String = text[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let end = if word.is_empty() { at } else { at + word.len() };
    // An axis is written after `@`; the parser stands on the name.
    let (label, remedy) = expected(error.expected, &word);
    // At the end of the text a caret needs a place to stand.
    let shown = if at >= text.len() { format!("{text} ") } else { text.to_string() };
    Problem::refused(format!("this is no layout in {notation} notation (line {}, column {})", error.line, error.col), remedy)
        .at(Excerpt { name: "layout".into(), text: shown, range: at..end, label })
}

fn expected(what: Expected, word: &str) -> (String, String) {
    let both = "write CuTe, `(8,4):(4,1)`, or TIRx, `S[(8,4):(4@laneid,1@laneid)]`";
    let simple = |text: &str, remedy: &str| (format!("expected {text}"), remedy.to_string());
    match what {
        Expected::OpenParen => simple("`(`", "shape and stride are trees of the same form"),
        Expected::CloseParen => simple("`)`", "close the tuple"),
        Expected::OpenBracket => simple("`[`", both),
        Expected::CloseBracket => simple("`]`", "close the bracket"),
        Expected::CloseAngle => simple("`>`", "write a swizzle as S<bits,base,shift>"),
        Expected::Comma => simple("`,`", "as many strides as extents are needed"),
        Expected::CommaOrClose => simple("`,` or `)`", "go on with the tuple or close it"),
        Expected::Colon => simple("`:`", "strides follow the shape after a colon, as in `(8,4):(4,1)`"),
        Expected::Compose => simple("`o`", "write a swizzled layout as `S<3,4,3> o 0 o (8,8):(8,1)`"),
        Expected::End => simple("the end", "remove what stands here"),
        Expected::Number => simple("a number", both),
        Expected::Integer => simple("a known integer", "write a number"),
        Expected::SmallerNumber => simple("a smaller number", "strides have 64 bits, extents 32"),
        Expected::PositiveExtent => simple("an extent of 1 or more", "an empty mode is no layout; leave it out"),
        Expected::NumberOrOpen => simple("a number or `(`", both),
        Expected::Axis => simple("an axis", "name one after `@`, such as laneid, warpid, bit"),
        Expected::KnownAxis => {
            let names: Vec<&str> = (0..AxisId::FIRST_FREE).map_while(|n| WellKnown.name(AxisId(n))).collect();
            let near = nearest(word, names.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            (format!("unknown axis `{word}`"), format!("{near}known: {}", names.join(", ")))
        }
        Expected::KnownSymbol => simple("a number", "symbols have no value here; write numbers"),
        Expected::BasisNumber => simple("a mode number from 0 to 15", "a path has at most three"),
        Expected::Shard => simple("an `S[...]`", "offsets alone are no layout"),
        Expected::OneShard => simple("no second `S[...]`", "put all iters into one"),
        Expected::OneReplica => simple("no second `R[...]`", "put all replicas into one"),
        Expected::ValidSwizzle => simple("a swizzle whose fields do not overlap", "S<B,M,S> needs |S| >= B and M + B + |S| <= 63"),
        Expected::Fits(error) => (format!("not within the limits: {error:?}"), "a layout has at most 32 iters and 16 modes".into()),
        other => (format!("{other:?}"), both.into()),
    }
}
