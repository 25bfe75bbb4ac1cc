//! The driver as its clients see it, a file a subject.

mod common;

mod atomics;
mod blocks_by_draw;
mod channel;
mod compute;
mod counters;
mod descriptor_buffers;
mod extensions;
mod hardware;
mod instrumentation;
mod jit_dump;
mod layer;
mod library;
mod micro;
mod peers;
mod renderdoc;
mod scenes;
mod traces;
mod vkcube;
mod vulkaninfo;
mod wayland;
