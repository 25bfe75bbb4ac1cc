//! Formats as the matrix needs them, read from their names: what a component is, how large a block.

use ash::vk;

/// What a shader sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Float,
    Uint,
    Sint,
}

impl Kind {
    /// The letter in the names of shaders.
    pub fn letter(self) -> char {
        match self {
            Kind::Float => 'f',
            Kind::Uint => 'u',
            Kind::Sint => 'i',
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub format: vk::Format,
    pub kind: Kind,
    /// Width and height of a block in texels.
    pub block: [u32; 2],
    /// Bytes of a block; of a depth and stencil format those of its larger aspect in a buffer.
    pub bytes: u32,
    pub aspects: vk::ImageAspectFlags,
    /// Random bits may be no number.
    pub float: bool,
}

impl Format {
    /// All of one plane.
    pub fn all() -> impl Iterator<Item = Format> {
        ::vk::FORMATS.iter().filter_map(|&(name, format)| Format::parse(name, format))
    }

    pub fn find(name: &str) -> Option<Format> {
        Format::all().find(|f| f.name == name)
    }

    pub fn is_colour(&self) -> bool {
        self.aspects == vk::ImageAspectFlags::COLOR
    }

    pub fn is_depth(&self) -> bool {
        self.aspects.contains(vk::ImageAspectFlags::DEPTH)
    }

    fn parse(name: &'static str, format: vk::Format) -> Option<Format> {
        use vk::ImageAspectFlags as A;
        // Two pixels of a subsampled format share a colour: they need a conversion to be sampled.
        if name.contains("PLANE")
            || name.contains("_42")
            || name.starts_with("G8B8G8")
            || name.starts_with("B8G8R8G8")
        {
            return None;
        }
        let has = |part: &str| name.contains(part);
        let kind = match () {
            _ if name == "S8_UINT" || has("UINT") && !name.starts_with('D') => Kind::Uint,
            _ if has("SINT") => Kind::Sint,
            _ => Kind::Float,
        };
        let aspects = match (name.starts_with('D') || name.starts_with("X8_D"), has("S8_UINT")) {
            (true, true) => A::DEPTH | A::STENCIL,
            (true, false) => A::DEPTH,
            (false, true) => A::STENCIL,
            _ => A::COLOR,
        };
        let (block, bytes) = match () {
            _ if name.starts_with("BC1") || name.starts_with("BC4") => ([4, 4], 8),
            _ if name.starts_with("BC") => ([4, 4], 16),
            _ if name.starts_with("ETC2_R8G8B8A8") => ([4, 4], 16),
            _ if name.starts_with("ETC2") || name.starts_with("EAC_R11_") => ([4, 4], 8),
            _ if name.starts_with("EAC") => ([4, 4], 16),
            _ if name.starts_with("ASTC") => {
                let size = name.trim_start_matches("ASTC_").split('_').next()?;
                let (w, h) = size.split_once('x')?;
                // Blocks with a depth are volumes alone.
                ([w.parse().ok()?, h.parse().ok()?], 16)
            }
            _ if name.starts_with("PVRTC") => return None,
            _ if aspects == A::STENCIL => ([1, 1], 1),
            _ if name.starts_with("D16") => ([1, 1], 2),
            _ if aspects != A::COLOR => ([1, 1], 4),
            _ => ([1, 1], bits(name) / 8),
        };
        (bytes > 0).then_some(Format { name, format, kind, block, bytes, aspects, float: has("FLOAT") })
    }
}

/// The sum of the numbers that follow the components' letters.
fn bits(name: &str) -> u32 {
    let components = name.split('_').next().unwrap_or_default();
    components.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes by the specification's table of compatible formats.
    #[test]
    fn names_tell_sizes() {
        for (name, block, bytes, kind) in [
            ("R8G8B8A8_UNORM", [1, 1], 4, Kind::Float),
            ("B10G11R11_UFLOAT_PACK32", [1, 1], 4, Kind::Float),
            ("E5B9G9R9_UFLOAT_PACK32", [1, 1], 4, Kind::Float),
            ("A2B10G10R10_UINT_PACK32", [1, 1], 4, Kind::Uint),
            ("R64G64B64A64_SINT", [1, 1], 32, Kind::Sint),
            ("R10X6G10X6_UNORM_2PACK16", [1, 1], 4, Kind::Float),
            ("BC1_RGB_SRGB_BLOCK", [4, 4], 8, Kind::Float),
            ("BC7_UNORM_BLOCK", [4, 4], 16, Kind::Float),
            ("EAC_R11G11_SNORM_BLOCK", [4, 4], 16, Kind::Float),
            ("ASTC_10x6_SFLOAT_BLOCK", [10, 6], 16, Kind::Float),
            ("D24_UNORM_S8_UINT", [1, 1], 4, Kind::Float),
            ("S8_UINT", [1, 1], 1, Kind::Uint),
        ] {
            let f = Format::find(name).expect(name);
            assert_eq!((f.block, f.bytes, f.kind), (block, bytes, kind), "{name}");
        }
        assert!(Format::find("G8_B8R8_2PLANE_420_UNORM").is_none());
    }
}
