//! Global memory: named buffers at made-up 64-bit addresses.
//!
//! Each buffer lies in its own 64 GiB region, so an access that leaves it hits nothing and is a
//! fault; and each buffer starts 4 KiB below a 4 GiB boundary, so that address arithmetic which
//! loses a carry into the high word leaves it too. Bytes count how often they were written.

use crate::fault::{Clash, FaultKind};
use crate::number;
use crate::tags::{self, Tag};

const REGION_BITS: u32 = 36;
const FIRST_REGION: u64 = 0x100;
const START_IN_REGION: u64 = 0xffff_f000;

/// A buffer of a [`Memory`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub(crate) u32);

/// How a buffer is read as a matrix, so that origins have rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixShape {
    /// Rows.
    pub rows: u32,
    /// Columns.
    pub cols: u32,
    /// Distance of two rows, in elements.
    pub row_stride: u32,
    /// Distance of two columns, in elements.
    pub col_stride: u32,
    /// Size of an element.
    pub element_bytes: u32,
}

impl MatrixShape {
    /// Rows one after the other without gaps.
    pub fn row_major(rows: u32, cols: u32, element_bytes: u32) -> Self {
        MatrixShape { rows, cols, row_stride: cols, col_stride: 1, element_bytes }
    }

    /// Columns one after the other without gaps.
    pub fn col_major(rows: u32, cols: u32, element_bytes: u32) -> Self {
        MatrixShape { rows, cols, row_stride: 1, col_stride: rows, element_bytes }
    }

    fn at_byte(&self, byte: u64) -> Option<(u32, u32)> {
        let element = byte / u64::from(self.element_bytes);
        let (row, col) = if self.row_stride >= self.col_stride {
            let stride = u64::from(self.row_stride);
            (element / stride, element % stride / u64::from(self.col_stride))
        } else {
            let stride = u64::from(self.col_stride);
            (element % stride / u64::from(self.row_stride), element / stride)
        };
        (row < u64::from(self.rows) && col < u64::from(self.cols))
            .then_some((row as u32, col as u32))
    }
}

/// Where a piece of data came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The buffer.
    pub buffer: BufferId,
    /// Byte offset in the buffer.
    pub byte: u64,
    /// Row and column, when the buffer is a matrix.
    pub element: Option<(u32, u32)>,
}

#[derive(Clone, Debug)]
struct Buffer {
    name: String,
    bytes: Vec<u8>,
    written: Vec<u8>,
    shape: Option<MatrixShape>,
}

/// All global memory of a run.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    buffers: Vec<Buffer>,
}

impl Memory {
    /// No buffers.
    pub fn new() -> Self {
        Memory::default()
    }

