//! Kinds of what clients write of themselves. A client's record of one request is a `client_request`, as in `records/`.

use crate::event::Kind;
use crate::records::kinds::CLIENT_REQUEST;

pub static BENCH_RESULT: Kind = Kind {
    name: "bench_result",
    about: "a load generator's own summary of one load level: counts, throughput, latencies, by the client's clock and tokenizer; does not say which worker served, nor which requests were warm-up",
    words: "",
};
pub static MEASUREMENT_WINDOW: Kind = Kind {
    name: "measurement_window",
    about: "sa-bench's start and end of one measured load level, by the head node's clock; a row that is still `running` was not finished",
    words: "",
};
pub static PLANNED_REQUEST: Kind = Kind {
    name: "planned_request",
    about: "a row of a load trace: what a client is to send, and when after the trace's start; proves no request, and names no time of a run",
    words: "",
};

/// Of AIPerf's per-request records.
pub static AIPERF: &[&Kind] = &[&CLIENT_REQUEST];
/// Of results.
pub static BENCH: &[&Kind] = &[&BENCH_RESULT, &MEASUREMENT_WINDOW];
/// Of load traces.
pub static MOONCAKE: &[&Kind] = &[&PLANNED_REQUEST];
