//! Products that a group of warps computes together, and whose unit reads operands from shared
//! memory by itself: which instruction, and which layouts its descriptors say.

use crate::machine::{AnchorUnit, group_unit, sums_in_tensor_memory};
use crate::operators::{AnchoredProduct, WarpProduct, anchored_product};
use crate::tell::{Fact, Told};
use crate::tensor_sums::{self, ProductSize, TensorSums};
use crate::tensor_unit;
use lanebook_infer::{BufferId, FormError, MemoryScope};
use lanebook_ir::{Op, Program, attr_names};
use lanebook_layout::PostMap;
use lanebook_tables::{Arch, Major, OpRole, Tables};
use lanebook_tile::map::{SharedLayout, TileShape, log2_exact};
use lanebook_tile::unit::shared_tile::{self, TileReader};
use lanebook_tile::unit::tensor;

/// More than the fragments whose sums tensor memory has columns for.
const SUMS: usize = 32;

/// Most blocks of rows of a warp whose factors are held at once.
const ROWS: u32 = 32;

/// An operand that the unit reads from shared memory.
#[derive(Copy, Clone, Debug)]
pub struct UnitOperand {
    /// Its buffer, which is all of its storage.
    pub buffer: BufferId,
    /// Rows and columns as they lie.
    pub shape: TileShape,
    /// How they lie.
    pub layout: SharedLayout,
    /// They are the operand's columns and rows.
    pub transposed: bool,
    /// The descriptor of one at address 0.
    pub word: u64,
    /// Whether the outer coordinate is contiguous.
    pub outer_major: bool,
}

/// A product of a group of warps.
#[derive(Copy, Clone, Debug)]
pub struct UnitProduct<'t> {
    /// What has laid the sums, and the left factor in registers.
    pub anchor: WarpProduct<'t>,
    /// The instruction, whose sums are several of those next to each other.
    pub unit: AnchorUnit<'t>,
    /// log2 of a warp's instances along rows, columns and depth.
    pub blocks: [u8; 3],
    /// log2 of the rows, columns and depth.
    pub extents: [u8; 3],
    /// Left and right operand in shared memory.
    pub operands: [Option<UnitOperand>; 2],
    /// How the sums come from tensor memory to their fragment, where the unit leaves them there.
    pub tensor: Option<TensorSums>,
}

/// A product that its unit could compute so, whatever the layouts.
struct UnitCandidate<'t> {
    product: AnchoredProduct<'t>,
    unit: AnchorUnit<'t>,
    blocks: [u8; 3],
    extents: [u8; 3],
}

impl UnitProduct<'_> {
    /// Extents, element widths and threads.
    #[must_use]
    pub fn size(&self, program: &Program<'_, '_>, op: Op) -> Option<ProductSize> {
        let (along, across) = self.anchor.warps;
        let threads = along.checked_mul(across)?.checked_mul(self.unit.wave())?;
        size_of(program, op, self.extents, threads)
    }
}

/// Extents, element widths and threads of a product.
fn size_of(
    program: &Program<'_, '_>,
    op: Op,
    extents: [u8; 3],
    threads: u32,
) -> Option<ProductSize> {
    let bits = |number: usize| {
        let dtype = program.type_of(program.operand(op, number)?).dtype;
        dtype.and_then(|id| program.tables().dtype(id)).map(|dtype| dtype.held)
    };
    Some(ProductSize { extents, bits: [bits(0)?, bits(1)?, bits(2)?], threads })
}

/// log2 of how often a part fits.
fn parts(extent: u32, part: u32) -> Option<u8> {
    let many = extent.checked_div(part)?;
    log2_exact(u64::from(many)).filter(|_| many.checked_mul(part) == Some(extent))
}

/// The buffer of an operand.
fn buffer_at(
    told: &Told<'_>,
    program: &Program<'_, '_>,
    op: Op,
    number: usize,
) -> Option<BufferId> {
    match told.fact(program.operand(op, number)?) {
        Fact::Buffer(id) => Some(id),
        _ => None,
    }
}

