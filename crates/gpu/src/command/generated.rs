//! Commands that the GPU makes of what it finds in memory (VK_EXT_device_generated_commands): for each sequence its tokens
//! are read when the command runs, and its draw or dispatch is that of a plain command. Whatever stands in memory is
//! checked: an address outside live memory loses the device, as one in a shader does.

use super::Dispatch;
use ash::vk;
use raster::draw::{Call, Draw, IndexBuffer, VertexBuffer, What};
use std::sync::Arc;
use texel::buffer::Buffer;
use texel::memory::AddressSpace;

/// What a token takes from the sequence, and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// So many indices into the execution set.
    Set {
        indices: u32,
    },
    /// Bytes of push constants.
    Push {
        offset: u32,
        size: u32,
    },
    /// The sequence's number as a push constant.
    SequenceIndex {
        offset: u32,
    },
    /// `dxgi`: the type is a DXGI_FORMAT.
    Index {
        dxgi: bool,
    },
    Vertex {
        binding: u32,
    },
    Draw {
        indexed: bool,
    },
    DrawCount {
        indexed: bool,
    },
    Mesh,
    MeshCount,
    Dispatch,
}

impl Token {
    /// Bytes in the sequence.
    pub fn size(self) -> u32 {
        match self {
            Token::Set { indices } => indices.saturating_mul(4),
            Token::Push { size, .. } => size,
            Token::SequenceIndex { .. } => 0,
            Token::Index { .. } | Token::Vertex { .. } | Token::DrawCount { .. } | Token::MeshCount => 16,
            Token::Draw { indexed } => {
                if indexed {
                    20
                } else {
                    16
                }
            }
            Token::Mesh | Token::Dispatch => 12,
        }
    }
    /// It draws or dispatches: a sequence's last.
    pub fn acts(self) -> bool {
        matches!(
            self,
            Token::Draw { .. } | Token::DrawCount { .. } | Token::Mesh | Token::MeshCount | Token::Dispatch
        )
    }
}

/// A draw or dispatch with all that is bound.
#[derive(Clone)]
pub enum Work {
    Draw(Box<Draw>),
    Dispatch(Box<Dispatch>),
}

/// What a sequence does.
pub enum Sequence {
    Draw(Box<Draw>),
    Dispatch(Box<Dispatch>, [u32; 3]),
}

/// What the indices of an execution set mean, with what else was bound when the command was recorded.
pub type Choose = dyn Fn(&[u32]) -> Option<Work> + Send + Sync;

#[derive(Clone)]
pub struct Generated {
    /// Tokens with their places in the sequence, in order.
    pub tokens: Arc<[(u32, Token)]>,
    /// Bytes from a sequence to the next.
    pub stride: u32,
    /// Where sequences begin, and bytes of all.
    pub address: u64,
    pub size: u64,
    /// Sequences, or the most there may be.
    pub most: u32,
    /// Where their number stands; 0: nowhere.
    pub count: u64,
    /// The most draws of a token with a count.
    pub most_draws: u32,
    /// What is bound; `None`: only the execution set says.
    pub work: Option<Work>,
    pub choose: Option<Arc<Choose>>,
}

/// An address that is not device memory.
pub struct Wild(pub u64);

/// DXGI_FORMAT's R32_UINT, R16_UINT and R8_UINT.
const DXGI: [(u32, vk::IndexType); 3] =
    [(42, vk::IndexType::UINT32), (57, vk::IndexType::UINT16), (62, vk::IndexType::UINT8_EXT)];

/// The little-endian u32 at byte `at`; 0 behind the end.
fn word(b: &[u8], at: usize) -> u32 {
    b.get(at..).and_then(|b| b.first_chunk()).map_or(0, |w| u32::from_le_bytes(*w))
}
fn long(b: &[u8], at: usize) -> u64 {
    word(b, at) as u64 | (word(b, at + 4) as u64) << 32
}

/// `size` bytes of the device's memory.
fn bytes(memory: &AddressSpace, address: u64, size: u64) -> Result<Vec<u8>, Wild> {
    let buffer = Buffer::at(memory, address, size).ok_or(Wild(address))?;
    let (p, n) = buffer.range(0, size);
    if n < size {
        return Err(Wild(address));
    }
    // SAFETY: so many bytes of the buffer, which lives; the GPU's memory may be written meanwhile, bytes are bytes.
    Ok(unsafe { std::slice::from_raw_parts(p, size as usize) }.to_vec())
}

fn range(memory: &AddressSpace, address: u64, size: u64) -> Result<Arc<Buffer>, Wild> {
    Buffer::at(memory, address, size).map(Arc::new).ok_or(Wild(address))
}

impl Generated {
    /// How many sequences there are now.
    pub fn sequences(&self, memory: &AddressSpace) -> Result<u32, Wild> {
        match self.count {
            0 => Ok(self.most),
            at => Ok(self.most.min(word(&bytes(memory, at, 4)?, 0))),
        }
    }

