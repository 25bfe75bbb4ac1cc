//! The bytecode: the table of ops that are not arithmetic, and what the fields of every op are.
//!
//! | column | says |
//! |---|---|
//! | d a b c | what the op does with the field's register, which must be there: `def` writes, `use` reads, `both`; `res`, `may` and `mix` are the same of one that may be none; `gives` writes the address of a descriptor, `desc` reads one |
//! | words | extension words: a `list` of as many registers as `e` says unless that is one, `one` word of registers, `data`; and what the op does with the registers |
//! | imm | `label`: the op may jump there |
//! | kind | `masks`: the fields are masks, for which the uniform bit means nothing |
//!
//! Lowering, liveness, encoding, the check of finished programs and listings go by it. Arithmetic writes d and reads
//! the rest, lane by lane; [`crate::pairs`] and [`crate::twins`] have more registers where others have `e` and `imm`.

use crate::bytecode::{Code, Op, Reg, n_of};
use std::sync::LazyLock;

/// What an op does with a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field {
    None,
    Use,
    Def,
    Both,
}

/// What else is known of a field's register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FieldKind {
    Value,
    /// It may be none.
    Optional,
    /// It has the address of a descriptor.
    Handle,
}

/// Extension words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Words {
    None,
    /// As many registers as `e` has components, if there are several.
    List,
    /// One word of registers.
    One,
    /// One word that is no registers.
    Data,
    /// Rows of four matrices: of the result, and of three that are read ([`crate::ir::Inst::Product`]).
    Matrices,
}

/// Rows of a matrix of a warp, and words that list the rows of four.
pub const ROWS: usize = 16;
const MATRIX_WORDS: usize = 4 * ROWS / 8;

/// What the fields of an op are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub d: Field,
    pub a: Field,
    pub b: Field,
    pub c: Field,
    /// Of d, a, b, c and the registers of extension words.
    pub kinds: [FieldKind; 5],
    pub words: Words,
    pub registers: Field,
    /// `imm` is where the op may jump to.
    pub label: bool,
    pub masks: bool,
    /// Lane-wise: an op reads all its operands of a lane before it writes.
    pub lanes: bool,
    /// Registers in `e` and the halves of `imm`.
    pub more: usize,
}

impl Layout {
    /// What an op does with register `i` of its extension words.
    pub fn extension(&self, i: usize) -> Field {
        if self.words == Words::Matrices && i < ROWS { Field::Def } else { self.registers }
    }
    /// All operands of a lane or, of matrices, of a warp are read before anything is written.
    pub fn reads_first(&self) -> bool {
        self.lanes || self.words == Words::Matrices
    }
}

impl Field {
    pub fn writes(self) -> bool {
        matches!(self, Field::Def | Field::Both)
    }
    pub fn reads(self) -> bool {
        matches!(self, Field::Use | Field::Both)
    }
}

macro_rules! field {
    (-) => {
        (Field::None, FieldKind::Optional)
    };
    (use) => {
        (Field::Use, FieldKind::Value)
    };
    (def) => {
        (Field::Def, FieldKind::Value)
    };
    (both) => {
        (Field::Both, FieldKind::Value)
    };
    (may) => {
        (Field::Use, FieldKind::Optional)
    };
    (res) => {
        (Field::Def, FieldKind::Optional)
    };
    (mix) => {
        (Field::Both, FieldKind::Optional)
    };
    (desc) => {
        (Field::Use, FieldKind::Handle)
    };
    (gives) => {
        (Field::Def, FieldKind::Handle)
    };
}
macro_rules! words {
    (-) => {
        Words::None
    };
    (list) => {
        Words::List
    };
    (one) => {
        Words::One
    };
    (data) => {
        Words::Data
    };
    (matrices) => {
        Words::Matrices
    };
}
macro_rules! is {
    (-) => {
        false
    };
    (label) => {
        true
    };
    (values) => {
        false
    };
    (masks) => {
        true
    };
}

