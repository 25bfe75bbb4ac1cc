//! Instances and the physical device, and the tables of what it reports: extensions, features, limits, other properties, SPIR-V capabilities.
//!
//! It must not know objects of devices: a number that the device reports and that other rooms obey is in [`limits`].

pub(crate) mod capabilities;
pub(crate) mod clients;
#[cfg_attr(unix, path = "clock/unix.rs")]
#[cfg_attr(windows, path = "clock/windows.rs")]
pub(crate) mod clock;
pub(crate) mod cooperative;
pub(crate) mod create;
pub(crate) mod data_graph;
pub(crate) mod debug_report;
pub(crate) mod extensions;
pub(crate) mod external;
pub(crate) mod features;
pub(crate) mod generated;
#[cfg_attr(windows, path = "host_memory/windows.rs")]
pub(crate) mod host_memory;
pub(crate) mod limits;
pub(crate) mod messenger;
pub(crate) mod physical_device;
pub(crate) mod properties;
pub(crate) mod shading_rates;
pub(crate) mod structs;

pub(crate) use create::*;
