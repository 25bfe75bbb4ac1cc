//! The module of an operation: sixteen times in each of 64 invocations, on operands that differ in all of them.

mod operation;

use super::operations::Shape;
use rspirv::binary::Assemble;
use rspirv::dr::{Builder, InsertPoint, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    GlslStd450Op, LoopControl, MemoryModel, Op, StorageClass, Word,
};

/// What of a device a module needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    Float16,
    Float64,
    Int8,
    Int16,
    Int64,
    /// Subgroup operations on types of other widths than 32 bits.
    SubgroupTypes,
    DotProduct,
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub name: &'static str,
    pub shape: Shape,
    /// `f16`, `i32`, …, or `bool`.
    pub ty: &'static str,
    /// Which of the shape's variants.
    pub variant: usize,
}

pub struct Made {
    pub words: Vec<u32>,
    pub needs: Vec<Need>,
}

/// The last opcode that is looked at: those of subgroups end with it, but for dot products.
const LAST: u32 = 4455;

/// How often an invocation does it.
const TIMES: u32 = 16;

struct Maker {
    b: Builder,
    glsl: Word,
    needs: Vec<Need>,
    boolean: Word,
    word: Word,
    /// The row's type: of floats or of integers, and the other one of the same width.
    float: Word,
    int: Word,
    width: u32,
    /// What differs in all invocations and turns, as a number of 32 bits.
    seed: Word,
    memory: [Word; 2],
}

/// An instruction of the core by its name.
fn core(name: &str) -> Option<Op> {
    (0..=LAST).filter_map(Op::from_u32).find(|op| format!("{op:?}") == name)
}

/// One of GLSL.std.450.
fn glsl(name: &str) -> Option<GlslStd450Op> {
    (1..=81).filter_map(GlslStd450Op::from_u32).find(|op| format!("{op:?}") == name)
}