macro_rules! table {
    ($($(#[$note:meta])* $name:ident = $n:literal [$d:tt $a:tt $b:tt $c:tt] [$words:tt $registers:tt] $imm:tt $kind:ident;)*) => {
        impl Code {
            $($(#[$note])* pub const $name: Code = Code($n);)*
        }
        /// Every op of the table: its code, name and layout.
        pub const CODES: &[(Code, &str, Layout)] = &[$((Code($n), stringify!($name), Layout {
            d: field!($d).0,
            a: field!($a).0,
            b: field!($b).0,
            c: field!($c).0,
            kinds: [field!($d).1, field!($a).1, field!($b).1, field!($c).1, field!($registers).1],
            words: words!($words),
            registers: field!($registers).0,
            label: is!($imm),
            masks: is!($kind),
            lanes: false,
            more: 0,
        }),)*];
    };
}

table! {
    // code         number [d a b c] [words] imm kind
    /// End of the program for all lanes.
    END            = 0  [- - - -] [- -] - values;
    /// pc = imm.
    JMP            = 1  [- - - -] [- -] label values;
    /// If uniform Bool `a` is false, pc = imm.
    JMP_UNLESS     = 2  [- use - -] [- -] label masks;
    /// d = exec & a; b = exec & !a; exec = d; if exec is empty, pc = imm.
    SPLIT          = 3  [res use res -] [- -] label masks;
    /// exec = a; if empty, pc = imm.
    SETEXEC        = 4  [- use - -] [- -] label masks;
    /// d = exec.
    GETEXEC        = 5  [def - - -] [- -] - masks;
    /// d |= exec.
    OREXEC         = 6  [both - - -] [- -] - masks;
    /// d |= exec; exec = ∅; pc = imm (an unconditional branch to a place where lanes wait).
    PARK           = 7  [mix - - -] [- -] label masks;
    /// b |= exec & a; exec &= !a; if empty, pc = imm (a conditional `break`).
    PARK_IF        = 8  [- use mix -] [- -] label masks;
    /// Loop end: exec = a; a = ∅; if exec is not empty, pc = imm. Counts for the watchdog. When control falls
    /// through, exec is empty and a SETEXEC follows. Without `a` (NONE): exec is unchanged and pc = imm always.
    /// Counts first, as TALLY does, at row e unless that is 0.
    LOOP           = 9  [- may - -] [- -] label masks;
    /// d = a & !b (masks).
    MASK_ANDN      = 10 [def use use -] [- -] - masks;
    /// d = ∅.
    MASK_CLEAR     = 11 [def - - -] [- -] - masks;
    /// Control barrier: the wave yields; it resumes at the next op.
    BARRIER        = 12 [- - - -] [- -] - values;
    /// Masked moves under exec: d's active lanes = a's. 32, 64 bit, Bool.
    MOVM32         = 13 [both use - -] [- -] - values;
    MOVM64         = 14 [both use - -] [- -] - values;
    MOVMB          = 15 [both use - -] [- -] - masks;
    /// Masked moves under mask `b` (a subset of exec).
    MOVIF32        = 16 [both use use -] [- -] - values;
    MOVIF64        = 17 [both use use -] [- -] - values;
    MOVIFB         = 18 [both use use -] [- -] - values;
    /// Memory barrier (a compiler and CPU fence).
    FENCE          = 19 [- - - -] [- -] - values;
    /// Lanes that waited in `a` join those that arrive: exec |= a; if exec is empty, pc = imm.
    JOIN           = 20 [- use - -] [- -] label masks;
    /// If uniform Bool `a` is true, pc = imm.
    JMP_IF         = 21 [- use - -] [- -] label masks;
    /// As SPLIT, for rare conditions: when exec & a is empty, exec and the masks stay as they are and pc = imm.
    SPLIT_RARE     = 22 [res use res -] [- -] label masks;
    /// Fragment: d = exec; exec &= alive; if empty, pc = imm, where a SETEXEC of `d` stands. Around side effects.
    NARROW         = 23 [def - - -] [- -] label masks;
    /// Fragment: alive &= !exec. The program ends when no lane is left alive.
    DEMOTE         = 24 [- - - -] [- -] - masks;
    /// Fragment: d = !alive.
    HELPER         = 25 [def - - -] [- -] - masks;

    /// What passes here is counted: live warps, and those with fewer lanes than their wave began with, at row imm of
    /// the wave's tally; lanes too when e is 1.
    TALLY          = 26 [- - - -] [- -] - values;

    /// Memory. Fields: d = register loaded or stored (n = 1) else NONE and ext words follow with n registers;
    /// a = byte offset B32 (address B64 for GLOBAL; word index for SCRATCH), uniform or varying;
    /// b = descriptor B64 (BUF only); c = second addend, uniform B32 or NONE; e = [`crate::bytecode::mem_bits`]; imm = constant addend (bytes; words for SCRATCH).
    /// The offset is (a + c + imm) mod 2^32 for BUF, SHARED, SCRATCH, PUSH. `a` may be NONE (0).
    /// Component i is at + i · mem bytes (words of its size for SCRATCH).
    LD_BUF         = 32 [def may desc may] [list res] - values;
    LD_GLOBAL      = 33 [def use - may] [list res] - values;
    LD_SHARED      = 34 [def may - may] [list res] - values;
    LD_SCRATCH     = 35 [def may - may] [list res] - values;
    LD_PUSH        = 36 [def may - may] [list res] - values;
    ST_BUF         = 37 [use may desc may] [list use] - values;
    ST_GLOBAL      = 38 [use use - may] [list use] - values;
    ST_SHARED      = 39 [use may - may] [list use] - values;
    ST_SCRATCH     = 40 [use may - may] [list use] - values;
    /// Atomics: as loads; e = mem bits with the [`crate::ir::AtomicOp`] in bits 8..; d = old value or NONE; an ext word follows:
    /// [value, comparator or NONE, ..].
    AT_BUF         = 41 [res may desc may] [one may] - values;
    AT_GLOBAL      = 42 [res use - may] [one may] - values;
    AT_SHARED      = 43 [res may - may] [one may] - values;
    AT_SCRATCH     = 44 [res may - may] [one may] - values;
    /// d (B64) = address of a descriptor: table e, byte offset imm + index a (B32) · stride; ext word as four u32
    /// (its bytes): [stride, count, `DESC_…` bits, 0]. Outside the table, or index ≥ count: the null descriptor's
    /// address. With [`crate::bytecode::DESC_INLINE`]: d = address of a descriptor {data address, count bytes} that the engine keeps.
    /// With [`crate::bytecode::DESC_IN_MEMORY`]: of what the host says the table's bytes mean, which the engine keeps too; with both, of
    /// `count` bytes of such memory. With [`crate::bytecode::DESC_ADDRESS`]: of all device memory from a on. With
    /// [`crate::bytecode::DESC_EMBEDDED`]: of what the host says that the program's own words mean. With
    /// [`crate::bytecode::DESC_DATA`]: of a buffer of words that are the program's own.
    DESC           = 45 [gives may - -] [data -] - values;
    /// d (B32) = size in bytes of buffer descriptor b, saturated to 32 bits.
    BUF_SIZE       = 46 [def - desc -] [- -] - values;
    /// Image operation: imm indexes [`crate::bytecode::Program::images`].
    IMAGE          = 47 [- - - -] [- -] - values;
    /// d (B64) = clock.
    CLOCK          = 48 [def - - -] [- -] - values;

    /// d (B64) = address of the acceleration structure that descriptor b names; 0: none.
    STRUCTURE      = 49 [def - desc -] [- -] - values;
    /// Ray queries ([`crate::ir::RayOp`]); a = number of the query (B32). Begins one: c = acceleration structure (B64); registers: the
    /// other operands.
    RAY_BEGIN      = 50 [- use - use] [list use] - values;
    /// imm = place in [`crate::ir::RayOp::STEPS`]; d = result, b = operand.
    RAY_STEP       = 51 [res use may -] [- -] - values;
    /// imm = [`crate::bytecode::ray_bits`]; d or registers: the attribute.
    RAY_GET        = 52 [res use - -] [list res] - values;

    /// Asks the ray tracing pipeline: imm = place in [`crate::ir::TraceOp::ALL`], c = acceleration structure (B64), d = result; registers:
    /// operands, first private word of the data, how many these are.
    TRACE          = 53 [res - - may] [list use] - values;

    /// Tells the host what the lanes do: imm = site ([`crate::ir::Shader::sites`]), c = device address (B64); registers: the other
    /// operands. PROBE_BUF: b = descriptor.
    PROBE          = 54 [- - - may] [list use] - values;
    PROBE_BUF      = 55 [- - desc -] [list use] - values;
    /// Tells the host what the lanes have done: imm = note ([`crate::ir::Shader::notes`]); registers: not 0 in warps of which it is to be
    /// told, and its words; twice that if there are none.
    NOTE           = 56 [- - - -] [list use] - values;

    /// Rows of a matrix: as loads and stores, e with sixteen components, of which component i is at + i · stride; d = stride in bytes
    /// (B32). `SHAPE_…` bits tell of one row.
    LD_ROWS_BUF    = 57 [use may desc may] [list res] - values;
    LD_ROWS_GLOBAL = 58 [use use - may] [list res] - values;
    LD_ROWS_SHARED = 59 [use may - may] [list res] - values;
    ST_ROWS_BUF    = 60 [use may desc may] [list use] - values;
    ST_ROWS_GLOBAL = 61 [use use - may] [list use] - values;
    ST_ROWS_SHARED = 62 [use may - may] [list use] - values;

    /// d (B64) = device address of buffer descriptor b; 0: none.
    BUF_ADDR       = 63 [def - desc -] [- -] - values;

    /// Subgroups (warps of 16), reading exec. d, a; SHUFFLE: b = lane; QUAD: e = [`crate::ir::Quad`];
    /// REDUCE: e = ReduceOp | Scan << 4 | log2(cluster) << 8 (cluster 16 = whole warp).
    BALLOT         = 64 [def use - -] [- -] - values;
    FIRST32        = 65 [def use - -] [- -] - values;
    FIRST64        = 66 [def use - -] [- -] - values;
    SHUFFLE32      = 67 [def use use -] [- -] - values;
    SHUFFLE64      = 68 [def use use -] [- -] - values;
    QUAD32         = 69 [def use - -] [- -] - values;
    QUAD64         = 70 [def use - -] [- -] - values;
    REDUCE32       = 71 [def use - -] [- -] - values;
    REDUCE64       = 72 [def use - -] [- -] - values;
    /// Product of two matrices, added to a third; e = [`crate::ir::Product`], with [`crate::bytecode::PRODUCT_AT_ONCE`];
    /// imm = [`crate::bytecode::ProductGroup`].
    PRODUCT        = 73 [- - - -] [matrices use] - values;

    /// Superinstructions a peephole may form; see their kernels.
    /// Of those that compare and split or park, bits 9 to 11 of e are a [`crate::bytecode::Before`]: what stands for the right operand
    /// is computed from b, c and d by that op; with bit 12 it is the left one, and a the right one.
    /// Compare and split: as SPLIT with cond = Bin(e)(a, b) of 32 bits; masks in the ext word [yes, no, ..].
    CMP_SPLIT      = 80 [may use use may] [one res] label values;
    /// Compare and park: as PARK_IF with the condition Bin(e & 0xFF)(a, b), negated if e bit 8; ext word [target mask].
    CMP_PARK       = 81 [may use use may] [one mix] label values;
    /// If the uniform condition Bin(e & 0xFF)(a, b) of 32 bits, negated if e bit 8, is true, pc = imm.
    CMP_JMP        = 82 [may use use may] [- -] label values;
    /// As SPLIT_RARE with the condition Bin(e & 0xFF)(a, b) of 32 bits, negated if e bit 8; ext word [yes, no, ..].
    CMP_SPLIT_RARE = 83 [may use use may] [one res] label values;
    /// The end of a counting loop: d = a + b (uniform, 32 bits), then as LOOP; at op imm there is a CMP_JMP, which is
    /// done at once.
    LOOP_NEXT      = 84 [def use use -] [- -] label values;
    /// Compiled code that does what this op and the imm − 1 words after it did; d, a, b, c are its address. No program has it
    /// but in a copy of the engine's own ([`crate::bytecode::CompiledCode`]): the check refuses it.
    SEGMENT        = 85 [- - - -] [- -] - values;
    /// As SEGMENT, of a whole loop that begins here; d, a, b, c are the address of what the engine knows of it.
    REGION         = 86 [- - - -] [- -] - values;
    /// As SEGMENT, of code that reads all lanes of quads, so only where quads are active as a whole; d, a, b, c are the address of what
    /// the engine knows of it.
    QUAD_SEGMENT   = 87 [- - - -] [- -] - values;
}

/// Of what is no op.
const NOTHING: Layout = Layout {
    d: Field::None,
    a: Field::None,
    b: Field::None,
    c: Field::None,
    kinds: [FieldKind::Optional; 5],
    words: Words::None,
    registers: Field::None,
    label: false,
    masks: false,
    lanes: false,
    more: 0,
};
const ARITHMETIC: Layout =
    Layout { d: Field::Def, a: Field::Use, b: Field::Use, c: Field::Use, lanes: true, ..NOTHING };

/// The layout of `code`, that of a fused comparison too.
#[inline]
pub fn layout(code: Code) -> &'static Layout {
    static BY_CODE: LazyLock<Vec<Layout>> =
        LazyLock::new(|| (0..Code::COUNT).map(|n| of(Code(n as u16).unfused())).collect());
    BY_CODE.get(code.0 as usize).unwrap_or(&NOTHING)
}

fn of(code: Code) -> Layout {
    if crate::twins::of(code).is_some() {
        // Two results.
        return Layout { b: Field::Def, registers: Field::Use, more: 3, ..ARITHMETIC };
    }
    if crate::pairs::of(code).is_some() {
        return Layout { registers: Field::Use, more: 2, ..ARITHMETIC };
    }
    match CODES.iter().find(|c| c.0 == code) {
        Some((_, _, layout)) => *layout,
        None if (Code::ARITHMETIC..Code::UNPAIRED).contains(&(code.0 as usize)) => ARITHMETIC,
        None => NOTHING,
    }
}

/// Extension words that follow an op.
pub fn extension_words(op: &Op) -> usize {
    match layout(op.code).words {
        Words::None => 0,
        Words::One | Words::Data => 1,
        Words::Matrices => MATRIX_WORDS,
        Words::List if n_of(op.e) == 1 => 0,
        Words::List => n_of(op.e).div_ceil(8),
    }
}

/// Registers that an op has beyond d, a, b and c, in its own word.
pub fn more_registers(op: &Op) -> impl Iterator<Item = Reg> {
    let all = [Reg(op.e), Reg(op.imm as u16), Reg((op.imm >> 16) as u16)];
    all.into_iter().take(layout(op.code).more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_apart_from_arithmetic() {
        assert!(CODES.windows(2).all(|w| w[0].0 < w[1].0));
        assert!(CODES.iter().all(|(code, _, it)| layout(*code) == it));
    }
}
