//! Semaphores and fences that two devices share by descriptors (VK_KHR_external_semaphore_fd, VK_KHR_external_fence_fd):
//! § Importing Semaphore Payloads, § Importing Fence Payloads.

use crate::gpu::Gpu;
use ash::vk;
use vk::ExternalFenceHandleTypeFlags as F;
use vk::ExternalSemaphoreHandleTypeFlags as H;

const NS: u64 = 10_000_000_000;

fn device() -> Gpu {
    let names = [ash::khr::external_semaphore_fd::NAME, ash::khr::external_fence_fd::NAME];
    Gpu::with(&names, &mut vk::PhysicalDeviceVulkan11Features::default())
}

fn fds(g: &Gpu) -> ash::khr::external_semaphore_fd::Device {
    ash::khr::external_semaphore_fd::Device::new(&g.instance, &g.device)
}

fn semaphore(g: &Gpu, ty: vk::SemaphoreType, handles: H) -> vk::Semaphore {
    let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(handles);
    let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
    let info = vk::SemaphoreCreateInfo::default().push_next(&mut export).push_next(&mut ty);
    // SAFETY (here and below): handles are alive, structures outlive the calls.
    unsafe { g.device.create_semaphore(&info, None) }.expect("a semaphore")
}

fn submit(g: &Gpu, c: vk::CommandBuffer, wait: Option<vk::Semaphore>, signal: Option<vk::Semaphore>) {
    let buffers = [c];
    let stages = [vk::PipelineStageFlags::ALL_COMMANDS];
    let (wait, signal): (Vec<_>, Vec<_>) = (wait.into_iter().collect(), signal.into_iter().collect());
    let info = [vk::SubmitInfo::default()
        .command_buffers(&buffers)
        .wait_semaphores(&wait)
        .wait_dst_stage_mask(&stages[..wait.len()])
        .signal_semaphores(&signal)];
    unsafe { g.device.queue_submit(g.queue, &info, vk::Fence::null()) }.expect("it is accepted");
}

fn export(g: &Gpu, semaphore: vk::Semaphore, ty: H) -> i32 {
    let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(ty);
    unsafe { fds(g).get_semaphore_fd(&info) }.expect("a descriptor")
}

fn import(g: &Gpu, semaphore: vk::Semaphore, ty: H, fd: i32, temporary: bool) -> Result<(), vk::Result> {
    let flags = if temporary { vk::SemaphoreImportFlags::TEMPORARY } else { Default::default() };
    let info =
        vk::ImportSemaphoreFdInfoKHR::default().semaphore(semaphore).handle_type(ty).fd(fd).flags(flags);
    unsafe { fds(g).import_semaphore_fd(&info) }
}

/// One device's work waits for the other's, submitted later; back and forth.
#[test]
fn a_binary_semaphore_orders_the_work_of_two_devices() {
    let (a, b) = (device(), device());
    let out = b.buffer(4);
    let sa = semaphore(&a, vk::SemaphoreType::BINARY, H::OPAQUE_FD);
    let sb = semaphore(&b, vk::SemaphoreType::BINARY, H::OPAQUE_FD);
    import(&b, sb, H::OPAQUE_FD, export(&a, sa, H::OPAQUE_FD), false).expect("it is imported");
    for round in 1..50u32 {
        let c = b.record(|d, c| unsafe { d.cmd_fill_buffer(c, out.buffer, 0, 16, round) });
        submit(&b, c, Some(sb), None);
        if round == 1 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            assert_eq!(out.words[0], 0, "nobody has signalled");
        }
        submit(&a, a.record(|_, _| ()), None, Some(sa));
        unsafe { b.device.device_wait_idle() }.expect("it ends");
        assert_eq!(out.words[0], round);
    }
    unsafe {
        a.device.device_wait_idle().unwrap();
        a.device.destroy_semaphore(sa, None);
        b.device.destroy_semaphore(sb, None);
    }
    b.free(out);
}

/// Also what another process would do: the payload is in the descriptor alone.
#[test]
fn a_timeline_is_one_for_all_who_have_its_descriptor() {
    let (a, b) = (device(), device());
    let sa = semaphore(&a, vk::SemaphoreType::TIMELINE, H::OPAQUE_FD);
    let sb = semaphore(&b, vk::SemaphoreType::TIMELINE, H::OPAQUE_FD);
    import(&b, sb, H::OPAQUE_FD, export(&a, sa, H::OPAQUE_FD), false).expect("it is imported");
    let all = [sb];
    let wait = vk::SemaphoreWaitInfo::default().semaphores(&all).values(&[7]);
    unsafe {
        assert_eq!(b.device.wait_semaphores(&wait, 1_000_000), Err(vk::Result::TIMEOUT));
        std::thread::scope(|s| {
            let waiter = s.spawn(|| b.device.wait_semaphores(&wait, NS));
            std::thread::sleep(std::time::Duration::from_millis(20));
            let signal = vk::SemaphoreSignalInfo::default().semaphore(sa).value(7);
            a.device.signal_semaphore(&signal).expect("it is signalled");
            assert_eq!(waiter.join().unwrap(), Ok(()));
        });
        assert_eq!(b.device.get_semaphore_counter_value(sb), Ok(7));
        a.device.destroy_semaphore(sa, None);
        assert_eq!(b.device.get_semaphore_counter_value(sb), Ok(7), "it outlives who made it");
        b.device.destroy_semaphore(sb, None);
    }
}

