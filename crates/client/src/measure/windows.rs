//! Windows' clocks.

use std::sync::LazyLock;
use std::time::Instant;
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{GetCurrentProcess, GetProcessTimes};

/// Seconds of wall time, and of CPU time of the process.
pub fn now() -> (f64, f64) {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let [mut made, mut ended, mut kernel, mut user] = [FILETIME::default(); 4];
    // SAFETY: it fills the four.
    unsafe { GetProcessTimes(GetCurrentProcess(), &mut made, &mut ended, &mut kernel, &mut user) };
    let seconds =
        |t: FILETIME| (u64::from(t.dwHighDateTime) << 32 | u64::from(t.dwLowDateTime)) as f64 * 1e-7;
    (BEGAN.elapsed().as_secs_f64(), seconds(kernel) + seconds(user))
}
