//! Source lines: OpLine, and DebugLine and DebugSource of NonSemantic.Shader.DebugInfo.100.

use super::Builder;
use crate::ir::Origin;
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
        let (file, line) = self.m.line(i)?;
        self.debug.file = self.file_index(file);
        self.debug.line = line;
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

    /// An instruction of the debug-info set; whether it changes the line.
    pub(crate) fn debug_instruction(&mut self, i: &Code) -> bool {
        match i.get(4) {
            Some(DEBUG_LINE) => {
                if let (Some(file), Some(line)) = (i.get(5), i.get(6)) {
                    self.debug.file = self.file_index(file);
                    self.debug.line = self.try_const(line).unwrap_or(0) as u32;
                }
                true
            }
            Some(DEBUG_NO_LINE) => {
                self.debug.clear();
                true
            }
            _ => false,
        }
    }

    /// The line has changed: of what comes next, and of a block that has had none yet.
    pub(crate) fn note_line(&mut self) {
        let Lines { file, line, .. } = self.debug;
        let o = &mut self.e.blocks[self.e.cur as usize].origin;
        if o.line == 0 && (o.function, o.label) == (self.here.function, self.here.label) {
            (o.file, o.line) = (file, line);
        }
        self.note_origin();
    }

    /// What is translated from now on is of this block and line.
    pub(crate) fn note_origin(&mut self) {
        let Lines { file, line, .. } = self.debug;
        let origin = Origin { file, line, ..self.here };
        let first = self.e.values.len() as u32;
        match self.origins.last_mut() {
            Some(last) if last.1 == origin => {}
            Some(last) if last.0 == first => last.1 = origin,
            _ => self.origins.push((first, origin)),
        }
    }
}
