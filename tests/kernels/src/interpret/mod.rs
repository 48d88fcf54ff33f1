//! Tile programs, said on the host: what each statement of a program's text means, whole tiles at a
//! time, so that any program has a reference.
//!
//! Reads the text itself (one statement a line) and knows nothing of layouts, instructions or the
//! library's own reader. A statement that is not understood is an error. What the program does not
//! fix (extents, indices, contents, how often its loops turn) is given by [`Given`].
//!
//! Each element knows what of it the language fixes ([`tile::Sure`]). Moves and casts are exact to
//! the bit; so are sums, differences, products and `fma` of two or three elements, rounded once.
//! Sums of many elements have no order: they are exact where every order is (a common lowest bit
//! and a bounded sum of magnitudes), else within `n` roundings of that sum; a matrix unit cuts off
//! where it does not round. Functions are within 2^-20 of their value. Errors are carried along.
//! Which of two zeros `max` and `min` answer, what they make of what is no number, and what a cast
//! makes of a value beyond the greatest float of eight bits, is not fixed.

mod addressed;
mod affine;
mod agents;
mod atomic;
mod calls;
mod combined;
mod compute;
pub mod element;
mod grid;
mod index;
mod indexed;
pub mod inputs;
mod loops;
mod machine;
mod memdesc;
mod memory;
mod names;
mod parts;
mod pointers;
mod product;
mod regions;
mod slots;
mod tensor_memory;
mod text;
pub mod tile;
mod triton;
mod truth;

use element::Element;
pub use index::{index_arithmetic, index_relation};
use inputs::{Fill, pattern};
use lanebook::TABLES;
use lanebook::tables::Capability;
use lanebook::tile::unlaid::unlaid;
use lanebook_replay::{BufferId, Memory, Param};
pub use product::UnitArithmetic;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use text::{attribute, code, list, shape_of};
use tile::Item;

/// An answer, or what is not understood.
pub type Said<T> = Result<T, String>;

/// Most elements of a tensor.
const MOST_ELEMENTS: usize = 1 << 26;

/// How the refusal of a program begins that reads what nothing wrote.
pub const UNWRITTEN: &str = "reads what nothing wrote";

/// What the refusal of a tensor says that is too large for the host.
pub const TOO_LARGE: &str = "has too many elements";

/// A tensor in global memory.
#[derive(Clone, Debug)]
pub struct Global {
    /// The argument's name.
    pub name: String,
    /// Element type.
    pub element: Element,
    /// Extents as written, `None` for `?`.
    written: Vec<Option<usize>>,
    /// What its unknown strides are multiples of.
    div: usize,
    /// It is a pointer: nobody says how many elements there are.
    is_pointer: bool,
    /// Where elements end, as written; empty without bounds, `_` where there is none.
    bounds: Vec<String>,
    /// Extents, the last dimension fastest.
    pub extents: Vec<usize>,
    /// Elements.
    pub items: Vec<Item>,
    /// Sums of floats in no order, by the element's number.
    sums: BTreeMap<usize, atomic::Sum>,
    /// Who combined elements last, by the element's number.
    combined: BTreeMap<usize, atomic::Combined>,
    /// Whether the program stores to it.
    pub is_result: bool,
    /// Whether the program loads from it.
    pub is_read: bool,
    /// Whether its numbers are indices.
    is_addressed: bool,
    /// Tells its contents from those of others.
    salt: u32,
    /// How many of the arguments before it are numbers: parameters keep the arguments' order.
    before: usize,
}

/// What a run is given beside the program.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    /// How often a loop of unknown bound turns.
    pub turns: u32,
    /// Tells runs of different contents apart.
    pub salt: u32,
    /// Contents; `None` for those that suit the program's operations.
    pub fill: Option<Fill>,
}

/// A program with what its block is given.
#[derive(Clone, Debug)]
pub struct Interpreted {
    /// The memrefs in order.
    pub globals: Vec<Global>,
    /// Arguments that are no tensors, in order: indices, and the bits of numbers.
    pub indices: Vec<(String, i64)>,
    /// Element types of those that are no indices.
    pub numbers: BTreeMap<String, Element>,
    /// Threads of the block.
    pub threads: u32,
    /// Blocks along x, y and z, that run one after the other.
    pub grid: [u32; 3],
    /// Whether a loop's turns depend on an argument.
    pub is_bounded: bool,
    /// How the machine's matrix units compute.
    pub unit: UnitArithmetic,
    body: Vec<String>,
    /// Atomic operations that were carried out.
    combined: u64,
    expected: Expected,
}

