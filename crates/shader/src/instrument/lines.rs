//! Source lines of instructions, and the sources that a module carries: OpLine, OpSource, and DebugLine, DebugSource
//! of NonSemantic.Shader.DebugInfo.100.

use crate::options::Result;
use crate::spirv::*;
use std::collections::HashMap;

const DEBUG_SOURCE: u32 = 35;
const DEBUG_SOURCE_CONTINUED: u32 = 102;
const DEBUG_LINE: u32 = 103;
const DEBUG_NO_LINE: u32 = 104;

/// A source file of a module; `text` is empty where the module has only its name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub file: String,
    pub text: String,
}

impl Source {
    /// What compilers call each row of the text, the first row first: the file and the number of its line. `#line` changes both; a
    /// preamble that a compiler has put there ends with one.
    pub fn rows(&self) -> Vec<(String, u32)> {
        let (mut file, mut line) = (self.file.clone(), 1u32);
        let mut in_comment = false;
        let mut rows = vec![];
        for row in self.text.lines() {
            rows.push((file.clone(), line));
            line = line.saturating_add(1);
            let code = without_comments(row, &mut in_comment);
            if let Some((number, name)) = directive(&code) {
                line = number;
                file = name.unwrap_or(file);
            }
        }
        rows
    }

    /// The row of the text (from 1) that compilers call this line of this file. Of several the last: what stands before a `#line` that
    /// begins anew is a preamble.
    pub fn places(&self) -> HashMap<(String, u32), u32> {
        self.rows().into_iter().zip(1..).collect()
    }
}

/// `#line 3`, `# line 3 "file"`, `# 3 "file"`; a number after the first one (GLSL's source strings) names no file.
fn directive(code: &str) -> Option<(u32, Option<String>)> {
    let rest = code.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..end].parse().ok()?;
    let name = rest[end..].trim().strip_prefix('"').and_then(|n| n.split('"').next());
    Some((number, name.map(String::from)))
}

/// A row's code; whether it begins, and then whether it ends, within a comment of several rows.
fn without_comments(row: &str, within: &mut bool) -> String {
    let (mut code, mut rest) = (String::new(), row);
    loop {
        let mark = if *within { "*/" } else { "/*" };
        let end = if *within { None } else { rest.find("//") };
        match rest.find(mark).filter(|at| end.is_none_or(|end| *at < end)) {
            Some(at) => {
                code += if *within { "" } else { &rest[..at] };
                rest = &rest[at + 2..];
                *within = !*within;
            }
            None => return code + if *within { "" } else { &rest[..end.unwrap_or(rest.len())] },
        }
    }
}

/// The line in force while instructions are read one after the other.
pub(super) struct Lines {
    files: Vec<String>,
    /// (id of an OpString or DebugSource, index into `files`)
    known: Vec<(u32, u32)>,
    /// By OpLine and by DebugLine: the latter comes first, for it is what a compiler that emits both means.
    plain: Option<(u32, u32)>,
    debug: Option<(u32, u32)>,
}

/// The text of an OpString.
fn string(m: &Module, id: u32) -> Option<String> {
    let i = m.inst(m.def_at(id)?);
    if i.op == Op::String { Some(i.string(2).ok()?.0) } else { None }
}

/// The instruction's number, if it is one of the shader debug info.
fn debug_number(m: &Module, i: &Code) -> Option<u32> {
    if i.op == Op::ExtInst && m.ext_set(i.get(3)?) == Some(ExtSet::ShaderDebugInfo) { i.get(4) } else { None }
}

/// The value of a 32-bit constant.
fn constant(m: &Module, id: u32) -> Option<u32> {
    let i = m.inst(m.def_at(id)?);
    if i.op == Op::Constant { i.get(3) } else { None }
}

impl Lines {
    pub fn new(_: &Module) -> Lines {
        Lines { files: Vec::new(), known: Vec::new(), plain: None, debug: None }
    }
    pub fn clear(&mut self) {
        (self.plain, self.debug) = (None, None);
    }
    pub fn here(&self) -> Option<(u32, u32)> {
        self.debug.or(self.plain)
    }
    pub fn file(&self, index: u32) -> &str {
        &self.files[index as usize]
    }

