//! The parent: starts children, lets them take turns, compares their outputs and collects the figures.

use crate::table;
use crate::{Args, Chosen, pictures};
use client::drivers::{Driver, Threads};
use client::kernels::{Difference, Spec};
use client::measure::{median, min};
use client::session::{Answer, Request, Voice};
use serde::Serialize;
use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

/// Times of one kernel on one driver, in seconds.
#[derive(Serialize, Clone, Default, Debug)]
pub struct Times {
    pub wall: Vec<f64>,
    pub cpu: Vec<f64>,
    pub error: Option<String>,
}

impl Times {
    /// The clock that counts for this number of threads.
    pub fn clock(&self, threads: Threads) -> &[f64] {
        if threads == Threads::Count(1) { &self.cpu } else { &self.wall }
    }

    pub fn min(&self, threads: Threads) -> f64 {
        min(self.clock(threads))
    }

    pub fn median(&self, threads: Threads) -> f64 {
        median(self.clock(threads))
    }

    pub fn add(&mut self, answer: Result<Answer, String>) {
        match answer {
            Ok(Answer::Span { wall, cpu }) => {
                self.wall.push(wall);
                self.cpu.push(cpu);
            }
            Ok(other) => self.error = Some(format!("unexpected answer {other:?}")),
            Err(e) => self.error = Some(e),
        }
    }
}

/// One row of a table: a kernel or picture, its times by driver.
#[derive(Serialize, Debug)]
pub struct Row {
    pub name: String,
    pub times: BTreeMap<String, Times>,
    /// Millions of things done in the time, and their unit; without, the time itself is shown.
    pub work: Option<(f64, &'static str)>,
}

/// What a section is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Kernels, run.
    Run,
    /// Kernels, created and run for the first time.
    Creation,
    /// The empty dispatch.
    Empty,
    /// Pictures: layers alone, and with their clear.
    Net,
    Frames,
    /// Pipelines' first frames.
    First,
    /// A group of the matrix.
    Matrix,
    /// Small things by thousands: the time of one.
    Launch,
    /// Products of cooperative matrices.
    Products,
    /// Rays, and builds of structures.
    Rays,
}

/// One table: a row a kernel, a column a driver.
#[derive(Serialize, Debug)]
pub struct Section {
    #[serde(skip)]
    pub what: What,
    pub title: String,
    pub clock: &'static str,
    pub rows: Vec<Row>,
    #[serde(skip)]
    pub threads: Threads,
}

#[derive(Serialize, Debug)]
pub struct Agreement {
    pub kernel: String,
    pub driver: String,
    pub reference: String,
    pub largest_difference: f64,
    pub share_beyond_tolerance: f64,
    pub nan_mismatches: usize,
    pub equal: bool,
    pub error: Option<String>,
}

#[derive(Serialize, Debug, Default)]
pub struct Report {
    pub drivers: BTreeMap<String, String>,
    pub sections: Vec<Section>,
    pub outputs: Vec<Agreement>,
    /// What is wrong with a picture (or `right`), by picture and driver.
    pub pictures: BTreeMap<String, BTreeMap<String, String>>,
    pub memory: BTreeMap<String, pictures::Memory>,
}

impl Report {
    /// Nothing failed and all outputs agree.
    pub fn good(&self) -> bool {
        let mut times = self.sections.iter().flat_map(|s| s.rows.iter()).flat_map(|r| r.times.values());
        let mut pictures = self.pictures.values().flat_map(|p| p.values());
        // What a peer does not have it cannot do wrong.
        let there = |e: &str| !e.contains(client::pictures::MISSING);
        times.all(|t| t.error.as_deref().is_none_or(|e| !there(e)))
            && self.outputs.iter().all(|o| o.equal)
            && pictures.all(|p| p == pictures::RIGHT || !there(p))
            && self.memory.values().all(|m| m.error.is_none())
    }
}

pub struct Bench<'a> {
    pub args: &'a Args,
    pub drivers: Vec<Driver>,
    pub chosen: Chosen,
}

