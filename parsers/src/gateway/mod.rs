//! What the gateways in front of SGLang write: sglang-router 0.1 to 0.3, smg 1.x, and the in-tree `sgl-router` (see README.md here).
//!
//! Two grammars (text, JSON lines) give stamp, level, spans and message; one table of messages makes kinds, and one table of names makes fields and ids.

mod evidence;
mod fields;
mod jsonl;
pub mod kinds;
mod messages;
#[cfg(test)]
mod tests;
mod text;

use crate::format::{Format, all_bodies, never_cut, no_bodies};

/// Readable text, with its ANSI escapes already taken off.
pub static TEXT: Format = Format {
    name: "gateway",
    about: "SGLang gateway (sglang-router, smg) in readable text",
    shape: "`YYYY-MM-DD HH:MM:SS LEVEL [span{…}: ]smg::…: file:line: `, or `[Router (Rust)] `",
    head: text::head,
    cut: never_cut,
    bodies_read: no_bodies,
    parse: text::parse,
    kinds: kinds::KINDS,
    samples: &[
        (
            "2026-02-19 13:30:01  INFO smg::server: /home/runner/opt/lab:794: Starting router on 0.0.0.0:30000 | mode: Regular { worker_urls: [] } | \
             policy: RoundRobin | max_payload: 512MB",
            "gateway_start",
        ),
        (
            "2025-08-05 07:32:11  INFO http_request{method=POST uri=/generate version=HTTP/1.1 request_id=gnt-UMPM08HSe8jnPJjoqgA2RB19 status=200 OK \
             latency=275.081493ms}: sglang_router_rs::response: src/middleware.rs:169: finished processing request",
            "gateway_request_finished",
        ),
        ("[Router (Rust)] 2025-03-07 02:11:35 - INFO - ✅ Serving router on 127.0.0.1:30000", "gateway_start"),
        (
            "2026-09-22T10:00:00.123456Z  WARN sgl_router::proxy: prefill request failed; cancelling decode prefill_url=http://10.0.0.6:30000 \
             bootstrap_room=77 error=connection refused",
            "gateway_request_error",
        ),
    ],
};

/// `--log-json`, and the in-tree router's JSON.
pub static JSON: Format = Format {
    name: "gateway-json",
    about: "SGLang gateway (sglang-router, smg) as JSON lines",
    shape: "`{\"timestamp\":\"…\",\"level\":\"` and the target of a gateway",
    head: jsonl::head,
    cut: never_cut,
    bodies_read: all_bodies,
    parse: jsonl::parse,
    kinds: kinds::KINDS,
    samples: &[(
        r#"{"timestamp":"2026-02-19 13:31:12","level":"INFO","message":"Circuit breaker state transition: open -> half_open","target":"smg::core::circuit_breaker","filename":"src/core/circuit_breaker.rs","line_number":190}"#,
        "gateway_breaker",
    )],
};

/// Is this the target of one of the gateways' own modules? The crates of smg 1.x are all `smg` or `smg_…`.
fn is_own(target: &[u8]) -> bool {
    const ROOTS: &[&[u8]] = &[b"smg", b"sglang_router_rs", b"sgl_model_gateway", b"sgl_router"];
    ROOTS.iter().any(|root| target.strip_prefix(*root).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"::")))
        || target.starts_with(b"smg_")
}
