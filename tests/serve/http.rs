//! A served run, and the least of HTTP that asks it: bytes are sent as a test writes them.
#![allow(dead_code)] // each test binary uses a part

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::program::Place;

/// `corr serve` on a free port; it ends when this is dropped.
pub struct Serving {
    child: Child,
    pub port: u16,
    /// What it said on standard error before the address.
    pub said: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    /// The value of a header, empty if there is none.
    pub fn header(&self, name: &str) -> &str {
        let value = |line: &'_ str| line.split_once(':').filter(|(n, _)| n.eq_ignore_ascii_case(name)).is_some();
        self.head.lines().find(|line| value(line)).and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
    }

    pub fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

impl Serving {
    /// Starts it with these arguments and waits for its address.
    pub fn start(place: &Place, arguments: &[&str]) -> Serving {
        let mut words = vec!["serve", "--port", "0"];
        words.extend(arguments);
        let mut child = place.command(&words).spawn().expect("start corr serve");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("its address");
        let port = line.trim().strip_prefix("http://127.0.0.1:").and_then(|l| l.strip_suffix('/')).and_then(|p| p.parse().ok());
        let Some(port) = port else {
            let _ = child.kill();
            let mut said = String::new();
            let _ = child.stderr.take().map(|mut pipe| pipe.read_to_string(&mut said));
            panic!("no address: {line:?} {said}");
        };
        // What was said stands in the pipe already, as the address came after it.
        let mut said = [0; 4096];
        let pipe = child.stderr.as_mut().expect("its errors");
        let said = if words.contains(&"--bodies") {
            pipe.read(&mut said).map_or(String::new(), |n| String::from_utf8_lossy(&said[..n]).into_owned())
        } else {
            String::new()
        };
        Serving { child, port, said }
    }

    /// The address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connect");
        stream.set_read_timeout(Some(Duration::from_secs(120))).expect("a time limit");
        stream
    }

    /// Sends a request as it is written.
    pub fn ask(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("send");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        let text = String::from_utf8(bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {request:?}: {text:?}"));
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        Answer { status, head: head.to_string(), body: body.to_string() }
    }

    /// Asks for a path by a method.
    pub fn by(&self, method: &str, path: &str) -> Answer {
        self.ask(&format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port))
    }

    pub fn get(&self, path: &str) -> Answer {
        self.by("GET", path)
    }

    /// Sends a signal to this process alone.
    pub fn signal(&self, signal: &str) {
        let sent = std::process::Command::new("kill").args([signal, &self.child.id().to_string()]).status().expect("kill");
        assert!(sent.success());
    }

    /// Waits for its end: exit code, and how long it took.
    pub fn ended(&mut self) -> (Option<i32>, Duration) {
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait().expect("its end") {
                return (status.code(), began.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a reader sees of HTML: tags left out, references read.
pub fn text_of(html: &str) -> String {
    let mut out = String::new();
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            c if !inside => out.push(c),
            _ => {}
        }
    }
    for (reference, text) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
        out = out.replace(reference, text);
    }
    out
}
