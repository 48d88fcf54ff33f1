//! What one may do about the reason for which a candidate lost; the reason itself says what it is
//! ([`Reject::display`]).
use lanebook::plan::Reject;
use lanebook::unit::map::MapRule;

/// What one may do about it, where a program caused it.
pub fn remedy(why: Reject) -> &'static str {
    match why {
        Reject::Alignment { .. } => {
            "promise more: {align = BYTES, stride_div = ELEMENTS} on the memref, {div = N} on an index, if it is true"
        }
        Reject::Bounds { .. } => {
            "promise more: {div = N} on the index arguments that the bounds and the place are, if it is true; of single elements that are combined, use those of 32 bits"
        }
        Reject::Unguarded => {
            "let another instruction move it (no `mover`), or leave out the bounds where all that tiles reach is there"
        }
        Reject::Tensor { rule: MapRule::Base | MapRule::StrideMultiple, .. } => {
            "promise more: {align = BYTES, stride_div = ELEMENTS} on the memref, if it is true"
        }
        Reject::Tensor { rule: MapRule::Corner, .. } => {
            "promise more: {div = N} on the index that says in which column the tile begins, if it is true"
        }
        Reject::Tensor { rule: MapRule::Edge, .. } => {
            "promise more: {div = N} on the index argument that bounds the rows, if it is true"
        }
        Reject::Tensor { .. } => {
            "write no layout for the tile, or one that a tensor map can describe; or let another instruction move it (no `mover`)"
        }
        Reject::Addresses { .. } => {
            "use more threads or a smaller tile, or write the memref's extents, so that rows lie a known stride apart"
        }
        Reject::Share { .. } | Reject::Copies => "use a larger tile or fewer threads",
        Reject::Packing { .. } | Reject::Alone { .. } => {
            "take extents that are powers of two, so that the elements of a register lie side by side in one lane, or elements in memory that fill a register"
        }
        Reject::Element { .. } => {
            "use an element type that the architecture moves: `lanebook atoms --arch ARCH --class move`"
        }
        Reject::Lanes { .. } => "use another number of threads",
        _ => "`lanebook atoms --arch ARCH --class move` lists what there is",
    }
}
