//! Ways of blending against each other.

use super::*;
use simd::Level;

type Four = [[u32; 16]; 4];

fn run(level: Level, w: &Writer, px: &mut [u8; 256], src: &[Row; 4], blocks: &[u8], masks: &[u16]) {
    // SAFETY: the pixels of four blocks; rows of the warps from 1 on.
    unsafe { write_blocks(level, w, px.as_mut_ptr(), blocks, 1, src, None, masks) };
}

/// The way of any format, factors, masks and logic is that of portable code.
pub(crate) fn the_general_way_is_the_same(level: Level) {
    use vk::BlendFactor as F;
    use vk::Format as Fmt;
    let formats = [
        Fmt::R8_UNORM,
        Fmt::R5G6B5_UNORM_PACK16,
        Fmt::R8G8B8A8_SRGB,
        Fmt::A2B10G10R10_UNORM_PACK32,
        Fmt::B10G11R11_UFLOAT_PACK32,
        Fmt::R16G16B16A16_SFLOAT,
        Fmt::R32G32B32A32_SFLOAT,
    ];
    let factors = [F::ONE, F::SRC_COLOR, F::ONE_MINUS_SRC_ALPHA, F::DST_COLOR, F::SRC_ALPHA_SATURATE];
    let ops = [vk::BlendOp::ADD, vk::BlendOp::REVERSE_SUBTRACT, vk::BlendOp::MIN, vk::BlendOp::MAX];
    let mut seed = 7u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed >> 8
    };
    for n in 0..2000 {
        let mut pick = |of: usize| next() as usize % of;
        let attachment = BlendAttachment {
            enable: true,
            src_color: factors[pick(5)],
            dst_color: factors[pick(4)],
            color_op: ops[pick(4)],
            src_alpha: factors[pick(5)],
            dst_alpha: factors[pick(4)],
            alpha_op: ops[pick(4)],
            write: vk::ColorComponentFlags::from_raw([15, 5][pick(2)]),
            advanced: Advanced::default(),
        };
        let blend = Blend {
            logic_op: (n % 4 == 0).then_some(vk::LogicOp::from_raw(pick(16) as i32)),
            constants: [0.3, 0.2, 0.9, 0.7],
            attachments: vec![attachment],
            locations: Vec::new(),
        };
        let format = formats[n % formats.len()];
        let w = Writer::new(texel::format::info(format).unwrap(), &blend, 0);
        let w = Writer { kind: BlendPath::Generic, ..w };
        let mut value = |_| (next() as f32 / (1 << 23) as f32 - 0.5).to_bits();
        let rows: [Four; 2] = std::array::from_fn(|_| [0; 4].map(|_| [0; 16].map(&mut value)));
        let channels: [Vec<[u32; 16]>; 4] = std::array::from_fn(|c| rows.iter().map(|r| r[c]).collect());
        let src: [Row; 4] = std::array::from_fn(|c| Row::new(&channels[c]));
        // No infinities in half floats.
        let start: [u8; 256] = std::array::from_fn(|_| next() as u8 & 0x3B);
        let mask = if n % 3 == 0 { 0xFFFF } else { next() as u16 };
        let [got, want] = [level, Level::Portable].map(|level| {
            let mut px = start;
            run(level, &w, &mut px, &src, &[0], &[mask]);
            px
        });
        assert_eq!(got, want, "{format:?}, {attachment:?}, {level:?}");
    }
}

/// Factors by alpha against the general way with the same factors, on every level of this machine.
#[test]
fn factors_by_alpha_are_the_general_ones() {
    use vk::BlendFactor as F;
    let list = [
        F::ZERO,
        F::ONE,
        F::SRC_ALPHA,
        F::ONE_MINUS_SRC_ALPHA,
        F::CONSTANT_ALPHA,
        F::ONE_MINUS_CONSTANT_ALPHA,
        F::SRC_COLOR,
    ];
    let mut seed = 1u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed >> 8
    };
    let formats = [vk::Format::R8G8B8A8_UNORM, vk::Format::B8G8R8A8_UNORM];
    let mut seen = 0;
    for n in 0..list.len().pow(4) {
        let pick = |k: u32| list[n / list.len().pow(k) % list.len()];
        let attachment = BlendAttachment {
            enable: true,
            src_color: pick(0),
            dst_color: pick(1),
            color_op: vk::BlendOp::ADD,
            src_alpha: pick(2),
            dst_alpha: pick(3),
            alpha_op: vk::BlendOp::ADD,
            write: vk::ColorComponentFlags::RGBA,
            advanced: Advanced::default(),
        };
        let blend = Blend {
            logic_op: None,
            constants: [0.3, 0.2, 0.9, 0.7],
            attachments: vec![attachment],
            locations: Vec::new(),
        };
        let w = Writer::new(texel::format::info(formats[n % 2]).unwrap(), &blend, 0);
        let BlendPath::ByAlpha { swap, .. } = w.kind else { continue };
        seen += 1;
        let general = Writer { kind: BlendPath::Fixed { swap }, ..w.clone() };
        let mut value = |_| (next() as f32 / (1 << 23) as f32 - 0.5).to_bits();
        // Warps 1 and 2 of three; alpha of each lane, or the same of all.
        let mut rows: [Four; 3] = std::array::from_fn(|_| [0; 4].map(|_| [0; 16].map(&mut value)));
        rows[1][0][3] = f32::NAN.to_bits();
        let same = n % 3 == 0;
        let channels: [Vec<[u32; 16]>; 4] = std::array::from_fn(|c| {
            if same && c == 3 { vec![rows[0][3]] } else { rows.iter().map(|r| r[c]).collect() }
        });
        let src: [Row; 4] = std::array::from_fn(|c| Row::new(&channels[c]));
        let start: [u8; 256] = std::array::from_fn(|_| next() as u8);
        let masks = [if n % 2 == 0 { 0xFFFF } else { next() as u16 }, next() as u16];
        let mut want = start;
        run(Level::Portable, &general, &mut want, &src, &[3, 1], &masks);
        for level in Level::tested() {
            let mut got = start;
            run(level, &w, &mut got, &src, &[3, 1], &masks);
            assert_eq!(got, want, "{attachment:?} on {level:?}");
        }
    }
    assert!(seen > 500, "{seen}");
}
