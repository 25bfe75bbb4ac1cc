//! Links of pages, which lead somewhere in each package: a page of the checkout also links to what is not installed.

use super::tree::{DOCUMENTS, Tree};

/// Changes the Markdown pages of a tree: a relative link keeps its target if the tree has it, gets the installed place of what lies
/// elsewhere, and otherwise becomes its own text.
pub fn mend(tree: &mut Tree) {
    let pages: Vec<String> = tree.keys().filter(|p| page(p).is_some()).cloned().collect();
    for path in pages {
        let text = String::from_utf8_lossy(&tree[&path].bytes).into_owned();
        let name = page(&path).unwrap_or_default().to_string();
        let mended = replaced(&text, &|target| place(tree, &name, target));
        if let Some(file) = tree.get_mut(&path) {
            file.bytes = mended.into_bytes();
        }
    }
}

/// A page's path among the documents.
fn page(path: &str) -> Option<&str> {
    path.strip_prefix(DOCUMENTS)?.strip_prefix('/').filter(|p| p.ends_with(".md"))
}

/// Whether a target is an address or a place of the same page.
pub fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with('#')
}

/// What `target` of a page (its path among the documents) is in the package.
fn place(tree: &Tree, page: &str, target: &str) -> Option<String> {
    if is_elsewhere(target) {
        return Some(target.into());
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(f, a)| (f, Some(a)));
    let wanted = joined(page, file)?;
    let has = |path: &str| {
        tree.contains_key(path)
            || tree.keys().any(|k| k.strip_prefix(path).is_some_and(|r| r.starts_with('/')))
    };
    if has(&format!("{DOCUMENTS}/{wanted}")) {
        return Some(target.into());
    }
    if has(&format!("{DOCUMENTS}/{wanted}.gz")) {
        return Some(format!("{file}.gz"));
    }
    // Of the checkout's folders one is installed elsewhere.
    let up = "../".repeat(DOCUMENTS.split('/').count() + page.matches('/').count());
    let elsewhere = wanted.starts_with("include/") && has(&wanted);
    elsewhere.then(|| anchor.map_or(format!("{up}{wanted}"), |a| format!("{up}{wanted}#{a}")))
}

