//! Views of a multiview pass: each has its own counts and its own time.

use crate::gpu::{Gpu, Viewed};
use crate::knobs::bench::graphics;
use crate::model::SIDE;
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

/// Of the pass: views 0 and 2.
const MASK: u32 = 0b101;
/// Pixels that each covers: all, and an eighth of each side.
const PIXELS: [u64; 2] = [(SIDE * SIDE) as u64, (SIDE * SIDE / 64) as u64];

struct Rig {
    g: Gpu,
    target: Viewed,
    modules: [vk::ShaderModule; 2],
    layout: vk::PipelineLayout,
    draw: vk::Pipeline,
}

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Rig {
    fn new() -> Rig {
        let mut performance =
            vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
        let mut v11 = vk::PhysicalDeviceVulkan11Features::default().multiview(true);
        v11.p_next = (&raw mut performance).cast();
        let g = Gpu::with(&[vk::KHR_PERFORMANCE_QUERY_NAME], &mut v11);
        let d = &g.device;
        let module = |bytes| {
            let code = shader::words(bytes);
            unsafe { d.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&code), None) }
                .unwrap()
        };
        let modules = [
            module(&include_bytes!("shaders/views.vert.spv")[..]),
            module(include_bytes!("shaders/heavy.frag.spv")),
        ];
        let stages = vk::ShaderStageFlags::FRAGMENT;
        let push = [vk::PushConstantRange { stage_flags: stages, offset: 0, size: 4 }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        unsafe {
            let layout = d.create_pipeline_layout(&info, None).unwrap();
            let draw = graphics(d, layout, modules, [SIDE; 2], MASK);
            let target = g.layers([SIDE; 2], 3, vk::ImageUsageFlags::COLOR_ATTACHMENT);
            Rig { modules, layout, draw, target, g }
        }
    }

    /// A pass in which `within` is recorded; what it calls records a draw.
    fn run(&self, within: impl FnOnce(&ash::Device, vk::CommandBuffer, &dyn Fn())) {
        let area = vk::Rect2D { extent: vk::Extent2D { width: SIDE, height: SIDE }, ..Default::default() };
        let colour = [vk::RenderingAttachmentInfo::default()
            .image_view(self.target.view)
            .image_layout(vk::ImageLayout::GENERAL)
            .load_op(vk::AttachmentLoadOp::CLEAR)
            .store_op(vk::AttachmentStoreOp::STORE)];
        let info = vk::RenderingInfo::default()
            .render_area(area)
            .layer_count(1)
            .view_mask(MASK)
            .color_attachments(&colour);
        self.g.run(|d, c| unsafe {
            d.cmd_begin_rendering(c, &info);
            d.cmd_bind_pipeline(c, vk::PipelineBindPoint::GRAPHICS, self.draw);
            d.cmd_set_scissor(c, 0, &[area]);
            let n = 500u32.to_le_bytes();
            d.cmd_push_constants(c, self.layout, vk::ShaderStageFlags::FRAGMENT, 0, &n);
            within(d, c, &|| d.cmd_draw(c, 6, 1, 0, 0));
            d.cmd_end_rendering(c);
        });
    }

    fn pool<T: vk::ExtendsQueryPoolCreateInfo>(
        &self,
        ty: vk::QueryType,
        bits: vk::QueryPipelineStatisticFlags,
        more: &mut T,
    ) -> vk::QueryPool {
        let info = vk::QueryPoolCreateInfo::default()
            .query_type(ty)
            .query_count(4)
            .pipeline_statistics(bits)
            .push_next(more);
        let pool = unsafe { self.g.device.create_query_pool(&info, None) }.unwrap();
        unsafe { self.g.device.reset_query_pool(pool, 0, 4) };
        pool
    }

    /// The first `N` queries' words, of as many each.
    fn results<const N: usize, const W: usize>(&self, pool: vk::QueryPool) -> [[u64; W]; N] {
        let mut got = [[0u64; W]; N];
        let flags = vk::QueryResultFlags::TYPE_64;
        unsafe {
            self.g.device.get_query_pool_results(pool, 0, &mut got, flags).unwrap();
            self.g.device.destroy_query_pool(pool, None);
        }
        got
    }

    fn free(self) {
        let d = &self.g.device;
        unsafe {
            d.destroy_pipeline(self.draw, None);
            d.destroy_pipeline_layout(self.layout, None);
            self.modules.into_iter().for_each(|m| d.destroy_shader_module(m, None));
        }
        self.g.free_image(self.target);
    }
}

