//! Real programs on Tuff and its peers: `benches --clients`.
//!
//! Which ones, what they need and what is checked of their output stands in `benches/clients/clients.toml` ([`list`]). A
//! client is a program that sees one driver alone, as the children of the other benches do; what counts is the CPU time
//! of its process, with everything that it does besides ([`run`]). Drivers take turns, round by round, and each output
//! is compared with the peer's ([`compare`]). One that cannot be run is said, and makes the whole run fail.

mod compare;
mod list;
mod run;

use crate::parent::{Bench, Times, words};
use client::drivers::{Driver, Threads};
use client::session::Answer;
use list::Client;
use run::{Place, Run};
use serde::Serialize;
use std::collections::BTreeMap;

/// One row: a client, or a part of it, on some number of threads.
#[derive(Serialize, Debug)]
struct Row {
    client: String,
    part: String,
    threads: String,
    /// CPU seconds by driver.
    times: BTreeMap<String, Times>,
    /// What is wrong with the first driver's output; nothing if it is right.
    wrong: Option<String>,
}

/// Everything that was measured.
#[derive(Serialize, Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
    /// Clients that could not be run, and what they need.
    not_run: BTreeMap<String, String>,
}

impl Report {
    /// Every client ran on every driver, and what it showed is right.
    pub fn good(&self) -> bool {
        let times = |r: &Row| r.times.values().all(|t| t.error.is_none());
        self.not_run.is_empty() && self.rows.iter().all(|r| r.wrong.is_none() && times(r))
    }
}

/// Runs the clients that the arguments choose.
pub fn run(bench: &Bench, threads: &[Threads]) -> client::Result<Report> {
    let clients = list::chosen(&bench.args.only, &bench.args.without)?;
    let mut report = Report::default();
    let [own, peers @ ..] = &bench.drivers[..] else {
        return Err(client::Error("no driver to run clients on".into()));
    };
    if peers.is_empty() {
        return Err(client::Error(format!("clients need a peer to compare {} with", own.name)));
    }
    let place = Place::new(&bench.args.python)?;
    let devices = bench.drivers.iter().map(|d| {
        let (device, driver) = bench.who(d).map_err(|e| client::Error(format!("{}: {e}", d.name)))?;
        println!("{}: {device}; {driver} ({})", d.name, d.icd.display());
        Ok((d, device))
    });
    let devices = devices.collect::<client::Result<Vec<_>>>()?;
    header(&bench.names());
    for client in &clients {
        let missing = client.missing(&place.python);
        if !missing.is_empty() {
            println!("not run: {}: needs {}", client.name, missing.join(", "));
            report.not_run.insert(client.name.clone(), missing.join(", "));
            continue;
        }
        for &t in threads {
            let bout = Bout { bench, client, devices: &devices, place: &place, threads: t };
            let rows: Vec<Row> = client.parts().iter().map(|part| bout.row(part)).collect();
            means(&rows, &bench.names());
            report.rows.extend(rows);
        }
    }
    Ok(report)
}

/// A client on some number of threads.
struct Bout<'a> {
    bench: &'a Bench<'a>,
    client: &'a Client,
    /// Drivers, and what their devices are called.
    devices: &'a [(&'a Driver, String)],
    place: &'a Place,
    threads: Threads,
}

