//! Versions, architectures, and instructions by numbers that stay.

use crate::lend::text;
use lanebook::TABLES;
use lanebook::tables::AtomId;

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
    // SAFETY: the caller's word.
    unsafe { named(name, bytes) }
}

/// The number of an architecture by its name; [`lb_arch_count`] where there is none, or no text.
///
/// # Safety
/// `name` is readable for `bytes` bytes.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_arch_index(name: *const u8, bytes: usize) -> usize {
    // SAFETY: the caller's word.
    let name = unsafe { text(name, bytes, 1) };
    name.ok().and_then(|name| TABLES.arch_named(name)).map_or(TABLES.archs.len(), |id| id.index())
}

/// The number that stays of the instruction at a place of this build's list; 0 past the last.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub extern "C" fn lb_atom_id(index: usize) -> u32 {
    let id = u16::try_from(index).ok().map(AtomId);
    id.and_then(|id| TABLES.atom(id)).map_or(0, |atom| atom.stable())
}

/// The number that stays of an instruction by its name; 0 where there is none, or no text.
///
/// # Safety
/// `name` is readable for `bytes` bytes.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_atom_named(name: *const u8, bytes: usize) -> u32 {
    // SAFETY: the caller's word.
    let name = unsafe { text(name, bytes, 1) };
    name.ok().and_then(|name| TABLES.atom(TABLES.atom_named(name)?)).map_or(0, |atom| atom.stable())
}

/// Name of the instruction with a number that stays, `*bytes` long and not ended by a zero; null where
/// this build has none.
///
/// # Safety
/// `bytes` is null or writable for one `size_t`.
// SAFETY: the prefix `lb_` is this library's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lb_atom_name(id: u32, bytes: *mut usize) -> *const u8 {
    let known = TABLES.atom_numbered(id).and_then(|id| TABLES.atom(id));
    // SAFETY: the caller's word.
    unsafe { named(known.map(|atom| atom.name()), bytes) }
}

/// A name with its length.
///
/// # Safety
/// `bytes` is null or writable for one `size_t`.
unsafe fn named(name: Option<&'static str>, bytes: *mut usize) -> *const u8 {
    if !bytes.is_null() && bytes.is_aligned() {
        // SAFETY: not null, aligned, and writable by the caller's word.
        unsafe { bytes.write(name.map_or(0, str::len)) }
    }
    name.map_or(core::ptr::null(), str::as_ptr)
}
