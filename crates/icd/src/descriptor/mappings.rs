//! VkShaderDescriptorSetAndBindingMappingInfoEXT: where a stage's sets and bindings lie in descriptor heaps.

use crate::base::given::In;
use crate::descriptor::descriptor_heap;
use shader::options::{HeapIndex, HeapPlace, Mapping};
use std::sync::Arc;

/// Mappings of a stage, in the application's order: the first that fits holds.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Mappings(Option<Arc<[Mapped]>>);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Mapped {
    set: u32,
    first: u32,
    count: u32,
    /// Bits of [`shader::options::resource`].
    kinds: u32,
    /// `None`: of ray tracing alone, or unknown.
    to: Option<Mapping>,
}

impl Mappings {
    /// Those of a structure of a chain.
    pub fn of(info: Option<In<vk::ShaderDescriptorSetAndBindingMappingInfoEXT>>) -> Mappings {
        let Some(i) = info else { return Mappings(None) };
        let each = i.mappings().iter().map(|m| Mapped {
            set: m.descriptor_set,
            first: m.first_binding,
            count: m.binding_count,
            kinds: m.resource_mask.as_raw(),
            to: mapping(m),
        });
        Mappings(Some(each.collect()))
    }

    /// The mapping of a binding that is used as one of the kinds, and the first binding of that mapping.
    pub fn find(&self, set: u32, binding: u32, kind: u32) -> Option<(u32, Mapping)> {
        let fits = |m: &&Mapped| {
            m.set == set && binding.checked_sub(m.first).is_some_and(|k| k < m.count) && m.kinds & kind != 0
        };
        let m = self.0.as_ref()?.iter().find(fits)?;
        Some((m.first, m.to?))
    }

    /// Words that [`Mappings::from_words`] makes the same of.
    pub fn words(&self) -> Vec<u32> {
        let all = self.0.iter().flat_map(|a| a.iter());
        all.flat_map(|m| {
            let mut w = [0; WORDS];
            w[..4].copy_from_slice(&[m.set, m.first, m.count, m.kinds]);
            put(&m.to, &mut w[4..]);
            w
        })
        .collect()
    }
    pub fn from_words(words: &[u32]) -> Option<Mappings> {
        if words.is_empty() {
            return Some(Mappings(None));
        }
        let each = words.chunks(WORDS).map(|w| {
            let w: &[u32; WORDS] = w.first_chunk()?;
            Some(Mapped { set: w[0], first: w[1], count: w[2], kinds: w[3], to: take(&w[4..])? })
        });
        Some(Mappings(Some(each.collect::<Option<_>>()?)))
    }
}

fn mapping(m: In<vk::DescriptorSetAndBindingMappingEXT>) -> Option<Mapping> {
    use vk::DescriptorMappingSourceEXT as Source;
    // SAFETY: valid usage: the union has what the source says, its pointers lead to what they are said to.
    unsafe {
        let d = &m.source_data;
        let embedded =
            |s: *const vk::SamplerCreateInfo| s.as_ref().map(|s| descriptor_heap::sampler(In::new(s)));
        let place = |offset, stride, index_stride, index| HeapPlace { offset, stride, index_stride, index };
        Some(match m.source {
            Source::HEAP_WITH_CONSTANT_OFFSET => {
                let c = d.constant_offset;
                Mapping::Descriptor {
                    at: place(c.heap_offset, c.heap_array_stride, 0, HeapIndex::None),
                    sampler: place(c.sampler_heap_offset, c.sampler_heap_array_stride, 0, HeapIndex::None),
                    embedded: embedded(c.p_embedded_sampler),
                    packed: false,
                }
            }
            Source::HEAP_WITH_PUSH_INDEX => {
                let p = d.push_index;
                Mapping::Descriptor {
                    at: place(
                        p.heap_offset,
                        p.heap_array_stride,
                        p.heap_index_stride,
                        HeapIndex::Push(p.push_offset),
                    ),
                    sampler: place(
                        p.sampler_heap_offset,
                        p.sampler_heap_array_stride,
                        p.sampler_heap_index_stride,
                        HeapIndex::Push(p.sampler_push_offset),
                    ),
                    embedded: embedded(p.p_embedded_sampler),
                    packed: p.use_combined_image_sampler_index != vk::FALSE,
                }
            }
            Source::HEAP_WITH_INDIRECT_INDEX => {
                let i = d.indirect_index;
                Mapping::Descriptor {
                    at: place(
                        i.heap_offset,
                        i.heap_array_stride,
                        i.heap_index_stride,
                        HeapIndex::Indirect { push: i.push_offset, offset: i.address_offset },
                    ),
                    sampler: place(
                        i.sampler_heap_offset,
                        i.sampler_heap_array_stride,
                        i.sampler_heap_index_stride,
                        HeapIndex::Indirect { push: i.sampler_push_offset, offset: i.sampler_address_offset },
                    ),
                    embedded: embedded(i.p_embedded_sampler),
                    packed: i.use_combined_image_sampler_index != vk::FALSE,
                }
            }
            Source::HEAP_WITH_INDIRECT_INDEX_ARRAY => {
                let i = d.indirect_index_array;
                let index = |push, offset| HeapIndex::IndirectArray { push, offset };
                Mapping::Descriptor {
                    at: place(i.heap_offset, 0, i.heap_index_stride, index(i.push_offset, i.address_offset)),
                    sampler: place(
                        i.sampler_heap_offset,
                        0,
                        i.sampler_heap_index_stride,
                        index(i.sampler_push_offset, i.sampler_address_offset),
                    ),
                    embedded: embedded(i.p_embedded_sampler),
                    packed: i.use_combined_image_sampler_index != vk::FALSE,
                }
            }
            Source::RESOURCE_HEAP_DATA => {
                let h = d.heap_data;
                Mapping::HeapBytes { offset: h.heap_offset, push: h.push_offset }
            }
            Source::PUSH_DATA => Mapping::PushData(d.push_data_offset),
            Source::PUSH_ADDRESS => Mapping::PushAddress(d.push_address_offset),
            Source::INDIRECT_ADDRESS => {
                let i = d.indirect_address;
                Mapping::IndirectAddress { push: i.push_offset, offset: i.address_offset }
            }
            _ => return None,
        })
    }
}

