//! One kernel of a text with several functions: calls give way to what they call, and the other
//! functions go away.
//!
//! All that is wrong with calls is found before anything changes: no undo records are needed, of
//! which there are few where a program is only compiled.

use crate::attr::AttrValue;
use crate::attr_names;
use crate::data::ValueData;
use crate::edit::agents::join_agents;
use crate::edit::edit_ops::Edit;
use crate::edit::insert::made_by;
use crate::edit::leads::part_leads;
use crate::edit::memory_views::settle_memory;
use crate::edit::on_tiles::compute_tiles;
use crate::edit::pairs::pair_elements;
use crate::edit::pipeline_stages::dissolve_stages;
use crate::edit::pointers::long_arguments::part_long_arguments;
use crate::edit::pointers::{fill_tiles, follow_pointers};
use crate::edit::ranks::lower_ranks;
use crate::edit::recurrences::count_loops;
use crate::edit::scalars::{index_arguments, lower_scalars};
use crate::edit::slots::drop_tokens;
use crate::edit::spellings::atomics::heed_fences;
use crate::edit::spellings::module::hand_down;
use crate::edit::spellings::respell;
use crate::edit::tensor_memory::follow_tensor_memory;
use crate::error::{ErrorKind, IrError, NAMED_CALLS, Pool, SourcePlace};
use crate::handle::{Op, TextRef, Value};
use crate::program::{Def, Program};
use crate::storage::full;
use crate::types::{Type, TypeKind};
use heapless::Vec;
use lanebook_tables::OpRole;

/// Most calls inside each other.
pub(crate) const MAX_CALLS: usize = 16;

/// Functions that are gone through, each called by the one before, and what of it comes next.
type OpenFunctions = Vec<(Op, Option<Op>), MAX_CALLS>;

/// Makes a program that of one kernel, which it answers: what it calls is put in the place of the
/// calls, and all other functions go away, with the modules around them. `name` says which function
/// it is to be; without one it is the function that is neither `private` nor called by another one.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{self, ErrorKind, Options, SmallStorage, isolate_kernel, parse, verify};
///
/// let text = "module {
///   func private @twice(%t: tensor<64x64xf32>) -> tensor<64x64xf32> {
///     %sum = add %t, %t : tensor<64x64xf32>
///     return %sum : tensor<64x64xf32>
///   }
///   func @k(%x: memref<?x64xf32, #gmem>) {threads = 128} {
///     %a = tiled_load %x[0, 0] : memref<?x64xf32, #gmem> -> tensor<64x64xf32>
///     %b = call @twice(%a) : (tensor<64x64xf32>) -> tensor<64x64xf32>
///     tiled_store %b, %x[0, 0] : tensor<64x64xf32> -> memref<?x64xf32, #gmem>
///   }
/// }";
/// let mut storage = Box::new(SmallStorage::new());
/// let mut program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// verify(&mut program).unwrap();
/// assert_eq!(isolate_kernel(&mut program, Some("f")).unwrap_err().kind, ErrorKind::UnknownFunction);
/// let kernel = isolate_kernel(&mut program, None).unwrap();
/// assert_eq!((program.symbol(kernel), program.functions().count()), ("k", 1));
/// let names: Vec<&str> = program.inside(kernel).map(|op| program.op_name(op)).collect();
/// assert_eq!(names, ["tiled_load", "add", "tiled_store"]);
/// ```
///
/// # Errors
/// No or several such functions; a call of an unknown function, of one that calls it back, of one
/// with other threads or with attributes that only a kernel has; results that the function says
/// otherwise: the program is as it was. Where room runs out, which is [`ErrorKind::Capacity`], or a
/// tile of pointers, a loop or a tile of three or more dimensions has a form that is not followed
/// ([`ErrorKind::PointerForm`], [`ErrorKind::CarriedIndex`], [`ErrorKind::RankForm`] and their
/// kin), some has given way already, and the text is to be read again.
#[inline(never)]
pub fn isolate_kernel(program: &mut Program<'_, '_>, name: Option<&str>) -> Result<Op, IrError> {
    let kernel = chosen(program, name)?;
    hand_down(program, kernel)?;
    heed_results(program, kernel)?;
    let checked = check_calls(program, kernel);
    program.renumber();
    checked?;
    inline_calls(program, kernel)?;
    alone(program, kernel).map_err(|kind| at(program, kind, kernel))?;
    drop_tokens(program, kernel)?;
    respell(program, kernel)?;
    part_long_arguments(program, kernel)?;
    settle_memory(program, kernel)?;
    compute_tiles(program, kernel)?;
    fill_tiles(program, kernel)?;
    follow_pointers(program, kernel)?;
    join_agents(program, kernel)?;
    dissolve_stages(program, kernel)?;
    heed_fences(program, kernel)?;
    count_loops(program, kernel)?;
    follow_tensor_memory(program, kernel)?;
    lower_scalars(program, kernel)?;
    index_arguments(program, kernel)?;
    pair_elements(program, kernel)?;
    part_leads(program, kernel)?;
    lower_ranks(program, kernel)?;
    program.renumber();
    Ok(kernel)
}

