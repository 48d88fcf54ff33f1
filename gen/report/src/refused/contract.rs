//! What of a program is not in the contract of `compile`: in words, with what would be.
use super::at;
use crate::problem::Problem;
use crate::program::Source;
use lanebook::ir::contract::{At, Breach, BreachKind, ValueList};
use lanebook::ir::{AttrValue, Program, attr_names};
use lanebook_suggest::nearest;
use lanebook_tables::contract::{kind, notation};
use lanebook_tables::{AttrContract, AttrForm, OpContract, SlotContract, Tables};

/// Words of a set of bits.
fn words(bits: u8, all: &[(u8, &'static str)], say: impl Fn(u8) -> &'static str) -> String {
    let named: Vec<&str> =
        all.iter().filter(|(bit, _)| bits & bit != 0).map(|(bit, _)| say(*bit)).collect();
    named.join(" or ")
}

/// Kinds of values in words.
pub fn kinds(bits: u8) -> String {
    words(bits, &kind::NAMES, |bit| match bit {
        kind::REGISTERS => "a tile in registers (`tensor<..>`)",
        kind::SHARED => "a tile in shared memory (`tensor<.., #smem>`)",
        kind::GLOBAL => "a tensor in global memory (`memref<.., #gmem>`)",
        kind::INDEX => "an index",
        kind::NUMBER => "a whole number",
        kind::TENSOR => "a tile in tensor memory (`tensor<.., #tmem>`)",
        kind::SCALAR => "an argument of 32 bits (`%s: f32`)",
        _ => "a number",
    })
}

/// Notations in words.
pub fn notations(bits: u8) -> String {
    words(bits, &notation::NAMES, |bit| match bit {
        notation::LANES => "TIRx over lanes (`S[(8,4,2):(4@laneid,1@laneid,32@bit)]`)",
        notation::TIRX => "TIRx over memory (`S[(64,64):(72,1)]`)",
        notation::CUTE => "CuTe (`(64,64):(1,72)`)",
        notation::TILEAS => "a TileAS descriptor (`<(64,64),(64,1)>`)",
        notation::TRITON => "Triton's (`#ttg.blocked<{..}>`)",
        notation::TILELANG => "TileLang's (`T.Fragment(..)`, `{thread = .., index = ..}`)",
        _ => "no notation that is known",
    })
}

/// What an attribute's value may be, in words.
pub fn form(form: &AttrForm<'_>) -> String {
    match form {
        AttrForm::Unit => "no value".into(),
        AttrForm::Int(least, most) => format!("a whole number from {least} to {most}"),
        AttrForm::Power(least, most) => format!("a power of two from {least} to {most}"),
        AttrForm::Word(words) => format!("one of the words {}", words.join(", ")),
        AttrForm::Text => "a text in quotes".into(),
        AttrForm::Symbol => "a name, `@f`".into(),
        AttrForm::Ints(numbers) => format!(
            "the list [{}]",
            numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
        ),
        AttrForm::Grid => {
            "(x), (x, y) or (x, y, z): whole numbers and sums, differences, products, `cdiv(a, b)`, `min(a, b)`, `max(a, b)` of them and index arguments".into()
        }
        AttrForm::Bounds => {
            "a list in round brackets, of each dimension an index argument that is not signed, a whole number that is at most the type's extent, or `_`".into()
        }
        AttrForm::Dense => {
            "whole numbers above 0 as MLIR writes them, one or one for each dimension: `dense<16> : tensor<1xi32>`".into()
        }
        AttrForm::Map => {
            "a map with one result, as `affine_map<(d0)[s0] -> (d0 * 64 + s0)>` or a name that stands for one: a name for each operand, whole numbers of 32 bits, `+`, `-`, `*`, and `floordiv`, `ceildiv`, `mod` by a number above 0".into()
        }
        AttrForm::Layout(bits) => format!("a layout: {}", notations(*bits)),
    }
}

/// `2`, `2 to 3`, `2 or more`.
pub fn between(least: u8, most: u8) -> String {
    match (least, most) {
        (0, 0) => "none".into(),
        (a, u8::MAX) => format!("{a} or more"),
        (a, b) if a == b => a.to_string(),
        (a, b) => format!("{a} to {b}"),
    }
}

/// The place of the contract that a value is held against.
fn slot<'t>(contract: &OpContract<'t>, at: At) -> Option<&'t SlotContract<'t>> {
    let slots = match at.side {
        ValueList::Operand => contract.operands,
        ValueList::Result => contract.results,
        ValueList::Argument => contract.arguments,
    };
    let mut left = usize::from(at.number);
    slots.slice().iter().find(|slot| {
        let here = slot.count.1 == u8::MAX || left < usize::from(slot.count.1);
        left = left.saturating_sub(usize::from(slot.count.1));
        here
    })
}

fn this(contract: &OpContract<'_>, at: At) -> String {
    match slot(contract, at).map(|slot| slot.name.text()) {
        Some(name) if !name.is_empty() => format!("{} {} ({name})", at.side.describe(), at.number),
        _ => format!("{} {}", at.side.describe(), at.number),
    }
}

/// The value that is written behind a key, in words.
pub fn value_behind(source: &Source, key: lanebook::ir::SourcePlace) -> String {
    let end = (key.offset as usize).saturating_add(usize::from(key.len));
    let rest = source.text.get(end..).unwrap_or("").trim_start_matches('"').trim_start();
    let Some(rest) = rest.strip_prefix('=') else {
        // A map stands behind its operation's name.
        let end = match rest.as_bytes().first() {
            Some(b'#') => rest.find('('),
            Some(b'a') if rest.starts_with("affine_map<") => rest.find(">(").map(|end| end + 1),
            _ => None,
        };
        let map = end.and_then(|end| rest.get(..end)).map(|map| format!("`{map}`"));
        return map.unwrap_or_else(|| "there without a value".to_string());
    };
    // Up to the comma or bracket that ends it; an arrow's point is no bracket.
    let (mut depth, mut before) = (0i32, ' ');
    let value = rest.split(|c: char| {
        let ends = c == '\n' || depth <= 0 && (c == ',' || c == '}');
        let is_point = before == '-' && c == '>';
        depth += i32::from("[({<".contains(c)) - i32::from("])}>".contains(c) && !is_point);
        before = c;
        ends
    });
    format!("`{}`", value.into_iter().next().unwrap_or("").trim())
}

/// A breach of the contract, at its place in the text.
pub fn of_breach(
    tables: &Tables<'_>,
    program: &Program<'_, '_>,
    source: &Source,
    breach: Breach,
) -> Problem {
    let place = breach.at;
    let word = source
        .text
        .get(place.offset as usize..(place.offset as usize).saturating_add(usize::from(place.len)))
        .unwrap_or("");
    let name = place.op.map_or("?", |op| program.op_name(op));
    let refused = |what: String, remedy: String, label: String| {
        at(Problem::refused(what, remedy), source, place, label)
    };
    let number = place.op.and_then(|op| program.decl_id(op)).map_or(usize::MAX, |id| id.index());
    let Some(contract) = tables.contract.ops.get(number) else {
        return match breach.kind {
            BreachKind::Undeclared => refused(
                format!("`{name}` is no operation of rules/ops.ron"),
                "`lanebook ops` lists them".into(),
                String::new(),
            ),
            _ => refused(
                format!("these tables do not say what `compile` takes of `{name}`"),
                "add rules/contract.ron to them".into(),
                String::new(),
            ),
        };
    };
    let see = format!("`lanebook ops {name}` says what it takes");
    // Attributes of the operation, or of the argument that the key stands on.
    let of_argument = contract.arguments.iter().flat_map(|slot| slot.attrs.slice());
    let own = contract.attrs.slice();
    let inside = |key: &str| own.iter().any(|attr| attr.key == key);
    let written = |number: u8| -> Option<&AttrContract<'_>> {
        let named = |attr: &&AttrContract<'_>| {
            word == attr.key || word.ends_with(&format!(".{}", attr.key))
        };
        let hints = tables.contract.hints.iter();
        own.iter()
            .chain(of_argument.clone())
            .chain(hints)
            .find(named)
            .or_else(|| own.get(usize::from(number)))
    };
    match breach.kind {
        BreachKind::Operation => {
            let instead = if contract.instead.is_empty() { "`lanebook ops` lists what is".to_string() } else { contract.instead.to_string() };
            refused(format!("`{name}` is not compiled: {}", contract.refusal.text()), instead, String::new())
        }
        BreachKind::Outside => refused(format!("`{name}` stands outside of the function"), "move it into the function, or remove it".into(), String::new()),
        BreachKind::Function => {
            refused(breach.kind.to_string(), "compile each by itself (`--function NAME`)".into(), String::new())
        }
        BreachKind::Region => refused(format!("`{name}` has a region, or blocks, that `compile` does not follow"), see, String::new()),
        BreachKind::Yield => refused(
            format!("the body of `{name}` does not end with scf.yield"),
            "write `scf.yield` at its end, also where nothing is carried".into(),
            String::new(),
        ),
        BreachKind::Attr => {
            let keys: Vec<&str> = own.iter().chain(of_argument).map(|attr| attr.key).collect();
            // A word, a symbol or a map before the operands is an attribute whose key is not
            // written.
            let bare = place.op.into_iter().flat_map(|op| program.attrs(op)).map(|attr| program.text(attr.key)).find(|key| !keys.contains(key));
            let word = bare
                .filter(|key| place.op.and_then(|op| program.span(op)).is_some_and(|span| span.start == place.offset as usize && *key != word))
                .unwrap_or(word);
            let unwritten = match word {
                "results" => Some(("this function says result types, which nothing reads", "remove them; a kernel stores its results into memrefs")),
                "callee" | "map" | "name" | "prefix" => Some(("a name, map, text or word stands here that nothing follows from", "remove it")),
                _ => None,
            };
            if let Some((what, remedy)) = unwritten {
                return refused(what.into(), remedy.into(), String::new());
            }
            let in_snippet = place.op.is_some_and(|op| program.is_snippet(op));
            if in_snippet && own.iter().any(|attr| attr.key == word) {
                return refused(
                    format!("`{word}` says nothing of a snippet"),
                    "remove it: whoever inlines a snippet launches it".into(),
                    String::new(),
                );
            }
            let near = nearest(word, keys.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            let has = if keys.is_empty() { "none".to_string() } else { keys.join(", ") };
            refused(
                format!("`compile` obeys no attribute `{word}` of `{name}`"),
                format!("{near}attributes of `{name}`: {has}; remove it, nothing follows from it"),
                String::new(),
            )
        }
        BreachKind::AttrTwice => {
            refused(format!("attribute `{word}` is written twice, maybe with another prefix"), "remove one of the two".into(), String::new())
        }
        BreachKind::AttrForm { attr } => match written(attr) {
            Some(attr) => {
                // What has a syntax of its own stands there without its key.
                let given = match place.op.and_then(|op| program.attr(op, attr.key)) {
                    Some(AttrValue::Word(value)) if word != attr.key => format!("`{}`", program.text(value)),
                    _ => value_behind(source, place),
                };
                let near = match attr.form {
                    AttrForm::Word(words) => {
                        nearest(given.trim_matches(['`', '"']), words.iter().copied()).map_or_else(String::new, |near| format!("did you mean `{near}`? "))
                    }
                    _ => String::new(),
                };
                refused(
                    format!("attribute `{}` of `{name}` cannot be {given}: it takes {}", attr.key, form(&attr.form)),
                    format!("{near}{}", attr.doc.text()),
                    String::new(),
                )
            }
            None => refused(format!("attribute `{word}` of `{name}` has a value of another form"), see, String::new()),
        },
        BreachKind::AttrRange { attr, value } => match written(attr) {
            Some(attr) => {
                refused(format!("attribute `{}` of `{name}` is {value}: it takes {}", attr.key, form(&attr.form)), attr.doc.to_string(), String::new())
            }
            None => refused(format!("attribute `{word}` of `{name}` cannot be {value}"), see, String::new()),
        },
        BreachKind::AttrShape { .. } => refused(
            format!("attribute `{word}` of `{name}` says nothing with tiles of these shapes, or another thing than they do"),
            "remove it, or let it name the dimension of the result that the operand does not have".into(),
            String::new(),
        ),
        BreachKind::AttrMissing { attr } => {
            let attr = own.get(usize::from(attr)).filter(|attr| inside(attr.key));
            let (key, what, doc) = attr.map_or(("?", String::new(), ""), |attr| (attr.key, form(&attr.form), attr.doc.text()));
            let launched = if key == attr_names::THREADS {
                " Of a kernel that says no number of warps, as Triton's TTIR, `lanebook compile --num-warps N` says it."
            } else {
                ""
            };
            refused(
                format!("`{name}` does not say its attribute `{key}`"),
                format!("write {{{key} = ..}}, {what}. {doc}{launched}"),
                String::new(),
            )
        }
        BreachKind::Count { side: of, least, most, found } => {
            let slots = match of {
                ValueList::Operand => contract.operands,
                ValueList::Result => contract.results,
                ValueList::Argument => contract.arguments,
            };
            let names: Vec<&str> = slots.iter().map(|slot| slot.name.text()).collect();
            let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            refused(format!("{}s of `{name}`: {}{names}; {found} written", of.describe(), between(least, most)), see, String::new())
        }
        // The index that it would be is another parameter: which numbers are indices, and whether
        // they may be below zero, is the kernel's to say.
        BreachKind::Kind { at, want, found } if want & kind::INDEX != 0 && found == kind::SCALAR => refused(
            format!("{} of `{name}` must be an index, and this is a number that the kernel is given as data", this(contract, at)),
            "let the kernel take it as an index: `%k: index`, or `%k: index {signed}` where it may be below zero".into(),
            kinds(found),
        ),
        BreachKind::Kind { at, want, found } => {
            let is = if found == 0 { "no tile with extents, no memref in #gmem, no index".to_string() } else if want & kind::INDEX != 0 && found & kind::NUMBER != 0 {
                "a number below 0".to_string()
            } else {
                kinds(found)
            };
            refused(format!("{} of `{name}` must be {}", this(contract, at), kinds(want)), see, is)
        }
        BreachKind::Rank { at, least, most, found } => {
            refused(format!("{} of `{name}` is of rank {found}; taken: {}", this(contract, at), between(least, most)), see, String::new())
        }
        BreachKind::Element { at, want } => refused(
            format!("{} of `{name}` must have elements {}", this(contract, at), want.words()),
            if at.side == ValueList::Argument {
                "numbers of 32 bits (`f32`, `i32`) are passed: cast the tile that `broadcast` makes of one".into()
            } else {
                "cast it to another element type".into()
            },
            String::new(),
        ),
        BreachKind::Subscripts { operand, needed: 0, .. } => refused(
            format!("operand {operand} of `{name}` is a whole tile and takes no subscripts"),
            "remove them: only memrefs have subscripts".into(),
            String::new(),
        ),
        BreachKind::Subscripts { operand, needed, found } => refused(
            format!("operand {operand} of `{name}` is a memref of {needed} dimensions with {found} subscripts"),
            "write one index for each dimension: where the tile begins".into(),
            String::new(),
        ),
        BreachKind::Subscript { operand, number } => refused(
            format!("subscript {number} of operand {operand} of `{name}` is no index"),
            "use an index argument, a loop's counter, a number (of 0 or more where neither a bound nor a mask leaves out what is below zero), or index.div of one of these".into(),
            String::new(),
        ),
        BreachKind::Layout { at: At { side: ValueList::Argument, .. }, found, obeyed: 0 } => refused(
            "the layout written for this memref is not obeyed: its elements lie row by row, as far apart as its extents say".into(),
            "remove it; extents that are `?` and strides are parameters of the kernel".into(),
            notations(found),
        ),
        BreachKind::Layout { at, found, obeyed: 0 } => refused(
            format!("the layout written for {} of `{name}` is not obeyed: what lies where follows from what reads and writes it", this(contract, at)),
            "remove it".into(),
            notations(found),
        ),
        BreachKind::Layout { at, found, obeyed } => refused(
            format!("the layout written for {} of `{name}` is not obeyed in this notation", this(contract, at)),
            format!("write it in {}; or write none, and one is chosen", notations(obeyed)),
            notations(found),
        ),
        BreachKind::LayoutTwice => {
            refused(breach.kind.to_string(), "remove one of the two".into(), String::new())
        }
        BreachKind::LayoutName => {
            let known: Vec<&str> = program.aliases().map(|(alias, _)| program.text(alias)).collect();
            let near = nearest(word.trim_start_matches('#'), known.iter().copied()).map_or_else(String::new, |near| format!("did you mean `#{near}`? "));
            refused(
                format!("no layout is called `#{}`", word.trim_start_matches('#')),
                format!("{near}define it before the function: #name = LAYOUT"),
                String::new(),
            )
        }
        BreachKind::Literal { bits } => refused(
            breach.kind.to_string(),
            format!("write one that {bits} bits of this type hold: not too large, with a sign, an infinity (`inf`, `-inf`) or `nan` only where the type has one"),
            String::new(),
        ),
        BreachKind::Undeclared | BreachKind::NoContract => {
            refused(format!("`{name}` has no contract"), "`lanebook ops` lists operations".into(), String::new())
        }
        other => Problem::internal(other.to_string(), "report this with the program"),
    }
}
