//! The operators: one row each, with the number and the operands of the SPIR-V instruction set TOSA.001000.1.

use crate::op::{
    Check, Rule, Run, activation, binary, conversion, convolution, fft, gather, image, layout, matmul, need,
    pooling, reduction, unary,
};
use crate::plan::Stop;
use crate::value::{Graph, MAX_LIST, Node};

/// An operator of TOSA 1.0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Op(u8);

struct Row {
    name: &'static str,
    /// A letter each: `c` a constant, `t` a tensor, `l` (the last) a list of tensors.
    operands: &'static str,
    results: usize,
    check: fn(&Check) -> Rule,
    run: fn(&Run) -> Result<(), Stop>,
}

macro_rules! operators {
    ($($number:literal $name:ident $operands:literal $results:literal $check:path, $run:path;)*) => {
        /// Numbers by name.
        #[allow(dead_code, reason = "some operators are the only ones of their functions")]
        pub(crate) mod code {
            $(pub const $name: u8 = $number;)*
        }
        const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            operands: $operands,
            results: $results,
            check: $check,
            run: $run,
        }),*];
    };
}

operators! {
    0 ARGMAX "cct" 1 reduction::check_argmax, reduction::argmax;
    1 AVG_POOL2D "cccctcc" 1 pooling::check, pooling::run;
    2 CONV2D "ccccctttcc" 1 convolution::check, convolution::run;
    3 CONV3D "ccccctttcc" 1 convolution::check, convolution::run;
    4 DEPTHWISE_CONV2D "ccccctttcc" 1 convolution::check, convolution::depthwise;
    5 FFT2D "cctt" 2 fft::check, fft::run;
    6 MATMUL "ttcc" 1 matmul::check, matmul::run;
    7 MAX_POOL2D "cccct" 1 pooling::check, pooling::run;
    8 RFFT2D "ct" 2 fft::check, fft::run;
    9 TRANSPOSE_CONV2D "cccctttcc" 1 convolution::check_transpose, convolution::run;
    10 CLAMP "ccct" 1 activation::check, activation::run;
    11 ERF "t" 1 activation::check, activation::run;
    12 SIGMOID "t" 1 activation::check, activation::run;
    13 TANH "t" 1 activation::check, activation::run;
    14 ADD "tt" 1 binary::check, binary::run;
    15 ARITHMETIC_RIGHT_SHIFT "ctt" 1 binary::check, binary::run;
    16 BITWISE_AND "tt" 1 binary::check, binary::run;
    17 BITWISE_OR "tt" 1 binary::check, binary::run;
    18 BITWISE_XOR "tt" 1 binary::check, binary::run;
    19 INTDIV "tt" 1 binary::check, binary::run;
    20 LOGICAL_AND "tt" 1 binary::check, binary::run;
    21 LOGICAL_LEFT_SHIFT "tt" 1 binary::check, binary::run;
    22 LOGICAL_RIGHT_SHIFT "tt" 1 binary::check, binary::run;
    23 LOGICAL_OR "tt" 1 binary::check, binary::run;
    24 LOGICAL_XOR "tt" 1 binary::check, binary::run;
    25 MAXIMUM "ctt" 1 binary::check, binary::run;
    26 MINIMUM "ctt" 1 binary::check, binary::run;
    27 MUL "ttc" 1 binary::check, binary::run;
    28 POW "tt" 1 binary::check, binary::run;
    29 SUB "tt" 1 binary::check, binary::run;
    30 TABLE "tc" 1 unary::check_table, unary::table;
    31 ABS "t" 1 unary::check, unary::run;
    32 BITWISE_NOT "t" 1 unary::check, unary::run;
    33 CEIL "t" 1 unary::check, unary::run;
    34 CLZ "t" 1 unary::check, unary::run;
    35 COS "t" 1 unary::check, unary::run;
    36 EXP "t" 1 unary::check, unary::run;
    37 FLOOR "t" 1 unary::check, unary::run;
    38 LOG "t" 1 unary::check, unary::run;
    39 LOGICAL_NOT "t" 1 unary::check, unary::run;
    40 NEGATE "tcc" 1 unary::check, unary::run;
    41 RECIPROCAL "t" 1 unary::check, unary::run;
    42 RSQRT "t" 1 unary::check, unary::run;
    43 SIN "t" 1 unary::check, unary::run;
    44 SELECT "ttt" 1 binary::check_select, binary::select;
    45 EQUAL "tt" 1 binary::check, binary::compare;
    46 GREATER "tt" 1 binary::check, binary::compare;
    47 GREATER_EQUAL "tt" 1 binary::check, binary::compare;
    48 REDUCE_ALL "ct" 1 reduction::check, reduction::run;
    49 REDUCE_ANY "ct" 1 reduction::check, reduction::run;
    50 REDUCE_MAX "cct" 1 reduction::check, reduction::run;
    51 REDUCE_MIN "cct" 1 reduction::check, reduction::run;
    52 REDUCE_PRODUCT "ct" 1 reduction::check, reduction::run;
    53 REDUCE_SUM "ct" 1 reduction::check, reduction::run;
    54 CONCAT "cl" 1 layout::check_concat, layout::concat;
    55 PAD "tcc" 1 layout::check, layout::run;
    56 RESHAPE "tc" 1 layout::check, layout::run;
    57 REVERSE "ct" 1 layout::check, layout::run;
    58 SLICE "tcc" 1 layout::check, layout::run;
    59 TILE "tc" 1 layout::check, layout::run;
    60 TRANSPOSE "ct" 1 layout::check, layout::run;
    61 GATHER "tt" 1 gather::check, gather::run;
    62 SCATTER "ttt" 1 gather::check, gather::run;
    63 RESIZE "ctccc" 1 image::check, image::run;
    64 CAST "t" 1 conversion::check_cast, conversion::cast;
    65 RESCALE "ccccctcccc" 1 conversion::check_rescale, conversion::rescale;
}

impl Op {
    /// The operator of an instruction's number.
    pub fn of(number: u32) -> Option<Op> {
        (number < ROWS.len() as u32).then_some(Op(number as u8))
    }

    pub fn name(self) -> &'static str {
        ROWS[self.0 as usize].name
    }

    /// Whether its last operand is a list, which may be any number of tensors.
    pub fn takes_list(self) -> bool {
        ROWS[self.0 as usize].operands.ends_with('l')
    }

    pub(crate) fn code(self) -> u8 {
        self.0
    }
}

/// Whether a node follows its operator's rules. All its operands and results are values of the graph.
pub(crate) fn check(graph: &Graph, node: &Node) -> Rule {
    let row = &ROWS[node.op.0 as usize];
    let (count, wanted) = (node.operands.len(), row.operands.len());
    need(count == wanted || node.op.takes_list() && (wanted..=MAX_LIST + 1).contains(&count), || {
        format!("{count} operands, of {wanted}")
    })?;
    need(node.results.len() == row.results, || {
        format!("{} results, of {}", node.results.len(), row.results)
    })?;
    let check = Check { graph, node };
    for (i, letter) in row.operands.bytes().enumerate() {
        let v = check.value(i);
        need(letter != b'c' || v.constant.is_some(), || format!("operand {i} must be a constant"))?;
        need(letter == b'c' || !v.shape.is_empty(), || format!("operand {i} must be a tensor"))?;
    }
    (row.check)(&check)
}

pub(crate) fn run(run: &Run) -> Result<(), Stop> {
    (ROWS[run.check.node.op.0 as usize].run)(run)
}