impl<'t> UnitCandidate<'t> {
    #[inline(never)] // What is looked at for it leaves the stack.
    fn of(
        program: &Program<'_, '_>,
        (tables, arch): (&'t Tables<'t>, &Arch<'t>),
        told: &Told<'_>,
        op: Op,
    ) -> Option<Self> {
        if program.role(op) != OpRole::ProductInto {
            return None;
        }
        let product = anchored_product(program, tables, arch, told, op)?;
        if let Some(unit) = product.in_tensor {
            return Self::in_tensor(product, unit);
        }
        let together = product.together;
        if together <= 1 || product.anchor.transposed() {
            return None;
        }
        let mut in_shared = [false; 2];
        for (number, shared) in in_shared.iter_mut().enumerate() {
            *shared = is_shared(told, buffer_at(told, program, op, number)?)?;
        }
        let (along, across) = product.warps;
        let ((m, n), k) = (product.request.extents, product.depth);
        let rows = m.checked_div(along.checked_div(together)?)?;
        let columns = n.checked_div(across)?;
        let anchor = &product.anchor;
        let unit = group_unit((tables, arch), (anchor, &product.request), (columns, k), in_shared)?;
        let shape = unit.instance().shape()?;
        let (rows, columns) =
            (parts(rows, u32::from(shape.m))?, parts(columns, u32::from(shape.n))?);
        let blocks = [rows, columns, parts(k, u32::from(shape.k))?];
        let extent = |extent: u32| log2_exact(u64::from(extent));
        let extents = [extent(m)?, extent(n)?, extent(k)?];
        let fits = 1u32.checked_shl(u32::from(rows))? <= ROWS;
        fits.then_some(Self { product, unit, blocks, extents })
    }

    /// That of sums in tensor memory.
    fn in_tensor(product: AnchoredProduct<'t>, unit: AnchorUnit<'t>) -> Option<Self> {
        let shape = unit.instance().shape()?;
        let ((m, n), k) = (product.request.extents, product.depth);
        let (rows, columns) = (parts(m, u32::from(shape.m))?, parts(n, u32::from(shape.n))?);
        let blocks = [rows, columns, parts(k, u32::from(shape.k))?];
        let extent = |extent: u32| log2_exact(u64::from(extent));
        let extents = [extent(m)?, extent(n)?, extent(k)?];
        Some(Self { product, unit, blocks, extents })
    }

    /// How the unit reads an operand, and the shape of its tile; `None` where that is no tile in
    /// shared memory.
    fn reader(
        &self,
        told: &Told<'_>,
        program: &Program<'_, '_>,
        op: Op,
        number: usize,
    ) -> Option<(TileReader<'t>, TileShape)> {
        let id = buffer_at(told, program, op, number)?;
        let own = told.inference.buffer_of(id).ok()?;
        if own.scope != MemoryScope::Shared || own.storage != id {
            return None;
        }
        let mut extents = own.dims.iter().map(|dim| told.inference.arena.extent(dim).ok());
        let (rows, columns) = (extents.next()??, extents.next()??);
        let bits = u16::try_from(own.bits).ok().filter(|bits| *bits >= 8)?;
        let shape = TileShape::new(u64::from(rows), u64::from(columns), bits)?;
        let instance = self.unit.instance();
        let own = instance.shape()?;
        let (operand, outer) = if number == 0 { (own.a, own.m) } else { (own.b, own.n) };
        let how = instance.atom.shared(operand)?;
        let key = if number == 0 { attr_names::TRANSPOSE_A } else { attr_names::TRANSPOSE_B };
        let reader = TileReader {
            descriptor: how.descriptor,
            is_a: number == 0,
            transposed: program.has_attr(op, key),
            block: (log2_exact(u64::from(outer))?, log2_exact(u64::from(own.k))?),
            either: how.along.is_some() || instance.atom.tensor().is_some(),
        };
        (shape.grid.count() == 1).then_some((reader, shape))
    }

    /// An operand as its buffer lies; `None` where that is no tile in shared memory, or lies as no
    /// descriptor says.
    fn operand(
        &self,
        told: &Told<'_>,
        program: &Program<'_, '_>,
        (tables, arch): (&Tables<'_>, &Arch<'_>),
        (op, number): (Op, usize),
    ) -> Option<UnitOperand> {
        let buffer = buffer_at(told, program, op, number)?;
        let (reader, shape) = self.reader(told, program, op, number)?;
        let layout = layout_of(told, buffer, shape)?;
        let (word, outer_major) = shared_tile::word(tables, arch, &reader, &layout, shape)?;
        let transposed = reader.transposed;
        if let Some(own) = self.unit.instance().atom.tensor() {
            let major = if outer_major { Major::Outer } else { Major::Depth };
            let dtype = program.type_of(program.operand(op, number)?).dtype;
            let dtype = dtype.and_then(|id| tables.dtype(id)).map_or("", |dtype| dtype.name);
            let side = (u8::try_from(number).ok()?, dtype, major);
            let columns = self.unit.instance().shape()?.n;
            tensor::takes_order(tables, arch, (own.descriptor, 1), side, columns).ok()?;
        }
        Some(UnitOperand { buffer, shape, layout, transposed, word, outer_major })
    }
}

/// Whether an operand lies in shared memory.
fn is_shared(told: &Told<'_>, buffer: BufferId) -> Option<bool> {
    Some(told.inference.buffer_of(buffer).ok()?.scope == MemoryScope::Shared)
}

/// How a shared buffer of rows and columns lies.
fn layout_of(told: &Told<'_>, id: BufferId, shape: TileShape) -> Option<SharedLayout> {
    if told.inference.padding(id).is_some() || told.inference.places(id).is_some() {
        return None;
    }
    let post = told.inference.swizzle(id).map_or(PostMap::None, PostMap::Swizzle);
    let column_block = match told.inference.strips(id) {
        None => None,
        Some(bytes) => {
            let elements = bytes.checked_div(u32::from(shape.bits / 8))?;
            Some(log2_exact(u64::from(elements))?)
        }
    };
    Some(SharedLayout { column_block, post, ..SharedLayout::BY_ROWS })
}

/// The product that a group of warps computes, whose unit reads what lies in shared memory by
/// itself; `None` where no unit does, or a layout is none that its descriptors say.
#[inline(never)] // What is looked at for it leaves the stack.
#[must_use]
pub fn unit_product<'t>(
    program: &Program<'_, '_>,
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    told: &Told<'_>,
    op: Op,
) -> Option<UnitProduct<'t>> {
    let own = UnitCandidate::of(program, (tables, arch), told, op)?;
    let mut operands = [None; 2];
    for (number, operand) in operands.iter_mut().enumerate() {
        if is_shared(told, buffer_at(told, program, op, number)?)? {
            *operand = Some(own.operand(told, program, (tables, arch), (op, number))?);
        }
    }
    let tensor = match own.product.in_tensor {
        Some(_) => Some(own.sums(program, (tables, arch), told, (op, &operands)).ok()?),
        None => None,
    };
    let UnitCandidate { product, unit, blocks, extents } = own;
    Some(UnitProduct { anchor: product.laid(), unit, blocks, extents, operands, tensor })
}

