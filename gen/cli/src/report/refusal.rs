//! Why a program is refused: the library's errors, at their place in the text, with the remedy.
use super::reasons;
use super::words::operation;
use crate::commands::compile::Source;
use crate::problem::{Excerpt, Problem};
use lanebook::compile::Error;
use lanebook::emit::EmitError;
use lanebook::emit::step::{Missing, StepError};
use lanebook::ir::{self, EncodingFault, ErrorKind, Lexeme, Op, Program, Value};
use lanebook::plan::{PlanError, PlanPool, Reject, Unscaled, Unwritable};
use lanebook_gen::suggest::nearest;
use lanebook_tables::{Arch, DtypeId, Isa, OpRole, SourceId, Tables, TensorUse};

/// What is wrong with a layout in Triton's notation.
fn encoding(fault: EncodingFault) -> String {
    match fault {
        EncodingFault::Rank { field, expected, found } => {
            format!("{field:?} has {found} of {expected} entries")
        }
        EncodingFault::NotPowerOfTwo { field, value } => {
            format!("{field:?} has {value}, which is no power of two")
        }
        EncodingFault::BadValue { field, value } => format!("{field:?} cannot be {value}"),
        EncodingFault::NotAnOrder { at, value } => {
            format!("entry {at} of the order, {value}, is there twice or is no dimension")
        }
        EncodingFault::NotAPermutation { input, bit } => {
            format!(
                "basis {bit} of {} has several bits, or those of an earlier one",
                ["register", "lane", "warp", "block"].get(usize::from(input)).unwrap_or(&"?")
            )
        }
        EncodingFault::NotCovered { dim } => {
            format!("the bases do not reach all of dimension {dim}")
        }
        EncodingFault::SpanTooShort { needed, found } => {
            format!("{found} contiguous elements of {needed} that the swizzle spans")
        }
        EncodingFault::TooFewRows { needed, found } => {
            format!("{found} rows of {needed} that the swizzle takes")
        }
    }
}

/// A place in the program's text.
fn excerpt(source: &Source, place: ir::Place, label: impl Into<String>) -> Option<Excerpt> {
    if place.line == 0 {
        return None;
    }
    let start = (place.offset as usize).min(source.text.len());
    // At the end of the text a caret needs a place to stand.
    let text =
        if start == source.text.len() { format!("{} ", source.text) } else { source.text.clone() };
    Some(Excerpt {
        name: source.name.clone(),
        text,
        range: start..start + usize::from(place.len),
        label: label.into(),
    })
}

pub(super) fn at(
    problem: Problem,
    source: &Source,
    place: ir::Place,
    label: impl Into<String>,
) -> Problem {
    match excerpt(source, place, label) {
        Some(excerpt) => problem.at(excerpt),
        None => problem,
    }
}

fn lexeme(what: Lexeme) -> String {
    match what {
        Lexeme::Char(c) => format!("`{}`", char::from(c)),
        other => other.describe().to_string(),
    }
}

fn dtype<'t>(tables: &Tables<'t>, id: Option<DtypeId>) -> &'t str {
    id.and_then(|id| tables.dtype(id)).map_or("?", |d| d.name)
}

fn slot(slot: ir::Slot) -> String {
    match slot {
        ir::Slot::Operand(k) => format!("operand {k}"),
        ir::Slot::Result(k) => format!("result {k}"),
        ir::Slot::Argument(k) => format!("the body's argument {k}"),
        ir::Slot::Yielded(k) => format!("yielded value {k}"),
    }
}

fn between(least: u8, most: u8) -> String {
    match (least, most) {
        (a, u8::MAX) => format!("{a} or more"),
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a} to {b}"),
    }
}

