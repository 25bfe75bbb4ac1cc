//! What programs print, to a reader who may leave: `tuff diff a.json b.json | head -3`.
//!
//! std's macros panic when nobody reads a pipe any more. With these, which have their names, what is printed from then on
//! goes nowhere, and the program does its work to the end: files are written, and its exit code says what it would have
//! said. (The other way, to die of SIGPIPE, would also end a program that writes to a child that has ended.) A crate's
//! root takes them for all of its modules: `#[macro_use] extern crate say`.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

#[macro_export]
macro_rules! print {
    ($($what:tt)*) => { $crate::to(&mut ::std::io::stdout().lock(), ::std::format_args!($($what)*), "") };
}
#[macro_export]
macro_rules! println {
    () => { $crate::to(&mut ::std::io::stdout().lock(), ::std::format_args!(""), "\n") };
    ($($what:tt)*) => { $crate::to(&mut ::std::io::stdout().lock(), ::std::format_args!($($what)*), "\n") };
}
#[macro_export]
macro_rules! eprint {
    ($($what:tt)*) => { $crate::to(&mut ::std::io::stderr().lock(), ::std::format_args!($($what)*), "") };
}
#[macro_export]
macro_rules! eprintln {
    () => { $crate::to(&mut ::std::io::stderr().lock(), ::std::format_args!(""), "\n") };
    ($($what:tt)*) => { $crate::to(&mut ::std::io::stderr().lock(), ::std::format_args!($($what)*), "\n") };
}

/// For the macros: writes what there is to say, and its end.
///
/// # Panics
/// Where it cannot be written for another reason than that nobody reads it: a full disk is not to go unseen.
pub fn to(out: &mut dyn Write, what: Arguments, end: &str) {
    match write!(out, "{what}{end}") {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => panic!("output: {e}"),
        _ => {}
    }
}
