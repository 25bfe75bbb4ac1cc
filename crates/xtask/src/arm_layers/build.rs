//! Building the layers, in the target folder; the source folder is only read.

use crate::cargo::call;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A layer's build.
pub struct Layer {
    /// `VK_LAYER_LGL_gpu_profile`.
    pub name: &'static str,
    /// Where its manifest and its library are.
    pub folder: PathBuf,
}

impl Layer {
    /// A configuration of layer_gpu_profile: every frame, by `workload` or by `frame`.
    pub fn profiling(&self, mode: &str) -> String {
        let config = serde_json::json!({
            "layer": self.name, "frame_mode": "periodic", "sample_mode": mode, "periodic_min_frame": 0,
            "periodic_frame": 1, "frame_list": [], "frame_serialization": true,
        });
        config.to_string()
    }

    /// Has `program`, which runs in `folder`, load the layer with this configuration.
    pub fn load(&self, program: &mut Command, folder: &Path, config: &str) -> Result<(), String> {
        let file = folder.join(format!("{}.json", self.name));
        std::fs::write(&file, config).map_err(|e| format!("{}: {e}", file.display()))?;
        program.env("VK_LAYER_PATH", &self.folder).env("VK_INSTANCE_LAYERS", self.name);
        Ok(())
    }
}

pub struct Layers {
    /// `None`: left out.
    pub profiles: Option<Profiles>,
    pub timeline: Layer,
}

/// layer_gpu_profile, twice.
pub struct Profiles {
    /// Its libGPUCounters asks the kernel device.
    pub device: Layer,
    /// Its libGPUCounters asks `libmali.so`.
    pub libmali: Layer,
}

/// The parts that a clone with its submodules has.
const PARTS: [&str; 8] = [
    "layer_gpu_profile/CMakeLists.txt",
    "layer_gpu_timeline/CMakeLists.txt",
    "lglpy/comms/server.py",
    "lglpy/comms/service_gpu_profile.py",
    "source_third_party/khronos/vulkan/include/vulkan/vulkan.h",
    "source_third_party/khronos/vulkan-utilities/include/vulkan/utility/vk_struct_helper.hpp",
    "source_third_party/libGPUCounters/CMakeLists.txt",
    "source_third_party/protopuf/CMakeLists.txt",
];

/// The folder, if everything is there.
pub fn source(folder: &Path) -> Result<PathBuf, String> {
    let absolute = std::path::absolute(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    match PARTS.iter().find(|p| !absolute.join(p).exists()) {
        None => Ok(absolute),
        Some(part) => Err(format!(
            "{} is no clone of libGPULayers with its submodules, for it lacks {part}: \
             git clone --recursive https://github.com/ARM-software/libGPULayers",
            folder.display()
        )),
    }
}

/// Builds the layers, or looks for what was built before.
pub fn layers(source: &Path, folder: &Path, ready: bool, timeline_only: bool) -> Result<Layers, String> {
    let profiles = || {
        Ok::<_, String>(Profiles {
            device: profile(source, folder, ready)?,
            libmali: layer(
                source,
                folder,
                ready,
                &PROFILE,
                "profile-libmali",
                &["-DHWCPIPE_SYSCALL_LIBMALI=ON"],
            )?,
        })
    };
    Ok(Layers {
        profiles: if timeline_only { None } else { Some(profiles()?) },
        timeline: layer(source, folder, ready, &TIMELINE, "timeline", &[])?,
    })
}

/// layer_gpu_profile, whose libGPUCounters asks the kernel device.
pub fn profile(source: &Path, folder: &Path, ready: bool) -> Result<Layer, String> {
    layer(source, folder, ready, &PROFILE, "profile", &[])
}

/// A layer's name, its folder in the source and its library.
struct Part(&'static str, &'static str, &'static str);

const PROFILE: Part = Part("VK_LAYER_LGL_gpu_profile", "layer_gpu_profile", "libVkLayerGPUProfile.so");
const TIMELINE: Part = Part("VK_LAYER_LGL_gpu_timeline", "layer_gpu_timeline", "libVkLayerGPUTimeline.so");

fn layer(
    source: &Path,
    folder: &Path,
    ready: bool,
    Part(name, part, library): &Part,
    build: &str,
    options: &[&str],
) -> Result<Layer, String> {
    let out = folder.join("build").join(build);
    if !ready {
        compile(&source.join(part), &out, options)?;
    }
    let folder = folder.join("layers").join(build);
    install(&[&out.join("source").join(library), &source.join(part).join("manifest.json")], &folder)?;
    Ok(Layer { name, folder })
}

fn compile(source: &Path, out: &Path, options: &[&str]) -> Result<(), String> {
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(source).arg("-B").arg(out).args(["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]);
    configure.args(options);
    call(configure)?;
    let mut ninja = Command::new("ninja");
    ninja.arg("-C").arg(out);
    call(ninja)
}

/// Puts files into a folder: a layer's library beside its manifest, as its documentation says.
fn install(files: &[&Path], folder: &Path) -> Result<(), String> {
    for file in files {
        let failed = |e: std::io::Error| format!("{}: {e}", file.display());
        std::fs::create_dir_all(folder).map_err(failed)?;
        std::fs::copy(file, folder.join(file.file_name().unwrap_or_default())).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_folder_without_submodules_is_named() {
        let error = super::source(std::path::Path::new("/nowhere")).unwrap_err();
        assert!(error.contains("/nowhere") && error.contains("--recursive"), "{error}");
    }
}
