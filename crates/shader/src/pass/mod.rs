//! Passes over the IR, one file each.

pub mod prune;

use crate::bytecode::Program;
use crate::ir::Shader;
use crate::options::{Options, Result};

/// Optimises in place. The results' bits do not change but by the fixed rule of FMA fusion.
pub fn optimise(shader: &mut Shader, _options: &Options) -> Result<()> {
    prune::prune(shader)
}

/// IR as translated → a program that is checked and ready to run.
pub fn compile_ir(shader: &mut Shader, options: &Options) -> Result<Program> {
    optimise(shader, options)?;
    let program = crate::lower::lower(shader, options)?;
    crate::bytecode_check::check(&program)?;
    Ok(program)
}
