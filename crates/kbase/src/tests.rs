//! The protocol, request by request, as a caller sees it: sizes, values, errors.

use crate::abi::*;
use crate::context::{Answer, Context};
use crate::sample::{BLOCKS, Shape, VALUES};
use crate::session::{SAMPLES, Session};
use crate::source::{Reading, Source};
use crate::{Errno, Mapping, Result};
use bytemuck::Zeroable;
use counters::{Block, Model};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A GPU with one event, which is everything's value; 0: not loaded.
struct Fake(AtomicU64);

impl Source for Fake {
    fn totals(&self) -> Option<Vec<u64>> {
        Some(vec![self.0.load(Relaxed)]).filter(|t| t[0] != 0)
    }
    fn readings(&self, events: &[u64]) -> Vec<Reading> {
        let Some(&value) = events.first() else { return vec![] };
        let of = |block, index, scale| Reading { block, index, scale, value };
        vec![
            of(Block::GpuFrontend, 4, 1),
            of(Block::GpuFrontend, 100, 1),
            of(Block::MemorySystem, 16, 1),
            of(Block::ShaderCore, 69, 4),
            of(Block::ShaderCore, 127, 1),
        ]
    }
}

fn address<T>(value: &mut T) -> u64 {
    std::ptr::from_mut(value) as u64
}

fn value(answer: Result<Answer>) -> Result<i32> {
    match answer? {
        Answer::Value(v) => Ok(v),
        Answer::Session(..) => panic!("a session"),
    }
}

fn fresh() -> (Arc<Fake>, Context) {
    let source = Arc::new(Fake(AtomicU64::new(0)));
    let context = Context::new(source.clone(), &Model::default());
    (source, context)
}

/// As libGPUCounters begins: version 0.0, then the flag of a monitor.
fn ready() -> (Arc<Fake>, Context) {
    let (source, context) = fresh();
    let mut version = Version { major: 0, minor: 0 };
    assert_eq!(value(context.ioctl(VERSION_CHECK, address(&mut version))), Ok(0));
    assert_eq!(version, Version { major: 1, minor: 24 });
    assert_eq!(value(context.ioctl(SET_FLAGS, address(&mut 2u32))), Ok(0));
    (source, context)
}

fn refused<T>(answer: Result<T>) -> i32 {
    answer.map(|_| ()).expect_err("it was not refused").0
}

#[test]
fn requests_have_kbase_s_numbers() {
    let all = [SET_FLAGS, GET_GPUPROPS, CS_GET_GLB_IFACE, VERSION_CHECK, KINSTR_PRFCNT_ENUM_INFO];
    assert_eq!(all, [0x4004_8001, 0x4010_8003, 0xC018_8033, 0xC004_8034, 0xC010_8038]);
    let all = [KINSTR_PRFCNT_SETUP, KINSTR_CMD, KINSTR_GET_SAMPLE, KINSTR_PUT_SAMPLE];
    assert_eq!(all, [0xC010_8039, 0x4010_BF00, 0x8010_BF01, 0x4010_BF10]);
}

#[test]
fn the_version_is_agreed_on() {
    let (_, context) = fresh();
    for (asked, spoken) in [((1, 17), (1, 17)), ((1, 30), (1, 24)), ((11, 40), (1, 24)), ((0, 0), (1, 24))] {
        let mut version = Version { major: asked.0, minor: asked.1 };
        assert_eq!(value(context.ioctl(VERSION_CHECK, address(&mut version))), Ok(0));
        assert_eq!((version.major, version.minor), spoken);
    }
    // The check of job manager GPUs, in both its sizes, is for another kernel.
    for request in [0xC004_8000, 0xC010_8000] {
        let mut version = [0u32; 4];
        assert_eq!(refused(context.ioctl(request, address(&mut version))), libc::ENOTTY);
        assert_eq!(version, [0; 4]);
    }
}

#[test]
fn nothing_is_answered_before_the_flags() {
    let (_, context) = fresh();
    let mut buffer = [0u64; 4];
    let late = [GET_GPUPROPS, CS_GET_GLB_IFACE, KINSTR_PRFCNT_ENUM_INFO, KINSTR_PRFCNT_SETUP, SET_FLAGS];
    for request in late {
        assert_eq!(refused(context.ioctl(request, address(&mut buffer))), libc::EPERM);
    }
    value(context.ioctl(VERSION_CHECK, address(&mut buffer))).unwrap();
    assert_eq!(refused(context.ioctl(GET_GPUPROPS, address(&mut buffer))), libc::EPERM);
    assert_eq!(refused(context.ioctl(SET_FLAGS, address(&mut 0x80u32))), libc::EINVAL);
    assert_eq!(value(context.ioctl(SET_FLAGS, address(&mut 2u32))), Ok(0));
    assert_eq!(refused(context.ioctl(SET_FLAGS, address(&mut 2u32))), libc::EPERM);
}

