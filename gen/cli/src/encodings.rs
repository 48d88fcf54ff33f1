//! Descriptors there and back: every end and every named value of every field is packed, found in
//! the bits that the table gives the field, and read again.
//!
//! The bits are expected from the field's own facts, not from the library that packs them.
use lanebook::unit::descriptor::DescriptorWord;
use lanebook_gen::Compiled;
use lanebook_gen::audit::ENCODINGS;
use lanebook_gen::diagnostics::{Diagnostic, Diagnostics};
use lanebook_tables::{Descriptor, Field};

/// All descriptors of the tables.
pub fn check(compiled: &Compiled) -> Diagnostics {
    let mut found = Diagnostics::new();
    let tables = compiled.tables();
    for (descriptor, written) in
        tables.units.descriptors.iter().zip(&compiled.model.units.descriptors)
    {
        for wrong in faults(descriptor) {
            let message = format!("descriptor `{}` does not survive: {wrong}", descriptor.name);
            found.push(
                Diagnostic::at(written.fact.entry.name.span, message)
                    .help("correct the field's place, width, unit or values"),
            );
        }
    }
    found.named(ENCODINGS)
}

/// The bits that the table gives a field for a value.
fn expected(field: &Field<'_>, value: u64) -> u64 {
    let raw = value.checked_div(u64::from(field.scale)).unwrap_or(0);
    raw.checked_shl(field.at.into()).unwrap_or(0)
}

/// Values worth a try: both ends, the least step above, and what has a name.
fn values(field: &Field<'_>) -> Vec<u64> {
    let (low, high) = (u64::from(field.range.0), u64::from(field.range.1));
    let mut out: Vec<u64> = match field.values {
        [] => vec![low, (low + u64::from(field.scale)).min(high), high],
        named => named.iter().map(|(_, code)| u64::from(*code) * u64::from(field.scale)).collect(),
    };
    out.dedup();
    out
}

/// What goes wrong with a descriptor, in words.
fn faults(descriptor: &Descriptor<'_>) -> Vec<String> {
    let mut out = Vec::new();
    // Every field at its least value, then each of them in turn at all of its own.
    let least = |field: &Field<'_>| values(field).into_iter().min().unwrap_or(0);
    for (changed, field) in descriptor.fields.iter().enumerate() {
        for value in values(field) {
            let wanted: Vec<u64> = descriptor
                .fields
                .iter()
                .enumerate()
                .map(|(at, other)| if at == changed { value } else { least(other) })
                .collect();
            let bits = descriptor
                .fields
                .iter()
                .zip(&wanted)
                .map(|(field, value)| expected(field, *value))
                .fold(0, |all, bits| all | bits);
            let mut word = DescriptorWord::new(descriptor);
            let set = descriptor
                .fields
                .iter()
                .zip(&wanted)
                .try_for_each(|(field, value)| word.set(field.name, *value));
            let packed = set.and_then(|()| word.pack());
            match packed {
                Err(error) => {
                    out.push(format!("field `{}` at {value} is refused ({error})", field.name))
                }
                Ok(packed) if packed != bits => out.push(format!(
                    "field `{}` at {value} packs to {packed:#x}, its facts say {bits:#x}",
                    field.name
                )),
                Ok(packed) => {
                    let read = DescriptorWord::unpack(descriptor, packed).and_then(|word| {
                        descriptor.fields.iter().map(|field| word.get(field.name)).collect()
                    });
                    let read: Result<Vec<u64>, _> = read;
                    if read.as_deref() != Ok(wanted.as_slice()) {
                        out.push(format!(
                            "field `{}` at {value} reads back as {read:?}",
                            field.name
                        ));
                    }
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanebook_tables::{FeatureId, FieldRole, Status};

    const fn field(
        name: &'static str,
        at: u8,
        bits: u8,
        scale: u32,
        range: (u32, u32),
    ) -> Field<'static> {
        Field { name, at, bits, scale, range, values: &[], role: FieldRole::Plain }
    }

    fn descriptor<'a>(fields: &'a [&'a Field<'a>]) -> Descriptor<'a> {
        Descriptor {
            name: "word",
            feature: FeatureId(0),
            bits: 32,
            fields,
            status: Status::Documented,
            sources: &[],
        }
    }

    #[test]
    fn sound_ones_survive_and_others_do_not() {
        let (start, step, far) = (
            field("start", 0, 14, 16, (0, 262_128)),
            field("step", 16, 14, 16, (16, 262_128)),
            field("far", 12, 4, 1, (0, 15)),
        );
        assert_eq!(faults(&descriptor(&[&start, &step])), Vec::<String>::new());
        // Bits that two fields share, and a value that the bits do not hold.
        assert!(
            faults(&descriptor(&[&start, &far]))
                .iter()
                .any(|wrong| wrong.contains("`start` at 262128"))
        );
        let short = field("short", 0, 3, 1, (0, 15));
        assert!(!faults(&descriptor(&[&short])).is_empty());
    }

    #[test]
    fn the_built_in_descriptors_survive() {
        assert!(lanebook::TABLES.units.descriptors.len() > 5);
        for descriptor in lanebook::TABLES.units.descriptors {
            assert_eq!(faults(descriptor), Vec::<String>::new(), "{}", descriptor.name);
        }
    }
}
