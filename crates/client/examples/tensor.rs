//! Tensors by VK_ARM_tensors: a tensor of 4 × 5 numbers, of which a shader makes another, shifted by one along the last dimension.

use client::tensor::{Element, Functions, Shift, Tensor};
use client::{Buffer, Context, Library, Result};

fn main() -> Result<()> {
    let mut features = vk::PhysicalDeviceTensorFeaturesARM {
        tensors: vk::TRUE,
        tensor_non_packed: vk::TRUE,
        shader_tensor_access: vk::TRUE,
        ..Default::default()
    };
    // SAFETY: a chain of features that outlives the call.
    let context = Context::extended(Library::any()?, &[c"VK_ARM_tensors"], (&raw mut features).cast())?;
    let functions = Functions::of(&context)?;
    let (rows, columns) = (4, 5);
    // Rows of the first tensor lie 32 bytes apart.
    let mut from = Tensor::new(&context, &functions, Element::F32, &[rows, columns], Some(&[32, 4]), false)?;
    let to = Tensor::new(&context, &functions, Element::F32, &[rows, columns], None, true)?;
    for (row, bytes) in from.bytes_mut().chunks_exact_mut(32).enumerate() {
        for column in 0..columns as usize {
            let number = (10 * row + column) as f32;
            bytes[4 * column..][..4].copy_from_slice(&number.to_le_bytes());
        }
    }
    let sizes = Buffer::new(&context, 64)?;
    let outside = (-1f32).to_bits().into();
    let shift = Shift { element: Element::F32, rank: 2, shift: 1, at_once: 1, outside, in_turn: false };
    shift.run(&context, &from, &to, &sizes, (rows * columns) as u32)?;
    println!("{} x {}, shifted:", sizes.words()[0], sizes.words()[1]);
    for row in to.bytes().chunks_exact(4 * columns as usize).take(rows as usize) {
        let numbers: Vec<String> =
            row.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]).to_string()).collect();
        println!("{}", numbers.join(" "));
    }
    Ok(())
}
