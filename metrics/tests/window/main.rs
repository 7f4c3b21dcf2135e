//! The arithmetic on windows against worked cases and against a reference computed from Prometheus' own samples.

#[path = "../cases/mod.rs"]
mod cases;
mod dump;
mod golden;
mod increase;
mod prometheus;
mod reference;
