//! Logical devices.

use crate::extensions;
use crate::instance::Shared;
use crate::object::Object;
use std::sync::Arc;

pub struct Device {
    pub(crate) instance: Arc<Shared>,
    pub(crate) extensions: extensions::Set,
}

impl Object for Device {
    type Handle = vk::Device;
}
