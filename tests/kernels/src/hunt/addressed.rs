//! Indices that memory says: pages of a table, offsets of rows of many lengths, conditions. They
//! are subscripts, bounds and what branches are chosen by, alone and in arithmetic.

use super::generate::Generator;
use super::kinds::same_type;
use super::program::{Argument, Id, Place, Statement, Type};

/// A table of numbers.
struct Table {
    /// The argument's number.
    number: usize,
    /// Its elements.
    element: &'static str,
}

pub(super) fn addressed(g: &mut Generator) {
    let tables: Vec<Table> = (0..1 + g.choices.below(2)).map(|_| table(g)).collect();
    let (rows, cols) = (g.choices.of(&[8, 16, 32, 1]), g.choices.of(&[32, 64, 16, 128]));
    let ty = Type::of(rows, cols, g.choices.of(&["f32", "f16", "i32", "f32", "i8"]));
    let first = g.choices.of(&["%p", "0", "3"]).to_string();
    let place = loaded(g, &tables, &first);
    let from = begun(g, &ty, &place);
    let mut value = taken(g, &ty, &from);
    for _ in 0..1 + g.choices.below(3) {
        value = match g.choices.below(5) {
            0 => {
                let at = loaded(g, &tables, &place);
                let from = begun(g, &ty, &at);
                joined(g, value, &ty, &from)
            }
            1 | 2 => turns(g, &tables, &ty, value),
            3 => {
                let kind = g.choices.of(&["slt", "sge", "eq", "ne"]);
                let by = g.choices.of(&["7", "%p", "4"]);
                let is_alone = g.choices.once_in(4);
                let holds = match is_alone {
                    true => place.clone(),
                    false => g.named("index.cmp", &[&place, &format!("{by} {{kind = {kind}}}")]),
                };
                let of = place.clone();
                let part = |g: &mut Generator| {
                    let from = begun(g, &ty, &of);
                    vec![joined(g, value, &ty, &from)]
                };
                let has_second = g.choices.once_in(2);
                g.branch(&holds, &[value], part, has_second.then_some(part))[0]
            }
            _ => {
                let back = g.index("index.sub", &place, "5");
                let name = g.choices.of(&["index.max", "index.maxu"]);
                let back = match name {
                    "index.max" => g.index(name, &back, "0"),
                    _ => g.index("index.remu", &back, "16"),
                };
                let from = begun(g, &ty, &back);
                joined(g, value, &ty, &from)
            }
        };
    }
    if g.choices.once_in(2) {
        let number = g.tensor(&ty);
        let corner = vec![begun(g, &ty, &place), "0".to_string()];
        g.push(Statement::Store { value, to: Place::Global(number, corner) });
    } else {
        g.store(value);
    }
}

fn table(g: &mut Generator) -> Table {
    let element = g.choices.of(&["i32", "i32", "i64", "u32", "i16", "u8"]);
    g.program.arguments.push(Argument::Tensor {
        extents: vec![None],
        element,
        align: g.choices.of(&[16, 8]),
        div: 1,
        bounds: Vec::new(),
    });
    Table { number: g.program.arguments.len() - 1, element }
}

/// A number of a table, by its name: as it is where it has 32 bits, or cast.
fn loaded(g: &mut Generator, tables: &[Table], at: &str) -> String {
    let Table { number, element } = tables[g.choices.below(tables.len())];
    let (out, memref) = (g.new_counter(), g.program.memref(number));
    g.push(Statement::Line(format!("{out} = tiled_load %A{number}[{at}] : {memref} -> {element}")));
    if element == "i32" && g.choices.once_in(2) {
        return out;
    }
    let cast = g.new_counter();
    g.push(Statement::Line(format!("{cast} = index.cast {out} : {element} to index")));
    cast
}

/// Where a tile begins.
fn begun(g: &mut Generator, ty: &Type, place: &str) -> String {
    match g.choices.below(4) {
        0 => g.index("index.mul", place, &ty.shape[0].to_string()),
        1 => g.index("index.add", place, "3"),
        _ => place.to_string(),
    }
}

/// A tile that begins in a row.
fn taken(g: &mut Generator, ty: &Type, row: &str) -> Id {
    let number = g.tensor(ty);
    let from = Place::Global(number, vec![row.to_string(), "0".to_string()]);
    g.brought(from, ty)
}

fn joined(g: &mut Generator, value: Id, ty: &Type, row: &str) -> Id {
    let other = taken(g, ty, row);
    let name = g.choices.of(&["add", "max", "min"]);
    g.op(name, vec![value, other], ty.clone(), "")
}

/// A loop over places of a table, or from one of its numbers to another.
fn turns(g: &mut Generator, tables: &[Table], ty: &Type, value: Id) -> Id {
    let counter = g.new_counter();
    if g.choices.once_in(2) {
        let (from, to) = (loaded(g, tables, "0"), loaded(g, tables, "6"));
        let step = g.choices.of(&[4, 8, 1, 16]);
        return g.repeat_from(&counter, (&from, &to), step, &[value], |g, inside| {
            vec![joined(g, inside[0], ty, &counter)]
        })[0];
    }
    let to = g.choices.of(&["2", "3", "%K"]);
    let step = if to == "%K" { 32 } else { 1 };
    g.repeat_from(&counter, ("0", to), step, &[value], |g, inside| {
        let mut place = loaded(g, tables, &counter);
        if g.choices.once_in(3) {
            place = loaded(g, tables, &place);
        }
        let from = begun(g, ty, &place);
        let next = joined(g, inside[0], ty, &from);
        vec![if g.choices.once_in(4) { same_type(g, next) } else { next }]
    })[0]
}
