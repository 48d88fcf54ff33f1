//! What a finding is known by when the lines above it change.
use lanebook_gen::diagnostics::Diagnostic;
use lanebook_gen::source::Sources;
use std::collections::BTreeMap;

/// A fingerprint of each: of the check, the file, what is said and the text it is said of; where
/// several are alike, of how many came before.
pub fn fingerprints<'d>(
    found: impl Iterator<Item = &'d Diagnostic>,
    sources: &Sources,
) -> Vec<String> {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    found
        .map(|one| {
            let label = one.labels.first();
            let file = label.map_or("", |label| sources.file(label.span.file).name.as_str());
            let text = label.map_or("", |label| sources.text(label.span));
            let mut hash = Fnv::new();
            for part in [one.check, file, &one.message] {
                hash.add(part);
            }
            text.split_whitespace().for_each(|word| hash.add(word));
            let nth = seen.entry(hash.0).or_default();
            *nth += 1;
            format!("{:016x}", hash.0 ^ (*nth - 1))
        })
        .collect()
}

/// FNV-1a of 64 bits, as its authors publish it: it stays the same on every machine and version.
struct Fnv(u64);

impl Fnv {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
    /// Adds a text and its end.
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0xff]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
