//! Findings that a program's owner knows of.

use super::text;
use ::sanitize::Finding;
use client::{Error, Result};
use std::path::PathBuf;

/// Lines of suppression files: a kind or `*`, and text that the finding's line contains.
#[derive(Default)]
pub struct Suppressions(Vec<(String, String)>);

impl Suppressions {
    pub fn read(files: &[PathBuf]) -> Result<Suppressions> {
        let mut all = Suppressions::default();
        for path in files {
            let text = std::fs::read_to_string(path).map_err(|e| Error::file(path, e))?;
            all.add(&text).map_err(|line| Error::file(path, line))?;
        }
        Ok(all)
    }

    /// Adds the lines of a file; the error names the line that is wrong.
    fn add(&mut self, text: &str) -> std::result::Result<(), String> {
        for (n, line) in text.lines().map(str::trim).enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (kind, part) = line.split_once(' ').unwrap_or((line, ""));
            if kind != "*" {
                super::kind(kind).map_err(|e| format!("line {}: {kind}: {e}", n + 1))?;
            }
            self.0.push((kind.into(), part.trim().into()));
        }
        Ok(())
    }

    pub fn has(&self, f: &Finding) -> bool {
        let line = text::line(f);
        self.0.iter().any(|(kind, part)| (kind == "*" || kind == f.kind.name()) && line.contains(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sanitize::tests::finding;

    #[test]
    fn a_line_names_a_kind_and_a_part_of_the_finding() {
        let has = |text: &str| {
            let mut all = Suppressions::default();
            all.add(text).map(|()| all.has(&finding()))
        };
        assert_eq!(has("# nothing\n\n"), Ok(false));
        assert_eq!(has("data-race"), Ok(true));
        assert_eq!(has("data-race sum.comp:12"), Ok(true));
        assert_eq!(has("* sum.comp"), Ok(true));
        assert_eq!(has("data-race other.comp"), Ok(false));
        assert_eq!(has("out-of-bounds sum.comp"), Ok(false));
        assert!(has("races sum.comp").unwrap_err().starts_with("line 1: races: the kinds are data-race"));
    }
}
