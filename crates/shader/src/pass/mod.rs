//! Passes over the IR, one file each, in the order in which [`optimise`] runs them.

pub mod address;
pub mod dce;
pub mod fma;
pub mod gvn;
pub mod licm;
pub mod nan;
pub mod preheader;
pub mod prune;
pub mod select;
pub mod squares;

use crate::bytecode::Program;
use crate::ir::{Shader, Stage};
use crate::options::{Options, Result};

/// Optimises in place. The results' bits do not change but by the fixed rule of FMA fusion.
pub fn optimise(shader: &mut Shader, options: &Options) -> Result<()> {
    prune::prune(shader)?;
    fma::fuse(shader);
    if options.optimise {
        improve(shader, options)?;
    }
    nan::settle(shader);
    if options.optimise {
        squares::join(shader);
    }
    Ok(())
}

fn improve(shader: &mut Shader, options: &Options) -> Result<()> {
    if select::select(shader)? {
        prune::prune(shader)?;
    }
    if gvn::gvn(shader)? {
        prune::prune(shader)?;
    }
    dce::dce(shader);
    // Whether several workgroups may share a wave, which makes their number varying.
    let packed = shader.stage == Stage::Compute
        && shader.workgroup.iter().product::<u32>().div_ceil(16) * 2 <= options.lanes.unwrap_or(256) / 16;
    preheader::insert(shader)?;
    licm::licm(shader, packed)?;
    let changed = address::split(shader, packed)?;
    if changed.is_some() && gvn::gvn(shader)? {
        prune::prune(shader)?;
    }
    if changed == Some(address::Where::InLoop) {
        licm::licm(shader, packed)?;
    }
    dce::dce(shader);
    Ok(())
}

/// IR as translated → a program that is checked and ready to run.
pub fn compile_ir(shader: &mut Shader, options: &Options) -> Result<Program> {
    optimise(shader, options)?;
    let program = crate::lower::lower(shader, options)?;
    crate::bytecode_check::check(&program)?;
    Ok(program)
}
