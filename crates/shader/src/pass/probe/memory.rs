//! Where undefined values come from memory that nothing has written: it holds a pattern ([`crate::options::Options::undefined`]). A word
//! counts as undefined if a neighbour holds the pattern too, so that no number that a program computes is taken for it.

use super::shadow::Shadows;
use crate::ir::*;

impl Shadows<'_> {
    /// Whether undefined words of a place hold the pattern.
    pub(super) fn has_pattern(&self, place: &Place) -> bool {
        self.pattern.is_some()
            && match place {
                Place::Buffer { desc, .. } => !matches!(
                    self.shader.data(*desc).inst,
                    Inst::Descriptor { source: DescriptorSource::Data(_), .. }
                ),
                Place::Global { .. } | Place::Push { .. } => true,
                Place::Shared { .. } | Place::Scratch { .. } => false,
            }
    }

    /// Where a value is the pattern's word (Bool).
    fn is_pattern(&mut self, v: Value, ty: Ty) -> Value {
        let word = self.pattern.unwrap_or(0) as u64;
        let bits = if ty == Ty::B64 { word << 32 | word } else { word };
        let pattern = self.push(Inst::Const(bits), ty);
        self.bin(Bin::IEq, v, pattern, Ty::Bool)
    }

    /// The shadow of what is undefined in the lanes where `is`.
    fn where_(&mut self, is: Value, how: Undefined) -> Value {
        let [born, zero] = [self.birth(how), self.word(0)];
        self.select(is, born, zero)
    }

    /// The word that an access begins in, or the other word of its granule of eight bytes.
    fn near(&mut self, place: Place, offset: u32, other: bool) -> Option<Value> {
        let ty = if matches!(place, Place::Global { .. }) { Ty::B64 } else { Ty::B32 };
        let (Place::Buffer { addr, .. } | Place::Global { addr }) = place else { return None };
        let constant = |this: &mut Self, n: i32| {
            let bits = if ty == Ty::B64 { n as i64 as u64 } else { n as u32 as u64 };
            this.push(Inst::Const(bits), ty)
        };
        let more = constant(self, offset as i32);
        let mut at = self.bin(Bin::IAdd, addr, more, ty);
        let mask = constant(self, !3);
        at = self.bin(Bin::And, at, mask, ty);
        if other {
            let four = constant(self, 4);
            at = self.bin(Bin::Xor, at, four, ty);
        }
        let place = match place {
            Place::Buffer { desc, .. } => Place::Buffer { desc, addr: at },
            _ => Place::Global { addr: at },
        };
        let flags = MemFlags::default();
        Some(self.push(Inst::Load { place, offset: 0, mem: Mem::B32, n: 1, flags }, Ty::B32))
    }

    /// The word after one that is loaded. (Lanes load it in the pattern of the first: that costs little. Past a buffer's end it counts as defined.)
    fn next(&mut self, place: Place, offset: u32) -> Value {
        let flags = MemFlags::default();
        self.push(Inst::Load { place, offset, mem: Mem::B32, n: 1, flags }, Ty::B32)
    }

    /// The shadow of the word that an access touches, as it is before the access.
    pub(super) fn word_at(&mut self, place: Place, offset: u32) -> Value {
        let all: Vec<Value> = [false, true].into_iter().filter_map(|o| self.near(place, offset, o)).collect();
        let all: Vec<Value> = all.into_iter().map(|w| self.is_pattern(w, Ty::B32)).collect();
        match all[..] {
            [a, b] => {
                let both = self.bin(Bin::BAnd, a, b, Ty::Bool);
                self.where_(both, Undefined::Memory)
            }
            _ => self.word(0),
        }
    }

    /// The shadows of scalars that were loaded.
    pub(super) fn fresh(&mut self, v: Value, place: Place, offset: u32, mem: Mem, n: u32) -> Vec<Value> {
        if matches!(mem, Mem::U8 | Mem::U16 | Mem::F16) {
            if matches!(place, Place::Push { .. }) {
                return vec![];
            }
            let at = |k: u32| offset.wrapping_add(k * mem.bytes());
            return (0..n).map(|k| self.word_at(place, at(k))).collect();
        }
        let ty = mem.ty();
        let values: Vec<Value> = match n {
            1 => vec![v],
            _ => (0..n).map(|k| self.push(Inst::Part(v, k), ty)).collect(),
        };
        let mut are: Vec<Value> = values.into_iter().map(|x| self.is_pattern(x, ty)).collect();
        if matches!(place, Place::Push { .. }) {
            return are.into_iter().map(|is| self.where_(is, Undefined::Push)).collect();
        }
        let own = are.clone();
        for (k, is) in are.iter_mut().enumerate().filter(|_| mem == Mem::B32) {
            // A component's neighbour is another one.
            let other = match n {
                // The next one of an address may be no memory.
                1 if matches!(place, Place::Global { .. }) => {
                    self.near(place, offset, true).map(|w| self.is_pattern(w, Ty::B32))
                }
                1 => {
                    let next = self.next(place, offset.wrapping_add(4));
                    Some(self.is_pattern(next, Ty::B32))
                }
                _ => own.get(k ^ 1).or(own.get(k.wrapping_sub(1))).copied(),
            };
            if let Some(other) = other {
                *is = self.bin(Bin::BAnd, *is, other, Ty::Bool);
            }
        }
        are.into_iter().map(|is| self.where_(is, Undefined::Memory)).collect()
    }

    /// The shadow of texels, by their check.
    pub(super) fn texel(&mut self, check: Value) -> Value {
        let zero = self.word(0);
        let is = self.bin(Bin::INe, check, zero, Ty::Bool);
        self.where_(is, Undefined::Texel)
    }

    /// The shadow of a component of a vertex's attribute.
    pub(super) fn attribute(&mut self, v: Value) -> Option<Value> {
        let is = self.is_pattern(v, Ty::B32);
        Some(self.where_(is, Undefined::Attribute))
    }
}
