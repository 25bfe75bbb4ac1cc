//! What a SPIR-V module says before it runs: instructions, names, types, and what its debug information says of lines and variables.

use super::types::{Type, Types};
use crate::instrument::instructions;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op};
use shader::instrument::{Source, sources};
use std::collections::{BTreeMap, HashMap};

/// Numbers of NonSemantic.Shader.DebugInfo.100's instructions.
pub mod debug_info {
    pub const GLOBAL_VARIABLE: u32 = 18;
    pub const FUNCTION: u32 = 20;
    pub const LEXICAL_BLOCK: u32 = 21;
    pub const SCOPE: u32 = 23;
    pub const NO_SCOPE: u32 = 24;
    pub const INLINED_AT: u32 = 25;
    pub const LOCAL_VARIABLE: u32 = 26;
    pub const DECLARE: u32 = 28;
    pub const VALUE: u32 = 29;
    pub const SOURCE: u32 = 35;
    pub const LINE: u32 = 103;
    pub const NO_LINE: u32 = 104;
}
use debug_info::*;

/// A line of a source; `file` is an index into [`Module::files`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Line {
    pub file: u32,
    pub line: u32,
}

/// Where an instruction stands.
#[derive(Clone, Debug)]
pub struct Place {
    pub inst: Instruction,
    /// Result ids of its function and of the label of its block; 0 outside.
    pub function: u32,
    pub block: u32,
    pub line: Option<Line>,
    /// Ids of its DebugScope's scope and DebugInlinedAt, or 0.
    pub scope: u32,
    pub inlined: u32,
}

/// A variable as debug information or names have it.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    /// Id of its scope, or 0.
    pub scope: u32,
}

pub struct Module {
    /// By word offset.
    pub places: BTreeMap<u32, Place>,
    /// Offsets of definitions.
    pub def: HashMap<u32, u32>,
    pub types: Types,
    names: HashMap<u32, String>,
    members: HashMap<(u32, u32), String>,
    strings: HashMap<u32, String>,
    decorations: HashMap<u32, Vec<(Decoration, Option<u32>)>>,
    pub files: Vec<String>,
    pub sources: Vec<Source>,
    debug_sets: Vec<u32>,
    /// DebugLocalVariable by id.
    pub locals: HashMap<u32, Local>,
    /// Values of specialisation constants, by SpecId.
    spec: HashMap<u32, u64>,
}

/// Id operands of an instruction, in their order.
pub fn ids(i: &Instruction) -> impl Iterator<Item = u32> + '_ {
    i.operands.iter().filter_map(id)
}

/// The id that an operand is.
pub fn id(o: &Operand) -> Option<u32> {
    match o {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    }
}

impl Module {
    /// # Errors
    /// The words are no module.
    pub fn new(words: &[u32], spec: &[(u32, u64)]) -> Result<Module, String> {
        let parsed = shader::Module::parse(words).map_err(|e| e.to_string())?;
        let mut m = Module {
            places: BTreeMap::new(),
            def: HashMap::new(),
            types: Types::default(),
            names: HashMap::new(),
            members: HashMap::new(),
            strings: HashMap::new(),
            decorations: HashMap::new(),
            files: vec![],
            sources: sources(&parsed),
            debug_sets: vec![],
            locals: HashMap::new(),
            // Of several for one id the first holds.
            spec: spec.iter().rev().copied().collect(),
        };
        let mut at = 5;
        let mut here = Here::default();
        let mut wrong = None;
        let each = |i: &Instruction| {
            let n = words.get(at as usize).map_or(0, |w| w >> 16);
            if n == 0 || words.get(at as usize).is_none_or(|w| w & 0xFFFF != i.class.opcode as u32) {
                wrong = Some(at);
                return;
            }
            m.add(at, i, &mut here);
            at += n;
        };
        let readable = shader::Module::parse(readable(words)).map_err(|e| e.to_string())?;
        instructions(&readable, each).map_err(|e| e.to_string())?;
        match wrong {
            Some(at) => Err(format!("word {at} is no instruction")),
            None => Ok(m),
        }
    }

