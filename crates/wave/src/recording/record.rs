//! A machine that computes nothing: it writes down what a kernel asks of it, as nodes.
//!
//! Kernels are written once over [`Simd`]; run on this machine they say which vector operations an op is made of. So compiled
//! code does what interpreted code does by construction, and no op is described a second time.

use super::lines;
use super::tape::{Bin, Id, Node, Rare, Tape, Tri, Un};
use simd::{Level, Seldom, Simd, Table};
use std::cell::RefCell;

thread_local! {
    static TAPE: RefCell<Tape> = RefCell::default();
}

/// Runs `f` with `tape` as what the machine writes to.
pub fn with<R>(tape: &mut Tape, f: impl FnOnce() -> R) -> R {
    TAPE.with(|t| t.swap(&RefCell::new(std::mem::take(tape))));
    let r = f();
    *tape = TAPE.take();
    r
}

/// Not inlined: recordings of all ops call it many times, and none is in a hurry.
#[inline(never)]
fn put(node: Node) -> Id {
    TAPE.with_borrow_mut(|t| t.put(node))
}

fn narrow() -> bool {
    TAPE.with_borrow(|t| t.narrow)
}

/// The level lacks what AVX2 does and AArch64 has: operations of unsigned integers, conversions of 64-bit ones, their signed shifts.
fn lacks_unsigned() -> bool {
    cfg!(not(target_arch = "aarch64")) && narrow()
}

/// Something that no node says: the op is left to the interpreter.
fn unsaid() -> Id {
    TAPE.with_borrow_mut(|t| {
        t.unsaid = true;
        t.put(Node::Splat(0))
    })
}

/// The machine.
#[derive(Clone, Copy)]
pub struct Record;

impl Record {
    /// What [`crate::kernels::subgroup`] has: the word of the first lane of `m`, and that mask as a word.
    pub fn first(self, m: Id, a: Id) -> Id {
        if narrow() { unsaid() } else { put(Node::Bin(Bin::First, m, a)) }
    }
    pub fn ballot(self, m: Id) -> Id {
        if narrow() { unsaid() } else { put(Node::Un(Un::Ballot, m)) }
    }
}

/// A value of 64-bit lanes: as a vector has half as many of these, its first lanes and its last ones.
#[derive(Clone, Copy)]
pub struct Wide(Id, Id);

impl Wide {
    pub fn of(id: Id) -> Wide {
        TAPE.with_borrow(|t| match t.nodes[id as usize] {
            Node::Parts(a, b) => Wide(a, b),
            // (There is no value of this kind: the caller has already recorded that something is missing.)
            _ => Wide(id, id),
        })
    }
    pub fn id(self) -> Id {
        put(Node::Parts(self.0, self.1))
    }
    fn splat(bits: u64) -> Wide {
        let id = put(Node::Splat64(bits));
        Wide(id, id)
    }
    /// Words as 64 bits each two.
    fn pairs(word: Id) -> Id {
        match TAPE.with_borrow(|t| t.nodes[word as usize]) {
            Node::Splat(x) => put(Node::Splat64(u64::from(x) << 32 | u64::from(x))),
            _ => word,
        }
    }
    /// Of each part by itself.
    fn un(self, op: Un) -> Wide {
        Wide(put(Node::Un(op, self.0)), put(Node::Un(op, self.1)))
    }
    fn bin(self, op: Bin, b: Wide) -> Wide {
        Wide(put(Node::Bin(op, self.0, b.0)), put(Node::Bin(op, self.1, b.1)))
    }
    /// A comparison.
    fn compare(self, op: Bin, b: Wide) -> Id {
        let parts = self.bin(op, b);
        put(Node::Bin(Bin::MJoin, parts.0, parts.1))
    }
    /// From words.
    fn from(op: fn(u8) -> Un, a: Id) -> Wide {
        Wide(put(Node::Un(op(0), a)), put(Node::Un(op(1), a)))
    }
    /// To words, part by part.
    fn narrowed(self, op: Un) -> Id {
        let parts = self.un(op);
        put(Node::Bin(Bin::Join, parts.0, parts.1))
    }
    fn select(m: Id, a: Wide, b: Wide) -> Wide {
        let joined = TAPE.with_borrow(|t| matches!(t.nodes[m as usize], Node::Bin(Bin::MJoin, ..)));
        let part = |k| if k == 0 && !narrow() && !joined { m } else { put(Node::Un(Un::MPart(k), m)) };
        let of = |k, a, b| put(Node::Tri(Tri::LSel, part(k), a, b));
        Wide(of(0, a.0, b.0), of(1, a.1, b.1))
    }
}

