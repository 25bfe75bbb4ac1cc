//! The baseline: how many cases of each list a peer passes, does not support and fails.

use std::collections::BTreeMap;
use std::path::Path;

/// A peer's counts for one list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    pub cases: usize,
    pub pass: usize,
    pub not_supported: usize,
    pub bad: usize,
    pub seconds: f64,
}

pub type Baseline = BTreeMap<String, Row>;

/// Reads the columns of `peers` (names with commas between them) from a table with a header line. Of several peers
/// a list takes the one that passes most of it; a peer with empty cells did not run the list.
pub fn load(path: &Path, peers: &str) -> Result<Baseline, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut table = Baseline::new();
    for peer in peers.split(',') {
        for (list, row) in parse(&text, peer).map_err(|e| format!("{}: {e}", path.display()))? {
            let best = table.entry(list).or_insert(row);
            if row.pass > best.pass {
                *best = row;
            }
        }
    }
    Ok(table)
}

fn parse(text: &str, peer: &str) -> Result<Baseline, String> {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    let header: Vec<&str> = lines.next().ok_or("empty")?.split('\t').collect();
    let column = |name: String| {
        header.iter().position(|h| *h == name).ok_or_else(|| format!("no column is called {name}"))
    };
    let columns = [
        column("cases".into())?,
        column(format!("{peer}_pass"))?,
        column(format!("{peer}_notsupported"))?,
        column(format!("{peer}_bad"))?,
        column(format!("{peer}_seconds"))?,
    ];
    let mut table = Baseline::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |c: usize| -> Result<&str, String> {
            cells.get(columns[c]).map(|text| text.trim()).ok_or_else(|| format!("short line: {line}"))
        };
        let number = |c: usize| -> Result<f64, String> {
            let cell = cell(c)?;
            cell.parse().map_err(|_| format!("not a number: {cell} in {line}"))
        };
        if cell(1)?.is_empty() {
            continue;
        }
        let row = Row {
            cases: number(0)? as usize,
            pass: number(1)? as usize,
            not_supported: number(2)? as usize,
            bad: number(3)? as usize,
            seconds: number(4)?,
        };
        table.insert(cells[0].to_string(), row);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "list\tcases\tx_pass\tx_notsupported\tx_bad\tx_seconds\napi\t4\t2\t1\t1\t0.5\n";
        let table = parse(text, "x").unwrap();
        assert_eq!(table["api"], Row { cases: 4, pass: 2, not_supported: 1, bad: 1, seconds: 0.5 });
        assert!(parse(text, "y").is_err());
        assert!(parse("list\tcases\tx_pass\tx_notsupported\tx_bad\tx_seconds\napi\t4\tz", "x").is_err());
    }

    #[test]
    fn of_several_peers_the_better_counts() {
        let text = "list\tcases\tx_pass\tx_notsupported\tx_bad\tx_seconds\ty_pass\ty_notsupported\ty_bad\ty_seconds\n\
                    api\t4\t2\t1\t1\t0.5\t3\t1\t0\t1\ndraw\t4\t2\t2\t0\t0.5\t\t\t\t\n";
        let path = client::scratch("baseline").unwrap();
        std::fs::write(&path, text).unwrap();
        let table = load(&path, "x,y").unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((table["api"].pass, table["draw"].pass), (3, 2));
    }

    #[test]
    fn our_own_baseline_knows_our_lists() {
        let table = load(&crate::here("baseline.tsv"), "lavapipe25,lavapipe26").unwrap();
        for c in crate::cases::from_folder(&crate::here("lists"), &[]).unwrap() {
            assert_eq!(table[&c.name].cases, c.cases.len(), "{}", c.name);
        }
    }
}