/// An error about an operation. It may be a copy, which goes away; its place in the text is the
/// original's.
fn at(program: &Program<'_, '_>, kind: ErrorKind, op: Op) -> IrError {
    IrError { kind, at: SourcePlace { op: None, ..program.place(op) } }
}

/// An attribute that nothing obeys.
pub(crate) fn not_kept(program: &Program<'_, '_>, key: TextRef) -> IrError {
    IrError { kind: ErrorKind::IdleAttr, at: program.place_of(key) }
}

#[doc(hidden)] // A question of the floors above.
impl Program<'_, '_> {
    /// Whether an operation only holds functions.
    #[must_use]
    pub fn is_module(&self, op: Op) -> bool {
        self.role(op) == OpRole::Opaque && self.regions(op).next().is_some()
    }
}

/// All functions, those in modules among them.
fn functions<'p>(program: &'p Program<'_, '_>) -> impl Iterator<Item = Op> + Clone + 'p {
    program.all().filter(|op| program.role(*op) == OpRole::Function)
}

/// The function of a name, wherever it stands.
pub(crate) fn function_named(program: &Program<'_, '_>, name: &str) -> Option<Op> {
    functions(program).find(|op| program.symbol(*op) == name)
}

fn is_private(program: &Program<'_, '_>, function: Op) -> bool {
    matches!(
        program.attr(function, attr_names::VISIBILITY),
        Some(AttrValue::Word(word)) if program.text(word) == attr_names::PRIVATE
    )
}

/// Whether a function may be launched: it is seen from outside, and no other one calls it.
fn is_launched(program: &Program<'_, '_>, function: Op) -> bool {
    let calls = |op: &Op| {
        program.role(*op) == OpRole::Call
            && program.symbol(*op) == program.symbol(function)
            && !program.is_inside(*op, function)
    };
    !is_private(program, function) && !program.all().any(|op| calls(&op))
}

/// The functions that a launch may name, in order: neither `private` nor called by another one.
///
/// ```
/// use lanebook::TABLES;
/// use lanebook::ir::{Options, SmallStorage, kernels, parse};
///
/// let text = "func private @a() {
/// }
/// func @k() {threads = 32} {
///   call @b() : () -> ()
/// }
/// func @b() {
/// }";
/// let mut storage = Box::new(SmallStorage::new());
/// let program = parse(storage.pools(), &TABLES, text, Options::default()).unwrap();
/// let names: Vec<&str> = kernels(&program).map(|op| program.symbol(op)).collect();
/// assert_eq!(names, ["k"]);
/// ```
pub fn kernels<'p>(program: &'p Program<'_, '_>) -> impl Iterator<Item = Op> + Clone + 'p {
    functions(program).filter(|op| is_launched(program, *op))
}

fn chosen(program: &Program<'_, '_>, name: Option<&str>) -> Result<Op, IrError> {
    let twice = functions(program)
        .find(|op| function_named(program, program.symbol(*op)).is_some_and(|first| first != *op));
    if let Some(op) = twice {
        let first = function_named(program, program.symbol(op));
        let line = first.map_or(0, |first| program.place(first).line);
        return Err(at(program, ErrorKind::Redefined { line }, op));
    }
    if let Some(name) = name {
        let unknown = IrError { kind: ErrorKind::UnknownFunction, at: SourcePlace::NOWHERE };
        let op = function_named(program, name).ok_or(unknown)?;
        let is_kernel = !is_private(program, op);
        return if is_kernel { Ok(op) } else { Err(at(program, ErrorKind::NoKernel, op)) };
    }
    // What is wrong with a function that stands alone is said where it is read.
    let mut all = functions(program);
    if let (Some(only), None) = (all.next(), all.next()) {
        return Ok(only);
    }
    let mut found = kernels(program);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(second)) => {
            let functions = u16::try_from(found.count().saturating_add(2)).unwrap_or(u16::MAX);
            Err(at(program, ErrorKind::SeveralKernels { functions }, second))
        }
        (None, _) => match functions(program).next() {
            Some(first) => Err(at(program, ErrorKind::NoKernel, first)),
            None => Err(IrError { kind: ErrorKind::NoKernel, at: SourcePlace::NOWHERE }),
        },
    }
}

/// What is known of a function while calls are followed, in the place of its number in the text.
const UNSEEN: u16 = 0;
const OPEN: u16 = 1;
const FOLLOWED: u16 = 2;

fn seen(program: &mut Program<'_, '_>, function: Op, how: u16) {
    if let Some(data) = program.pools.ops.get_mut(function.index()) {
        data.order = how;
    }
}

