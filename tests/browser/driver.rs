//! A headless Chromium, by the WebDriver protocol: pages are opened, asked and looked at as a reader's browser would.
#![allow(dead_code)] // each test binary uses a part

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// No page of these tests takes longer to read.
const LOADED: Duration = Duration::from_secs(60);

/// A browser with one window. It ends when this is dropped.
pub struct Browser {
    driver: Child,
    /// What it writes still: without a reader it would end.
    _said: BufReader<ChildStdout>,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// Where chromedriver is: `CORR_CHROMEDRIVER`, else on the PATH.
fn chromedriver() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CORR_CHROMEDRIVER") {
        return Some(PathBuf::from(named));
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|dir| dir.join("chromedriver")).find(|path| path.is_file())
}

impl Browser {
    /// Starts one. `None`, and a line that says why, where there is no chromedriver or no browser; with `CORR_BROWSER=required` that is an error.
    pub fn start() -> Option<Browser> {
        let started = match chromedriver() {
            Some(path) => Browser::by(&path),
            None => Err("no chromedriver on the PATH, and CORR_CHROMEDRIVER names none".into()),
        };
        match started {
            Ok(browser) => Some(browser),
            Err(why) if std::env::var_os("CORR_BROWSER").is_some_and(|v| v == "required") => panic!("CORR_BROWSER=required: {why}"),
            Err(why) => {
                println!("skipped: {why}");
                None
            }
        }
    }

