//! Barriers that not all invocations of a workgroup reach together (SPIR-V, OpControlBarrier: if any invocation of the scope executes it, all
//! must, in uniform control flow).

use crate::hash::Map;
use small_sort::SmallSort;
use std::collections::VecDeque;

/// How a barrier is not the workgroup's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// Some invocations of a subgroup are not there.
    Some,
    /// Another subgroup is at another barrier: its site.
    Elsewhere(u32),
    /// A subgroup ended without it.
    Missing { group: u32, site: u32 },
}

#[derive(Default)]
struct Group {
    /// Barriers that each subgroup has passed.
    counts: Vec<u32>,
    /// Their sites, from barrier `first` on.
    sites: VecDeque<u32>,
    first: u32,
    /// Something was told of it.
    told: bool,
}

/// The barriers that workgroups of a dispatch passed.
#[derive(Default)]
pub struct Barriers(Map<u32, Group>);

impl Barriers {
    /// A subgroup, of as many as the workgroup has, is at a barrier with these lanes, of those that it has.
    pub fn pass(
        &mut self,
        group: u32,
        [subgroup, subgroups]: [u32; 2],
        site: u32,
        [lanes, all]: [u16; 2],
    ) -> Option<Divergence> {
        let g = self.0.entry(group).or_default();
        g.counts.resize(g.counts.len().max(subgroups.max(subgroup + 1) as usize), 0);
        let count = &mut g.counts[subgroup as usize];
        let at = (*count - g.first) as usize;
        *count += 1;
        let other = g.sites.get(at).copied();
        if other.is_none() {
            g.sites.push_back(site);
        }
        let passed = g.counts.iter().min().copied().unwrap_or(0);
        while g.first < passed && g.sites.pop_front().is_some() {
            g.first += 1;
        }
        let wrong = match other {
            _ if lanes != all => Some(Divergence::Some),
            Some(other) if other != site => Some(Divergence::Elsewhere(other)),
            _ => None,
        };
        g.told |= wrong.is_some();
        wrong
    }

    /// The dispatch has ended: barriers that some subgroups never reached, one a workgroup at most, and none where something was told before.
    pub fn missing(&self) -> Vec<Divergence> {
        let left = self.0.iter().filter(|(_, g)| !g.told);
        let mut all: Vec<(u32, u32)> = left.filter_map(|(&n, g)| Some((n, *g.sites.front()?))).collect();
        all.small_sort();
        all.into_iter().map(|(group, site)| Divergence::Missing { group, site }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [u16; 2] = [0xFFFF; 2];

    #[test]
    fn all_subgroups_pass_the_same_barriers() {
        let mut b = Barriers::default();
        for site in [7, 8, 7] {
            for s in 0..2 {
                assert_eq!(b.pass(3, [s, 2], site, ALL), None);
            }
        }
        assert_eq!(b.missing(), []);
        assert!(b.0[&3].sites.is_empty(), "what all have passed is forgotten");
    }

    #[test]
    fn what_differs_is_told() {
        let mut b = Barriers::default();
        assert_eq!(b.pass(0, [0, 1], 5, [0x00FF, 0xFFFF]), Some(Divergence::Some));
        assert_eq!(b.pass(0, [0, 1], 5, [0x00FF, 0x00FF]), None, "a subgroup that is no larger");
        assert_eq!(b.pass(1, [0, 2], 5, ALL), None);
        assert_eq!(b.pass(1, [1, 2], 6, ALL), Some(Divergence::Elsewhere(5)));
        for _ in 0..2 {
            assert_eq!(b.pass(2, [1, 2], 9, ALL), None);
        }
        assert_eq!(b.pass(2, [0, 2], 9, ALL), None);
        assert_eq!(b.missing(), [Divergence::Missing { group: 2, site: 9 }]);
    }
}
