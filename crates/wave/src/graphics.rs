//! Vertex and fragment waves: lanes that the caller fills, runs and reads back, one wave at a time.
//!
//! ```ignore
//! pub struct Job<'a> { serial: u64, program: &'a Program, tables: &'a [Table], push: &'a [u8], host: &'a dyn Host,
//!                      arena: (u64, u64) }           // as in `Dispatch`
//! impl Worker {
//!     /// Constants and prologue are kept from the last job of the same serial (several programs are kept at once).
//!     pub fn open<'w>(&'w mut self, job: &Job<'w>) -> Result<Lanes<'w>, Fault>;
//! }
//! impl Lanes<'_> {
//!     pub fn count(&self) -> usize;                            // 64, 128 or 256
//!     pub fn input(&mut self, i: usize) -> &mut [[u32; 16]];   // program.inputs[i]: a row a warp; one row if uniform
//!     pub fn input_mask(&mut self, i: usize) -> &mut [u16; 32];// a Bool input
//!     pub fn exec(&mut self) -> &mut [u16; 32];                // lanes that run, helpers included: set before each run
//!     pub fn alive(&mut self) -> &mut [u16; 32];               // before a run: lanes that are no helpers;
//!                                                              // after: those neither discarded nor demoted
//!     pub fn run(&mut self) -> Result<(), Fault>;
//!     pub fn output(&self, i: usize) -> &[[u32; 16]];          // program.outputs[i]: as inputs; valid after a run
//! }
//! ```
