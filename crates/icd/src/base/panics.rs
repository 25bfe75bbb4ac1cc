//! What is said when the driver itself fails: message, place and call stack, as one message. The library is stripped; its
//! symbols lie beside it in a linker map (`libvulkan_tuff.map`, asked for by build.rs), which is read only now. Without the
//! file, a frame is an offset into the library.

#[cfg_attr(unix, path = "panics/unix.rs")]
#[cfg_attr(windows, path = "panics/windows.rs")]
mod system;

use crate::base::debug;
use small_sort::SmallSort;
use std::ffi::c_void;
use std::fmt::Write;
use std::panic::PanicHookInfo;
use std::sync::Once;

/// Frames that are reported.
const FRAMES: usize = 24;
/// Frames looked at: the first ones are the panic's own.
const DEPTH: usize = 64;

/// Makes panics on this library's threads speak through its messages. The library has a standard library of its own: this
/// hook is nobody else's.
pub(crate) fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| std::panic::set_hook(Box::new(hook)));
}

fn hook(info: &PanicHookInfo) {
    debug::log_errors(told(info).iter().map(String::as_str));
}

/// The lines.
fn told(info: &PanicHookInfo) -> Vec<String> {
    let why = info.payload_as_str().unwrap_or("no message");
    let mut text = format!("internal error: {why}");
    if let Some(l) = info.location() {
        let _ = write!(text, " at {}:{}", l.file(), l.line());
    }
    let thread = std::thread::current();
    let _ = write!(text, " (thread {})", thread.name().unwrap_or("of the program"));
    let mut lines = vec![text];
    let symbols = Symbols::beside_library();
    let named: Vec<String> = stack().iter().map(|&at| symbols.name(at)).collect();
    // What follows the panic's own calls is what went wrong.
    let first = named.iter().rposition(|n| n.contains("panicking") || n.contains("rust_begin_unwind"));
    for n in named.iter().skip(first.map_or(0, |f| f + 1)).take(FRAMES) {
        lines.push(format!("    in {n}"));
    }
    lines
}

/// Return addresses of the calls under way, innermost first.
fn stack() -> Vec<usize> {
    unsafe extern "C" {
        // The Itanium C++ ABI's unwinder, which libgcc_s has.
        fn _Unwind_Backtrace(each: extern "C" fn(*mut c_void, *mut c_void) -> i32, data: *mut c_void) -> i32;
        fn _Unwind_GetIP(context: *mut c_void) -> usize;
    }
    extern "C" fn each(context: *mut c_void, data: *mut c_void) -> i32 {
        // SAFETY: the unwinder's context, and the vector below.
        let (at, all) = unsafe { (_Unwind_GetIP(context), &mut *data.cast::<Vec<usize>>()) };
        all.push(at);
        // _URC_NO_REASON goes on, _URC_END_OF_STACK ends.
        if all.len() < DEPTH { 0 } else { 5 }
    }
    let mut all = Vec::with_capacity(DEPTH);
    // SAFETY: `each` has the type that the unwinder asks for, and gets the vector.
    unsafe { _Unwind_Backtrace(each, (&raw mut all).cast()) };
    all
}

/// Functions by address within a library.
struct Symbols {
    base: usize,
    /// Address and mangled name, by address.
    list: Vec<(usize, String)>,
}

impl Symbols {
    /// Those of the library that this code is in.
    fn beside_library() -> Symbols {
        let (base, path) = system::library(install as *const c_void);
        let map = path.map(|p| std::path::Path::new(&p).with_extension("map"));
        let list = map.and_then(|map| std::fs::read_to_string(map).ok()).map(|m| parse(&m));
        Symbols { base, list: list.unwrap_or_default() }
    }

    /// What `at`, a return address, is in.
    fn name(&self, at: usize) -> String {
        // The call is before the address that it returns to.
        let at = at.wrapping_sub(self.base).wrapping_sub(1);
        let after = self.list.partition_point(|s| s.0 <= at);
        match after.checked_sub(1).map(|i| &self.list[i]) {
            Some((_, name)) => format!("{:#}", rustc_demangle::demangle(name)),
            None => format!("{at:#x}"),
        }
    }
}

/// The functions that a linker map of lld's names: lines of address, load address, size, alignment and symbol.
fn parse(map: &str) -> Vec<(usize, String)> {
    let mut list = Vec::new();
    for line in map.lines() {
        let mut words = line.split_ascii_whitespace();
        let (Some(at), Some(name), None) = (words.next(), words.nth(3), words.next()) else { continue };
        if let (Ok(at), true) =
            (usize::from_str_radix(at, 16), name.starts_with("_ZN") || name.starts_with("_R"))
        {
            list.push((at, name.to_string()));
        }
    }
    list.small_sort();
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_name_what_an_address_is_in() {
        let map = "     VMA      LMA     Size Align Out     In      Symbol\n\
                   \x20   2000     2000      100    16         a.o:(.text._ZN4wave3runE)\n\
                   \x20   2000     2000      100     1                 _ZN4wave3run17h0123456789abcdefE\n\
                   \x20   2100     2100       20     1                 _ZN3gpu4tile17h0123456789abcdefE\n";
        let s = Symbols { base: 0x7000_0000, list: parse(map) };
        assert_eq!(s.list.len(), 2);
        assert_eq!(s.name(0x7000_2100), "wave::run");
        assert_eq!(s.name(0x7000_2101), "gpu::tile");
        assert_eq!(s.name(0x7000_1000), "0xfff");
    }

    #[test]
    fn a_panic_tells_its_message_its_place_and_its_callers() {
        static TOLD: parking_lot::Mutex<String> = parking_lot::Mutex::new(String::new());
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(|info| *TOLD.lock() = told(info).join("\n")));
        let line = line!() + 1;
        assert!(std::panic::catch_unwind(|| panic!("out of {}", "luck")).is_err());
        std::panic::set_hook(before);
        let told = TOLD.lock();
        let place = format!("internal error: out of luck at {}:{line} (thread ", file!());
        assert!(told.starts_with(&place), "{told}");
        assert!(told.matches("\n    in ").count() > 3, "{told}");
    }
}
