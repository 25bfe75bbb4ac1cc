//! What is known of a node before it is put: constants, and values that are there already.

use super::tape::{Bin, Id, Node, Tape, Tri, Un};

impl Tape {
    fn splat(&self, id: Id) -> Option<u32> {
        match self.nodes[id as usize] {
            Node::Splat(x) => Some(x),
            _ => None,
        }
    }

    /// The float that is the same in all lanes, no zero and no NaN.
    fn ordinary(&self, id: Id) -> bool {
        self.splat(id).is_some_and(|x| {
            let x = f32::from_bits(x);
            x != 0.0 && !x.is_nan()
        })
    }

    fn splat64(&self, id: Id) -> Option<u64> {
        match self.nodes[id as usize] {
            Node::Splat64(x) => Some(x),
            _ => None,
        }
    }

    /// Bits of one number and the others of another, as one operation.
    fn bits_of_two(&self, op: Bin, a: Id, b: Id) -> Option<Node> {
        let wide = op == Bin::LOr;
        // What is kept of a number, and the constant that says it.
        let kept = |id: Id| match (self.nodes[id as usize], wide) {
            (Node::Bin(Bin::LAnd, x, c), true) | (Node::Bin(Bin::And, x, c), false) => {
                let ones = |id: Id| if wide { self.splat64(id) } else { self.splat(id).map(u64::from) };
                ones(c).map(|bits| (x, c, bits)).or_else(|| ones(x).map(|bits| (c, x, bits)))
            }
            _ => None,
        };
        if self.narrow {
            return None;
        }
        let ((a, c, ones), (b, _, others)) = (kept(a)?, kept(b)?);
        let all = if wide { u64::MAX } else { u32::MAX.into() };
        let op = if wide { Tri::LBits } else { Tri::Bits };
        (ones ^ others == all).then_some(Node::Tri(op, a, b, c))
    }