/// Whether tensor memory has room for the sums of a product, and of those before it in the text that
/// it has room for.
#[inline(never)] // What is looked at for it leaves the stack.
fn has_room(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    told: &Told<'_>,
    op: Op,
) -> bool {
    let Ok(memory) = tensor::memory(tables, arch) else { return false };
    let mut taken = 0u32;
    // Products that add to one fragment have the same columns.
    let mut known: heapless::Vec<BufferId, SUMS> = heapless::Vec::new();
    for other in program.inside(told.function()) {
        if program.role(other) != OpRole::ProductInto {
            continue;
        }
        let sums = buffer_at(told, program, other, 2);
        let sums = sums.and_then(|id| Some(told.inference.buffer_of(id).ok()?.storage));
        let wants = anchored_product(program, tables, arch, told, other)
            .and_then(|own| tensor_unit::columns(&own.in_tensor?, &own.request))
            .map(|columns| if sums.is_some_and(|id| known.contains(&id)) { 0 } else { columns })
            .and_then(|columns| taken.checked_add(columns))
            .filter(|all| tensor::allocation(memory, *all).is_ok());
        if let (Some(all), Some(id)) = (wants, sums) {
            taken = all;
            let fits = known.contains(&id) || known.push(id).is_ok();
            if !fits {
                return false;
            }
        }
        if other == op {
            return wants.is_some();
        }
    }
    false
}