/// All of a draw's counts are told, each view's in the query at its place.
#[test]
fn each_view_has_its_own_counts() {
    let r = Rig::new();
    let none = vk::QueryPipelineStatisticFlags::empty();
    let bits = vk::QueryPipelineStatisticFlags::INPUT_ASSEMBLY_VERTICES
        | vk::QueryPipelineStatisticFlags::FRAGMENT_SHADER_INVOCATIONS;
    let numbers =
        ["MaliFragWarp", "TuffFragmentInvocations", "MaliMainQueueTask", "TuffMainFmaInstr"].map(|machine| {
            counters::catalogue::reported().iter().position(|c| c.machine == machine).unwrap() as u32
        });
    let mut counted = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&numbers);
    let performance = r.pool(vk::QueryType::PERFORMANCE_QUERY_KHR, none, &mut counted);
    let mut nothing = vk::QueryPoolPerformanceCreateInfoKHR::default();
    let statistics = r.pool(vk::QueryType::PIPELINE_STATISTICS, bits, &mut nothing);
    let occlusion = r.pool(vk::QueryType::OCCLUSION, none, &mut nothing);
    let precise = vk::QueryControlFlags::PRECISE;
    r.run(|d, c, draw| unsafe {
        // What is before and behind is nobody's.
        draw();
        let pools =
            [(performance, Default::default()), (statistics, Default::default()), (occlusion, precise)];
        pools.iter().for_each(|(p, flags)| d.cmd_begin_query(c, *p, 0, *flags));
        draw();
        draw();
        pools.iter().for_each(|(p, _)| d.cmd_end_query(c, *p, 0));
        draw();
    });
    let [all, few] = PIXELS.map(|n| 2 * n);
    assert_eq!(r.results::<2, 1>(occlusion), [[all], [few]]);
    assert_eq!(r.results::<2, 2>(statistics), [[12, all], [12, few]]);
    let [[warps, invocations, tasks, fma], [few_warps, few_invocations, few_tasks, few_fma]] =
        r.results::<2, 4>(performance);
    assert_eq!([invocations, few_invocations], [all, few]);
    // Blocks of 4 x 4 pixels; both of a box's triangles shade those of its diagonal.
    let blocks = |side: u64| 2 * (side * side + side);
    assert_eq!([warps, few_warps], [blocks(u64::from(SIDE) / 4), blocks(u64::from(SIDE) / 32)]);
    // Each warp multiplies 500 times. Vertices of what lies in one region are shaded in this phase too.
    assert!(
        fma == 500 * warps && (500 * few_warps..500 * few_warps + 10).contains(&few_fma),
        "{fma} {few_fma}"
    );
    // Regions are the pass's, and told where it ends.
    assert_eq!([tasks, few_tasks], [0, 0]);
    r.free();
}

/// A view's timestamps go on by what its draws cost, and never back.
#[test]
fn each_view_has_its_own_time() {
    let r = Rig::new();
    let none = vk::QueryPipelineStatisticFlags::empty();
    let mut nothing = vk::QueryPoolPerformanceCreateInfoKHR::default();
    let [first, second] = [0, 1].map(|_| r.pool(vk::QueryType::TIMESTAMP, none, &mut nothing));
    r.run(|d, c, draw| unsafe {
        let stamp = |pool| d.cmd_write_timestamp2(c, Stages::BOTTOM_OF_PIPE, pool, 0);
        stamp(first);
        draw();
        stamp(second);
    });
    let ([[a], [b]], [[c], [d]]) = (r.results::<2, 1>(first), r.results::<2, 1>(second));
    let (large, small) = (c - a, d - b);
    // 64 times the pixels. Of the small one a core shades what the large one is shaded by ten for.
    assert!(large > 30 * small && small > 0, "{large} ns and {small} ns");
    assert!(b >= c, "views follow one another: {:?}", [a, b, c, d]);
    r.free();
}
