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
    "MaliEngInstr",
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
fn sum(workloads: &[Workload], machine: &str, left_out_is_0: bool) -> Option<f64> {
    let value = |w: &Workload| w.counters.get(machine).copied().or(left_out_is_0.then_some(0.0));
    workloads.iter().map(value).sum()
}

pub fn page(m: &Measured, compared: &[Compared]) -> String {
    let mut out = String::from("| counter | ledger | our layer, channel | our layer, queries | GL monitor |");
    let arm = m.arm.as_ref().map(|a| &a.0);
    out.push_str(if arm.is_some() { " Arm's layer |\n" } else { "\n" });
    out.push_str(&"|---".repeat(5 + usize::from(arm.is_some())));
    out.push_str("|\n");
    for machine in ROWS {
        let human = catalogue::reported().iter().find(|c| c.machine == machine).map_or(machine, |c| c.human);
        let _ = write!(out, "| {human} |");
        let ways = [(&m.ledger, true), (&m.channel, false), (&m.query, false), (&m.monitor, false)];
        let arm = arm.map(|a| (a, false));
        for (way, left_out_is_0) in ways.into_iter().chain(arm) {
            match sum(way, machine, left_out_is_0) {
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
