//! Kinds of OTLP traces.

use crate::event::Kind;

pub static OTLP_SPAN: Kind = Kind {
    name: "otlp_span",
    about: "one span of an OTLP trace: stamped at its start, `duration_ms` to its end, by the clock of the process that made it; a span that was never ended is not exported",
    words: "",
};
pub static OTLP_SPANS: Kind = Kind {
    name: "otlp_spans",
    about: "several spans of an OTLP export that stand in one record (a document over several lines, a line in an envelope): stamped at the earliest start, with the ids of all",
    words: "",
};
pub static OTLP_RESOURCE: Kind = Kind {
    name: "otlp_resource",
    about: "the beginning of a line of an OTLP export: which service and scope made the spans that follow it on the line",
    words: "",
};

/// All of them.
pub static KINDS: &[&Kind] = &[&OTLP_SPAN, &OTLP_SPANS, &OTLP_RESOURCE];
