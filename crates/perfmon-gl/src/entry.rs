//! The extension's functions. Its text names most errors; the others are those of all of GL: INVALID_ENUM for a value
//! that is none of a parameter's, INVALID_VALUE for a negative size or a name of nothing. A call with an error does nothing.

use crate::context::{self, Context};
use crate::groups::Groups;
use crate::monitor::{self, Monitor};
use crate::{gl, guard, marks};
use std::ffi::c_char;

/// Runs a function of the current context, with its driver's groups; keeps the error that it ends with.
fn call<R>(f: impl FnOnce(&mut Context, &'static Groups) -> Result<R, gl::Enum>) -> Option<R> {
    context::with(|context| {
        let result = match context.groups {
            Some(groups) => f(context, groups),
            None => Err(gl::INVALID_OPERATION),
        };
        result.map_err(|error| context.fail(error)).ok()
    })
    .flatten()
}

/// A size that a program gives.
fn size(n: gl::Sizei) -> Result<usize, gl::Enum> {
    usize::try_from(n).map_err(|_| gl::INVALID_VALUE)
}

unsafe fn set<T>(at: *mut T, value: T) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if !at.is_null() {
            at.write_unaligned(value);
        }
    }
}

/// As many of `ids` as there is room for.
unsafe fn list(ids: impl Iterator<Item = u32>, room: usize, at: *mut gl::Uint) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        if !at.is_null() {
            ids.take(room).enumerate().for_each(|(i, id)| at.add(i).write(id));
        }
    }
}

/// A string with its 0, as far as there is room; its length, or (for no room and no place) the length it would have.
unsafe fn string(text: &str, room: usize, length: *mut gl::Sizei, at: *mut c_char) {
    // SAFETY: valid usage: the call's pointers lead to what they are said to.
    unsafe {
        let count = if at.is_null() { text.len() } else { text.len().min(room.saturating_sub(1)) };
        if !at.is_null() && room > 0 {
            std::ptr::copy_nonoverlapping(text.as_ptr().cast(), at, count);
            at.add(count).write(0);
        }
        set(length, count as gl::Sizei);
    }
}

