//! Compiled code as text.
//!
//! A file of `tests/listings` has cases: `; case NAME`, a program as `shader::bytecode_print` writes it, and what comes of it with
//! AVX-512 and with AVX2: nodes, machine code, and the constants that it reads. TUFF_BLESS=1 writes the present results.

use iced_x86::{Code, Decoder, DecoderOptions, Formatter, Instruction, Mnemonic, NasmFormatter};
use std::fmt::Write;
use std::path::Path;

/// Code whose addresses are numbers of its instructions, and other addresses no numbers at all: these differ from run to run.
fn disassembled(code: &[u8]) -> String {
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

fn listing(text: &str) -> Result<String, String> {
    let program = shader::bytecode_read::read(text)?;
    let mut out = String::new();
    for (name, wide) in [("AVX-512", true), ("AVX2", false)] {
        let _ = writeln!(out, "; becomes, with {name}");
        let functions = wave::jit::listing::functions(&program, wide);
        if functions.is_empty() {
            out.push_str("nothing\n");
        }
        for f in functions {
            let _ = write!(out, "{}  code:\n{}", f.nodes, disassembled(&f.code));
        }
    }
    Ok(out)
}

#[test]
fn programs_become_what_is_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listings");
    let bless = std::env::var_os("TUFF_BLESS").is_some();
    let mut cases = 0;
    for e in std::fs::read_dir(folder).expect("tests/listings") {
        let path = e.expect("an entry").path();
        let text = std::fs::read_to_string(&path).expect("readable");
        let mut parts = text.split("; case ");
        let mut now = parts.next().unwrap_or("").to_string();
        for case in parts {
            let (name, rest) = case.split_once('\n').expect("a case");
            let (input, _) = rest.split_once("\n; becomes").unwrap_or((rest, ""));
            let got = listing(input).unwrap_or_else(|e| panic!("{}: {name}: {e}", path.display()));
            let _ = write!(now, "; case {name}\n{}\n\n{got}\n", input.trim_end());
            cases += 1;
        }
        let now = format!("{}\n", now.trim_end());
        if bless {
            std::fs::write(&path, &now).expect("writable");
        } else if now != text {
            let line = now.lines().zip(text.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let part: Vec<&str> = now.lines().skip(line.saturating_sub(5)).take(30).collect();
            panic!("{}, from line {} on, is now:\n{}", path.display(), line + 1, part.join("\n"));
        }
    }
    assert!(cases >= 40, "{cases} cases");
}
