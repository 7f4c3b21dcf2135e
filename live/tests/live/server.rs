//! A server for tests: one thread a connection, and an answer for every request by its number.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What is done with a request.
pub enum Answer {
    /// These bytes, then the connection is closed.
    Raw(Vec<u8>),
    /// The same after a while.
    After(Duration, Vec<u8>),
    /// A body that does not end.
    Endless,
}

/// A 200 with a body.
pub fn ok(body: &str) -> Answer {
    typed("text/plain; version=0.0.4; charset=utf-8", body)
}

/// A 200 of some type.
pub fn typed(content_type: &str, body: &str) -> Answer {
    Answer::Raw(http("200 OK", content_type, body))
}

/// An answer with another status.
pub fn status(line: &str) -> Answer {
    Answer::Raw(http(line, "text/plain", "no\n"))
}

pub fn http(status: &str, content_type: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nserver: uvicorn\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
        .into_bytes()
}

type Behaviour = dyn Fn(u64, &str) -> Answer + Send + Sync;

/// Listens until dropped or stopped.
pub struct Server {
    pub at: SocketAddr,
    behaviour: Arc<Behaviour>,
    requests: Arc<Mutex<Vec<String>>>,
    count: Arc<AtomicU64>,
    running: Option<(Arc<AtomicBool>, JoinHandle<()>)>,
}

impl Server {
    /// `behaviour` gets the number of the request, from 0, and its head.
    pub fn new(behaviour: impl Fn(u64, &str) -> Answer + Send + Sync + 'static) -> Server {
        let mut server = Server {
            at: "127.0.0.1:0".parse().unwrap(),
            behaviour: Arc::new(behaviour),
            requests: Arc::default(),
            count: Arc::default(),
            running: None,
        };
        server.start();
        server
    }

    /// Listens, on the port it had before.
    pub fn start(&mut self) {
        let listener = TcpListener::bind(self.at).unwrap();
        self.at = listener.local_addr().unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let (flag, behaviour, requests, count) = (stopped.clone(), self.behaviour.clone(), self.requests.clone(), self.count.clone());
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if flag.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (behaviour, requests, count) = (behaviour.clone(), requests.clone(), count.clone());
                std::thread::spawn(move || serve(stream, &*behaviour, &requests, &count));
            }
        });
        self.running = Some((stopped, thread));
    }

    /// Nothing listens any more.
    pub fn stop(&mut self) {
        if let Some((stopped, thread)) = self.running.take() {
            stopped.store(true, Ordering::SeqCst);
            // Wakes the thread that accepts.
            drop(TcpStream::connect(self.at));
            thread.join().unwrap();
        }
    }

    /// The heads of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.at)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A URL where nothing listens.
pub fn nobody() -> String {
    // A port that was free a moment ago may be another test's now; on this one nothing listens that asks the system for a port.
    "http://127.0.0.1:1/metrics".into()
}

fn serve(mut stream: TcpStream, behaviour: &Behaviour, requests: &Mutex<Vec<String>>, count: &AtomicU64) {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    while !head.windows(4).any(|w| w == b"\r\n\r\n") {
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => return,
            Ok(n) => head.extend_from_slice(&chunk[..n]),
        }
        // A TLS handshake never has a blank line: what a server of plain HTTP says to it is said at once.
        if head.first() == Some(&0x16) {
            break;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    requests.lock().unwrap().push(head.clone());
    let number = count.fetch_add(1, Ordering::SeqCst);
    // The client may have gone: that is what some tests are about.
    let _ = match behaviour(number, &head) {
        Answer::Raw(bytes) => stream.write_all(&bytes),
        Answer::After(wait, bytes) => {
            std::thread::sleep(wait);
            stream.write_all(&bytes)
        }
        Answer::Endless => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
            while stream.write_all(&[b'#'; 4096]).is_ok() {}
            Ok(())
        }
    };
}
