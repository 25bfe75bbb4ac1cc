//! The driver's own channel (docs/channel.md), read in the process of a program that uses the driver through the
//! loader. What is expected is worked out by hand, or comes from VK_KHR_performance_query and timestamps.

pub mod example;
mod marks;
mod readers;
mod rig;
pub mod steady;
mod work;

pub use crate::check::Found;
pub(crate) use crate::check::{check_list, holds, same, text};
pub use rig::Rig;

pub struct Check {
    pub name: &'static str,
    pub run: fn(&Rig) -> Found,
}

pub fn checks() -> Vec<Check> {
    let mut all = work::checks();
    all.extend(marks::checks());
    all.extend(readers::checks());
    all
}
