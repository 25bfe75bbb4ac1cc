//! Tables for the terminal.

use crate::parent::{Agreement, Row, Section, What};

/// A time with three significant digits.
fn time(v: f64) -> String {
    match v {
        v if v.is_nan() => "-".into(),
        v if v >= 100.0 => format!("{v:.0}"),
        v if v >= 10.0 => format!("{v:.1}"),
        v if v >= 1.0 => format!("{v:.2}"),
        v => format!("{v:.4}"),
    }
}

/// The unit of a section's times, and how many of them a second has.
pub fn unit(what: What) -> (&'static str, f64) {
    if what == What::Launch { ("µs", 1e6) } else { ("ms", 1e3) }
}

/// A row's value for so many seconds: a time, or millions a second.
pub fn value(row: &Row, seconds: f64, what: What) -> String {
    match row.work {
        None => time(seconds * unit(what).1),
        // A net time may vanish in the noise of its parts.
        Some(_) if seconds.is_nan() || seconds <= 0.0 => "-".into(),
        Some((work, _)) if work / seconds >= 100.0 => format!("{:.0}", work / seconds),
        Some((work, _)) => format!("{:.2}", work / seconds),
    }
}

/// One section: best and median of each driver, and the first driver's speed against each other one.
pub fn section(s: &Section, names: &[String]) {
    let text = match s.rows.iter().any(|r| r.work.is_some()) {
        true => "best (median), in the unit of the row",
        false => &format!("time in {}, min (median)", unit(s.what).0),
    };
    println!("\n{} — {} {text}", s.title, s.clock);
    print!("{:18}", "");
    for n in names {
        print!("{n:>22}");
    }
    for n in &names[1..] {
        print!("{:>16}", format!("× {n}"));
    }
    println!();
    let mut errors = Vec::new();
    for row in &s.rows {
        let title = row.work.map_or(row.name.clone(), |(_, unit)| format!("{} {unit}", row.name));
        print!("{title:18}");
        for n in names {
            let t = &row.times[n];
            let cell = match &t.error {
                Some(e) => {
                    errors.push(format!("{}, {n}: {e}", row.name));
                    "failed".into()
                }
                None => format!(
                    "{} ({})",
                    value(row, t.min(s.threads), s.what),
                    value(row, t.median(s.threads), s.what)
                ),
            };
            print!("{cell:>22}");
        }
        let own = &row.times[&names[0]];
        for n in &names[1..] {
            let peer = &row.times[n];
            let best = peer.min(s.threads) / own.min(s.threads);
            let middle = peer.median(s.threads) / own.median(s.threads);
            let known = own.error.is_none() && peer.error.is_none();
            let cell = if known { format!("{best:.2} ({middle:.2})") } else { "-".into() };
            print!("{cell:>16}");
        }
        println!();
    }
    errors.iter().for_each(|e| println!("  {e}"));
}

/// How the outputs agree.
pub fn outputs(list: &[Agreement]) {
    if list.is_empty() {
        return;
    }
    println!("\noutputs");
    for a in list {
        match &a.error {
            Some(e) => println!("  {:8} {}: {e}", a.kernel, a.driver),
            None => println!(
                "  {:8} {} against {}: {}, largest difference {:.3e}, {:.4} % of words beyond tolerance{}",
                a.kernel,
                a.driver,
                a.reference,
                if a.equal { "equal" } else { "DIFFERENT" },
                a.largest_difference,
                a.share_beyond_tolerance * 100.0,
                if a.nan_mismatches > 0 {
                    format!(", {} NaN on one side only", a.nan_mismatches)
                } else {
                    String::new()
                },
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_keep_three_digits() {
        assert_eq!(time(123.456), "123");
        assert_eq!(time(12.345), "12.3");
        assert_eq!(time(1.2345), "1.23");
        assert_eq!(time(0.012_34), "0.0123");
        assert_eq!(time(f64::NAN), "-");
    }
}
