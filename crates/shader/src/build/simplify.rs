//! Emission of arithmetic with folding and algebra on the fly. Float identities are used only where they hold for
//! every operand, signed zeros and NaN included.

use super::emit::Emit;
use crate::eval as fold;
use crate::ir::*;

fn ones(ty: Ty) -> u64 {
    match ty {
        Ty::B64 => !0,
        Ty::Bool => 1,
        _ => 0xFFFF_FFFF,
    }
}

impl Emit {
    fn as_un(&self, v: Value) -> Option<(Un, Value)> {
        match self.values[v.0 as usize].inst {
            Inst::Un(op, a) => Some((op, a)),
            _ => None,
        }
    }
    fn as_bin(&self, v: Value) -> Option<(Bin, Value, Value)> {
        match self.values[v.0 as usize].inst {
            Inst::Bin(op, a, b) => Some((op, a, b)),
            _ => None,
        }
    }

    pub fn un(&mut self, op: Un, a: Value) -> Value {
        use Un::*;
        let a = self.res(a);
        let ty = self.ty(a);
        if let Some(c) = self.as_const(a)
            && let Some(r) = fold::un(op, ty, c)
        {
            return self.constant(op.result(ty), r);
        }
        if op == Mov {
            return a;
        }
        if let Some((inner, x)) = self.as_un(a) {
            let x = self.res(x);
            match (op, inner) {
                (FNeg, FNeg) | (INeg, INeg) | (Not, Not) | (BNot, BNot) => return x,
                (IntToBool, BoolToInt) | (BitsToF16, F16ToBits) | (F16ToBits, BitsToF16) => return x,
                (Lo32, U32ToU64) | (Lo32, S32ToS64) => return x,
                (Hi32, U32ToU64) => return self.u32(0),
                (FAbs, FNeg) => return self.un(FAbs, x),
                (FAbs, FAbs) | (F16Round, F16Round | BitsToF16 | F16RoundRtz | F16Quantize) => return a,
                (FSaturate, FSaturate) | (FFloor | FCeil | FTrunc | FRoundEven, FFloor | FCeil | FTrunc) => {
                    return a;
                }
                (ZExt8, ZExt8) | (ZExt16, ZExt16 | ZExt8) | (ZExt8 | ZExt16, BoolToInt) => return a,
                (ZExt8, SExt8 | SExt16 | ZExt16) => return self.un(ZExt8, x),
                (ZExt16, SExt16) => return self.un(ZExt16, x),
                (SExt8, ZExt8 | ZExt16 | SExt16) => return self.un(SExt8, x),
                (SExt16, ZExt16) => return self.un(SExt16, x),
                (SExt8, SExt8) | (SExt16, SExt16 | SExt8) => return a,
                _ => {}
            }
        }
        if let Some((inner, x, y)) = self.as_bin(a) {
            let (x, y) = (self.res(x), self.res(y));
            match (op, inner) {
                (Lo32, Bin::Pack64) => return x,
                (Hi32, Bin::Pack64) => return y,
                (BNot, Bin::IEq) => return self.bin(Bin::INe, x, y),
                (BNot, Bin::INe) => return self.bin(Bin::IEq, x, y),
                (BNot, Bin::ULt) => return self.bin(Bin::ULe, y, x),
                (BNot, Bin::ULe) => return self.bin(Bin::ULt, y, x),
                (BNot, Bin::SLt) => return self.bin(Bin::SLe, y, x),
                (BNot, Bin::SLe) => return self.bin(Bin::SLt, y, x),
                (BNot, Bin::FEq) => return self.bin(Bin::FNe, x, y),
                (BNot, Bin::FNe) => return self.bin(Bin::FEq, x, y),
                (ZExt8, Bin::And) if self.as_const(y).is_some_and(|c| c <= 0xFF) => return a,
                (ZExt16, Bin::And) if self.as_const(y).is_some_and(|c| c <= 0xFFFF) => return a,
                _ => {}
            }
        }
        let key = self.key(1, (op as u32) << 2 | ty as u32, a.0, 0, 0);
        self.pure(key, op.result(ty), || Inst::Un(op, a))
    }

