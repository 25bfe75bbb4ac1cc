//! A program that makes instances and destroys them, one after the other, where something else lies at the addresses that the driver prefers.

mod common;
#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod gpu;

use ash::vk;
use gpu::Gpu;

/// Bytes of a sparse block, and words.
const BLOCK: u64 = 64 << 10;
const WORDS: usize = BLOCK as usize / 4;

/// Mappings of a tebibyte and more.
fn reservations() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let large = |l: &&str| {
        let (from, to) = l.split_once(' ').and_then(|(range, _)| range.split_once('-')).expect("a range");
        let [from, to] = [from, to].map(|n| u64::from_str_radix(n, 16).expect("an address"));
        to - from >= 1 << 40
    };
    maps.lines().filter(large).map(str::to_owned).collect()
}

/// A buffer of three blocks, the second of which has no memory: each is filled with ones, and what they hold then.
fn sparse() -> [u32; 6] {
    let core = vk::PhysicalDeviceFeatures::default().sparse_binding(true).sparse_residency_buffer(true);
    let g = Gpu::with(&[], &mut vk::PhysicalDeviceFeatures2::default().features(core));
    let d = &g.device;
    let info = vk::BufferCreateInfo::default()
        .size(3 * BLOCK)
        .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST)
        .flags(vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY);
    let out = g.buffer(3 * WORDS);
    // SAFETY: handles are alive, structures outlive the calls.
    unsafe {
        let b = d.create_buffer(&info, None).expect("a sparse buffer");
        let types = d.get_buffer_memory_requirements(b).memory_type_bits;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(2 * BLOCK)
            .memory_type_index(types.trailing_zeros());
        let memory = d.allocate_memory(&info, None).expect("memory");
        let part = |block: u64, of: u64| {
            let bind = vk::SparseMemoryBind::default().resource_offset(block * BLOCK).size(BLOCK);
            bind.memory(memory).memory_offset(of * BLOCK)
        };
        let parts = [part(0, 0), part(2, 1)];
        let of = [vk::SparseBufferMemoryBindInfo::default().buffer(b).binds(&parts)];
        let info = vk::BindSparseInfo::default().buffer_binds(&of);
        d.queue_bind_sparse(g.queue, &[info], vk::Fence::null()).expect("it is bound");
        d.queue_wait_idle(g.queue).expect("it ends");
        g.run(|d, c| {
            d.cmd_fill_buffer(c, b, 0, vk::WHOLE_SIZE, 1);
            d.cmd_copy_buffer(c, b, out.buffer, &[vk::BufferCopy::default().size(3 * BLOCK)]);
        });
        d.destroy_buffer(b, None);
        d.free_memory(memory, None);
    }
    // The first and the last word of each block.
    let found = [0, 1, 2].map(|n| [n * WORDS, (n + 1) * WORDS - 1]);
    let found = [found[0][0], found[0][1], found[1][0], found[1][1], found[2][0], found[2][1]];
    let found = found.map(|i| out.words[i]);
    g.free(out);
    found
}

#[test]
fn instances_come_and_go() {
    // SAFETY: a page where nothing lies.
    let page = unsafe {
        let at = (32usize << 40) as *mut libc::c_void;
        libc::mmap(at, 4096, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    };
    assert_ne!(page, libc::MAP_FAILED);
    let before = reservations();
    let mut first = None;
    for _ in 0..3 {
        // A thread that has used a library keeps it loaded as long as it lives.
        let last = common::instance(&[]);
        let found = std::thread::spawn(sparse).join().expect("no panic");
        // SAFETY: nothing of it is left.
        unsafe { last.destroy_instance(None) };
        assert_eq!(found, [1, 1, 0, 0, 1, 1]);
        // (What it maps in it lies between.)
        let now = reservations();
        assert!(now.len() > before.len(), "{now:?}");
        assert_eq!(first.get_or_insert(now.len()), &now.len(), "{now:?}");
    }
}
