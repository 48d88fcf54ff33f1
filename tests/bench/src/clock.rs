//! Time of a short call: the least over many short batches, since all that a busy machine can do is
//! add.
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Batches of one measurement.
const BATCHES: usize = 40;
/// How long a batch is meant to last.
const BATCH: Duration = Duration::from_micros(500);

/// How much is spent on a figure.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// Enough calls, and of everything, for the figure to mean something.
    #[default]
    Full,
    /// Everything is called once: for tests that ask whether figures are there, and are built
    /// without optimisation.
    Once,
}

impl Effort {
    /// How often something is done of which the least time counts.
    #[must_use]
    pub const fn times(self, full: usize) -> usize {
        match self {
            Self::Full => full,
            Self::Once => 1,
        }
    }
    /// Nanoseconds that `f` takes; its argument counts the calls, so that inputs can vary.
    pub fn nanoseconds<R>(self, mut f: impl FnMut(usize) -> R) -> f64 {
        match self {
            Self::Full => least(f),
            // A clock may not have moved.
            Self::Once => (batch(1, &mut f).as_nanos() as f64).max(1.0),
        }
    }
}

fn least<R>(mut f: impl FnMut(usize) -> R) -> f64 {
    let mut calls = 1;
    loop {
        let took = batch(calls, &mut f);
        if took >= BATCH / 4 || calls >= 1 << 22 {
            let one = took.as_secs_f64().max(1e-9) / calls as f64;
            calls = ((BATCH.as_secs_f64() / one) as usize).clamp(1, 1 << 24);
            break;
        }
        calls *= 2;
    }
    (0..BATCHES)
        .map(|_| batch(calls, &mut f).as_nanos() as f64 / calls as f64)
        .fold(f64::INFINITY, f64::min)
}

fn batch<R>(calls: usize, f: &mut impl FnMut(usize) -> R) -> Duration {
    let start = Instant::now();
    for call in 0..calls {
        black_box(f(black_box(call)));
    }
    start.elapsed()
}
