//! What the sanitizers wrote, one file a process.

use std::collections::BTreeMap;
use std::path::Path;

/// One report: its closing line, and where it stands.
pub struct Report {
    summary: String,
    file: String,
}

/// The reports of a file's text, by their closing lines; one that has none counts too.
fn summaries(text: &str) -> Vec<String> {
    let begins = text
        .lines()
        .filter(|l| {
            ["ERROR: AddressSanitizer", "ERROR: ThreadSanitizer", "WARNING: ThreadSanitizer"]
                .iter()
                .any(|w| l.contains(w))
        })
        .map(str::trim);
    let mut ends = text.lines().filter_map(|l| l.strip_prefix("SUMMARY: "));
    begins.map(|b| ends.next().unwrap_or(b).to_string()).collect()
}

/// All reports in a folder.
pub fn read(folder: &Path) -> Result<Vec<Report>, String> {
    let files = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut found = vec![];
    for path in files.flatten().map(|f| f.path()) {
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = path.display().to_string();
        let all = summaries(&String::from_utf8_lossy(&bytes));
        found.extend(all.into_iter().map(|summary| Report { summary, file: file.clone() }));
    }
    Ok(found)
}

/// Each kind once: how often, its closing line, a file that has it.
pub fn show(reports: &[Report]) {
    let mut kinds: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for r in reports {
        kinds.entry(&r.summary).or_insert((0, &r.file)).0 += 1;
    }
    for (summary, (n, file)) in kinds {
        println!("{n:5} {summary} ({file})");
    }
    println!("xtask: {} reports", reports.len());
}

#[cfg(test)]
mod tests {
    use super::summaries;

    #[test]
    fn each_report_counts_once() {
        let text = "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n  #0 f\nSUMMARY: AddressSanitizer: a f\n\
                    WARNING: ThreadSanitizer: data race (pid=8)\n  #0 g\nSUMMARY: ThreadSanitizer: data race g\n\
                    ==9==WARNING: something else\nWARNING: ThreadSanitizer: data race (pid=9)\n";
        let all = summaries(text);
        assert_eq!(
            all,
            [
                "AddressSanitizer: a f",
                "ThreadSanitizer: data race g",
                "WARNING: ThreadSanitizer: data race (pid=9)"
            ]
        );
        assert!(summaries("all is well\n").is_empty());
    }
}
