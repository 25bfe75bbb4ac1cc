//! The parent: starts children, lets them take turns, compares their outputs and collects the figures.

use crate::Args;
use crate::table;
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

    fn add(&mut self, answer: Result<Answer, String>) {
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

/// One table: a row a kernel, a column a driver.
#[derive(Serialize, Debug)]
pub struct Section {
    pub title: String,
    pub clock: &'static str,
    pub rows: BTreeMap<String, BTreeMap<String, Times>>,
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
}

impl Report {
    /// Nothing failed and all outputs agree.
    pub fn good(&self) -> bool {
        let mut times = self.sections.iter().flat_map(|s| s.rows.values()).flat_map(|r| r.values());
        times.all(|t| t.error.is_none()) && self.outputs.iter().all(|o| o.equal)
    }
}

pub struct Bench<'a> {
    pub args: &'a Args,
    pub drivers: Vec<Driver>,
    pub kernels: Vec<&'static Spec>,
}

impl Bench<'_> {
    pub fn run(&self, threads: &[Threads]) -> Report {
        let mut report = Report::default();
        for d in &self.drivers {
            let who = self.once(d, Threads::All, &Request::Hello);
            let who = match who {
                Ok(Answer::Hello { device, driver }) => format!("{device}; {driver}"),
                Ok(other) => format!("unexpected answer {other:?}"),
                Err(e) => format!("does not open: {e}"),
            };
            println!("{}: {who} ({})", d.name, d.icd.display());
            report.drivers.insert(d.name.clone(), who);
        }
        report.outputs = self.outputs();
        table::outputs(&report.outputs);
        for &t in threads {
            let mut sections = Vec::new();
            if !self.args.no_run {
                sections.push(self.run_times(t));
            }
            if !self.args.no_create {
                sections.push(self.creation(t));
            }
            sections.push(self.empty(t));
            for s in sections {
                table::section(&s, &self.names(), &self.kernels);
                report.sections.push(s);
            }
        }
        report
    }

    fn names(&self) -> Vec<String> {
        self.drivers.iter().map(|d| d.name.clone()).collect()
    }

    fn voice(&self, driver: &Driver, threads: Threads) -> client::Result<Voice> {
        let this = std::env::current_exe().map_err(|e| client::Error(format!("own path: {e}")))?;
        let mut command = Command::new(this);
        command.arg("--child");
        if let (Some(level), "tuff") = (&self.args.simd, driver.name.as_str()) {
            command.env("TUFF_SIMD", level);
        }
        Voice::start(command, driver, threads, Duration::from_secs(self.args.timeout_s))
    }

    /// Asks a fresh child one thing.
    fn once(&self, driver: &Driver, threads: Threads, request: &Request) -> Result<Answer, String> {
        self.voice(driver, threads).map_err(|e| e.to_string())?.ask(request)
    }

    fn run_times(&self, threads: Threads) -> Section {
        let mut rows = BTreeMap::new();
        let mut voices: Vec<Option<Voice>> = self.drivers.iter().map(|_| None).collect();
        for k in &self.kernels {
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
                        let request = Request::Time { kernel: k.name.into(), budget_ms: self.args.budget_ms };
                        times[i].add(voice.ask(&request));
                    }
                    if times[i].error.is_some() {
                        voices[i] = None; // the next kernel gets a new child
                    }
                }
            }
            rows.insert(k.name.to_string(), self.names().into_iter().zip(times).collect());
        }
        Section { title: format!("run time, {}", words(threads)), clock: clock(threads), rows, threads }
    }

    fn creation(&self, threads: Threads) -> Section {
        let mut rows = BTreeMap::new();
        for k in &self.kernels {
            let mut times = vec![Times::default(); self.drivers.len()];
            for _ in 0..self.args.create_rounds {
                for (driver, times) in self.drivers.iter().zip(&mut times) {
                    if times.error.is_none() {
                        times.add(self.once(driver, threads, &Request::Create { kernel: k.name.into() }));
                    }
                }
            }
            rows.insert(k.name.to_string(), self.names().into_iter().zip(times).collect());
        }
        let title = format!("creation + first dispatch (one workgroup), {}", words(threads));
        Section { title, clock: clock(threads), rows, threads }
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
        let rows = BTreeMap::from([("empty".to_string(), self.names().into_iter().zip(times).collect())]);
        // What a program waits for is wall time, on any number of threads.
        let title = format!("an empty dispatch, submitted and waited for, {}", words(threads));
        Section { title, clock: "wall", rows, threads: Threads::All }
    }

    /// Every driver's output of every kernel against the reference's: lavapipe's, or else the first driver's.
    fn outputs(&self) -> Vec<Agreement> {
        let reference = self.drivers.iter().position(|d| d.name == "lavapipe").unwrap_or(0);
        let mut list = Vec::new();
        if self.drivers.len() < 2 {
            return list;
        }
        for k in &self.kernels {
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
        let file = format!("tuff-bench-{}-{}-{}", std::process::id(), driver.name, k.name);
        let path = std::env::temp_dir().join(file);
        self.once(driver, Threads::All, &Request::Output { kernel: k.name.into(), path: path.clone() })?;
        let bytes = std::fs::read(&path).map_err(|e| e.to_string());
        let _ = std::fs::remove_file(&path);
        Ok(bytes?.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect())
    }
}

fn words(threads: Threads) -> String {
    match threads {
        Threads::Count(1) => "1 thread".into(),
        Threads::Count(n) => format!("{n} threads"),
        Threads::All => {
            let n = std::thread::available_parallelism().map_or(1, |n| n.get());
            format!("all threads ({n} CPUs)")
        }
    }
}

fn clock(threads: Threads) -> &'static str {
    if threads == Threads::Count(1) { "CPU" } else { "wall" }
}
