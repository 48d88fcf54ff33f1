//! The board: entry, statics, semihosting.
use crate::{ARCHS, compiled};
use cortex_m as _;
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use lanebook::compile::KernelStorage;
use lanebook::ir;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    fail("panic")
}

fn fail(why: &str) -> ! {
    let _ = hprintln!("failed: {}", why);
    debug::exit(debug::EXIT_FAILURE);
    loop {}
}

#[entry]
fn main() -> ! {
    // `#[entry]` makes these statics and hands them out once.
    static mut ROOM: ir::SmallStorage = ir::SmallStorage::new();
    static mut KERNEL: KernelStorage = KernelStorage::new();
    for name in ARCHS {
        match compiled(name, ROOM, KERNEL) {
            Ok(hash) => {
                let _ = hprintln!("{} {} {:016x}", name, hash.bytes, hash.fnv);
            }
            Err(step) => fail(step),
        }
    }
    debug::exit(debug::EXIT_SUCCESS);
    loop {}
}
