//! What the driver reports differently to clients that are known to misinterpret it. It executes nothing differently.

use std::ffi::CStr;

/// A client by what it calls its engine (`VkApplicationInfo::pEngineName`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Client {
    #[default]
    Any,
    /// Mesa's OpenGL. Its R4G4 has red in the low bits, Vulkan's in the high ones, and zink takes one for the other: textures of
    /// four bits of luminance and four of alpha come out swapped (piglit's `LUMINANCE4_ALPHA4`). Where the format has no features, as
    /// on lavapipe, it takes one of eight bits.
    Zink,
    /// OpenGL ES in Chromium and elsewhere. Where there is VK_EXT_multisampled_render_to_single_sampled it draws multisampled pictures to
    /// images with that flag alone, and replaces an image without it by a copy of its own, those too that it has imported: what a page's
    /// WebGL draws with `antialias` then never reaches the image that Chromium shares with its compositor, and the page is blank.
    Angle,
}

/// VK_EXT_multisampled_render_to_single_sampled, and what needs it.
const SINGLE_SAMPLED: [&CStr; 2] =
    [c"VK_EXT_multisampled_render_to_single_sampled", c"VK_EXT_multisampled_render_to_swapchain"];

impl Client {
    pub(crate) fn of(engine: Option<&CStr>) -> Self {
        match engine.map(CStr::to_bytes) {
            Some(b"mesa zink") => Self::Zink,
            Some(b"ANGLE") => Self::Angle,
            _ => Self::Any,
        }
    }

    /// Whether an extension is not reported to this client.
    pub(crate) fn lacks(self, extension: &CStr) -> bool {
        self == Self::Angle && SINGLE_SAMPLED.contains(&extension)
    }

    /// Whether `format` is reported to this client as having no features.
    pub(crate) fn hides(self, format: vk::Format) -> bool {
        self == Self::Zink && format == vk::Format::R4G4_UNORM_PACK8
    }
}
