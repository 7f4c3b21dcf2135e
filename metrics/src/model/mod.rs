//! What a capture holds: endpoints, scrapes, series, samples, and how well each is known.

mod capture;
pub(crate) mod json;
mod kind;
mod labels;
mod name;
mod sample;

pub use capture::{
    Anchor, Capture, Clock, Endpoint, EndpointId, Exemplar, Family, Fidelity, Note, Outcome, Scrape, Series, SeriesId, StampOf, Trouble,
};
pub use kind::{Kind, Origin, Typed};
pub use labels::Labels;
pub use name::{Name, canonical};
pub use sample::{Precision, SECOND, Sample, is_stale};
