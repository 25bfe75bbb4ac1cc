//! Debian's vulkaninfo on Tuff, under the Khronos validation layers.

use client::drivers::tuff_icd;
use std::process::{Command, Output};

/// `display`: where its windows go, if anywhere.
fn vulkaninfo(arguments: &[&str], layers: Option<&str>, display: Option<&str>) -> Output {
    let icd = tuff_icd();
    let mut command = Command::new("vulkaninfo");
    command
        .args(arguments)
        .env("VK_ICD_FILENAMES", &icd)
        .env("VK_DRIVER_FILES", &icd)
        .env_remove("DISPLAY")
        // Other drivers' implicit layers are not what is tested.
        .env("VK_LOADER_LAYERS_DISABLE", "~implicit~");
    if let Some(display) = display {
        command.env("DISPLAY", display);
    }
    if let Some(layers) = layers {
        command.env("VK_INSTANCE_LAYERS", layers);
    }
    command.output().expect("vulkaninfo (Debian's vulkan-tools) is installed")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn its_summary_names_tuff() {
    let output = vulkaninfo(&["--summary"], None, None);
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    let value = |name: &str| {
        let mut lines = text.lines().map(str::trim).filter(|l| l.starts_with(name));
        lines.next().and_then(|l| l.split_once('=')).map(|(_, v)| v.trim().to_string()).unwrap_or_default()
    };
    assert!(value("deviceName").contains("Tuff"), "{text}");
    assert!(value("driverName").to_lowercase().contains("tuff"), "{text}");
    assert!(value("deviceType").contains("CPU"), "{text}");
    assert!(value("apiVersion").contains("1.4"), "{text}");
}

#[test]
fn it_runs_clean_under_validation() {
    clean(&vulkaninfo(&[], Some("VK_LAYER_KHRONOS_validation"), None));
}

#[test]
fn with_a_screen_it_shows_what_surfaces_can() {
    let server = xserver::XServer::new(24, &[]);
    let output = vulkaninfo(&[], Some("VK_LAYER_KHRONOS_validation"), Some(&server.name));
    clean(&output);
    let text = text(&output);
    for wanted in ["VK_KHR_xcb_surface", "VK_KHR_xlib_surface", "PRESENT_MODE_MAILBOX_KHR"] {
        assert!(text.contains(wanted), "no {wanted}: {text}");
    }
}

/// It succeeded, and the layers said nothing.
fn clean(output: &Output) {
    let text = text(output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("VK_LAYER_KHRONOS_validation"), "the validation layer is not installed");
    let bad: Vec<_> = text
        .lines()
        // What the loader says of its settings.
        .filter(|l| {
            !l.contains("adding layers \"VK_LAYER_KHRONOS_validation\"") && !l.contains("forced disabled")
        })
        .filter(|l| {
            ["Validation Error", "Validation Warning", "VUID-", "UNASSIGNED", "ERROR", "WARNING", "[Loader"]
                .iter()
                .any(|b| l.contains(b))
        })
        .collect();
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}
