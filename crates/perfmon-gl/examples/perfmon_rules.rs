//! Every rule and error of GL_AMD_performance_monitor's text, one row each; run under `tuff gl` by tests/rules.rs.
//! Prints a line per row, and fails when one does not hold.

mod surfaceless;

use std::ffi::c_char;
use std::ptr::null_mut;
use surfaceless::*;

/// What the rows work with.
struct Scene {
    gl: Gl,
    /// Group, its counters, how many can be active.
    groups: Vec<(u32, Vec<u32>, usize)>,
}

const NONE: u32 = 0;
const NO_GROUP: u32 = 999;
const NO_COUNTER: u32 = 0xffff_fff0;
const NO_MONITOR: u32 = 777;
const UNTOUCHED: u32 = 0xd0d0_d0d0;

impl Scene {
    fn error(&self) -> u32 {
        // SAFETY: without arguments.
        unsafe { (self.gl.get_error)() }
    }
    fn monitor(&self) -> u32 {
        let mut id = 0;
        // SAFETY: room for one.
        unsafe { (self.gl.gen_monitors)(1, &mut id) };
        id
    }
    fn delete(&self, mut id: u32) {
        // SAFETY: one.
        unsafe { (self.gl.delete_monitors)(1, &mut id) }
    }
    fn select(&self, id: u32, enable: bool, group: u32, counters: &[u32]) {
        let mut list = counters.to_vec();
        // SAFETY: a list of that length.
        unsafe { (self.gl.select)(id, enable as u8, group, list.len() as i32, list.as_mut_ptr()) }
    }
    fn begin(&self, id: u32) {
        // SAFETY: a number.
        unsafe { (self.gl.begin)(id) }
    }
    fn end(&self, id: u32) {
        // SAFETY: a number.
        unsafe { (self.gl.end)(id) }
    }
    /// A monitor with one counter of the first group, and a session that was ended.
    fn measured(&self) -> u32 {
        let id = self.monitor();
        self.select(id, true, self.groups[0].0, &self.groups[0].1[..1]);
        self.begin(id);
        self.gl.draw();
        self.end(id);
        id
    }
    fn wait(&self, id: u32) {
        while self.gl.number(id, AVAILABLE) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    /// Written words and how many bytes are said to be.
    fn data(&self, id: u32, what: u32, size: i32) -> (Vec<u32>, i32) {
        let mut words = vec![UNTOUCHED; 64];
        let mut written = -7;
        // SAFETY: more room than is told.
        unsafe { (self.gl.data)(id, what, size, words.as_mut_ptr(), &mut written) };
        (words, written)
    }
    fn large(&self) -> &(u32, Vec<u32>, usize) {
        self.groups.iter().find(|g| g.1.len() > g.2).expect("a group with a limit")
    }
    fn name(&self, room: i32) -> (Vec<u8>, i32) {
        let mut text = vec![b'#'; 64];
        let mut length = -7;
        let (group, counters, _) = &self.groups[0];
        let at: *mut c_char = text.as_mut_ptr().cast();
        // SAFETY: more room than is told.
        unsafe { (self.gl.counter_string)(*group, counters[0], room, &mut length, at) };
        (text, length)
    }
}

fn is(what: &str, got: impl PartialEq<u32> + std::fmt::Debug, wanted: u32) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what}: {got:x?}, not {wanted:x}")) }
}

