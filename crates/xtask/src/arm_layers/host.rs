//! The host's side of Arm's layers: lglpy's server, as it is.

use crate::cargo::wait_for;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a scene may take; it takes a second.
const PATIENCE: Duration = Duration::from_secs(120);

/// What servers are made of.
pub struct Hosts {
    /// libGPULayers.
    pub source: PathBuf,
    /// A Python that has what lglpy imports.
    pub python: PathBuf,
}

impl Hosts {
    /// A server that leaves what it is sent in this folder.
    pub fn start(&self, folder: &Path) -> Result<Host, String> {
        let script = folder.join("host.py");
        std::fs::write(&script, include_str!("host.py")).map_err(|e| format!("{}: {e}", script.display()))?;
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(&script).arg(&self.source).arg(folder);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: {e}", self.python.display()))?;
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            let mut out = BufReader::new(out);
            let _ = out.read_line(&mut line);
            // What it says later is of no interest, but it must not block.
            std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        }
        let host = Host(child);
        if line.trim() == "ready" {
            Ok(host)
        } else {
            Err("the host's side of the layers did not start".into())
        }
    }
}

/// Runs a scene to its end, what it prints in `log.txt` of `folder`; `host` then has ended too.
pub fn run_scene(mut scene: Command, folder: &Path, name: &str, host: Option<Host>) -> Result<(), String> {
    let path = folder.join("log.txt");
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let log = std::fs::File::create(&path).map_err(failed)?;
    scene.stdout(log.try_clone().map_err(failed)?).stderr(log);
    println!("xtask: {}, {name}", Path::new(scene.get_program()).display());
    let mut child = scene.spawn().map_err(|e| format!("{name}: {e}"))?;
    let ended = ended(&mut child, PATIENCE);
    let host = host.map_or(Ok(()), Host::end);
    ended.and(host).map_err(|e| {
        let log = std::fs::read(&path).unwrap_or_default();
        format!("{name}: {e}\n{}", String::from_utf8_lossy(&log))
    })
}

/// lglpy's server, until its input ends.
pub struct Host(Child);

impl Host {
    fn end(mut self) -> Result<(), String> {
        drop(self.0.stdin.take());
        ended(&mut self.0, PATIENCE).map_err(|e| format!("the host's side: {e}"))
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A child's success, if it has it in time.
fn ended(child: &mut Child, patience: Duration) -> Result<(), String> {
    match wait_for(child, patience).map_err(|e| e.to_string())? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(status.to_string()),
        None => Err(format!("did not end within {} s", patience.as_secs())),
    }
}
