//! What a sanitised program did wrong, as the driver writes it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What kind of fault it is. The names are what `--only` and suppressions take.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two accesses to the same byte, at least one of which writes, that nothing orders.
    DataRace,
    /// An access past the end of a buffer, or of the workgroup's memory.
    OutOfBounds,
    /// An access through a descriptor that names nothing.
    NullDescriptor,
    /// A value that nothing has written decides something.
    Uninitialized,
    /// A result that SPIR-V leaves undefined, or that is not finite, is stored.
    Arithmetic,
    /// Not all invocations that have to are at a barrier, or at what takes values of others, together.
    Divergence,
    /// A loop that never ends, or a shader that did not end in time.
    EndlessLoop,
    /// A store that is replaced before anything reads it. Advice.
    DeadStore,
    /// A binding of a pipeline's layout that its shader does not use. Advice.
    UnusedBinding,
    /// Accesses of two commands to the same bytes, at least one of which writes, that nothing orders.
    Hazard,
    /// A read of what a render pass did not store, or a load of what nothing has stored.
    DiscardedRead,
    /// A shader accesses an attachment of its own pass, without declaring that.
    FeedbackLoop,
    /// An access to protected memory in an unprotected submission, or a write of unprotected memory in a protected one.
    Protection,
    /// Advice: memory traffic of a render pass that nothing needs.
    NeedlessTraffic,
}

impl Kind {
    pub const ALL: [Kind; 14] = [
        Kind::DataRace,
        Kind::OutOfBounds,
        Kind::NullDescriptor,
        Kind::Uninitialized,
        Kind::Arithmetic,
        Kind::Divergence,
        Kind::EndlessLoop,
        Kind::DeadStore,
        Kind::UnusedBinding,
        Kind::Hazard,
        Kind::DiscardedRead,
        Kind::FeedbackLoop,
        Kind::Protection,
        Kind::NeedlessTraffic,
    ];

    /// It is no fault, and reported only where it is asked for.
    pub fn is_advice(self) -> bool {
        matches!(self, Kind::DeadStore | Kind::UnusedBinding | Kind::NeedlessTraffic)
    }

    /// As files and options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::DataRace => "data-race",
            Kind::OutOfBounds => "out-of-bounds",
            Kind::NullDescriptor => "null-descriptor",
            Kind::Uninitialized => "uninitialized",
            Kind::Arithmetic => "arithmetic",
            Kind::Divergence => "divergence",
            Kind::EndlessLoop => "endless-loop",
            Kind::DeadStore => "dead-store",
            Kind::UnusedBinding => "unused-binding",
            Kind::Hazard => "hazard",
            Kind::DiscardedRead => "discarded-read",
            Kind::FeedbackLoop => "feedback-loop",
            Kind::Protection => "protection",
            Kind::NeedlessTraffic => "needless-traffic",
        }
    }
}

/// A place in a shader.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Location {
    /// What happens there: `read`, `write`, `atomic`, or a result.
    pub what: String,
    /// Source file and line; empty and 0 if the module has no line information.
    pub file: String,
    pub line: u32,
    /// Result ids of the OpFunction and of the block's OpLabel.
    pub function: u32,
    pub block: u32,
}

/// Which memory an access goes to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// By descriptor.
    Buffer,
    /// By device address.
    Address,
    /// The workgroup's memory.
    Shared,
    /// A texel of an image or of a texel buffer.
    Texel,
    /// None: it is about a value.
    Value,
    /// A buffer or an image that commands access.
    Resource,
}

/// One of two commands.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Side {
    /// With the labels around it.
    pub command: String,
    /// What of it accesses: its pipeline, or a part of a render pass.
    pub part: String,
    /// As the specification spells stage and access.
    pub stage: String,
    pub access: String,
}

/// Two commands, or what one of them does to tiles.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Between {
    pub earlier: Option<Side>,
    pub later: Side,
    /// The name of the buffer; or of the image, with its level, layer and texel.
    pub resource: String,
}

/// The memory of a finding's first occurrence.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Memory {
    pub space: Space,
    /// Descriptor set and binding, of a buffer that has them.
    pub binding: Option<(u32, u32)>,
    /// Byte offset in the buffer or in the workgroup's memory; the device address if it is by address.
    pub offset: u64,
    /// Bytes accessed.
    pub bytes: u32,
    /// Bytes that the buffer or the workgroup's memory has, if that is known.
    pub size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texel: Option<Texel>,
}

/// A texel that is accessed: coordinates, and how many there are along each.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Texel {
    pub at: Vec<i64>,
    pub of: Vec<u32>,
}

/// A fault of the program, with how often it occurred.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub kind: Kind,
    /// One sentence without the places.
    pub message: String,
    /// The pipeline's name and its shaders' entry points.
    pub pipeline: String,
    pub stage: String,
    /// The command of the first occurrence, with the labels around it.
    pub command: String,
    pub here: Location,
    /// The other access, of a race; where the value comes from, of others.
    pub there: Option<Location>,
    /// Workgroup and invocation in it of the first occurrence, here and there.
    pub invocations: Vec<[u32; 2]>,
    pub memory: Memory,
    /// Of a finding about commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Between>,
    pub count: u64,
}

/// What makes two findings the same.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    kind: Kind,
    message: String,
    pipeline: String,
    stage: String,
    here: Location,
    there: Option<Location>,
    binding: Option<(u32, u32)>,
    between: Option<Between>,
}

/// Findings, equal ones folded, in the order of their first occurrence.
#[derive(Default)]
pub struct Findings {
    all: Vec<Finding>,
    index: HashMap<Key, usize>,
}

/// Different findings that are kept; further ones are only counted.
const MAX_FINDINGS: usize = 10_000;

impl Findings {
    pub fn add(&mut self, found: Finding) {
        let key = Key {
            kind: found.kind,
            message: found.message.clone(),
            pipeline: found.pipeline.clone(),
            stage: found.stage.clone(),
            here: found.here.clone(),
            there: found.there.clone(),
            binding: found.memory.binding,
            between: found.between.clone(),
        };
        let next = self.all.len();
        match self.index.get(&key) {
            // How long it ran says nothing.
            Some(_) if found.kind == Kind::EndlessLoop => {}
            Some(&i) => self.all[i].count += found.count,
            None if next < MAX_FINDINGS => {
                self.index.insert(key, next);
                self.all.push(found);
            }
            None => {}
        }
    }
    pub fn all(&self) -> &[Finding] {
        &self.all
    }
}

/// Of [`File`].
pub const FILE_VERSION: u32 = 1;

/// The file that the driver writes, one a process.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct File {
    pub version: u32,
    pub process: String,
    pub findings: Vec<Finding>,
    /// Shader invocations' accesses that were checked.
    pub accesses: u64,
    /// Dispatches that were too large to be followed to their end.
    pub unfollowed: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_findings_are_counted_once() {
        let one = |line| Finding {
            kind: Kind::DataRace,
            message: "m".into(),
            pipeline: "p".into(),
            stage: "compute".into(),
            command: "c".into(),
            here: Location { line, ..Location::default() },
            there: None,
            invocations: vec![[line, 0]],
            memory: Memory {
                space: Space::Shared,
                binding: None,
                offset: 0,
                bytes: 4,
                size: None,
                texel: None,
            },
            between: None,
            count: 1,
        };
        let mut all = Findings::default();
        [1, 2, 1, 1].into_iter().for_each(|l| all.add(one(l)));
        let counts: Vec<(u32, u64)> = all.all().iter().map(|f| (f.here.line, f.count)).collect();
        assert_eq!(counts, [(1, 3), (2, 1)]);
    }
}
