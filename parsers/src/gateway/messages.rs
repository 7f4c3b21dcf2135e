//! What a gateway's message says: its kind by its beginning, its variable parts by the holes of a pattern.

use super::kinds::*;
use super::{evidence, fields};
use crate::event::{Event, Field, Kind, Secret, Value};
use crate::sglang::rules;

/// A pattern of `rules.rs` (`{name}` takes text up to the next literal, `{_}` passes over it, `{body}` withholds it) and its kind.
struct Row(&'static str, &'static Kind);

/// Tried in this order; all begin at the message's start.
static ROWS: &[Row] = &[
    // Requests.
    Row("started processing request", &GATEWAY_REQUEST_STARTED),
    Row("finished processing request", &GATEWAY_REQUEST_FINISHED),
    Row("request failed with client error", &GATEWAY_REQUEST_FINISHED),
    Row("request failed with server error", &GATEWAY_REQUEST_FINISHED),
    // Decisions.
    Row("PD routing decision", &GATEWAY_ROUTE),
    Row("Power-of-two selection: {_} -> selected {worker_url}", &GATEWAY_ROUTE),
    Row("Selected PD pair", &GATEWAY_ROUTE),
    Row("PD selected DP ranks", &GATEWAY_ROUTE),
    Row("Cache-aware selection", &GATEWAY_ROUTE),
    Row("Prefix-hash selection", &GATEWAY_ROUTE),
    Row("Event-driven routing", &GATEWAY_ROUTE),
    Row("Sticky routing decision", &GATEWAY_ROUTE),
    Row("Cache hit diverted to a thin worker", &GATEWAY_ROUTE),
    Row("Cache miss routed to a warming worker", &GATEWAY_ROUTE),
    Row("Sending concurrent requests to prefill={prefill_url} decode={decode_url}", &GATEWAY_DISPATCH),
    Row("Sending concurrent requests", &GATEWAY_DISPATCH),
    Row("Sending request", &GATEWAY_DISPATCH),
    Row("Received concurrent requests", &GATEWAY_DISPATCH),
    Row("Load balancing triggered | max: {max_load} | min: {min_load} | workers:", &GATEWAY_LOAD_BALANCING),
    // Retries and breakers.
    Row("PD retry attempt {attempt} using prefill={prefill_url} decode={decode_url}", &GATEWAY_RETRY),
    Row("Retry backoff", &GATEWAY_RETRY),
    Row("Retrying request after {failed_attempts} failed attempts", &GATEWAY_RETRY),
    Row("Generate request failed", &GATEWAY_RETRY),
    Row("Circuit breaker state transition: {from} -> {to}", &GATEWAY_BREAKER),
    Row("Success recorded while circuit is open", &GATEWAY_BREAKER),
    // Health.
    Row("HTTP health check failed for {worker_url}: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("HTTP health check returned non-success status for {worker_url}: {status}", &GATEWAY_WORKER_UNHEALTHY),
    Row("gRPC health RPC error for {worker_url}: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("gRPC health timed out for {worker_url}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Health probe failed", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} health check failed with status: {status}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} health check failed: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} health check is pending with error: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} health check pending - {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} remains unhealthy: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Failed to contact worker {worker_url}: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Failed to send health request to worker", &GATEWAY_WORKER_UNHEALTHY),
    Row("Failed to read health response body", &GATEWAY_WORKER_UNHEALTHY),
    Row("Unhealthy workers:", &GATEWAY_WORKER_UNHEALTHY),
    Row("Timeout {timeout_s}s waiting for worker", &GATEWAY_WORKER_UNHEALTHY),
    Row("  {worker_url} - Error: {error}", &GATEWAY_WORKER_UNHEALTHY),
    Row("  {worker_url} - Status: {status}", &GATEWAY_WORKER_UNHEALTHY),
    Row("Worker {worker_url} is now healthy", &GATEWAY_WORKER_HEALTHY),
    Row("Worker {worker_url} is healthy", &GATEWAY_WORKER_HEALTHY),
    Row("All {workers} workers are healthy", &GATEWAY_WORKER_HEALTHY),
    Row("All workers are healthy", &GATEWAY_WORKER_HEALTHY),
    // Workers come and go.
    Row("Activated worker {worker_url} (marked as healthy)", &GATEWAY_WORKER_ACTIVATED),
    Row("Activated {workers} worker(s) (marked as healthy)", &GATEWAY_WORKER_ACTIVATED),
    Row("Activated {workers} of {of_workers} worker(s)", &GATEWAY_WORKER_ACTIVATED),
    Row("Activated {workers} DP-aware workers from {worker_url} (", &GATEWAY_WORKER_ACTIVATED),
    Row("Activated {workers} DP-aware workers {worker_url} (", &GATEWAY_WORKER_ACTIVATED),
    Row("Activated {workers} external workers from {worker_url} (", &GATEWAY_WORKER_ACTIVATED),
    Row("Added worker: {worker_url}", &GATEWAY_WORKER_ADDED),
    Row("Added prefill server: {worker_url}", &GATEWAY_WORKER_ADDED),
    Row("Added decode server: {worker_url}", &GATEWAY_WORKER_ADDED),
    Row("Adding pod: {pod} | type: {pod_type} | url: {worker_url}", &GATEWAY_WORKER_ADDED),
    Row("Registered worker {worker_url} (model: {model}) with ID", &GATEWAY_WORKER_ADDED),
    Row("Registered worker {worker_url} with ID", &GATEWAY_WORKER_ADDED),
    Row("Registered {workers} workers with IDs", &GATEWAY_WORKER_ADDED),
    Row("Removed worker: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed worker from tree: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed prefill worker: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed decode worker: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed prefill server: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed decode server: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed worker {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removed {workers} DP-aware workers", &GATEWAY_WORKER_REMOVED),
    Row("Removing pod: {pod} | type: {pod_type} | url: {worker_url}", &GATEWAY_WORKER_REMOVED),
    Row("Removing failed worker after typed request failures", &GATEWAY_WORKER_REMOVED),
    Row("Workflow started", &GATEWAY_WORKFLOW),
    Row("Workflow completed", &GATEWAY_WORKFLOW),
    Row("Workflow failed", &GATEWAY_WORKFLOW),
    Row("Workflow cancelled", &GATEWAY_WORKFLOW),
    Row("Step started", &GATEWAY_WORKFLOW),
    Row("Step succeeded", &GATEWAY_WORKFLOW),
    Row("Step completed", &GATEWAY_WORKFLOW),
    Row("Step failed", &GATEWAY_WORKFLOW),
    Row("Step retrying", &GATEWAY_WORKFLOW),
    Row("Step skipped", &GATEWAY_WORKFLOW),
    // Failures of requests. `body=` behind one is a worker's answer.
    Row("Failed to send typed request", &GATEWAY_REQUEST_ERROR),
    Row("Failed to send streamed request", &GATEWAY_REQUEST_ERROR),
    Row("Failed to send multipart ", &GATEWAY_REQUEST_ERROR),
    Row("Prefill server failed (CRITICAL) prefill_url={prefill_url} error={error}. Decode will timeout", &GATEWAY_REQUEST_ERROR),
    Row("Prefill server ", &GATEWAY_REQUEST_ERROR),
    Row("Decode server returned error status", &GATEWAY_REQUEST_ERROR),
    Row("Decode request failed", &GATEWAY_REQUEST_ERROR),
    Row("Stream error from decode server {worker_url}: {error}", &GATEWAY_REQUEST_ERROR),
    Row("Failed to select PD pair", &GATEWAY_REQUEST_ERROR),
    Row("No healthy workers available", &GATEWAY_REQUEST_ERROR),
    Row("No available ", &GATEWAY_REQUEST_ERROR),
    Row("Worker stream error", &GATEWAY_REQUEST_ERROR),
    Row("prefill returned an error; cancelling decode", &GATEWAY_REQUEST_ERROR),
    Row("prefill request failed; cancelling decode", &GATEWAY_REQUEST_ERROR),
    Row("Request queue is full", &GATEWAY_OVERLOAD),
    Row("No tokens available and queuing is disabled", &GATEWAY_OVERLOAD),
    Row("Request already timed out in queue", &GATEWAY_OVERLOAD),
    Row("Queue: request timed out waiting for token", &GATEWAY_OVERLOAD),
    Row("Refused ahead of worker selection", &GATEWAY_OVERLOAD),
    Row("Queue: ", &GATEWAY_RATE_LIMIT),
    Row("No tokens available, ", &GATEWAY_RATE_LIMIT),
    Row("Acquired token ", &GATEWAY_RATE_LIMIT),
    Row("TokenGuardBody: ", &GATEWAY_RATE_LIMIT),
    Row("Token bucket: ", &GATEWAY_RATE_LIMIT),
    // Policies.
    Row("Assigning policy {policy} to new model {model}", &GATEWAY_POLICY),
    Row("Assigning policy {policy} ", &GATEWAY_POLICY),
    Row("Removed policy {policy} for model {model} (", &GATEWAY_POLICY),
    Row("Initializing cache-aware policy with {workers} workers for model {model}", &GATEWAY_POLICY),
    Row("Updated policies for {workers} workers", &GATEWAY_POLICY),
    // Start.
    Row("Starting router on {address} | mode: {mode} | policy: {policy} | max_payload: {_}", &GATEWAY_START),
    Row("Starting router on {address} | mode: {mode} | policy: ", &GATEWAY_START),
    Row("Starting server on {address}", &GATEWAY_START),
    Row("Initializing workers for routing mode:", &GATEWAY_START),
    Row("🚧 Initializing router on {address}", &GATEWAY_START),
    Row("🚧 ", &GATEWAY_START),
    Row("✅ Serving router on {address}", &GATEWAY_START),
    Row("✅ Serving workers on", &GATEWAY_READY),
    Row("Workers initialized: {workers} total, {healthy_workers} healthy", &GATEWAY_START),
    Row("Worker initialization job submitted", &GATEWAY_START),
    Row("Workflow engine", &GATEWAY_START),
    Row("Started health checker", &GATEWAY_START),
    Row("Rate limiting is ", &GATEWAY_START),
    Row("Admission bound", &GATEWAY_START),
    Row("No MCP config provided", &GATEWAY_START),
    Row("No static MCP servers connected", &GATEWAY_START),
    Row("Initializing data connector:", &GATEWAY_START),
    Row("Initializing RouterManager in ", &GATEWAY_START),
    Row("Created single router with ID: ", &GATEWAY_START),
    Row("Set default router to ", &GATEWAY_START),
    Row("Starting load monitoring", &GATEWAY_START),
    Row("Loading tokenizer ", &GATEWAY_START),
    Row("Registering tokenizer ", &GATEWAY_START),
    Row("Successfully registered tokenizer ", &GATEWAY_START),
    Row("Tokenizer loaded and registered ", &GATEWAY_START),
    Row("Starting K8s service discovery", &GATEWAY_START),
    Row("Router ready | workers: {_}", &GATEWAY_READY),
    Row("listening on {address}", &GATEWAY_READY),
    Row("Error starting router: {error}", &GATEWAY_STARTUP_FAILED),
    // Stop.
    Row("Received terminate signal", &GATEWAY_STOP),
    Row("Received Ctrl+C", &GATEWAY_STOP),
    Row("Graceful shutdown triggered", &GATEWAY_STOP),
    Row("Beginning graceful shutdown", &GATEWAY_STOP),
    Row("Drain timed out", &GATEWAY_STOP),
    Row("Shutdown timeout reached", &GATEWAY_STOP),
    Row("Concurrency queue processor shutting down", &GATEWAY_STOP),
    Row("got SIGTERM, shutting down", &GATEWAY_STOP),
    Row("still draining in-flight requests", &GATEWAY_STOP),
    Row("shutdown complete", &GATEWAY_STOP),
    // Debug lines that hold what a client or a model wrote.
    Row("Modified request body: {body}", &GATEWAY_LOG),
    Row("DECODED_TEXT_START{body}", &GATEWAY_LOG),
    Row("Loading function_call_output from DB - content: {body}", &GATEWAY_LOG),
    Row("Non-chunk SSE event, passing through: {body}", &GATEWAY_LOG),
    Row("Applied remote tree insert: {body}", &GATEWAY_LOG),
    Row("Failed to parse JSON arguments for {_}: {body}", &GATEWAY_LOG),
    Row("Failed to deserialize {_}: {body}", &GATEWAY_LOG),
];

/// Reads a message, which begins at byte `at` of the record (`event.message` begins there).
pub fn read<'a>(message: &'a [u8], at: usize, event: &mut Event<'a>) {
    event.kind = &GATEWAY_LOG;
    if evidence::read(message, at, event) {
        return;
    }
    let mut seen = false;
    for row in ROWS {
        let (fields, ids, withheld) = (event.fields.len(), event.ids.len(), event.withheld.len());
        if first_byte(row.0) == message.first().copied() && rules::matches(row.0, message, event) {
            event.kind = row.1;
            // Such a pattern has read the pairs, or withheld them.
            seen = row.0.contains("={") || event.withheld.len() > withheld;
            break;
        }
        event.fields.truncate(fields);
        event.ids.truncate(ids);
        event.withheld.truncate(withheld);
    }
    if event.kind == &GATEWAY_LOG && message.starts_with(b"sgl-router ") && memchr::memmem::find(message, b" starting on ").is_some() {
        event.kind = &GATEWAY_START;
    }
    if !seen {
        fields::pairs_of(message, at, event);
    }
    tidy(event);
}

