//! Dynamic state: kept as it is set, for the draws to come.
#![allow(dead_code)] // nobody reads it before those exist

use crate::chain;
use crate::command_buffer::CommandBuffer;
use std::fmt;
use std::sync::Arc;

/// `maxViewports`' bound here; more are ignored.
const VIEWPORTS: usize = 16;

/// A buffer held by a binding.
#[derive(Clone)]
pub(crate) struct Held(pub Arc<gpu::buffer::Buffer>);

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:p}", Arc::as_ptr(&self.0))
    }
}

#[derive(Clone, Default, Debug)]
pub(crate) struct VertexBuffer {
    pub buffer: Option<Held>,
    pub offset: u64,
    pub size: u64,
    pub stride: u64,
}

#[derive(Clone, Default, Debug)]
pub(crate) struct IndexBuffer {
    pub buffer: Option<Held>,
    pub offset: u64,
    pub size: u64,
    pub ty: vk::IndexType,
}

#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct StencilFace {
    pub fail: vk::StencilOp,
    pub pass: vk::StencilOp,
    pub depth_fail: vk::StencilOp,
    pub compare: vk::CompareOp,
    pub compare_mask: u32,
    pub write_mask: u32,
    pub reference: u32,
}

/// What a draw reads where its pipeline says "dynamic".
#[derive(Clone, Default, Debug)]
pub(crate) struct Dynamic {
    pub viewports: Vec<vk::Viewport>,
    pub scissors: Vec<vk::Rect2D>,
    pub line_width: f32,
    /// Constant, clamp, slope.
    pub depth_bias: [f32; 3],
    pub depth_bias_enable: bool,
    pub blend_constants: [f32; 4],
    pub depth_bounds: [f32; 2],
    pub depth_bounds_test: bool,
    pub depth_test: bool,
    pub depth_write: bool,
    pub depth_compare: vk::CompareOp,
    pub stencil_test: bool,
    /// Front, back.
    pub stencil: [StencilFace; 2],
    pub cull: vk::CullModeFlags,
    pub front: vk::FrontFace,
    pub topology: vk::PrimitiveTopology,
    pub rasterizer_discard: bool,
    pub primitive_restart: bool,
    pub patch_points: u32,
    pub logic_op: vk::LogicOp,
    pub vertex_buffers: [VertexBuffer; 32],
    pub index_buffer: IndexBuffer,
}

/// Elements from `first` on; the list grows as needed.
fn place<T: Copy + Default>(list: &mut Vec<T>, first: u32, items: &[T]) {
    for (i, item) in items.iter().enumerate() {
        let at = first as usize + i;
        if at >= VIEWPORTS {
            return;
        }
        if list.len() <= at {
            list.resize(at + 1, T::default());
        }
        list[at] = *item;
    }
}

pub(crate) unsafe fn cmd_set_viewport(b: &CommandBuffer, first: u32, count: u32, p: *const vk::Viewport) {
    if let Some(mut r) = b.recording() {
        place(&mut r.draw.dynamic.viewports, first, chain::slice(p, count));
    }
}

pub(crate) unsafe fn cmd_set_scissor(b: &CommandBuffer, first: u32, count: u32, p: *const vk::Rect2D) {
    if let Some(mut r) = b.recording() {
        place(&mut r.draw.dynamic.scissors, first, chain::slice(p, count));
    }
}

pub(crate) unsafe fn cmd_set_viewport_with_count(b: &CommandBuffer, count: u32, p: *const vk::Viewport) {
    if let Some(mut r) = b.recording() {
        r.draw.dynamic.viewports.clear();
        place(&mut r.draw.dynamic.viewports, 0, chain::slice(p, count));
    }
}

pub(crate) unsafe fn cmd_set_scissor_with_count(b: &CommandBuffer, count: u32, p: *const vk::Rect2D) {
    if let Some(mut r) = b.recording() {
        r.draw.dynamic.scissors.clear();
        place(&mut r.draw.dynamic.scissors, 0, chain::slice(p, count));
    }
}

/// Commands that set one member.
macro_rules! setters {
    ($($name:ident($($arg:ident: $ty:ty),*) |$d:ident| $set:expr;)*) => {$(
        pub(crate) unsafe fn $name(b: &CommandBuffer, $($arg: $ty),*) {
            if let Some(mut r) = b.recording() {
                let $d = &mut r.draw.dynamic;
                $set;
            }
        }
    )*};
}

impl Dynamic {
    fn faces(&mut self, mask: vk::StencilFaceFlags, set: impl Fn(&mut StencilFace)) {
        for (bit, face) in
            [vk::StencilFaceFlags::FRONT, vk::StencilFaceFlags::BACK].iter().zip(&mut self.stencil)
        {
            if mask.contains(*bit) {
                set(face);
            }
        }
    }
}

setters! {
    cmd_set_line_width(width: f32) |d| d.line_width = width;
    cmd_set_depth_bias(constant: f32, clamp: f32, slope: f32) |d| d.depth_bias = [constant, clamp, slope];
    cmd_set_depth_bias_enable(on: vk::Bool32) |d| d.depth_bias_enable = on != 0;
    cmd_set_blend_constants(c: *const [f32; 4]) |d| d.blend_constants = *c;
    cmd_set_depth_bounds(min: f32, max: f32) |d| d.depth_bounds = [min, max];
    cmd_set_depth_bounds_test_enable(on: vk::Bool32) |d| d.depth_bounds_test = on != 0;
    cmd_set_depth_test_enable(on: vk::Bool32) |d| d.depth_test = on != 0;
    cmd_set_depth_write_enable(on: vk::Bool32) |d| d.depth_write = on != 0;
    cmd_set_depth_compare_op(op: vk::CompareOp) |d| d.depth_compare = op;
    cmd_set_stencil_test_enable(on: vk::Bool32) |d| d.stencil_test = on != 0;
    cmd_set_stencil_compare_mask(f: vk::StencilFaceFlags, mask: u32) |d| d.faces(f, |s| s.compare_mask = mask);
    cmd_set_stencil_write_mask(f: vk::StencilFaceFlags, mask: u32) |d| d.faces(f, |s| s.write_mask = mask);
    cmd_set_stencil_reference(f: vk::StencilFaceFlags, reference: u32) |d| d.faces(f, |s| s.reference = reference);
    cmd_set_stencil_op(
        f: vk::StencilFaceFlags,
        fail: vk::StencilOp,
        pass: vk::StencilOp,
        depth_fail: vk::StencilOp,
        compare: vk::CompareOp
    ) |d| d.faces(f, |s| *s = StencilFace { fail, pass, depth_fail, compare, ..*s });
    cmd_set_cull_mode(mode: vk::CullModeFlags) |d| d.cull = mode;
    cmd_set_front_face(front: vk::FrontFace) |d| d.front = front;
    cmd_set_primitive_topology(topology: vk::PrimitiveTopology) |d| d.topology = topology;
    cmd_set_rasterizer_discard_enable(on: vk::Bool32) |d| d.rasterizer_discard = on != 0;
    cmd_set_primitive_restart_enable(on: vk::Bool32) |d| d.primitive_restart = on != 0;
    cmd_set_patch_control_points_ext(points: u32) |d| d.patch_points = points;
    cmd_set_logic_op_ext(op: vk::LogicOp) |d| d.logic_op = op;
}
