//! The arithmetic on windows against worked cases and against a reference computed from Prometheus' own samples.

#[path = "../cases/mod.rs"]
mod cases;
mod golden;
mod increase;
mod reference;
