//! What is told otherwise to a client that is known to take it wrongly, as drivers everywhere do; nothing is executed otherwise.

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
}

impl Client {
    pub(crate) fn of(engine: Option<&CStr>) -> Self {
        if engine == Some(c"mesa zink") { Self::Zink } else { Self::Any }
    }

    /// Whether this client is told that `format` has no features.
    pub(crate) fn hides(self, format: vk::Format) -> bool {
        self == Self::Zink && format == vk::Format::R4G4_UNORM_PACK8
    }
}
