//! Modules that grow: each shape is a function of one size. For the tests of compile time and for measuring it
//! (`examples/growth.rs`).

pub mod asm;
mod blocks;
mod calls;
mod data;
mod loops;
mod types;

use shader::ir::Stage;
use shader::options::{Binding, Options};

/// A shape's name, what makes it of a size, and a small and a large size.
type Row = (&'static str, fn(u32) -> Vec<u32>, u32, u32);

/// A shape: its name, and what makes it of a size.
pub struct Shape {
    pub name: &'static str,
    pub make: fn(u32) -> Vec<u32>,
    /// A size at which it is small (but has the waves that it has when it is twice as large: of a narrower one more is
    /// tried), and one at which it is long.
    pub small: u32,
    pub large: u32,
}

fn shapes<'a>(lists: impl IntoIterator<Item = &'a [Row]>) -> Vec<Shape> {
    let rows = lists.into_iter().flatten();
    rows.map(|&(name, make, small, large)| Shape { name, make, small, large }).collect()
}

/// Shapes whose size is a count: what twice as many cost is about twice as much.
pub fn linear() -> Vec<Shape> {
    shapes([blocks::SHAPES, loops::SHAPES, calls::SHAPES, data::SHAPES])
}

/// Shapes that double with each step of their size, and others that are beyond bounds at their large one.
pub fn explosive() -> Vec<Shape> {
    shapes([blocks::EXPLOSIVE, loops::EXPLOSIVE, calls::EXPLOSIVE, data::EXPLOSIVE, types::EXPLOSIVE])
}

pub fn options() -> Options<'static> {
    Options::new(Stage::Compute, "main", &|_, b| Some(Binding::new(0, b % 64 * 32, 64)))
}
