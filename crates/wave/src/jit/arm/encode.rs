//! Instructions: the word of each with no operands, and how an assembler writes it (`tests/encodings.txt` has what GNU's makes of that).
//!
//! Operands' numbers are added: d, the result, from bit 0 on; n from bit 5 on; m from bit 16 on. (Arm ARM, C4 and C7.)

macro_rules! instructions {
    ($($name:ident = $word:literal $text:literal;)*) => {
        $(#[doc = $text] pub const $name: u32 = $word;)*
        #[allow(dead_code, reason = "tests include this file")]
        /// Words and texts, in which `{d}`, `{n}`, `{m}` and `{t}` stand for numbers of registers.
        pub const ALL: &[(u32, &str)] = &[$(($word, $text)),*];
    };
}

instructions! {
    // Of floats.
    FADD = 0x4E20_D400 "fadd v{d}.4s, v{n}.4s, v{m}.4s";
    FSUB = 0x4EA0_D400 "fsub v{d}.4s, v{n}.4s, v{m}.4s";
    FMUL = 0x6E20_DC00 "fmul v{d}.4s, v{n}.4s, v{m}.4s";
    FDIV = 0x6E20_FC00 "fdiv v{d}.4s, v{n}.4s, v{m}.4s";
    FMIN = 0x4EA0_F400 "fmin v{d}.4s, v{n}.4s, v{m}.4s";
    FMLA = 0x4E20_CC00 "fmla v{d}.4s, v{n}.4s, v{m}.4s";
    FMLS = 0x4EA0_CC00 "fmls v{d}.4s, v{n}.4s, v{m}.4s";
    FCMEQ = 0x4E20_E400 "fcmeq v{d}.4s, v{n}.4s, v{m}.4s";
    FCMGE = 0x6E20_E400 "fcmge v{d}.4s, v{n}.4s, v{m}.4s";
    FCMGT = 0x6EA0_E400 "fcmgt v{d}.4s, v{n}.4s, v{m}.4s";
    FSQRT = 0x6EA1_F800 "fsqrt v{d}.4s, v{n}.4s";
    FRINTN = 0x4E21_8800 "frintn v{d}.4s, v{n}.4s";
    FRINTM = 0x4E21_9800 "frintm v{d}.4s, v{n}.4s";
    FRINTP = 0x4EA1_8800 "frintp v{d}.4s, v{n}.4s";
    FRINTZ = 0x4EA1_9800 "frintz v{d}.4s, v{n}.4s";
    SCVTF = 0x4E21_D800 "scvtf v{d}.4s, v{n}.4s";
    UCVTF = 0x6E21_D800 "ucvtf v{d}.4s, v{n}.4s";
    FCVTZS = 0x4EA1_B800 "fcvtzs v{d}.4s, v{n}.4s";
    FCVTN_HALF = 0x0E21_6800 "fcvtn v{d}.4h, v{n}.4s";
    FCVTL_HALF = 0x0E21_7800 "fcvtl v{d}.4s, v{n}.4h";
    // Of doubles.
    DADD = 0x4E60_D400 "fadd v{d}.2d, v{n}.2d, v{m}.2d";
    DSUB = 0x4EE0_D400 "fsub v{d}.2d, v{n}.2d, v{m}.2d";
    DMUL = 0x6E60_DC00 "fmul v{d}.2d, v{n}.2d, v{m}.2d";
    DDIV = 0x6E60_FC00 "fdiv v{d}.2d, v{n}.2d, v{m}.2d";
    DMIN = 0x4EE0_F400 "fmin v{d}.2d, v{n}.2d, v{m}.2d";
    DMLA = 0x4E60_CC00 "fmla v{d}.2d, v{n}.2d, v{m}.2d";
    DMLS = 0x4EE0_CC00 "fmls v{d}.2d, v{n}.2d, v{m}.2d";
    DCMEQ = 0x4E60_E400 "fcmeq v{d}.2d, v{n}.2d, v{m}.2d";
    DCMGE = 0x6E60_E400 "fcmge v{d}.2d, v{n}.2d, v{m}.2d";
    DCMGT = 0x6EE0_E400 "fcmgt v{d}.2d, v{n}.2d, v{m}.2d";
    DSQRT = 0x6EE1_F800 "fsqrt v{d}.2d, v{n}.2d";
    DRINTN = 0x4E61_8800 "frintn v{d}.2d, v{n}.2d";
    DRINTM = 0x4E61_9800 "frintm v{d}.2d, v{n}.2d";
    DRINTP = 0x4EE1_8800 "frintp v{d}.2d, v{n}.2d";
    DRINTZ = 0x4EE1_9800 "frintz v{d}.2d, v{n}.2d";
    SCVTF_LONG = 0x4E61_D800 "scvtf v{d}.2d, v{n}.2d";
    UCVTF_LONG = 0x6E61_D800 "ucvtf v{d}.2d, v{n}.2d";
    FCVTZS_LONG = 0x4EE1_B800 "fcvtzs v{d}.2d, v{n}.2d";
    FCVTZU_LONG = 0x6EE1_B800 "fcvtzu v{d}.2d, v{n}.2d";
    FCVTN = 0x0E61_6800 "fcvtn v{d}.2s, v{n}.2d";
    FCVTL = 0x0E61_7800 "fcvtl v{d}.2d, v{n}.2s";
    FCVTL2 = 0x4E61_7800 "fcvtl2 v{d}.2d, v{n}.4s";
    // Of integers.
    ADD = 0x4EA0_8400 "add v{d}.4s, v{n}.4s, v{m}.4s";
    SUB = 0x6EA0_8400 "sub v{d}.4s, v{n}.4s, v{m}.4s";
    SUB_BYTES = 0x6E20_8400 "sub v{d}.16b, v{n}.16b, v{m}.16b";
    MUL = 0x4EA0_9C00 "mul v{d}.4s, v{n}.4s, v{m}.4s";
    ADDP = 0x4EA0_BC00 "addp v{d}.4s, v{n}.4s, v{m}.4s";
    ADDP_BYTES = 0x4E20_BC00 "addp v{d}.16b, v{n}.16b, v{m}.16b";
    SMULL = 0x0E60_C000 "smull v{d}.4s, v{n}.4h, v{m}.4h";
    SMULL2 = 0x4E60_C000 "smull2 v{d}.4s, v{n}.8h, v{m}.8h";
    SMIN = 0x4EA0_6C00 "smin v{d}.4s, v{n}.4s, v{m}.4s";
    SMAX = 0x4EA0_6400 "smax v{d}.4s, v{n}.4s, v{m}.4s";
    UMIN = 0x6EA0_6C00 "umin v{d}.4s, v{n}.4s, v{m}.4s";
    UMAX = 0x6EA0_6400 "umax v{d}.4s, v{n}.4s, v{m}.4s";
    USHL = 0x6EA0_4400 "ushl v{d}.4s, v{n}.4s, v{m}.4s";
    SSHL = 0x4EA0_4400 "sshl v{d}.4s, v{n}.4s, v{m}.4s";
    NEG = 0x6EA0_B800 "neg v{d}.4s, v{n}.4s";
    CMEQ = 0x6EA0_8C00 "cmeq v{d}.4s, v{n}.4s, v{m}.4s";
    CMGT = 0x4EA0_3400 "cmgt v{d}.4s, v{n}.4s, v{m}.4s";
    CMHI = 0x6EA0_3400 "cmhi v{d}.4s, v{n}.4s, v{m}.4s";
    CMTST = 0x4EA0_8C00 "cmtst v{d}.4s, v{n}.4s, v{m}.4s";
    // Of 64 bits.
    ADD_LONG = 0x4EE0_8400 "add v{d}.2d, v{n}.2d, v{m}.2d";
    SUB_LONG = 0x6EE0_8400 "sub v{d}.2d, v{n}.2d, v{m}.2d";
    UMULL = 0x2EA0_C000 "umull v{d}.2d, v{n}.2s, v{m}.2s";
    USHL_LONG = 0x6EE0_4400 "ushl v{d}.2d, v{n}.2d, v{m}.2d";
    SSHL_LONG = 0x4EE0_4400 "sshl v{d}.2d, v{n}.2d, v{m}.2d";
    NEG_LONG = 0x6EE0_B800 "neg v{d}.2d, v{n}.2d";
    CMEQ_LONG = 0x6EE0_8C00 "cmeq v{d}.2d, v{n}.2d, v{m}.2d";
    CMGT_LONG = 0x4EE0_3400 "cmgt v{d}.2d, v{n}.2d, v{m}.2d";
    USHLL = 0x2F20_A400 "ushll v{d}.2d, v{n}.2s, #0";
    USHLL2 = 0x6F20_A400 "ushll2 v{d}.2d, v{n}.4s, #0";
    SSHLL = 0x0F20_A400 "sshll v{d}.2d, v{n}.2s, #0";
    SSHLL2 = 0x4F20_A400 "sshll2 v{d}.2d, v{n}.4s, #0";
    XTN = 0x0EA1_2800 "xtn v{d}.2s, v{n}.2d";
    SQXTN = 0x0EA1_4800 "sqxtn v{d}.2s, v{n}.2d";
    // Of halves of words.
    USHLL_HALF = 0x2F10_A400 "ushll v{d}.4s, v{n}.4h, #0";
    XTN_HALF = 0x0E61_2800 "xtn v{d}.4h, v{n}.4s";
    HIGH_BYTES = 0x4F18_0400 "sshr v{d}.8h, v{n}.8h, #8";
    // Of bits.
    AND = 0x4E20_1C00 "and v{d}.16b, v{n}.16b, v{m}.16b";
    BIC = 0x4E60_1C00 "bic v{d}.16b, v{n}.16b, v{m}.16b";
    ORR = 0x4EA0_1C00 "orr v{d}.16b, v{n}.16b, v{m}.16b";
    EOR = 0x6E20_1C00 "eor v{d}.16b, v{n}.16b, v{m}.16b";
    BSL = 0x6E60_1C00 "bsl v{d}.16b, v{n}.16b, v{m}.16b";
    BIT = 0x6EA0_1C00 "bit v{d}.16b, v{n}.16b, v{m}.16b";
    BIF = 0x6EE0_1C00 "bif v{d}.16b, v{n}.16b, v{m}.16b";
    NOT = 0x6E20_5800 "mvn v{d}.16b, v{n}.16b";
    // Lanes that change places.
    UZP1 = 0x4E80_1800 "uzp1 v{d}.4s, v{n}.4s, v{m}.4s";
    UZP2 = 0x4E80_5800 "uzp2 v{d}.4s, v{n}.4s, v{m}.4s";
    UZP1_BYTES = 0x4E00_1800 "uzp1 v{d}.16b, v{n}.16b, v{m}.16b";
    UZP1_HALF = 0x4E40_1800 "uzp1 v{d}.8h, v{n}.8h, v{m}.8h";
    UZP2_HALF = 0x4E40_5800 "uzp2 v{d}.8h, v{n}.8h, v{m}.8h";
    ZIP1 = 0x4E80_3800 "zip1 v{d}.4s, v{n}.4s, v{m}.4s";
    ZIP2 = 0x4E80_7800 "zip2 v{d}.4s, v{n}.4s, v{m}.4s";
    ZIP1_LONG = 0x4EC0_3800 "zip1 v{d}.2d, v{n}.2d, v{m}.2d";
    ZIP2_LONG = 0x4EC0_7800 "zip2 v{d}.2d, v{n}.2d, v{m}.2d";
    TRN1 = 0x4E80_2800 "trn1 v{d}.4s, v{n}.4s, v{m}.4s";
    TRN2 = 0x4E80_6800 "trn2 v{d}.4s, v{n}.4s, v{m}.4s";
    REV64 = 0x4EA0_0800 "rev64 v{d}.4s, v{n}.4s";
    EXT8 = 0x6E00_4000 "ext v{d}.16b, v{n}.16b, v{m}.16b, #8";
    DUP_W = 0x4E04_0C00 "dup v{d}.4s, w{n}";
    DUP0 = 0x4E04_0400 "dup v{d}.4s, v{n}.s[0]";
    DUP1 = 0x4E0C_0400 "dup v{d}.4s, v{n}.s[1]";
    DUP2 = 0x4E14_0400 "dup v{d}.4s, v{n}.s[2]";
    DUP3 = 0x4E1C_0400 "dup v{d}.4s, v{n}.s[3]";
    TBL4 = 0x4E00_6000 "tbl v{d}.16b, {v{n}.16b-v{n+3}.16b}, v{m}.16b";
    TBX4 = 0x4E00_7000 "tbx v{d}.16b, {v{n}.16b-v{n+3}.16b}, v{m}.16b";
    // Of all lanes.
    UMAXV = 0x6EB0_A800 "umaxv s{d}, v{n}.4s";
    ADDV = 0x4EB1_B800 "addv s{d}, v{n}.4s";
    UMINV = 0x6EB1_A800 "uminv s{d}, v{n}.4s";
    TO_WORD = 0x1E26_0000 "fmov w{d}, s{n}";
    FIRST_HALF = 0x0E02_3C00 "umov w{d}, v{n}.h[0]";
    LANE_1 = 0x0E0C_3C00 "mov w{d}, v{n}.s[1]";
    LANE_2 = 0x0E14_3C00 "mov w{d}, v{n}.s[2]";
    LANE_3 = 0x0E1C_3C00 "mov w{d}, v{n}.s[3]";
    // Constants.
    ZERO = 0x6F00_E400 "movi v{d}.2d, #0";
    ONES = 0x6F07_E7E0 "movi v{d}.2d, #0xffffffffffffffff";
    MOVI_4 = 0x4F00_E480 "movi v{d}.16b, #4";
    MOVI_64 = 0x4F02_E400 "movi v{d}.16b, #64";
    MOVI_15 = 0x4F00_05E0 "movi v{d}.4s, #15";
    MOVI_31 = 0x4F00_07E0 "movi v{d}.4s, #31";
    MOVI_32 = 0x4F01_0400 "movi v{d}.4s, #32";
    MOVI_SIGN = 0x4F04_6400 "movi v{d}.4s, #0x80, lsl #24";
    MOVI_2_31 = 0x4F02_65E0 "movi v{d}.4s, #0x4f, lsl #24";
    // Shifts by the number that is added from bit 16 on: to the left that one, to the right what is missing to the lanes' bits.
    SHL = 0x4F20_5400 "shl v{d}.4s, v{n}.4s, #{m}";
    SHL_LONG = 0x4F40_5400 "shl v{d}.2d, v{n}.2d, #{m}";
    USHR = 0x6F20_0400 "ushr v{d}.4s, v{n}.4s, #{32-m}";
    SSHR = 0x4F20_0400 "sshr v{d}.4s, v{n}.4s, #{32-m}";
    USHR_LONG = 0x6F40_0400 "ushr v{d}.2d, v{n}.2d, #{64-m}";
    SSHR_LONG = 0x4F40_0400 "sshr v{d}.2d, v{n}.2d, #{64-m}";
    // General registers.
    MOV = 0xAA00_03E0 "mov x{d}, x{m}";
    FROM_SP = 0x9100_03E0 "mov x{d}, sp";
    TO_SP = 0x9100_001F "mov sp, x{n}";
    ALIGN_SP = 0x927A_E41F "and sp, x{n}, #0xffffffffffffffc0";
    ADD_X = 0x8B00_0000 "add x{d}, x{n}, x{m}";
    ADD_X_1 = 0x8B00_0400 "add x{d}, x{n}, x{m}, lsl #1";
    ADD_X_6 = 0x8B00_1800 "add x{d}, x{n}, x{m}, lsl #6";
    ADD_X_7 = 0x8B00_1C00 "add x{d}, x{n}, x{m}, lsl #7";
    SUB_X = 0xCB00_0000 "sub x{d}, x{n}, x{m}";
    DECREMENT = 0x5100_0400 "sub w{d}, w{n}, #1";
    INCREMENT_X = 0x9100_0400 "add x{d}, x{n}, #1";
    AND_W = 0x0A00_0000 "and w{d}, w{n}, w{m}";
    ORR_W = 0x2A00_0000 "orr w{d}, w{n}, w{m}";
    BIC_W = 0x0A20_0000 "bic w{d}, w{n}, w{m}";
    BIC_W_4 = 0x0A20_1000 "bic w{d}, w{n}, w{m}, lsl #4";
    BIC_W_8 = 0x0A20_2000 "bic w{d}, w{n}, w{m}, lsl #8";
    BIC_W_12 = 0x0A20_3000 "bic w{d}, w{n}, w{m}, lsl #12";
    RBIT_W = 0x5AC0_0000 "rbit w{d}, w{n}";
    CLZ_W = 0x5AC0_1000 "clz w{d}, w{n}";
    LSL_W_4 = 0x531C_6C00 "lsl w{d}, w{n}, #4";
    LSL_W_8 = 0x5318_5C00 "lsl w{d}, w{n}, #8";
    LSR_W_16 = 0x5310_7C00 "lsr w{d}, w{n}, #16";
    CMP_W = 0x6B00_001F "cmp w{n}, w{m}";
    CSET_NE = 0x9A9F_07E0 "cset x{d}, ne";
    ADD_X_2 = 0x8B00_0800 "add x{d}, x{n}, x{m}, lsl #2";
    ADD_X_3 = 0x8B00_0C00 "add x{d}, x{n}, x{m}, lsl #3";
    ADD_W = 0x0B00_0000 "add w{d}, w{n}, w{m}";
    EOR_W = 0x4A00_0000 "eor w{d}, w{n}, w{m}";
    IN_LINE = 0x1200_1400 "and w{d}, w{n}, #63";
    CMP_X = 0xEB00_001F "cmp x{n}, x{m}";
    BLR = 0xD63F_0000 "blr x{n}";
    RET = 0xD65F_03C0 "ret";
    // Of memory: what is added from bit 10 on counts units of the size.
    LDR_Q = 0x3DC0_0000 "ldr q{d}, [x{n}]";
    STR_Q = 0x3D80_0000 "str q{d}, [x{n}]";
    LDR_H = 0x7D40_0000 "ldr h{d}, [x{n}]";
    LDR_D = 0xFD40_0000 "ldr d{d}, [x{n}]";
    LDR_X = 0xF940_0000 "ldr x{d}, [x{n}]";
    STR_X = 0xF900_0000 "str x{d}, [x{n}]";
    LDR_W = 0xB940_0000 "ldr w{d}, [x{n}]";
    STR_W = 0xB900_0000 "str w{d}, [x{n}]";
    LDR_Q_X = 0x3CE0_6800 "ldr q{d}, [x{n}, x{m}]";
    LD1R = 0x4D40_C800 "ld1r {v{d}.4s}, [x{n}]";
    LD1_0 = 0x0D40_8000 "ld1 {v{d}.s}[0], [x{n}]";
    LD1_1 = 0x0D40_9000 "ld1 {v{d}.s}[1], [x{n}]";
    LD1_2 = 0x4D40_8000 "ld1 {v{d}.s}[2], [x{n}]";
    LD1_3 = 0x4D40_9000 "ld1 {v{d}.s}[3], [x{n}]";
    LDRH_W = 0x7940_0000 "ldrh w{d}, [x{n}]";
    STRH_W = 0x7900_0000 "strh w{d}, [x{n}]";
    // Of two registers: t is the second one's number, from bit 10 on; units from bit 15 on.
    LDP_Q = 0xAD40_0000 "ldp q{d}, q{t}, [x{n}]";
    LDP_X = 0xA940_0000 "ldp x{d}, x{t}, [x{n}]";
    STP_X = 0xA900_0000 "stp x{d}, x{t}, [x{n}]";
    // The frame's begin and end.
    PUSH = 0xA9BB_7BFD "stp x29, x30, [sp, #-80]!";
    SAVE_8 = 0x6D01_27E8 "stp d8, d9, [sp, #16]";
    SAVE_10 = 0x6D02_2FEA "stp d10, d11, [sp, #32]";
    SAVE_12 = 0x6D03_37EC "stp d12, d13, [sp, #48]";
    SAVE_14 = 0x6D04_3FEE "stp d14, d15, [sp, #64]";
    RESTORE_8 = 0x6D41_27E8 "ldp d8, d9, [sp, #16]";
    RESTORE_10 = 0x6D42_2FEA "ldp d10, d11, [sp, #32]";
    RESTORE_12 = 0x6D43_37EC "ldp d12, d13, [sp, #48]";
    RESTORE_14 = 0x6D44_3FEE "ldp d14, d15, [sp, #64]";
    POP = 0xA8C5_7BFD "ldp x29, x30, [sp], #80";
}

// Of a number, or of where to.

/// movz x{d}, #{16 bits from bit 5 on}; movk of 16 bits higher up, which of them from bit 21 on.
pub const MOVZ: u32 = 0xD280_0000;
pub const MOVK: u32 = 0xF280_0000;
/// add x{d}, x{n}, #{12 bits from bit 10 on}, and the same of bits 12 to 23.
pub const ADD_12: u32 = 0x9100_0000;
pub const ADD_24: u32 = 0x9140_0000;
/// ldr q{d}, and adr x{d}: of a place in words, 19 bits from bit 5 on.
pub const LDR_Q_HERE: u32 = 0x9C00_0000;
pub const ADR: u32 = 0x1000_0000;
/// madd x{d}, x{n}, x{m}, x{number from bit 10 on}
pub const MADD: u32 = 0x9B00_0000;
/// Jumps by what was compared: equal, not, unsigned ones, signed ones.
pub const JUMP_EQ: u32 = 0x5400_0000;
pub const JUMP_NE: u32 = 0x5400_0001;
pub const JUMP_HS: u32 = 0x5400_0002;
pub const JUMP_HI: u32 = 0x5400_0008;
pub const JUMP_LS: u32 = 0x5400_0009;
pub const JUMP_GT: u32 = 0x5400_000C;
pub const JUMP_LE: u32 = 0x5400_000D;
/// b; cbz w{d} and cbnz w{d}.
pub const JUMP: u32 = 0x1400_0000;
pub const CBZ: u32 = 0x3400_0000;
pub const CBNZ: u32 = 0x3500_0000;
