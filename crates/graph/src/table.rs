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
    /// What its arithmetic is per, and its FMA, CVT and SFU operations for each, of floats and of integers: those of `shader`'s `isa` where
    /// it has such an operation.
    work: Work,
    costs: [[u8; 3]; 2],
}

/// What a node's arithmetic is counted by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// Data are moved as they are.
    Nothing,
    /// Elements of the results.
    Result,
    /// Elements of the tensor that is reduced.
    Operand,
    /// Elements of the windows of a pool, for each element of the result.
    Window,
    /// Products that are summed.
    Products,
    /// Points times the steps of a fast Fourier transform.
    Fourier,
}

macro_rules! operators {
    ($($number:literal $name:ident $operands:literal $results:literal $check:path, $run:path,
        $work:ident [$f:literal $c:literal $s:literal] [$i:literal $j:literal $k:literal];)*) => {
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
            work: Work::$work,
            costs: [[$f, $c, $s], [$i, $j, $k]],
        }),*];
    };
}

operators! {
    0 ARGMAX "cct" 1 reduction::check_argmax, reduction::argmax, Operand [0 2 0] [0 2 0];
    1 AVG_POOL2D "cccctcc" 1 pooling::check, pooling::run, Window [1 0 0] [0 1 0];
    2 CONV2D "ccccctttcc" 1 convolution::check, convolution::run, Products [0 0 0] [0 0 0];
    3 CONV3D "ccccctttcc" 1 convolution::check, convolution::run, Products [0 0 0] [0 0 0];
    4 DEPTHWISE_CONV2D "ccccctttcc" 1 convolution::check, convolution::depthwise, Products [0 0 0] [0 0 0];
    5 FFT2D "cctt" 2 fft::check, fft::run, Fourier [4 0 0] [4 0 0];
    6 MATMUL "ttcc" 1 matmul::check, matmul::run, Products [0 0 0] [0 0 0];
    7 MAX_POOL2D "cccct" 1 pooling::check, pooling::run, Window [0 1 0] [0 1 0];
    8 RFFT2D "ct" 2 fft::check, fft::run, Fourier [2 0 0] [2 0 0];
    9 TRANSPOSE_CONV2D "cccctttcc" 1 convolution::check_transpose, convolution::run, Products [0 0 0] [0 0 0];
    10 CLAMP "ccct" 1 activation::check, activation::run, Result [0 2 0] [0 2 0];
    11 ERF "t" 1 activation::check, activation::run, Result [8 2 2] [8 2 2];
    12 SIGMOID "t" 1 activation::check, activation::run, Result [3 1 2] [3 1 2];
    13 TANH "t" 1 activation::check, activation::run, Result [4 2 3] [4 2 3];
    14 ADD "tt" 1 binary::check, binary::run, Result [1 0 0] [0 1 0];
    15 ARITHMETIC_RIGHT_SHIFT "ctt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    16 BITWISE_AND "tt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    17 BITWISE_OR "tt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    18 BITWISE_XOR "tt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    19 INTDIV "tt" 1 binary::check, binary::run, Result [4 6 5] [4 6 5];
    20 LOGICAL_AND "tt" 1 binary::check, binary::run, Result [0 1 0] [0 1 0];
    21 LOGICAL_LEFT_SHIFT "tt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    22 LOGICAL_RIGHT_SHIFT "tt" 1 binary::check, binary::run, Result [0 0 1] [0 0 1];
    23 LOGICAL_OR "tt" 1 binary::check, binary::run, Result [0 1 0] [0 1 0];
    24 LOGICAL_XOR "tt" 1 binary::check, binary::run, Result [0 1 0] [0 1 0];
    25 MAXIMUM "ctt" 1 binary::check, binary::run, Result [0 1 0] [0 1 0];
    26 MINIMUM "ctt" 1 binary::check, binary::run, Result [0 1 0] [0 1 0];
    27 MUL "ttc" 1 binary::check, binary::run, Result [1 0 0] [0 0 1];
    28 POW "tt" 1 binary::check, binary::run, Result [2 1 1] [2 1 1];
    29 SUB "tt" 1 binary::check, binary::run, Result [1 0 0] [0 1 0];
    30 TABLE "tc" 1 unary::check_table, unary::table, Result [0 1 0] [0 1 0];
    31 ABS "t" 1 unary::check, unary::run, Result [0 0 0] [0 1 0];
    32 BITWISE_NOT "t" 1 unary::check, unary::run, Result [0 0 1] [0 0 1];
    33 CEIL "t" 1 unary::check, unary::run, Result [0 1 0] [0 1 0];
    34 CLZ "t" 1 unary::check, unary::run, Result [0 1 0] [0 1 0];
    35 COS "t" 1 unary::check, unary::run, Result [7 0 2] [7 0 2];
    36 EXP "t" 1 unary::check, unary::run, Result [2 1 1] [2 1 1];
    37 FLOOR "t" 1 unary::check, unary::run, Result [0 1 0] [0 1 0];
    38 LOG "t" 1 unary::check, unary::run, Result [3 2 1] [3 2 1];
    39 LOGICAL_NOT "t" 1 unary::check, unary::run, Result [0 1 0] [0 1 0];
    40 NEGATE "tcc" 1 unary::check, unary::run, Result [0 0 0] [0 1 0];
    41 RECIPROCAL "t" 1 unary::check, unary::run, Result [0 0 1] [0 0 1];
    42 RSQRT "t" 1 unary::check, unary::run, Result [0 0 1] [0 0 1];
    43 SIN "t" 1 unary::check, unary::run, Result [7 0 2] [7 0 2];
    44 SELECT "ttt" 1 binary::check_select, binary::select, Result [0 1 0] [0 1 0];
    45 EQUAL "tt" 1 binary::check, binary::compare, Result [0 1 0] [0 1 0];
    46 GREATER "tt" 1 binary::check, binary::compare, Result [0 1 0] [0 1 0];
    47 GREATER_EQUAL "tt" 1 binary::check, binary::compare, Result [0 1 0] [0 1 0];
    48 REDUCE_ALL "ct" 1 reduction::check, reduction::run, Operand [0 1 0] [0 1 0];
    49 REDUCE_ANY "ct" 1 reduction::check, reduction::run, Operand [0 1 0] [0 1 0];
    50 REDUCE_MAX "cct" 1 reduction::check, reduction::run, Operand [0 1 0] [0 1 0];
    51 REDUCE_MIN "cct" 1 reduction::check, reduction::run, Operand [0 1 0] [0 1 0];
    52 REDUCE_PRODUCT "ct" 1 reduction::check, reduction::run, Operand [1 0 0] [0 0 1];
    53 REDUCE_SUM "ct" 1 reduction::check, reduction::run, Operand [1 0 0] [0 1 0];
    54 CONCAT "cl" 1 layout::check_concat, layout::concat, Nothing [0 0 0] [0 0 0];
    55 PAD "tcc" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    56 RESHAPE "tc" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    57 REVERSE "ct" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    58 SLICE "tcc" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    59 TILE "tc" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    60 TRANSPOSE "ct" 1 layout::check, layout::run, Nothing [0 0 0] [0 0 0];
    61 GATHER "tt" 1 gather::check, gather::run, Nothing [0 0 0] [0 0 0];
    62 SCATTER "ttt" 1 gather::check, gather::run, Nothing [0 0 0] [0 0 0];
    63 RESIZE "ctccc" 1 image::check, image::run, Result [4 2 0] [0 4 4];
    64 CAST "t" 1 conversion::check_cast, conversion::cast, Result [0 1 0] [0 1 0];
    65 RESCALE "ccccctcccc" 1 conversion::check_rescale, conversion::rescale, Result [0 4 2] [0 4 2];
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

    /// What its arithmetic is per, and the operations of the three units for each.
    pub(crate) fn work(self, of_floats: bool) -> (Work, [u8; 3]) {
        let row = &ROWS[self.0 as usize];
        (row.work, row.costs[!of_floats as usize])
    }

    /// Of its operands, the first that is a tensor.
    pub(crate) fn tensor(self) -> usize {
        ROWS[self.0 as usize].operands.find(|c| c != 'c').unwrap_or(0)
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
