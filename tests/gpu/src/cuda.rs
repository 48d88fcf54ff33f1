//! A GPU through the CUDA driver, found at run time: no toolkit is needed, the driver compiles the
//! text itself.
//!
//! Names, types and numbers are those of the CUDA Driver API's reference (modules "Module
//! Management", "Memory Management", "Execution Control", "Tensor Map Object Management").

use crate::{Arg, Device, Job, JobLaunch, Map};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY: [c_int; 2] = [75, 76];
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const DYNAMIC_SHARED: c_int = 8;
/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const ERROR_LOG: [c_uint; 2] = [5, 6];

/// `CUtensorMap`: 128 opaque bytes.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Block([u64; 16]);

/// The first GPU of a machine.
pub struct Cuda {
    driver: Library,
    device: c_int,
    is_spoiled: bool,
    name: String,
    capability: (i32, i32),
}

/// One argument's storage until the launch.
enum Slot {
    Word(u32),
    Address(u64),
    Block(Box<Block>),
}

macro_rules! call {
    ($self:expr, $name:literal, ($($ty:ty),*), $($arg:expr),*) => {{
        // SAFETY: the symbol is the driver's function of this name, whose C signature is the one
        // written here, and each pointer among the arguments points to live storage of the size
        // that the function reads or writes.
        let status = unsafe {
            let function = $self.driver.get::<unsafe extern "C" fn($($ty),*) -> c_int>(concat!($name, "\0").as_bytes()).map_err(|e| e.to_string())?;
            function($($arg),*)
        };
        if status == 0 { Ok(()) } else { Err($self.said($name, status)) }
    }};
}

impl Cuda {
    /// Opens the driver and the first device, and makes its context current.
    ///
    /// # Errors
    /// There is no driver or no device, and what was said.
    pub fn open() -> Result<Self, String> {
        // SAFETY: the driver's library runs its own initialisers, as in every CUDA program.
        let driver = unsafe { Library::new("libcuda.so.1") }
            .map_err(|e| format!("no CUDA driver on this machine: {e}"))?;
        let mut out =
            Self { driver, device: 0, is_spoiled: false, name: String::new(), capability: (0, 0) };
        call!(out, "cuInit", (c_uint), 0)?;
        let (mut device, mut version): (c_int, c_int) = (0, 0);
        call!(out, "cuDeviceGet", (*mut c_int, c_int), &mut device, 0)?;
        out.device = device;
        let mut context: *mut c_void = null_mut();
        call!(out, "cuDevicePrimaryCtxRetain", (*mut *mut c_void, c_int), &mut context, device)?;
        call!(out, "cuCtxSetCurrent", (*mut c_void), context)?;
        call!(out, "cuDriverGetVersion", (*mut c_int), &mut version)?;
        let mut name = [0 as c_char; 128];
        call!(out, "cuDeviceGetName", (*mut c_char, c_int, c_int), name.as_mut_ptr(), 128, device)?;
        let mut found = [0; 2];
        for (attribute, to) in CAPABILITY.into_iter().zip(&mut found) {
            call!(out, "cuDeviceGetAttribute", (*mut c_int, c_int, c_int), to, attribute, device)?;
        }
        out.capability = (found[0], found[1]);
        // SAFETY: the driver ends the name with a zero inside the 128 bytes.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        out.name =
            format!("{name}, compute capability {}.{}, CUDA driver {version}", found[0], found[1]);
        Ok(out)
    }

    /// Whether this device takes text for an architecture: an `a` target is for one capability
    /// alone, an `f` target for later ones of its family, others for all later ones.
    #[must_use]
    pub fn takes(&self, arch: &str) -> bool {
        let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
        let Ok(wanted) = digits.parse::<i32>() else { return false };
        let own = self.capability.0 * 10 + self.capability.1;
        match arch.chars().last() {
            Some('a') => own == wanted,
            Some('f') => own >= wanted && own / 10 == wanted / 10,
            _ => own >= wanted,
        }
    }

