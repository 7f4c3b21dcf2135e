//! Records with their kinds. AIPerf's are of a capture; the others are composed after the published forms (README.md), numbers and texts made up.

/// A measured request, one that failed.
pub static AIPERF: &[(&str, &str)] = &[
    (
        r#"{"metadata": {"session_num": 0, "x_request_id": "b20f2ac2-2998-464f-8b17-ea989a76a9e9", "x_correlation_id": "sess-000", "conversation_id": "sess-000", "turn_index": 0, "credit_issued_ns": 1795978479301135846, "request_start_ns": 1795978479301136846, "request_ack_ns": 1795978479345135645, "request_end_ns": 1795978479388222879, "worker_id": "worker_0", "record_processor_id": "rp_0", "benchmark_phase": "profiling", "was_cancelled": false}, "metrics": {"request_latency": {"value": 87.086033, "unit": "ms"}, "input_sequence_length": {"value": 187, "unit": "tokens"}, "output_sequence_length": {"value": 8, "unit": "tokens"}, "time_to_first_token": {"value": 43.998799, "unit": "ms"}, "inter_token_latency": {"value": 6.010270714285714, "unit": "ms"}, "time_to_second_token": {"value": 0.050416, "unit": "ms"}}, "error": null}"#,
        "client_request",
    ),
    (
        r#"{"metadata":{"session_num":80,"x_request_id":"c35e4b1b-6775-4750-b875-94cd68e5ec15","x_correlation_id":"77ecf78d-b848-4efc-9579-cd695c6e89c4","conversation_id":"9526b41d-5dbc-41a5-a353-99ae06a53bc5","turn_index":2,"request_start_ns":1795978481119147826,"request_ack_ns":null,"request_end_ns":1795978481119772754,"worker_id":"worker_6006099d","record_processor_id":"record_processor_fdeeec8f","benchmark_phase":"profiling","was_cancelled":true,"cancellation_time_ns":1795978481119772754,"agent_depth":1,"parent_correlation_id":"32ee4f33-cfca-4cfc-988f-79b45408b909"},"metrics":{"error_isl":{"value":550,"unit":"tokens"},"inter_chunk_latency":{"value":[4.8,5.3],"unit":"ms"}},"error":{"code":499,"type":"RequestCancellationError","message":"cancelled by the load generator"}}"#,
        "client_request",
    ),
];

/// SGLang's result of one load level, sa-bench's, and a window.
pub static BENCH: &[(&str, &str)] = &[
    (
        r#"{"tag": null, "backend": "sglang-oai", "dataset_name": "random", "request_rate": Infinity, "max_concurrency": 4, "random_input_len": 128, "random_range_ratio": 1.0, "server_info": {"tp_size": 2}, "duration": 12.5, "completed": 3, "total_input_tokens": 384, "total_output_tokens": 96, "total_output_tokens_retokenized": 95, "request_throughput": 0.24, "median_ttft_ms": 81.25, "p99_itl_ms": 9.5, "concurrency": 3.75, "accept_length": null, "input_lens": [128, 128, 128, 128], "output_lens": [32, 32, 32, 0], "ttfts": [0.08, 0.081, 0.09, 0.0], "generated_texts": ["a secret", "two", "", ""], "errors": ["", "", "", "Bad Request: a secret"]}"#,
        "bench_result",
    ),
    (
        r#"{"date": "20261129-185432", "backend": "dynamo", "model_id": "tiny", "tokenizer_id": "/model", "best_of": 1, "num_prompts": 40, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": 4, "duration": 20.25, "completed": 40, "total_input_tokens": 40960, "total_output_tokens": 10240, "request_goodput": null, "input_lens": [1024], "generated_texts": ["a secret"], "errors": [""], "mean_ttft_ms": 120.5, "p99_e2el_ms": 2100.75, "reuse_http_connections": false}"#,
        "bench_result",
    ),
    (
        r#"{"schema_version": 1, "benchmark_type": "sa-bench", "result_path": "sa-bench_isl_1024_osl_256/results_concurrency_4_gpus_2.json", "concurrency": 4, "benchmark_start_time_unix": 1795978452.25, "benchmark_end_time_unix": 1795978472.5, "duration": 20.25, "clock_source": "head_node_unix_clock", "status": "completed", "reason": null}"#,
        "measurement_window",
    ),
];

/// As published, and as converters write it.
pub static MOONCAKE: &[(&str, &str)] = &[
    (r#"{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47, 48]}"#, "planned_request"),
    (r#"{"session_id": "conv_0", "input_length": 917, "output_length": 14, "hash_ids": [1, 2], "delay": 250}"#, "planned_request"),
    (
        r#"{"timestamp": 1.5, "input_length": 8228, "output_length": 21, "type": "coder", "turn": 1, "hash_ids": [], "session_id": "1237198", "text_input": "a secret"}"#,
        "planned_request",
    ),
];
