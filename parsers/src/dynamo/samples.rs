//! Lines of real runs (0.6.1 to 1.6.1) with their kinds; KVBM lines are composed from the templates in its sources.

/// Readable text.
pub static TEXT: &[(&str, &str)] = &[
    (
        r##"2026-11-29T18:32:45.784669Z  WARN http-request: dynamo_llm::kv_router::push_router: Failed to mark prefill completed for request 814ca5e6-399f-4520-8cb0-d33c912f1472: Request 814ca5e6-399f-4520-8cb0-d33c912f1472 not found method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-008-1-7619b8e5" request_id=cc95e7ff-42eb-4ed2-9963-f5dedd33cfc9 model="/opt/lab/model/tiny-llm""##,
        "booking_conflict",
    ),
    (
        r##"2026-11-29T18:06:51.512924Z  WARN dynamo_llm::http::service::disconnect: Stream closed unexpectedly; issuing cancellation"##,
        "client_disconnect",
    ),
    (r##"2026-11-29T18:37:16.690218Z DEBUG dynamo_runtime::component::client: instance source updated"##, "discovery"),
    (r##"2026-11-29T18:38:05.946658Z DEBUG dynamo_llm::kv_router::sequence: Worker task cancelled"##, "dynamo_log"),
    (r##"2026-11-29T18:43:31.768318Z DEBUG config_dumper._get_vllm_version: vLLM not available"##, "dynamo_python"),
    (
        r##"2026-11-29T18:37:16.453518Z DEBUG dynamo_runtime::utils::graceful_shutdown: Endpoint registered, total active: 0 -> 1"##,
        "endpoint",
    ),
    (r##"2026-11-29T18:07:42.893746Z  INFO dynamo_llm::fpm_publisher: FPM direct publisher: shutting down"##, "event_plane"),
    (
        r##"2026-11-29T18:37:41.135267Z ERROR http-request: dynamo_llm::http::service::openai: Internal server error: Failed to fold chat completions stream: Stream ended before generation completed method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "frontend_error",
    ),
    (
        r##"2026-11-29T18:06:41.246149Z  INFO dynamo_llm::http::service::service_v2: http response sent status=200 latency_ms=0"##,
        "http_response",
    ),
    (
        r##"2026-11-29T18:37:00.005112Z ERROR http-request: tower_http::trace::on_failure: response failed classification=Status code: 500 Internal Server Error latency=2 ms method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "http_response_failed",
    ),
    (r##"2026-11-29T18:06:41.084256Z  INFO dynamo_llm::http::service::service_v2: chat endpoints enabled"##, "http_server"),
    (
        r##"2026-11-29T18:37:41.135181Z DEBUG http-request: dynamo_runtime::pipeline::network::egress::push_router: Reporting instance 7587899242435231751 down due to stream error: Stream ended before generation completed method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "instance_down",
    ),
    (
        r##"2026-11-29T18:43:03.415125Z DEBUG http-request: dynamo_runtime::component::client: inhibiting instance 7587899242514933769 method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "instance_inhibited",
    ),
    (
        r##"2026-11-29T18:42:50.160226Z DEBUG dynamo_kv_router::indexer: Recorded event RouterEvent { worker_id: 7587899242514933785, event: KvCacheEvent { event_id: 0, data: Stored(KvCacheStoreData { parent_hash: None, blocks: [KvCacheStoredBlockData { block_hash: ExternalSequenceBlockHash(7299830972566621386), tokens_hash: LocalBlockHash(7299830972566621386), mm_extra_info: None }] }), dp_rank: 0 } } in buffer, now size is 0"##,
        "kv_event_recorded",
    ),
    (r##"2026-11-29T18:43:20.153538Z DEBUG dynamo_kv_router::indexer: KvCacheIndexer task completed"##, "kv_indexer"),
    (r##"2026-11-29T18:32:32.361729Z  INFO kvbm_logical::manager::builder: Using Lineage inactive backend"##, "kvbm_log"),
    (
        r##"2026-11-29T18:37:41.135208Z  WARN http-request: dynamo_llm::migration: Stream disconnected... recreating stream... method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "migration",
    ),
    (r##"2026-11-29T18:06:40.949376Z  INFO main.async_main: Request migration enabled (limit: 3)"##, "migration_config"),
    (
        r##"2026-11-29T18:43:03.415153Z  WARN http-request: dynamo_llm::migration: Cannot recreate stream: Migration limit exhausted method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "migration_exhausted",
    ),
    (
        r##"2026-11-29T18:09:07.803303Z  INFO http-request: request_span: migration retry scheduled request.attempt=1 migration.is_retry=true migration.reason="disconnected" migration.from_worker_id=16464506018109736280 migration.tokens_completed=123 method=POST uri=/v1/chat/completions version=HTTP/1.1 request_id=50c63e03-4b52-4c78-9e95-61c09f6ae7a9 model="tiny""##,
        "migration_retry",
    ),
    (r##"2026-11-29T18:06:41.055816Z  INFO main.prefetch_model: Using local model path: /opt/lab/model/tiny-llm"##, "worker_startup"),
    (
        r##"2026-11-29T18:37:30.696206Z DEBUG http-request: dynamo_llm::kv_router::prefill_router: Remote prefill failed, falling back to decode-only error=Prefill router not yet activated method=POST uri=/v1/chat/completions version=HTTP/1.1"##,
        "prefill_failed",
    ),
    (
        r##"2026-11-29T18:06:40.949211Z  INFO router_args.log_rejection_thresholds: busy-worker rejection disabled: no rejection threshold is configured"##,
        "rejection_config",
    ),
    (
        r##"2026-11-29T18:11:53.634137Z  INFO handle_payload: request_span: request cancellation received request_id="77ee37d4-a084-4e96-aa3d-25f74d327221" cancellation.signal="kill" cancellation.source="upstream" otel.kind="server" request_id="77ee37d4-a084-4e96-aa3d-25f74d327221" component="backend" endpoint="generate" namespace="dynamo" instance_id=1883838142219510286"##,
        "request_cancellation",
    ),
    (
        r##"2026-11-29T18:06:46.922384Z  INFO http-request:completions:completions_single: dynamo_llm::http::service::metrics: request completed request_id=16d0d70e-0a5c-4646-85ec-d74145ed9770 model=tiny endpoint=completions request_type=unary status=success elapsed_ms=51 method=POST uri=/v1/completions version=HTTP/1.1 x_request_id="xr-v1-completions" request_id=91e43bbe-8f90-4e72-a1f6-977d4bc0eba8"##,
        "request_completed",
    ),
    (
        r##"2026-11-29T18:06:41.098013Z  INFO dynamo_runtime::pipeline::network::ingress::shared_tcp_endpoint: Binding TCP server to 127.0.0.1:0"##,
        "request_plane",
    ),
    (
        r##"2026-11-29T18:11:12.161362Z  INFO http-request: dynamo_llm::http::service::metrics: request received request_id=4b0b62d0-68db-43e1-b0ce-63c5a422a0cd model=tiny endpoint=chat_completions request_type=unary method=POST uri=/v1/chat/completions version=HTTP/1.1 request_id=bf97f87f-13e0-4aa4-835e-f03d39a79198 model="tiny""##,
        "request_received",
    ),
    (
        r##"2026-11-29T18:11:49.859764Z  INFO http-request:router.route_request: request_span: route request completed request.outcome="success" method=POST uri=/v1/responses version=HTTP/1.1 x_request_id="xr-v1-responses" request_id=720b35eb-5672-42ad-9143-12e247ffdc3d model="tiny" otel.kind="client" request_id=dbddaaeb-1781-4330-b2f9-b86791376b03 router_mode=RoundRobin worker_id=10311709376538816906 request.attempt=0 migration.is_retry=false migration.tokens_completed=0 request.outcome="success""##,
        "route_completed",
    ),
    (
        r##"2026-11-29T18:42:50.995956Z DEBUG http-request:kv_router.select_worker: dynamo_llm::kv_router::push_router: [ROUTING] Best: worker_7587899242514933769 dp_rank=0 with 0/13 blocks overlap request_id=b2c1f790-7354-42ac-b5c6-5552e927467e worker_id=7587899242514933769 dp_rank=0 overlap_blocks=0 total_blocks=13 method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-001-0-54c8136a""##,
        "route_decision",
    ),
    (r##"2026-11-29T18:06:41.056732Z  INFO dynamo_llm::kv_router: KV Routing initialized"##, "router_config"),
    (
        r##"2026-11-29T18:37:28.227503Z  INFO dynamo_llm::kv_router::scheduler: Formula for worker_id=7587899242435231749 dp_rank=0 with 0 cached blocks: 2.000 = 1.0 * prefill_blocks + decode_blocks = 1.0 * 1.000 + 1.000"##,
        "routing_formula",
    ),
    (
        r##"2026-11-29T18:54:32.145139Z DEBUG http-request:kv_router.select_worker: dynamo_kv_router::services::selection::core::run: [ROUTING_INPUT] request local hashes request_id="edf9ed01-3219-4585-a510-233214f462c1" isl_tokens=41 block_size=16 num_blocks=2 local_hashes=[17042677161436720951, 4212852694292437464] method=POST uri=/v1/chat/completions version=HTTP/1.1 request_id=0f35ccbd-d2bc-4f66-a7e9-8f1795bdc41d model="tiny""##,
        "routing_input",
    ),
    (
        r##"2026-11-29T18:42:50.159039Z DEBUG dynamo_llm::kv_router::scheduler: Multiple workers tied with same logit, using tree size as tie-breaker"##,
        "routing_tie",
    ),
    (r##"2026-11-29T18:06:41.066017Z  INFO dynamo_runtime::runtime: Compute pool disabled (compute_threads = 0)"##, "runtime_config"),
    (
        r##"2026-11-29T18:11:13.063259Z  WARN dynamo_kv_router::scheduling::queue: scheduling failed: all eligible workers are overloaded"##,
        "scheduling_overloaded",
    ),
    (r##"2026-11-29T18:06:41.083680Z  INFO dynamo_llm::discovery::watcher: Completions is ready"##, "service_ready"),
    (r##"2026-11-29T18:07:42.311936Z  INFO dynamo_runtime::runtime: Runtime shutdown initiated"##, "shutdown"),
    (r##"2026-11-29T18:37:16.617153Z  INFO dynamo_llm::audit::sink: Audit sinks ready."##, "trace_config"),
    (
        r##"2026-11-29T18:06:50.017610Z  WARN http-request: dynamo_llm::request_trace::integration: request trace skipped because the request cannot be represented as one replay request request_id=5ae08a76-66bc-4f79-a858-35f4be1ee966 reason="multiple output choices are not supported" method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-odd-n2" request_id=274f6511-87e4-4166-b1ba-1eec013d7a79 model="tiny""##,
        "trace_skipped",
    ),
    (
        r##"2026-11-29T18:09:07.804896Z ERROR http-request: dynamo_llm::protocols::common::timing: Conflicting request tracker write field="decode_worker_id" existing=16464506018109736280 new=14131007654455148381 method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-017-1-aee4f937" request_id=447529e1-aa5f-4d1e-863e-e883db19c37b model="tiny""##,
        "tracker_conflict",
    ),
    (
        r##"2026-11-29T18:37:47.847935Z  WARN dynamo_llm::kv_router::sequence: Adding worker WorkerWithDpRank { worker_id: 7587899242435231776, dp_rank: 0 }"##,
        "worker_added",
    ),
    (
        r##"2026-11-29T18:37:16.700145Z  INFO dynamo_llm::kv_router::scheduler: Runtime config found for worker_id: 7587899242435231751"##,
        "worker_discovered",
    ),
    (
        r##"2026-11-29T18:43:09.196517Z DEBUG dynamo_llm::discovery::worker_monitor: Removed Prometheus metrics for worker 7587899242514933769"##,
        "worker_gone",
    ),
    (
        r##"2026-11-29T18:37:37.277098Z ERROR handle_payload: dynamo_runtime::pipeline::network::ingress::push_handler: Failed to publish response for stream 3795d2aa-c33c-4d2a-8a61-0bf4b0a42acb"##,
        "worker_publish_failed",
    ),
    (
        r##"2026-11-29T18:37:46.846425Z  WARN dynamo_llm::kv_router::sequence: Removing worker WorkerWithDpRank { worker_id: 7587899242435231751, dp_rank: 0 }"##,
        "worker_removed",
    ),
    (
        r##"2026-11-29T18:42:51.019582Z DEBUG http-request: dynamo_llm::protocols::openai::chat_completions::delta: Injected worker_id into chat completion nvext: prefill=Some(7587899242514933769), decode=Some(7587899242514933769) method=POST uri=/v1/chat/completions version=HTTP/1.1 x_request_id="xr-001-0-54c8136a""##,
        "worker_reported",
    ),
    (
        r##"2026-11-29T18:11:49.789958Z  INFO handle_payload: dynamo_runtime::pipeline::network::ingress::push_handler: request completed request_id=085200ba-0bed-4724-8916-d0f8df26a303 otel.kind="server" request_id="085200ba-0bed-4724-8916-d0f8df26a303" component="backend" endpoint="generate" namespace="dynamo" instance_id=1883838142219510286"##,
        "worker_request_completed",
    ),
    (
        r##"2026-11-29T18:11:49.741533Z  INFO handle_payload: dynamo_runtime::pipeline::network::ingress::push_handler: request received request_id=085200ba-0bed-4724-8916-d0f8df26a303 otel.kind="server" request_id="085200ba-0bed-4724-8916-d0f8df26a303" component="backend" endpoint="generate" namespace="dynamo" instance_id=1883838142219510286"##,
        "worker_request_received",
    ),
    (
        r##"2026-11-29T18:37:28.227538Z  INFO dynamo_llm::kv_router::scheduler: Selected worker: worker_id=7587899242435231749 dp_rank=0, logit: 2.000, cached blocks: 0, total blocks: 256"##,
        "worker_selected",
    ),
    (
        r##"2026-11-29T18:37:16.689908Z DEBUG dynamo_llm::discovery::watcher: adding model model_name="/opt/lab/model/tiny-llm""##,
        "worker_set",
    ),
    (r##"2026-11-29T18:06:41.065123Z  INFO main.launch_workers: Creating mocker worker 1/1"##, "worker_startup"),
    (
        r##"2026-11-29T18:42:39.150161Z DEBUG dynamo_kv_router::radix_tree: Dumping radix tree as events (contains information about 0 workers)"##,
        "worker_tree_dump",
    ),
    (
        r##"2026-11-29T18:06:46.871909Z DEBUG _core::block_manager::vllm::connector::leader::slot: Starting cache lookup: querying 12 blocks from host/disk (num_computed_blocks=3) request_id="16d0d70e-0a5c-4646-85ec-d74145ed9770""##,
        "kvbm_lookup",
    ),
    (
        r##"2026-11-29T18:06:46.871910Z DEBUG _core::block_manager::vllm::connector::leader::slot: successfully matched 4 host blocks and 2 disk blocks; 6 total blocks"##,
        "kvbm_match",
    ),
    (
        r##"2026-11-29T18:06:46.871911Z DEBUG _core::block_manager::vllm::connector::leader::slot: start onboarding 4 blocks from Host to device request_id="16d0d70e-0a5c-4646-85ec-d74145ed9770" operation_id=7d0e4a52-9b0c-4c62-9d0f-111111111111"##,
        "kvbm_onboard",
    ),
    (
        r##"2026-11-29T18:06:46.871912Z DEBUG _core::block_manager::vllm::connector::leader::slot: offload to disk - stage 2 complete request_id="16d0d70e-0a5c-4646-85ec-d74145ed9770""##,
        "kvbm_offload",
    ),
    (
        r##"2026-11-29T18:06:46.871913Z DEBUG _core::block_manager::vllm::connector::leader::slot: Onboarding transfer completed successfully"##,
        "kvbm_transfer_done",
    ),
    (
        r##"2026-11-29T18:06:46.871914Z ERROR _core::block_manager::vllm::connector::leader::slot: LocalOffloadTask: error processing request: NotEnoughBlocksAvailable(4, 0)"##,
        "kvbm_transfer_error",
    ),
    (
        r##"2026-11-29T18:06:46.871915Z  INFO _core::block_manager::vllm::connector::leader::slot: slot is in the Preempted state; we get another chance to match"##,
        "kvbm_preempted",
    ),
    (
        r##"2026-11-29T18:06:46.871916Z DEBUG _core::block_manager::vllm::connector::leader: Reporting cache stats: host_blocks=4, disk_blocks=2, total_blocks_queried=9, tokens_from_host=64, tokens_from_disk=32 request_id="16d0d70e-0a5c-4646-85ec-d74145ed9770""##,
        "kvbm_request_stats",
    ),
    (
        r##"2026-11-29T18:06:46.871917Z DEBUG _core::block_manager::vllm::connector::leader::slot: request set to finished (no pending operations): cached_gpu_tokens: 48; cached_host_tokens: 64; cached_disk_tokens: 32 request_id="16d0d70e-0a5c-4646-85ec-d74145ed9770""##,
        "kvbm_request_finished",
    ),
    (
        r##"2026-11-29T18:06:46.871918Z  INFO _core::block_manager::cache_stats: KVBM [engine-0] Cache Hit Rates - Host: 44.4% (4/9), Disk: 22.2% (2/9)"##,
        "kvbm_hit_rates",
    ),
    (
        r##"2026-11-29T18:06:46.871919Z  WARN dynamo_llm::block_manager::offload: Target pool full. Skipping offload. This should only ever happen with very small pool sizes."##,
        "kvbm_pool_full",
    ),
    (
        r##"2026-03-02T09:00:00.000001Z  INFO dynamo_kv_router::scheduling::selector: Selected worker: worker_type=prefill, worker_id=16867653469349905987 dp_rank=0, logit: 2.500, cached blocks: 3, tree size: 40, total blocks: 256"##,
        "worker_selected",
    ),
];

/// JSONL.
pub static JSONL: &[(&str, &str)] = &[
    (
        r##"{"time":"2026-11-29T18:45:45.239373Z","level":"DEBUG","file":"/opt/dynamo/lib/kv-router/src/sequences/multi_worker.rs","line":483,"target":"dynamo_kv_router::sequences::multi_worker","message":"Request 4e538d0a-eec8-42d3-bab3-727c75ff786f not found, already freed (idempotent)"}"##,
        "booking_conflict",
    ),
    (
        r##"{"time":"2026-11-29T18:05:48.348367Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/http/service/disconnect.rs","line":346,"target":"dynamo_llm::http::service::disconnect","message":"Stream closed unexpectedly; issuing cancellation"}"##,
        "client_disconnect",
    ),
    (
        r##"{"time":"2026-11-29T18:06:07.893344Z","level":"DEBUG","file":"/opt/dynamo/lib/runtime/src/discovery/kv_store.rs","line":704,"target":"dynamo_runtime::discovery::kv_store","message":"KVStoreDiscovery::list: query=AllModels, prefix=v1/mdc, bucket=v1/mdc, entries=2"}"##,
        "discovery",
    ),
    (
        r##"{"time":"2026-11-29T18:47:46.017774Z","level":"ERROR","file":"/opt/dynamo/lib/runtime/src/logging.rs","line":1063,"target":"dynamo_runtime::logging","message":"Distributed Trace Context not found, falling back to internal ids"}"##,
        "dynamo_error",
    ),
    (
        r##"{"time":"2026-11-29T18:48:20.645938Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/kv_router/sequence.rs","line":452,"target":"dynamo_llm::kv_router::sequence","message":"Worker task cancelled"}"##,
        "dynamo_log",
    ),
    (
        r##"{"time":"2026-11-29T18:05:37.863077Z","level":"DEBUG","target":"log","message":"vllm not installed","log.file":"/opt/lab/venv/lib/python3.11/site-packages/dynamo/common/config_dump/config_dumper.py","log.line":43,"log.target":"config_dumper._get_package_version"}"##,
        "dynamo_python",
    ),
    (
        r##"{"time":"2026-11-29T18:06:38.422228Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/entrypoint/input/endpoint.rs","line":181,"target":"dynamo_llm::entrypoint::input::endpoint","message":"Endpoint service completed"}"##,
        "endpoint",
    ),
    (
        r##"{"time":"2026-11-29T18:06:38.423570Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/fpm_publisher.rs","line":379,"target":"dynamo_llm::fpm_publisher","message":"FPM direct publisher: shutting down"}"##,
        "event_plane",
    ),
    (
        r##"{"time":"2026-11-29T18:47:26.222991Z","level":"ERROR","file":"/opt/dynamo/lib/llm/src/http/service/openai.rs","line":121,"target":"dynamo_llm::http::service::openai","message":"Internal server error: Failed to fold chat completions stream: Stream ended before generation completed","method":"POST","span_id":"cf665f7af3226e5e","span_name":"http-request","trace_id":"2d6c11fcab34c5ff5cfc7a7b65585f62","uri":"/v1/chat/completions","version":"HTTP/1.1"}"##,
        "frontend_error",
    ),
    (
        r##"{"time":"2026-11-29T18:07:45.757619Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/http/service/service_v2.rs","line":1434,"target":"dynamo_llm::http::service::service_v2","message":"http response sent","latency_ms":"0","status":"200"}"##,
        "http_response",
    ),
    (
        r##"{"time":"2026-11-29T18:05:37.889053Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/entrypoint/input/http.rs","line":383,"target":"dynamo_llm::entrypoint::input::http","message":"Waiting for remote model"}"##,
        "http_server",
    ),
    (
        r##"{"time":"2026-11-29T18:47:26.222836Z","level":"DEBUG","file":"/opt/dynamo/lib/runtime/src/component/client.rs","line":194,"target":"dynamo_runtime::component::client","message":"inhibiting instance 7587899242585308167","method":"POST","span_id":"cf665f7af3226e5e","span_name":"http-request","trace_id":"2d6c11fcab34c5ff5cfc7a7b65585f62","uri":"/v1/chat/completions","version":"HTTP/1.1"}"##,
        "instance_inhibited",
    ),
    (
        r##"{"time":"2026-11-29T18:46:55.043603Z","level":"DEBUG","file":"/opt/dynamo/lib/kv-router/src/indexer.rs","line":871,"target":"dynamo_kv_router::indexer","message":"KvCacheIndexer task completed"}"##,
        "kv_indexer",
    ),
    (
        r##"{"time":"2026-11-29T18:45:34.241566Z","level":"DEBUG","file":"/opt/dynamo/lib/kvbm-logical/src/manager/mod.rs","line":229,"target":"kvbm_logical::manager","message":"match_blocks result","total_matched":0}"##,
        "kvbm_log",
    ),
    (
        r##"{"time":"2026-11-29T18:47:26.222871Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/migration.rs","line":116,"target":"dynamo_llm::migration","message":"Stream disconnected... recreating stream...","method":"POST","span_id":"cf665f7af3226e5e","span_name":"http-request","trace_id":"2d6c11fcab34c5ff5cfc7a7b65585f62","uri":"/v1/chat/completions","version":"HTTP/1.1"}"##,
        "migration",
    ),
    (
        r##"{"time":"2026-11-29T18:05:38.064452Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/migration.rs","line":194,"target":"dynamo_llm::migration","message":"model tiny migration limit 3 max_seq_len None"}"##,
        "migration_config",
    ),
    (
        r##"{"time":"2026-11-29T18:47:26.222882Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/migration.rs","line":118,"target":"dynamo_llm::migration","message":"Cannot recreate stream: Migration limit exhausted","method":"POST","span_id":"cf665f7af3226e5e","span_name":"http-request","trace_id":"2d6c11fcab34c5ff5cfc7a7b65585f62","uri":"/v1/chat/completions","version":"HTTP/1.1"}"##,
        "migration_exhausted",
    ),
    (
        r##"{"time":"2026-11-29T18:05:38.031275Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/model_card.rs","line":126,"target":"dynamo_llm::model_card","message":"initializing process-wide tokenizer cache","cache_bytes":67108864}"##,
        "model_setup",
    ),
    (
        r##"{"time":"2026-11-29T18:45:36.231740Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/audit/stream.rs","line":90,"target":"dynamo_llm::audit::stream","message":"audit: aggregation future canceled/failed"}"##,
        "payload_incomplete",
    ),
    (
        r##"{"time":"2026-11-29T18:09:59.834754Z","level":"INFO","file":"/opt/dynamo/lib/kv-router/src/scheduling/selector/mod.rs","line":317,"target":"dynamo_kv_router::scheduling::selector","message":"Selected pinned worker: worker_type=decode, worker_id=3643923813577302044 dp_rank=0, logit: 4.000, effective cached blocks: 0.00","request_id":"28723fd3-8a55-43f5-9980-29ca8b1bc6cd"}"##,
        "pinned_worker_selected",
    ),
    (
        r##"{"time":"2026-11-29T18:10:34.425442Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/kv_router/prefill_router/mod.rs","line":608,"target":"dynamo_llm::kv_router::prefill_router","message":"Prefill completed, proceeding to decode","parent_id":"2c6f4fc064b85956","request_id":"2618410a-85fd-42bc-9881-d2ebe60fe4ae","span_id":"adcfbaf2b752c696","span_name":"responses","trace_id":"8efcd9b299523d41a5406f9c9ead322c","x_request_id":"xr-v1-responses"}"##,
        "prefill_completed",
    ),
    (
        r##"{"time":"2026-11-29T18:47:18.941029Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/kv_router/prefill_router.rs","line":293,"target":"dynamo_llm::kv_router::prefill_router","message":"Prefill router not activated, falling back to decode-only","parent_id":"8572b09b11435653","span_id":"6be99b9d3379c4d1","span_name":"completions_single","trace_id":"4a98714a45b8560c6e2d2895b9598686"}"##,
        "prefill_failed",
    ),
    (
        r##"{"time":"2026-11-29T18:10:28.141698Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/discovery/watcher.rs","line":521,"target":"dynamo_llm::discovery::watcher","message":"Prefill worker detected, registering and activating prefill router","model_name":"tiny"}"##,
        "prefill_router",
    ),
    (
        r##"{"time":"2026-11-29T18:05:37.554589Z","level":"INFO","target":"log","message":"busy-worker rejection disabled: no rejection threshold is configured","log.file":"/opt/lab/venv/lib/python3.11/site-packages/dynamo/common/configuration/groups/router_args.py","log.line":138,"log.target":"router_args.log_rejection_thresholds"}"##,
        "rejection_config",
    ),
    (
        r##"{"time":"2026-11-29T18:05:38.050167Z","level":"DEBUG","file":"/opt/dynamo/lib/runtime/src/pipeline/network/manager.rs","line":342,"target":"dynamo_runtime::pipeline::network::manager","message":"Creating TCP request plane client with config from NetworkManager"}"##,
        "request_plane",
    ),
    (
        r##"{"time":"2026-11-29T18:05:44.231665Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/http/service/metrics.rs","line":1711,"target":"dynamo_llm::http::service::metrics","message":"request received","endpoint":"responses","model":"tiny","parent_id":"96a3588f080ecaaf","request_id":"a14ce8a3-f878-45d4-b50c-a3d8eedbd4f9","request_type":"unary","span_id":"f0d266f0d0e6c195","span_name":"responses","trace_id":"b29ae6b46de2eaabcda9ee7aaf16515e","x_request_id":"xr-v1-responses"}"##,
        "request_received",
    ),
    (
        r##"{"time":"2026-11-29T18:05:38.051604Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/kv_router.rs","line":883,"target":"dynamo_llm::kv_router","message":"KV Routing initialized"}"##,
        "router_config",
    ),
    (
        r##"{"time":"2026-11-29T18:47:57.966039Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/kv_router/scheduler.rs","line":535,"target":"dynamo_llm::kv_router::scheduler","message":"Formula for worker_id=7587899242594972165 dp_rank=0 with 0 cached blocks: 2.000 = 1.0 * prefill_blocks + decode_blocks = 1.0 * 1.000 + 1.000"}"##,
        "routing_formula",
    ),
    (
        r##"{"time":"2026-11-29T18:46:33.054152Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/kv_router/scheduler.rs","line":489,"target":"dynamo_llm::kv_router::scheduler","message":"Multiple workers tied with same logit, using tree size as tie-breaker"}"##,
        "routing_tie",
    ),
    (
        r##"{"time":"2026-11-29T18:05:37.873461Z","level":"DEBUG","file":"/opt/dynamo/lib/runtime/src/runtime.rs","line":133,"target":"dynamo_runtime::runtime","message":"Initialized compute pool with 2 threads"}"##,
        "runtime_config",
    ),
    (
        r##"{"time":"2026-11-29T18:05:38.074451Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/discovery/watcher.rs","line":773,"target":"dynamo_llm::discovery::watcher","message":"Completions is ready"}"##,
        "service_ready",
    ),
    (
        r##"{"time":"2026-11-29T18:09:53.634032Z","level":"DEBUG","file":"/opt/dynamo/lib/kv-router/src/services/selection/affinity.rs","line":245,"target":"dynamo_kv_router::services::selection::affinity","message":"Session affinity enabled","max_entries":65536,"mode":"Hard","ttl_secs":60}"##,
        "session_affinity",
    ),
    (
        r##"{"time":"2026-11-29T18:06:37.981844Z","level":"INFO","file":"/opt/dynamo/lib/runtime/src/runtime.rs","line":362,"target":"dynamo_runtime::runtime","message":"Runtime shutdown initiated"}"##,
        "shutdown",
    ),
    (
        r##"{"time":"2026-11-29T18:47:54.983261Z","level":"INFO","file":"/opt/dynamo/lib/runtime/src/logging.rs","line":293,"target":"dynamo_runtime::logging","message":"SPAN_CLOSED","method":"GET","span_id":"a09cad1f52f6bc66","span_name":"http-request","time.busy_us":99,"time.duration_us":182,"time.idle_us":83,"trace_id":"1ca30998a0150e1436c50b1c9ebd37e5","uri":"/metrics","version":"HTTP/1.1"}"##,
        "span_closed",
    ),
    (
        r##"{"time":"2026-11-29T18:47:54.983079Z","level":"INFO","file":"/opt/dynamo/lib/runtime/src/logging.rs","line":293,"target":"dynamo_runtime::logging","message":"SPAN_CREATED","method":"GET","span_id":"1","span_name":"http-request","uri":"/metrics","version":"HTTP/1.1"}"##,
        "span_created",
    ),
    (
        r##"{"time":"2026-11-29T18:09:59.773990Z","level":"INFO","file":"/opt/dynamo/lib/runtime/src/logging.rs","line":1182,"target":"dynamo_llm::http::service::openai","message":"SPAN_FIRST_ENTRY","parent_id":"c135806b664c697b","request_id":"375499bf-c7fb-4502-9a61-2b27d3e423ef","span_id":"c83602abdc092cbd","span_name":"completions","trace_id":"941841a76c5a4c0e83f9edd7980903b6","x_request_id":"xr-v1-completions"}"##,
        "span_first_entry",
    ),
    (
        r##"{"time":"2026-11-29T18:47:45.617379Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/audit/sink.rs","line":112,"target":"dynamo_llm::audit::sink","message":"Audit sinks ready."}"##,
        "trace_config",
    ),
    (
        r##"{"time":"2026-11-29T18:48:09.256483Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/kv_router/sequence.rs","line":597,"target":"dynamo_llm::kv_router::sequence","message":"Adding worker WorkerWithDpRank { worker_id: 7587899242594972190, dp_rank: 0 }"}"##,
        "worker_added",
    ),
    (
        r##"{"time":"2026-11-29T18:47:46.143914Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/kv_router/scheduler.rs","line":171,"target":"dynamo_llm::kv_router::scheduler","message":"Runtime config found for worker_id: 7587899242594972165"}"##,
        "worker_discovered",
    ),
    (
        r##"{"time":"2026-11-29T18:48:10.853839Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/kv_router/subscriber.rs","line":320,"target":"dynamo_llm::kv_router::subscriber","message":"Generate endpoint instance deleted, removing worker 7587899242594972165"}"##,
        "worker_gone",
    ),
    (
        r##"{"time":"2026-11-29T18:48:10.854626Z","level":"WARN","file":"/opt/dynamo/lib/llm/src/kv_router/sequence.rs","line":582,"target":"dynamo_llm::kv_router::sequence","message":"Removing worker WorkerWithDpRank { worker_id: 7587899242594972165, dp_rank: 0 }"}"##,
        "worker_removed",
    ),
    (
        r##"{"time":"2026-11-29T18:46:33.080141Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/protocols/openai/completions/delta.rs","line":348,"target":"dynamo_llm::protocols::openai::completions::delta","message":"Injected worker_id into completions nvext: prefill=Some(7587899242571531552), decode=Some(7587899242571531552)","parent_id":"4206fe024b13011d","span_id":"87d142b8da91152a","span_name":"completions_single","trace_id":"a73d1203e0c1d8bb9aa4be35d5a49770"}"##,
        "worker_reported",
    ),
    (
        r##"{"time":"2026-11-29T18:47:57.966083Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/kv_router/scheduler.rs","line":565,"target":"dynamo_llm::kv_router::scheduler","message":"Selected worker: worker_id=7587899242594972167 dp_rank=0, logit: 2.000, cached blocks: 0, total blocks: 256"}"##,
        "worker_selected",
    ),
    (
        r##"{"time":"2026-11-29T18:47:45.981789Z","level":"DEBUG","file":"/opt/dynamo/lib/llm/src/discovery/watcher.rs","line":314,"target":"dynamo_llm::discovery::watcher","message":"adding model","model_name":"/opt/lab/model/tiny-llm"}"##,
        "worker_set",
    ),
    (
        r##"{"time":"2026-11-29T18:05:37.912404Z","level":"INFO","file":"/opt/dynamo/lib/llm/src/mocker.rs","line":786,"target":"dynamo_llm::mocker","message":"Metrics background tasks started"}"##,
        "worker_startup",
    ),
    (
        r##"{"time":"2026-11-29T18:46:22.597179Z","level":"DEBUG","file":"/opt/dynamo/lib/kv-router/src/radix_tree.rs","line":517,"target":"dynamo_kv_router::radix_tree","message":"Dumping radix tree as events (contains information about 0 workers)"}"##,
        "worker_tree_dump",
    ),
];