    fn said(&self, name: &str, status: c_int) -> String {
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: the signature is the driver's; the text it gives is its own and lasts.
        let said = unsafe {
            match self.driver.get::<unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int>(
                b"cuGetErrorString\0",
            ) {
                Ok(function) if function(status, &mut text) == 0 && !text.is_null() => {
                    CStr::from_ptr(text).to_string_lossy().into_owned()
                }
                _ => "no text".into(),
            }
        };
        format!("{name}: {status}, {said}")
    }

    fn load(&self, text: &str) -> Result<*mut c_void, String> {
        let text = CString::new(text).map_err(|e| e.to_string())?;
        let (mut module, mut log) = (null_mut(), vec![0u8; 8192]);
        let mut options = ERROR_LOG;
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        let loaded = call!(
            self,
            "cuModuleLoadDataEx",
            (*mut *mut c_void, *const c_void, c_uint, *mut c_uint, *mut *mut c_void),
            &mut module,
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        );
        let end = log.iter().position(|b| *b == 0).unwrap_or(log.len());
        loaded
            .map(|()| module)
            .map_err(|e: String| format!("{e}\n{}", String::from_utf8_lossy(&log[..end])))
    }

    fn encode(&self, map: &Map, address: u64) -> Result<Box<Block>, String> {
        let mut block = Box::new(Block([0; 16]));
        let extents: Vec<u64> = map.extents.iter().map(|n| u64::from(*n)).collect();
        let boxed: Vec<u32> = map.boxed.iter().map(|n| u32::from(*n)).collect();
        let steps = vec![1u32; boxed.len()];
        // The innermost stride is the element's size and is not passed. No
        // promotion, zeros outside.
        call!(
            self,
            "cuTensorMapEncodeTiled",
            (
                *mut Block,
                c_uint,
                c_uint,
                *mut c_void,
                *const u64,
                *const u64,
                *const u32,
                *const u32,
                c_uint,
                c_uint,
                c_uint,
                c_uint
            ),
            &mut *block,
            map.element,
            extents.len() as c_uint,
            address as *mut c_void,
            extents.as_ptr(),
            map.strides[1..].as_ptr(),
            boxed.as_ptr(),
            steps.as_ptr(),
            map.interleave,
            c_uint::from(map.swizzle),
            0,
            0
        )?;
        Ok(block)
    }

    fn launch(
        &self,
        function: *mut c_void,
        job: &Job,
        JobLaunch { grid, args }: &JobLaunch,
        addresses: &[u64],
    ) -> Result<(), String> {
        let mut slots = Vec::new();
        for arg in args {
            slots.push(match arg {
                Arg::Pointer(operand) => Slot::Address(addresses[*operand]),
                Arg::U32(n) => Slot::Word(*n),
                Arg::Map(map) => Slot::Block(self.encode(map, addresses[map.operand])?),
            });
        }
        let mut pointers: Vec<*mut c_void> = slots
            .iter_mut()
            .map(|slot| match slot {
                Slot::Word(n) => std::ptr::from_mut(n).cast(),
                Slot::Address(n) => std::ptr::from_mut(n).cast(),
                Slot::Block(block) => std::ptr::from_mut(block.as_mut()).cast(),
            })
            .collect();
        call!(
            self,
            "cuLaunchKernel",
            (
                *mut c_void,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                *mut c_void,
                *mut *mut c_void,
                *mut *mut c_void
            ),
            function,
            grid[0],
            grid[1],
            grid[2],
            job.threads,
            1,
            1,
            job.dynamic_shared,
            null_mut(),
            pointers.as_mut_ptr(),
            null_mut()
        )
    }

    fn fill(&self, address: u64, bytes: &[u8]) -> Result<(), String> {
        call!(
            self,
            "cuMemcpyHtoD_v2",
            (u64, *const c_void, usize),
            address,
            bytes.as_ptr().cast(),
            bytes.len()
        )
    }

