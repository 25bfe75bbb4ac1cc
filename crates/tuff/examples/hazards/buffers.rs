//! Buffers: copies, fills, dispatches, and what draws read.

use crate::Situation;
use crate::world::*;
use ash::vk;
use vk::{AccessFlags2 as A, ImageLayout as L, PipelineStageFlags2 as S};

pub const ALL: &[Situation] = &[
    ("copy_then_copy", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            if !fault {
                r.barrier(COPY_WRITE, COPY_READ);
            }
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("copy_over_a_source", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            if !fault {
                // After a read, execution alone is enough.
                r.barrier((S::COPY, A::NONE), (S::COPY, A::NONE));
            }
            r.copy((2, 0), (0, 128), 256);
        })
    }),
    ("copy_twice_to_one_place", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.copy((0, 0), (1, if fault { 255 } else { 256 }), 16);
        })
    }),
    ("barrier_of_other_bytes", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.buffer_barrier(1, if fault { 256 } else { 0 }, 256, COPY_WRITE, COPY_READ);
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("barrier_of_half_the_bytes", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.buffer_barrier(1, 0, if fault { 128 } else { 256 }, COPY_WRITE, COPY_READ);
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("execution_without_memory", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            let access = if fault { A::NONE } else { A::TRANSFER_WRITE };
            r.barrier((S::COPY, access), (S::COPY, if fault { A::NONE } else { A::TRANSFER_READ }));
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("available_and_not_visible", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.barrier(COPY_WRITE, (S::COPY, if fault { A::TRANSFER_WRITE } else { A::TRANSFER_READ }));
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("available_first_visible_later", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.barrier(COPY_WRITE, (S::COPY, A::NONE));
            r.barrier((if fault { S::CLEAR } else { S::COPY }, A::NONE), COPY_READ);
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("fill_then_copy", |w, fault| {
        w.run(|r| {
            r.fill(0, 0, 256);
            // A fill is no copy.
            r.barrier(if fault { COPY_WRITE } else { CLEAR }, COPY_READ);
            r.copy((0, 0), (1, 0), 256);
        })
    }),
    ("chain_through_other_stages", |w, fault| {
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.barrier(COPY_WRITE, (S::FRAGMENT_SHADER, A::NONE));
            r.barrier((if fault { S::VERTEX_SHADER } else { S::FRAGMENT_SHADER }, A::NONE), COPY_READ);
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("dispatch_after_copy", |w, fault| {
        let set = w.set(Bound { buffers: [Some(&w.buffers[1]), Some(&w.buffers[2])], ..Bound::default() })?;
        let copy = w.compute("copy")?;
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            r.barrier(
                COPY_WRITE,
                (S::COMPUTE_SHADER, if fault { A::SHADER_SAMPLED_READ } else { A::SHADER_STORAGE_READ }),
            );
            r.dispatch(copy, set, [0, 0], [2, 1]);
        })
    }),
    ("copy_after_dispatch", |w, fault| {
        let set = w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[1])], ..Bound::default() })?;
        let copy = w.compute("copy")?;
        w.run(|r| {
            r.dispatch(copy, set, [0, 0], [2, 1]);
            r.barrier((S::COMPUTE_SHADER, if fault { A::SHADER_READ } else { A::SHADER_WRITE }), COPY_READ);
            r.copy((1, 0), (2, 0), 256);
        })
    }),
    ("dispatches_in_a_row", |w, fault| {
        let first =
            w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[1])], ..Bound::default() })?;
        let second =
            w.set(Bound { buffers: [Some(&w.buffers[1]), Some(&w.buffers[2])], ..Bound::default() })?;
        let copy = w.compute("copy")?;
        w.run(|r| {
            r.dispatch(copy, first, [0, 0], [2, 1]);
            if !fault {
                r.barrier(SHADER_WRITE, SHADER_READ);
            }
            r.dispatch(copy, second, [0, 0], [2, 1]);
        })
    }),
    ("dispatches_of_neighbouring_words", |w, fault| {
        // Both write the same buffer, and only the bytes that they touch count.
        let set = w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[1])], ..Bound::default() })?;
        let copy = w.compute("copy")?;
        w.run(|r| {
            r.dispatch(copy, set, [0, 0], [2, 1]);
            r.dispatch(copy, set, [0, if fault { 63 } else { 64 }], [2, 1]);
        })
    }),
    ("fences_of_shaders_alone", |w, fault| {
        // The barrier orders execution; memory is the shaders' matter.
        let [copy, fences] = [w.compute("copy")?, w.compute("fences")?];
        let set = |from: usize, to: usize| {
            w.set(Bound { buffers: [Some(&w.buffers[from]), Some(&w.buffers[to])], ..Bound::default() })
        };
        let (first, second) = (set(0, 1)?, set(1, 2)?);
        w.run(|r| {
            r.dispatch(if fault { copy } else { fences }, first, [0, 0], [2, 1]);
            r.barrier((SHADER_WRITE.0, A::NONE), (SHADER_READ.0, A::NONE));
            r.dispatch(fences, second, [0, 0], [2, 1]);
        })
    }),
    ("counting_by_atomics", |w, fault| {
        let counter =
            w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[1])], ..Bound::default() })?;
        let (count, copy) = (w.compute("count")?, w.compute("copy")?);
        w.run(|r| {
            r.dispatch(count, counter, [0, 0], [4, 1]);
            match fault {
                false => r.dispatch(count, counter, [0, 0], [4, 1]),
                true => r.dispatch(copy, counter, [0, 0], [1, 1]),
            }
        })
    }),
    ("vertices_after_copy", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::COLOR_ATTACHMENT_OPTIMAL)])?;
        let draw = w.graphics(true, "plain", None)?;
        let set = w.set(Bound::default())?;
        w.run(|r| {
            // Bytes 0 to 23 are three vertices.
            r.copy((0, 0), (1, if fault { 23 } else { 24 }), 64);
            r.render(
                (
                    &target,
                    L::COLOR_ATTACHMENT_OPTIMAL,
                    vk::AttachmentLoadOp::CLEAR,
                    vk::AttachmentStoreOp::STORE,
                ),
                None,
                || {
                    // SAFETY: recording, with live handles.
                    unsafe { w.device.cmd_bind_vertex_buffers(r.buffer, 0, &[w.buffers[1].handle], &[0]) }
                    r.draw(draw, set);
                },
            );
        })
    }),
    ("indices_after_fill", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::COLOR_ATTACHMENT_OPTIMAL)])?;
        let draw = w.graphics(false, "plain", None)?;
        let set = w.set(Bound::default())?;
        w.run(|r| {
            r.fill(1, 0, 64);
            let stage = if fault { S::VERTEX_ATTRIBUTE_INPUT } else { S::INDEX_INPUT };
            r.barrier(CLEAR, (stage, if fault { A::VERTEX_ATTRIBUTE_READ } else { A::INDEX_READ }));
            r.render(
                (
                    &target,
                    L::COLOR_ATTACHMENT_OPTIMAL,
                    vk::AttachmentLoadOp::CLEAR,
                    vk::AttachmentStoreOp::STORE,
                ),
                None,
                || {
                    r.bind(vk::PipelineBindPoint::GRAPHICS, draw, set);
                    // SAFETY: recording, with live handles.
                    unsafe {
                        w.device.cmd_bind_index_buffer(
                            r.buffer,
                            w.buffers[1].handle,
                            0,
                            vk::IndexType::UINT16,
                        );
                        w.device.cmd_draw_indexed(r.buffer, 3, 1, 0, 0, 0);
                    }
                },
            );
        })
    }),
    ("arguments_after_fill", |w, fault| {
        let set = w.set(Bound { buffers: [Some(&w.buffers[0]), Some(&w.buffers[2])], ..Bound::default() })?;
        let copy = w.compute("copy")?;
        w.run(|r| {
            r.fill(1, if fault { 8 } else { 12 }, 16);
            r.bind(vk::PipelineBindPoint::COMPUTE, copy, set);
            // SAFETY: recording, with live handles.
            unsafe {
                w.device.cmd_push_constants(r.buffer, w.layout, vk::ShaderStageFlags::COMPUTE, 0, &[0; 8]);
                w.device.cmd_dispatch_indirect(r.buffer, w.buffers[1].handle, 0);
            }
        })
    }),
    ("fragments_after_copy", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::COLOR_ATTACHMENT_OPTIMAL)])?;
        let draw = w.graphics(false, "words", None)?;
        let set = w.set(Bound { buffers: [Some(&w.buffers[1]), None], ..Bound::default() })?;
        w.run(|r| {
            r.copy((0, 0), (1, 0), 256);
            let stage = if fault { S::VERTEX_SHADER } else { S::FRAGMENT_SHADER };
            r.barrier(COPY_WRITE, (stage, A::SHADER_STORAGE_READ));
            r.render(
                (
                    &target,
                    L::COLOR_ATTACHMENT_OPTIMAL,
                    vk::AttachmentLoadOp::CLEAR,
                    vk::AttachmentStoreOp::STORE,
                ),
                None,
                || r.draw(draw, set),
            );
        })
    }),
    ("copy_over_what_fragments_read", |w, fault| {
        let target = w.target()?;
        w.prepare(&[(&target, L::COLOR_ATTACHMENT_OPTIMAL)])?;
        let draw = w.graphics(false, "words", None)?;
        let set = w.set(Bound { buffers: [Some(&w.buffers[1]), None], ..Bound::default() })?;
        w.run(|r| {
            r.render(
                (
                    &target,
                    L::COLOR_ATTACHMENT_OPTIMAL,
                    vk::AttachmentLoadOp::CLEAR,
                    vk::AttachmentStoreOp::STORE,
                ),
                None,
                || r.draw(draw, set),
            );
            // Fragments read one word for each of 64 columns.
            r.copy((0, 0), (1, if fault { 252 } else { 256 }), 4);
        })
    }),
    ("query_results_then_copy", |w, fault| {
        // SAFETY: plain calls with live handles.
        unsafe {
            let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
            let pool =
                w.device.create_query_pool(&info, None).map_err(client::Error::vk("vkCreateQueryPool"))?;
            w.run(|r| {
                w.device.cmd_reset_query_pool(r.buffer, pool, 0, 2);
                w.device.cmd_write_timestamp(r.buffer, vk::PipelineStageFlags::ALL_COMMANDS, pool, 0);
                w.device.cmd_write_timestamp(r.buffer, vk::PipelineStageFlags::ALL_COMMANDS, pool, 1);
                let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                w.device.cmd_copy_query_pool_results(r.buffer, pool, 0, 2, w.buffers[1].handle, 0, 16, flags);
                // Two results of eight bytes, sixteen apart.
                r.copy((1, if fault { 16 } else { 8 }), (2, 0), 8);
            })
        }
    }),
];
