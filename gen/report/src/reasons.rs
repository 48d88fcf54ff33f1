//! Why a candidate lost, in sentences.
use lanebook::plan::Reject;
use lanebook::unit::map::MapRule;
use lanebook_tables::Tables;

/// The reason with its figures.
pub fn sentence(tables: &Tables<'_>, why: Reject) -> String {
    match why {
        Reject::Lanes { atom, wave } => format!("serves {} lanes, the wave has {}", 1u32 << atom, 1u32 << wave),
        Reject::Share { atom_bits, tile_bits } if atom_bits < tile_bits => format!("moves {atom_bits} bits a lane, an element has {tile_bits}"),
        Reject::Share { atom_bits, .. } => format!("moves {atom_bits} bits a lane, more than a lane's part of the tile"),
        Reject::Apart { atom_bytes, tile_bytes } => format!("takes neighbours {atom_bytes} B apart, in memory they are {tile_bytes} B apart"),
        Reject::Strided { atom_bytes } => format!("takes neighbours {atom_bytes} B apart, in memory they are a run-time stride apart"),
        Reject::Alignment { need, have } => format!("needs addresses aligned to {need} B, {have} B are certain"),
        Reject::Packing { atom_bits } => format!("fills {atom_bits} bits of a register whose other bits belong to other elements of the tile"),
        Reject::Registers { registers, most } => format!("needs {registers} registers a lane for one tile, {most} is the most"),
        Reject::RegisterOrder => "fills consecutive registers, the tile's are in another order".into(),
        Reject::Run { byte } => format!("writes one consecutive run for the wave, the shared layout breaks it at byte {byte}"),
        Reject::Element { element_bits } => format!("splits elements of {element_bits} bits"),
        Reject::Copies => "would write the same bytes from several lanes at once".into(),
        Reject::Unguarded => "cannot be kept to what lies inside of the tensor's bounds".into(),
        Reject::Bounds { share, whole } => format!("moves {share} B a lane, of which a part may lie outside of the tensor's bounds: {whole} B lie on one side of them"),
        Reject::NotNative => "is no machine instruction here, the assembler would expand it".into(),
        Reject::Tensor { rule: MapRule::Limit, found, .. } => limited(tables, found),
        Reject::Tensor { rule, found, needed } => tensor(rule, found, needed),
        Reject::Order { limit, columns } => order(tables, limit, columns),
        Reject::Descriptor => "a matrix unit reads this tile, and no descriptor of it describes such a layout".into(),
        Reject::Reach { warps, needed } => {
            format!("leaves its sums in lanes of tensor memory that {needed} warps reach together, each a part by its number; the group has {warps}")
        }
        Reject::Columns { need, have } => format!("needs {need} columns of tensor memory, a block has {have}"),
        Reject::Room { bytes, most } => {
            format!("takes {bytes} B of shared memory, {most} B is the most for this tile if all that live at the same time are to fit")
        }
        Reject::Form => "addresses memory in a way that this movement cannot use".into(),
        Reject::Size => "is beyond the planner's limits for this tile".into(),
        Reject::Tangled => "would move elements of one register, or a lane's copies of them, different ways in different lanes".into(),
        Reject::Warps => "would move elements out of their warp".into(),
        Reject::Exchange { lanes } => format!("needs movements between lanes whose numbers differ in the bits of {lanes:#x}, which no instruction makes"),
        Reject::Dearer => "costs more than the pick".into(),
        other => format!("{other:?}"),
    }
}

/// The limit of orders that is broken, with its source.
fn order(tables: &Tables<'_>, limit: u16, columns: u16) -> String {
    let Some(limit) = tables.units.order_limits.get(usize::from(limit)) else {
        return "is in an order that the product does not take".into();
    };
    let steps =
        |s: &lanebook_tables::Steps| format!("from {} to {} in steps of {}", s.low, s.high, s.step);
    let taken = limit.n.iter().map(steps).collect::<Vec<_>>().join(" or ");
    let taken = if taken.is_empty() {
        "no number of columns".to_string()
    } else {
        format!("columns {taken}")
    };
    format!(
        "is an order that products of {columns} columns do not take: rule `{}` allows {taken} ({})",
        limit.name,
        cited(tables, limit.sources)
    )
}

/// The limit of tiled copies that is broken, with its source.
fn limited(tables: &Tables<'_>, limit: u32) -> String {
    let Some(limit) = tables.units.map_limits.get(limit as usize) else {
        return "is a form that tiled copies do not take".into();
    };
    format!(
        "needs elements and a swizzle that tiled copies take together here: rule `{}` ({})",
        limit.name,
        cited(tables, limit.sources)
    )
}

fn cited(tables: &Tables<'_>, sources: &[lanebook_tables::SourceId]) -> String {
    sources
        .iter()
        .filter_map(|id| tables.sources.get(id.index()))
        .map(|source| source.key)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The rule of tensor maps that is broken.
fn tensor(rule: MapRule, found: u32, needed: u32) -> String {
    match rule {
        MapRule::Base => {
            format!("needs a tensor aligned to {needed} B, {found} B are certain (rule Base)")
        }
        MapRule::StrideMultiple => format!(
            "needs an outer stride that is a multiple of {needed} B, {found} B are certain (rule StrideMultiple)"
        ),
        MapRule::Contiguous => format!(
            "needs a tile whose innermost neighbours are {needed} B apart, they are {found} B apart (rule Contiguous)"
        ),
        MapRule::BoxBytes => format!(
            "needs rows of a multiple of {needed} B, the tile has {found} B side by side (rule BoxBytes)"
        ),
        MapRule::BoxSpan => format!(
            "needs rows of {needed} B, as long as the swizzle's, the tile has {found} B side by side (rule BoxSpan)"
        ),
        MapRule::Shared => format!(
            "needs boxes that start at a multiple of {needed} B in shared memory, one would at {found} B (rule Shared)"
        ),
        MapRule::Dense => "needs rows that follow each other without padding (rule Dense)".into(),
        MapRule::SwizzleEncoding => {
            "needs one of the map's swizzle modes (rule SwizzleEncoding)".into()
        }
        other => format!("breaks the rule {other:?} of tensor maps: {found}, {needed} wanted"),
    }
}

/// What one may do about it, where a program caused it.
pub fn remedy(why: Reject) -> &'static str {
    match why {
        Reject::Alignment { .. } => {
            "promise more: {align = BYTES, stride_div = ELEMENTS} on the memref, {div = N} on an index, if it is true"
        }
        Reject::Bounds { .. } => {
            "promise more: {div = N} on the index arguments that the bounds and the place are, if it is true"
        }
        Reject::Unguarded => {
            "let another instruction move it (no `mover`), or leave out the bounds where all that tiles reach is there"
        }
        Reject::Tensor { rule: MapRule::Base | MapRule::StrideMultiple, .. } => {
            "promise more: {align = BYTES, stride_div = ELEMENTS} on the memref, if it is true"
        }
        Reject::Tensor { .. } => {
            "write no layout for the tile, or one that a tensor map can describe; or let another instruction move it (no `mover`)"
        }
        Reject::Share { .. } | Reject::Copies => "use a larger tile or fewer threads",
        Reject::Element { .. } | Reject::Packing { .. } => {
            "use an element type that the architecture moves: `lanebook atoms --arch ARCH --class move`"
        }
        Reject::Lanes { .. } => "use another number of threads",
        _ => "`lanebook atoms --arch ARCH --class move` lists what there is",
    }
}
