//! Operations that can stand in each other's place.

use crate::module::Scalar;

/// What an operation's results and operands have to be, for it to be one of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    Any,
    Unsigned,
    /// 32 bits, or 16: no functions of the extended set have 64.
    Narrow,
}

impl Of {
    pub fn takes(self, s: Scalar) -> bool {
        match self {
            Of::Any => true,
            Of::Unsigned => matches!(s, Scalar::Int(_, false)),
            Of::Narrow => matches!(s, Scalar::Float(16 | 32)),
        }
    }
}

type Row = &'static [(u32, Of)];
use Of::*;

pub const FLOAT_UNARY: Row = &[(127, Any)];
/// FAdd FSub FMul FDiv FRem FMod.
pub const FLOAT_BINARY: Row = &[(129, Any), (131, Any), (133, Any), (136, Any), (140, Any), (141, Any)];
pub const INT_UNARY: Row = &[(126, Any), (200, Any)];
/// IAdd ISub IMul UDiv SDiv UMod SRem SMod, shifts, Or Xor And.
pub const INT_BINARY: Row = &[
    (128, Any),
    (130, Any),
    (132, Any),
    (134, Unsigned),
    (135, Any),
    (137, Unsigned),
    (138, Any),
    (139, Any),
    (194, Any),
    (195, Any),
    (196, Any),
    (197, Any),
    (198, Any),
    (199, Any),
];
pub const BOOL_BINARY: Row = &[(164, Any), (165, Any), (166, Any), (167, Any)];
pub const BOOL_UNARY: Row = &[(168, Any)];
/// Equal, not equal, greater, …
pub const INT_COMPARE: Row = &[
    (170, Any),
    (171, Any),
    (172, Any),
    (173, Any),
    (174, Any),
    (175, Any),
    (176, Any),
    (177, Any),
    (178, Any),
    (179, Any),
];
/// Ordered and unordered by turns.
pub const FLOAT_COMPARE: Row = &[
    (180, Any),
    (181, Any),
    (182, Any),
    (183, Any),
    (184, Any),
    (185, Any),
    (186, Any),
    (187, Any),
    (188, Any),
    (189, Any),
    (190, Any),
    (191, Any),
];
const FLOAT_TEST: Row = &[(156, Any), (157, Any)];
const TO_FLOAT: Row = &[(111, Any), (112, Any)];
const TO_INT: Row = &[(109, Unsigned), (110, Any)];
const ANY_ALL: Row = &[(154, Any), (155, Any)];
const DERIVATIVE: Row = &[(207, Any), (208, Any), (209, Any)];
const ATOMIC: Row = &[
    (229, Any),
    (234, Any),
    (235, Any),
    (236, Any),
    (237, Any),
    (238, Any),
    (239, Any),
    (240, Any),
    (241, Any),
    (242, Any),
];
/// Operations of a subgroup's lanes.
const GROUP_INT: Row = &[
    (349, Any),
    (351, Any),
    (353, Any),
    (354, Any),
    (356, Any),
    (357, Any),
    (359, Any),
    (360, Any),
    (361, Any),
];
const GROUP_FLOAT: Row = &[(350, Any), (352, Any), (355, Any), (358, Any)];
const GROUP_BOOL: Row = &[(362, Any), (363, Any), (364, Any)];
const VOTE: Row = &[(334, Any), (335, Any)];
const SHUFFLE: Row = &[(345, Any), (346, Any), (347, Any), (348, Any)];
const SAMPLE: Row = &[(87, Any)];

/// The row of an instruction, and of one of the extended set.
pub fn row(op: u32) -> Option<Row> {
    let all = [
        FLOAT_UNARY,
        FLOAT_BINARY,
        INT_UNARY,
        INT_BINARY,
        BOOL_BINARY,
        BOOL_UNARY,
        INT_COMPARE,
        FLOAT_COMPARE,
        FLOAT_TEST,
        TO_FLOAT,
        TO_INT,
        ANY_ALL,
        DERIVATIVE,
        ATOMIC,
        GROUP_INT,
        GROUP_FLOAT,
        GROUP_BOOL,
        VOTE,
        SHUFFLE,
        SAMPLE,
    ];
    all.into_iter().find(|r| r.iter().any(|(o, _)| *o == op))
}

/// GLSL.std.450: one operand, a float's.
pub const EXT_FLOAT_UNARY: Row = &[
    (1, Any),
    (2, Any),
    (3, Any),
    (4, Any),
    (6, Any),
    (8, Any),
    (9, Any),
    (10, Any),
    (11, Narrow),
    (12, Narrow),
    (13, Narrow),
    (14, Narrow),
    (15, Narrow),
    (16, Narrow),
    (17, Narrow),
    (18, Narrow),
    (19, Narrow),
    (20, Narrow),
    (21, Narrow),
    (22, Narrow),
    (23, Narrow),
    (24, Narrow),
    (27, Narrow),
    (28, Narrow),
    (29, Narrow),
    (30, Narrow),
    (31, Any),
    (32, Any),
    (69, Any),
];
pub const EXT_FLOAT_BINARY: Row =
    &[(25, Narrow), (26, Narrow), (37, Any), (40, Any), (48, Any), (79, Any), (80, Any)];
pub const EXT_FLOAT_TRIPLE: Row = &[(43, Any), (46, Any), (49, Any), (50, Any), (81, Any)];
const EXT_INT_UNARY: Row = &[(5, Any), (7, Any), (73, Any)];
const EXT_INT_BINARY: Row = &[(38, Any), (39, Any), (41, Any), (42, Any)];
const EXT_INT_TRIPLE: Row = &[(44, Any), (45, Any)];

pub fn extended(number: u32) -> Option<Row> {
    let all =
        [EXT_FLOAT_UNARY, EXT_FLOAT_BINARY, EXT_FLOAT_TRIPLE, EXT_INT_UNARY, EXT_INT_BINARY, EXT_INT_TRIPLE];
    all.into_iter().find(|r| r.iter().any(|(o, _)| *o == number))
}
