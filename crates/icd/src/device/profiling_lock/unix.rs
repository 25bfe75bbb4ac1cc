//! Linux: a name in the list of sockets.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

pub type Name = UnixDatagram;

/// The name, if nobody has it.
pub fn name() -> Option<Name> {
    let name = SocketAddr::from_abstract_name("tuff-profiling-lock").ok()?;
    UnixDatagram::bind_addr(&name).ok()
}
