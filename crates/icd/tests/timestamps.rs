//! Timestamps: which queries a command writes.

use crate::gpu::Gpu;
use ash::vk;

/// Queries of the pool, and what each has: its value, if it is available.
const QUERIES: u32 = 6;

// SAFETY (all blocks): handles are alive, structures outlive the calls.
fn results(g: &Gpu, pool: vk::QueryPool) -> Vec<Option<u64>> {
    let mut got = [[0u64; 2]; QUERIES as usize];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WITH_AVAILABILITY;
    let r = unsafe { g.device.get_query_pool_results(pool, 0, &mut got, flags) };
    assert!(matches!(r, Ok(()) | Err(vk::Result::NOT_READY)), "{r:?}");
    got.map(|[value, available]| (available != 0).then_some(value)).to_vec()
}

/// In a pass of N views a timestamp is written to N queries (§ Query Operation), and to no other.
#[test]
fn each_view_of_a_pass_has_a_query() {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default().multiview(true);
    let g = Gpu::with(&[], &mut v11);
    let d = &g.device;
    let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
    let pool = unsafe { d.create_query_pool(&info, None) }.unwrap();
    for (mask, views) in [(0u32, 1), (0b1, 1), (0b11, 2), (0b101, 2), (0b111, 3)] {
        g.run(|d, c| unsafe {
            d.cmd_reset_query_pool(c, pool, 0, QUERIES);
            let area = vk::Rect2D { extent: vk::Extent2D { width: 64, height: 64 }, ..Default::default() };
            let info = vk::RenderingInfo::default().render_area(area).layer_count(1).view_mask(mask);
            d.cmd_begin_rendering(c, &info);
            d.cmd_write_timestamp(c, vk::PipelineStageFlags::BOTTOM_OF_PIPE, pool, 1);
            d.cmd_end_rendering(c);
        });
        let got = results(&g, pool);
        let written: Vec<_> = got.iter().map(Option::is_some).collect();
        let wanted: Vec<_> = (0..QUERIES).map(|q| (1..1 + views).contains(&q)).collect();
        assert_eq!(written, wanted, "views {mask:b}");
        assert!(got[1] > Some(0), "views {mask:b}: {got:?}");
    }
    unsafe { d.destroy_query_pool(pool, None) };
}
