//! `lanebook show`: a layout or an atom's operands as a grid in the terminal, or as a picture.
mod marks;
mod tensor;

use crate::args::{AskFormat, Colour, Show, View};
use crate::output;
use crate::tables;
use lanebook::query::{QueryStorage, ask};
use lanebook_draw::cell::Banks;
use lanebook_draw::difference::{self, Compared};
use lanebook_draw::instance::{concrete, filled};
use lanebook_draw::layout::Order;
use lanebook_draw::{DrawError, Picture, atom, banks, layout, physical, svg, text};
use lanebook_layout::{AxisId, Layout};
use lanebook_report::problem::{Excerpt, Problem, Problems};
use lanebook_report::{answer, notation};
use lanebook_suggest::nearest;
use lanebook_tables::{AtomFilter, Tables};

/// Rows and columns that a terminal shows without --full.
const MOST: usize = 64;

/// Runs the command.
pub fn run(args: &Show, tables: &Tables<'_>, colour: Colour) -> Result<(), Problems> {
    let picture = match &args.other {
        Some(other) => of_two(args, other, tables)?,
        None if is_layout(&args.what) || is_part(args, tables) => of_layout(args, tables)?,
        None => of_atom(args, tables)?,
    };
    let picture = match &args.only {
        Some(part) => picture.only(part).map_err(drawn)?,
        None => picture,
    };
    let format = match (args.format, &args.output) {
        (Some(format), _) => format,
        (None, Some(path)) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("svg")) => {
            AskFormat::Svg
        }
        (None, Some(path)) => {
            return Err(Problem::usage(
                format!("pictures are SVG, and {} is not named so", path.display()),
                "end the name in .svg, or say --format for something else",
            )
            .into());
        }
        (None, None) => AskFormat::Text,
    };
    let marked = marks::wanted(args);
    let picture = if marked { marks::mark(args, picture, tables, MOST)? } else { picture };
    let whole = args.full || marked || matches!(format, AskFormat::Json | AskFormat::Csv);
    let picture = if whole { picture } else { picture.folded() };
    let out = match format {
        AskFormat::Svg => svg::render(&picture),
        AskFormat::Json => format!("{:#}\n", answer::picture_json(&picture)),
        AskFormat::Csv => answer::picture_csv(&picture),
        AskFormat::Text => {
            let terminal = args.output.is_none();
            let options = text::Options {
                colour: terminal && colour.on_stdout(),
                most: if args.full { usize::MAX } else { MOST },
                width: if terminal { output::terminal_width() } else { 0 },
            };
            text::render(&picture, options)
        }
    };
    Ok(output::write(args.output.as_deref(), &out)?)
}

