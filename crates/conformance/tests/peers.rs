//! Whether a driver has what a test needs is asked of the driver: here of Tuff, whose answers are known.

#[allow(dead_code, reason = "other tests use the rest")]
mod common;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "common/peers.rs"]
mod peers;

use client::drivers::Driver;
use peers::{Need, lacks};

#[test]
fn what_it_has_is_not_missing() {
    let needs = [Need::Vulkan(1, 3), Need::Extension("VK_EXT_descriptor_buffer")];
    assert_eq!(lacks(&common::driver(), &needs), None);
}

#[test]
fn what_it_lacks_is_named() {
    let needs = [Need::Vulkan(9, 0), Need::Extension("VK_KHR_swapchain"), Need::Extension("VK_KHR_nothing")];
    let said = lacks(&common::driver(), &needs).expect("nobody has these");
    assert!(said.starts_with("Vulkan 9.0, VK_KHR_nothing of tuff (found: tuff "), "{said}");
}

#[test]
fn a_driver_that_does_not_open_is_no_peer() {
    let icd = std::path::Path::new("/nowhere/icd.json").into();
    let said = lacks(&Driver { name: "lavapipe".into(), icd }, &[]).expect("it is not there");
    assert!(said.starts_with("lavapipe that opens ("), "{said}");
}
