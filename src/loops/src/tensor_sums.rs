//! Sums that a unit leaves in tensor memory: the loads and stores that move them to and from a
//! fragment as it lies.

use crate::machine::AnchorUnit;
use crate::tell::Told;
use lanebook_infer::{BufferId, FormBase, IndexForm, Tape};
use lanebook_plan::select::tensor_product;
use lanebook_tables::{Arch, Tables};
use lanebook_tile::evaluate::TargetInfo;
use lanebook_tile::map::{BitMatrix, log2_exact};
use lanebook_tile::product::Product;

/// Sums that stand in tensor memory while a product adds to them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TensorSums {
    /// The form of the loads and stores between them and their fragment, as an index into the
    /// tables' tensor moves.
    pub form: u8,
    /// The instruction descriptor.
    pub word: u32,
}

/// Extents, element widths and threads of a product.
#[derive(Copy, Clone, Debug)]
pub struct ProductSize {
    /// log2 of the rows, columns and depth.
    pub extents: [u8; 3],
    /// Bits of the elements of A, B and the sums.
    pub bits: [u16; 3],
    /// Threads that compute it.
    pub threads: u32,
}

/// The product of an instruction that leaves its sums in tensor memory, which loads and stores of a
/// form move.
#[inline(never)]
#[must_use]
pub fn product_in_tensor<'t>(
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    unit: &AnchorUnit<'t>,
    size: &ProductSize,
    form: u8,
) -> Option<Product> {
    let isa = tables.isas.get(usize::from(arch.isa.0))?;
    let wave = log2_exact(u64::from(unit.wave()))?;
    let warps = log2_exact(u64::from(size.threads.checked_div(unit.wave())?))?;
    let target = TargetInfo { tables, arch, isa, wave, warps, as_held: false };
    let [m, n, k] = size.extents.map(|bits| 1u64.checked_shl(u32::from(bits)));
    let [a, b, c] = size.bits;
    let atom = unit.instance().atom;
    tensor_product(&target, (unit.id(), atom), (m?, n?, k?), (a, b, c), usize::from(form), None)
}

/// The form of the loads and stores that move sums between tensor memory and the registers of a
/// fragment, in their order.
#[inline(never)]
pub(crate) fn form_of<'t>(
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    told: &Told<'_>,
    sum: BufferId,
    (unit, size): (&AnchorUnit<'t>, &ProductSize),
) -> Option<u8> {
    let mut places = BitMatrix::<(u32, u32), 24>::new();
    let [m, n, _] = size.extents;
    for bit in 0..m.checked_add(n)? {
        let one = |own: bool, bit: u8| if own { 1u32.checked_shl(u32::from(bit)) } else { Some(0) };
        let row = one(bit >= n, bit.saturating_sub(n))?;
        let column = one(bit < n, bit)?;
        places.push(held_at(told, sum, [row, column])?).then_some(())?;
    }
    let forms = u8::try_from(tables.units.tensor_moves.len()).ok()?;
    (0..forms).find(|form| {
        let product = product_in_tensor((tables, arch), unit, size, *form);
        product.is_some_and(|product| lies(&product, places.as_slice(), unit.wave()))
    })
}

/// Whether a product's sums, once they are loaded, lie so: thread and local index of each bit of an
/// element's number.
#[inline(never)]
fn lies(product: &Product, places: &[(u32, u32)], wave: u32) -> bool {
    let own = &product.c;
    let at = |element: u32| {
        let bit = usize::try_from(element.checked_ilog2()?).ok()?;
        places.get(bit).copied().filter(|_| element.is_power_of_two())
    };
    let one = |bit: u32, unit: u32| unit.checked_shl(bit);
    let threads = |elements: &[u32], unit: u32| {
        let mut all = (0u32..).zip(elements);
        all.all(|(bit, e)| {
            at(*e).is_some_and(|place| Some(place.0) == one(bit, unit) && place.1 == 0)
        })
    };
    let mut registers = (0u32..).zip(own.register.as_slice());
    own.shape.grid.count() == 1
        && threads(own.lane.as_slice(), 1)
        && threads(own.warp.as_slice(), wave)
        && registers.all(|(bit, e)| {
            at(*e).is_some_and(|place| place.0 == 0 && Some(place.1) == one(bit, 1))
        })
}

/// Whether a map is a sum of bits of its coordinates.
fn is_of_bits(told: &Told<'_>, form: IndexForm) -> bool {
    let arena = &told.inference.arena;
    form.constant == 0
        && arena.terms_of(form).iter().all(|term| {
            let whole = matches!(arena.base(term.digit.base), Ok(FormBase::Var { .. }));
            let (unit, extent) = (term.digit.unit, term.digit.extent);
            whole && unit.is_power_of_two() && extent.is_power_of_two()
        })
}

/// The thread and the local index of an element of a fragment that has no copies, and whose maps
/// are sums of bits.
#[inline(never)]
fn held_at(told: &Told<'_>, id: BufferId, at: [u32; 2]) -> Option<(u32, u32)> {
    let layout = told.inference.layout(id)?;
    let arena = &told.inference.arena;
    let (thread, index) = (layout.thread, layout.index);
    let plain = layout.copies == 1 && is_of_bits(told, thread) && is_of_bits(told, index);
    if !plain || layout.vars.len() != at.len() {
        return None;
    }
    let mut tape = Tape::new(arena, &[thread, index]).ok()?;
    for (var, value) in layout.vars.iter().zip(at) {
        tape.set(var, i64::from(value));
    }
    tape.derive(arena).ok()?;
    let value = |form| u32::try_from(tape.value(arena, form).ok()?).ok();
    Some((value(thread)?, value(index)?))
}
