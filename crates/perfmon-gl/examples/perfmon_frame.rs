//! The extension's sample usage, written anew: draws a frame and prints what it cost.
//!
//! `tuff gl -- perfmon_frame [es] [CHUNK]`: some counters by name, or the CHUNKth lot of as many of each group as a
//! session can have, as lines of group, counter, value and name.

mod surfaceless;

use surfaceless::{AVAILABLE, Gl};

/// What a look at a frame begins with, by its name in the catalogue.
const WANTED: [&str; 6] = [
    "GPU active cycles",
    "GPU time",
    "Main phase queue utilization",
    "Fragment warps",
    "Visible primitives",
    "Output external read bytes",
];

fn name(gl: &Gl, group: u32, counter: u32) -> String {
    let mut name = [0u8; 256];
    // SAFETY: room as it is told.
    unsafe { (gl.counter_string)(group, counter, 256, std::ptr::null_mut(), name.as_mut_ptr().cast()) };
    String::from_utf8_lossy(name.split(|&b| b == 0).next().unwrap_or_default()).into_owned()
}

/// Where the tests' library of dropped batches is loaded: a batch ends here that has an upload and no other work.
fn end_batch() {
    // SAFETY: that library's function of this name, without arguments.
    unsafe {
        let at = libc::dlsym(libc::RTLD_DEFAULT, c"end_of_a_batch_with_an_upload".as_ptr());
        if !at.is_null() {
            std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn()>(at)();
        }
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let es = arguments.first().is_some_and(|a| a == "es");
    let chunk: Option<usize> = arguments.last().and_then(|a| a.parse().ok());
    let gl = Gl::new(es)?;
    if !gl.extensions().split(' ').any(|e| e == "GL_AMD_performance_monitor") {
        return Err("no GL_AMD_performance_monitor here: run it with `tuff gl`".into());
    }
    let mut monitor = 0;
    // SAFETY: GL's functions; arrays of the lengths that are told.
    unsafe {
        (gl.gen_monitors)(1, &mut monitor);
        for (group, counters, active) in gl.catalogue() {
            let mut some: Vec<u32> = match chunk {
                Some(chunk) => counters.chunks(active).nth(chunk).unwrap_or_default().to_vec(),
                None => counters.into_iter().filter(|&c| WANTED.contains(&&*name(&gl, group, c))).collect(),
            };
            (gl.select)(monitor, 1, group, some.len() as i32, some.as_mut_ptr());
        }
        (gl.begin)(monitor);
        end_batch();
        gl.draw();
        // The whole pass, its stores too.
        (gl.flush)();
        (gl.end)(monitor);
    }
    let start = std::time::Instant::now();
    while gl.number(monitor, AVAILABLE) == 0 {
        if start.elapsed().as_secs() >= 30 {
            return Err("the result never comes".into());
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    for (group, counter, name, value) in gl.result(monitor) {
        match chunk {
            Some(_) => println!("{group}\t{counter}\t{value}\t{name}"),
            None => println!("{name:32} {value}"),
        }
    }
    // SAFETY: as above.
    match unsafe { (gl.get_error)() } {
        0 => Ok(()),
        error => Err(format!("GL says {error:#x}")),
    }
}
