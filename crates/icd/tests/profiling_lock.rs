//! The profiling lock as drivers of hardware have it (`TUFF_INTERFACES=lock=exclusive`): one device of all processes holds it.

mod common;
#[path = "common/gpu.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod gpu;

use ash::vk;
use gpu::Gpu;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

/// Long enough to see that it was waited for.
const TIMEOUT: Duration = Duration::from_millis(30);

struct Locked {
    g: Gpu,
    device: ash::khr::performance_query::Device,
}

impl Locked {
    fn new() -> Locked {
        let mut features =
            vk::PhysicalDevicePerformanceQueryFeaturesKHR::default().performance_counter_query_pools(true);
        let g = Gpu::with(&[vk::KHR_PERFORMANCE_QUERY_NAME], &mut features);
        let device = ash::khr::performance_query::Device::new(&g.instance, &g.device);
        Locked { g, device }
    }
    fn acquire(&self) -> Result<(), vk::Result> {
        let info = vk::AcquireProfilingLockInfoKHR::default().timeout(TIMEOUT.as_nanos() as u64);
        // SAFETY (here and below): a live device.
        unsafe { self.device.acquire_profiling_lock(&info) }
    }
    fn release(&self) {
        unsafe { self.device.release_profiling_lock() };
    }
}

#[test]
fn one_device_holds_it() {
    // SAFETY: before the driver, which reads it once, is asked for.
    unsafe { std::env::set_var("TUFF_INTERFACES", "lock=exclusive") };
    let (a, b) = (Locked::new(), Locked::new());
    assert_eq!(a.acquire(), Ok(()));
    let begun = Instant::now();
    assert_eq!(b.acquire(), Err(vk::Result::TIMEOUT));
    assert!(begun.elapsed() >= TIMEOUT);
    // What one has not, it can't release.
    b.release();
    assert_eq!(b.acquire(), Err(vk::Result::TIMEOUT));
    a.release();
    assert_eq!(b.acquire(), Ok(()));
    assert_eq!(a.acquire(), Err(vk::Result::TIMEOUT));
    // A device that is destroyed holds nothing.
    drop(b);
    assert_eq!(a.acquire(), Ok(()));
    a.release();
    // As another process would hold it.
    let name = SocketAddr::from_abstract_name("tuff-profiling-lock").expect("a name");
    let other = UnixDatagram::bind_addr(&name).expect("nobody has it");
    assert_eq!(a.acquire(), Err(vk::Result::TIMEOUT));
    drop(other);
    assert_eq!(a.acquire(), Ok(()));
    drop(a.g);
}
