//! A sample of cases, spread evenly over the lists of cts-subset.

use std::path::Path;

/// About `count` cases of all lists in a folder, one in so many of each.
pub fn sample(folder: &Path, count: usize) -> Result<String, String> {
    let files = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<_> = files.flatten().map(|f| f.path()).collect();
    paths.sort();
    let mut all = vec![];
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "txt")) {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        all.extend(text.lines().filter(|l| l.starts_with("dEQP-VK.") && !l.contains('*')).map(String::from));
    }
    Ok(spread(&all, count).join("\n") + "\n")
}

/// `count` of them or all, equally far apart.
fn spread(all: &[String], count: usize) -> Vec<String> {
    let n = count.min(all.len());
    (0..n).map(|i| all[i * all.len() / n].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_sample_is_spread_over_all() {
        let all: Vec<String> = (0..10).map(|i| i.to_string()).collect();
        assert_eq!(spread(&all, 4), ["0", "2", "5", "7"]);
        assert_eq!(spread(&all, 100), all);
        assert!(spread(&[], 5).is_empty());
    }
}