/// What memory holds afterwards, once that was asked for. A copy, of which something else may be
/// asked, begins anew.
#[derive(Debug, Default)]
struct Expected(OnceLock<Said<Vec<Global>>>);

impl Clone for Expected {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Operations that add up many elements, or whose results are near what they should be.
const SUMS: [&str; 10] =
    ["mma", "mma_scaled", "div", "exp", "exp2", "log", "rsqrt", "rcp", "math.log2", "math.sqrt"];

/// Operations that round once, or not at all.
const ROUNDED: [&str; 5] = ["add", "sub", "mul", "fma", "neg"];

impl Interpreted {
    /// Reads a program; its loops turn twice, and sums of products are exact.
    ///
    /// # Errors
    /// What is not understood.
    pub fn new(text: &str) -> Said<Self> {
        Self::with(text, Given { turns: 2, salt: 0, fill: Some(Fill::Small) })
    }

    /// Reads a program, chooses extents, indices and contents.
    ///
    /// # Errors
    /// What is not understood, or a program that reads what nothing wrote.
    pub fn with(text: &str, given: Given) -> Said<Self> {
        // Other corners where the tensors are wide enough for them.
        if given.salt % 3 == 1
            && let Ok(out) = Self::at(text, given, 3)
        {
            return Ok(out);
        }
        Self::at(text, given, 1)
    }

    /// Index arguments are so many times what they are said to be multiples of.
    fn at(text: &str, given: Given, times: i64) -> Said<Self> {
        let text = triton::plain(text);
        let text = slots::plain(&text).unwrap_or_else(|| memdesc::plain(&text));
        let text = calls::flattened(&regions::named(&text))?;
        // Layouts have no meaning here.
        let text: String =
            text.lines().filter(|l| !l.starts_with('#')).map(code).collect::<Vec<_>>().join("\n");
        let (head, body) = text.split_once("{threads").ok_or("no threads")?;
        let (threads, body) = body.split_once("{\n").ok_or("no body")?;
        let said_grid = threads.split_once("grid =").map(|(_, grid)| grid.trim());
        let threads = threads
            .trim()
            .trim_start_matches('=')
            .split([',', '}'])
            .next()
            .unwrap_or("")
            .trim()
            .parse()
            .map_err(|_| "threads")?;
        let args = head
            .split_once('(')
            .and_then(|(_, rest)| rest.rsplit_once(')'))
            .ok_or("no arguments")?
            .0;
        let (mut globals, mut indices) = (Vec::new(), Vec::new());
        let mut numbers = BTreeMap::new();
        for argument in list(args) {
            let (name, ty) = argument.split_once(':').ok_or("an argument without a type")?;
            let name = name.trim().to_string();
            let pointee = pointers::pointee(ty);
            if text::is_flagged(ty, "far") {
                return Err("a tensor that is one row in parts".to_string());
            }
            if ty.trim().starts_with("memref") || pointee.is_some() {
                let (written, element) = match pointee {
                    Some(pointee) => (vec![None], Element::of(pointee)?),
                    None => shape_of(ty)?,
                };
                let extents = written.iter().map(|e| e.unwrap_or(0)).collect();
                let div = attribute(ty, "stride_div").and_then(|d| d.parse().ok()).unwrap_or(1);
                let bounds = attribute(ty, "bounds").map_or(Vec::new(), |text| {
                    list(text.trim_start_matches('(').trim_end_matches(')'))
                });
                globals.push(Global {
                    bounds,
                    is_pointer: pointee.is_some(),
                    name,
                    element,
                    written,
                    div,
                    extents,
                    items: Vec::new(),
                    is_result: false,
                    sums: BTreeMap::new(),
                    combined: BTreeMap::new(),
                    is_read: false,
                    is_addressed: false,
                    salt: globals.len() as u32 + given.salt * 64 + 1,
                    before: indices.len(),
                });
            } else if !ty.trim().starts_with("index") {
                let element = Element::of(ty.split('{').next().unwrap_or("").trim())?;
                let fill = given.fill.unwrap_or(Fill::Distinct);
                let bits = match attribute(ty, "div").and_then(|d| d.parse::<i64>().ok()) {
                    // It counts elements, which there are a few of.
                    Some(div) => (div * times) as u64,
                    None => pattern(element, fill, indices.len(), given.salt * 64 + 63),
                };
                indices.push((name.clone(), bits as i64));
                numbers.insert(name, element);
            } else {
                let div = attribute(ty, "div").and_then(|d| d.parse().ok());
                indices.push((name, div.map_or(spare(given.salt), |div: i64| div * times)));
            }
        }
        let body: Vec<String> =
            body.lines().map(|l| l.trim().to_string()).filter(|l| !l.is_empty()).collect();
        let body = agents::joined(body)?;
        let told: Vec<String> =
            globals.iter().filter(|g| g.is_pointer).map(|g: &Global| g.name.clone()).collect();
        let body = pointers::followed(&body, &told)?;
        let mut out = Self {
            globals,
            indices,
            numbers,
            threads,
            grid: [1; 3],
            is_bounded: false,
            unit: UnitArithmetic::default(),
            body,
            combined: 0,
            expected: Expected::default(),
        };
        out.mark_addressed();
        out.bound_loops(given.turns);
        out.choose_grid(said_grid, given)?;
        out.run_blocks(true)?;
        let is_large = |g: &Global| g.extents.iter().product::<usize>() > MOST_ELEMENTS;
        if let Some(global) = out.globals.iter().find(|g| is_large(g)) {
            return Err(format!("{} {TOO_LARGE}: {:?}", global.name, global.extents));
        }
        out.fill(given);
        Ok(out)
    }

