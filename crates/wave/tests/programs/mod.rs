//! Random structured programs, those of the compiler's tests.

#[path = "../../../shader/tests/common/options.rs"]
pub mod options;
#[path = "../../../shader/tests/common/program.rs"]
pub mod program;
#[path = "../../../shader/tests/common/rng.rs"]
pub mod rng;

pub use options::*;
