//! Retraction, out of memory, leaks and flushes (formats: README, "memory").

use super::kinds::*;
use super::rules::{Rule, rule};

/// Rules for messages about device memory.
pub static RULES: &[Rule] = &[
    rule("KV cache pool is full. Retract requests. {=}", &RETRACT),
    rule("Decode out of memory happened. {=}", &RETRACT),
    rule("Testing retraction. {=}", &RETRACT),
    rule("retract_decode: aborted last request {rid} due to OOM", &RETRACT_ABORT),
    rule("retract_decode: aborted request {rid}, {reason}\n", &RETRACT_ABORT),
    rule("retract_decode: aborted request {rid}, {reason}", &RETRACT_ABORT),
    rule("retract_decode: aborted request {rid}: {_}", &RETRACT_ABORT),
    rule("Prefill out of memory. Try to lower your batch size.\nTry to allocate {wanted_tokens} tokens.{=}", &OUT_OF_MEMORY),
    rule("Decode out of memory. Try to lower your batch size.\nTry to allocate {wanted_tokens} tokens.{=}", &OUT_OF_MEMORY),
    rule("Out of memory. Try to lower your batch size.\nTry to allocate {wanted_tokens} tokens.{=}", &OUT_OF_MEMORY),
    rule("Prefill out of memory{_}", &OUT_OF_MEMORY),
    rule("Decode out of memory{_}", &OUT_OF_MEMORY),
    rule("Out of memory{_}", &OUT_OF_MEMORY),
    rule("[Mem Check (BUSY)] {=}", &MEMORY_LEAK),
    rule("token_to_kv_pool_allocator memory leak detected! {_}", &MEMORY_LEAK),
    rule("req_to_token_pool memory leak detected!{_}", &MEMORY_LEAK),
    rule("pool memory leak detected!{_}", &MEMORY_LEAK),
    rule("Cache flushed successfully!", &CACHE_FLUSHED),
    rule("Cache not flushed because there are pending requests. {=}", &CACHE_NOT_FLUSHED),
    rule("Deferred flush_cache timed out while waiting for idle state", &CACHE_NOT_FLUSHED),
];
