//! Names: what RDNA calls instructions that older machines have too.
//!
//! The decoder knows the older names. A name that a generation does not have is refused: the text
//! was written for another one.

use super::op::Gfx;

/// Width suffixes of gfx11 and their older spelling, of memory loads and stores.
const WIDTHS: [(&str, &str); 17] = [
    ("b32", "dword"),
    ("b64", "dwordx2"),
    ("b96", "dwordx3"),
    ("b128", "dwordx4"),
    ("b256", "dwordx8"),
    ("u8", "ubyte"),
    ("i8", "sbyte"),
    ("u16", "ushort"),
    ("i16", "sshort"),
    ("d16_b16", "short_d16"),
    ("d16_hi_b16", "short_d16_hi"),
    ("d16_u8", "ubyte_d16"),
    ("d16_hi_u8", "ubyte_d16_hi"),
    ("d16_i8", "sbyte_d16"),
    ("d16_hi_i8", "sbyte_d16_hi"),
    ("b8", "byte"),
    ("b16", "short"),
];

/// New and older names of vector instructions that take the same operands.
const VECTOR: [(&str, &str); 3] = [
    ("v_add_nc_u32", "v_add_u32"),
    ("v_sub_nc_u32", "v_sub_u32"),
    ("v_subrev_nc_u32", "v_subrev_u32"),
];

/// An instruction's name on gfx9.
pub(super) fn older(name: &str, gfx: Gfx) -> Result<String, String> {
    if !gfx.is_rdna() {
        return Ok(name.to_string());
    }
    let foreign = || Err(format!("`{name}` is no instruction of this generation"));
    if let Some((_, old)) = VECTOR.iter().find(|(new, _)| *new == name) {
        return Ok(old.to_string());
    }
    if VECTOR.iter().any(|(_, old)| *old == name) {
        return foreign();
    }
    if gfx == Gfx::Rdna2 {
        return Ok(name.to_string());
    }
    for (prefix, old) in [
        ("global_load_", "global_load_"),
        ("global_store_", "global_store_"),
        ("buffer_load_", "buffer_load_"),
        ("buffer_store_", "buffer_store_"),
        ("s_load_", "s_load_"),
    ] {
        if let Some(suffix) = name
            .strip_prefix(prefix)
            .filter(|suffix| !suffix.starts_with("tr") && !suffix.starts_with("async_"))
        {
            return WIDTHS
                .iter()
                .find(|(new, _)| *new == suffix)
                .map_or_else(foreign, |(_, width)| Ok(format!("{old}{width}")));
        }
    }
    for (prefix, old) in [
        ("ds_load_2addr_", "ds_read2"),
        ("ds_store_2addr_", "ds_write2"),
        ("ds_load_", "ds_read"),
        ("ds_store_", "ds_write"),
    ] {
        if let Some(rest) = name.strip_prefix(prefix) {
            return Ok(match rest.strip_prefix("stride64_") {
                Some(rest) => format!("{old}st64_{rest}"),
                None => format!("{old}_{rest}"),
            });
        }
    }
    if name.starts_with("ds_read") || name.starts_with("ds_write") {
        foreign()
    } else {
        Ok(name.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::{Gfx, older};

    #[test]
    fn names_of_each_generation() {
        for (name, gfx, want) in [
            ("ds_load_b128", Gfx::Rdna3, Some("ds_read_b128")),
            ("ds_store_2addr_stride64_b32", Gfx::Rdna4, Some("ds_write2st64_b32")),
            ("ds_load_u16_d16_hi", Gfx::Rdna4, Some("ds_read_u16_d16_hi")),
            ("global_load_d16_b16", Gfx::Rdna3, Some("global_load_short_d16")),
            ("global_load_dwordx4", Gfx::Rdna3, None),
            ("global_load_dwordx4", Gfx::Rdna2, Some("global_load_dwordx4")),
            ("ds_read_b32", Gfx::Rdna4, None),
            ("v_add_u32", Gfx::Rdna3, None),
            ("v_add_nc_u32", Gfx::Rdna2, Some("v_add_u32")),
            ("s_load_b64", Gfx::Rdna4, Some("s_load_dwordx2")),
        ] {
            assert_eq!(older(name, gfx).ok().as_deref(), want, "{name}");
        }
        assert_eq!(older("v_add_nc_u32", Gfx::Gfx950).as_deref(), Ok("v_add_nc_u32"));
    }
}
