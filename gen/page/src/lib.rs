//! lanebook behind a page: a request as JSON in, an answer as JSON out, in the memory of a WebAssembly module.
//!
//! | module | what |
//! | --- | --- |
//! | [`request`] | what the page may ask, and the answer |
//! | `layouts` | queries: words, a grid of positions, the banks of an access |
//! | `programs` | tile programs compiled, loops inferred |
//! | `machines` | architectures, instructions, examples: what there is to choose from |
//!
//! The page itself is in `web`; `build.sh` makes one file of both, which a browser opens from a disk.
//! The page writes a request into [`page_request`]'s memory, calls [`page_answer`], and reads as many bytes from
//! [`page_reply`].

mod layouts;
mod machines;
mod programs;
pub mod request;

use std::sync::Mutex;

/// The request that is being written, and the last answer.
static EXCHANGE: Mutex<(Vec<u8>, Vec<u8>)> = Mutex::new((Vec::new(), Vec::new()));

/// Room for a request of so many bytes; null if there is none.
// SAFETY: the prefix `page_` is this module's, which is linked with nothing else.
#[unsafe(no_mangle)]
pub extern "C" fn page_request(bytes: usize) -> *mut u8 {
    let Ok(mut exchange) = EXCHANGE.lock() else { return std::ptr::null_mut() };
    exchange.0.clear();
    exchange.0.resize(bytes, 0);
    exchange.0.as_mut_ptr()
}

/// Answers the request that was written; the bytes of the answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_answer() -> usize {
    let Ok(mut exchange) = EXCHANGE.lock() else { return 0 };
    let answer = match std::str::from_utf8(&exchange.0) {
        Ok(text) => request::answer(text),
        Err(_) => request::refusal("the request is not UTF-8", "report this"),
    };
    exchange.1 = answer.to_string().into_bytes();
    exchange.1.len()
}

/// The bytes of the last answer.
// SAFETY: as above.
#[unsafe(no_mangle)]
pub extern "C" fn page_reply() -> *const u8 {
    let Ok(exchange) = EXCHANGE.lock() else { return std::ptr::null() };
    exchange.1.as_ptr()
}
