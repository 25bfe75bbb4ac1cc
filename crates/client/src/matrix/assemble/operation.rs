//! The instructions of one operation, by its shape: their operands, and the result as a word.

use super::super::operations::Shape;
use super::{Maker, Operation, core};
use rspirv::dr::{InsertPoint, Instruction, Operand};
use rspirv::spirv::{GroupOperation, PackedVectorFormat, Scope, StorageClass, Word};

impl Maker {
    /// The operation; its result as a word.
    pub(super) fn operation(&mut self, o: &Operation, place: Word) -> Word {
        let (name, float, int, word, boolean) = (o.name, self.float, self.int, self.word, self.boolean);
        let floats = |m: &mut Self, n: u8| (0..u32::from(n)).map(|i| m.a_float(i)).collect::<Vec<_>>();
        let (ty, value) = match o.shape {
            Shape::Floats(n) => {
                let mut v = floats(self, n);
                if name == "Acosh" {
                    v[0] = self.named("Exp", float, &v);
                }
                (float, self.named(name, float, &v))
            }
            Shape::Ints(n) => {
                // The second one divides or shifts.
                let v: Vec<_> = (0..u32::from(n)).map(|i| self.an_int(i, int, n == 2 && i == 1)).collect();
                (int, self.named(name, int, &v))
            }
            Shape::CompareFloats(n) => {
                let v = floats(self, n);
                (boolean, self.named(name, boolean, &v))
            }
            Shape::CompareInts(n) => {
                let v: Vec<_> = (0..u32::from(n)).map(|i| self.an_int(i, int, false)).collect();
                (boolean, self.named(name, boolean, &v))
            }
            Shape::Bools(n) => {
                let v: Vec<_> = (0..u32::from(n)).map(|i| self.a_bool(i)).collect();
                (boolean, self.named(name, boolean, &v))
            }
            Shape::Select => {
                let condition = self.a_bool(0);
                let (ty, a) = self.a_value(o, 1);
                let b = self.a_value(o, 2).1;
                (ty, self.named(name, ty, &[condition, a, b]))
            }
            Shape::Field(n) => {
                let mut v: Vec<_> = (0..u32::from(n)).map(|i| self.an_int(i, int, false)).collect();
                v.extend([3, 4].map(|i| self.an_int(i, word, true)));
                (int, self.named(name, int, &v))
            }
            Shape::FloatToInt => {
                let v = self.a_float(0);
                (int, self.named(name, int, &[v]))
            }
            Shape::IntToFloat => {
                let v = self.an_int(0, int, false);
                (float, self.named(name, float, &[v]))
            }
            Shape::Widened => {
                let to = self.other_width();
                let to = self.b.type_int(to, 0);
                let v = self.an_int(0, int, false);
                (to, self.named(name, to, &[v]))
            }
            Shape::FloatWidened => {
                let width = self.other_width();
                let to = self.b.type_float(width, None);
                let v = self.a_float(0);
                let v = self.named(name, to, &[v]);
                (word, self.float_as_word(v, width))
            }
            Shape::Bits => {
                let v = self.a_float(0);
                (int, self.named(name, int, &[v]))
            }
            Shape::PairOfInts => {
                let pair = self.b.type_struct([int, int]);
                let v = [self.an_int(0, int, false), self.an_int(1, int, false)];
                let both = self.named(name, pair, &v);
                let [a, b] =
                    [0, 1].map(|i| self.b.composite_extract(int, None, both, [i]).expect("a member"));
                (int, self.b.i_add(int, None, a, b).expect("an integer"))
            }
            Shape::FloatAndFloat | Shape::FloatAndInt => {
                let second = if o.shape == Shape::FloatAndFloat { float } else { word };
                let pair = self.b.type_struct([float, second]);
                let v = self.a_float(0);
                let both = self.named(name, pair, &[v]);
                let a = self.b.composite_extract(float, None, both, [0]).expect("a member");
                let b = self.b.composite_extract(second, None, both, [1]).expect("a member");
                let (a, b) = (self.as_word(float, a), self.as_word(second, b));
                (word, self.b.i_add(word, None, a, b).expect("a word"))
            }
            Shape::FloatByPointer | Shape::IntByPointer => {
                let v = self.a_float(0);
                let a = self.named(name, float, &[v, self.memory[0]]);
                let of = if o.shape == Shape::FloatByPointer { float } else { word };
                let b = self.b.load(of, None, self.memory[0], None, []).expect("a load");
                let (a, b) = (self.as_word(float, a), self.as_word(of, b));
                (word, self.b.i_add(word, None, a, b).expect("a word"))
            }
            Shape::FloatWithInt => {
                let v = [self.a_float(0), self.an_int(1, word, true)];
                (float, self.named(name, float, &v))
            }
            Shape::VectorsToFloat(n) => {
                let v: Vec<_> = (0..u32::from(n)).map(|i| self.a_vector(i, 4).1).collect();
                (float, self.named(name, float, &v))
            }
            Shape::Vectors(n) | Shape::Vectors3(n) | Shape::VectorsFloat(n) => {
                let size = if matches!(o.shape, Shape::Vectors3(_)) { 3 } else { 4 };
                let parts: Vec<_> = (0..u32::from(n)).map(|i| self.a_vector(i, size)).collect();
                let mut v: Vec<_> = parts.iter().map(|p| p.1).collect();
                if matches!(o.shape, Shape::VectorsFloat(_)) {
                    v.push(self.a_float(60));
                }
                let result = self.named(name, parts[0].0, &v);
                (float, self.ends(result, [vec![0], vec![size - 1]]))
            }
            Shape::MatrixVector | Shape::VectorMatrix => {
                let (_, m) = self.a_matrix(0);
                let (ty, v) = self.a_vector(7, 4);
                let order = if o.shape == Shape::MatrixVector { [m, v] } else { [v, m] };
                let result = self.named(name, ty, &order);
                (float, self.ends(result, [vec![0], vec![3]]))
            }
            Shape::MatrixScalar | Shape::Matrices(_) | Shape::VectorsToMatrix => {
                let (ty, m) = self.a_matrix(0);
                let v = match o.shape {
                    Shape::MatrixScalar => vec![m, self.a_float(60)],
                    Shape::VectorsToMatrix => [1, 2].map(|i| self.a_vector(i, 4).1).to_vec(),
                    Shape::Matrices(1) => vec![m],
                    _ => vec![m, self.a_matrix(1).1],
                };
                let result = self.named(name, ty, &v);
                (float, self.ends(result, [vec![0, 1], vec![3, 2]]))
            }
            Shape::MatrixToFloat => {
                let (_, m) = self.a_matrix(0);
                (float, self.named(name, float, &[m]))
            }
            Shape::Packed(n) => {
                let (_, v) = self.a_vector(0, u32::from(n));
                (word, self.named(name, word, &[v]))
            }
            Shape::Unpacked(n) => {
                let ty = self.b.type_vector(float, u32::from(n));
                let v = self.an_int(0, word, false);
                let result = self.named(name, ty, &[v]);
                (float, self.ends(result, [vec![0], vec![u32::from(n) - 1]]))
            }
            Shape::PackedDouble | Shape::UnpackedDouble => {
                let (double, pair) = (self.b.type_float(64, None), self.b.type_vector(word, 2));
                let words = [self.an_int(0, word, false), self.an_int(1, word, true)];
                let v = self.b.composite_construct(pair, None, words).expect("a vector");
                let d = self.named("PackDouble2x32", double, &[v]);
                let back = if o.shape == Shape::PackedDouble { d } else { self.named(name, pair, &[d]) };
                match o.shape {
                    Shape::PackedDouble => (word, self.float_as_word(back, 64)),
                    _ => (word, self.b.composite_extract(word, None, back, [1]).expect("an element")),
                }
            }
            Shape::Dot4(n) => {
                let v: Vec<_> =
                    (0..u32::from(n)).map(|i| Operand::IdRef(self.an_int(i, word, false))).collect();
                let format = Operand::PackedVectorFormat(PackedVectorFormat::PackedVectorFormat4x8Bit);
                let op = core(name).expect("an operation's name");
                (word, self.emit(op, word, v.into_iter().chain([format]).collect()))
            }
            _ if name.starts_with("Atomic") => self.atomic(o, place),
            _ => self.group(o),
        };
        self.as_word(ty, value)
    }

