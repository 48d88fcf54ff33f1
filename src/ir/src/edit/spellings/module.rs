//! What a module says of all its kernels, as Triton writes it, said of the one that is compiled.

use crate::attr::{Attr, AttrValue};
use crate::attr_names;
use crate::edit::inline::{is_no, not_kept};
use crate::error::{ErrorKind, IrError};
use crate::handle::{Op, TextRef};
use crate::program::Program;

/// What a module may say; a kernel is told of the last two, which architectures answer.
#[derive(Default)]
struct Said {
    warps: Option<(u32, TextRef)>,
    lanes: Option<(u32, TextRef)>,
    target: Option<AttrValue>,
}

impl Said {
    fn take(&mut self, program: &Program<'_, '_>, attr: Attr) -> Result<(), IrError> {
        let is = |key: &str| program.key_is(attr.key, key);
        let number = match attr.value {
            AttrValue::Int(number, _) => u32::try_from(number).ok().filter(|number| *number > 0),
            _ => None,
        };
        match (number, attr.value) {
            (Some(warps), _) if is(attr_names::NUM_WARPS) && self.warps.is_none() => {
                self.warps = Some((warps, attr.key));
            }
            (Some(lanes), _) if is(attr_names::WAVE) && self.lanes.is_none() => {
                self.lanes = Some((lanes, attr.key));
            }
            (Some(1), _) if is(attr_names::NUM_CTAS) => {}
            (Some(_), _) if is(attr_names::NUM_CTAS) => {
                let at = program.place_of(attr.key);
                return Err(IrError { kind: ErrorKind::ModuleClusters, at });
            }
            (_, flag) if is(attr_names::TWO_CTAS) && is_no(program, flag) => {}
            (_, target @ AttrValue::Str(_)) if is(attr_names::TARGET) && self.target.is_none() => {
                self.target = Some(target);
            }
            _ => return Err(not_kept(program, attr.key)),
        }
        Ok(())
    }
}

/// Tells a kernel what the modules around it say.
///
/// # Errors
/// What nothing obeys, what is not so of the kernel, and room that ran out.
#[inline(never)] // Its caller's own steps are deep.
pub(crate) fn hand_down(program: &mut Program<'_, '_>, kernel: Op) -> Result<(), IrError> {
    let mut said = Said::default();
    for module in program.all().filter(|op| program.is_module(*op)) {
        let is_around = program.is_inside(kernel, module);
        let own = |attr: &Attr| program.text(attr.key) != attr_names::CALLEE;
        for attr in program.attrs(module).filter(own) {
            match is_around {
                true => said.take(program, attr)?,
                false => return Err(not_kept(program, attr.key)),
            }
        }
    }
    let Said { warps, lanes, target } = said;
    if let Some((count, key)) = warps {
        let at = program.place_of(key);
        let (lanes, _) = lanes.ok_or(IrError { kind: ErrorKind::ModuleWarps, at })?;
        let threads = count.saturating_mul(lanes);
        let own = program.int_attr(kernel, attr_names::THREADS);
        if own.is_some_and(|own| own != i64::from(threads)) {
            return Err(IrError { kind: ErrorKind::ModuleThreads { threads }, at });
        }
        let value = AttrValue::Int(threads.into(), None);
        let told = program.set_attr(kernel, attr_names::THREADS, value);
        told.map_err(|kind| IrError { kind, at })?;
    }
    if let Some((lanes, key)) = lanes {
        let at = program.place_of(key);
        let told = program.set_attr(kernel, attr_names::WAVE, AttrValue::Int(lanes.into(), None));
        told.map_err(|kind| IrError { kind, at })?;
    }
    if let Some(target) = target {
        let at = program.place(kernel);
        let told = program.set_attr(kernel, attr_names::TARGET, target);
        told.map_err(|kind| IrError { kind, at })?;
    }
    Ok(())
}