macro_rules! bins {
    ($($name:ident = $op:ident;)*) => {
        $(fn $name(self, a: Id, b: Id) -> Id {
            put(Node::Bin(Bin::$op, a, b))
        })*
    };
}
macro_rules! uns {
    ($($name:ident = $op:ident;)*) => {
        $(fn $name(self, a: Id) -> Id {
            put(Node::Un(Un::$op, a))
        })*
    };
}
macro_rules! wides {
    ($($name:ident = $op:ident;)*) => {
        $(fn $name(self, a: Wide, b: Wide) -> Wide {
            a.bin(Bin::$op, b)
        })*
    };
}
macro_rules! comparisons {
    ($($name:ident = $op:ident;)*) => {
        $(fn $name(self, a: Wide, b: Wide) -> Id {
            a.compare(Bin::$op, b)
        })*
    };
}
macro_rules! wide {
    (@ Id) => {
        unsaid()
    };
    (@ Wide) => {{
        let id = unsaid();
        Wide(id, id)
    }};
}
/// Memory is not the machine's: what asks for it is left to the interpreter.
macro_rules! memory {
    ($($name:ident($($t:ty),*) -> $r:ident;)*) => {
        $(unsafe fn $name(self $(, _: $t)*) -> $r {
            memory!(@ $r)
        })*
    };
    (@ Unit) => {{
        unsaid();
    }};
    (@ $r:ident) => { wide!(@ $r) };
}
type Unit = ();

impl Simd for Record {
    unsafe fn assume() -> Self {
        Record
    }
    fn level(self) -> Level {
        Level::PORTABLE
    }
    const UNROLL: u32 = 4;
    type F = Id;
    type I = Id;
    type D = Wide;
    type L = Wide;
    type M = Id;

    memory! {
        fload(*const u8) -> Id;
        fstore(*mut u8, Id) -> Unit;
        iload(*const u8) -> Id;
        istore(*mut u8, Id) -> Unit;
        iloadu(*const u8) -> Id;
        istoreu(*mut u8, Id) -> Unit;
        iload_mask(*const u8, Id) -> Id;
        istore_mask(*mut u8, Id, Id) -> Unit;
        istore_packed(*mut u8, Id, Id) -> Unit;
        igather(*const u8, Id, Id) -> Id;
        lgather(*const u8, Id) -> Wide;
        dload(*const u8) -> Wide;
        dstore(*mut u8, Wide) -> Unit;
        lload(*const u8) -> Wide;
        lstore(*mut u8, Wide) -> Unit;
        iload4([*mut u8; 4]) -> Id;
        istore4([*mut u8; 4], Id) -> Unit;
        mstore(*mut u8, [u64; 4]) -> Unit;
    }
    unsafe fn fquads3(self, _: [*const f32; 4]) -> [Id; 3] {
        [unsaid(); 3]
    }
    unsafe fn fquads4(self, _: [*const f32; 4]) -> [Id; 4] {
        [unsaid(); 4]
    }
    fn itranspose4(self, _: [Id; 4]) -> [Id; 4] {
        [unsaid(); 4]
    }
    fn fquads(self, _: [f32; 4]) -> Id {
        unsaid()
    }

    fn fsplat(self, x: f32) -> Id {
        put(Node::Splat(x.to_bits()))
    }
    fn isplat(self, x: u32) -> Id {
        put(Node::Splat(x))
    }

