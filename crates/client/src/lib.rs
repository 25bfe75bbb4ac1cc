//! A small Vulkan client over `ash`, for compute and offscreen graphics: what the benches, the demo and the tests share.
//!
//! It is a program like any other that uses the driver: nothing here knows the driver's crates. A Vulkan library is
//! either the loader (`libvulkan.so.1`, which reads `VK_ICD_FILENAMES`) or, on a machine without a loader, the
//! driver's own shared object by the loader–ICD interface ([`Library`]). One process talks to one driver; to compare
//! drivers, start a child process for each ([`drivers`]).

#[cfg_attr(windows, path = "child/windows.rs")]
pub mod child;
pub mod compute;
pub mod context;
pub mod cooperative;
pub mod data_graph;
pub mod drivers;
pub mod graphics;
pub mod kernels;
pub mod launch;
pub mod library;
pub mod matrix;
pub mod measure;
pub mod optical_flow;
pub mod pictures;
pub mod products;
pub mod raster;
pub mod rays;
mod scratch;
pub mod session;
pub mod tensor;
pub mod tensor_heaps;
pub mod tensor_sets;
pub mod vector;

pub use compute::{Buffer, Kernel};
pub use context::Context;
pub use library::Library;
pub use scratch::scratch;

/// Anything that can go wrong in this crate, as one clear line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl Error {
    /// A Vulkan result with the call that gave it.
    pub fn vk(call: &str) -> impl Fn(ash::vk::Result) -> Error + '_ {
        move |r| Error(format!("{call}: {r:?}"))
    }

    /// What is wrong with a file, or could not be done to it.
    pub fn file(path: &std::path::Path, why: impl std::fmt::Display) -> Error {
        Error(format!("{}: {why}", path.display()))
    }
}

/// The words of a SPIR-V module, as files have them: little endian; what is left of a last word is left out.
pub fn words(spirv: &[u8]) -> Vec<u32> {
    spirv.as_chunks::<4>().0.iter().map(|c| u32::from_le_bytes(*c)).collect()
}

pub type Result<T> = std::result::Result<T, Error>;
