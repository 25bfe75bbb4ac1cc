//! The first process makes everything, and starts the second one, which imports it. The second one's queue fills the memory when the first one
//! has signalled; the first one's queue reads it when the second one has.

use ash::{khr, vk};
use client::Context;
use std::io::{BufRead, BufReader, Write};
use std::os::windows::io::AsRawHandle;
use std::process::{Command, Stdio};
use std::ptr::null_mut;
use std::rc::Rc;
use std::time::Duration;
use windows_sys::Win32::Foundation::{CloseHandle, DUPLICATE_SAME_ACCESS, DuplicateHandle};
use windows_sys::Win32::System::Threading::{CreateEventW, GetCurrentProcess};

type Done<T> = Result<T, String>;

/// The argument of the second process.
const SECOND: &str = "--second";
const BYTES: u64 = 64 << 10;
/// What the second process fills the memory with, and what the first one writes then.
const FILLED: u32 = 0x600D_CAFE;
const WRITTEN: u32 = 0x0BAD_F00D;
const NS: u64 = 20_000_000_000;

const MEMORY: vk::ExternalMemoryHandleTypeFlags = vk::ExternalMemoryHandleTypeFlags::OPAQUE_WIN32;
const SEMAPHORE: vk::ExternalSemaphoreHandleTypeFlags = vk::ExternalSemaphoreHandleTypeFlags::OPAQUE_WIN32;
const FENCE: vk::ExternalFenceHandleTypeFlags = vk::ExternalFenceHandleTypeFlags::OPAQUE_WIN32;

fn of(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |e| format!("{what}: {e:?}")
}

fn text(e: impl std::fmt::Display) -> String {
    e.to_string()
}

fn wide(name: &str) -> Vec<u16> {
    name.encode_utf16().chain([0]).collect()
}

/// By which something is imported: a handle, or a name (with a handle of 0).
#[derive(Clone)]
struct By(isize, Vec<u16>);

impl By {
    fn handle(handle: isize) -> By {
        By(handle, vec![])
    }
    fn name(&self) -> *const u16 {
        if self.1.is_empty() { std::ptr::null() } else { self.1.as_ptr() }
    }
}

/// A process's device, and what it shares.
struct Side {
    context: Rc<Context>,
    memories: khr::external_memory_win32::Device,
    semaphores: khr::external_semaphore_win32::Device,
    fences: khr::external_fence_win32::Device,
}

/// What is shared.
struct Shared {
    memory: vk::DeviceMemory,
    words: *mut u32,
    buffer: vk::Buffer,
    timeline: vk::Semaphore,
    binary: vk::Semaphore,
    fence: vk::Fence,
}

impl Side {
    fn open() -> Done<Side> {
        let library = client::Library::any().map_err(text)?;
        let names = [
            khr::external_memory_win32::NAME,
            khr::external_semaphore_win32::NAME,
            khr::external_fence_win32::NAME,
        ];
        let context = Context::extended(library, &names, null_mut()).map_err(text)?;
        let (i, d) = (&context.instance, &context.device);
        Ok(Side {
            memories: khr::external_memory_win32::Device::new(i, d),
            semaphores: khr::external_semaphore_win32::Device::new(i, d),
            fences: khr::external_fence_win32::Device::new(i, d),
            context,
        })
    }

