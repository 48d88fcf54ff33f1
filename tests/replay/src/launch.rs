//! How a kernel is started: grid, block, parameters, bank model, limits.

use crate::bank::BankModel;
use crate::fault::{Clash, FaultKind};
use crate::memory::{BufferId, Memory};
use crate::tensor::TensorMap;

/// One kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param {
    /// 32 bits.
    U32(u32),
    /// 64 bits.
    U64(u64),
    /// A binary32 value.
    F32(f32),
    /// A tensor map.
    Tensor(TensorMap),
    /// The address of a buffer.
    Buffer(BufferId),
    /// An address within a buffer.
    BufferAt(BufferId, u64),
}

impl Param {
    fn bytes(self, memory: &Memory) -> Vec<u8> {
        match self {
            Param::U32(v) => v.to_le_bytes().to_vec(),
            Param::F32(v) => v.to_le_bytes().to_vec(),
            Param::U64(v) => v.to_le_bytes().to_vec(),
            Param::Tensor(map) => map.bytes(),
            Param::Buffer(id) => memory.address(id).to_le_bytes().to_vec(),
            Param::BufferAt(id, offset) => (memory.address(id) + offset).to_le_bytes().to_vec(),
        }
    }
}

/// One launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// Blocks in x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y, z.
    pub block: [u32; 3],
    /// Parameters in order.
    pub params: Vec<Param>,
    /// Bank model for conflict counts.
    pub banks: BankModel,
    /// Bytes of dynamic shared memory beyond what the kernel declares.
    pub dynamic_shared: u32,
    /// The blocks to run; all of the grid when empty.
    pub only: Vec<[u32; 3]>,
    /// Warp instructions a block may execute.
    pub step_limit: u64,
    /// Whether to keep the address trace.
    pub record_accesses: bool,
    /// Whether to keep matrix events.
    pub record_matrix: bool,
}

impl Launch {
    /// One block of `threads` threads.
    pub fn new(threads: u32, params: Vec<Param>) -> Self {
        Launch {
            grid: [1; 3],
            block: [threads, 1, 1],
            params,
            banks: BankModel::none(),
            dynamic_shared: 0,
            only: Vec::new(),
            step_limit: 50_000_000,
            record_accesses: true,
            record_matrix: true,
        }
    }

    /// With a grid.
    pub fn grid(mut self, x: u32, y: u32, z: u32) -> Self {
        self.grid = [x, y, z];
        self
    }

    /// With a bank model.
    pub fn banks(mut self, banks: BankModel) -> Self {
        self.banks = banks;
        self
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub(crate) fn blocks(&self) -> Vec<[u32; 3]> {
        if !self.only.is_empty() {
            return self.only.clone();
        }
        let [gx, gy, gz] = self.grid;
        (0..gz).flat_map(|z| (0..gy).flat_map(move |y| (0..gx).map(move |x| [x, y, z]))).collect()
    }

    /// Parameters one after the other, each at its natural alignment.
    pub(crate) fn pack(&self, memory: &Memory) -> Vec<u8> {
        let mut area = Vec::new();
        for param in &self.params {
            let bytes = param.bytes(memory);
            area.resize(area.len().next_multiple_of(bytes.len().min(crate::tensor::MAP_ALIGN)), 0);
            area.extend(bytes);
        }
        area
    }

    pub(crate) fn check(&self) -> Result<(), Clash> {
        if self.threads() == 0 || self.threads() > 1024 || self.grid.contains(&0) {
            let sentence = format!(
                "a block of {:?} threads in a grid of {:?} cannot run",
                self.block, self.grid
            );
            return Err(Clash::new(FaultKind::Parameter, sentence));
        }
        Ok(())
    }
}