    /// The kernel of a job with its module.
    fn function(&self, job: &Job) -> Result<(*mut c_void, *mut c_void), String> {
        let module = self.load(&job.text)?;
        let name = CString::new(job.kernel.as_str()).map_err(|e| e.to_string())?;
        let mut function = null_mut();
        call!(
            self,
            "cuModuleGetFunction",
            (*mut *mut c_void, *mut c_void, *const c_char),
            &mut function,
            module,
            name.as_ptr()
        )?;
        if job.dynamic_shared > 0 {
            let bytes = c_int::try_from(job.dynamic_shared).map_err(|e| e.to_string())?;
            call!(
                self,
                "cuFuncSetAttribute",
                (*mut c_void, c_int, c_int),
                function,
                DYNAMIC_SHARED,
                bytes
            )?;
        }
        Ok((module, function))
    }

    fn run_at(
        &self,
        job: &Job,
        operands: &[Vec<u8>],
        addresses: &[u64],
    ) -> Result<Vec<Vec<u8>>, String> {
        for (bytes, address) in operands.iter().zip(addresses) {
            self.fill(*address, bytes)?;
        }
        let (module, function) = self.function(job)?;
        for launch in &job.launches {
            self.launch(function, job, launch, addresses)?;
            call!(self, "cuCtxSynchronize", (),)?;
        }
        let mut out = operands.to_vec();
        for (bytes, address) in out.iter_mut().zip(addresses) {
            call!(
                self,
                "cuMemcpyDtoH_v2",
                (*mut c_void, u64, usize),
                bytes.as_mut_ptr().cast(),
                *address,
                bytes.len()
            )?;
        }
        call!(self, "cuModuleUnload", (*mut c_void), module)?;
        Ok(out)
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn word(&self) -> &'static str {
        "cuda"
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    fn run(&mut self, job: &Job, operands: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
        let mut addresses = Vec::new();
        let mut all = Ok(());
        for bytes in operands {
            let mut address = 0u64;
            all =
                call!(self, "cuMemAlloc_v2", (*mut u64, usize), &mut address, bytes.len().max(16));
            if all.is_err() {
                break;
            }
            addresses.push(address);
        }
        match all.and_then(|()| self.run_at(job, operands, &addresses)) {
            Ok(after) => {
                for address in addresses {
                    call!(self, "cuMemFree_v2", (u64), address)?;
                }
                Ok(after)
            }
            Err(said) => {
                // A fault on the device stays in its context; a text that is not taken does not.
                self.is_spoiled = call!(self, "cuCtxSynchronize", (),).is_err();
                Err(said)
            }
        }
    }

    fn time(&mut self, job: &Job, operands: &[Vec<u8>], runs: u32) -> Result<f64, String> {
        let mut addresses = Vec::new();
        for bytes in operands {
            let mut address = 0u64;
            call!(self, "cuMemAlloc_v2", (*mut u64, usize), &mut address, bytes.len().max(16))?;
            addresses.push(address);
            self.fill(address, bytes)?;
        }
        let (module, function) = self.function(job)?;
        let mut events = [null_mut(); 2];
        for event in &mut events {
            call!(self, "cuEventCreate", (*mut *mut c_void, c_uint), event, 0)?;
        }
        for counted in [false, true] {
            if counted {
                call!(self, "cuEventRecord", (*mut c_void, *mut c_void), events[0], null_mut())?;
            }
            for _ in 0..runs {
                for launch in &job.launches {
                    self.launch(function, job, launch, &addresses)?;
                }
            }
            if !counted {
                call!(self, "cuCtxSynchronize", (),)?;
            }
        }
        call!(self, "cuEventRecord", (*mut c_void, *mut c_void), events[1], null_mut())?;
        call!(self, "cuCtxSynchronize", (),)?;
        let mut milliseconds = 0f32;
        call!(
            self,
            "cuEventElapsedTime",
            (*mut f32, *mut c_void, *mut c_void),
            &mut milliseconds,
            events[0],
            events[1]
        )?;
        call!(self, "cuModuleUnload", (*mut c_void), module)?;
        for address in addresses {
            call!(self, "cuMemFree_v2", (u64), address)?;
        }
        Ok(f64::from(milliseconds) * 1e3 / f64::from(runs))
    }
}