fn that(what: &str, holds: bool) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// A call and the error that it must make; nothing else may have.
type Call = fn(&Scene);
const ERRORS: &[(&str, u32, Call)] = &[
    ("counters of no group", INVALID_VALUE, |s| unsafe {
        (s.gl.counters)(NO_GROUP, null_mut(), null_mut(), 0, null_mut())
    }),
    ("name of no group", INVALID_VALUE, |s| unsafe {
        (s.gl.group_string)(NO_GROUP, 0, null_mut(), null_mut())
    }),
    ("counter's name of no group", INVALID_VALUE, |s| unsafe {
        (s.gl.counter_string)(NO_GROUP, 0, 0, null_mut(), null_mut())
    }),
    ("name of no counter", INVALID_VALUE, |s| unsafe {
        (s.gl.counter_string)(0, NO_COUNTER, 0, null_mut(), null_mut())
    }),
    ("counter's info of no group", INVALID_VALUE, |s| unsafe {
        (s.gl.counter_info)(NO_GROUP, 0, COUNTER_TYPE, [0u32; 4].as_mut_ptr().cast())
    }),
    ("info of no counter", INVALID_VALUE, |s| unsafe {
        (s.gl.counter_info)(0, NO_COUNTER, COUNTER_TYPE, [0u32; 4].as_mut_ptr().cast())
    }),
    ("info of no kind", INVALID_ENUM, |s| unsafe {
        (s.gl.counter_info)(0, s.groups[0].1[0], AVAILABLE, [0u32; 4].as_mut_ptr().cast())
    }),
    ("a group's counter in another group", INVALID_VALUE, |s| unsafe {
        (s.gl.counter_string)(1, s.groups[0].1[0], 0, null_mut(), null_mut())
    }),
    ("fewer than no monitors", INVALID_VALUE, |s| unsafe { (s.gl.gen_monitors)(-1, [0].as_mut_ptr()) }),
    ("deletion of no monitor", INVALID_VALUE, |s| s.delete(NO_MONITOR)),
    ("deletion of 0", INVALID_VALUE, |s| s.delete(0)),
    ("deletion of fewer than none", INVALID_VALUE, |s| unsafe {
        (s.gl.delete_monitors)(-1, [0].as_mut_ptr())
    }),
    ("selection in no monitor", INVALID_VALUE, |s| s.select(NO_MONITOR, true, 0, &[])),
    ("selection of no group", INVALID_VALUE, |s| s.select(s.monitor(), true, NO_GROUP, &[])),
    ("selection of fewer than none", INVALID_VALUE, |s| unsafe {
        (s.gl.select)(s.monitor(), 1, 0, -1, [0].as_mut_ptr())
    }),
    ("selection of no counter", INVALID_VALUE, |s| s.select(s.monitor(), true, 0, &[NO_COUNTER])),
    ("selection from no list", NONE, |s| unsafe { (s.gl.select)(s.monitor(), 1, 0, 3, null_mut()) }),
    ("begin of no monitor", INVALID_VALUE, |s| s.begin(NO_MONITOR)),
    ("end of no monitor", INVALID_VALUE, |s| s.end(NO_MONITOR)),
    ("end without begin", INVALID_OPERATION, |s| s.end(s.monitor())),
    ("data of no monitor", INVALID_VALUE, |s| drop(s.data(NO_MONITOR, AVAILABLE, 4))),
    ("data of no kind", INVALID_ENUM, |s| drop(s.data(s.monitor(), COUNTER_TYPE, 4))),
    ("data of fewer bytes than none", INVALID_VALUE, |s| drop(s.data(s.monitor(), SIZE, -1))),
    ("no place for available", INVALID_OPERATION, |s| unsafe {
        (s.gl.data)(s.monitor(), AVAILABLE, 4, null_mut(), null_mut())
    }),
    ("no place for the size", INVALID_OPERATION, |s| unsafe {
        (s.gl.data)(s.monitor(), SIZE, 4, null_mut(), null_mut())
    }),
    ("no place for the result", INVALID_OPERATION, |s| unsafe {
        (s.gl.data)(s.measured(), RESULT, 4, null_mut(), null_mut())
    }),
    ("more counters than can be active", INVALID_OPERATION, |s| {
        let (group, counters, active) = s.large();
        let id = s.monitor();
        s.select(id, true, *group, &counters[..active + 1]);
        s.begin(id);
    }),
    ("as many counters as can be active", NONE, |s| {
        let id = s.monitor();
        s.groups
            .iter()
            .for_each(|(group, counters, active)| s.select(id, true, *group, &counters[..*active]));
        s.begin(id);
        s.end(id);
    }),
    ("a session of no counters", NONE, |s| {
        let id = s.monitor();
        s.begin(id);
        s.end(id);
    }),
];