/// Words of a [`Mapped`].
const WORDS: usize = 4 + 1 + 2 * PLACE + 2 + 8;
const PLACE: usize = 6;

fn put_place(p: &HeapPlace, w: &mut [u32]) {
    let index = match p.index {
        HeapIndex::None => [0, 0, 0],
        HeapIndex::Push(push) => [1, push, 0],
        HeapIndex::Indirect { push, offset } => [2, push, offset],
        HeapIndex::IndirectArray { push, offset } => [3, push, offset],
    };
    w[..3].copy_from_slice(&[p.offset, p.stride, p.index_stride]);
    w[3..PLACE].copy_from_slice(&index);
}

fn take_place(w: &[u32]) -> Option<HeapPlace> {
    let (push, offset) = (w[4], w[5]);
    let index = match w[3] {
        0 => HeapIndex::None,
        1 => HeapIndex::Push(push),
        2 => HeapIndex::Indirect { push, offset },
        3 => HeapIndex::IndirectArray { push, offset },
        _ => return None,
    };
    Some(HeapPlace { offset: w[0], stride: w[1], index_stride: w[2], index })
}

fn put(to: &Option<Mapping>, w: &mut [u32]) {
    let two = |w: &mut [u32], words: [u32; 3]| w[..3].copy_from_slice(&words);
    match to {
        None => {}
        Some(Mapping::Descriptor { at, sampler, embedded, packed }) => {
            w[0] = 1;
            put_place(at, &mut w[1..]);
            put_place(sampler, &mut w[1 + PLACE..]);
            let rest = &mut w[1 + 2 * PLACE..];
            (rest[0], rest[1]) = (*packed as u32, embedded.is_some() as u32);
            for (to, word) in rest[2..].chunks_mut(2).zip(embedded.iter().flatten()) {
                to.copy_from_slice(&[*word as u32, (*word >> 32) as u32]);
            }
        }
        Some(Mapping::HeapBytes { offset, push }) => two(w, [2, *offset, *push]),
        Some(Mapping::PushData(at)) => two(w, [3, *at, 0]),
        Some(Mapping::PushAddress(at)) => two(w, [4, *at, 0]),
        Some(Mapping::IndirectAddress { push, offset }) => two(w, [5, *push, *offset]),
    }
}

fn take(w: &[u32]) -> Option<Option<Mapping>> {
    let (a, b) = (w[1], w[2]);
    Some(match w[0] {
        0 => None,
        1 => {
            let rest = &w[1 + 2 * PLACE..];
            let word = |k: usize| rest[2 + 2 * k] as u64 | (rest[3 + 2 * k] as u64) << 32;
            Some(Mapping::Descriptor {
                at: take_place(&w[1..])?,
                sampler: take_place(&w[1 + PLACE..])?,
                embedded: (rest[1] != 0).then(|| std::array::from_fn(word)),
                packed: rest[0] != 0,
            })
        }
        2 => Some(Mapping::HeapBytes { offset: a, push: b }),
        3 => Some(Mapping::PushData(a)),
        4 => Some(Mapping::PushAddress(a)),
        5 => Some(Mapping::IndirectAddress { push: a, offset: b }),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        let index = [
            HeapIndex::None,
            HeapIndex::Push(4),
            HeapIndex::Indirect { push: 8, offset: 12 },
            HeapIndex::IndirectArray { push: 16, offset: 20 },
        ];
        let place = |k: usize| HeapPlace { offset: 1, stride: 2, index_stride: 3, index: index[k] };
        let mut to: Vec<Option<Mapping>> = (0..4)
            .map(|k| {
                let embedded = (k > 1).then_some([u64::MAX, 2, 3 << 32, k as u64]);
                Some(Mapping::Descriptor { at: place(k), sampler: place(3 - k), embedded, packed: k == 2 })
            })
            .collect();
        to.extend([
            None,
            Some(Mapping::HeapBytes { offset: 5, push: 6 }),
            Some(Mapping::PushData(7)),
            Some(Mapping::PushAddress(8)),
            Some(Mapping::IndirectAddress { push: 9, offset: 10 }),
        ]);
        let each = to.into_iter().zip(0..).map(|(to, k)| Mapped { set: k, first: 2, count: 3, kinds: 4, to });
        let all = Mappings(Some(each.collect()));
        assert!(Mappings::from_words(&all.words()).is_some_and(|a| a == all));
        assert!(Mappings::from_words(&all.words()[1..]).is_none());
        assert_eq!(all.find(6, 4, 5), Some((2, Mapping::PushData(7))));
        for (set, binding, kind) in [(6, 5, 4), (6, 1, 4), (6, 4, 3), (99, 4, 4), (4, 4, 4)] {
            assert_eq!(all.find(set, binding, kind), None, "{set} {binding} {kind}");
        }
    }
}
