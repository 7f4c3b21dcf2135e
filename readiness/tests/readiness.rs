//! One binary for all tests: linking costs more than they do.

#[path = "readiness/captures.rs"]
mod captures;
#[path = "readiness/dynamo.rs"]
mod dynamo;
#[path = "readiness/journald.rs"]
mod journald;
#[path = "readiness/small.rs"]
mod small;
#[path = "readiness/support.rs"]
mod support;