impl Bout<'_> {
    fn once(&self, i: usize, words: &[String], part: &str) -> Result<Run, String> {
        let (driver, device) = &self.devices[i];
        let forgiven = self.client.peer_may_say.as_deref().filter(|_| i > 0);
        self.place.run(self.client, words, part, (driver, device), self.threads, forgiven)
    }

    /// The rounds of one part.
    fn row(&self, part: &str) -> Row {
        let mut times = vec![Times::default(); self.devices.len()];
        // By driver.
        let mut outputs: Vec<Vec<Run>> = self.devices.iter().map(|_| Vec::new()).collect();
        for _ in 0..self.bench.args.rounds {
            for (i, times) in times.iter_mut().enumerate().filter(|(_, t)| t.error.is_none()) {
                match self.once(i, &self.client.command, part) {
                    Ok(run) => {
                        times.add(Ok(Answer::Span { wall: run.wall, cpu: run.cpu }));
                        outputs[i].push(run);
                    }
                    Err(e) => times.error = Some(e),
                }
            }
        }
        let wrong = self.checked(outputs, part).unwrap_or_else(Some);
        let names = self.bench.names().into_iter();
        let row = Row {
            client: self.client.name.clone(),
            part: part.rsplit_once(':').map_or(part, |(name, _)| name).into(),
            threads: words(self.threads),
            times: names.zip(times).collect(),
            wrong,
        };
        row.show(&self.bench.names());
        row
    }

    /// What is wrong with the first driver's outputs, of the rounds or of the client's command for that.
    fn checked(&self, mut outputs: Vec<Vec<Run>>, part: &str) -> Result<Option<String>, String> {
        let own = &self.client.check_command;
        let words = if own.is_empty() { &self.client.command } else { own };
        if !own.is_empty() {
            let runs = (0..self.devices.len()).map(|i| Ok(vec![self.once(i, words, part)?]));
            outputs = runs.collect::<Result<_, String>>()?;
        }
        // A driver that has none has said why.
        let fails = outputs.iter().any(Vec::is_empty);
        for _ in 0..PEERS_TRIES {
            match self.compare(&outputs, part) {
                Some(_) if !fails => {}
                wrong => return Ok(wrong),
            }
            for (i, runs) in outputs.iter_mut().enumerate().skip(1) {
                runs.push(self.once(i, words, part)?);
            }
        }
        Ok(self.compare(&outputs, part))
    }

    /// What is wrong with the first driver's outputs beside those of each other one, of which one has to agree.
    fn compare(&self, outputs: &[Vec<Run>], part: &str) -> Option<String> {
        let plain = self.client.is_plain(part);
        let beside = |own: &Run, peers: &[Run]| {
            let mut first = None;
            for peer in peers {
                // Nothing wrong: it agrees.
                let wrong = self.client.check.wrong(own, peer, plain)?;
                first.get_or_insert(wrong);
            }
            first
        };
        let [own, peers @ ..] = outputs else { return None };
        peers.iter().find_map(|peers| own.iter().find_map(|own| beside(own, peers)))
    }
}

/// How often peers may try again: their pictures may differ from run to run (lavapipe's of mpv's gpu-hq are black in
/// four of nine).
const PEERS_TRIES: u32 = 6;

fn header(names: &[String]) {
    print!("\n{:26}{:24}", "client", "CPU s, best (median)");
    names.iter().for_each(|n| print!("{n:>18}"));
    names[1..].iter().for_each(|n| print!("{:>16}", format!("× {n}")));
    println!("  picture or numbers");
}

impl Row {
    fn cpu(&self, name: &str) -> (f64, f64) {
        // One thread's clock is CPU time; here all are measured so.
        let t = &self.times[name];
        (t.min(Threads::Count(1)), t.median(Threads::Count(1)))
    }

    /// How much more CPU time a peer takes than the first driver: by the best rounds, by the median ones.
    fn ratios(&self, own: &str, peer: &str) -> (f64, f64) {
        let ((best, middle), (peer_best, peer_middle)) = (self.cpu(own), self.cpu(peer));
        (peer_best / best, peer_middle / middle)
    }

    fn show(&self, names: &[String]) {
        print!("{:26}{:24}", format!("{} {}", self.client, self.part), self.threads);
        for n in names {
            let (best, middle) = self.cpu(n);
            print!("{:>18}", format!("{best:.2} ({middle:.2})"));
        }
        for n in &names[1..] {
            let (best, middle) = self.ratios(&names[0], n);
            print!("{:>16}", format!("{best:.2} ({middle:.2})"));
        }
        println!("  {}", self.wrong.as_ref().map_or("right".into(), |w| format!("WRONG: {w}")));
        for (n, e) in self.times.iter().filter_map(|(n, t)| Some((n, t.error.as_ref()?))) {
            println!("  {n}: {e}");
        }
    }
}

/// The geometric mean of a client's parts.
fn means(rows: &[Row], names: &[String]) {
    let whole: Vec<_> = rows.iter().filter(|r| r.times.values().all(|t| t.error.is_none())).collect();
    if rows.len() < 2 {
        return;
    }
    for peer in &names[1..] {
        let ratios = || whole.iter().map(|r| r.ratios(&names[0], peer));
        let mean = |logs: f64| (logs / whole.len() as f64).exp();
        let best = mean(ratios().map(|r| r.0.ln()).sum());
        let middle = mean(ratios().map(|r| r.1.ln()).sum());
        let title = format!("{}, geometric mean of {} of {}", rows[0].client, whole.len(), rows.len());
        println!("{title:50}{:>width$}", format!("{best:.2} ({middle:.2})"), width = 18 * names.len() + 16);
    }
}