    /// Takes note of an instruction; whether it is a DebugLine or DebugNoLine.
    pub fn read(&mut self, m: &Module, i: &Code) -> Result<bool> {
        match i.op {
            Op::Line => {
                let (file, line) = m.line(i)?;
                self.plain = Some((self.index(m, file), line));
            }
            Op::NoLine => self.plain = None,
            _ => match debug_number(m, i) {
                Some(DEBUG_LINE) => {
                    let line = constant(m, i.word(6)?).unwrap_or(0);
                    self.debug = Some((self.index(m, i.word(5)?), line));
                    return Ok(true);
                }
                Some(DEBUG_NO_LINE) => {
                    self.debug = None;
                    return Ok(true);
                }
                _ => {}
            },
        }
        Ok(false)
    }

    fn index(&mut self, m: &Module, id: u32) -> u32 {
        if let Some(k) = self.known.iter().find(|k| k.0 == id) {
            return k.1;
        }
        let of_source = || {
            let i = m.inst(m.def_at(id)?);
            if debug_number(m, &i) == Some(DEBUG_SOURCE) { string(m, i.get(5)?) } else { None }
        };
        let name = string(m, id).or_else(of_source).unwrap_or_default();
        let index = match self.files.iter().position(|f| *f == name) {
            Some(i) => i as u32,
            None => {
                self.files.push(name);
                self.files.len() as u32 - 1
            }
        };
        self.known.push((id, index));
        index
    }
}

/// The source files that a module names, with their texts where it has them.
pub fn sources(m: &Module) -> Vec<Source> {
    let mut out: Vec<Source> = Vec::new();
    let words = m.words();
    let mut at = 5;
    while at < words.len() {
        let i = m.inst(at as u32);
        at += i.len();
        match i.op {
            Op::Function => break,
            Op::Source => {
                if let Some(file) = i.get(3).and_then(|id| string(m, id)) {
                    let text = i.string(4).map(|t| t.0).unwrap_or_default();
                    out.push(Source { file, text });
                }
            }
            Op::SourceContinued => {
                if let (Some(s), Ok((more, _))) = (out.last_mut(), i.string(1)) {
                    s.text.push_str(&more);
                }
            }
            _ => match debug_number(m, &i) {
                Some(DEBUG_SOURCE) => {
                    let file = i.get(5).and_then(|id| string(m, id)).unwrap_or_default();
                    let text = i.get(6).and_then(|id| string(m, id)).unwrap_or_default();
                    out.push(Source { file, text });
                }
                Some(DEBUG_SOURCE_CONTINUED) => {
                    if let (Some(s), Some(more)) = (out.last_mut(), i.get(5).and_then(|id| string(m, id))) {
                        s.text.push_str(&more);
                    }
                }
                _ => {}
            },
        }
    }
    // OpSource may name a file without its text where DebugSource has it.
    let mut merged: Vec<Source> = Vec::new();
    for s in out {
        match merged.iter_mut().find(|o| o.file == s.file) {
            Some(o) if o.text.is_empty() => o.text = s.text,
            Some(_) => {}
            None => merged.push(s),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_called_as_line_directives_say() {
        let rows = |text: &str| {
            let s = Source { file: "a".into(), text: text.into() };
            s.rows().into_iter().map(|(f, n)| format!("{f}{n}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(rows("x\n\ny"), "a1 a2 a3");
        // A compiler's preamble.
        assert_eq!(rows("// made\n#define X\n#line 1\nfirst\nsecond"), "a1 a2 a3 a1 a2");
        assert_eq!(
            rows("#line 10 \"b.glsl\"\nx\n# 3 \"c\"\ny\n #  line 7 2\nz"),
            "a1 b.glsl10 b.glsl11 c3 c4 c7"
        );
        // None of these is one.
        assert_eq!(rows("/*\n#line 5\n*/ x\n// #line 9\n#lines 4\n#if 1\ny"), "a1 a2 a3 a4 a5 a6 a7");
        assert_eq!(rows("/* */ #line 5\nx"), "a1 a5");
        let s = Source { file: "a".into(), text: "pre\n#line 1\nx".into() };
        assert_eq!(s.places()[&("a".to_string(), 1)], 3);
    }
}
