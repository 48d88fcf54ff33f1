//! A smaller program that is still wrong in the same way.

use super::program::{Argument, Id, Loop, OtherPart, Place, Program, Statement, Type, bytes};
use std::collections::{BTreeMap, BTreeSet};

/// Most programs that are tried.
const TRIES: usize = 1500;

/// The smallest program found for which `wrong` still holds.
pub fn shrink(program: &Program, mut wrong: impl FnMut(&Program) -> bool) -> Program {
    let mut best = program.clone();
    let mut tries = 0;
    loop {
        let mut smaller = None;
        for edit in edits(&best) {
            tries += 1;
            if tries > TRIES {
                return best;
            }
            let candidate = tidy(&edit);
            if candidate != best && wrong(&candidate) {
                smaller = Some(candidate);
                break;
            }
        }
        match smaller {
            Some(program) => best = program,
            None => return best,
        }
    }
}

/// What becomes of a statement.
#[derive(Clone, Copy, PartialEq)]
enum Edit {
    Remove,
    /// The result of an operation is its first operand of that type.
    Bypass(usize),
    /// A loop's body in place of the loop.
    Unwrap,
    DropCarried(usize),
    /// Without a written layout, with a bound that is known.
    Plain,
}

fn edits(program: &Program) -> Vec<Program> {
    let count = size(&program.body);
    let mut out = Vec::new();
    // Halves and quarters of the program first.
    for part in [2, 4, 8] {
        let wide = count.div_ceil(part);
        out.extend(
            (0..part)
                .map(|p| edited(program, &|n| (n / wide.max(1) == p).then_some(Edit::Remove)))
                .filter(|_| count > part * 2),
        );
    }
    for kind in [
        Edit::Remove,
        Edit::Unwrap,
        Edit::DropCarried(0),
        Edit::DropCarried(1),
        Edit::DropCarried(2),
        Edit::Bypass(0),
        Edit::Bypass(1),
        Edit::Bypass(2),
        Edit::Plain,
    ] {
        out.extend((0..count).rev().map(|at| edited(program, &|n| (n == at).then_some(kind))));
    }
    out.extend((0..program.types.len()).filter_map(|tile| forwarded(program, tile)));
    out.extend((0..program.types.len()).filter_map(|tile| straight(program, tile)));
    out.extend((0..program.types.len()).filter_map(|tile| unshaped(program, tile)));
    if program.threads > 32 {
        out.push(Program {
            threads: program.threads / 2,
            layouts: BTreeMap::new(),
            ..program.clone()
        });
    }
    let extents: BTreeSet<u32> = program
        .types
        .iter()
        .flat_map(|t| t.shape.iter().copied())
        .filter(|e| *e > 8 && e % 2 == 0)
        .collect();
    out.extend(extents.iter().rev().map(|e| halved(program, *e, e / 2)));
    out.extend(
        extents
            .iter()
            .rev()
            .filter(|e| !e.is_power_of_two())
            .map(|e| halved(program, *e, 1 << e.ilog2())),
    );
    let mut aligned = program.clone();
    for argument in &mut aligned.arguments {
        if let Argument::Tensor { align, extents, element, div, .. } = argument {
            (*align, *div) = (16, 16 / bytes(element));
            extents.iter_mut().for_each(|e| *e = None);
        }
    }
    out.push(aligned);
    for (number, argument) in program.arguments.iter().enumerate() {
        let Argument::Tensor { bounds, .. } = argument else { continue };
        for dim in (0..bounds.len()).filter(|dim| bounds[*dim] != "_") {
            let mut fewer = program.clone();
            if let Argument::Tensor { bounds, .. } = &mut fewer.arguments[number] {
                bounds[dim] = "_".to_string();
                if bounds.iter().all(|bound| bound == "_") {
                    bounds.clear();
                }
            }
            out.push(fewer);
        }
    }
    for id in program.layouts.keys() {
        let mut plain = program.clone();
        plain.layouts.remove(id);
        out.push(plain);
    }
    out
}

fn size(block: &[Statement]) -> usize {
    let inside = |s: &Statement| match s {
        Statement::For(l) => l.bodies().into_iter().map(size).sum(),
        Statement::Region { body, .. } => size(body),
        _ => 0,
    };
    block.iter().map(|s| 1 + inside(s)).sum()
}

