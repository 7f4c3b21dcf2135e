//! One GET over one connection, with a stamp and a reason for every stage.
//!
//! A connection is made for each request: one that is kept may be closed by the server between two scrapes, and then a failed scrape
//! would say nothing of the endpoint. Redirects are answers (`HTTP 302`), and proxies of the environment are not used: what is
//! measured is the endpoint named.

mod tls;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, SERVER, USER_AGENT,
};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::clock::Clock;
use crate::failure::{Failure, Stage};
use crate::target::Target;

/// Which of the two exposition formats is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// Prometheus text 0.0.4: names as the server has them.
    #[default]
    Text,
    /// OpenMetrics 1.0, with exemplars where there are any. Names are asked for unescaped: without that, prometheus-client 0.23 and
    /// later writes `sglang_` for `sglang:`.
    OpenMetrics,
}

impl Accept {
    fn header(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Accept::Text => "text/plain;version=0.0.4,*/*;q=0.1",
            Accept::OpenMetrics => "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.5",
        })
    }
}

/// Headers that the user adds. Neither shown nor recorded; `Debug` says their number.
#[derive(Clone, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// Adds `Name: value`. The error does not repeat the text.
    pub fn add(&mut self, line: &str) -> Result<(), ClientError> {
        let (name, value) = line.split_once(':').ok_or(ClientError::Header)?;
        let name: HeaderName = name.trim().parse().map_err(|_| ClientError::Header)?;
        let mut value: HeaderValue = value.trim().parse().map_err(|_| ClientError::Header)?;
        value.set_sensitive(true);
        self.0.append(name, value);
        Ok(())
    }
}

impl std::fmt::Debug for Headers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} headers", self.0.len())
    }
}

/// How to ask.
#[derive(Clone, Debug)]
pub struct Request {
    /// For all stages together.
    pub timeout: Duration,
    /// Bytes of a body at most.
    pub max_body: u64,
    pub accept: Accept,
    pub headers: Headers,
}

impl Default for Request {
    fn default() -> Request {
        Request { timeout: Duration::from_secs(10), max_body: 64 << 20, accept: Accept::Text, headers: Headers::default() }
    }
}

/// Why nothing can be asked at all.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("a header is not `Name: value`")]
    Header,
    #[error("{path}: {why}")]
    Certificates { path: String, why: String },
    #[error("no certificate authority is known for https: {0}; name a PEM file with --ca")]
    NoRoots(String),
}

/// Asks targets.
#[derive(Clone)]
pub struct Client {
    request: Request,
    tls: Option<tokio_rustls::TlsConnector>,
}

/// One request, and what came of it.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// When it began, nanoseconds since the epoch.
    pub at: i64,
    /// The same on the monotonic clock.
    pub began: Instant,
    /// From the begin until the head of the answer was there.
    pub head_after: Option<Duration>,
    /// From the begin until the body was read or the request failed.
    pub took: Duration,
    /// The answer's status line and headers, where there was an answer.
    pub status: Option<u16>,
    pub content_type: Option<String>,
    /// The `Server` header.
    pub server: Option<String>,
    /// Bytes of the body that were read.
    pub bytes: u64,
    pub body: Result<Vec<u8>, Failure>,
}

/// What is known of an answer so far; it stays when the body fails.
#[derive(Debug, Default)]
struct Reply {
    head_after: Option<Duration>,
    status: Option<u16>,
    content_type: Option<String>,
    server: Option<String>,
    bytes: u64,
}

impl Client {
    /// `ca` is a PEM file of authorities trusted besides the system's. Certificates are looked for only if a target needs them.
    pub fn new(request: Request, ca: Option<&Path>, targets: &[Target]) -> Result<Client, ClientError> {
        let tls = if targets.iter().any(|t| t.https) { Some(tls::connector(ca)?) } else { None };
        Ok(Client { request, tls })
    }

    /// Asks once. Never fails otherwise than by [`Attempt::body`].
    pub async fn get(&self, target: &Target, clock: &Clock) -> Attempt {
        let (at, began) = (clock.wall(), Instant::now());
        let mut reply = Reply::default();
        let body = self.exchange(target, began, &mut reply).await;
        let Reply { head_after, status, content_type, server, bytes } = reply;
        Attempt { at, began, head_after, took: began.elapsed(), status, content_type, server, bytes, body }
    }

    async fn exchange(&self, target: &Target, began: Instant, reply: &mut Reply) -> Result<Vec<u8>, Failure> {
        let limit = Limit { began, until: began + self.request.timeout };
        let stream = connect(target, limit).await?;
        if !target.https {
            return self.ask(target, stream, limit, reply).await;
        }
        let Some(tls) = &self.tls else { return Err(Failure::Tls("no certificates were loaded".into())) };
        let name = tls::server_name(&target.host).ok_or_else(|| Failure::Tls("the host is no name for a certificate".into()))?;
        let stream = limit.keep(Stage::Tls, tls.connect(name, stream)).await?.map_err(|e| Failure::Tls(e.to_string()))?;
        self.ask(target, stream, limit, reply).await
    }

