//! Whether a driver has what a test needs is asked of the driver: here of Tuff, whose answers are known.

use crate::common::peers::{Need, lacks};
use client::drivers::Driver;

#[test]
fn what_it_has_is_not_missing() {
    let needs = [Need::Vulkan(1, 3), Need::Extension("VK_EXT_descriptor_buffer")];
    assert_eq!(lacks(&crate::common::driver(), &needs), None);
}

#[test]
fn what_it_lacks_is_named() {
    let needs = [Need::Vulkan(9, 0), Need::Extension("VK_KHR_swapchain"), Need::Extension("VK_KHR_nothing")];
    let said = lacks(&crate::common::driver(), &needs).expect("nobody has these");
    assert!(said.starts_with("Vulkan 9.0, VK_KHR_nothing of tuff (found: tuff "), "{said}");
}

#[test]
fn a_driver_that_does_not_open_is_no_peer() {
    let icd = std::path::Path::new("/nowhere/icd.json").into();
    let said = lacks(&Driver { name: "lavapipe".into(), icd }, &[]).expect("it is not there");
    assert!(said.starts_with("lavapipe that opens ("), "{said}");
}