    /// A buffer in memory that is made by this chain.
    fn memory(
        &self,
        bytes: u64,
        chain: &mut dyn FnMut(vk::MemoryAllocateInfo) -> Done<vk::DeviceMemory>,
    ) -> Done<(vk::DeviceMemory, *mut u32, vk::Buffer)> {
        let d = &self.context.device;
        let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(MEMORY);
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage).push_next(&mut external);
        // SAFETY (here and below): live objects of this device, structures that outlive the calls.
        unsafe {
            let buffer = d.create_buffer(&info, None).map_err(of("vkCreateBuffer"))?;
            let needs = d.get_buffer_memory_requirements(buffer);
            let flags = vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let ty = self.context.memory_type(needs.memory_type_bits, flags).map_err(text)?;
            let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(ty);
            let memory = chain(info)?;
            d.bind_buffer_memory(buffer, memory, 0).map_err(of("vkBindBufferMemory"))?;
            let words = d.map_memory(memory, 0, vk::WHOLE_SIZE, Default::default());
            Ok((memory, words.map_err(of("vkMapMemory"))?.cast(), buffer))
        }
    }

    /// Makes all that is shared, with these names or none.
    fn made(&self, names: Option<&[Vec<u16>; 4]>) -> Done<Shared> {
        let d = &self.context.device;
        let name = |i: usize| names.map_or(std::ptr::null(), |n| n[i].as_ptr());
        let (memory, words, buffer) = self.memory(BYTES, &mut |info| {
            let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(MEMORY);
            let mut how = vk::ExportMemoryWin32HandleInfoKHR::default();
            how.name = name(0);
            let info = info.push_next(&mut export).push_next(&mut how);
            unsafe { d.allocate_memory(&info, None) }.map_err(of("vkAllocateMemory"))
        })?;
        let semaphore = |ty, i| {
            let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
            let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE);
            let mut how = vk::ExportSemaphoreWin32HandleInfoKHR::default();
            how.name = name(i);
            let info = vk::SemaphoreCreateInfo::default();
            let info = info.push_next(&mut ty).push_next(&mut export).push_next(&mut how);
            unsafe { d.create_semaphore(&info, None) }.map_err(of("vkCreateSemaphore"))
        };
        let mut export = vk::ExportFenceCreateInfo::default().handle_types(FENCE);
        let mut how = vk::ExportFenceWin32HandleInfoKHR::default();
        how.name = name(3);
        let info = vk::FenceCreateInfo::default().push_next(&mut export).push_next(&mut how);
        let fence = unsafe { d.create_fence(&info, None) }.map_err(of("vkCreateFence"))?;
        let timeline = semaphore(vk::SemaphoreType::TIMELINE, 1)?;
        let binary = semaphore(vk::SemaphoreType::BINARY, 2)?;
        Ok(Shared { memory, words, buffer, timeline, binary, fence })
    }

    /// Handles of the memory, the timeline, the binary semaphore and the fence.
    fn handles(&self, s: &Shared) -> Done<[isize; 4]> {
        let memory = vk::MemoryGetWin32HandleInfoKHR::default().memory(s.memory).handle_type(MEMORY);
        let semaphore = |semaphore| {
            let info = vk::SemaphoreGetWin32HandleInfoKHR::default();
            let info = info.semaphore(semaphore).handle_type(SEMAPHORE);
            unsafe { self.semaphores.get_semaphore_win32_handle(&info) }
                .map_err(of("vkGetSemaphoreWin32HandleKHR"))
        };
        let fence = vk::FenceGetWin32HandleInfoKHR::default().fence(s.fence).handle_type(FENCE);
        unsafe {
            Ok([
                self.memories.get_memory_win32_handle(&memory).map_err(of("vkGetMemoryWin32HandleKHR"))?,
                semaphore(s.timeline)?,
                semaphore(s.binary)?,
                self.fences.get_fence_win32_handle(&fence).map_err(of("vkGetFenceWin32HandleKHR"))?,
            ])
        }
    }

    fn imported_memory(&self, bytes: u64, by: &By) -> Done<(vk::DeviceMemory, *mut u32, vk::Buffer)> {
        self.memory(bytes, &mut |info| {
            let mut import = vk::ImportMemoryWin32HandleInfoKHR::default().handle_type(MEMORY).handle(by.0);
            import.name = by.name();
            let info = info.push_next(&mut import);
            unsafe { self.context.device.allocate_memory(&info, None) }.map_err(of("vkAllocateMemory"))
        })
    }

    fn imported_semaphore(&self, ty: vk::SemaphoreType, by: &By) -> Done<vk::Semaphore> {
        let mut ty = vk::SemaphoreTypeCreateInfo::default().semaphore_type(ty);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut ty);
        let made = unsafe { self.context.device.create_semaphore(&info, None) };
        let semaphore = made.map_err(of("vkCreateSemaphore"))?;
        let mut import = vk::ImportSemaphoreWin32HandleInfoKHR::default();
        import = import.semaphore(semaphore).handle_type(SEMAPHORE).handle(by.0);
        import.name = by.name();
        unsafe { self.semaphores.import_semaphore_win32_handle(&import) }
            .map_err(of("vkImportSemaphoreWin32HandleKHR"))?;
        Ok(semaphore)
    }

    fn imported_fence(&self, by: &By) -> Done<vk::Fence> {
        let made = unsafe { self.context.device.create_fence(&vk::FenceCreateInfo::default(), None) };
        let fence = made.map_err(of("vkCreateFence"))?;
        let mut import = vk::ImportFenceWin32HandleInfoKHR::default();
        import = import.fence(fence).handle_type(FENCE).handle(by.0);
        import.name = by.name();
        unsafe { self.fences.import_fence_win32_handle(&import) }
            .map_err(of("vkImportFenceWin32HandleKHR"))?;
        Ok(fence)
    }

    fn imported(&self, by: &[By; 4]) -> Done<Shared> {
        let (memory, words, buffer) = self.imported_memory(BYTES, &by[0])?;
        let timeline = self.imported_semaphore(vk::SemaphoreType::TIMELINE, &by[1])?;
        let binary = self.imported_semaphore(vk::SemaphoreType::BINARY, &by[2])?;
        let fence = self.imported_fence(&by[3])?;
        Ok(Shared { memory, words, buffer, timeline, binary, fence })
    }

    /// What the queue reads of the memory, after the binary semaphore if it is to wait for it.
    fn read(&self, s: &Shared, waits: bool) -> Done<Vec<u32>> {
        let out = client::Buffer::new(&self.context, BYTES as usize).map_err(text)?;
        let copy = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size: BYTES }];
        let record = |d: &ash::Device, c| unsafe { d.cmd_copy_buffer(c, s.buffer, out.handle, &copy) };
        let commands = [self.context.record(record).map_err(text)?];
        let (wait, stages) = ([s.binary], [vk::PipelineStageFlags::ALL_COMMANDS]);
        let mut info = vk::SubmitInfo::default().command_buffers(&commands);
        if waits {
            info = info.wait_semaphores(&wait).wait_dst_stage_mask(&stages);
        }
        let d = &self.context.device;
        unsafe {
            d.queue_submit(self.context.queue, &[info], vk::Fence::null()).map_err(of("vkQueueSubmit"))?;
            d.device_wait_idle().map_err(of("vkDeviceWaitIdle"))?;
        }
        Ok(out.words().to_vec())
    }

    fn destroy(&self, s: &Shared) {
        let d = &self.context.device;
        // SAFETY: nothing of it is in use.
        unsafe {
            let _ = d.device_wait_idle();
            d.destroy_buffer(s.buffer, None);
            d.free_memory(s.memory, None);
            d.destroy_semaphore(s.timeline, None);
            d.destroy_semaphore(s.binary, None);
            d.destroy_fence(s.fence, None);
        }
    }
}

