//! The catalogue as the extension has it: groups are its blocks, counters have a type, values its size.

use crate::gl;
use channel::{Channel, Counter, Value};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// How many counters of one group a session can have. Smaller blocks are sampled whole.
pub const MAX_ACTIVE: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    UnsignedInt,
    UnsignedInt64,
    Float,
    Percentage,
}

impl Type {
    fn of(counter: &Counter) -> Type {
        match (counter.unit, counter.float) {
            ("percent", _) => Type::Percentage,
            (_, true) => Type::Float,
            // What nobody has four thousand millions of.
            ("jobs" | "tasks" | "instances" | "bits", false) => Type::UnsignedInt,
            _ => Type::UnsignedInt64,
        }
    }

    pub fn token(self) -> gl::Enum {
        match self {
            Type::UnsignedInt => gl::UNSIGNED_INT,
            Type::UnsignedInt64 => gl::UNSIGNED_INT64_AMD,
            Type::Float => gl::FLOAT,
            Type::Percentage => gl::PERCENTAGE_AMD,
        }
    }

    pub fn size(self) -> usize {
        if self == Type::UnsignedInt64 { 8 } else { 4 }
    }

    /// Minimum and maximum, in the counter's type.
    pub fn range(self) -> Vec<u8> {
        match self {
            Type::UnsignedInt => [0, u32::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect(),
            Type::UnsignedInt64 => [0, u64::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect(),
            // What is left of one count by another can be below 0.
            Type::Float => [f32::MIN, f32::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect(),
            Type::Percentage => [0.0f32, 100.0].iter().flat_map(|v| v.to_ne_bytes()).collect(),
        }
    }

    /// A value as results have it; what is beyond the range is its end.
    pub fn bytes(self, value: Value) -> Vec<u8> {
        let (whole, float) = match value {
            Value::Uint64(u) => (u, u as f64),
            Value::Float64(f) => (f as u64, f),
        };
        match self {
            Type::UnsignedInt => u32::try_from(whole).unwrap_or(u32::MAX).to_ne_bytes().to_vec(),
            Type::UnsignedInt64 => whole.to_ne_bytes().to_vec(),
            Type::Float => (float as f32).to_ne_bytes().to_vec(),
            Type::Percentage => (float as f32).clamp(0.0, 100.0).to_ne_bytes().to_vec(),
        }
    }
}

pub struct Member {
    /// The catalogue's id.
    pub id: u32,
    pub name: &'static str,
    pub ty: Type,
    /// Its place among the values that the channel evaluates.
    pub place: usize,
}

/// A block of the catalogue; its id is its place.
pub struct Group {
    pub name: &'static str,
    pub members: Vec<Member>,
}

impl Group {
    pub fn max_active(&self) -> usize {
        self.members.len().min(MAX_ACTIVE)
    }
    pub fn member(&self, id: u32) -> Option<&Member> {
        self.members.iter().find(|m| m.id == id)
    }
}

/// What the driver that is loaded counts; `None` while it is not Tuff.
pub struct Groups {
    pub channel: Channel,
    pub all: Vec<Group>,
}

impl Groups {
    pub fn get() -> Option<&'static Groups> {
        static GROUPS: OnceLock<Groups> = OnceLock::new();
        if GROUPS.get().is_none() {
            let channel = Channel::find()?;
            GROUPS.get_or_init(|| Groups { channel, all: Groups::read(&channel) });
        }
        GROUPS.get()
    }

    fn read(channel: &Channel) -> Vec<Group> {
        let mut all: Vec<Group> = vec![];
        let mut places = BTreeMap::new();
        for (place, counter) in channel.counters().iter().enumerate() {
            let at = *places.entry(counter.block).or_insert_with(|| {
                all.push(Group { name: counter.block, members: vec![] });
                all.len() - 1
            });
            all[at].members.push(Member { id: counter.id, name: counter.name, ty: Type::of(counter), place });
        }
        all
    }

    pub fn group(&self, id: u32) -> Option<&Group> {
        self.all.get(id as usize)
    }

    pub fn member(&self, group: u32, counter: u32) -> Option<&Member> {
        self.group(group)?.member(counter)
    }
}
