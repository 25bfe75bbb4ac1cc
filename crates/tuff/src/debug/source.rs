//! Texts of sources: from the module, or from disk.

use super::module::{Line, Module};

/// Bytes of a source file that is read.
const MAX: u64 = 16 << 20;

/// The text that a module has, or the file of this name.
pub fn text(module: &Module, file: &str) -> Option<String> {
    let own =
        module.sources.iter().find(|s| s.file == file).map(|s| s.text.clone()).filter(|t| !t.is_empty());
    own.or_else(|| {
        let small = std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.len() <= MAX);
        small.then(|| std::fs::read_to_string(file).ok()).flatten()
    })
}

/// The row of a file's text (from 1) that the compiler calls this line: `#line` may say otherwise.
pub fn row(module: &Module, line: Line) -> u32 {
    let file = module.files.get(line.file as usize).map_or("", String::as_str);
    let own = module.sources.iter().find(|s| s.file == file);
    own.and_then(|s| s.places().get(&(file.to_string(), line.line)).copied()).unwrap_or(line.line)
}

pub fn line(module: &Module, line: Line) -> Option<String> {
    let file = module.files.get(line.file as usize)?;
    let text = text(module, file)?;
    let row = row(module, line);
    Some(text.lines().nth((row as usize).checked_sub(1)?)?.trim_end().to_string())
}
