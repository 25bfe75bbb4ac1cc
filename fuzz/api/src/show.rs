//! A call as text.

use crate::STRUCTS;
use crate::table::Ty;
use crate::tree::{Place, Tree};
use std::fmt::Write;

impl Tree {
    /// The command's name and its parameters, each block behind the pointer to it.
    pub fn text(&self) -> String {
        let mut out = String::from(self.name());
        self.block(0, &mut out, 0);
        out
    }

    fn block(&self, node: usize, out: &mut String, deep: usize) {
        let n = &self.nodes[node];
        if deep > 24 {
            return;
        }
        if n.ty == Ty::Char && !n.pointer {
            let _ = write!(out, "{:?}", String::from_utf8_lossy(&n.bytes));
        } else if n.pointer {
            *out += "[";
            for i in 0..n.count.min(16) {
                if let Some(to) = self.link(node, i * 8) {
                    self.block(to, out, deep + 1);
                    *out += ", ";
                }
            }
            *out += "]";
        } else if n.ty.members().is_empty() {
            let size = n.ty.size();
            let values =
                n.bytes.chunks(size.max(1)).take(16).map(|b| format!("{:#x}", crate::tree::number(b, size)));
            let _ = write!(out, "[{}; {}]", values.collect::<Vec<_>>().join(" "), n.count);
        } else {
            for i in 0..n.count.min(16) {
                self.members(node, n.ty, i * n.ty.size(), out, deep);
            }
        }
    }

    fn members(&self, node: usize, ty: Ty, base: usize, out: &mut String, deep: usize) {
        let Ty::Struct(s) = ty else { return self.list(node, ty, base, out, deep) };
        let _ = write!(out, "{}", STRUCTS[s as usize].name);
        self.list(node, ty, base, out, deep);
    }

    fn list(&self, node: usize, ty: Ty, base: usize, out: &mut String, deep: usize) {
        *out += "{";
        for m in ty.members() {
            let at = base + m.at as usize;
            let place = Place { node, at, ty: m.ty, member: Some(m), owner: (ty, base) };
            let _ = write!(out, "{}: ", m.name);
            match self.link(place.node, at) {
                Some(to) => {
                    *out += "&";
                    self.block(to, out, deep + 1);
                }
                None if m.leads() => *out += "null",
                None => {
                    for k in 0..(m.count as usize).min(8) {
                        let at = at + k * m.size();
                        if m.ty.members().is_empty() {
                            let _ = write!(out, "{:#x} ", self.get(node, at, m.size()));
                        } else {
                            self.members(node, m.ty, at, out, deep + 1);
                        }
                    }
                }
            }
            *out += ", ";
        }
        *out += "}";
    }
}
