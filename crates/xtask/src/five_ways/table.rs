//! The table of docs/counters.md: some counters of every group, added up over the scene's workloads, as each way has them.

use super::ways::Measured;
use crate::arm_layers::compare::{Compared, Workload};
use counters::{catalogue, docs};
use std::fmt::Write as _;
use std::path::Path;

/// Machine names, from every group.
const ROWS: [&str; 26] = [
    "MaliGPUActiveCy",
    "MaliCompQueueActiveCy",
    "MaliBinningQueueActiveCy",
    "MaliMainQueueActiveCy",
    "MaliNonFragWarp",
    "MaliFragWarp",
    "MaliNonFragThread",
    "MaliFragThread",
    "MaliEngArithInstr",
    "MaliEngFMAInstr",
    "MaliEngCVTInstr",
    "MaliEngSFUInstr",
    "MaliVarIssueCy",
    "MaliTexSample",
    "MaliTexFiltIssueCy",
    "MaliLSIssueCy",
    "MaliLSFullRd",
    "MaliLSFullWr",
    "MaliL2CacheRd",
    "MaliL2CacheWr",
    "MaliExtBusRdBy",
    "MaliExtBusWrBy",
    "MaliGeomTotalPrim",
    "MaliGeomVisiblePrim",
    "MaliGeomTotalCullPrim",
    "TuffFmaInstr",
];

/// The counter's sum over workloads, where all of them have it.
fn sum(workloads: &[Workload], machine: &str) -> Option<f64> {
    workloads.iter().map(|w| w.counters.get(machine)).sum()
}

pub fn page(m: &Measured, compared: &[Compared]) -> String {
    let mut out = String::from("| counter | ledger | our layer, channel | our layer, queries | GL monitor |");
    let arm = m.arm.as_ref().map(|a| &a.0);
    out.push_str(if arm.is_some() { " Arm's layer |\n" } else { "\n" });
    out.push_str(&"|---".repeat(5 + usize::from(arm.is_some())));
    out.push_str("|\n");
    for machine in ROWS {
        let human = catalogue::by_machine(machine).map_or(machine, |c| c.human);
        let _ = write!(out, "| {human} |");
        for way in [&m.ledger, &m.channel, &m.query, &m.monitor].into_iter().chain(arm) {
            match sum(way, machine) {
                Some(v) => drop(write!(out, " {v} |")),
                None => out.push_str(" |"),
            }
        }
        out.push('\n');
    }
    out.push_str("| values beside the ledger's: equal, of all | |");
    for c in compared {
        let (equal, all) = c.counts();
        let _ = write!(out, " {equal} of {all} |");
    }
    out.push('\n');
    out
}

/// Puts the table into the page that is generated.
pub fn put(page: &Path, table: &str) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", page.display());
    let before = std::fs::read_to_string(page).map_err(failed)?;
    let after = docs::with_measured(&before, table)
        .ok_or_else(|| format!("{} has no place for the table: cargo xtask codegen", page.display()))?;
    std::fs::write(page, after).map_err(failed)?;
    println!("wrote {}", page.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counters() {
        for machine in ROWS {
            assert!(catalogue::reported().iter().any(|c| c.machine == machine), "{machine}");
        }
    }

    #[test]
    fn what_a_workload_lacks_has_no_sum() {
        let of = |counters: &[(&str, f64)]| Workload {
            kind: String::new(),
            label: String::new(),
            name: String::new(),
            frame: None,
            counters: counters.iter().map(|(n, v)| (n.to_string(), *v)).collect(),
        };
        assert_eq!(sum(&[of(&[("a", 1.0)]), of(&[("a", 2.0)])], "a"), Some(3.0));
        assert_eq!(sum(&[of(&[("a", 1.0)]), of(&[])], "a"), None);
    }
}