    /// A bound that is an argument is so many of the greatest step of its loops behind the first
    /// value; 0 without turns.
    fn bound_loops(&mut self, turns: u32) {
        for index in 0..self.indices.len() {
            let name = self.indices[index].0.clone();
            let div = self.indices[index].1.max(1);
            let known = |word: &str| {
                word.parse().ok().or_else(|| {
                    self.indices.iter().find(|(n, _)| n == word).map(|(_, value)| *value)
                })
            };
            let reach = |line: &String| -> Option<i64> {
                let (first, rest) =
                    line.split_once("scf.for")?.1.split_once('=')?.1.split_once(" to ")?;
                let (bound, rest) = rest.split_once(" step ")?;
                let step: i64 = rest.split_whitespace().next()?.parse().ok()?;
                // A bound of a tensor too ends inside of the last tile.
                let is_bound = self.globals.iter().any(|g| g.bounds.contains(&name));
                let less = if is_bound { (step / 3).max(1) / div * div } else { 0 };
                (bound.trim() == name)
                    .then(|| known(first.trim()).unwrap_or(0) + i64::from(turns) * step - less)
            };
            if let Some(reach) = self.body.iter().filter_map(reach).max() {
                self.is_bounded = true;
                self.indices[index].1 = if turns == 0 { 0 } else { reach };
            }
        }
    }

    /// Extents beyond what is reached, and contents.
    fn fill(&mut self, given: Given) {
        let body = &self.body;
        let fill = given.fill.unwrap_or_else(|| {
            let has = |ops: &[&str]| {
                body.iter().any(|l| ops.iter().any(|op| l.contains(&format!("= {op} "))))
            };
            let sums = has(&SUMS)
                || body.iter().any(|l| {
                    let reduces = l.contains("= reduce") || l.starts_with("reduce_into ");
                    l.starts_with("gemm ")
                        || reduces && ["kind = add", "kind = mul"].iter().any(|k| l.contains(k))
                });
            match (sums, has(&ROUNDED), given.salt % 3) {
                (false, false, _) | (false, true, 0) => Fill::Patterns,
                (false, true, _) | (true, _, 0) => Fill::Distinct,
                (true, _, 1) => Fill::Small,
                (true, ..) => Fill::Edges,
            }
        });
        for (number, global) in (1u32..).zip(&mut self.globals) {
            let inner = global.written.len().saturating_sub(2);
            for (dim, (extent, written)) in
                global.extents.iter_mut().zip(&global.written).enumerate()
            {
                // A tile more than what is reached, in steps that keep any promise of alignment, or
                // as few as the promise needs.
                let wide = 16usize.next_multiple_of(global.div);
                let (step, more) = if given.salt % 3 == 1 {
                    (global.div, 3 * global.div)
                } else {
                    (wide, 2 * wide)
                };
                let is_bounded = global.bounds.get(dim).is_some_and(|bound| bound != "_");
                let innermost = dim + 1 == global.written.len();
                *extent = written.unwrap_or(if is_bounded {
                    // Not one more than there is.
                    extent.next_multiple_of(if innermost { global.div } else { 1 })
                } else if dim < inner {
                    *extent + 1
                } else {
                    extent.next_multiple_of(step) + more
                });
                // Rows are whole bytes.
                if innermost && global.element.bits() == 4 && written.is_none() {
                    *extent = extent.next_multiple_of(2);
                }
            }
            let count = global.extents.iter().product();
            let salt = number + given.salt * 64;
            let element = global.element;
            let seven = element.encode(7.0);
            let item = |i: usize| {
                if global.is_result && !global.is_read {
                    seven
                } else {
                    pattern(element, fill, i, salt)
                }
            };
            let place = |i: usize| {
                let mut rest = i;
                let mut place: Vec<i64> = (global.extents.iter().rev())
                    .map(|extent| {
                        let at = (rest % extent) as i64;
                        rest /= extent;
                        at
                    })
                    .collect();
                place.reverse();
                addressed::number_at(element, global.salt, &place)
            };
            let of = |i: usize| if global.is_addressed { place(i) } else { item(i) };
            global.items = (0..count).map(|i| Item::exact(of(i))).collect();
        }
    }

