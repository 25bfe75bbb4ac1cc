//! Dispatches one compute shader, for `tuff sanitize` and its tests: `dispatch FILE.spv WORKGROUPS`. Set 0 has three storage buffers at
//! bindings 0 to 2, of 1024 words each; word i of each is i.

use client::compute::{Buffer, Kernel, KernelInfo};
use client::context::Context;
use client::{Error, Result};

/// Words of a buffer.
const WORDS: usize = 1024;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, groups] = &arguments[..] else { return Err(Error("dispatch FILE.spv WORKGROUPS".into())) };
    let groups: u32 = groups.parse().map_err(|_| Error(format!("{groups} is no number")))?;
    let spirv = std::fs::read(file).map_err(|e| Error::file(file.as_ref(), e))?;
    let context = Context::open()?;
    let contents: Vec<u8> = (0..WORDS as u32).flat_map(u32::to_le_bytes).collect();
    let buffers = [(); 3].map(|()| Buffer::with(&context, &contents));
    let buffers: Vec<Buffer> = buffers.into_iter().collect::<Result<_>>()?;
    let kernel = Kernel::new(&context, &KernelInfo { spirv: &spirv, bindings: 3, push_size: 0 })?;
    kernel.run(&buffers.iter().collect::<Vec<_>>(), &[], [groups, 1, 1])
}