    fn add(&mut self, at: u32, i: &Instruction, here: &mut Here) {
        let text = |o: Option<&Operand>| match o {
            Some(Operand::LiteralString(s)) => s.clone(),
            _ => String::new(),
        };
        let number = |o: Option<&Operand>| match o {
            Some(Operand::LiteralBit32(n)) => Some(*n),
            _ => None,
        };
        let first = i.operands.first().and_then(id);
        match i.class.opcode {
            Op::Function => *here = Here { function: i.result_id.unwrap_or(0), ..Here::default() },
            Op::FunctionEnd => *here = Here::default(),
            Op::Label => {
                let (function, block) = (here.function, i.result_id.unwrap_or(0));
                *here = Here { function, block, ..Here::default() };
            }
            Op::Line => {
                let line = number(i.operands.get(1)).unwrap_or(0);
                here.plain = first.map(|f| Line { file: self.file(f), line });
            }
            Op::NoLine => here.plain = None,
            Op::ExtInstImport if text(i.operands.first()).starts_with("NonSemantic.Shader.DebugInfo.") => {
                self.debug_sets.extend(i.result_id);
            }
            Op::String => drop(self.strings.insert(i.result_id.unwrap_or(0), text(i.operands.first()))),
            Op::Name => {
                let name = text(i.operands.get(1));
                if let Some(of) = first.filter(|_| !name.is_empty()) {
                    self.names.insert(of, name);
                }
            }
            Op::MemberName => {
                if let (Some(of), Some(k)) = (first, number(i.operands.get(1))) {
                    self.members.insert((of, k), text(i.operands.get(2)));
                }
            }
            Op::Decorate => {
                if let (Some(of), Some(Operand::Decoration(d))) = (first, i.operands.get(1)) {
                    let value = match i.operands.get(2) {
                        Some(Operand::LiteralBit32(n)) => Some(*n),
                        Some(Operand::BuiltIn(b)) => Some(*b as u32),
                        _ => None,
                    };
                    self.decorations.entry(of).or_default().push((*d, value));
                }
            }
            Op::MemberDecorate => {
                if let (
                    Some(of),
                    Some(k),
                    Some(Operand::Decoration(Decoration::BuiltIn)),
                    Some(Operand::BuiltIn(b)),
                ) = (first, number(i.operands.get(1)), i.operands.get(2), i.operands.get(3))
                {
                    self.members.entry((of, k)).or_insert_with(|| format!("gl_{b:?}"));
                }
            }
            _ => {}
        }
        self.types.add(i, |id| self.def.get(&id).and_then(|at| literal(&self.places[at].inst)));
        self.debug(i, here);
        let place = Place {
            inst: i.clone(),
            function: here.function,
            block: here.block,
            line: here.debug.or(here.plain).filter(|l| l.line != 0),
            scope: here.scope,
            inlined: here.inlined,
        };
        self.places.insert(at, place);
        if let Some(id) = i.result_id {
            self.def.insert(id, at);
        }
    }

    /// What an instruction of the debug-info set says.
    fn debug(&mut self, i: &Instruction, here: &mut Here) {
        let Some((what, operands)) = self.debug_operands(i) else { return };
        let operand = |k: usize| operands.get(k).copied().unwrap_or(0);
        match what {
            LINE => {
                let line = self.number(operand(1)).unwrap_or(0) as u32;
                here.debug = Some(Line { file: self.file(operand(0)), line });
            }
            NO_LINE => here.debug = None,
            SCOPE => (here.scope, here.inlined) = (operand(0), operand(1)),
            NO_SCOPE => (here.scope, here.inlined) = (0, 0),
            LOCAL_VARIABLE => {
                let name = self.string(operand(0)).unwrap_or_default().to_string();
                let local = Local { name, scope: operand(5) };
                self.locals.insert(i.result_id.unwrap_or(0), local);
            }
            GLOBAL_VARIABLE => {
                let name = self.string(operand(0)).unwrap_or_default().to_string();
                if !name.is_empty() {
                    self.names.entry(operand(7)).or_insert(name);
                }
            }
            _ => {}
        }
    }

    /// Number and id operands of an instruction of the debug-info set.
    pub fn debug_operands(&self, i: &Instruction) -> Option<(u32, Vec<u32>)> {
        if i.class.opcode != Op::ExtInst || !self.debug_sets.contains(&i.operands.first().and_then(id)?) {
            return None;
        }
        let Some(Operand::LiteralExtInstInteger(what)) = i.operands.get(1) else { return None };
        Some((*what, i.operands[2..].iter().filter_map(id).collect()))
    }

    /// The same of an id.
    pub fn debug_of(&self, of: u32) -> Option<(u32, Vec<u32>)> {
        self.debug_operands(self.inst(of)?)
    }