    pub fn bin(&mut self, op: Bin, a: Value, b: Value) -> Value {
        let (mut a, mut b) = (self.res(a), self.res(b));
        let ty = self.ty(a);
        let (mut ca, mut cb) = (self.as_const(a), self.as_const(b));
        if let (Some(x), Some(y)) = (ca, cb)
            && let Some(r) = fold::bin(op, ty, x, y)
        {
            return self.constant(op.result(ty), r);
        }
        if op.facts().commutes && (ca.is_some() || (cb.is_none() && b < a)) {
            std::mem::swap(&mut a, &mut b);
            std::mem::swap(&mut ca, &mut cb);
        }
        if let Some(v) = self.identity(op, ty, a, b, ca, cb) {
            return v;
        }
        let key = self.key(2, (op as u32) << 2 | ty as u32, a.0, b.0, 0);
        self.pure(key, op.result(ty), || Inst::Bin(op, a, b))
    }

    /// `a` op `b` as something simpler.
    fn identity(
        &mut self,
        op: Bin,
        ty: Ty,
        a: Value,
        b: Value,
        ca: Option<u64>,
        cb: Option<u64>,
    ) -> Option<Value> {
        use Bin::*;
        if a == b {
            match op {
                And | Or | SMin | SMax | UMin | UMax | BAnd | BOr => return Some(a),
                Xor | ISub => return Some(self.constant(ty, 0)),
                IEq | SLe | ULe => return Some(self.bool(true)),
                INe | SLt | ULt | BXor => return Some(self.bool(false)),
                _ => {}
            }
        }
        if let Some(c) = cb {
            return self.with_const(op, ty, a, b, c);
        }
        match (op, ca) {
            (ISub, Some(0)) => Some(self.un(Un::INeg, b)),
            (Shl | LShr | AShr | UDiv | SDiv | URem | SRem | SMod, Some(0)) => Some(a),
            (ULt, Some(c)) if c == ones(ty) => Some(self.bool(false)),
            (ULe, Some(0)) => Some(self.bool(true)),
            (FSub, Some(c)) if c == (if ty == Ty::B64 { 1 << 63 } else { 1 << 31 }) => {
                Some(self.un(Un::FNeg, b))
            }
            (Pack64, None) => {
                let (low, high) = (self.as_un(a), self.as_un(b));
                match (low, high) {
                    (Some((Un::Lo32, x)), Some((Un::Hi32, y))) if self.res(x) == self.res(y) => {
                        Some(self.res(x))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// As `identity`, with a constant second operand.
    fn with_const(&mut self, op: Bin, ty: Ty, a: Value, b: Value, c: u64) -> Option<Value> {
        use Bin::*;
        let all = ones(ty);
        match op {
            IAdd | Or | Xor | Shl | LShr | AShr | BOr | BXor if c == 0 => return Some(a),
            ISub if c == 0 => return Some(a),
            And | BAnd if c == all => return Some(a),
            And | BAnd | IMul | UMulHi | SMulHi | UMin if c == 0 => return Some(b),
            Or | BOr | UMax if c == all => return Some(b),
            UMax if c == 0 => return Some(a),
            UMin if c == all => return Some(a),
            Xor if c == all => return Some(self.un(Un::Not, a)),
            BXor if c == 1 => return Some(self.un(Un::BNot, a)),
            IMul | UDiv | SDiv if c == 1 => return Some(a),
            URem if c == 1 => return Some(self.constant(ty, 0)),
            IMul if c == all => return Some(self.un(Un::INeg, a)),
            IMul | UDiv if c.is_power_of_two() => {
                let n = self.u32(c.trailing_zeros());
                return Some(self.bin(if op == IMul { Shl } else { LShr }, a, n));
            }
            URem if c.is_power_of_two() => {
                let m = self.constant(ty, c - 1);
                return Some(self.bin(And, a, m));
            }
            ISub => {
                let n = self.constant(ty, c.wrapping_neg());
                return Some(self.bin(IAdd, a, n));
            }
            ULt if c == 0 => return Some(self.bool(false)),
            ULe if c == all => return Some(self.bool(true)),
            ULt if c == 1 => {
                let zero = self.constant(ty, 0);
                return Some(self.bin(IEq, a, zero));
            }
            IEq | INe if ty == Ty::Bool => {
                let keep = (c == 1) == (op == IEq);
                return Some(if keep { a } else { self.un(Un::BNot, a) });
            }
            Pack64 if c == 0 => return Some(self.un(Un::U32ToU64, a)),
            _ => {}
        }
        if ty == Ty::B32 {
            let x = f32::from_bits(c as u32);
            match op {
                FMul | FDiv if x == 1.0 => return Some(a),
                FMul | FDiv if x == -1.0 => return Some(self.un(Un::FNeg, a)),
                FAdd if c == 0x8000_0000 => return Some(a),
                FSub if c == 0 => return Some(a),
                FDiv if x.to_bits() & 0x7F_FFFF == 0 && (1e-30..1e30).contains(&x.abs()) => {
                    let r = self.f32(1.0 / x);
                    return Some(self.bin(FMul, a, r));
                }
                _ => {}
            }
        }
        if ty == Ty::B64 {
            let x = f64::from_bits(c);
            match op {
                FMul | FDiv if x == 1.0 => return Some(a),
                FAdd if c == 1 << 63 => return Some(a),
                FSub if c == 0 => return Some(a),
                _ => {}
            }
        }
        // (x op c1) op c
        if let Some((inner, x, y)) = self.as_bin(a)
            && let Some(c1) = self.as_const(y)
        {
            match (op, inner) {
                (IAdd, IAdd) | (And, And) | (Or, Or) | (Xor, Xor) | (IMul, IMul) => {
                    let both = fold::bin(op, ty, c1, c)?;
                    let both = self.constant(ty, both);
                    return Some(self.bin(op, x, both));
                }
                (Shl, Shl) | (LShr, LShr) => {
                    let width = if ty == Ty::B64 { 64 } else { 32 };
                    let n = (c1 & (width - 1)) + (c & (width - 1));
                    if n < width {
                        let n = self.u32(n as u32);
                        return Some(self.bin(op, x, n));
                    }
                    return Some(self.constant(ty, 0));
                }
                _ => {}
            }
        }
        if let Some((inner, x)) = self.as_un(a) {
            match (op, inner, c) {
                (INe, Un::BoolToInt, 0) | (IEq, Un::BoolToInt, 1) => return Some(self.res(x)),
                (IEq, Un::BoolToInt, 0) | (INe, Un::BoolToInt, 1) => return Some(self.un(Un::BNot, x)),
                (And, Un::ZExt8, _) if c & 0xFF == 0xFF => return Some(a),
                (And, Un::ZExt16, _) if c & 0xFFFF == 0xFFFF => return Some(a),
                (And, Un::BoolToInt, _) if c & 1 == 1 => return Some(a),
                _ => {}
            }
        }
        None
    }

    pub fn tri(&mut self, op: Tri, a: Value, b: Value, c: Value) -> Value {
        let (a, b, c) = (self.res(a), self.res(b), self.res(c));
        let ty = if op == Tri::Select { self.ty(b) } else { self.ty(a) };
        let (ka, kb, kc) = (self.as_const(a), self.as_const(b), self.as_const(c));
        if op == Tri::Select {
            if let Some(v) = self.select_identity(ty, a, b, c) {
                return v;
            }
        } else if let (Some(x), Some(y), Some(z)) = (ka, kb, kc)
            && let Some(r) = fold::tri(op, ty, x, y, z)
        {
            return self.constant(ty, r);
        }
        if op == Tri::UBfe
            && ty == Ty::B32
            && let (Some(off), Some(n)) = (kb, kc)
            && off < 32
            && (1..=32).contains(&n)
        {
            let off_v = self.u32(off as u32);
            let x = self.bin(Bin::LShr, a, off_v);
            if off + n >= 32 {
                return x;
            }
            let mask = self.u32((1u32 << n) - 1);
            return self.bin(Bin::And, x, mask);
        }
        let key = self.key(3, (op as u32) << 2 | ty as u32, a.0, b.0, c.0);
        self.pure(key, ty, || Inst::Tri(op, a, b, c))
    }

    fn select_identity(&mut self, ty: Ty, cond: Value, a: Value, b: Value) -> Option<Value> {
        if let Some(k) = self.as_const(cond) {
            return Some(if k != 0 { a } else { b });
        }
        if a == b {
            return Some(a);
        }
        if let Some((Un::BNot, x)) = self.as_un(cond) {
            return Some(self.tri(Tri::Select, x, b, a));
        }
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        match (ty, ca, cb) {
            (Ty::Bool, Some(1), Some(0)) => Some(cond),
            (Ty::Bool, Some(0), Some(1)) => Some(self.un(Un::BNot, cond)),
            (Ty::Bool, Some(1), None) => Some(self.bin(Bin::BOr, cond, b)),
            (Ty::Bool, None, Some(0)) => Some(self.bin(Bin::BAnd, cond, a)),
            (Ty::B32, Some(1), Some(0)) => Some(self.un(Un::BoolToInt, cond)),
            (Ty::B32, Some(0), Some(1)) => {
                let n = self.un(Un::BNot, cond);
                Some(self.un(Un::BoolToInt, n))
            }
            _ => None,
        }
    }

    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        self.tri(Tri::Select, cond, a, b)
    }
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.bin(Bin::IAdd, a, b)
    }
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.tri(Tri::Fma, a, b, c)
    }
}
