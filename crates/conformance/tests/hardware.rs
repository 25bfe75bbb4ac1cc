//! What the models say beside what was measured on the GPUs that they are of. The page docs/model-against-hardware.md has the table and the
//! plot, which `TUFF_BLESS=1` writes. That operations count what [`COSTS`] says is [`crate::micro`]'s.

use crate::micro::COSTS;
use conformance::micro::ALU;
use counters::Model;
use counters::cost::arithmetic;
use std::fmt::Write;

const BEGIN: &str = "<!-- written by conformance's hardware -->\n";
const END: &str = "<!-- end of what was written -->";
const CLPEAK: &str = "clpeak, RK3588";
const AS_EN: &str = "as-en, G57 MC2";

struct Figure {
    name: String,
    source: &'static str,
    hardware: f64,
    model: f64,
    /// How far the model may be off, of the hardware's.
    within: f64,
}

/// Four cores at 1 GHz.
fn g610() -> Vec<Figure> {
    let m = Model::load(Some("g610")).expect("built in");
    let ghz = m.clock_mhz as f64 / 1000.0;
    // Operations of a thread's instructions: those of a warp in so many cycles of a core.
    let rate = |cost: [u64; 3], operations: f64| {
        let [fma, cvt, sfu] = cost.map(|n| n * 1000);
        let cycles = arithmetic(&m.core, fma, cvt, sfu) as f64 / 1000.0;
        operations * 16.0 / cycles * m.cores as f64 * ghz
    };
    let of = |name: &str, hardware, model, within| Figure {
        name: format!("G610: {name}"),
        source: CLPEAK,
        hardware,
        model,
        within,
    };
    let fma = rate([1, 0, 0], 2.0);
    vec![
        of("GFLOPS, float2", 470.0, fma, 0.1),
        of("GFLOPS, float4", 467.0, fma, 0.1),
        of("GFLOPS, half", 442.0, fma, 0.2),
        of("GFLOPS, half2", 878.0, 2.0 * fma, 0.2),
        of("GFLOPS, half4", 910.0, 2.0 * fma, 0.15),
        of("GIOPS, multiplied and added", 125.0, rate([0, 1, 1], 2.0), 0.05),
        of("GB/s", 27.2, m.memory.external_bytes_per_cycle as f64 * ghz, 0.05),
    ]
}

/// Cost relative to an addition, of which an engine has sixteen a cycle.
fn g57() -> Vec<Figure> {
    let m = Model::load(Some("g57")).expect("built in");
    let cycles = |[fma, cvt, sfu]: [u64; 3]| arithmetic(&m.core, fma * 1000, cvt * 1000, sfu * 1000) as f64;
    let known = |name: &str| COSTS[ALU.iter().position(|a| *a == name).expect(name)];
    let of = |name: &str, cost, hardware, within| Figure {
        name: format!("G57: {name}"),
        source: AS_EN,
        hardware,
        model: cycles(cost) / cycles([1, 0, 0]),
        within,
    };
    let op = |name: &str, hardware, within| of(name, known(name), hardware, within);
    vec![
        of("imul", [0, 0, 1], 3.0, 0.35),
        op("inversesqrt", 3.0, 0.35),
        op("exp2", 3.0, 0.35),
        op("log2", 4.5, 0.15),
        of("division", [1, 0, 1], 3.0, 0.35),
        op("sin", 10.0, 0.15),
        op("tan", 14.0, 0.05),
        op("acos", 26.0, 0.1),
        op("atan", 20.0, 0.05),
        // Two to four.
        of("pow", [2, 1, 1], 3.0, 0.35),
        of("integer division", [4, 6, 5], 20.0, 0.05),
        of("integer modulo", [4, 7, 6], 22.0, 0.1),
        of("and + add", [0, 1, 1], 4.0, 0.05),
        of("xor + add", [0, 1, 1], 4.0, 0.05),
        // Three to five.
        of("shift + add", [0, 1, 1], 4.0, 0.05),
        of("bitCount + add", [0, 1, 1], 5.0, 0.25),
    ]
}

fn table(all: &[Figure]) -> String {
    let mut t = "| figure | measured | model | off by | may be off by | by |\n|---|---|---|---|---|---|\n"
        .to_string();
    for f in all {
        let off = 100.0 * (f.model / f.hardware - 1.0);
        let within = 100.0 * f.within;
        let _ = writeln!(
            t,
            "| {} | {} | {:.1} | {off:+.0} % | {within:.0} % | {} |",
            f.name, f.hardware, f.model, f.source
        );
    }
    t
}

/// A bar a figure: the model's over the hardware's.
fn plot(all: &[Figure]) -> String {
    let height = 24 * all.len() + 40;
    let mut s = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"640\" height=\"{height}\" fill=\"white\"/>\n\
         <text x=\"410\" y=\"20\" text-anchor=\"middle\">the model, of what was measured: the line is 1</text>\n"
    );
    for (i, f) in all.iter().enumerate() {
        let (y, part) = (32 + 24 * i, f.model / f.hardware);
        let _ = writeln!(
            s,
            "<text x=\"200\" y=\"{}\" text-anchor=\"end\">{}</text><rect x=\"210\" y=\"{y}\" width=\"{:.0}\" height=\"16\" fill=\"#4a7ebb\"/>\
             <text x=\"{:.0}\" y=\"{}\">{part:.2}</text>",
            y + 13,
            f.name,
            200.0 * part,
            216.0 + 200.0 * part,
            y + 13
        );
    }
    let _ = write!(s, "<path d=\"M410 26 V{}\" stroke=\"black\"/>\n</svg>\n", height - 8);
    s
}

#[test]
fn models_agree_with_what_was_measured() {
    let all: Vec<Figure> = g610().into_iter().chain(g57()).collect();
    for f in &all {
        let off = (f.model / f.hardware - 1.0).abs();
        assert!(off <= f.within, "{}: {:.2}, measured {}", f.name, f.model, f.hardware);
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let [page, picture] = ["md", "svg"].map(|e| folder.join(format!("model-against-hardware.{e}")));
    let text = std::fs::read_to_string(&page).expect("the page");
    let (before, rest) = text.split_once(BEGIN).expect("where the table begins");
    let (old, after) = rest.split_once(END).expect("where it ends");
    let (table, plot) = (table(&all), plot(&all));
    if std::env::var_os("TUFF_BLESS").is_some() {
        std::fs::write(&page, format!("{before}{BEGIN}{table}{END}{after}")).expect("the page is written");
        std::fs::write(&picture, plot).expect("the picture is written");
        return;
    }
    let how = "TUFF_BLESS=1 cargo test -p conformance --test scenes hardware";
    assert_eq!(old, table, "{how}");
    assert!(std::fs::read_to_string(&picture).is_ok_and(|p| p == plot), "{how}");
}
