//! What the tests share: reading, printing, comparing.
use crate::verify;
use crate::{Annotate, IrError, Options, Plain, Program, SmallStorage, Storage};
use crate::{parse, print};
use lanebook_tables::Tables;
use std::boxed::Box;
use std::string::{String, ToString};
use std::vec::Vec;

pub type BigStorage = Storage<1024, 2048, 4096, 2048, 256, 512, 8192>;

pub const GEMM: &str = include_str!("../../../../gen/cli/examples/gemm.tile");
pub const TRANSPOSE: &str = include_str!("../../../../gen/cli/examples/transpose.tile");

/// The tables of this build.
pub fn tables() -> &'static Tables<'static> {
    &lanebook::TABLES
}

pub const STRICT: Options = Options { keep_unknown: false, free_names: false };
pub const SNIPPET: Options = Options { keep_unknown: false, free_names: true };
pub const LOOSE: Options = Options { keep_unknown: true, free_names: true };

pub fn printed(program: &Program<'_, '_>) -> String {
    printed_with(program, &Plain)
}

pub fn printed_with(program: &Program<'_, '_>, annotate: &dyn Annotate) -> String {
    let mut out = String::new();
    print(program, annotate, &mut out).unwrap();
    out
}

/// Reads, verifies, prints, reads again: both programs must be equal. Answers the printed text.
pub fn round(text: &str, options: Options) -> String {
    let (mut first, mut second) = (Box::new(BigStorage::new()), Box::new(BigStorage::new()));
    let mut one = parse(first.pools(), tables(), text, options)
        .unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    verify(&mut one).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    let out = printed(&one);
    let mut two = parse(second.pools(), tables(), &out, options)
        .unwrap_or_else(|error| panic!("{error:?}\n{out}"));
    verify(&mut two).unwrap_or_else(|error| panic!("{error:?}\n{out}"));
    same(&one, &two);
    assert_eq!(printed(&two), out);
    out
}

/// Whether two programs are equal but for names of values and storage.
pub fn same(a: &Program<'_, '_>, b: &Program<'_, '_>) {
    use std::collections::HashMap;
    let mut values = HashMap::new();
    let type_text = |program: &Program<'_, '_>, value| {
        let ty = program.type_of(value);
        std::format!(
            "{:?} {:?} {:?} {:?} {} {:?}",
            ty.kind,
            ty.dtype,
            ty.space,
            ty.shape,
            program.text(ty.element),
            program.layout_text(&ty)
        )
    };
    let mut define = |x, y| {
        assert_eq!(type_text(a, x), type_text(b, y));
        values.insert(x, y);
    };
    for (x, y) in a.arguments(a.root()).zip(b.arguments(b.root())) {
        define(x, y);
    }
    let (left, right): (Vec<_>, Vec<_>) = (a.all().collect(), b.all().collect());
    assert_eq!(left.len(), right.len());
    for (x, y) in left.iter().zip(&right) {
        assert_eq!(a.results(*x).count(), b.results(*y).count());
        a.results(*x).zip(b.results(*y)).for_each(|(p, q)| define(p, q));
        assert_eq!(a.regions(*x).count(), b.regions(*y).count());
        for (p, q) in a.regions(*x).zip(b.regions(*y)) {
            assert_eq!(a.blocks(p).count(), b.blocks(q).count());
            for (p, q) in a.blocks(p).zip(b.blocks(q)) {
                assert_eq!(a.arguments(p).count(), b.arguments(q).count());
                for (p, q) in a.arguments(p).zip(b.arguments(q)) {
                    define(p, q);
                    let keys = |program: &Program<'_, '_>, value| {
                        program
                            .value_attrs(value)
                            .map(|attr| {
                                (program.text(attr.key).to_string(), attr_text(program, attr.value))
                            })
                            .collect::<Vec<_>>()
                    };
                    assert_eq!(keys(a, p), keys(b, q));
                }
            }
        }
    }
    for (x, y) in left.iter().zip(&right) {
        assert_eq!((a.decl_id(*x), a.op_name(*x)), (b.decl_id(*y), b.op_name(*y)));
        let operand = |program: &Program<'_, '_>, value| program.def(value);
        assert_eq!(a.all_operands(*x).count(), b.all_operands(*y).count(), "{}", a.op_name(*x));
        for (p, q) in a.all_operands(*x).zip(b.all_operands(*y)) {
            match (operand(a, p), operand(b, q)) {
                (
                    crate::Def::Literal(crate::Literal::Word(m)),
                    crate::Def::Literal(crate::Literal::Word(n)),
                ) => {
                    assert_eq!(a.text(m), b.text(n))
                }
                (crate::Def::Literal(m), crate::Def::Literal(n)) => assert_eq!(m, n),
                _ => assert_eq!(values.get(&p), Some(&q), "operand of {}", a.op_name(*x)),
            }
        }
        for (number, _) in a.operands(*x).enumerate() {
            assert_eq!(a.subscripts(*x, number).count(), b.subscripts(*y, number).count());
        }
        let attrs = |program: &Program<'_, '_>, op| {
            program
                .attrs(op)
                .map(|attr| (program.text(attr.key).to_string(), attr_text(program, attr.value)))
                .collect::<Vec<_>>()
        };
        assert_eq!(attrs(a, *x), attrs(b, *y));
        let blocks = |program: &Program<'_, '_>, op| program.parent(op).map(|op| program.order(op));
        assert_eq!(blocks(a, *x), blocks(b, *y));
    }
}

fn attr_text(program: &Program<'_, '_>, value: crate::AttrValue) -> String {
    use crate::AttrValue::*;
    match value {
        Str(name) | Word(name) | Symbol(name) | Alias(name) | Layout(name) | List(name)
        | Text(name) => program.text(name).to_string(),
        Operand(_) => "operand".to_string(),
        Int(number, ty) => std::format!("{number} {:?}", ty.map(|ty| program.type_at(ty))),
        other => std::format!("{other:?}"),
    }
}

/// The error of a text: of reading, or else of verifying.
pub fn error(text: &str) -> IrError {
    error_with(text, STRICT)
}

pub fn error_with(text: &str, options: Options) -> IrError {
    let mut storage = Box::new(BigStorage::new());
    match parse(storage.pools(), tables(), text, options) {
        Err(error) => error,
        Ok(mut program) => verify(&mut program).expect_err("an error"),
    }
}

pub fn small() -> Box<SmallStorage> {
    Box::new(SmallStorage::new())
}
