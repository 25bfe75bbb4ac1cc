//! `cargo xtask test`: everything that must pass, from a clean checkout.

use crate::cargo::{call, cargo, own};
use crate::needs::{Need, has_program, provide};
use std::path::Path;

const NEEDS: [Need; 6] = [
    Need { what: "the Vulkan loader", package: "libvulkan1", here: has_loader },
    Need { what: "vulkaninfo", package: "vulkan-tools", here: || has_program("vulkaninfo") },
    Need { what: "VK_LAYER_KHRONOS_validation", package: "vulkan-validationlayers", here: has_validation },
    Need { what: "Xvfb", package: "xvfb", here: || has_program("Xvfb") },
    Need { what: "spirv-val", package: "spirv-tools", here: || has_program("spirv-val") },
    Need { what: "readelf", package: "binutils", here: || has_program("readelf") },
];

fn has_loader() -> bool {
    let folders = ["/lib", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu"];
    folders.iter().any(|f| Path::new(f).join("libvulkan.so.1").exists())
}

fn has_validation() -> bool {
    ["/etc", "/usr/share", "/usr/local/share"]
        .iter()
        .any(|f| Path::new(f).join("vulkan/explicit_layer.d/VkLayer_khronos_validation.json").exists())
}

/// Runs every step, also after one has failed, and says in the end which ones did.
pub fn run() -> Result<(), String> {
    provide("the tests", &NEEDS)?;
    let steps: [(&str, &dyn Fn() -> Result<(), String>); 5] = [
        ("format", &|| call(cargo(&["fmt", "--all", "--check"]))),
        ("generated files", &|| call(own(&["codegen", "--check"])?)),
        ("release driver", &|| call(cargo(&["build", "--release", "-p", "icd"]))),
        ("clippy", &|| call(cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))),
        ("tests", &|| call(cargo(&["test", "--workspace", "--no-fail-fast"]))),
    ];
    let mut failed = Vec::new();
    for (name, step) in steps {
        if let Err(e) = step() {
            eprintln!("xtask: {name}: {e}");
            failed.push(name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}
