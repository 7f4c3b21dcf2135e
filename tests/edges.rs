//! `corr edges` and `corr trace`, asked like a user asks them: against expectations that were written from raw artifacts and clients' own records,
//! never from what corr prints. Captures are those of shared/cases (`CORR_CASES`, else `../shared/cases`); without them those tests say that they
//! were skipped.

#[path = "program/cases.rs"]
mod cases;
#[path = "edges/citations.rs"]
mod citations;
#[path = "edges/common.rs"]
mod common;
#[path = "edges/facts.rs"]
mod facts;
#[path = "edges/fixtures.rs"]
mod fixtures;
#[path = "edges/golden.rs"]
mod golden;
#[path = "edges/removal.rs"]
mod removal;
#[path = "edges/rules.rs"]
mod rules;
#[path = "edges/said.rs"]
mod said;
#[path = "edges/scopes.rs"]
mod scopes;
#[path = "edges/trace.rs"]
mod trace;