impl Bench<'_> {
    pub fn run(&self, threads: &[Threads]) -> Report {
        let mut report = Report::default();
        for d in &self.drivers {
            let who = match self.who(d) {
                Ok((device, driver)) => format!("{device}; {driver}"),
                Err(e) => e,
            };
            println!("{}: {who} ({})", d.name, d.icd.display());
            report.drivers.insert(d.name.clone(), who);
        }
        report.outputs = self.outputs();
        table::outputs(&report.outputs);
        report.pictures = pictures::verdicts(self);
        for &t in threads {
            let mut show = |s: Section| {
                match s.what {
                    What::Matrix => crate::matrix::print(&s, &self.names()),
                    _ => table::section(&s, &self.names()),
                }
                report.sections.push(s);
            };
            if !self.chosen.kernels.is_empty() {
                if !self.args.no_run {
                    show(self.run_times(t));
                }
                if !self.args.no_create {
                    show(self.creation(t));
                }
                show(self.empty(t));
            }
            if !self.chosen.pictures.is_empty() && !self.args.no_run {
                show(pictures::speeds(self, t));
                show(pictures::frames(self, t));
            }
            for group in &self.chosen.matrix {
                show(crate::matrix::section(self, *group, t));
            }
            if !self.chosen.launch.is_empty() && !self.args.no_run {
                show(self.launches(t));
            }
            if !self.chosen.products.is_empty() && !self.args.no_run {
                show(self.products(t));
            }
            if !self.chosen.rays.is_empty() && !self.args.no_run {
                show(crate::rays::section(self, t));
            }
            if self.chosen.first_frames && !self.args.no_create {
                show(pictures::first_frames(self, t));
            }
            if self.chosen.first_traces && !self.args.no_create {
                show(crate::rays::first_traces(self, t));
            }
        }
        if self.chosen.memory {
            report.memory = pictures::memory(self);
        }
        report
    }

    pub fn names(&self) -> Vec<String> {
        self.drivers.iter().map(|d| d.name.clone()).collect()
    }

    /// A driver's device, and what it says of itself.
    pub fn who(&self, driver: &Driver) -> Result<(String, String), String> {
        match self.once(driver, Threads::All, &Request::Hello) {
            Ok(Answer::Hello { device, driver, .. }) => Ok((device, driver)),
            Ok(other) => Err(format!("unexpected answer {other:?}")),
            Err(e) => Err(format!("does not open: {e}")),
        }
    }

    fn voice(&self, driver: &Driver, threads: Threads) -> client::Result<Voice> {
        let this = std::env::current_exe().map_err(|e| client::Error(format!("own path: {e}")))?;
        let mut command = Command::new(this);
        command.arg("--child");
        // Other drivers do not know it.
        if let Some(level) = &self.args.simd {
            command.env("TUFF_SIMD", level);
        }
        Voice::start(command, driver, threads, Duration::from_secs(self.args.timeout_s))
    }

    /// Asks a fresh child one thing.
    pub fn once(&self, driver: &Driver, threads: Threads, request: &Request) -> Result<Answer, String> {
        self.voice(driver, threads).map_err(|e| e.to_string())?.ask(request)
    }

    fn run_times(&self, threads: Threads) -> Section {
        let budget_ms = self.args.budget_ms;
        let list = self.chosen.kernels.iter();
        let rows =
            self.rounds(threads, list.map(|k| (k.name, Request::Time { kernel: k.name.into(), budget_ms })));
        Section {
            what: What::Run,
            title: format!("run time, {}", words(threads)),
            clock: clock(threads),
            rows,
            threads,
        }
    }

    fn launches(&self, threads: Threads) -> Section {
        let budget_ms = self.args.budget_ms;
        let request =
            |r: &&'static client::launch::Spec| (r.name, Request::Launch { row: r.name.into(), budget_ms });
        Section {
            what: What::Launch,
            title: format!(
                "small things by thousands, recorded, submitted and waited for, {}",
                words(threads)
            ),
            clock: clock(threads),
            rows: self.rounds(threads, self.chosen.launch.iter().map(request)),
            threads,
        }
    }

    fn products(&self, threads: Threads) -> Section {
        let budget_ms = self.args.budget_ms;
        let request = |r: &&'static client::products::Spec| {
            (r.name, Request::Product { row: r.name.into(), budget_ms })
        };
        let mut rows = self.rounds(threads, self.chosen.products.iter().map(request));
        for row in &mut rows {
            row.work = Some((client::products::work(client::products::SIZE), "G/s"));
        }
        let title = format!("products of cooperative matrices, {}", words(threads));
        Section { what: What::Products, title, clock: clock(threads), rows, threads }
    }

    /// Asks every driver each request in turn, round by round; a driver's child lives on until a request fails.
    pub fn rounds<'r>(
        &self,
        threads: Threads,
        requests: impl Iterator<Item = (&'r str, Request)>,
    ) -> Vec<Row> {
        let mut voices: Vec<Option<Voice>> = self.drivers.iter().map(|_| None).collect();
        let mut rows = Vec::new();
        for (name, request) in requests {
            let mut times = vec![Times::default(); self.drivers.len()];
            for _ in 0..self.args.rounds {
                for (i, driver) in self.drivers.iter().enumerate() {
                    if times[i].error.is_some() {
                        continue;
                    }
                    if voices[i].is_none() {
                        match self.voice(driver, threads) {
                            Ok(v) => voices[i] = Some(v),
                            Err(e) => times[i].error = Some(e.to_string()),
                        }
                    }
                    if let Some(voice) = &mut voices[i] {
                        times[i].add(voice.ask(&request));
                    }
                    // After a failure the next one gets a new child; what a driver does not have is none.
                    if times[i].error.as_deref().is_some_and(|e| !e.contains(client::pictures::MISSING)) {
                        voices[i] = None;
                    }
                }
            }
            rows.push(self.row(name, times));
        }
        rows
    }

    /// Asks a fresh child of every driver in turn, so many times.
    pub fn fresh(&self, threads: Threads, name: &str, mut request: impl FnMut() -> Request) -> Row {
        let mut times = vec![Times::default(); self.drivers.len()];
        for _ in 0..self.args.create_rounds {
            for (driver, times) in self.drivers.iter().zip(&mut times) {
                if times.error.is_none() {
                    times.add(self.once(driver, threads, &request()));
                }
            }
        }
        self.row(name, times)
    }

    fn row(&self, name: &str, times: Vec<Times>) -> Row {
        Row { name: name.into(), times: self.names().into_iter().zip(times).collect(), work: None }
    }

    fn creation(&self, threads: Threads) -> Section {
        let kernels = self.chosen.kernels.iter();
        let rows = kernels
            .map(|k| self.fresh(threads, k.name, || Request::Create { kernel: k.name.into() }))
            .collect();
        let title = format!("creation + first dispatch (one workgroup), {}", words(threads));
        Section { what: What::Creation, title, clock: clock(threads), rows, threads }
    }

    fn empty(&self, threads: Threads) -> Section {
        let mut times = vec![Times::default(); self.drivers.len()];
        let mut voices: Vec<_> = self.drivers.iter().map(|d| self.voice(d, threads).ok()).collect();
        for _ in 0..self.args.rounds {
            for (voice, times) in voices.iter_mut().zip(&mut times) {
                match voice {
                    Some(v) if times.error.is_none() => times.add(v.ask(&Request::Empty { times: 500 })),
                    Some(_) => {}
                    None => times.error = Some("the child did not start".into()),
                }
            }
        }
        let rows = vec![self.row("empty", times)];
        // What a program waits for is wall time, on any number of threads.
        let title = format!("an empty dispatch, submitted and waited for, {}", words(threads));
        Section { what: What::Empty, title, clock: "wall", rows, threads: Threads::All }
    }

    /// Every driver's output of every kernel against the reference's: lavapipe's, or else the first driver's.
    fn outputs(&self) -> Vec<Agreement> {
        let reference = self.drivers.iter().position(|d| d.name == "lavapipe").unwrap_or(0);
        let mut list = Vec::new();
        if self.drivers.len() < 2 {
            return list;
        }
        for k in &self.chosen.kernels {
            let outputs: Vec<_> = self.drivers.iter().map(|d| self.output(d, k)).collect();
            for (i, driver) in self.drivers.iter().enumerate().filter(|(i, _)| *i != reference) {
                let compared = match (&outputs[i], &outputs[reference]) {
                    (Ok(a), Ok(b)) if a.len() == b.len() => Ok(k.output.compare(a, b)),
                    (Ok(_), Ok(_)) => Err("outputs of different sizes".to_string()),
                    (Err(e), _) => Err(e.clone()),
                    (_, Err(e)) => Err(format!("{}: {e}", self.drivers[reference].name)),
                };
                let nothing = Difference { largest: f64::NAN, share: 1.0, nan_mismatch: 0, equal: false };
                let d = compared.clone().unwrap_or(nothing);
                list.push(Agreement {
                    kernel: k.name.into(),
                    driver: driver.name.clone(),
                    reference: self.drivers[reference].name.clone(),
                    largest_difference: d.largest,
                    share_beyond_tolerance: d.share,
                    nan_mismatches: d.nan_mismatch,
                    equal: d.equal,
                    error: compared.err(),
                });
            }
        }
        list
    }

    fn output(&self, driver: &Driver, k: &Spec) -> Result<Vec<u32>, String> {
        let path = client::scratch(&format!("{}-{}", driver.name, k.name)).map_err(|e| e.to_string())?;
        self.once(driver, Threads::All, &Request::Output { kernel: k.name.into(), path: path.clone() })?;
        let bytes = std::fs::read(&path).map_err(|e| e.to_string());
        let _ = std::fs::remove_file(&path);
        Ok(bytes?.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
    }
}

pub fn words(threads: Threads) -> String {
    match threads {
        Threads::Count(1) => "1 thread".into(),
        Threads::Count(n) => format!("{n} threads"),
        Threads::All => {
            let n = std::thread::available_parallelism().map_or(1, |n| n.get());
            format!("all threads ({n} CPUs)")
        }
    }
}

pub fn clock(threads: Threads) -> &'static str {
    if threads == Threads::Count(1) { "CPU" } else { "wall" }
}
