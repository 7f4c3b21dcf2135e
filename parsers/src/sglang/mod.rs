//! sglang
