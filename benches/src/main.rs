//! The bench runner: the kernels of `benches/kernels` and the pictures of `benches/pictures` on Tuff and on its
//! installed peers, side by side.
//!
//! A driver lives in a child process of its own, which sees that driver alone (`VK_ICD_FILENAMES`). The children of a
//! comparison take turns, round by round (A B A B), so that a busy machine is busy for all of them. One thread is
//! measured in CPU time of the whole child, more in wall time. With `--clients` they are real programs ([`clients`]).

#[macro_use]
extern crate say;

mod clients;
mod matrix;
mod page;
mod parent;
mod pictures;
mod rays;
mod table;

use clap::Parser;
use client::drivers::{self, Driver, Threads};
use client::matrix::Group;
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs the benchmark kernels and pictures on Tuff, lavapipe and SwiftShader.
#[derive(Parser)]
pub struct Args {
    /// Only these (comma-separated): the name of a kernel, a picture or a launch row, or one of the groups `kernels`, `pictures`, `launch`
    /// (thousands of small draws, copies, passes and others), `products` (of cooperative matrices), `rays` (ray tracing, and builds of acceleration structures), `first` (first
    /// frames and traces of new pipelines) and `memory` (the peak of a large multisampled pass).
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Run real programs instead (benches/clients/clients.toml), on the first driver and its peers; `--only` selects some
    /// of them.
    #[arg(long)]
    clients: bool,
    /// Run the matrix instead: every format and operation; `--only` selects groups (textures, targets, transfers, operations).
    #[arg(long, conflicts_with = "clients")]
    matrix: bool,
    /// Only rows of the matrix whose names contain this text.
    #[arg(long, requires = "matrix")]
    rows: Option<String>,
    /// Leave out these clients (comma-separated).
    #[arg(long, value_delimiter = ',', requires = "clients")]
    without: Vec<String>,
    /// The Python that has the clients' modules.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Number of rounds for each timing.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Number of new processes for each timing of pipeline creation.
    #[arg(long, default_value_t = 3)]
    create_rounds: usize,
    /// Milliseconds for which a kernel is repeated in each round.
    #[arg(long, default_value_t = 40)]
    budget_ms: u64,
    /// Thread counts, comma-separated: numbers or `all`.
    #[arg(long, value_delimiter = ',', default_value = "1,all")]
    threads: Vec<String>,
    /// Drivers to use instead of those found: `name=icd.json`, or only a name for an installed driver. `instrumented` is Tuff
    /// with every shader instrumented; `read` is Tuff with each workload's counters written to a file.
    #[arg(long, value_delimiter = ',')]
    drivers: Vec<String>,
    /// Value of TUFF_SIMD for Tuff: portable, neon, avx2 or avx512.
    #[arg(long)]
    simd: Option<String>,
    /// Skip run times; measure only creation and the empty dispatch.
    #[arg(long)]
    no_run: bool,
    /// Skip creation and first dispatch.
    #[arg(long)]
    no_create: bool,
    /// Seconds without output after which a child process is killed.
    #[arg(long, default_value_t = 120)]
    timeout_s: u64,
    /// Write all measurements to this file as JSON.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Write the page docs/performance.md to this file: every row with its target (benches/targets.toml), and its share of the
    /// machine's peak.
    #[arg(long, conflicts_with = "clients")]
    page: Option<PathBuf>,
    #[arg(long, hide = true)]
    child: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    if args.child {
        return client::session::serve();
    }
    match run(&args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => {
            eprintln!("benches: {e}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &Args) -> client::Result<bool> {
    let (drivers, absent) = chosen_drivers(&args.drivers)?;
    let threads = args.threads.iter().map(|t| parse_threads(t)).collect::<client::Result<Vec<_>>>()?;
    let chosen = match () {
        _ if args.clients => Chosen::default(),
        _ if args.matrix => Chosen::of_matrix(&args.only)?,
        _ => Chosen::new(&args.only)?,
    };
    for name in &absent {
        println!("{name}: not installed (no ICD file in the usual folders)");
    }
    let bench = parent::Bench { args, drivers, chosen };
    if args.clients {
        let report = clients::run(&bench, &threads)?;
        write(args, &report)?;
        return Ok(report.good());
    }
    let report = bench.run(&threads);
    write(args, &report)?;
    if let Some(path) = &args.page {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let command = format!("cargo run --release -p benches -- {}", arguments.join(" "));
        let text = match args.matrix {
            true => matrix::page(&report, &bench.names(), &command, &page::machine()),
            false => page::page(&report, &bench.names(), &command),
        };
        std::fs::write(path, text).map_err(|e| client::Error(format!("{}: {e}", path.display())))?;
    }
    Ok(report.good())
}

/// Writes a report where the arguments want it.
fn write(args: &Args, report: &impl serde::Serialize) -> client::Result<()> {
    let Some(path) = &args.json else { return Ok(()) };
    let text = serde_json::to_string_pretty(report).expect("a report is plain data");
    std::fs::write(path, text).map_err(|e| client::Error(format!("{}: {e}", path.display())))
}

/// What is to be measured.
#[derive(Default)]
pub struct Chosen {
    pub kernels: Vec<&'static client::kernels::Spec>,
    pub pictures: Vec<&'static client::pictures::Spec>,
    pub launch: Vec<&'static client::launch::Spec>,
    pub products: Vec<&'static client::products::Spec>,
    pub rays: Vec<&'static client::rays::Spec>,
    pub first_frames: bool,
    pub first_traces: bool,
    pub memory: bool,
    /// Groups of the matrix; if there are some, nothing else.
    pub matrix: Vec<Group>,
}

impl Chosen {
    fn of_matrix(only: &[String]) -> client::Result<Self> {
        let find = |name: &String| Group::ALL.into_iter().find(|g| g.name() == name);
        if let Some(unknown) = only.iter().find(|o| find(o).is_none()) {
            return Err(client::Error(format!("no group of the matrix is called {unknown}")));
        }
        let named: Vec<_> = only.iter().filter_map(find).collect();
        Ok(Self { matrix: if named.is_empty() { Group::ALL.to_vec() } else { named }, ..Default::default() })
    }

    fn new(only: &[String]) -> client::Result<Self> {
        let wanted = |names: &[&str]| only.is_empty() || only.iter().any(|o| names.contains(&o.as_str()));
        let known = |o: &String| {
            ["kernels", "pictures", "launch", "products", "rays", "first", "memory"].contains(&o.as_str())
                || client::kernels::find(o).is_some()
                || client::pictures::find(o).is_ok()
                || client::launch::find(o).is_some()
                || client::products::find(o).is_some()
                || client::rays::find(o).is_some()
        };
        if let Some(unknown) = only.iter().find(|o| !known(o)) {
            return Err(client::Error(format!("no kernel, picture or row is called {unknown}")));
        }
        Ok(Self {
            kernels: client::kernels::KERNELS.iter().filter(|k| wanted(&["kernels", k.name])).collect(),
            pictures: client::pictures::PICTURES.iter().filter(|p| wanted(&["pictures", p.name])).collect(),
            launch: client::launch::ROWS.iter().filter(|r| wanted(&["launch", r.name])).collect(),
            products: client::products::ROWS.iter().filter(|r| wanted(&["products", r.name])).collect(),
            rays: client::rays::ROWS.iter().filter(|r| wanted(&["rays", r.name])).collect(),
            first_frames: wanted(&["first"]),
            first_traces: wanted(&["first", "rays"]),
            memory: wanted(&["memory"]),
            matrix: vec![],
        })
    }
}

fn chosen_drivers(wanted: &[String]) -> client::Result<(Vec<Driver>, Vec<String>)> {
    if wanted.is_empty() {
        return Ok(drivers::all());
    }
    let mut here = Vec::new();
    let mut absent = Vec::new();
    for w in wanted {
        match w.split_once('=') {
            Some((name, icd)) => {
                let icd = PathBuf::from(icd);
                let icd = icd.canonicalize().map_err(|e| client::Error(format!("{}: {e}", icd.display())))?;
                here.push(Driver { name: name.into(), icd });
            }
            None if ["tuff", drivers::INSTRUMENTED, drivers::READ].contains(&w.as_str()) => {
                here.push(Driver { name: w.clone(), icd: drivers::tuff_icd() })
            }
            None => match drivers::find(w) {
                Some(d) => here.push(d),
                None => absent.push(w.clone()),
            },
        }
    }
    Ok((here, absent))
}

fn parse_threads(text: &str) -> client::Result<Threads> {
    match text.parse() {
        Ok(n) if n > 0 => Ok(Threads::Count(n)),
        _ if text == "all" => Ok(Threads::All),
        _ => Err(client::Error(format!("--threads wants numbers above 0 or `all`, not {text}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_choose_kernels_and_pictures() {
        let all = Chosen::new(&[]).unwrap();
        assert_eq!((all.kernels.len(), all.pictures.len()), (10, 13));
        assert_eq!((all.launch.len(), all.products.len(), all.rays.len()), (11, 8, 10));
        assert!(all.first_frames && all.first_traces && all.memory);
        let some = Chosen::new(&["med".into(), "tri".into(), "memory".into()]).unwrap();
        assert_eq!((some.kernels.len(), some.pictures.len()), (1, 1));
        assert!(!some.first_frames && some.memory);
        let draws = Chosen::new(&["draws".into()]).unwrap();
        assert_eq!((draws.kernels.len(), draws.pictures.len(), draws.launch.len()), (0, 0, 1));
        assert!(Chosen::new(&["nothing".into()]).is_err());
    }

    #[test]
    fn thread_counts_are_numbers_or_all() {
        assert_eq!(parse_threads("2"), Ok(Threads::Count(2)));
        assert_eq!(parse_threads("all"), Ok(Threads::All));
        assert!(parse_threads("0").is_err());
        assert!(parse_threads("many").is_err());
    }
}
