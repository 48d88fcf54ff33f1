//! Arena, facts, bit maps, parts; selection with a small hand-made table. Tests over the real
//! tables are in `tests/selection`.
mod engine;
mod facts;
mod select;

use crate::expr::{
    BitColumn, Combine, Expr, ExprArena, ExprError, ExprId, ExprNode, VarId, Variable, evaluate,
    from_bits, frontier, split_constant,
};
use heapless::Vec;
use lanebook_tables::IndexOp;

pub(super) const N: usize = 256;

/// Lent storage.
pub(super) struct Store {
    nodes: Vec<ExprNode, N>,
    variables: Vec<Variable, 4>,
    buckets: [ExprId; 16],
}

impl Store {
    pub(super) fn new() -> Self {
        Self { nodes: Vec::new(), variables: Vec::new(), buckets: [ExprId::NONE; 16] }
    }
    pub(super) fn arena(&mut self) -> ExprArena<'_> {
        ExprArena::new(&mut self.nodes, &mut self.variables, &mut self.buckets)
    }
}

#[test]
fn equal_nodes_are_one_and_operands_come_first() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (var, x) = arena.variable_node(Variable::word()).unwrap();
    assert_eq!(arena.var(var).unwrap(), x);
    let four = arena.constant(4).unwrap();
    let a = arena.op(IndexOp::Add, &[x, four]).unwrap();
    assert_eq!(arena.op(IndexOp::Add, &[four, x]).unwrap(), a, "constants go last");
    assert_ne!(
        arena.op(IndexOp::Shl, &[x, four]).unwrap(),
        arena.op(IndexOp::Shl, &[four, x]).unwrap()
    );
    assert_ne!(arena.constant_of(4, 64).unwrap(), four, "widths differ");
    assert_eq!(arena.get(a), Some(Expr::Op(IndexOp::Add, [x, four])));
    assert!(x < a && four < a);
    let before = arena.len();
    arena.op(IndexOp::Mul, &[a, a]).unwrap();
    arena.truncate(before);
    assert_eq!(arena.len(), before);
    assert_eq!(arena.op(IndexOp::Add, &[x, four]).unwrap(), a);
}

#[test]
fn misuse_is_an_error() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, x) = arena.variable_node(Variable::word()).unwrap();
    let (_, long) = arena.variable_node(Variable::long()).unwrap();
    assert_eq!(arena.op(IndexOp::Add, &[x]), Err(ExprError::Arity { op: IndexOp::Add, given: 1 }));
    assert_eq!(
        arena.op(IndexOp::Add, &[x, long]),
        Err(ExprError::Width { op: IndexOp::Add, argument: 1, bits: 64 })
    );
    assert_eq!(arena.op(IndexOp::Add, &[x, ExprId(99)]), Err(ExprError::UnknownNode(ExprId(99))));
    assert_eq!(arena.var(VarId(7)), Err(ExprError::UnknownVariable(VarId(7))));
    assert_eq!(arena.constant_of(0, 16), Err(ExprError::BadWidth { bits: 16 }));
    arena.declare(Variable::word()).unwrap();
    arena.declare(Variable::word()).unwrap();
    assert_eq!(arena.declare(Variable::word()), Err(ExprError::Variables { capacity: 4 }));
    assert_eq!(split_constant(&arena, ExprId(99)), Err(ExprError::UnknownNode(ExprId(99))));
    let far = arena.constant(32).unwrap();
    let shifted = arena.op(IndexOp::Shl, &[x, far]).unwrap();
    assert_eq!(evaluate(&arena, shifted, &[1, 1], &mut [0; N]), Err(ExprError::NoValue(shifted)));
    assert_eq!(
        evaluate(&arena, shifted, &[1, 1], &mut []),
        Err(ExprError::Scratch { needed: shifted.0 + 1, lent: 0 })
    );
    assert_eq!(
        evaluate(&arena, long, &[1], &mut [0; N]),
        Err(ExprError::UnknownVariable(VarId(1)))
    );
    assert_eq!(
        from_bits(&mut arena, &[BitColumn { value: x, bit: 32, column: 1 }], Combine::Xor, 0),
        Err(ExprError::Bit { bit: 32 })
    );
    assert_eq!(
        from_bits(&mut arena, &[BitColumn { value: x, bit: 0, column: 1 }; 65], Combine::Xor, 0),
        Err(ExprError::Columns { capacity: 64 })
    );
    let full = loop {
        let value = arena.len() as u32 + 1000;
        if let Err(error) = arena.constant(value) {
            break error;
        }
    };
    assert_eq!(full, ExprError::Nodes { capacity: N as u16 });
    assert!(size_of::<ExprError>() <= 40);
}