impl<'t> UnitCandidate<'t> {
    /// How the sums come from tensor memory to their fragment.
    #[inline(never)] // What is looked at for it leaves the stack.
    fn sums(
        &self,
        program: &Program<'_, '_>,
        (tables, arch): (&'t Tables<'t>, &Arch<'t>),
        told: &Told<'_>,
        (op, operands): (Op, &[Option<UnitOperand>; 2]),
    ) -> Result<TensorSums, UnitRefusal> {
        let wrong = UnitRefusal::Instruction;
        if !has_room(program, (tables, arch), told, op) {
            return Err(UnitRefusal::TensorMemory);
        }
        let sum = buffer_at(told, program, op, 2).ok_or(wrong)?;
        let size = size_of(program, op, self.extents, self.product.request.threads);
        let size = size.ok_or(wrong)?;
        let form = tensor_sums::form_of((tables, arch), told, sum, (&self.unit, &size));
        let form = form.ok_or(UnitRefusal::Sums(sum))?;
        let instance = self.unit.instance();
        let (shape, own) = (instance.shape().ok_or(wrong)?, instance.atom.tensor().ok_or(wrong)?);
        let name = |number: usize| {
            let dtype = program.operand(op, number).and_then(|value| program.type_of(value).dtype);
            dtype.and_then(|id| tables.dtype(id)).map_or("", |dtype| dtype.name)
        };
        let major = |operand: &Option<UnitOperand>| match operand {
            Some(own) if own.outer_major => Major::Outer,
            _ => Major::Depth,
        };
        let asked = tensor::Instruction {
            descriptor: own.descriptor,
            blocks: 1,
            rows: shape.m,
            columns: shape.n,
            types: [name(0), name(1), name(2)],
            majors: operands.each_ref().map(major),
        };
        let word = tensor::instruction(tables, arch, &asked).map_err(|_| wrong)?;
        Ok(TensorSums { form, word })
    }
}

/// Why single warps compute a product of an architecture whose unit could take it from shared
/// memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum UnitRefusal {
    /// The sums of the products before it leave too little of tensor memory.
    TensorMemory,
    /// Warps do not load the sums of a fragment from tensor memory as it lies.
    Sums(BufferId),
    /// No instruction of a group of warps takes its operands where they are, or its extents.
    Instruction,
    /// A shared buffer lies as no descriptor says.
    Layout(BufferId),
}

/// Why [`unit_product`] finds none; `None` where it does, or the architecture has no such unit for
/// it.
#[inline(never)] // What is looked at for it leaves the stack.
pub(crate) fn unit_refusal(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    told: &Told<'_>,
    op: Op,
) -> Option<UnitRefusal> {
    if program.role(op) != OpRole::ProductInto || program.has_attr(op, attr_names::THREADS) {
        return None;
    }
    let product = anchored_product(program, tables, arch, told, op)?;
    if product.together <= 1 && !sums_in_tensor_memory(tables, arch, &product.request) {
        return None;
    }
    let Some(own) = UnitCandidate::of(program, (tables, arch), told, op) else {
        return Some(UnitRefusal::Instruction);
    };
    let mut operands = [None; 2];
    for (number, operand) in operands.iter_mut().enumerate() {
        let buffer = buffer_at(told, program, op, number)?;
        if is_shared(told, buffer)? {
            *operand = own.operand(told, program, (tables, arch), (op, number));
            if operand.is_none() {
                return Some(UnitRefusal::Layout(buffer));
            }
        }
    }
    own.product.in_tensor?;
    own.sums(program, (tables, arch), told, (op, &operands)).err()
}

/// What has laid the sums of [`unit_product`], and its left factor in registers.
#[inline(never)] // What is looked at for it leaves the stack.
#[must_use]
pub fn unit_anchor<'t>(
    program: &Program<'_, '_>,
    (tables, arch): (&'t Tables<'t>, &Arch<'t>),
    told: &Told<'_>,
    op: Op,
) -> Option<WarpProduct<'t>> {
    anchored_product(program, tables, arch, told, op).map(|own| own.laid())
}