    /// The buffers, and the kernel's parameters without tensor maps.
    #[must_use]
    pub fn memory(&self) -> (Memory, Vec<BufferId>, Vec<Param>) {
        let mut memory = Memory::new();
        let (mut ids, mut params) = (Vec::new(), Vec::new());
        let passed_as = |(name, v): &(String, i64)| {
            let is_long = self.numbers.get(name).is_some_and(|element| element.bits() == 64);
            // A number of 64 bits is two of 32, the lower one first.
            let upper = is_long.then_some(Param::U32((*v >> 32) as u32));
            core::iter::once(Param::U32(*v as u32)).chain(upper)
        };
        let mut passed = 0;
        for g in &self.globals {
            params.extend(self.indices[passed..g.before].iter().flat_map(passed_as));
            passed = g.before;
            let id = memory.add(&g.name, g.bytes());
            let extents = g.passed();
            ids.push(id);
            params.push(Param::Buffer(id));
            params.extend(
                g.written
                    .iter()
                    .zip(&extents)
                    .filter(|(w, _)| w.is_none() && !g.is_pointer)
                    .map(|(_, e)| Param::U32(*e)),
            );
            // A stride is a parameter where an extent inside of it is one.
            for dim in 0..g.written.len().saturating_sub(1) {
                if g.written[dim + 1..].contains(&None) {
                    params.push(Param::U32(extents[dim + 1..].iter().product()));
                }
            }
        }
        params.extend(self.indices[passed..].iter().flat_map(passed_as));
        (memory, ids, params)
    }

    /// The same program on an architecture: its matrix instructions may not know subnormal numbers,
    /// and read fewer bits of f32 where the program lets them.
    #[must_use]
    pub fn on(&self, arch: &str) -> Self {
        let of = |arch: &lanebook::tables::Arch<'_>| {
            let element = |id| Element::of(TABLES.dtype(id)?.name).ok();
            let own = |id| Some((element(id)?, unit_extents(arch, id)));
            arch.flushed.iter().filter_map(|id| own(*id)).collect()
        };
        let flushed =
            TABLES.arch_named(arch).and_then(|id| TABLES.arch(id)).map(of).unwrap_or_default();
        let dtype = |name| TABLES.dtype_named(name).expect("an element type");
        let (less, whole) = (dtype("tf32"), dtype("f32"));
        let product = |of| Capability::Product { a: of, b: of, c: whole, d: whole };
        let own = TABLES.arch_named(arch).and_then(|id| TABLES.arch(id));
        let has = |of| own.is_some_and(|arch| !arch.dispatch(product(of)).is_empty());
        let (reads_less, reads_whole) = (has(less), has(whole));
        Self {
            unit: UnitArithmetic { flushed, kept: Vec::new(), reads_less, reads_whole },
            ..self.clone()
        }
    }

    /// Whether a unit that is not as another multiplies something else here than that one.
    #[must_use]
    pub fn depends_on(&self, unit: &UnitArithmetic) -> bool {
        let lets = |line: &String| line.contains("inputPrecision") || line.contains("gemm");
        unit.flushed != self.unit.flushed
            || unit.kept != self.unit.kept
            || unit.reads_less != self.unit.reads_less && self.body.iter().any(lets)
    }