/// The path that a target is, from the folder of a page; `None` above the root.
pub fn joined(page: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/').filter(|p| !p.is_empty() && *p != ".") {
        match part {
            ".." => drop(parts.pop()?),
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The text with each link's target as `place` has it; `None` leaves the link's text alone.
pub fn replaced(text: &str, place: &dyn Fn(&str) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '`']) {
        let (before, from) = rest.split_at(at);
        out += before;
        let taken = if from.starts_with('`') { code(from) } else { link(from, &mut out, place) };
        match taken {
            0 => {
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
            n => {
                if from.starts_with('`') {
                    out += &from[..n];
                }
                rest = &from[n..];
            }
        }
    }
    out + rest
}

/// The length of the code that begins here: up to as many backticks as it began with; 0: it is none.
fn code(text: &str) -> usize {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let mut at = ticks;
    while let Some(found) = text[at..].find('`') {
        let begin = at + found;
        let end = text[begin..].find(|c| c != '`').map_or(text.len(), |n| begin + n);
        if end - begin == ticks {
            return end;
        }
        at = end;
    }
    0
}

/// Writes the link that begins here, and returns its length; 0: it is none.
fn link(text: &str, out: &mut String, place: &dyn Fn(&str) -> Option<String>) -> usize {
    let mut depth = 0;
    let close = text.char_indices().find_map(|(i, c)| {
        depth += (c == '[') as i32 - (c == ']') as i32;
        (depth == 0).then_some(i)
    });
    let Some(close) = close else { return 0 };
    let Some(target) = text[close + 1..].strip_prefix('(') else { return 0 };
    let Some(end) = target.find(')').filter(|&e| !target[..e].contains(['\n', ' '])) else { return 0 };
    let shown = replaced(&text[1..close], place);
    match place(&target[..end]) {
        Some(target) => *out += &format!("[{shown}]({target})"),
        None => {
            // A picture that is not there is its description.
            if out.ends_with('!') {
                out.pop();
            }
            *out += &shown;
        }
    }
    close + 1 + 1 + end + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::root;
    use crate::dist::tree::{self, File};
    use crate::dist::wheel;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    #[test]
    fn links_without_a_target_become_text() {
        let place = |t: &str| match t {
            "a" => Some("b".into()),
            "keep" => Some("keep".into()),
            _ => None,
        };
        for (text, expected) in [
            ("[x](a), [y](gone).", "[x](b), y."),
            ("[![p](gone)](keep)", "[p](keep)"),
            ("![p](gone) [![p](a)](gone)", "p ![p](b)"),
            ("[two\nlines](a)", "[two\nlines](b)"),
            ("`[x](gone)` [`y`](gone) ``a`[x](gone)``", "`[x](gone)` `y` ``a`[x](gone)``"),
            ("```c\na[i](gone)\n```\n[x](gone)", "```c\na[i](gone)\n```\nx"),
            ("- [ ] a [1] ([x](gone)) [open", "- [ ] a [1] (x) [open"),
        ] {
            assert_eq!(replaced(text, &place), expected, "{text}");
        }
    }

    #[test]
    fn targets_are_found_where_they_are_installed() {
        let file = || File { bytes: vec![], mode: 0o644 };
        let names = ["docs/ci.md", "docs/ci/github.yml", "README.md", "CHANGELOG.md.gz"];
        let mut all: Tree = names.iter().map(|n| (format!("{DOCUMENTS}/{n}"), file())).collect();
        all.insert("include/tuff_channel.h".into(), file());
        for (page, target, expected) in [
            ("README.md", "docs/ci.md#github", Some("docs/ci.md#github")),
            ("docs/ci.md", "ci/github.yml", Some("ci/github.yml")),
            ("docs/ci.md", "ci", Some("ci")),
            ("docs/ci.md", "../README.md", Some("../README.md")),
            ("README.md", "CHANGELOG.md", Some("CHANGELOG.md.gz")),
            ("docs/ci.md", "../include/tuff_channel.h", Some("../../../../include/tuff_channel.h")),
            ("docs/ci.md", "../crates/x", None),
            ("docs/ci.md", "../../../x", None),
            ("docs/ci.md", "https://a/b", Some("https://a/b")),
            ("docs/ci.md", "#github", Some("#github")),
        ] {
            assert_eq!(place(&all, page, target).as_deref(), expected, "{page}: {target}");
        }
    }

    /// The anchors that GitHub gives the headings of a page.
    fn anchors(text: &str) -> BTreeSet<String> {
        let mut fenced = false;
        let headings = text.lines().filter(|l| {
            fenced ^= l.starts_with("```");
            !fenced && l.starts_with('#')
        });
        let slug = |l: &str| {
            let words = l.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.collect::<String>().replace(' ', "-")
        };
        headings.map(slug).collect()
    }

    /// The targets of a page's links; of HTML those of `href` and `src`.
    fn targets(name: &str, text: &str) -> Vec<String> {
        if name.ends_with(".html") {
            let parts = ["href=\"", "src=\"", "srcset=\""].map(|a| text.split(a).skip(1));
            return parts.into_iter().flatten().filter_map(|r| Some(r.split_once('"')?.0.into())).collect();
        }
        let found = RefCell::new(vec![]);
        replaced(text, &|t| {
            found.borrow_mut().push(t.to_string());
            None
        });
        found.into_inner()
    }

    /// Every link of the tree's documents leads to a file or folder of the tree, and to a heading there.
    fn check(tree: &Tree) -> usize {
        let mut seen = 0;
        for (path, file) in tree.iter().filter(|(p, _)| p.ends_with(".md") || p.ends_with(".html")) {
            let text = String::from_utf8_lossy(&file.bytes);
            for target in targets(path, &text) {
                if target.contains("://") || target.starts_with("data:") {
                    continue;
                }
                let (name, anchor) = target.split_once('#').map_or((&*target, None), |(n, a)| (n, Some(a)));
                let at = if name.is_empty() { Some(path.clone()) } else { joined(path, name) };
                let at = at.unwrap_or_else(|| panic!("{path}: {target}"));
                let folder = tree.keys().any(|k| k.starts_with(&format!("{at}/")));
                assert!(tree.contains_key(&at) || folder, "{path}: {target}");
                if let Some(anchor) = anchor.filter(|_| at.ends_with(".md")) {
                    let text = String::from_utf8_lossy(&tree[&at].bytes);
                    assert!(anchors(&text).contains(anchor), "{path}: {target}");
                }
                seen += 1;
            }
        }
        seen
    }

    /// Of the packages' own documents: in the tree that the .deb and the .tar.gz have, and in the part for Python and Node.js.
    #[test]
    fn no_link_of_a_package_is_dead() {
        let root = root();
        let mut all = Tree::new();
        tree::documents(&root, &mut |path, bytes, mode| drop(all.insert(path, File { bytes, mode })))
            .unwrap();
        all.insert("include/tuff_channel.h".into(), File { bytes: vec![], mode: 0o644 });
        let part = wheel::needed(&all);
        mend(&mut all);
        assert!(check(&all) > 100);
        check(&part);
        // Pages of registries, which have nothing else to link to.
        for page in ["python/README.md", "npm/README.md"] {
            let text = std::fs::read_to_string(root.join(page)).unwrap();
            assert!(targets(page, &text).iter().all(|t| is_elsewhere(t)), "{page}");
        }
    }

    /// And in the checkout, where pages link to everything.
    #[test]
    fn no_link_of_the_checkout_is_dead() {
        let root = root();
        let mut pages: Vec<std::path::PathBuf> = tree::files(&root.join("docs")).unwrap();
        pages.extend(["README.md", "ARCHITECTURE.md"].map(|p| root.join(p)));
        let mut seen = 0;
        for path in pages.iter().filter(|p| p.extension().is_some_and(|e| e == "md" || e == "html")) {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            for target in targets(&name, &std::fs::read_to_string(path).unwrap()) {
                if is_elsewhere(&target) || target.starts_with("data:") {
                    continue;
                }
                let file = target.split('#').next().unwrap_or_default();
                let at = joined(&name, file).unwrap_or_else(|| panic!("{name}: {target}"));
                assert!(root.join(&at).exists(), "{name}: {target}");
                seen += 1;
            }
        }
        assert!(seen > 100);
    }
}