/// # Safety
/// As the extension's text says; so for all of these.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorGroupsAMD(
    num_groups: *mut gl::Int,
    groups_size: gl::Sizei,
    groups: *mut gl::Uint,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|_, all| {
                let room = size(groups_size)?;
                set(num_groups, all.all.len() as gl::Int);
                list(0..all.all.len() as u32, room, groups);
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorCountersAMD(
    group: gl::Uint,
    num_counters: *mut gl::Int,
    max_active_counters: *mut gl::Int,
    counters_size: gl::Sizei,
    counters: *mut gl::Uint,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|_, all| {
                let group = all.group(group).ok_or(gl::INVALID_VALUE)?;
                let room = size(counters_size)?;
                set(num_counters, group.members.len() as gl::Int);
                set(max_active_counters, group.max_active() as gl::Int);
                list(group.members.iter().map(|m| m.id), room, counters);
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorGroupStringAMD(
    group: gl::Uint,
    buf_size: gl::Sizei,
    length: *mut gl::Sizei,
    group_string: *mut c_char,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|_, all| {
                let group = all.group(group).ok_or(gl::INVALID_VALUE)?;
                string(group.name, size(buf_size)?, length, group_string);
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorCounterStringAMD(
    group: gl::Uint,
    counter: gl::Uint,
    buf_size: gl::Sizei,
    length: *mut gl::Sizei,
    counter_string: *mut c_char,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|_, all| {
                let member = all.member(group, counter).ok_or(gl::INVALID_VALUE)?;
                string(member.name, size(buf_size)?, length, counter_string);
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorCounterInfoAMD(
    group: gl::Uint,
    counter: gl::Uint,
    pname: gl::Enum,
    data: *mut std::ffi::c_void,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|_, all| {
                let ty = all.member(group, counter).ok_or(gl::INVALID_VALUE)?.ty;
                let bytes = match pname {
                    gl::COUNTER_TYPE_AMD => ty.token().to_ne_bytes().to_vec(),
                    gl::COUNTER_RANGE_AMD => ty.range(),
                    _ => return Err(gl::INVALID_ENUM),
                };
                if !data.is_null() {
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
                }
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGenPerfMonitorsAMD(n: gl::Sizei, monitors: *mut gl::Uint) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|context, _| {
                let n = size(n)?;
                if monitors.is_null() {
                    return Ok(());
                }
                let mut id = 0;
                for i in 0..n {
                    id += 1;
                    while context.monitors.contains_key(&id) {
                        id += 1;
                    }
                    context.monitors.insert(id, Monitor::default());
                    monitors.add(i).write(id);
                }
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glDeletePerfMonitorsAMD(n: gl::Sizei, monitors: *mut gl::Uint) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            call(|context, _| {
                let n = size(n)?;
                if monitors.is_null() || n == 0 {
                    return Ok(());
                }
                let ids = std::slice::from_raw_parts(monitors, n);
                if !ids.iter().all(|id| context.monitors.contains_key(id)) {
                    return Err(gl::INVALID_VALUE);
                }
                for id in ids {
                    // A session ends with its monitor.
                    context.active.take_if(|active| active == id);
                    context.monitors.remove(id);
                }
                Ok(())
            });
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glSelectPerfMonitorCountersAMD(
    monitor: gl::Uint,
    enable: gl::Boolean,
    group: gl::Uint,
    num_counters: gl::Int,
    counter_list: *mut gl::Uint,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            let again = call(|context, all| {
                let monitor = context.monitors.get_mut(&monitor).ok_or(gl::INVALID_VALUE)?;
                let members = &all.group(group).ok_or(gl::INVALID_VALUE)?.members;
                let n = size(num_counters)?;
                let ids = if counter_list.is_null() || n == 0 {
                    &[]
                } else {
                    std::slice::from_raw_parts(counter_list, n)
                };
                let place = |id: &u32| members.iter().position(|m| m.id == *id).ok_or(gl::INVALID_VALUE);
                let places: Vec<usize> = ids.iter().map(place).collect::<Result<_, _>>()?;
                let mark = monitor.select(enable != gl::FALSE, group as usize, &places);
                Ok(mark.map(|mark| (mark, context.dialect)))
            });
            if let Some((mark, dialect)) = again.flatten() {
                marks::emit(mark, dialect);
            }
        });
    }
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glBeginPerfMonitorAMD(monitor: gl::Uint) {
    guard(|| {
        let begun = call(|context, all| {
            let it = context.monitors.get_mut(&monitor).ok_or(gl::INVALID_VALUE)?;
            if context.active.is_some() || !it.fits(all) || !marks::listen(all) {
                return Err(gl::INVALID_OPERATION);
            }
            context.active = Some(monitor);
            Ok((it.begin(), context.dialect))
        });
        if let Some((mark, dialect)) = begun {
            marks::emit(mark, dialect);
        }
    });
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glEndPerfMonitorAMD(monitor: gl::Uint) {
    guard(|| {
        let ended = call(|context, _| {
            let it = context.monitors.get_mut(&monitor).ok_or(gl::INVALID_VALUE)?;
            let mark = it.end().ok_or(gl::INVALID_OPERATION)?;
            context.active = None;
            Ok((mark, context.dialect))
        });
        if let Some((mark, dialect)) = ended {
            marks::emit(mark, dialect);
        }
    });
}

/// What a query of a session needs besides.
enum Next {
    Write(Vec<u8>),
    /// The result, once the GPU has got to these.
    Await((u64, u64)),
}

/// # Safety
/// As above. AVAILABLE never waits; RESULT does where the program did not ask for AVAILABLE first, as the text's sample.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn glGetPerfMonitorCounterDataAMD(
    monitor: gl::Uint,
    pname: gl::Enum,
    data_size: gl::Sizei,
    data: *mut gl::Uint,
    bytes_written: *mut gl::Sizei,
) {
    // SAFETY: the caller keeps what is asked for above.
    unsafe {
        guard(|| {
            let asked = call(|context, all| {
                let dialect = context.dialect;
                let it = context.monitors.get_mut(&monitor).ok_or(gl::INVALID_VALUE)?;
                if data.is_null() {
                    return Err(gl::INVALID_OPERATION);
                }
                let room = size(data_size)?;
                let number = |n: usize| Next::Write((n as u32).to_ne_bytes().to_vec());
                let mut send = false;
                let next = match pname {
                    gl::PERFMON_RESULT_SIZE_AMD => number(it.size(all)),
                    gl::PERFMON_RESULT_AVAILABLE_AMD => {
                        send = it.poll(all);
                        number(it.result().is_some() as usize)
                    }
                    gl::PERFMON_RESULT_AMD => {
                        send = it.poll(all);
                        match (it.awaited(), it.result()) {
                            (Some(marks), _) => Next::Await(marks),
                            (None, Some(bytes)) => Next::Write(bytes.to_vec()),
                            // Before the first session all three are 0.
                            (None, None) => number(0),
                        }
                    }
                    _ => return Err(gl::INVALID_ENUM),
                };
                Ok((next, send, dialect, room))
            });
            let Some((next, send, dialect, room)) = asked else { return };
            if send {
                marks::flush(dialect);
            }
            let bytes = match next {
                Next::Write(bytes) => bytes,
                Next::Await(awaited) => {
                    marks::finish();
                    let pair = monitor::wait(awaited);
                    let taken = call(|context, all| {
                        let it = context.monitors.get_mut(&monitor).ok_or(gl::INVALID_VALUE)?;
                        it.take(all, awaited, pair);
                        Ok(it.result().map(<[u8]>::to_vec))
                    });
                    taken.flatten().unwrap_or_default()
                }
            };
            // Numbers are written whole or not at all.
            let count = bytes.len().min(room / 4 * 4);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>(), count);
            set(bytes_written, count as gl::Sizei);
        });
    }
}
