//! Source lines: OpLine, and DebugLine and DebugSource of NonSemantic.Shader.DebugInfo.100.

use super::Builder;
use crate::options::Result;
use crate::spirv::*;
use rustc_hash::FxHashMap;

pub(crate) struct Lines {
    pub files: Vec<String>,
    by_id: FxHashMap<u32, u32>,
    pub file: u32,
    pub line: u32,
}

impl Lines {
    pub fn new() -> Lines {
        Lines { files: vec![String::new()], by_id: FxHashMap::default(), file: 0, line: 0 }
    }
    pub fn clear(&mut self) {
        (self.file, self.line) = (0, 0);
    }
}

const DEBUG_SOURCE: u32 = 35;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

impl Builder<'_> {
    /// OpLine.
    pub(crate) fn set_line(&mut self, i: &Code) -> Result<()> {
        self.debug.file = self.file_index(i.word(1)?);
        self.debug.line = i.word(2)?;
        Ok(())
    }

    /// Index of the file that an OpString (or a DebugSource) names.
    fn file_index(&mut self, id: u32) -> u32 {
        if let Some(&k) = self.debug.by_id.get(&id) {
            return k;
        }
        let name = self.m.def_at(id).map(|at| self.m.inst(at)).and_then(|i| match i.op {
            Op::String => i.string(2).ok(),
            Op::ExtInst if i.get(4) == Some(DEBUG_SOURCE) => {
                let file = self.m.def_at(i.get(5)?)?;
                let file = self.m.inst(file);
                if file.op == Op::String { file.string(2).ok() } else { None }
            }
            _ => None,
        });
        let k = match name {
            Some((s, _)) => {
                self.debug.files.push(s);
                self.debug.files.len() as u32 - 1
            }
            None => 0,
        };
        self.debug.by_id.insert(id, k);
        k
    }

    /// An instruction of the debug-info set.
    pub(crate) fn debug_instruction(&mut self, i: &Code) {
        match i.get(4) {
            Some(DEBUG_LINE) => {
                if let (Some(file), Some(line)) = (i.get(5), i.get(6)) {
                    self.debug.file = self.file_index(file);
                    self.debug.line = self.try_const(line).unwrap_or(0) as u32;
                }
            }
            Some(DEBUG_NO_LINE) => self.debug.clear(),
            _ => {}
        }
    }
}