    /// What sequence `number` does. None: it draws nothing, or no shaders are bound.
    pub fn sequence(&self, memory: &AddressSpace, number: u32) -> Result<Option<Sequence>, Wild> {
        let at = number as u64 * self.stride as u64;
        let end = at + self.tokens.iter().map(|(o, t)| *o as u64 + t.size() as u64).max().unwrap_or(0);
        let address = self.address.wrapping_add(at);
        if end > self.size {
            return Err(Wild(address));
        }
        let data = bytes(memory, address, end - at)?;
        let mut work = self.work.clone();
        for &(offset, token) in self.tokens.iter() {
            let from = &data[(offset as usize).min(data.len())..];
            let from = &from[..(token.size() as usize).min(from.len())];
            if let Token::Set { .. } = token {
                let indices: Vec<u32> = (0..from.len() / 4).map(|k| word(from, 4 * k)).collect();
                work = self.choose.as_ref().and_then(|c| c(&indices));
            }
            let Some(work) = &mut work else { return Ok(None) };
            match work {
                Work::Dispatch(d) => match token {
                    Token::Push { offset, .. } => _ = d.bindings.push.put(offset as usize, from),
                    Token::SequenceIndex { offset } => {
                        _ = d.bindings.push.put(offset as usize, &number.to_le_bytes());
                    }
                    Token::Dispatch => {
                        let groups = [0, 4, 8].map(|k| word(from, k));
                        return Ok(Some(Sequence::Dispatch(d.clone(), groups)));
                    }
                    _ => {}
                },
                Work::Draw(d) => {
                    if self.draws(memory, d, token, from, number)? {
                        return Ok(Some(Sequence::Draw(d.clone())));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Does what the token says; true: that was the draw.
    fn draws(
        &self,
        memory: &AddressSpace,
        d: &mut Draw,
        token: Token,
        from: &[u8],
        number: u32,
    ) -> Result<bool, Wild> {
        match token {
            Token::Push { offset, .. } => _ = d.bindings.push.put(offset as usize, from),
            Token::SequenceIndex { offset } => {
                _ = d.bindings.push.put(offset as usize, &number.to_le_bytes())
            }
            Token::Index { dxgi } => {
                let (address, size, ty) = (long(from, 0), word(from, 8), word(from, 12));
                let known = DXGI.iter().find(|k| match dxgi {
                    true => k.0 == ty,
                    false => k.1.as_raw() as u32 == ty,
                });
                // An index of no type reads as 0, as one of no buffer does.
                let buffer = match (address, known) {
                    (0, _) | (_, None) => None,
                    _ => Some(range(memory, address, size as u64)?),
                };
                let ty = known.map_or(vk::IndexType::UINT32, |k| k.1);
                let restart = IndexBuffer::all_ones(ty);
                d.index_buffer = Some(IndexBuffer { buffer, offset: 0, size: vk::WHOLE_SIZE, ty, restart });
            }
            Token::Vertex { binding } => {
                let (address, size, stride) = (long(from, 0), word(from, 8), word(from, 12));
                let buffer = if address == 0 { None } else { Some(range(memory, address, size as u64)?) };
                let mut all = d.vertex_buffers.to_vec();
                let at = binding as usize;
                all.resize(all.len().max(at + 1), VertexBuffer::default());
                all[at] = VertexBuffer { buffer, offset: 0, size: vk::WHOLE_SIZE };
                d.vertex_buffers = all.into();
                if d.state.input.bindings.iter().any(|b| b.binding == binding && b.stride != stride) {
                    let bindings = &mut Arc::make_mut(&mut d.state).input.bindings;
                    bindings.iter_mut().filter(|b| b.binding == binding).for_each(|b| b.stride = stride);
                }
            }
            Token::Draw { indexed } => {
                let w = |k: usize| word(from, 4 * k);
                let call = match indexed {
                    true => Call {
                        indexed,
                        first: w(2),
                        count: w(0),
                        vertex_offset: w(3) as i32,
                        first_instance: w(4),
                        instances: w(1),
                    },
                    false => Call {
                        indexed,
                        first: w(2),
                        count: w(0),
                        vertex_offset: 0,
                        first_instance: w(3),
                        instances: w(1),
                    },
                };
                d.what = What::one(call);
                return Ok(true);
            }
            Token::Mesh => {
                d.what = What::Mesh([0, 4, 8].map(|k| word(from, k)));
                return Ok(true);
            }
            Token::DrawCount { .. } | Token::MeshCount => {
                let (address, stride, draws) = (long(from, 0), word(from, 8), word(from, 12));
                let draws = draws.min(self.most_draws);
                let each = match token {
                    Token::DrawCount { indexed: true } => 20,
                    Token::DrawCount { .. } => 16,
                    _ => 12,
                };
                let size = draws.checked_sub(1).map_or(0, |last| last as u64 * stride as u64 + each);
                let buffer = range(memory, address, size)?;
                d.what = match token {
                    Token::DrawCount { indexed } => {
                        What::Indirect { indexed, buffer, offset: 0, draws, stride, count: None }
                    }
                    _ => What::MeshIndirect { buffer, offset: 0, draws, stride, count: None },
                };
                return Ok(true);
            }
            Token::Set { .. } | Token::Dispatch => {}
        }
        Ok(false)
    }
}
