//! Machine code as text, by iced-x86.

use iced_x86::{Code, Decoder, DecoderOptions, Formatter, Instruction, Mnemonic, NasmFormatter};
use std::fmt::Write;

/// Code whose addresses are numbers of its instructions, and other addresses no numbers at all: these differ from run to run.
pub fn disassembled(code: &[u8]) -> String {
    let mut decoder = Decoder::new(64, code, DecoderOptions::NONE);
    let (mut all, mut pool): (Vec<Instruction>, _) = (vec![], code.len());
    while decoder.can_decode() && decoder.position() < pool {
        let i = decoder.decode();
        assert!(!i.is_invalid(), "byte {}", i.ip());
        if i.is_ip_rel_memory_operand() {
            assert_eq!((i.mnemonic(), pool), (Mnemonic::Lea, code.len()), "one pool");
            pool = i.ip_rel_memory_address() as usize;
        }
        all.push(i);
    }
    while all.last().is_some_and(|i| i.mnemonic() == Mnemonic::Int3) {
        all.pop();
    }
    let mut formatter = NasmFormatter::new();
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_rip_relative_addresses(true);
    let mut out = String::new();
    for (n, i) in all.iter().enumerate() {
        let mut text = String::new();
        let target = all.iter().position(|t| t.ip() == i.near_branch_target());
        match (i.op_count() > 0 && i.near_branch_target() != 0, target) {
            (true, Some(to)) => {
                formatter.format_mnemonic(i, &mut text);
                let _ = write!(text, " → {to}");
            }
            _ if i.is_ip_rel_memory_operand() => {
                let _ = write!(text, "lea {:?}, constants", i.op0_register());
            }
            // Of ops and kernels.
            _ if i.code() == Code::Mov_r64_imm64 => {
                let _ = write!(text, "mov {:?}, address", i.op0_register());
            }
            _ => formatter.format(i, &mut text),
        }
        let _ = writeln!(out, "    {n:4}  {text}");
    }
    let words: Vec<u32> =
        code[pool..].as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    if !words.is_empty() {
        // AVX2's are eight times the same.
        let runs = words.chunk_by(|a, b| a == b).map(|run| match run {
            [word] => format!("{word:#x}"),
            [word, ..] => format!("{word:#x}×{}", run.len()),
            [] => unreachable!(),
        });
        let _ = writeln!(out, "    constants: {}", runs.collect::<Vec<_>>().join(" "));
    }
    out
}
