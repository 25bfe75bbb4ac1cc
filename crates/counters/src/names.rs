//! Numbers by name: an enum says what is counted, [`By`] holds a number for each of its values and is summed as a whole.

use std::fmt::{Debug, Formatter, Result};
use std::marker::PhantomData;
use std::ops::{AddAssign, Index, IndexMut};

/// The place of a number in a [`By`] of `K`.
pub trait At<K> {
    fn at(self) -> usize;
}

/// `N` numbers by name.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct By<K, const N: usize>(pub [u64; N], PhantomData<K>);

impl<K, const N: usize> By<K, N> {
    /// How many numbers.
    pub const LEN: usize = N;

    pub const fn new(numbers: [u64; N]) -> Self {
        By(numbers, PhantomData)
    }
    /// What has been counted since `began`.
    pub fn since(&self, began: &Self) -> Self {
        By::new(std::array::from_fn(|i| self.0[i].wrapping_sub(began.0[i])))
    }
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&v| v == 0)
    }
}

/// Wraps around, as the difference of two sums does.
#[inline]
pub(crate) fn add(to: &mut [u64], more: &[u64]) {
    to.iter_mut().zip(more).for_each(|(a, b)| *a = a.wrapping_add(*b));
}

impl<K, const N: usize> AddAssign<&By<K, N>> for By<K, N> {
    #[inline]
    fn add_assign(&mut self, more: &By<K, N>) {
        add(&mut self.0, &more.0);
    }
}
impl<K, const N: usize> Default for By<K, N> {
    fn default() -> Self {
        By::new([0; N])
    }
}
impl<K, I: At<K>, const N: usize> Index<I> for By<K, N> {
    type Output = u64;
    #[inline(always)]
    fn index(&self, i: I) -> &u64 {
        &self.0[i.at()]
    }
}
impl<K, I: At<K>, const N: usize> IndexMut<I> for By<K, N> {
    #[inline(always)]
    fn index_mut(&mut self, i: I) -> &mut u64 {
        &mut self.0[i.at()]
    }
}

/// Names that a `By` is shown with.
pub trait Named {
    fn name(place: usize) -> String;
}

/// Only what is not zero, by name.
impl<K: Named, const N: usize> Debug for By<K, N> {
    fn fmt(&self, f: &mut Formatter) -> Result {
        let some = self.0.iter().enumerate().filter(|n| *n.1 != 0);
        f.debug_map().entries(some.map(|(i, n)| (K::name(i), n))).finish()
    }
}

/// An enum of what is counted, each with a text that says exactly what, in which unit.
#[macro_export]
macro_rules! names {
    ($(#[$of:meta])* $vis:vis $enum:ident { $($(#[doc = $doc:literal])+ $name:ident,)+ }) => {
        $(#[$of])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[repr(usize)]
        $vis enum $enum { $($(#[doc = $doc])+ $name,)+ }

        #[allow(dead_code, reason = "not every enum's texts are read")]
        impl $enum {
            pub const ALL: &[$enum] = &[$($enum::$name,)+];
            pub const COUNT: usize = $enum::ALL.len();
            pub fn name(self) -> &'static str {
                match self { $($enum::$name => stringify!($name),)+ }
            }
            pub fn doc(self) -> &'static str {
                match self { $($enum::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
            pub fn from_name(name: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|e| e.name() == name)
            }
        }
        impl $crate::names::At<$enum> for $enum {
            #[inline(always)]
            fn at(self) -> usize {
                self as usize
            }
        }
        impl $crate::names::Named for $enum {
            fn name(place: usize) -> String {
                $enum::ALL[place].name().into()
            }
        }
    };
}
