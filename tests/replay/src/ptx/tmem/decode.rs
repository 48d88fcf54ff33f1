//! The text of operations on tensor memory.

use super::super::decode::{Decoded, Words, addr, regs, src, srcs, want};
use super::super::op::{Op, Src};
use super::super::parse::Operand;
use super::{Factor, Kind, Shape, TensorOp};

/// The shape of a load or store, registers of a lane for a count of one, and the count.
fn shaped(w: &mut Words<'_>) -> Decoded<(Shape, usize, usize)> {
    w.require("sync").and(w.require("aligned"))?;
    w.require("b32")?;
    let shape = w.pick(|x| {
        Some(match x {
            "32x32b" => (Shape::L32x32, 1),
            "16x64b" => (Shape::L16x64, 1),
            "16x128b" => (Shape::L16x128, 2),
            "16x256b" => (Shape::L16x256, 4),
            "16x32bx2" => (Shape::L16x32x2, 1),
            _ => return None,
        })
    });
    let (shape, each) = shape.ok_or("unknown shape of a load or store")?;
    let count = w
        .pick(|x| x.strip_prefix('x').and_then(|n| n.parse::<usize>().ok()))
        .ok_or("expected the suffix `.xN`")?;
    Ok((shape, each, count))
}

fn filled(registers: usize, each: usize, count: usize) -> Decoded<()> {
    if registers != count * each || !count.is_power_of_two() || registers > 128 {
        return Err(format!("{registers} registers for .x{count}"));
    }
    Ok(())
}

/// How far apart the halves of a load or store are.
fn split(operand: Option<&Operand>) -> Decoded<u32> {
    match operand {
        Some(Operand::Src(Src::Imm(n))) => Ok(*n as u32),
        None => Ok(0),
        Some(_) => Err("expected a constant".to_string()),
    }
}

pub(in super::super) fn decode(w: &mut Words<'_>, o: &[Operand]) -> Decoded<Op> {
    let alone = |w: &mut Words<'_>| {
        if w.take("cta_group::1") {
            Ok(())
        } else {
            Err("only cta_group::1 is modelled".to_string())
        }
    };
    let aligned = |w: &mut Words<'_>| w.require("sync").and(w.require("aligned"));
    Ok(Op::Memory(if w.take("alloc") {
        alone(w)?;
        aligned(w)?;
        w.require("shared::cta")?;
        w.require("b32")?;
        want(o, 2..=2)?;
        TensorOp::Alloc { slot: addr(&o[0])?, columns: src(&o[1])? }
    } else if w.take("relinquish_alloc_permit") {
        alone(w)?;
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::Relinquish
    } else if w.take("dealloc") {
        alone(w)?;
        aligned(w)?;
        w.require("b32")?;
        want(o, 2..=2)?;
        TensorOp::Dealloc { base: src(&o[0])?, columns: src(&o[1])? }
    } else if w.take("mma") {
        alone(w)?;
        let kind = if w.take("kind::f8f6f4") {
            Kind::Bytes
        } else if w.take("kind::mxf8f6f4") {
            w.require("block_scale").and(w.require("block32"))?;
            Kind::Scaled
        } else if w.take("kind::mxf4") {
            w.require("block_scale").and(w.require("block32"))?;
            Kind::Narrow { runs: 2, is_float: false }
        } else if w.take("kind::mxf4nvf4") {
            w.require("block_scale").and(w.require("block16"))?;
            Kind::Narrow { runs: 4, is_float: true }
        } else {
            w.require("kind::f16")?;
            Kind::Halves
        };
        let more = if kind.runs() > 0 { 2 } else { 0 };
        want(o, 5 + more..=5 + more)?;
        let a = if matches!(o[1], Operand::Addr(_)) {
            Factor::Cells(addr(&o[1])?)
        } else {
            Factor::Descriptor(src(&o[1])?)
        };
        let scales = if kind.runs() > 0 { Some([addr(&o[4])?, addr(&o[5])?]) } else { None };
        TensorOp::Mma {
            kind,
            d: addr(&o[0])?,
            a,
            b: src(&o[2])?,
            word: src(&o[3])?,
            scales,
            adds: src(&o[4 + more])?,
        }
    } else if w.take("cp") {
        alone(w)?;
        w.require("32x128b")?;
        w.require("warpx4")?;
        want(o, 2..=2)?;
        TensorOp::Cp { to: addr(&o[0])?, from: src(&o[1])? }
    } else if w.take("commit") {
        alone(w)?;
        w.require("mbarrier::arrive::one")?;
        w.require("shared::cluster")?;
        w.require("b64")?;
        want(o, 1..=1)?;
        TensorOp::Commit { at: addr(&o[0])? }
    } else if w.take("ld") {
        let (shape, each, count) = shaped(w)?;
        let two = shape == Shape::L16x32x2;
        want(o, 2 + usize::from(two)..=2 + usize::from(two))?;
        let dst = regs(&o[0])?;
        filled(dst.len(), each, count)?;
        TensorOp::Ld { shape, dst, at: addr(&o[1])?, split: split(o.get(2))? }
    } else if w.take("st") {
        let (shape, each, count) = shaped(w)?;
        let two = shape == Shape::L16x32x2;
        want(o, 2 + usize::from(two)..=2 + usize::from(two))?;
        let values = srcs(&o[1 + usize::from(two)])?;
        filled(values.len(), each, count)?;
        TensorOp::St {
            shape,
            src: values,
            at: addr(&o[0])?,
            split: split(o.get(1).filter(|_| two))?,
        }
    } else if w.take("wait::st") {
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::WaitSt
    } else if w.take("wait::ld") {
        aligned(w)?;
        want(o, 0..=0)?;
        TensorOp::WaitLd
    } else if w.take("fence::before_thread_sync") {
        want(o, 0..=0)?;
        TensorOp::Before
    } else {
        w.require("fence::after_thread_sync")?;
        want(o, 0..=0)?;
        TensorOp::After
    }))
}
