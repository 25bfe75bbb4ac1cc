//! A client of the Debug Adapter Protocol, as an editor is one.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    seq: u64,
    /// Events that have come.
    pub events: Vec<Value>,
}

impl Client {
    pub fn new() -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tuff"));
        let command = command.args(["debug", "--dap"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Client { child, input, output: BufReader::new(output), seq: 0, events: vec![] }
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has gone");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(n) => length = n.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => panic!("{line}"),
            }
        }
        let mut body = vec![0; length];
        self.output.read_exact(&mut body).unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    pub fn send(&mut self, command: &str, arguments: Value) {
        self.seq += 1;
        let message =
            json!({ "seq": self.seq, "type": "request", "command": command, "arguments": arguments });
        self.raw(&message.to_string());
    }

    pub fn raw(&mut self, body: &str) {
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }

    /// The response to the last request.
    pub fn response(&mut self) -> Value {
        loop {
            let message = self.read();
            match message["type"].as_str() {
                Some("event") => self.events.push(message),
                Some("response") => {
                    assert_eq!(message["request_seq"], self.seq);
                    return message;
                }
                _ => panic!("{message}"),
            }
        }
    }

    /// The body of a request's response.
    pub fn ask(&mut self, command: &str, arguments: Value) -> Value {
        self.send(command, arguments);
        let response = self.response();
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// Waits for an event; its body.
    pub fn wait(&mut self, event: &str) -> Value {
        if let Some(k) = self.events.iter().position(|e| e["event"] == event) {
            return self.events.remove(k)["body"].clone();
        }
        loop {
            let message = self.read();
            assert_eq!(message["type"], "event", "{message}");
            if message["event"] == event {
                return message["body"].clone();
            }
            self.events.push(message);
        }
    }

    /// The server ends by itself.
    pub fn ended(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}
