//! What is hard on the library: threads with contexts of their own whose sessions are left, deleted and asked for in odd
//! orders, by others too; contexts that go with a session active; a fork; an end with one active. It says "ok" if it
//! gets there.

mod surfaceless;

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use surfaceless::{AVAILABLE, Gl};

/// A monitor that some thread has just begun.
static SHARED: AtomicU32 = AtomicU32::new(0);

/// One session after another, none like the one before; the monitors.
fn sessions(gl: &Gl, seed: u32) -> Vec<u32> {
    let mut random = random::Random::new(seed.into());
    let (mut left, mut all) = (0, vec![]);
    for _ in 0..40 {
        let mut monitor = 0;
        // SAFETY: GL's functions; arrays of the lengths that are told.
        unsafe {
            (gl.gen_monitors)(1, &mut monitor);
            all.push(monitor);
            let mut some = [6, 214];
            (gl.select)(monitor, 1, 0, 1, some.as_mut_ptr());
            (gl.select)(monitor, 1, 3, 1, some[1..].as_mut_ptr());
            // Fails where the last one was left active.
            (gl.begin)(monitor);
            SHARED.store(monitor, SeqCst);
            gl.draw();
            // Maybe another thread's, or this one's own.
            let mut other = SHARED.load(SeqCst);
            match random.u32() % 6 {
                0 => (gl.delete_monitors)(1, &mut other),
                1 => (gl.delete_monitors)(1, &mut monitor),
                2 => {
                    (gl.end)(other);
                    left = monitor;
                }
                3 => {
                    (gl.end)(monitor);
                    gl.number(monitor, AVAILABLE);
                    (gl.delete_monitors)(1, &mut monitor);
                }
                4 => {
                    (gl.end)(monitor);
                    (gl.flush)();
                    (gl.begin)(monitor);
                    (gl.end)(monitor);
                    gl.result(monitor);
                }
                _ => {
                    (gl.end)(left);
                    (gl.end)(monitor);
                    gl.result(monitor);
                }
            }
            while (gl.get_error)() != 0 {}
        }
    }
    all
}

fn main() -> Result<(), String> {
    let gl = Gl::new(false)?;
    let seats: Vec<_> = (0..3).map(|_| gl.seat()).collect::<Result<_, _>>()?;
    let gl = &gl;
    std::thread::scope(|s| {
        for (i, seat) in seats.into_iter().enumerate() {
            s.spawn(move || {
                let own = seat.sit();
                sessions(&own, i as u32);
                own.leave();
            });
        }
        let mut all = sessions(gl, 99);
        // SAFETY: an array of the length that is told.
        unsafe { (gl.delete_monitors)(all.len() as i32, all.as_mut_ptr()) };
    });
    // SAFETY: the child does nothing but end.
    unsafe {
        match libc::fork() {
            0 => libc::exit(0),
            child => drop(libc::waitpid(child, std::ptr::null_mut(), 0)),
        }
    }
    let mut monitor = 0;
    // SAFETY: GL's functions.
    unsafe {
        (gl.gen_monitors)(1, &mut monitor);
        (gl.select)(monitor, 1, 0, 1, [6].as_mut_ptr());
        (gl.begin)(monitor);
        gl.draw();
        (gl.end)(monitor);
    }
    let result = gl.result(monitor);
    let cycles: u64 = result.first().and_then(|r| r.3.parse().ok()).unwrap_or(0);
    // SAFETY: as above.
    unsafe { (gl.begin)(monitor) };
    gl.draw();
    println!("{}", if cycles > 0 { "ok" } else { "no cycles" });
    Ok(())
}
