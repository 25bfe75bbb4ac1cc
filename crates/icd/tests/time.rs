//! Modelled time through the loader: what depends on what, what shares the GPU, and how draws share their pass.

mod order;
mod seed;
mod transfers;

use crate::gpu::Gpu;
use crate::knobs::bench::graphics;
use crate::model::{Counted, SIDE};
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

const QUERIES: u32 = 16;
/// Fragments of the target are so many warps.
const WARPS: f64 = (SIDE * SIDE / 16) as f64;

/// Shaders that multiply as often as they are told, and timestamps.
pub struct Heavy {
    pub c: Counted,
    layout: vk::PipelineLayout,
    modules: [vk::ShaderModule; 3],
    set: vk::DescriptorSetLayout,
    dispatch: vk::Pipeline,
    draw: vk::Pipeline,
    pool: vk::QueryPool,
    second: vk::Queue,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Heavy {
    pub fn new() -> Heavy {
        Heavy::of(Counted::new())
    }

    /// On this device, which has push descriptors.
    pub fn of(c: Counted) -> Heavy {
        let d = &c.g.device;
        let module = |bytes| {
            let code = shader::words(bytes);
            unsafe { d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None) }
                .unwrap()
        };
        let modules = [
            module(&include_bytes!("shaders/heavy.comp.spv")[..]),
            module(include_bytes!("shaders/heavy.vert.spv")),
            module(include_bytes!("shaders/heavy.frag.spv")),
        ];
        unsafe {
            let binding = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default()
                .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
                .bindings(&binding);
            let set = d.create_descriptor_set_layout(&info, None).unwrap();
            let sets = [set];
            let stages = vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT;
            let push = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: 4 }];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let stage = |stage, module| {
                vk::PipelineShaderStageCreateInfo::default().stage(stage).module(module).name(c"main")
            };
            let info = vk::ComputePipelineCreateInfo::default()
                .stage(stage(vk::ShaderStageFlags::COMPUTE, modules[0]))
                .layout(layout);
            let none = vk::PipelineCache::null();
            let dispatch = d.create_compute_pipelines(none, &[info], None).unwrap()[0];
            let draw = graphics(d, layout, [modules[1], modules[2]], [crate::model::SIDE; 2], 0);
            let info =
                vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
            let pool = d.create_query_pool(&info, None).unwrap();
            d.reset_query_pool(pool, 0, QUERIES);
            let second = d.get_device_queue(0, 1);
            Heavy { layout, modules, set, dispatch, draw, pool, second, c }
        }
    }

    fn push(&self, c: vk::CommandBuffer, n: u32) {
        let stages = vk::ShaderStageFlags::COMPUTE | vk::ShaderStageFlags::FRAGMENT;
        unsafe { self.c.g.device.cmd_push_constants(c, self.layout, stages, 0, &n.to_le_bytes()) };
    }
    /// Workgroups of four warps that multiply `n` times.
    pub fn dispatch(&self, c: vk::CommandBuffer, groups: u32, n: u32) {
        self.push(c, n);
        unsafe {
            self.c.g.device.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, self.dispatch);
            self.c.g.device.cmd_dispatch(c, groups, 1, 1);
        }
    }
    /// All of the target.
    pub fn draw(&self, c: vk::CommandBuffer, n: u32) {
        self.push(c, n);
        unsafe {
            let area =
                vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
            self.c.g.device.cmd_set_scissor(c, 0, &[area]);
            self.c.g.device.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, self.draw);
            self.c.g.device.cmd_draw(c, 3, 1, 0, 0);
        }
    }
    pub fn pass(&self, c: vk::CommandBuffer, draws: impl FnOnce()) {
        self.c.pass(&self.c.g.device, c, vk::RenderingFlags::empty(), 0.5, draws);
    }
    pub fn barrier(&self, c: vk::CommandBuffer, src: Stages, dst: Stages) {
        let barrier = [vk::MemoryBarrier2::default().src_stage_mask(src).dst_stage_mask(dst)];
        let info = vk::DependencyInfo::default().memory_barriers(&barrier);
        unsafe { self.c.g.device.cmd_pipeline_barrier2(c, &info) };
    }
    /// The device's second queue.
    pub fn second(&self) -> vk::Queue {
        self.second
    }
    pub fn stamp(&self, c: vk::CommandBuffer, query: u32, stages: Stages) {
        unsafe { self.c.g.device.cmd_write_timestamp2(c, stages, self.pool, query) };
    }
    fn submit(
        &self,
        queue: vk::Queue,
        record: impl FnOnce(vk::CommandBuffer),
        timeline: Option<(vk::Semaphore, u64)>,
    ) {
        let g = &self.c.g;
        let c = [vk::CommandBufferSubmitInfo::default().command_buffer(g.record(|_, c| record(c)))];
        let signals: Vec<_> = timeline
            .iter()
            .map(|(s, v)| {
                vk::SemaphoreSubmitInfo::default().semaphore(*s).value(*v).stage_mask(Stages::ALL_COMMANDS)
            })
            .collect();
        let info = [vk::SubmitInfo2::default().command_buffer_infos(&c).signal_semaphore_infos(&signals)];
        unsafe { g.device.queue_submit2(queue, &info, vk::Fence::null()) }.unwrap();
    }
    /// Timestamps, which are waited for.
    pub fn times<const N: usize>(&self, first: u32) -> [u64; N] {
        let mut got = [0u64; N];
        let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
        unsafe { self.c.g.device.get_query_pool_results(self.pool, first, &mut got, flags) }.unwrap();
        got
    }

    pub fn free(self) {
        let d = &self.c.g.device;
        unsafe {
            d.device_wait_idle().unwrap();
            d.destroy_query_pool(self.pool, None);
            [self.dispatch, self.draw].into_iter().for_each(|p| d.destroy_pipeline(p, None));
            self.modules.into_iter().for_each(|m| d.destroy_shader_module(m, None));
            d.destroy_pipeline_layout(self.layout, None);
            d.destroy_descriptor_set_layout(self.set, None);
        }
        self.c.free();
    }
}

