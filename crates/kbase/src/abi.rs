//! kbase's interface for counters: requests, structures and enumerations, by its own names.

use bytemuck::{Pod, Zeroable};

/// The version that is spoken: the first with 64-bit counters whose blocks say when they had power.
pub const MAJOR: u16 = 1;
pub const MINOR: u16 = 24;

const WRITE: u32 = 1;
const READ: u32 = 2;

/// `_IOC`: an argument of type `T`, by its size.
const fn request<T>(direction: u32, magic: u32, number: u32) -> u32 {
    direction << 30 | (size_of::<T>() as u32) << 16 | magic << 8 | number
}

const KBASE: u32 = 0x80;
const KINSTR: u32 = 0xBF;

pub const SET_FLAGS: u32 = request::<u32>(WRITE, KBASE, 0x01);
pub const GET_GPUPROPS: u32 = request::<GetGpuProps>(WRITE, KBASE, 0x03);
pub const CS_GET_GLB_IFACE: u32 = request::<GlbIfaceIn>(READ | WRITE, KBASE, 0x33);
/// Of GPUs with a command stream front end; the older ones' number 0 is not answered.
pub const VERSION_CHECK: u32 = request::<Version>(READ | WRITE, KBASE, 0x34);
pub const KINSTR_PRFCNT_ENUM_INFO: u32 = request::<EnumInfo>(READ | WRITE, KBASE, 0x38);
pub const KINSTR_PRFCNT_SETUP: u32 = request::<SetupIn>(READ | WRITE, KBASE, 0x39);

pub const KINSTR_CMD: u32 = request::<ControlCmd>(WRITE, KINSTR, 0x00);
pub const KINSTR_GET_SAMPLE: u32 = request::<SampleAccess>(READ, KINSTR, 0x01);
pub const KINSTR_PUT_SAMPLE: u32 = request::<SampleAccess>(WRITE, KINSTR, 0x10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

/// Context creation flags that mean something: embedded, no submissions (a monitor), event thread, memory group.
pub const CREATE_FLAGS: u32 = 0x7F;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct GetGpuProps {
    pub buffer: u64,
    pub size: u32,
    pub flags: u32,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct GlbIfaceIn {
    pub max_group_num: u32,
    pub max_total_stream_num: u32,
    pub groups_ptr: u64,
    pub streams_ptr: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GlbIfaceOut {
    pub glb_version: u32,
    pub features: u32,
    pub group_num: u32,
    pub prfcnt_size: u32,
    pub total_stream_num: u32,
    pub instr_features: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct EnumInfo {
    pub info_item_size: u32,
    pub info_item_count: u32,
    pub info_list_ptr: u64,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct SetupIn {
    pub request_item_count: u32,
    pub request_item_size: u32,
    pub requests_ptr: u64,
}

/// Takes the place of the first half of [`SetupIn`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SetupOut {
    pub prfcnt_metadata_item_size: u32,
    pub prfcnt_mmap_size_bytes: u32,
}

/// How every item of a list begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Header {
    pub item_type: u16,
    pub item_version: u16,
    pub pad: u32,
}

impl Header {
    pub fn of(item_type: u16) -> Header {
        Header { item_type, ..Header::default() }
    }
}

/// The only version of items.
pub const ITEM_VERSION: u16 = 0;

/// Types of items; 0 ends lists of requests and of metadata, and a block item of zeros ends an enumeration.
pub const ITEM_NONE: u16 = 0;
pub const ENUM_BLOCK: u16 = 0x0000;
pub const ENUM_REQUEST: u16 = 0x0001;
pub const ENUM_SAMPLE_INFO: u16 = 0x0002;
pub const REQUEST_MODE: u16 = 0x1000;
pub const REQUEST_ENABLE: u16 = 0x1001;
pub const REQUEST_SCOPE: u16 = 0x1002;
pub const METADATA_SAMPLE: u16 = 0x2000;
pub const METADATA_CLOCK: u16 = 0x2001;
pub const METADATA_BLOCK: u16 = 0x2002;

/// `prfcnt_set` of the counters that there are; `sampling_mode` and `counters_scope` of requests that are met.
pub const SET_PRIMARY: u8 = 0;
pub const MODE_MANUAL: u8 = 0;
pub const SCOPE_GLOBAL: u8 = 0;
/// Request types of [`EnumRequest`].
pub const ENUM_MODE: u16 = 0;
pub const ENUM_ENABLE: u16 = 1;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct EnumBlock {
    pub header: Header,
    pub block_type: u8,
    pub set: u8,
    pub pad: [u8; 2],
    pub num_instances: u16,
    pub num_values: u16,
    pub counter_mask: [u64; 2],
}

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct EnumRequest {
    pub header: Header,
    pub request_item_type: u16,
    pub pad: u16,
    pub versions_mask: u32,
    pub rest: [u64; 2],
}

#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct EnumSampleInfo {
    pub header: Header,
    pub num_clock_domains: u32,
    pub pad: u32,
    pub rest: [u64; 2],
}

/// A request, of whichever type: kind (mode, block or scope), set, and period or mask.
#[derive(Clone, Copy, Default, Pod, Zeroable)]
#[repr(C)]
pub struct RequestItem {
    pub header: Header,
    pub what: u8,
    pub set: u8,
    pub pad: [u8; 6],
    pub words: [u64; 2],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SampleMetadata {
    pub header: Header,
    pub timestamp_start: u64,
    pub timestamp_stop: u64,
    pub seq: u64,
    pub user_data: u64,
    pub flags: u32,
    pub pad: u32,
}

pub const MAX_REPORTED_DOMAINS: usize = 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct ClockMetadata {
    pub header: Header,
    pub num_domains: u32,
    pub pad: u32,
    pub cycles: [u64; MAX_REPORTED_DOMAINS],
}

/// `block_state`: it had power, was ours, and worked in the normal mode.
pub const STATE_ON_AVAILABLE_NORMAL: u32 = 1 << 0 | 1 << 2 | 1 << 4;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct BlockMetadata {
    pub header: Header,
    pub block_type: u8,
    pub block_idx: u8,
    pub set: u8,
    pub pad: u8,
    pub block_state: u32,
    /// From the beginning of the mapping.
    pub values_offset: u32,
    pub pad_u32: u32,
    pub rest: [u64; 3],
}

/// Bytes of an item of an enumeration, of a request and of a sample's metadata.
pub const ENUM_ITEM: usize = size_of::<EnumBlock>();
pub const REQUEST_ITEM: usize = size_of::<RequestItem>();
pub const METADATA_ITEM: usize = size_of::<SampleMetadata>();

pub const CMD_START: u16 = 1;
pub const CMD_STOP: u16 = 2;
pub const CMD_SAMPLE_SYNC: u16 = 3;
pub const CMD_DISCARD: u16 = 5;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct ControlCmd {
    pub cmd: u16,
    pub pad: [u16; 3],
    pub user_data: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct SampleAccess {
    pub sequence: u64,
    /// From the beginning of the mapping.
    pub sample_metadata_offset: u64,
}

const _: () = {
    assert!(size_of::<EnumRequest>() == ENUM_ITEM && size_of::<EnumSampleInfo>() == ENUM_ITEM);
    assert!(ENUM_ITEM == 32 && REQUEST_ITEM == 32 && METADATA_ITEM == 48);
    assert!(size_of::<ClockMetadata>() == METADATA_ITEM && size_of::<BlockMetadata>() == METADATA_ITEM);
    assert!(size_of::<GlbIfaceIn>() == size_of::<GlbIfaceOut>());
};