/// What is stored to a shared tile in place of what is loaded from it.
fn forwarded(program: &Program, tile: Id) -> Option<Program> {
    let mut stored = None;
    let mut renamed = Renamed::new();
    let mut blocks = vec![program.body.as_slice()];
    while let Some(body) = blocks.pop() {
        for statement in body {
            match statement {
                Statement::For(l) => blocks.extend(l.bodies()),
                Statement::Store { value, to: Place::Shared(to) } if *to == tile => {
                    stored = Some(*value)
                }
                Statement::Load { out, from: Place::Shared(from) } if *from == tile => {
                    renamed.extend(
                        stored
                            .filter(|value| program.types[*value] == program.types[*out])
                            .map(|value| (*out, value)),
                    );
                }
                _ => {}
            }
        }
    }
    (!renamed.is_empty())
        .then(|| Program { body: rename(&program.body, &renamed), ..program.clone() })
}

/// A load of any tensor in place of what makes another shape of a tile.
fn unshaped(program: &Program, tile: Id) -> Option<Program> {
    fn place(body: &[Statement], types: &[Type], ty: &Type) -> Option<Place> {
        body.iter().find_map(|statement| match statement {
            Statement::For(l) => l.bodies().into_iter().find_map(|body| place(body, types, ty)),
            Statement::Load { out, from: from @ Place::Global(..) }
            | Statement::Copy { from: from @ Place::Global(..), to: Place::Shared(out), .. } => {
                let own = &types[*out];
                let alike = own.element == ty.element && own.shape.len() == ty.shape.len();
                alike.then(|| from.clone())
            }
            _ => None,
        })
    }
    fn replace(body: &mut [Statement], tile: Id, place: &Place) -> bool {
        body.iter_mut().any(|statement| match statement {
            Statement::For(l) => l.bodies_mut().into_iter().any(|body| replace(body, tile, place)),
            Statement::Op { name: "reshape", out, .. } if *out == tile => {
                *statement = Statement::Load { out: tile, from: place.clone() };
                true
            }
            _ => false,
        })
    }
    let place = place(&program.body, &program.types, &program.types[tile])?;
    let mut out = program.clone();
    replace(&mut out.body, tile, &place).then_some(out)
}

/// Loads from global memory in place of loads from a shared tile that is copied from there.
fn straight(program: &Program, tile: Id) -> Option<Program> {
    fn source(body: &[Statement], tile: Id) -> Option<Place> {
        body.iter().find_map(|statement| match statement {
            Statement::For(l) => l.bodies().into_iter().find_map(|body| source(body, tile)),
            Statement::Copy { from: from @ Place::Global(..), to: Place::Shared(to), .. } => {
                (*to == tile).then(|| from.clone())
            }
            _ => None,
        })
    }
    fn replace(body: &mut [Statement], tile: Id, place: &Place) -> bool {
        let mut any = false;
        for statement in body {
            match statement {
                Statement::For(l) => {
                    for body in l.bodies_mut() {
                        any |= replace(body, tile, place);
                    }
                }
                Statement::Load { from, .. } if *from == Place::Shared(tile) => {
                    *from = place.clone();
                    any = true;
                }
                _ => {}
            }
        }
        any
    }
    let place = source(&program.body, tile)?;
    let mut out = program.clone();
    replace(&mut out.body, tile, &place).then_some(out)
}

/// Statements are counted before those of their bodies.
fn edited(program: &Program, edit: &dyn Fn(usize) -> Option<Edit>) -> Program {
    let mut out = program.clone();
    let mut number = 0;
    let mut renamed = BTreeMap::new();
    out.body = block(&out.body, &out.types, edit, &mut number, &mut renamed);
    out.body = rename(&out.body, &renamed);
    out
}

type Renamed = BTreeMap<Id, Id>;

fn block(
    body: &[Statement],
    types: &[Type],
    edit: &dyn Fn(usize) -> Option<Edit>,
    number: &mut usize,
    renamed: &mut Renamed,
) -> Vec<Statement> {
    let mut out = Vec::new();
    for statement in body {
        let wish = edit(*number);
        *number += 1;
        if let Statement::Region { head, body } = statement {
            let body = block(body, types, edit, number, renamed);
            match wish {
                Some(Edit::Remove) => {}
                Some(Edit::Unwrap) => out.extend(body),
                _ => out.push(Statement::Region { head: head.clone(), body }),
            }
            continue;
        }
        let Statement::For(l) = statement else {
            out.extend(single(statement, types, wish, renamed));
            continue;
        };
        let mut l = l.clone();
        for body in l.bodies_mut() {
            *body = block(body, types, edit, number, renamed);
        }
        match wish {
            Some(Edit::Remove) => {}
            Some(Edit::Unwrap) => {
                for c in &l.carried {
                    renamed.insert(c.inside, c.start);
                    renamed.insert(c.result, c.yielded);
                }
                match l.other {
                    Some(_) => out.extend(l.body),
                    None => out.extend(without_counter(&l.body, &l.counter, &l.from)),
                }
            }
            Some(Edit::DropCarried(k)) if k < l.carried.len() => {
                let c = l.carried.remove(k);
                if let Some(other) = &mut l.other {
                    other.passed.remove(k);
                }
                renamed.insert(c.inside, c.start);
                renamed.insert(c.result, c.start);
                out.push(Statement::For(l));
            }
            Some(Edit::Plain) if l.other.is_some() => {
                let passed = l.carried.iter().map(|c| c.start).collect();
                l.other = Some(OtherPart { body: Vec::new(), passed });
                out.push(Statement::For(l));
            }
            Some(Edit::Plain) => {
                out.push(Statement::For(Loop { to: (l.step * 2).to_string(), ..l }))
            }
            _ => out.push(Statement::For(l)),
        }
    }
    out
}

