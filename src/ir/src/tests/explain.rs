//! Each error says what is wrong in words.

use crate::WantedType;
use crate::rewrite::RunError;
use crate::verify::contract::{At, BreachKind, ValueList};
use crate::{EncodingFault, ErrorKind, GridError, IrError, Lexeme, Pool, SourcePlace, ValueSlot};
use lanebook_layout::every_variant_speaks;
use lanebook_layout::triton::EncodingField;
use lanebook_tables::{Elements, RuleId};
use std::string::ToString;

#[test]
fn errors_of_programs() {
    let (least, most, found) = (1, 2, 3);
    let (left, right) = (ValueSlot::Operand(0), ValueSlot::Result(1));
    let (operand, want) = (0, WantedType::Matrix);
    let (a, b) = (None, None);
    let fault = EncodingFault::NotCovered { dim: 1 };
    let count = every_variant_speaks!(ErrorKind:
        Expected { want: Lexeme::Arrow, got: Lexeme::Char(b'=') }, UnknownOp, LoweredOp, UnknownDtype, Undefined,
        Redefined { line: 3 }, AliasRedefined, ResultNumber { results: 2 }, NumberTooLarge, Unclosed,
        AttrTwice, Extent, Capacity { pool: Pool::Ops, limit: 9 },
        OperandCount { least, most, found }, ResultCount { least, most, found },
        TypeCount { values: 1, types: 2 }, RegionCount { expected: 1, found },
        WrittenType { operand }, NotDominated { operand }, OperandKind { operand, want },
        ResultKind { result: 0, want },
        Extents { left, left_dimension: 0, right, right_dimension: 1, a: 8, b: 16 },
        Ranks { left, right, a: 1, b: 2 }, Elements { a: 1, b: 2 }, Dtypes { left, right, a, b },
        Blocks { depth: 48, blocks: 5 }, Types { left, right }, Subscripts { rank: 2, found },
        RegionValues { needed: 1, found }, NoTerminator, EarlyTerminator, AttrValue, LayoutText,
        AliasCycle, Encoding { fault }, LayoutSize { layout: 8, tile: 16 }, LoopStep,
        ConstantLiteral, Stale, StillUsed, UnknownWord, Misplaced, Broken,
        UnknownFunction, SeveralKernels { functions: 2 }, NoKernel,
        CallCircle { functions: [None; 8] }, IdleAttr, ReturnedTypes, WhileForm, StageForm, LabelForm, AtomicWords, FencedStages,
        TensorForm, TensorLayout, CarriedIndex, UnsettledIndex, IndexBits, FarPointer, CountedForm, Combination, CombinedTwice, PointerForm, BufferForm, DescriptorForm, RankForm, RankLayout, RankCount { found: 128, most: 64 }, PairForm, PairMixed, ModuleThreads { threads: 128 }, ModuleWarps, ModuleClusters);
    assert!(count > 40);
    let at = SourcePlace { line: 3, column: 9, ..SourcePlace::NOWHERE };
    let kind = ErrorKind::OperandCount { least: 1, most: 255, found: 0 };
    assert_eq!(
        IrError { kind, at }.to_string(),
        "line 3, column 9: wrong number of operands: takes 1 or more, 0 given"
    );
}

#[test]
fn errors_of_layouts_grids_and_runs() {
    let field = EncodingField::Order;
    every_variant_speaks!(EncodingFault:
        Rank { field, expected: 2, found: 1 }, NotPowerOfTwo { field, value: 3 },
        BadValue { field, value: 3 }, NotAnOrder { at: 0, value: 7 },
        NotAPermutation { input: 1, bit: 2 }, NotCovered { dim: 1 },
        SpanTooShort { needed: 8, found: 4 }, TooFewRows { needed: 8, found: 4 });
    every_variant_speaks!(GridError: Form, Expression, Name, Range);
    every_variant_speaks!(RunError<ErrorKind>:
        Fuel { limit: 3 }, Work { capacity: 4 }, BadRule { rule: RuleId(1) }, Graph(ErrorKind::Stale));
}

#[test]
fn breaches_of_the_contract() {
    let at = At { side: ValueList::Operand, number: 1 };
    let (least, most) = (1, 2);
    let count = every_variant_speaks!(BreachKind:
        Operation, Undeclared, Outside, Function, Region, Yield, Attr, AttrTwice,
        AttrForm { attr: 0 }, AttrRange { attr: 0, value: -3 }, AttrShape { attr: 0 },
        AttrMissing { attr: 0 }, Count { side: ValueList::Result, least, most, found: 3 },
        Kind { at, want: 1, found: 2 }, Rank { at, least, most, found: 3 },
        Element { at, want: Elements::Bytes }, Subscripts { operand: 0, needed: 2, found: 1 },
        Subscript { operand: 0, number: 1 }, Layout { at, found: 1, obeyed: 0 }, LayoutTwice,
        LayoutName, Literal { bits: 16 }, NoContract);
    assert!(count > 20);
}
