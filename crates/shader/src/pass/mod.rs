//! Passes over the IR, one file each, in the order in which [`optimise`] runs them.

pub mod address;
pub mod dce;
mod dump;
pub mod fma;
pub mod gvn;
pub mod licm;
pub mod moved;
pub mod nan;
pub mod note;
pub mod preheader;
pub mod probe;
pub mod prune;
pub mod select;
pub mod squares;

use crate::bytecode::Program;
use crate::cfg::Cfg;
use crate::ir::Shader;
use crate::lower::uniform::Uniformity;
use crate::options::{Options, Result};
use dump::Dump;

/// A pass by itself.
pub type Pass = fn(&mut Shader, &Options) -> Result<()>;

/// Passes by their names, for tests of each alone. [`optimise`] runs them.
pub const PASSES: &[(&str, Pass)] = &[
    ("prune", |s, _| prune::prune(s)),
    ("probe", |s, o| {
        probe::add(s, o);
        Ok(())
    }),
    ("aim", |s, _| {
        note::aim(s, crate::notes::Target::Thread([70, 0, 0]));
        Ok(())
    }),
    ("note", |s, _| {
        note::settle(s);
        Ok(())
    }),
    ("fma", |s, _| {
        fma::fuse(s);
        Ok(())
    }),
    ("select", |s, _| select::select(s).map(|_| ())),
    ("gvn", |s, _| gvn::gvn(s).map(|_| ())),
    ("dce", |s, _| {
        dce::dce(s);
        Ok(())
    }),
    ("preheader", |s, _| preheader::insert(s)),
    ("licm", |s, o| {
        let cfg = Cfg::of(s)?;
        let u = uniformity(s, &cfg, o)?;
        licm::licm(s, &cfg, &u);
        Ok(())
    }),
    ("address", |s, o| {
        let cfg = Cfg::of(s)?;
        address::split(s, &cfg, None, packed(s, o)).map(|_| ())
    }),
    ("nan", |s, _| {
        nan::settle(s);
        Ok(())
    }),
    ("moved", |s, _| {
        moved::as_bits(s);
        Ok(())
    }),
    ("squares", |s, _| {
        squares::join(s);
        Ok(())
    }),
];

/// Whether several workgroups may share a wave, which makes their number varying.
fn packed(shader: &Shader, options: &Options) -> bool {
    let warps = shader.workgroup.iter().product::<u32>().div_ceil(16);
    shader.stage.has_workgroups() && warps * 2 <= options.width.widest() / 16
}

fn uniformity(shader: &Shader, cfg: &Cfg, options: &Options) -> Result<Uniformity> {
    Uniformity::new(shader, cfg, packed(shader, options), false)
}

/// Optimises in place. The results' bits do not change but by the fixed rule of FMA fusion.
pub fn optimise(shader: &mut Shader, options: &Options) -> Result<()> {
    run(shader, options, &mut Dump::none())
}

fn run(shader: &mut Shader, options: &Options, dump: &mut Dump) -> Result<()> {
    prune::prune(shader)?;
    dump.ir("prune", shader);
    if options.sanitize {
        probe::add(shader, options);
        dump.ir("probe", shader);
    }
    if let Some(target) = options.notes {
        note::aim(shader, target);
        dump.ir("aim", shader);
    }
    fma::fuse(shader);
    dump.ir("fma", shader);
    if options.notes.is_some() {
        note::settle(shader);
        dump.ir("note", shader);
    }
    if options.optimise {
        improve(shader, options, dump)?;
    }
    nan::settle(shader);
    dump.ir("nan", shader);
    moved::as_bits(shader);
    dump.ir("moved", shader);
    if options.optimise {
        squares::join(shader);
        dump.ir("squares", shader);
    }
    Ok(())
}

fn improve(shader: &mut Shader, options: &Options, dump: &mut Dump) -> Result<()> {
    let selected = select::select(shader)?;
    dump.ir("select", shader);
    if selected {
        prune::prune(shader)?;
        dump.ir("prune", shader);
    }
    number(shader, dump)?;
    dce::dce(shader);
    dump.ir("dce", shader);
    preheader::insert(shader)?;
    dump.ir("preheader", shader);
    let cfg = Cfg::of(shader)?;
    let mut u = None;
    if !cfg.loops.is_empty() {
        let before = uniformity(shader, &cfg, options)?;
        u = (!licm::licm(shader, &cfg, &before)).then_some(before);
    }
    dump.ir("licm", shader);
    let changed = address::split(shader, &cfg, u, packed(shader, options))?;
    dump.ir("address", shader);
    if changed.is_none() {
        return Ok(());
    }
    number(shader, dump)?;
    if changed == Some(address::Where::InLoop) {
        let cfg = Cfg::of(shader)?;
        let u = uniformity(shader, &cfg, options)?;
        licm::licm(shader, &cfg, &u);
        dump.ir("licm", shader);
    }
    dce::dce(shader);
    dump.ir("dce", shader);
    Ok(())
}

fn number(shader: &mut Shader, dump: &mut Dump) -> Result<()> {
    let pruned = gvn::gvn(shader)?;
    dump.ir("gvn", shader);
    if pruned {
        prune::prune(shader)?;
        dump.ir("prune", shader);
    }
    Ok(())
}

/// IR as translated → a program that is checked and ready to run.
pub fn compile_ir(shader: &mut Shader, options: &Options) -> Result<Program> {
    let mut dump = Dump::next();
    dump.ir("build", shader);
    run(shader, options, &mut dump)?;
    let program = crate::lower::lower(shader, options)?;
    dump.bytecode(&program);
    crate::bytecode_check::check(&program)?;
    Ok(program)
}
