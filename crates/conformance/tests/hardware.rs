//! What the models say beside what was measured on the GPUs that they are of: by the cost model alone, and of work that the driver runs on them. The page docs/model-against-hardware.md has the table and the
//! plot, which `TUFF_BLESS=1` writes. That operations count what [`COSTS`] says is [`crate::micro`]'s.

use crate::micro::COSTS;
use conformance::micro::ALU;
use conformance::micro::fit::{Fit, fits};
use counters::Model;
use counters::cost::arithmetic;
use std::fmt::Write;

const BEGIN: &str = "<!-- written by conformance's hardware -->\n";
const END: &str = "<!-- end of what was written -->";
const CLPEAK: &str = "clpeak, RK3588";
const AS_EN: &str = "as-en, G57 MC2";
const ARM: &str = "Arm, of games";

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

/// The file of a built-in model with these lines changed.
fn changed(folder: &std::path::Path, model: &str, lines: &[(&str, &str)]) -> String {
    let text = counters::model::BUILT_IN.iter().find(|(n, _)| *n == model).expect("built in").1;
    let text = lines.iter().fold(text.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let file = folder.join("model.toml");
    std::fs::write(&file, text).expect("written");
    file.to_str().expect("UTF-8").into()
}

/// What the driver counts on a model, by [`fits`].
fn ran(model: &str) -> Vec<(Fit, f64)> {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_micro-child"));
    crate::common::driver().prepare(&mut child, client::drivers::Threads::Count(2));
    let out = child.env("TUFF_GPU", model).output().expect("it runs");
    let (said, errors) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{model}: {said}{errors}");
    let got: Vec<f64> = said.lines().filter_map(|l| l.split_once(';')?.1.parse().ok()).collect();
    assert_eq!(got.len(), fits().len(), "{said}{errors}");
    fits().into_iter().zip(got).collect()
}

/// Of work that is run.
fn run() -> Vec<Figure> {
    let g610 = Model::load(Some("g610")).expect("built in");
    let of_g610 = ran("g610");
    // The G57 that was measured has two cores, 512 KiB of L2, and 950 MHz; 14.2 GB/s of memory.
    let folder = temporary::folder("tuff-").expect("a temporary folder");
    let of_g57 = ran(&changed(
        folder.path(),
        "g57",
        &[
            ("\ncores = 5", "\ncores = 2"),
            ("clock_mhz = 880", "clock_mhz = 950"),
            ("l2_kib = 1024", "l2_kib = 512"),
            ("external_bytes_per_cycle = 24", "external_bytes_per_cycle = 15"),
        ],
    ));
    let [with, without] = [1, 0].map(|deferred| {
        let line = format!("deferred = {deferred}");
        ran(&changed(folder.path(), "g720", &[("deferred = 1", &line)]))
    });
    let value = |all: &[(Fit, f64)], fit| all.iter().find(|f| f.0 == fit).expect("there").1;
    let ghz = g610.clock_mhz as f64 / 1000.0;
    let mut all = vec![];
    let mut add = |name: String, source, hardware, model, within| {
        all.push(Figure { name: format!("run: {name}"), source, hardware, model, within });
    };
    for (name, fit, hardware, within) in
        [("float", Fit::Scalar, 249.0, f64::INFINITY), ("float4", Fit::Vector, 467.0, 0.15)]
    {
        add(format!("G610: GFLOPS, {name}"), CLPEAK, hardware, value(&of_g610, fit) * ghz, within);
    }
    let g57 = |fit| value(&of_g57, fit);
    for (bytes, hardware, within) in [(32, 10.6 / 9.3, f64::INFINITY), (64, 19.3 / 9.3, f64::INFINITY)] {
        let model = g57(Fit::Copy(bytes)) / g57(Fit::Copy(16));
        add(format!("G57: copy, {bytes} : 16 bytes a thread"), AS_EN, hardware, model, within);
    }
    for (side, hardware, within) in [
        (1, 0.94, 0.1),
        (2, 0.94, 0.1),
        (4, 5.6, f64::INFINITY),
        (8, 8.4, f64::INFINITY),
        (16, 19.0, f64::INFINITY),
        (0, 7.4, 0.25),
    ] {
        let name = if side == 0 { "of a gradient".into() } else { format!("of noise of {side}²") };
        add(format!("G57: AFBC {name}"), AS_EN, hardware, g57(Fit::Noise(side)), within);
    }
    for (name, fit, hardware) in [("discard", Fit::Discard, 3.2), ("blend", Fit::Blend, 3.7)] {
        add(format!("G57: {name} : opaque"), AS_EN, hardware, g57(fit) / g57(Fit::Opaque), 0.3);
    }
    // Bytes of two cores' textures a nanosecond.
    let gb = |bytes_a_cycle: f64| bytes_a_cycle * 0.95;
    const NO: f64 = f64::INFINITY;
    for (kib, hardware, within) in [
        (16, 0.01, NO),
        (32, 0.38, NO),
        (64, 45.0, 0.3),
        (256, 49.0, 0.15),
        (512, 49.0, NO),
        (1024, 24.0, NO),
    ] {
        let model = gb(g57(Fit::RandomL2(kib)));
        add(format!("G57: random texels of {kib} KiB, L2 GB/s"), AS_EN, hardware, model, within);
    }
    // 26 to 41 of a hundred.
    let saved = 100.0 * (1.0 - value(&with, Fit::Triangles) / value(&without, Fit::Triangles));
    add("G720: percent of bytes that deferred vertex shading saves".into(), ARM, 33.0, saved, 0.3);
    for (kib, hardware, within) in [(256, 4.0, NO), (512, 7.6, NO), (1024, 12.5, 0.2)] {
        let model = gb(g57(Fit::RandomMemory(kib)));
        add(format!("G57: random texels of {kib} KiB, external GB/s"), AS_EN, hardware, model, within);
    }
    all
}

fn table(all: &[Figure]) -> String {
    let mut t = "| figure | measured | model | off by | may be off by | by |\n|---|---|---|---|---|---|\n"
        .to_string();
    for f in all {
        let off = 100.0 * (f.model / f.hardware - 1.0);
        let within = 100.0 * f.within;
        let _ = writeln!(
            t,
            "| {} | {} | {:.1} | {off:+.0} % | {} | {} |",
            f.name,
            (f.hardware * 100.0).round() / 100.0,
            f.model,
            if within.is_finite() { format!("{within:.0} %") } else { "does not agree".into() },
            f.source
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
    let all: Vec<Figure> = g610().into_iter().chain(g57()).chain(run()).collect();
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