/// Follows all calls from a kernel on, each function once, and checks them. Changes nothing but the
/// numbers of operations.
fn check_calls(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = functions(program).next();
    while let Some(function) = next {
        seen(program, function, UNSEEN);
        next = functions(program).skip_while(|op| *op != function).nth(1);
    }
    let mut open = OpenFunctions::new();
    let too_deep = full(Pool::Calls, MAX_CALLS);
    seen(program, kernel, OPEN);
    let first = program.inside(kernel).next();
    open.push((kernel, first)).map_err(|_| at(program, too_deep, kernel))?;
    while let Some((function, place)) = open.last_mut() {
        let (function, Some(op)) = (*function, *place) else {
            if let Some((function, _)) = open.pop() {
                seen(program, function, FOLLOWED);
            }
            continue;
        };
        *place = program.following(op, Some(function));
        if program.role(op) != OpRole::Call {
            continue;
        }
        let called = function_named(program, program.symbol(op))
            .ok_or_else(|| at(program, ErrorKind::UnknownFunction, op))?;
        let own = |key| program.text(key) == attr_names::CALLEE;
        if let Some(attr) = program.attrs(op).find(|attr| !own(attr.key)) {
            return Err(not_kept(program, attr.key));
        }
        match program.order(called) {
            FOLLOWED => continue,
            OPEN => return Err(at(program, circle(&open, called), op)),
            _ => may_be_called(program, kernel, called)?,
        }
        seen(program, called, OPEN);
        let first = program.inside(called).next();
        open.push((called, first)).map_err(|_| at(program, too_deep, op))?;
    }
    Ok(())
}

/// The functions that call each other, of which this one is called again.
fn circle(open: &OpenFunctions, called: Op) -> ErrorKind {
    let around = open.iter().map(|(function, _)| *function).skip_while(|one| *one != called);
    let mut functions = [None; NAMED_CALLS];
    for (place, one) in functions.iter_mut().zip(around) {
        *place = Some(one);
    }
    ErrorKind::CallCircle { functions }
}

/// Puts what it calls in the place of each call in a function.
fn inline_calls(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut next = program.inside(kernel).next();
    while let Some(op) = next {
        if program.role(op) != OpRole::Call {
            next = program.following(op, Some(kernel));
            continue;
        }
        let function = function_named(program, program.symbol(op))
            .ok_or_else(|| at(program, ErrorKind::UnknownFunction, op))?;
        next = put(program, kernel, (op, function)).map_err(|kind| at(program, kind, op))?;
    }
    Ok(())
}

/// Whether what a called function says of itself is so where it is called.
fn may_be_called(program: &Program<'_, '_>, kernel: Op, function: Op) -> Result<(), IrError> {
    let own = program.int_attr(kernel, attr_names::THREADS);
    for attr in program.attrs(function) {
        let fits = match program.text(attr.key) {
            attr_names::SYM_NAME | attr_names::VISIBILITY => true,
            attr_names::THREADS => program.int_attr(function, attr_names::THREADS) == own,
            attr_names::RESULT_TYPE => true,
            attr_names::NOINLINE => is_no(program, attr.value),
            attr_names::RESULTS if says_results(program, function) => true,
            attr_names::RESULTS => {
                let kind = ErrorKind::ReturnedTypes;
                return Err(at(program, kind, function));
            }
            _ => false,
        };
        if !fits {
            return Err(not_kept(program, attr.key));
        }
    }
    let mut parameters = program.parameters(function);
    if let Some(attr) = parameters.find_map(|value| program.value_attrs(value).next()) {
        return Err(not_kept(program, attr.key));
    }
    let blocks = program.regions(function).next().map(|region| program.blocks(region).count());
    if blocks == Some(1) { Ok(()) } else { Err(at(program, ErrorKind::Misplaced, function)) }
}

/// What a snippet says behind its arrow is what it returns: it then says it there alone.
///
/// # Errors
/// It returns something else.
#[inline(never)]
fn heed_results(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let end = program.body(kernel).and_then(|body| program.terminator(body));
    let returns = end
        .is_some_and(|end| program.role(end) == OpRole::Return && program.operand_count(end) > 0);
    if !returns || !program.has_attr(kernel, attr_names::RESULT_TYPE) {
        return Ok(());
    }
    if !says_results(program, kernel) {
        return Err(at(program, ErrorKind::ReturnedTypes, kernel));
    }
    for key in [attr_names::RESULTS, attr_names::RESULT_TYPE] {
        while program.has_attr(kernel, key) {
            program.remove_attr(kernel, key).map_err(|kind| at(program, kind, kernel))?;
        }
    }
    Ok(())
}

