//! Cooperative vectors (SPV_NV_cooperative_vector; SPV_EXT_long_vector has the type, too): vectors of up to 1024 components, each an invocation's own. They are vectors as
//! others are, so all that is done component by component is ordinary arithmetic. Here: their memory, products with matrices in memory,
//! and sums over invocations in memory.
//!
//! A product is a loop over the rows of the matrix, in which the vector's components are values: each turn loads one row and makes one
//! component of the result, which waits in private memory for the end of the loop. Small products are written out. Floats are summed in
//! the order of the row, from the bias on, with one fused multiply–add of 32-bit floats for each element; bytes four at a time, as dot
//! products.

use super::Builder;
use super::access::{Base, Pointer};
use super::arith::Class;
use super::small::Narrowing;
use super::types::{MAX_SCALARS, Sk, Type, TypeClass};
use crate::ir::*;
use crate::options::{Error, Result};
use crate::spirv::*;
use crate::vectors::{self, component, layout};

// Bits of the cooperative matrix operands that say what is signed.
const INPUT_SIGNED: u32 = 2;
const RESULT_SIGNED: u32 = 8;

/// Elements of a matrix up to which all rows are written out.
const WRITTEN_OUT: u32 = 256;

/// A matrix in memory. Its element in row r and column c is at `pointer` + r · `rows` + c · `columns` bytes.
struct Matrix {
    pointer: Pointer,
    element: Sk,
    rows: Step,
    columns: Step,
}

#[derive(Clone, Copy)]
enum Step {
    Known(u32),
    /// B32
    Value(Value),
}

/// Scalars of a row, or of a vector, as products take them: floats of 32 bits, or words of four bytes.
struct Factors {
    words: bool,
    values: Vec<Value>,
}

/// A matrix element's or vector component's kind, and whether it is signed.
fn kind_of(number: u32) -> Option<(Sk, bool)> {
    Some(match number {
        component::F16 => (Sk::F16, true),
        component::F32 => (Sk::F32, true),
        component::E4M3 => (Sk::E4m3, true),
        component::E5M2 => (Sk::E5m2, true),
        component::S8 | component::S8_PACKED => (Sk::I8, true),
        component::U8 | component::U8_PACKED => (Sk::I8, false),
        component::S32 => (Sk::I32, true),
        component::U32 => (Sk::I32, false),
        _ => return None,
    })
}

/// Likewise the other way.
fn number_of(kind: Sk, signed: bool) -> Option<u32> {
    Some(match (kind, signed) {
        (Sk::F16, _) => component::F16,
        (Sk::F32, _) => component::F32,
        (Sk::I8, true) => component::S8,
        (Sk::I8, false) => component::U8,
        (Sk::I32, true) => component::S32,
        (Sk::I32, false) => component::U32,
        _ => return None,
    })
}