const CYCLES: [&str; 3] = ["GPU active cycles", "Main phase queue active cycles", "Main phase active cycles"];

#[test]
fn draws_and_the_pass_itself_add_up_to_the_pass() {
    let h = Heavy::new();
    let d = |n| (1..=3).map(move |i| (i, n)).map(|(i, n): (u32, u32)| i * n);
    // Draws of 100, 200 and 300 multiplications: the query around one of them, or around all with the pass.
    let whole = h.c.count(CYCLES, |_, c| h.pass(c, || d(100).for_each(|n| h.draw(c, n))));
    let around = |at: u32| {
        h.c.inside(CYCLES, |_, c, from, to| {
            h.pass(c, || {
                for (i, n) in (0..).zip(d(100)) {
                    if i == at {
                        from()
                    }
                    h.draw(c, n);
                    if i == at {
                        to()
                    }
                }
            })
        })
    };
    let parts: Vec<[f64; 3]> = (0..3).map(around).collect();
    let nothing = h.c.count(CYCLES, |_, c| h.pass(c, || ()));
    for k in 0..3 {
        let sum: f64 = parts.iter().map(|p| p[k]).sum();
        // The job's thousand cycles, tiles, and binning, which is not the draws' here.
        let own = whole[k] - sum;
        assert!(
            own >= 0.0 && own <= nothing[k] + 1100.0,
            "{}: {parts:?} of {whole:?}, {nothing:?}",
            CYCLES[k]
        );
    }
    // By what they multiply: 1 : 2 : 3, and the loop's end, which all have.
    let [a, b, c] = [0, 1, 2].map(|i| parts[i][2]);
    assert!((1.9..2.05).contains(&(b / a)) && (2.8..3.05).contains(&(c / a)), "{parts:?}");
    // At the very least the multiplications by eight lanes of sixteen a cycle.
    assert!(a >= WARPS * 100.0 / 8.0, "{parts:?}");
    h.free();
}

