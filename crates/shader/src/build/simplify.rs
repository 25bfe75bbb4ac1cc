//! Emission of arithmetic with folding and algebra on the fly ([`crate::opt::rules`]).

use super::emit::Emit;
use crate::ir::*;
use crate::opt::rules::{self, Better, Def, Site};

impl Site for Emit {
    fn ty(&self, v: Value) -> Ty {
        Emit::ty(self, v)
    }
    fn def(&mut self, v: Value) -> Def {
        match Def::of(&self.values[v.0 as usize].inst) {
            Def::Un(op, a) => Def::Un(op, self.res(a)),
            Def::Bin(op, a, b) => Def::Bin(op, self.res(a), self.res(b)),
            other => other,
        }
    }
    fn known(&self, v: Value) -> Option<u64> {
        self.as_const(v)
    }
    fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        Emit::constant(self, ty, bits)
    }
    fn make(&mut self, inst: Inst) -> Option<Value> {
        Some(self.arithmetic(inst))
    }
}

impl Emit {
    fn better(&mut self, better: Better, ty: Ty) -> Value {
        match better {
            Better::Value(v) => v,
            Better::Const(bits) => self.constant(ty, bits),
            Better::Inst(inst) => self.arithmetic(inst),
        }
    }

    fn arithmetic(&mut self, inst: Inst) -> Value {
        match inst {
            Inst::Un(op, a) => self.un(op, a),
            Inst::Bin(op, a, b) => self.bin(op, a, b),
            Inst::Tri(op, a, b, c) => self.tri(op, a, b, c),
            _ => unreachable!("rules make arithmetic"),
        }
    }

    pub fn un(&mut self, op: Un, a: Value) -> Value {
        let a = self.res(a);
        let ty = self.ty(a);
        if let Some(better) = rules::un(self, op, a) {
            return self.better(better, op.result(ty));
        }
        self.pure(Inst::Un(op, a), op.result(ty))
    }

    pub fn bin(&mut self, op: Bin, a: Value, b: Value) -> Value {
        let (a, b) = (self.res(a), self.res(b));
        let ty = self.ty(a);
        if let Some(better) = rules::bin(self, op, a, b) {
            return self.better(better, op.result(ty));
        }
        self.pure(Inst::Bin(op, a, b), op.result(ty))
    }

    pub fn tri(&mut self, op: Tri, a: Value, b: Value, c: Value) -> Value {
        let (a, b, c) = (self.res(a), self.res(b), self.res(c));
        let ty = if op == Tri::Select { self.ty(b) } else { self.ty(a) };
        if let Some(better) = rules::tri(self, op, ty, [a, b, c]) {
            return self.better(better, ty);
        }
        self.pure(Inst::Tri(op, a, b, c), ty)
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
