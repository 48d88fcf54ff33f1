//! The replay as a device: the emitted text lane by lane, with races and unready data as faults.

use crate::{Arg, Device, Job};
use lanebook_replay::{BankModel, Kernel, Launch, Memory, Param, TensorMap, run};

/// A machine that reads PTX.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replay;

impl Device for Replay {
    fn name(&self) -> String {
        "replay".into()
    }

    fn word(&self) -> &'static str {
        "replay"
    }

    fn is_timed(&self) -> bool {
        false
    }

    fn run(&mut self, job: &Job, operands: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
        let kernel = Kernel::parse_ptx(&job.text).map_err(|e| e.to_string())?;
        let mut now = operands.to_vec();
        for launch in &job.launches {
            let mut memory = Memory::new();
            let ids: Vec<_> = now
                .iter()
                .enumerate()
                .map(|(k, bytes)| memory.add(&format!("operand {k}"), bytes.clone()))
                .collect();
            let params = launch
                .args
                .iter()
                .map(|arg| match arg {
                    Arg::Pointer(k) => Param::Buffer(ids[*k]),
                    Arg::U32(n) => Param::U32(*n),
                    Arg::Map(map) => {
                        let mut out = TensorMap {
                            address: memory.address(ids[map.operand]),
                            element_bytes: map.element_bytes,
                            rank: map.extents.len() as u8,
                            extents: [1; 5],
                            strides: [0; 5],
                            boxed: [1; 5],
                            swizzle: map.swizzle,
                            bounded: false,
                        };
                        out.extents[..map.extents.len()].copy_from_slice(&map.extents);
                        out.strides[..map.strides.len()].copy_from_slice(&map.strides);
                        out.boxed[..map.boxed.len()].copy_from_slice(&map.boxed);
                        Param::Tensor(out)
                    }
                })
                .collect();
            let [x, y, z] = launch.grid;
            let launch = Launch {
                dynamic_shared: job.dynamic_shared,
                record_matrix: false,
                record_accesses: false,
                ..Launch::new(job.threads, params).grid(x, y, z).banks(BankModel::nvidia())
            };
            run(&kernel, &launch, &mut memory).map_err(|fault| fault.to_string())?;
            now = ids.iter().map(|id| memory.bytes(*id).to_vec()).collect();
        }
        Ok(now)
    }
}
