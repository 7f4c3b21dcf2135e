//! A run as pages: how does a browser look into it, without scripts or with them, and without anybody else looking in?
//!
//! ```text
//! connection ─ headers (host, method) ─ mod (routes) ─ limits (its turn) ─ state (the run) ─ find | open | board ─ page
//! ```
//! Nothing is changed by a request. What a page shows is said by its address alone.

mod asked;
mod board;
mod brush;
mod find;
mod headers;
mod hits;
mod host;
pub mod limits;
mod link;
mod once;
mod open;
mod page;
mod record;
mod refused;
mod routes;
pub mod state;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use axum::middleware;
use corr_live::Stop;
use tokio::net::TcpListener;

use headers::{Local, guard};
use host::Hosts;
use limits::{Gate, Limits};
use state::{Served, State, View};

/// What every page needs.
#[derive(Clone)]
pub struct Server {
    state: Arc<State>,
    gate: Gate,
}

/// How long requests may take to their end after somebody asked the server to stop.
const LAST: Duration = Duration::from_secs(2);

impl Server {
    pub fn new(served: Served, limits: Limits) -> Server {
        Server { state: Arc::new(State::new(served)), gate: Gate::new(limits) }
    }

    /// The run, read now if it was not yet.
    ///
    /// # Errors
    /// Those of opening a run.
    pub fn view(&self) -> anyhow::Result<Arc<View>> {
        self.state.view()
    }

    /// Listens, tells where by `say`, and answers until SIGINT or SIGTERM.
    ///
    /// # Errors
    /// The address cannot be listened on; those of `say`.
    pub async fn run(self, at: SocketAddr, say: impl FnOnce(SocketAddr) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let listener = TcpListener::bind(at).await.with_context(|| format!("{at}: cannot listen; `--port 0` takes a free port"))?;
        let local = listener.local_addr()?;
        let stop = Stop::new();
        stop.on_signals()?;
        say(local)?;
        let routes = routes::routes(self).layer(middleware::from_fn_with_state(Hosts::of(local), guard));
        let asked = stop.clone();
        let served = axum::serve(listener, routes.into_make_service_with_connect_info::<Local>())
            .with_graceful_shutdown(async move { asked.soon().await });
        let patience = async {
            stop.soon().await;
            tokio::select! {
                () = tokio::time::sleep(LAST) => {}
                () = stop.now() => {}
            }
        };
        tokio::select! {
            ended = async { served.await } => ended?,
            () = patience => {}
        }
        Ok(())
    }
}

/// The address to open.
pub fn url(local: SocketAddr) -> String {
    let mut open = local;
    if open.ip().is_unspecified() {
        open.set_ip(if open.is_ipv4() { std::net::Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
    }
    format!("http://{open}/")
}
