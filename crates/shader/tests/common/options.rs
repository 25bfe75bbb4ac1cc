//! How the tests' random programs are compiled, and what they find.

use shader::options::{Binding, Options, WaveWidth};

pub const TABLE_BINDING: u32 = 1;
/// Bytes of the output buffer that belong to one invocation.
pub const LANE_BYTES: u32 = 64;
/// Words of the read-only table.
pub const TABLE_WORDS: u32 = 64;

fn binding(_set: u32, binding: u32) -> Option<Binding> {
    Some(Binding::new(0, binding * 32, 1))
}

pub fn options(lanes: u32, optimise: bool) -> Options<'static> {
    Options {
        width: WaveWidth::Lanes(lanes),
        optimise,
        ..Options::new(shader::ir::Stage::Compute, "main", &binding)
    }
}