    /// Of 64-bit lanes: constants, words that are widened and made words again.
    fn simplify_wide(&mut self, node: Node) -> Option<Id> {
        if let Node::Bin(op @ (Bin::LOr | Bin::Or), a, b) = node
            && let Some(bits) = self.bits_of_two(op, a, b)
        {
            return Some(self.put(bits));
        }
        let at = |id: Id| self.nodes[id as usize];
        let put = |it: &mut Tape, x: u64| Some(it.put(Node::Splat64(x)));
        match node {
            Node::Un(Un::Zext(_), a) => {
                let x = self.splat(a)?;
                put(self, x.into())
            }
            Node::Un(Un::SToD(_), a) => {
                let x = self.splat(a)?;
                put(self, f64::from(x as i32).to_bits())
            }
            Node::Un(Un::UToD(_), a) => {
                let x = self.splat(a)?;
                put(self, f64::from(x).to_bits())
            }
            Node::Un(Un::MPart(k), m) => match at(m) {
                Node::Truth(_) => Some(m),
                Node::Bin(Bin::MJoin, a, b) => Some(if k == 0 { a } else { b }),
                _ => None,
            },
            // Part by part, so that readers of one part find it.
            Node::Bin(op @ (Bin::MAnd | Bin::MOr | Bin::MXor), a, b) => match (at(a), at(b)) {
                (Node::Bin(Bin::MJoin, a, b), Node::Bin(Bin::MJoin, c, d)) => {
                    let parts = [(a, c), (b, d)].map(|(a, b)| self.put(Node::Bin(op, a, b)));
                    Some(self.put(Node::Bin(Bin::MJoin, parts[0], parts[1])))
                }
                _ => None,
            },
            Node::Un(Un::MNot, a) => match at(a) {
                Node::Bin(Bin::MJoin, a, b) => {
                    let parts = [a, b].map(|a| self.put(Node::Un(Un::MNot, a)));
                    Some(self.put(Node::Bin(Bin::MJoin, parts[0], parts[1])))
                }
                _ => None,
            },
            Node::Tri(Tri::DFma, a, b, c) => match at(a) {
                Node::Bin(Bin::LXor, x, sign) if self.splat64(sign) == Some(1 << 63) => {
                    Some(self.put(Node::Tri(Tri::DFnma, x, b, c)))
                }
                _ => None,
            },
            Node::Bin(Bin::DNe, a, b) if a == b => {
                let nan = f64::from_bits(self.splat64(a)?).is_nan();
                Some(self.put(Node::Truth(nan)))
            }
            Node::Bin(Bin::MJoin, a, b) if a == b && matches!(at(a), Node::Truth(_)) => Some(a),
            Node::Bin(op @ (Bin::LShl | Bin::LShr | Bin::LSar), a, b) => {
                match (self.splat64(a), self.splat64(b)?) {
                    (_, 0) => Some(a),
                    (Some(x), n @ ..64) => {
                        let r = match op {
                            Bin::LShl => x << n,
                            Bin::LShr => x >> n,
                            _ => (x as i64 >> n) as u64,
                        };
                        put(self, r)
                    }
                    _ => None,
                }
            }
            Node::Bin(op @ (Bin::LAnd | Bin::LOr | Bin::LXor | Bin::LAdd), a, b) => {
                let (a, b) = if self.splat64(b).is_some() { (a, b) } else { (b, a) };
                match (op, self.splat64(a), self.splat64(b)?) {
                    (Bin::LAnd, Some(x), y) => put(self, x & y),
                    (Bin::LOr, Some(x), y) => put(self, x | y),
                    (Bin::LXor, Some(x), y) => put(self, x ^ y),
                    (_, Some(x), y) => put(self, x.wrapping_add(y)),
                    (Bin::LAnd, _, 0) => Some(b),
                    (Bin::LAnd, _, u64::MAX) | (Bin::LOr | Bin::LXor | Bin::LAdd, _, 0) => Some(a),
                    _ => None,
                }
            }
            Node::Bin(op @ (Bin::Lo | Bin::Hi), a, b) => {
                if let (Some(x), true) = (self.splat64(a), a == b) {
                    let word = if op == Bin::Lo { x } else { x >> 32 };
                    return Some(self.put(Node::Splat(word as u32)));
                }
                let word = |id: Id| match at(id) {
                    Node::Un(Un::Zext(_), x) => Some((x, None)),
                    Node::Bin(Bin::LOr, low, high) => match (at(low), at(high)) {
                        (Node::Un(Un::Zext(_), x), Node::Bin(Bin::LShl, y, n)) => match (at(y), at(n)) {
                            (Node::Un(Un::Zext(_), y), Node::Splat64(32)) => Some((x, Some(y))),
                            _ => None,
                        },
                        _ => None,
                    },
                    _ => None,
                };
                let ((x, y), other) = (word(a)?, word(b)?);
                match (op, y) {
                    _ if (x, y) != other => None,
                    (Bin::Lo, _) => Some(x),
                    (_, Some(y)) => Some(y),
                    (_, None) => Some(self.put(Node::Splat(0))),
                }
            }
            Node::Tri(Tri::LSel, m, a, b) => match at(m) {
                Node::Truth(t) => Some(if t { a } else { b }),
                _ if a == b => Some(a),
                _ => None,
            },
            _ => None,
        }
    }