    async fn ask<S>(&self, target: &Target, stream: S, limit: Limit, reply: &mut Reply) -> Result<Vec<u8>, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let request = self.request_for(target)?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|e| Failure::Protocol(said(&e)))?;
        // The connection ends with this set, whatever is returned.
        let mut driver = JoinSet::new();
        driver.spawn(connection);
        let answer = limit.keep(Stage::Answer, sender.send_request(request)).await?.map_err(|e| no_answer(&e))?;
        reply.head_after = Some(limit.began.elapsed());
        reply.status = Some(answer.status().as_u16());
        reply.content_type = text(answer.headers(), CONTENT_TYPE);
        reply.server = text(answer.headers(), SERVER);
        if !answer.status().is_success() {
            return Err(Failure::Status(answer.status().as_u16()));
        }
        if let Some(encoding) = text(answer.headers(), CONTENT_ENCODING).filter(|e| !e.eq_ignore_ascii_case("identity")) {
            return Err(Failure::Encoded(encoding));
        }
        let announced = answer.headers().get(hyper::header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse().ok());
        self.body(answer.into_body(), announced, limit, reply).await
    }

    async fn body(
        &self,
        mut body: hyper::body::Incoming,
        announced: Option<u64>,
        limit: Limit,
        reply: &mut Reply,
    ) -> Result<Vec<u8>, Failure> {
        let most = self.request.max_body;
        if announced.is_some_and(|n| n > most) {
            return Err(Failure::TooLarge { limit: most });
        }
        let mut bytes = Vec::new();
        while let Some(frame) = limit.keep(Stage::Body, body.frame()).await? {
            let frame = frame.map_err(|_| Failure::Cut { got: reply.bytes, of: announced })?;
            let Some(data) = frame.data_ref() else { continue };
            reply.bytes += data.len() as u64;
            if reply.bytes > most {
                return Err(Failure::TooLarge { limit: most });
            }
            bytes.extend_from_slice(data);
        }
        Ok(bytes)
    }

    fn request_for(&self, target: &Target) -> Result<hyper::Request<Empty<Bytes>>, Failure> {
        let mut request = hyper::Request::new(Empty::new());
        *request.uri_mut() = target.path.clone().into();
        let headers = request.headers_mut();
        headers.insert(HOST, HeaderValue::from_str(&target.host_header()).map_err(|_| Failure::Protocol("bad host".into()))?);
        headers.insert(ACCEPT, self.request.accept.header());
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("corr/", env!("CARGO_PKG_VERSION"))));
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        if let Some(authorization) = &target.authorization {
            headers.insert(AUTHORIZATION, authorization.clone());
        }
        // What the user says replaces what corr would say.
        for name in self.request.headers.0.keys() {
            headers.remove(name);
        }
        for (name, value) in &self.request.headers.0 {
            headers.append(name, value.clone());
        }
        Ok(request)
    }
}

/// Until when.
#[derive(Clone, Copy)]
struct Limit {
    began: Instant,
    until: Instant,
}

impl Limit {
    async fn keep<T>(self, stage: Stage, work: impl Future<Output = T>) -> Result<T, Failure> {
        timeout_at(self.until, work).await.map_err(|_| self.over(stage))
    }

    fn over(self, stage: Stage) -> Failure {
        let after = self.until.saturating_duration_since(self.began);
        Failure::TimedOut { stage, after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// Tries the addresses of a host in turn; each may take its share of the time that is left.
async fn connect(target: &Target, limit: Limit) -> Result<TcpStream, Failure> {
    let found = limit.keep(Stage::Resolve, tokio::net::lookup_host((target.host.as_str(), target.port))).await?;
    let addresses: Vec<SocketAddr> = found.map_err(|e| Failure::Dns(e.to_string()))?.collect();
    let mut failure = Failure::Dns("no address".into());
    for (i, address) in addresses.iter().enumerate() {
        let others = u32::try_from(addresses.len() - i).unwrap_or(u32::MAX);
        let until = Instant::now() + limit.until.saturating_duration_since(Instant::now()) / others;
        let met = match timeout_at(until, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                // One small request: waiting for more to send would only delay it.
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Ok(Err(e)) if e.kind() == std::io::ErrorKind::ConnectionRefused => Failure::Refused,
            Ok(Err(e)) => Failure::Unreachable(e.to_string()),
            Err(_) => limit.over(Stage::Connect),
        };
        // A refusal is somebody's answer: it says more than a way that leads nowhere.
        if failure != Failure::Refused {
            failure = met;
        }
    }
    Err(failure)
}

/// hyper's error before an answer.
fn no_answer(error: &hyper::Error) -> Failure {
    let reset = std::error::Error::source(error)
        .and_then(|e| e.downcast_ref::<std::io::Error>())
        .is_some_and(|e| matches!(e.kind(), std::io::ErrorKind::ConnectionReset | std::io::ErrorKind::BrokenPipe));
    if error.is_incomplete_message() || error.is_closed() || error.is_canceled() || reset {
        return Failure::NoAnswer;
    }
    Failure::Protocol(said(error))
}

/// An error with its causes.
fn said(error: &hyper::Error) -> String {
    match std::error::Error::source(error) {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// A header for people: printable, and not long.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    let shown = String::from_utf8_lossy(value.as_bytes());
    Some(shown.chars().filter(|c| !c.is_control()).take(200).collect())
}
