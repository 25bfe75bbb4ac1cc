//! A data graph in a pipeline cache: its plan, and what it was made of. The cache's data have the latter (the module, specialisation, the
//! resources' shapes, and the constants as they were given, not as they were converted or packed), from which another process makes the
//! same again when it asks for the graph, by the module or by the identifier alone.

use crate::base::signed::Body;
use crate::device::code::Code;
use crate::pipeline::pipeline_data_graph::{Described, Given, Source};
use crate::pipeline::shader_module;
use graph::{Plan, Port};
use std::sync::{Arc, OnceLock};

pub(crate) struct Stored {
    source: Source,
    code: Arc<Code>,
    plan: OnceLock<Option<Arc<Plan>>>,
}

/// Where a program's entry has the length of its name: no name is so long.
const MARK: u32 = u32::MAX;

fn put_list(to: &mut Vec<u8>, list: &[u32]) {
    put(to, list.len() as u32);
    list.iter().for_each(|w| put(to, *w));
}

fn put(to: &mut Vec<u8>, word: u32) {
    to.extend_from_slice(&word.to_le_bytes());
}

/// Bytes that are read in order.
struct Reader<'a>(Body<'a>);

impl<'a> Reader<'a> {
    fn word(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*word))
    }
    fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.word()? as usize;
        let (bytes, rest) = self.0.split(n)?;
        self.0 = rest;
        Some(bytes)
    }
    fn list(&mut self) -> Option<Vec<u32>> {
        let n = self.word()? as usize;
        let (bytes, rest) = self.0.split(n.checked_mul(4)?)?;
        self.0 = rest;
        Some(bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect())
    }
}

impl Stored {
    pub(super) fn new(source: Source, code: Arc<Code>, plan: Arc<Plan>) -> Stored {
        Stored { source, code, plan: OnceLock::from(Some(plan)) }
    }

    /// None: data that mean nothing.
    pub(super) fn plan(&self) -> Option<Arc<Plan>> {
        let made = || Some(Arc::new(self.source.translate(&self.code.module).ok()?));
        self.plan.get_or_init(made).clone()
    }

    /// Its entry in a cache's data.
    pub(super) fn entry(&self, key: u128) -> Vec<u8> {
        let s = &self.source;
        let mut to = key.to_le_bytes().to_vec();
        put(&mut to, MARK);
        put(&mut to, s.entry.len() as u32);
        to.extend_from_slice(s.entry.as_bytes());
        let spec = s.spec.iter().flat_map(|(id, x)| [*id, *x as u32, (*x >> 32) as u32]);
        put_list(&mut to, &spec.collect::<Vec<_>>());
        put(&mut to, s.resources.len() as u32);
        for (p, d) in &s.resources {
            [p.set, p.binding, p.element, d.format as u32].into_iter().for_each(|w| put(&mut to, w));
            put_list(&mut to, &d.dimensions);
        }
        put(&mut to, s.constants.len() as u32);
        for c in &s.constants {
            put(&mut to, c.id);
            put_list(&mut to, &c.tensor.dimensions);
            // A tensor has at most 2^31 bytes.
            put(&mut to, c.elements.len() as u32);
            to.extend_from_slice(&c.elements);
        }
        put_list(&mut to, self.code.module.words());
        to
    }

    /// The graph of the entry at the beginning of a body, and the rest of the body.
    pub(super) fn read(b: Body) -> Option<(u128, Stored, Body)> {
        let (key, b) = b.split_chunk::<16>()?;
        let mut r = Reader(b);
        if r.word()? != MARK {
            return None;
        }
        let entry = std::str::from_utf8(r.bytes()?).ok()?.to_string();
        let spec = r.list()?;
        let spec =
            spec.as_chunks::<3>().0.iter().map(|[id, low, high]| (*id, *low as u64 | (*high as u64) << 32));
        let spec = spec.collect();
        let (mut resources, mut constants) = (vec![], vec![]);
        for _ in 0..r.word()? {
            let port = Port { set: r.word()?, binding: r.word()?, element: r.word()? };
            let format = r.word()? as i32;
            resources.push((port, Described::of(format, r.list()?)));
        }
        for _ in 0..r.word()? {
            let id = r.word()?;
            let tensor = Described::of(0, r.list()?);
            constants.push(Given { id, tensor, elements: r.bytes()?.into() });
        }
        let code = shader_module::of_words(&r.list()?, "a data graph of a cache").ok()?;
        let source = Source { entry, spec, resources, constants };
        Some((u128::from_le_bytes(*key), Stored { source, code, plan: OnceLock::new() }, r.0))
    }
}
