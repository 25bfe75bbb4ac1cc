//! The example of docs/channel.md, compiled by a test, reads what this program does.

use super::rig::{Rig, TRIANGLE};
use super::text;
use channel::raw;

type FindChannel = unsafe extern "C" fn() -> *const raw::Channel;
type Print = unsafe extern "C" fn(*const raw::Channel, *mut raw::Reader);

/// Has the example in `library` print a dispatch of three workgroups and a pass with a triangle.
pub fn run(rig: &Rig, library: &str) -> Result<(), String> {
    // SAFETY: the test's own library, whose functions have these types; a reader is used as the header says.
    unsafe {
        let library = libloading::Library::new(library).map_err(text)?;
        let find = library.get::<FindChannel>(b"find_channel\0").map_err(text)?;
        let print = library.get::<Print>(b"print_workloads\0").map_err(text)?;
        let channel = find().as_ref().ok_or("the example finds no channel")?;
        super::holds("the same table", std::ptr::eq(channel, rig.channel.table()))?;
        let reader = (channel.open)(16);
        super::same("start", (channel.start)(reader), 0)?;
        rig.run(|d, c| {
            rig.begin_label(c, c"compute");
            rig.dispatch(c, 3);
            rig.end_label(c);
            rig.pass().record(d, c, |_, c| rig.draw(c, TRIANGLE));
        })?;
        (channel.stop)(reader);
        print(channel, reader);
        (channel.close)(reader);
        // What C's streams still hold is written when the process ends; the code after them is not needed for that.
        Ok(())
    }
}
