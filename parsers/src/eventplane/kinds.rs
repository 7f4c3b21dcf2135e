//! Kinds of messages on Dynamo's event plane.

use crate::event::Kind;

pub static KV_STORED: Kind = Kind {
    name: "kv_stored",
    about: "a worker published that blocks were stored in a tier of its KV cache; `blocks` counts them; names blocks by hash and no request, and not that they are still there",
    words: "",
};
pub static KV_REMOVED: Kind = Kind {
    name: "kv_removed",
    about: "a worker published that blocks were removed from a tier; names blocks by hash and no request; why they went is not said",
    words: "",
};
pub static KV_CLEARED: Kind =
    Kind { name: "kv_cleared", about: "a worker published that it dropped all blocks of its KV cache", words: "" };
pub static KV_EVENTS: Kind = Kind {
    name: "kv_events",
    about: "one message with KV events of more than one sort: what was stored and removed is counted by tier (`device_stored_blocks`, `host_pinned_removed_blocks`)",
    words: "",
};
pub static KV_METRICS: Kind = Kind {
    name: "kv_metrics",
    about: "a load report: from a worker its used blocks, from a router (to 1.2) what it thinks is active; no request is named",
    words: "",
};
pub static ACTIVE_SEQUENCES: Kind = Kind {
    name: "active_sequences",
    about: "routers' bookkeeping of requests: `MarkPrefillCompleted` proves which worker ran the prefill, also after a migration; requests added and freed only where routers are replicated",
    words: "",
};
pub static FORWARD_PASS: Kind = Kind {
    name: "forward_pass",
    about: "one step of an engine with what it scheduled and what waited; no request is named, and an idle engine reports too",
    words: "",
};
pub static EVENT_SUBSCRIPTION: Kind = Kind {
    name: "event_subscription",
    about: "the capture connected to a publisher of events; what was published before is not in it",
    words: "",
};
pub static EVENT_MESSAGE: Kind =
    Kind { name: "event_message", about: "a message of a topic that is not known here; its payload is not read", words: "" };

pub use crate::trace::kinds::{REQUEST_END, REQUEST_PAYLOAD, TOOL_END, TOOL_ERROR, TOOL_START, TRACE_ROW};

/// All of them.
pub static KINDS: &[&Kind] = &[
    &KV_STORED,
    &KV_REMOVED,
    &KV_CLEARED,
    &KV_EVENTS,
    &KV_METRICS,
    &ACTIVE_SEQUENCES,
    &FORWARD_PASS,
    &EVENT_SUBSCRIPTION,
    &EVENT_MESSAGE,
    &TOOL_START,
    &TOOL_END,
    &TOOL_ERROR,
    &REQUEST_END,
    &REQUEST_PAYLOAD,
    &TRACE_ROW,
];
