//! Prefill/decode disaggregation: the hand-over of a request's KV between two servers (formats: README, "PD").
//!
//! Each server makes its own rid, so the two sides of one request meet in `bootstrap_room`.

use super::kinds::*;
use super::rules::{Rule, rule};

/// Rules for PD messages.
pub static RULES: &[Rule] = &[
    rule(
        "Prefill bootstrap failed for request rank={tp_rank} req.rid={rid} req.bootstrap_room={room} with exception {error}",
        &PD_BOOTSTRAP_FAILED,
    ),
    rule("Prefill bootstrap failed for request {=}", &PD_BOOTSTRAP_FAILED),
    rule(
        "Prefill transfer failed for request rank={tp_rank} req.rid={rid} req.bootstrap_room={room} with exception {error}",
        &PD_TRANSFER_FAILED,
    ),
    rule("Prefill transfer failed for request {=}", &PD_TRANSFER_FAILED),
    rule("Prefill transfer kvcache error{_}", &PD_TRANSFER_FAILED),
    rule(
        "Decode handshake failed for request rank={tp_rank} decode_req.req.rid={rid} decode_req.req.bootstrap_room={room} \
         with exception {error}",
        &PD_HANDSHAKE_FAILED,
    ),
    rule("Decode handshake failed for request {=}", &PD_HANDSHAKE_FAILED),
    rule(
        "Decode transfer failed for request rank={tp_rank} decode_req.req.rid={rid} decode_req.req.bootstrap_room={room} \
         with exception {error}",
        &PD_TRANSFER_FAILED,
    ),
    rule(
        "Decode transfer failed for request rank={tp_rank} decode_req.req.rid={rid} decode_req.req.bootstrap_room={room} \
         (HiCache local restore failed on this rank)",
        &PD_TRANSFER_FAILED,
    ),
    rule("Decode transfer failed for request {=}", &PD_TRANSFER_FAILED),
    rule("KV checksum mismatch {=}", &PD_TRANSFER_FAILED),
    rule("KV checksum skipped{_}", &PD_LOG),
    rule("Context corruption detected: Request {rid} (bootstrap_room={room})", &PD_TRANSFER_FAILED),
    rule("Metadata unexpectedly not ready after readiness gate: request {rid}, {=}", &PD_TRANSFER_FAILED),
    rule("AUX_DATA length mismatch for bootstrap_room {room}", &PD_TRANSFER_FAILED),
    rule("Skip sending kv chunk for request {=}", &PD_LOG),
    rule("send_kv_chunk skip: {=}", &PD_LOG),
    rule("Request with bootstrap_room={room} already failed", &PD_LOG),
    rule("Received AUX_DATA for bootstrap_room {room} with length:{bytes}", &PD_LOG),
    rule("Received ABORT_ACK for room {room}", &PD_LOG),
    rule("Sent ABORT_ACK for room {room} to {address}", &PD_LOG),
    rule("Failed to send ABORT_ACK for room {room}: {_}", &PD_LOG),
    rule("Skipping chunk for room {room} because {_}", &PD_LOG),
    rule("Received abort notification for room {room}, {_}", &PD_LOG),
    rule("Deferred KV release failed for room {room}", &PD_LOG),
    rule("Deferred KV release for room {room} timed out after {elapsed_s}s", &PD_LOG),
    rule("Failed to notify KV sender of abort for {rid}", &PD_LOG),
    rule("Invalid request: Disaggregated request received without boostrap room id. {=}", &REQUEST_ERROR),
    rule("Req {rid} optimistic prefill retry {attempt}/{attempts}", &PD_RETRY),
    rule("Req {rid} optimistic prefill yielded ({attempt}/{attempts} attempts used)", &PD_RETRY),
    rule("Req {rid} exhausted optimistic prefill {_} falling back to bootstrap queue", &PD_RETRY),
    rule(
        "Losing connection with prefill instance (bootstrap_addr: {bootstrap_addr}), affected {affected_reqs} requests",
        &PD_CONNECTION_LOST,
    ),
    rule(
        "Losing connection with prefill instance (bootstrap_addr: {bootstrap_addr}), {affected_reqs} requests affected",
        &PD_CONNECTION_LOST,
    ),
    rule(
        "Lost connection with prefill instance (bootstrap_addr: {bootstrap_addr}), {affected_reqs} requests affected",
        &PD_CONNECTION_LOST,
    ),
    rule("Lost connection with prefill instance {=}", &PD_CONNECTION_LOST),
    rule("Session {session} failed.", &PD_CONNECTION_LOST),
    rule("Session {session} recovered via probe; un-blacklisted", &PD_CONNECTION),
    rule("Dropped blacklisted session {session}: {_}", &PD_CONNECTION),
    rule("Starting failed-session probe loop (interval={interval_s}s)", &PD_CONNECTION),
    rule("Probe still failing for {session} (rc={rc})", &PD_CONNECTION),
    rule("Attempting to reconnect to {bootstrap_addr}...", &PD_CONNECTION),
    rule("Could not fetch prefill {_}", &PD_CONNECTION_LOST),
    rule("CommonKVBootstrapServer started successfully on {address}", &PD_CONNECTION),
    rule("Registered Prefill boostrap: {_}", &PD_CONNECTION),
    rule("Register prefill bootstrap: {_}", &PD_CONNECTION),
    rule("Register KVArgs from {session} successfully", &PD_CONNECTION),
    rule("Fetched bootstrap info: {_}", &PD_CONNECTION),
    rule("Fetch prefill parallel info from {_}", &PD_CONNECTION),
    rule("MooncakeKVManager torn down (was role={role})", &PD_CONNECTION),
    rule("No IB devices specified for Mooncake backend{_}", &PD_CONNECTION),
    rule("Some requests timed out when bootstrapping{_}", &PD_TIMEOUT_HINT),
    rule("Some requests fail to receive KV Cache transfer done signal after bootstrapping{_}", &PD_TIMEOUT_HINT),
    rule(
        "Eviction insufficient: needed {needed_tokens} tokens, available {available_tokens} after evicting {evicted_tokens}/{wanted_tokens} tokens",
        &PD_LOG,
    ),
    rule("Unexpected polling state {state} for rid {rid} in inflight queue", &PD_LOG),
    rule("PP rank {pp_rank}: unexpected poll state {state} for rid {rid} from consensus", &PD_LOG),
    rule("PD role switch succeeded: {from_role} -> {to_role}", &PD_ROLE_SWITCH),
    rule("PD role switch {_}", &PD_ROLE_SWITCH),
];
