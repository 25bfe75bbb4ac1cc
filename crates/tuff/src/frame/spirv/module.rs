//! What a module declares: types, constants, variables, names, and its functions' blocks.

use crate::instrument::instructions;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass};
use std::collections::{HashMap, HashSet};

/// Instructions of a module, at most: of more nobody reads the source.
const MOST: usize = 200_000;

pub struct Variable {
    pub id: u32,
    pub ty: u32,
    pub storage: StorageClass,
}

pub struct SpecConstant {
    pub id: u32,
    pub ty: u32,
    /// SpecId.
    pub number: u32,
}

#[derive(Default)]
pub struct Block {
    pub id: u32,
    pub code: Vec<Instruction>,
}

pub struct Function {
    pub id: u32,
    pub returns: u32,
    pub parameters: Vec<(u32, u32)>,
    pub blocks: Vec<Block>,
    pub by_id: HashMap<u32, usize>,
}

/// A module taken apart.
pub struct Parts {
    /// Of types and constants.
    defined: HashMap<u32, Instruction>,
    order: Vec<u32>,
    names: HashMap<u32, String>,
    taken: HashMap<u32, String>,
    members: HashMap<(u32, u32), String>,
    decorations: HashMap<(u32, Option<u32>), Vec<(Decoration, Vec<Operand>)>>,
    pub globals: Vec<Variable>,
    pub spec_constants: Vec<SpecConstant>,
    pub functions: Vec<Function>,
    pub workgroup: Option<[u32; 3]>,
    pub imports: HashMap<u32, String>,
    used: HashSet<u32>,
}

impl Variable {
    pub fn storage_word(&self) -> &'static str {
        match self.storage {
            StorageClass::Input => "in",
            StorageClass::Output => "out",
            StorageClass::Uniform | StorageClass::UniformConstant => "uniform",
            StorageClass::StorageBuffer => "buffer",
            StorageClass::Workgroup => "shared",
            StorageClass::PushConstant => "layout(push_constant) uniform",
            StorageClass::TaskPayloadWorkgroupEXT => "taskPayloadSharedEXT",
            _ => "",
        }
    }
}

pub fn id(i: &Instruction, k: usize) -> Option<u32> {
    match i.operands.get(k)? {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    }
}

pub fn number(i: &Instruction, k: usize) -> Option<u32> {
    match i.operands.get(k)? {
        Operand::LiteralBit32(n) | Operand::LiteralExtInstInteger(n) => Some(*n),
        _ => None,
    }
}

/// All ids among operands.
pub fn ids(i: &Instruction) -> impl Iterator<Item = u32> + '_ {
    i.operands.iter().filter_map(|o| match o {
        Operand::IdRef(id) | Operand::IdScope(id) | Operand::IdMemorySemantics(id) => Some(*id),
        _ => None,
    })
}

fn text(i: &Instruction, k: usize) -> Option<&str> {
    match i.operands.get(k)? {
        Operand::LiteralString(s) => Some(s),
        _ => None,
    }
}

/// A name as a language would have it.
fn word(name: &str) -> String {
    let name = name.split('(').next().unwrap_or_default();
    let mut out: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if out.starts_with(|c: char| c.is_ascii_digit()) {
        out.insert(0, '_');
    }
    out
}

impl Parts {
    /// `None`: it cannot be read, or is larger than anybody reads.
    pub fn of(m: &shader::Module) -> Option<Parts> {
        let mut p = Parts {
            defined: HashMap::new(),
            order: vec![],
            names: HashMap::new(),
            taken: HashMap::new(),
            members: HashMap::new(),
            decorations: HashMap::new(),
            globals: vec![],
            spec_constants: vec![],
            functions: vec![],
            workgroup: None,
            imports: HashMap::new(),
            used: HashSet::new(),
        };
        let mut n = 0;
        instructions(m, |i| {
            n += 1;
            if n <= MOST {
                p.take(i);
            }
        })
        .ok()?;
        if n > MOST {
            return None;
        }
        p.call();
        Some(p)
    }

