//! Expected results: which cases (a pattern or a list), which of their results are excused, and why.

use crate::cases::matches;
use crate::outcome::{CaseResult, Outcome};
use serde::Deserialize;
use std::collections::HashSet;
use std::path::Path;

/// An entry of expected.toml.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Case names, with `*` for any characters; default: all.
    #[serde(default = "everything")]
    pub pattern: String,
    /// A file with case names, beside expected.toml: the only ones that it is about.
    pub list: Option<String>,
    #[serde(skip)]
    pub listed: HashSet<String>,
    /// The only result that is excused; without it, every bad one.
    pub result: Option<Outcome>,
    /// deqp-vk's message or a line of its log, with `*` for any characters: only a case with that is excused.
    pub message: Option<String>,
    pub reason: String,
    /// The only driver that it is about.
    pub driver: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    expected: Vec<Expectation>,
}

fn everything() -> String {
    "*".into()
}

impl Expectation {
    pub fn covers(&self, case: &CaseResult) -> bool {
        let result = match self.result {
            Some(r) => case.outcome == r,
            None => case.outcome.is_bad(),
        };
        let message = self
            .message
            .as_deref()
            .is_none_or(|m| std::iter::once(&case.message).chain(&case.details).any(|text| matches(m, text)));
        let listed = self.list.is_none() || self.listed.contains(&case.name);
        result && message && listed && matches(&self.pattern, &case.name)
    }
}

/// The entries that are about `driver`.
pub fn load(path: &Path, driver: &str) -> Result<Vec<Expectation>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut entries = parse(&text, driver).map_err(|e| format!("{}: {e}", path.display()))?;
    for e in &mut entries {
        if let Some(list) = &e.list {
            e.listed = crate::cases::from_file(&path.with_file_name(list))?.cases.into_iter().collect();
        }
    }
    Ok(entries)
}

fn parse(text: &str, driver: &str) -> Result<Vec<Expectation>, String> {
    let file: File = toml::from_str(text).map_err(|e| e.to_string())?;
    for e in &file.expected {
        if e.reason.trim().is_empty() {
            return Err(format!("{} has no reason", e.pattern));
        }
        if e.pattern == "*" && e.list.is_none() && e.message.is_none() {
            return Err(format!("an entry that excuses everything ({})", e.reason));
        }
    }
    let about = |e: &Expectation| e.driver.as_deref().is_none_or(|d| d == driver);
    Ok(file.expected.into_iter().filter(about).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, outcome: Outcome) -> CaseResult {
        CaseResult { name: name.into(), outcome, message: "all wrong".into(), details: vec![], seconds: 0.0 }
    }

    #[test]
    fn entries_choose_by_driver_and_result() {
        let text = r#"
            [[expected]]
            pattern = "a.*"
            message = "*wrong*"
            reason = "no a here"
            [[expected]]
            pattern = "b.*"
            result = "NotSupported"
            driver = "tuff"
            reason = "no b yet"
        "#;
        let tuff = parse(text, "tuff").unwrap();
        assert_eq!(tuff.len(), 2);
        assert_eq!(parse(text, "other").unwrap().len(), 1);
        assert!(tuff[0].covers(&case("a.x", Outcome::Crash)));
        assert!(!tuff[0].covers(&case("a.x", Outcome::NotSupported)));
        let said = CaseResult { details: vec!["more wrong".into()], ..case("a.x", Outcome::Fail) };
        assert!(tuff[0].covers(&CaseResult { message: "other".into(), ..said }));
        assert!(!tuff[0].covers(&CaseResult { message: "other".into(), ..case("a.x", Outcome::Crash) }));
        assert!(!tuff[0].covers(&case("b.x", Outcome::Fail)));
        assert!(tuff[1].covers(&case("b.x", Outcome::NotSupported)));
        assert!(!tuff[1].covers(&case("b.x", Outcome::Fail)));
    }

    #[test]
    fn an_entry_needs_a_reason() {
        assert!(parse("[[expected]]\npattern = \"a\"\nreason = \" \"", "tuff").is_err());
        assert!(parse("[[expected]]\npattern = \"a\"", "tuff").is_err());
        assert!(parse("[[expected]]\nreason = \"b\"", "tuff").is_err());
        assert!(parse("[[expcted]]\npattern = \"a\"\nreason = \"b\"", "tuff").is_err());
    }

    #[test]
    fn lists_are_read_beside_the_file() {
        let folder = client::scratch("expected").unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("cases.txt"), "# some\na.b\n").unwrap();
        let file = folder.join("expected.toml");
        std::fs::write(&file, "[[expected]]\nlist = \"cases.txt\"\nreason = \"b\"").unwrap();
        let entries = load(&file, "tuff").unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(entries[0].covers(&case("a.b", Outcome::Fail)));
        assert!(!entries[0].covers(&case("a.c", Outcome::Fail)));
    }

    #[test]
    fn our_own_file_is_readable() {
        load(&crate::here("expected.toml"), "tuff").unwrap();
    }
}
