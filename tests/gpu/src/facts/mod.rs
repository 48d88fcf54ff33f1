//! Facts of the tables, held against a device one at a time.
//!
//! A [`probe::Probe`] is one instruction between loads and stores of every lane's registers and of
//! shared memory. What must come out follows from the tables' layouts alone ([`product`],
//! [`movement`]), with operands drawn at random; how many bits of a sum a unit keeps is looked for
//! ([`sums`]). What only time shows is timed ([`banks`]): whether accesses take the passes that a bank
//! model counts. Tiled copies are compared byte by byte with the formula of their swizzle mode, and
//! tried at every place of a row, and held against where a row ends ([`tiled`]).
//!
//! Each finding is a [`Finding`]: the fact as the tables have it, so that whoever changes the fact
//! later has nothing measured for the new one.

pub mod banks;
pub mod movement;
pub mod probe;
pub mod product;
pub mod sums;
pub mod tiled;

use crate::Device;
use lanebook::TABLES;
use lanebook::layout::{Coord, LayoutRef};
use lanebook::tables::{ArchId, Instance, Role};
use lanebook_draw::atom::template;
use lanebook_draw::instance::filled;
use lanebook_gen::fact::Fact;
use lanebook_kernels::hunt::choices::Choices;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// What a device says of a fact.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// Kind of the fact.
    pub kind: &'static str,
    /// The architecture whose tables were asked.
    pub arch: String,
    /// Name of the atom, bank model or swizzle mode.
    pub name: String,
    /// The instruction, as the tables write it; nothing for what is no atom.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The fact: layouts by operand, or figures by name.
    pub fact: Fact,
    /// How many times it was held against the device.
    pub trials: usize,
    /// What the device took for it, where time is what it was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cycles: String,
    /// What differs; nothing: the device does as the tables say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub differs: Option<String>,
}

/// An architecture of the tables with its text's version.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its number.
    pub arch: ArchId,
    /// Its name.
    pub name: &'a str,
    /// What the text says as its target.
    pub target: &'a str,
    /// What the text says as its version.
    pub version: &'a str,
}

impl Asked<'_> {
    /// The architecture of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Asked<'static>> {
        let id = TABLES.arch_named(name)?;
        let arch = TABLES.arch(id)?;
        Some(Asked { arch: id, name: arch.name, target: arch.target, version: arch.isa_version })
    }

    /// Every instance of every atom that it has.
    pub fn instances(&self) -> impl Iterator<Item = Instance<'static>> {
        let all = TABLES.list_atoms(Some(self.arch), lanebook::tables::AtomFilter::ALL);
        all.flat_map(|(_, atom)| (0..atom.instances()).filter_map(|k| atom.instance(k)))
    }
}

impl Finding {
    /// Whether it is one for the tables: a fact that they say, and that the device confirms.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        self.differs.is_none() && !self.fact.is_empty()
    }
}

/// Findings as the tables keep them: the text of `measured` entries, of a machine whose source has
/// this key.
#[must_use]
pub fn kept(findings: &[Finding], key: &str) -> String {
    let mut out = String::from("    measured: [\n");
    let mut entries: Vec<(&str, &str)> = Vec::new();
    for one in findings.iter().filter(|one| one.is_kept()) {
        if !entries.contains(&(&one.arch, one.kind)) {
            entries.push((&one.arch, one.kind));
        }
    }
    for (arch, kind) in entries {
        let _ = writeln!(out, "        (source: {key:?}, arch: {arch:?}, kind: {kind:?}, rows: [");
        let rows = findings.iter().filter(|one| one.is_kept());
        for one in rows.filter(|one| (&*one.arch, one.kind) == (arch, kind)) {
            let fact: Vec<String> =
                one.fact.iter().map(|(name, text)| format!("{name:?}: {text:?}")).collect();
            let cycles = if one.cycles.is_empty() {
                String::new()
            } else {
                format!(", cycles: {:?}", one.cycles)
            };
            let _ = writeln!(
                out,
                "            (name: {:?}, trials: {}{cycles}, fact: {{{}}}),",
                one.name,
                one.trials,
                fact.join(", ")
            );
        }
        out.push_str("        ]),\n");
    }
    out.push_str("    ],\n");
    out
}