    fn by(path: &Path) -> Result<Browser, String> {
        let profile = tempfile::tempdir().map_err(|e| e.to_string())?;
        let mut driver = Command::new(path)
            .args(["--port=0", "--log-level=WARNING"])
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| format!("{}: {e}", path.display()))?;
        let (port, said) = match driver.stdout.take().and_then(port_of) {
            Some(found) => found,
            None => {
                let _ = driver.kill();
                let _ = driver.wait();
                return Err("chromedriver did not say its port".into());
            }
        };
        let mut browser = Browser { driver, _said: said, port, session: String::new(), _profile: profile };
        let data = format!("--user-data-dir={}", browser._profile.path().join("profile").display());
        let flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,900",
            &data,
        ];
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": flags},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let answer = browser.ask("POST", "/session", &wanted)?;
        browser.session = answer["sessionId"].as_str().ok_or("no session")?.to_string();
        // What the browser does with its own first page is none of ours.
        browser.open("about:blank");
        browser.requests();
        browser.console();
        Ok(browser)
    }

    /// One call of the protocol; gives `value`.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(|e| e.to_string())?;
        stream.set_read_timeout(Some(Duration::from_secs(120))).map_err(|e| e.to_string())?;
        let text = if method == "POST" { body.to_string() } else { String::new() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            text.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(text.as_bytes())).map_err(|e| e.to_string())?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        let mut line = String::new();
        loop {
            line.clear();
            reader.read_line(&mut line).map_err(|e| e.to_string())?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                if line.trim_end().is_empty() {
                    break;
                }
                continue;
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().map_err(|_| "a length that is no number")?;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).map_err(|e| e.to_string())?;
        let answer: Value = serde_json::from_slice(&answer).map_err(|e| e.to_string())?;
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"].as_str().unwrap_or(""))),
            None => Ok(answer["value"].clone()),
        }
    }

    fn call(&self, method: &str, path: &str, body: Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        self.ask(method, &path, &body).unwrap_or_else(|why| panic!("{method} {path}: {why}"))
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&self, url: &str) {
        self.call("POST", "/url", json!({"url": url}));
        // On a busy machine the driver may answer while the page is still read.
        let began = Instant::now();
        while self.text("document.readyState") != "complete" {
            assert!(began.elapsed() < LOADED, "{url} is not loaded");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens a file.
    pub fn open_file(&self, path: &Path) {
        self.open(&format!("file://{}", path.display()));
    }

    /// What a script returns, run in the page.
    pub fn eval(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", json!({"script": script, "args": []}))
    }

    /// A number that a script returns.
    pub fn count(&self, script: &str) -> u64 {
        let value = self.eval(&format!("return {script};"));
        value.as_u64().unwrap_or_else(|| panic!("{script} gave {value}"))
    }

    /// The text that a script returns.
    pub fn text(&self, script: &str) -> String {
        let value = self.eval(&format!("return {script};"));
        value.as_str().unwrap_or_else(|| panic!("{script} gave {value}")).to_string()
    }

    fn element(&self, css: &str) -> String {
        let found = self.call("POST", "/element", json!({"using": "css selector", "value": css}));
        let id = found.as_object().and_then(|o| o.values().next()).and_then(Value::as_str);
        id.unwrap_or_else(|| panic!("{css}: {found}")).to_string()
    }

    /// Clicks an element, as a reader would: it must be seen.
    pub fn click(&self, css: &str) {
        let id = self.element(css);
        self.call("POST", &format!("/element/{id}/click"), json!({}));
    }

    /// Types into an element; `\u{e007}` is the Enter key.
    pub fn keys(&self, css: &str, text: &str) {
        let id = self.element(css);
        self.call("POST", &format!("/element/{id}/value"), json!({"text": text}));
    }

    /// A command of the browser's own protocol.
    pub fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.call("POST", "/goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    /// Scripts of pages that are opened from now on run, or do not.
    pub fn scripts(&self, run: bool) {
        self.cdp("Emulation.setScriptExecutionDisabled", json!({"value": !run}));
    }

    /// `light` or `dark`; `screen` or `print`.
    pub fn look(&self, scheme: &str, media: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.cdp("Emulation.setEmulatedMedia", json!({"media": media, "features": features}));
    }

    /// Width and height of the window, in CSS pixels.
    pub fn size(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.cdp("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Everything that was written to the console, and errors of the page, since this was last asked.
    pub fn console(&self) -> Vec<String> {
        self.log("browser").iter().map(|entry| format!("{}: {}", entry["level"], entry["message"])).collect()
    }

    /// Addresses that pages asked for since this was last asked, but for the browser's own.
    pub fn requests(&self) -> Vec<String> {
        let message = |entry: &Value| serde_json::from_str::<Value>(entry["message"].as_str()?).ok();
        let url = |message: Value| {
            let sent = &message["message"];
            let of_browser = sent["params"]["documentURL"].as_str().is_some_and(|url| url.starts_with("chrome"));
            let wanted = sent["method"] == "Network.requestWillBeSent" && !of_browser;
            wanted.then(|| sent["params"]["request"]["url"].as_str().unwrap_or("").to_string())
        };
        self.log("performance").iter().filter_map(message).filter_map(url).collect()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.call("POST", "/se/log", json!({"type": kind})).as_array().cloned().unwrap_or_default()
    }

    /// The whole page as PNG, saved as `NAME.png` in the folder that `CORR_SHOTS` names, if it names one.
    pub fn shot(&self, name: &str) {
        let Some(dir) = std::env::var_os("CORR_SHOTS") else { return };
        let shot = self.cdp("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        let png = STANDARD.decode(shot["data"].as_str().expect("a picture")).expect("base64");
        std::fs::create_dir_all(&dir).expect("the folder of pictures");
        std::fs::write(Path::new(&dir).join(format!("{name}.png")), png).expect("write a picture");
    }
}

/// The port that chromedriver says it listens on.
fn port_of(stdout: ChildStdout) -> Option<(u16, BufReader<ChildStdout>)> {
    let mut said = BufReader::new(stdout);
    let mut line = String::new();
    while said.read_line(&mut line).ok()? > 0 {
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Some((port.trim().trim_end_matches('.').parse().ok()?, said));
        }
        line.clear();
    }
    None
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.ask("DELETE", &format!("/session/{}", self.session), &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
