//! Addresses that were captured on a device that is no more (bufferDeviceAddressCaptureReplay), in a process of its own: nobody else makes
//! devices meanwhile.

use ash::vk;
use std::sync::Arc;
use texel::memory::{AddressSpace, DeviceMemory, Wanted};

fn make(space: &Arc<AddressSpace>, holes: bool, at: Option<u64>) -> Result<Arc<DeviceMemory>, vk::Result> {
    let at = at.map_or(Wanted::Anywhere, Wanted::At);
    match holes {
        false => DeviceMemory::allocate_at(space, 100, 0, true, at),
        true => DeviceMemory::sparse_at(space, 100, true, at),
    }
}

/// They are replayed on another device, though a third lies between them, and by one device at a time.
#[test]
fn addresses_of_a_device_that_is_no_more_are_adopted() {
    let space = || AddressSpace::new().expect("address space");
    let taken = Some(vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS);
    let a = space();
    let mut others: Vec<_> = (0..4).map(|_| space()).collect();
    let last = (0..4).max_by_key(|&i| others[i].arena().0).expect("four");
    let gone = others.remove(last);
    let captured = [false, true].map(|holes| make(&gone, holes, None).expect("memory"));
    let addresses = [false, true].map(|holes| (captured[holes as usize].ptr() as u64, holes));
    for (at, holes) in addresses {
        assert_eq!(make(&a, holes, Some(at)).err(), taken, "the device lives");
    }
    drop((captured, gone));
    for (at, holes) in addresses {
        for owner in [&a, &a] {
            let memory = make(owner, holes, Some(at)).expect("nobody has it");
            assert_eq!(memory.ptr() as u64, at);
            assert!(owner.is_live(at, 100) && owner.holds(at, 100) && owner.from(at).is_some());
            for other in others.iter().chain([&a]).filter(|o| !Arc::ptr_eq(o, owner)) {
                assert!(!other.is_live(at, 1) && other.at(at).is_none());
                assert_eq!(make(other, holes, Some(at)).err(), taken);
            }
        }
    }
}
