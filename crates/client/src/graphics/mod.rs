//! Offscreen graphics by dynamic rendering: images, bindings, pipelines and passes.
//!
//! Every image lives in `GENERAL` layout from its creation on, and passes are separated by full memory barriers
//! ([`barrier`]): a test client's choice, which costs a software driver nothing.

mod bindings;
mod image;
mod pass;
mod pipeline;

pub use bindings::{Bindings, Resource, Sampler};
pub use image::{Image, ImageInfo};
pub use pass::{Attachment, Load, Pass, barrier};
pub use pipeline::{Pipeline, PipelineInfo, opaque, over};