/// Draws that are the same for a fact in every run.
fn draws(fact: &str) -> Choices {
    let seed = |sum: u64, byte: u8| sum.wrapping_mul(31).wrapping_add(byte.into());
    Choices::seeded(fact.bytes().fold(7, seed))
}

/// A word of any bits.
fn any_word(draws: &mut Choices) -> u64 {
    (draws.below(1 << 32) as u64) << 32 | draws.below(1 << 32) as u64
}

/// Where an element of a layout stands, with its copies.
fn copies(layout: &LayoutRef<'_>, element: u64) -> Result<Vec<Coord>, String> {
    let mut at = Coord::new();
    layout.apply_flat(element, &mut at).map_err(|e| format!("{e:?}"))?;
    let mut all = vec![at];
    for it in layout.replica {
        let extent = it.extent_value().map_err(|e| format!("{e:?}"))?;
        let stride = it.stride_value().map_err(|e| format!("{e:?}"))?;
        let mut next = Vec::new();
        for (copy, k) in all.iter().flat_map(|copy| (0..extent).map(move |k| (copy, k))) {
            let mut moved = copy.clone();
            moved.add(it.axis(), stride * i64::from(k)).map_err(|e| format!("{e:?}"))?;
            next.push(moved);
        }
        all = next;
    }
    Ok(all)
}

/// The text of an instance with its parameters' words, and its operands by name.
#[must_use]
pub fn said(instance: &Instance<'_>) -> String {
    filled(instance, &template(instance.atom))
}

/// The products that stand in a kernel's text: their mnemonic, with as many tuples of registers.
#[must_use]
pub fn products_in(text: &str, asked: Asked<'_>) -> Vec<Instance<'static>> {
    let known: BTreeSet<(&str, usize)> = text
        .lines()
        .filter_map(|line| {
            let mnemonic = line.split_whitespace().next()?;
            Some((mnemonic, line.matches('{').count()))
        })
        .collect();
    let stands = |instance: &Instance<'_>| {
        let said = said(instance);
        let mnemonic = said.split(' ').next().unwrap_or_default();
        let tuples = (0u8..).zip(instance.atom.operands);
        let tuples = tuples.filter(|(number, operand)| {
            operand.role != Role::Immediate && instance.registers(*number).is_some_and(|n| n > 1)
        });
        known.contains(&(mnemonic, tuples.count() + said.matches('{').count()))
    };
    asked.instances().filter(|one| one.atom.matrix.is_some() && stands(one)).collect()
}

/// Holds all that can be asked of one instruction against a device.
pub fn of_instructions(device: &mut dyn Device, asked: Asked<'_>, mut tell: impl FnMut(&Finding)) {
    // What a lane does alone is no layout of the hardware's.
    for instance in asked.instances().filter(|one| !one.atom.is_of_lanes()) {
        let found = product::hold(device, asked, &instance)
            .or_else(|| movement::hold(device, asked, &instance));
        let sums = sums::hold(device, asked, &instance);
        let subnormal = sums::of_subnormals(device, asked, &instance);
        found.iter().chain(&sums).chain(&subnormal).for_each(&mut tell);
    }
}

/// Holds all that can be asked of instructions, of memory banks and of tiled copies against a
/// device.
pub fn all(device: &mut dyn Device, asked: Asked<'_>, mut tell: impl FnMut(&Finding)) {
    of_instructions(device, asked, &mut tell);
    sums::of_kernels(device, asked).iter().for_each(&mut tell);
    banks::all(device, asked).iter().for_each(&mut tell);
    tiled::all(device, asked).iter().for_each(&mut tell);
    tiled::edges(device, asked).iter().for_each(&mut tell);
    tiled::corners(asked, device.word()).iter().for_each(&mut tell);
}
