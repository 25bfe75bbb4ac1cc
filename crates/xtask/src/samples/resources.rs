//! What examples read, in one folder: the clone's shaders and assets, by links, and stand-ins for large assets that a mirror of
//! the assets leaves out. What they show is made up; their kinds, sizes and layers are such as the examples ask for, and their
//! bytes are the same wherever they are made.

use super::texture::{Look, Shape, texture};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What is in an asset's place.
enum Instead {
    Texture(Shape, Look),
    /// Another asset.
    Other(&'static str),
}

/// A square of 1024 texels.
const PLANE: Shape = Shape { side: 1024, layers: 1, cube: false };
const CUBE: Shape = Shape { side: 512, layers: 1, cube: true };

/// By the asset's path below `assets`.
const STAND_INS: &[(&str, Instead)] = {
    use Instead::{Other, Texture};
    use Look::{Colour, Cutout, Grey, Height, Light, Normal, NormalHeight};
    &[
        ("models/armor/colormap_rgba.ktx", Texture(PLANE, Colour)),
        ("models/armor/normalmap_rgba.ktx", Texture(PLANE, Normal)),
        ("models/cerberus/albedo.ktx", Texture(PLANE, Colour)),
        ("models/cerberus/ao.ktx", Texture(PLANE, Grey)),
        ("models/cerberus/metallic.ktx", Texture(PLANE, Grey)),
        ("models/cerberus/normal.ktx", Texture(PLANE, Normal)),
        ("models/cerberus/roughness.ktx", Texture(PLANE, Grey)),
        ("models/gltf/glTF-Embedded/Buggy.gltf", Other("models/samplescene.gltf")),
        ("models/vulkanscenemodels.gltf", Other("models/samplescene.gltf")),
        (
            "models/FlightHelmet/glTF/FlightHelmet_baseColor1.png",
            Other("models/FlightHelmet/glTF/FlightHelmet_baseColor2.png"),
        ),
        (
            "models/FlightHelmet/glTF/FlightHelmet_normal1.png",
            Other("models/FlightHelmet/glTF/FlightHelmet_normal2.png"),
        ),
        (
            "models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic.png",
            Other("models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic2.png"),
        ),
        (
            "models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic1.png",
            Other("models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic2.png"),
        ),
        (
            "models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic4.png",
            Other("models/FlightHelmet/glTF/FlightHelmet_occlusionRoughnessMetallic2.png"),
        ),
        ("textures/cubemap_array.ktx", Texture(Shape { layers: 3, ..CUBE }, Colour)),
        ("textures/cubemap_space.ktx", Texture(CUBE, Colour)),
        ("textures/cubemap_vulkan.ktx", Texture(CUBE, Colour)),
        ("textures/cubemap_yokohama_rgba.ktx", Texture(CUBE, Colour)),
        ("textures/fireplace_colormap_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/hdr/gcanyon_cube.ktx", Texture(CUBE, Light)),
        ("textures/hdr/pisa_cube.ktx", Texture(CUBE, Light)),
        ("textures/hdr/uffizi_cube.ktx", Texture(CUBE, Light)),
        ("textures/rocks_color_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/rocks_normal_height_rgba.ktx", Texture(PLANE, NormalHeight)),
        ("textures/skysphere_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/stonefloor01_color_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/stonefloor01_normal_rgba.ktx", Texture(PLANE, Normal)),
        ("textures/stonefloor02_color_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/stonefloor02_normal_rgba.ktx", Texture(PLANE, Normal)),
        ("textures/stonefloor03_color_height_rgba.ktx", Texture(PLANE, Height)),
        ("textures/terrain_texturearray_rgba.ktx", Texture(Shape { layers: 6, side: 512, ..PLANE }, Colour)),
        ("textures/texture_orientation_ccw_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/texture_orientation_cw_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/texturearray_plants_rgba.ktx", Texture(Shape { layers: 6, side: 512, ..PLANE }, Cutout)),
        ("textures/texturearray_rocks_rgba.ktx", Texture(Shape { layers: 5, side: 512, ..PLANE }, Colour)),
        ("textures/vulkan_11_rgba.ktx", Texture(PLANE, Colour)),
        ("textures/vulkan_cloth_rgba.ktx", Texture(PLANE, Colour)),
    ]
};

/// Makes the folder anew, but for stand-ins that it has; says which there are.
pub fn gather(source: &Path, folder: &Path) -> Result<PathBuf, String> {
    let said = |e: io::Error| format!("{}: {e}", folder.display());
    let assets = folder.join("assets");
    link_files(&source.join("assets"), &assets).map_err(said)?;
    link(&source.join("shaders"), &folder.join("shaders")).map_err(said)?;
    let lacking = STAND_INS.iter().filter(|(path, _)| !source.join("assets").join(path).exists());
    let mut names = vec![];
    for (number, (path, instead)) in lacking.enumerate() {
        let (place, seed) = (assets.join(path), number as u32);
        std::fs::create_dir_all(place.parent().unwrap_or(&assets)).map_err(said)?;
        match instead {
            Instead::Other(other) => link(&source.join("assets").join(other), &place).map_err(said)?,
            Instead::Texture(..) if place.exists() => {}
            Instead::Texture(shape, look) => {
                std::fs::write(&place, texture(shape, *look, seed)).map_err(said)?;
            }
        }
        names.push(*path);
    }
    if !names.is_empty() {
        println!("xtask: stand-ins for {} assets that the clone lacks: {}", names.len(), names.join(", "));
    }
    Ok(folder.into())
}

/// Makes a folder like another, each file a link.
fn link_files(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if from.is_dir() { link_files(&from, &to)? } else { link(&from, &to)? }
    }
    Ok(())
}

/// A link in place of whatever file was there.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::remove_file(to) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => symlink(from, to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_clone_has_is_linked_and_what_it_lacks_made() {
        let place = temporary::folder("tuff-").unwrap();
        let place = place.path();
        let (source, folder) = (place.join("source"), place.join("resources"));
        let kept = "textures/hdr/pisa_cube.ktx";
        for file in ["shaders/a", "assets/models/samplescene.gltf", &format!("assets/{kept}")] {
            let file = source.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "as it was").unwrap();
        }
        // Only what the test looks at is made: the rest is there already.
        for (path, instead) in STAND_INS {
            let made = folder.join("assets").join(path);
            if matches!(instead, Instead::Texture(..)) && !path.ends_with("vulkan_11_rgba.ktx") {
                std::fs::create_dir_all(made.parent().unwrap()).unwrap();
                std::fs::write(made, "made before").unwrap();
            }
        }
        for _ in 0..2 {
            gather(&source, &folder).unwrap();
            let read = |file: &str| std::fs::read(folder.join(file)).unwrap();
            assert_eq!(read("shaders/a"), b"as it was");
            assert_eq!(read(&format!("assets/{kept}")), b"as it was");
            assert_eq!(read("assets/models/vulkanscenemodels.gltf"), b"as it was");
            assert_eq!(read("assets/textures/skysphere_rgba.ktx"), b"made before");
            assert_eq!(read("assets/textures/vulkan_11_rgba.ktx")[1..7], *b"KTX 11");
        }
        std::fs::remove_dir_all(place).unwrap();
    }
}
