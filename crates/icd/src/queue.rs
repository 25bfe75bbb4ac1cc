//! Queues.

use crate::object::Object;

pub struct Queue {}

impl Object for Queue {
    type Handle = vk::Queue;
}
