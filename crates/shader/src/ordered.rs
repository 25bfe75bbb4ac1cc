//! A map in order that is quick while it is small, as most are.

use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Keys of a list at most; more go into a tree.
const FEW: usize = 32;

/// Counts by key.
#[expect(clippy::box_collection, reason = "one word, for few have a tree")]
pub struct Ordered<K, const N: usize> {
    /// Ascending; empty once there is a tree.
    few: SmallVec<[(K, [u32; N]); 2]>,
    many: Option<Box<BTreeMap<K, [u32; N]>>>,
}

impl<K, const N: usize> Default for Ordered<K, N> {
    fn default() -> Ordered<K, N> {
        Ordered { few: SmallVec::new(), many: None }
    }
}

impl<K: Ord + Copy, const N: usize> Ordered<K, N> {
    fn tree(&self) -> impl Iterator<Item = &BTreeMap<K, [u32; N]>> {
        self.many.iter().map(|m| &**m)
    }

    pub fn len(&self) -> usize {
        self.few.len() + self.many.as_ref().map_or(0, |m| m.len())
    }

    pub fn add(&mut self, k: K, counts: [u32; N]) {
        let sum = |to: &mut [u32; N]| to.iter_mut().zip(counts).for_each(|(to, n)| *to += n);
        if let Some(many) = &mut self.many {
            return sum(many.entry(k).or_insert([0; N]));
        }
        // Mostly in order.
        let at = match self.few.last() {
            Some(last) if last.0 >= k => self.few.partition_point(|x| x.0 < k),
            _ => self.few.len(),
        };
        match self.few.get_mut(at) {
            Some(x) if x.0 == k => sum(&mut x.1),
            _ => self.few.insert(at, (k, counts)),
        }
        if self.few.len() > FEW {
            self.many = Some(Box::new(std::mem::take(&mut self.few).into_iter().collect()));
        }
    }

    pub fn take(&mut self, other: Ordered<K, N>) {
        let many = other.many.into_iter().flat_map(|m| *m);
        other.few.into_iter().chain(many).for_each(|(k, counts)| self.add(k, counts));
    }

    pub fn get(&self, k: K) -> [u32; N] {
        let few = self.few.binary_search_by_key(&k, |x| x.0).ok().map(|i| self.few[i].1);
        few.or_else(|| self.many.as_ref()?.get(&k).copied()).unwrap_or([0; N])
    }

    /// One less of the first count; the key goes with the last.
    pub fn remove_one(&mut self, k: K) {
        if let Ok(i) = self.few.binary_search_by_key(&k, |x| x.0) {
            self.few[i].1[0] -= 1;
            if self.few[i].1[0] == 0 {
                self.few.remove(i);
            }
        } else if let Some(many) = &mut self.many
            && let Some(x) = many.get_mut(&k)
        {
            x[0] -= 1;
            if x[0] == 0 {
                many.remove(&k);
            }
        }
    }

    pub fn first(&self) -> Option<K> {
        self.few.first().map(|x| x.0).or_else(|| self.tree().find_map(|m| Some(*m.first_key_value()?.0)))
    }

    /// The first key that is `k` or greater.
    pub fn from(&self, k: K) -> Option<K> {
        let few = self.few.get(self.few.partition_point(|x| x.0 < k)).map(|x| x.0);
        few.or_else(|| self.tree().find_map(|m| Some(*m.range(k..).next()?.0)))
    }

    /// Keys less than `k`, the greatest first, with their first counts.
    pub fn before(&self, k: K) -> impl Iterator<Item = (K, u32)> {
        let few = self.few[..self.few.partition_point(|x| x.0 < k)].iter().rev().map(|x| (x.0, x.1[0]));
        few.chain(self.tree().flat_map(move |m| m.range(..k).rev().map(|x| (*x.0, x.1[0]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_are_alike() {
        for n in [5u32, 31, 33, 300] {
            let (mut ordered, mut plain) = (Ordered::default(), BTreeMap::<u32, [u32; 2]>::new());
            for i in 0..n {
                let k = i * 7919 % 211;
                ordered.add(k, [1, i % 2]);
                let x = plain.entry(k).or_default();
                *x = [x[0] + 1, x[1] + i % 2];
            }
            for k in (0..n).step_by(3) {
                ordered.remove_one(k);
                if let Some(x) = plain.get_mut(&k) {
                    x[0] -= 1;
                }
                plain.retain(|_, x| x[0] != 0);
            }
            assert_eq!(ordered.len(), plain.len());
            assert_eq!(ordered.first(), plain.keys().next().copied());
            for k in 0..212 {
                assert_eq!(ordered.get(k), plain.get(&k).copied().unwrap_or_default());
                assert_eq!(ordered.from(k), plain.range(k..).next().map(|x| *x.0));
                let before: Vec<_> = plain.range(..k).rev().map(|x| (*x.0, x.1[0])).collect();
                assert_eq!(ordered.before(k).collect::<Vec<_>>(), before);
            }
        }
    }
}