/// Whether an attribute says that something is not so.
pub(crate) fn is_no(program: &Program<'_, '_>, value: AttrValue) -> bool {
    matches!(value, AttrValue::Word(word) if program.text(word) == attr_names::FALSE)
}

/// Whether the types behind a function's arrow are those of what it returns.
fn says_results(program: &Program<'_, '_>, function: Op) -> bool {
    let said = program.attrs(function).filter_map(|attr| match attr.value {
        AttrValue::Int(_, Some(ty)) if program.text(attr.key) == attr_names::RESULT_TYPE => {
            Some(program.type_at(ty))
        }
        _ => None,
    });
    let end = program.body(function).and_then(|body| program.terminator(body));
    let mut returned = end.into_iter().flat_map(|end| program.operands(end));
    for ty in said {
        let value = returned.next().map(|value| program.type_of(value));
        if !value.is_some_and(|value| program.same_type(&ty, &value)) {
            return false;
        }
    }
    returned.next().is_none()
}

/// Puts a copy of a function's body before a call, whose results its readers read from then on;
/// where to go on.
fn put(program: &mut Program<'_, '_>, kernel: Op, (call, function): (Op, Op)) -> Edit<Option<Op>> {
    let before = program.previous(call);
    let copy = program.clone_before(function, call)?;
    nameless(program, copy)?;
    let body = program.body(copy).ok_or(ErrorKind::Broken)?;
    let mut number = 0usize;
    loop {
        let parameter = program.arguments(body).nth(number);
        let Some(parameter) = parameter else { break };
        let mut value = program.operand(call, number).ok_or(ErrorKind::Stale)?;
        if repeats_number(program, parameter, value) {
            value = made_by(program, call, OpRole::Constant, &[value], Type::INDEX)?;
        }
        program.replace_all_uses(parameter, value)?;
        number = number.saturating_add(1);
    }
    if let Some(end) = program.terminator(body) {
        let mut number = 0usize;
        while let Some(result) = program.result(call, number) {
            let value = program.operand(end, number).ok_or(ErrorKind::Stale)?;
            program.replace_all_uses(result, value)?;
            number = number.saturating_add(1);
        }
        program.erase(end)?;
    }
    while let Some(op) = program.first(body) {
        program.move_before(op, call)?;
    }
    program.erase(copy)?;
    let block = program.block_of(call);
    let mut first = match before {
        Some(before) => program.next(before),
        None => block.and_then(|block| program.first(block)),
    };
    if first == Some(call) {
        first = program.following(call, Some(kernel));
    }
    program.erase(call)?;
    Ok(first)
}

/// Whether a number of the text stands for an index that fills a tile, which has the index's type
/// then.
fn repeats_number(program: &Program<'_, '_>, parameter: Value, value: Value) -> bool {
    let fills =
        |place| program.user(place).is_some_and(|user| program.role(user) == OpRole::Broadcast);
    let is_index = program.type_of(parameter).kind == TypeKind::Index;
    let is_number = matches!(program.def(value), Def::Literal(_));
    is_index && is_number && program.uses(parameter).any(fills)
}

/// Takes the names of everything in a copied function: they need not be free where it stands.
fn nameless(program: &mut Program<'_, '_>, copy: Op) -> Edit {
    let mut at = Some(copy);
    while let Some(op) = at {
        let mut number = 0usize;
        while let Some(value) = program.result(op, number) {
            lose_name(program, value)?;
            number = number.saturating_add(1);
        }
        let mut number = 0usize;
        loop {
            let block = program.regions(op).flat_map(|region| program.blocks(region)).nth(number);
            let Some(block) = block else { break };
            let mut value = program.arguments(block).next();
            while let Some(argument) = value {
                lose_name(program, argument)?;
                value = program.value_data(argument).and_then(|data| data.next);
            }
            number = number.saturating_add(1);
        }
        at = program.following(op, Some(copy)).filter(|next| program.is_inside(*next, copy));
    }
    Ok(())
}

/// Leaves one function of a program, outside of any module.
fn alone(program: &mut Program<'_, '_>, kernel: Op) -> Edit {
    let mut outer = kernel;
    while let Some(parent) = program.parent(outer) {
        outer = parent;
    }
    program.move_before(kernel, outer)?;
    let mut at = program.first(program.root());
    while let Some(op) = at {
        at = program.next(op);
        // A module goes with the functions in it.
        let holds = program.inside(op).any(|inner| program.role(inner) == OpRole::Function);
        let is_empty_module = program.is_module(op) && program.inside(op).next().is_none();
        let is_function = program.role(op) == OpRole::Function;
        if op != kernel && (is_function || holds || is_empty_module) {
            program.erase(op)?;
        }
    }
    Ok(())
}

fn lose_name(program: &mut Program<'_, '_>, value: Value) -> Edit {
    program.pools.edit::<ValueData>(value.index(), |data| data.name = TextRef::EMPTY)
}
