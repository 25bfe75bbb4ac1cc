//! Ways of blending against each other.

use super::*;
use simd::Level;

type Four = [[u32; 16]; 4];

fn run(level: Level, w: &Writer, px: &mut [u8; 256], src: &[Row; 4], blocks: &[u8], masks: &[u16]) {
    // SAFETY: the pixels of four blocks; rows of the warps from 1 on.
    unsafe { write_blocks(level, w, px.as_mut_ptr(), blocks, &Warps { src, src1: None, first: 1, masks }) };
}

/// A factor of channel `c` (§ Blend Factors).
fn factor(f: vk::BlendFactor, c: usize, s: &[f32; 4], d: &[f32; 4], k: &[f32; 4]) -> f32 {
    use vk::BlendFactor as F;
    match f {
        F::ZERO => 0.0,
        F::ONE => 1.0,
        F::SRC_COLOR => s[c],
        F::ONE_MINUS_SRC_COLOR => 1.0 - s[c],
        F::DST_COLOR => d[c],
        F::ONE_MINUS_DST_COLOR => 1.0 - d[c],
        F::SRC_ALPHA => s[3],
        F::ONE_MINUS_SRC_ALPHA => 1.0 - s[3],
        F::DST_ALPHA => d[3],
        F::ONE_MINUS_DST_ALPHA => 1.0 - d[3],
        F::CONSTANT_COLOR => k[c],
        F::ONE_MINUS_CONSTANT_COLOR => 1.0 - k[c],
        F::CONSTANT_ALPHA => k[3],
        F::ONE_MINUS_CONSTANT_ALPHA => 1.0 - k[3],
        F::SRC_ALPHA_SATURATE if c == 3 => 1.0,
        F::SRC_ALPHA_SATURATE => s[3].min(1.0 - d[3]),
        _ => panic!("{f:?}"),
    }
}

/// A bit of a logic operation: the operations are numbered by their truth tables, source and destination 11, 10, 01, 00 from the lowest
/// bit on (§ Logical Operations; AND is 1, COPY 3, NO_OP 5).
fn logic(op: vk::LogicOp, s: bool, d: bool) -> bool {
    op.as_raw() >> (3 - (2 * s as i32 + d as i32)) & 1 != 0
}

/// A pixel after one of these colours was written.
fn written(i: &'static FormatInfo, blend: &Blend, color: [u32; 4], old: [u8; 16]) -> [u8; 16] {
    use texel::format::kernels::{load_fn, store_fn};
    let b = &blend.attachments[0];
    let mut out = color;
    if b.enable && blend.logic_op.is_none() && i.blendable() {
        let unit = matches!(i.class, NumClass::Unorm | NumClass::Srgb);
        let clamp = |v: f32| if unit { v.clamp(0.0, 1.0) } else { v };
        let s = color.map(|v| clamp(f32::from_bits(v)));
        // SAFETY: a pixel.
        let d = unsafe { load_fn(i)(i, old.as_ptr()) }.map(f32::from_bits);
        let k = blend.constants.map(clamp);
        for c in 0..4 {
            let (sf, df, op) = match c {
                3 => (b.src_alpha, b.dst_alpha, b.alpha_op),
                _ => (b.src_color, b.dst_color, b.color_op),
            };
            let (x, y) = (s[c] * factor(sf, c, &s, &d, &k), d[c] * factor(df, c, &s, &d, &k));
            out[c] = match op {
                vk::BlendOp::ADD => x + y,
                vk::BlendOp::SUBTRACT => x - y,
                vk::BlendOp::REVERSE_SUBTRACT => y - x,
                vk::BlendOp::MIN => s[c].min(d[c]),
                _ => s[c].max(d[c]),
            }
            .to_bits();
        }
    }
    let mut new = [0u8; 16];
    // SAFETY: room for a pixel.
    unsafe { store_fn(i)(i, new.as_mut_ptr(), out) };
    let fixed = i.is_integer() || matches!(i.class, NumClass::Unorm | NumClass::Snorm);
    let all: u32 = i.components().iter().fold(0, |all, c| all | 1 << c.channel());
    let kept = |bit: usize| {
        let of = |c: &&Component| (c.offset as usize..(c.offset + c.bits) as usize).contains(&bit);
        // What is no component's changes with all of them.
        match i.components().iter().find(of) {
            Some(c) => b.write.as_raw() >> c.channel() & 1 == 0,
            None => b.write.as_raw() & all != all,
        }
    };
    let mut result = old;
    for bit in 0..8 * i.block_bytes as usize {
        let [s, d] = [new, old].map(|of| of[bit / 8] >> (bit % 8) & 1 != 0);
        let v = match blend.logic_op.filter(|_| fixed) {
            Some(op) => logic(op, s, d),
            None => s,
        };
        let v = if kept(bit) { d } else { v };
        result[bit / 8] = result[bit / 8] & !(1 << (bit % 8)) | (v as u8) << (bit % 8);
    }
    result
}