    /// What the matrices hold afterwards.
    ///
    /// # Errors
    /// What is not understood.
    pub fn expect(&self) -> Said<Vec<Global>> {
        let mut after = self.clone();
        after.run_blocks(false)?;
        Ok(after.globals)
    }

    /// Compares memory after a run on an architecture with what it should hold; the error names the
    /// first wrong element.
    ///
    /// # Errors
    /// A wrong element, or what is not understood.
    pub fn compare(&self, arch: &str, memory: &Memory, ids: &[BufferId]) -> Said<()> {
        let compared = |after: &[Global]| {
            let mut each = after.iter().zip(ids);
            each.try_for_each(|(global, id)| global.compare(memory.bytes(*id)))
        };
        let own = self.on(arch);
        if self.depends_on(&own.unit) {
            return compared(&own.expect()?);
        }
        let after = self.expected.0.get_or_init(|| self.expect());
        compared(after.as_ref().map_err(Clone::clone)?)
    }
}

/// Rows, columns and depth of the instructions of an architecture that multiply elements of a type to
/// sums of f32.
fn unit_extents(
    arch: &lanebook::tables::Arch<'_>,
    of: lanebook::tables::DtypeId,
) -> Vec<[usize; 3]> {
    let sum = TABLES.dtype_named("f32").expect("an element type");
    let wave = arch.wave_lanes.first().copied().unwrap_or(0);
    let able = arch.dispatch(Capability::Product { a: of, b: of, c: sum, d: sum });
    let known = able.iter().filter_map(|id| Some((*id, TABLES.atom(*id)?)));
    let laid = known.filter(|(id, atom)| unlaid(&TABLES, *id, atom, wave).is_none());
    let shapes = laid.flat_map(|(_, atom)| {
        (0..atom.instances()).filter_map(|number| atom.instance(number)?.shape())
    });
    shapes.map(|shape| [shape.m, shape.n, shape.k].map(usize::from)).collect()
}

/// An index argument of which nothing is said.
fn spare(salt: u32) -> i64 {
    [0, 5, 1][salt as usize % 3]
}

impl Global {
    /// Extents as kernels count them: of elements of half a byte, pairs.
    #[must_use]
    pub fn passed(&self) -> Vec<u32> {
        let mut out: Vec<u32> = self.extents.iter().map(|extent| *extent as u32).collect();
        if let (4, Some(last)) = (self.element.bits(), out.last_mut()) {
            *last /= 2;
        }
        out
    }

    /// What memory holds: of elements of half a byte, the first of two in the lower half.
    fn bytes(&self) -> Vec<u8> {
        if self.element.bits() == 4 {
            let byte = |pair: &[Item]| {
                let half = |k: usize| pair.get(k).map_or(0, |item| item.bits as u8 & 15);
                half(0) | half(1) << 4
            };
            return self.items.chunks(2).map(byte).collect();
        }
        let size = self.element.bytes();
        self.items.iter().flat_map(|v| v.bits.to_le_bytes().into_iter().take(size)).collect()
    }

    /// Compares what lies in memory with this; the error names the first wrong element.
    ///
    /// # Errors
    /// A wrong element.
    pub fn compare(&self, raw: &[u8]) -> Said<()> {
        let size = self.element.bytes().max(1);
        let pattern = |at: usize| {
            if self.element.bits() == 4 {
                return u64::from(raw[at / 2] >> (at % 2 * 4) & 15);
            }
            raw[at * size..][..size].iter().rev().fold(0u64, |sum, b| sum << 8 | u64::from(*b))
        };
        let wrong: Vec<usize> = (0..self.items.len())
            .filter(|at| !self.items[*at].admits(self.element, pattern(*at)))
            .collect();
        let Some(&at) = wrong.first() else { return Ok(()) };
        let (got, want) = (pattern(at), self.items[at].bits);
        let digits = size * 2;
        Err(format!(
            "{}{:?} is {} ({got:#0digits$x}), not {} ({want:#0digits$x}, {:?}); {} of {} elements",
            self.name,
            self.position(at),
            self.element.decode(got),
            self.element.decode(want),
            self.items[at].sure,
            wrong.len(),
            self.items.len()
        ))
    }

    fn position(&self, at: usize) -> Vec<usize> {
        let mut rest = at;
        let mut out: Vec<usize> = self
            .extents
            .iter()
            .rev()
            .map(|e| {
                let here = rest % e;
                rest /= e;
                here
            })
            .collect();
        out.reverse();
        out
    }
}
