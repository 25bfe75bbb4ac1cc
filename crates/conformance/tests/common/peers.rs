//! Other drivers that Tuff is compared with. A test says what it needs of one; where that is absent, it says so.

use client::drivers::{Driver, Threads, find};
use client::session::{Answer, Request, Voice};
use std::process::Command;
use std::time::Duration;

/// What a test needs of a peer, beyond that it is installed and opens.
pub enum Need {
    /// This version of Vulkan or a newer one.
    Vulkan(u32, u32),
    /// A device extension.
    Extension(&'static str),
}

/// The installed driver of this name, if it has all that `test` needs; otherwise [`not_run::say`] says what is missing.
pub fn peer(test: &str, name: &str, needs: &[Need]) -> Option<Driver> {
    let found = find(name).ok_or(format!("{name} (not installed)"));
    match found.and_then(|driver| lacks(&driver, needs).map_or(Ok(driver), Err)) {
        Ok(driver) => Some(driver),
        Err(missing) => {
            not_run::say(test, &missing);
            None
        }
    }
}

/// Which of these needs a driver does not meet, by what it tells the loader, and what was found.
pub fn lacks(driver: &Driver, needs: &[Need]) -> Option<String> {
    let name = &driver.name;
    let child = Command::new(env!("CARGO_BIN_EXE_session-child"));
    let voice = Voice::start(child, driver, Threads::Count(1), Duration::from_secs(60));
    let answer = voice.map_err(|e| e.to_string()).and_then(|mut v| v.ask(&Request::Hello));
    let (about, vulkan, extensions) = match answer {
        Ok(Answer::Hello { driver, vulkan, extensions, .. }) => (driver, vulkan, extensions),
        Ok(other) => return Some(format!("{name} that opens (unexpected answer {other:?})")),
        Err(e) => return Some(format!("{name} that opens ({e})")),
    };
    let missing: Vec<_> = needs
        .iter()
        .filter_map(|need| match need {
            Need::Vulkan(major, minor) => {
                (vulkan < (*major, *minor)).then(|| format!("Vulkan {major}.{minor}"))
            }
            Need::Extension(e) => (!extensions.iter().any(|x| x == e)).then(|| e.to_string()),
        })
        .collect();
    let version = about.split(' ').find(|w| w.starts_with(|c: char| c.is_ascii_digit())).unwrap_or(&about);
    (!missing.is_empty()).then(|| format!("{} of {name} (found: {name} {version})", missing.join(", ")))
}
