//! `TUFF_SHADER_DUMP=folder`: each shader's IR as files, as it was built and after each pass, and its bytecode.
//! `0003-02-gvn.ir` is the third shader that the process compiled after its second step.

use crate::bytecode::Program;
use crate::ir::Shader;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// Where one shader's files go; nowhere, as a rule.
pub struct Dump {
    folder: Option<&'static Path>,
    shader: u32,
    step: u32,
}

impl Dump {
    pub fn none() -> Dump {
        Dump { folder: None, shader: 0, step: 0 }
    }

    /// For the next shader, if the settings ask for it.
    pub fn next() -> Dump {
        static SHADERS: AtomicU32 = AtomicU32::new(0);
        let Some(folder) = &settings::get().shader_dump else { return Dump::none() };
        Dump { folder: Some(folder), shader: 1 + SHADERS.fetch_add(1, Ordering::Relaxed), step: 0 }
    }

    pub fn ir(&mut self, step: &str, shader: &Shader) {
        self.write(step, "ir", || crate::ir_print::print(shader));
    }

    pub fn bytecode(&mut self, program: &Program) {
        self.write("lower", "bytecode", || crate::bytecode_print::print(program));
    }

    fn write(&mut self, step: &str, kind: &str, text: impl FnOnce() -> String) {
        let Some(folder) = self.folder else { return };
        let path = folder.join(format!("{:04}-{:02}-{step}.{kind}", self.shader, self.step));
        self.step += 1;
        let text = text();
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| files::within_limits(|| std::fs::write(&path, text)));
        if let Err(e) = written {
            let _ = writeln!(std::io::stderr(), "TUFF_SHADER_DUMP: {}: {e}", path.display());
        }
    }
}