/// An error of reading or verifying.
pub fn of_program(tables: &Tables<'_>, source: &Source, error: &ir::Error) -> Problem {
    let place = error.at;
    let word = source
        .text
        .get(place.offset as usize..(place.offset as usize).saturating_add(usize::from(place.len)))
        .unwrap_or("");
    let mut what = error.kind.message().to_string();
    let mut remedy = error.kind.remedy().to_string();
    let label = match error.kind {
        ErrorKind::Expected { want, got } => {
            what = format!("expected {}, found {}", lexeme(want), lexeme(got));
            String::new()
        }
        ErrorKind::UnknownOp => {
            what = format!("unknown operation `{word}`");
            let names = tables
                .ops
                .iter()
                .flat_map(|op| std::iter::once(op.name).chain(op.aliases.iter().copied()));
            if let Some(near) = nearest(word, names) {
                remedy = format!("did you mean `{near}`?");
            }
            String::new()
        }
        ErrorKind::UnknownDtype => {
            what = format!("unknown element type `{word}`");
            let names: Vec<&str> = tables.dtypes.iter().map(|d| d.name).collect();
            let near = nearest(word, names.iter().copied())
                .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            remedy = format!("{near}known: {}", names.join(", "));
            String::new()
        }
        ErrorKind::AttrValue => {
            let attrs = tables.contract.ops.iter().flat_map(|op| {
                op.attrs.iter().chain(op.arguments.iter().flat_map(|slot| slot.attrs.slice()))
            });
            if let Some(attr) = attrs
                .into_iter()
                .find(|attr| word == attr.key || word.ends_with(&format!(".{}", attr.key)))
            {
                let given = super::contract::value_behind(source, place);
                what = format!(
                    "attribute `{word}` cannot be {given}: it takes {}",
                    super::contract::form(&attr.form)
                );
                remedy = attr.doc.to_string();
            }
            String::new()
        }
        ErrorKind::Redefined { line } => format!("first defined in line {line}"),
        ErrorKind::ResultNumber { results } => format!("it has {results}"),
        ErrorKind::Capacity { pool, limit } => {
            what =
                format!("the program is too large: it has more than {limit} {}", pool.describe());
            remedy = "split the program".into();
            "here the limit is reached".into()
        }
        ErrorKind::OperandCount { least, most, found } => {
            format!("takes {}, {found} given", between(least, most))
        }
        ErrorKind::ResultCount { least, most, found } => {
            format!("has {}, {found} given", between(least, most))
        }
        ErrorKind::TypeCount { values, types } => format!("{values} values, {types} types"),
        ErrorKind::RegionCount { expected, found } => format!("has {expected}, {found} given"),
        ErrorKind::WrittenType { operand } => format!("of operand {operand}"),
        ErrorKind::NotDominated { operand } => format!("operand {operand}"),
        ErrorKind::OperandKind { operand, want } => {
            format!("operand {operand} must be {}", want.describe())
        }
        ErrorKind::ResultKind { result, want } => {
            format!("result {result} must be {}", want.describe())
        }
        ErrorKind::Extents { left, left_dimension, right, right_dimension, a, b } => {
            format!(
                "dimension {left_dimension} of {} is {a}, dimension {right_dimension} of {} is {b}",
                slot(left),
                slot(right)
            )
        }
        ErrorKind::Ranks { left, right, a, b } => {
            format!("{} has {a}, {} has {b}", slot(left), slot(right))
        }
        ErrorKind::Blocks { depth, blocks } => format!("a depth of {depth}, {blocks} blocks"),
        ErrorKind::Elements { a, b } => format!("{a} and {b}"),
        ErrorKind::Dtypes { left, right, a, b } => format!(
            "{} is {}, {} is {}",
            slot(left),
            dtype(tables, a),
            slot(right),
            dtype(tables, b)
        ),
        ErrorKind::Types { left, right } => format!("{} and {}", slot(left), slot(right)),
        ErrorKind::Subscripts { rank, found } => format!("{rank} dimensions, {found} subscripts"),
        ErrorKind::RegionValues { needed, found } => format!("{needed} needed, {found} given"),
        ErrorKind::Encoding { fault } => encoding(fault),
        ErrorKind::LayoutSize { layout, tile } => {
            format!("the layout has {layout} elements, the tile {tile}")
        }
        _ => String::new(),
    };
    at(Problem::refused(what, remedy), source, place, label)
}

