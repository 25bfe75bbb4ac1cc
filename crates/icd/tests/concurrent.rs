//! Which counters other work of the device can change: those with CONCURRENTLY_IMPACTED, and no other.

use crate::model::SIDE;
use crate::time::Heavy;
use ash::vk;
use vk::PipelineStageFlags2 as Stages;

// SAFETY (all blocks): handles are alive, structures outlive the calls.
/// All counters of a dispatch, a pass and a copy; `beside`: while the second queue works too, submitted before.
fn measured(h: &Heavy, beside: bool) -> Vec<u64> {
    let d = &h.c.g.device;
    let indices: Vec<u32> = (0..h.c.names.len() as u32).collect();
    let mut counters = vk::QueryPoolPerformanceCreateInfoKHR::default().counter_indices(&indices);
    let info = vk::QueryPoolCreateInfo::default()
        .query_type(vk::QueryType::PERFORMANCE_QUERY_KHR)
        .query_count(1)
        .push_next(&mut counters);
    let pool = unsafe { d.create_query_pool(&info, None) }.unwrap();
    unsafe { d.reset_query_pool(pool, 0, 1) };
    let [copied, filled] = [(SIDE * SIDE) as usize, 1 << 18].map(|words| h.c.g.buffer(words));
    // The same in the L2 and the target each time.
    h.c.g.run(|_, c| h.pass(c, || ()));
    h.c.empty_l2();
    unsafe { d.device_wait_idle() }.unwrap();
    if beside {
        let list = [h.c.g.record(|d, c| {
            h.dispatch(c, 30, 9000);
            unsafe { d.cmd_fill_buffer(c, filled.buffer, 0, vk::WHOLE_SIZE, 3) };
        })];
        let batch = [vk::SubmitInfo::default().command_buffers(&list)];
        unsafe { d.queue_submit(h.second(), &batch, vk::Fence::null()) }.unwrap();
    }
    h.c.g.run(|d, c| {
        unsafe { d.cmd_begin_query(c, pool, 0, Default::default()) };
        h.dispatch(c, 20, 3000);
        h.pass(c, || h.draw(c, 300));
        h.barrier(c, Stages::ALL_COMMANDS, Stages::ALL_COMMANDS);
        h.c.copy(d, c, &copied);
        unsafe { d.cmd_end_query(c, pool, 0) };
    });
    let mut values = vec![0u64; indices.len()];
    unsafe {
        d.device_wait_idle().unwrap();
        // One query, of as many words.
        let bytes = size_of_val(&values[..]);
        let get = d.fp_v1_0().get_query_pool_results;
        let none = vk::QueryResultFlags::empty();
        let to = values.as_mut_ptr().cast();
        assert_eq!(get(d.handle(), pool, 0, 1, bytes, to, bytes as u64, none), vk::Result::SUCCESS);
        d.destroy_query_pool(pool, None);
    }
    [copied, filled].into_iter().for_each(|b| h.c.g.free(b));
    values
}

#[test]
fn what_others_change_is_flagged() {
    let h = Heavy::new();
    let (alone, again, beside) = (measured(&h, false), measured(&h, false), measured(&h, true));
    assert_eq!(alone, again, "the same each time");
    let mut changed = vec![];
    for (i, name) in h.c.names.iter().enumerate() {
        if alone[i] != beside[i] {
            assert!(h.c.impacted[i], "{name}: {} alone, {} beside others", alone[i], beside[i]);
            changed.push(name.as_str());
        }
    }
    for name in ["GPU active cycles", "L2 cache flush cycles", "Execution core active cycles"] {
        assert!(changed.contains(&name), "{name}: {changed:?}");
    }
    // Most that count are no one else's affair.
    let flagged = h.c.impacted.iter().filter(|f| **f).count();
    assert!(flagged * 3 < h.c.impacted.len() * 2, "{flagged} of {}", h.c.impacted.len());
    h.free();
}
