//! Random structured programs, those of the compiler's tests.

#[path = "../../../shader/tests/common/options.rs"]
pub mod options;
#[path = "../../../shader/tests/common/program.rs"]
pub mod program;

pub use options::*;
