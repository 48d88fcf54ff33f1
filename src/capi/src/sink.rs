//! Texts that go out: to a callback, gathered in lent memory, or into a lent buffer.

use crate::code::{CallStatus, LbError};
use core::ffi::{c_int, c_void};
use core::fmt::{Arguments, Error, Result as FmtResult, Write};

/// Takes text: as often as needed, in order. Answers 0 to go on; anything else stops the call.
pub type LbSink =
    Option<unsafe extern "C" fn(user: *mut c_void, text: *const u8, bytes: usize) -> c_int>;

/// Bytes that are gathered before a callback is called.
pub(crate) const GATHERED: usize = 4096;

/// A callback that takes text.
pub(crate) struct Callback {
    pub(crate) write: unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int,
    pub(crate) user: *mut c_void,
}

impl Callback {
    /// One that takes it from lent memory.
    pub(crate) fn gathering(self, memory: &mut [u8; GATHERED]) -> GatheringSink<'_> {
        GatheringSink { callback: self, memory, used: 0 }
    }
}

/// A callback as a text sink: it is called for as much as the memory holds.
pub(crate) struct GatheringSink<'g> {
    callback: Callback,
    memory: &'g mut [u8; GATHERED],
    used: usize,
}

impl GatheringSink<'_> {
    /// Hands out what is left.
    pub(crate) fn finish(&mut self) -> FmtResult {
        let text = self.memory.get(..self.used).unwrap_or(&[]);
        self.used = 0;
        if text.is_empty() {
            return Ok(());
        }
        // SAFETY: the caller of `lb_compile` promised a function that takes a readable text with
        // its length.
        if unsafe { (self.callback.write)(self.callback.user, text.as_ptr(), text.len()) } == 0 {
            Ok(())
        } else {
            Err(Error)
        }
    }
}

impl GatheringSink<'_> {
    fn take(&mut self, text: &str) -> FmtResult {
        for byte in text.bytes() {
            if self.used >= self.memory.len() {
                self.finish()?;
            }
            if let Some(place) = self.memory.get_mut(self.used) {
                *place = byte;
                self.used = self.used.saturating_add(1);
            }
        }
        Ok(())
    }
}

impl Write for GatheringSink<'_> {
    #[inline(always)]
    fn write_str(&mut self, text: &str) -> FmtResult {
        self.take(text)
    }
    /// Formatting machinery links panics; the library never formats.
    fn write_fmt(&mut self, _: Arguments<'_>) -> FmtResult {
        Err(Error)
    }
}

/// A lent buffer as a text sink; it counts on where it is full.
pub(crate) struct AnswerBuffer<'b> {
    room: &'b mut [u8],
    pub(crate) used: usize,
}

impl AnswerBuffer<'_> {
    /// The buffer that C lends, empty.
    ///
    /// # Safety
    /// `room` is 0, or `answer` is not null, writable for `room` bytes, no more than an object can
    /// have, and nothing else uses them as long as this lasts.
    pub(crate) unsafe fn lent(answer: *mut u8, room: usize) -> Self {
        let room: &mut [u8] = match room {
            0 => &mut [],
            // SAFETY: by the caller's word.
            bytes => unsafe { core::slice::from_raw_parts_mut(answer, bytes) },
        };
        Self { room, used: 0 }
    }

    /// Tells how much there was to write; an error if that is more than there is room for.
    ///
    /// # Safety
    /// `bytes` is not null, aligned, and writable.
    pub(crate) unsafe fn finish(self, bytes: *mut usize) -> Result<(), LbError> {
        // SAFETY: by the caller's word.
        unsafe { bytes.write(self.used) }
        if self.used <= self.room.len() {
            return Ok(());
        }
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        let numbers = [signed(self.used), signed(self.room.len()), 0];
        Err(LbError { numbers, ..LbError::of(CallStatus::Room) })
    }

    fn take(&mut self, text: &str) {
        let end = self.used.saturating_add(text.len());
        for (place, byte) in self.room.iter_mut().skip(self.used).zip(text.bytes()) {
            *place = byte;
        }
        self.used = end;
    }
}

impl Write for AnswerBuffer<'_> {
    #[inline(always)]
    fn write_str(&mut self, text: &str) -> FmtResult {
        self.take(text);
        Ok(())
    }
    /// Formatting machinery links panics; the library never formats.
    fn write_fmt(&mut self, _: Arguments<'_>) -> FmtResult {
        Err(Error)
    }
}
