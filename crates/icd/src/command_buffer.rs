//! Command buffers.

use crate::object::Object;

pub struct CommandBuffer {}

impl Object for CommandBuffer {
    type Handle = vk::CommandBuffer;
}
