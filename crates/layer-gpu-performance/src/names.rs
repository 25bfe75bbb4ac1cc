//! What the program calls its objects (VK_EXT_debug_utils).

use ash::vk;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use vk::Handle;

#[derive(Default)]
pub(crate) struct Names {
    any: AtomicBool,
    map: RwLock<HashMap<(vk::ObjectType, u64), Arc<str>>>,
}

impl Names {
    /// An empty name takes the name away (§ Object Debug Annotation).
    pub fn set(&self, ty: vk::ObjectType, handle: u64, name: &str) {
        let mut map = self.map.write();
        match name.is_empty() {
            true => drop(map.remove(&(ty, handle))),
            false => drop(map.insert((ty, handle), name.into())),
        }
        self.any.store(!map.is_empty(), Relaxed);
    }

    pub fn get<H: Handle>(&self, handle: H) -> Option<Arc<str>> {
        if !self.any.load(Relaxed) {
            return None;
        }
        self.map.read().get(&(H::TYPE, handle.as_raw())).cloned()
    }

    /// The name in front of what else is said of the object.
    pub fn with<H: Handle>(&self, handle: H, text: String) -> String {
        match self.get(handle) {
            Some(name) => format!("{name}: {text}"),
            None => text,
        }
    }

    /// ` a -> b`, as far as they have names.
    pub fn between<A: Handle, B: Handle>(&self, from: A, to: B) -> String {
        match (self.get(from), self.get(to)) {
            (None, None) => String::new(),
            (a, b) => format!(" {} -> {}", a.as_deref().unwrap_or("?"), b.as_deref().unwrap_or("?")),
        }
    }
}
