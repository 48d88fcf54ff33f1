//! Long lists of tests on all cores: a test that takes minutes is one test for the harness, which has
//! nothing else to run meanwhile.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `ask` says of each item, in the order of the items. As many threads as there are cores take
/// the next item each.
///
/// # Panics
/// When `ask` does, with its message.
pub fn each<T: Sync, R: Send>(items: &[T], ask: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((number, item)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            items.get(number).map(|item| (number, item))
        } {
            done.push((number, ask(item)));
        }
        done
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let joined = threads.into_iter().map(|thread| match thread.join() {
            Ok(done) => done,
            Err(why) => std::panic::resume_unwind(why),
        });
        joined.flatten().collect()
    });
    all.sort_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, said)| said).collect()
}
