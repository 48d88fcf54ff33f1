//! A static library in Rust with std: it allocates, formats, panics and unwinds.

/// `n + 1`; -1 where that panicked.
#[unsafe(no_mangle)]
pub extern "C" fn other_rust(n: i32) -> i32 {
    std::panic::set_hook(Box::new(|_| {}));
    std::panic::catch_unwind(|| {
        assert!(n >= 0, "{}", format!("{n} is below zero"));
        n + 1
    })
    .unwrap_or(-1)
}
