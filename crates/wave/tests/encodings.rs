//! AArch64's instructions, as compiled code has them, are what GNU's assembler makes of their texts.
//!
//! `tests/encodings.txt` has its words. `TUFF_BLESS=1` writes it, by `aarch64-linux-gnu-as` and `aarch64-linux-gnu-objcopy`.

use crate::encode::*;
use std::path::Path;
use std::process::Command;

/// Numbers of registers, d, n and m: the shifts among the instructions have one below 32, and above 0, for m.
const REGISTERS: [[u32; 3]; 3] = [[1, 2, 3], [30, 17, 12], [11, 26, 21]];

/// Words of ours, and how the assembler writes them.
fn instructions() -> Vec<(u32, String)> {
    let mut all = vec![];
    for (word, text) in ALL {
        for [d, n, m] in REGISTERS {
            let mut word = *word;
            let mut line = text.to_string();
            let operands = [
                ("{d}", d, 0, d),
                ("{n}", n, 5, n),
                ("{n+3}", 0, 0, n + 3),
                ("{m}", m, 16, m),
                ("{t}", m, 10, m),
                ("{32-m}", m, 16, 32 - m),
                ("{64-m}", m, 16, 64 - m),
            ];
            for (name, number, at, written) in operands {
                if line.contains(name) {
                    word |= number << at;
                    line = line.replace(name, &written.to_string());
                }
            }
            all.push((word, line));
        }
    }
    let others: [(u32, &str); 25] = [
        (MOVZ | 0xABCD << 5 | 3, "movz x3, #0xabcd"),
        (MOVK | 1 << 21 | 0x1234 << 5 | 17, "movk x17, #0x1234, lsl #16"),
        (MOVK | 3 << 21 | 0xFFFF << 5 | 1, "movk x1, #0xffff, lsl #48"),
        (ADD_12 | 4095 << 10 | 5 << 5 | 4, "add x4, x5, #4095"),
        (ADD_12 | 16 << 10 | 31 << 5 | 2, "add x2, sp, #16"),
        (ADD_24 | 7 << 10 | 15 << 5 | 15, "add x15, x15, #7, lsl #12"),
        (LDR_Q_HERE | 8 << 5 | 29, "ldr q29, .+32"),
        (ADR | 5 << 5 | 15, "adr x15, .+20"),
        (JUMP | 3, "b .+12"),
        (JUMP | 0x3FF_FFFE, "b .-8"),
        (CBZ | 4 << 5 | 16, "cbz w16, .+16"),
        (CBNZ | (0x7_FFFF - 3) << 5 | 1, "cbnz w1, .-16"),
        (JUMP_EQ | 2 << 5, "b.eq .+8"),
        (JUMP_NE | 2 << 5, "b.ne .+8"),
        (JUMP_HS | 2 << 5, "b.hs .+8"),
        (JUMP_HI | 2 << 5, "b.hi .+8"),
        (JUMP_LS | 2 << 5, "b.ls .+8"),
        (JUMP_GT | 2 << 5, "b.gt .+8"),
        (JUMP_LE | 2 << 5, "b.le .+8"),
        (MADD | 17 << 16 | 16 << 10 | 14 << 5 | 16, "madd x16, x14, x17, x16"),
        (LDR_Q | 4095 << 10 | 4 << 5 | 9, "ldr q9, [x4, #65520]"),
        (STRH_W | 33 << 10 | 6 << 5 | 17, "strh w17, [x6, #66]"),
        (LDR_W | 5 << 10 | 3 << 5 | 31, "ldr wzr, [x3, #20]"),
        (LDP_Q | 1 << 10 | 2 << 15 | 15 << 5, "ldp q0, q1, [x15, #32]"),
        (STP_X | 31 << 10 | 10 << 15 | 15 << 5 | 10, "stp x10, xzr, [x15, #80]"),
    ];
    all.extend(others.map(|(word, text)| (word, text.to_string())));
    all
}

/// What the assembler makes of the texts, one word each.
fn assembled(texts: &[String]) -> Vec<u32> {
    let folder = temporary::folder("encodings-").expect("a folder");
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("a.s"), format!("{}\n", texts.join("\n"))).expect("writable");
    let run = |program: &str, words: &[&Path]| {
        let status = Command::new(program).args(words).status().expect(program);
        assert!(status.success(), "{program}: {status}");
    };
    run("aarch64-linux-gnu-as", &[&at("a.s"), Path::new("-o"), &at("a.o")]);
    let binary = [Path::new("-O"), Path::new("binary"), Path::new("-j"), Path::new(".text")];
    run("aarch64-linux-gnu-objcopy", &[&binary[..], &[&at("a.o"), &at("a.bin")]].concat());
    let bytes = std::fs::read(at("a.bin")).expect("its output");
    bytes.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect()
}

#[test]
fn instructions_are_what_gnus_assembler_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/encodings.txt");
    let ours = instructions();
    if std::env::var_os("TUFF_BLESS").is_some() {
        let texts: Vec<String> = ours.iter().map(|i| i.1.clone()).collect();
        let words = assembled(&texts);
        assert_eq!(words.len(), texts.len());
        let lines: String = words.iter().zip(&texts).map(|(w, t)| format!("{w:08x} {t}\n")).collect();
        std::fs::write(&path, lines).expect("writable");
    }
    let text = std::fs::read_to_string(&path).expect("readable");
    let theirs: Vec<(u32, &str)> = text
        .lines()
        .map(|line| {
            let (word, text) = line.split_once(' ').expect("a word and a text");
            (u32::from_str_radix(word, 16).expect("a word"), text)
        })
        .collect();
    assert_eq!(ours.len(), theirs.len());
    for ((word, text), (right, line)) in ours.iter().zip(&theirs) {
        assert_eq!((format!("{word:08x}"), text.as_str()), (format!("{right:08x}"), *line));
    }
}
