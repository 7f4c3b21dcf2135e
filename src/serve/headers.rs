//! What stands before every page: who may ask, by which method, and what a browser may do with the answer.

use std::net::{IpAddr, SocketAddr};

use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::serve::IncomingStream;
use tokio::net::TcpListener;

use super::host::{Hosts, from_elsewhere};

/// The address that a connection came in by.
#[derive(Clone, Copy, Debug)]
pub struct Local(pub IpAddr);

impl Connected<IncomingStream<'_, TcpListener>> for Local {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Local {
        // Of a connection that is gone already nothing is answered.
        Local(stream.io().local_addr().map_or(IpAddr::from([0, 0, 0, 0]), |a: SocketAddr| a.ip()))
    }
}

/// Pages hold nothing but what this server gives: text of a log that became markup could load, run, send and frame nothing.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    // What a run says stays in no cache, and files grow.
    (header::CACHE_CONTROL, "no-store"),
];

/// Lets pass what may be asked, and sets the headers of every answer.
pub async fn guard(State(hosts): State<Hosts>, ConnectInfo(Local(local)): ConnectInfo<Local>, request: Request, next: Next) -> Response {
    let refused = if !hosts.allow(request.headers(), request.uri(), local) {
        Some((StatusCode::FORBIDDEN, "corr serve: this is another host; use the address that `corr serve` printed\n"))
    } else if from_elsewhere(request.headers()) {
        Some((StatusCode::FORBIDDEN, "corr serve: pages of other origins get nothing\n"))
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        Some((StatusCode::METHOD_NOT_ALLOWED, "corr serve: only GET and HEAD; nothing is changed here\n"))
    } else {
        None
    };
    let mut response = match refused {
        Some(refusal) => refusal.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if refused.is_some_and(|(status, _)| status == StatusCode::METHOD_NOT_ALLOWED) {
        headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}
