//! CPU time of the examples' frames, each driver's beside the first one's, as a table and a page.

use super::{
    Args,
    run::{Driver, Example},
    table::Table,
};
use std::fmt::Write;
use std::path::Path;

/// Rounds of each example on each driver; the best one counts.
const ROUNDS: usize = 2;

/// An example's milliseconds a frame, one for each driver: `None` for one that did not draw it.
struct Line {
    name: String,
    times: Vec<Option<f64>>,
}

impl Line {
    /// How many times as long as the first driver another one takes.
    fn ratio(&self, driver: usize) -> Option<f64> {
        Some(self.times[driver]? / self.times[0]?)
    }

    /// The least ratio, for the order of the page.
    fn worst(&self) -> f64 {
        (1..self.times.len()).filter_map(|d| self.ratio(d)).fold(f64::INFINITY, f64::min)
    }
}

/// Measures the examples; an error where the first driver did not draw one that another one did.
pub fn compare(
    args: &Args,
    frames: u32,
    names: &[String],
    table: &Table,
    programs: &Path,
    resources: &Path,
    drivers: &[Driver],
) -> Result<(), String> {
    let mut lines = vec![];
    for name in names {
        let (program, row) = (programs.join(name), table.row(name));
        if !program.exists() {
            println!("{name:32} not built");
            continue;
        }
        let example = Example { program: &program, resources, row: &row };
        let mut times = vec![None; drivers.len()];
        for _ in 0..ROUNDS {
            for (time, driver) in times.iter_mut().zip(drivers) {
                let one = example.time(driver, args, frames)?;
                *time = [*time, one].into_iter().flatten().min_by(f64::total_cmp);
            }
        }
        let line = Line { name: name.clone(), times };
        print!("{name:32}");
        for (d, time) in line.times.iter().enumerate() {
            print!("{:>12}", time.map_or("-".into(), milliseconds));
            print!("{:>8}", line.ratio(d).filter(|_| d > 0).map_or(String::new(), |r| format!("{r:.2}")));
        }
        println!();
        lines.push(line);
    }
    lines.sort_by(|a, b| a.worst().total_cmp(&b.worst()));
    let page = page(frames, drivers, &lines);
    if let Some(path) = &args.page {
        std::fs::write(path, &page).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let lacking = lines.iter().filter(|l| l.times[0].is_none() && l.times.iter().any(Option::is_some));
    let lacking = lacking.filter(|l| table.row(&l.name).refused.is_none());
    let lacking: Vec<_> = lacking.map(|l| format!("{}: not drawn on {}", l.name, drivers[0].name)).collect();
    if lacking.is_empty() { Ok(()) } else { Err(lacking.join("\n       ")) }
}

fn milliseconds(v: f64) -> String {
    if v >= 100.0 { format!("{v:.0}") } else { format!("{v:.2}") }
}

fn page(frames: u32, drivers: &[Driver], lines: &[Line]) -> String {
    let mut page = format!(
        "# Time of Sascha Willems' examples\n\n<!-- written by the command below: do not edit -->\n\
         <!-- not run: it wants a clone of the examples (docs/samples.md) -->\n```sh\n\
         cargo xtask samples --source CLONE --times {frames} --drivers {} --page docs/samples-times.md\n```\n\n\
         CPU time of {frames} frames of 1280 × 720, in ms a frame, after those that warm up; one thread; the best of {ROUNDS} \
         alternating rounds.\nWorst first.\n\n",
        drivers.iter().map(|d| format!("{}=ICD", d.name)).collect::<Vec<_>>().join(",")
    );
    for (d, driver) in drivers.iter().enumerate().skip(1) {
        let ratios: Vec<f64> = lines.iter().filter_map(|l| l.ratio(d)).collect();
        let mean = (ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let below = ratios.iter().filter(|r| **r < 1.0).count();
        let _ = writeln!(
            page,
            "{}'s time over {}'s: {} examples, geometric mean {mean:.2}, {below} below 1.\n",
            driver.name,
            drivers[0].name,
            ratios.len()
        );
    }
    let names: Vec<_> = drivers.iter().map(|d| d.name.as_str()).collect();
    let heads = names[1..].iter().map(|n| format!("× {n}"));
    let heads: Vec<_> = names.iter().map(|n| n.to_string()).chain(heads).collect();
    let _ = writeln!(page, "| example | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(heads.len()));
    for line in lines {
        let times = line.times.iter().map(|t| t.map_or("-".into(), milliseconds));
        let ratios = (1..drivers.len()).map(|d| line.ratio(d).map_or("-".into(), |r| format!("{r:.2}")));
        let cells: Vec<_> = times.chain(ratios).collect();
        let _ = writeln!(page, "| {} | {} |", line.name, cells.join(" | "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_ratios_and_their_mean() {
        let drivers = ["a", "b"].map(|n| Driver { name: n.into(), icd: n.into() });
        let line = |name: &str, a, b| Line { name: name.into(), times: vec![a, b] };
        let lines =
            [line("x", Some(2.0), Some(1.0)), line("y", Some(1.0), Some(8.0)), line("z", None, Some(1.0))];
        let page = page(8, &drivers, &lines);
        assert!(page.contains("b's time over a's: 2 examples, geometric mean 2.00, 1 below 1."), "{page}");
        assert!(page.contains("| x | 2.00 | 1.00 | 0.50 |"), "{page}");
        assert!(page.contains("| z | - | 1.00 | - |"), "{page}");
    }
}
