//! Acceleration structures and traces: what builds read, and what traces read and write.

use crate::Situation;
use crate::world::*;
use ash::vk;
use client::rays::structure::{Job, Structures, instance, instances, triangles};
use client::rays::trace::Tracer;
use client::rays::{By, filled};
use client::{Buffer, Result};
use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};

const BUILD_INPUT: Masks = (S::ACCELERATION_STRUCTURE_BUILD_KHR, A::SHADER_READ);
const BUILD_READ: Masks = (S::ACCELERATION_STRUCTURE_BUILD_KHR, A::ACCELERATION_STRUCTURE_READ_KHR);
const BUILD_WRITE: Masks = (S::ACCELERATION_STRUCTURE_BUILD_KHR, A::ACCELERATION_STRUCTURE_WRITE_KHR);
const RAYS_READ: Masks = (S::RAY_TRACING_SHADER_KHR, A::ACCELERATION_STRUCTURE_READ_KHR);
const RAYS_WRITE: Masks = (S::RAY_TRACING_SHADER_KHR, A::SHADER_WRITE);
const QUERY_READ: Masks = (S::COMPUTE_SHADER, A::ACCELERATION_STRUCTURE_READ_KHR);

const RAYS: u32 = 16;

/// A triangle, a structure of it, one with an instance of that, rays and their hits. The first build has run.
struct Scene {
    structures: Structures,
    vertices: Buffer,
    bottom: Job,
    top: Job,
    _instances: Buffer,
    rays: Buffer,
    hits: Buffer,
}

impl Scene {
    fn new(w: &World) -> Result<Scene> {
        let context = &w.context;
        let structures = Structures::new(context)?;
        let vertices = filled(context, &[[-1f32, -1.0, 1.0], [3.0, -1.0, 1.0], [-1.0, 3.0, 1.0]])?;
        let none = vk::BuildAccelerationStructureFlagsKHR::empty();
        let bottom = structures.prepare(none, &triangles(&vertices), 1)?;
        let data = filled(context, &[instance(bottom.to.address, [0.0; 3])])?;
        let top = structures.prepare(none, &instances(&data), 1)?;
        let ray = |k: u32| [0.0, k as f32 / 128.0, 0.0, 0.0, 0.0, 0.0, 1.0, 10.0];
        let rays = filled(context, &(0..RAYS).map(ray).collect::<Vec<[f32; 8]>>())?;
        let hits = Buffer::addressed(context, RAYS as usize * 8, vk::BufferUsageFlags::empty())?;
        context.run(|_, c| structures.record(c, &bottom, false))?;
        Ok(Scene { structures, vertices, bottom, top, _instances: data, rays, hits })
    }

    fn trace(&self, w: &World, by: By, then: impl FnOnce(&Recorder, &dyn Fn())) -> Result<()> {
        let tracer = Tracer::new(&w.context, by, 0, 0.0)?;
        self.run(w, |r| then(r, &|| tracer.record(r.buffer, &self.top.to, &self.rays, &self.hits, RAYS)))
    }

    /// Runs to its end, while the scene lives.
    fn run(&self, w: &World, what: impl FnOnce(&Recorder)) -> Result<()> {
        w.run(what)?;
        w.wait()
    }
}

fn copy(w: &World, r: &Recorder, from: &Buffer, to: &Buffer, size: u64) {
    let region = [vk::BufferCopy { size, ..Default::default() }];
    // SAFETY: recording, with live buffers of that size.
    unsafe { w.device.cmd_copy_buffer(r.buffer, from.handle, to.handle, &region) };
}

pub const ALL: &[Situation] = &[
    ("built_of_vertices_after_copy", |w, fault| {
        let s = Scene::new(w)?;
        s.run(w, |r| {
            copy(w, r, &w.buffers[0], &s.vertices, 36);
            if !fault {
                r.barrier(COPY_WRITE, BUILD_INPUT);
            }
            s.structures.record(r.buffer, &s.bottom, false);
        })
    }),
    ("instances_of_what_is_built", |w, fault| {
        let s = Scene::new(w)?;
        s.run(w, |r| {
            s.structures.record_alone(r.buffer, &s.bottom, false);
            if !fault {
                r.barrier(BUILD_WRITE, BUILD_READ);
            }
            s.structures.record(r.buffer, &s.top, false);
        })
    }),
    ("traced_after_build", |w, fault| {
        let s = Scene::new(w)?;
        s.trace(w, By::Pipeline, |r, trace| {
            s.structures.record_alone(r.buffer, &s.top, false);
            if !fault {
                r.barrier(BUILD_WRITE, RAYS_READ);
            }
            trace();
        })
    }),
    ("queried_after_build", |w, fault| {
        let s = Scene::new(w)?;
        s.trace(w, By::Query, |r, trace| {
            s.structures.record_alone(r.buffer, &s.top, false);
            r.barrier(BUILD_WRITE, if fault { RAYS_READ } else { QUERY_READ });
            trace();
        })
    }),
    ("built_while_traced", |w, fault| {
        let s = Scene::new(w)?;
        s.trace(w, By::Pipeline, |r, trace| {
            s.structures.record(r.buffer, &s.top, false);
            trace();
            if !fault {
                r.barrier((S::RAY_TRACING_SHADER_KHR, A::NONE), BUILD_WRITE);
            }
            s.structures.record_alone(r.buffer, &s.top, false);
        })
    }),
    ("hits_copied_after_trace", |w, fault| {
        let s = Scene::new(w)?;
        s.trace(w, By::Pipeline, |r, trace| {
            s.structures.record(r.buffer, &s.top, false);
            trace();
            if !fault {
                r.barrier(RAYS_WRITE, COPY_READ);
            }
            copy(w, r, &s.hits, &w.buffers[1], RAYS as u64 * 8);
        })
    }),
];