#[test]
fn bit_maps_have_the_value_of_their_columns() {
    let mut state = 1u64;
    let mut next = move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for round in 0..400 {
        let mut store = Store::new();
        let mut arena = store.arena();
        let (_, x) = arena.variable_node(Variable::word().below(128)).unwrap();
        let (_, y) = arena.variable_node(Variable::word().below(8).uniform()).unwrap();
        let combine = if round % 2 == 0 { Combine::Xor } else { Combine::Add };
        let columns: std::vec::Vec<BitColumn> = (0..7u8)
            .map(|bit| (x, bit))
            .chain((0..4).map(|bit| (y, bit)))
            .map(|(value, bit)| {
                let column = match next() % 4 {
                    0 => 0,
                    1 => 1 << (next() % 16),
                    2 => 144 << bit,
                    _ => next() & 0xffff,
                };
                BitColumn { value, bit, column }
            })
            .collect();
        let root = from_bits(&mut arena, &columns, combine, 5).unwrap();
        for _ in 0..32 {
            let given = [u64::from(next() % 128), u64::from(next() % 8)];
            let sum = columns
                .iter()
                .filter(|column| given[usize::from(column.value == y)] >> column.bit & 1 == 1)
                .fold(0u32, |sum, column| match combine {
                    Combine::Xor => sum ^ column.column,
                    Combine::Add => sum.wrapping_add(column.column),
                });
            let sum = if combine == Combine::Xor { sum ^ 5 } else { sum.wrapping_add(5) };
            assert_eq!(
                evaluate(&arena, root, &given, &mut [0; N]).unwrap(),
                u64::from(sum),
                "round {round}"
            );
        }
    }
}

#[test]
fn bit_maps_of_nothing_are_the_offset() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, x) = arena.variable_node(Variable::word().below(2)).unwrap();
    let root =
        from_bits(&mut arena, &[BitColumn { value: x, bit: 3, column: 8 }], Combine::Xor, 48)
            .unwrap();
    assert_eq!(arena.constant_value(root), Some(48));
}

#[test]
fn common_factors_become_one_product() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, lane) = arena.variable_node(Variable::word().below(16)).unwrap();
    let columns = |factor: u32| {
        [0u8, 1, 2, 3].map(|bit| BitColumn { value: lane, bit, column: factor << bit })
    };
    // Sixteen rows of 144 bytes: (lane & 15) * 144.
    let padded = from_bits(&mut arena, &columns(144), Combine::Add, 0).unwrap();
    assert!(
        matches!(arena.get(padded), Some(Expr::Op(IndexOp::Mul, [_, factor])) if arena.constant_value(factor) == Some(144))
    );
    // Sixteen rows of 128 bytes: one shift and one mask.
    let plain = from_bits(&mut arena, &columns(128), Combine::Xor, 0).unwrap();
    assert!(
        matches!(arena.get(plain), Some(Expr::Op(IndexOp::And, [_, mask])) if arena.constant_value(mask) == Some(15 << 7))
    );
}