    fn file(&mut self, id: u32) -> u32 {
        let source = self.debug_of(id).filter(|d| d.0 == SOURCE).and_then(|d| d.1.first().copied());
        let name = self.string(source.unwrap_or(id)).unwrap_or_default().to_string();
        match self.files.iter().position(|f| *f == name) {
            Some(k) => k as u32,
            None => {
                self.files.push(name);
                self.files.len() as u32 - 1
            }
        }
    }

    pub fn string(&self, id: u32) -> Option<&str> {
        self.strings.get(&id).map(String::as_str)
    }

    /// The instruction that defines an id.
    pub fn inst(&self, id: u32) -> Option<&Instruction> {
        Some(&self.places.get(self.def.get(&id)?)?.inst)
    }

    pub fn type_of(&self, id: u32) -> Option<u32> {
        self.inst(id)?.result_type
    }

    /// OpName's, or that of a built-in.
    pub fn name(&self, id: u32) -> Option<String> {
        let built_in = || {
            let built_in = self.decoration(id, Decoration::BuiltIn)??;
            Some(format!("gl_{:?}", BuiltIn::from_u32(built_in)?))
        };
        self.names.get(&id).cloned().or_else(built_in)
    }

    pub fn named(&self, id: u32) -> String {
        match self.name(id) {
            Some(name) => name,
            None => format!("%{id}"),
        }
    }

    pub fn member(&self, of: u32, k: u32) -> String {
        let name = self.members.get(&(of, k)).filter(|n| !n.is_empty());
        name.cloned().unwrap_or_else(|| format!("_{k}"))
    }

    /// The literal of a decoration that an id has.
    pub fn decoration(&self, id: u32, of: Decoration) -> Option<Option<u32>> {
        self.decorations.get(&id)?.iter().find(|d| d.0 == of).map(|d| d.1)
    }

    /// The bits of a constant number, as specialised.
    pub fn number(&self, id: u32) -> Option<u64> {
        let i = self.inst(id)?;
        let spec = || {
            let number = self.decoration(id, Decoration::SpecId)??;
            self.spec.get(&number).copied()
        };
        match i.class.opcode {
            Op::Constant => literal(i),
            Op::ConstantTrue => Some(1),
            Op::ConstantFalse | Op::ConstantNull => Some(0),
            Op::SpecConstant => spec().or_else(|| literal(i)),
            Op::SpecConstantTrue => Some(spec().unwrap_or(1)),
            Op::SpecConstantFalse => Some(spec().unwrap_or(0)),
            _ => None,
        }
    }

    pub fn result_type(&self, id: u32) -> Option<&Type> {
        self.types.get(self.type_of(id)?)
    }

    /// Whether any instruction of a function has a line.
    pub fn has_lines(&self) -> bool {
        self.places.values().any(|p| p.function != 0 && p.line.is_some())
    }
}

/// The words with strings that are UTF-8: compilers pass on what sources have, and may cut it anywhere.
fn readable(words: &[u32]) -> Vec<u32> {
    let mut all = words.to_vec();
    let mut at = 5;
    while let Some(n) = all.get(at).map(|w| (w >> 16) as usize).filter(|n| *n > 0) {
        let first = match Op::from_u32(all[at] & 0xFFFF) {
            Some(Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed) => 1,
            Some(Op::String | Op::Name) => 2,
            Some(Op::MemberName) => 3,
            Some(Op::Source) => 4,
            _ => n,
        };
        let end = (at + n).min(all.len());
        if let Some(text) = all.get_mut(at + first..end) {
            let bytes: Vec<u8> = text.iter().flat_map(|w| w.to_le_bytes()).collect();
            let length = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
            if std::str::from_utf8(&bytes[..length]).is_err() {
                for w in text {
                    *w = u32::from_le_bytes(w.to_le_bytes().map(|b| if b < 0x80 { b } else { b'?' }));
                }
            }
        }
        at = end;
    }
    all
}

/// The bits of a literal.
fn literal(i: &Instruction) -> Option<u64> {
    match i.operands.first() {
        Some(Operand::LiteralBit32(n)) => Some(*n as u64),
        Some(Operand::LiteralBit64(n)) => Some(*n),
        _ => None,
    }
}

/// Where a walk over instructions is.
#[derive(Default)]
struct Here {
    function: u32,
    block: u32,
    plain: Option<Line>,
    debug: Option<Line>,
    scope: u32,
    inlined: u32,
}