impl Builder<'_> {
    /// OpTypeCooperativeVectorNV, or OpTypeVectorIdEXT, which is the same.
    pub(super) fn cooperative_vector_type(&mut self, i: &Code, t: &mut Type) -> Result<()> {
        let e = self.types.of(i.word(2)?, i.at)?;
        let n = self.const_u32(i.word(3)?, i.at)?;
        if !matches!(self.types.kind(e), TypeClass::Scalar(..)) || n == 0 {
            return Err(i.bad("bad component type or count"));
        }
        if n > vectors::MAX_COMPONENTS {
            return Err(Error::TooLarge(format!("a cooperative vector of {n} components")));
        }
        t.kind = TypeClass::Vector(e, n);
        self.repeat(t, e, n)
    }

    pub(crate) fn cooperative_vector_op(&mut self, i: &Code) -> Result<bool> {
        match i.op {
            Op::CooperativeVectorLoadNV => {
                let (ty, _) = self.result(i)?;
                let (p, s, n) = self.vector_memory(i, ty, [3, 4, 5])?;
                let start = self.load_runs(&p, &consecutive(&p, s, n));
                self.define_checked(i, start)?;
            }
            Op::CooperativeVectorStoreNV => {
                let (ty, start, _) = self.value(i.word(3)?, i.at)?;
                let (p, s, n) = self.vector_memory(i, ty, [1, 2, 4])?;
                self.store_runs(&p, &consecutive(&p, s, n), start, false, i.at)?;
            }
            Op::CooperativeVectorMatrixMulNV | Op::CooperativeVectorMatrixMulAddNV => {
                let list = self.vector_product(i)?;
                self.define_list(i, &list)?;
            }
            Op::CooperativeVectorOuterProductAccumulateNV => self.outer_product(i)?,
            Op::CooperativeVectorReduceSumAccumulateNV => {
                let (s, from, n) = self.numeric(i, 3, Class::Float)?;
                let p = self.bytes_at(i, 1, 2)?;
                self.check_accumulated(s)?;
                for k in 0..n {
                    let v = self.pool[from + k as usize];
                    self.accumulate(&p, k * s.mem().bytes(), s, v);
                    self.check_size()?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The pointer in word `w` and the bytes in word `offset` after it.
    fn bytes_at(&mut self, i: &Code, w: usize, offset: usize) -> Result<Pointer> {
        let mut p = self.pointer(i.word(w)?, i.at)?;
        self.see_as(&mut p, 0, i.at)?;
        self.settle_buffer(&mut p, i.at)?;
        if !matches!(p.base, Base::Buffer(_) | Base::Global | Base::Shared)
            || p.class == StorageClass::UniformConstant
        {
            return Err(unsupported("a cooperative vector or its matrix in this storage class"));
        }
        let offset = self.int32(i.word(offset)?, i.at)?;
        self.advance(&mut p, offset);
        Ok(p)
    }

    /// Adds a number of bytes (B32).
    fn advance(&mut self, p: &mut Pointer, bytes: Value) {
        let bytes = if p.base == Base::Global { self.e.un(Un::U32ToU64, bytes) } else { bytes };
        p.addr = Some(match p.addr {
            Some(a) => self.e.add(a, bytes),
            None => bytes,
        });
    }

    /// Memory of a vector of type `ty`: words of the pointer, the offset and the memory operands.
    fn vector_memory(&mut self, i: &Code, ty: u32, words: [usize; 3]) -> Result<(Pointer, Sk, u32)> {
        let is_vector = matches!(self.types.kind(ty), TypeClass::Vector(..));
        let Some((s, n)) = self.types.numeric(ty).filter(|n| is_vector && n.0 != Sk::Bool) else {
            return Err(i.bad("no cooperative vector"));
        };
        let mut p = self.bytes_at(i, words[0], words[1])?;
        p.flags.volatile |= i.get(words[2]).is_some_and(|m| m & MemoryAccess::VOLATILE.bits() != 0);
        Ok((p, s, n))
    }

    /// A matrix in a layout; `stride`: the operand that says it.
    fn matrix_at(&mut self, i: &Code, p: Pointer, element: Sk, m: Laid) -> Result<Matrix> {
        let bytes = element.mem().bytes();
        let along = Step::Known(bytes);
        let stride = |b: &mut Self| match m.stride {
            Some(id) => b.int32(id, i.at).map(Step::Value),
            None => Err(i.bad("no stride")),
        };
        let optimal = |columns: u32| Step::Known(vectors::optimal_stride(columns, bytes) as u32);
        let (rows, columns) = match (m.layout, m.transposed) {
            (layout::ROW_MAJOR, false) => (stride(self)?, along),
            (layout::COLUMN_MAJOR, false) => (along, stride(self)?),
            (layout::ROW_MAJOR | layout::COLUMN_MAJOR, true) => {
                return Err(unsupported("a transposed matrix of this layout"));
            }
            (layout::INFERENCING_OPTIMAL | layout::TRAINING_OPTIMAL, false) => (optimal(m.columns), along),
            (layout::INFERENCING_OPTIMAL | layout::TRAINING_OPTIMAL, true) => (along, optimal(m.rows)),
            (layout, _) => return Err(i.bad(format!("layout {layout}"))),
        };
        Ok(Matrix { pointer: p, element, rows, columns })
    }

    /// Where a row begins.
    fn row(&mut self, m: &Matrix, row: Value) -> Pointer {
        let step = match m.rows {
            Step::Known(k) => self.e.u32(k),
            Step::Value(v) => v,
        };
        let bytes = self.e.bin(Bin::IMul, row, step);
        let mut p = m.pointer;
        self.advance(&mut p, bytes);
        p
    }

    /// `n` elements of the row that begins at `p`.
    fn row_factors(&mut self, m: &Matrix, p: &Pointer, n: u32) -> Factors {
        let bytes = m.element.mem().bytes();
        let words = m.element == Sk::I8;
        let start = match m.columns {
            Step::Known(step) if step == bytes && words => {
                let mut list = consecutive(p, Sk::I32, n / 4);
                let tail = p.offset.wrapping_add(n / 4 * 4);
                list.extend((0..n % 4).map(|k| (tail.wrapping_add(k), Sk::I8)));
                let start = self.load_runs(p, &list);
                let last = self.pool.split_off(start + (n / 4) as usize);
                let last = self.in_words(&last);
                self.pool.extend(last);
                return Factors { words, values: self.pool.split_off(start) };
            }
            Step::Known(step) => {
                let at = |k: u32| (p.offset.wrapping_add(k * step), m.element);
                self.load_runs(p, &(0..n).map(at).collect::<Vec<_>>())
            }
            Step::Value(step) => {
                let start = self.pool.len();
                for k in 0..n {
                    let k = self.e.u32(k);
                    let bytes = self.e.bin(Bin::IMul, k, step);
                    let mut q = *p;
                    self.advance(&mut q, bytes);
                    self.load_runs(&q, &[(q.offset, m.element)]);
                }
                start
            }
        };
        let list = self.pool.split_off(start);
        Factors { words, values: if words { self.in_words(&list) } else { list } }
    }

    /// Bytes as words, four in each; there are none after the last.
    fn in_words(&mut self, bytes: &[Value]) -> Vec<Value> {
        let mut words = Vec::with_capacity(bytes.len().div_ceil(4));
        for four in bytes.chunks(4) {
            let mut word = four[0];
            for (k, &b) in four.iter().enumerate().skip(1) {
                let by = self.e.u32(8 * k as u32);
                let b = self.e.bin(Bin::Shl, b, by);
                word = self.e.bin(Bin::Or, word, b);
            }
            words.push(word);
        }
        words
    }

    /// The input vector, which has `n` components as the product counts, converted.
    fn input_factors(&mut self, i: &Code, interpretation: u32, signed: bool, n: u32) -> Result<Factors> {
        let packed = matches!(interpretation, component::S8_PACKED | component::U8_PACKED);
        let (from, start, len) =
            self.numeric(i, 3, Class::Int).or_else(|_| self.numeric(i, 3, Class::Float))?;
        let have = number_of(from, if packed { false } else { signed });
        let (Some((to, to_signed)), Some(_)) = (kind_of(interpretation), have) else {
            return Err(unsupported("an input vector of this type"));
        };
        let fits = if packed { from == Sk::I32 && len as u64 * 4 >= n as u64 } else { len == n };
        if !fits {
            return Err(i.bad(format!("an input vector of {len} components for a matrix of {n} columns")));
        }
        let len = if packed { n.div_ceil(4) } else { n } as usize;
        let mut list = self.pool[start..start + len].to_vec();
        if packed {
            return Ok(Factors { words: true, values: list });
        }
        let words = to == Sk::I8;
        for v in &mut list {
            *v = match (from.is_float(), words) {
                (true, true) => self.float_to_byte(*v, to_signed),
                (false, true) => self.int_to_byte(from, *v, [signed, to_signed]),
                (true, false) if to.is_small() => {
                    self.e.small_of(to, *v, Narrowing { toward_zero: false, saturates: true })
                }
                (true, false) => self.e.float_to_float(from, to, *v, false),
                (false, false) => return Err(unsupported("an input vector of this type")),
            };
        }
        Ok(Factors { words, values: if words { self.in_words(&list) } else { list } })
    }

    /// Rounded to nearest even and held to the range.
    fn float_to_byte(&mut self, v: Value, signed: bool) -> Value {
        let (low, high) = if signed { (-128.0, 127.0) } else { (0.0, 255.0) };
        let (low, high) = (self.e.f32(low), self.e.f32(high));
        let v = self.e.un(Un::FRoundEven, v);
        let v = self.e.bin(Bin::FMax, v, low);
        let v = self.e.bin(Bin::FMin, v, high);
        let v = self.e.un(if signed { Un::F32ToS32 } else { Un::F32ToU32 }, v);
        self.e.wrap(Sk::I8, v)
    }

    fn int_to_byte(&mut self, from: Sk, v: Value, [signed, to_signed]: [bool; 2]) -> Value {
        if from == Sk::I8 && signed == to_signed {
            return v;
        }
        let mut v = if signed { self.e.sext(from, v) } else { v };
        let (low, high) = if to_signed { (-128, 127) } else { (0, 255) };
        let (low, high) = (self.e.int(Ty::B32, low), self.e.int(Ty::B32, high));
        if signed {
            v = self.e.bin(Bin::SMax, v, low);
            v = self.e.bin(Bin::SMin, v, high);
        } else {
            v = self.e.bin(Bin::UMin, v, high);
        }
        self.e.wrap(Sk::I8, v)
    }

    /// OpCooperativeVectorMatrixMulNV, or MulAdd: the components of the result.
    fn vector_product(&mut self, i: &Code) -> Result<Vec<Value>> {
        let (ty, _) = self.result(i)?;
        let adds = i.op == Op::CooperativeVectorMatrixMulAddNV;
        let w = if adds { 11 } else { 8 };
        let constant = |b: &mut Self, w: usize| i.word(w).and_then(|id| b.const_u32(id, i.at));
        let [interpretation, of_matrix] = [constant(self, 4)?, constant(self, 7)?];
        let [rows, columns, laid] = [constant(self, w)?, constant(self, w + 1)?, constant(self, w + 2)?];
        let transposed =
            self.try_const(i.word(w + 3)?).ok_or_else(|| i.bad("Transpose is no constant"))? != 0;
        let signs = i.get(w + 5).unwrap_or(0);
        let (input, result) = (signs & INPUT_SIGNED != 0, signs & RESULT_SIGNED != 0);
        let Some((to, n)) = self.types.numeric(ty).filter(|r| matches!(r.0, Sk::F16 | Sk::F32 | Sk::I32))
        else {
            return Err(i.bad("no cooperative vector of such a type"));
        };
        if n != rows || columns == 0 || columns > 4 * vectors::MAX_COMPONENTS {
            return Err(i.bad(format!("a matrix of {rows} × {columns} for a vector of {n}")));
        }
        let x = self.input_factors(i, interpretation, input, columns)?;
        let of_bias = if adds { Some(constant(self, 10)?) } else { None };
        self.check_product(i, [interpretation, of_matrix], of_bias, number_of(to, result), input)?;
        let Some((element, matrix_signed)) = kind_of(of_matrix) else { return Err(i.bad("no matrix")) };
        let input_signed = kind_of(interpretation).is_some_and(|k| k.1);
        // Denormals of these formats are made by way of the CPU's.
        self.keeps_denormals |= element.is_small();
        let m = self.bytes_at(i, 5, 6)?;
        let laid = Laid { layout: laid, transposed, rows, columns, stride: i.get(w + 4) };
        let mut m = self.matrix_at(i, m, element, laid)?;
        m.pointer.flags = MemFlags { read_only: true, volatile: false };
        let bias = match adds {
            true => {
                let mut p = self.bytes_at(i, 8, 9)?;
                p.flags = m.pointer.flags;
                let step = Step::Known(to.mem().bytes());
                Some(Matrix { pointer: p, element: to, rows: step, columns: step })
            }
            false => None,
        };
        let of = Product { m, bias, x, columns, signed: [matrix_signed, input_signed], to };
        self.by_row(rows, rows * columns, |b, row| b.product_row(&of, row))
    }

    /// Errors unless there is such a product.
    fn check_product(
        &mut self,
        i: &Code,
        [interpretation, matrix]: [u32; 2],
        bias: Option<u32>,
        result: Option<u32>,
        signed: bool,
    ) -> Result<()> {
        let slot = self.slot(i.word(3)?, i.at)?;
        let from = self.types.numeric(slot.ty).map(|n| n.0);
        let packed = matches!(interpretation, component::S8_PACKED | component::U8_PACKED);
        let input = from.and_then(|s| number_of(s, signed && !packed));
        let fits = |p: &&[u32; 5]| {
            (Some(p[0]), p[1], p[2], Some(p[4])) == (input, interpretation, matrix, result)
                && bias.is_none_or(|b| b == p[3])
        };
        match vectors::PRODUCTS.iter().find(fits) {
            Some(_) => Ok(()),
            None => Err(unsupported("a product of such a matrix and cooperative vector")),
        }
    }

    /// One component of a product's result.
    fn product_row(&mut self, of: &Product, row: Value) -> Result<Value> {
        let mut sum = match &of.bias {
            Some(bias) => {
                let p = self.row(bias, row);
                let at = self.load_runs(&p, &[(p.offset, of.to)]);
                let v = self.pool[at];
                self.pool.truncate(at);
                Some(v)
            }
            None => None,
        };
        let p = self.row(&of.m, row);
        let y = self.row_factors(&of.m, &p, of.columns);
        if y.words != of.x.words || y.values.len() != of.x.values.len() {
            return Err(unsupported("a product of these types"));
        }
        // The modelled GPU multiplies and adds elements of 16 bits two at a time.
        self.e.relaxed = of.to == Sk::F16;
        for (&y, &x) in y.values.iter().zip(&of.x.values) {
            sum = Some(match (y, sum) {
                (y, None) if !of.x.words => self.e.bin(Bin::FMul, y, x),
                (y, Some(sum)) if !of.x.words => self.e.fma(y, x, sum),
                (y, sum) => {
                    let d = match of.signed {
                        [true, true] => self.e.bin(Bin::SDot4, y, x),
                        [false, false] => self.e.bin(Bin::UDot4, y, x),
                        [true, false] => self.e.bin(Bin::SUDot4, y, x),
                        [false, true] => self.e.bin(Bin::SUDot4, x, y),
                    };
                    sum.map_or(d, |s| self.e.add(s, d))
                }
            });
        }
        self.e.reset_flags();
        let sum = sum.unwrap_or_else(|| self.e.u32(0));
        Ok(self.e.round(of.to, sum))
    }

    /// What `each` makes of the numbers of `n` rows of `elements` in all: written out, or in a loop.
    fn by_row(
        &mut self,
        n: u32,
        elements: u32,
        each: impl Fn(&mut Self, Value) -> Result<Value>,
    ) -> Result<Vec<Value>> {
        if elements <= WRITTEN_OUT || n == 1 {
            let mut list = Vec::with_capacity(n as usize);
            for row in 0..n {
                let row = self.e.u32(row);
                list.push(each(self, row)?);
                self.check_size()?;
            }
            return Ok(list);
        }
        let first = self.waiting(n)?;
        let t = self.open_turns();
        let v = each(self, t.k)?;
        let v = self.e.observed(Sk::F32, v);
        let place = Place::Scratch { addr: t.k };
        let flags = MemFlags::default();
        let store = Inst::Store { place, offset: first, mem: Mem::B32, values: vec![v].into(), flags };
        self.e.push(store, Ty::Void);
        self.close_turns(t, n)?;
        Ok(self.waited(first, n))
    }

    /// Private memory for `n` words between two steps of one instruction: the first.
    fn waiting(&mut self, n: u32) -> Result<u32> {
        let [first, have] = self.rows_wait;
        if n <= have {
            return Ok(first);
        }
        let first = self.take_scratch(n)?;
        self.rows_wait = [first, n];
        Ok(first)
    }

    /// `n` words from there.
    fn waited(&mut self, first: u32, n: u32) -> Vec<Value> {
        let zero = self.e.u32(0);
        let place = Place::Scratch { addr: zero };
        let mut list = Vec::with_capacity(n as usize);
        for from in (0..n).step_by(16) {
            let some = (n - from).min(16);
            let v = self.e.load(place, first + from, Mem::B32, some as u8, MemFlags::default());
            for k in 0..some {
                list.push(if some == 1 { v } else { self.e.part(v, k, Ty::B32) });
            }
        }
        list
    }

    fn check_accumulated(&self, s: Sk) -> Result<()> {
        match s {
            Sk::F16 | Sk::F32 => Ok(()),
            _ => Err(unsupported("sums over invocations of this type")),
        }
    }

    /// Adds to what is in memory.
    fn accumulate(&mut self, p: &Pointer, bytes: u32, s: Sk, v: Value) {
        let place = self.place(p);
        let offset = p.offset.wrapping_add(bytes);
        let inst = Inst::Atomic { place, offset, mem: s.mem(), op: AtomicOp::FAdd, a: v, b: None };
        self.e.push_order(inst, s.ty(), Order { wide: true, ..Order::default() });
    }

    /// OpCooperativeVectorOuterProductAccumulateNV.
    fn outer_product(&mut self, i: &Code) -> Result<()> {
        let ((s, a, rows), (t, b, columns)) =
            (self.numeric(i, 3, Class::Float)?, self.numeric(i, 4, Class::Float)?);
        let laid = self.const_u32(i.word(5)?, i.at)?;
        let interpretation = self.const_u32(i.word(6)?, i.at)?;
        let Some((element, _)) = kind_of(interpretation) else { return Err(i.bad("no such elements")) };
        self.check_accumulated(element)?;
        if s != Sk::F16 || t != Sk::F16 {
            return Err(unsupported("an outer product of such cooperative vectors"));
        }
        if rows > MAX_SCALARS || columns > MAX_SCALARS {
            return Err(i.bad("too many components"));
        }
        let a = self.pool[a..a + rows as usize].to_vec();
        let b = self.pool[b..b + columns as usize].to_vec();
        let p = self.bytes_at(i, 1, 2)?;
        let laid = Laid { layout: laid, transposed: false, rows, columns, stride: i.get(7) };
        let m = self.matrix_at(i, p, element, laid)?;
        let Step::Known(step) = m.columns else { return Err(unsupported("an outer product by columns")) };
        let row_of = |builder: &mut Self, a: Value, row: Value| {
            let p = builder.row(&m, row);
            for (k, &b) in b.iter().enumerate() {
                let v = builder.e.fmul(element, a, b);
                builder.accumulate(&p, k as u32 * step, element, v);
            }
            builder.check_size()
        };
        if rows * columns <= WRITTEN_OUT || rows == 1 {
            for (k, &a) in a.iter().enumerate() {
                let row = self.e.u32(k as u32);
                row_of(self, a, row)?;
            }
            return Ok(());
        }
        let first = self.waiting(rows)?;
        let zero = self.e.u32(0);
        for (k, some) in a.chunks(16).enumerate() {
            let values: Vec<Value> = some.iter().map(|&v| self.e.observed(s, v)).collect();
            let place = Place::Scratch { addr: zero };
            let (offset, flags) = (first + 16 * k as u32, MemFlags::default());
            self.e.push(Inst::Store { place, offset, mem: Mem::B32, values: values.into(), flags }, Ty::Void);
        }
        let t = self.open_turns();
        let v = self.e.load(Place::Scratch { addr: t.k }, first, Mem::B32, 1, MemFlags::default());
        row_of(self, v, t.k)?;
        self.close_turns(t, rows)
    }
}

/// What an instruction says of how its matrix lies in memory.
struct Laid {
    layout: u32,
    transposed: bool,
    rows: u32,
    columns: u32,
    stride: Option<u32>,
}

/// A product under translation: the matrix, what is added, the vector; whether the matrix and the vector are signed.
struct Product {
    m: Matrix,
    bias: Option<Matrix>,
    x: Factors,
    columns: u32,
    signed: [bool; 2],
    to: Sk,
}

/// Offsets of scalars that follow each other.
fn consecutive(p: &Pointer, s: Sk, n: u32) -> Vec<(u32, Sk)> {
    (0..n).map(|k| (p.offset.wrapping_add(k * s.mem().bytes()), s)).collect()
}
