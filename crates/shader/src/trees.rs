//! Searches that take few steps however much there is: in lists of numbers by place, and up a tree.

/// A list of numbers that change, asked for the first of at most a bound.
pub struct MinTree {
    /// Leaves, from `size` on, and above each pair the less of the two.
    node: Vec<u32>,
    size: usize,
}

impl MinTree {
    /// `n` numbers, all the greatest there is.
    pub fn new(n: usize) -> MinTree {
        let size = n.next_power_of_two();
        MinTree { node: vec![u32::MAX; 2 * size], size }
    }

    pub fn get(&self, i: usize) -> u32 {
        self.node[self.size + i]
    }

    /// Makes number `i` less.
    pub fn lower(&mut self, i: usize, x: u32) {
        let mut k = self.size + i;
        while k > 0 && self.node[k] > x {
            self.node[k] = x;
            k /= 2;
        }
    }

    /// The first place from `from` on whose number is `most` at most.
    pub fn first(&self, from: usize, most: u32) -> Option<usize> {
        if from >= self.size {
            return None;
        }
        let mut k = self.size + from;
        // Up and to the right until a subtree has one, then down to its first.
        while self.node[k] > most {
            while k & 1 == 1 {
                k /= 2;
            }
            if k == 0 {
                return None;
            }
            k += 1;
        }
        while k < self.size {
            k *= 2;
            if self.node[k] > most {
                k += 1;
            }
        }
        Some(k - self.size)
    }
}

/// A list of numbers that stay, asked for the greatest of some neighbours.
pub struct MaxTree {
    node: Vec<u32>,
    size: usize,
}

impl MaxTree {
    pub fn new(list: impl ExactSizeIterator<Item = u32>) -> MaxTree {
        let size = list.len();
        let mut node = vec![0; size];
        node.extend(list);
        for k in (1..size).rev() {
            node[k] = node[2 * k].max(node[2 * k + 1]);
        }
        MaxTree { node, size }
    }

    /// The greatest from `from` up to, but not including, `to`; 0 for none.
    pub fn max(&self, from: usize, to: usize) -> u32 {
        let (mut a, mut z, mut most) = (self.size + from, self.size + to.max(from), 0);
        while a < z {
            if a & 1 == 1 {
                most = most.max(self.node[a]);
                a += 1;
            }
            if z & 1 == 1 {
                z -= 1;
                most = most.max(self.node[z]);
            }
            a /= 2;
            z /= 2;
        }
        most
    }
}

/// Ways up a tree, short however deep it is: each node knows one further up as well as its parent.
#[derive(Default)]
pub struct Ancestors {
    /// Depth, and the one further up.
    node: Vec<[u32; 2]>,
}

impl Ancestors {
    /// `n` roots.
    pub fn new(n: usize) -> Ancestors {
        Ancestors { node: (0..n as u32).map(|k| [0, k]).collect() }
    }

    /// Gives a root that has no children yet a parent.
    pub fn hang(&mut self, node: u32, parent: u32) {
        let [depth, jump] = self.node[parent as usize];
        let [middle, far] = self.node[jump as usize];
        let even = depth - middle == middle - self.node[far as usize][0];
        self.node[node as usize] = [depth + 1, if even { far } else { parent }];
    }

    /// An ancestor, not always the next; itself of a root.
    pub fn jump(&self, node: u32) -> u32 {
        self.node[node as usize][1]
    }

    /// `a` is `b` or above it.
    pub fn is_above(&self, parent: &[u32], a: u32, mut b: u32) -> bool {
        let [depth, _] = self.node[a as usize];
        while self.node[b as usize][0] > depth {
            let far = self.node[b as usize][1];
            b = if self.node[far as usize][0] >= depth { far } else { parent[b as usize] };
        }
        a == b
    }

    /// The nearest that is above both or one of them. They have one root; `parent`: what nodes were hung from.
    pub fn common(&self, parent: &[u32], mut a: u32, mut b: u32) -> u32 {
        while a != b {
            let ([deep, far], [other, further]) = (self.node[a as usize], self.node[b as usize]);
            let up = |from: u32, far: u32, least: u32| {
                if self.node[far as usize][0] >= least { far } else { parent[from as usize] }
            };
            if deep > other {
                a = up(a, far, other);
            } else if deep < other {
                b = up(b, further, deep);
            } else if far != further {
                (a, b) = (far, further);
            } else {
                (a, b) = (parent[a as usize], parent[b as usize]);
            }
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Random;

    #[test]
    fn trees_say_what_walks_say() {
        let mut r = Random::new(7);
        let mut next = || r.u32() >> 16;
        for n in [1usize, 2, 3, 7, 8, 33, 100] {
            let mut tree = MinTree::new(n);
            let mut list = vec![u32::MAX; n];
            for _ in 0..200 {
                let (i, x) = (next() as usize % n, next() % 50);
                list[i] = list[i].min(x);
                tree.lower(i, x);
                assert_eq!(tree.get(i), list[i]);
                let (from, most) = (next() as usize % (n + 2), next() % 50);
                assert_eq!(tree.first(from, most), (from..n).find(|k| list[*k] <= most));
            }
            let mut up = Ancestors::new(n);
            let parent: Vec<u32> = (0..n as u32).map(|k| next() % k.max(1)).collect();
            (1..n as u32).for_each(|k| up.hang(k, parent[k as usize]));
            for _ in 0..200 {
                let (a, b) = (next() % n as u32, next() % n as u32);
                let (mut x, mut y) = (a, b);
                while x != y {
                    *if x > y { &mut x } else { &mut y } = parent[x.max(y) as usize];
                }
                assert_eq!(up.common(&parent, a, b), x);
                assert_eq!(up.is_above(&parent, a, b), x == a);
            }
            let list: Vec<u32> = (0..n).map(|_| next()).collect();
            let tree = MaxTree::new(list.iter().copied());
            for _ in 0..200 {
                let (a, z) = (next() as usize % (n + 1), next() as usize % (n + 1));
                let most = list.get(a..z).unwrap_or(&[]).iter().copied().max().unwrap_or(0);
                assert_eq!(tree.max(a, z), most);
            }
        }
    }
}