/// Two parts far apart are one product with one mask, a shift that parts have in common is done
/// once, last; the value is that of the columns.
#[test]
fn parts_far_apart_are_copies_and_common_shifts_are_done_last() {
    let maps: [(&[u32], usize); 4] = [
        // Rows of 256 bytes, XORed into vectors of 16, and a bit that moves by one place: apart
        // from the common shift, distances 0, 3 and 7 of a value of 7 bits.
        (&[256 ^ 16, 512 ^ 32, 1024 ^ 64, 2048, 4096, 0, 128], 1),
        (&[16, 32, 64, 128 ^ 16, 256 ^ 32, 512 ^ 64, 1024], 0),
        // A copy that would overlap: 6 places apart.
        (&[1 << 4, 1 << 5 | 1 << 11, 1 << 6, 1 << 13, 0, 0, 0], 0),
        // The lower part moves right, past bits that the higher one wants.
        (&[1 << 8, 0, 0, 0, 1 << 1, 1 << 2, 0], 0),
    ];
    for (number, (columns, products)) in maps.into_iter().enumerate() {
        let mut store = Store::new();
        let mut arena = store.arena();
        let (_, x) = arena.variable_node(Variable::word().below(128)).unwrap();
        let bits: std::vec::Vec<BitColumn> = (0u8..)
            .zip(columns)
            .map(|(bit, column)| BitColumn { value: x, bit, column: *column })
            .collect();
        let root = from_bits(&mut arena, &bits, Combine::Xor, 0).unwrap();
        let made = (0..arena.len() as u16)
            .filter(|id| matches!(arena.get(ExprId(*id)), Some(Expr::Op(IndexOp::Mul, _))))
            .count();
        assert_eq!(made, products, "map {number}");
        let shifted = matches!(arena.get(root), Some(Expr::Op(IndexOp::Shl, _)));
        assert_eq!(shifted, number < 3, "map {number}");
        for given in 0..128u64 {
            let sum = (0u32..)
                .zip(columns)
                .filter(|(bit, _)| given >> bit & 1 == 1)
                .fold(0, |sum, (_, column)| sum ^ column);
            assert_eq!(evaluate(&arena, root, &[given], &mut [0; N]).unwrap(), u64::from(sum));
        }
    }
}

#[test]
fn constants_split_off_where_that_is_a_sum() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, x) = arena.variable_node(Variable::word().aligned(4)).unwrap();
    let sum = arena.op_const(IndexOp::Add, x, u64::from(u32::MAX) - 7).unwrap();
    assert_eq!(split_constant(&arena, sum), Ok((x, -8)));
    let disjoint = arena.op_const(IndexOp::Xor, x, 12).unwrap();
    assert_eq!(split_constant(&arena, disjoint), Ok((x, 12)));
    let overlapping = arena.op_const(IndexOp::Xor, x, 48).unwrap();
    assert_eq!(split_constant(&arena, overlapping), Ok((overlapping, 0)));
    assert_eq!(split_constant(&arena, x), Ok((x, 0)));
}

#[test]
fn the_frontier_is_what_a_loop_need_not_repeat() {
    let mut store = Store::new();
    let mut arena = store.arena();
    let (_, lane) = arena.variable_node(Variable::word()).unwrap();
    let (_, turn) = arena.variable_node(Variable::word().level(1)).unwrap();
    let outside = arena.op_const(IndexOp::Shl, lane, 4).unwrap();
    let inside = arena.op_const(IndexOp::Shl, turn, 7).unwrap();
    let root = arena.op(IndexOp::Add, &[outside, inside]).unwrap();
    let mut found = std::vec::Vec::new();
    frontier(&arena, root, 0, &mut [false; N], |id| found.push(id)).unwrap();
    assert_eq!(found, [outside]);
    let mut found = std::vec::Vec::new();
    frontier(&arena, root, 1, &mut [false; N], |id| found.push(id)).unwrap();
    assert_eq!(found, [root]);
    assert_eq!(
        frontier(&arena, root, 1, &mut [], |_| {}),
        Err(ExprError::Scratch { needed: root.0 + 1, lent: 0 })
    );
}
