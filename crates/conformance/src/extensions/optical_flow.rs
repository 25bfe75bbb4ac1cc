//! VK_ARM_data_graph_optical_flow: vectors of images that moved by a known distance, with a hint and with what a session remembers;
//! VK_ARM_data_graph_neural_accelerator_statistics: words that were worked out by hand; VK_ARM_tensor_controls: tilings and windows by their
//! rules.

use super::rig::Rig;
use super::{Check, Found, found, text};
use client::data_graph::{Code, Described, open, run_among};
use client::optical_flow::{Asked, picture, run};
use client::tensor::{Element, Functions, Tensor};
use half::f16;
use vk::DataGraphOpticalFlowPerformanceLevelARM as Level;

pub fn checks() -> Vec<Check> {
    vec![
        Check { name: "optical_flow_finds_what_moved", of: c"VK_ARM_data_graph_optical_flow", run: flow },
        Check {
            name: "statistics_of_a_neural_engine",
            of: c"VK_ARM_data_graph_neural_accelerator_statistics",
            run: statistics,
        },
        Check { name: "tilings_and_windows_of_tensors", of: c"VK_ARM_tensor_controls", run: controls },
    ]
}

const SIZE: [u32; 2] = [64, 48];

/// A moved picture: in the middle each cell has that vector, and nothing is left.
fn flow(_: &Rig) -> Found {
    let (context, _, functions) = open().map_err(text)?;
    let mut all = vec![];
    let rows: [(u32, Level, vk::Format, [i32; 2]); 4] = [
        (8, Level::SLOW, vk::Format::R8_UNORM, [3, -2]),
        (4, Level::MEDIUM, vk::Format::R8G8B8A8_UNORM, [-4, 1]),
        (2, Level::FAST, vk::Format::B8G8R8A8_UNORM, [0, 5]),
        (1, Level::FAST, vk::Format::R8_UNORM, [2, 2]),
    ];
    for (grid, level, format, moved) in rows {
        let of = |moved| -> Vec<u8> {
            let luma = picture(SIZE, moved);
            match format {
                vk::Format::R8_UNORM => luma.collect(),
                _ => luma.flat_map(|v| [v, v, v, 255]).collect(),
            }
        };
        let (before, after) = (of([0, 0]), of(moved));
        let cells = SIZE.map(|n| (n / grid) as usize);
        let hint: Vec<u8> = (0..cells[0] * cells[1])
            .flat_map(|_| moved.map(|v| f16::from_f32(v as f32).to_le_bytes()))
            .flatten()
            .collect();
        for (hint, times) in [(None, 1), (Some(&hint[..]), 1), (None, 2)] {
            let images = [&before[..], &after[..]];
            let asked = Asked { size: SIZE, grid, level, format, images, hint, times };
            let made = run(&context, &functions, &asked).map_err(text)?;
            let border = 14usize.div_ceil(grid as usize);
            for cell in 0..cells[0] * cells[1] {
                let [x, y] = [cell % cells[0], cell / cells[0]];
                if x < border || y < border || x + border >= cells[0] || y + border >= cells[1] {
                    continue;
                }
                let [a, b, c, d] = made.vectors.as_chunks::<4>().0[cell];
                let got = [[a, b], [c, d]].map(|v| f16::from_le_bytes(v).to_f32());
                if got != moved.map(|v| v as f32) || made.costs[cell] != 0 {
                    return Err(format!(
                        "{format:?} by {moved:?}, grid {grid}, {times} times: cell {x} {y} has {got:?}, {} left",
                        made.costs[cell]
                    ));
                }
            }
            all.extend(made.vectors);
        }
    }
    // An image of another size than the pipeline's is told of, and a size that there is not is refused.
    let small: Vec<u8> = picture(SIZE, [0, 0]).collect();
    let asked = Asked {
        size: [4, 768],
        grid: 4,
        level: Level::FAST,
        format: vk::Format::R8_UNORM,
        images: [&small, &small],
        hint: None,
        times: 1,
    };
    if run(&context, &functions, &asked).is_ok() {
        return Err("images of four pixels' width are taken".into());
    }
    found(&all)
}