pub fn run() -> Done<Vec<String>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|a| a == SECOND) {
        return second(&arguments[1..]).map(|()| vec![]);
    }
    let side = Side::open()?;
    let mut lines = vec![];
    for by_name in [false, true] {
        let way = if by_name { "names" } else { "handles" };
        first(&side, by_name, &mut |what| lines.push(format!("{way}: {what}")))
            .map_err(|e| format!("{way}: {e}"))?;
    }
    others(&side)?;
    lines.push("others' handles are none".into());
    Ok(lines)
}

/// The first process: what is shared is made here.
fn first(side: &Side, by_name: bool, good: &mut dyn FnMut(&str)) -> Done<()> {
    let d = &side.context.device;
    let pid = std::process::id();
    let texts = ["memory", "timeline", "binary", "fence"].map(|what| format!("tuff-{pid}-{what}"));
    let names = texts.clone().map(|t| wide(&t));
    let shared = side.made(by_name.then_some(&names))?;
    let handles = side.handles(&shared)?;
    let own = std::env::current_exe().map_err(text)?;
    let mut child = Command::new(own)
        .arg(SECOND)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("the second process: {e}"))?;
    let (mut input, output) = (child.stdin.take().ok_or("stdin")?, child.stdout.take().ok_or("stdout")?);
    let mut output = BufReader::new(output);
    let mut said = || -> Done<String> {
        let mut line = String::new();
        output.read_line(&mut line).map_err(text)?;
        Ok(line.trim().to_string())
    };
    let by = match by_name {
        true => texts,
        false => {
            let mut given = handles.map(|_| String::new());
            for (handle, given) in handles.iter().zip(&mut given) {
                let mut there = null_mut();
                // SAFETY: two live processes and a live handle.
                let done = unsafe {
                    let (from, to) = (GetCurrentProcess(), child.as_raw_handle());
                    DuplicateHandle(from, *handle as _, to, &mut there, 0, 0, DUPLICATE_SAME_ACCESS)
                };
                if done == 0 {
                    return Err("DuplicateHandle".into());
                }
                *given = (there as isize).to_string();
            }
            given
        }
    };
    writeln!(input, "{}", by.join(" ")).map_err(text)?;
    let expect = |said: String, want: &str| match said == want {
        true => Ok(()),
        false => Err(format!("the second process says '{said}', not '{want}'")),
    };
    expect(said()?, "submitted")?;
    std::thread::sleep(Duration::from_millis(100));
    // SAFETY: a word of mapped memory, which nobody has been allowed to write yet.
    let early = unsafe { shared.words.read_volatile() };
    let status = unsafe { d.get_fence_status(shared.fence) }.map_err(of("vkGetFenceStatus"))?;
    if early != 0 || status {
        return Err(format!("before the signal the memory has {early:#x}, the fence is {status}"));
    }
    let signal = vk::SemaphoreSignalInfo::default().semaphore(shared.timeline).value(1);
    unsafe { d.signal_semaphore(&signal) }.map_err(of("vkSignalSemaphore"))?;
    let read = side.read(&shared, true)?;
    if let Some(other) = read.iter().find(|w| **w != FILLED) {
        return Err(format!("the memory has {other:#x}"));
    }
    good("memory that the second process has filled");
    good("a binary semaphore that its queue signals");
    let all = [shared.timeline];
    let wait = vk::SemaphoreWaitInfo::default().semaphores(&all).values(&[2]);
    unsafe {
        d.wait_semaphores(&wait, NS).map_err(of("vkWaitSemaphores"))?;
        let value = d.get_semaphore_counter_value(shared.timeline);
        if value != Ok(2) {
            return Err(format!("the timeline is at {value:?}"));
        }
        good("a timeline that both signal");
        d.wait_for_fences(&[shared.fence], true, NS).map_err(of("vkWaitForFences"))?;
        d.reset_fences(&[shared.fence]).map_err(of("vkResetFences"))?;
        for i in 0..BYTES as usize / 4 {
            shared.words.add(i).write_volatile(WRITTEN);
        }
    }
    writeln!(input, "go").map_err(text)?;
    expect(said()?, &format!("fence false, memory {WRITTEN:#x}"))?;
    good("a fence that one signals and the other resets");
    good("memory that the first process has written");
    drop(input);
    let status = child.wait().map_err(text)?;
    if !status.success() {
        return Err(format!("the second process: {status}"));
    }
    side.destroy(&shared);
    // SAFETY: this process's own handles.
    handles.iter().for_each(|h| unsafe { _ = CloseHandle(*h as _) });
    Ok(())
}

