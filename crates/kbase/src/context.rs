//! An open device: what it is, what it counts, and readers of that.

use crate::abi::{self, EnumBlock, EnumInfo, EnumRequest, EnumSampleInfo, Header, RequestItem, Version};
use crate::sample::{self, BLOCKS, Layout, Shape, VALUES};
use crate::session::Session;
use crate::source::Source;
use crate::user;
use crate::{Errno, Result, props};
use counters::Model;
use parking_lot::Mutex;
use std::os::fd::OwnedFd;
use std::sync::Arc;

const fn err<T>(e: i32) -> Result<T> {
    Err(Errno(e))
}

/// Version of the global interface of a command stream front end: major, minor and patch by bytes.
const GLB_VERSION: u32 = 1 << 24;
/// Requests in a list at most: one of mode, of scope and of each block, and the end.
const REQUESTS: u32 = 2 + BLOCKS.len() as u32 + 1;

pub struct Context {
    source: Arc<dyn Source>,
    shape: Shape,
    props: Vec<u8>,
    setup: Mutex<Setup>,
}

/// How far the caller has come: nothing but the version is answered before its flags are set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Setup {
    Opened,
    Versioned,
    Ready,
}

/// What an ioctl gives.
pub enum Answer {
    Value(i32),
    /// A new descriptor, for a session.
    Session(Arc<Session>, OwnedFd),
}

impl Context {
    pub fn new(source: Arc<dyn Source>, model: &Model) -> Context {
        let shape = Shape::of(model);
        Context { source, shape, props: props::encode(model, &shape), setup: Mutex::new(Setup::Opened) }
    }

    pub fn ioctl(&self, request: u32, argument: u64) -> Result<Answer> {
        let value = match request {
            abi::VERSION_CHECK => self.version_check(argument)?,
            abi::SET_FLAGS => self.set_flags(argument)?,
            abi::GET_GPUPROPS
            | abi::CS_GET_GLB_IFACE
            | abi::KINSTR_PRFCNT_ENUM_INFO
            | abi::KINSTR_PRFCNT_SETUP
                if *self.setup.lock() != Setup::Ready =>
            {
                return err(libc::EPERM);
            }
            abi::GET_GPUPROPS => self.get_gpuprops(argument)?,
            abi::CS_GET_GLB_IFACE => self.cs_get_glb_iface(argument)?,
            abi::KINSTR_PRFCNT_ENUM_INFO => self.enum_info(argument)?,
            abi::KINSTR_PRFCNT_SETUP => return self.kinstr_setup(argument),
            _ => return err(libc::ENOTTY),
        };
        Ok(Answer::Value(value))
    }

    /// Of two versions with the same major number the older is spoken.
    fn version_check(&self, argument: u64) -> Result<i32> {
        let asked: Version = user::read(argument)?;
        let minor = if asked.major == abi::MAJOR { asked.minor.min(abi::MINOR) } else { abi::MINOR };
        user::write(argument, &Version { major: abi::MAJOR, minor })?;
        let mut setup = self.setup.lock();
        *setup = (*setup).max(Setup::Versioned);
        Ok(0)
    }

    fn set_flags(&self, argument: u64) -> Result<i32> {
        let flags: u32 = user::read(argument)?;
        let mut setup = self.setup.lock();
        if *setup != Setup::Versioned {
            return err(libc::EPERM);
        }
        if flags & !abi::CREATE_FLAGS != 0 {
            return err(libc::EINVAL);
        }
        *setup = Setup::Ready;
        Ok(0)
    }

    fn get_gpuprops(&self, argument: u64) -> Result<i32> {
        let asked: abi::GetGpuProps = user::read(argument)?;
        if asked.flags != 0 {
            return err(libc::EINVAL);
        }
        if asked.size != 0 {
            if (asked.size as usize) < self.props.len() {
                return err(libc::EINVAL);
            }
            user::write_bytes(asked.buffer, &self.props)?;
        }
        Ok(self.props.len() as i32)
    }

    /// There are no command stream groups, for none can be submitted here; so nothing goes to the caller's lists.
    fn cs_get_glb_iface(&self, argument: u64) -> Result<i32> {
        let _: abi::GlbIfaceIn = user::read(argument)?;
        let prfcnt_size =
            (VALUES * 8 * (0..BLOCKS.len()).map(|b| self.shape.instances(b) as usize).sum::<usize>())
                .min(0xFFFF) as u32;
        let out = abi::GlbIfaceOut {
            glb_version: GLB_VERSION,
            features: 0,
            group_num: 0,
            prfcnt_size,
            total_stream_num: 0,
            instr_features: 0,
        };
        user::write(argument, &out)?;
        Ok(0)
    }