#[test]
fn stamps_in_a_pass_lie_in_order_between_its_ends() {
    let h = Heavy::new();
    let late = Stages::BOTTOM_OF_PIPE;
    h.c.g.run(|_, c| {
        h.stamp(c, 0, Stages::TOP_OF_PIPE);
        h.pass(c, || {
            for i in 0..8 {
                h.draw(c, 400);
                h.stamp(c, 1 + i, late);
            }
        });
        h.stamp(c, 9, late);
    });
    let t = h.times::<10>(0);
    assert!(t.windows(2).all(|w| w[0] < w[1]), "{t:?}");
    // Equal draws take equally long, but for what is rounded.
    let steps: Vec<u64> = t[1..9].windows(2).map(|w| w[1] - w[0]).collect();
    assert!(steps.iter().all(|s| s.abs_diff(steps[0]) <= 2) && steps[0] > 1000, "{t:?}");
    // Until the first has ended: binning and a draw.
    assert!(t[1] - t[0] >= steps[0] && t[1] - t[0] < 2 * steps[0], "{t:?}");
    h.free();
}

#[test]
fn dependencies_chain() {
    let h = Heavy::new();
    h.c.g.run(|_, c| {
        h.dispatch(c, 10, 2000);
        h.stamp(c, 0, Stages::COMPUTE_SHADER);
        h.barrier(c, Stages::COMPUTE_SHADER, Stages::COPY);
        h.barrier(c, Stages::COPY, Stages::ALL_GRAPHICS);
        h.pass(c, || h.draw(c, 1));
        h.stamp(c, 1, Stages::COLOR_ATTACHMENT_OUTPUT);
    });
    let t = h.times::<2>(0);
    assert!(t[1] >= t[0] + 1000, "{t:?}");
    h.free();
}

/// What the host has heard of lies before what it submits then, however it heard.
#[test]
fn the_host_carries_time_from_queue_to_queue() {
    let h = Heavy::new();
    let d = &h.c.g.device;
    let first = h.c.g.queue;
    let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let s =
        unsafe { d.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut ty), None) }.unwrap();
    // By results that it waits for.
    h.submit(
        first,
        |c| {
            h.dispatch(c, 10, 2000);
            h.stamp(c, 0, Stages::COMPUTE_SHADER)
        },
        Some((s, 1)),
    );
    let [end] = h.times::<1>(0);
    h.submit(h.second, |c| h.stamp(c, 1, Stages::TOP_OF_PIPE), None);
    let [later] = h.times::<1>(1);
    assert!(later >= end, "{later} {end}");
    // By an old value of a timeline that has gone on: what is submitted then comes after that value, not after the last.
    h.submit(
        first,
        |c| {
            h.dispatch(c, 10, 2000);
            h.stamp(c, 2, Stages::COMPUTE_SHADER)
        },
        Some((s, 2)),
    );
    h.submit(
        first,
        |c| {
            h.dispatch(c, 10, 90_000);
            h.stamp(c, 3, Stages::COMPUTE_SHADER)
        },
        Some((s, 3)),
    );
    let wait = |value| {
        let (semaphores, values) = ([s], [value]);
        let info = vk::SemaphoreWaitInfo::default().semaphores(&semaphores).values(&values);
        unsafe { d.wait_semaphores(&info, u64::MAX) }.unwrap();
    };
    // Whatever the host's pace: the device may have done it all by now.
    std::thread::sleep(std::time::Duration::from_millis(30));
    wait(2);
    h.submit(h.second, |c| h.stamp(c, 4, Stages::TOP_OF_PIPE), None);
    let [between] = h.times::<1>(4);
    let [second, third] = h.times::<2>(2);
    assert!(second <= between && between < third, "{second} {between} {third}");
    // By a signal of its own, which another queue waits for.
    unsafe { d.signal_semaphore(&vk::SemaphoreSignalInfo::default().semaphore(s).value(4)) }.unwrap();
    let waits = [vk::SemaphoreSubmitInfo::default().semaphore(s).value(4).stage_mask(Stages::ALL_COMMANDS)];
    let c = [vk::CommandBufferSubmitInfo::default()
        .command_buffer(h.c.g.record(|_, c| h.stamp(c, 5, Stages::TOP_OF_PIPE)))];
    let info = [vk::SubmitInfo2::default().command_buffer_infos(&c).wait_semaphore_infos(&waits)];
    unsafe { d.queue_submit2(h.second, &info, vk::Fence::null()) }.unwrap();
    let [after] = h.times::<1>(5);
    assert!(after >= third, "{after} {third}");
    unsafe {
        d.device_wait_idle().unwrap();
        d.destroy_semaphore(s, None);
    }
    h.free();
}