/// The second process: what is shared is imported.
fn second(_: &[String]) -> Done<()> {
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    input.read_line(&mut line).map_err(text)?;
    let given: Vec<By> = line
        .split_whitespace()
        .map(|word| match word.parse() {
            Ok(handle) => By::handle(handle),
            Err(_) => By(0, wide(word)),
        })
        .collect();
    let given: [By; 4] = given.try_into().map_err(|_| format!("four words, not '{line}'"))?;
    let side = Side::open()?;
    let s = side.imported(&given)?;
    let d = &side.context.device;
    let fill = |d: &ash::Device, c| unsafe { d.cmd_fill_buffer(c, s.buffer, 0, vk::WHOLE_SIZE, FILLED) };
    let commands = [side.context.record(fill).map_err(text)?];
    let (wait, signal) = ([s.timeline], [s.timeline, s.binary]);
    let mut values = vk::TimelineSemaphoreSubmitInfo::default()
        .wait_semaphore_values(&[1])
        .signal_semaphore_values(&[2, 0]);
    let info = vk::SubmitInfo::default()
        .command_buffers(&commands)
        .wait_semaphores(&wait)
        .wait_dst_stage_mask(&[vk::PipelineStageFlags::ALL_COMMANDS])
        .signal_semaphores(&signal)
        .push_next(&mut values);
    unsafe { d.queue_submit(side.context.queue, &[info], s.fence) }.map_err(of("vkQueueSubmit"))?;
    println!("submitted");
    line.clear();
    input.read_line(&mut line).map_err(text)?;
    let fence = unsafe { d.get_fence_status(s.fence) }.map_err(of("vkGetFenceStatus"))?;
    let read = side.read(&s, false)?;
    let odd = read.iter().find(|w| **w != read[0]).unwrap_or(&read[0]);
    println!("fence {fence}, memory {odd:#x}");
    side.destroy(&s);
    Ok(())
}

