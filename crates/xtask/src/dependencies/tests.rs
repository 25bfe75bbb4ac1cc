//! What the workspace depends on: `docs/dependencies.md` names each crate that a `Cargo.toml` here names, and
//! `deny.toml` the licences that they and theirs may have.

mod unused;

use crate::cargo::{cargo, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const PAGE: &str = "docs/dependencies.md";

/// Where a crate ends up: the page's second column.
const DRIVER: &str = "driver";
const TOOLS: &str = "tools";
const TESTS: &str = "tests";

fn metadata(arguments: &[&str]) -> Result<Value, String> {
    let mut command = cargo(&["metadata", "--format-version", "1", "--locked"]);
    let out = command.args(arguments).output().map_err(|e| format!("cargo metadata: {e}"))?;
    if !out.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&out.stderr)));
    }
    serde_json::from_slice(&out.stdout).map_err(|e| format!("cargo metadata: {e}"))
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], |a| a)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// The crates of ours that are linked into `name`.
fn linked<'a>(packages: &'a [Value], name: &'a str, into: &mut BTreeSet<&'a str>) {
    if !into.insert(name) {
        return;
    }
    let Some(package) = packages.iter().find(|p| text(p, "name") == name) else { return };
    let ours = list(package, "dependencies").iter().filter(|d| d["path"].is_string() && d["kind"].is_null());
    ours.for_each(|d| linked(packages, text(d, "name"), into));
}

/// Crates that are not ours, and where they end up.
fn named() -> Result<BTreeMap<String, &'static str>, String> {
    let workspace = metadata(&["--no-deps"])?;
    let packages = list(&workspace, "packages");
    let mut driver = BTreeSet::new();
    linked(packages, "icd", &mut driver);
    let mut all = BTreeMap::new();
    for package in packages {
        for d in list(package, "dependencies").iter().filter(|d| d["path"].is_null()) {
            let place = match (d["kind"].is_null(), driver.contains(text(package, "name"))) {
                (true, true) => DRIVER,
                (true, false) => TOOLS,
                (false, _) if text(d, "kind") == "build" => TOOLS,
                _ => TESTS,
            };
            let known = all.entry(text(d, "name").to_string()).or_insert(place);
            let rank = |p: &str| [DRIVER, TOOLS, TESTS].iter().position(|x| *x == p);
            if rank(place) < rank(known) {
                *known = place;
            }
        }
    }
    // A workspace of its own.
    let path = root().join("fuzz/Cargo.toml");
    let fuzz = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let fuzz: toml::Table = fuzz.parse().map_err(|e| format!("{}: {e}", path.display()))?;
    let theirs = fuzz.get("dependencies").and_then(|d| d.as_table()).into_iter().flatten();
    for (name, _) in theirs.filter(|d| d.1.get("path").is_none()) {
        all.entry(name.clone()).or_insert(TESTS);
    }
    Ok(all)
}

/// The page's rows: the crate and where it ends up.
fn rows(page: &str) -> BTreeMap<String, String> {
    let cells = page.lines().filter(|l| l.starts_with("| `")).map(|l| l.split('|').map(str::trim));
    cells
        .filter_map(|mut c| {
            let name = c.nth(1)?.trim_matches('`').to_string();
            Some((name, c.next()?.to_string()))
        })
        .collect()
}

/// What the page says otherwise than the `Cargo.toml` files, a line each.
fn differences(page: &str, named: &BTreeMap<String, &str>) -> Vec<String> {
    let rows = rows(page);
    let absent = named.iter().filter(|n| !rows.contains_key(n.0));
    let mut all: Vec<String> = absent.map(|(n, place)| format!("{n} ({place}): no row")).collect();
    for (name, place) in rows {
        match named.get(&name) {
            None => all.push(format!("{name}: no Cargo.toml names it")),
            Some(p) if *p != place => all.push(format!("{name}: {p}, not {place}")),
            Some(_) => (),
        }
    }
    all
}

/// Licences that `deny.toml` allows.
fn allowed(root: &Path) -> Result<BTreeSet<String>, String> {
    let path = root.join("deny.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let deny: toml::Table = text.parse().map_err(|e| format!("{}: {e}", path.display()))?;
    let allow = deny.get("licenses").and_then(|l| l.get("allow")).and_then(|a| a.as_array());
    let allow = allow.ok_or("deny.toml: no licenses.allow")?;
    Ok(allow.iter().filter_map(|l| l.as_str()).map(String::from).collect())
}

/// What a licence expression asks for is among those allowed.
fn permitted(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let Ok(e) = spdx::Expression::parse_mode(expression, spdx::ParseMode::LAX) else { return false };
    e.evaluate(|r| allowed.contains(&r.to_string()))
}

#[test]
fn the_page_names_what_cargo_tomls_name() {
    let page = std::fs::read_to_string(root().join(PAGE)).expect("the page");
    let differences = differences(&page, &named().expect("the workspace"));
    assert!(differences.is_empty(), "{PAGE}:\n{}", differences.join("\n"));
}

#[test]
fn rows_that_differ_are_told() {
    let named = [("a".to_string(), DRIVER), ("b".to_string(), TESTS)].into();
    let page = "| crate | in | why |\n|---|---|---|\n| `b` | tools | x |\n| `c` | tests | y |\n";
    assert_eq!(
        differences(page, &named),
        ["a (driver): no row", "b: tests, not tools", "c: no Cargo.toml names it"]
    );
}

#[test]
fn licences_are_those_that_deny_toml_allows() {
    let allowed = allowed(&root()).expect("deny.toml");
    let host = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let all = match metadata(&host) {
        Ok(all) => all,
        Err(_) => return not_run::say("licences of all crates", "every crate of Cargo.lock (cargo fetch)"),
    };
    let used: BTreeSet<&str> =
        list(&all["resolve"], "nodes").iter().map(|n| text(n, "id")).filter(|id| !id.is_empty()).collect();
    assert!(used.len() > 50, "{}", used.len());
    let refused: Vec<String> = list(&all, "packages")
        .iter()
        .filter(|p| used.contains(text(p, "id")) && !permitted(text(p, "license"), &allowed))
        .map(|p| format!("{}: {}", text(p, "name"), text(p, "license")))
        .collect();
    assert!(refused.is_empty(), "deny.toml does not allow:\n{}", refused.join("\n"));
}

#[test]
fn expressions_are_understood() {
    let allowed = ["MIT".to_string(), "Unicode-3.0".to_string()].into();
    for (expression, good) in [
        ("MIT", true),
        ("Apache-2.0/MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
        ("MIT AND Apache-2.0", false),
        ("", false),
    ] {
        assert_eq!(permitted(expression, &allowed), good, "{expression}");
    }
}
