//! `TUFF_JIT_DUMP`: what `perf inject --jit` reads, by the kernel's `jitdump-specification.txt`.

use client::drivers::Threads;
use std::process::Command;

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
}
fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[test]
fn compiled_code_is_told_record_by_record() {
    let Some(level) = crate::common::levels().into_iter().find(|l| *l != "portable") else {
        return not_run::say("TUFF_JIT_DUMP", "a level that compiles: AVX2 or AVX-512");
    };
    let folder = client::scratch("jit-dump").expect("a temporary folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_compute-child"));
    crate::common::driver().prepare(&mut child, Threads::Count(1));
    child.env("TUFF_SIMD", level).env("TUFF_JIT", "always").env("TUFF_JIT_DUMP", &folder);
    let running = child.arg("control").spawn().expect("it starts");
    let process = running.id();
    assert!(running.wait_with_output().expect("it ends").status.success());
    let dump = std::fs::read(folder.join(format!("jit-{process}.dump"))).expect("the dump");
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    // "JiTD", version 1, a header of 40 bytes, EM_X86_64, the process.
    let header: Vec<usize> = [0, 4, 8, 12, 20].map(|at| word(&dump, at)).into();
    assert_eq!(header, [0x4A69_5444, 1, 40, 62, process as usize]);
    let (mut at, mut names, mut then) = (40, vec![], long(&dump, 24));
    while at < dump.len() {
        let (kind, size, time) = (word(&dump, at), word(&dump, at + 4), long(&dump, at + 8));
        assert_eq!((kind, word(&dump, at + 16)), (0, process as usize), "JIT_CODE_LOAD");
        assert!(time >= then, "in order of time");
        let code = long(&dump, at + 40) as usize;
        let name = &dump[at + 56..at + size - code];
        assert_eq!(name.last(), Some(&0));
        names.push(String::from_utf8_lossy(&name[..name.len() - 1]).into_owned());
        assert_eq!(long(&dump, at + 48), names.len() as u64 - 1, "numbered");
        // push rbp
        assert_eq!(dump[at + size - code], 0x55, "{names:?}");
        (at, then) = (at + size, time);
    }
    assert!(names.iter().any(|n| n.starts_with("tuff Compute %") && n.contains(" segment at ")), "{names:?}");
}
