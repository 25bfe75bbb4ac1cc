//! VkSemaphore: binary and timeline, shared by descriptors or not.

use crate::base::answer::{Answer, code, created, invalid};
use crate::base::given::{Call, Doomed, In, Out};
use crate::base::object::Object;
use crate::device::Device;
use crate::instance::external::SEMAPHORES;
use crate::sync::shared_sync::{self, Payloads};
use machine::payload::Kind;
use machine::sync;
use machine::turns::Step;
use std::ffi::c_int;
use std::sync::Arc;

pub struct Semaphore {
    pub(super) payloads: Payloads<sync::Semaphore>,
}

impl Semaphore {
    /// What signals and the host's waits are for.
    pub(crate) fn gpu(&self) -> Arc<sync::Semaphore> {
        self.payloads.now()
    }
    /// What a queue waits for: it ends what was imported for one wait.
    pub(crate) fn waited(&self) -> Arc<sync::Semaphore> {
        self.payloads.taken()
    }
}

/// Handle types of payloads.
const OPAQUE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_FD;
const SYNC: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;

impl Object for Semaphore {
    type Handle = vk::Semaphore;
}

pub(crate) fn create_semaphore(
    device: &Device,
    info: In<vk::SemaphoreCreateInfo>,
    out: Out<vk::Semaphore>,
) -> vk::Result {
    let initial = info
        .find::<vk::SemaphoreTypeCreateInfo>()
        .filter(|t| t.semaphore_type == vk::SemaphoreType::TIMELINE)
        .map(|t| t.initial_value);
    let exported =
        info.find::<vk::ExportSemaphoreCreateInfo>().is_some_and(|e| e.handle_types.contains(SEMAPHORES));
    let kind = if initial.is_some() { Kind::Timeline } else { Kind::Binary };
    let made = match (exported, initial) {
        (true, _) => {
            shared_sync::shareable(device, kind, initial.unwrap_or(0), shared_sync::of_semaphore(info))
                .map(sync::Semaphore::of)
        }
        (_, Some(value)) => Ok(sync::Semaphore::timeline(value)),
        _ => Ok(sync::Semaphore::binary()),
    };
    created(out, made.map(|own| Semaphore { payloads: Payloads::new(own) }))
}

pub(crate) fn destroy_semaphore(_: &Device, semaphore: Doomed<Semaphore>) {
    semaphore.destroy();
}

pub(crate) fn get_semaphore_counter_value(
    device: &Device,
    semaphore: vk::Semaphore,
    value: Out<u64>,
) -> vk::Result {
    if let Some(s) = device.object::<Semaphore>(semaphore) {
        let gpu = s.gpu();
        let now = gpu.value();
        value.set(now);
        device.clock().seen(gpu.time(now));
        device.saw(|| gpu.marks(now));
    }
    device.alive()
}

pub(crate) fn signal_semaphore(device: &Device, info: In<vk::SemaphoreSignalInfo>) -> vk::Result {
    if let Some(s) = device.object::<Semaphore>(info.semaphore) {
        // What the host knows of has ended before it signals.
        let (now, gpu) = (device.clock().floor(), s.gpu());
        device.hub().change(|| {
            device.turns().host(Step::Signal(gpu.clone(), info.value));
            gpu.signal(info.value, now);
        });
        gpu::hazards::host::settle(&device.gpu.shared);
    }
    device.alive()
}

pub(crate) fn wait_semaphores(device: &Device, info: In<vk::SemaphoreWaitInfo>, timeout: u64) -> vk::Result {
    let i = info;
    let values = i.values();
    let waits: Vec<(Arc<sync::Semaphore>, u64)> = i
        .semaphores()
        .iter()
        .zip(values)
        .filter_map(|(&s, &v)| Some((device.object::<Semaphore>(s)?.gpu(), v)))
        .collect();
    let any = i.flags.contains(vk::SemaphoreWaitFlags::ANY);
    let ready = || {
        let mut each = waits.iter().map(|(s, v)| s.ready(*v));
        if any { each.any(|r| r) } else { each.all(|r| r) }
    };
    let result =
        if ready() { vk::Result::SUCCESS } else { device.waited(device.hub().wait(timeout, ready), ready) };
    for (s, v) in waits.iter().filter(|(s, v)| s.ready(*v)) {
        device.clock().seen(s.time(*v));
        device.saw(|| s.marks(s.value()));
    }
    result
}

pub(crate) fn get_semaphore_fd_khr(
    device: &Device,
    info: In<vk::SemaphoreGetFdInfoKHR>,
    out: Out<c_int>,
) -> vk::Result {
    let Some(s) = device.object::<Semaphore>(info.semaphore) else { return vk::Result::ERROR_UNKNOWN };
    let fd = match info.handle_type {
        OPAQUE => shared_sync::exported(s.gpu().payload()),
        // This is a wait: the receiver of the descriptor finds it signalled.
        SYNC => {
            let gpu = s.waited();
            shared_sync::until(device, || {
                let ready = gpu.ready(0);
                if ready {
                    gpu.take();
                }
                ready
            })
        }
        other => Err(invalid(&format!("vkGetSemaphoreFdKHR: descriptors of type {other:?}"))),
    };
    code(fd.map(|fd| out.set(fd)))
}

pub(crate) fn import_semaphore_fd_khr(device: &Device, info: In<vk::ImportSemaphoreFdInfoKHR>) -> vk::Result {
    code(import(device, info))
}

fn import(device: &Device, i: In<vk::ImportSemaphoreFdInfoKHR>) -> Answer {
    let s = device.object::<Semaphore>(i.semaphore).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let temporary = i.flags.contains(vk::SemaphoreImportFlags::TEMPORARY);
    match i.handle_type {
        OPAQUE => {
            let kind = if s.gpu().timeline { Kind::Timeline } else { Kind::Binary };
            let payload = shared_sync::opened(device, i.fd, &[kind])?;
            s.payloads.import(sync::Semaphore::of(payload), temporary);
        }
        SYNC if !s.gpu().timeline => {
            shared_sync::signalled(i.fd)?;
            let gpu = sync::Semaphore::binary();
            device.turns().host(Step::Signal(gpu.clone(), 0));
            gpu.signal(0, 0);
            s.payloads.import(gpu, true);
        }
        other => return Err(invalid(&format!("vkImportSemaphoreFdKHR: descriptors of type {other:?}"))),
    }
    Ok(())
}