    bins! {
        fadd = FAdd;
        fsub = FSub;
        fmul = FMul;
        fdiv = FDiv;
        fmin_raw = FMin;
        fmax_raw = FMax;
        feq = FEq;
        fne = FNe;
        flt = FLt;
        fle = FLe;
        iadd = IAdd;
        isub = ISub;
        imul = IMul;
        imadd16 = IMadd16;
        iand = And;
        ior = Or;
        ixor = Xor;
        iandn = AndN;
        ishl = Shl;
        ishr = Shr;
        isar = Sar;
        smin = SMin;
        smax = SMax;
        umin = UMin;
        umax = UMax;
        ieq = IEq;
        sgt = SGt;
        mand = MAnd;
        mor = MOr;
        mxor = MXor;
    }
    uns! {
        fsqrt = FSqrt;
        ffloor = FFloor;
        fceil = FCeil;
        ftrunc = FTrunc;
        fround_even = FRoundEven;
        s_to_f = SToF;
        f_to_s_raw = FToS;
        f_to_f16 = FToF16;
        f16_to_f = F16ToF;
        ihigh_bytes = HighBytes;
        mnot = MNot;
    }
    fn ilook16(self, table: &'static Table<16>, idx: Id) -> Id {
        put(Node::Un(Un::Look16(table), idx))
    }
    fn ilook(self, table: &'static Table<32>, idx: Id) -> Id {
        put(Node::Un(Un::Look(table), idx))
    }
    fn rarely<K: Seldom>(self, m: Id, x: Id, old: (Id, Id)) -> (Id, Id) {
        let Some(exec) = TAPE.with_borrow(|t| t.exec) else {
            // As with [`Simd::many`].
            self.many(m);
            return old;
        };
        let mask = self.mand(exec, m);
        let first = TAPE.with_borrow(|t| t.nodes.len());
        let new = K::of(self, x);
        let new = (self.fsel(m, new.0, old.0), self.isel(m, new.1, old.1));
        TAPE.with_borrow_mut(|t| {
            t.forget(first, |_| true);
            let phis = [(old.0, new.0), (old.1, new.1)].map(|(a, b)| t.fresh(Node::Phi(a, b)));
            t.rare.push(Rare { mask, first: first as Id, phis: phis[0] });
            (phis[0], phis[1])
        })
    }
    fn parts_are_cheap(self) -> bool {
        TAPE.with_borrow(|t| t.one_way)
    }
    fn fbound(self, x: Id) -> Id {
        if narrow() { simd::ops::bound(self, x) } else { x }
    }
    fn fround16(self, x: Id) -> Id {
        if narrow() {
            return simd::ops::round16(self, x);
        }
        put(Node::Un(Un::FRound16, x))
    }
    fn fscale(self, p: Id, n: Id) -> Id {
        if narrow() {
            return simd::ops::scale(self, p, n);
        }
        put(Node::Bin(Bin::FScale, p, n))
    }
    fn fparts(self, x: Id) -> [Id; 2] {
        if narrow() {
            return simd::ops::parts(self, x);
        }
        [put(Node::Un(Un::Exponent, x)), put(Node::Un(Un::Mantissa, x))]
    }
    fn ffix<const TABLE: u32>(self, r: Id, x: Id) -> Id {
        if narrow() {
            return simd::ops::fix::<Self, TABLE>(self, r, x);
        }
        put(Node::Tri(Tri::Fix, x, self.isplat(TABLE), r))
    }
    fn ugt(self, a: Id, b: Id) -> Id {
        if lacks_unsigned() {
            // As `Avx2` has it.
            let s = self.isplat(0x8000_0000);
            return self.sgt(self.ixor(a, s), self.ixor(b, s));
        }
        put(Node::Bin(Bin::UGt, a, b))
    }
    fn u_to_f(self, a: Id) -> Id {
        if lacks_unsigned() {
            // As `Avx2` has it.
            let hi = self.s_to_f(self.ishr(a, self.isplat(16)));
            let lo = self.s_to_f(self.iand(a, self.isplat(0xFFFF)));
            return self.fma(hi, self.fsplat(65536.0), lo);
        }
        put(Node::Un(Un::UToF, a))
    }
    fn fma(self, a: Id, b: Id, c: Id) -> Id {
        put(Node::Tri(Tri::Fma, a, b, c))
    }
    fn fnma(self, a: Id, b: Id, c: Id) -> Id {
        put(Node::Tri(Tri::Fnma, a, b, c))
    }
    fn fsel(self, m: Id, a: Id, b: Id) -> Id {
        put(Node::Tri(Tri::Sel, m, a, b))
    }
    fn isel(self, m: Id, a: Id, b: Id) -> Id {
        self.fsel(m, a, b)
    }
    fn bits(self, a: Id) -> Id {
        a
    }
    fn from_bits(self, a: Id) -> Id {
        a
    }
    fn mask(self, bits: u16) -> Id {
        match bits {
            0 => put(Node::Truth(false)),
            0xFFFF => put(Node::Truth(true)),
            _ if narrow() => unsaid(),
            _ => put(Node::Lanes(bits)),
        }
    }
    fn mbits(self, _: Id) -> u16 {
        unsaid();
        0
    }
    fn mbits4(self, _: [Id; 4]) -> u64 {
        unsaid();
        0
    }
    /// A function that has a quick way for ordinary operands is left to its kernel. It waits for its own results, not for registers:
    /// a kernel, which does one for many warps at a time, loses nothing; and a way out of compiled code for a warp with one lane out
    /// of the ordinary cost more than it gave (`med` took 7.6 ms with such, 4.8 without).
    ///
    /// Not so within a loop that is compiled whole, or a branch: these may not leave, and their warps keep their values. Nor where
    /// [`Tape::one_way`] has left few such functions.
    fn many(self, m: Id) -> bool {
        let noted = TAPE.with_borrow_mut(|t| t.odd.as_mut().map(|odd| odd.push(m)).is_some());
        if !noted {
            unsaid();
        }
        false
    }