#[test]
fn what_is_imported_for_a_while_is_gone_after_a_wait() {
    let g = device();
    let (own, other) = (
        semaphore(&g, vk::SemaphoreType::BINARY, H::OPAQUE_FD),
        semaphore(&g, vk::SemaphoreType::BINARY, H::OPAQUE_FD),
    );
    let nothing = g.record(|_, _| ());
    // Signalled before it lends its payload: the wait below takes that, and leaves its own alone.
    submit(&g, nothing, None, Some(own));
    unsafe { g.device.device_wait_idle() }.unwrap();
    import(&g, own, H::OPAQUE_FD, export(&g, other, H::OPAQUE_FD), true).expect("it is imported");
    submit(&g, nothing, None, Some(other));
    submit(&g, nothing, Some(own), None);
    submit(&g, nothing, Some(own), None);
    unsafe {
        g.device.device_wait_idle().expect("both waits end");
        g.device.destroy_semaphore(own, None);
        g.device.destroy_semaphore(other, None);
    }
}

#[test]
fn sync_files_say_that_the_work_is_done() {
    let g = device();
    let s = semaphore(&g, vk::SemaphoreType::BINARY, H::SYNC_FD);
    let nothing = g.record(|_, _| ());
    submit(&g, nothing, None, Some(s));
    assert_eq!(export(&g, s, H::SYNC_FD), -1);
    import(&g, s, H::SYNC_FD, -1, true).expect("what has come already");
    submit(&g, nothing, Some(s), None);
    unsafe { g.device.device_wait_idle() }.expect("it was signalled");
    // No sync file, and no payload: an error, and the descriptor stays the caller's.
    let fd = unsafe { libc::memfd_create(c"other".as_ptr(), 0) };
    let invalid = Err(vk::Result::ERROR_INVALID_EXTERNAL_HANDLE);
    assert_eq!(import(&g, s, H::SYNC_FD, fd, true), invalid);
    assert_eq!(import(&g, s, H::OPAQUE_FD, fd, false), invalid);
    assert_eq!(unsafe { libc::close(fd) }, 0);
    unsafe { g.device.destroy_semaphore(s, None) };
}

#[test]
fn fences_are_shared_lent_and_reset() {
    let (a, b) = (device(), device());
    let of = |g: &Gpu| ash::khr::external_fence_fd::Device::new(&g.instance, &g.device);
    let make = |g: &Gpu| {
        let mut export = vk::ExportFenceCreateInfo::default().handle_types(F::OPAQUE_FD);
        let info = vk::FenceCreateInfo::default().push_next(&mut export);
        unsafe { g.device.create_fence(&info, None) }.expect("a fence")
    };
    let (fa, fb) = (make(&a), make(&b));
    unsafe {
        let get = vk::FenceGetFdInfoKHR::default().fence(fa).handle_type(F::OPAQUE_FD);
        let fd = of(&a).get_fence_fd(&get).expect("a descriptor");
        let lend = vk::ImportFenceFdInfoKHR::default()
            .fence(fb)
            .handle_type(F::OPAQUE_FD)
            .flags(vk::FenceImportFlags::TEMPORARY)
            .fd(fd);
        of(&b).import_fence_fd(&lend).expect("it is imported");
        assert_eq!(b.device.get_fence_status(fb), Ok(false));
        std::thread::scope(|s| {
            let waiter = s.spawn(|| b.device.wait_for_fences(&[fb], true, NS));
            std::thread::sleep(std::time::Duration::from_millis(20));
            a.submit(a.record(|_, _| ()), fa);
            assert_eq!(waiter.join().unwrap(), Ok(()));
        });
        b.device.reset_fences(&[fb]).expect("its own again");
        assert_eq!((a.device.get_fence_status(fa), b.device.get_fence_status(fb)), (Ok(true), Ok(false)));
        let get = vk::FenceGetFdInfoKHR::default().fence(fa).handle_type(F::SYNC_FD);
        assert_eq!(of(&a).get_fence_fd(&get), Ok(-1));
        assert_eq!(a.device.get_fence_status(fa), Ok(false), "reset by that");
        a.device.destroy_fence(fa, None);
        b.device.destroy_fence(fb, None);
    }
}
