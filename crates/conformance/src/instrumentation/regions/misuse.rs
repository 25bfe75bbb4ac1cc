//! Misuse of counters by region (VUIDs 11815, 11817, 11818): a message, and nothing written that was not asked for. Two
//! devices at once.

use super::super::{Check, Found, Rig, check_list, holds, same, text};
use super::target::{Grid, Target, ask, cover, image, pass, pipeline, rect};
use super::{FREE, WARPS};
use client::graphics::Image;
use client::{Context, Library};
use std::ffi::{CStr, c_void};
use std::rc::Rc;
use std::sync::Mutex;

pub fn checks() -> Vec<Check> {
    check_list![
        region_counters_misused = misused,
        region_counters_beyond_memory = beyond,
        regions_of_several_devices = devices
    ]
}

/// Hears what the driver says, on an instance of its own: what is said of no device goes to all.
struct Ears {
    utils: ash::ext::debug_utils::Instance,
    messenger: vk::DebugUtilsMessengerEXT,
    heard: Box<Mutex<Vec<String>>>,
    _context: Rc<Context>,
}

unsafe extern "system" fn hear(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    heard: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the data are valid for the call; `heard` lives longer than the messenger.
    unsafe {
        let message = CStr::from_ptr((*data).p_message).to_string_lossy().into_owned();
        let heard = &*heard.cast::<Mutex<Vec<String>>>();
        heard.lock().unwrap_or_else(|e| e.into_inner()).push(message);
    }
    vk::FALSE
}

impl Ears {
    fn open() -> Result<Ears, String> {
        let library = Library::any().map_err(text)?;
        let names = [ash::ext::debug_utils::NAME];
        let context = Context::of_instance(library, &names, &[], std::ptr::null_mut()).map_err(text)?;
        let heard: Box<Mutex<Vec<String>>> = Box::default();
        let utils = ash::ext::debug_utils::Instance::new(context.entry(), &context.instance);
        let info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR)
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::GENERAL | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION,
            )
            .pfn_user_callback(Some(hear))
            .user_data((&raw const *heard).cast_mut().cast());
        // SAFETY: a plain Vulkan call; what the callback is given lives as long as the messenger.
        let messenger = unsafe { utils.create_debug_utils_messenger(&info, None) };
        let messenger = messenger.map_err(|e| format!("vkCreateDebugUtilsMessengerEXT: {e}"))?;
        Ok(Ears { utils, messenger, heard, _context: context })
    }

    /// One message since the last time, that says this.
    fn one(&self, what: &str, says: &str) -> Result<(), String> {
        let all = std::mem::take(&mut *self.heard.lock().unwrap_or_else(|e| e.into_inner()));
        holds(&format!("{what}: one message that says {says:?}, not {all:?}"), {
            all.len() == 1 && all[0].contains(says)
        })
    }
}

impl Drop for Ears {
    fn drop(&mut self) {
        // SAFETY: made from this instance, which is still there.
        unsafe { self.utils.destroy_debug_utils_messenger(self.messenger, None) }
    }
}

/// Draws over all of 64 × 64 pixels that the pass clears to black; an error unless they hold what was drawn.
fn draw(
    rig: &Rig,
    target: &Image,
    asked: &vk::RenderPassPerformanceCountersByRegionBeginInfoARM,
) -> Result<(), String> {
    let p = pipeline(rig, |_| ())?;
    rig.run(|d, c| pass(target, asked).record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 64, 64))))?;
    let bytes = target.read(vk::ImageAspectFlags::COLOR, 4).map_err(text)?;
    // `plain.frag`: 0.25, 0.5, 0.75 and 1 of 255.
    let right = |p: &[u8]| p[0].abs_diff(64) <= 1 && p[1].abs_diff(128) <= 1 && p[3] == 255;
    holds("the pass draws all the same", bytes.chunks(4).all(right))
}