    /// Adds a buffer with these contents.
    pub fn add(&mut self, name: &str, bytes: Vec<u8>) -> BufferId {
        let written = vec![0; bytes.len()];
        self.buffers.push(Buffer { name: name.to_string(), bytes, written, shape: None });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// Adds a buffer of zeros.
    pub fn add_zeros(&mut self, name: &str, bytes: usize) -> BufferId {
        self.add(name, vec![0; bytes])
    }

    /// Adds 32-bit words.
    pub fn add_u32(&mut self, name: &str, words: &[u32]) -> BufferId {
        self.add(name, words.iter().flat_map(|w| w.to_le_bytes()).collect())
    }

    /// Adds binary32 values.
    pub fn add_f32(&mut self, name: &str, values: &[f32]) -> BufferId {
        self.add(name, values.iter().flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Adds values rounded to binary16.
    pub fn add_f16(&mut self, name: &str, values: &[f32]) -> BufferId {
        self.add(name, values.iter().flat_map(|&v| number::f32_to_f16(v).to_le_bytes()).collect())
    }

    /// Adds values rounded to bfloat16.
    pub fn add_bf16(&mut self, name: &str, values: &[f32]) -> BufferId {
        self.add(name, values.iter().flat_map(|&v| number::f32_to_bf16(v).to_le_bytes()).collect())
    }

    /// Says how a buffer is to be read in [`Origin::element`].
    pub fn set_shape(&mut self, id: BufferId, shape: MatrixShape) {
        self.buffers[id.0 as usize].shape = Some(shape);
    }

    /// The buffer's device address.
    pub fn address(&self, id: BufferId) -> u64 {
        ((FIRST_REGION + u64::from(id.0)) << REGION_BITS) + START_IN_REGION
    }

    /// The buffer's name.
    pub fn name(&self, id: BufferId) -> &str {
        &self.buffers[id.0 as usize].name
    }

    /// The buffer's contents.
    pub fn bytes(&self, id: BufferId) -> &[u8] {
        &self.buffers[id.0 as usize].bytes
    }

    /// The contents as 32-bit words.
    pub fn u32s(&self, id: BufferId) -> Vec<u32> {
        self.bytes(id)
            .chunks_exact(4)
            .map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]]))
            .collect()
    }

    /// The contents as binary32.
    pub fn f32s(&self, id: BufferId) -> Vec<f32> {
        self.u32s(id).into_iter().map(f32::from_bits).collect()
    }

    /// The contents as binary16, widened.
    pub fn f16s(&self, id: BufferId) -> Vec<f32> {
        self.bytes(id)
            .chunks_exact(2)
            .map(|c| number::f16_to_f32(u16::from_le_bytes([c[0], c[1]])))
            .collect()
    }

    /// How often each byte was written by kernels (at most 255).
    pub fn write_counts(&self, id: BufferId) -> &[u8] {
        &self.buffers[id.0 as usize].written
    }

    /// The buffer and byte offset at an address.
    pub fn locate(&self, address: u64) -> Option<(BufferId, u64)> {
        let index = (address >> REGION_BITS).checked_sub(FIRST_REGION)?;
        let buffer = self.buffers.get(usize::try_from(index).ok()?)?;
        let id = BufferId(index as u32);
        let offset = address.checked_sub(self.address(id))?;
        (offset < buffer.bytes.len() as u64).then_some((id, offset))
    }

    /// Where the 16-bit unit with this tag came from.
    pub fn origin(&self, tag: Tag) -> Option<Origin> {
        let (buffer, unit) = tags::unpack(tag)?;
        let byte = u64::from(unit) * 2;
        let element = self.buffers.get(buffer as usize)?.shape.and_then(|s| s.at_byte(byte));
        Some(Origin { buffer: BufferId(buffer), byte, element })
    }

    fn span(&self, address: u64, len: usize) -> Result<(BufferId, usize), Clash> {
        match self.locate(address) {
            Some((id, offset)) if offset as usize + len <= self.bytes(id).len() => {
                Ok((id, offset as usize))
            }
            Some((id, offset)) => Err(Clash::new(
                FaultKind::GlobalOutOfBounds,
                format!(
                    "{len} bytes at offset {offset} run past the end of buffer `{}` ({} bytes)",
                    self.name(id),
                    self.bytes(id).len()
                ),
            )
            .at(address)),
            None => {
                Err(Clash::new(FaultKind::GlobalOutOfBounds, self.describe_miss(address))
                    .at(address))
            }
        }
    }

    /// Faults where a span is not within one buffer.
    pub(crate) fn check(&self, address: u64, len: usize) -> Result<(), Clash> {
        self.span(address, len).map(|_| ())
    }

    /// The byte at an address.
    pub(crate) fn byte(&self, address: u64) -> Option<u8> {
        let (id, offset) = self.locate(address)?;
        self.bytes(id).get(offset as usize).copied()
    }

    fn describe_miss(&self, address: u64) -> String {
        let nearest = (0..self.buffers.len() as u32)
            .map(BufferId)
            .min_by_key(|&id| self.address(id).abs_diff(address));
        match nearest {
            Some(id) => {
                format!(
                    "no buffer is here; nearest is `{}`, {} bytes from its start",
                    self.name(id),
                    i128::from(address) - i128::from(self.address(id))
                )
            }
            None => "no buffer is here; there are none".to_string(),
        }
    }

    /// Copies bytes out, and the tags of the touched 16-bit units when the address is even.
    pub(crate) fn read(&self, address: u64, out: &mut [u8], tags: &mut [Tag]) -> Result<(), Clash> {
        let (id, offset) = self.span(address, out.len())?;
        out.copy_from_slice(&self.bytes(id)[offset..offset + out.len()]);
        for (i, tag) in tags.iter_mut().enumerate() {
            *tag = if offset.is_multiple_of(2) {
                tags::pack(id.0, (offset / 2 + i) as u64)
            } else {
                0
            };
        }
        Ok(())
    }

    pub(crate) fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Clash> {
        let (id, offset) = self.span(address, data.len())?;
        let buffer = &mut self.buffers[id.0 as usize];
        buffer.bytes[offset..offset + data.len()].copy_from_slice(data);
        for count in &mut buffer.written[offset..offset + data.len()] {
            *count = count.saturating_add(1);
        }
        Ok(())
    }
}