fn first_byte(pattern: &str) -> Option<u8> {
    pattern.as_bytes().first().copied()
}

/// What a hole took, in the form that the same field has elsewhere: a worker is its base address, a status a number, and what a message
/// says twice (`closed -> open worker_url=… from="closed"`) stands once.
fn tidy(event: &mut Event<'_>) {
    let mut reason = None;
    for field in &mut event.fields {
        let Value::Str(text) = &mut field.value else { continue };
        match &*field.name {
            "worker_url" if text.ends_with("/health") => {
                let base = text.len() - "/health".len();
                *text = text[..base].to_owned().into();
            }
            "from" | "to" | "address" if text.contains(' ') => {
                let word = text.split(' ').next().unwrap_or("").to_owned();
                *text = word.into();
            }
            "status" => {
                let (code, rest) = text.split_once(' ').unwrap_or((text, ""));
                if let Some(code @ Value::Int(100..=999)) = crate::keyvalue::number(code) {
                    reason = (!rest.is_empty()).then(|| rest.to_owned());
                    field.value = code;
                }
            }
            _ => {}
        }
    }
    if let Some(reason) = reason
        && event.get("reason").is_none()
    {
        event.field("reason", "status", Value::Str(reason.into()));
    }
    let mut kept: Vec<Field<'_>> = Vec::with_capacity(event.fields.len());
    for field in event.fields.drain(..) {
        if !kept.iter().any(|before| before.name == field.name && before.value == field.value) {
            kept.push(field);
        }
    }
    event.fields = kept;
}

/// Reads a message that had to be unescaped: its parts are copied, and what it withholds makes all of it withheld.
pub fn read_copy(message: &[u8], span: std::ops::Range<usize>, event: &mut Event<'_>) {
    let mut part = Event::new(&GATEWAY_LOG);
    part.message = 0..message.len();
    part.stamp = event.stamp;
    read(message, 0, &mut part);
    event.kind = part.kind;
    event.stamp = part.stamp;
    if !part.withheld.is_empty() {
        event.withhold(span, Secret::Body, part.withheld[0].name);
    }
    for id in part.ids {
        fields::id(id.kind, id.text.into_owned().into(), event);
    }
    for field in part.fields {
        if event.get(&field.name) != Some(&field.value) {
            event.fields.push(field.into_owned());
        }
    }
}
