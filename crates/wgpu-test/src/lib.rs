//! Nothing of its own: `tests/` runs a program of the `wgpu` crate on Tuff, through the Vulkan loader.