impl Operation {
    pub fn module(&self) -> Made {
        let mut b = Builder::new();
        b.set_version(1, 5);
        b.capability(Capability::Shader);
        let glsl = b.ext_inst_import("GLSL.std.450");
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
        let void = b.type_void();
        let boolean = b.type_bool();
        let word = b.type_int(32, 0);
        let width = self.ty.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(32);
        let mut m =
            Maker { b, glsl, needs: vec![], boolean, word, float: 0, int: 0, width, seed: 0, memory: [0; 2] };
        m.types(self);
        let three = m.b.type_vector(word, 3);
        let input3 = m.b.type_pointer(None, StorageClass::Input, three);
        let id = m.b.variable(input3, None, StorageClass::Input, None);
        m.b.decorate(id, Decoration::BuiltIn, [Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
        let array = m.b.type_runtime_array(word);
        m.b.decorate(array, Decoration::ArrayStride, [Operand::LiteralBit32(4)]);
        let block = m.b.type_struct([array]);
        m.b.decorate(block, Decoration::Block, []);
        m.b.member_decorate(block, 0, Decoration::Offset, [Operand::LiteralBit32(0)]);
        let to_block = m.b.type_pointer(None, StorageClass::StorageBuffer, block);
        let buffers = [0, 1].map(|binding| {
            let v = m.b.variable(to_block, None, StorageClass::StorageBuffer, None);
            m.b.decorate(v, Decoration::DescriptorSet, [Operand::LiteralBit32(0)]);
            m.b.decorate(v, Decoration::Binding, [Operand::LiteralBit32(binding)]);
            v
        });
        let to_word = m.b.type_pointer(None, StorageClass::StorageBuffer, word);
        let many = m.constant(1024);
        let shared_array = m.b.type_array(word, many);
        let to_shared = m.b.type_pointer(None, StorageClass::Workgroup, shared_array);
        let shared = m.b.variable(to_shared, None, StorageClass::Workgroup, None);
        m.memory = [buffers[1], shared];
        let local = m.b.type_pointer(None, StorageClass::Function, word);

        let signature = m.b.type_function(void, []);
        let main = m.b.begin_function(void, None, FunctionControl::NONE, signature).expect("a function");
        m.b.begin_block(None).expect("a block");
        let [sum, turn] = [0, 1].map(|_| m.b.variable(local, None, StorageClass::Function, None));
        m.variables(self);
        let zero = m.constant(0);
        let vector = m.b.load(three, None, id, None, []).expect("a load");
        let x = m.b.composite_extract(word, None, vector, [0]).expect("an element");
        let mask = m.constant(0xFFFF);
        let place = m.b.bitwise_and(word, None, x, mask).expect("a word");
        let at = m.b.access_chain(to_word, None, buffers[0], [zero, place]).expect("a pointer");
        let start = m.b.load(word, None, at, None, []).expect("a load");
        m.b.store(sum, zero, None, []).expect("a store");
        m.b.store(turn, zero, None, []).expect("a store");
        let [head, body, next, end] = [0; 4].map(|_| m.b.id());
        m.b.branch(head).expect("a branch");
        m.b.begin_block(Some(head)).expect("a block");
        let i = m.b.load(word, None, turn, None, []).expect("a load");
        let times = m.constant(TIMES);
        let more = m.b.u_less_than(boolean, None, i, times).expect("a truth value");
        m.b.loop_merge(end, next, LoopControl::NONE, []).expect("a merge");
        m.b.branch_conditional(more, body, end, []).expect("a branch");
        m.b.begin_block(Some(body)).expect("a block");
        let spread = m.constant(0x0100_0193);
        let moved = m.b.i_mul(word, None, i, spread).expect("a word");
        m.seed = m.b.i_add(word, None, start, moved).expect("a word");
        let result = m.operation(self, place);
        let before = m.b.load(word, None, sum, None, []).expect("a load");
        let after = m.b.bitwise_xor(word, None, before, result).expect("a word");
        m.b.store(sum, after, None, []).expect("a store");
        m.b.branch(next).expect("a branch");
        m.b.begin_block(Some(next)).expect("a block");
        let one = m.constant(1);
        let i = m.b.load(word, None, turn, None, []).expect("a load");
        let i = m.b.i_add(word, None, i, one).expect("a word");
        m.b.store(turn, i, None, []).expect("a store");
        m.b.branch(head).expect("a branch");
        m.b.begin_block(Some(end)).expect("a block");
        let out = m.b.access_chain(to_word, None, buffers[1], [zero, place]).expect("a pointer");
        let total = m.b.load(word, None, sum, None, []).expect("a load");
        // What atomics write lies in the buffer's first words, and the results are added to it.
        m.b.store(out, total, None, []).expect("a store");
        m.b.ret().expect("an end");
        m.b.end_function().expect("an end");
        m.b.entry_point(ExecutionModel::GLCompute, main, "main", [id, buffers[0], buffers[1], shared]);
        m.b.execution_mode(main, ExecutionMode::LocalSize, [64, 1, 1]);
        let needs = m.needs;
        Made { words: m.b.module().assemble(), needs }
    }
}

impl Maker {
    fn constant(&mut self, value: u32) -> Word {
        self.b.constant_bit32(self.word, value)
    }

    /// The row's types, and the capabilities that they need.
    fn types(&mut self, o: &Operation) {
        let float_row = o.ty.starts_with('f');
        let pair =
            [Shape::FloatToInt, Shape::IntToFloat, Shape::FloatAndInt, Shape::FloatWithInt, Shape::Bits];
        let both = pair.contains(&o.shape);
        let widened = matches!(o.shape, Shape::Widened | Shape::FloatWidened);
        let widths = [self.width, if widened { self.other_width() } else { self.width }];
        for width in widths {
            if float_row {
                let (capability, need) = match width {
                    16 => (Some(Capability::Float16), Some(Need::Float16)),
                    64 => (Some(Capability::Float64), Some(Need::Float64)),
                    _ => (None, None),
                };
                self.want(capability, need);
            }
            // The exponent of Frexp and Ldexp is of 32 bits.
            if !float_row && o.ty != "bool"
                || both && ![Shape::FloatAndInt, Shape::FloatWithInt].contains(&o.shape)
            {
                let (capability, need) = match width {
                    8 => (Some(Capability::Int8), Some(Need::Int8)),
                    16 => (Some(Capability::Int16), Some(Need::Int16)),
                    64 => (Some(Capability::Int64), Some(Need::Int64)),
                    _ => (None, None),
                };
                self.want(capability, need);
            }
        }
        if o.shape == Shape::PackedDouble || o.shape == Shape::UnpackedDouble {
            self.want(Some(Capability::Float64), Some(Need::Float64));
        }
        if matches!(o.shape, Shape::Dot4(_)) {
            self.b.extension("SPV_KHR_integer_dot_product");
            self.want(Some(Capability::DotProduct), Some(Need::DotProduct));
            self.want(Some(Capability::DotProductInput4x8BitPacked), None);
        }
        if let Some(rest) = o.name.strip_prefix("GroupNonUniform") {
            let capability = match rest {
                r if r.starts_with("Quad") => Some(Capability::GroupNonUniformQuad),
                "Shuffle" | "ShuffleXor" => Some(Capability::GroupNonUniformShuffle),
                r if r.starts_with("Shuffle") => Some(Capability::GroupNonUniformShuffleRelative),
                r if r.contains("Ballot") || r.starts_with("Broadcast") => {
                    Some(Capability::GroupNonUniformBallot)
                }
                "All" | "Any" | "AllEqual" => Some(Capability::GroupNonUniformVote),
                "Elect" => None,
                _ => Some(Capability::GroupNonUniformArithmetic),
            };
            self.want(Some(Capability::GroupNonUniform), None);
            self.want(capability, (self.width != 32).then_some(Need::SubgroupTypes));
        }
        self.float = if float_row { self.b.type_float(self.width, None) } else { 0 };
        let exponent = [Shape::FloatAndInt, Shape::FloatWithInt].contains(&o.shape);
        self.int = match o.ty == "bool" || exponent || float_row && !both {
            true => self.word,
            false => self.b.type_int(self.width, 0),
        };
        if !float_row {
            self.float = self.b.type_float(32, None);
        }
    }

    fn want(&mut self, capability: Option<Capability>, need: Option<Need>) {
        if let Some(c) = capability {
            self.b.capability(c);
        }
        self.needs.extend(need);
    }

    /// Double, or half of the greatest.
    fn other_width(&self) -> u32 {
        if self.width == 64 { 32 } else { self.width * 2 }
    }

    fn emit(&mut self, op: Op, ty: Word, operands: Vec<Operand>) -> Word {
        let id = self.b.id();
        let instruction = Instruction::new(op, Some(ty), Some(id), operands);
        self.b.insert_into_block(InsertPoint::End, instruction).expect("in a block");
        id
    }

    /// The row's instruction, whichever set it is of.
    fn named(&mut self, name: &str, ty: Word, values: &[Word]) -> Word {
        let ids = values.iter().map(|v| Operand::IdRef(*v));
        if let Some(op) = core(name) {
            return self.emit(op, ty, ids.collect());
        }
        let op = glsl(name).expect("an operation's name");
        let head = [Operand::IdRef(self.glsl), Operand::LiteralExtInstInteger(op as u32)];
        self.emit(Op::ExtInst, ty, head.into_iter().chain(ids).collect())
    }

    /// A word of its own: the seed, turned by so much.
    fn salted(&mut self, n: u32) -> Word {
        let salt = self.constant(n.wrapping_mul(0x85EB_CA6B) | 1);
        self.b.bitwise_xor(self.word, None, self.seed, salt).expect("a word")
    }

    /// An integer of the row's type; small and positive where a shift, a divisor or an index needs it.
    fn an_int(&mut self, n: u32, ty: Word, small: bool) -> Word {
        let mut w = self.salted(n);
        if small {
            let (mask, one) = (self.constant(6), self.constant(1));
            w = self.b.bitwise_and(self.word, None, w, mask).expect("a word");
            w = self.b.i_add(self.word, None, w, one).expect("a word");
        }
        if ty == self.word { w } else { self.b.u_convert(ty, None, w).expect("an integer") }
    }

    /// A float above 0 and not above 1.
    fn a_float(&mut self, n: u32) -> Word {
        let w = self.salted(n);
        let (mask, one) = (self.constant(63), self.constant(1));
        let w = self.b.bitwise_and(self.word, None, w, mask).expect("a word");
        let w = self.b.i_add(self.word, None, w, one).expect("a word");
        let f = self.b.convert_u_to_f(self.float, None, w).expect("a float");
        let part = self.float_constant(1.0 / 64.0);
        self.b.f_mul(self.float, None, f, part).expect("a float")
    }

    fn float_constant(&mut self, value: f64) -> Word {
        match self.width {
            // 2^-6: exponent 15 - 6.
            16 => self.b.constant_bit32(self.float, 9 << 10),
            64 => self.b.constant_bit64(self.float, value.to_bits()),
            _ => self.b.constant_bit32(self.float, (value as f32).to_bits()),
        }
    }

    fn a_bool(&mut self, n: u32) -> Word {
        let w = self.salted(n);
        let (mask, zero) = (self.constant(4), self.constant(0));
        let w = self.b.bitwise_and(self.word, None, w, mask).expect("a word");
        self.b.i_equal(self.boolean, None, w, zero).expect("a truth value")
    }

    fn a_vector(&mut self, n: u32, size: u32) -> (Word, Word) {
        let ty = self.b.type_vector(self.float, size);
        let parts: Vec<_> = (0..size).map(|i| self.a_float(n * 8 + i)).collect();
        (ty, self.b.composite_construct(ty, None, parts).expect("a vector"))
    }

    fn a_matrix(&mut self, n: u32) -> (Word, Word) {
        let columns: Vec<_> = (0..4).map(|i| self.a_vector(n * 4 + i, 4)).collect();
        let ty = self.b.type_matrix(columns[0].0, 4);
        let m = self.b.composite_construct(ty, None, columns.iter().map(|c| c.1)).expect("a matrix");
        (ty, m)
    }

    /// The row's type, and a value of it.
    fn a_value(&mut self, o: &Operation, n: u32) -> (Word, Word) {
        match o.ty.as_bytes()[0] {
            b'f' => (self.float, self.a_float(n)),
            b'b' => (self.boolean, self.a_bool(n)),
            _ => (self.int, self.an_int(n, self.int, false)),
        }
    }

    /// What a result adds to the sum.
    fn as_word(&mut self, ty: Word, value: Word) -> Word {
        if ty == self.word {
            value
        } else if ty == self.boolean {
            let (one, zero) = (self.constant(1), self.constant(0));
            self.b.select(self.word, None, value, one, zero).expect("a word")
        } else if ty == self.float {
            self.float_as_word(value, self.width)
        } else {
            self.b.u_convert(self.word, None, value).expect("a word")
        }
    }

    fn float_as_word(&mut self, value: Word, width: u32) -> Word {
        let single = self.b.type_float(32, None);
        let value = if width == 32 { value } else { self.b.f_convert(single, None, value).expect("a float") };
        self.b.bitcast(self.word, None, value).expect("a word")
    }

    /// The sum of a vector's first and last element.
    fn ends(&mut self, value: Word, path: [Vec<u32>; 2]) -> Word {
        let [a, b] = path.map(|p| self.b.composite_extract(self.float, None, value, p).expect("an element"));
        self.b.f_add(self.float, None, a, b).expect("a float")
    }

    /// Variables that the operation writes through a pointer, which stand first in the function.
    fn variables(&mut self, o: &Operation) {
        let of = match o.shape {
            Shape::FloatByPointer => self.float,
            Shape::IntByPointer => self.word,
            _ => return,
        };
        let pointer = self.b.type_pointer(None, StorageClass::Function, of);
        let variable = self.b.variable(pointer, None, StorageClass::Function, None);
        self.memory[0] = variable;
    }
}

#[cfg(test)]
mod tests {
    use super::super::operations;
    use super::*;

    /// Every row's module is what spirv-val takes; without the program it is parsed alone.
    #[test]
    fn modules_are_valid() {
        let folder = temporary::folder("tuff-matrix-").expect("a folder");
        let mut wrong = vec![];
        for (name, shape, types) in operations::TABLE {
            for ty in *types {
                let made = Operation { name, shape: *shape, ty, variant: 1 }.module();
                let bytes: Vec<u8> = made.words.iter().flat_map(|w| w.to_le_bytes()).collect();
                rspirv::dr::load_bytes(&bytes).unwrap_or_else(|e| panic!("{name} {ty}: {e}"));
                let path = folder.path().join("module.spv");
                std::fs::write(&path, bytes).expect("a file");
                let mut val = std::process::Command::new("spirv-val");
                let Ok(out) = val.args(["--target-env", "vulkan1.3"]).arg(&path).output() else {
                    not_run::say(
                        "client::matrix::assemble::modules_are_valid",
                        "spirv-val (Debian's spirv-tools)",
                    );
                    return;
                };
                if !out.status.success() {
                    wrong.push(format!("{name} {ty}: {}", String::from_utf8_lossy(&out.stderr)));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