#[test]
fn bad_addresses_are_faults() {
    let (_, context) = ready();
    let all = [
        VERSION_CHECK,
        SET_FLAGS,
        GET_GPUPROPS,
        CS_GET_GLB_IFACE,
        KINSTR_PRFCNT_ENUM_INFO,
        KINSTR_PRFCNT_SETUP,
    ];
    for request in all {
        for address in [0, 8, 0xFFFF_8000_0000_0000, u64::MAX] {
            assert_eq!(refused(context.ioctl(request, address)), libc::EFAULT, "{request:#x} {address:#x}");
        }
    }
    // Memory that is there, but not to be written to.
    static CONSTANT: [u64; 3] = [0; 3];
    assert_eq!(refused(context.ioctl(CS_GET_GLB_IFACE, CONSTANT.as_ptr() as u64)), libc::EFAULT);
    let mut props = GetGpuProps { buffer: 16, size: 4096, flags: 0 };
    assert_eq!(refused(context.ioctl(GET_GPUPROPS, address(&mut props))), libc::EFAULT);
    assert_eq!(refused(context.ioctl(0xDEAD_BEEF, 0)), libc::ENOTTY);
}

/// The list, read as libGPUCounters does.
fn decoded(bytes: &[u8]) -> Vec<(u32, u64)> {
    let mut list = vec![];
    let mut rest = bytes;
    while !rest.is_empty() {
        let (key, more) = rest.split_at(4);
        let key = u32::from_le_bytes(key.try_into().unwrap());
        let (value, more) = more.split_at(1 << (key & 3));
        let mut whole = [0; 8];
        whole[..value.len()].copy_from_slice(value);
        list.push((key >> 2, u64::from_le_bytes(whole)));
        rest = more;
    }
    list
}

#[test]
fn properties_are_a_g720_of_the_model() {
    let (_, context) = ready();
    let mut props = GetGpuProps { buffer: 0, size: 0, flags: 0 };
    let size = value(context.ioctl(GET_GPUPROPS, address(&mut props))).unwrap();
    let mut buffer = vec![0xAAu8; size as usize + 4];
    let at = buffer.as_mut_ptr() as u64;
    let ask = |size, flags| {
        value(context.ioctl(GET_GPUPROPS, address(&mut GetGpuProps { buffer: at, size, flags })))
    };
    assert_eq!(ask(size as u32 - 1, 0), Err(Errno(libc::EINVAL)));
    assert_eq!(ask(size as u32, 1), Err(Errno(libc::EINVAL)));
    assert_eq!(ask(size as u32 + 4, 0), Ok(size));
    assert_eq!(buffer[size as usize..], [0xAA; 4]);
    let list = decoded(&buffer[..size as usize]);
    let of = |code| list.iter().find(|p| p.0 == code).unwrap_or_else(|| panic!("{code}")).1;
    assert_eq!((of(55), of(64), of(62), of(15)), (0xC870_0010, 0x3FF, 1, 4));
    assert_eq!((of(29) >> 24, of(14), of(30) & 15), (8, 19, 4));
}

#[test]
fn the_global_interface_has_no_streams() {
    let (_, context) = ready();
    let mut words = [u32::MAX; 6];
    assert_eq!(value(context.ioctl(CS_GET_GLB_IFACE, address(&mut words))), Ok(0));
    assert_eq!((words[0] >> 24, words[2], words[4]), (1, 0, 0));
}

