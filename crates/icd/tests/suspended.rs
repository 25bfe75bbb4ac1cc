//! A render pass instance in suspended parts is one pass: one record, with the counts, the bytes and the time of the whole.

use crate::gpu::Gpu;
use crate::model::Counted;
use crate::time::Heavy;
use ash::vk::{self, Handle};
use channel::{Channel, Read, Reader, WorkloadKind};
use std::ffi::{CString, c_void};
use vk::RenderingFlags as Flags;

const OUT: Flags = Flags::SUSPENDING;
const BACK: Flags = Flags::RESUMING;
const MIDDLE: Flags = Flags::from_raw(OUT.as_raw() | BACK.as_raw());

/// What a record says of a pass, but for when it began.
#[derive(Debug, PartialEq)]
struct Told {
    label: String,
    events: Vec<u64>,
    /// Nanoseconds of binning, main phase and both.
    took: [u64; 3],
}

struct Rig {
    h: Heavy,
    labels: ash::ext::debug_utils::Device,
    reader: Reader,
    device: u32,
    queries: vk::QueryPool,
}

/// A draw, a clear of a square and a draw, over the target cleared to this red.
type Ways = [(&'static str, fn(&Rig) -> Vec<vk::CommandBuffer>)];

// SAFETY (all blocks): handles are alive, structures outlive the calls.
impl Rig {
    fn new() -> Rig {
        let mut features =
            vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
        let extensions = [vk::KHR_PERFORMANCE_QUERY_NAME, vk::KHR_PUSH_DESCRIPTOR_NAME];
        let instance = crate::common::instance(&[ash::ext::debug_utils::NAME]);
        let h = Heavy::of(Counted::of(Gpu::of(instance, &extensions, &mut features)));
        let g = &h.c.g;
        let channel = Channel::find().expect("the driver is loaded");
        let device = channel.device_number(g.device.handle().as_raw() as *const c_void).expect("a device");
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::OCCLUSION).query_count(2);
        Rig {
            labels: ash::ext::debug_utils::Device::new(&g.instance, &g.device),
            reader: channel.reader(1000).expect("a reader"),
            device,
            queries: unsafe { g.device.create_query_pool(&info, None) }.expect("a query pool"),
            h,
        }
    }

    fn part(&self, c: vk::CommandBuffer, flags: Flags, draw: impl FnOnce()) {
        self.h.c.pass(&self.h.c.g.device, c, flags, 0.75, draw);
    }
    /// One of the two draws.
    fn draw(&self, c: vk::CommandBuffer, n: u32) {
        self.h.draw(c, 100 * n);
    }
    fn begin(&self, c: vk::CommandBuffer, name: &str) {
        let name = CString::new(name).expect("no zeros");
        let label = vk::DebugUtilsLabelEXT::default().label_name(&name);
        unsafe { self.labels.cmd_begin_debug_utils_label(c, &label) };
    }
    fn end(&self, c: vk::CommandBuffer) {
        unsafe { self.labels.cmd_end_debug_utils_label(c) };
    }
    fn list(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        self.h.c.g.record(|_, c| record(c))
    }
    /// A secondary command buffer.
    fn secondary(&self, record: impl FnOnce(vk::CommandBuffer)) -> vk::CommandBuffer {
        let g = &self.h.c.g;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(g.pool)
            .level(vk::CommandBufferLevel::SECONDARY)
            .command_buffer_count(1);
        let inherited = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default().inheritance_info(&inherited);
        unsafe {
            let c = g.device.allocate_command_buffers(&info).expect("a command buffer")[0];
            g.device.begin_command_buffer(c, &begin).expect("it begins");
            record(c);
            g.device.end_command_buffer(c).expect("it ends");
            c
        }
    }
    fn execute(&self, c: vk::CommandBuffer, secondary: vk::CommandBuffer) {
        unsafe { self.h.c.g.device.cmd_execute_commands(c, &[secondary]) };
    }
    fn counted(&self, c: vk::CommandBuffer, query: u32, draw: impl FnOnce()) {
        let d = &self.h.c.g.device;
        unsafe { d.cmd_begin_query(c, self.queries, query, vk::QueryControlFlags::PRECISE) };
        draw();
        unsafe { d.cmd_end_query(c, self.queries, query) };
    }

    /// Runs these as one batch, after which the device is as it was before: the passes' records.
    fn run(&mut self, lists: &[vk::CommandBuffer]) -> Vec<Told> {
        let g = &self.h.c.g;
        self.h.c.empty_l2();
        // Else tiles hold already what they are to hold.
        g.run(|d, c| self.h.c.pass(d, c, Flags::empty(), 0.25, || ()));
        self.h.c.empty_l2();
        self.reader.start();
        let batch = [vk::SubmitInfo::default().command_buffers(lists)];
        unsafe {
            g.device.queue_submit(g.queue, &batch, vk::Fence::null()).expect("work is accepted");
            g.device.device_wait_idle().expect("work ends");
        }
        self.reader.stop();
        let mut told = vec![];
        while let Read::Record(r) = self.reader.read(None) {
            if r.device == self.device && r.kind == WorkloadKind::RenderPass {
                let took = [r.binning, r.main, r.span].map(|s| s.end - s.begin);
                told.push(Told { label: r.label.into(), events: r.events.to_vec(), took });
            }
        }
        told
    }
}

const WAYS: &Ways = &[
    ("one command buffer", |r| {
        vec![r.list(|c| {
            r.begin(c, "scene");
            r.part(c, OUT, || r.draw(c, 1));
            r.part(c, BACK, || r.draw(c, 2));
            r.end(c);
        })]
    }),
    ("two command buffers", |r| {
        let first = r.list(|c| {
            r.begin(c, "scene");
            r.part(c, OUT, || r.draw(c, 1));
        });
        let second = r.list(|c| {
            r.part(c, BACK, || r.draw(c, 2));
            r.end(c);
        });
        vec![first, second]
    }),
    ("three parts, one of them empty, with labels of their own", |r| {
        let first = r.list(|c| {
            r.begin(c, "scene");
            r.part(c, OUT, || {
                r.begin(c, "over the end");
                r.draw(c, 1);
            });
            r.end(c);
            r.part(c, MIDDLE, || ());
            r.begin(c, "between");
        });
        let second = r.list(|c| {
            r.part(c, BACK, || r.draw(c, 2));
            r.end(c);
            r.end(c);
        });
        vec![first, second]
    }),
    ("secondaries", |r| {
        let parts = [
            r.secondary(|c| r.part(c, OUT, || r.draw(c, 1))),
            r.secondary(|c| r.part(c, BACK, || r.draw(c, 2))),
        ];
        vec![r.list(|c| {
            r.begin(c, "scene");
            parts.iter().for_each(|p| r.execute(c, *p));
            r.end(c);
        })]
    }),
];

#[test]
fn a_suspended_pass_is_the_whole_one() {
    let mut r = Rig::new();
    let whole = |r: &Rig| {
        vec![r.list(|c| {
            r.begin(c, "scene");
            r.part(c, Flags::empty(), || {
                r.draw(c, 1);
                r.draw(c, 2);
            });
            r.end(c);
        })]
    };
    let lists = whole(&r);
    let want = r.run(&lists);
    let picture = r.h.c.picture();
    assert_eq!((want.len(), want[0].label.as_str()), (1, "scene"));
    // The target holds another colour: nothing is spared.
    let names = Channel::find().expect("the driver is loaded").event_names();
    let at = |name: &str| names.iter().position(|n| *n == name).expect("an event");
    assert_eq!([want[0].events[at("MainJobs")], want[0].events[at("TilesKilled")]], [1, 0]);
    for (name, record) in WAYS {
        let lists = record(&r);
        assert_eq!(r.run(&lists), want, "{name}");
        assert_eq!(r.h.c.picture(), picture, "{name}");
    }
    // Two passes, of which the second loads, are not one.
    let lists = [whole(&r)[0], r.list(|c| r.part(c, BACK, || r.draw(c, 2)))];
    let told = r.run(&lists);
    assert_eq!(told.len(), 2);
    assert!(told[1].events[at("FfeExtReadBeats")] > 0, "what resumes nothing loads");
    r.free();
}

/// Each part's query has its own samples; a timestamp between the parts lies within the pass.
#[test]
fn queries_tell_the_parts_apart() {
    let mut r = Rig::new();
    let d = r.h.c.g.device.clone();
    let full = u64::from(crate::model::SIDE).pow(2);
    let lists = [r.list(|c| {
        unsafe { d.cmd_reset_query_pool(c, r.queries, 0, 2) };
        r.part(c, OUT, || r.counted(c, 0, || r.draw(c, 1)));
        r.part(c, BACK, || {
            r.counted(c, 1, || {
                r.draw(c, 2);
                r.draw(c, 2);
            })
        });
    })];
    assert_eq!(r.run(&lists).len(), 1);
    let mut got = [0u64; 2];
    let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
    unsafe { d.get_query_pool_results(r.queries, 0, &mut got, flags) }.unwrap();
    assert_eq!(got, [full, 2 * full]);
    r.free();
}

/// Without the rest in its batch, a suspended pass ends with that; what breaks in on it finds the pass's picture.
#[test]
fn what_is_never_resumed_ends() {
    let mut r = Rig::new();
    let lists = [r.list(|c| r.part(c, OUT, || r.draw(c, 1)))];
    assert_eq!(r.run(&lists).len(), 1);
    let picture = r.h.c.picture();
    let d = r.h.c.g.device.clone();
    let copy = r.h.c.g.buffer((crate::model::SIDE * crate::model::SIDE) as usize);
    let lists = [r.list(|c| {
        r.part(c, OUT, || r.draw(c, 1));
        r.h.c.copy(&d, c, &copy);
        r.part(c, BACK, || ());
    })];
    assert_eq!(r.run(&lists).len(), 2);
    assert!(copy.words == picture.as_slice() && r.h.c.picture() == picture);
    r.h.c.g.free(copy);
    r.free();
}

impl Rig {
    fn free(self) {
        unsafe { self.h.c.g.device.destroy_query_pool(self.queries, None) };
        drop(self.reader);
        self.h.free();
    }
}
