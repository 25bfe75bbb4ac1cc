//! What is said of examples in `samples.toml`.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A row of the table; what its columns mean stands there.
#[derive(Deserialize, Debug, Clone, Default)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub limit: Option<f64>,
    pub refused: Option<String>,
    #[serde(default)]
    pub plain: bool,
    #[serde(default)]
    pub left_out: bool,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    pub reason: Option<String>,
    /// What `frame-preload` leaves out.
    #[serde(default)]
    pub without: Vec<String>,
    /// What is to be run besides, which shows the reason.
    pub otherwise: Option<Box<Row>>,
}

#[derive(Deserialize, Debug)]
#[serde(transparent)]
pub struct Table {
    rows: BTreeMap<String, Row>,
}

impl Table {
    pub fn read() -> Result<Table, String> {
        toml::from_str(include_str!("samples.toml")).map_err(|e| format!("samples.toml: {e}"))
    }

    /// What the table says of an example; of most it says nothing.
    pub fn row(&self, name: &str) -> Row {
        self.rows.get(name).cloned().unwrap_or_default()
    }

    /// Those of `all` that are asked for.
    pub fn chosen(&self, all: &[String], only: &[String], without: &[String]) -> Result<Vec<String>, String> {
        if let Some(unknown) = only.iter().chain(without).find(|n| !all.contains(n)) {
            return Err(format!("no example is called {unknown}"));
        }
        let wanted = |n: &&String| match only {
            [] => !without.contains(n) && !self.row(n).left_out,
            _ => only.contains(n),
        };
        Ok(all.iter().filter(wanted).cloned().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed_and_gives_reasons() {
        let table = Table::read().unwrap();
        for (name, row) in &table.rows {
            assert!(row.reason.is_some(), "{name}");
            if let Some(o) = &row.otherwise {
                assert!(o.reason.is_some() && o.limit < row.limit && o.otherwise.is_none(), "{name}");
            }
        }
        let all = ["a", "b"].map(String::from);
        assert_eq!(table.chosen(&all, &[], &["a".into()]).unwrap(), ["b"]);
        assert_eq!(table.chosen(&all, &["a".into()], &[]).unwrap(), ["a"]);
        assert!(table.chosen(&all, &["c".into()], &[]).is_err());
    }
}
