//! What an instruction set says of kernels agrees with itself.
//!
//! Registers that are filled when a kernel begins are different ones. A set that says which block a
//! kernel is says how many there are, divides (by an instruction, or by counting zeros) and
//! compares with signs: places in memory are computed so. What is passed in a block of parameters
//! has an address. Tuples begin at multiples of a power of two.
use crate::compile::Compiled;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::model::{FixedRegister, Frame, Isa};
use crate::template::Piece;

/// Where a parameter is, in the frames of parameters.
const OFFSET: &str = "offset";

/// See the module.
pub(super) fn check(compiled: &Compiled, diags: &mut Diagnostics) {
    for isa in &compiled.model.isas {
        registers(isa, diags);
        whole(isa, diags);
        for class in isa.classes.iter().filter(|class| !class.tuple_align.is_power_of_two()) {
            say(
                isa,
                format!(
                    "tuples of `{}` begin at multiples of {}",
                    class.name.value, class.tuple_align
                ),
                "`tuple_align` is a power of two, 1 where they begin anywhere",
                diags,
            );
        }
    }
}

fn say(isa: &Isa, message: String, help: &str, diags: &mut Diagnostics) {
    let message = format!("`{}`: {message}", isa.name.value);
    diags.push(Diagnostic::at(isa.name.span, message).help(help));
}

/// Registers with fixed names, or fixed numbers, are different ones.
fn registers(isa: &Isa, diags: &mut Diagnostics) {
    let all: Vec<&FixedRegister> =
        isa.param_base.iter().chain(&isa.thread_register).chain(&isa.block_registers).collect();
    for (at, one) in all.iter().enumerate() {
        let end = |one: &FixedRegister| u32::from(one.number) + u32::from(one.count);
        let meets = |other: &&&FixedRegister| {
            let apart = u32::from(other.number) >= end(one) || u32::from(one.number) >= end(other);
            other.text == one.text || other.class == one.class && !apart
        };
        if let Some(other) = all.iter().take(at).find(meets) {
            say(
                isa,
                format!("`{}` and `{}` are filled both when a kernel begins", other.text, one.text),
                "each has a register of its own: correct `number`, `count` or `text`",
                diags,
            );
        }
    }
}

/// A set with which kernels of several blocks are written has all that these take.
fn whole(isa: &Isa, diags: &mut Diagnostics) {
    if isa.param_block.is_empty() == isa.atoms.param_address.is_some() {
        say(
            isa,
            "parameters lie in blocks, or have addresses, not both".into(),
            "`param_block` and `param_address` go together",
            diags,
        );
    }
    // Who says at which byte each parameter is reads them from where they begin.
    let is_offset = |piece: &Piece| matches!(piece, Piece::Name(name) if name == OFFSET);
    let has_offset = |frame: &Frame| frame.iter().any(is_offset);
    let lie_at_bytes = [&isa.param, &isa.param_pointer, &isa.param_blocks];
    if lie_at_bytes.iter().any(|frame| has_offset(frame)) != isa.param_base.is_some() {
        say(
            isa,
            "parameters lie at bytes of one place, or have names".into(),
            "`param_base` and `{offset}` of the frames of parameters go together",
            diags,
        );
    }
    let [of_block, of_all] = &isa.block_atoms;
    if of_block.is_empty() && isa.block_registers.is_empty() {
        return;
    }
    let lacks = [
        (
            of_all.is_empty() && isa.param_blocks.is_empty(),
            "how many blocks there are",
            "`read_blocks` or `param_blocks`",
        ),
        (
            isa.atoms.divide.is_none() && isa.atoms.leading_zeros.is_none(),
            "how to divide",
            "`divide` or `leading_zeros`",
        ),
        (isa.atoms.compare_signed.is_none(), "how to compare with signs", "`compare_signed`"),
    ];
    for (_, what, fields) in lacks.into_iter().filter(|(lacks, ..)| *lacks) {
        let help = format!("what computes places from the block's number takes it: state {fields}");
        say(isa, format!("it says which block a kernel is, and not {what}"), &help, diags);
    }
}