type Rule = fn(&Scene) -> Result<(), String>;
const RULES: &[(&str, Rule)] = &[
    ("groups: as many as there is room for, none without", |s| {
        let (mut n, mut ids) = (0, [UNTOUCHED; 3]);
        // SAFETY: room as it is told.
        unsafe {
            (s.gl.groups)(&mut n, 2, ids.as_mut_ptr());
            is("the third place", ids[2], UNTOUCHED)?;
            (s.gl.groups)(null_mut(), 0, ids[2..].as_mut_ptr());
            is("without room", ids[2], UNTOUCHED)?;
        }
        that("more than two groups", n > 2 && ids[0] != ids[1])
    }),
    ("counters: distinct, some group has a limit", |s| {
        for (group, counters, active) in &s.groups {
            let mut sorted = counters.clone();
            sorted.sort_unstable();
            sorted.dedup();
            that(
                &format!("group {group}"),
                sorted.len() == counters.len() && *active >= 1 && *active <= counters.len(),
            )?;
        }
        that("a limit", s.large().2 < s.large().1.len())
    }),
    ("names: the length without place; cut with their 0; nothing beyond", |s| {
        let mut length = 0;
        // SAFETY: no place.
        unsafe { (s.gl.counter_string)(0, s.groups[0].1[0], 0, &mut length, null_mut()) };
        let (whole, n) = s.name(64);
        is("length", n as u32, length as u32)?;
        that("its 0", whole[n as usize] == 0 && whole[n as usize + 1] == b'#')?;
        let (exact, n) = s.name(length);
        that("one short", n == length - 1 && exact[n as usize] == 0 && exact[length as usize] == b'#')?;
        let (one, n) = s.name(1);
        that("one place", n == 0 && one[0] == 0 && one[1] == b'#')?;
        let (none, n) = s.name(0);
        that("no room", n == 0 && none[0] == b'#')
    }),
    ("info: types have ranges in their own format; all four types are there", |s| {
        let mut seen = std::collections::BTreeSet::new();
        for (group, counters, _) in &s.groups {
            for counter in counters {
                let (mut ty, mut range) = (0u32, [UNTOUCHED; 5]);
                // SAFETY: room for a type and two values.
                unsafe {
                    (s.gl.counter_info)(*group, *counter, COUNTER_TYPE, (&raw mut ty).cast());
                    (s.gl.counter_info)(*group, *counter, COUNTER_RANGE, range.as_mut_ptr().cast());
                }
                let float = |i: usize| f32::from_bits(range[i]);
                let good = match ty {
                    UNSIGNED_INT => range[0] < range[1] && range[2] == UNTOUCHED,
                    UNSIGNED_INT64 => range[..2] == [0, 0] && range[2..4] != [0, 0] && range[4] == UNTOUCHED,
                    FLOAT => float(0) < float(1) && range[2] == UNTOUCHED,
                    PERCENTAGE => float(0) == 0.0 && float(1) == 100.0 && range[2] == UNTOUCHED,
                    _ => false,
                };
                that(&format!("counter {counter}: type {ty:x}, range {range:x?}"), good)?;
                seen.insert(ty);
            }
        }
        that(&format!("{seen:x?}"), seen.len() == 4)
    }),
    ("a new monitor: available, size and result are 0", |s| {
        let id = s.monitor();
        s.select(id, true, 0, &s.groups[0].1[..1]);
        for what in [AVAILABLE, SIZE, RESULT] {
            is("value", s.gl.number(id, what), 0)?;
        }
        Ok(())
    }),
    ("while a session is active nothing is available", |s| {
        let id = s.monitor();
        s.select(id, true, 0, &s.groups[0].1[..1]);
        s.begin(id);
        let all = [s.gl.number(id, AVAILABLE), s.gl.number(id, SIZE)];
        s.end(id);
        that(&format!("{all:?}"), all == [0, 0])
    }),
    ("one at a time: the same, another; the first goes on", |s| {
        let (a, b) = (s.monitor(), s.monitor());
        s.begin(a);
        s.begin(a);
        is("the same", s.error(), INVALID_OPERATION)?;
        s.begin(b);
        is("another", s.error(), INVALID_OPERATION)?;
        s.end(b);
        is("end of another", s.error(), INVALID_OPERATION)?;
        s.end(a);
        is("its own end", s.error(), NONE)?;
        s.end(a);
        is("a second end", s.error(), INVALID_OPERATION)
    }),
    ("a begin that fails leaves nothing active", |s| {
        let (group, counters, active) = s.large();
        let id = s.monitor();
        s.select(id, true, *group, &counters[..active + 1]);
        s.begin(id);
        is("too many", s.error(), INVALID_OPERATION)?;
        s.end(id);
        is("end", s.error(), INVALID_OPERATION)?;
        s.select(id, false, *group, &counters[..1]);
        s.begin(id);
        s.end(id);
        is("one fewer", s.error(), NONE)
    }),
    ("results: group, counter, value of the type's size; written bytes", |s| {
        let id = s.measured();
        s.wait(id);
        let size = s.gl.number(id, SIZE);
        let mut ty = 0u32;
        let counter = s.groups[0].1[0];
        // SAFETY: room for a type.
        unsafe { (s.gl.counter_info)(0, counter, COUNTER_TYPE, (&raw mut ty).cast()) };
        is("size", size, if ty == UNSIGNED_INT64 { 16 } else { 12 })?;
        let (words, written) = s.data(id, RESULT, 256);
        is("written", written as u32, size)?;
        that(
            &format!("{words:x?}"),
            words[..2] == [0, counter] && words[2] > 0 && words[size as usize / 4] == UNTOUCHED,
        )
    }),
    ("results are asked for as often as one likes", |s| {
        let id = s.measured();
        that("same", s.data(id, RESULT, 256) == s.data(id, RESULT, 256))
    }),
    ("less room than the result: no more is written", |s| {
        let id = s.measured();
        s.wait(id);
        for room in [0, 4, 8, 12] {
            let (words, written) = s.data(id, RESULT, room);
            that(&format!("{room}"), written == room && words[room as usize / 4] == UNTOUCHED)?;
        }
        is("error", s.error(), NONE)
    }),
    ("less room than a number: nothing is written", |s| {
        let id = s.measured();
        for room in 0..4 {
            let (words, written) = s.data(id, SIZE, room);
            that(&format!("{room}"), written == 0 && words[0] == UNTOUCHED)?;
        }
        Ok(())
    }),
    ("bytesWritten of numbers is 4", |s| {
        let id = s.measured();
        for what in [AVAILABLE, SIZE] {
            is("written", s.data(id, what, 256).1 as u32, 4)?;
        }
        Ok(())
    }),
    ("select makes results invalid, also with no counters; not when it fails", |s| {
        let id = s.measured();
        s.wait(id);
        s.select(id, true, NO_GROUP, &[]);
        is("error", s.error(), INVALID_VALUE)?;
        is("still", s.gl.number(id, AVAILABLE), 1)?;
        s.select(id, true, 0, &[]);
        for what in [AVAILABLE, SIZE, RESULT] {
            is("value", s.gl.number(id, what), 0)?;
        }
        s.begin(id);
        s.end(id);
        s.wait(id);
        is("again", s.gl.number(id, SIZE), 16)
    }),
    ("select with a bad counter in its list changes nothing", |s| {
        let id = s.monitor();
        s.select(id, true, 0, &[s.groups[0].1[0], NO_COUNTER]);
        is("error", s.error(), INVALID_VALUE)?;
        s.begin(id);
        s.end(id);
        is("size", s.gl.number(id, SIZE), 0)
    }),
    ("counters are disabled one by one", |s| {
        let id = s.monitor();
        s.select(id, true, 0, &s.groups[0].1[..3]);
        s.select(id, false, 0, &s.groups[0].1[..2]);
        s.begin(id);
        s.end(id);
        let words = (s.wait(id), s.data(id, RESULT, 256).0).1;
        is("what is left", words[1], s.groups[0].1[2])
    }),
    ("select while active: the session goes on from there", |s| {
        let id = s.monitor();
        s.select(id, true, 0, &s.groups[0].1[..1]);
        s.begin(id);
        s.gl.draw();
        s.select(id, true, 0, &s.groups[0].1[..2]);
        s.end(id);
        is("error", s.error(), NONE)?;
        s.wait(id);
        let (words, written) = s.data(id, RESULT, 256);
        that(&format!("{written} {words:?}"), written == 32 && words[2] == 0)
    }),
    ("a new session replaces the result", |s| {
        let id = s.measured();
        s.wait(id);
        let first = s.data(id, RESULT, 256);
        s.begin(id);
        is("meanwhile", s.gl.number(id, AVAILABLE), 0)?;
        s.end(id);
        that("an empty session counts nothing", s.data(id, RESULT, 256).0[2] == 0 && first.0[2] > 0)
    }),
    ("the size is known before the result is", |s| is("size", s.gl.number(s.measured(), SIZE), 16)),
    ("the result waits where available was not asked for", |s| {
        that("written", s.data(s.measured(), RESULT, 256).1 == 16)
    }),
    ("sessions without any drawing become available", |s| {
        let id = s.monitor();
        s.begin(id);
        s.end(id);
        s.wait(id);
        Ok(())
    }),
    ("counts are the same each time", |s| {
        let of = |id: u32| (s.wait(id), s.data(id, RESULT, 256).0).1;
        let _ = of(s.measured());
        that("same", of(s.measured())[2..] == of(s.measured())[2..])
    }),
    ("delete while active: it ends, another can begin", |s| {
        let (a, b) = (s.monitor(), s.monitor());
        s.begin(a);
        s.delete(a);
        is("delete", s.error(), NONE)?;
        s.end(a);
        is("its end", s.error(), INVALID_VALUE)?;
        s.begin(b);
        s.end(b);
        is("another", s.error(), NONE)
    }),
    ("delete of a list with a bad name deletes none", |s| {
        let id = s.monitor();
        // SAFETY: two.
        unsafe { (s.gl.delete_monitors)(2, [id, NO_MONITOR].as_mut_ptr()) };
        is("error", s.error(), INVALID_VALUE)?;
        s.begin(id);
        s.end(id);
        is("it is there", s.error(), NONE)
    }),
    ("names are distinct, not 0", |s| {
        let mut ids = [0; 5];
        // SAFETY: room for five.
        unsafe { (s.gl.gen_monitors)(5, ids.as_mut_ptr()) };
        ids.sort_unstable();
        that("distinct", ids[0] > 0 && ids.windows(2).all(|w| w[0] < w[1]))
    }),
    ("contexts share no monitors, sessions or errors", |s| {
        let id = s.monitor();
        s.begin(id);
        s.end(NO_MONITOR);
        let mut inside = Ok(());
        s.gl.in_another_context(|| {
            inside = (|| {
                is("an error of the other context", s.error(), NONE)?;
                s.begin(id + 500);
                is("a monitor of none", s.error(), INVALID_VALUE)?;
                let own = s.monitor();
                s.begin(own);
                is("a session of its own", s.error(), NONE)?;
                s.end(own);
                is("its end", s.error(), NONE)
            })();
        })?;
        inside?;
        is("the first context's error", s.error(), INVALID_VALUE)?;
        s.end(id);
        is("the first context's session", s.error(), NONE)
    }),
    ("an error is told once, then GL's own", |s| {
        s.end(NO_MONITOR);
        // SAFETY: a number.
        unsafe { (s.gl.clear)(1) };
        is("first", s.error(), INVALID_VALUE)?;
        is("GL's", s.error(), INVALID_VALUE)?;
        is("then", s.error(), NONE)
    }),
];

fn main() -> Result<(), String> {
    let gl = Gl::new(std::env::args().any(|a| a == "es"))?;
    that("the extension's string", gl.extensions().split(' ').any(|e| e == "GL_AMD_performance_monitor"))?;
    let groups = gl.catalogue();
    let scene = Scene { gl, groups };
    let mut failed = 0;
    let mut tell = |name: &str, result: Result<(), String>| {
        failed += result.is_err() as u32;
        println!("{name}: {}", result.map_or_else(|e| format!("FAILED: {e}"), |()| "ok".into()));
    };
    for (name, error, call) in ERRORS {
        call(&scene);
        let got = scene.error();
        tell(name, is("error", got, *error).and_then(|()| is("a second error", scene.error(), NONE)));
    }
    for (name, rule) in RULES {
        tell(name, rule(&scene).and_then(|()| is("an error left", scene.error(), NONE)));
    }
    if failed > 0 { Err(format!("{failed} failed")) } else { Ok(()) }
}