#[test]
fn what_can_be_counted_is_enumerated() {
    let (_, context) = ready();
    let mut info = EnumInfo { info_item_size: 0, info_item_count: 0, info_list_ptr: 0 };
    assert_eq!(value(context.ioctl(KINSTR_PRFCNT_ENUM_INFO, address(&mut info))), Ok(0));
    assert_eq!((info.info_item_size, info.info_item_count), (32, 8));
    let mut items = vec![EnumBlock { num_values: 9, ..Default::default() }; 8];
    let list = items.as_mut_ptr() as u64;
    for (size, count, at, wrong) in [
        (32, 7, list, libc::EINVAL),
        (31, 8, list, libc::EINVAL),
        (32, 8, 0, libc::EINVAL),
        (32, 8, 16, libc::EFAULT),
    ] {
        let mut info = EnumInfo { info_item_size: size, info_item_count: count, info_list_ptr: at };
        assert_eq!(refused(context.ioctl(KINSTR_PRFCNT_ENUM_INFO, address(&mut info))), wrong);
    }
    info.info_list_ptr = list;
    assert_eq!(value(context.ioctl(KINSTR_PRFCNT_ENUM_INFO, address(&mut info))), Ok(0));
    let types: Vec<_> = items.iter().map(|i| i.header.item_type).collect();
    assert_eq!(types, [0, 0, 0, 0, 1, 1, 2, 0]);
    let blocks: Vec<_> = items[..4].iter().map(|b| (b.block_type, b.num_instances, b.num_values)).collect();
    assert_eq!(blocks, [(0, 1, 128), (1, 1, 128), (2, 4, 128), (3, 10, 128)]);
    assert!(items[..4].iter().all(|b| b.counter_mask[0] != 0));
    assert_eq!(items[3].counter_mask[0] & 0xF, 0, "the header's values are no counters");
    assert_eq!(items[7], EnumBlock::default());
}

fn mode(what: u8) -> RequestItem {
    RequestItem { header: Header::of(REQUEST_MODE), what, ..Default::default() }
}
fn enable(what: u8, mask: [u64; 2]) -> RequestItem {
    RequestItem { header: Header::of(REQUEST_ENABLE), what, words: mask, ..Default::default() }
}
const ALL: [u64; 2] = [u64::MAX; 2];

fn setup(context: &Context, items: &[RequestItem]) -> Result<(Arc<Session>, OwnedFd, SetupOut)> {
    let mut asked = SetupIn {
        request_item_count: items.len() as u32,
        request_item_size: 32,
        requests_ptr: items.as_ptr() as u64,
    };
    match context.ioctl(KINSTR_PRFCNT_SETUP, address(&mut asked))? {
        Answer::Session(session, fd) => {
            let out = bytemuck::bytes_of(&asked)[..8].to_vec();
            Ok((session, fd, bytemuck::pod_read_unaligned(&out)))
        }
        Answer::Value(v) => panic!("{v}"),
    }
}

#[test]
fn requests_are_looked_at() {
    let (_, context) = ready();
    let end = RequestItem::default();
    let both = [mode(0), enable(0, ALL), enable(3, ALL), end];
    let scope = RequestItem { header: Header::of(REQUEST_SCOPE), ..Default::default() };
    assert!(setup(&context, &both).is_ok());
    assert!(setup(&context, &[mode(0), scope, enable(2, ALL), end]).is_ok());
    let newer = RequestItem { header: Header { item_version: 1, ..mode(0).header }, ..mode(0) };
    let secondary = RequestItem { set: 1, ..enable(1, ALL) };
    let lists: [&[RequestItem]; 10] = [
        &both[..3],
        &both[1..],
        &[mode(0), end],
        &[end],
        &[],
        &[mode(1), enable(0, ALL), end],
        &[mode(0), enable(4, ALL), end],
        &[mode(0), enable(0, ALL), enable(0, ALL), end],
        &[newer, enable(0, ALL), end],
        &[mode(0), secondary, end],
    ];
    for (i, list) in lists.iter().enumerate() {
        assert_eq!(setup(&context, list).map(|_| ()), Err(Errno(libc::EINVAL)), "{i}");
    }
    for (count, size, at, wrong) in [
        (1000, 32, both.as_ptr() as u64, libc::EINVAL),
        (4, 24, both.as_ptr() as u64, libc::EINVAL),
        (4, 32, 0, libc::EFAULT),
    ] {
        let mut asked = SetupIn { request_item_count: count, request_item_size: size, requests_ptr: at };
        assert_eq!(refused(context.ioctl(KINSTR_PRFCNT_SETUP, address(&mut asked))), wrong);
    }
}

/// Of so many bytes, to read, private, from the beginning.
fn wanted(size: usize) -> Mapping {
    let (protection, flags) = (libc::PROT_READ, libc::MAP_PRIVATE);
    Mapping { address: std::ptr::null_mut(), size, protection, flags, offset: 0 }
}

