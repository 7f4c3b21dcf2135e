//! Tests of Dynamo's log lines: grammar, ids, kinds, and the captures where they are present.

mod bodies;
pub(crate) mod captures;
mod catalogue;
pub(crate) mod grammar;
mod named;
mod properties;
pub(crate) mod words;
