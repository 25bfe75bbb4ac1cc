//! The table of clients: `benches/clients/clients.toml`.

use super::compare::Check;
use not_run::has_program;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

const TABLE: &str = include_str!("../../clients/clients.toml");

/// A row of the table; what its columns mean stands there.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Client {
    pub name: String,
    #[serde(default)]
    programs: BTreeMap<String, String>,
    #[serde(default)]
    modules: Vec<String>,
    pub command: Vec<String>,
    #[serde(default)]
    parts: Vec<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    pub window: Option<[u16; 2]>,
    #[serde(default)]
    pub check_command: Vec<String>,
    #[serde(default)]
    plain: Vec<String>,
    pub peer_may_say: Option<String>,
    pub timeout_s: u64,
    pub check: Check,
}

#[derive(Deserialize)]
struct Table {
    client: Vec<Client>,
}

fn all() -> Vec<Client> {
    let table: Table = toml::from_str(TABLE).expect("the table is well formed");
    table.client
}

/// Those named in `only` (all, if none is), without the others named.
pub fn chosen(only: &[String], without: &[String]) -> client::Result<Vec<Client>> {
    let mut list = all();
    if let Some(unknown) = only.iter().chain(without).find(|n| !list.iter().any(|c| c.name == **n)) {
        return Err(client::Error(format!("no client is called {unknown}")));
    }
    list.retain(|c| (only.is_empty() || only.contains(&c.name)) && !without.contains(&c.name));
    Ok(list)
}

fn has_module(python: &Path, name: &str) -> bool {
    let find = format!("import importlib.util, sys; sys.exit(importlib.util.find_spec({name:?}) is None)");
    let mut command = Command::new(python);
    command.args(["-c", &find]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

impl Client {
    /// What it needs and this machine lacks.
    pub fn missing(&self, python: &Path) -> Vec<String> {
        let programs = self.programs.iter().filter(|(p, _)| !has_program(p));
        let modules = self.modules.iter().filter(|m| !has_module(python, m));
        programs
            .map(|(p, package)| format!("{p} (Debian's {package})"))
            .chain(
                modules.map(|m| format!("{m} (PyPI's, of the versions in benches/clients/requirements.txt)")),
            )
            .collect()
    }

    /// Whether the picture of a part is one colour.
    pub fn is_plain(&self, part: &str) -> bool {
        self.plain.iter().any(|p| part.split(':').next() == Some(p))
    }

    /// What `{part}` stands for; one that is empty for a client without parts.
    pub fn parts(&self) -> Vec<String> {
        if self.parts.is_empty() { vec![String::new()] } else { self.parts.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let list = all();
        assert_eq!(list.iter().find(|c| c.name == "glmark2").unwrap().parts().len(), 19);
        for c in &list {
            let words = || c.command.iter().chain(&c.check_command);
            let uses = |what: &str| words().any(|w| w.contains(what));
            assert!(c.timeout_s > 0 && !c.command.is_empty(), "{}", c.name);
            assert_eq!(uses("{part}"), !c.parts.is_empty(), "{}: parts", c.name);
            assert_eq!(uses("{python}"), !c.modules.is_empty(), "{}: modules", c.name);
            assert!(!uses("{clip}") || c.programs.contains_key("ffmpeg"), "{}: the clip is ffmpeg's", c.name);
            assert!(c.window.is_none() || c.programs.contains_key("Xvfb"), "{}: windows need Xvfb", c.name);
            assert!(c.plain.iter().all(|p| c.parts.iter().any(|q| q.starts_with(p))), "{}: plain", c.name);
            assert_eq!(matches!(c.check, Check::Window(_)), c.window.is_some(), "{}: window", c.name);
        }
    }

    #[test]
    fn names_choose() {
        let names = |list: Vec<Client>| list.into_iter().map(|c| c.name).collect::<Vec<_>>();
        let of = |s: &str| vec![s.to_string()];
        assert_eq!(names(chosen(&of("vkcube"), &[]).unwrap()), ["vkcube"]);
        assert!(!names(chosen(&[], &of("vkcube")).unwrap()).contains(&"vkcube".into()));
        assert!(chosen(&of("nothing"), &[]).is_err() && chosen(&[], &of("nothing")).is_err());
    }

    #[test]
    fn what_is_absent_is_named() {
        let mut client = chosen(&["vkcube".into()], &[]).unwrap().remove(0);
        client.programs = [("no-such-program".to_string(), "no-package".to_string())].into();
        client.modules = vec!["no_such_module".into()];
        let missing = client.missing(Path::new("python3"));
        assert_eq!(missing[0], "no-such-program (Debian's no-package)");
        assert!(missing[1].starts_with("no_such_module "), "{missing:?}");
    }
}