    fn group(&mut self, o: &Operation) -> (Word, Word) {
        let scope = self.constant(Scope::Subgroup as u32);
        let scope = Operand::IdScope(scope);
        let op = core(o.name).expect("an operation's name");
        let (ty, value) = self.a_value(o, 0);
        let ballot = |m: &mut Self| {
            let four = m.b.type_vector(m.word, 4);
            let parts: Vec<_> = (0..4).map(|i| m.salted(20 + i)).collect();
            m.b.composite_construct(four, None, parts).expect("a vector")
        };
        let id = Operand::IdRef;
        let operation = Operand::GroupOperation(
            [GroupOperation::Reduce, GroupOperation::InclusiveScan, GroupOperation::ExclusiveScan][o.variant],
        );
        match o.shape {
            Shape::GroupFloats | Shape::GroupInts | Shape::GroupBools => {
                (ty, self.emit(op, ty, vec![scope, operation, id(value)]))
            }
            Shape::GroupIndex => {
                let index = self.an_int(5, self.word, true);
                (ty, self.emit(op, ty, vec![scope, id(value), id(index)]))
            }
            Shape::GroupConstant => {
                let index = self.constant(2);
                (ty, self.emit(op, ty, vec![scope, id(value), id(index)]))
            }
            Shape::GroupValue => (ty, self.emit(op, ty, vec![scope, id(value)])),
            Shape::GroupBool => (self.boolean, self.emit(op, self.boolean, vec![scope, id(value)])),
            Shape::GroupElect => (self.boolean, self.emit(op, self.boolean, vec![scope])),
            Shape::GroupAllEqual => (self.boolean, self.emit(op, self.boolean, vec![scope, id(value)])),
            Shape::BallotOf => {
                let four = self.b.type_vector(self.word, 4);
                let v = self.emit(op, four, vec![scope, id(value)]);
                (self.word, self.b.composite_extract(self.word, None, v, [0]).expect("an element"))
            }
            Shape::BallotBool => {
                let v = ballot(self);
                (self.boolean, self.emit(op, self.boolean, vec![scope, id(v)]))
            }
            Shape::BallotBit => {
                let (v, index) = (ballot(self), self.an_int(5, self.word, true));
                (self.boolean, self.emit(op, self.boolean, vec![scope, id(v), id(index)]))
            }
            Shape::BallotCount => {
                let v = ballot(self);
                (self.word, self.emit(op, self.word, vec![scope, operation, id(v)]))
            }
            _ => {
                let v = ballot(self);
                (self.word, self.emit(op, self.word, vec![scope, id(v)]))
            }
        }
    }