struct Reader {
    session: Arc<Session>,
    fd: OwnedFd,
    map: *const u8,
    size: usize,
}

impl Reader {
    fn new(context: &Context, items: &[RequestItem]) -> Reader {
        let (session, fd, out) = setup(context, items).unwrap();
        assert_eq!(out.prfcnt_metadata_item_size, 48);
        let size = out.prfcnt_mmap_size_bytes as usize;
        let map = session.map(wanted(size)).unwrap();
        Reader { session, fd, map: map.cast(), size }
    }
    fn command(&self, cmd: u16, user_data: u64) -> Result<i32> {
        self.session.ioctl(KINSTR_CMD, address(&mut ControlCmd { cmd, pad: [0; 3], user_data }))
    }
    fn readable(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor.
        unsafe { libc::poll(&mut poll, 1, 0) == 1 }
    }
    fn get(&self) -> Result<SampleAccess> {
        let mut access = SampleAccess::zeroed();
        self.session.ioctl(KINSTR_GET_SAMPLE, address(&mut access)).map(|_| access)
    }
    fn put(&self, mut access: SampleAccess) -> Result<i32> {
        self.session.ioctl(KINSTR_PUT_SAMPLE, address(&mut access))
    }
    fn at<T: bytemuck::Pod>(&self, offset: usize) -> T {
        assert!(offset + size_of::<T>() <= self.size);
        // SAFETY: within the mapping.
        unsafe { self.map.add(offset).cast::<T>().read_unaligned() }
    }
    /// A sample: its own metadata, its clocks, and type, instance and values of each block.
    fn sample(&self, access: SampleAccess) -> (SampleMetadata, ClockMetadata, Vec<(u8, u8, Vec<u64>)>) {
        let item = |n: usize| access.sample_metadata_offset as usize + 48 * n;
        let mut blocks = vec![];
        loop {
            let block: BlockMetadata = self.at(item(2 + blocks.len()));
            if block.header.item_type == ITEM_NONE {
                break;
            }
            assert_eq!((block.header.item_type, block.block_state), (METADATA_BLOCK, 0x15));
            let values = (0..VALUES).map(|i| self.at(block.values_offset as usize + 8 * i)).collect();
            blocks.push((block.block_type, block.block_idx, values));
        }
        (self.at(item(0)), self.at(item(1)), blocks)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: our own mapping, used no more.
        unsafe { libc::munmap(self.map.cast_mut().cast(), self.size) };
    }
}

#[test]
fn samples_are_what_was_counted_since_the_one_before() {
    let (source, context) = ready();
    let masks = [enable(0, [1 << 4, 0]), enable(2, ALL), enable(3, [0, 1 << (69 - 64)])];
    let items = [mode(0), masks[0], masks[1], masks[2], RequestItem::default()];
    let reader = Reader::new(&context, &items);
    assert_eq!(reader.get(), Err(Errno(libc::EAGAIN)));
    for early in [CMD_SAMPLE_SYNC, CMD_STOP] {
        assert_eq!(reader.command(early, 0), Err(Errno(libc::EINVAL)));
    }
    assert_eq!(reader.command(CMD_START, 1), Ok(0));
    // There is no GPU yet, and there is nothing to read.
    assert_eq!(reader.command(CMD_SAMPLE_SYNC, 2), Ok(0));
    assert!(reader.readable());
    let access = reader.get().unwrap();
    assert!(!reader.readable());
    let (head, clock, blocks) = reader.sample(access);
    assert_eq!((head.header.item_type, head.seq, head.user_data), (METADATA_SAMPLE, 0, 2));
    assert!(head.timestamp_start <= head.timestamp_stop && head.timestamp_start > 0);
    assert_eq!((clock.header.item_type, clock.num_domains, clock.cycles), (METADATA_CLOCK, 2, [0; 4]));
    let order: Vec<_> = blocks.iter().map(|b| (b.0, b.1)).collect();
    let cores = (0..10).map(|i| (3, i));
    assert_eq!(order, [(0, 0)].into_iter().chain((0..4).map(|i| (2, i))).chain(cores).collect::<Vec<_>>());
    assert!(blocks.iter().all(|b| b.2.iter().all(|&v| v == 0)));
    reader.put(access).unwrap();

    let mut last = head.timestamp_stop;
    for (total, delta) in [(1230, 1230), (1230, 0), (5000, 3770)] {
        source.0.store(total, Relaxed);
        assert_eq!(reader.command(CMD_SAMPLE_SYNC, 0), Ok(0));
        let access = reader.get().unwrap();
        assert_eq!(reader.get(), Err(Errno(libc::EBUSY)));
        let (head, clock, blocks) = reader.sample(access);
        assert_eq!(head.timestamp_start, last);
        last = head.timestamp_stop;
        assert_eq!(clock.cycles, [delta, delta, 0, 0]);
        let sum = |ty, index: usize| blocks.iter().filter(|b| b.0 == ty).map(|b| b.2[index]).sum::<u64>();
        assert_eq!((sum(0, 4), sum(2, 16), sum(3, 69)), (delta, delta, delta / 4));
        assert_eq!((sum(0, 100), sum(3, 127)), (0, 0), "not enabled");
        let spread: Vec<_> = blocks.iter().filter(|b| b.0 == 2).map(|b| b.2[16]).collect();
        assert!(spread[0] - spread[3] <= 1);
        for wrong in [
            SampleAccess { sequence: access.sequence + 1, ..access },
            SampleAccess { sample_metadata_offset: 1, ..access },
        ] {
            assert_eq!(reader.put(wrong), Err(Errno(libc::EINVAL)));
        }
        assert_eq!(reader.put(access), Ok(0));
        assert_eq!(reader.put(access), Err(Errno(libc::EINVAL)));
    }
    // Stopping takes one more.
    assert_eq!(reader.command(CMD_STOP, 7), Ok(0));
    assert_eq!(reader.sample(reader.get().unwrap()).0.user_data, 7);
    assert_eq!(reader.command(CMD_STOP, 7), Err(Errno(libc::EINVAL)));
}

