//! Optical flow by VK_ARM_data_graph_optical_flow: a picture moves by three pixels to the right and two up; and the statistics of a neural engine (VK_ARM_data_graph_neural_accelerator_statistics) for a small convolution.

use client::Result;
use client::data_graph::{Code, Described, open, run_among};
use client::optical_flow::{Asked, picture, run};
use client::tensor::{Element, Tensor};

const SIZE: [u32; 2] = [64, 48];
/// Cells of 8 × 8 pixels of a row.
const CELLS: usize = 8;

/// A half that is a whole number from −16 to 16.
fn half(b: [u8; 2]) -> i32 {
    let v = u16::from_le_bytes(b);
    let size = ((v & 0x3ff) as i32 | 0x400) as f32 * ((v >> 10 & 31) as f32 - 25.0).exp2();
    if v & 0x7fff == 0 {
        0
    } else if v & 0x8000 == 0 {
        size as i32
    } else {
        -(size as i32)
    }
}

fn main() -> Result<()> {
    let (context, of_tensors, of_graphs) = open()?;
    let [before, after] = [[0, 0], [3, -2]].map(|moved| picture(SIZE, moved).collect::<Vec<_>>());
    let asked = Asked {
        size: SIZE,
        grid: 8,
        level: vk::DataGraphOpticalFlowPerformanceLevelARM::FAST,
        format: vk::Format::R8_UNORM,
        images: [&before, &after],
        hint: None,
        times: 1,
    };
    let found = run(&context, &of_graphs, &asked)?;
    println!("flow of the cells in the middle, and what is left:");
    for (vectors, costs) in found.vectors.chunks(4 * CELLS).zip(found.costs.chunks(CELLS)).skip(2).take(2) {
        let (vectors, costs) = (&vectors[4 * 2..4 * 6], &costs[2..6]);
        let cell = |(v, c): (&[u8; 4], &u16)| format!("({}, {}) {c}", half([v[0], v[1]]), half([v[2], v[3]]));
        println!("{}", vectors.as_chunks::<4>().0.iter().zip(costs).map(cell).collect::<Vec<_>>().join("  "));
    }
    let mut g = Code::new();
    let image = g.input(Element::F32, &[1, 8, 8, 4]);
    let kernel = g.given(0, Element::F32, &[4, 3, 3, 4]);
    let (pad, one) = (g.list(Element::U32, &[1; 4]), g.list(Element::U32, &[1; 2]));
    let (acc, no, zero) = (g.integer(3), g.no(), g.list(Element::F32, &[0]));
    let operands = [pad, one, one, acc, no, image, kernel, zero, zero, zero];
    let made = g.operator(2, Element::F32, &[1, 8, 8, 4], &operands);
    g.output(made, Element::F32, &[1, 8, 8, 4]);
    let new = || Tensor::new(&context, &of_tensors, Element::F32, &[1, 8, 8, 4], None, false);
    let (mut image, made) = (new()?, new()?);
    image.bytes_mut().fill(0);
    let described = |dimensions| Described { element: Element::F32, dimensions, strides: None };
    let tensors = [(&image, described(&[1, 8, 8, 4])), (&made, described(&[1, 8, 8, 4]))];
    let constants = [(0, described(&[4, 3, 3, 4]), &[0; 4 * 144][..])];
    let dispatch = |_: vk::CommandBuffer, dispatch: &dyn Fn()| dispatch();
    let words = run_among(&context, &of_graphs, &g.spirv(), &tensors, &constants, Some(false), dispatch)?;
    println!("neural engine: {} cycles, {} multiply-adds in {} of them", words[2], words[4], words[3]);
    Ok(())
}
