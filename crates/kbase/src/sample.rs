//! How a sample lies in memory: metadata items, then the values of each block.

use crate::abi::{
    BlockMetadata, ClockMetadata, Header, ITEM_NONE, MAX_REPORTED_DOMAINS, METADATA_BLOCK, METADATA_CLOCK,
    METADATA_ITEM, METADATA_SAMPLE, SET_PRIMARY, STATE_ON_AVAILABLE_NORMAL, SampleMetadata,
};
use crate::source::Reading;
use counters::{Block, Model};

/// Values of a block; the first four are the hardware's header, which is left 0.
pub const VALUES: usize = 128;
const VALUES_BYTES: usize = VALUES * 8;
/// Clock domains: the top and the shader cores, which are one in the model.
pub const DOMAINS: u32 = 2;
/// Bits of the masks in which cores and slices are named.
const MOST: u64 = 64;

/// The blocks of the GPU, by their numbers in the interface.
pub const BLOCKS: [Block; 4] = [Block::GpuFrontend, Block::Tiler, Block::MemorySystem, Block::ShaderCore];

/// How often each kind of block is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub cores: u16,
    pub slices: u16,
}

impl Shape {
    pub fn of(model: &Model) -> Shape {
        Shape { cores: model.cores.min(MOST) as u16, slices: model.memory.l2_slices.min(MOST) as u16 }
    }

    pub fn instances(&self, block: usize) -> u16 {
        match BLOCKS[block] {
            Block::MemorySystem => self.slices,
            Block::ShaderCore => self.cores,
            _ => 1,
        }
    }
}

/// Which of the catalogue's counters of a block have values.
pub fn counter_mask(block: usize) -> [u64; 2] {
    let mut mask = [0; 2];
    for c in counters::catalogue::reported() {
        if let (true, Some(i)) = (c.is_hardware() && c.block == BLOCKS[block], c.index) {
            mask[i as usize / 64] |= 1 << (i % 64);
        }
    }
    mask
}

/// What a sample says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub start: u64,
    pub stop: u64,
    pub sequence: u64,
    pub user_data: u64,
}

/// A session's samples: the blocks that were asked for, with the counters of each.
#[derive(Clone, Debug)]
pub struct Layout {
    shape: Shape,
    masks: [Option<[u64; 2]>; 4],
}

impl Layout {
    pub fn new(shape: Shape, masks: [Option<[u64; 2]>; 4]) -> Layout {
        Layout { shape, masks }
    }

    /// Blocks and their instances, in the order of the metadata.
    fn blocks(&self) -> impl Iterator<Item = (usize, u16)> {
        let asked = (0..BLOCKS.len()).filter(|&b| self.masks[b].is_some());
        asked.flat_map(|b| (0..self.shape.instances(b)).map(move |i| (b, i)))
    }

    /// Items of a sample itself, its clocks, its blocks, and the one that ends them.
    fn metadata_bytes(&self) -> usize {
        (self.blocks().count() + 3) * METADATA_ITEM
    }

    pub fn bytes(&self) -> usize {
        self.metadata_bytes() + self.blocks().count() * VALUES_BYTES
    }

    /// A sample that begins at `at` in the mapping.
    pub fn write(&self, at: usize, head: &Head, readings: &[Reading]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.bytes());
        bytes.extend(bytemuck::bytes_of(&SampleMetadata {
            header: Header::of(METADATA_SAMPLE),
            timestamp_start: head.start,
            timestamp_stop: head.stop,
            seq: head.sequence,
            user_data: head.user_data,
            ..Default::default()
        }));
        let mut cycles = [0; MAX_REPORTED_DOMAINS];
        cycles[..DOMAINS as usize].fill(active_cycles(readings));
        bytes.extend(bytemuck::bytes_of(&ClockMetadata {
            header: Header::of(METADATA_CLOCK),
            num_domains: DOMAINS,
            cycles,
            ..Default::default()
        }));
        for (n, (block, instance)) in self.blocks().enumerate() {
            bytes.extend(bytemuck::bytes_of(&BlockMetadata {
                header: Header::of(METADATA_BLOCK),
                block_type: block as u8,
                block_idx: instance as u8,
                set: SET_PRIMARY,
                block_state: STATE_ON_AVAILABLE_NORMAL,
                values_offset: (at + self.metadata_bytes() + n * VALUES_BYTES) as u32,
                ..Default::default()
            }));
        }
        bytes.extend(bytemuck::bytes_of(&SampleMetadata {
            header: Header::of(ITEM_NONE),
            ..Default::default()
        }));
        for (block, instance) in self.blocks() {
            for value in self.values(block, instance, readings) {
                bytes.extend(value.to_le_bytes());
            }
        }
        bytes
    }

    /// A block's values. The model counts all cores (and slices) together; each gets the same share and the first ones
    /// what is left over, so that the sum, which is what readers make of it, is the model's number.
    fn values(&self, block: usize, instance: u16, readings: &[Reading]) -> [u64; VALUES] {
        let mut values = [0; VALUES];
        let mask = self.masks[block].unwrap_or_default();
        let (instance, instances) = (u64::from(instance), u64::from(self.shape.instances(block)));
        for r in readings.iter().filter(|r| r.block == BLOCKS[block]) {
            let i = r.index as usize;
            if i < VALUES && mask[i / 64] >> (i % 64) & 1 == 1 {
                let whole = r.value / r.scale;
                values[i] = whole / instances + u64::from(instance < whole % instances);
            }
        }
        values
    }
}

/// Cycles that the sample stands for: those with anything on the GPU, for the model's clock stands still otherwise.
fn active_cycles(readings: &[Reading]) -> u64 {
    let active = counters::catalogue::by_machine("MaliGPUActiveCy");
    let found =
        readings.iter().find(|r| active.is_some_and(|c| (c.block, c.index) == (r.block, Some(r.index))));
    found.map_or(0, |r| r.value)
}
