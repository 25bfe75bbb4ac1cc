//! Which attachments a Mali blends with a shader: formats without fixed-function blending, equations that the blend unit lacks, logic
//! operations. The rules are those of Mesa's driver (`panfrost/lib/pan_format.c`, `pan_blend.c`), which calls a blend shader for each warp.
//! Arm's driver makes blending a part of the fragment shader.

use crate::state::BlendAttachment;
use crate::tile::memory::plane::has_format;
use ash::vk;
use texel::format::FormatInfo;

/// Warp-instructions of FMA and CVT that a blend shader has for a quad, a quarter of a warp's: four channels are multiplied and added
/// (two each), and unpacked and packed (one each).
pub const FMA: u64 = 2;
pub const CVT: u64 = 2;

/// Fixed-function blending has the equation: a sum or difference, factors that are the same up to being taken from one, or 0 or 1.
fn has_equation(op: vk::BlendOp, src: vk::BlendFactor, dst: vk::BlendFactor) -> bool {
    use vk::BlendFactor as F;
    // Without the inversion.
    let plain = |f| match f {
        F::ZERO => F::ONE,
        F::ONE_MINUS_SRC_COLOR => F::SRC_COLOR,
        F::ONE_MINUS_DST_COLOR => F::DST_COLOR,
        F::ONE_MINUS_SRC_ALPHA => F::SRC_ALPHA,
        F::ONE_MINUS_DST_ALPHA => F::DST_ALPHA,
        F::ONE_MINUS_CONSTANT_COLOR => F::CONSTANT_COLOR,
        F::ONE_MINUS_CONSTANT_ALPHA => F::CONSTANT_ALPHA,
        F::ONE_MINUS_SRC1_COLOR => F::SRC1_COLOR,
        F::ONE_MINUS_SRC1_ALPHA => F::SRC1_ALPHA,
        f => f,
    };
    let twice = op == vk::BlendOp::ADD && src == F::DST_COLOR && dst == F::SRC_COLOR;
    let sum = matches!(op, vk::BlendOp::ADD | vk::BlendOp::SUBTRACT | vk::BlendOp::REVERSE_SUBTRACT);
    let [src, dst] = [src, dst].map(plain);
    let known = |f| !matches!(f, F::SRC_ALPHA_SATURATE | F::SRC1_COLOR | F::SRC1_ALPHA);
    twice || (sum && known(src) && known(dst) && (src == dst || src == F::ONE || dst == F::ONE))
}

/// `opaque`: all of a pixel is replaced, which needs none.
pub fn needed(format: &FormatInfo, b: &BlendAttachment, logic: bool, opaque: bool) -> bool {
    let equations = || {
        !b.enable
            || (has_equation(b.color_op, b.src_color, b.dst_color)
                && has_equation(b.alpha_op, b.src_alpha, b.dst_alpha))
    };
    !opaque && (logic || !has_format(format) || !equations())
}

#[cfg(test)]
mod tests {
    use super::*;
    use vk::{BlendFactor as F, BlendOp as Op, Format};

    #[test]
    fn formats_of_the_table() {
        let has = |f| has_format(texel::format::info(f).unwrap());
        for f in [
            Format::R8_UNORM,
            Format::R8G8_UNORM,
            Format::R8G8B8A8_UNORM,
            Format::R8G8B8A8_SRGB,
            Format::B8G8R8A8_UNORM,
            Format::R5G6B5_UNORM_PACK16,
            Format::A1R5G5B5_UNORM_PACK16,
            Format::R4G4B4A4_UNORM_PACK16,
            Format::A2B10G10R10_UNORM_PACK32,
        ] {
            assert!(has(f), "{f:?}");
        }
        for f in [
            Format::R16G16B16A16_SFLOAT,
            Format::R32_SFLOAT,
            Format::B10G11R11_UFLOAT_PACK32,
            Format::R16_UNORM,
            Format::R8G8B8A8_SNORM,
        ] {
            assert!(!has(f), "{f:?}");
        }
    }

    #[test]
    fn equations_of_the_unit() {
        assert!(has_equation(Op::ADD, F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA));
        assert!(has_equation(Op::ADD, F::ONE, F::ONE));
        assert!(has_equation(Op::REVERSE_SUBTRACT, F::ONE, F::CONSTANT_COLOR));
        assert!(has_equation(Op::ADD, F::DST_COLOR, F::SRC_COLOR));
        assert!(!has_equation(Op::ADD, F::SRC_ALPHA, F::DST_ALPHA));
        assert!(!has_equation(Op::MIN, F::ONE, F::ONE));
        assert!(!has_equation(Op::ADD, F::SRC_ALPHA_SATURATE, F::ONE));
        assert!(!has_equation(Op::ADD, F::ONE, F::ONE_MINUS_SRC1_ALPHA));
    }
}
