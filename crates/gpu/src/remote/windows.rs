//! The channel for readers in other processes (`TUFF_LISTEN`), on a system for which it is not written.

use std::io::Write;
use std::sync::Once;

/// Says, if that is wanted, that it is not there; a device is created.
pub fn open() {
    static SAID: Once = Once::new();
    if settings::get().listen.is_some() {
        SAID.call_once(|| {
            let _ = writeln!(std::io::stderr(), "tuff: TUFF_LISTEN has no effect on this system");
        });
    }
}
