//! Tile programs of any shape on a device: what each computes is held against the interpreter of
//! its own text (`lanebook_kernels::interpret`), run by run.

use crate::facts::{Asked, products_in};
use crate::{Arg, Device, Job, JobLaunch, Map};
use lanebook::TABLES;
use lanebook_kernels::Workshop;
use lanebook_kernels::hunt::verdict::{Built, Emitted, Reference, references};
use lanebook_kernels::interpret::Interpreted;
use lanebook_kernels::interpret::element::Element;
use lanebook_kernels::judge::block_counts;
use lanebook_replay::Param;

/// What became of a program on an architecture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of so many runs were right.
    Right(usize),
    /// It was not compiled, for this reason.
    Refused(String),
    /// What was wrong.
    Wrong(String),
}

/// Compiles a program and runs it on a device with every reference that it has.
///
/// # Errors
/// A program that the interpreter does not understand.
pub fn judge(
    workshop: &mut Workshop,
    device: &mut dyn Device,
    (program, arch): (&str, &str),
) -> Result<Outcome, String> {
    let references = references(program)?;
    // Blocks run at once: what depends on their order is not said.
    let ordered =
        references.iter().map(|one| one.said.is_ordered()).collect::<Result<Vec<_>, _>>()?;
    if ordered.contains(&true) {
        return Ok(Outcome::Refused("what it leaves depends on the order of its blocks".into()));
    }
    let emitted = match workshop.build(program, arch) {
        Built::Refused(why) => return Ok(Outcome::Refused(why)),
        Built::Broken(symptom) => return Ok(Outcome::Wrong(symptom.detail)),
        Built::Kernel(emitted) => emitted,
    };
    let mut runs = 0;
    for reference in &references {
        // No driver encodes a map of nothing: whoever launches has nothing to launch.
        if emitted.maps.iter().any(|map| is_empty(&reference.said, map.memref)) {
            continue;
        }
        if let Err(why) = once(device, (&emitted, arch), reference) {
            return Ok(Outcome::Wrong(format!(
                "{} turns: {why}\n{}",
                reference.turns, emitted.text
            )));
        }
        runs += 1;
    }
    Ok(match runs {
        0 => Outcome::Refused("each run has a tensor map of a tensor without elements".into()),
        runs => Outcome::Right(runs),
    })
}

/// Whether this tensor has no elements.
fn is_empty(said: &Interpreted, memref: usize) -> bool {
    said.globals.get(memref).is_some_and(|global| global.passed().contains(&0))
}

fn once(
    device: &mut dyn Device,
    (emitted, arch): (&Emitted, &str),
    reference: &Reference,
) -> Result<(), String> {
    let (job, operands) = job(emitted, &reference.said)?;
    let after = device.run(&job, &operands)?;
    let mut said = reference.said.clone();
    // Units that keep fewer bits of a sum than its type has.
    for instance in
        Asked::named(arch).map(|asked| products_in(&emitted.text, asked)).unwrap_or_default()
    {
        let kept = instance.atom.more.and_then(|more| more.sum_bits).zip(instance.shape());
        let dtype = kept.and_then(|(_, shape)| TABLES.dtype(instance.dtype(shape.a)?));
        if let (Some((bits, _)), Some(dtype)) = (kept, dtype) {
            said.unit.kept.push((Element::of(dtype.name)?, bits.into()));
        }
    }
    let own = if said.unit.kept.is_empty() { None } else { Some(said.expect()?) };
    let want = own.as_ref().unwrap_or(&reference.after);
    want.iter().zip(&after).try_for_each(|(global, bytes)| global.compare(bytes))
}

/// The launch of a run, and what its tensors hold before.
///
/// # Errors
/// A parameter that is none of a tile program's.
pub fn job(emitted: &Emitted, said: &Interpreted) -> Result<(Job, Vec<Vec<u8>>), String> {
    let (memory, ids, params) = said.memory();
    let operands = ids.iter().map(|id| memory.bytes(*id).to_vec()).collect();
    let counts = block_counts(&emitted.text, said.grid);
    let mut args = Vec::new();
    for param in params.into_iter().chain(counts) {
        args.push(match param {
            Param::Buffer(id) => {
                Arg::Pointer(ids.iter().position(|own| *own == id).ok_or("a buffer of no tensor")?)
            }
            Param::U32(value) => Arg::U32(value),
            other => return Err(format!("a parameter of another kind: {other:?}")),
        });
    }
    for (map, [element, interleave]) in emitted.maps.iter().zip(&emitted.numbers) {
        let global = said.globals.get(map.memref).ok_or("a map of no tensor")?;
        let extents = global.passed();
        let filled = map.fill_many(ids[map.memref], &extents, &memory);
        let filled = map.within(filled, &said.indices);
        let rank = usize::from(filled.rank);
        if filled.extents[..rank].contains(&0) {
            return Err("a tensor without elements has no map".to_string());
        }
        args.push(Arg::Map(Map {
            operand: map.memref,
            element: *element,
            element_bytes: filled.element_bytes,
            extents: filled.extents[..rank].to_vec(),
            strides: filled.strides[..rank].to_vec(),
            boxed: filled.boxed[..rank].to_vec(),
            interleave: *interleave,
            swizzle: filled.swizzle,
        }));
    }
    let job = Job {
        text: emitted.text.clone(),
        kernel: emitted.kernel.clone(),
        threads: emitted.threads,
        dynamic_shared: emitted.dynamic_shared,
        launches: vec![JobLaunch { grid: said.grid, args }],
    };
    Ok((job, operands))
}
