//! Facts as text, by name: what is held against a machine, and what is written down of its answer.
//!
//! A machine answers one fact of one instruction, of one bank model, of one swizzle mode. Written as
//! the tables have it, the fact can be compared with what the tables say later: two texts are alike
//! if the facts are.
use lanebook_layout::notation::tirx;
use lanebook_layout::{LayoutRef, NoSyms, WellKnown};
use lanebook_tables::{
    Arch, BankModel, Instance, Movement, Side, Space, SwizzleMode, Tables, TensorMap,
};
use std::collections::BTreeMap;

/// Layouts by operand, or figures by name.
pub type Fact = BTreeMap<String, String>;

/// How a parameter stands in the text of an instance, by the number of its operand.
#[must_use]
pub fn parameter(instance: &Instance<'_>, number: u8) -> Option<String> {
    let word = instance.word(number).map(|word| word.text.to_string());
    word.or_else(|| instance.value(number).map(|value| value.to_string()))
}

/// The name of an instance: the atom's, with its parameters' words.
#[must_use]
pub fn name(instance: &Instance<'_>) -> String {
    let mut out = instance.atom.name().to_string();
    for (number, operand) in (0u8..).zip(instance.atom.operands) {
        if let Some(word) = parameter(instance, number) {
            out = out.replace(&format!("{{{}}}", &*operand.name), &word);
        }
    }
    out
}

/// A layout as the tables write it.
#[must_use]
pub fn written(layout: &LayoutRef<'_>) -> String {
    let mut out = String::new();
    match tirx::print(layout, &WellKnown, &NoSyms, &mut out) {
        Ok(()) => out,
        Err(why) => format!("{why:?}"),
    }
}

/// Where a product has its operands' elements; `None` for what is none.
#[must_use]
pub fn product(tables: &Tables<'_>, instance: &Instance<'_>) -> Option<Fact> {
    let shape = instance.shape()?;
    let mut out = Fact::new();
    for (number, operand) in (0u8..).zip(instance.atom.operands) {
        if let Some(layout) = instance.layout(number) {
            let dtype = instance.dtype(number).and_then(|id| tables.dtype(id));
            let dtype = dtype.map_or("", |dtype| dtype.name);
            out.insert(operand.name.to_string(), format!("{dtype} {}", written(&layout.view())));
        }
    }
    out.insert("shape".into(), format!("{}x{}x{}", shape.m, shape.n, shape.k));
    Some(out)
}

/// How many bits of a sum a product's unit keeps, where they are fewer than the accumulator has.
#[must_use]
pub fn sums(instance: &Instance<'_>) -> Option<Fact> {
    let bits = instance.atom.more?.sum_bits?;
    Some(Fact::from([("sum_bits".to_string(), bits.to_string())]))
}

/// From where to where a movement moves its units.
#[must_use]
pub fn movement(movement: &Movement<'_>) -> Option<Fact> {
    let mut out = Fact::new();
    for (side, word) in [(&movement.from, "from"), (&movement.to, "to")] {
        let space = Space::NAMES.iter().find(|(space, _)| *space == side.space)?.1;
        out.insert(word.to_string(), format!("{space} {}", written(side.layout)));
    }
    out.insert("unit_bits".into(), movement.unit_bits.to_string());
    Some(out)
}

/// A movement's side in shared memory.
#[must_use]
pub fn shared<'m, 'a>(movement: &'m Movement<'a>) -> Option<&'m Side<'a>> {
    [&movement.from, &movement.to].into_iter().find(|side| side.space == Space::Shared)
}

/// How banks of shared memory serve an access.
#[must_use]
pub fn banks(model: &BankModel<'_>) -> Fact {
    let groups: Vec<String> = model.groups.iter().map(|mask| format!("{mask:#x}")).collect();
    Fact::from([
        ("banks".to_string(), model.banks.to_string()),
        ("bank_bytes".to_string(), model.bank_bytes.to_string()),
        ("groups".to_string(), groups.join(" ")),
    ])
}

/// What a swizzle mode does to bytes, and its number in an encoding; `None` if it has none there.
#[must_use]
pub fn swizzle(mode: &SwizzleMode<'_>, encoding: &str) -> Option<Fact> {
    let (_, number) = mode.codes.iter().find(|(name, _)| *name == encoding)?;
    let xor: Vec<String> =
        mode.xor.iter().map(|xor| format!("Swizzle({},{},{})", xor.b, xor.m, xor.s)).collect();
    Some(Fact::from([
        ("number".to_string(), number.to_string()),
        ("span_bytes".to_string(), mode.span_bytes.to_string()),
        ("xor".to_string(), xor.join(" ")),
    ]))
}

/// Where in its row the box of a tiled copy may begin.
#[must_use]
pub fn corner(map: &TensorMap<'_>) -> Fact {
    Fact::from([("corner_bytes".to_string(), map.corner_bytes.to_string())])
}

/// How many bytes of a row a tensor map's stores write at once.
#[must_use]
pub fn edge(map: &TensorMap<'_>) -> Fact {
    Fact::from([("edge_bytes".to_string(), map.edge_bytes.to_string())])
}

/// The tensor maps of an architecture.
pub fn tensor_maps<'a, 't>(
    tables: &Tables<'a>,
    arch: &'t Arch<'_>,
) -> impl Iterator<Item = &'a TensorMap<'a>> + use<'a, 't> {
    tables.units.tensor_maps.iter().filter(|map| arch.features.contains(&map.feature))
}
