//! Why a program has no plan: the reasons of choosing, at their place in the text, with the remedy.

use super::{at, dtype, written};
use crate::plan::words::operation;
use crate::problem::Problem;
use crate::program::Source;
use crate::reasons;
use lanebook::compile::storage::plan_parameter;
use lanebook::ir::{self, Op, Program, Value};
use lanebook::plan::select::why_no_unit;
use lanebook::plan::{
    ConversionPlace, PlanError, PlanPool, Reject, Unatomic, Unindexed, Unparted, Unstaged,
    Unsummed, Unwritable,
};
use lanebook_tables::{
    Arch, AtomClass, AtomFilter, DtypeId, OpRole, SourceId, Space, Tables, TensorUse,
};

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
    for (_, atom) in tables.list_native(arch) {
        match first(atom) {
            // The type is there: something else is missing.
            Some(id) if id == wanted => return None,
            Some(id) => names.extend(is_near(id).filter(|name| !names.contains(name))),
            None => {}
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

/// Whether an operation combines elements of a tile, or takes it apart.
fn combines(program: &Program<'_, '_>, op: Op) -> bool {
    program.role(op) == OpRole::Reduce || program.role(op).is_composed()
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
        tables.list_native(arch).any(|(_, atom)| {
            let fits = |does: &lanebook_tables::Elementwise<'_>| {
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
                "`lanebook ops {name} --arch {}` says for which element types it has one; for these the tables of {} have one",
                arch.name,
                others.join(", ")
            )
        }
        (false, false) => format!("the tables of {} have one", others.join(", ")),
        (false, true) => format!(
            "no architecture's tables have one; write it with other operations (`lanebook ops --arch {}`), or state the instruction in its table (`does`)",
            arch.name
        ),
    };
    Problem::refused(what, remedy)
}

pub(super) fn of_plan(
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
    // What units may read of the factors, where the product says so.
    let read_as = |op: Op| match program.attr(op, ir::attr_names::PRECISION) {
        Some(ir::AttrValue::Word(word)) if program.text(word) != ir::attr_names::EXACT => {
            format!(", factors read as {}", program.text(word))
        }
        _ => String::new(),
    };
    // What is wrong is the library's to say; what to do about it, and of what in the text, is said here.
    let what = written(|out| error.write_named(arch, program, out));
    match error {
        PlanError::Target(op) => {
            let remedy = "choose the architecture that it names, or leave `ttg.target` out";
            here(Problem::refused(what, remedy), op, String::new())
        }
        PlanError::Wave { op, .. } => {
            let remedy = "choose an architecture with such waves, or leave `ttg.threads-per-warp` out and write the kernel's `threads`";
            here(Problem::refused(what, remedy), op, String::new())
        }
        PlanError::Threads { wave, most, .. } => {
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
        PlanError::Unsupported(op) if program.role(op).is_lanewise() => {
            here(without_instruction(tables, arch, program, op), op, String::new())
        }
        PlanError::Unsupported(op) if program.role(op) == OpRole::Broadcast => {
            let problem = Problem::refused(
                "the extents do not say along which dimension this repeats its operand",
                "write {axis = 0} to repeat it as rows, {axis = 1} as columns",
            );
            here(problem, op, String::new())
        }
        PlanError::Unsupported(op) if combines(program, op) => here(
            Problem::refused(
                format!(
                    "{} does not combine elements of {} by `{}`: it lacks an instruction for a step of it",
                    arch.name,
                    tile_types(op),
                    program.op_name(op)
                ),
                "cast the tile to f32 or i32, or through types that it has casts of",
            ),
            op,
            String::new(),
        ),
        PlanError::Unsupported(op) => here(
            Problem::refused(
                what,
                format!(
                    "`lanebook ops {} --arch {}` says what is done with it",
                    program.op_name(op),
                    arch.name
                ),
            ),
            op,
            String::new(),
        ),
        PlanError::Extents(op) if both_global(program, op) => here(
            Problem::refused(
                format!(
                    "a `{}` has a tile on one side, and this one has none",
                    program.op_name(op)
                ),
                "reserve a tile of shared memory (`alloc_tensor`) and copy into it, then from it",
            ),
            op,
            "both sides are tensors in global memory".to_string(),
        ),
        PlanError::Extents(op) => here(
            Problem::refused(
                what,
                "use two extents that are powers of two times an odd number up to 255, at most 2^20 elements together",
            ),
            op,
            operation(program, op),
        ),
        PlanError::Element(op) => here(
            Problem::refused(what, format!("use one of {}", whole_types(tables))),
            op,
            tile_types(op),
        ),
        PlanError::NotTraced { op, .. } => here(
            Problem::refused(
                what,
                "move tiles between alloc_tensor results in #smem and memref arguments in #gmem",
            ),
            op,
            String::new(),
        ),
        PlanError::NoMatrixAtom(op) => here(
            Problem::refused(
                what,
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
            format!(
                "{}{}, {} threads{}",
                tile_types(op),
                read_as(op),
                threads(program),
                why_no_unit(tables, arch, program, op).map_or(String::new(), |why| format!(
                    "; the nearest one {}",
                    why.display(tables)
                ))
            ),
        ),
        PlanError::Unscaled { op, .. } => {
            let help = format!(
                "`lanebook atoms --arch {} --class matrix --long` lists types and shapes; `lanebook arch` lists other architectures",
                arch.name
            );
            here(Problem::refused(what, help), op, tile_types(op))
        }
        PlanError::Registers { op, .. } => here(
            Problem::refused(what, "use smaller tiles or more threads"),
            op,
            format!("{}, {} threads", tile_types(op), threads(program)),
        ),
        PlanError::NoCopyAtom { op, why: Reject::NotNative }
            if program.attr(op, "mover").is_some() =>
        {
            here(not_its_mover(tables, arch, program, op), op, String::new())
        }
        PlanError::NoCopyAtom { op, why } => {
            let problem = Problem::refused(
                what,
                match why {
                    Reject::Strided { .. } | Reject::Apart { .. } => through_shared(program, op),
                    _ => reasons::remedy(why).replace("ARCH", arch.name),
                },
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
            // Where there is none, there is no nearest one.
            let nearest = if why == Reject::Absent { "" } else { "the nearest one " };
            here(problem, op, format!("{nearest}{}{cited}", why.display(tables)))
        }
        PlanError::Conflict { op, place } => {
            let (tile, label) = match place {
                Some(ConversionPlace::Before(k)) => {
                    let k = usize::from(k);
                    (named(program, program.operand(op, k), k), format!("operand {k} of this"))
                }
                _ => ("what this makes".to_string(), "here the two meet".to_string()),
            };
            let remedy = match place {
                Some(ConversionPlace::Before(_)) => format!(
                    "store {tile} into a tile in #smem before this and read what a tiled_load brings from there: a conversion between the two was tried"
                ),
                Some(ConversionPlace::Behind) => "store its result into a tile in #smem, and let those that read it load it from there".to_string(),
                None => "store the tile into one in #smem, and load it from there for one of the two uses".to_string(),
            };
            here(Problem::refused(what, remedy), op, label)
        }
        PlanError::Written { op, why: Unwritable::Unread } => here(
            Problem::refused(
                what,
                "let `Program::read_layouts` read them where the program is made, and `written::resolve_layouts` those in notations of other systems",
            ),
            op,
            String::new(),
        ),
        PlanError::Written { op, why } if program.role(op) != OpRole::Alloc => here(
            Problem::refused(
                what,
                match why {
                    Unwritable::Registers => {
                        "let more lanes and warps share the tile, or take a smaller one; or write none, and one is chosen"
                    }
                    _ => {
                        "let each bit of an element's number be one bit of a lane's, a warp's or a register's, such as `S[(8,4,2):(4@laneid,1@laneid,32@bit)]`; or write none"
                    }
                },
            ),
            op,
            program.result(op, 0).map_or_else(String::new, |v| {
                format!("{}, {} threads", tile(tables, program, v), threads(program))
            }),
        ),
        PlanError::Written { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unwritable::Extent => {
                        "leave out the swizzle or padding, or take extents that are powers of two; or write none, and one is chosen"
                    }
                    Unwritable::Offset => {
                        "leave out the offset: where the tile's memory begins is decided when it is placed; or write none, and one is chosen"
                    }
                    Unwritable::Meet | Unwritable::Interleaved => {
                        "let each distance be as great as all that is counted before it, such as `S[(64,64):(72,1)]`; or write none, and one is chosen"
                    }
                    Unwritable::Both => {
                        "leave out the swizzle or padding, or let rows follow each other without a gap; or write none, and one is chosen"
                    }
                    Unwritable::Unit => {
                        "write none, and one is chosen; or write a swizzled one that the unit's descriptors have (`lanebook compile --explain` without a layout names it)"
                    }
                    Unwritable::Rows => {
                        "write it by rows or columns, such as `<(64, 32), (32, 1), swizzle<2, 4, 3>>` or `<(64, 32), (40, 1)>`, of more dimensions row by row; or write none, and one is chosen"
                    }
                    _ => {
                        "write rows or columns at one distance, maybe swizzled or padded, such as `S[(64,64):(72,1)]`; or write none, and one is chosen"
                    }
                },
            ),
            op,
            tile_types(op),
        ),
        PlanError::Undecided(op) => {
            here(Problem::refused(what, "store it, or use it in a product"), op, String::new())
        }
        PlanError::SharedMemory { op, need, .. } => here(
            Problem::refused(what, "use smaller tiles or a narrower element type"),
            op,
            format!("this one reaches {need} B"),
        ),
        PlanError::Scratch { op, need, .. } => here(
            Problem::refused(what, format!("write `scratch = {need}`, or more")),
            op,
            tile_types(op),
        ),
        PlanError::TensorMemory { op, need, .. } => here(
            Problem::refused(what, "use a smaller tile of the product, or fewer products at once"),
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
        PlanError::TensorReach { op, .. } => {
            let memories = || {
                tables.units.tensor_memories.iter().filter(|m| arch.features.contains(&m.feature))
            };
            let lanes = memories().next().map_or(0, |m| u32::from(m.lanes_per_warp));
            here(
                Problem::refused(what, "use a multiple of as many threads as these warps have"),
                op,
                format!(
                    "its sums stand in lanes that no warp of the group reaches, {lanes} lanes a warp{}",
                    cite(tables, memories().flat_map(|m| m.sources))
                ),
            )
        }
        PlanError::GlobalReach { op, bytes } => here(
            Problem::refused(
                what,
                "cut the tile into smaller ones, each of which may begin anywhere, or pass the tensor in parts",
            ),
            op,
            format!("here is one of {bytes} bytes"),
        ),
        PlanError::Stages { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unstaged::InPlace => {
                        "leave `warp_specialize` out, or write the loop with whole tiles"
                    }
                    Unstaged::NoCopy => {
                        "let a `copy` from a memref to a tile in #smem stand in the loop's body, or leave `num_stages` out"
                    }
                    Unstaged::Bounds => {
                        "begin at 0, at an index argument without `signed`, or at `index.max %lo, 0`, and write the step as a number; a product may wrap where nothing bounds it, as the function's `grid` does a block's number; or leave `num_stages` out"
                    }
                    Unstaged::Reach | Unstaged::Sizes => "take fewer stages, or smaller steps",
                    Unstaged::Uneven => {
                        "let the subscripts be the loop's counter, sums and multiples of it, or numbers that the loop loads from global memory; or leave `num_stages` out"
                    }
                    Unstaged::Touched => {
                        "give the copy a tile of its own, and load it behind the copy in the same body; or leave `num_stages` out"
                    }
                    Unstaged::Written => "store to another tensor, or leave `num_stages` out",
                    Unstaged::Single => "give the loop `num_stages` of 2 or more",
                    Unstaged::Apart => {
                        "leave `warp_specialize` out, or write what produce_one and consume_one hold into the loop itself"
                    }
                    Unstaged::Loaded => {
                        "leave `warp_specialize` out: all warps then know what was loaded"
                    }
                    Unstaged::Threads => "take fewer threads, or leave `warp_specialize` out",
                    Unstaged::WrittenBeside => {
                        "store to another tensor, or leave `warp_specialize` out"
                    }
                    Unstaged::Boxes => {
                        "say `align = 16` and `stride_div` of the memref so that rows begin at multiples of 16 bytes, or leave `warp_specialize` out"
                    }
                    Unstaged::Waves => "take a power of two of threads, or leave `num_stages` out",
                    Unstaged::Range => "leave `threads` of the copy out, or `num_stages`",
                    Unstaged::Whole => "say where it begins: %A[0, 0]; or leave `num_stages` out",
                    Unstaged::Mover => "leave `num_stages` out, or the `mover`",
                    _ => "leave `num_stages` out",
                },
            ),
            op,
            String::new(),
        ),
        PlanError::Masked(op) => here(
            Problem::refused(
                what,
                "load a tile of shared memory whole, and select; of a memref of halves say the ends by the mask",
            ),
            op,
            String::from("here is a mask"),
        ),
        PlanError::Reshape(op) => here(
            Problem::refused(
                what,
                "store the tile to a memref and load it back under the other shape, or take a width that is a power of two",
            ),
            op,
            String::new(),
        ),
        PlanError::Sums { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unsummed::Absent => {
                        "write `mma` of tiles in registers: its sums stand where the architecture has them"
                    }
                    _ => {
                        "take 64 or 128 rows, or a multiple; `lanebook atoms --arch ARCH --class matrix` lists what there is"
                    }
                },
            ),
            op,
            tile_types(op),
        ),
        PlanError::Precision(op) => here(
            Problem::refused(what, "leave `precision` out, or convert the factors with `cast`"),
            op,
            tile_types(op),
        ),
        PlanError::Part { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unparted::Shape => "reshape the part, or the tile, in front of this",
                    Unparted::Place => {
                        "write one number for each dimension, or load the part from memory"
                    }
                    Unparted::Outside => "take fewer elements",
                    Unparted::Between => "take several smaller parts, or load the part from memory",
                    Unparted::Lanes => "store the tile to a memref and load the part from there",
                    Unparted::Long => {
                        "take several smaller parts, of a power of two of elements, or store the tile to a memref and load the part from there"
                    }
                    Unparted::Steps => {
                        "fill the tile up with what changes nothing: 0 for a sum, 1 for a product"
                    }
                    _ => "count dimensions from 0, the outermost one",
                },
            ),
            op,
            String::new(),
        ),
        PlanError::Indexed { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unindexed::Shared => "store the tile to a memref and gather from that",
                    Unindexed::Element => "convert the indices to i32",
                    Unindexed::Shape => {
                        "write an index for each row as a column that `broadcast {axis = 1}` repeats: that costs nothing"
                    }
                    Unindexed::Missing => "leave `axis` out",
                    Unindexed::Order => "write the indices first, then the mask",
                    _ => "count dimensions from 0, the outermost one",
                },
            ),
            op,
            String::new(),
        ),
        PlanError::Atomic { op, why } => here(
            Problem::refused(
                what,
                match why {
                    Unatomic::Elements => {
                        "`lanebook dispatch` lists what there is (`atomic`); convert the tile, or let each element have one block that writes it"
                    }
                    Unatomic::Compared => {
                        "write the tile that is expected there first behind the memref"
                    }
                    Unatomic::Pairs => {
                        "combine elements of 32 bits, or tiles of a memref with `align`, whose rows begin at even places and whose mask's bound is said to be even ({div = 2})"
                    }
                    Unatomic::Few => {
                        "use a tile with a multiple of as many elements as there are threads"
                    }
                    _ => "combine tiles in registers, and the result with a memref",
                },
            ),
            op,
            String::new(),
        ),
        PlanError::ProgramCapacity { op, .. } => here(
            Problem::refused(
                what,
                "split the program; one that links the library lends larger storage".to_string(),
            ),
            op,
            String::new(),
        ),
        PlanError::Capacity { pool, capacity, op } => {
            let need = needed(program, pool).len();
            let what = match need > capacity as usize {
                true => format!(
                    "the program is too large: it needs {need} {}, a plan has room for {capacity}",
                    pool.describe()
                ),
                false => what,
            };
            let remedy = match plan_parameter(pool) {
                Some(parameter) => format!(
                    "split the program, or use fewer tiles and movements; a program that links the library lends more with {parameter} of its `CompileStorage`"
                ),
                None => "split the program, or use fewer tiles and movements: the length of this list is fixed".to_string(),
            };
            let problem = Problem::refused(what, remedy);
            match op {
                Some(op) => here(
                    problem,
                    op,
                    format!("this is number {}", u64::from(capacity).saturating_add(1)),
                ),
                None => problem,
            }
        }
        _ => Problem::internal(what, "report this with the program"),
    }
}

