//! Tables of pages that say what the code has, each between two marks.

use counters::blocks::METRIC;
use counters::bound::Take;
use counters::catalogue::reported;
use std::fmt::Write;

/// A table: the page, the name in its marks, and how it is written.
struct Table {
    page: &'static str,
    name: &'static str,
    write: fn() -> Result<String, String>,
}

const TABLES: [Table; 4] = [
    Table { page: "docs/opengl.md", name: "groups", write: groups },
    Table { page: "docs/instrumentation.md", name: "metrics", write: metrics },
    Table { page: "docs/performance-query.md", name: "interfaces", write: interfaces },
    Table { page: "docs/capture.md", name: "takes", write: takes },
];

/// Rows below a head, with as many columns.
fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut text = format!("| {} |\n{}|\n", head.join(" | "), "|---".repeat(N));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text.replace("|  |", "| |")
}

/// GL_AMD_performance_monitor's, in the order in which the catalogue's counters come.
fn groups() -> Result<String, String> {
    let source = include_str!("../../../perfmon-gl/src/groups.rs");
    let most =
        source.split("pub const MAX_ACTIVE: usize = ").nth(1).and_then(|t| t.split(';').next()?.parse().ok());
    let most: usize = most.ok_or("crates/perfmon-gl/src/groups.rs: no MAX_ACTIVE")?;
    let mut all: Vec<(&str, usize)> = vec![];
    for c in reported() {
        let title = c.block.title();
        match all.iter_mut().find(|g| g.0 == title) {
            Some(g) => g.1 += 1,
            None => all.push((title, 1)),
        }
    }
    let rows = all
        .iter()
        .enumerate()
        .map(|(i, (title, n))| [i.to_string(), title.to_string(), n.to_string(), (*n).min(most).to_string()]);
    Ok(table(["group", "name", "counters", "at most active"], rows))
}

fn metrics() -> Result<String, String> {
    let rows = METRIC
        .iter()
        .enumerate()
        .map(|(i, (name, what))| [i.to_string(), name.to_string(), what.to_string()]);
    Ok(table(["", "metric", "what it tells"], rows))
}

fn interfaces() -> Result<String, String> {
    Ok(table(["key", "value", "what it does"], settings::KEYS.iter().map(|row| row.map(String::from))))
}

fn takes() -> Result<String, String> {
    let rows = Take::ALL.iter().map(|t| [format!("`{}`", t.key()), t.doc().to_string()]);
    Ok(table(["key of `takes`", "what"], rows))
}

/// A page with what stands between the marks of this name replaced.
fn with_table(page: &str, name: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {name}: written by `cargo xtask codegen` -->\n");
    let from = page.find(&begin)? + begin.len();
    let to = from + page[from..].find(&format!("<!-- end of {name} -->\n"))?;
    Some(format!("{}{text}{}", &page[..from], &page[to..]))
}

/// All pages with their tables: name and text.
pub fn generate(
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<Vec<(&'static str, String)>, String> {
    let mut pages: Vec<(&'static str, String)> = vec![];
    for t in TABLES {
        let at = match pages.iter().position(|p| p.0 == t.page) {
            Some(at) => at,
            None => {
                pages.push((t.page, read(t.page)?));
                pages.len() - 1
            }
        };
        let text = with_table(&pages[at].1, t.name, &(t.write)()?);
        pages[at].1 = text.ok_or_else(|| format!("{}: no marks for {}", t.page, t.name))?;
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_marks_is_replaced() {
        let page = "a\n<!-- x: written by `cargo xtask codegen` -->\nold\n<!-- end of x -->\nb\n";
        let new = with_table(page, "x", "| n |\n").unwrap();
        assert_eq!(new, page.replace("old\n", "| n |\n"));
        assert_eq!((with_table(page, "y", ""), with_table("none", "x", "")), (None, None));
    }

    /// `cargo xtask codegen` writes them.
    #[test]
    fn pages_have_their_tables() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let read = |name: &str| std::fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"));
        for (name, text) in generate(read).unwrap() {
            assert!(read(name).unwrap() == text, "{name} is not up to date: run `cargo xtask codegen`");
        }
    }

    /// The catalogue's counters are in groups, each once.
    #[test]
    fn groups_have_all_counters() {
        let text = groups().unwrap();
        let counters: usize =
            text.lines().skip(2).map(|l| l.split('|').nth(3).unwrap().trim().parse::<usize>().unwrap()).sum();
        assert_eq!(counters, reported().len());
    }
}
