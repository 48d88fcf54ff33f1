//! Encodings of several blocks of a cluster, as older versions of Triton write them: they are not read,
//! and this is why.

/// Fields of Triton's encodings that count or split over the blocks of a cluster, and that encodings
/// of today have no more.
const BLOCK_FIELDS: [&str; 5] = ["CTAsPerCGA", "CTASplitNum", "CTASplitM", "CTASplitN", "CTAs"];

/// Whether a text has a field that says more than one block.
#[inline(never)]
pub(super) fn are_several(text: &str) -> bool {
    let bytes = text.as_bytes();
    let behind = |at: usize, field: &str| bytes.get(at..)?.strip_prefix(field.as_bytes());
    BLOCK_FIELDS
        .iter()
        .any(|field| (0..bytes.len()).filter_map(|at| behind(at, field)).any(says_several))
}

/// Whether a number above one stands in what a field is set to.
fn says_several(behind: &[u8]) -> bool {
    let behind = behind.trim_ascii_start();
    let Some((b'=', value)) = behind.split_first() else { return false };
    let in_list = value.trim_ascii_start().first() == Some(&b'[');
    let ends = |byte: &u8| matches!(byte, b']' | b'}' | b'>') || *byte == b',' && !in_list;
    let (mut number, mut several) = (0u32, false);
    for byte in value.iter().take_while(|byte| !ends(byte)) {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10);
        number = digit.map_or(0, |digit| number.saturating_mul(10).saturating_add(digit.into()));
        several |= number > 1;
    }
    several
}