    /// Every block, the requests that are met, what a sample says beside counters, and the item that ends the list.
    fn enumeration(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for block in 0..BLOCKS.len() {
            bytes.extend(bytemuck::bytes_of(&EnumBlock {
                header: Header::of(abi::ENUM_BLOCK),
                block_type: block as u8,
                set: abi::SET_PRIMARY,
                num_instances: self.shape.instances(block),
                num_values: VALUES as u16,
                counter_mask: sample::counter_mask(block),
                ..Default::default()
            }));
        }
        for request_item_type in [abi::ENUM_MODE, abi::ENUM_ENABLE] {
            bytes.extend(bytemuck::bytes_of(&EnumRequest {
                header: Header::of(abi::ENUM_REQUEST),
                request_item_type,
                versions_mask: 1 << abi::ITEM_VERSION,
                ..Default::default()
            }));
        }
        bytes.extend(bytemuck::bytes_of(&EnumSampleInfo {
            header: Header::of(abi::ENUM_SAMPLE_INFO),
            num_clock_domains: sample::DOMAINS,
            ..Default::default()
        }));
        bytes.extend(bytemuck::bytes_of(&EnumBlock::default()));
        bytes
    }

    fn enum_info(&self, argument: u64) -> Result<i32> {
        let asked: EnumInfo = user::read(argument)?;
        let items = self.enumeration();
        let size = abi::ENUM_ITEM as u32;
        let count = (items.len() / abi::ENUM_ITEM) as u32;
        if asked.info_list_ptr == 0 {
            if (asked.info_item_size, asked.info_item_count) != (0, 0) {
                return err(libc::EINVAL);
            }
            user::write(argument, &EnumInfo { info_item_size: size, info_item_count: count, ..asked })?;
        } else {
            if (asked.info_item_size, asked.info_item_count) != (size, count) {
                return err(libc::EINVAL);
            }
            user::write_bytes(asked.info_list_ptr, &items)?;
        }
        Ok(0)
    }

    fn kinstr_setup(&self, argument: u64) -> Result<Answer> {
        let asked: abi::SetupIn = user::read(argument)?;
        if asked.request_item_size as usize != abi::REQUEST_ITEM
            || !(2..=REQUESTS).contains(&asked.request_item_count)
        {
            return err(libc::EINVAL);
        }
        let bytes =
            user::read_bytes(asked.requests_ptr, asked.request_item_count as usize * abi::REQUEST_ITEM)?;
        let items: Vec<RequestItem> =
            bytes.chunks_exact(abi::REQUEST_ITEM).map(bytemuck::pod_read_unaligned).collect();
        let layout = Layout::new(self.shape, enabled(&items)?);
        let (session, fd) = Session::new(self.source.clone(), layout)?;
        let out = abi::SetupOut {
            prfcnt_metadata_item_size: abi::METADATA_ITEM as u32,
            prfcnt_mmap_size_bytes: session.ring_bytes() as u32,
        };
        user::write(argument, &out)?;
        Ok(Answer::Session(Arc::new(session), fd))
    }
}

/// The counters of each block that a list of requests enables. Samples are taken on request alone: who wants them by
/// the clock is refused.
fn enabled(items: &[RequestItem]) -> Result<[Option<[u64; 2]>; 4]> {
    let mut masks = [None; BLOCKS.len()];
    let mut manual = false;
    let Some((last, requests)) = items.split_last() else { return err(libc::EINVAL) };
    if last.header != Header::of(abi::ITEM_NONE) {
        return err(libc::EINVAL);
    }
    for r in requests {
        if r.header.item_version != abi::ITEM_VERSION {
            return err(libc::EINVAL);
        }
        match r.header.item_type {
            abi::REQUEST_MODE if !manual && r.what == abi::MODE_MANUAL => manual = true,
            abi::REQUEST_SCOPE if r.what == abi::SCOPE_GLOBAL => {}
            abi::REQUEST_ENABLE if r.set == abi::SET_PRIMARY => match masks.get_mut(r.what as usize) {
                Some(mask @ None) => *mask = Some(r.words),
                _ => return err(libc::EINVAL),
            },
            _ => return err(libc::EINVAL),
        }
    }
    if manual && masks.iter().any(Option::is_some) { Ok(masks) } else { err(libc::EINVAL) }
}