/// Every colour format, with any factors, equations, masks and logic, against the formulas pixel by pixel; of blocks that come twice in a
/// wave too.
pub(crate) fn the_general_way_is_the_formula(level: Level) {
    use vk::BlendFactor as F;
    let factors: Vec<F> = (0..15).map(F::from_raw).collect();
    let ops = [
        vk::BlendOp::ADD,
        vk::BlendOp::SUBTRACT,
        vk::BlendOp::REVERSE_SUBTRACT,
        vk::BlendOp::MIN,
        vk::BlendOp::MAX,
    ];
    let mut seed = 7u32;
    let mut next = || {
        seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
        seed >> 8
    };
    let usual = [F::ZERO, F::ONE, F::SRC_ALPHA, F::ONE_MINUS_SRC_ALPHA];
    for (i, n) in texel::format::all()
        .iter()
        .filter(|i| i.color_attachment())
        .flat_map(|i| (0..24).map(move |n| (i, n)))
    {
        let mut pick = |of: usize| next() as usize % of;
        let mut factor = || if n % 2 == 0 { usual[pick(4)] } else { factors[pick(15)] };
        let [src_color, dst_color, src_alpha, dst_alpha] = [(); 4].map(|_| factor());
        let op = |pick: usize| if n % 2 == 0 { ops[0] } else { ops[pick] };
        let attachment = BlendAttachment {
            enable: n % 8 != 7,
            src_color,
            dst_color,
            color_op: op(pick(5)),
            src_alpha,
            dst_alpha,
            alpha_op: op(pick(5)),
            write: vk::ColorComponentFlags::from_raw([15, 15, 5, 8][pick(4)]),
            advanced: Advanced::default(),
        };
        let blend = Blend {
            logic_op: (n % 6 == 5).then_some(vk::LogicOp::from_raw(pick(16) as i32)),
            constants: [0.3, 0.2, 1.9, 0.7],
            attachments: vec![attachment],
            locations: Vec::new(),
        };
        let w = Writer::new(i, &blend, 0);
        let kind = if w.kind == BlendPath::None { BlendPath::None } else { BlendPath::Generic };
        let w = Writer { kind, ..w };
        let integer = i.is_integer();
        let mut value = |_| match integer {
            true => next() << 8 | next() >> 16,
            false => (next() as f32 / (1 << 23) as f32 - 0.5).to_bits(),
        };
        // Warps 1 to 5 of six.
        let rows: [Four; 6] = std::array::from_fn(|_| [0; 4].map(|_| [0; 16].map(&mut value)));
        let channels: [Vec<[u32; 16]>; 4] = std::array::from_fn(|c| rows.iter().map(|r| r[c]).collect());
        let src: [Row; 4] = std::array::from_fn(|c| Row::new(&channels[c]));
        let blocks = [0u8, 2, 2, 1, 3];
        let masks: [u16; 5] = std::array::from_fn(|_| if n % 3 == 0 { 0xFFFF } else { next() as u16 });
        let bytes = i.block_bytes as usize;
        // No infinities in small floats.
        let mut got: Vec<u8> = (0..64 * bytes).map(|_| next() as u8 & 0x3B).collect();
        let mut want = got.clone();
        // SAFETY: the pixels of four blocks; rows of the warps from 1 on.
        unsafe {
            let warps = Warps { src: &src, src1: None, first: 1, masks: &masks };
            write_blocks(level, &w, got.as_mut_ptr(), &blocks, &warps);
        }
        for (warp, (block, mask)) in blocks.iter().zip(masks).enumerate() {
            for l in (0..16).filter(|l| mask >> l & 1 != 0) {
                let at = (*block as usize * 16 + l) * bytes;
                let mut old = [0u8; 16];
                old[..bytes].copy_from_slice(&want[at..at + bytes]);
                let new = written(i, &blend, [0, 1, 2, 3].map(|c| rows[warp + 1][c][l]), old);
                if kind != BlendPath::None {
                    want[at..at + bytes].copy_from_slice(&new[..bytes]);
                }
            }
        }
        assert!(got == want, "{}, {attachment:?}, {:?}, {level:?}", i.name, blend.logic_op);
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
        run(Level::PORTABLE, &general, &mut want, &src, &[3, 1], &masks);
        for level in Level::tested() {
            let mut got = start;
            run(level, &w, &mut got, &src, &[3, 1], &masks);
            assert_eq!(got, want, "{attachment:?} on {level:?}");
        }
    }
    assert!(seen > 500, "{seen}");
}