#[test]
fn a_session_counts_from_its_start() {
    let (source, context) = ready();
    source.0.store(100, Relaxed);
    let reader = Reader::new(&context, &[mode(0), enable(0, ALL), RequestItem::default()]);
    reader.command(CMD_START, 0).unwrap();
    assert_eq!(reader.command(CMD_START, 0), Ok(0), "it runs");
    source.0.store(130, Relaxed);
    reader.command(CMD_SAMPLE_SYNC, 0).unwrap();
    assert_eq!(reader.sample(reader.get().unwrap()).2[0].2[4], 30);
}

#[test]
fn the_ring_is_bounded_and_goes_round() {
    let (source, context) = ready();
    let reader = Reader::new(&context, &[mode(0), enable(0, ALL), RequestItem::default()]);
    reader.command(CMD_START, 0).unwrap();
    for round in 0..3 {
        for i in 0..SAMPLES {
            source.0.fetch_add(1 + i, Relaxed);
            assert_eq!(reader.command(CMD_SAMPLE_SYNC, i), Ok(0));
        }
        assert_eq!(reader.command(CMD_SAMPLE_SYNC, 0), Err(Errno(libc::EBUSY)));
        assert_eq!(reader.command(CMD_STOP, 0), Err(Errno(libc::EBUSY)));
        for i in 0..SAMPLES {
            let access = reader.get().unwrap();
            let (head, _, blocks) = reader.sample(access);
            assert_eq!((head.seq, head.user_data), (round * SAMPLES + i, i));
            assert_eq!(blocks[0].2[4], 1 + i);
            reader.put(access).unwrap();
        }
        assert!(!reader.readable());
    }
    // A sample that is held is not written over, whatever is discarded meanwhile.
    source.0.fetch_add(5, Relaxed);
    reader.command(CMD_SAMPLE_SYNC, 0).unwrap();
    let held = reader.get().unwrap();
    for _ in 1..SAMPLES {
        reader.command(CMD_SAMPLE_SYNC, 0).unwrap();
    }
    reader.command(CMD_DISCARD, 0).unwrap();
    assert!(!reader.readable());
    assert_eq!(reader.command(CMD_SAMPLE_SYNC, 0), Err(Errno(libc::EBUSY)));
    assert_eq!(reader.sample(held).2[0].2[4], 5);
    reader.put(held).unwrap();
    assert_eq!(reader.command(CMD_SAMPLE_SYNC, 0), Ok(0));
}

