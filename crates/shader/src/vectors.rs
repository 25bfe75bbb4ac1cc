//! Products of matrices and cooperative vectors (SPV_NV_cooperative_vector): which there are, and how a matrix of an optimal layout lies
//! in memory. The shader engine and the API, which reports and converts them, read the same tables.

/// Numbers of SPIR-V's Component Type, which are VkComponentTypeKHR's too.
pub mod component {
    pub const F16: u32 = 0;
    pub const F32: u32 = 1;
    pub const S8: u32 = 3;
    pub const S32: u32 = 5;
    pub const U8: u32 = 7;
    pub const U32: u32 = 9;
    /// Four in a word.
    pub const S8_PACKED: u32 = 1_000_491_000;
    pub const U8_PACKED: u32 = 1_000_491_001;
    pub const E4M3: u32 = 1_000_491_002;
    pub const E5M2: u32 = 1_000_491_003;
}
use component::*;

/// Numbers of Cooperative Vector Matrix Layout, VkCooperativeVectorMatrixLayoutNV's too.
pub mod layout {
    pub const ROW_MAJOR: u32 = 0;
    pub const COLUMN_MAJOR: u32 = 1;
    pub const INFERENCING_OPTIMAL: u32 = 2;
    pub const TRAINING_OPTIMAL: u32 = 3;
}

/// The products: what the input vector has, what it is converted to, what the matrix, the bias and the result have. Each of them takes
/// matrices of optimal layouts transposed, too.
#[rustfmt::skip]
pub const PRODUCTS: &[[u32; 5]] = &[
    [F16, F16,       F16,  F16, F16],
    [F16, F16,       F16,  F32, F32],
    [F32, F16,       F16,  F32, F32],
    [F32, F32,       F32,  F32, F32],
    [F16, E4M3,      E4M3, F16, F16],
    [F16, E5M2,      E5M2, F16, F16],
    [F16, E4M3,      E4M3, F32, F32],
    [F16, E5M2,      E5M2, F32, F32],
    [S8,  S8,        S8,   S32, S32],
    [S8,  S8,        U8,   S32, S32],
    [U8,  U8,        S8,   S32, S32],
    [U8,  U8,        U8,   S32, S32],
    [U8,  U8,        U8,   U32, U32],
    [U32, S8_PACKED, S8,   S32, S32],
    [U32, S8_PACKED, U8,   S32, S32],
    [U32, U8_PACKED, S8,   S32, S32],
    [U32, U8_PACKED, U8,   S32, S32],
    [U32, U8_PACKED, U8,   U32, U32],
    [S32, S8,        S8,   S32, S32],
    [F32, S8,        S8,   S32, S32],
    [F16, S8,        S8,   S32, S32],
];

/// Components that a vector may have.
pub const MAX_COMPONENTS: u32 = 1024;

/// Bytes of an element of a matrix; `None`: no matrix has such elements.
pub fn element_bytes(component: u32) -> Option<u32> {
    Some(match component {
        F32 => 4,
        F16 => 2,
        S8 | U8 | E4M3 | E5M2 => 1,
        _ => return None,
    })
}

/// The bytes of a matrix of an optimal layout are a multiple of this.
pub const OPTIMAL_ALIGN: u64 = 64;

/// Bytes from one row to the next in a matrix of an optimal layout, which has its rows one after the other, each at a multiple of 16
/// bytes.
pub fn optimal_stride(columns: u32, element_bytes: u32) -> u64 {
    (columns as u64 * element_bytes as u64).next_multiple_of(16)
}
