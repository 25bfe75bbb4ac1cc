//! VK_ARM_render_pass_striped through the real loader: semaphores of stripes, in truth and in modelled time.

use crate::gpu::Gpu;
use ash::vk;
use std::slice::from_ref;

const SIDE: u32 = 64;
const ALL: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

fn binary(d: &ash::Device) -> vk::SemaphoreSubmitInfo<'static> {
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    let semaphore = unsafe { d.create_semaphore(&Default::default(), None) }.unwrap();
    vk::SemaphoreSubmitInfo::default().semaphore(semaphore).stage_mask(ALL)
}

/// One queue draws a pass of two stripes, one above the other, and then waits for the host; the host waits for another
/// queue, which has waited for the stripes. So they are signalled ahead of their batch's end, or this never ends.
#[test]
fn stripes_are_done_before_their_batch() {
    let mut features = vk::PhysicalDeviceRenderPassStripedFeaturesARM::default().render_pass_striped(true);
    let g = Gpu::with(&[vk::ARM_RENDER_PASS_STRIPED_NAME], &mut features);
    let d = &g.device;
    unsafe {
        let other = d.get_device_queue(0, 1);
        let event = d.create_event(&Default::default(), None).unwrap();
        let fence = d.create_fence(&Default::default(), None).unwrap();
        let stripes = [binary(d), binary(d)];
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(4);
        let times = d.create_query_pool(&info, None).unwrap();
        d.reset_query_pool(times, 0, 4);

        let draw = g.record(|d, c| {
            let extent = vk::Extent2D { width: SIDE, height: SIDE };
            let stripe = |i: i32| {
                let offset = vk::Offset2D { x: 0, y: i * SIDE as i32 };
                vk::RenderPassStripeInfoARM::default().stripe_area(vk::Rect2D { offset, extent })
            };
            let areas = [stripe(0), stripe(1)];
            let mut striped = vk::RenderPassStripeBeginInfoARM::default().stripe_infos(&areas);
            let extent = vk::Extent2D { width: SIDE, height: 2 * SIDE };
            let info = vk::RenderingInfo::default()
                .render_area(vk::Rect2D { extent, ..Default::default() })
                .layer_count(1)
                .push_next(&mut striped);
            d.cmd_write_timestamp2(c, vk::PipelineStageFlags2::TOP_OF_PIPE, times, 0);
            d.cmd_begin_rendering(c, &info);
            d.cmd_end_rendering(c);
            d.cmd_write_timestamp2(c, ALL, times, 1);
            let (host, all) = (vk::PipelineStageFlags::HOST, vk::PipelineStageFlags::ALL_COMMANDS);
            d.cmd_wait_events(c, &[event], host, all, &[], &[], &[]);
        });
        let mut signals = vk::RenderPassStripeSubmitInfoARM::default().stripe_semaphore_infos(&stripes);
        let list = vk::CommandBufferSubmitInfo::default().command_buffer(draw).push_next(&mut signals);
        let submit = vk::SubmitInfo2::default().command_buffer_infos(from_ref(&list));
        d.queue_submit2(g.queue, &[submit], vk::Fence::null()).unwrap();

        let when = |query| {
            g.record(|d, c| d.cmd_write_timestamp2(c, vk::PipelineStageFlags2::TOP_OF_PIPE, times, query))
        };
        let lists = [2, 3].map(|query| vk::CommandBufferSubmitInfo::default().command_buffer(when(query)));
        let each = |i: usize| {
            vk::SubmitInfo2::default()
                .wait_semaphore_infos(from_ref(&stripes[i]))
                .command_buffer_infos(from_ref(&lists[i]))
        };
        d.queue_submit2(other, &[each(0), each(1)], fence).unwrap();
        d.wait_for_fences(&[fence], true, 20_000_000_000)
            .expect("stripes are signalled before the event is set");
        d.set_event(event).unwrap();
        d.device_wait_idle().unwrap();

        let mut t = [0u64; 4];
        d.get_query_pool_results(times, 0, &mut t, vk::QueryResultFlags::TYPE_64).unwrap();
        let [begin, end, first, second] = t;
        assert!(begin < end, "{t:?}");
        // Both stripes have as many pixels.
        assert_eq!([first, second], [begin + (end - begin).div_ceil(2), end], "{t:?}");

        d.destroy_query_pool(times, None);
        stripes.iter().for_each(|s| d.destroy_semaphore(s.semaphore, None));
        d.destroy_fence(fence, None);
        d.destroy_event(event, None);
    }
}
