//! The instrumenting pass: SPIR-V in, SPIR-V out, in which every basic block begins with a mark.
//!
//! A mark stands after the block's OpLabel, OpPhi and OpVariable, before anything that runs, so whatever a compiler
//! does to the code after it, the mark says how often the block of the *application's* SPIR-V ran. Blocks are numbered
//! densely from 0 in the order in which they appear in the module; [`Block`] says what each number means.
//!
//! Two forms:
//! - [`Form::Marks`], for engines that know them: `OpExtInst %void %set 1 %index`, where `%set` imports
//!   "NonSemantic.Tuff.Marks" and `%index` is an OpConstant of an unsigned 32-bit type. To everybody else it is a
//!   non-semantic instruction: it changes nothing (SPV_KHR_non_semantic_info).
//! - [`Form::Atomics`], for any driver: an addition of 1 to the block's element of a storage buffer. It counts the
//!   invocations that ran the block, helper invocations left out (their atomics have no effect). Vertex stages need
//!   the feature vertexPipelineStoresAndAtomics, fragment shaders fragmentStoresAndAtomics. A fragment shader that
//!   writes memory is no longer killed by early depth tests unless it asks for them (EarlyFragmentTests), so its
//!   counts may exceed those of the shader as it was. The buffer must hold an element for every block.
//!
//! The pass works on words: it inserts instructions and (from SPIR-V 1.4) extends the interfaces of entry points;
//! every word of the input stays, in its order. Ids are new ones from the bound up.

mod atomics;
mod by_line;
mod edit;
mod lines;
mod marks;
mod sketch;
mod table;

#[allow(unused_imports, reason = "the documentation names it")]
use crate::options::Error;
use crate::options::Result;
use crate::spirv::*;
pub use by_line::{ByLine, Stretch, by_line};
pub use lines::{Source, sources};
pub use sketch::{HASHES, Sketch, sketch};
pub use table::{Block, json, quoted};

/// The instruction set that a mark belongs to, and the number of the mark in it.
pub const MARKS_SET: &str = "NonSemantic.Tuff.Marks";
pub const MARK: u32 = 1;

/// What a mark is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Marks,
    Atomics(Counters),
}

/// Where atomics count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Descriptor set and binding of the storage buffer: an error if the module has a variable there.
    pub set: u32,
    pub binding: u32,
    /// 64-bit counts: two words for each block, the low one first, added up with a carry. A reader that looks while
    /// shaders run may miss a carry. Otherwise one word for each block, which wraps.
    pub wide: bool,
}

/// Whose functions are instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// All functions of the module.
    All,
    /// Those that the entry point of this name calls; of this execution model (a SPIR-V number), if one is given.
    Named(&'a str, Option<u32>),
}

/// The module with its marks, and what their numbers mean: block `i` is `blocks[i]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instrumented {
    pub words: Vec<u32>,
    pub blocks: Vec<Block>,
}

/// Marks every block. Errors: [`Error::Invalid`] for functions that aren't made of blocks, or an entry point that is
/// not there; [`Error::Unsupported`] for a kernel, or a binding that is taken; [`Error::TooLarge`] for too many ids.
pub fn instrument(module: &Module, entry: Entry, form: Form) -> Result<Instrumented> {
    let functions = functions(module, entry)?;
    let mut blocks = Vec::new();
    let mut lines = lines::Lines::new(module);
    for f in functions {
        table::blocks(module, &module.functions[f], &mut lines, &mut blocks)?;
    }
    let places: Vec<u32> = blocks.iter().map(|b| b.at).collect();
    let mut edit = edit::Edit::new(module);
    if !blocks.is_empty() {
        match form {
            Form::Marks => marks::insert(&mut edit, &places)?,
            Form::Atomics(counters) => atomics::insert(&mut edit, &places, counters)?,
        }
    }
    let words = edit.apply()?;
    Ok(Instrumented { words, blocks: blocks.into_iter().map(|b| b.block).collect() })
}

/// Just the table. Errors as [`instrument`].
pub fn blocks(module: &Module, entry: Entry) -> Result<Vec<Block>> {
    let mut out = Vec::new();
    let mut lines = lines::Lines::new(module);
    for f in functions(module, entry)? {
        table::blocks(module, &module.functions[f], &mut lines, &mut out)?;
    }
    Ok(out.into_iter().map(|b| b.block).collect())
}

/// Indices of the functions to instrument, ascending.
fn functions(m: &Module, entry: Entry) -> Result<Vec<usize>> {
    let Entry::Named(name, model) = entry else { return Ok((0..m.functions.len()).collect()) };
    let mut found = None;
    for &at in &m.entries {
        let i = m.inst(at);
        if i.string(3)?.0 == name && model.is_none_or(|model| model == i.w[1]) {
            found = Some(i.w[2]);
            break;
        }
    }
    let first = found.and_then(|id| m.function(id));
    let first = first.ok_or_else(|| invalid(0, format!("there is no entry point '{name}'")))?;
    let mut reached = vec![false; m.functions.len()];
    let mut stack = vec![first];
    while let Some(f) = stack.pop() {
        if std::mem::replace(&mut reached[f], true) {
            continue;
        }
        let Function { start, end, .. } = m.functions[f];
        let mut at = start;
        while at < end {
            let i = m.inst(at);
            if let Some(callee) = i.callee() {
                stack.push(m.function(callee.id).ok_or_else(|| i.bad("the callee is not a function"))?);
            }
            at += i.len() as u32;
        }
    }
    Ok((0..reached.len()).filter(|&f| reached[f]).collect())
}
