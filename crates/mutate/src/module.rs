//! A module as a list of instructions whose operands are known by kind.

use rspirv::grammar::{INSTRUCTION_TABLE, Instruction, OperandKind, OperandQuantifier};
use std::sync::LazyLock;

pub const MAGIC: u32 = 0x0723_0203;
/// Words before the first instruction.
const HEADER: usize = 5;

/// Numbers of the instructions that changes know by name.
pub mod op {
    pub const NAME: u32 = 5;
    pub const MEMBER_NAME: u32 = 6;
    pub const LINE: u32 = 8;
    pub const EXT_INST_IMPORT: u32 = 11;
    pub const EXT_INST: u32 = 12;
    pub const ENTRY_POINT: u32 = 15;
    pub const EXECUTION_MODE: u32 = 16;
    pub const TYPE_BOOL: u32 = 20;
    pub const TYPE_INT: u32 = 21;
    pub const TYPE_FLOAT: u32 = 22;
    pub const TYPE_VECTOR: u32 = 23;
    pub const TYPE_STRUCT: u32 = 30;
    pub const TYPE_POINTER: u32 = 32;
    pub const CONSTANT_TRUE: u32 = 41;
    pub const CONSTANT_FALSE: u32 = 42;
    pub const CONSTANT: u32 = 43;
    pub const SPEC_CONSTANT: u32 = 50;
    pub const SPEC_CONSTANT_OP: u32 = 52;
    pub const FUNCTION: u32 = 54;
    pub const FUNCTION_PARAMETER: u32 = 55;
    pub const FUNCTION_CALL: u32 = 57;
    pub const VARIABLE: u32 = 59;
    pub const IMAGE_TEXEL_POINTER: u32 = 60;
    pub const ACCESS_CHAIN: u32 = 65;
    pub const IN_BOUNDS_PTR_ACCESS_CHAIN: u32 = 70;
    pub const DECORATE: u32 = 71;
    pub const MEMBER_DECORATE: u32 = 72;
    pub const VECTOR_SHUFFLE: u32 = 79;
    pub const COMPOSITE_EXTRACT: u32 = 81;
    pub const COPY_OBJECT: u32 = 83;
    pub const SAMPLED_IMAGE: u32 = 86;
    pub const SELECT: u32 = 169;
    pub const U_LESS_THAN: u32 = 176;
    pub const I_ADD: u32 = 128;
    pub const PHI: u32 = 245;
    pub const LOOP_MERGE: u32 = 246;
    pub const SELECTION_MERGE: u32 = 247;
    pub const LABEL: u32 = 248;
    pub const BRANCH: u32 = 249;
    pub const BRANCH_CONDITIONAL: u32 = 250;
    pub const SWITCH: u32 = 251;
    pub const KILL: u32 = 252;
    pub const RETURN: u32 = 253;
    pub const UNREACHABLE: u32 = 255;
    pub const NO_LINE: u32 = 317;
    pub const DECORATE_ID: u32 = 332;
    pub const GROUP_NON_UNIFORM: std::ops::RangeInclusive<u32> = 333..=366;
}

/// What the grammar says of an instruction.
fn row(number: u32) -> Option<&'static Instruction<'static>> {
    static ROWS: LazyLock<Vec<Option<&'static Instruction<'static>>>> = LazyLock::new(|| {
        let mut rows = vec![None; 1 << 16];
        INSTRUCTION_TABLE.iter().for_each(|i| rows[i.opcode as usize & 0xFFFF] = Some(i));
        rows
    });
    ROWS[number as usize & 0xFFFF]
}

#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub op: u32,
    /// The result's type; 0: none.
    pub ty: u32,
    /// The result; 0: none.
    pub id: u32,
    /// What follows.
    pub args: Vec<u32>,
    /// Which of them are plain ids: no scopes, no literals, nothing behind a mask.
    pub ids: Vec<usize>,
}

impl Inst {
    pub fn new(op: u32, ty: u32, id: u32, args: &[u32]) -> Inst {
        let mut inst = Inst { op, ty, id, args: args.to_vec(), ids: vec![] };
        inst.classify();
        inst
    }

    /// Finds the ids among the operands.
    pub fn classify(&mut self) {
        self.ids.clear();
        let Some(row) = row(self.op) else { return };
        let mut at = 0;
        for operand in row.operands {
            let many = operand.quantifier == OperandQuantifier::ZeroOrMore;
            loop {
                if at >= self.args.len() {
                    return;
                }
                match operand.kind {
                    OperandKind::IdResultType | OperandKind::IdResult => break,
                    OperandKind::IdRef => {
                        self.ids.push(at);
                        at += 1;
                    }
                    OperandKind::LiteralString => {
                        let end = self.args[at..].iter().position(|w| w.to_le_bytes().contains(&0));
                        at += end.unwrap_or(self.args.len()) + 1;
                    }
                    // More operands may follow, by what this one says.
                    OperandKind::ImageOperands
                    | OperandKind::MemoryAccess
                    | OperandKind::ExecutionMode
                    | OperandKind::Decoration
                    | OperandKind::LiteralContextDependentNumber
                    | OperandKind::LiteralSpecConstantOpInteger
                    | OperandKind::PairLiteralIntegerIdRef
                    | OperandKind::PairIdRefIdRef
                    | OperandKind::PairIdRefLiteralInteger => return,
                    _ => at += 1,
                }
                if !many {
                    break;
                }
            }
        }
    }