/// A value by its name, where it has one.
fn named(program: &Program<'_, '_>, value: Option<Value>, number: usize) -> String {
    match value.map(|value| program.value_name(value)) {
        Some(name) if !name.is_empty() => format!("%{name}"),
        _ => format!("operand {number}"),
    }
}

/// How a movement whose neighbours are not side by side in memory can be written instead.
fn through_shared(program: &Program<'_, '_>, op: Op) -> String {
    let shared = |k: usize| {
        program
            .operand(op, k)
            .is_some_and(|v| program.type_of(v).space == Some(lanebook_tables::Space::Shared))
    };
    match program.role(op) {
        OpRole::Load if !shared(0) => {
            "copy the tile into one in #smem and load that; or let the dimension that is contiguous in memory be the one that its reader takes side by side"
        }
        OpRole::Store if !shared(1) => {
            "store the tile into one in #smem and copy that; or let the dimension that is contiguous in memory be the one that lies side by side in the tile"
        }
        OpRole::Load | OpRole::Store => {
            "write no layout for the tile in #smem, or one whose contiguous dimension is the other one"
        }
        _ => {
            "let the tile in #smem be contiguous along the dimension that is contiguous in the memref (write no layout, or another one)"
        }
    }
    .to_string()
}

/// The operations that each need a place in a list of a plan, as far as the program says.
fn needed(program: &Program<'_, '_>, pool: PlanPool) -> Vec<Op> {
    let Some(function) = program.functions().next() else { return Vec::new() };
    let has = |op: &Op| match pool {
        PlanPool::Allocs => program.role(*op) == OpRole::Alloc,
        PlanPool::Transfers => matches!(
            program.role(*op),
            OpRole::Copy | OpRole::Load | OpRole::Store | OpRole::Atomic
        ),
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

/// The instruction that a movement names is none of its architecture, or none for this movement.
fn not_its_mover(
    tables: &Tables<'_>,
    arch: &Arch<'_>,
    program: &Program<'_, '_>,
    op: Op,
) -> Problem {
    let name = match program.attr(op, "mover") {
        Some(ir::AttrValue::Str(text)) => program.text(text),
        _ => "",
    };
    let filter = AtomFilter { class: Some(AtomClass::Move), ..AtomFilter::ALL };
    let movers = || {
        let all = tables.list_atoms(tables.arch_named(arch.name), filter);
        all.filter_map(|(id, atom)| Some((arch.own(id)?, atom)))
    };
    let list = format!("`lanebook atoms --arch {} --class move` lists those there are", arch.name);
    let Some((own, atom)) = movers().find(|(_, atom)| atom.name() == name) else {
        let near = lanebook_suggest::nearest(name, movers().map(|(_, atom)| atom.name()))
            .map_or_else(String::new, |near| format!("did you mean `{near}`? "));
        return Problem::refused(
            format!("attribute `mover`: {} has no instruction `{name}` that moves", arch.name),
            format!("{near}{list}"),
        );
    };
    let why = match atom.movement {
        _ if !own.documented_for_arch => ": nothing says that the machine has it".to_string(),
        Some(m) => format!(": it moves from {:?} to {:?}", m.from.space, m.to.space).to_lowercase(),
        None => String::new(),
    };
    Problem::refused(
        format!("attribute `mover`: `{name}` is no instruction for this movement{why}"),
        list,
    )
}

/// Whether an operation has two operands in global memory and no result: no tile says an extent.
fn both_global(program: &Program<'_, '_>, op: Op) -> bool {
    let is_global = |k: usize| {
        program.operand(op, k).is_some_and(|v| program.type_of(v).space == Some(Space::Global))
    };
    program.role(op) == OpRole::Copy && is_global(0) && is_global(1)
}
