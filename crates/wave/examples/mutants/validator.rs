//! SPIRV-Tools' validator (`--target-env vulkan1.3`), in a process of its own that stays.

use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Validator {
    program: PathBuf,
    process: Option<(Child, ChildStdin, BufReader<ChildStdout>)>,
    /// How often a module ended it.
    pub ended: u64,
}

impl Validator {
    /// Compiles it into a folder.
    pub fn new(folder: &Path) -> Result<Validator, String> {
        let program = folder.join("validator");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/mutants/validator.c");
        let mut cc = Command::new("cc");
        cc.arg("-O1").arg("-o").arg(&program).arg(source).args(["-lSPIRV-Tools", "-lstdc++", "-lm"]);
        match cc.status() {
            Ok(s) if s.success() => Ok(Validator { program, process: None, ended: 0 }),
            other => Err(format!("cc: {other:?} (Debian: spirv-tools has the library)")),
        }
    }

    fn ask(&mut self, words: &[u32]) -> std::io::Result<Result<(), String>> {
        if self.process.is_none() {
            let mut child =
                Command::new(&self.program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(std::io::Error::other("no pipes"));
            };
            self.process = Some((child, to, BufReader::new(from)));
        }
        let Some((_, to, from)) = &mut self.process else { return Err(std::io::Error::other("none")) };
        let mut bytes = (words.len() as u32).to_le_bytes().to_vec();
        bytes.extend(words.iter().flat_map(|w| w.to_le_bytes()));
        to.write_all(&bytes)?;
        to.flush()?;
        let mut answer = [0; 8];
        from.read_exact(&mut answer)?;
        let [status, length] =
            [0, 4].map(|i| u32::from_le_bytes([answer[i], answer[i + 1], answer[i + 2], answer[i + 3]]));
        let mut text = vec![0; length as usize];
        from.read_exact(&mut text)?;
        Ok(if status == 0 { Ok(()) } else { Err(String::from_utf8_lossy(&text).into_owned()) })
    }

    /// Nothing, or what is wrong with a module.
    pub fn check(&mut self, words: &[u32]) -> Result<(), String> {
        self.ask(words).unwrap_or_else(|e| {
            // The validator has mistakes of its own.
            if let Some((mut child, ..)) = self.process.take() {
                let _ = (child.kill(), child.wait());
            }
            self.ended += 1;
            Err(format!("the validator ended: {e}"))
        })
    }
}

impl Drop for Validator {
    fn drop(&mut self) {
        if let Some((mut child, to, _)) = self.process.take() {
            drop(to);
            let _ = child.wait();
        }
    }
}