/// The front end works on one dispatch at a time, whichever queue it came from; a pass beside it has what it leaves.
#[test]
fn two_queues_share_one_gpu() {
    let h = Heavy::new();
    const NAMES: [&str; 3] =
        ["GPU active cycles", "Any workload active cycles", "Compute queue active cycles"];
    // Forty workgroups of four warps on ten cores: the waits of a warp's 8000 multiplications in a row.
    let alone = h.c.count(NAMES, |_, c| h.dispatch(c, 40, 8000));
    let ns = alone[0] / 1.3;
    unsafe { h.c.g.device.device_wait_idle() }.unwrap();
    for (queue, at) in [(h.c.g.queue, 0), (h.second, 2)] {
        h.submit(
            queue,
            |c| {
                h.stamp(c, at, Stages::TOP_OF_PIPE);
                h.dispatch(c, 40, 8000);
                h.stamp(c, at + 1, Stages::COMPUTE_SHADER);
            },
            None,
        );
    }
    let t = h.times::<4>(0);
    let elapsed = t[1].max(t[3]) - t[0].min(t[2]);
    assert!((elapsed as f64) > 1.99 * ns && (elapsed as f64) < 2.01 * ns + 10.0, "{t:?}, alone {ns} ns");
    h.free();
}

/// A dispatch beside a pass: both at once take less than one after the other, and no less than their work on all cores.
#[test]
fn what_runs_at_once_shares_the_cores() {
    let h = Heavy::new();
    const NAMES: [&str; 4] = [
        "GPU active cycles",
        "Any workload active cycles",
        "Main phase queue active cycles",
        "Compute queue active cycles",
    ];
    let pass = |c| h.pass(c, || h.draw(c, 2000));
    let barrier = |c| h.barrier(c, Stages::ALL_COMMANDS, Stages::ALL_COMMANDS);
    let [serial, core, main, compute] = h.c.count(NAMES, |_, c| {
        pass(c);
        barrier(c);
        h.dispatch(c, 100, 2000);
    });
    let both = h.c.count(NAMES, |_, c| {
        pass(c);
        h.dispatch(c, 100, 2000);
    });
    // But for what is rounded.
    assert!((both[1] / core - 1.0).abs() < 1e-4, "work is what it is: {both:?} {core}");
    assert!(both[0] < serial && both[0] >= core / 10.0, "{both:?} {serial} {core}");
    // Neither is faster for the other.
    assert!(both[2] >= main && both[3] >= compute, "{both:?} {main} {compute}");
    h.free();
}

/// Whoever could run, but for the cores that an earlier job has all of, waits; which each queue's counter tells.
#[test]
fn who_comes_later_waits_for_cores() {
    let h = Heavy::new();
    const STALLS: [&str; 3] = [
        "Binning phase queue endpoint stall cycles",
        "Compute queue endpoint stall cycles",
        "Main phase queue endpoint stall cycles",
    ];
    // 16 workgroups of four warps fill a core, 160 all ten; the job's own thousand cycles are next to nothing beside them.
    let all = |c| h.dispatch(c, 160, 800_000);
    let [none, _, none_either] = h.c.count(STALLS, |_, c| all(c));
    assert_eq!([none, none_either], [0.0; 2]);
    // Binning beside it, and a pass that has nothing to bin; the dispatch was submitted before, to the other queue.
    let [binning, compute, main] = h.c.count(STALLS, |_, c| {
        h.submit(h.second(), all, None);
        h.pass(c, || ());
        h.pass(c, || h.draw(c, 1));
    });
    assert!(binning > 0.0 && main > 0.0 && compute == 0.0, "{binning} {compute} {main}");
    h.free();
}