/// Whether a text is meant to be a layout and not a name: it has a bracket, or begins like a
/// number.
fn is_layout(text: &str) -> bool {
    text.contains(['(', '[', '<', ')', ']'])
        || text.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a name is that of an instruction's operand, which is a layout.
fn is_part(args: &Show, tables: &Tables<'_>) -> bool {
    let arch = args.arch.as_deref().and_then(|name| tables.arch_named(name));
    let mut storage = Box::new(QueryStorage::new());
    ask(tables, arch, &args.what, &mut storage).is_ok_and(|answer| answer.layout().is_some())
}

fn of_atom(args: &Show, tables: &Tables<'_>) -> Result<Picture, Problem> {
    let Some(name) = &args.arch else {
        let what = format!("`{}` is no layout, and an atom needs its architecture", args.what);
        return Err(Problem::usage(
            what,
            format!(
                "add --arch ARCH ({}), or write a layout such as '(8,8):(8,1)'",
                tables::known_archs(tables).join(", ")
            ),
        ));
    };
    let (id, arch, _) = tables::arch(tables, name)?;
    let found = tables.instance_named(&args.what).filter(|(id, _)| arch.own(*id).is_some());
    let Some((_, instance)) = found else {
        if let Some(tile) = tensor::of_tile(args, tables, arch) {
            return tile;
        }
        let tiles = tensor::tiles(tables, arch);
        let names: Vec<&str> = tables
            .list_atoms(Some(id), AtomFilter::ALL)
            .map(|(_, atom)| atom.name())
            .chain(tiles.iter().copied())
            .collect();
        let mut remedy = nearest(&args.what, names).map_or_else(
            || format!("`lanebook atoms --arch {name}` lists them"),
            |near| format!("did you mean `{near}`?"),
        );
        if !tiles.is_empty() {
            remedy.push_str(&format!("; tiles of tensor memory: {}", tiles.join(", ")));
        }
        return Err(Problem::usage(format!("{name} has no atom `{}`", args.what), remedy));
    };
    let found = &concrete(&instance);
    for (given, option) in [(args.shape.is_some(), "--shape"), (args.unit.is_some(), "--unit")] {
        if given {
            return Err(Problem::usage(
                format!("{option} is for layouts; an atom's operands have their own"),
                format!("leave {option} out"),
            ));
        }
    }
    if args.stride.is_some() && args.view != View::Banks {
        return Err(Problem::usage(
            "--stride says where address slots point, for --view banks",
            "add --view banks, or leave --stride out",
        ));
    }
    let mut picture = match tensor::of_move(args, tables, arch, &instance) {
        Some(moved) => {
            let mut moved = moved?;
            moved.subtitle.push(atom::template(found));
            moved
        }
        None => match args.view {
            View::Elements => atom::picture(tables, found),
            View::Lanes => physical::picture(tables, found),
            View::Banks => banks::picture(arch, found, args.stride),
        }
        .map_err(drawn)?,
    };
    for line in &mut picture.subtitle {
        *line = filled(&instance, line);
    }
    // A family by its own name is shown as its usual instance, and says so.
    let family = args.what.contains('{');
    let named = if family {
        filled(&instance, &args.what.replace('{', "<").replace('}', ">"))
    } else {
        args.what.clone()
    };
    picture.title = match args.view {
        View::Banks => format!("banks of {named} on {}", arch.name),
        View::Elements | View::Lanes => format!("{named} on {}", arch.name),
    };
    if family {
        picture.subtitle.push(format!("one of the family {}", args.what));
    }
    let sides = found.movement.iter().flat_map(|movement| [&movement.from, &movement.to]);
    let models = sides.filter_map(|side| {
        arch.banks
            .iter()
            .find(|model| !side.banks.is_empty() && model.name == side.banks)
            .filter(|_| args.view == View::Banks)
    });
    // What is drawn is as certain as the weakest of the facts that it is drawn from.
    let weakest = models
        .clone()
        .map(|model| model.status)
        .chain([found.status])
        .max_by_key(|status| tables::doubt(*status))
        .unwrap_or(found.status);
    picture.subtitle.push(format!("facts: {}", weakest.words()));
    if args.view == View::Banks {
        picture.subtitle.extend(
            models.map(|model| format!("bank model `{}`: {}", model.name, model.status.words())),
        );
    }
    Ok(picture)
}

fn of_layout(args: &Show, tables: &Tables<'_>) -> Result<Picture, Problem> {
    if args.view != View::Elements || args.stride.is_some() {
        return Err(Problem::usage(
            "--view and --stride are for atoms",
            "name an atom and its --arch; --unit shows the banks of a layout",
        ));
    }
    let (parsed, order, own) = read(&args.what, args.arch.as_deref(), tables)?;
    let view = parsed.view();
    let shape = match (&args.shape, own) {
        (Some(text), _) => rows_and_columns(text)?,
        (None, Some(own)) => own,
        (None, None) => layout::shape(&view, order).map_err(drawn)?,
    };
    let banks = match (args.unit, &args.arch) {
        (None, None) => None,
        // A layout of the query language may be the architecture's.
        (None, Some(_)) if notation::parse(&args.what).is_err() => None,
        (None, Some(_)) => {
            return Err(Problem::usage(
                "--arch beside a layout says which banks to show, and that needs --unit",
                "add --unit BITS, the bits of one step in memory (8 for bytes, 16 for f16)",
            ));
        }
        (Some(unit_bits), arch) => Some(banks_of(tables, unit_bits, arch.as_deref(), args.banks)?),
    };
    if banks.is_some() && !view.axes().is_ok_and(|axes| axes.contains(&AxisId::M)) {
        return Err(Problem::usage(
            "--unit shows bytes and banks, and this layout has no memory axis",
            "leave --unit out",
        ));
    }
    layout::picture(&view, &args.what, order, shape, banks).map_err(drawn)
}

/// Two layouts beside each other.
fn of_two(args: &Show, other: &str, tables: &Tables<'_>) -> Result<Picture, Problem> {
    let alone = [
        (args.view != View::Elements, "--view"),
        (args.stride.is_some(), "--stride"),
        (args.unit.is_some(), "--unit"),
        (args.only.is_some(), "--only"),
    ];
    if let Some((_, option)) = alone.into_iter().find(|(given, _)| *given) {
        return Err(Problem::usage(
            format!("{option} is for one layout or atom, and there are two"),
            format!("leave {option} out"),
        ));
    }
    let arch = args.arch.as_deref();
    let (one, two) = (read(&args.what, arch, tables)?, read(other, arch, tables)?);
    let (a, b) = (one.0.view(), two.0.view());
    let shape = match (&args.shape, one.2.or(two.2)) {
        (Some(text), _) => rows_and_columns(text)?,
        (None, Some(own)) => own,
        (None, None) => layout::shape(&a, one.1).map_err(drawn)?,
    };
    let both = [
        Compared { text: &args.what, layout: &a, order: one.1 },
        Compared { text: other, layout: &b, order: two.1 },
    ];
    difference::picture(both, shape).map_err(drawn)
}

/// A layout with the order of its coordinates, and rows and columns where it says them.
type ReadLayout = (Layout, Order, Option<(u64, u64)>);

/// Reads a layout as CuTe or TIRx write it, else as the query language does. What neither reads is told as the
/// first sees it.
fn read(text: &str, arch: Option<&str>, tables: &Tables<'_>) -> Result<ReadLayout, Problem> {
    let refused = match notation::parse(text) {
        Ok((layout, order)) => return Ok((layout, order, None)),
        Err(error) => error,
    };
    let arch = arch.map(|name| tables::arch(tables, name)).transpose()?;
    let mut storage = Box::new(QueryStorage::new());
    let answer = ask(tables, arch.map(|(id, ..)| id), text, &mut storage);
    let placed = answer.as_ref().ok().and_then(|answer| answer.layout());
    let Some(placed) = placed else { return Err(malformed(text, refused)) };
    let elements = &placed.elements;
    let (order, shape) =
        layout::grid(&placed.layout.view(), elements.row_major, elements.extents())
            .map_err(drawn)?;
    Ok((placed.layout.clone(), order, Some(shape)))
}

fn banks_of(
    tables: &Tables<'_>,
    unit_bits: u32,
    arch: Option<&str>,
    count: u32,
) -> Result<Banks, Problem> {
    if unit_bits == 0 || unit_bits > 1024 {
        return Err(Problem::usage(
            format!("--unit {unit_bits} is no width"),
            "give 1 to 1024 bits",
        ));
    }
    let (banks, bank_bytes) = match arch {
        Some(name) => {
            let (_, arch, _) = tables::arch(tables, name)?;
            let widest = arch
                .banks
                .iter()
                .max_by_key(|model| u32::from(model.banks) * u32::from(model.bank_bytes));
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

pub(super) fn rows_and_columns(text: &str) -> Result<(u64, u64), Problem> {
    let parts = text.split_once(['x', 'X', ',']);
    let numbers = parts.and_then(|(a, b)| Some((a.trim().parse().ok()?, b.trim().parse().ok()?)));
    numbers.ok_or_else(|| {
        Problem::usage(
            format!("--shape {text} is not rows and columns"),
            "write two numbers such as 8x16",
        )
    })
}

fn malformed(text: &str, error: notation::Malformed) -> Problem {
    // At the end of the text a caret needs a place to stand.
    let text = if error.range.start >= text.len() { format!("{text} ") } else { text.to_string() };
    let (line, column) = error.place;
    Problem::refused(format!("{} (line {line}, column {column})", error.what), error.remedy)
        .at(Excerpt { name: "layout".into(), text, range: error.range, label: error.label })
}