    fn iline(self, table: &'static Table<16>) -> Id {
        put(Node::Line(table))
    }
    fn ishuffle(self, a: Id, idx: Id) -> Id {
        if narrow() { unsaid() } else { put(Node::Bin(Bin::Shuffle, idx, a)) }
    }
    fn lshuffle(self, a: Wide, idx: Id) -> Wide {
        if narrow() {
            unsaid();
            return a;
        }
        // What folds and scans ask for needs no numbers.
        let line = TAPE.with_borrow(|t| match t.nodes[idx as usize] {
            Node::Line(table) => Some(table),
            _ => None,
        });
        for n in 0..4 {
            let far = n == 3;
            if line == Some(&lines::PARTNER[n]) || line == Some(&lines::BEFORE[n]) && far {
                return if far { Wide(a.1, a.0) } else { a.un(Un::LPartner(1 << n)) };
            }
            if line == Some(&lines::BEFORE[n]) {
                let after = |a, b| put(Node::Bin(Bin::LAfter(1 << n), a, b));
                return Wide(after(a.1, a.0), after(a.0, a.1));
            }
        }
        let idx = Wide::from(Un::Zext, idx);
        let of = |idx| put(Node::Tri(Tri::LShuffle, idx, a.0, a.1));
        Wide(of(idx.0), of(idx.1))
    }
    fn umul_hi(self, a: Id, b: Id) -> Id {
        // As vectors have it: products of even lanes and of odd ones.
        let (a, b) = (Wide::pairs(a), Wide::pairs(b));
        let bin = |op, a, b| put(Node::Bin(op, a, b));
        let (up, high) = (put(Node::Splat64(32)), put(Node::Splat64(!0 << 32)));
        let even = bin(Bin::LMulLow, a, b);
        let odd = bin(Bin::LMulLow, bin(Bin::LShr, a, up), bin(Bin::LShr, b, up));
        bin(Bin::LOr, bin(Bin::LShr, even, up), bin(Bin::LAnd, odd, high))
    }
    fn smul_hi(self, a: Id, b: Id) -> Id {
        // A negative factor counts as 2^32 more there: the other one too much.
        let of = |a, b| self.iand(self.isar(a, self.isplat(31)), b);
        self.isub(self.umul_hi(a, b), self.iadd(of(a, b), of(b, a)))
    }
    wides! {
        dadd = DAdd;
        dsub = DSub;
        dmul = DMul;
        ddiv = DDiv;
        dmin_raw = DMin;
        dmax_raw = DMax;
        ladd = LAdd;
        lsub = LSub;
        land = LAnd;
        lor = LOr;
        lxor = LXor;
    }
    comparisons! {
        deq = DEq;
        dne = DNe;
        dlt = DLt;
        dle = DLe;
        leq = LEq;
        lgt = LGt;
    }
    fn dsplat(self, x: f64) -> Wide {
        Wide::splat(x.to_bits())
    }
    fn lsplat(self, x: u64) -> Wide {
        Wide::splat(x)
    }
    fn dsqrt(self, a: Wide) -> Wide {
        a.un(Un::DSqrt)
    }
    fn dfloor(self, a: Wide) -> Wide {
        a.un(Un::DFloor)
    }
    fn dceil(self, a: Wide) -> Wide {
        a.un(Un::DCeil)
    }
    fn dtrunc(self, a: Wide) -> Wide {
        a.un(Un::DTrunc)
    }
    fn dround_even(self, a: Wide) -> Wide {
        a.un(Un::DRoundEven)
    }
    fn dfma(self, a: Wide, b: Wide, c: Wide) -> Wide {
        let of = |a, b, c| put(Node::Tri(Tri::DFma, a, b, c));
        Wide(of(a.0, b.0, c.0), of(a.1, b.1, c.1))
    }
    fn dsel(self, m: Id, a: Wide, b: Wide) -> Wide {
        Wide::select(m, a, b)
    }
    fn lsel(self, m: Id, a: Wide, b: Wide) -> Wide {
        Wide::select(m, a, b)
    }
    fn lsmin(self, a: Wide, b: Wide) -> Wide {
        if narrow() { self.lsel(self.lgt(a, b), b, a) } else { a.bin(Bin::LSMin, b) }
    }
    fn lsmax(self, a: Wide, b: Wide) -> Wide {
        if narrow() { self.lsel(self.lgt(a, b), a, b) } else { a.bin(Bin::LSMax, b) }
    }
    fn lumin(self, a: Wide, b: Wide) -> Wide {
        if narrow() { self.lsel(simd::ops::above(self, a, b), b, a) } else { a.bin(Bin::LUMin, b) }
    }
    fn lumax(self, a: Wide, b: Wide) -> Wide {
        if narrow() { self.lsel(simd::ops::above(self, a, b), a, b) } else { a.bin(Bin::LUMax, b) }
    }
    fn dbits(self, a: Wide) -> Wide {
        a
    }
    fn from_dbits(self, a: Wide) -> Wide {
        a
    }
    fn lmul(self, a: Wide, b: Wide) -> Wide {
        if !narrow() {
            return a.bin(Bin::LMul, b);
        }
        // As `Avx2` has it.
        let swapped = b.un(Un::LSwap);
        let cross = a.bin(Bin::IMul, swapped);
        let up = Wide::splat(32);
        let cross = cross.bin(Bin::IAdd, cross.bin(Bin::LShr, up));
        a.bin(Bin::LMulLow, b).bin(Bin::LAdd, cross.bin(Bin::LShl, up))
    }
    fn lshl(self, a: Wide, n: Id) -> Wide {
        a.bin(Bin::LShl, Wide::from(Un::Zext, n))
    }
    fn lshr(self, a: Wide, n: Id) -> Wide {
        a.bin(Bin::LShr, Wide::from(Un::Zext, n))
    }
    fn lsar(self, a: Wide, n: Id) -> Wide {
        let n = Wide::from(Un::Zext, n);
        if !lacks_unsigned() {
            return a.bin(Bin::LSar, n);
        }
        // As `Avx2` has it.
        let sign = Wide::splat(1 << 63).bin(Bin::LShr, n);
        a.bin(Bin::LShr, n).bin(Bin::LXor, sign).bin(Bin::LSub, sign)
    }
    fn lo(self, a: Wide) -> Id {
        put(Node::Bin(Bin::Lo, a.0, a.1))
    }
    fn hi(self, a: Wide) -> Id {
        put(Node::Bin(Bin::Hi, a.0, a.1))
    }
    fn pack(self, lo: Id, hi: Id) -> Wide {
        let hi = Wide::from(Un::Zext, hi).bin(Bin::LShl, Wide::splat(32));
        Wide::from(Un::Zext, lo).bin(Bin::LOr, hi)
    }
    fn s_to_d(self, a: Id) -> Wide {
        Wide::from(Un::SToD, a)
    }
    fn u_to_d(self, a: Id) -> Wide {
        if lacks_unsigned() { simd::ops::u_to_d(self, a) } else { Wide::from(Un::UToD, a) }
    }
    fn sl_to_d(self, a: Wide) -> Wide {
        if lacks_unsigned() { simd::ops::sl_to_d(self, a) } else { a.un(Un::SlToD) }
    }
    fn ul_to_d(self, a: Wide) -> Wide {
        if lacks_unsigned() { simd::ops::ul_to_d(self, a) } else { a.un(Un::UlToD) }
    }
    fn d_to_ul(self, a: Wide) -> Wide {
        if lacks_unsigned() { simd::ops::d_to_ul(self, a) } else { a.un(Un::DToUl) }
    }
    fn d_to_s_raw(self, a: Wide) -> Id {
        a.narrowed(Un::DToS)
    }
    fn f_to_d(self, a: Id) -> Wide {
        Wide::from(Un::FToD, a)
    }
    fn d_to_f(self, a: Wide) -> Id {
        a.narrowed(Un::DToF)
    }
}