/// An error of planning or emission.
pub fn of_compile(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: &Error,
) -> Problem {
    match *error {
        Error::Plan(error) => of_plan(tables, arch, program, source, error),
        Error::Emit(error) => of_emit(tables, arch, isa, program, source, error),
        Error::Capacity { pool, capacity, op } => {
            let remedy = match pool.parameter() {
                Some(parameter) => format!(
                    "use smaller tiles or more threads, or split the program; a program that links the library lends more with {parameter} of its `Storage`"
                ),
                None => "use smaller tiles or more threads, or split the program: the length of this list is fixed".to_string(),
            };
            let problem = Problem::refused(
                format!(
                    "the program is too large: its kernel needs more than {capacity} {}",
                    pool.describe()
                ),
                remedy,
            );
            match op {
                Some(op) => at(
                    problem,
                    source,
                    program.place(op),
                    "while instructions for this were written",
                ),
                None => problem,
            }
        }
        Error::Contract(breach) => super::contract::of_breach(tables, program, source, breach),
        Error::NoFunction => Problem::refused(
            format!("{} has no function to compile", source.name),
            "write func @name(...) {threads = N} { ... }, see gen/cli/examples",
        ),
        other => Problem::internal(format!("{other:?}"), "report this with the program"),
    }
}

/// Types of the same width and kind that a machine multiplies where it does not multiply a
/// product's own, as text.
fn near_types(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Option<String> {
    let wanted = program.type_of(program.operand(op, 0)?).dtype?;
    let is_near = |id: DtypeId| {
        let (own, other) = (tables.dtype(wanted)?, tables.dtype(id)?);
        (id != wanted && (own.bits, own.kind) == (other.bits, other.kind))
            .then(|| other.name.to_string())
    };
    let first =
        |atom: &lanebook_tables::Atom<'_>| atom.operands.get(usize::from(atom.matrix?.a))?.dtype;
    let mut names: Vec<String> = Vec::new();
    for atom in
        arch.atoms.iter().filter(|have| have.native).filter_map(|have| tables.atom(have.atom))
    {
        match first(atom) {
            // The type is there: something else is missing.
            Some(id) if id == wanted => return None,
            Some(id) => names.extend(is_near(id).filter(|name| !names.contains(name))),
            None => {}
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

/// No instruction does an operation on elements: whether these tables lack it, or have it elsewhere
/// or for other types.
fn without_instruction(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Problem {
    let named = |value: Option<Value>| value.and_then(|v| program.type_of(v).dtype);
    let types = (named(program.operand(op, 0)), named(program.result(op, 0)));
    let name = program.op_name(op);
    let does = |arch: &Arch<'_>, typed: bool| {
        let atoms =
            arch.atoms.iter().filter(|have| have.native).filter_map(|have| tables.atom(have.atom));
        atoms.into_iter().any(|atom| {
            let fits = |does: &lanebook_tables::Does<'_>| {
                let from = does
                    .uses
                    .first()
                    .and_then(|k| atom.operands.get(usize::from(*k)))
                    .and_then(|o| o.dtype);
                let to = atom
                    .operands
                    .iter()
                    .find(|o| o.role == lanebook_tables::Role::Def)
                    .and_then(|o| o.dtype);
                program.decl_id(op).map(lanebook_tables::OpWord::Op) == Some(does.op)
                    && (!typed || (from, to) == types)
            };
            atom.does.is_some_and(fits)
        })
    };
    let others: Vec<&str> =
        tables.archs.iter().filter(|other| does(other, true)).map(|other| other.name).collect();
    let what = format!(
        "the tables of {} have no instruction that does `{name}` from {} to {}",
        arch.name,
        dtype(tables, types.0),
        dtype(tables, types.1)
    );
    let remedy = match (does(arch, false), others.is_empty()) {
        (true, true) => format!(
            "`lanebook ops {name} --arch {}` says for which element types it has one",
            arch.name
        ),
        (true, false) => {
            format!(
                "`lanebook ops {name} --arch {}` says for which element types it has one; {} have one for these",
                arch.name,
                others.join(", ")
            )
        }
        (false, false) => format!("{} have one", others.join(", ")),
        (false, true) => format!(
            "no architecture's tables have one; write it with other operations (`lanebook ops --arch {}`), or state the instruction in its table (`does`)",
            arch.name
        ),
    };
    Problem::refused(what, remedy)
}

fn of_plan(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: PlanError,
) -> Problem {
    let here =
        |problem: Problem, op: Op, label: String| at(problem, source, program.place(op), label);
    let tile_types = |op: Op| {
        let name = |v| dtype(tables, program.type_of(v).dtype);
        program.operands(op).map(name).collect::<Vec<_>>().join(" x ")
    };
    match error {
        PlanError::Threads { threads, wave, most } => {
            let what = if threads == 0 {
                "the function does not say its number of threads".to_string()
            } else {
                format!("{threads} threads do not suit {}", arch.name)
            };
            let problem = Problem::refused(
                what,
                format!(
                    "write {{threads = N}} behind the arguments, N a power of two from {wave} to {most}"
                ),
            );
            match program.functions().next() {
                Some(op) => here(
                    problem,
                    op,
                    format!(
                        "{} has waves of {wave} lanes and at most {most} threads a group",
                        arch.name
                    ),
                ),
                None => problem,
            }
        }
        PlanError::Unsupported(op) if program.role(op) == OpRole::Elementwise => {
            here(without_instruction(tables, arch, program, op), op, String::new())
        }
        PlanError::Unsupported(op) if program.role(op) == OpRole::Broadcast => here(
            Problem::refused(
                "the extents do not say along which dimension this repeats its operand",
                "write {axis = 0} to repeat it as rows, {axis = 1} as columns",
            ),
            op,
            String::new(),
        ),
        PlanError::Unsupported(op) => here(
            Problem::refused(
                format!("the planner does not know what to do with `{}`", program.op_name(op)),
                format!(
                    "`lanebook ops {} --arch {}` says what is done with it",
                    program.op_name(op),
                    arch.name
                ),
            ),
            op,
            String::new(),
        ),
        PlanError::Extents(op) => here(
            Problem::refused(
                "a tile's extents are not two known numbers, or the tile is too large",
                "use two extents that are powers of two times an odd number up to 255, at most 2^20 elements together",
            ),
            op,
            operation(program, op),
        ),
        PlanError::Element(op) => here(
            Problem::refused(
                "a tile's elements are not a whole number of bytes wide",
                format!("use one of {}", whole_types(tables)),
            ),
            op,
            tile_types(op),
        ),
        PlanError::NotTraced { op, operand } => here(
            Problem::refused(
                format!(
                    "operand {operand} is no allocation and no kernel argument with one subscript a dimension"
                ),
                "move tiles between alloc_tensor results in #smem and memref arguments in #gmem",
            ),
            op,
            String::new(),
        ),
        PlanError::NoMatrixAtom(op) => here(
            Problem::refused(
                format!("no matrix instruction of {} takes this product", arch.name),
                match near_types(tables, arch, program, op) {
                    Some(near) => format!(
                        "it has products of {near}, which is another type: `lanebook atoms --arch {} --class matrix --long`",
                        arch.name
                    ),
                    None => format!(
                        "`lanebook atoms --arch {} --class matrix --long` lists types and shapes",
                        arch.name
                    ),
                },
            ),
            op,
            format!("{}, {} threads", tile_types(op), threads(program)),
        ),
        PlanError::Unscaled { op, why } => {
            let what = match why {
                Unscaled::None => {
                    format!("no matrix instruction of {} multiplies with block scales", arch.name)
                }
                Unscaled::Elements => format!(
                    "no matrix instruction of {} multiplies these element types with block scales",
                    arch.name
                ),
                Unscaled::Type { operand } => format!(
                    "no matrix instruction of {} takes scales of this type: operand {operand}",
                    arch.name
                ),
                Unscaled::Run { have, takes } => format!(
                    "no matrix instruction of {} has one scale for {have} elements: it takes one for {takes}",
                    arch.name
                ),
                Unscaled::Extent { which, have, takes } => {
                    let what = ["rows of A", "columns of B", "elements along the depth"]
                        .get(usize::from(which))
                        .copied()
                        .unwrap_or("elements");
                    format!(
                        "no matrix instruction of {} with block scales divides {have} {what}: it takes multiples of {takes}",
                        arch.name
                    )
                }
            };
            let help = format!(
                "`lanebook atoms --arch {} --class matrix --long` lists types and shapes; `lanebook arch` lists other architectures",
                arch.name
            );
            here(Problem::refused(what, help), op, tile_types(op))
        }
        PlanError::Registers { op, registers, most } => here(
            Problem::refused(
                format!("a lane would hold {registers} registers of one tile, {most} is the most"),
                "use smaller tiles or more threads",
            ),
            op,
            format!("{}, {} threads", tile_types(op), threads(program)),
        ),
        PlanError::NoMover { op, why } => {
            let problem = Problem::refused(
                format!("no instruction of {} can do this movement", arch.name),
                reasons::remedy(why).replace("ARCH", arch.name),
            );
            let cited = match why {
                Reject::Tensor { .. } => cite(
                    tables,
                    tables
                        .units
                        .tensor_maps
                        .iter()
                        .filter(|m| arch.features.contains(&m.feature))
                        .flat_map(|m| m.sources),
                ),
                _ => String::new(),
            };
            here(problem, op, format!("the nearest one {}{cited}", reasons::sentence(tables, why)))
        }
        PlanError::Conflict { op, .. } => here(
            Problem::refused(
                "two uses of a register tile want it distributed in different ways",
                "put a convert_layout between them, or go through shared memory",
            ),
            op,
            "the second one".into(),
        ),
        PlanError::Written { op, why } if program.role(op) != OpRole::Alloc => here(
            Problem::refused(
                match why {
                    Unwritable::Unreadable => {
                        "the layout written for this register tile cannot be read"
                    }
                    Unwritable::Axes => {
                        "the layout written for this register tile has an offset or a swizzle, or copies where there are other elements"
                    }
                    Unwritable::Size => {
                        "the layout written for this register tile covers another number of elements than the tile has, or lanes and warps that the group has not"
                    }
                    Unwritable::Panels => {
                        "a written layout of a register tile is obeyed only where both extents are powers of two"
                    }
                    _ => {
                        "the layout written for this register tile puts several elements in one place, or elements between the places of others"
                    }
                },
                "let each bit of an element's number be one bit of a lane's, a warp's or a register's, such as `S[(8,4,2):(4@laneid,1@laneid,32@bit)]`; or write none",
            ),
            op,
            program.result(op, 0).map_or_else(String::new, |v| {
                format!("{}, {} threads", tile(tables, program, v), threads(program))
            }),
        ),
        PlanError::Written { op, why } => here(
            Problem::refused(
                match why {
                    Unwritable::Unreadable => {
                        "the layout written for this shared tile is in none of the notations that are read here"
                    }
                    Unwritable::Axes => {
                        "the layout written for this shared tile names other axes than memory, or has replicas"
                    }
                    Unwritable::Size => {
                        "the layout written for this shared tile covers another number of elements than the tile has"
                    }
                    Unwritable::Order => {
                        "the layout written for this shared tile is neither by rows nor by columns, or its contiguous extent is no power of two"
                    }
                    Unwritable::Swizzle => {
                        "the swizzle written for this shared tile reaches beyond a power-of-two piece of the tile, or upwards"
                    }
                    Unwritable::Element => {
                        "the layout written for this shared tile says what its elements are (`elem=`), which the tile's type does"
                    }
                    Unwritable::Padding => {
                        "the padding written for this shared tile does not stand behind powers of two of bytes"
                    }
                    _ => "the layout written for this shared tile cannot be kept to",
                },
                "write rows or columns at one distance, maybe swizzled or padded, such as `S[(64,64):(72,1)]`; or write none, and one is chosen",
            ),
            op,
            tile_types(op),
        ),
        PlanError::Undecided(op) => here(
            Problem::refused(
                "nothing says how this register tile is distributed",
                "store it, or use it in a product",
            ),
            op,
            String::new(),
        ),
        PlanError::SharedMemory { op, need, have } => here(
            Problem::refused(
                format!(
                    "shared memory is exceeded: {need} B are needed, {} has {have} B",
                    arch.name
                ),
                "use smaller tiles or a narrower element type",
            ),
            op,
            format!("this one reaches {need} B"),
        ),
        PlanError::TensorMemory { op, need, scales, have } => here(
            Problem::refused(
                match scales {
                    0 => format!(
                        "tensor memory is exceeded: accumulators of {need} columns, an allocation is a power of two and {} has {have} at most",
                        arch.name
                    ),
                    _ => format!(
                        "tensor memory is exceeded: accumulators of {} columns and block scales of {scales}, whatever columns an instruction has; an allocation is a power of two and {} has {have} at most",
                        need.saturating_sub(scales),
                        arch.name
                    ),
                },
                "use a smaller tile of the product, or fewer products at once",
            ),
            op,
            {
                let tiles = tables.units.tensor_tiles.iter().filter(|t| {
                    arch.features.contains(&t.feature) && t.purpose == TensorUse::Accumulator
                });
                format!(
                    "with this one {need} columns are needed{}",
                    cite(tables, tiles.flat_map(|t| t.sources))
                )
            },
        ),
        PlanError::TensorReach { op, warps, needed } => {
            let memories = || {
                tables.units.tensor_memories.iter().filter(|m| arch.features.contains(&m.feature))
            };
            let lanes = memories().next().map_or(0, |m| u32::from(m.lanes_per_warp));
            here(
                Problem::refused(
                    format!(
                        "a warp does not reach all lanes of tensor memory: of {needed} warps each loads and stores {lanes} lanes by its number, the group has {warps}"
                    ),
                    "use a multiple of as many threads as these warps have",
                ),
                op,
                format!(
                    "its sums stand in lanes that no warp of the group reaches{}",
                    cite(tables, memories().flat_map(|m| m.sources))
                ),
            )
        }
        PlanError::Capacity { pool, capacity } => {
            let counted = needed(program, pool);
            let (need, past) = (
                counted.len(),
                usize::try_from(capacity).ok().and_then(|at| counted.get(at)).copied(),
            );
            let needs = if need > capacity as usize {
                format!("{need} {}", pool_words(pool))
            } else {
                format!("more than {capacity} {}", pool_words(pool))
            };
            let problem = Problem::refused(
                format!(
                    "the program is too large: it needs {needs}, a plan has room for {capacity}"
                ),
                "split the program, or use fewer tiles and movements: the length of this list is fixed",
            );
            match past {
                Some(op) => {
                    here(problem, op, format!("this is number {}", capacity.saturating_add(1)))
                }
                None => problem,
            }
        }
        other => Problem::internal(format!("{other:?}"), "report this with the program"),
    }
}

/// What a list of a plan holds, in words.
const fn pool_words(pool: PlanPool) -> &'static str {
    match pool {
        PlanPool::Allocs => "tiles in shared memory",
        PlanPool::Fragments => "tiles in registers",
        PlanPool::Globals => "tiles of global memory",
        PlanPool::Moves => "movements of tiles",
        PlanPool::Products => "products",
        PlanPool::Maps => "tensor maps",
        PlanPool::Completions => "completion objects of asynchronous copies",
        PlanPool::Exchanges => "conversions and reductions through shared memory",
        PlanPool::Lanes => "conversions between lanes",
        PlanPool::Movers => "instructions of the architecture that move tiles",
        PlanPool::Staged => "ways of copies through registers",
        PlanPool::Worklist => "tiles that share one distribution and wait to be looked at",
    }
}

/// The operations that each need a place in a list of a plan, as far as the program says.
fn needed(program: &Program<'_, '_>, pool: PlanPool) -> Vec<Op> {
    let Some(function) = program.functions().next() else { return Vec::new() };
    let has = |op: &Op| match pool {
        PlanPool::Allocs => program.role(*op) == OpRole::Alloc,
        PlanPool::Moves => matches!(program.role(*op), OpRole::Copy | OpRole::Load | OpRole::Store),
        PlanPool::Products => program.role(*op) == OpRole::Matrix,
        PlanPool::Fragments => program
            .results(*op)
            .any(|v| program.type_of(v).is_tile() && !program.type_of(v).is_memory()),
        _ => false,
    };
    program.inside(function).filter(has).collect()
}

/// A tile's extents and element type.
fn tile(tables: &Tables<'_>, program: &Program<'_, '_>, value: Value) -> String {
    let ty = program.type_of(value);
    let extents: Vec<String> =
        ty.shape.iter().map(|extent| extent.map_or("?".to_string(), |n| n.to_string())).collect();
    format!("{} {}", extents.join("x"), dtype(tables, ty.dtype))
}

/// Where rules come from, by the keys of the tables, each once.
fn cite<'t>(tables: &Tables<'_>, sources: impl Iterator<Item = &'t SourceId>) -> String {
    let mut keys: Vec<&str> = Vec::new();
    for key in sources.filter_map(|id| tables.sources.get(id.index())).map(|s| s.key) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    format!("; source: {}", keys.join(", "))
}

fn threads(program: &Program<'_, '_>) -> i64 {
    program
        .functions()
        .next()
        .and_then(|f| program.int_attr(f, ir::attr_names::THREADS))
        .unwrap_or(0)
}

fn whole_types(tables: &Tables<'_>) -> String {
    tables
        .dtypes
        .iter()
        .filter(|d| d.bits > 0 && d.bits % 8 == 0)
        .map(|d| d.name)
        .collect::<Vec<_>>()
        .join(", ")
}

/// Which index of an operation cannot be computed, and what to do.
fn index_fault(program: &Program<'_, '_>, op: Op) -> (String, String) {
    let subscripts = (0..program.operand_count(op)).flat_map(|k| program.subscripts(op, k));
    let bounds = program.counted_loop(op).into_iter().flat_map(|at| [at.lower, at.upper]);
    let said = |value: Value| format!("%{}", program.value_name(value));
    for value in subscripts.chain(bounds) {
        let Some(def) = program.def_op(value).filter(|def| program.role(*def) == OpRole::Index)
        else {
            continue;
        };
        let (Some(of), Some(by)) =
            (program.operand(def, 0), program.operand(def, 1).and_then(|by| program.int(by)))
        else {
            continue;
        };
        if by <= 0 || by.count_ones() != 1 {
            return (
                format!(
                    "{} divides by {by}: a kernel divides indices by powers of two",
                    said(value)
                ),
                "divide by a power of two, or pass the quotient as an index argument".into(),
            );
        }
        if program.def_op(of).is_some_and(|inner| program.role(inner) == OpRole::Index) {
            return (
                format!("{} is a quotient of a quotient", said(value)),
                "divide once, by the product of both numbers".into(),
            );
        }
        let around = std::iter::successors(program.parent(op), |at| program.parent(*at))
            .filter_map(|at| program.counted_loop(at));
        if let Some(step) = around
            .filter(|at| at.induction == of)
            .find_map(|at| program.int(at.step))
            .filter(|step| step % by != 0)
        {
            return (
                format!(
                    "{} divides the counter {}, which grows by {step}, by {by}: it does not grow by the same in every turn",
                    said(value),
                    said(of)
                ),
                "let the loop's step be a multiple of the divisor".into(),
            );
        }
    }
    (
        "an index of this operation is none that a kernel computes".into(),
        "use an index argument, a loop's counter, a number of 0 or more, or index.div of one of these by a power of two".into(),
    )
}

fn of_emit(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    isa: &Isa<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    error: EmitError,
) -> Problem {
    let here = |problem: Problem, op: Op| at(problem, source, program.place(op), String::new());
    let class = |id: lanebook_tables::ClassId| isa.classes.get(id.index()).map_or("?", |c| c.name);
    let large = |what: String| {
        Problem::refused(
            format!("the program is too large: {what}"),
            "use smaller tiles or more threads, or split the program",
        )
    };
    match error {
        EmitError::Step(StepError::Pool { class: id, wanted, pool }) => Problem::refused(
            format!(
                "the kernel needs {wanted} {} registers at once, {} has {pool}",
                class(id),
                arch.name
            ),
            "use smaller tiles or more threads: a lane's part of a tile must fit its registers",
        ),
        EmitError::Step(StepError::Class { atom, operand, class }) => {
            let class = isa.classes.get(usize::from(class)).map_or("?", |class| class.name);
            let name = tables.atom(atom).map_or("?", |atom| atom.name());
            Problem::refused(
                format!(
                    "operand {operand} of {name} takes no {class} register, and the kernel needs one there"
                ),
                "convert the tile, or store it through another instruction",
            )
        }
        EmitError::Step(StepError::Operand { atom, operand }) => {
            let name = tables.atom(atom).map_or("?", |a| a.name());
            Problem::internal(
                format!("operand {operand} of {name} cannot be written"),
                "report this with the program",
            )
        }
        EmitError::Step(StepError::NoAtom(missing)) => {
            let access = |n: u16| tables.accesses.get(usize::from(n)).copied().unwrap_or("?");
            let what = match missing {
                Missing::Move(id) => format!("a move between {} registers", class(id)),
                Missing::Fill(id) => format!("a way to fill {} registers", class(id)),
                Missing::Special(id) => format!("a way to write {}", class(id)),
                Missing::Sync { producer, consumer } => format!(
                    "a synchronisation rule from {} to {}",
                    access(producer),
                    access(consumer)
                ),
                Missing::Frame => "a frame instruction".to_string(),
                Missing::Class => "a register class".to_string(),
                Missing::Lanes(mask) => format!(
                    "an exchange between lanes whose numbers differ by an exclusive or with {mask}"
                ),
                Missing::Wait => "a wait for a counter".to_string(),
            };
            Problem::refused(
                format!("the tables of {} lack {what}", arch.name),
                "add it under hw-tables/ (see hw-tables/SCHEMA.md) and run `lanebook check`",
            )
        }
        EmitError::Expr(error) => large(format!("an index expression ({error:?})")),
        EmitError::Simplify(error) => {
            large(format!("index simplification ended early ({error:?})"))
        }
        EmitError::Select(error) => Problem::refused(
            format!(
                "no instruction of {} computes an index of this program ({error:?})",
                arch.name
            ),
            "add a target rule under rules/isa/ and run `lanebook check`",
        ),
        EmitError::Unplanned(op) => here(
            Problem::refused(
                format!(
                    "no instructions can be written for this `{}` as its tiles are distributed and held here",
                    program.op_name(op)
                ),
                "put a convert_layout before it, or use smaller tiles or more threads; report this with the program if that does not help",
            ),
            op,
        ),
        EmitError::Index(op) => {
            let (what, remedy) = index_fault(program, op);
            here(Problem::refused(what, remedy), op)
        }
        EmitError::Carried(op) => here(
            Problem::refused(
                "a carried value is neither updated in place nor movable",
                "use the carried tile in one product that yields it",
            ),
            op,
        ),
        EmitError::Constant(op) => here(
            Problem::refused(
                "this computes with a number of 64 bits, which no one register holds",
                "load a tile of that number, or compute in f32",
            ),
            op,
        ),
        other => Problem::internal(format!("{other:?}"), "report this with the program"),
    }
}
