//! Random terms with a seed.
use lanebook::expr::{ExprArena, ExprError, ExprId, Variable};
use lanebook_tables::IndexOp;

/// A small generator (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    /// Below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.bits() % limit
    }
    /// One of a list.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u64) as usize]
    }
    /// A constant of a kind that addresses have.
    pub fn constant(&mut self) -> u32 {
        match self.below(6) {
            0 => self.below(64) as u32,
            1 => 1 << self.below(32),
            2 => ((1u64 << (1 + self.below(12))) - 1) as u32,
            3 => (((1u64 << (1 + self.below(8))) - 1) << self.below(24)) as u32,
            4 => 0u32.wrapping_sub(self.below(64) as u32),
            _ => self.bits() as u32,
        }
    }
}

/// What variables a term may use: three 32-bit ones with known bits, one unknown, one uniform, one
/// 64-bit address.
pub const VARIABLES: [Variable; 6] = [
    Variable::word().below(64),
    Variable::word().below(8).level(1),
    Variable::word().zeros(0xff),
    Variable::word(),
    Variable::word().uniform(),
    Variable::long().uniform(),
];

/// Values within the facts of [`VARIABLES`].
pub fn values(random: &mut Random) -> Vec<u64> {
    let word = |random: &mut Random| match random.below(3) {
        0 => random.below(256),
        1 => u64::from(u32::MAX) - random.below(16),
        _ => random.bits() & 0xffff_ffff,
    };
    vec![
        random.below(64),
        random.below(8),
        word(random) & !0xff,
        word(random),
        word(random),
        random.bits(),
    ]
}

/// A random term of `size` words; `wide` terms have 64 bits.
pub fn term(
    arena: &mut ExprArena<'_>,
    random: &mut Random,
    leaves: &[ExprId],
    size: u32,
    wide: bool,
) -> Result<ExprId, ExprError> {
    let mut pool: Vec<ExprId> = leaves[..5].to_vec();
    let narrow = [
        IndexOp::Add,
        IndexOp::Sub,
        IndexOp::Mul,
        IndexOp::And,
        IndexOp::Or,
        IndexOp::Xor,
        IndexOp::Shl,
        IndexOp::Shr,
    ];
    for _ in 0..size {
        let op = random.pick(&narrow);
        let a = random.pick(&pool);
        let b = match op {
            IndexOp::Shl | IndexOp::Shr => arena.constant(random.below(32) as u32)?,
            _ if random.below(2) == 0 => {
                let value = random.constant();
                arena.constant(value)?
            }
            _ => random.pick(&pool),
        };
        let swap = random.below(8) == 0 && !matches!(op, IndexOp::Shl | IndexOp::Shr);
        pool.push(if swap { arena.op(op, &[b, a])? } else { arena.op(op, &[a, b])? });
    }
    let last = *pool.last().expect("leaves exist");
    if !wide {
        return Ok(last);
    }
    let mut wide = match random.below(2) {
        0 => arena.op(IndexOp::Extend64, &[last])?,
        _ => {
            let factor = u64::from(random.constant());
            arena.op_const(IndexOp::MulWide64, last, factor)?
        }
    };
    if random.below(2) == 0 {
        wide = arena.op_const(IndexOp::Shl64, wide, random.below(5))?;
    }
    if random.below(2) == 0 {
        wide = arena.op_const(IndexOp::Add64, wide, random.below(4096))?;
    }
    arena.op(IndexOp::Add64, &[leaves[5], wide])
}
