//! Which page stands at which address?

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State, rejection::QueryRejection};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde::Deserialize;

use super::Server;
use super::asked::Asked;
use super::page::{self, Page};
use super::refused::Refused;
use super::state::{State as Shared, View};
use super::{board, brush, find, hits, open, record};
use crate::query::grammar;
use crate::render::html::Html;
use crate::render::safe;

/// All pages.
pub fn routes(server: Server) -> Router {
    Router::new()
        .route("/", get(report))
        .route("/show", get(show))
        .route("/query.json", get(query))
        .route("/style.css", get(|| asset("text/css; charset=utf-8", include_str!("assets/style.css"))))
        .route("/report.css", get(|| asset("text/css; charset=utf-8", crate::render::report::STYLE)))
        .route("/script.js", get(|| asset("text/javascript; charset=utf-8", include_str!("assets/script.js"))))
        .route("/icon.svg", get(|| asset("image/svg+xml", include_str!("assets/icon.svg"))))
        .fallback(nowhere)
        .with_state(server)
}

async fn asset(kind: &'static str, text: &'static str) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, kind)], text)
}

/// The values of an address, or why they are none.
type Values<T> = Result<Query<T>, QueryRejection>;

async fn report(State(server): State<Server>, values: Values<Asked>) -> Response {
    answer(server, values, |view, state, asked| {
        let served = &state.served;
        grammar::parse(&asked.q).map_err(Refused::Query)?;
        let scope = find::scope(view, served, asked)?;
        let found = asked.chooses().then(|| find::find(view, served, asked, &scope)).transpose()?;
        let mut main = Html::new();
        if let Some(brush) = brush::of(view, served, asked, scope.window)? {
            main.push(&brush.section(asked));
        }
        let report = board::report(&state.reports, view, served, asked, &scope)?;
        if let Some(found) = found {
            main.push(&hits::section(&found, asked));
        }
        main.push(&board::head(&report, &scope));
        main.push(&board::sections(&report));
        let title = if asked.q.is_empty() { "corr".to_string() } else { format!("{}: corr", asked.q) };
        Ok(Shows { title, named: false, form: asked.in_instants(scope.window), main })
    })
    .await
}

/// What `/show` is asked.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct At {
    at: String,
}

async fn show(State(server): State<Server>, values: Values<At>) -> Response {
    answer(server, values, |view, state, At { at }| {
        let main = match open::open(view, &state.served, at)? {
            open::Found::Record { opened, line, not_asked } => record::sections(&opened, line, &not_asked),
            open::Found::Lines(lines) => record::lines(&lines),
        };
        Ok(Shows { title: format!("{at}: corr"), named: true, form: Asked::default(), main })
    })
    .await
}

async fn query(State(server): State<Server>, values: Values<Asked>) -> Response {
    let Ok(Query(asked)) = values else { return json_refusal(&unread()) };
    let done = server.work(move |view, state| find::json(view, &state.served, &asked)).await;
    match done {
        (_, Ok(json)) => ([(header::CONTENT_TYPE, "application/json")], json).into_response(),
        (_, Err(refused)) => json_refusal(&refused),
    }
}

fn json_refusal(refused: &Refused) -> Response {
    let mut whole = serde_json::json!({"error": refused.words()});
    if let Refused::Query(error) = refused {
        whole["column"] = error.column.into();
        whole["expected"] = error.expected.as_str().into();
        whole["found"] = error.found.as_str().into();
        whole["hint"] = error.hint.as_str().into();
    }
    let mut text = Vec::new();
    // Of what was asked every character comes back: none may act on a terminal.
    if safe::write_json(&mut text, &whole, false).is_err() {
        text.clear();
    }
    text.push(b'\n');
    (refused.status(), [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

async fn nowhere(State(server): State<Server>) -> Response {
    let refused = Refused::Nothing("no page stands at this address".into());
    answer(server, Ok(Query(Asked::default())), move |_, _, _: &Asked| Err(refused)).await
}

fn unread() -> Refused {
    Refused::Value("the address cannot be read: a value is given twice, or is no UTF-8".into())
}

/// What a page shows, and whether its frame names the run.
struct Shows {
    title: String,
    named: bool,
    /// What the form says.
    form: Asked,
    main: Html,
}

/// Works out a page and gives it, or the page of its refusal.
async fn answer<T, F>(server: Server, values: Values<T>, work: F) -> Response
where
    T: Into<Asked> + Clone + Send + 'static,
    F: FnOnce(&View, &Shared, &T) -> Result<Shows, Refused> + Send + 'static,
{
    let values = match values {
        Ok(Query(values)) => values,
        Err(_) => return html(StatusCode::BAD_REQUEST, page::refusal(&unread(), &Asked::default(), None)),
    };
    let asked: Asked = values.clone().into();
    let (view, done) = server.work(move |view, state| work(view, state, &values)).await;
    let view = view.as_deref();
    match done {
        Ok(Shows { title, named, form, main }) => html(StatusCode::OK, Page { title, asked: &form, view, named, main }.html()),
        Err(refused) => html(refused.status(), page::refusal(&refused, &asked, view)),
    }
}

fn html(status: StatusCode, text: String) -> Response {
    const KIND: (HeaderName, &str) = (header::CONTENT_TYPE, "text/html; charset=utf-8");
    (status, [KIND], text).into_response()
}

impl From<At> for Asked {
    /// The page of a record asks nothing by its form.
    fn from(_: At) -> Asked {
        Asked::default()
    }
}

impl Server {
    /// Does the work on the run as it is now, when it is its turn.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&View, &Shared) -> Result<T, Refused> + Send + 'static,
    ) -> (Option<Arc<View>>, Result<T, Refused>) {
        let state = self.state.clone();
        let done = self.gate.work(move || {
            let view = match state.view() {
                Ok(view) => view,
                Err(error) => return (None, Err(Refused::Run(format!("{error:#}")))),
            };
            let done = work(&view, &state);
            (Some(view), done)
        });
        done.await.unwrap_or_else(|busy| (None, Err(Refused::Busy(busy))))
    }
}
