//! Chromium, driven through its DevTools protocol over a pair of pipes.

use base64::Engine as _;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

pub struct Browser {
    child: Child,
    to: File,
    from: Receiver<Value>,
    last: u64,
    /// Events that arrived while an answer was waited for.
    events: Vec<Value>,
}

/// A page of the browser. Its events are those of the browser that carry its session.
pub struct Tab {
    target: String,
    session: String,
}

impl Browser {
    /// Starts `command`, a Chromium with all its options except those of the protocol. `folder` holds the pipes and the log.
    pub fn start(command: &Command, folder: &Path) -> Result<Browser, String> {
        let pipe = |name: &str| {
            let path = folder.join(name);
            let _ = std::fs::remove_file(&path);
            let made = Command::new("mkfifo").arg(&path).status().map_err(|e| format!("mkfifo: {e}"))?;
            if made.success() { Ok(path) } else { Err(format!("mkfifo {}: {made}", path.display())) }
        };
        let (commands, answers) = (pipe("commands")?, pipe("answers")?);
        // Chromium reads commands from descriptor 3 and writes answers to 4. Bash opens them: each `open` waits until the
        // other side opens the same pipe, so the order here is the order below.
        let mut bash = Command::new("bash");
        bash.args(["-c", r#"exec 3<"$0" 4>"$1"; shift; exec "$@" --remote-debugging-pipe"#]);
        bash.arg(&commands).arg(&answers).arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => bash.env(name, value),
                None => bash.env_remove(name),
            };
        }
        let log = folder.join("log");
        let log = File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let child = bash
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("bash: {e}"))?;
        let open = |r: std::io::Result<File>| r.map_err(|e| format!("a pipe of Chromium: {e}"));
        let to = open(File::options().write(true).open(&commands))?;
        let answers = open(File::open(&answers))?;
        let (send, from) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(answers).split(0).map_while(Result::ok);
            for message in messages.filter_map(|m| serde_json::from_slice(&m).ok()) {
                if send.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Browser { child, to, from, last: 0, events: vec![] })
    }

    /// Calls a method of the protocol, and waits for what it answers.
    pub fn call(&mut self, tab: Option<&Tab>, method: &str, parameters: Value) -> Result<Value, String> {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if let Some(tab) = tab {
            message["sessionId"] = tab.session.as_str().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).map_err(|e| format!("{method}: {e}"))?;
        let end = Instant::now() + Duration::from_secs(120);
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let answer = match self.from.recv_timeout(left) {
                Ok(answer) => answer,
                Err(RecvTimeoutError::Timeout) => return Err(format!("{method}: no answer in two minutes")),
                Err(RecvTimeoutError::Disconnected) => return Err(format!("{method}: Chromium has ended")),
            };
            if answer["id"] != self.last {
                self.events.push(answer);
            } else if let Some(error) = answer["error"]["message"].as_str() {
                return Err(format!("{method}: {error}"));
            } else {
                return Ok(answer["result"].clone());
            }
        }
    }

    /// The events of a tab since the last call, after a wait of up to `wait` for the first.
    pub fn events(&mut self, tab: &Tab, wait: Duration) -> Vec<Value> {
        if self.events.is_empty() {
            self.events.extend(self.from.recv_timeout(wait));
        }
        self.events.extend(self.from.try_iter());
        let (own, _others): (Vec<_>, Vec<_>) =
            self.events.drain(..).partition(|e| e["sessionId"] == tab.session.as_str());
        own
    }

    /// An empty page of `width` × `height` pixels that runs `script` before each document's own scripts.
    pub fn open(&mut self, width: u32, height: u32, script: &str) -> Result<Tab, String> {
        let made = self.call(None, "Target.createTarget", json!({"url": "about:blank"}))?;
        let target = made["targetId"].as_str().unwrap_or_default().to_string();
        let joined =
            self.call(None, "Target.attachToTarget", json!({"targetId": target, "flatten": true}))?;
        let tab = Tab { target, session: joined["sessionId"].as_str().unwrap_or_default().into() };
        for domain in ["Page", "Runtime", "Network", "Inspector"] {
            self.call(Some(&tab), &format!("{domain}.enable"), json!({}))?;
        }
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call(Some(&tab), "Emulation.setDeviceMetricsOverride", size)?;
        self.call(Some(&tab), "Page.addScriptToEvaluateOnNewDocument", json!({"source": script}))?;
        Ok(tab)
    }

    pub fn close(&mut self, tab: &Tab) -> Result<(), String> {
        self.call(None, "Target.closeTarget", json!({"targetId": tab.target})).map(|_| ())
    }

    /// What an expression of JavaScript, or the promise that it gives, comes to.
    pub fn evaluate(&mut self, tab: &Tab, expression: &str) -> Result<Value, String> {
        let parameters = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call(Some(tab), "Runtime.evaluate", parameters)?;
        match answer["exceptionDetails"]["exception"]["description"].as_str() {
            Some(what) => Err(what.into()),
            None => Ok(answer["result"]["value"].clone()),
        }
    }

    /// A picture of the page, a PNG file.
    pub fn picture(&mut self, tab: &Tab) -> Result<Vec<u8>, String> {
        let answer = self.call(Some(tab), "Page.captureScreenshot", json!({"format": "png"}))?;
        let data = answer["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(data).map_err(|e| format!("a picture: {e}"))
    }

    /// CPU seconds of the GPU process so far, and its process id.
    pub fn gpu_seconds(&mut self) -> Result<(f64, i64), String> {
        let answer = self.call(None, "SystemInfo.getProcessInfo", json!({}))?;
        let mut processes = answer["processInfo"].as_array().into_iter().flatten();
        let gpu = processes.find(|p| p["type"] == "GPU").ok_or("Chromium has no GPU process")?;
        Ok((gpu["cpuTime"].as_f64().unwrap_or_default(), gpu["id"].as_i64().unwrap_or_default()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.call(None, "Browser.close", json!({}));
        let _ = crate::cargo::wait_for(&mut self.child, Duration::from_secs(10));
    }
}