    fn take(&mut self, i: &Instruction) {
        match i.class.opcode {
            Op::Name => {
                if let (Some(of), Some(name)) = (id(i, 0), text(i, 1)) {
                    self.names.insert(of, word(name));
                }
                return;
            }
            Op::MemberName => {
                if let (Some(of), Some(k), Some(name)) = (id(i, 0), number(i, 1), text(i, 2)) {
                    self.members.insert((of, k), word(name));
                }
                return;
            }
            Op::Decorate => {
                if let (Some(of), Some(Operand::Decoration(d))) = (id(i, 0), i.operands.get(1)) {
                    let more = i.operands[2..].to_vec();
                    self.decorations.entry((of, None)).or_default().push((*d, more));
                }
                return;
            }
            Op::MemberDecorate => {
                if let (Some(of), Some(k), Some(Operand::Decoration(d))) =
                    (id(i, 0), number(i, 1), i.operands.get(2))
                {
                    let more = i.operands[3..].to_vec();
                    self.decorations.entry((of, Some(k))).or_default().push((*d, more));
                }
                return;
            }
            Op::ExtInstImport => {
                if let (Some(of), Some(name)) = (i.result_id, text(i, 0)) {
                    self.imports.insert(of, name.into());
                }
                return;
            }
            Op::ExecutionMode => {
                if let Some(Operand::ExecutionMode(rspirv::spirv::ExecutionMode::LocalSize)) =
                    i.operands.get(1)
                {
                    let size = [2, 3, 4].map(|k| number(i, k).unwrap_or(1));
                    self.workgroup = Some(size);
                }
                return;
            }
            Op::Function => {
                let (Some(id), Some(returns)) = (i.result_id, i.result_type) else { return };
                self.functions.push(Function {
                    id,
                    returns,
                    parameters: vec![],
                    blocks: vec![],
                    by_id: HashMap::new(),
                });
                return;
            }
            Op::FunctionEnd => return,
            _ => {}
        }
        let Some(f) = self.functions.last_mut() else { return self.global(i) };
        self.used.extend(ids(i));
        match i.class.opcode {
            Op::FunctionParameter => f.parameters.extend(i.result_id.zip(i.result_type)),
            Op::Label => {
                let Some(id) = i.result_id else { return };
                f.by_id.insert(id, f.blocks.len());
                f.blocks.push(Block { id, code: vec![] });
            }
            Op::Line | Op::NoLine | Op::Nop => {}
            _ => {
                if let Some(b) = f.blocks.last_mut() {
                    b.code.push(i.clone());
                }
            }
        }
    }

    fn global(&mut self, i: &Instruction) {
        let Some(result) = i.result_id else { return };
        match (i.class.opcode, i.operands.first()) {
            (Op::Variable, Some(Operand::StorageClass(storage))) => {
                let ty = i.result_type.unwrap_or(0);
                self.globals.push(Variable { id: result, ty, storage: *storage });
            }
            (Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse, _) => {
                let number = match self.decoration(result, Decoration::SpecId) {
                    Some([Operand::LiteralBit32(n), ..]) => *n,
                    _ => 0,
                };
                self.spec_constants.push(SpecConstant { id: result, ty: i.result_type.unwrap_or(0), number });
            }
            _ => {}
        }
        self.order.push(result);
        self.defined.insert(result, i.clone());
    }

    /// Gives each id that has one a name of its own.
    fn call(&mut self) {
        let mut known: HashSet<String> = HashSet::new();
        let mut all: Vec<(u32, String)> = self.names.iter().map(|(i, n)| (*i, n.clone())).collect();
        all.sort_unstable();
        for (id, name) in all {
            if name.is_empty() {
                continue;
            }
            let is_type = self.defined.get(&id).is_some_and(|i| i.class.opcode == Op::TypeStruct);
            let mut own = name.clone();
            if !is_type && !known.insert(own.clone()) {
                own = format!("{name}_{id}");
                known.insert(own.clone());
            }
            self.taken.insert(id, own);
        }
    }

    pub fn def(&self, id: u32) -> Option<&Instruction> {
        self.defined.get(&id)
    }

    pub fn decoration(&self, of: u32, d: Decoration) -> Option<&[Operand]> {
        self.decorated((of, None), d)
    }
    pub fn decorated(&self, of: (u32, Option<u32>), d: Decoration) -> Option<&[Operand]> {
        self.decorations.get(&of)?.iter().find(|(k, _)| *k == d).map(|(_, more)| &more[..])
    }
    pub fn decorated_number(&self, of: (u32, Option<u32>), d: Decoration) -> Option<u32> {
        match self.decorated(of, d)? {
            [Operand::LiteralBit32(n), ..] => Some(*n),
            _ => None,
        }
    }