    /// A node that is there already and has the same value. What kernels ask of constants is settled here.
    pub(super) fn simplify(&mut self, node: Node) -> Option<Id> {
        if let Some(id) = self.simplify_wide(node) {
            return Some(id);
        }
        let at = |id: Id| self.nodes[id as usize];
        match node {
            // x = x, of a number.
            Node::Bin(Bin::FNe, a, b) if a == b && self.splat(a).is_some() => {
                let nan = f32::from_bits(self.splat(a)?).is_nan();
                Some(self.put(Node::Truth(nan)))
            }
            Node::Bin(Bin::Shl | Bin::Shr | Bin::Sar | Bin::And | Bin::Xor, a, b)
                if self.splat(a).is_some() && self.splat(b).is_some() =>
            {
                let (x, n) = (self.splat(a)?, self.splat(b)?);
                let Node::Bin(op, ..) = node else { return None };
                let r = match op {
                    Bin::And => x & n,
                    Bin::Xor => x ^ n,
                    Bin::Shl => x.checked_shl(n).unwrap_or(0),
                    Bin::Shr => x.checked_shr(n).unwrap_or(0),
                    _ => ((x as i32) >> n.min(31)) as u32,
                };
                Some(self.put(Node::Splat(r)))
            }
            Node::Bin(op @ (Bin::FEq | Bin::FLt | Bin::FLe | Bin::IEq | Bin::SGt | Bin::UGt), a, b)
                if self.splat(a).is_some() && self.splat(b).is_some() =>
            {
                let (x, y) = (self.splat(a)?, self.splat(b)?);
                let (p, q) = (f32::from_bits(x), f32::from_bits(y));
                let t = match op {
                    Bin::FEq => p == q,
                    Bin::FLt => p < q,
                    Bin::FLe => p <= q,
                    Bin::IEq => x == y,
                    Bin::SGt => x as i32 > y as i32,
                    _ => x > y,
                };
                Some(self.put(Node::Truth(t)))
            }
            Node::Bin(op @ (Bin::MAnd | Bin::MOr | Bin::MXor), a, b) => {
                let (t, x) = match (at(a), at(b)) {
                    (Node::Truth(t), _) => (t, b),
                    (_, Node::Truth(t)) => (t, a),
                    _ => return None,
                };
                match (op, t) {
                    (Bin::MAnd, true) | (Bin::MOr | Bin::MXor, false) => Some(x),
                    (Bin::MAnd, false) | (Bin::MOr, true) => Some(self.put(Node::Truth(t))),
                    _ => Some(self.put(Node::Un(Un::MNot, x))),
                }
            }
            // The smaller of two in both orders, made one where zeros of two signs and NaNs can't tell them apart: a < c ? a : c is c
            // for a NaN, as the select after it makes it.
            Node::Bin(Bin::Or, p, q) | Node::Bin(Bin::And, p, q) => {
                let wanted = if matches!(node, Node::Bin(Bin::Or, ..)) { Bin::FMin } else { Bin::FMax };
                match (at(p), at(q)) {
                    (Node::Bin(m, a, b), Node::Bin(n, c, d)) if m == wanted && n == m && (a, b) == (d, c) => {
                        if self.ordinary(b) {
                            Some(p)
                        } else if self.ordinary(a) {
                            Some(q)
                        } else {
                            None
                        }
                    }
                    _ => None,
                }
            }
            Node::Tri(Tri::Sel, m, a, b) => match (at(m), at(b)) {
                (Node::Truth(t), _) => Some(if t { a } else { b }),
                // a is a NaN ? c : (a < c ? a : c)
                (Node::Bin(Bin::FNe, x, y), Node::Bin(Bin::FMin | Bin::FMax, p, q))
                    if x == y && x == p && q == a && self.ordinary(q) =>
                {
                    Some(b)
                }
                _ if a == b => Some(a),
                // Lanes that are written once more.
                (_, Node::Tri(Tri::Sel, n, _, c)) if n == m => Some(self.put(Node::Tri(Tri::Sel, m, a, c))),
                _ => None,
            },
            Node::Un(Un::F16ToF, a) => match at(a) {
                Node::Un(Un::FToF16, x) => Some(self.put(Node::Un(Un::F16Round, x))),
                _ => None,
            },
            // (What is rounded stays as it is.)
            Node::Un(Un::F16Round, a) if matches!(at(a), Node::Un(Un::F16Round, _)) => Some(a),
            Node::Un(Un::MNot, a) => match at(a) {
                Node::Un(Un::MNot, x) => Some(x),
                Node::Truth(t) => Some(self.put(Node::Truth(!t))),
                _ => None,
            },
            _ => None,
        }
    }
}
