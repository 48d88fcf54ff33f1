//! Facts of the tables, held against a device one at a time.
//!
//! A [`probe::Probe`] is one instruction between loads and stores of every lane's registers and of
//! shared memory. What must come out follows from the tables' layouts alone ([`product`],
//! [`movement`]), with operands drawn at random. What only time shows is timed ([`banks`]): which
//! lanes' accesses disturb each other, and how far apart two addresses of one bank lie. Tiled copies
//! are compared byte by byte with the formula of their swizzle mode ([`tiled`]).
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
use lanebook::tables::{ArchId, Instance, Piece};
use serde::Serialize;
use std::collections::BTreeMap;

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
    pub fact: BTreeMap<String, String>,
    /// How many times it was held against the device.
    pub trials: usize,
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

/// A reproducible stream of numbers.
#[derive(Clone, Debug)]
pub struct Draws(pub u64);

impl Draws {
    /// The next one.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// One below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound.max(1)
    }
}

/// The text of an instance with its parameters' words, and its operands by name.
#[must_use]
pub fn said(instance: &Instance<'_>) -> String {
    let mut out = String::new();
    for piece in instance.atom.template {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Operand(k) => match (instance.word(k), instance.value(k)) {
                (Some(word), _) => out.push_str(word.text),
                (_, Some(value)) => out.push_str(&value.to_string()),
                _ => {
                    let name = instance.atom.operands.get(usize::from(k)).map(|o| &*o.name);
                    out.push_str(&format!("<{}>", name.unwrap_or("")));
                }
            },
            _ => {}
        }
    }
    out
}

/// The name of an instance: the atom's, with its parameters' words.
#[must_use]
pub fn name(instance: &Instance<'_>) -> String {
    let mut out = instance.atom.name().to_string();
    for (number, operand) in (0u8..).zip(instance.atom.operands) {
        let word = instance.word(number).map(|word| word.text.to_string());
        if let Some(word) = word.or_else(|| instance.value(number).map(|value| value.to_string())) {
            out = out.replace(&format!("{{{}}}", &*operand.name), &word);
        }
    }
    out
}

/// Holds all that can be asked of one instruction against a device.
pub fn of_instructions(device: &mut dyn Device, asked: Asked<'_>, mut tell: impl FnMut(&Finding)) {
    for instance in asked.instances() {
        let found = product::hold(device, asked, &instance)
            .or_else(|| movement::hold(device, asked, &instance));
        let sums = sums::hold(device, asked, &instance);
        found.iter().chain(&sums).for_each(&mut tell);
    }
}

/// Holds all that can be asked of instructions, of memory banks and of tiled copies against a
/// device.
pub fn all(device: &mut dyn Device, asked: Asked<'_>, mut tell: impl FnMut(&Finding)) {
    of_instructions(device, asked, &mut tell);
    sums::of_kernels(device, asked).iter().for_each(&mut tell);
    banks::all(device, asked).iter().for_each(&mut tell);
    tiled::all(device, asked).iter().for_each(&mut tell);
    tiled::corners(asked, device.word()).iter().for_each(&mut tell);
}
