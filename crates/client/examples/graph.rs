//! A data graph by VK_ARM_data_graph: a small network of a convolution, whose kernel finds upright edges, and of what keeps its positive
//! values, on an image of 4 × 6 numbers.

use client::Result;
use client::data_graph::{Code, Described, open, run};
use client::tensor::{Element, Tensor};

/// TOSA's operators by their numbers.
const CONV2D: u32 = 2;
const CLAMP: u32 = 10;
/// The accumulator's type, and the way of NaNs.
const FP32: u32 = 3;
const PROPAGATE: u32 = 1;

const F32: Element = Element::F32;
const SHAPE: [u32; 4] = [1, 4, 6, 1];

/// The graph: an input, an output, and constant 0, the kernel.
fn network() -> Vec<u32> {
    let mut g = Code::new();
    let image = g.input(F32, &SHAPE);
    let kernel = g.given(0, F32, &[1, 3, 3, 1]);
    let (pad, one) = (g.list(Element::U32, &[1; 4]), g.list(Element::U32, &[1; 2]));
    let (acc, no, zero) = (g.integer(FP32), g.no(), g.list(F32, &[0]));
    let operands = [pad, one, one, acc, no, image, kernel, zero, zero, zero];
    let edges = g.operator(CONV2D, F32, &SHAPE, &operands);
    let (low, high) = (g.scalar(F32, 0), g.scalar(F32, 100f32.to_bits()));
    let mode = g.integer(PROPAGATE);
    let positive = g.operator(CLAMP, F32, &SHAPE, &[low, high, mode, edges]);
    g.output(positive, F32, &SHAPE);
    g.spirv()
}

fn main() -> Result<()> {
    let (context, of_tensors, of_graphs) = open()?;
    let dimensions = SHAPE.map(i64::from);
    let new = || Tensor::new(&context, &of_tensors, F32, &dimensions, None, false);
    let (mut image, edges) = (new()?, new()?);
    // Dark on the left, bright on the right.
    for (i, bytes) in image.bytes_mut().chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&(if i % 6 < 3 { 1f32 } else { 5.0 }).to_le_bytes());
    }
    let kernel: Vec<u8> = [-1f32, 0.0, 1.0].repeat(3).iter().flat_map(|v| v.to_le_bytes()).collect();
    let described = |dimensions| Described { element: F32, dimensions, strides: None };
    run(
        &context,
        &of_graphs,
        &network(),
        &[(&image, described(&dimensions)), (&edges, described(&dimensions))],
        &[(0, described(&[1, 3, 3, 1]), &kernel)],
    )?;
    for row in edges.bytes().chunks_exact(4 * 6).take(4) {
        let numbers: Vec<String> =
            row.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).to_string()).collect();
        println!("{}", numbers.join(" "));
    }
    Ok(())
}
