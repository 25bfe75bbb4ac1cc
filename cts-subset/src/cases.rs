//! Categories: files with a case name or a pattern on each line. `#` starts a comment, a leading `-` takes matching
//! cases out again, `*` stands for any characters.

use crate::deqp::Deqp;
use std::path::Path;

/// A named list of cases.
#[derive(Debug, Clone, PartialEq)]
pub struct Category {
    pub name: String,
    pub cases: Vec<String>,
    without: Vec<String>,
}

/// Does `text` match `pattern`, in which `*` stands for any characters?
pub fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

pub fn from_file(path: &Path) -> Result<Category, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let name = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(parse(name, &text))
}

pub fn parse(name: String, text: &str) -> Category {
    let mut category = Category { name, cases: Vec::new(), without: Vec::new() };
    for line in text.lines().map(|l| l.split('#').next().unwrap_or_default().trim()) {
        match line.strip_prefix('-') {
            Some(pattern) => category.without.push(pattern.trim().to_string()),
            None if !line.is_empty() => category.cases.push(line.to_string()),
            None => {}
        }
    }
    category
}

/// The categories of a folder that match one of `wanted` (all of them, when it is empty), by name.
pub fn from_folder(folder: &Path, wanted: &[String]) -> Result<Vec<Category>, String> {
    let entries = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut list = Vec::new();
    for path in entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "txt")) {
        let category = from_file(&path)?;
        if wanted.is_empty() || wanted.iter().any(|w| matches(w, &category.name)) {
            list.push(category);
        }
    }
    if let Some(w) = wanted.iter().find(|w| !list.iter().any(|c| matches(w, &c.name))) {
        return Err(format!("no category matches {w}"));
    }
    list.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(list)
}

impl Category {
    /// Replaces patterns by the cases that deqp-vk knows, and takes out what the list excludes.
    pub fn expand(&mut self, deqp: &Deqp) -> Result<(), String> {
        let mut all = Vec::new();
        for case in std::mem::take(&mut self.cases) {
            if case.contains('*') {
                all.extend(deqp.names(&case)?);
            } else {
                all.push(case);
            }
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|c| !self.without.iter().any(|p| matches(p, c)) && seen.insert(c.clone()));
        self.cases = all;
        Ok(())
    }

    pub fn keep_matching(&mut self, patterns: &[String]) {
        if !patterns.is_empty() {
            self.cases.retain(|c| patterns.iter().any(|p| matches(p, c)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches("a.b", "a.b"));
        assert!(!matches("a.b", "a.bc"));
        assert!(matches("a.*", "a.b.c"));
        assert!(matches("*", ""));
        assert!(matches("*.c", "a.b.c"));
        assert!(matches("a.*.c*d", "a.x.y.c1d"));
        assert!(!matches("a.*.c*d", "a.x.y.c1de"));
        assert!(!matches("a*a", "a"));
    }

    #[test]
    fn lists_have_comments_and_exclusions() {
        let mut c = parse("x".into(), "# all\na.b\n a.c # why\n- a.c\n\na.d\n");
        assert_eq!(c.cases, ["a.b", "a.c", "a.d"]);
        assert_eq!(c.without, ["a.c"]);
        c.keep_matching(&["*.d".into()]);
        assert_eq!(c.cases, ["a.d"]);
    }

    #[test]
    fn our_own_lists_are_readable() {
        let all = from_folder(&crate::here("lists"), &[]).unwrap();
        assert!(all.len() >= 20 && all.iter().all(|c| !c.cases.is_empty()));
        assert!(from_folder(&crate::here("lists"), &["no such".into()]).is_err());
    }
}
