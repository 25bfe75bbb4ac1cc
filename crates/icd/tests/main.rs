//! The driver through the real loader, a file a subject. Files of their own programs, for what they do to their process:
//! those of Cargo.toml.

mod common;
#[path = "common/gpu.rs"]
mod gpu;
#[path = "common/listen.rs"]
mod listen;
#[path = "common/shifting.rs"]
mod shifting;
#[path = "common/show.rs"]
mod show;

mod afbc;
mod binds;
mod cleared;
mod compute;
mod concurrent;
mod conditional;
mod cores;
mod descriptor_heaps;
mod device;
mod discarded;
mod generated;
mod geometry;
mod graphics;
mod identifiers;
mod instance;
mod knobs;
mod l2;
mod model;
mod protected;
mod queues;
mod rays;
mod shader_objects;
mod shared_sync;
mod sparse;
mod stages;
mod stalls;
mod stripes;
mod suspended;
mod swapchain;
mod texture;
mod time;
mod timestamps;
mod two_devices;
mod untyped;
mod v14;
mod views;
mod window;
mod wrong_descriptors;
mod wrong_shapes;
mod ycbcr;