fn single(
    statement: &Statement,
    types: &[Type],
    wish: Option<Edit>,
    renamed: &mut Renamed,
) -> Option<Statement> {
    match (wish, statement) {
        (Some(Edit::Remove), _) => None,
        (Some(Edit::Bypass(k)), Statement::Op { ins, out, .. })
            if ins.get(k).is_some_and(|i| types[*i] == types[*out]) =>
        {
            renamed.insert(*out, ins[k]);
            None
        }
        (Some(Edit::Plain), Statement::Alloc { out, .. }) => {
            Some(Statement::Alloc { out: *out, layout: None })
        }
        _ => Some(statement.clone()),
    }
}

fn each_place(statement: &mut Statement, f: &dyn Fn(&mut Place)) {
    match statement {
        Statement::Copy { from, to, .. } => {
            f(from);
            f(to);
        }
        Statement::Load { from: place, .. } | Statement::Store { to: place, .. } => f(place),
        Statement::LoadSome { from: place, .. } | Statement::StoreSome { to: place, .. } => {
            f(place)
        }
        Statement::For(l) => l.bodies_mut().into_iter().flatten().for_each(|s| each_place(s, f)),
        _ => {}
    }
}

fn without_counter(body: &[Statement], counter: &str, from: &str) -> Vec<Statement> {
    let mut out = body.to_vec();
    let replace = |place: &mut Place| {
        if let Place::Global(_, at) = place {
            at.iter_mut().filter(|s| *s == counter).for_each(|s| *s = from.to_string());
        }
    };
    out.iter_mut().for_each(|s| each_place(s, &replace));
    out
}

fn rename(body: &[Statement], renamed: &Renamed) -> Vec<Statement> {
    let last = |mut id: Id| {
        for _ in 0..=renamed.len() {
            id = renamed.get(&id).copied().unwrap_or(id);
        }
        id
    };
    let mut out = body.to_vec();
    for statement in &mut out {
        match statement {
            Statement::Op { ins, .. } => ins.iter_mut().for_each(|i| *i = last(*i)),
            Statement::Store { value, .. } => *value = last(*value),
            Statement::LoadSome { index, mask, other, .. } => {
                *index = index.map(|(id, axis)| (last(id), axis));
                (*mask, *other) = (mask.map(last), other.map(last));
            }
            Statement::StoreSome { value, index, mask, combines, .. } => {
                *index = index.map(|(id, axis)| (last(id), axis));
                (*value, *mask) = (last(*value), mask.map(last));
                combines.compared = combines.compared.map(last);
            }
            Statement::For(l) => {
                for c in &mut l.carried {
                    (c.start, c.yielded) = (last(c.start), last(c.yielded));
                }
                for id in l.other.iter_mut().flat_map(|other| &mut other.passed) {
                    *id = last(*id);
                }
                for body in l.bodies_mut() {
                    *body = rename(body, renamed);
                }
            }
            _ => {}
        }
    }
    out
}

/// Every extent of this size made another one, with the steps, promises and layouts that name it.
fn halved(program: &Program, extent: u32, smaller: u32) -> Program {
    fn body(block: &mut [Statement], extent: u32, smaller: u32) {
        for statement in block {
            match statement {
                Statement::For(l) => {
                    if l.step == extent {
                        l.step = smaller;
                    }
                    for part in l.bodies_mut() {
                        body(part, extent, smaller);
                    }
                }
                Statement::Copy { ty, .. } => {
                    ty.shape.iter_mut().filter(|e| **e == extent).for_each(|e| *e = smaller)
                }
                Statement::Alloc { layout, .. } => *layout = None,
                _ => {}
            }
        }
    }
    let mut out = program.clone();
    // Their layouts are of their old extents.
    out.layouts.retain(|id, _| !program.types[*id].shape.contains(&extent));
    out.types
        .iter_mut()
        .flat_map(|t| t.shape.iter_mut())
        .filter(|e| **e == extent)
        .for_each(|e| *e = smaller);
    body(&mut out.body, extent, smaller);
    out
}

