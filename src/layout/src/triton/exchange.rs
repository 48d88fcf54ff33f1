//! How far data must move when a tensor in registers changes its layout.

use crate::axis::AxisId;
use crate::linear::{Hw, Linear, Logical, MAX_BITS, Span};

/// The smallest group of threads that the exchange stays in.
///
/// ```
/// # use lanebook_layout::notation::ttg;
/// # use lanebook_layout::triton::exchange::{ExchangeScope, crossings, renames_alike, scope};
/// # use lanebook_layout::triton::{NoTiles, to_linear};
/// let of = |threads: &str, order: &str| {
///     let text = format!(
///         "#ttg.blocked<{{sizePerThread = [1, 1], threadsPerWarp = {threads}, warpsPerCTA = [1, 1], order = {order}}}>"
///     );
///     to_linear(&ttg::parse(&text).unwrap(), &[8, 8], &NoTiles).unwrap()
/// };
/// let (rows, columns) = (of("[8, 4]", "[1, 0]"), of("[4, 8]", "[1, 0]"));
/// assert_eq!(scope(&rows, &rows), ExchangeScope::Thread);
/// assert_eq!(scope(&rows, &columns), ExchangeScope::Warp);
/// // One bit moves between registers and lanes: one round of shuffles.
/// assert_eq!((crossings(&rows, &columns), renames_alike(&rows, &rows)), (1, true));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExchangeScope {
    /// Every thread has what it needs: registers are renamed, or chosen among by the thread's
    /// number.
    Thread,
    /// Threads of one warp exchange.
    Warp,
    /// Warps exchange, or blocks.
    Block,
}

/// The inputs of a register layout, from the thread outwards.
const INPUTS: [AxisId; 4] = [AxisId::REGISTER, AxisId::LANE, AxisId::WARP, AxisId::BLOCK];

/// The scope of the exchange from `from` to `to`, which cover the same tensor: the smallest for
/// which each place of `to` finds its element in a place of `from` of the same thread, of the same
/// warp, or anywhere.
///
/// For GF(2)-linear layouts this is exact: a place that differs in inner dimensions alone exists
/// iff the difference of the columns of each outer bit lies in the span of `from`'s inner columns.
#[must_use]
pub fn scope(from: &Linear<Hw, Logical>, to: &Linear<Hw, Logical>) -> ExchangeScope {
    for (inner, scope) in [(1usize, ExchangeScope::Thread), (2, ExchangeScope::Warp)] {
        let mut columns = [0u64; MAX_BITS];
        let mut slots = columns.iter_mut();
        for input in INPUTS.iter().take(inner) {
            for bit in 0..from.ins().bits_of(*input) {
                if let Some(slot) = slots.next() {
                    *slot = from.column(*input, bit).unwrap_or(0);
                }
            }
        }
        let reach = Span::of(&columns);
        let stays = INPUTS.iter().enumerate().all(|(k, input)| {
            let bits = from.ins().bits_of(*input).max(to.ins().bits_of(*input));
            (0..bits).all(|bit| {
                let wanted = to.column(*input, bit).unwrap_or(0);
                let here = if k < inner { 0 } else { from.column(*input, bit).unwrap_or(0) };
                // A place of `to` that `from` does not have is a copy, which any thread of the
                // group may fill.
                reach.solve(wanted ^ here).is_some()
            })
        });
        if stays {
            return scope;
        }
    }
    ExchangeScope::Block
}

/// Whether, beyond [`ExchangeScope::Thread`], all threads rename their registers alike: lanes, warps and
/// blocks hold the same places in both layouts. If not, a thread selects among its registers by its
/// number.
#[must_use]
pub fn renames_alike(from: &Linear<Hw, Logical>, to: &Linear<Hw, Logical>) -> bool {
    INPUTS.iter().skip(1).all(|input| {
        let bits = from.ins().bits_of(*input).max(to.ins().bits_of(*input));
        (0..bits)
            .all(|bit| from.column(*input, bit).unwrap_or(0) == to.column(*input, bit).unwrap_or(0))
    })
}

/// How many bits registers and threads must exchange for data to get from one layout to the other:
/// the independent directions that lanes, warps and blocks of `to` number and those of `from` do
/// not. Within [`ExchangeScope::Warp`] each costs a round of shuffles; 0 says that threads only permute.
#[must_use]
pub fn crossings(from: &Linear<Hw, Logical>, to: &Linear<Hw, Logical>) -> u8 {
    let mut columns = [0u64; MAX_BITS];
    let mut slots = columns.iter_mut();
    for input in INPUTS.iter().skip(1) {
        for bit in 0..from.ins().bits_of(*input) {
            if let Some(slot) = slots.next() {
                *slot = from.column(*input, bit).unwrap_or(0);
            }
        }
    }
    let own = Span::of(&columns);
    // What is left of `to` once the threads of `from` are taken out.
    let mut rest = [0u64; MAX_BITS];
    let mut slots = rest.iter_mut();
    for input in INPUTS.iter().skip(1) {
        for bit in 0..to.ins().bits_of(*input) {
            if let Some(slot) = slots.next() {
                *slot = own.remainder(to.column(*input, bit).unwrap_or(0));
            }
        }
    }
    Span::of(&rest).rank()
}
