//! corr: what happened on the KV-cache path of an LLM-serving run, and what proves it.
#![deny(unsafe_code)]

pub mod query;