/// The products that read a storage.
fn readers<'p>(
    program: &'p Program<'_, '_>,
    told: &'p Told<'_>,
    id: BufferId,
) -> impl Iterator<Item = (Op, usize)> + 'p {
    let own = move |op: Op, number: usize| {
        let buffer = buffer_at(told, program, op, number);
        let buffer = buffer.and_then(|id| told.inference.buffer_of(id).ok());
        buffer.is_some_and(|own| own.scope == MemoryScope::Shared && own.storage == id)
    };
    let products = program.inside(told.function());
    let products = products.filter(|op| program.role(*op) == OpRole::ProductInto);
    products.flat_map(|op| [(op, 0), (op, 1)]).filter(move |(op, number)| own(*op, *number))
}

/// A layout of a storage that all products that read it take by themselves: widest spans first.
#[inline(never)] // What is looked at for it leaves the stack.
fn wanted_layout(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    told: &Told<'_>,
    id: BufferId,
) -> Option<(SharedLayout, TileShape)> {
    let (first, number) = readers(program, told, id).next()?;
    let own = UnitCandidate::of(program, (tables, arch), told, first)?;
    let (_, shape) = own.reader(told, program, first, number)?;
    let takes = |op: Op, number: usize, layout: &SharedLayout| {
        let own = UnitCandidate::of(program, (tables, arch), told, op)?;
        let (reader, shape) = own.reader(told, program, op, number)?;
        shared_tile::word(tables, arch, &reader, layout, shape)
    };
    let all = |layout: &SharedLayout| {
        readers(program, told, id).all(|(op, number)| takes(op, number, layout).is_some())
    };
    let layouts = |by_rows: bool| {
        let all = 0..shared_tile::layouts(tables, arch);
        let all = all.filter_map(|number| shared_tile::layout(tables, arch, number, shape));
        // Columns that are strips themselves are none that strips of rows say.
        all.filter(move |own| own.row_major == by_rows && (by_rows || own.column_block.is_none()))
    };
    let found = layouts(true).chain(layouts(false)).find(all);
    found.map(|layout| (layout, shape))
}

/// Lays shared buffers as the units read them that compute the products of a function: where all
/// products that read a buffer are computed so. Layouts that are written stay.
///
/// # Errors
/// [`FormError`]: an extent does not fit.
#[inline(never)]
pub(crate) fn lay_for_units(
    program: &Program<'_, '_>,
    (tables, arch): (&Tables<'_>, &Arch<'_>),
    told: &mut Told<'_>,
) -> Result<(), FormError> {
    let id = |number: usize| BufferId(u16::try_from(number).unwrap_or(u16::MAX));
    let buffers = told.inference.counts().0;
    for number in 0..buffers {
        let own = *told.inference.buffer_of(id(number))?;
        let is_free = own.storage == id(number) && !told.inference.is_swizzle_pinned(id(number));
        if own.scope != MemoryScope::Shared || !is_free {
            continue;
        }
        told.inference.set_described(id(number), false);
        let wanted = wanted_layout(program, (tables, arch), told, id(number));
        let Some((layout, shape)) = wanted else { continue };
        let swizzle = layout.post.swizzle().filter(|swizzle| swizzle.b > 0);
        // Columns are strips of one element.
        let column_block = if layout.row_major { layout.column_block } else { Some(0) };
        let column_block =
            column_block.and_then(|column_block| 1u32.checked_shl(u32::from(column_block)));
        let column_block =
            column_block.map(|column_block| column_block.saturating_mul(u32::from(shape.bits / 8)));
        // A unit's layout of narrow elements may take the wider ones of a view apart.
        if !told.inference.keeps_elements(id(number), swizzle, column_block, None) {
            continue;
        }
        told.inference.set_swizzle(id(number), swizzle)?;
        told.inference.set_strips(id(number), column_block)?;
        told.inference.set_described(id(number), true);
    }
    // Where another operand does not lie so, the product is another, and its buffers are free.
    let mut changes = true;
    while core::mem::take(&mut changes) {
        for number in 0..buffers {
            if !told.inference.is_described(id(number)) {
                continue;
            }
            let by_unit = |op: Op| unit_product(program, (tables, arch), &*told, op).is_some();
            let whole = readers(program, &*told, id(number)).all(|(op, _)| by_unit(op));
            if !whole {
                told.inference.set_swizzle(id(number), None)?;
                told.inference.set_strips(id(number), None)?;
                told.inference.set_described(id(number), false);
                changes = true;
            }
        }
    }
    Ok(())
}
