//! Versions and architectures.

use lanebook::TABLES;

/// Version of the library: major << 16 | minor << 8 | patch.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_version() -> u32 {
    const fn number(text: &str) -> u32 {
        let (bytes, mut at, mut value) = (text.as_bytes(), 0, 0u32);
        while at < bytes.len() {
            value = value * 10 + (bytes[at] - b'0') as u32;
            at += 1;
        }
        value
    }
    const VERSION: u32 = number(env!("CARGO_PKG_VERSION_MAJOR")) << 16
        | number(env!("CARGO_PKG_VERSION_MINOR")) << 8
        | number(env!("CARGO_PKG_VERSION_PATCH"));
    VERSION
}

/// How many architectures this build knows.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_arch_count() -> usize {
    TABLES.archs.len()
}

/// Name of an architecture, `*bytes` long and not ended by a zero; null past the last.
///
/// # Safety
/// `bytes` is null or writable for one `size_t`.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_arch_name(index: usize, bytes: *mut usize) -> *const u8 {
    let name = TABLES.archs.get(index).map(|arch| arch.name);
    if !bytes.is_null() && bytes.is_aligned() {
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { bytes.write(name.map_or(0, str::len)) }
    }
    name.map_or(core::ptr::null(), str::as_ptr)
}