    fn atomic(&mut self, o: &Operation, place: Word) -> (Word, Word) {
        let word = self.word;
        let shared = o.variant >= 2;
        let class = if shared { StorageClass::Workgroup } else { StorageClass::StorageBuffer };
        let pointer = self.b.type_pointer(None, class, word);
        let zero = self.constant(0);
        let mask = self.constant(1023);
        let index = match o.variant % 2 {
            0 => zero,
            _ => self.b.bitwise_and(word, None, place, mask).expect("a word"),
        };
        let path = if shared { vec![index] } else { vec![zero, index] };
        let at =
            self.b.access_chain(pointer, None, self.memory[usize::from(shared)], path).expect("a pointer");
        let scope = self.constant(if shared { Scope::Workgroup } else { Scope::Device } as u32);
        let (at, scope, relaxed) =
            (Operand::IdRef(at), Operand::IdScope(scope), Operand::IdMemorySemantics(zero));
        let value = self.salted(0);
        let value = Operand::IdRef(value);
        let op = core(o.name).expect("an operation's name");
        let result = match o.shape {
            Shape::AtomicStore => {
                let i = Instruction::new(op, None, None, vec![at, scope, relaxed, value]);
                self.b.insert_into_block(InsertPoint::End, i).expect("in a block");
                zero
            }
            Shape::AtomicLoad | Shape::AtomicUnary => self.emit(op, word, vec![at, scope, relaxed]),
            Shape::AtomicExchange => {
                let compared = self.salted(1);
                let operands = vec![at, scope, relaxed.clone(), relaxed, value, Operand::IdRef(compared)];
                self.emit(op, word, operands)
            }
            _ => self.emit(op, word, vec![at, scope, relaxed, value]),
        };
        (word, result)
    }
}
