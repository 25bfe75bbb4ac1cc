//! The sweeps as a picture: docs/sweep.svg.

use super::{KNOBS, WORKLOADS, series};
use std::fmt::Write;

/// A colour for each workload, that differ for the colour-blind too (Okabe and Ito).
const COLOURS: [&str; WORKLOADS.len()] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7"];
const PANEL: [i64; 2] = [210, 200];
const MARGIN: i64 = 46;
const TOP: i64 = 44;
/// Microseconds at the bottom and at the top; both axes are logarithmic.
const RANGE: [f64; 2] = [10.0, 10_000.0];

/// A panel for each key; both axes logarithmic, so that what is proportional is a straight line.
pub fn plot() -> String {
    let [width, height] = PANEL;
    let all = [MARGIN + (width + 16) * KNOBS.len() as i64, TOP + height + 40];
    let mut s = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        all[0], all[1]
    );
    for (i, ((name, _), colour)) in WORKLOADS.iter().zip(COLOURS).enumerate() {
        let x = MARGIN + 110 * i as i64;
        let _ = writeln!(
            s,
            "<path d=\"M{x} 12h18\" stroke=\"{colour}\" stroke-width=\"2\"/><text x=\"{}\" y=\"16\">{name}</text>",
            x + 22
        );
    }
    let [low, high] = RANGE.map(f64::log10);
    let y = |us: f64| TOP as f64 + height as f64 * (high - us.log10()) / (high - low);
    for (k, knob) in KNOBS.iter().enumerate() {
        let left = MARGIN + (width + 16) * k as i64;
        let _ = writeln!(
            s,
            "<text x=\"{left}\" y=\"{}\">{}</text><rect x=\"{left}\" y=\"{TOP}\" width=\"{width}\" height=\"{height}\" \
             fill=\"none\" stroke=\"#999\"/>",
            TOP - 6,
            knob.0
        );
        for us in [10, 100, 1_000, 10_000] {
            let at = y(us as f64);
            let _ = writeln!(s, "<path d=\"M{left} {at:.1}h{width}\" stroke=\"#ddd\"/>");
            if k == 0 {
                let _ = writeln!(
                    s,
                    "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{us}</text>",
                    left - 4,
                    at + 4.0
                );
            }
        }
        let x = |i: usize| left + 18 + i as i64 * (width - 36) / (knob.1.len() as i64 - 1);
        for (i, value) in knob.1.iter().enumerate() {
            let _ = writeln!(
                s,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{value}</text>",
                x(i),
                TOP + height + 16
            );
        }
        let rows = series(knob);
        for (w, colour) in COLOURS.iter().enumerate() {
            let points: String = rows
                .iter()
                .enumerate()
                .map(|(i, ns)| format!("{},{:.1} ", x(i), y(ns[w] as f64 / 1e3)))
                .collect();
            let _ = writeln!(
                s,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
                points.trim_end()
            );
        }
    }
    let _ = writeln!(s, "<text x=\"{MARGIN}\" y=\"{}\">microseconds; a key at a time</text>", all[1] - 6);
    s += "</svg>\n";
    s
}