    /// What an id is called.
    pub fn name(&self, id: u32) -> String {
        match self.built_in(id) {
            Some(b) => built_in_name(b),
            None => self.taken.get(&id).cloned().unwrap_or_else(|| format!("v{id}")),
        }
    }

    /// The name that the module gives.
    pub fn given(&self, id: u32) -> Option<&str> {
        self.taken.get(&id).map(String::as_str)
    }

    pub fn built_in(&self, id: u32) -> Option<BuiltIn> {
        match self.decoration(id, Decoration::BuiltIn)? {
            [Operand::BuiltIn(b), ..] => Some(*b),
            _ => None,
        }
    }

    pub fn member_name(&self, of: u32, k: u32) -> String {
        if let Some([Operand::BuiltIn(b), ..]) = self.decorated((of, Some(k)), Decoration::BuiltIn) {
            return built_in_name(*b);
        }
        self.members.get(&(of, k)).filter(|n| !n.is_empty()).cloned().unwrap_or_else(|| format!("m{k}"))
    }

    pub fn structs(&self) -> impl Iterator<Item = (u32, Vec<u32>)> + '_ {
        let is = |id: &&u32| self.defined.get(id).is_some_and(|i| i.class.opcode == Op::TypeStruct);
        self.order.iter().filter(is).map(|id| (*id, self.members(*id)))
    }

    pub fn members(&self, of: u32) -> Vec<u32> {
        self.def(of)
            .filter(|i| i.class.opcode == Op::TypeStruct)
            .map(|i| ids(i).collect())
            .unwrap_or_default()
    }

    pub fn is_block(&self, of: u32) -> bool {
        [Decoration::Block, Decoration::BufferBlock].iter().any(|d| self.decoration(of, *d).is_some())
    }

    /// It has members that are built in.
    pub fn is_built_in(&self, of: u32) -> bool {
        self.decorated((of, Some(0)), Decoration::BuiltIn).is_some()
    }

    pub fn is_built_in_variable(&self, of: u32) -> bool {
        let ty = self.globals.iter().find(|v| v.id == of).map(|v| self.pointee(v.ty));
        self.built_in(of).is_some() || ty.and_then(|t| self.block_of(t)).is_some_and(|b| self.is_built_in(b))
    }

    pub fn is_used(&self, id: u32) -> bool {
        self.used.contains(&id)
    }

    /// What a pointer points to.
    pub fn pointee(&self, ty: u32) -> u32 {
        match self.def(ty) {
            Some(i) if i.class.opcode == Op::TypePointer => id(i, 1).unwrap_or(ty),
            _ => ty,
        }
    }

    /// The block that a type is, or is an array of.
    pub fn block_of(&self, mut ty: u32) -> Option<u32> {
        for _ in 0..8 {
            let i = self.def(ty)?;
            match i.class.opcode {
                Op::TypeStruct => return self.is_block(ty).then_some(ty),
                Op::TypeArray | Op::TypeRuntimeArray => ty = id(i, 0)?,
                _ => return None,
            }
        }
        None
    }

    /// Location, set and binding, as a layout has them.
    pub fn layout(&self, of: u32) -> String {
        let number = |d| self.decorated_number((of, None), d);
        let mut all = vec![];
        for (word, d) in [
            ("set", Decoration::DescriptorSet),
            ("binding", Decoration::Binding),
            ("location", Decoration::Location),
            ("component", Decoration::Component),
            ("input_attachment_index", Decoration::InputAttachmentIndex),
        ] {
            all.extend(number(d).map(|n| format!("{word} = {n}")));
        }
        let flat = if self.decoration(of, Decoration::Flat).is_some() { " flat" } else { "" };
        if all.is_empty() { flat.trim().into() } else { format!("layout({}){flat}", all.join(", ")) }
    }
}

pub fn built_in_name(b: BuiltIn) -> String {
    match b {
        BuiltIn::GlobalInvocationId => "gl_GlobalInvocationID".into(),
        BuiltIn::LocalInvocationId => "gl_LocalInvocationID".into(),
        BuiltIn::WorkgroupId => "gl_WorkGroupID".into(),
        BuiltIn::NumWorkgroups => "gl_NumWorkGroups".into(),
        BuiltIn::PrimitiveId => "gl_PrimitiveID".into(),
        BuiltIn::SampleId => "gl_SampleID".into(),
        BuiltIn::InvocationId => "gl_InvocationID".into(),
        b => format!("gl_{b:?}"),
    }
}
