//! A program that this one runs in its own place: signals go on to it, and it ends with this one.

use libc::{c_int, c_void, siginfo_t};
use std::io::Result;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

/// What somebody sends this program when the one that it runs is meant.
const SIGNALS: [c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The program's number; 0: it has not begun, or has ended.
static CHILD: AtomicI32 = AtomicI32::new(0);
/// What has come before it had a number.
static EARLY: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    // SAFETY: the system's own; kill may be called in a handler.
    unsafe {
        // What a terminal sends (which the kernel does) the child gets too: it is of the same group.
        if info.is_null() || (*info).si_code > 0 {
            return;
        }
        match CHILD.load(SeqCst) {
            0 => EARLY.store(signal, SeqCst),
            child => drop(libc::kill(child, signal)),
        }
    }
}

/// Signals that are not ignored go to the child from now on.
fn passed_on() {
    // SAFETY: structures of zeros are valid, and the handler does nothing that is forbidden in one.
    unsafe {
        for signal in SIGNALS {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 || old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            new.sa_sigaction = pass_on as *const () as usize;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &new, std::ptr::null_mut());
        }
    }
}

/// Runs a program to its end. For a program's first thread alone: the child ends with the thread that calls.
///
/// # Errors
/// It cannot be started.
pub fn run(command: &mut Command) -> Result<ExitStatus> {
    let with_parent = || {
        // SAFETY: a system call.
        unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        Ok(())
    };
    // SAFETY: the closure makes a system call and no more.
    unsafe { command.pre_exec(with_parent) };
    passed_on();
    let mut child = command.spawn()?;
    CHILD.store(child.id() as i32, SeqCst);
    if let signal @ 1.. = EARLY.swap(0, SeqCst) {
        // SAFETY: a system call.
        unsafe { libc::kill(child.id() as i32, signal) };
    }
    let status = child.wait();
    CHILD.store(0, SeqCst);
    status
}