/// Without statements that name what is no longer there, and without arguments that nothing names.
#[must_use]
pub fn tidy(program: &Program) -> Program {
    let mut out = program.clone();
    out.body = defined(&out.body, &mut BTreeSet::new());
    let values = all_defined(&out.body);
    out.layouts.retain(|id, _| values.contains(id));
    let used: BTreeSet<usize> = out.body.iter().flat_map(Statement::tensors).collect();
    let text = out.text("f");
    let body = text.split_once("{threads").map_or("", |(_, rest)| rest);
    let bounds: BTreeSet<String> = (0..)
        .zip(&out.arguments)
        .filter(|(number, _)| used.contains(number))
        .filter_map(|(_, argument)| match argument {
            Argument::Tensor { bounds, .. } => Some(bounds.iter().cloned()),
            Argument::Index { .. } | Argument::Number { .. } => None,
        })
        .flatten()
        .collect();
    let named = |name: &str| {
        bounds.contains(&format!("%{name}"))
            || body.contains(&format!("%{name},"))
            || body.contains(&format!("%{name}]"))
            || body.contains(&format!("%{name})"))
            || body.contains(&format!("%{name} "))
    };
    let mut numbers = BTreeMap::new();
    let mut arguments = Vec::new();
    for (k, argument) in out.arguments.iter().enumerate() {
        let keep = match argument {
            Argument::Tensor { .. } => used.contains(&k),
            Argument::Index { name, .. } | Argument::Number { name, .. } => named(name),
        };
        if keep {
            numbers.insert(k, arguments.len());
            arguments.push(argument.clone());
        }
    }
    out.arguments = arguments;
    let renumber = |place: &mut Place| {
        if let Place::Global(number, _) = place {
            *number = numbers.get(number).copied().unwrap_or(*number);
        }
    };
    out.body.iter_mut().for_each(|s| each_place(s, &renumber));
    out.body.iter_mut().for_each(|s| each_line(s, &numbers));
    out
}

/// Other numbers for the tensors that lines name.
fn each_line(statement: &mut Statement, numbers: &BTreeMap<usize, usize>) {
    match statement {
        Statement::For(l) => {
            l.bodies_mut().into_iter().flatten().for_each(|s| each_line(s, numbers))
        }
        Statement::Region { body, .. } => body.iter_mut().for_each(|s| each_line(s, numbers)),
        Statement::Line(text) => {
            let mut parts = text.split("%A");
            let mut out = parts.next().unwrap_or("").to_string();
            for part in parts {
                let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
                let number = part[..end].parse().ok().and_then(|n: usize| numbers.get(&n));
                let number = number.map_or(part[..end].to_string(), usize::to_string);
                out.push_str(&format!("%A{number}{}", &part[end..]));
            }
            *text = out;
        }
        _ => {}
    }
}

/// Values that any block defines.
fn all_defined(body: &[Statement]) -> BTreeSet<Id> {
    let mut out: BTreeSet<Id> = body.iter().flat_map(Statement::defines).collect();
    for statement in body {
        if let Statement::For(l) = statement {
            out.extend(l.carried.iter().map(|c| c.inside));
            out.extend(l.bodies().into_iter().flat_map(all_defined));
        }
    }
    out
}

fn defined(body: &[Statement], known: &mut BTreeSet<Id>) -> Vec<Statement> {
    let mut out = Vec::new();
    for statement in body {
        if let Statement::For(l) = statement {
            let mut l = l.clone();
            if let Some(other) = &mut l.other {
                let mut kept = l.carried.iter().map(|c| known.contains(&c.start));
                other.passed.retain(|_| kept.next().unwrap_or(false));
            }
            l.carried.retain(|c| known.contains(&c.start));
            if let Some(other) = &mut l.other {
                let mut inner = known.clone();
                other.body = defined(&other.body, &mut inner);
                for (id, c) in other.passed.iter_mut().zip(&l.carried) {
                    *id = if inner.contains(id) { *id } else { c.start };
                }
            }
            let mut inner = known.clone();
            inner.extend(l.carried.iter().map(|c| c.inside));
            l.body = defined(&l.body, &mut inner);
            l.carried
                .iter_mut()
                .filter(|c| !inner.contains(&c.yielded))
                .for_each(|c| c.yielded = c.inside);
            known.extend(l.carried.iter().map(|c| c.result));
            out.push(Statement::For(l));
        } else if let Statement::Region { head, body } = statement {
            let body = defined(body, &mut known.clone());
            out.push(Statement::Region { head: head.clone(), body });
        } else if statement.names().iter().all(|n| known.contains(n)) {
            known.extend(statement.defines());
            out.push(statement.clone());
        }
    }
    out
}