/// The same bits on every run, however the host dawdles.
#[test]
fn the_hosts_pace_changes_no_time() {
    let run = |pause: u64| {
        let h = Heavy::new();
        let wait = || std::thread::sleep(std::time::Duration::from_millis(pause));
        let mut seen = vec![];
        for i in 0..3 {
            h.submit(
                h.c.g.queue,
                |c| {
                    h.stamp(c, 4 * i, Stages::TOP_OF_PIPE);
                    h.pass(c, || h.draw(c, 50 * (i + 1)));
                    h.dispatch(c, 7, 300);
                    h.stamp(c, 4 * i + 1, Stages::BOTTOM_OF_PIPE);
                },
                None,
            );
            wait();
            if i == 1 {
                seen.extend(h.times::<2>(0));
            }
        }
        wait();
        seen.extend(h.times::<2>(4));
        seen.extend(h.times::<2>(8));
        h.free();
        // Time begins with the device.
        seen
    };
    let first = run(0);
    assert_eq!([run(3), run(11), run(0)], [first.clone(), first.clone(), first]);
}

/// A shader's clock goes on by what its warp waits for, and lies between the stamps around its dispatch.
#[test]
fn shader_clocks_advance_with_the_warps_cost() {
    let mut clock = vk::PhysicalDeviceShaderClockFeaturesKHR::default().shader_device_clock(true);
    let g = Gpu::with(&[vk::KHR_SHADER_CLOCK_NAME, vk::KHR_PUSH_DESCRIPTOR_NAME], &mut clock);
    let d = &g.device;
    let pushed = ash::khr::push_descriptor::Device::new(&g.instance, d);
    let out = g.buffer(4);
    unsafe {
        let code = shader::words(include_bytes!("shaders/clock.comp.spv"));
        let module =
            d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None).unwrap();
        let compute = vk::ShaderStageFlags::COMPUTE;
        let binding = [vk::DescriptorSetLayoutBinding::default()
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count(1)
            .stage_flags(compute)];
        let info = vk::DescriptorSetLayoutCreateInfo::default()
            .flags(vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR)
            .bindings(&binding);
        let set = d.create_descriptor_set_layout(&info, None).unwrap();
        let sets = [set];
        let push = [vk::PushConstantRange { stage_flags: compute, offset: 0, size: 4 }];
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(&push);
        let layout = d.create_pipeline_layout(&info, None).unwrap();
        let stage = vk::PipelineShaderStageCreateInfo::default().stage(compute).module(module).name(c"main");
        let info = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
        let pipeline = d.create_compute_pipelines(vk::PipelineCache::null(), &info, None).unwrap()[0];
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(2);
        let pool = d.create_query_pool(&info, None).unwrap();
        let mut passed = [0u64; 3];
        for (passed, n) in passed.iter_mut().zip([100u32, 1100, 2100]) {
            g.run(|d, c| {
                d.cmd_reset_query_pool(c, pool, 0, 2);
                d.cmd_write_timestamp2(c, Stages::ALL_COMMANDS, pool, 0);
                d.cmd_bind_pipeline(c, vk::PipelineBindPoint::COMPUTE, pipeline);
                let buffer =
                    [vk::DescriptorBufferInfo { buffer: out.buffer, offset: 0, range: vk::WHOLE_SIZE }];
                let write = [vk::WriteDescriptorSet::default()
                    .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                    .buffer_info(&buffer)];
                pushed.cmd_push_descriptor_set(c, vk::PipelineBindPoint::COMPUTE, layout, 0, &write);
                d.cmd_push_constants(c, layout, compute, 0, &n.to_le_bytes());
                d.cmd_dispatch(c, 1, 1, 1);
                d.cmd_write_timestamp2(c, Stages::ALL_COMMANDS, pool, 1);
            });
            let mut stamps = [0u64; 2];
            d.get_query_pool_results(pool, 0, &mut stamps, vk::QueryResultFlags::TYPE_64).unwrap();
            let began = out.words[1] as u64 | (out.words[2] as u64) << 32;
            *passed = out.words[0] as u64;
            assert!(stamps[0] <= began && began + *passed <= stamps[1], "{stamps:?} {began} {passed}");
        }
        // A thousand multiplications more: four cycles each at 1.3 GHz, and what the loop itself takes.
        let more = [passed[1] - passed[0], passed[2] - passed[1]];
        assert!(more[0].abs_diff(more[1]) <= 1 && more[0] >= 3077, "{passed:?}");
        d.destroy_query_pool(pool, None);
        d.destroy_pipeline(pipeline, None);
        d.destroy_pipeline_layout(layout, None);
        d.destroy_descriptor_set_layout(set, None);
        d.destroy_shader_module(module, None);
    }
    g.free(out);
}