/// A convolution of 8 × 8 pixels from 4 to 4 channels by 3 × 3 in f32: 9 216 multiply-adds, each of which takes eight of an engine for bytes. On
/// ten cores 2 560 of them a cycle: 29 cycles. It reads 1 024 bytes of the image, 576 of the kernel, 4 of each of bias and zero points and
/// 16 + 8 + 8 + 4 + 1 of attributes, and writes 1 024: 2 673 in all, 48 cycles of 56 bytes.
fn statistics(_: &Rig) -> Found {
    let (context, of_tensors, functions) = open().map_err(text)?;
    let mut g = Code::new();
    let image = g.input(Element::F32, &[1, 8, 8, 4]);
    let kernel = g.given(0, Element::F32, &[4, 3, 3, 4]);
    let (pad, one) = (g.list(Element::U32, &[1; 4]), g.list(Element::U32, &[1; 2]));
    let (acc, no, zero) = (g.integer(3), g.no(), g.list(Element::F32, &[0]));
    let operands = [pad, one, one, acc, no, image, kernel, zero, zero, zero];
    let made = g.operator(2, Element::F32, &[1, 8, 8, 4], &operands);
    g.output(made, Element::F32, &[1, 8, 8, 4]);
    let new = || Tensor::new(&context, &of_tensors, Element::F32, &[1, 8, 8, 4], None, false).map_err(text);
    let (image, made) = (new()?, new()?);
    let described = |dimensions| Described { element: Element::F32, dimensions, strides: None };
    let tensors = [(&image, described(&[1, 8, 8, 4])), (&made, described(&[1, 8, 8, 4]))];
    let constants = [(0, described(&[4, 3, 3, 4]), &[0; 4 * 144][..])];
    let mut all = vec![];
    for (mode, want) in [
        (false, &[1u64, 1, 48, 29, 9_216, 0, 1_649, 1_024][..]),
        (true, &[1, 1, 48, 29, 9_216, 0, 1_649, 1_024, 48, 9_216, 0, 2_673]),
    ] {
        let dispatch = |_: vk::CommandBuffer, dispatch: &dyn Fn()| dispatch();
        let ran =
            run_among(&context, &functions, &g.clone().spirv(), &tensors, &constants, Some(mode), dispatch);
        let words = ran.map_err(text)?;
        if words[..want.len()] != *want {
            return Err(format!("of nodes {mode}: {words:?}, not {want:?}"));
        }
        all.extend(words[..want.len()].iter().flat_map(|w| w.to_le_bytes()));
    }
    found(&all)
}

/// Which tensors can be made: a tiling, dimensions, strides, and a window.
fn controls(rig: &Rig) -> Found {
    use vk::TensorTilingARM as Tiling;
    type Row = (Tiling, &'static [i64], Option<&'static [i64]>, Option<[u32; 4]>, bool);
    let rows: &[Row] = &[
        (Tiling::BRICK_16_WIDE, &[3, 40], None, None, true),
        (Tiling::BRICK_8_WIDE, &[3, 40], Some(&[160, 4]), None, false),
        (Tiling::BLOCK_U_INTERLEAVED, &[20, 30, 4], None, None, true),
        (Tiling::BLOCK_U_INTERLEAVED_64K, &[20, 30, 5], None, None, false),
        (Tiling::from_raw(77), &[4], None, None, false),
        (Tiling::LINEAR, &[8, 100], None, Some([4, 100, 0, 0]), true),
        (Tiling::LINEAR, &[8, 100], None, Some([9, 100, 0, 0]), false),
        (Tiling::LINEAR, &[8, 100], None, Some([0, 100, 0, 0]), false),
        // A window of three is no power of two, so that one within must be one.
        (Tiling::LINEAR, &[8, 100], None, Some([3, 64, 0, 0]), true),
        (Tiling::LINEAR, &[8, 100], None, Some([3, 60, 0, 0]), false),
        // Of bricks eight wide with words two lie side by side.
        (Tiling::BRICK_8_WIDE, &[32, 64], None, Some([16, 64, 0, 0]), true),
        (Tiling::BRICK_8_WIDE, &[32, 64], None, Some([12, 64, 0, 0]), false),
        (Tiling::BRICK_8_WIDE, &[32, 64], None, Some([16, 7, 0, 0]), false),
        (Tiling::OPTIMAL, &[8, 100], None, Some([4, 100, 0, 0]), false),
        (Tiling::LINEAR, &[2, 2, 2, 2, 2], None, Some([2; 4]), false),
    ];
    let context = &rig.context;
    let f = Functions::of(context).map_err(text)?;
    for (tiling, dimensions, strides, window, fits) in rows {
        let description = vk::TensorDescriptionARM {
            tiling: *tiling,
            format: vk::Format::R32_UINT,
            dimension_count: dimensions.len() as u32,
            p_dimensions: dimensions.as_ptr(),
            p_strides: strides.map_or(std::ptr::null(), |s| s.as_ptr()),
            usage: vk::TensorUsageFlagsARM::SHADER,
            ..Default::default()
        };
        let rolling =
            window.map(|wraps| vk::TensorRollingBackingCreateInfoARM { wraps, ..Default::default() });
        let info = vk::TensorCreateInfoARM {
            p_next: rolling.as_ref().map_or(std::ptr::null(), |r| (&raw const *r).cast()),
            p_description: &description,
            ..Default::default()
        };
        let mut tensor = vk::TensorARM::null();
        // SAFETY: structures outlive the calls.
        let made = unsafe { (f.create)(context.device.handle(), &info, std::ptr::null(), &mut tensor) };
        if (made == vk::Result::SUCCESS) != *fits {
            return Err(format!("{tiling:?} {dimensions:?} {strides:?} {window:?}: {made:?}"));
        }
        // SAFETY: nothing uses it; null is nothing.
        unsafe { (f.destroy)(context.device.handle(), tensor, std::ptr::null()) };
    }
    found(&[])
}
