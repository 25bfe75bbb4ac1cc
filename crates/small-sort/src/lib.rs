//! Sorting for lists that are short, or that nobody waits for. One routine serves all types, so that a sort costs some hundred bytes of
//! code. Each of the standard library's costs five thousand for each type and key; they are for long lists on hot paths.

use std::cmp::Ordering;

/// Up to so many elements the order is found without an allocation.
const SHORT: usize = 16;

/// Stable sorts of slices.
pub trait SmallSort<T> {
    fn small_sort(&mut self)
    where
        T: Ord;
    fn small_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K);
}

impl<T> SmallSort<T> for [T] {
    fn small_sort(&mut self)
    where
        T: Ord,
    {
        sort(self, T::cmp);
    }

    fn small_sort_by_key<K: Ord>(&mut self, key: impl Fn(&T) -> K) {
        sort(self, |a, b| key(a).cmp(&key(b)));
    }
}

#[inline]
fn sort<T>(list: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    let n = list.len();
    let mut short = [0; SHORT];
    let mut long = vec![];
    let order = if n <= SHORT {
        &mut short[..n]
    } else {
        long.resize(n, 0);
        &mut long[..]
    };
    find(order, &|a, b| compare(&list[a as usize], &list[b as usize]));
    take(order, &mut |a, b| list.swap(a, b));
}

/// Where each place's element comes from. `compare`: the elements at two places.
#[inline(never)]
fn find(order: &mut [u32], compare: &dyn Fn(u32, u32) -> Ordering) {
    order.iter_mut().enumerate().for_each(|(i, o)| *o = i as u32);
    if order.len() > SHORT {
        order.sort_unstable_by(|&a, &b| compare(a, b).then(a.cmp(&b)));
        return;
    }
    for i in 1..order.len() {
        let moved = order[i];
        let mut at = i;
        while at > 0 && compare(order[at - 1], moved).is_gt() {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = moved;
    }
}

/// Brings each place its element, circle by circle.
#[inline(never)]
fn take(order: &mut [u32], swap: &mut dyn FnMut(usize, usize)) {
    for first in 0..order.len() {
        let mut at = first;
        loop {
            let from = std::mem::replace(&mut order[at], at as u32) as usize;
            if from == first || from == at {
                break;
            }
            swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without a pattern, few of them different.
    fn numbers(n: usize) -> Vec<(u32, usize)> {
        let mut state = 1u32;
        let mut next = || {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            state >> 20
        };
        (0..n).map(|i| (next() % (n as u32 / 2 + 1), i)).collect()
    }

    #[test]
    fn orders_are_those_of_the_standard_library() {
        for n in (0..40).chain([100, 1000]) {
            let mut want = numbers(n);
            let mut by_key = want.clone();
            let mut whole: Vec<_> = want.iter().map(|(k, i)| (*k, n - i)).collect();
            let mut want_whole = whole.clone();
            by_key.small_sort_by_key(|x| x.0);
            want.sort_by_key(|x| x.0);
            assert_eq!(by_key, want, "{n}: equal keys keep their order");
            whole.small_sort();
            want_whole.sort();
            assert_eq!(whole, want_whole, "{n}");
        }
    }
}
