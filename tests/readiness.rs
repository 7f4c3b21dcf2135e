//! `corr ready` end to end: on the repository's fixtures, and on whole captures where they are at hand.

mod program;

#[path = "readiness/captures.rs"]
mod captures;
#[path = "readiness/fixtures.rs"]
mod fixtures;
#[path = "readiness/follow.rs"]
mod follow;
#[path = "readiness/journals.rs"]
mod journals;
#[path = "readiness/support.rs"]
mod support;