    pub fn is_constant(&self) -> bool {
        (op::CONSTANT_TRUE..=op::SPEC_CONSTANT_OP).contains(&self.op) || self.op == 1
    }
    pub fn is_terminator(&self) -> bool {
        // And those of ray tracing, mesh shaders and demotion: OpTerminateInvocation and its like.
        (op::BRANCH..=op::UNREACHABLE).contains(&self.op) || [4416, 4448, 4449, 5294].contains(&self.op)
    }
    pub fn is_merge(&self) -> bool {
        matches!(self.op, op::LOOP_MERGE | op::SELECTION_MERGE)
    }
    pub fn is_line(&self) -> bool {
        matches!(self.op, op::LINE | op::NO_LINE)
    }
    /// Names and decorations: what is said of an id, not what is done with it.
    pub fn is_about(&self) -> bool {
        matches!(self.op, op::NAME | op::MEMBER_NAME | op::DECORATE | op::MEMBER_DECORATE | op::DECORATE_ID)
    }
}

/// What values of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    Float(u32),
    /// Width, and whether it has a sign.
    Int(u32, bool),
}

#[derive(Clone)]
pub struct Module {
    header: [u32; HEADER],
    pub insts: Vec<Inst>,
}

impl Module {
    pub fn parse(words: &[u32]) -> Option<Module> {
        let header: [u32; HEADER] = words.get(..HEADER)?.try_into().ok()?;
        // Ids are to stay numbers that tables can have.
        if header[0] != MAGIC || header[3] > 1 << 20 {
            return None;
        }
        let mut insts = vec![];
        let mut at = HEADER;
        while at < words.len() {
            let (n, number) = ((words[at] >> 16) as usize, words[at] & 0xFFFF);
            let mut rest = words.get(at + 1..at + n.max(1)).filter(|_| n > 0)?;
            let row = row(number);
            let kinds = row.map_or(&[][..], |r| r.operands);
            let (mut ty, mut id) = (0, 0);
            if kinds.first().is_some_and(|k| k.kind == OperandKind::IdResultType) {
                ty = *rest.first()?;
                rest = &rest[1..];
            }
            if kinds.iter().take(2).any(|k| k.kind == OperandKind::IdResult) {
                id = *rest.first()?;
                rest = &rest[1..];
            }
            // Changes count on the operands that an instruction cannot be without.
            let needed = kinds.iter().filter(|k| k.quantifier == OperandQuantifier::One);
            let needed =
                needed.filter(|k| !matches!(k.kind, OperandKind::IdResultType | OperandKind::IdResult));
            if rest.len() < needed.count() {
                return None;
            }
            insts.push(Inst::new(number, ty, id, rest));
            at += n;
        }
        Some(Module { header, insts })
    }

    pub fn words(&self) -> Vec<u32> {
        let mut words = self.header.to_vec();
        for i in &self.insts {
            let ids = [i.ty, i.id].into_iter().filter(|w| *w != 0);
            let begin = words.len();
            words.push(i.op);
            words.extend(ids);
            words.extend(&i.args);
            let n = words.len() - begin;
            words[begin] |= (n as u32) << 16;
        }
        words
    }

    /// The language is that of this version, or a later one.
    pub fn at_least(&mut self, [major, minor]: [u32; 2]) {
        self.header[1] = self.header[1].max(major << 16 | minor << 8);
    }

    /// An id that nothing has.
    pub fn fresh(&mut self) -> u32 {
        self.header[3] += 1;
        self.header[3] - 1
    }

    /// Where the first function begins.
    pub fn code(&self) -> usize {
        self.insts.iter().position(|i| i.op == op::FUNCTION).unwrap_or(self.insts.len())
    }

    pub fn definition(&self, id: u32) -> Option<&Inst> {
        self.insts.iter().find(|i| i.id == id && id != 0)
    }

    /// A scalar's or vector's components, and how many there are.
    pub fn numbers(&self, ty: u32) -> Option<(Scalar, u32)> {
        let t = self.definition(ty)?;
        Some(match (t.op, &t.args[..]) {
            (op::TYPE_BOOL, _) => (Scalar::Bool, 1),
            (op::TYPE_INT, [width, sign]) => (Scalar::Int(*width, *sign != 0), 1),
            (op::TYPE_FLOAT, [width]) => (Scalar::Float(*width), 1),
            (op::TYPE_VECTOR, [part, n]) if *part != ty => (self.numbers(*part)?.0, *n),
            _ => return None,
        })
    }

    /// The id of a type or constant like this; a new one, before the functions, if there is none.
    pub fn global(&mut self, op: u32, ty: u32, args: &[u32]) -> u32 {
        let code = self.code();
        if let Some(there) = self.insts[..code].iter().find(|i| i.op == op && i.ty == ty && i.args == args) {
            return there.id;
        }
        let id = self.fresh();
        self.insts.insert(code, Inst::new(op, ty, id, args));
        id
    }

    /// Whether a word of anything that is done (not said) is this id; literals that look like it count too.
    pub fn is_used(&self, id: u32) -> bool {
        self.insts.iter().any(|i| !i.is_about() && (i.ty == id || i.args.contains(&id)))
    }

    /// Takes out the names and decorations of an id.
    pub fn forget(&mut self, id: u32) {
        self.insts.retain(|i| !(i.is_about() && i.args.first() == Some(&id)));
    }
}