/// Wrong numbers of addresses and counters, and counters that there are not. What is drawn is drawn.
fn misused(rig: &Rig) -> Found {
    let ears = Ears::open()?;
    let target = image(rig, [64, 64], 1)?;
    let grid = Grid::new(rig, [64, 64], 1)?;
    let mut found = Vec::new();
    let mut case = |what: &str,
                    addresses: &dyn Fn(u64) -> Vec<u64>,
                    ids: &mut [u32],
                    says: &str,
                    want: &[u32]|
     -> Result<(), String> {
        let out = Target::new(rig, 3 * grid.words() + 64)?;
        let addresses = addresses(out.address);
        draw(rig, &target, &ask(&addresses, ids))?;
        ears.one(what, says)?;
        out.is(what, want)?;
        found.extend(out.found());
        Ok(())
    };
    let one = grid.filled(&[[256]]);
    let behind = 4 * grid.words() as u64;
    // VUID 11815: one subpass of one layer has one address.
    case("no address", &|_| vec![], &mut [WARPS], "0 addresses", &[])?;
    case("three addresses", &|a| vec![a, a + behind, a + 2 * behind], &mut [WARPS], "3 addresses", &one)?;
    // VUID 11818.
    case("nine counters", &|a| vec![a], &mut [WARPS; 9], "9 counters", &[])?;
    let many = &mut [WARPS; 1000];
    case("a thousand counters", &|a| vec![a], many, "1000 counters", &[])?;
    // No counter of the enumeration: its value is 0, and the others keep their places.
    let ids = &mut [WARPS, 0xdead_beef, WARPS];
    case("an unknown counter", &|a| vec![a], ids, "3735928559", &grid.filled(&[[256, 0, 256]]))?;
    // None at all is no misuse: nothing is written, and nothing said.
    let out = Target::new(rig, grid.words() + 64)?;
    draw(rig, &target, &ask(&[out.address], &mut []))?;
    out.is("no counter", &[])?;
    holds("and no message", ears.heard.lock().is_ok_and(|h| h.is_empty()))?;
    Ok(found)
}

/// VUID 11817: bytes that go beyond the memory, and memory that there is not. Nothing of them is written, and the device
/// is lost, as it is when shaders go astray.
fn beyond(_: &Rig) -> Found {
    let wild = |address: &dyn Fn(&Target) -> u64| -> Result<(), String> {
        let rig = Rig::open()?;
        let target = image(&rig, [64, 128], 1)?;
        let p = pipeline(&rig, |_| ())?;
        // A whole granule of memory, so that its end is the buffer's end.
        let out = Target::new(&rig, 1 << 14)?;
        let neighbour = Target::new(&rig, 1 << 14)?;
        let (addresses, mut ids) = ([address(&out)], [WARPS]);
        let asked = ask(&addresses, &mut ids);
        // The wait for what loses a device may end well or not (§ Lost Device); nothing can be submitted after it.
        let _ =
            rig.run(|d, c| pass(&target, &asked).record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 64, 128))));
        let after = rig.run(|_, _| ());
        holds(&format!("lost, not {after:?}"), after.is_err_and(|e| e.contains("LOST")))?;
        out.is("nothing in the memory", &[])?;
        neighbour.is("nothing in what is next to it", &[])
    };
    // Two rows of regions are 128 bytes; 100 are left.
    wild(&|out| out.address + (4 << 14) - 100)?;
    wild(&|_| 64)?;
    wild(&|_| u64::MAX - 3)?;
    Ok(vec![])
}

/// Three devices work at once on threads of their own, two of them with counters: each gets all of its values, every time.
fn devices(rig: &Rig) -> Found {
    let counting = |rows: u32| {
        move || -> Result<Vec<u64>, String> {
            let rig = Rig::open()?;
            let grid = Grid::new(&rig, [128, 64], 1)?;
            let target = image(&rig, [128, 64], 1)?;
            let p = pipeline(&rig, |_| ())?;
            let mut found = Vec::new();
            for _ in 0..16 {
                let out = Target::new(&rig, grid.words() + 64)?;
                let (addresses, mut ids) = ([out.address], [WARPS]);
                let asked = ask(&addresses, &mut ids);
                rig.run(|d, c| {
                    pass(&target, &asked).record(d, c, |d, c| cover(d, c, &p, rect(0, 0, 128, rows)))
                })?;
                // 16 warps in a row of them, of four rows of pixels.
                out.is("values", &grid.filled(&[[rows * 4], [rows * 4]]))?;
                found.extend(out.found());
            }
            Ok(found)
        }
    };
    std::thread::scope(|s| {
        let threads = [s.spawn(counting(64)), s.spawn(counting(16))];
        // This one draws meanwhile, and counts nothing.
        let target = rig.target()?;
        let p = pipeline(rig, |_| ())?;
        for _ in 0..32 {
            rig.run(|_, c| {
                rig.pass(&target, c, |d, c| cover(d, c, &p, rect(0, 0, 64, 64)));
            })?;
        }
        let mut found = Vec::new();
        for t in threads {
            found.extend(t.join().map_err(|_| "a thread panicked")??);
        }
        same("no value is missing", found.contains(&0), false)?;
        holds("values were found", found.iter().any(|&v| v != u64::from(FREE)))?;
        Ok(found)
    })
}