#[test]
fn sessions_check_what_they_are_given() {
    let (_, context) = ready();
    let reader = Reader::new(&context, &[mode(0), enable(0, ALL), RequestItem::default()]);
    for request in [KINSTR_CMD, KINSTR_PUT_SAMPLE] {
        assert_eq!(reader.session.ioctl(request, 8), Err(Errno(libc::EFAULT)));
    }
    assert_eq!(reader.session.ioctl(GET_GPUPROPS, 0), Err(Errno(libc::ENOTTY)));
    for cmd in [0, 4, 6, u16::MAX] {
        assert_eq!(reader.command(cmd, 0), Err(Errno(libc::EINVAL)));
    }
    reader.command(CMD_START, 0).unwrap();
    reader.command(CMD_SAMPLE_SYNC, 0).unwrap();
    assert_eq!(reader.session.ioctl(KINSTR_GET_SAMPLE, 8), Err(Errno(libc::EFAULT)));
    assert!(reader.readable(), "a fault takes nothing away");
    let map = |size, protection, offset| {
        let flags = libc::MAP_SHARED;
        reader.session.map(Mapping { protection, flags, offset, ..wanted(size) }).map(|_| ())
    };
    assert_eq!(map(reader.size, libc::PROT_READ | libc::PROT_WRITE, 0), Err(Errno(libc::EPERM)));
    assert_eq!(map(reader.size + 8192, libc::PROT_READ, 0), Err(Errno(libc::EINVAL)));
    assert_eq!(map(0, libc::PROT_READ, 0), Err(Errno(libc::EINVAL)));
    assert_eq!(map(4096, libc::PROT_READ, 4096), Err(Errno(libc::EINVAL)));
}

#[test]
fn descriptors_are_real() {
    let fd = crate::open(libc::O_RDONLY).unwrap();
    // SAFETY (here and below): room for what the calls write.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    assert_eq!(unsafe { libc::fstat(fd, &mut stat) }, 0);
    assert_eq!(stat.st_mode & libc::S_IFMT, libc::S_IFCHR);
    assert!(crate::is_ours(fd) && !crate::is_ours(-1) && !crate::is_ours(0));
    let mut version = Version { major: 0, minor: 0 };
    crate::ioctl(fd, VERSION_CHECK, address(&mut version)).unwrap();
    crate::ioctl(fd, SET_FLAGS, address(&mut 2u32)).unwrap();
    assert_eq!(crate::map(fd, wanted(4096)), Err(Errno(libc::EINVAL)));
    let items = [mode(0), enable(1, ALL), RequestItem::default()];
    let mut asked =
        SetupIn { request_item_count: 3, request_item_size: 32, requests_ptr: items.as_ptr() as u64 };
    let session = crate::ioctl(fd, KINSTR_PRFCNT_SETUP, address(&mut asked)).unwrap();
    // A session outlives the device's descriptor.
    assert_eq!(crate::close(fd), Ok(0));
    assert!(!crate::is_ours(fd) && crate::is_ours(session));
    assert_eq!(crate::ioctl(fd, SET_FLAGS, 0), Err(Errno(libc::EBADF)));
    for cmd in [CMD_START, CMD_SAMPLE_SYNC] {
        let mut command = ControlCmd { cmd, pad: [0; 3], user_data: 0 };
        assert_eq!(crate::ioctl(session, KINSTR_CMD, address(&mut command)), Ok(0));
    }
    let size = bytemuck::bytes_of(&asked)[4..8].try_into().map(u32::from_ne_bytes).unwrap() as usize;
    let map = crate::map(session, wanted(size)).unwrap();
    assert_eq!(crate::close(session), Ok(0));
    assert_eq!(crate::close(session), Err(Errno(libc::EBADF)));
    // SAFETY: the mapping is there until it is unmapped.
    unsafe {
        assert_eq!(map.cast::<SampleMetadata>().read().header.item_type, METADATA_SAMPLE);
        assert_eq!(libc::munmap(map, size), 0);
    }
}

#[test]
fn every_hardware_counter_has_a_place() {
    let shape = Shape::of(&Model::default());
    assert_eq!((shape.cores, shape.slices), (10, 4));
    for c in counters::catalogue::all().iter().filter(|c| c.is_hardware()) {
        assert!(BLOCKS.contains(&c.block) && c.index.is_some_and(|i| (4..128).contains(&i)), "{}", c.machine);
    }
    let threads = counters::catalogue::by_machine("MaliFragThread").unwrap();
    assert_eq!((threads.index, threads.scale), (Some(69), 4));
}