/// What is none of these is an error, and no crash.
fn others(side: &Side) -> Done<()> {
    let shared = side.made(None)?;
    let [memory, timeline, binary, fence] = side.handles(&shared)?;
    // SAFETY: a new handle, of nothing that is shared.
    let event = unsafe { CreateEventW(std::ptr::null(), 0, 0, std::ptr::null()) } as isize;
    let by = By::handle;
    let ty = [vk::SemaphoreType::BINARY, vk::SemaphoreType::TIMELINE];
    let tried = [
        ("memory of an event", side.imported_memory(BYTES, &by(event)).map(drop)),
        ("more memory than there is", side.imported_memory(1 << 30, &by(memory)).map(drop)),
        ("memory of no handle", side.imported_memory(BYTES, &by(0)).map(drop)),
        ("memory of no name", side.imported_memory(BYTES, &By(0, wide("tuff-none"))).map(drop)),
        ("a timeline for a binary semaphore", side.imported_semaphore(ty[0], &by(timeline)).map(drop)),
        ("a binary semaphore for a timeline", side.imported_semaphore(ty[1], &by(binary)).map(drop)),
        ("a fence for a semaphore", side.imported_semaphore(ty[0], &by(fence)).map(drop)),
        ("a semaphore for a fence", side.imported_fence(&by(binary)).map(drop)),
        ("memory for a fence", side.imported_fence(&by(memory)).map(drop)),
        ("an event for a fence", side.imported_fence(&by(event)).map(drop)),
    ];
    for (what, result) in tried {
        match result {
            Err(e) if e.ends_with("ERROR_INVALID_EXTERNAL_HANDLE") => {}
            other => return Err(format!("{what}: {other:?}")),
        }
    }
    side.destroy(&shared);
    // SAFETY: this process's own handles.
    [memory, timeline, binary, fence, event].iter().for_each(|h| unsafe { _ = CloseHandle(*h as _) });
    Ok(())
}
