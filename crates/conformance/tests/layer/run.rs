//! A program below the layers, in a process of its own.

use client::drivers::{Driver, LAYER, Threads, find, layer_folder};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

pub const VALIDATION: &str = "VK_LAYER_KHRONOS_validation";

/// A file of this test's own.
pub fn file(what: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let n = COUNT.fetch_add(1, SeqCst);
    client::scratch(&format!("layer-{n}-{what}")).expect("a temporary folder")
}

pub struct Run<'a> {
    pub driver: &'a Driver,
    pub program: &'a str,
    /// The layer's settings by its variables' last words.
    pub settings: &'a [(&'a str, &'a str)],
    pub variables: &'a [(&'a str, &'a str)],
    /// The upper layer first: both, or one alone.
    pub layers: Vec<&'a str>,
}

impl<'a> Run<'a> {
    pub fn new(driver: &'a Driver, program: &'a str) -> Run<'a> {
        Run { driver, program, settings: &[], variables: &[], layers: vec![LAYER, VALIDATION] }
    }

    /// What the program and the layers print, if nobody complains; nothing where the driver lacks what the program
    /// needs, which is said.
    pub fn output(&self, executable: &str) -> Option<String> {
        let mut command = Command::new(executable);
        self.driver.prepare(&mut command, Threads::Count(2));
        let ours = layer_folder().unwrap_or_else(|e| panic!("{e}"));
        // Loaders order layers by the variable's names; older ones by the folders in which they find them.
        let ours = ours.to_string_lossy().into_owned();
        let folder =
            |l: &&str| if *l == LAYER { ours.clone() } else { "/usr/share/vulkan/explicit_layer.d".into() };
        let path: Vec<String> = self.layers.iter().map(folder).collect();
        command
            .arg(self.program)
            .env("VK_LOADER_LAYERS_DISABLE", "~implicit~")
            .env("VK_LAYER_PATH", path.join(":"))
            .env("VK_INSTANCE_LAYERS", self.layers.join(":"));
        for (name, value) in self.settings {
            command.env(format!("TUFF_PERFORMANCE_{}", name.to_uppercase()), value);
        }
        command.envs(self.variables.iter().copied());
        let output = command.output().unwrap();
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let name = &self.driver.name;
        if let Some(at) = text.find("needs: ") {
            let what = text[at + 7..].lines().next().unwrap_or_default();
            not_run::say(&format!("layer: '{}' on {name}", self.program), what);
            return None;
        }
        assert!(output.status.success(), "{} on {name}: {text}", self.program);
        let bad: Vec<_> = text
            .lines()
            // VK_EXT_frame_boundary's structures are newer than Debian 12's validation layers.
            .filter(|l| !l.contains("unknown VkStructureType (1000375"))
            .filter(|l| ["Validation", "VUID", "UNASSIGNED", "a fault"].iter().any(|b| l.contains(b)))
            .collect();
        assert!(bad.is_empty(), "{} on {name}: {}", self.program, bad.join("\n"));
        Some(text)
    }

    pub fn json(&self, executable: &str) -> Option<Value> {
        let path = file("json");
        let text = path.to_string_lossy().into_owned();
        let settings: Vec<_> =
            [("json", &*text), ("table", "off")].iter().chain(self.settings).copied().collect();
        Run { settings: &settings, layers: self.layers.clone(), ..*self }.output(executable)?;
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let _ = std::fs::remove_file(&path);
        Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}")))
    }

    /// The workloads, in the order in which they were submitted; all are measured.
    pub fn rows(&self) -> Option<Vec<Value>> {
        let json = self.json(CHILD)?;
        let mut rows = json["workloads"].as_array().unwrap().clone();
        rows.sort_by_key(|r| r["submission"].as_u64());
        for r in &rows {
            assert!(r["not_measured"].is_null() && r["elapsed_ns"].as_f64().is_some(), "{r}");
        }
        Some(rows)
    }
}

pub const CHILD: &str = env!("CARGO_BIN_EXE_layer-child");

pub fn tuff() -> Driver {
    crate::common::driver()
}

/// Tuff, and lavapipe where it is.
pub fn drivers(test: &str) -> Vec<Driver> {
    let validation =
        std::path::Path::new("/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json");
    assert!(validation.exists(), "{VALIDATION} (Debian's vulkan-validationlayers) is installed");
    let peer = find("lavapipe");
    if peer.is_none() {
        not_run::say(&format!("layer: {test} on lavapipe"), "lavapipe (not installed)");
    }
    std::iter::once(tuff()).chain(peer).collect()
}
