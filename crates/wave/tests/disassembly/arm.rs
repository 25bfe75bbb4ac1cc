//! Machine code as text, by the assembler's own table of instructions, which `encodings.rs` compares with GNU's assembler.

use crate::encode::*;
use std::fmt::Write;

/// A word's field.
fn field(word: u32, at: u32, bits: u32) -> u32 {
    word >> at & ((1 << bits) - 1)
}
/// The same, signed.
fn offset(word: u32, at: u32, bits: u32) -> i64 {
    i64::from((word << (32 - at - bits)) as i32 >> (32 - bits))
}

/// What differs between words of an instruction whose text is this.
fn operands(word: u32, text: &str) -> u32 {
    let memory = word & 0x3B00_0000 == 0x3900_0000;
    let pair = text.contains("{t}");
    let mut all = 0;
    for (name, bits) in [("{d}", 31), ("{n}", 31 << 5), ("{m}", 31 << 16), ("{32-m}", 31 << 16)] {
        all |= if text.contains(name) { bits } else { 0 };
    }
    all |= if text.contains("-m}") || text.contains("#{m}") { 63 << 16 } else { 0 };
    if text.contains("4s, #") {
        all &= !(1 << 21)
    }
    all |= if memory { 0xFFF << 10 } else { 0 };
    all | if pair { 0xFFF << 10 } else { 0 }
}

/// An instruction of the table.
fn of_table(word: u32) -> Option<String> {
    let (base, text) = ALL.iter().find(|(w, text)| word & !operands(*w, text) == w & !operands(*w, text))?;
    let varies = operands(*base, text);
    let (d, n, m) = (field(word, 0, 5), field(word, 5, 5), field(word, 16, 5));
    let shift = field(word, 16, if varies >> 21 & 1 != 0 { 6 } else { 5 });
    let mut line = text.to_string();
    for (name, to) in [
        ("#{m}", format!("#{shift}")),
        ("{32-m}", 32u32.wrapping_sub(shift).to_string()),
        ("{64-m}", 64u32.wrapping_sub(shift).to_string()),
        ("{d}", d.to_string()),
        ("{n}", n.to_string()),
        ("{n+3}", (n + 3).to_string()),
        ("{m}", m.to_string()),
        ("{t}", field(word, 10, 5).to_string()),
    ] {
        line = line.replace(name, &to);
    }
    let base_register = if n == 31 { "sp".to_string() } else { format!("x{n}") };
    if word & 0x3B00_0000 == 0x3900_0000 {
        let bytes = if line.contains(" q") { 4 } else { word >> 30 };
        line = line
            .replace(&format!("[x{n}]"), &format!("[{base_register}, #{}]", field(word, 10, 12) << bytes));
    } else if varies >> 10 & 0xFFF == 0xFFF {
        let bytes = if line.contains(" q") { 4 } else { 3 };
        line =
            line.replace(&format!("[x{n}]"), &format!("[{base_register}, #{}]", field(word, 15, 7) << bytes));
    }
    Some(line)
}

/// An instruction that counts from where it lies, in words: what it is, and how far.
fn relative(word: u32) -> Option<(String, i64)> {
    let d = field(word, 0, 5);
    let condition = ["eq", "ne", "hs", "lo", "", "", "", "", "hi", "ls", "", "", "gt", "le"];
    Some(match word {
        w if w >> 26 == JUMP >> 26 => ("b".into(), offset(w, 0, 26)),
        w if w >> 24 == CBZ >> 24 => (format!("cbz w{d},"), offset(w, 5, 19)),
        w if w >> 24 == CBNZ >> 24 => (format!("cbnz w{d},"), offset(w, 5, 19)),
        w if w >> 24 == JUMP_EQ >> 24 => (format!("b.{}", condition[d as usize & 15]), offset(w, 5, 19)),
        w if w >> 24 == LDR_Q_HERE >> 24 => (format!("ldr q{d},"), offset(w, 5, 19)),
        w if w >> 24 == ADR >> 24 => (format!("adr x{d},"), offset(w, 5, 19)),
        _ => return None,
    })
}

/// Code whose addresses are numbers of its instructions, and other addresses no numbers at all: these differ from run to run.
pub fn disassembled(code: &[u8]) -> String {
    let words: Vec<u32> = code.as_chunks::<4>().0.iter().map(|w| u32::from_le_bytes(*w)).collect();
    let is_constant = |word: u32| word >> 24 == LDR_Q_HERE >> 24 || word >> 24 == ADR >> 24;
    let mut pool = words.len();
    let mut at = 0;
    while at < pool {
        if let Some((_, n)) = relative(words[at]).filter(|_| is_constant(words[at])) {
            pool = pool.min((at as i64 + n) as usize);
        }
        at += 1;
    }
    let mut end = pool;
    while end > 0 && words[end - 1] == 0 {
        end -= 1;
    }
    let mut out = String::new();
    let mut i = 0;
    while i < end {
        let (at, word) = (i, words[i]);
        i += 1;
        let d = field(word, 0, 5);
        let text = if word & 0xFFE0_0000 == MOVZ {
            let mut number = u64::from(field(word, 5, 16));
            while i < end && words[i] & 0xFF80_001F == MOVK | d {
                number |= u64::from(field(words[i], 5, 16)) << (16 * field(words[i], 21, 2));
                i += 1;
            }
            if number >> 32 == 0 { format!("mov x{d}, #{number:#x}") } else { format!("mov x{d}, address") }
        } else if word & 0xFF80_0000 == ADD_12 && of_table(word).is_none_or(|t| !t.contains("sp")) {
            let by = field(word, 10, 12) << (12 * field(word, 22, 1));
            let n = field(word, 5, 5);
            let n = if n == 31 { "sp".to_string() } else { format!("x{n}") };
            format!("add x{d}, {n}, #{by}")
        } else if word & 0xFFE0_8000 == MADD {
            let [n, m, a] = [5, 16, 10].map(|at| field(word, at, 5));
            format!("madd x{d}, x{n}, x{m}, x{a}")
        } else if let Some((text, n)) = relative(word) {
            let to = (at as i64 + n) as usize;
            if is_constant(word) {
                let four: Vec<String> = words[to..to + 4].iter().map(|w| format!("{w:#x}")).collect();
                let same = four.iter().all(|w| *w == four[0]);
                format!("{text} {}", if same { four[0].clone() } else { four.join(" ") })
            } else {
                format!("{text} → {to}")
            }
        } else {
            of_table(word).unwrap_or_else(|| panic!("{word:#x} is none of the instructions"))
        };
        let _ = writeln!(out, "    {at:4}  {text}");
    }
    out
}
