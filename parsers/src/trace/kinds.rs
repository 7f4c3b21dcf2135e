//! Kinds of the rows of Dynamo's request trace, agent trace and audit files.

use crate::event::Kind;

pub static REQUEST_END: Kind = Kind {
    name: "request_end",
    about: "trace row: one request ended; `cached_tokens` and `kv_hit_rate` are the router's prediction and not the engine's reuse, the worker is the first attempt's and not that of a migration; the outcome is not said",
    words: "",
};
pub static REQUEST_PAYLOAD: Kind = Kind {
    name: "request_payload",
    about: "trace row: the bodies of one request, withheld; stamped at arrival; usage is the engine's own count, but does not say which tier served it",
    words: "",
};
pub static TOOL_START: Kind = Kind { name: "tool_start", about: "trace row: a tool call began, by the harness's clock", words: "" };
pub static TOOL_END: Kind = Kind { name: "tool_end", about: "trace row: a tool call ended, by the harness's clock", words: "" };
pub static TOOL_ERROR: Kind = Kind { name: "tool_error", about: "trace row: a tool call failed, by the harness's clock", words: "" };
pub static TRACE_ROW: Kind = Kind { name: "trace_row", about: "trace row of a type that is not known here", words: "" };
pub static AUDIT_RECORD: Kind = Kind {
    name: "audit_record",
    about: "audit: the bodies of one request, withheld; the record itself has no date, no session and no worker",
    words: "",
};

/// Kinds of trace rows.
pub static TRACE: &[&Kind] = &[&REQUEST_END, &REQUEST_PAYLOAD, &TOOL_START, &TOOL_END, &TOOL_ERROR, &TRACE_ROW];
/// Kinds of audit records.
pub static AUDIT: &[&Kind] = &[&AUDIT_RECORD];
